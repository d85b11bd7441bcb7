//! A list of two schemas: they relate to themselves without loss, and every witness is replayed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schema::{Answer, Limits, OpenObjects, Question, ReadOptions, Schema, evaluate, relate};

fuzz_target!(|bytes: &[u8]| {
    let Ok(serde_json::Value::Array(pair)) = serde_json::from_slice(bytes) else { return };
    let [old, new] = pair.as_slice() else { return };
    let options = ReadOptions::default();
    let (Ok(old), Ok(new)) = (Schema::read(old, &options), Schema::read(new, &options)) else { return };
    for open_objects in [OpenObjects::AsWritten, OpenObjects::DeclaredWriters] {
        // Fewer steps than in use: what is looked for are crashes and contradictions, not answers.
        let question = Question { open_objects, limits: Limits { steps: 20_000, ..Limits::default() } };
        let relation = relate(&old, &new, &question);
        for (yes, no, answer) in [(&old, &new, &relation.lost), (&new, &old, &relation.gained)] {
            if let Answer::Some(witnesses) = answer {
                for witness in witnesses {
                    assert!(evaluate(yes, &witness.value).is_ok());
                    assert!(evaluate(no, &witness.value).is_err());
                }
            }
        }
        for schema in [&old, &new] {
            let same = relate(schema, schema, &question);
            assert!(!matches!(same.lost, Answer::Some(_)) && !matches!(same.gained, Answer::Some(_)));
        }
    }
});
