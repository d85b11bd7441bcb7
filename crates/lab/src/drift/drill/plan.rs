//! What is tried against a server: one tool, one changed argument, two calls. Pure.

use super::sample::{self, Surroundings};
use contract::change::Side;
use contract::document::Tool;
use contract::lexicon::{self, Lexicon, Role};
use contract::revised::{Fit, Revised};
use contract::{Change, Compat, Entry, Options, Verdict};
use serde_json::Value;

/// Tools that are tried one after the other until one tells something: most servers answer with the first.
const TOOLS: usize = 6;

/// One trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The tool.
    pub tool: String,
    /// Why calling it does no harm.
    pub harmless: &'static str,
    /// It only reads, by its hint or its name.
    pub reads: bool,
    /// The call under the contract that holds.
    pub control: Value,
    /// The call that an old client would make.
    pub old: Value,
    /// How the old contract differs.
    pub drift: Drift,
}

/// How the old contract differs from the one that holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Drift {
    /// As it was locked or kept, and what a comparison says of it.
    Kept {
        /// The verdict over the tool.
        verdict: Verdict,
        /// What changed, the gravest first.
        sentence: String,
        /// The argument that the old call is about, where one is.
        field: Option<String>,
        /// The old call is a call of what holds now.
        fits: bool,
    },
    /// The old client did not know this argument, which is required now.
    Unknown(String),
    /// The old client knew it under another name.
    Renamed {
        /// The name that it knew.
        was: String,
        /// The name now.
        is: String,
    },
    /// The old client had to send this argument, which is gone.
    Gone(String),
}

impl Drift {
    /// In words.
    pub fn in_words(&self) -> String {
        match self {
            Drift::Kept { sentence, .. } => sentence.clone(),
            Drift::Unknown(field) => {
                format!("the old client did not know `{field}`, which is required now")
            }
            Drift::Renamed { was, is } => format!("the old client knew `{is}` as `{was}`"),
            Drift::Gone(field) => format!("the old client had to send `{field}`, which is gone"),
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// The one tool to try.
    pub tool: Option<String>,
    /// A tool that may be called although it may have effects.
    pub effects: Option<String>,
    /// Places in which the server runs.
    pub surroundings: Surroundings,
}

/// Why there is nothing to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nothing {
    /// The server lists no tools.
    NoTools,
    /// The tool that was asked for is not listed.
    NotListed(String),
    /// No tool is known to only read; these are there.
    OnlyEffects(Vec<String>),
    /// No call of these tools could be made up.
    NoCall(Vec<String>),
}

/// The trials, the most telling first. `old` is a contract that was kept from before.
///
/// # Errors
/// Where there is nothing that could be tried.
pub fn trials(now: &[Tool], old: &[Tool], wish: &Wish) -> Result<Vec<Trial>, Nothing> {
    if now.is_empty() {
        return Err(Nothing::NoTools);
    }
    let asked = wish.tool.as_ref().or(wish.effects.as_ref());
    if let Some(asked) = asked
        && !now.iter().any(|tool| tool.name == *asked)
    {
        return Err(Nothing::NotListed(asked.clone()));
    }
    let among: Vec<&Tool> =
        now.iter().filter(|tool| asked.is_none_or(|asked| tool.name == *asked)).collect();
    let mut open: Vec<(&Tool, &'static str)> = among
        .iter()
        .filter_map(|tool| {
            let allowed = wish.effects.as_ref() == Some(&tool.name);
            let why = if allowed { Some("it was allowed") } else { harmless(tool) };
            why.map(|why| (*tool, why))
        })
        .collect();
    if open.is_empty() {
        return Err(Nothing::OnlyEffects(among.iter().map(|tool| tool.name.clone()).collect()));
    }
    let before = |tool: &Tool| old.iter().find(|other| other.name == tool.name);
    let moved = |tool: &Tool| before(tool).is_some_and(|other| other.raw != tool.raw);
    // A tool that really moved tells most; then one with few required arguments; one without any tells least.
    open.sort_by_key(|(tool, _)| match (moved(tool), required(tool).len()) {
        (true, _) => 0,
        (false, 0) => usize::MAX,
        (false, n) => n,
    });
    let names = open.iter().map(|(tool, _)| tool.name.clone()).collect();
    let mut trials = Vec::new();
    for (tool, why) in open.into_iter().take(TOOLS) {
        for way in 0..sample::WAYS {
            let Some(control) = sample::call(tool, &wish.surroundings, way) else { continue };
            if trials.iter().any(|t: &Trial| t.tool == tool.name && t.control == control) {
                continue;
            }
            let (drift, call) = drift(before(tool), tool, &control, &wish.surroundings);
            trials.push(Trial {
                tool: tool.name.clone(),
                harmless: why,
                reads: harmless(tool).is_some(),
                control,
                old: call,
                drift,
            });
        }
    }
    if trials.is_empty() { Err(Nothing::NoCall(names)) } else { Ok(trials) }
}

/// The difference, and the call that a client of before would make.
fn drift(
    old: Option<&Tool>,
    now: &Tool,
    control: &Value,
    surroundings: &Surroundings,
) -> (Drift, Value) {
    if let Some(found) = old.and_then(|old| kept(old, now, surroundings)) {
        return found;
    }
    let mut call = control.clone();
    let members = call.as_object_mut();
    let required = required(now);
    // Text is what can be sent under any name; the last one is the least likely to be the target.
    match (members, required.as_slice()) {
        (Some(members), [.., field]) => {
            members.shift_remove(field);
            (Drift::Unknown(field.clone()), call)
        }
        (Some(members), []) => {
            let field = unused(now, "previous_scope");
            members.insert(field.clone(), "all".into());
            (Drift::Gone(field), call)
        }
        (None, _) => (Drift::Unknown(String::new()), call),
    }
}

/// The same trial with the argument under another name, as the next thing to try.
pub fn renamed(trial: &Trial, now: &Tool) -> Option<Trial> {
    let Drift::Unknown(field) = &trial.drift else { return None };
    let value = trial.control.get(field)?.clone();
    let was = unused(now, &format!("old_{field}"));
    let mut old = trial.old.clone();
    old.as_object_mut()?.insert(was.clone(), value);
    Some(Trial { old, drift: Drift::Renamed { was, is: field.clone() }, ..trial.clone() })
}

/// What a comparison with a kept contract says, where the tool moved in a way that a call can tell.
fn kept(old: &Tool, now: &Tool, surroundings: &Surroundings) -> Option<(Drift, Value)> {
    let entry = contract::tools::pair(old, now, &Options::default())?;
    let input = |path: &str| path.starts_with("/inputSchema");
    let change =
        entry.changes.iter().find(|change| input(&change.path)).or(entry.changes.first())?;
    let witness = entry
        .changes
        .iter()
        .filter_map(|change| change.witness.as_ref())
        .find(|witness| witness.accepted_by == Side::Old && witness.value.is_object());
    let call = match witness {
        Some(witness) => witness.value.clone(),
        None => sample::call(old, surroundings, 0)?,
    };
    let field = change.path.rsplit('/').next().filter(|_| change.path.contains("/properties/"));
    let drift = Drift::Kept {
        verdict: entry.verdict,
        sentence: change.sentence.clone(),
        field: field.map(str::to_owned),
        fits: Revised::new(now.clone()).takes(&call) == Fit::Fits,
    };
    Some((drift, call))
}

/// One call of a client that still has the old contract.
pub struct OldCall {
    /// Its arguments.
    pub arguments: Value,
    /// How it differs from what holds.
    pub drift: Drift,
    /// The rule whose change it is about.
    pub rule: Option<&'static str>,
}

/// Old calls of one tool: each change of its input is tried once.
const OLD_CALLS: usize = 8;

/// What clients would send that still have the old contract: an ordinary call, and one for each change that breaks
/// others. `control` is a call that the server took, whose values are kept where the old contract takes them too.
pub fn old_calls(
    old: &Tool,
    now: Option<&Tool>,
    entry: &Entry,
    control: Option<&Value>,
    surroundings: &Surroundings,
) -> Vec<OldCall> {
    let before = Revised::new(old.clone());
    let after = now.map(|now| Revised::new(now.clone()));
    let takes = |call: &Value| before.takes(call) == Fit::Fits;
    let fits = |call: &Value| after.as_ref().is_some_and(|after| after.takes(call) == Fit::Fits);
    let ordinary = sample::call(old, surroundings, 0).map(|made| {
        let mut call = made;
        for (name, value) in control.and_then(Value::as_object).into_iter().flatten() {
            let mut other = call.clone();
            if let Some(members) = other.as_object_mut()
                && members.insert(name.clone(), value.clone()).is_some()
                && takes(&other)
            {
                call = other;
            }
        }
        call
    });
    let mut calls: Vec<OldCall> = Vec::new();
    let mut add = |arguments: Value, change: Option<&Change>| {
        if calls.len() == OLD_CALLS {
            return;
        }
        let about = change.or(entry.changes.first());
        if let Some(same) = calls.iter_mut().find(|call| call.arguments == arguments) {
            same.rule = same.rule.or(change.map(|change| change.rule));
            return;
        }
        let drift = Drift::Kept {
            verdict: entry.verdict,
            sentence: about.map(|change| change.sentence.clone()).unwrap_or_default(),
            field: about.and_then(|change| change.field.clone()),
            fits: fits(&arguments),
        };
        calls.push(OldCall { arguments, drift, rule: change.map(|change| change.rule) });
    };
    let broken = |change: &&Change| change.axes.compat >= Compat::Adaptable;
    let first = entry.changes.iter().find(broken);
    if let Some(call) = &ordinary {
        add(call.clone(), first.filter(|_| !fits(call)));
    }
    for change in &entry.changes {
        let Some(witness) =
            change.witness.as_ref().filter(|witness| witness.accepted_by == Side::Old)
        else {
            continue;
        };
        // A proof takes the smallest value that breaks; ordinary values around it leave nothing else to refuse.
        let mut call = ordinary.clone().unwrap_or_else(|| witness.value.clone());
        if let (Some(members), Some(shown)) = (call.as_object_mut(), witness.value.as_object()) {
            let about = change.field.as_deref().and_then(|field| field.split('.').next());
            if let Some((name, value)) = about.and_then(|name| Some((name, shown.get(name)?))) {
                members.insert(name.to_owned(), value.clone());
            }
        }
        let call = if takes(&call) && !fits(&call) { call } else { witness.value.clone() };
        if call.is_object() {
            add(call, Some(change));
        }
    }
    calls
}

/// The required arguments, in the order of the schema.
pub fn required(tool: &Tool) -> Vec<String> {
    let names = tool.raw.pointer("/inputSchema/required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A name that the tool does not use.
fn unused(tool: &Tool, name: &str) -> String {
    let taken = |name: &str| {
        let properties = tool.raw.pointer("/inputSchema/properties");
        properties.is_some_and(|properties| properties.get(name).is_some())
    };
    let mut name = name.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// Verbs that ask and change nothing.
const READS: &[&str] = &[
    "get", "list", "read", "search", "find", "describe", "show", "view", "lookup", "count",
    "check", "status", "query", "retrieve", "inspect", "info", "explain", "compare", "diff",
    "convert", "resolve", "echo", "ping",
];

/// Words that say that more than reading is done, wherever they stand.
const WRITES: &[&str] = &[
    "create", "add", "write", "edit", "update", "set", "delete", "remove", "move", "rename",
    "send", "post", "put", "run", "execute", "exec", "start", "stop", "kill", "apply", "install",
    "commit", "push", "reset", "clear", "upload", "merge", "close", "open", "save", "insert",
    "drop",
];

/// Why a call of this tool does no harm; `None` where nothing says so.
pub fn harmless(tool: &Tool) -> Option<&'static str> {
    let hint =
        |name: &str| tool.raw.pointer(&format!("/annotations/{name}")).and_then(Value::as_bool);
    match hint("readOnlyHint") {
        Some(true) => return Some("it only reads, by its own hint"),
        Some(false) => return None,
        None => {}
    }
    if hint("destructiveHint") == Some(true) {
        return None;
    }
    let words = lexicon::words(&tool.name);
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let lexicon = Lexicon::default();
    let properties = tool.raw.pointer("/inputSchema/properties").and_then(Value::as_object);
    // Who takes a statement or a command takes one that changes things, too.
    let free = properties.into_iter().flatten().any(|(name, _)| {
        lexicon.role(name) == Role::FreeForm
            && FREE.iter().any(|word| lexicon::words(name).contains(&(*word).to_owned()))
    });
    (is(READS) && !is(WRITES) && !free).then_some("it only reads, by its name")
}

/// Arguments that carry a program in themselves.
const FREE: &[&str] = &["sql", "command", "code", "script", "statement", "expression"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, properties: Value, required: Value, annotations: Value) -> Tool {
        let raw = json!({
            "name": name, "annotations": annotations,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
        });
        Tool { name: name.into(), raw, ordinal: None }
    }

    fn reader() -> Tool {
        tool("get_time", json!({"timezone": {"type": "string"}}), json!(["timezone"]), json!(null))
    }

    #[test]
    fn a_tool_is_taken_for_a_reader_by_its_hint_or_else_by_its_name() {
        assert!(harmless(&reader()).is_some());
        let hint =
            |value: bool| tool("get_time", json!({}), json!([]), json!({"readOnlyHint": value}));
        assert_eq!(harmless(&hint(false)), None);
        assert!(harmless(&hint(true)).is_some());
        let sql =
            tool("read_query", json!({"sql": {"type": "string"}}), json!(["sql"]), json!(null));
        assert_eq!(harmless(&sql), None);
        let both = tool("get_or_create", json!({}), json!([]), json!(null));
        assert_eq!(harmless(&both), None);
    }

    #[test]
    fn without_an_old_contract_one_required_argument_is_changed() {
        let trials = trials(&[reader()], &[], &Wish::default()).unwrap();
        assert_eq!(trials[0].control, json!({"timezone": "UTC"}));
        assert_eq!(trials[0].old, json!({}));
        let renamed = renamed(&trials[0], &reader()).unwrap();
        assert_eq!(renamed.old, json!({"old_timezone": "UTC"}));
    }

    #[test]
    fn a_tool_without_required_arguments_had_one_that_is_gone() {
        let trials =
            trials(&[tool("list_all", json!({}), json!([]), json!(null))], &[], &Wish::default());
        assert_eq!(trials.unwrap()[0].old, json!({"previous_scope": "all"}));
    }

    #[test]
    fn a_kept_contract_gives_the_call_that_breaks() {
        let old =
            tool("get_time", json!({"zone": {"type": "string"}}), json!(["zone"]), json!(null));
        let trials = trials(&[reader()], &[old], &Wish::default()).unwrap();
        assert!(matches!(&trials[0].drift, Drift::Kept { fits: false, .. }), "{:?}", trials[0]);
        assert!(trials[0].old.get("zone").is_some());
    }

    #[test]
    fn nothing_is_called_that_may_have_effects_unless_it_is_allowed() {
        let writer = tool("delete_all", json!({}), json!([]), json!(null));
        let none = trials(std::slice::from_ref(&writer), &[], &Wish::default()).unwrap_err();
        assert_eq!(none, Nothing::OnlyEffects(vec!["delete_all".into()]));
        let wish = Wish { effects: Some("delete_all".into()), ..Wish::default() };
        assert_eq!(trials(&[writer], &[], &wish).unwrap()[0].harmless, "it was allowed");
    }
}
