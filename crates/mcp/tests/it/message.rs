//! The envelope.

use mcp::message::{Id, Kind, Message, NotAMessage};

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
