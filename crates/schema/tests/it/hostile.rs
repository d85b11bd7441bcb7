//! Input that means harm, or means nothing: it is refused with a sentence or given up on, and it ends.

use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, evaluate, relate};
use serde_json::{Value, json};

fn read(document: &Value) -> Schema {
    Schema::read(document, &ReadOptions::default()).unwrap()
}

/// The document is refused at this place, in words that include these.
#[track_caller]
fn refused(document: &Value, pointer: &str, words: &str) {
    let problems =
        Schema::read(document, &ReadOptions::default()).expect_err(&document.to_string());
    assert!(
        problems
            .iter()
            .any(|problem| problem.pointer == pointer && problem.sentence.contains(words)),
        "{problems:#?}"
    );
}

fn ends(old: &Value, new: &Value) -> [Answer; 2] {
    let relation = relate(&read(old), &read(new), &Question::default());
    [relation.lost, relation.gained]
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    refused(&json!(null), "", "blank");
    refused(&json!(" "), "", "blank");
    refused(&json!(7), "", "object or a boolean");
    refused(&json!({"properties": {"a": 1}}), "/properties/a", "object or a boolean");
    refused(&json!({"type": "strnig"}), "/type", "names no type");
    refused(&json!({"required": "a"}), "/required", "list of property names");
    refused(&json!({"minLength": -1}), "/minLength", "whole number");
    refused(&json!({"multipleOf": 0}), "/multipleOf", "above 0");
    refused(
        &json!({"properties": {"a": {"pattern": "("}}}),
        "/properties/a/pattern",
        "regular expression",
    );
    refused(&json!({"$schema": "https://example.test/own"}), "/$schema", "dialect");
    refused(&json!({"$ref": "#/$defs/none"}), "/$ref", "does not exist");
    refused(&json!({"$ref": "https://example.test/x.json"}), "/$ref", "network");
    refused(&json!({"$ref": "other.json"}), "/$ref", "not among the files");
    refused(&json!({"$ref": "#nowhere"}), "/$ref", "not declared");
}

#[test]
fn all_problems_of_a_schema_are_told_at_once() {
    let document =
        json!({"type": "x", "minimum": "1", "properties": {"a": {"$ref": "#/none"}, "b": null}});
    let problems = Schema::read(&document, &ReadOptions::default()).unwrap_err();
    assert_eq!(problems.len(), 4, "{problems:#?}");
}

#[test]
fn a_circle_without_a_step_is_refused() {
    refused(&json!({"$ref": "#"}), "", "circle");
    let two = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    let problems = Schema::read(&two, &ReadOptions::default()).unwrap_err();
    assert!(problems[0].pointer.starts_with("/$defs/"), "{problems:?}");
    refused(&json!({"oneOf": [{"$ref": "#"}, {"type": "string"}]}), "/oneOf/0", "circle");
    // With a step into the value it is an ordinary recursive schema.
    read(&json!({"properties": {"next": {"$ref": "#"}}}));
}

#[test]
fn deep_nesting_is_refused_or_survived() {
    let mut deep = json!({"type": "string"});
    for _ in 0..10_000 {
        // Not by json!, which copies, and copying recurses.
        let named = serde_json::Map::from_iter([("a".to_string(), deep)]);
        deep = Value::Object(serde_json::Map::from_iter([(
            "properties".to_string(),
            Value::Object(named),
        )]));
    }
    let problems = Schema::read(&deep, &ReadOptions::default()).unwrap_err();
    assert!(problems[0].sentence.contains("deeper"), "{problems:?}");
    std::mem::forget(deep); // dropping it would recurse, which is not what is tested

    let chain = |definitions: usize, step: &dyn Fn(String) -> Value| {
        let all: serde_json::Map<String, Value> = (0..definitions)
            .map(|at| (format!("d{at}"), step(format!("#/$defs/d{}", at + 1))))
            .chain([(format!("d{definitions}"), json!({"type": "string"}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": all})
    };
    let pointing = chain(10_000, &|next| json!({"$ref": next}));
    let problems = Schema::read(&pointing, &ReadOptions::default()).unwrap_err();
    assert!(problems[0].sentence.contains("chain"), "{problems:?}");
    let stepping =
        chain(10_000, &|next| json!({"properties": {"a": {"$ref": next}}, "required": ["a"]}));
    for answer in ends(&stepping, &json!({"type": "object", "required": ["b"]})) {
        assert!(!matches!(answer, Answer::Nothing), "{answer:?}");
    }
    let mut value = json!("x");
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    assert_eq!(evaluate(&read(&json!({})), &value).unwrap_err().keyword, "undecided");
    std::mem::forget(value);
}

#[test]
fn long_chains_at_every_level_of_a_deep_value_are_survived() {
    let mut definitions: serde_json::Map<String, Value> = (0..150)
        .map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})))
        .collect();
    definitions.insert("d150".into(), json!({"type": "array", "items": {"$ref": "#/$defs/d0"}}));
    let schema = read(&json!({"$ref": "#/$defs/d0", "$defs": definitions}));
    let mut value = json!(1);
    for _ in 0..150 {
        value = Value::Array(vec![value]);
    }
    assert_eq!(evaluate(&schema, &value).unwrap_err().keyword, "undecided");
    evaluate(&schema, &json!([[]])).unwrap();
    let relation = relate(&schema, &read(&json!({"type": "array"})), &Question::default());
    assert_eq!(relation.lost, Answer::Nothing);
}

#[test]
fn exponents_at_the_end_of_what_a_machine_counts_are_survived() {
    let least =
        |text: &str| -> Value { serde_json::from_str(&format!("{{\"minimum\":{text}}}")).unwrap() };
    for text in ["1.5e-9223372036854775808", "1.5e9223372036854775807", "1e-99999999999999999999"] {
        for answer in ends(&least(text), &json!({"type": "number"})) {
            assert!(!matches!(answer, Answer::Nothing), "{answer:?}");
        }
    }
}

#[test]
fn regular_expressions_that_blow_up_end() {
    let pattern = |text: &str| json!({"type": "string", "pattern": text});
    ends(&pattern("^(a+)+$"), &pattern("^(a|a)*$"));
    ends(&pattern("^(a|b)*a(a|b){30}$"), &pattern("^(a|b)*b(a|b){29}$"));
    ends(&pattern("^((a{1,100}){1,100}){1,100}$"), &pattern("^a*$"));
    ends(&pattern("(){1000000000}"), &pattern("^(){1000000000}$"));
    ends(&pattern("^(\\p{L}|\\d){0,4000}$"), &pattern("^(\\w|\\s){0,4000}$"));
    ends(&pattern("(a)\\1"), &pattern("^aa$"));
    let long: String = (0..30_000u32).filter_map(|n| char::from_u32(0x4E00 + n % 20_000)).collect();
    ends(&pattern(&long), &pattern("x"));
}

#[test]
fn numbers_beyond_double_precision_are_exact() {
    let least = |text: &str| -> Value {
        serde_json::from_str(&format!("{{\"type\":\"integer\",\"minimum\":{text}}}")).unwrap()
    };
    let [lost, gained] = ends(&least("9007199254740992"), &least("9007199254740993"));
    let Answer::Some(witnesses) = lost else { panic!("{lost:?}") };
    assert_eq!(witnesses[0].value.to_string(), "9007199254740992");
    assert_eq!(gained, Answer::Nothing);
    let [lost, _] = ends(&least("1e400"), &least("1e400"));
    assert_eq!(lost, Answer::Nothing);
    // Too large to be exact: equal texts are no proof, and nothing is claimed.
    for answer in ends(&least("1e999999999"), &least("2e999999999")) {
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    }
}

#[test]
fn huge_bounds_and_lists_end() {
    let [lost, gained] = ends(
        &json!({"type": "string", "minLength": 1_000_000_000u64}),
        &json!({"type": "string", "minLength": 999_999_999u64}),
    );
    assert_eq!(lost, Answer::Nothing);
    assert!(matches!(gained, Answer::Unknown(_)), "{gained:?}");
    let tiny: Value = serde_json::from_str("{\"type\":\"number\",\"multipleOf\":1e-300}").unwrap();
    let [_, gained] = ends(&tiny, &json!({"type": "number"}));
    assert!(!matches!(gained, Answer::Nothing), "{gained:?}");
    let [lost, _] = ends(&json!({"multipleOf": 1e-300}), &json!({"multipleOf": 7e-300}));
    assert!(!matches!(lost, Answer::Nothing), "{lost:?}");
    let names: Vec<String> = (0..20_000).map(|n| format!("value-{n}")).collect();
    let [lost, gained] = ends(&json!({"enum": names}), &json!({"enum": names[1..]}));
    assert!(matches!(lost, Answer::Some(_)), "{lost:?}");
    assert_eq!(gained, Answer::Nothing);
    ends(
        &json!({"minItems": 1_000_000_000u64}),
        &json!({"minItems": 999_999_999u64, "uniqueItems": true}),
    );
    ends(&json!({"minProperties": 1_000_000_000u64}), &json!({"minProperties": 3}));
    let [lost, _] = ends(
        &json!({"type": "array", "items": false, "minItems": 1_000_000_000u64}),
        &json!(false),
    );
    assert_eq!(lost, Answer::Nothing);
}

#[test]
fn branching_that_multiplies_ends() {
    let mut doubled = json!({"type": "string"});
    let mut definitions = serde_json::Map::new();
    for level in 0..60 {
        let name = format!("l{level}");
        definitions.insert(name.clone(), doubled);
        let to = json!({"$ref": format!("#/$defs/{name}")});
        doubled = json!({"anyOf": [to, to], "not": {"allOf": [{"minLength": level}, {"maxLength": level}]}});
    }
    doubled["$defs"] = Value::Object(definitions);
    ends(&doubled, &json!({"type": "string", "pattern": "^a*$"}));
    let union = |offset: usize| {
        let branches: Vec<Value> = (0..40)
            .map(|at| json!({"properties": {format!("p{}", at % 7): {"minimum": at + offset}, format!("q{}", at % 5): {"maxLength": at}}}))
            .collect();
        json!({"oneOf": branches})
    };
    ends(&union(0), &union(1));
    let all: Vec<Value> = (0..12).map(|at| json!({"anyOf": [{"required": [format!("a{at}")]}, {"required": [format!("b{at}")]}]})).collect();
    let unevaluated = json!({"allOf": all, "unevaluatedProperties": false});
    for open_objects in [OpenObjects::AsWritten, OpenObjects::DeclaredWriters] {
        relate(
            &read(&unevaluated),
            &read(&json!({"maxProperties": 11})),
            &Question { open_objects, ..Question::default() },
        );
    }
}
