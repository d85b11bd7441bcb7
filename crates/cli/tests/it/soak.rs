//! A session that lives through one drift after the other: nothing is lost, nothing runs twice, memory stays flat.
//!
//! The long form moves the definitions each second for an hour, whatever is under way, and tells its figures:
//! `cargo test --release -p steadfast --test it -- --ignored --nocapture soak`; `STEADFAST_SOAK` says how many seconds.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the long form reports as it goes")]

use crate::front::{Client, Gateway};
use crate::live::{ERAS, Era, Live, phase, ran, tool};
use lab::Recorder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, interval, sleep};

/// Definitions that follow each other; each demands a field that no other knows.
const DRIFTS: usize = 30;
/// Calls between two of them.
const CALLS: usize = 8;
/// What a session may grow by from its third drift to its last, in KiB: what it keeps of lists and records is bounded.
const GROWTH: u64 = 24 << 10;

fn definition(number: usize) -> Value {
    let field = field(number);
    let properties = json!({"note": {"type": "string"}, &field: {"type": "string"}});
    phase(json!([tool("write", properties, json!(["note", field]))]))
}

fn field(number: usize) -> String {
    format!("field_{number}")
}

#[tokio::test]
async fn a_long_session_loses_nothing_and_repeats_nothing() {
    for era in ERAS {
        let phases: Vec<Value> = (0..DRIFTS).map(definition).collect();
        let mut live = Live::listed(era, json!({"phases": phases, "announces": true})).await;
        let (mut planned, mut refused, mut begun) = (0, 0, None);
        let mut wanted: Vec<String> = Vec::new();
        for drift in 0..DRIFTS {
            live.recorder.switch(drift);
            for call in 0..CALLS {
                let note = format!("{drift}-{call}");
                let arguments = |planned: usize| json!({"note": note, field(planned): "x"});
                let mut answer = live.call("write", arguments(planned)).await;
                if !ran(&answer) {
                    refused += 1;
                    live.list().await;
                    planned = drift;
                    answer = live.call("write", arguments(planned)).await;
                }
                assert!(ran(&answer), "{answer}");
                wanted.push(note);
            }
            if drift == 2 {
                begun = live.resident();
            }
        }
        assert_eq!(refused, DRIFTS - 1, "one refusal for each drift");
        let mut arrived: BTreeMap<String, usize> = BTreeMap::new();
        for body in live.reached() {
            *arrived.entry(body["note"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert!(arrived.values().all(|times| *times == 1), "{arrived:?}");
        wanted.sort();
        assert_eq!(arrived.into_keys().collect::<Vec<_>>(), wanted);
        if let (Some(begun), Some(now)) = (begun, live.resident()) {
            assert!(now < begun + GROWTH, "from {begun} to {now} KiB");
        }
        live.leave().await;
    }
}

/// Definitions of the long form until the first holds again: the time for which one that comes back is remembered.
const ROUND: usize = 900;
/// The pause between two calls of the long form.
const PAUSE: Duration = Duration::from_millis(50);
/// Times that one call of the long form is tried before its client is stuck.
const TRIES: usize = 20;

/// An agent that plans by a list until it is told that it is stale.
trait Agent {
    async fn tools(&mut self) -> Vec<Value>;
    async fn act(&mut self, tool: &str, arguments: Value) -> Value;
}

impl Agent for Live {
    async fn tools(&mut self) -> Vec<Value> {
        self.list().await
    }

    async fn act(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        self.aside.clear();
        answer
    }
}

impl Agent for Client<'_> {
    async fn tools(&mut self) -> Vec<Value> {
        self.list().await
    }

    async fn act(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        self.aside.clear();
        answer
    }
}

/// What came of one client's time.
#[derive(Debug, Default)]
struct Figures {
    drifts: usize,
    effects: usize,
    reads: usize,
    stopped: usize,
    lost: usize,
    twice: usize,
    unwanted: usize,
    unsettled: usize,
    /// Memory in KiB and the store in bytes, each minute.
    samples: Vec<(u64, u64)>,
}

/// A tool with effects whose field moves, and one that reads, whose old calls go on.
fn moving(number: usize) -> Value {
    let mut phase = definition(number);
    let pages = json!({"query": {"type": "string"}, format!("page_{number}"): {"type": "integer"}});
    let mut find = tool("find", pages, json!(["query"]));
    find["annotations"] = json!({"readOnlyHint": true});
    phase["tools"].as_array_mut().unwrap().push(find);
    phase["deeds"]["find"] = json!({"answer": {"id": "x-1"}, "validates": true});
    phase["deeds"]["write"]["validates"] = true.into();
    phase
}

/// The field that the list demands now.
fn demanded(tools: &[Value]) -> String {
    let write = tools.iter().find(|tool| tool["name"] == "write").unwrap();
    write["inputSchema"]["required"][1].as_str().unwrap().to_owned()
}

fn bytes_of(store: &Path) -> u64 {
    let files = std::fs::read_dir(store.parent().unwrap()).unwrap();
    let files = files.filter_map(Result::ok);
    let own = files.filter(|file| file.file_name().to_string_lossy().starts_with("state.db"));
    own.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

/// Lets an agent act for so long while the definitions move each second.
async fn endure(
    name: &str,
    agent: &mut impl Agent,
    recorder: &Recorder,
    resident: impl Fn() -> Option<u64>,
    store: &Path,
    length: Duration,
) -> Figures {
    let end = Instant::now() + length;
    let mut figures = Figures::default();
    let mut drifts = 0;
    let drifting = async {
        let mut seconds = interval(Duration::from_secs(1));
        seconds.tick().await;
        while Instant::now() < end {
            seconds.tick().await;
            drifts += 1;
            recorder.switch(drifts % ROUND);
        }
    };
    let acting = async {
        let mut wanted: BTreeMap<String, bool> = BTreeMap::new();
        let mut field = demanded(&agent.tools().await);
        let (mut number, begun) = (0_usize, Instant::now());
        while Instant::now() < end {
            number += 1;
            let note = format!("n-{number}");
            let mut done = false;
            for _ in 0..TRIES {
                let answer = agent.act("write", json!({"note": note, &field: "x"})).await;
                if ran(&answer) {
                    done = true;
                    break;
                }
                // What the server itself turned down had no effect; what came too late may have had one.
                let meta = &answer["result"]["_meta"]["steadfast/refusal"];
                if meta["side_effect_started"] == true || answer.get("error").is_some() {
                    figures.unsettled += 1;
                    eprintln!("{name}: {answer}");
                    break;
                }
                figures.stopped += 1;
                field = demanded(&agent.tools().await);
            }
            wanted.insert(note, done);
            figures.effects += usize::from(done);
            // A read that was on its way when its tool moved is made once more, as its refusal says.
            for _ in 0..TRIES {
                let read = agent.act("find", json!({"query": "x"})).await;
                if ran(&read) {
                    figures.reads += 1;
                    break;
                }
                let retry = &read["result"]["_meta"]["steadfast/refusal"]["retry"];
                assert_eq!(retry, "auto_allowed", "{name}: {read}");
                figures.stopped += 1;
            }
            if begun.elapsed().as_secs() / 60 > figures.samples.len() as u64 {
                figures.samples.push((resident().unwrap_or(0), bytes_of(store)));
                let (memory, bytes) = figures.samples[figures.samples.len() - 1];
                eprintln!(
                    "{name}: minute {}: {:.1} MiB of memory, {:.1} MiB of store, {} effects, {} reads, {} stopped",
                    figures.samples.len(),
                    memory as f64 / 1024.0,
                    bytes as f64 / f64::from(1 << 20),
                    figures.effects,
                    figures.reads,
                    figures.stopped,
                );
            }
            sleep(PAUSE).await;
        }
        wanted
    };
    let ((), wanted) = tokio::join!(drifting, acting);
    figures.drifts = drifts;
    let mut arrived: BTreeMap<String, usize> = BTreeMap::new();
    for record in recorder.records() {
        let body: Value = serde_json::from_str(&record.body).unwrap();
        *arrived.entry(body["note"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    figures.lost =
        wanted.iter().filter(|(note, done)| **done && !arrived.contains_key(*note)).count();
    figures.twice = arrived.values().filter(|times| **times > 1).count();
    figures.unwanted = arrived.keys().filter(|note| !wanted.contains_key(*note)).count();
    println!(
        "{name}: {} drifts, {} effects, {} reads, {} calls stopped, {} unsettled; {} lost, {} twice, {} unwanted; store {:.1} MiB",
        figures.drifts,
        figures.effects,
        figures.reads,
        figures.stopped,
        figures.unsettled,
        figures.lost,
        figures.twice,
        figures.unwanted,
        bytes_of(store) as f64 / f64::from(1 << 20),
    );
    figures
}

#[tokio::test]
#[ignore = "the long form takes an hour; it is run by name"]
async fn soak_for_an_hour_with_a_drift_each_second() {
    let seconds = std::env::var("STEADFAST_SOAK").map_or(3_600, |text| text.parse().unwrap());
    let length = Duration::from_secs(seconds);
    let script = |announces: bool| {
        let phases: Vec<Value> = (0..ROUND).map(moving).collect();
        json!({"phases": phases, "announces": announces})
    };
    // Over a pipe one server tells that it moved and the other does not; over HTTP both.
    let pipe = async |era: Era, name: &str, announces: bool| {
        let mut live = Live::listed(era, script(announces)).await;
        let (recorder, store) = (live.recorder.clone(), live.store());
        let process = live.process();
        let resident = || crate::live::resident(process);
        let figures = endure(name, &mut live, &recorder, resident, &store, length).await;
        live.leave().await;
        figures
    };
    let web = async |era: Era, name: &str| {
        let gateway = Gateway::with(script(true), "", "").await;
        let mut client = gateway.client(era).await;
        let resident = || gateway.resident();
        let store = gateway.store();
        let figures = endure(name, &mut client, &gateway.recorder, resident, &store, length).await;
        drop(client);
        gateway.stop();
        gateway.ended().await;
        figures
    };
    let all = tokio::join!(
        pipe(Era::Legacy, "pipe, legacy, told", true),
        pipe(Era::Modern, "pipe, modern, silent", false),
        web(Era::Legacy, "HTTP, legacy, told"),
        web(Era::Modern, "HTTP, modern, told"),
    );
    for figures in [all.0, all.1, all.2, all.3] {
        assert_eq!((figures.lost, figures.twice, figures.unwanted), (0, 0, 0), "{figures:?}");
        assert!(figures.effects > 0 && figures.stopped > 0, "{figures:?}");
        // From a quarter of the time on, what is kept has reached its bounds.
        let samples = &figures.samples;
        if let (Some(quarter), Some(last)) = (samples.get(samples.len() / 4), samples.last()) {
            assert!(last.0 < quarter.0 + GROWTH, "memory grew from {quarter:?} to {last:?}");
        }
    }
}
