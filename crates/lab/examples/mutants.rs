//! How fast mutants run: an agent that is compiled, so that the time is that of the lab.
//!
//! `cargo run -p steadfast-lab --example mutants` writes a contract about twenty values, runs every mutant of
//! it with this program as the agent, and says how many there were, what came of them and how long they took.
//!
//! With the path of a contract, its agent takes the place of this program, and one runs at a time. In both cases the
//! processor time of the lab itself is told beside that of the agents, which a busy machine does not change.
#![allow(clippy::print_stdout, reason = "it prints a result")]

use lab::decision::load;
use lab::plan::Setting;
use lab::read::Document;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Values of an object that decide.
const VALUES: usize = 26;

/// The variable that makes this program the agent.
const SERVER: &str = "MUTANTS_SERVER";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::var(SERVER) {
        Ok(server) => agent(&server),
        Err(_) => match std::env::args().nth(1) {
            None => measure(),
            Some(path) => run(Path::new(&path), std::env::current_exe()?, 1),
        },
    }
}

/// Runs a contract, and tells what came of it and where the time went.
fn run(path: &Path, program: PathBuf, jobs: usize) -> Result<(), Box<dyn Error>> {
    let document = Document::parse(&path.to_string_lossy(), &std::fs::read(path)?)
        .map_err(|problems| format!("{problems:?}"))?;
    let tests = load::load(path, &document).map_err(|problems| format!("{problems:?}"))?;
    let setting =
        Arc::new(Setting { program, only: None, model: None, today: String::new(), jobs });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (started, before) = (Instant::now(), ticks());
    for test in tests {
        for case in runtime.block_on((test.run)(Arc::clone(&setting))) {
            println!("{:<11} {}  {}", case.verdict().word(), case.name, case.told());
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{seconds:.1} s with {jobs} at once");
    if let (Some(before), Some(after)) = (before, ticks()) {
        let [own, agents] = [0, 1].map(|at| (after[at] - before[at]) / TICKS);
        let share = 100.0 * own / (own + agents);
        println!(
            "processor time: {own:.2} s of the lab, {agents:.2} s of the agents: {share:.1} % are the lab's"
        );
    }
    Ok(())
}

/// Ticks of a second in which Linux tells processor time to programs (`man 5 proc_pid_stat`).
const TICKS: f64 = 100.0;

/// The processor time of this process and of its children that ended, in ticks; none where the system does not tell it.
fn ticks() -> Option<[f64; 2]> {
    let told = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold anything; 14 to 17 are counted from before it.
    let fields: Vec<&str> = told.rsplit_once(')')?.1.split_whitespace().collect();
    let of = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some([of(11)? + of(12)?, of(13)? + of(14)?])
}

fn measure() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let names: Vec<String> = (1..=VALUES).map(|n| format!("value_{n:02}")).collect();
    let object = |id: &str, last: &str| -> String {
        let mut members: Vec<String> = names.iter().map(|name| format!("{name}: fine")).collect();
        members.push(format!("last: {last}"));
        format!("      - {{why: an object, id: {id}, {}}}\n", members.join(", "))
    };
    let fixture = format!(
        "fixture: 1\nname: list\nversion: 1\nrequest: {{method: GET, path: /list}}\nresponse:\n  body:\n    items:\n{}{}{}",
        object("a-1", "fine"),
        object("a-2", "fine"),
        object("a-3", "other")
    );
    let line = |name: &String| {
        format!("      body.items[].{name}: {{feeds: eligibility, absent: stop, unknown: stop}}\n")
    };
    let lines: String = names.iter().map(line).collect();
    let map = format!(
        "decision-map: 1\noperations:\n  GET /list:\n    response:\n      body.items[].id: {{feeds: target, absent: stop}}\n      body.items[].last: {{feeds: eligibility, absent: stop}}\n{lines}"
    );
    let agent = std::env::current_exe()?;
    let contract = format!(
        "contract: 1\nname: speed\nagent:\n  command: [{}]\n  env: {{{SERVER}: \"{{server}}\"}}\nfixtures: [list-v1.yaml]\ndecision-map: map.yaml\nplan: {{from: stdout, targets: 'act[]'}}\ncases:\n  - name: two of three\n    requests: [GET /list]\n    acts-on: [a-1, a-2]\n",
        json!(agent.to_string_lossy())
    );
    std::fs::write(folder.path().join("list-v1.yaml"), fixture)?;
    std::fs::write(folder.path().join("map.yaml"), map)?;
    let path = folder.path().join("contract.yaml");
    std::fs::write(&path, contract)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    run(&path, agent, jobs)
}

/// A careful agent: anything that it does not know stops it.
fn agent(server: &str) -> Result<(), Box<dyn Error>> {
    let act = match read(server) {
        Ok(act) => act,
        Err(why) => {
            println!("{}", json!({"act": []}));
            return Err(why);
        }
    };
    println!("{}", json!({"act": act}));
    Ok(())
}

fn read(server: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let page = get(server)?;
    let items = page["items"].as_array().ok_or("no items")?;
    let mut act: Vec<String> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for item in items {
        let id = item["id"].as_str().filter(|id| !id.is_empty()).ok_or("no identifier")?;
        if known.contains(&id) {
            return Err("an identifier twice".into());
        }
        known.push(id);
        for n in 1..=VALUES {
            if item[format!("value_{n:02}")] != "fine" {
                return Err("a value is not known".into());
            }
        }
        let last = item["last"].as_str().filter(|last| !last.is_empty()).ok_or("no last value")?;
        if last == "fine" {
            act.push(id.to_owned());
        }
    }
    Ok(act)
}

/// One read, and a second one where no answer came.
fn get(server: &str) -> Result<Value, Box<dyn Error>> {
    let once = || -> Result<String, Box<dyn Error>> {
        let host = server.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host)?;
        write!(stream, "GET /list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        if text.is_empty() || text.starts_with("HTTP/1.1 5") {
            return Err("no answer".into());
        }
        Ok(text)
    };
    let text = once().or_else(|_| once())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or("no body")?;
    if !head.to_lowercase().contains("content-type: application/json") {
        return Err("another content type".into());
    }
    Ok(serde_json::from_str(body)?)
}
