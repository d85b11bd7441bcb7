//! A session that lives through one drift after the other: nothing is lost, nothing runs twice, memory stays flat.

use crate::live::{ERAS, Live, phase, ran, tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;

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
