//! The envelope.

use mcp::message::{Id, Kind, Message, NotAMessage};
use proptest::prelude::*;

fn parsed(text: &str) -> Message {
    Message::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn each_kind_is_told_apart_and_ids_keep_their_type() {
    fn check(text: &str, kind: Kind) {
        let message = parsed(text);
        assert_eq!(*message.kind(), kind, "{text}");
        assert_eq!(message.text(), text.trim());
    }
    let number = |n: &str| Id::Number(n.into());
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
        Kind::Request { id: number("1"), method: "a".into() },
    );
    check(
        r#"{"jsonrpc":"2.0","id":"1","method":"a"}"#,
        Kind::Request { id: Id::Text("1".into()), method: "a".into() },
    );
    check(
        r#"{"id":18446744073709551616,"method":"a","jsonrpc":"2.0"}"#,
        Kind::Request { id: number("18446744073709551616"), method: "a".into() },
    );
    check(
        r#"{"jsonrpc":"2.0","method":"a","params":{"x":1}}"#,
        Kind::Notification { method: "a".into() },
    );
    check(r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, Kind::Notification { method: "a".into() });
    check(
        " {\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":{}}\r",
        Kind::Response { id: Some(number("-1")) },
    );
    check(
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        Kind::Response { id: None },
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
        Kind::Response { id: Some(number("1")) },
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Kind::Response { id: Some(number("1")) });
}

#[test]
fn parts_keep_their_bytes() {
    let message =
        parsed(r#"{"jsonrpc":"2.0","id":1,"result":{"b":1.0, "a":1e2,"\u0061":2},"x":0}"#);
    assert_eq!(message.result(), Some(r#"{"b":1.0, "a":1e2,"\u0061":2}"#));
    assert_eq!(message.outcome().unwrap(), r#"{"b":1.0, "a":1e2,"\u0061":2}"#);
    let message = parsed(r#"{"jsonrpc":"2.0","method":"m","params":[1,  2]}"#);
    assert_eq!(message.params(), Some("[1,  2]"));
}

#[test]
fn errors_are_read_whatever_they_lack() {
    fn check(error: &str, code: i64, text: &str) {
        let message = parsed(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{error}}}"));
        let found = message.outcome().unwrap_err();
        assert_eq!((found.code, found.message.as_str()), (code, text), "{error}");
    }
    check(r#"{"code":-32601,"message":"no"}"#, -32601, "no");
    check(r#"{"code":"E1"}"#, 0, "");
    check(r#""boom""#, 0, "\"boom\"");
    let message = parsed(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"v","data":{"supported":["2026-07-28"]}}}"#,
    );
    assert_eq!(message.error().unwrap().supported(), ["2026-07-28"]);
}

#[test]
fn what_is_no_message_is_said_to_be_none() {
    fn check(text: &str, part: &str) {
        let why = Message::parse_all(text.as_bytes()).expect_err(text).to_string();
        assert!(why.contains(part), "{text}: {why}");
    }
    check("hello", "not JSON");
    check("", "not JSON");
    check("7", "not an object");
    check("[]", "empty batch");
    check(r#"{"level":"info"}"#, "jsonrpc");
    check(r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "jsonrpc");
    check(r#"{"jsonrpc":"2.0","id":1}"#, "no `method`, `result` or `error`");
    check(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both");
    check(r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, "`id` is neither");
    check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "`method` is not a string");
    check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "duplicate field `id`");
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}} x"#, "trailing");
    assert!(matches!(Message::parse_all(b"{\"a\":\"\xff\"}"), Err(NotAMessage::Encoding(6))));
    let many = format!("[{}]", vec![r#"{"jsonrpc":"2.0","method":"a"}"#; 1001].join(","));
    check(&many, "more than 1000");
}

#[test]
fn a_batch_is_its_messages() {
    let batch = r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    assert_eq!(Message::parse_all(batch.as_bytes()).unwrap().len(), 2);
}

#[test]
fn a_very_deep_message_needs_no_stack() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}{}}}",
        "[".repeat(500_000),
        "]".repeat(500_000)
    );
    assert_eq!(parsed(&deep).result().unwrap().len(), 1_000_000);
}

/// JSON text with the spellings that decoders lose: white space, escapes, numbers, equal keys.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.0".to_owned()),
        Just("-0".to_owned()),
        Just("1e400".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just(r#""\u00e9\\\"{[,:""#.to_owned()),
        any::<String>().prop_map(|s| serde_json::Value::from(s).to_string()),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key =
            prop_oneof![Just("a".to_owned()), Just("\\u0061".to_owned()), Just("b/~".to_owned())];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(" ,"))),
            proptest::collection::vec((key, inner), 0..5).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(k, v)| format!("\"{k}\" :\t{v}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

/// Whether some object names a member twice, by a decoder that keeps every member.
fn names_twice(text: &str) -> bool {
    struct Twice(bool);
    impl<'de> serde::Deserialize<'de> for Twice {
        fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Twice, D::Error> {
            struct Walk;
            impl<'de> serde::de::Visitor<'de> for Walk {
                type Value = Twice;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("any JSON")
                }
                fn visit_unit<E>(self) -> Result<Twice, E> {
                    Ok(Twice(false))
                }
                fn visit_str<E>(self, _: &str) -> Result<Twice, E> {
                    Ok(Twice(false))
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(
                    self,
                    mut seq: A,
                ) -> Result<Twice, A::Error> {
                    let mut twice = false;
                    while let Some(Twice(inner)) = seq.next_element()? {
                        twice |= inner;
                    }
                    Ok(Twice(twice))
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Twice, A::Error> {
                    let (mut twice, mut keys) = (false, std::collections::BTreeSet::new());
                    while let Some((key, Twice(inner))) = map.next_entry::<String, Twice>()? {
                        twice |= inner | !keys.insert(key);
                    }
                    Ok(Twice(twice))
                }
            }
            d.deserialize_any(Walk)
        }
    }
    serde_json::from_str::<Twice>(text).unwrap().0
}

proptest! {
    #[test]
    fn indenting_keeps_every_value_and_equal_keys_are_found(text in json_text()) {
        let indented = mcp::json::indent(&text, 0);
        let value = |s: &str| serde_json::from_str::<serde_json::Value>(s).unwrap();
        prop_assert_eq!(value(&indented), value(&text));
        prop_assert_eq!(mcp::json::indent(&indented, 0), indented);
        prop_assert_eq!(!mcp::json::flaws(&text, 100, 10).is_empty(), names_twice(&text));
    }

    #[test]
    fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100), text in json_text()) {
        let _ = Message::parse_all(&bytes);
        let result = format!("{{\"result\": {text},\"jsonrpc\":\"2.0\",\"id\":7}}");
        let message = parsed(&result);
        prop_assert_eq!(message.result(), Some(text.as_str()));
    }
}
