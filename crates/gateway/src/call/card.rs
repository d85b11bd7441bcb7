//! What an approver is shown of an action: which objects, how many, with which mode, over what, and what is different
//! from the last time. Values are cut, and a cut one keeps its digest; everything in here is data of a client or a
//! server and is quoted as such by whoever shows it.

use crate::limits;
use contract::admission::Refusal;
use contract::lexicon::{Lexicon, Role, is_identifier};
use serde_json::{Map, Value, json};

/// What a card is made of.
pub(super) struct Action<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool as it was called.
    pub called: &'a str,
    /// The tool that would run.
    pub tool: &'a str,
    /// The arguments that would be sent.
    pub arguments: &'a Value,
    /// Who asks.
    pub principal: &'a str,
    /// The digest of what would run it.
    pub revision: &'a str,
    /// `reads`, `writes` or `destroys`, as the server claims and at least as grave as what was granted.
    pub mode: &'a str,
    /// The adapters that wrote the arguments.
    pub by: &'a [String],
    /// Why it waits.
    pub refusal: &'a Refusal,
    /// What the server says the tool does.
    pub says: Option<&'a str>,
    /// Arguments whose values had to come in an answer, as declared: the argument, the tool that answered, and the
    /// member of its answer, or none where any would do.
    pub eligible: &'a [(String, String, Option<String>)],
    /// What a bound action would send, as its server foretells it.
    pub sends: Option<&'a Map<String, Value>>,
}

/// The card, and with `last`, the card of the last action that was approved, what differs from it.
pub(super) fn card(action: &Action<'_>, lexicon: &Lexicon, last: Option<&Value>) -> Value {
    let mut found = Found { lexicon, targets: Vec::new(), ids: None, selected: 0, listed: 0 };
    found.walk("", action.arguments, 0);
    let none = Map::new();
    let arguments = action.arguments.as_object().unwrap_or(&none);
    let shown: Vec<Value> = arguments
        .iter()
        .take(limits::CARD_FIELDS)
        .map(|(field, value)| row(field, value))
        .collect();
    let objects = if found.selected > 0 { found.selected } else { found.listed.max(1) };
    let moved = action.refusal.changed.iter();
    let eligible = action.eligible.iter().filter_map(|(argument, tool, member)| {
        let value = cut(&arguments.get(argument)?.to_string());
        Some(json!({"field": cut(argument), "value": value, "tool": cut(tool), "member": member.as_deref().map(cut)}))
    });
    json!({
        "server": action.server,
        "tool": action.tool,
        "called": action.called,
        "principal": action.principal,
        "revision": action.revision,
        "mode": action.mode,
        "objects": objects,
        "targets": found.targets,
        "ids": found.ids,
        "eligible": eligible.take(limits::CARD_FIELDS).collect::<Vec<_>>(),
        "reversible": match (action.mode, action.sends.and_then(|sends| sends.get("effect")?.as_str())) {
            ("reads", _) => "nothing-to-undo",
            // By whoever wrote the binding.
            ("writes", Some("write")) => "declared",
            ("writes", None) => "unknown",
            _ => "no",
        },
        "sends": action.sends.map(sends),
        "says": action.says.map(cut),
        "reason": action.refusal.code.name(),
        "moved": moved
            .map(|fault| json!({"rule": fault.rule, "field": fault.field, "what": fault.what}))
            .collect::<Vec<_>>(),
        "differs": last.map(|last| differs(&shown, last)),
        "more_arguments": arguments.len().saturating_sub(shown.len()),
        "arguments": shown,
        "adapted_by": action.by,
    })
}

/// What a bound action would send: where it goes, with whose credential, and what its body holds, a row each.
fn sends(sends: &Map<String, Value>) -> Value {
    let text = |name: &str| sends.get(name).and_then(Value::as_str).unwrap_or_default();
    let (mut rows, mut more) = (Vec::new(), 0);
    match serde_json::from_str::<Value>(text("body")) {
        Ok(body) => leaves("", &body, 0, &mut rows, &mut more),
        Err(_) if text("body").is_empty() => {}
        Err(_) => rows.push(row("body", &text("body").into())),
    }
    json!({
        "method": cut(text("method")),
        "origin": cut(text("origin")),
        "target": cut(text("target")),
        "credential": sends.get("credential").and_then(Value::as_str).map(cut),
        "credential_version": sends.get("credential_version"),
        "body": rows,
        "more_body": more,
    })
}

/// Each value of a body by its place; how many did not fit.
fn leaves(path: &str, value: &Value, depth: usize, rows: &mut Vec<Value>, more: &mut usize) {
    let inner = match value {
        Value::Object(members) if depth < limits::CARD_DEPTH && !members.is_empty() => {
            members.iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) if depth < limits::CARD_DEPTH && !items.is_empty() => {
            items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (name, value) in &inner {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        leaves(&path, value, depth + 1, rows, more);
    }
    if inner.is_empty() {
        match rows.len() < limits::CARD_FIELDS {
            true => rows.push(row(if path.is_empty() { "body" } else { path }, value)),
            false => *more += 1,
        }
    }
}

/// One argument: its value as JSON, cut.
fn row(field: &str, value: &Value) -> Value {
    let whole = value.to_string();
    let mut row = json!({"field": cut(field), "value": cut(&whole)});
    if whole.chars().count() > limits::CARD_VALUE {
        row["digest"] = contract::digest::of_value(value).into();
    }
    row
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(limits::CARD_VALUE).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// The arguments that came, went or moved since the last card.
fn differs(shown: &[Value], last: &Value) -> Vec<Value> {
    let before = last.get("arguments").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let find =
        |rows: &[Value], field: &Value| rows.iter().find(|row| row["field"] == *field).cloned();
    let value = |row: Option<Value>| row.map_or(Value::Null, |row| row["value"].clone());
    let mut differs: Vec<Value> = shown
        .iter()
        .filter(|row| find(before, &row["field"]).as_ref() != Some(row))
        .map(|row| json!({"field": row["field"], "before": value(find(before, &row["field"])), "after": row["value"]}))
        .collect();
    differs.extend(
        before
            .iter()
            .filter(|row| find(shown, &row["field"]).is_none())
            .map(|row| json!({"field": row["field"], "before": row["value"], "after": null})),
    );
    differs
}

/// Arguments that select what is acted on.
struct Found<'a> {
    lexicon: &'a Lexicon,
    targets: Vec<Value>,
    /// The first of the longest list of selected objects, their number, and the digest of all.
    ids: Option<Value>,
    /// The longest list of selected objects.
    selected: usize,
    /// The longest list of anything.
    listed: usize,
}

impl Found<'_> {
    fn walk(&mut self, path: &str, value: &Value, depth: usize) {
        if depth > limits::CARD_DEPTH {
            return;
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.field(&path, name, value, depth);
                }
            }
            Value::Array(items) => {
                for item in items.iter().take(limits::CARD_FIELDS) {
                    self.walk(path, item, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, path: &str, name: &str, value: &Value, depth: usize) {
        let kind = match value {
            Value::Bool(_) => Some("boolean"),
            Value::Number(_) => Some("number"),
            Value::String(_) => Some("string"),
            Value::Array(_) => Some("array"),
            Value::Object(_) => Some("object"),
            Value::Null => None,
        };
        let role = self.lexicon.role_of(path, kind);
        let selects = is_identifier(name)
            || matches!(role, Role::Target | Role::Authority | Role::FreeForm | Role::Guard);
        if let Value::Array(items) = value {
            let longest = if selects { &mut self.selected } else { &mut self.listed };
            if selects && items.len() > *longest {
                let first: Vec<String> = items
                    .iter()
                    .take(limits::CARD_IDS)
                    .map(|item| cut(&item.to_string()))
                    .collect();
                self.ids = Some(json!({
                    "field": cut(path), "first": first, "count": items.len(),
                    "digest": contract::digest::of_value(value),
                }));
            }
            *longest = items.len().max(*longest);
        }
        if selects && !value.is_object() && self.targets.len() < limits::CARD_FIELDS {
            self.targets.push(row(path, value));
        }
        self.walk(path, value, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::admission::{Action as Do, Code, Retry};

    fn of(arguments: &Value, last: Option<&Value>) -> Value {
        let refusal = Refusal {
            code: Code::AuthorityWidened,
            tool: "t".into(),
            missing: Vec::new(),
            obsolete: Vec::new(),
            changed: Vec::new(),
            required_action: Do::AskPerson,
            retry: Retry::No,
            planned_revision: None,
            current_revision: None,
            ready: None,
            heir: None,
            rejection: None,
        };
        let action = Action {
            server: "s",
            called: "t",
            tool: "t",
            arguments,
            principal: "p",
            revision: "sha256:aa",
            mode: "writes",
            by: &[],
            refusal: &refusal,
            says: Some("Deploys."),
            eligible: &[("issue_ids".into(), "list".into(), Some("open.id".into()))],
            sends: None,
        };
        card(&action, &Lexicon::default(), last)
    }

    #[test]
    fn targets_and_their_number_are_found_at_any_depth() {
        let card = of(
            &json!({"filter": {"repository": "a/b"}, "issue_ids": [1, 2, 3], "note": "x"}),
            None,
        );
        assert_eq!(card["objects"], 3);
        let fields: Vec<&str> = card["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["field"].as_str().unwrap())
            .collect();
        assert_eq!(fields, ["filter.repository", "issue_ids"]);
        assert_eq!(card["ids"]["first"], json!(["1", "2", "3"]));
        assert_eq!(card["ids"]["digest"], contract::digest::of_value(&json!([1, 2, 3])));
        assert_eq!(card["eligible"][0]["member"], "open.id");
        assert_eq!((&card["says"], &card["reversible"]), (&json!("Deploys."), &json!("unknown")));
        assert_eq!(card["differs"], Value::Null, "nothing was approved before");
    }

    #[test]
    fn what_differs_from_the_last_time_is_named_even_where_values_are_cut() {
        let long = |end: &str| json!({"body": format!("{}{end}", "x".repeat(5_000)), "same": 1});
        let last = of(&long("a"), None);
        assert_eq!(of(&long("a"), Some(&last))["differs"], json!([]));
        let differs = &of(&long("b"), Some(&last))["differs"];
        assert_eq!(differs[0]["field"], "body");
        assert_eq!(differs.as_array().unwrap().len(), 1);
        let gone = of(&json!({}), Some(&last));
        assert_eq!(gone["differs"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn what_would_be_sent_stands_in_rows_and_is_bounded() {
        let body = r#"{"id":9007199254740993,"a":{"b":[true,"\u202e"],"none":{}}}"#;
        let foretold = json!({"method": "POST", "origin": "https://a.example", "target": "/x", "body": body, "effect": "write", "credential": "shop", "credential_version": 2});
        let shown = sends(foretold.as_object().unwrap());
        let rows: Vec<String> = shown["body"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                format!("{}={}", row["field"].as_str().unwrap(), row["value"].as_str().unwrap())
            })
            .collect();
        assert_eq!(rows, ["id=9007199254740993", "a.b.0=true", "a.b.1=\"\u{202e}\"", "a.none={}"]);
        assert_eq!((&shown["credential"], &shown["more_body"]), (&json!("shop"), &json!(0)));
        let many: Vec<u32> = (0..5_000).collect();
        let shown = sends(json!({"body": json!(many).to_string()}).as_object().unwrap());
        assert_eq!(shown["more_body"], 5_000 - limits::CARD_FIELDS);
        assert_eq!(shown["credential"], Value::Null);
    }

    #[test]
    fn a_card_of_the_largest_call_is_small() {
        let many: Map<String, Value> =
            (0..5_000).map(|n| (format!("project_{n}"), "y".repeat(2_000).into())).collect();
        let card = of(&Value::Object(many), None);
        assert_eq!(card["more_arguments"], 5_000 - limits::CARD_FIELDS);
        assert!(card.to_string().len() < 200 << 10);
    }
}
