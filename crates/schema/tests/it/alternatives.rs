//! Wide unions: decided by their tags or by which alternative a value is of, and never wrongly.

use crate::generate::Dice;
use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, evaluate, relate};
use serde_json::{Value, json};

fn read(schema: &Value) -> Schema {
    Schema::read(schema, &ReadOptions::default()).unwrap()
}

fn lost(old: &Value, new: &Value, open_objects: OpenObjects) -> Answer {
    relate(&read(old), &read(new), &Question { open_objects, ..Question::default() }).lost
}

/// An alternative for each number: told apart by a tag, or by the one name that it asks for.
fn union(keyword: &str, count: usize, tagged: bool, more: &Value) -> Value {
    let one = |at: usize| {
        let mut schema = match tagged {
            true => json!({
                "type": "object",
                "properties": {"kind": {"const": format!("k{at}")}, "value": {"type": "string"}},
                "required": ["kind", "value"]
            }),
            false => {
                let name = format!("k{at}");
                let mut schema = json!({"type": "object", "properties": {}, "required": [name]});
                schema["properties"][name] = json!({"type": "string"});
                schema
            }
        };
        for (name, member) in more.as_object().unwrap() {
            schema["properties"][name] = member.clone();
        }
        schema
    };
    let mut schema = json!({});
    schema[keyword] = (0..count).map(one).collect();
    schema
}

#[test]
fn a_member_that_many_alternatives_gain_loses_no_declared_value() {
    let more = json!({"z": {"type": "integer"}});
    for (keyword, count, tagged) in [
        ("oneOf", 60, true),
        ("oneOf", 200, true),
        ("anyOf", 60, true),
        ("anyOf", 60, false),
        ("anyOf", 200, false),
    ] {
        let (old, new) =
            (union(keyword, count, tagged, &json!({})), union(keyword, count, tagged, &more));
        let answer = lost(&old, &new, OpenObjects::DeclaredWriters);
        assert_eq!(answer, Answer::Nothing, "{keyword} {count} {tagged}");
        // Near: one of the alternatives asks for it.
        let mut asks = new.clone();
        let list = asks[keyword][count / 2]["required"].as_array_mut().unwrap();
        list.push(json!("z"));
        let answer = lost(&old, &asks, OpenObjects::DeclaredWriters);
        assert!(matches!(answer, Answer::Some(_)), "{keyword} {count} {tagged}: {answer:?}");
    }
}

/// A schema with tags that may overlap, may be missing, or may stand on a value that need not be an object.
fn drawn(dice: &mut Dice) -> Value {
    let count = 2 + dice.roll(3);
    let list: Vec<Value> = (0..count)
        .map(|_| {
            let mut schema = json!({"properties": {}});
            if !dice.one_in(4) {
                schema["type"] = json!("object");
            }
            if !dice.one_in(4) {
                schema["required"] = json!(["kind"]);
            }
            let tags: Vec<Value> =
                (0..1 + dice.roll(2)).map(|_| json!(format!("k{}", dice.roll(4)))).collect();
            let tag = json!({"enum": tags});
            schema["properties"]["kind"] =
                if dice.one_in(5) { json!({"allOf": [tag]}) } else { tag };
            if dice.one_in(2) {
                schema["properties"]["n"] =
                    json!({"type": if dice.one_in(2) { "string" } else { "null" }});
            }
            if dice.one_in(3) {
                schema["additionalProperties"] = json!(false);
            }
            schema
        })
        .collect();
    let keyword = if dice.one_in(4) { "anyOf" } else { "oneOf" };
    let mut schema = json!({});
    schema[keyword] = json!(list);
    schema
}

#[test]
fn what_is_told_apart_by_tags_is_never_told_wrongly() {
    let mut pool = vec![json!(null), json!("k0"), json!({}), json!({"n": ""}), json!({"n": null})];
    for tag in 0..4 {
        let kind = format!("k{tag}");
        pool.push(json!({"kind": kind}));
        pool.push(json!({"kind": kind, "n": ""}));
        pool.push(json!({"kind": kind, "n": null}));
        pool.push(json!({"kind": kind, "x": 1}));
    }
    for seed in 0..600 {
        let mut dice = Dice::new(seed + 1);
        let (old, new) = (drawn(&mut dice), drawn(&mut dice));
        let (was, is) = (read(&old), read(&new));
        let answer = lost(&old, &new, OpenObjects::AsWritten);
        let refuted = pool
            .iter()
            .find(|value| evaluate(&was, value).is_ok() && evaluate(&is, value).is_err());
        match (&answer, refuted) {
            (Answer::Nothing, Some(value)) => panic!("{seed}: {value} of\n{old} is lost in\n{new}"),
            (Answer::Unknown(why), _) => panic!("{seed}: {why:?}\n{old}\n{new}"),
            _ => {}
        }
    }
}
