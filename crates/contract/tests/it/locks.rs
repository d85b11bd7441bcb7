//! The lock: what is written, what is read back, and what is not believed.

use contract::document::{Bundle, read};
use contract::lock::{Accept, Lock};
use contract::{Contract, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn contract(root: Value) -> Contract {
    read(Bundle { name: "file".to_owned(), root, ..Bundle::default() }).unwrap().contract
}

fn tools(names: &[(&str, u64)]) -> Contract {
    let tools: Vec<Value> = names
        .iter()
        .map(|(name, maximum)| {
            json!({"name": name, "inputSchema": {"type": "object", "properties": {"n": {"maximum": maximum}}}})
        })
        .collect();
    contract(json!({ "tools": tools }))
}

fn accept(contract: &Contract, earlier: Option<&Lock>) -> Lock {
    Lock::accept(contract, None, earlier, &Accept::Everything).unwrap()
}

fn back(lock: &Lock) -> Lock {
    let value = text::read("steadfast.lock", lock.to_text().as_bytes()).unwrap();
    Lock::read("steadfast.lock", &value).unwrap()
}

fn ordinals(lock: &Lock) -> Vec<(String, u64)> {
    lock.ordinals().into_iter().collect()
}

fn numbered(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
}

#[test]
fn a_lock_reads_back_to_the_same_bytes() {
    for contract in [
        tools(&[("b", 1), ("a", 2)]),
        contract(json!({"openapi": "3.0.0", "paths": {"/x": {"get": {"responses": {}}}}})),
        contract(json!({"type": "object"})),
    ] {
        let lock = accept(&contract, None);
        assert_eq!(back(&lock).to_text(), lock.to_text());
        assert_eq!(accept(&contract, Some(&lock)).to_text(), lock.to_text());
    }
}

#[test]
fn tools_are_sorted_and_their_members_are_not() {
    let lock = accept(&tools(&[("b", 1), ("a", 2)]), None).to_text();
    let (a, b) = (lock.find("\"name\": \"a\"").unwrap(), lock.find("\"name\": \"b\"").unwrap());
    assert!(a < b, "{lock}");
    let definition = &lock[lock.find("\"definition\"").unwrap()..];
    assert!(definition.find("\"name\"") < definition.find("\"inputSchema\""), "{lock}");
}

#[test]
fn revisions_only_grow() {
    let first = accept(&tools(&[("a", 1), ("b", 1)]), None);
    assert_eq!(ordinals(&first), numbered(&[("a", 1), ("b", 1)]));
    let second = accept(&tools(&[("a", 2), ("b", 1)]), Some(&first));
    assert_eq!(ordinals(&second), numbered(&[("a", 2), ("b", 1)]));
    // Gone, and back again with the old definition: it goes on counting.
    let third = back(&accept(&tools(&[("b", 1)]), Some(&second)));
    assert_eq!(third.retired.get("a"), Some(&2));
    let fourth = accept(&tools(&[("a", 1), ("b", 1)]), Some(&third));
    assert_eq!(ordinals(&fourth), numbered(&[("a", 3), ("b", 1)]));
    assert!(fourth.retired.is_empty());
}

#[test]
fn single_tools_are_accepted_alone() {
    let only = |names: &[&str]| {
        Accept::Tools(names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>())
    };
    let first = accept(&tools(&[("a", 1), ("b", 1), ("c", 1)]), None);
    let now = tools(&[("a", 2), ("b", 2), ("d", 1)]);
    let lock = Lock::accept(&now, None, Some(&first), &only(&["a", "c"])).unwrap();
    assert_eq!(ordinals(&lock), numbered(&[("a", 2), ("b", 1)]));
    let problems = Lock::accept(&now, None, Some(&first), &only(&["x", "y"])).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert!(Lock::accept(&now, None, None, &only(&["a"])).is_err());
    let other = contract(json!({"type": "object"}));
    assert!(Lock::accept(&other, None, Some(&first), &Accept::Everything).is_err());
}

/// Changes one member of a lock's JSON; it must then be refused at this place.
fn tampered(pointer: &str, value: Value, place: &str) {
    let lock = accept(&tools(&[("a", 1)]), None);
    let mut root: Value = serde_json::from_str(&lock.to_text()).unwrap();
    *root.pointer_mut(pointer).unwrap() = value;
    let problems = Lock::read("l", &root).unwrap_err();
    assert_eq!(problems[0].place, format!("l#{place}"), "{problems:#?}");
}

#[test]
fn what_was_edited_by_hand_is_not_believed() {
    tampered("/steadfast_lock", json!(2), "/steadfast_lock");
    tampered("/kind", json!("other"), "/kind");
    tampered("/tools/0/definition/inputSchema", json!({}), "/tools/0/digest");
    tampered("/tools/0/digest", json!("sha256:00"), "/tools/0/digest");
    tampered("/tools/0/name", json!("b"), "/tools/0/definition/name");
    tampered("/tools/0/revision", json!(0), "/tools/0");
    tampered("/tools", json!(null), "/tools");
}

#[test]
fn an_operation_has_the_digest_of_all_it_reaches() {
    let document = |maximum: u64, other: u64| {
        contract(json!({
            "openapi": "3.0.0",
            "paths": {
                "/a": {"get": {"parameters": [{"$ref": "#/components/parameters/P"}]}},
                "/b": {"get": {"responses": {"200": {"$ref": "#/components/responses/R"}}}},
            },
            "components": {
                "parameters": {"P": {"name": "p", "in": "query", "schema": {"$ref": "#/components/schemas/S"}}},
                "responses": {"R": {"description": "", "x": other}},
                "schemas": {"S": {"maximum": maximum, "properties": {"again": {"$ref": "#/components/schemas/S"}}}},
            },
        }))
    };
    let first = accept(&document(1, 1), None);
    let deep = accept(&document(2, 1), Some(&first));
    assert_eq!(ordinals(&deep), numbered(&[("GET /a", 2), ("GET /b", 1)]));
    let other = accept(&document(1, 2), Some(&first));
    assert_eq!(ordinals(&other), numbered(&[("GET /a", 1), ("GET /b", 2)]));
}
