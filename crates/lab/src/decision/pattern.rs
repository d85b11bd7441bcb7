//! Patterns of values: a value that must be equal, or one of a few words that begin with `$`.
//!
//! | pattern | holds for |
//! | --- | --- |
//! | a value | the same value |
//! | `{$any: true}` | any value but a missing one, and `null` |
//! | `{$any: string}` | any value of that JSON type |
//! | `{$absent: true}` | a value that was left out; `null` is not left out |
//! | `{$same-as: 1}` | what stood at this place in the first request of the list |

use serde_json::{Map, Value};

/// The words that a pattern may use, with what is written behind them.
pub const WORDS: &[(&str, &str)] = &[
    ("$any", "true, string, number, boolean, object or array"),
    ("$absent", "true"),
    ("$same-as", "the number of an earlier request of the list, from 1"),
];

/// How objects are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Every member counts.
    All,
    /// Members that the pattern does not name may be there.
    Part,
}

/// A place where a value is not what the pattern wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The place: `query.limit`, `body.items[0].id`.
    pub place: String,
    /// What is wrong with it, to be read after the place: "was left out; 100 was expected".
    pub what: String,
}

/// What a pattern says.
enum Word<'p> {
    Equal(&'p Value),
    Any(&'p str),
    Absent,
    SameAs(usize),
}

fn word(pattern: &Value) -> Word<'_> {
    let one = pattern.as_object().filter(|members| members.len() == 1);
    let Some((key, value)) = one.and_then(|members| members.iter().next()) else {
        return Word::Equal(pattern);
    };
    match (key.as_str(), value) {
        ("$any", Value::String(kind)) => Word::Any(kind),
        ("$any", _) => Word::Any(""),
        ("$absent", _) => Word::Absent,
        ("$same-as", value) => {
            Word::SameAs(value.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0))
        }
        _ => Word::Equal(pattern),
    }
}

/// Compares a value with a pattern and collects what differs. `earlier` gives the value at the same place of an earlier
/// request, by its number from 1.
pub fn compare(
    pattern: &Value,
    found: Option<&Value>,
    whole: Whole,
    place: &str,
    earlier: &dyn Fn(usize, &str) -> Option<Value>,
    differences: &mut Vec<Difference>,
) {
    let mut differs = |what: String| {
        differences.push(Difference { place: place.to_owned(), what });
    };
    match (word(pattern), found) {
        (Word::Absent, None) => {}
        (Word::Absent, Some(found)) => {
            differs(format!("was sent as {}; it must be left out", short(found)));
        }
        (Word::Any(kind), Some(found)) => {
            if found.is_null() || !(kind.is_empty() || kind == kind_of(found)) {
                let kind = if kind.is_empty() { "value" } else { kind };
                differs(format!("is {}; any {kind} was expected", short(found)));
            }
        }
        (Word::Any(kind), None) => {
            let kind = if kind.is_empty() { "value" } else { kind };
            differs(format!("was left out; any {kind} was expected"));
        }
        (Word::SameAs(number), found) => {
            let wanted = earlier(number, place);
            if wanted.is_none() || wanted.as_ref() != found {
                let sent = found.map_or("was left out".to_owned(), |v| format!("is {}", short(v)));
                let wanted = wanted.map_or("nothing".to_owned(), |v| short(&v));
                differs(format!("{sent}; request {number} has {wanted} there"));
            }
        }
        (Word::Equal(wanted), None) => {
            differs(format!("was left out; {} was expected", short(wanted)));
        }
        (Word::Equal(Value::Object(wanted)), Some(Value::Object(found))) => {
            objects(wanted, found, whole, place, earlier, differences);
        }
        (Word::Equal(Value::Array(wanted)), Some(Value::Array(found))) => {
            if wanted.len() != found.len() {
                differs(format!("has {} values; {} were expected", found.len(), wanted.len()));
            }
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                let place = format!("{place}[{index}]");
                compare(wanted, Some(found), whole, &place, earlier, differences);
            }
        }
        (Word::Equal(wanted), Some(found)) => {
            if wanted != found {
                differs(format!("is {}; {} was expected", short(found), short(wanted)));
            }
        }
    }
}

fn objects(
    wanted: &Map<String, Value>,
    found: &Map<String, Value>,
    whole: Whole,
    place: &str,
    earlier: &dyn Fn(usize, &str) -> Option<Value>,
    differences: &mut Vec<Difference>,
) {
    let at =
        |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    for (name, pattern) in wanted {
        compare(pattern, found.get(name), whole, &at(name), earlier, differences);
    }
    if whole == Whole::Part {
        return;
    }
    for (name, value) in found.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
        differences.push(Difference {
            place: at(name),
            what: format!("was sent as {}; it was not expected", short(value)),
        });
    }
}

/// What is wrong with a pattern: the place in it and a sentence for each word that is none.
pub fn check(pattern: &Value, place: &str, problems: &mut Vec<(String, String, String)>) {
    match pattern {
        Value::Object(members) => {
            for (name, value) in members {
                let place = format!("{place}/{}", escape(name));
                let Some((_, takes)) = WORDS.iter().find(|(word, _)| word == name) else {
                    if name.starts_with('$') {
                        let known: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
                        problems.push((
                            place,
                            format!("`{name}` is no word of a pattern."),
                            format!("Known words: {}.", known.join(", ")),
                        ));
                    } else {
                        check(value, &place, problems);
                    }
                    continue;
                };
                let fits = match name.as_str() {
                    "$any" => {
                        value == &Value::Bool(true)
                            || value.as_str().is_some_and(|kind| {
                                ["string", "number", "boolean", "object", "array"].contains(&kind)
                            })
                    }
                    "$absent" => value == &Value::Bool(true),
                    _ => value.as_u64().is_some_and(|number| number > 0),
                };
                if !fits || members.len() != 1 {
                    let why = if fits {
                        format!("`{name}` stands beside other members.")
                    } else {
                        format!("`{name}` cannot be {}.", short(value))
                    };
                    problems.push((
                        place,
                        why,
                        format!("Write {name} alone, and behind it {takes}."),
                    ));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(item, &format!("{place}/{index}"), problems);
            }
        }
        _ => {}
    }
}

/// The JSON type of a value.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value in few characters.
pub fn short(value: &Value) -> String {
    /// Enough for an identifier or a small list.
    const SHOWN: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A name as a token of a JSON Pointer.
pub fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(pattern: Value, found: Option<Value>, whole: Whole) -> Vec<String> {
        let mut differences = Vec::new();
        let earlier = |number: usize, _: &str| (number == 1).then(|| json!("k-1"));
        compare(&pattern, found.as_ref(), whole, "body", &earlier, &mut differences);
        differences.into_iter().map(|d| format!("{} {}", d.place, d.what)).collect()
    }

    #[test]
    fn left_out_null_and_explicit_are_three_different_things() {
        let pattern = json!({"dry_run": false});
        assert_eq!(
            told(pattern.clone(), Some(json!({})), Whole::All),
            ["body.dry_run was left out; false was expected"]
        );
        assert_eq!(
            told(pattern.clone(), Some(json!({"dry_run": null})), Whole::All),
            ["body.dry_run is null; false was expected"]
        );
        assert!(told(pattern, Some(json!({"dry_run": false})), Whole::All).is_empty());
        let absent = json!({"dry_run": {"$absent": true}});
        assert!(told(absent.clone(), Some(json!({})), Whole::All).is_empty());
        assert_eq!(
            told(absent, Some(json!({"dry_run": null})), Whole::All),
            ["body.dry_run was sent as null; it must be left out"]
        );
    }

    #[test]
    fn words_hold_for_what_they_say() {
        assert!(told(json!({"$any": "string"}), Some(json!("x")), Whole::All).is_empty());
        assert_eq!(told(json!({"$any": "string"}), Some(json!(1)), Whole::All).len(), 1);
        assert_eq!(told(json!({"$any": true}), Some(json!(null)), Whole::All).len(), 1);
        assert_eq!(told(json!({"$any": true}), None, Whole::All).len(), 1);
        assert!(told(json!({"$same-as": 1}), Some(json!("k-1")), Whole::All).is_empty());
        assert_eq!(told(json!({"$same-as": 1}), Some(json!("k-2")), Whole::All).len(), 1);
        assert_eq!(told(json!({"$same-as": 2}), None, Whole::All).len(), 1);
    }

    #[test]
    fn what_is_not_named_counts_only_where_all_is_compared() {
        let found = json!({"ids": ["p1"], "force": true});
        assert!(told(json!({"ids": ["p1"]}), Some(found.clone()), Whole::Part).is_empty());
        assert_eq!(
            told(json!({"ids": ["p2"]}), Some(found), Whole::All),
            [
                "body.ids[0] is \"p1\"; \"p2\" was expected",
                "body.force was sent as true; it was not expected"
            ]
        );
    }

    #[test]
    fn words_that_are_none_are_told() {
        let mut problems = Vec::new();
        check(&json!({"a": {"$eny": true}, "b": [{"$any": "text"}]}), "", &mut problems);
        let places: Vec<&str> = problems.iter().map(|(place, ..)| place.as_str()).collect();
        assert_eq!(places, ["/a/$eny", "/b/0/$any"]);
    }
}
