//! What a call costs on three paths in one run: straight to the server, through a plain proxy of the official SDK, and
//! through `steadfast wrap` with validation and journal on.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml -- target/release/steadfast [ROUNDS]`
//!
//! Rounds alternate between the paths, so that what else the machine does meets all of them. A round is 1,000 calls one
//! after the other, then 3,000 with 32 on their way and an effect, which ends when all of them are on record. Medians over rounds are printed; ratios compare what the two in
//! the middle add to the direct path.
#![allow(clippy::print_stdout, reason = "a report on the terminal is its purpose")]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;
const SEQUENTIAL: usize = 1_000;
const PIPELINED: usize = 3_000;
const ON_THEIR_WAY: usize = 32;
/// Effects are flushed one by one when they come one by one.
const EFFECTS: usize = 200;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

struct Path {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    rounds: Vec<Round>,
    effects: Vec<Duration>,
    lists: Vec<Duration>,
}

struct Round {
    p50: Duration,
    p99: Duration,
    per_second: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let mut words = std::env::args().skip(1);
    let steadfast = words.next().ok_or("name the binary: bench target/release/steadfast")?;
    let rounds = words.next().map_or(Ok(ROUNDS), |text| text.parse())?;
    let own = std::env::current_exe()?;
    let beside = |name: &str| own.with_file_name(name).display().to_string();
    let (server, passthrough) = (beside("server"), beside("passthrough"));
    for needed in [&server, &passthrough] {
        if !std::path::Path::new(needed).exists() {
            return Err(format!("{needed} is not built: cargo build --release --bins").into());
        }
    }
    let state = tempfile::tempdir()?;
    let store = state.path().display().to_string();
    let mut paths = vec![
        Path::open("direct", &[&server])?,
        Path::open("rmcp pass-through", &[&passthrough, &server])?,
        Path::open("steadfast wrap", &[&steadfast, "wrap", "--store", &store, "--", &server])?,
    ];
    for path in &mut paths {
        path.round()?;
        path.rounds.clear();
    }
    for _ in 0..rounds {
        for path in &mut paths {
            path.round()?;
        }
    }
    for path in &mut paths {
        for _ in 0..EFFECTS {
            let took = path.call("write_note")?;
            path.effects.push(took);
            let begun = Instant::now();
            path.ask("tools/list", &json!({}))?;
            path.lists.push(begun.elapsed());
        }
    }
    report(&paths);
    Ok(())
}

fn report(paths: &[Path]) {
    println!(
        "{:20} {:>10} {:>10} {:>12} {:>14} {:>11}",
        "reads", "p50", "p99", "calls/s", "effect p50", "list p50"
    );
    let figures: Vec<(f64, f64, f64)> = paths
        .iter()
        .map(|path| {
            let of = |pick: &dyn Fn(&Round) -> f64| median(path.rounds.iter().map(pick).collect());
            let p50 = of(&|round| micros(round.p50));
            let p99 = of(&|round| micros(round.p99));
            let rate = of(&|round| round.per_second);
            let effect = median(path.effects.iter().map(|took| micros(*took)).collect());
            let list = median(path.lists.iter().map(|took| micros(*took)).collect());
            println!(
                "{:20} {p50:>7.0} µs {p99:>7.0} µs {rate:>12.0} {effect:>11.0} µs {list:>8.0} µs",
                path.name
            );
            (p50, p99, rate)
        })
        .collect();
    let [direct, plain, ours] = figures[..] else { return };
    println!(
        "what is added over direct, steadfast to pass-through: p50 {:.2}×, p99 {:.2}×; throughput {:.2}×",
        (ours.0 - direct.0) / (plain.0 - direct.0),
        (ours.1 - direct.1) / (plain.1 - direct.1),
        ours.2 / plain.2
    );
}

fn micros(took: Duration) -> f64 {
    took.as_secs_f64() * 1e6
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Path {
    fn open(name: &'static str, command: &[&str]) -> Outcome<Path> {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no pipe")?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let (rounds, effects, lists) = (Vec::new(), Vec::new(), Vec::new());
        let mut path = Path { name, child, input, output, next: 0, rounds, effects, lists };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        path.ask("initialize", &params)?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(path.input, "{ready}")?;
        let listed = path.ask("tools/list", &json!({}))?;
        match listed["result"]["tools"].as_array() {
            Some(tools) if tools.len() > 100 => Ok(path),
            _ => Err(format!("{name}: no list: {listed}").into()),
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> Outcome<u64> {
        self.next += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.input, "{message}")?;
        self.input.flush()?;
        Ok(self.next)
    }

    /// The next answer and its id; what is no answer is passed over.
    fn answer(&mut self) -> Outcome<(u64, Value)> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("{}: it ended", self.name).into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message.get("method").is_none()
                && let Some(id) = message["id"].as_u64()
            {
                return Ok((id, message));
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        let id = self.send(method, params)?;
        loop {
            let (answered, message) = self.answer()?;
            if answered == id {
                return Ok(message);
            }
        }
    }

    fn call(&mut self, tool: &str) -> Outcome<Duration> {
        let begun = Instant::now();
        let params = json!({"name": tool, "arguments": {"id": "n-1", "limit": 10}});
        let answer = self.ask("tools/call", &params)?;
        let took = begun.elapsed();
        match answer["result"]["structuredContent"]["text"].is_string() {
            true => Ok(took),
            false => Err(format!("{}: {answer}", self.name).into()),
        }
    }

    fn round(&mut self) -> Outcome<()> {
        let mut took = Vec::with_capacity(SEQUENTIAL);
        for _ in 0..SEQUENTIAL {
            took.push(self.call("read_note")?);
        }
        took.sort();
        let begun = Instant::now();
        let params = json!({"name": "read_note", "arguments": {"id": "n-1", "limit": 10}});
        let mut open: HashSet<u64> = HashSet::new();
        let mut sent = 0;
        while sent < PIPELINED || !open.is_empty() {
            while sent < PIPELINED && open.len() < ON_THEIR_WAY {
                let id = self.send("tools/call", &params)?;
                open.insert(id);
                sent += 1;
            }
            let (id, answer) = self.answer()?;
            if !open.remove(&id) || answer.get("result").is_none() {
                return Err(format!("{}: {answer}", self.name).into());
            }
        }
        // An effect waits for every record before it: nothing is left to write while the next path is measured.
        self.call("write_note")?;
        let per_second = PIPELINED as f64 / begun.elapsed().as_secs_f64();
        let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
        self.rounds.push(Round { p50: at(0.5), p99: at(0.99), per_second });
        Ok(())
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
