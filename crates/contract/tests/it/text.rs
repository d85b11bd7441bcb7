//! Bytes to values: what is read, and how each kind of damage is told.

use contract::text;
use serde_json::{Value, json};

/// Reads, and expects exactly this.
fn reads(name: &str, text: &str, expected: Value) {
    match text::read(name, text.as_bytes()) {
        Ok(value) => assert_eq!(value, expected, "{text}"),
        Err(problems) => panic!("{text}\n{problems:#?}"),
    }
}

/// Does not read, and says so at this place with words that hold `part`.
fn refuses(name: &str, bytes: &[u8], place: &str, part: &str) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let problems = text::read(name, bytes).expect_err(&shown);
    let problem = &problems[0];
    assert_eq!(problem.place, place, "{shown}\n{problems:#?}");
    assert!(problem.sentence.contains(part), "{shown}\n{}", problem.sentence);
    assert!(problem.sentence.ends_with('.') && !problem.help.is_empty(), "{problems:#?}");
}

#[test]
fn json_is_read_as_it_is_written() {
    reads(
        "a.json",
        "\u{feff}{\"b\": [1, true, null], \"a\": \"\\u00e9\\ud83d\\ude00\\n\"}",
        json!({"b": [1, true, null], "a": "é😀\n"}),
    );
    let value = text::read("a.json", b"{\"z\": 1, \"a\": 2, \"m\": 3}").unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["z", "a", "m"]);
}

#[test]
fn numbers_keep_their_text() {
    for written in
        ["9007199254740993", "1.10", "-0", "1E400", "123456789012345678901234567890.5e-3"]
    {
        let value = text::read("a.json", written.as_bytes()).unwrap();
        assert_eq!(value.to_string(), written);
    }
    let value = text::read(
        "a.yaml",
        b"big: 9007199254740993\ndec: 1.10\noct: 0o17\nhex: 0xFF\nplus: +5\nzip: 007",
    )
    .unwrap();
    assert_eq!(
        value.to_string(),
        r#"{"big":9007199254740993,"dec":1.10,"oct":15,"hex":255,"plus":5,"zip":7}"#
    );
}

#[test]
fn json_damage_is_located() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "{\"a\": 1,\n \"a\": 2}",
            "a.json:2:2",
            "\"a\" stands twice in one object; first at line 1, column 2",
        ),
        ("{\"a\": 1} x", "a.json:1:10", "complete, but"),
        (
            "{\"a\": 1",
            "a.json:1:8",
            "ends in the middle of an object that began at line 1, column 1",
        ),
        (
            "{\"a\": [1,\n2",
            "a.json:2:2",
            "ends in the middle of an array that began at line 1, column 7",
        ),
        (
            "{\"a\": \"ab",
            "a.json:1:10",
            "ends in the middle of a string that began at line 1, column 7",
        ),
        ("{\"a\": tru", "a.json:1:10", "ends in the middle of the word true"),
        ("{\"a\": 12.", "a.json:1:10", "ends in the middle of a number"),
        ("{\"a\": \"\\u12", "a.json:1:12", "ends in the middle of an escape"),
        ("{\"a\": NaN}", "a.json:1:7", "\"NaN\" is not a value"),
        ("{\"a\": -Infinity}", "a.json:1:7", "\"-Infinity\" is not a number"),
        ("{\"a\": 01}", "a.json:1:7", "\"01\" is not a number"),
        ("{\"a\": 1.}", "a.json:1:7", "is not a number"),
        ("{\"a\": +1}", "a.json:1:7", "Expected a value"),
        ("{\"a\": 1,}", "a.json:1:9", "A comma stands before the end"),
        ("[1, 2,]", "a.json:1:7", "A comma stands before the end"),
        ("{'a': 1}", "a.json:1:2", "a key in double quotes, found a single quote"),
        ("{\"a\" 1}", "a.json:1:6", "Expected a colon"),
        ("{\"a\": 1 \"b\": 2}", "a.json:1:9", "Expected a comma"),
        ("{\"a\": \"x\ny\"}", "a.json:1:9", "a line break stands unescaped"),
        ("{\"a\": \"\\x\"}", "a.json:1:8", "is not an escape"),
        ("{\"a\": \"\\ud800\"}", "a.json:1:8", "lone surrogate"),
        ("{\"a\": 1} // why", "a.json:1:10", "JSON has no comments"),
        ("<!doctype html>", "a.json:1:1", "web page"),
        ("", "a.json", "The file is empty"),
        ("  \n ", "a.json", "The file is empty"),
        ("{\"ключ\": 1, \"ключ\": 2}", "a.json:1:13", "stands twice"),
    ];
    for (text, place, part) in cases {
        refuses("a.json", text.as_bytes(), place, part);
    }
}

#[test]
fn all_duplicate_keys_are_told_at_once() {
    let problems =
        text::read("a.json", b"{\"a\":1,\"a\":2,\"b\":{\"c\":1,\"c\":2},\"a\":3}").unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(problems[2].sentence.contains("first at line 1, column 2"), "{problems:#?}");
}

#[test]
fn encodings_are_told_apart() {
    refuses("a.json", b"\xFF\xFE{\0}\0", "a.json", "UTF-16");
    refuses("a.json", b"{\"a\":\n \"\xE9\"}", "a.json:2:3", "not part of any UTF-8 character");
    refuses("a.json", b"{\"a\": \"\xC3", "a.json:1:8", "ends in the middle of a character");
}

#[test]
fn nesting_is_bounded_and_never_overflows() {
    let deep =
        |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    assert!(text::read("a.json", deep("[", "]", 127).as_bytes()).is_ok());
    refuses("a.json", deep("[", "]", 10_000).as_bytes(), "a.json:1:128", "deeper than 127");
    refuses("a.json", deep("{\"a\":", "}", 10_000).as_bytes(), "a.json:1:636", "deeper than 127");
    assert!(text::read("a.yaml", deep("[", "]", 127).as_bytes()).is_ok());
    refuses("a.yaml", deep("[", "]", 10_000).as_bytes(), "a.yaml:1:129", "deeper than 127");
    let block: String = (0..10_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    refuses("a.yaml", block.as_bytes(), "a.yaml:128:128", "deeper than 127");
}

#[test]
fn yaml_is_read_by_the_core_schema() {
    reads(
        "a.yaml",
        "yes: no\non: off\nt: true\nn: ~\nempty:\ndate: 2026-11-30\nport: 8080\nv: \"1\"\n200: ok\ntext: |\n  a\n  b\n",
        json!({"yes": "no", "on": "off", "t": true, "n": null, "empty": null, "date": "2026-11-30", "port": 8080, "v": "1", "200": "ok", "text": "a\nb\n"}),
    );
    reads(
        "a.yaml",
        "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
        json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"e": 2, "b": 1}}),
    );
    reads("a.yaml", "--- \na: !!str 12\n...\n", json!({"a": "12"}));
    // A name that promises nothing: told by content.
    reads("a.snap", "{\"a\": 1}", json!({"a": 1}));
    reads("a", "a: 1", json!({"a": 1}));
    // YAML holds JSON.
    reads("a.yaml", "{\"a\": [1, null], \"b\": \"x\"}", json!({"a": [1, null], "b": "x"}));
}

#[test]
fn yaml_damage_is_located() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "a: 1\nb: 2\na: 3\n",
            "a.yaml:3:1",
            "\"a\" stands twice in one object; first at line 1, column 1",
        ),
        ("a: 1\n---\nb: 2\n", "a.yaml:2:1", "A second document"),
        ("a: .nan\n", "a.yaml:1:4", "not a number that JSON can hold"),
        ("a: -.inf\n", "a.yaml:1:4", "not a number that JSON can hold"),
        ("a: !secret x\n", "a.yaml:1:12", "The tag"),
        ("a: [1, 2\n", "a.yaml", "This is not YAML"),
        ("a: *nobody\n", "a.yaml", "This is not YAML"),
        ("? [a]\n: 1\n", "a.yaml:1:3", "A key is a list or a mapping"),
        ("~: 1\n", "a.yaml:1:1", "A key is empty"),
        ("a: &x [*x]\n", "a.yaml:1:8", "inside the very value"),
        ("# nothing\n", "a.yaml", "holds no document"),
    ];
    for (text, place, part) in cases {
        let problems = text::read("a.yaml", text.as_bytes()).expect_err(text);
        assert!(problems[0].place.starts_with(place), "{text}\n{problems:#?}");
        assert!(problems[0].sentence.contains(part), "{text}\n{problems:#?}");
    }
}

#[test]
fn aliases_cannot_blow_up() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let items = vec![format!("*a{}", n - 1); 10].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{items}]\n"));
    }
    let problems = text::read("a.yaml", bomb.as_bytes()).unwrap_err();
    assert!(problems[0].sentence.contains("stand for more than"), "{problems:#?}");
}
