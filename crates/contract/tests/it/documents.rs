//! Values to contracts: every form that is read, and every damage to a list.

use contract::document::{Bundle, Form, Reading, read, read_folder};
use contract::{Contract, Problem};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn reading(root: Value) -> Result<Reading, Vec<Problem>> {
    read(Bundle { name: "file".to_owned(), root, ..Bundle::default() })
}

fn names(reading: &Reading) -> Vec<&str> {
    match &reading.contract {
        Contract::Tools(list) => list.tools.iter().map(|tool| tool.name.as_str()).collect(),
        other => panic!("no tools: {other:?}"),
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// Is read as this form, without problems.
fn is(root: Value, form: Form) {
    let found = reading(root.clone()).unwrap_or_else(|problems| panic!("{root}\n{problems:#?}"));
    assert_eq!(found.form, form, "{root}");
    assert!(found.faults().is_empty(), "{root}\n{:#?}", found.faults());
}

/// Cannot be read at all, for this reason at this place.
fn refused(root: Value, place: &str, part: &str) {
    let problems = reading(root.clone()).expect_err(&root.to_string());
    assert_eq!(problems[0].place, place, "{root}\n{problems:#?}");
    assert!(problems[0].sentence.contains(part), "{root}\n{problems:#?}");
}

#[test]
fn forms_are_told_by_content() {
    is(json!({"tools": [tool("a")]}), Form::List);
    is(json!({"tools": []}), Form::List);
    is(json!([tool("a"), tool("b")]), Form::List);
    is(json!([]), Form::List);
    is(json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool("a")]}}), Form::List);
    is(json!({"result": {"tools": [tool("a")]}}), Form::List);
    is(
        json!({"steadfast_snapshot": 1, "tools": [tool("a")], "serverInfo": {"name": "x"}}),
        Form::Snapshot,
    );
    is(tool("a"), Form::Tool);
    is(json!({"openapi": "3.0.3", "paths": {}}), Form::Openapi);
    is(json!({"openapi": "3.1.0", "webhooks": {}}), Form::Openapi);
    is(json!({"type": "object", "properties": {}}), Form::Schema);
    is(json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}), Form::Schema);
    is(json!(true), Form::Schema);
}

#[test]
fn what_is_no_contract_says_what_it_is() {
    refused(
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}),
        "file#/error",
        "an error instead of a list: \"Method not found\" (code -32601)",
    );
    refused(json!({"error": {"message": "no"}}), "file#/error", "an error instead of a list");
    refused(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}),
        "file#/result",
        "not to tools/list",
    );
    refused(
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        "file#/method",
        "not the answer to tools/list",
    );
    refused(json!({"swagger": "1.2", "paths": {}}), "file#/swagger", "Swagger 1.2");
    refused(json!({"openapi": "4.0.0", "paths": {}}), "file#/openapi", "\"4.0.0\" is not read");
    refused(json!({"openapi": "3.0.0"}), "file", "no paths");
    refused(json!({"tools": {}}), "file#/tools", "an object, not an array");
    refused(json!({"steadfast_snapshot": 1}), "file#/tools", "missing");
    refused(
        json!({"steadfast_snapshot": 2, "tools": []}),
        "file#/steadfast_snapshot",
        "A newer steadfast wrote this snapshot: its format is 2",
    );
    refused(
        json!({"steadfast_snapshot": "x", "tools": []}),
        "file#/steadfast_snapshot",
        "no version",
    );
    refused(json!({"mcpServers": {}}), "file#/mcpServers", "client's configuration");
    refused(
        json!({"hello": 1}),
        "file",
        "Nothing in the file says what it is: its members are \"hello\"",
    );
    refused(json!("text"), "file", "the text \"text\"");
    refused(json!([1]), "file", "not all MCP tools");
    refused(json!(null), "file", "null");
}

#[test]
fn every_problem_of_a_list_is_told_and_the_rest_is_kept() {
    let found = reading(json!({"tools": [
        tool("good"),
        "text",
        {"inputSchema": {}},
        {"name": " ", "inputSchema": {}},
        tool("good"),
        {"name": "none"},
        {"name": "null", "inputSchema": null},
        {"name": "blank", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}},
        {"name": "array", "inputSchema": {"type": "array"}},
        {"name": "output", "inputSchema": {"type": "object"}, "outputSchema": true},
    ], "nextCursor": ""}))
    .unwrap();
    assert_eq!(names(&found), ["good", "none", "null", "blank", "array", "output"]);
    let places = |faults: &[contract::Problem]| -> Vec<String> {
        faults.iter().map(|fault| fault.place.clone()).collect()
    };
    // Which tools there are is open.
    assert_eq!(
        places(&found.problems),
        [
            "file#/tools/1", "file#/tools/2/name", "file#/tools/3/name", "file#/tools/4",
            "file#/nextCursor",
        ]
    );
    // What these tools take is open.
    assert_eq!(
        places(&found.flaws),
        [
            "file#/tools/5/inputSchema",
            "file#/tools/6/inputSchema",
            "file#/tools/7/inputSchema",
            "file#/tools/8/inputSchema",
            "file#/tools/9/outputSchema",
        ]
    );
    assert!(found.problems[3].sentence.contains("first at file#/tools/0"), "{:#?}", found.problems);
}

#[test]
fn a_thousand_problems_are_counted_not_listed() {
    let items: Vec<Value> = (0..1000).map(|n| json!(n)).collect();
    let found = reading(json!({ "tools": items })).unwrap();
    assert_eq!(found.problems.len(), contract::limits::PROBLEMS + 1);
    assert!(found.problems.last().unwrap().sentence.starts_with("950 more"));
}

#[test]
fn a_folder_holds_one_tool_a_file() {
    let folder = |files: &[(&str, Value)]| -> BTreeMap<String, Value> {
        files.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    let found =
        read_folder("tools", &folder(&[("b.snap", tool("b")), ("a.json", tool("a"))])).unwrap();
    assert_eq!((names(&found), found.form), (vec!["a", "b"], Form::Folder));

    let twice =
        read_folder("tools", &folder(&[("a.json", tool("a")), ("b.json", tool("a"))])).unwrap();
    assert_eq!(twice.problems[0].place, "tools/b.json");
    assert!(twice.problems[0].sentence.contains("first at tools/a.json"));

    let stray =
        read_folder("tools", &folder(&[("a.json", tool("a")), ("x.json", json!({"tools": []}))]))
            .unwrap_err();
    assert_eq!(stray[0].place, "tools/x.json");
    assert!(stray[0].sentence.contains("a list of MCP tools"), "{stray:#?}");

    let empty = read_folder("tools", &folder(&[])).unwrap_err();
    assert!(empty[0].help.contains("not an empty list"));
}

#[test]
fn what_a_lock_could_not_hold_is_refused() {
    let nested = |levels: usize| {
        let mut schema = json!({"type": "object"});
        for _ in 0..levels {
            schema = json!({ "not": schema });
        }
        json!({"tools": [{"name": "t", "inputSchema": {"type": "object", "not": schema}}]})
    };
    assert!(reading(nested(100)).is_ok());
    refused(nested(125), "file", "nest deeper than 119 levels");
}
