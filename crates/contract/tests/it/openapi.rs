//! OpenAPI documents: labelled mutations, near misses, references, dialects, scale.

#[path = "../../examples/support/documents.rs"]
pub(crate) mod documents;

use contract::decision::DecisionMap;
use contract::{
    Bundle, Change, Class, Contract, Decision, Diff, Meaning, Options, Subject, Verdict, diff,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn compared(old: &Value, new: &Value) -> Diff {
    let (old, new) = (
        documents::document("old.json", old.clone()),
        documents::document("new.json", new.clone()),
    );
    diff(&old, &new, &Options::default()).expect("both documents are sound")
}

fn changes(diff: &Diff) -> Vec<&Change> {
    diff.entries.iter().flat_map(|entry| &entry.changes).collect()
}

fn rules(diff: &Diff) -> Vec<&'static str> {
    let mut rules: Vec<_> = changes(diff).iter().map(|change| change.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// A document with one operation, its parts given as JSON.
fn api(version: &str, operation: Value, schemas: Value) -> Value {
    json!({
        "openapi": version,
        "info": {"title": "t", "version": "1"},
        "paths": {"/orders/{id}": {"post": operation}},
        "components": {"schemas": schemas}
    })
}

fn answering(schema: Value) -> Value {
    json!({"responses": {"200": {"description": "done", "content": {"application/json": {"schema": schema}}}}})
}

fn asking(schema: Value) -> Value {
    json!({
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"204": {"description": "done"}}
    })
}

fn check_answer(version: &str, old: Value, new: Value, verdict: Verdict) {
    let found = compared(
        &api(version, answering(old.clone()), json!({})),
        &api(version, answering(new.clone()), json!({})),
    );
    assert_eq!(found.verdict, verdict, "{old} -> {new}: {:#?}", changes(&found));
}

fn check_request(version: &str, old: Value, new: Value, verdict: Verdict) {
    let found = compared(
        &api(version, asking(old.clone()), json!({})),
        &api(version, asking(new.clone()), json!({})),
    );
    assert_eq!(found.verdict, verdict, "{old} -> {new}: {:#?}", changes(&found));
}

#[test]
fn labelled_mutations_are_flagged_and_classed() {
    let cases = documents::value(&documents::root().join("fixtures/schema/hard-cases.json"));
    let path = documents::root().join("fixtures/openapi/projects.decisions.yaml");
    let text = std::fs::read_to_string(path).expect("the map is part of the repository");
    let map = DecisionMap::parse("projects.decisions.yaml", &text).expect("the map is sound");
    let base = &cases["openapi_base"];
    let mut right = BTreeMap::from([(true, 0), (false, 0)]);
    let mut of = 0;
    for case in cases["openapi_mutations"].as_array().expect("a list") {
        let old = documents::document("old", base.clone());
        let new = documents::document("new", documents::patched(base, &case["patch"]));
        let wanted: Vec<Decision> = case["classes"]
            .as_array()
            .expect("classes")
            .iter()
            .map(|class| match class.as_str().expect("a letter") {
                "T" => Decision::Target,
                "E" => Decision::Eligibility,
                "S" => Decision::Scope,
                "C" => Decision::Completion,
                _ => Decision::Ask,
            })
            .collect();
        of += usize::from(!wanted.is_empty());
        for with_map in [true, false] {
            let options =
                Options { decisions: with_map.then(|| map.clone()), ..Options::default() };
            let found = diff(&old, &new, &options).expect("both documents are sound");
            let review = case["label"] == "review";
            assert_eq!(
                found.verdict != Verdict::Safe,
                review,
                "{} {} (map: {with_map}): {:#?}",
                case["id"],
                case["name"],
                changes(&found)
            );
            let named = changes(&found)
                .iter()
                .filter(|change| change.verdict == found.verdict)
                .any(|change| change.decisions.iter().any(|d| wanted.contains(d)));
            if !wanted.is_empty() && named {
                *right.get_mut(&with_map).expect("both are there") += 1;
            }
        }
    }
    assert!(right[&true] * 10 >= of * 9, "with the map {} of {of}", right[&true]);
    assert!(right[&false] * 10 >= of * 9, "guessed {} of {of}", right[&false]);
}

#[test]
fn direction_turns_a_verdict_round() {
    let list = |values: Value| json!({"type": "object", "properties": {"state": {"enum": values}}});
    let (short, long) = (list(json!(["a", "b"])), list(json!(["a", "b", "c"])));
    check_answer("3.1.0", short.clone(), long.clone(), Verdict::NewApproval);
    check_answer("3.1.0", long.clone(), short.clone(), Verdict::Safe);
    check_request("3.1.0", long, short, Verdict::Refuse);
}

#[test]
fn notation_is_no_change() {
    let operation = answering(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let mut other = operation.clone();
    other["tags"] = json!(["x"]);
    other["x-vendor"] = json!({"anything": 1});
    other["responses"]["200"]["content"]["application/json"]["example"] = json!({"a": "b"});
    let found = compared(
        &api("3.0.3", operation.clone(), json!({})),
        &api("3.0.3", other, json!({"Unused": {"type": "string"}})),
    );
    assert_eq!(found.verdict, Verdict::Safe);
    assert!(changes(&found).iter().all(|c| c.class == Class::Cosmetic), "{:#?}", changes(&found));
    // The same contract in the newer dialect.
    let nullable = |version: &str, schema: Value| api(version, answering(schema), json!({}));
    let found = compared(
        &nullable("3.0.3", json!({"type": "string", "nullable": true})),
        &nullable("3.1.0", json!({"type": ["string", "null"]})),
    );
    assert_eq!(found.entries, [], "{found:#?}");
}

#[test]
fn version_3_0_spells_its_own_way() {
    let answers = |schema: Value| json!({"type": "object", "properties": {"n": schema}});
    let plain = answers(json!({"type": "integer", "minimum": 0}));
    let null = answers(json!({"type": "integer", "minimum": 0, "nullable": true}));
    check_answer("3.0.3", plain.clone(), null.clone(), Verdict::NewApproval);
    check_answer("3.0.3", null, plain.clone(), Verdict::Safe);
    let strict = answers(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}));
    check_request("3.0.3", plain.clone(), strict, Verdict::Refuse);
    let loose = answers(json!({"type": "integer", "minimum": 0, "exclusiveMinimum": false}));
    check_request("3.0.3", plain, loose, Verdict::Safe);
}

#[test]
fn read_only_members_exist_in_answers_only() {
    let object = |mark: Value| json!({"type": "object", "properties": {"total": mark}});
    let (plain, marked) =
        (object(json!({"type": "number"})), object(json!({"type": "number", "readOnly": true})));
    check_request("3.0.3", plain.clone(), marked.clone(), Verdict::Refuse);
    check_answer("3.0.3", plain.clone(), marked, Verdict::Safe);
    let write = object(json!({"type": "number", "writeOnly": true}));
    let found = compared(
        &api("3.0.3", answering(plain), json!({})),
        &api("3.0.3", answering(write), json!({})),
    );
    assert_eq!(rules(&found), ["SF201"]);
}

#[test]
fn a_cycle_ends_and_a_shared_declaration_is_told_once() {
    let schemas = |status: Value| {
        json!({
            "Node": {
                "type": "object",
                "properties": {
                    "status": {"type": "string", "enum": status},
                    "parent": {"$ref": "#/components/schemas/Node"},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}
                }
            }
        })
    };
    let document = |status: Value, operations: usize| {
        let mut document = api("3.0.3", json!({"responses": {}}), schemas(status));
        let paths = document["paths"].as_object_mut().expect("paths");
        paths.clear();
        for at in 0..operations {
            paths.insert(
                format!("/nodes{at}/{{id}}"),
                json!({"get": answering(json!({"$ref": "#/components/schemas/Node"}))}),
            );
        }
        document
    };
    let (old, new) = (json!(["a"]), json!(["a", "b"]));
    let found = compared(&document(old.clone(), 1), &document(new.clone(), 1));
    assert_eq!(found.entries.len(), 1, "{:#?}", found.entries);
    assert_eq!(rules(&found), ["SF205"]);
    let found = compared(&document(old, 40), &document(new, 40));
    let own: Vec<_> = changes(&found).into_iter().filter(|change| change.rule == "SF205").collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].path, "/components/schemas/Node/properties/status");
    let pointing = changes(&found).into_iter().filter(|change| change.rule == "SF560").count();
    assert_eq!(pointing, 40, "each operation that reads it says so once");
    let declared = found
        .entries
        .iter()
        .find(|entry| entry.subject == Subject::Schema("/components/schemas/Node".into()));
    assert!(declared.is_some());
}

#[test]
fn references_lead_into_other_files() {
    let bundle = |kind: &str| {
        let root = json!({
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "paths": {"/orders": {"$ref": "paths/orders.yaml"}}
        });
        let orders = json!({"get": answering(json!({"$ref": "../schemas.yaml#/Order"}))});
        let schemas = json!({
            "Order": {"type": "object", "properties": {"total": {"$ref": "#/Money"}}},
            "Money": {"type": kind}
        });
        Contract::Openapi(Bundle {
            name: "api/openapi.yaml".into(),
            root,
            files: [("paths/orders.yaml".into(), orders), ("schemas.yaml".into(), schemas)].into(),
        })
    };
    let found = diff(&bundle("number"), &bundle("string"), &Options::default()).expect("sound");
    let change = changes(&found)[0];
    assert_eq!(change.path, "schemas.yaml#/Money");
    assert_eq!(found.verdict, Verdict::Refuse);
}

#[test]
fn bad_references_are_all_named_with_their_place() {
    let schemas = json!({
        "A": {"$ref": "#/components/schemas/Missing"},
        "B": {"$ref": "https://example.test/b.json"},
        "C": {"properties": {"x": {"$ref": "#/components/schemas/A"}, "y": {"$ref": "#/components/schemas/B"}}}
    });
    let bad = api("3.0.3", answering(json!({"$ref": "#/components/schemas/C"})), schemas);
    let (old, new) =
        (documents::document("a.json", bad.clone()), documents::document("b.json", bad));
    let problems = diff(&old, &new, &Options::default()).expect_err("it cannot be read");
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "a.json#/components/schemas/A",
            "a.json#/components/schemas/B",
            "b.json#/components/schemas/A",
            "b.json#/components/schemas/B"
        ]
    );
    let circle = json!({"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": {"200": {"$ref": "#/components/responses/R"}}}}},
        "components": {"responses": {"R": {"$ref": "#/components/responses/S"}, "S": {"$ref": "#/components/responses/R"}}}});
    let circle = documents::document("c.json", circle);
    let problems = diff(&circle, &circle, &Options::default()).expect_err("it cannot be read");
    assert!(problems[0].sentence.contains("circle"), "{problems:?}");
}

#[test]
fn names_in_templates_are_no_identity() {
    let path = |name: &str| {
        json!({
            "openapi": "3.1.0",
            "paths": {format!("/orders/{{{name}}}"): {"get": {
                "parameters": [{"name": name, "in": "path", "required": true, "schema": {"type": "string"}}],
                "responses": {}
            }}}
        })
    };
    let found = compared(&path("id"), &path("order_id"));
    assert_eq!(rules(&found), ["SF505"]);
    assert_eq!(found.verdict, Verdict::Safe);
}

#[test]
fn a_moved_operation_is_a_hypothesis_with_reasons() {
    let at = |path: &str| json!({"openapi": "3.1.0", "paths": {path: {"get": {"operationId": "listOrders", "summary": "List orders", "responses": {}}}}});
    let found = compared(&at("/orders"), &at("/shop/orders"));
    let gone = found
        .entries
        .iter()
        .find(|entry| entry.subject == Subject::Operation("GET /orders".into()))
        .expect("it is gone");
    assert_eq!(gone.verdict, Verdict::Refuse);
    let heir = gone.renamed_to.as_ref().expect("an heir is likely");
    assert_eq!(heir.name, "GET /shop/orders");
    assert!(!heir.declared && heir.confidence < 1.0 && !heir.reasons.is_empty());
}

#[test]
fn a_map_turns_an_unread_change_into_a_review() {
    let base = |kind: &str| {
        let schema = json!({"type": "object", "properties": {"id": {"type": "string"}, "motto": {"type": kind}}});
        let mut operation = answering(schema);
        operation["operationId"] = json!("getOrder");
        api("3.1.0", operation, json!({}))
    };
    let (old, new) =
        (documents::document("old", base("string")), documents::document("new", base("integer")));
    let judged = |lines: Value| {
        let map = json!({"decision-map": 1, "operations": {"getOrder": {"response": lines}}});
        let map = DecisionMap::read("map.yaml", &map).expect("sound");
        let options = Options { decisions: Some(map), ..Options::default() };
        diff(&old, &new, &options).expect("sound")
    };
    let unread = judged(json!({"body.id": "target"}));
    assert_eq!(unread.verdict, Verdict::Safe);
    assert!(changes(&unread)[0].sentence.contains("review"));
    assert_eq!(changes(&unread)[0].class, Class::Semantic);
    let read = judged(json!({"/id": "target", "/motto": "ask"}));
    assert_eq!(read.verdict, Verdict::Refuse);
    assert_eq!(changes(&read)[0].decisions, [Decision::Ask]);
    assert!(!changes(&read)[0].decisions_guessed);
}

#[test]
fn a_map_is_read_whole_and_its_faults_named_at_once() {
    let problems = DecisionMap::parse(
        "map.yaml",
        "decision-map: 1\noperations:\n  getOrder:\n    respnse: {}\n    response:\n      body.id: targt\n      id: target\n      body.x: {feeds: scope, absent: panic}\n",
    )
    .expect_err("four faults");
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["map.yaml:4:5", "map.yaml:6:7", "map.yaml:7:7", "map.yaml:8:30"]);
    let broken = DecisionMap::parse("map.yaml", "decision-map: 1\noperations: [").expect_err("cut");
    assert!(broken[0].place.starts_with("map.yaml:"), "{broken:?}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let cases = documents::value(&documents::root().join("fixtures/schema/hard-cases.json"));
    let base = &cases["openapi_base"];
    let all: Vec<Value> = cases["openapi_mutations"].as_array().expect("a list").clone();
    let new = documents::patched(&documents::patched(base, &all[5]["patch"]), &all[21]["patch"]);
    let first = format!("{:?}", compared(base, &new));
    for _ in 0..30 {
        assert_eq!(first, format!("{:?}", compared(base, &new)));
    }
}

#[test]
fn a_large_document_stays_small_in_the_report() {
    // Many declarations that refer to each other in circles, many operations that reach them all.
    let document = |extra: bool| {
        let mut schemas = serde_json::Map::new();
        for at in 0..300 {
            let mut properties = json!({
                "id": {"type": "string"},
                "next": {"$ref": format!("#/components/schemas/S{}", (at + 1) % 300)},
                "other": {"$ref": format!("#/components/schemas/S{}", (at * 7 + 3) % 300)},
                "kind": {"type": "string", "enum": ["a", "b"]}
            });
            if extra && at % 50 == 0 {
                properties["kind"]["enum"] = json!(["a", "b", "c"]);
            }
            schemas.insert(format!("S{at}"), json!({"type": "object", "properties": properties}));
        }
        let mut paths = serde_json::Map::new();
        for at in 0..200 {
            let schema = json!({"$ref": format!("#/components/schemas/S{at}")});
            paths.insert(format!("/things{at}"), json!({"get": answering(schema)}));
        }
        json!({"openapi": "3.0.3", "paths": paths, "components": {"schemas": schemas}})
    };
    let found = compared(&document(false), &document(true));
    let own = changes(&found).into_iter().filter(|change| change.rule == "SF205").count();
    assert_eq!(own, 6, "one for each declaration that changed");
    assert!(
        changes(&found).len() <= 6 + 200,
        "and one for each operation: {}",
        changes(&found).len()
    );
    assert!(changes(&found).iter().all(|change| change.axes.meaning != Meaning::Unknown));
}

#[test]
fn a_map_classes_findings_about_tools_too() {
    let list = |kind: &str| {
        let schema = json!({"type": "object", "properties": {"state": {"type": kind}, "motto": {"type": kind}}});
        let raw = json!({"name": "move_order", "inputSchema": {"type": "object"}, "outputSchema": schema});
        Contract::Tools(contract::ToolList {
            name: "t".into(),
            tools: vec![contract::Tool { name: "move_order".into(), raw, ordinal: None }],
            ..contract::ToolList::default()
        })
    };
    let map =
        json!({"decision-map": 1, "tools": {"move_order": {"output": {"state": "completion"}}}});
    let map = DecisionMap::read("map.yaml", &map).expect("sound");
    let options = Options { decisions: Some(map), ..Options::default() };
    let found = diff(&list("string"), &list("integer"), &options).expect("sound");
    let about = |field: &str| {
        changes(&found).into_iter().find(|c| c.field.as_deref() == Some(field)).expect("it changed")
    };
    assert_eq!(about("state").decisions, [Decision::Completion]);
    assert_ne!(about("state").verdict, Verdict::Safe);
    assert_eq!(about("motto").verdict, Verdict::Safe);
}
