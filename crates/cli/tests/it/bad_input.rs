//! Whatever is wrong with an input: a place, a sentence, a way forward, exit code 2, nothing written.

use crate::run::{Folder, plain};

/// Every command that reads a contract tells it, and writes nothing.
fn told(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new();
    folder.file(name, content).file("good.json", plain());
    let before = folder.names();
    for arguments in [
        vec!["diff", name, "good.json"],
        vec!["diff", "good.json", name],
        vec!["lock", name],
        vec!["lock", name, "-o", "other.lock"],
    ] {
        let outcome = folder.run(&arguments).code(2);
        for part in parts {
            assert!(outcome.err.contains(part), "{arguments:?}: no {part:?} in\n{}", outcome.err);
        }
        assert!(outcome.err.starts_with("error: "), "{}", outcome.err);
        assert_eq!(folder.names(), before, "{arguments:?} wrote something");
    }
}

/// A schema of one tool that says nothing or cannot be read: nothing is locked, and a comparison
/// of the rest is still told.
fn noted(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new();
    folder.file(name, content).file("good.json", plain());
    let before = folder.names();
    for arguments in [vec!["lock", name], vec!["lock", name, "-o", "other.lock"]] {
        let outcome = folder.run(&arguments).code(2);
        for part in parts {
            assert!(outcome.err.contains(part), "{arguments:?}: no {part:?} in\n{}", outcome.err);
        }
        assert_eq!(folder.names(), before, "{arguments:?} wrote something");
    }
    for sides in [[name, "good.json"], ["good.json", name]] {
        let found = folder.run(&["diff", sides[0], sides[1]]).code(2);
        assert!(found.err.starts_with("error: "), "{sides:?}: {}", found.err);
        assert_ne!(found.out, "", "{sides:?}");
        for part in parts {
            assert!(found.err.contains(part), "{sides:?}: no {part:?} in\n{}", found.err);
        }
    }
}

fn with_schema(schema: &str) -> String {
    format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#)
}

#[test]
fn text_that_is_no_document() {
    told("a.json", "not json", &["a.json:1:1: ", "is not a value of JSON"]);
    told("a.yaml", "a: [1", &["a.yaml:", "This is not YAML"]);
    told("a.json", "", &["a.json: The file is empty."]);
    told("a.txt", "Error: connection refused", &["a.txt"]);
    told("a.json", b"\xFF\xFE\x7B\x00", &["UTF-16"]);
    told("page.json", "<!doctype html><p>404", &["page.json:1:1", "web page"]);
}

#[test]
fn an_error_is_not_an_empty_list() {
    told(
        "a.json",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
        &[
            "a.json#/error: The server answered with an error instead of a list: \"Method not found\" (code -32601).",
        ],
    );
}

#[test]
fn duplicate_keys_with_both_places() {
    told(
        "a.json",
        "{\"tools\": [],\n \"tools\": []}",
        &["a.json:2:2: The key \"tools\" stands twice in one object; first at line 1, column 2."],
    );
    told("a.yaml", "tools: []\ntools: []\n", &["a.yaml:2:1", "first at line 1, column 1"]);
}

#[test]
fn schemas_that_say_nothing_or_no_schema() {
    noted("a.json", with_schema("{}"), &["a.json#/tools/0/inputSchema", "is blank"]);
    noted("a.json", with_schema("null"), &["a.json#/tools/0/inputSchema", "null, not an object"]);
    noted(
        "a.json",
        with_schema("\"object\""),
        &["a.json#/tools/0/inputSchema", "text, not an object"],
    );
    noted("a.json", with_schema("{\"type\":\"array\"}"), &["always an object"]);
    noted("a.json", r#"{"tools":[{"name":"t"}]}"#, &["has no input schema"]);
}

#[test]
fn duplicate_tool_names() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    told(
        "a.json",
        format!(r#"{{"tools":[{tool},{tool}]}}"#),
        &["a.json#/tools/1: The tool \"t\" is listed twice; first at a.json#/tools/0."],
    );
}

#[test]
fn one_name_twice_is_told_and_nothing_else() {
    let folder = Folder::new();
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    folder.file("good.json", plain()).file("twice.json", format!("[{tool},{tool}]"));
    for sides in [["good.json", "twice.json"], ["twice.json", "good.json"]] {
        let outcome = folder.run(&["diff", sides[0], sides[1]]).code(2);
        assert_eq!(outcome.out, "", "{sides:?}");
        assert_eq!(outcome.err.matches("error: ").count(), 1, "{}", outcome.err);
    }
}

#[test]
fn a_schema_that_says_nothing_stops_no_comparison_of_the_rest() {
    let folder = Folder::new();
    let list = |schema: &str, rest: &str| {
        format!(
            r#"[{{"name":"odd","description":"Does it.","inputSchema":{schema}}},{{"name":"rest","inputSchema":{rest}}}]"#
        )
    };
    let described = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
    let (before, after) = (
        r#"{"type":"object","properties":{"b":{"type":"string"}}}"#,
        r#"{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"integer"}},"required":["c"]}"#,
    );
    for (odd, rule, verdict) in [
        ("null", "SF904", "undecided"),
        ("\"object\"", "SF904", "undecided"),
        ("{}", "SF101", "refuse"),
    ] {
        folder.file("old.json", list(odd, before)).file("new.json", list(described, after));
        let found =
            folder.run(&["diff", "old.json", "new.json", "--format", "json"]).code(2).json();
        let of = |name: &str| {
            let tools = found["tools"].as_array().expect("tools").iter();
            tools.filter(|tool| tool["tool"] == name).collect::<Vec<_>>()[0].clone()
        };
        assert_eq!(of("odd")["verdict"], verdict, "{odd}");
        assert_eq!(of("odd")["changes"][0]["rule"], rule, "{odd}");
        assert_eq!(of("rest")["changes"][0]["rule"], "SF101", "{odd}");
        folder.run(&["diff", "old.json", "new.json", "--fail-on", "refuse"]).code(2);
        // Going the other way, what was declared is declared no more.
        let back = folder.run(&["diff", "new.json", "old.json", "--format", "json"]).code(2).json();
        let changes = back["tools"].to_string();
        assert!(changes.contains("SF180"), "{odd}: {changes}");
        // What did not change is no news, however odd it is.
        let same = folder.run(&["diff", "old.json", "old.json", "--format", "json"]).code(0).json();
        assert_eq!(same["verdict"], "safe", "{odd}");
    }
    // A blank schema that becomes one without arguments is another spelling.
    folder
        .file("old.json", list("{}", before))
        .file("new.json", list(r#"{"type":"object","properties":{}}"#, before));
    folder.run(&["diff", "old.json", "new.json", "--fail-on", "adapt"]).code(0);
}

#[test]
fn dialects_and_references_that_cannot_be_read() {
    noted(
        "a.json",
        with_schema(r#"{"$schema":"https://example.com/own","type":"object"}"#),
        &["a.json#/tools/0/inputSchema", "dialect"],
    );
    let property = |schema: &str| {
        with_schema(&format!(r#"{{"type":"object","properties":{{"p":{schema}}}}}"#))
    };
    noted(
        "a.json",
        property(r#"{"$ref":"https://example.com/schema.json"}"#),
        &["a.json#/tools/0/inputSchema/properties/p", "https://example.com/schema.json"],
    );
    noted(
        "a.json",
        property(r##"{"$ref":"#/$defs/none"}"##),
        &["a.json#/tools/0/inputSchema/properties/p", "#/$defs/none"],
    );
    noted(
        "a.json",
        with_schema(
            r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
        ),
        &["a.json#/tools/0/inputSchema"],
    );
    noted(
        "a.json",
        property(r#"{"type":"string","pattern":"("}"#),
        &["a.json#/tools/0/inputSchema/properties/p/pattern"],
    );
    noted(
        "a.json",
        property(r#"{"type":"string","maxLength":-5}"#),
        &["a.json#/tools/0/inputSchema/properties/p/maxLength"],
    );
}

/// What is out of order says nothing: no finding claims that a value is refused, or still fits, because of it.
#[test]
fn nothing_is_claimed_of_what_is_out_of_order() {
    let folder = Folder::new();
    folder.file(
        "good.json",
        with_schema(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#),
    );
    for schema in [
        "{}",
        r#"{"title":"t"}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","minLength":-1}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"strng"}}}"#,
        r#"{"type":"object","properties":[]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}"#,
        r#"{"type":"object","properties":{"a":5}}"#,
        r#"{"$schema":5,"type":"object","properties":{"a":{"type":"string"}}}"#,
    ] {
        folder.file("odd.json", with_schema(schema));
        for sides in [["good.json", "odd.json"], ["odd.json", "good.json"]] {
            let arguments = ["diff", sides[0], sides[1], "--format", "json"];
            let found = folder.run(&arguments).code(2);
            let verdict = found.json()["verdict"].clone();
            // A schema that becomes blank says less than was planned by, which is known.
            let blanked = sides[0] == "good.json" && !schema.contains("properties");
            let right = if blanked { "refuse" } else { "undecided" };
            assert_eq!(verdict, right, "{sides:?} {schema}: {}", found.out);
        }
    }
    folder.file("odd.json", with_schema(r#"{"$schema":5,"type":"object"}"#));
    folder.run(&["lock", "odd.json"]).code(2).complains("inputSchema/$schema: ");
}

#[test]
fn an_empty_object_is_no_contract() {
    told("a.json", "{}", &["a.json", "empty object"]);
}

/// The same rows in an OpenAPI document: what leads nowhere stops the comparison, what no keyword may hold is told
/// beside it, and what is so on both sides is no news.
#[test]
fn schemas_of_an_api_that_cannot_be_read() {
    let api = |schema: &str, rest: &str| {
        format!(
            r##"{{"openapi":"3.1.0","info":{{"title":"t","version":"1"}},"paths":{{"/a":{{"post":{{"requestBody":{{"content":{{"application/json":{{"schema":{{"type":"object","properties":{{"p":{schema}}}}}}}}}}},"responses":{{"200":{{"description":"{rest}"}}}}}}}}}},"components":{{"schemas":{{"a":{{"$ref":"#/components/schemas/b"}},"b":{{"$ref":"#/components/schemas/a"}}}}}}}}"##
        )
    };
    let place =
        "new.json#/paths/~1a/post/requestBody/content/application~1json/schema/properties/p";
    let folder = Folder::new();
    folder.file("old.json", api(r#"{"type":"string"}"#, "once"));
    for (schema, part, compared) in [
        (r#"{"$ref":"https://example.com/a"}"#, "https://example.com/a", false),
        (r##"{"$ref":"#/components/schemas/none"}"##, "#/components/schemas/none", false),
        (r##"{"$ref":"#/components/schemas/a"}"##, "in a circle", false),
        (r#"{"$schema":"https://example.com/own","type":"string"}"#, "dialect", true),
        (r#"{"type":"string","pattern":"("}"#, "regular expression", true),
        (r#"{"type":5}"#, "names no type", true),
        (r#"{"type":"string","maxLength":-5}"#, "0 or more", true),
    ] {
        folder.file("new.json", api(schema, "once"));
        let found = folder.run(&["diff", "old.json", "new.json"]).code(2);
        assert!(found.err.starts_with("error: "), "{schema}: {}", found.err);
        assert!(found.err.contains(place) && found.err.contains(part), "{schema}: {}", found.err);
        assert_eq!(!found.out.is_empty(), compared, "{schema}: {}", found.out);
        if compared {
            folder.file("also.json", api(schema, "again"));
            folder.run(&["diff", "new.json", "also.json"]).code(0);
        }
    }
}

#[test]
fn ten_thousand_nested_objects() {
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    told("a.json", &deep, &["nest deeper than 127 levels"]);
    told("a.json", with_schema(&deep), &["a.json:1:", "nest deeper than 127 levels"]);
}

#[test]
fn a_file_that_was_cut() {
    let whole = format!("{{\"steadfast_snapshot\":1,{}", &plain()[1..]);
    told("s.json", &whole[..whole.len() / 2], &["s.json:1:", "The file ends in the middle of"]);
    let folder = Folder::new();
    folder.file("a.json", plain()).run(&["lock", "a.json"]).code(0);
    let lock = folder.read("steadfast.lock");
    folder.file("steadfast.lock", &lock[..lock.len() / 2]);
    let cut = folder.read("steadfast.lock");
    folder
        .run(&["gate", "a.json"])
        .code(2)
        .complains("steadfast.lock:")
        .complains("The file ends in the middle of");
    // A lock that cannot be read is not replaced.
    folder.run(&["lock", "a.json"]).code(2);
    assert_eq!(folder.read("steadfast.lock"), cut);
}

#[test]
fn files_of_a_newer_version() {
    told(
        "s.json",
        r#"{"steadfast_snapshot":7,"tools":[]}"#,
        &["A newer steadfast wrote this snapshot: its format is 7"],
    );
    told(
        "l.json",
        r#"{"steadfast_lock":9}"#,
        &["A newer steadfast wrote this lock: its format is 9"],
    );
}

#[test]
fn things_that_are_no_contract() {
    told("a.json", r#"{"mcpServers":{}}"#, &["client's configuration"]);
    told("a.json", r#"{"swagger":"1.2","paths":{}}"#, &["Swagger 1.2"]);
    told("a.json", r#"{"hello":1}"#, &["Nothing in the file says what it is"]);
    told("a.json", r#"{"tools":[],"nextCursor":"x"}"#, &["one page of several"]);
}

#[test]
fn two_kinds_are_not_compared() {
    let folder = Folder::new();
    folder.file("a.json", plain()).file("b.yaml", "openapi: 3.0.0\npaths: {}\n");
    folder
        .run(&["diff", "a.json", "b.yaml"])
        .code(2)
        .complains("b.yaml: This is an OpenAPI document, but a.json is a list of MCP tools.");
}

#[test]
fn both_sides_are_told_at_once() {
    let folder = Folder::new();
    folder.file("a.json", "{").file("b.json", "[");
    folder
        .run(&["diff", "a.json", "b.json"])
        .code(2)
        .complains("a.json:1:2")
        .complains("b.json:1:2");
    folder
        .run(&["diff", "none.json", "nothing.json"])
        .code(2)
        .complains("none.json: There is no such file")
        .complains("nothing.json: There is no such file");
    folder.run(&["diff", "-", "-"]).code(2).complains("both sides");
}

#[test]
fn one_bad_tool_does_not_hide_the_others() {
    let folder = Folder::new();
    let tools = |required: &str| {
        format!(
            r#"{{"tools":[{{"name":"bad","inputSchema":null}},{{"name":"t","inputSchema":{{"type":"object","properties":{{"a":{{}},"b":{{}}}},"required":{required}}}}}]}}"#
        )
    };
    folder.file("a.json", tools(r#"["a"]"#)).file("b.json", tools(r#"["a","b"]"#));
    folder
        .run(&["diff", "a.json", "b.json", "--fail-on", "refuse"])
        .code(1)
        .says("must be sent")
        .complains("a.json#/tools/0/inputSchema")
        .complains("b.json#/tools/0/inputSchema");
}

#[test]
fn numbers_beyond_doubles_are_kept_apart() {
    let folder = Folder::new();
    let with = |maximum: &str| {
        with_schema(&format!(
            r#"{{"type":"object","properties":{{"id":{{"type":"integer","maximum":{maximum}}}}}}}"#
        ))
    };
    folder.file("a.json", with("9007199254740993")).file("b.json", with("9007199254740992"));
    let found = folder.run(&["diff", "a.json", "b.json", "--format", "json"]).code(0).json();
    assert_eq!(found["verdict"], "refuse", "{found:#}");
    let same = folder
        .file("c.json", with("9007199254740993.0"))
        .run(&["diff", "a.json", "c.json", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(same["verdict"], "safe", "{same:#}");
}

#[test]
fn patterns_that_blow_up_do_not_hang() {
    let folder = Folder::new();
    let with = |pattern: &str| {
        with_schema(&format!(
            r#"{{"type":"object","properties":{{"p":{{"type":"string","pattern":"{pattern}"}}}}}}"#
        ))
    };
    folder
        .file("a.json", with("^(a+)+$"))
        .file("b.json", with("^(a|aa)+b{1,900}$"))
        .file("c.json", with("((a{0,300}){0,300}){0,300}"));
    for (old, new) in
        [("a.json", "b.json"), ("b.json", "a.json"), ("a.json", "c.json"), ("c.json", "b.json")]
    {
        let outcome = folder.run(&["diff", old, new, "--format", "json"]);
        assert!(matches!(outcome.code, 0 | 2), "{}", outcome.err);
        if outcome.code == 0 {
            assert_ne!(outcome.json()["verdict"], "safe", "{old} {new}");
        }
    }
}

#[test]
fn references_stay_in_the_folder() {
    let folder = Folder::new();
    let api = |target: &str| {
        format!(
            "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      responses:\n        '200':\n          description: ok\n          content:\n            application/json:\n              schema:\n                $ref: '{target}'\n"
        )
    };
    folder
        .file("api/a.yaml", api("../secret.yaml#/x"))
        .file("secret.yaml", "x: {}")
        .file("api/b.yaml", api("/etc/passwd"))
        .file("api/c.yaml", api("schemas/c.yaml#/C"))
        .file("api/schemas/c.yaml", "C: {$ref: '../d.yaml#/D'}")
        .file("api/d.yaml", "D: {type: string}");
    folder
        .run(&["diff", "api/a.yaml", "api/a.yaml"])
        .code(2)
        .complains("leads out of the document's folder")
        .complains("api/a.yaml#/paths/~1a/get");
    folder
        .run(&["diff", "api/b.yaml", "api/b.yaml"])
        .code(2)
        .complains("leads out of the document's folder");
    folder.run(&["diff", "api/c.yaml", "api/c.yaml"]).code(0);
}
