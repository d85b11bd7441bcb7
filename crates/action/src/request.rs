//! A binding and arguments into the bytes that are sent. Pure: nothing is looked up and nothing leaves.

use crate::binding::{Argument, Binding, Part, Type};
use crate::limits;
use serde_json::{Map, Value};

/// A request without its credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Path and query, as they are sent.
    pub target: String,
    /// The body, as JSON.
    pub body: Option<String>,
}

/// Fills a binding.
///
/// # Errors
/// In a sentence, where the arguments are not those of the binding.
pub fn fill(binding: &Binding, raw: &str) -> Result<Request, String> {
    if let Some(flaw) = mcp::json::flaws(raw, 8, 1).first() {
        return Err(format!(
            "The arguments name a member twice or are nested too deep, at `{}`.",
            flaw.pointer
        ));
    }
    let arguments: Map<String, Value> =
        serde_json::from_str(raw).map_err(|_| "The arguments are no object.".to_owned())?;
    for (name, value) in &arguments {
        let known = binding.arguments.get(name);
        let argument = known.ok_or_else(|| format!("There is no argument `{name}`."))?;
        check(name, argument, value)?;
    }
    for (name, argument) in &binding.arguments {
        if argument.required && !arguments.contains_key(name) {
            return Err(format!("The argument {name} is missing."));
        }
    }
    let mut target = String::new();
    for segment in &binding.segments {
        target.push('/');
        match segment {
            Part::Fixed(text) => target.push_str(text),
            Part::Argument(name) => {
                let text = text_of(arguments.get(name).unwrap_or(&Value::Null));
                // Servers take these for the folder above or the same one, escaped or not.
                if text.is_empty() || text == "." || text == ".." {
                    return Err(format!("The argument {name} is no part of a path."));
                }
                target.push_str(&escaped(&text));
            }
        }
    }
    let mut sign = '?';
    for (name, part) in &binding.query {
        let text = match part {
            Part::Fixed(text) => text.clone(),
            Part::Argument(argument) => match arguments.get(argument) {
                Some(value) => text_of(value),
                None => continue,
            },
        };
        target.push_str(&format!("{sign}{}={}", escaped(name), escaped(&text)));
        sign = '&';
    }
    let body = binding
        .body
        .as_ref()
        .map(|body| filled(body, &arguments).unwrap_or(Value::Null).to_string());
    Ok(Request { target, body })
}

fn check(name: &str, argument: &Argument, value: &Value) -> Result<(), String> {
    let (fits, wanted) = match argument.kind {
        Type::Text => (value.is_string(), "text"),
        Type::Flag => (value.is_boolean(), "true or false"),
        Type::Number => (value.is_number(), "a number"),
        Type::Integer => {
            let whole = |text: &str| {
                text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit())
            };
            (value.is_number() && whole(&value.to_string()), "a whole number")
        }
    };
    let text = text_of(value);
    if !fits {
        return Err(format!("The argument {name} must be {wanted}."));
    }
    if text.len() > limits::ARGUMENT {
        return Err(format!("The argument {name} is longer than {} bytes.", limits::ARGUMENT));
    }
    if !argument.values.is_empty() && !argument.values.contains(&text) {
        return Err(format!("The argument {name} must be one of: {}.", argument.values.join(", ")));
    }
    Ok(())
}

/// A value as it stands in a path or a query; a number in the spelling that it came in.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Everything but unreserved letters as `%XX` (RFC 3986, 2.3).
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A body with its arguments in place; a member whose argument is left out is left out. `None` for such a value.
fn filled(body: &Value, arguments: &Map<String, Value>) -> Option<Value> {
    Some(match body {
        Value::String(text) => match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
        {
            Some(name) => arguments.get(name)?.clone(),
            None => body.clone(),
        },
        Value::Array(items) => {
            Value::Array(items.iter().filter_map(|item| filled(item, arguments)).collect())
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), filled(value, arguments)?)))
                .collect(),
        ),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = r#"
[bindings.deploy]
description = "Deploys a branch."
origin = "https://api.example.com"
method = "POST"
path = "/projects/{project}/deploys"
query = { mode = "preview", page = "{page}" }
body = '{"branch": "{branch}", "id": "{id}", "dry_run": false}'
effect = "write"
credential = "shop"
[bindings.deploy.arguments]
project = { type = "string" }
branch = { type = "string", required = false }
page = { type = "integer", required = false }
id = { type = "integer", required = false }
"#;

    fn binding() -> Binding {
        crate::binding::read("a.toml", FILE, &[]).unwrap().remove(0)
    }

    #[test]
    fn arguments_stay_in_their_places() {
        let request =
            fill(&binding(), r#"{"project": "a/../b?x=1#y", "page": 2, "id": 9007199254740993}"#)
                .unwrap();
        assert_eq!(request.target, "/projects/a%2F..%2Fb%3Fx%3D1%23y/deploys?mode=preview&page=2");
        assert_eq!(request.body.unwrap(), r#"{"id":9007199254740993,"dry_run":false}"#);
    }

    #[test]
    fn arguments_that_are_not_the_bindings_are_refused() {
        for bad in [
            "[]",
            "{}",
            r#"{"project": 1}"#,
            r#"{"project": ".."}"#,
            r#"{"project": "."}"#,
            r#"{"project": ""}"#,
            r#"{"project": "a", "project": "b"}"#,
            r#"{"project": "a", "proj\u0065ct": "b"}"#,
            r#"{"project": "a", "Authorization": "x"}"#,
            r#"{"project": "a", "id": 1.5}"#,
            r#"{"project": "a", "id": "1"}"#,
            r#"{"project": null}"#,
            r#"{"project": "a", "id": 1e3}"#,
        ] {
            assert!(fill(&binding(), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_problem_of_a_file_comes_at_once_with_its_place() {
        let bad = "[bindings.x]\norigin = \"https://a.example/\"\nmethod = \"CONNECT\"\npath = \"/a/../{b}\"\nheaders = { Host = \"x\" }\nnetworks = [\"1/8\"]\nwhat = 1\n[bindings.x.arguments.c]\ntype = \"string\"\n";
        let problems = crate::binding::read("a.toml", bad, &[]).unwrap_err();
        let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
        for line in [2, 3, 4, 5, 6, 7] {
            assert!(
                places.iter().any(|place| place.starts_with(&format!("a.toml:{line}:"))),
                "{line}: {places:?}"
            );
        }
        assert!(problems.len() >= 9, "{problems:#?}");
    }

    #[test]
    fn another_destination_is_another_revision() {
        let other = FILE.replace("api.example.com", "api.example.net");
        let other = crate::binding::read("a.toml", &other, &[]).unwrap().remove(0);
        assert_ne!(other.revision, binding().revision);
        let elsewhere = format!("{FILE}\n[gateway]\nlisten = \"127.0.0.1:1\"\n");
        assert!(crate::binding::read("b.toml", &elsewhere, &[]).is_err());
        let elsewhere = crate::binding::read("b.toml", &elsewhere, &["gateway"]).unwrap().remove(0);
        assert_eq!(elsewhere.revision, binding().revision);
    }

    #[test]
    fn what_acts_is_told_apart_from_what_is_said_about_it() {
        let read = |text: &str| crate::binding::read("a.toml", text, &[]).unwrap().remove(0);
        let worded = read(&FILE.replace("Deploys a branch.", "Deploys one branch."));
        assert_ne!(worded.revision, binding().revision);
        assert_eq!(worded.deed, binding().deed);
        for (old, new) in [
            ("\"dry_run\": false", "\"dry_run\": true"),
            ("\"shop\"", "\"root\""),
            ("mode = \"preview\"", "mode = \"live\""),
            ("/deploys", "/deletes"),
            ("\"POST\"", "\"PUT\""),
            ("example.com", "example.net"),
        ] {
            assert_ne!(read(&FILE.replace(old, new)).deed, binding().deed, "{old}");
        }
    }

    proptest! {
        #[test]
        fn no_argument_reaches_beyond_its_segment(project in ".{1,20}") {
            let raw = serde_json::json!({ "project": project }).to_string();
            if let Ok(request) = fill(&binding(), &raw) {
                let path = request.target.split('?').next().unwrap();
                prop_assert_eq!(path.matches('/').count(), 3);
                prop_assert!(request.target.bytes().all(|b| b.is_ascii_graphic()));
                prop_assert_eq!(request.target.matches('#').count(), 0);
            }
        }
    }
}
