//! Inclusion of regular expressions: a table, each row with what one pattern takes and the other does not.

use schema::{Answer, Question, ReadOptions, Schema, relate};
use serde_json::{Value, json};

/// `only` is the text that the first pattern takes and the second does not, or none.
#[track_caller]
fn check(first: &str, second: &str, only: Option<&str>) {
    let read = |pattern: &str| {
        Schema::read(&json!({"type": "string", "pattern": pattern}), &ReadOptions::default())
            .unwrap()
    };
    match (relate(&read(first), &read(second), &Question::default()).lost, only) {
        (Answer::Nothing, None) => {}
        (Answer::Some(found), Some(text)) => {
            assert_eq!(found[0].value, json!(text), "{first} in {second}")
        }
        (answer, _) => panic!("{first} in {second}: {answer:?}"),
    }
}

#[test]
fn one_pattern_lies_in_another_or_a_text_tells_them_apart() {
    check("^ab{2,3}c$", "^ab+c$", None);
    check("^ab+c$", "^ab{2,3}c$", Some("abc"));
    check("^[a-z]+$", "^[a-y]+$", Some("z"));
    check("^a", "a", None);
    check("a", "^a", Some("ba"));
    check("^(a|b)*$", "^[ab]*$", None);
    check("^[ab]*$", "^(a*b*)*$", None);
    check("^\\d{4}-\\d{2}$", "^[0-9-]{7}$", None);
    check("^\\w+$", "^[A-Za-z0-9_]+$", None);
    check("^[A-Za-z0-9_]+$", "^\\w+$", None);
    check("^\\s$", "^[^\\S]$", None);
    check("^.$", "^[^\\n]$", None);
    check("^(foo|foobar)$", "^foo(bar)?$", None);
    check("^(?!a).*$", "^[^a]?", None);
    check("^[b-z]+$", "^(?!a).*$", None);
    check("^(?=.*[0-9])(?=.*[a-z]).{2,}$", "[0-9]", None);
    check("^[a-z0-9]{2}$", "^(?=.*[0-9]).*$", Some("aa"));
    check("^x?$", "^$|^x$", None);
    check("", "^", None);
    check("^.*$", "", None);
    check("", "^.*$", Some("\n"));
    check("^[A-Z]{3}-[0-9]{4}$", "^[A-Z]{3}-[0-8][0-9]{3}$", Some("AAA-9000"));
    check("\\bcat\\b", "cat", None);
    check("cat", "\\bcat\\b", Some("acat"));
    check("^\\p{Lu}$", "^\\p{L}$", None);
    check("^(a{2}){3}$", "^a{6}$", None);
    check("^(aa|aaa)+$", "^aa+$", None);
    check("^aa+$", "^(aa|aaa)+$", None);
    check("^a+$", "^(aa|aaa)+$", Some("a"));
    check("[]", "^a$", None);
}

/// ECMA-262's own reading, where engines of other languages differ.
#[test]
fn the_dialect_is_that_of_ecma_262() {
    // Digits and word characters are ASCII; white space is not.
    check("^\\d$", "^[0-9]$", None);
    check("^[0-9]$", "^\\d$", None);
    check("^\\p{Nd}$", "^\\d$", Some("٠"));
    check("^\\w$", "^[\\w]$", None);
    check("^[é]$", "^\\W$", None);
    check("^[\\u00a0\\ufeff\\u2028]$", "^\\s$", None);
    check("^\\D$", "^[^0-9]$", None);
    // The end is the very end, a new line included; a dot is no line end.
    check("^a$", "^a\\n?$", None);
    check("^a\\n?$", "^a$", Some("a\n"));
    check("^.$", "^[^\\n\\r\\u2028\\u2029]$", None);
    // Characters are code points.
    check("^.{2}$", "^..$", None);
    check("^[\\u{1F600}-\\u{1F64F}]$", "^.$", None);
    check("^\\uD83D\\uDE00$", "^😀$", None);
    check("^😀$", "^\\u{1F600}$", None);
    // Escapes.
    check("^\\cC$", "^\\x03$", None);
    check("^\\x41\\u0042$", "^AB$", None);
    check("^\\t\\n\\v\\f\\r\\0$", "^[^a]*$", None);
    check("^\\/\\.\\-$", "^/[.]-$", None);
    // Classes.
    check("^[^]$", "^[\\s\\S]$", None);
    check("^[]$", "^b$", None);
    check("^[a-c-]$", "^[abc-]$", None);
    check("^[\\b]$", "^\\x08$", None);
}

/// Anchors, look-ahead and repeats.
#[test]
fn where_a_pattern_begins_ends_and_repeats() {
    check("^(^a)$", "^a$", None);
    check("(^a|^b)$", "^[ab]$", None);
    check("^a|b$", "^a", Some("b"));
    check("^(?:a|b$)", "^[ab]", None);
    check("a*", "^", None);
    check("^a{0}$", "^$", None);
    check("^a{2,}$", "^aa+$", None);
    check("^(a?){3}$", "^a{0,3}$", None);
    check("^(a+)+$", "^a+$", None);
    check("^(a|ab)(c|bcd)$", "^(ac|abcd|abc|abbcd)$", None);
    check("^a*?b$", "^a*b$", None);
    check("^(?<name>a)$", "^a$", None);
    check("^(?=a)(?!ab)a.*$", "^a([^b].*)?$", None);
    check("^(?!.*--)[a-z-]+$", "^(?!.*--).*$", None);
    check("^[a-z-]+$", "^(?!.*--)[a-z-]+$", Some("--"));
    check("^(?!$)", "^[^]", None);
    check("\\Bb", "[A-Za-z0-9_]b", None);
    check("x$", "^[^]*x$", None);
}

#[test]
fn patterns_meet_lengths() {
    let check = |a: Value, b: Value, nothing: bool| {
        let read = |schema: &Value| Schema::read(schema, &ReadOptions::default()).unwrap();
        let lost = relate(&read(&a), &read(&b), &Question::default()).lost;
        assert_eq!(lost == Answer::Nothing, nothing, "{a} in {b}: {lost:?}");
        assert!(!matches!(lost, Answer::Unknown(_)), "{lost:?}");
    };
    check(
        json!({"type": "string", "pattern": "^[0-9]{3}$"}),
        json!({"minLength": 3, "maxLength": 3}),
        true,
    );
    check(json!({"type": "string", "pattern": "^[0-9]{3}"}), json!({"maxLength": 3}), false);
    check(json!({"type": "string", "maxLength": 2}), json!({"pattern": "^[^]{0,2}$"}), true);
    check(
        json!({"type": "string", "pattern": "^(ab)*$", "minLength": 1}),
        json!({"minLength": 2}),
        true,
    );
    check(
        json!({"type": "string", "pattern": "^(ab)*$", "minLength": 3, "maxLength": 3}),
        json!(false),
        true,
    );
    check(json!({"type": "string", "pattern": "^💩$"}), json!({"maxLength": 1}), true);
    check(json!({"type": "string", "pattern": "^[a-b]$"}), json!({"enum": ["a", "b"]}), true);
    check(json!({"type": "string", "pattern": "^[a-c]$"}), json!({"enum": ["a", "b"]}), false);
}

#[test]
fn what_is_not_reasoned_about_is_unknown_and_says_so() {
    let read = |pattern: &str| {
        Schema::read(&json!({"type": "string", "pattern": pattern}), &ReadOptions::default())
            .unwrap()
    };
    let lost = relate(&read("^(a|b)\\1$"), &read("^aa|bb$"), &Question::default()).lost;
    let Answer::Unknown(why) = lost else { panic!("{lost:?}") };
    assert!(why.reason.contains("back-reference"), "{why:?}");
    // Every such answer says where, by which keyword, and what was spent.
    assert_eq!((why.pointer.as_str(), why.keyword.as_deref()), ("", Some("pattern")));
    assert!(why.spent > 0);
    for pattern in ["^(?<=a)b$", "^a(?=b)b$", "^(?<x>a|b)\\k<x>$"] {
        let lost = relate(&read(pattern), &read("^c$"), &Question::default()).lost;
        assert!(matches!(lost, Answer::Unknown(_)), "{pattern}: {lost:?}");
    }
    // Where the independent validator reads a pattern in another way (its `.` takes a carriage
    // return), there is no witness to report.
    let lost = relate(&read("^[^\\n]$"), &read("^.$"), &Question::default()).lost;
    assert!(
        matches!(&lost, Answer::Unknown(why) if why.reason.contains("independent validator")),
        "{lost:?}"
    );
    // The same pattern on both sides needs no understanding.
    let same = relate(&read("^(a|b)\\1$"), &read("^(a|b)\\1$"), &Question::default());
    assert_eq!((same.lost, same.gained), (Answer::Nothing, Answer::Nothing));
}
