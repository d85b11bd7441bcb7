//! Kinds of change that a schema alone does not show, each as a hit and as a near miss.

use contract::document::{Bundle, read};
use contract::{Authority, Change, Meaning, Options, Verdict, diff};
use serde_json::{Value, json};

fn compared(old: &Value, new: &Value) -> Vec<Change> {
    let side = |tool: &Value| {
        let root = json!({"tools": [tool]});
        let bundle = Bundle { name: "list".into(), root, ..Bundle::default() };
        read(bundle).expect("a list").contract
    };
    let found = diff(&side(old), &side(new), &Options::default()).expect("two lists");
    found.entries.into_iter().flat_map(|entry| entry.changes).collect()
}

fn tool(description: &str, properties: Value) -> Value {
    json!({"name": "t", "description": description,
           "inputSchema": {"type": "object", "properties": properties}})
}

fn arguments(old: Value, new: Value) -> Vec<Change> {
    compared(&tool("Does it.", old), &tool("Does it.", new))
}

fn texts(old: &str, new: &str) -> Vec<Change> {
    compared(&tool(old, json!({})), &tool(new, json!({})))
}

fn worst(changes: &[Change]) -> Verdict {
    changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::Safe)
}

fn meaning(changes: &[Change]) -> Meaning {
    changes.iter().map(|change| change.axes.meaning).max().unwrap_or(Meaning::Same)
}

fn reach(changes: &[Change]) -> Authority {
    changes.iter().map(|change| change.axes.authority).max().unwrap_or(Authority::Same)
}

#[test]
fn a_switch_a_measure_or_a_page_selects_nothing() {
    let added = |name: &str, schema: Value| {
        let mut after = json!({"q": {"type": "string"}});
        after[name] = schema;
        reach(&arguments(json!({"q": {"type": "string"}}), after))
    };
    for (name, kind) in [
        ("profile", "boolean"),
        ("pageNum", "integer"),
        ("page", "integer"),
        ("page_width", "integer"),
        ("remove_images", "boolean"),
        ("page_size", "integer"),
        ("start_index", "integer"),
        ("file_format", "string"),
        ("next_page_token", "string"),
        ("target_date", "string"),
    ] {
        assert_eq!(added(name, json!({"type": kind})), Authority::Same, "{name}");
    }
    for (name, schema) in [
        ("profile", json!({"type": "string"})),
        ("profile", json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        ("page_id", json!({"type": "string"})),
        ("file", json!({"type": "string"})),
        ("private", json!({"type": "boolean"})),
        ("is_url", json!({"type": "boolean"})),
    ] {
        assert_eq!(added(name, schema), Authority::Wider, "{name}");
    }
}

#[test]
fn what_absent_means_may_be_written_out() {
    let hinted = |annotations: Value| json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": annotations});
    let said = |old: Value, new: Value| -> (Verdict, String) {
        let found = compared(&hinted(old), &hinted(new));
        (worst(&found), found.iter().map(|change| change.sentence.clone()).collect())
    };
    for (old, new) in [
        (json!({}), json!({"openWorldHint": true})),
        (json!({}), json!({"destructiveHint": true, "idempotentHint": false})),
        (json!({"readOnlyHint": false}), json!({})),
    ] {
        let (verdict, sentence) = said(old, new);
        assert_eq!(verdict, Verdict::Safe);
        assert!(sentence.contains("mean what absent means"), "{sentence}");
    }
    for (new, claim) in [
        (json!({"openWorldHint": false}), "stays in its own domain"),
        (json!({"destructiveHint": false}), "destroys nothing"),
        (json!({"readOnlyHint": true}), "only reads"),
    ] {
        let (verdict, sentence) = said(json!({}), new);
        assert_eq!(verdict, Verdict::Safe);
        assert!(sentence.contains(claim) && sentence.contains("lowers no approval"), "{sentence}");
    }
    let (verdict, sentence) = said(json!({"openWorldHint": false}), json!({}));
    assert_eq!(verdict, Verdict::NewApproval, "{sentence}");
}

#[test]
fn a_default_in_another_order_is_the_same_default() {
    let with = |default: Value| json!({"fields": {"type": "array", "default": default}});
    let same = arguments(with(json!(["a", "b"])), with(json!(["b", "a"])));
    assert!(same.iter().all(|change| change.rule == "SF323"), "{same:#?}");
    let object = |default: Value| json!({"filter": {"type": "object", "default": default}});
    let same = arguments(object(json!({"a": 1, "b": 2})), object(json!({"b": 2, "a": 1})));
    assert!(same.iter().all(|change| change.rule == "SF323"), "{same:#?}");
    for other in [json!(["a"]), json!(["a", "c"]), json!(["a", "a"])] {
        let found = arguments(with(json!(["a", "b"])), with(other));
        assert!(worst(&found) >= Verdict::Adapt, "{found:#?}");
    }
}

#[test]
fn a_default_that_no_text_states_any_more_is_open() {
    let with = |text: &str| json!({"rows": {"type": "integer", "description": text}});
    let dropped = arguments(with("How many rows. Defaults to 100."), with("How many rows."));
    assert_eq!((worst(&dropped), meaning(&dropped)), (Verdict::Adapt, Meaning::Unknown));
    let of_the_tool = texts("Lists rows. The limit defaults to 100.", "Lists rows.");
    assert_eq!(meaning(&of_the_tool), Meaning::Unknown);
    // Stated elsewhere: by the schema, by the tool's own text, in other words, or nothing to say.
    let schema =
        json!({"rows": {"type": "integer", "default": 100, "description": "How many rows."}});
    let said = tool("Does it. The default of rows is 100.", with("How many rows."));
    for found in [
        arguments(with("How many rows. Defaults to 100."), schema),
        compared(&tool("Does it.", with("How many rows. Defaults to 100.")), &said),
        arguments(with("How many rows. Defaults to 100."), with("How many rows; 100 if left out.")),
        arguments(with("How many rows. Defaults to 0."), with("How many rows.")),
    ] {
        assert_eq!(worst(&found), Verdict::Safe, "{found:#?}");
    }
}

#[test]
fn a_refusal_of_what_is_there_is_another_deed() {
    let found = texts(
        "Create or update a file.",
        "Create a NEW file. The call fails if the file already exists.",
    );
    assert_eq!((worst(&found), meaning(&found)), (Verdict::NewApproval, Meaning::Changed));
    for (old, new) in [
        ("Create a file.", "Create a file. The call fails if the file already exists."),
        ("Update a file.", "Update a file. The call fails if the file does not exist."),
        (
            "Update a file; fails if it exists elsewhere.",
            "Update a file. It fails if it exists elsewhere.",
        ),
    ] {
        assert_eq!(worst(&texts(old, new)), Verdict::Safe, "{old} -> {new}");
    }
}

#[test]
fn choices_of_a_text_in_another_case_are_other_values() {
    let with = |text: &str| json!({"order": {"type": "string", "description": text}});
    let found = arguments(with("Either 'asc' or 'desc'."), with("Either 'ASC' or 'DESC'."));
    assert_eq!(worst(&found), Verdict::Adapt, "{found:#?}");
    let near = arguments(with("Either 'asc' or 'desc'."), with("One of `asc` and `desc`."));
    assert_eq!(worst(&near), Verdict::Safe, "{near:#?}");
    // Where the schema lists them, the schema tells.
    let listed = |text: &str| json!({"order": {"type": "string", "enum": ["asc", "desc"], "description": text}});
    let near = arguments(listed("Either 'asc' or 'desc'."), listed("Either 'ASC' or 'DESC'."));
    assert_eq!(worst(&near), Verdict::Safe, "{near:#?}");
}

#[test]
fn one_became_all_in_a_text() {
    let found =
        texts("Search the current project for a text.", "Search across all projects for a text.");
    assert_eq!((worst(&found), reach(&found)), (Verdict::NewApproval, Authority::Wider));
    let found = texts("Lists all open issues.", "Lists your open issues.");
    assert_eq!((worst(&found), reach(&found)), (Verdict::NewApproval, Authority::Narrower));
    for (old, new) in [
        ("Search the current project for a text.", "Search the current project for any text."),
        (
            "Get a single document by ID.",
            "Get detailed information about a document. Call it before all documents are loaded.",
        ),
        ("Lists all issues.", "Lists all issues of the given project."),
    ] {
        assert_eq!(worst(&texts(old, new)), Verdict::Safe, "{old} -> {new}");
    }
}

#[test]
fn powers_inside_of_lists_are_powers() {
    let files = |item: Value| json!({"files": {"type": "array", "items": item}});
    let item = |actions: Value| json!({"type": "object", "properties": {"action": {"type": "string", "enum": actions}}});
    let found = arguments(files(item(json!(["add"]))), files(item(json!(["add", "delete"]))));
    assert_eq!(reach(&found), Authority::Wider, "{found:#?}");
    for (name, rule) in
        [("command", "SF402"), ("url", "SF402"), ("path", "SF401"), ("role", "SF401")]
    {
        // In a list that is there.
        let mut more = item(json!(["add"]));
        more["properties"][name] = json!({"type": "string"});
        let found = arguments(files(item(json!(["add"]))), files(more));
        assert!(found.iter().any(|change| change.rule == rule), "{name}: {found:#?}");
        // In a list that is new, by reference or not.
        let inner = json!({"type": "object", "properties": {"note": {"type": "string"}, name: {"type": "string"}}});
        let found = arguments(json!({}), json!({"steps": {"type": "array", "items": inner}}));
        assert!(found.iter().any(|change| change.rule == rule), "{name}: {found:#?}");
        let referring = json!({
            "name": "t", "description": "Does it.",
            "inputSchema": {
                "type": "object", "$defs": {"Step": inner},
                "properties": {"steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}}}
            }
        });
        let found = compared(&tool("Does it.", json!({})), &referring);
        assert!(found.iter().any(|change| change.rule == rule), "{name}: {found:#?}");
    }
    // An alternative for another deed.
    let form = |action: &str| {
        json!({"type": "object", "properties": {"action": {"const": action}, "id": {"type": "string"}},
               "required": ["action"]})
    };
    let found = arguments(
        files(json!({"oneOf": [form("add"), form("move")]})),
        files(json!({"oneOf": [form("add"), form("move"), form("delete")]})),
    );
    assert!(found.iter().any(|change| change.rule == "SF404"), "{found:#?}");
    // What only dresses or filters gives no power.
    let dress = json!({"type": "array", "items": {"type": "object", "properties": {
        "label": {"type": "string"}, "page_width": {"type": "integer"}, "profile": {"type": "boolean"}}}});
    assert_eq!(reach(&arguments(json!({}), json!({"styles": dress}))), Authority::Same);
}

#[test]
fn a_form_that_usual_ids_have_refuses_none() {
    let with = |more: Value| {
        let mut id = json!({"type": "string", "description": "Which row."});
        id.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"row_id": id, "note": {"type": "string"}})
    };
    let stated = |more: Value| worst(&arguments(with(json!({})), with(more)));
    assert_eq!(stated(json!({"pattern": "^[A-Za-z0-9_-]+$"})), Verdict::Safe);
    assert_eq!(stated(json!({"maxLength": 128})), Verdict::Safe);
    assert_eq!(stated(json!({"format": "uuid"})), Verdict::Safe);
    // Some usual ids fit and some do not: nobody told which these are.
    assert_eq!(stated(json!({"pattern": "^[0-9]+$"})), Verdict::Undecided);
    // The set is really cut.
    assert_eq!(stated(json!({"pattern": "^row:[0-9]+$"})), Verdict::Refuse);
    assert_eq!(stated(json!({"maxLength": 8})), Verdict::Refuse);
    let shown = |more: Value| {
        let mut with = with(more);
        with["row_id"]["description"] = json!("Which row, like `ab12`.");
        with
    };
    let cut = arguments(shown(json!({})), shown(json!({"pattern": "^[0-9]+$"})));
    assert_eq!(worst(&cut), Verdict::Refuse);
    // What is no id may be anything.
    let note = |note: Value| json!({"note": note});
    let cut = arguments(
        note(json!({"type": "string"})),
        note(json!({"type": "string", "pattern": "^[A-Za-z0-9_-]+$"})),
    );
    assert_eq!(worst(&cut), Verdict::Refuse);
}

#[test]
fn the_nearest_tool_is_named_as_a_place_to_look() {
    let list = |tools: &[(&str, &str)]| {
        let tools: Vec<Value> = tools
            .iter()
            .map(|(name, text)| {
                json!({"name": name, "description": text, "inputSchema": {
                    "type": "object", "properties": {"q": {"type": "string"}}}})
            })
            .collect();
        let bundle =
            Bundle { name: "list".into(), root: json!({"tools": tools}), ..Bundle::default() };
        read(bundle).expect("a list").contract
    };
    // What is kept is on both sides, and so no heir.
    let said = |kept: &[(&str, &str)]| {
        let old =
            list(&[&[("list_open_orders", "Lists the orders that are open.")], kept].concat());
        let found = diff(&old, &list(kept), &Options::default()).expect("two lists");
        let gone = found.entries.iter().find(|entry| entry.subject.name() == "list_open_orders");
        gone.expect("it is gone").changes[0].sentence.clone()
    };
    let stranger = ("stop_motor", "Stops the motor at once.");
    assert!(said(&[stranger]).contains("nothing in the list is like it"), "{}", said(&[stranger]));
    let near = said(&[stranger, ("list_orders", "Lists all orders.")]);
    assert!(near.contains("`list_orders`") && near.contains("not an heir"), "{near}");
}

#[test]
fn a_conversion_is_offered_only_where_it_carries_every_old_value_over() {
    let verdict = |old: Value, new: Value| worst(&arguments(json!({"x": old}), json!({"x": new})));
    let text = json!({"type": "string"});
    let list =
        |least: u64| json!({"type": "array", "items": {"type": "string"}, "minItems": least});
    assert_eq!(verdict(text.clone(), list(1)), Verdict::Adapt);
    assert_eq!(verdict(text.clone(), list(2)), Verdict::Refuse);
    let counted = |kind: &str| json!({"issue_number": {"type": kind}});
    assert_eq!(worst(&arguments(counted("string"), counted("integer"))), Verdict::Adapt);
    assert_eq!(verdict(text.clone(), json!({"type": "integer"})), Verdict::Refuse);
    assert_eq!(verdict(text, json!({"type": "integer", "enum": [1, 2]})), Verdict::Refuse);
}

#[test]
fn arguments_that_are_no_object_any_more_are_refused() {
    let with =
        |schema: Value| json!({"name": "t", "description": "Does it.", "inputSchema": schema});
    let object = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let list = json!({"type": "array", "items": {"type": "object"}});
    for other in [list, json!({"type": "string"})] {
        let found = compared(&with(object.clone()), &with(other));
        assert_eq!(worst(&found), Verdict::Refuse, "{found:?}");
    }
}

#[test]
fn a_text_that_says_otherwise_needs_a_new_look_and_a_long_one_is_undecided() {
    let found = texts("Replaces the first match.", "Replaces every match.");
    assert_eq!(worst(&found), Verdict::NewApproval, "{found:?}");
    let long = |step: usize| -> String {
        (0..1000).map(|n| format!("w{} may jump {n}. ", n * step)).collect()
    };
    let found = texts(&long(1), &long(2));
    assert_eq!((worst(&found), meaning(&found)), (Verdict::Undecided, Meaning::Unknown));
}
