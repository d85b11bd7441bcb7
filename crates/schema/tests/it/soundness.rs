//! Attacks on the engine: a proof that a drawn value refutes, or a witness that another
//! validator does not replay, fails. `STEADFAST_SOUNDNESS=n` draws n pairs in place of the usual number.

use crate::attack::{attack, judge, pair, read, shrink};
use crate::generate::Dice;
use crate::grammar::{document, neighbour};
use proptest::prelude::*;
use schema::{Answer, OpenObjects, Question, relate};
use serde_json::{Value, json};

#[test]
fn no_proof_is_refuted_and_every_witness_replays() {
    let pairs: u64 =
        std::env::var("STEADFAST_SOUNDNESS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let (mut decided, mut asked, mut wrong) = (0, 0, Vec::new());
    for seed in 0..pairs {
        let (old, new, mut dice) = pair(seed);
        let algebra = seed % 4 == 0;
        let found = judge(&old, &new, &mut dice, algebra);
        asked += found.asked;
        decided += found.decided;
        if !found.wrong.is_empty() {
            let (_, _, why) = shrink(old, new, seed, algebra);
            wrong.push(format!("seed {seed}: {why}"));
        }
    }
    println!("{decided} of {asked} answers decided");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(6)].join("\n\n")
    );
    assert!(decided * 200 >= asked * 199, "only {decided} of {asked} decided");
}

/// Old and new of the changed schemas in the real histories beside the repository, where they are at hand.
fn histories() -> Vec<(Value, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/mcp");
    let mut out = Vec::new();
    let list = |folder: &std::path::Path| {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        paths
    };
    for server in list(folder.as_ref()) {
        let mut before: Option<Value> = None;
        for file in
            list(&server).into_iter().filter(|file| file.to_string_lossy().ends_with(".tools.json"))
        {
            let now: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let tools =
                |list: &Value| list.get("tools").unwrap_or(list).as_array().unwrap().clone();
            for tool in tools(&now) {
                let old = before.iter().flat_map(tools).find(|old| old["name"] == tool["name"]);
                for side in ["inputSchema", "outputSchema"] {
                    if let (Some(a), Some(b)) =
                        (old.as_ref().and_then(|old| old.get(side)), tool.get(side))
                        && a != b
                    {
                        out.push((a.clone(), b.clone()));
                    }
                }
            }
            before = Some(now);
        }
    }
    out
}

#[test]
fn changed_schemas_of_real_histories_are_decided_and_not_refuted() {
    let pairs = histories();
    if pairs.is_empty() {
        println!("skipped: no histories beside the repository");
        return;
    }
    let (mut decided, mut asked, mut wrong) = (0, 0, Vec::new());
    for (number, (old, new)) in pairs.iter().enumerate() {
        // Every seventh pair in CI's length, in turn in both readings.
        if number % 7 != 0 {
            continue;
        }
        let (Some(a), Some(b)) = (read(old), read(new)) else {
            continue;
        };
        let open_objects =
            if number % 2 == 0 { OpenObjects::AsWritten } else { OpenObjects::DeclaredWriters };
        let relation = relate(&a, &b, &Question { open_objects, ..Question::default() });
        let mut dice = Dice::new(number as u64);
        for (from, to, answer) in [(old, new, &relation.lost), (new, old, &relation.gained)] {
            asked += 1;
            match attack(from, to, answer, &mut dice, open_objects) {
                Ok(yes) => decided += usize::from(yes),
                Err(why) => wrong.push(why),
            }
        }
    }
    println!("{decided} of {asked} answers decided");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(6)].join("\n\n")
    );
    assert!(decided * 100 >= asked * 99, "only {decided} of {asked} decided");
}

fn same(a: &Value, b: &Value) -> Result<(), TestCaseError> {
    let (Some(left), Some(right)) = (read(a), read(b)) else { return Ok(()) };
    let relation = relate(&left, &right, &Question::default());
    for answer in [&relation.lost, &relation.gained] {
        prop_assert!(!matches!(answer, Answer::Some(_)), "{a} and {b} are equal: {answer:?}");
    }
    Ok(())
}

/// Puts a document into a larger schema without moving its definitions.
fn wrapped(document: &Value, wrap: impl Fn(Value) -> Value) -> Value {
    let mut inner = document.clone();
    let definitions = inner.as_object_mut().unwrap().shift_remove("$defs").unwrap();
    let mut out = wrap(inner);
    out.as_object_mut().unwrap().insert("$defs".into(), definitions);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_relates_to_itself_without_loss(seed in any::<u64>()) {
        let document = document(&mut Dice::new(seed));
        if let Some(schema) = read(&document) {
            for open_objects in [OpenObjects::AsWritten, OpenObjects::DeclaredWriters] {
                let relation = relate(&schema, &schema, &Question { open_objects, ..Question::default() });
                prop_assert_eq!(relation.lost, Answer::Nothing, "{}", document);
                prop_assert_eq!(relation.gained, Answer::Nothing, "{}", document);
            }
        }
    }

    #[test]
    fn swapping_the_sides_swaps_the_answers(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let old = document(&mut dice);
        let new = neighbour(&old, &mut dice);
        if let (Some(a), Some(b)) = (read(&old), read(&new)) {
            let (one, two) = (relate(&a, &b, &Question::default()), relate(&b, &a, &Question::default()));
            prop_assert_eq!(one.lost, two.gained);
            prop_assert_eq!(one.gained, two.lost);
        }
    }

    #[test]
    fn what_says_nothing_changes_nothing(seed in any::<u64>()) {
        let document = document(&mut Dice::new(seed));
        same(&document, &wrapped(&document, |inner| json!({"allOf": [inner, true]})))?;
        same(&document, &wrapped(&document, |inner| json!({"anyOf": [inner, false]})))?;
        same(&document, &wrapped(&document, |inner| json!({"not": {"not": inner}})))?;
        same(&document, &wrapped(&document, |inner| json!({"anyOf": [inner.clone(), inner]})))?;
    }

    #[test]
    fn all_of_narrows_and_any_of_widens(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let document = document(&mut dice);
        let other = crate::grammar::schema(&mut dice, 1);
        let narrow = wrapped(&document, |inner| json!({"allOf": [inner, other.clone()]}));
        let wide = wrapped(&document, |inner| json!({"anyOf": [other.clone(), inner]}));
        if let (Some(plain), Some(narrow), Some(wide)) = (read(&document), read(&narrow), read(&wide)) {
            let gained = relate(&plain, &narrow, &Question::default()).gained;
            prop_assert!(!matches!(gained, Answer::Some(_)), "{document}: {gained:?}");
            let lost = relate(&plain, &wide, &Question::default()).lost;
            prop_assert!(!matches!(lost, Answer::Some(_)), "{document}: {lost:?}");
        }
    }
}
