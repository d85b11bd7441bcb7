//! An executed check of a release, kept as a scenario: the old list, the new list, and the calls with what must come of
//! them. Pure.

use super::drill::check::Tried;
use super::drill::{Effect, Outcome};
use contract::document::Tool;
use serde_json::{Value, json};
use std::fmt::Write;

/// What a kept scenario is made of.
pub struct Kept<'a> {
    /// Its name, and the stem of its files.
    pub name: String,
    /// The tool as it was accepted.
    pub old: &'a Tool,
    /// The tool as it is released; `None` where it is gone.
    pub new: Option<&'a Tool>,
    /// The command that starts the released server.
    pub command: &'a [String],
    /// The environment variable by which it is sent to the recorder.
    pub recorder: Option<&'a str>,
    /// The calls, and what came of them.
    pub tried: &'a [Tried],
}

/// A name for files: the tool's, as far as every file system takes it, and the head of the digest that tells revisions
/// of it apart.
pub fn name(tool: &str, digest: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let stem: String = tool.chars().take(60).map(plain).collect();
    let digest = digest.rsplit(':').next().unwrap_or_default();
    format!("{stem}.{}", digest.chars().take(12).collect::<String>())
}

/// The files: name and text. The scenario comes last.
pub fn files(kept: &Kept<'_>) -> Vec<(String, String)> {
    let list = |tool: Option<&Tool>| {
        let tools: Vec<&Value> = tool.into_iter().map(|tool| &tool.raw).collect();
        let text = serde_json::to_string_pretty(&json!({ "tools": tools }));
        text.expect("a tool is text and values") + "\n"
    };
    let file = |what: &str| format!("{}.{what}", kept.name);
    vec![
        (file("old.tools.json"), list(Some(kept.old))),
        (file("new.tools.json"), list(kept.new)),
        (file("yaml"), scenario(kept)),
    ]
}

fn scenario(kept: &Kept<'_>) -> String {
    // Where nothing reached it, it would show nothing later either.
    let reached = kept.tried.iter().any(|tried| {
        let control = tried.control.as_ref().is_some_and(|(_, made)| !made.is_empty());
        control || tried.reached.as_ref().is_some_and(|made| !made.is_empty())
    });
    let recorder = kept.recorder.filter(|_| reached);
    let (mut out, tool) = (String::new(), Value::from(kept.old.name.as_str()));
    let mut line = |text: String| writeln!(out, "{text}").expect("text takes text");
    line("drift: 1".to_owned());
    line(format!("name: {}", Value::from(kept.name.as_str())));
    let story = format!(
        "A session that was shown {} before its release goes on. Kept from that release: the next change may \
         remove what it rests on.",
        kept.old.name
    );
    line(format!("story: {}", Value::from(story)));
    line("target: server".to_owned());
    line(format!("# The released list is in {}.new.tools.json.", kept.name));
    let path = format!("{}.old.tools.json", kept.name);
    line(format!("before: {{tools: {}}}", Value::from(path)));
    line(format!("after: {{command: {}}}", Value::from(kept.command.to_vec())));
    if let Some(variable) = recorder {
        line(format!("recorder: {}", Value::from(variable)));
    }
    line("steps:".to_owned());
    line("  - list:\n    shows: before".to_owned());
    let control = kept.tried.iter().find_map(|tried| tried.control.as_ref());
    if let Some((arguments, _)) = control {
        line(format!("  - plan: control\n    tool: {tool}\n    arguments: {arguments}"));
    }
    for (at, tried) in kept.tried.iter().enumerate() {
        line(format!(
            "  - plan: old call {}\n    tool: {tool}\n    arguments: {}",
            at + 1,
            tried.arguments
        ));
    }
    line("  - switch\n  - notify".to_owned());
    if let Some((_, made)) = control {
        // The call that holds now works, so that a refusal of an old one means something.
        line("  - call: control\n    answer: done".to_owned());
        if recorder.is_some() {
            let requests: Value = made
                .iter()
                .map(|(method, path, _)| json!({"request": format!("{method} {path}")}))
                .collect();
            line(format!("    downstream: {}", or_nothing(requests)));
        }
    }
    for (at, tried) in kept.tried.iter().enumerate() {
        line(format!("  - call: old call {}", at + 1));
        let answer = match (is_kept(tried), tried.protocol_error) {
            (true, _) => "done",
            (false, true) => "protocol-error",
            (false, false) => "refused",
        };
        line(format!("    answer: {answer}"));
        if recorder.is_some() {
            line(format!("    downstream: {}", downstream(tried)));
        }
    }
    line("  - refresh".to_owned());
    out
}

/// What did something else must be refused from now on: a kept fault fails until it is mended.
fn is_kept(tried: &Tried) -> bool {
    matches!(tried.outcome, Outcome::Kept(_) | Outcome::Open(_))
}

fn downstream(tried: &Tried) -> Value {
    let requests = if is_kept(tried) { tried.reached.as_deref() } else { None };
    let request = |(method, path, body): &Effect| match serde_json::from_str::<Value>(body) {
        Ok(body) => json!({"request": format!("{method} {path}"), "body": body}),
        Err(_) => json!({"request": format!("{method} {path}")}),
    };
    or_nothing(requests.unwrap_or_default().iter().map(request).collect())
}

fn or_nothing(requests: Value) -> Value {
    match requests.as_array() {
        Some(requests) if requests.is_empty() => "nothing".into(),
        _ => requests,
    }
}
