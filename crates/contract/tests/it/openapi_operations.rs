//! Everything about an operation that is not a schema: hits and near misses, by kind.

use contract::{Bundle, Change, Contract, Diff, Options, Verdict, diff};
use serde_json::{Value, json};

fn compared(old: Value, new: Value) -> Diff {
    let side = |name: &str, root: Value| {
        Contract::Openapi(Bundle { name: name.to_owned(), root, ..Bundle::default() })
    };
    diff(&side("old.json", old), &side("new.json", new), &Options::default())
        .expect("both documents are sound")
}

fn changes(diff: &Diff) -> Vec<&Change> {
    diff.entries.iter().flat_map(|entry| &entry.changes).collect()
}

fn document(operation: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://api.example.test/v1"}],
        "paths": {"/orders/{id}": {"get": operation}}
    })
}

/// Two forms of one operation give this verdict and these rules, and the way back is silent or not.
fn check(old: Value, new: Value, verdict: Verdict, rules: &[&str]) {
    check_documents(document(old), document(new), verdict, rules);
}

fn check_documents(old: Value, new: Value, verdict: Verdict, rules: &[&str]) {
    let found = compared(old.clone(), new.clone());
    let mut named: Vec<&str> = changes(&found).iter().map(|change| change.rule).collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!((found.verdict, named.as_slice()), (verdict, rules), "{old} -> {new}: {found:#?}");
}

fn parameter(parameter: Value) -> Value {
    json!({"parameters": [parameter], "responses": {}})
}

fn answers(responses: Value) -> Value {
    json!({"responses": responses})
}

#[test]
fn parameters() {
    let plain = json!({"name": "tag", "in": "query", "schema": {"type": "string"}});
    let none = json!({"responses": {}});
    check(parameter(plain.clone()), none.clone(), Verdict::Refuse, &["SF506"]);
    check(none.clone(), parameter(plain.clone()), Verdict::Safe, &["SF508"]);
    let mut required = plain.clone();
    required["required"] = json!(true);
    check(none.clone(), parameter(required.clone()), Verdict::Refuse, &["SF507"]);
    check(parameter(plain.clone()), parameter(required.clone()), Verdict::Refuse, &["SF509"]);
    check(parameter(required), parameter(plain.clone()), Verdict::Safe, &["SF510"]);
    let risky = json!({"name": "purge", "in": "query", "schema": {"type": "boolean"}});
    check(none, parameter(risky), Verdict::NewApproval, &["SF512"]);
    // The same name elsewhere is another parameter; a header's case is none of its name.
    let mut elsewhere = plain.clone();
    elsewhere["in"] = json!("header");
    check(parameter(plain), parameter(elsewhere.clone()), Verdict::Refuse, &["SF506", "SF508"]);
    let mut upper = elsewhere.clone();
    upper["name"] = json!("TAG");
    check(parameter(elsewhere), parameter(upper), Verdict::Safe, &[]);
}

#[test]
fn parameters_of_the_path_are_the_operations_own() {
    let at_path = json!({"openapi": "3.1.0", "paths": {"/orders": {
        "parameters": [{"name": "tag", "in": "query", "schema": {"type": "string"}}],
        "get": {"responses": {}}
    }}});
    let at_operation = json!({"openapi": "3.1.0", "paths": {"/orders": {
        "get": {"parameters": [{"name": "tag", "in": "query", "schema": {"type": "string"}}], "responses": {}}
    }}});
    check_documents(at_path, at_operation, Verdict::Safe, &[]);
}

#[test]
fn spelling_on_the_wire() {
    let list = |members: Value| {
        let mut parameter = json!({"name": "ids", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}});
        for (name, value) in members.as_object().expect("members") {
            parameter[name] = value.clone();
        }
        self::parameter(parameter)
    };
    check(
        list(json!({})),
        list(json!({"style": "form", "explode": false})),
        Verdict::NewApproval,
        &["SF511"],
    );
    check(list(json!({})), list(json!({"style": "form", "explode": true})), Verdict::Safe, &[]);
}

#[test]
fn answers_by_status() {
    let described = json!({"description": "it is"});
    let only_200 = answers(json!({"200": described}));
    let with = |status: &str| answers(json!({"200": described, status: described}));
    check(only_200.clone(), with("202"), Verdict::NewApproval, &["SF521"]);
    check(only_200.clone(), with("404"), Verdict::Safe, &["SF522"]);
    check(with("404"), only_200.clone(), Verdict::NewApproval, &["SF520"]);
    check(with("429"), with("4XX"), Verdict::Safe, &["SF522", "SF528"]);
    check(with("429"), with("default"), Verdict::NewApproval, &["SF520", "SF522"]);
}

#[test]
fn forms_of_an_answer() {
    let form = |names: &[&str]| {
        let content: serde_json::Map<String, Value> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"schema": {"type": "object"}})))
            .collect();
        answers(json!({"200": {"description": "it is", "content": content}}))
    };
    let json = ["application/json"];
    check(form(&json), form(&["application/json; charset=utf-8"]), Verdict::Safe, &[]);
    check(form(&json), form(&["application/xml"]), Verdict::Refuse, &["SF523"]);
    check(form(&json), form(&["application/json", "text/csv"]), Verdict::NewApproval, &["SF524"]);
}

#[test]
fn headers_of_an_answer() {
    let header =
        |headers: Value| answers(json!({"200": {"description": "it is", "headers": headers}}));
    let one = json!({"X-Rest": {"schema": {"type": "integer"}}});
    check(header(one.clone()), header(json!({})), Verdict::Refuse, &["SF525"]);
    check(header(json!({})), header(one.clone()), Verdict::Safe, &["SF526"]);
    check(
        header(one),
        header(json!({"x-rest": {"schema": {"type": "integer"}}})),
        Verdict::Safe,
        &[],
    );
    let required = json!({"X-Rest": {"required": true, "schema": {"type": "integer"}}});
    let optional = json!({"X-Rest": {"schema": {"type": "integer"}}});
    check(header(required), header(optional), Verdict::Refuse, &["SF527"]);
}

#[test]
fn credentials() {
    let asks = |security: Value| json!({"responses": {}, "security": security});
    let read = json!([{"oauth": ["orders:read"]}]);
    let write = json!([{"oauth": ["orders:write"]}]);
    let both = json!([{"oauth": ["orders:read", "orders:write"]}]);
    check(asks(read.clone()), asks(write.clone()), Verdict::NewApproval, &["SF535"]);
    check(asks(read.clone()), asks(both.clone()), Verdict::NewApproval, &["SF535"]);
    check(asks(both), asks(read.clone()), Verdict::Safe, &["SF538"]);
    check(asks(read.clone()), asks(json!([])), Verdict::NewApproval, &["SF536"]);
    check(asks(json!([])), asks(read.clone()), Verdict::Refuse, &["SF535"]);
    // Another way in: the old one is still one. The order of ways says nothing.
    let two = json!([{"key": []}, {"oauth": ["orders:read"]}]);
    let owt = json!([{"oauth": ["orders:read"]}, {"key": []}]);
    check(asks(read.clone()), asks(two.clone()), Verdict::Safe, &["SF538"]);
    check(asks(two.clone()), asks(owt), Verdict::Safe, &[]);
    check(asks(two), asks(read.clone()), Verdict::NewApproval, &["SF535"]);
    // Written at the operation or inherited from the document.
    let mut inherited = document(json!({"responses": {}}));
    inherited["security"] = read.clone();
    check_documents(inherited, document(asks(read)), Verdict::Safe, &[]);
}

#[test]
fn addresses() {
    let at = |urls: &[&str]| {
        let mut document = document(json!({"responses": {}}));
        document["servers"] = urls.iter().map(|url| json!({"url": url})).collect();
        document
    };
    let v1 = "https://api.example.test/v1";
    check_documents(at(&[v1]), at(&["https://api.example.test/v1/"]), Verdict::Safe, &[]);
    check_documents(
        at(&[v1]),
        at(&["https://api.example.test/v2"]),
        Verdict::NewApproval,
        &["SF530"],
    );
    check_documents(
        at(&[v1]),
        at(&["https://other.example.test/v1"]),
        Verdict::NewApproval,
        &["SF531"],
    );
    check_documents(at(&[v1]), at(&[v1, "https://eu.example.test/v1"]), Verdict::Safe, &["SF532"]);
}

#[test]
fn names_and_life() {
    let named = |id: &str| json!({"operationId": id, "responses": {}});
    check(named("getOrder"), named("readOrder"), Verdict::NewName, &["SF503"]);
    check(
        named("getOrder"),
        json!({"operationId": "getOrder", "deprecated": true, "responses": {}}),
        Verdict::Safe,
        &["SF545"],
    );
}

#[test]
fn what_the_server_calls_is_read_the_other_way() {
    let called = |state: Value| {
        json!({"responses": {}, "callbacks": {"moved": {"{$request.body#/url}": {"post": {
            "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"state": {"enum": state}}}}}},
            "responses": {}
        }}}}})
    };
    // A value more in what the server sends is one that no plan knows.
    check(called(json!(["a"])), called(json!(["a", "b"])), Verdict::NewApproval, &["SF205"]);
    check(called(json!(["a"])), json!({"responses": {}}), Verdict::NewApproval, &["SF550"]);
}

#[test]
fn swagger_2_says_the_same_things() {
    let document = |kind: &str, host: &str| {
        json!({
            "swagger": "2.0", "host": host, "basePath": "/v1", "produces": ["application/json"],
            "paths": {"/orders/{id}": {"put": {
                "parameters": [
                    {"name": "id", "in": "path", "required": true, "type": "string"},
                    {"name": "order", "in": "body", "schema": {"$ref": "#/definitions/Order"}}
                ],
                "responses": {"200": {"description": "done", "schema": {"type": kind}}}
            }}},
            "definitions": {"Order": {"type": "object", "properties": {"note": {"type": "string", "x-nullable": true}}}}
        })
    };
    let host = "api.example.test";
    check_documents(document("object", host), document("array", host), Verdict::Refuse, &["SF204"]);
    check_documents(
        document("object", host),
        document("object", "other.example.test"),
        Verdict::NewApproval,
        &["SF531"],
    );
    let mut strict = document("object", host);
    strict["definitions"]["Order"]["properties"]["note"]["x-nullable"] = json!(false);
    let found = compared(document("object", host), strict);
    assert_eq!(changes(&found)[0].path, "/definitions/Order/properties/note");
    assert_ne!(found.verdict, Verdict::Safe);
}

#[test]
fn a_part_of_a_union_is_found_wherever_it_stands() {
    let union = |parts: Value| {
        json!({
            "openapi": "3.1.0",
            "paths": {"/pets": {"get": {"responses": {"200": {"description": "it is", "content": {"application/json": {
                "schema": {"oneOf": parts}
            }}}}}}},
            "components": {"schemas": {
                "Cat": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "cat"}}},
                "Dog": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "dog"}}},
                "Eel": {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "eel"}}}
            }}
        })
    };
    let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let (cat, dog, eel) = (to("Cat"), to("Dog"), to("Eel"));
    check_documents(union(json!([cat, dog])), union(json!([dog, cat])), Verdict::Safe, &[]);
    let found = compared(union(json!([cat, dog])), union(json!([cat, eel, dog])));
    assert_ne!(found.verdict, Verdict::Safe, "{found:#?}");
    let found = compared(union(json!([cat, eel, dog])), union(json!([cat, dog])));
    assert_ne!(found.verdict, Verdict::Refuse, "{found:#?}");
}

#[test]
fn extracting_a_declaration_is_notation() {
    let answering = |schema: Value, schemas: Value| {
        json!({
            "openapi": "3.1.0",
            "paths": {"/pets": {"get": {"responses": {"200": {"description": "it is", "content": {"application/json": {"schema": schema}}}}}}},
            "components": {"schemas": schemas}
        })
    };
    let pet = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}});
    let base = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let rest = json!({"type": "object", "properties": {"age": {"type": "integer"}}});
    let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let whole = answering(pet.clone(), json!({}));
    let moved = answering(to("Pet"), json!({"Pet": pet}));
    let split = answering(json!({"allOf": [to("Base"), rest]}), json!({"Base": base}));
    for (old, new) in [(&whole, &moved), (&moved, &whole), (&whole, &split), (&split, &moved)] {
        let found = compared(old.clone(), new.clone());
        assert_eq!(found.verdict, Verdict::Safe, "{old} -> {new}: {found:#?}");
    }
}

#[test]
fn texts_that_changed_places_and_the_text_of_the_whole() {
    let pair = |one: &str, two: &str| {
        json!({"parameters": [
            {"name": "source", "in": "query", "description": one, "schema": {"type": "string"}},
            {"name": "target", "in": "query", "description": two, "schema": {"type": "string"}}
        ], "responses": {}})
    };
    let (debited, credited) = ("Account that is debited.", "Account that is credited.");
    check(pair(debited, credited), pair(credited, debited), Verdict::Refuse, &["SF540"]);
    check(
        pair(debited, credited),
        pair("The account debited.", credited),
        Verdict::Safe,
        &["SF541"],
    );
    let about = |text: &str| {
        let mut root = document(json!({"responses": {}}));
        root["info"]["description"] = json!(text);
        root
    };
    let (cents, dollars) = (about("Amounts are in cents."), about("Amounts are in dollars."));
    check_documents(cents.clone(), dollars, Verdict::NewApproval, &["SF540"]);
    check_documents(cents, about("The amounts are in cents."), Verdict::Safe, &["SF541"]);
}
