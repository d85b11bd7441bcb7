//! SF3xx: the tool as a whole: name, text, hints, life.

use super::finding::{Context, Judgement, bare};
use super::{Rule, wording};
use crate::change::{Change, Heir};
use crate::document::Tool;
use crate::prose::{self, SignalKind};
use crate::verdict::{Authority, Class, Compat, Meaning, Verdict};
use serde_json::Value;

rules! {
    Tool;
    SF301 "tool-removed" Proof "A tool is gone: a call fails, it never becomes a no-op."
    SF302 "tool-renamed" Declared "A tool has another name for the same contract."
    SF303 "tool-heir-suspected" Declared "A tool is gone and a like one is new; that it does the same is only a guess."
    SF304 "tool-added" Proof "A new tool: no planned call names it, no grant by name covers it."
    SF305 "tool-merged" Declared "A tool went up in a wider one, declared or likely: one call may map, the grant would grow."
    SF306 "tool-renamed-with-warning" Declared "A tool has another name that warns or reaches further: the name is the news."
    SF310 "read-only-withdrawn" Declared "A tool no longer claims to be read-only: what was waved through must be asked."
    SF311 "destructive-appeared" Declared "A tool says that it may destroy."
    SF312 "open-world-appeared" Declared "A tool says that it reaches the outside world."
    SF313 "destructive-withdrawn" Declared "A tool withdraws the warning that it may destroy: a claim, which lowers nothing."
    SF314 "hints-restated" Declared "Hints are written out, dropped or claimed; nothing that is demanded changes."
    SF315 "idempotent-withdrawn" Declared "A tool no longer claims that repeating a call does nothing more."
    SF320 "tool-meaning-moved" Declared "The text of a tool changed in a duty, a number, a unit, a default, an effect or a choice."
    SF321 "tool-reworded" Declared "The text of a tool was reworded."
    SF322 "tool-duty-tightened" Declared "The text of a tool asks for more than before; a server that means it refuses by itself."
    SF323 "tool-notation" Proof "Titles, icons, metadata or the order of members changed."
    SF324 "task-support-changed" Proof "Whether a tool runs as a task changed."
    SF325 "list-emptied" Proof "The list went from many tools to none: a fault of the server or its reader until proven otherwise."
    SF330 "instructions-changed" Declared "The server's instructions changed."
}

/// The hints as they take effect: absent is not false for two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Only reads.
    pub read_only: bool,
    /// May destroy; says nothing on a read-only tool.
    pub destructive: bool,
    /// Repeating does nothing more; says nothing on a read-only tool.
    pub idempotent: bool,
    /// Reaches beyond the server's own domain.
    pub open_world: bool,
}

impl Hints {
    /// The effective hints of a tool (MCP ToolAnnotations: false, true, false, true).
    pub fn of(tool: &Tool) -> Hints {
        let hint = |name: &str, absent: bool| stated(tool, name).unwrap_or(absent);
        let read_only = hint("readOnlyHint", false);
        Hints {
            read_only,
            destructive: !read_only && hint("destructiveHint", true),
            idempotent: read_only || hint("idempotentHint", false),
            open_world: hint("openWorldHint", true),
        }
    }
}

fn stated(tool: &Tool, name: &str) -> Option<bool> {
    tool.raw.get("annotations")?.get(name)?.as_bool()
}

fn at(
    rule: &'static Rule,
    context: &Context<'_>,
    path: &str,
    values: (Option<&Value>, Option<&Value>),
    judgement: Judgement,
    sentence: String,
) -> Change {
    let values = (values.0.cloned(), values.1.cloned());
    bare(rule, context.subject, path.to_string(), values, judgement, sentence)
}

/// Judges everything about a tool that is not one of its schemas. The sibling is the tool whose text it holds now.
pub fn judge(old: &Tool, new: &Tool, sibling: Option<&str>, context: &Context<'_>) -> Vec<Change> {
    let mut changes = hints(old, new, context);
    changes.extend(text(old, new, sibling, context));
    changes.extend(task_support(old, new, context));
    changes.extend(notation(old, new, context));
    changes
}

fn hints(old: &Tool, new: &Tool, context: &Context<'_>) -> Vec<Change> {
    let (was, is) = (Hints::of(old), Hints::of(new));
    let path = |name: &str| format!("/annotations/{name}");
    let raw = |tool: &Tool, name: &str| tool.raw.pointer(&path(name)).cloned();
    let mut changes = Vec::new();
    let mut push = |rule, name: &str, judgement, sentence: &str| {
        let (before, after) = (raw(old, name), raw(new, name));
        changes.push(at(
            rule,
            context,
            &path(name),
            (before.as_ref(), after.as_ref()),
            judgement,
            sentence.to_string(),
        ));
    };
    let look =
        Judgement::LOOK.class(Class::Authority).authority(Authority::Wider).meaning(Meaning::Same);
    if was.read_only && !is.read_only {
        push(
            &SF310,
            "readOnlyHint",
            look,
            "no longer read-only: calls that passed unasked must be asked about",
        );
    }
    // Losing "read-only" makes the other hints speak; the flip itself is the finding.
    let both_write = !was.read_only && !is.read_only;
    if both_write && !was.destructive && is.destructive {
        push(
            &SF311,
            "destructiveHint",
            look,
            "may destroy now: calls that passed as harmless must be asked about",
        );
    }
    if !was.open_world && is.open_world {
        let sentence = match stated(new, "openWorldHint") {
            Some(_) => "reaches the outside world now",
            None => "no longer says that it stays in its own domain: absent means that it may not",
        };
        push(&SF312, "openWorldHint", look, sentence);
    }
    if both_write
        && stated(old, "destructiveHint") == Some(true)
        && stated(new, "destructiveHint") == Some(false)
    {
        push(
            &SF313,
            "destructiveHint",
            look.authority(Authority::Unknown),
            "no longer says that it may destroy: a claim of the server, it lowers no approval that a person set",
        );
    }
    if both_write && stated(old, "idempotentHint") == Some(true) && !is.idempotent {
        push(
            &SF315,
            "idempotentHint",
            Judgement::LOOK,
            "no longer says that a repeated call does nothing more: a planned retry may act twice",
        );
    }
    let (before, after) = (old.raw.get("annotations"), new.raw.get("annotations"));
    let only_hints = |value: Option<&Value>| -> Vec<(String, Value)> {
        let Some(Value::Object(members)) = value else { return Vec::new() };
        let mut hints: Vec<(String, Value)> = members
            .iter()
            .filter(|(name, _)| name.ends_with("Hint"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        hints.sort_by(|a, b| a.0.cmp(&b.0));
        hints
    };
    if changes.is_empty() && only_hints(before) != only_hints(after) {
        let claimed: Vec<&str> = [
            ("only reads", !was.read_only && is.read_only),
            ("destroys nothing", was.destructive && !is.destructive && !is.read_only),
            ("repeats without effect", !was.idempotent && is.idempotent && !is.read_only),
            ("stays in its own domain", was.open_world && !is.open_world),
        ]
        .into_iter()
        .filter_map(|(claim, made)| made.then_some(claim))
        .collect();
        let (judgement, sentence) = if claimed.is_empty() {
            let sentence = "hints are written out or dropped that mean what absent means";
            (Judgement::NOTATION, sentence.to_string())
        } else {
            let sentence = format!(
                "the server claims to do less ({}); a claim lowers no approval that a person set",
                claimed.join(", ")
            );
            (Judgement::NOTATION.compat(Compat::Wording), sentence)
        };
        changes.push(at(&SF314, context, "/annotations", (before, after), judgement, sentence));
    }
    changes
}

fn text(old: &Tool, new: &Tool, sibling: Option<&str>, context: &Context<'_>) -> Vec<Change> {
    let read =
        |tool: &Tool| tool.raw.get("description").and_then(Value::as_str).unwrap_or("").to_string();
    let (before, after) = (read(old), read(new));
    if before == after {
        return Vec::new();
    }
    let mut signals = match sibling {
        Some(sibling) => vec![prose::text_of_sibling(&before, &after, sibling)],
        None => prose::compare(&before, &after),
    };
    signals.retain(|signal| {
        let stated = signal.kind == SignalKind::DefaultDropped && states(&new.raw, &signal.word, 0);
        !(stated || wording::told_elsewhere(signal, context.new_text))
    });
    let values = (old.raw.get("description"), new.raw.get("description"));
    wording::text_findings(&signals, &|kind, judgement, sentence| {
        let rule = match kind {
            None => &SF321,
            Some(SignalKind::DutyTightened | SignalKind::LimitRaised) => &SF322,
            Some(_) => &SF320,
        };
        at(rule, context, "/description", values, judgement, sentence)
    })
}

/// True where a schema of the tool states the value as a default.
fn states(value: &Value, word: &str, depth: usize) -> bool {
    // Defaults deeper than this belong to no argument that a text of the tool speaks of.
    const DEEPEST: usize = 16;
    let own = value.get("default").is_some_and(|default| match default {
        Value::String(text) => text.to_lowercase() == word,
        other => *other == serde_json::from_str::<Value>(word).unwrap_or(Value::Null),
    });
    own || depth < DEEPEST
        && match value {
            Value::Object(members) => {
                members.values().any(|member| states(member, word, depth + 1))
            }
            Value::Array(items) => items.iter().any(|item| states(item, word, depth + 1)),
            _ => false,
        }
}

fn task_support(old: &Tool, new: &Tool, context: &Context<'_>) -> Vec<Change> {
    let read = |tool: &Tool| {
        tool.raw
            .pointer("/execution/taskSupport")
            .and_then(Value::as_str)
            .unwrap_or("forbidden")
            .to_string()
    };
    let (before, after) = (read(old), read(new));
    let values = (old.raw.get("execution"), new.raw.get("execution"));
    if before == after {
        return Vec::new();
    }
    let (judgement, sentence) = match (before.as_str(), after.as_str()) {
        (_, "required") => {
            (Judgement::BREAKING, "runs only as a task now: a plain call is refused")
        }
        ("required", "forbidden") => {
            (Judgement::BREAKING, "no longer runs as a task: a task call is refused")
        }
        _ => (Judgement::ADDITIVE, "task support changed; plain calls go on as before"),
    };
    vec![at(&SF324, context, "/execution/taskSupport", values, judgement, sentence.to_string())]
}

fn notation(old: &Tool, new: &Tool, context: &Context<'_>) -> Vec<Change> {
    const JUDGED: &[&str] =
        &["name", "description", "inputSchema", "outputSchema", "annotations", "execution"];
    let members = |tool: &Tool| -> Vec<(String, Value)> {
        let Value::Object(members) = &tool.raw else { return Vec::new() };
        let mut rest: Vec<(String, Value)> = members
            .iter()
            .filter(|(name, _)| !JUDGED.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (name, value) in
            tool.raw.get("annotations").and_then(Value::as_object).into_iter().flatten()
        {
            if !name.ends_with("Hint") {
                rest.push((format!("annotations.{name}"), value.clone()));
            }
        }
        rest.sort_by(|a, b| a.0.cmp(&b.0));
        rest
    };
    let (before, after) = (members(old), members(new));
    if before == after {
        return Vec::new();
    }
    let mut names: Vec<&String> = before
        .iter()
        .filter(|entry| !after.contains(entry))
        .chain(after.iter().filter(|entry| !before.contains(entry)))
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names.dedup();
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    vec![at(
        &SF323,
        context,
        "",
        (None, None),
        Judgement::NOTATION,
        format!("{listed} changed: for display or transport, not for calls"),
    )]
}

/// The whole text or order changed and nothing else.
pub fn restated(context: &Context<'_>) -> Change {
    at(
        &SF323,
        context,
        "",
        (None, None),
        Judgement::NOTATION,
        "written differently: order, titles, dialect or other notation".to_string(),
    )
}

/// A schema whose text differs and whose places say the same.
pub fn schema_restated(prefix: &str, context: &Context<'_>) -> Change {
    at(
        &SF323,
        context,
        prefix,
        (None, None),
        Judgement::NOTATION,
        "written differently: order, titles, dialect or unused definitions".to_string(),
    )
}

/// What is said of a tool that is gone, before anything is known of an heir.
const GONE: Judgement = Judgement::BREAKING
    .class(Class::Removal)
    .authority(Authority::Narrower)
    .meaning(Meaning::Unknown);
/// One call may map, and a grant for the heir would cover more.
const GROWS: Judgement =
    Judgement::LOOK.class(Class::Authority).authority(Authority::Wider).compat(Compat::Breaking);

/// A tool that is gone and has no heir; `nearest` is the tool most like it, a hypothesis.
pub fn removed(context: &Context<'_>, old: &Tool, nearest: Option<(&Tool, Vec<String>)>) -> Change {
    let sentence = match nearest {
        None => "gone; nothing in the list is like it".to_string(),
        Some((tool, why)) => format!(
            "gone; the nearest in the list is `{}` ({}): a place to look, not an heir",
            tool.name,
            why.join(", ")
        ),
    };
    at(&SF301, context, "", (old.raw.get("name"), None), GONE, sentence)
}

/// A tool that is gone and has an heir, declared or likely.
pub fn replaced(context: &Context<'_>, old: &Tool, heir: &Heir, fate: Fate) -> Change {
    let (name, why) = (&heir.name, heir.reasons.join(", "));
    let (rule, judgement, sentence) = match fate {
        Fate::Renamed => (
            &SF302,
            Judgement::ADAPTABLE.verdict(Verdict::NewName),
            format!("`{name}` now: the same contract under another name ({why})"),
        ),
        Fate::RenamedChanged(verdict) => (
            &SF303,
            GONE.verdict(verdict).authority(Authority::Same).meaning(Meaning::Changed),
            format!("`{name}` now, and its contract changed besides ({why})"),
        ),
        Fate::Warned => (
            &SF306,
            GROWS.meaning(Meaning::Unknown),
            format!("`{name}` now: the new name or reach is the news, a person looks first"),
        ),
        Fate::MergedReads => (
            &SF305,
            Judgement::ADAPTABLE.class(Class::Authority).authority(Authority::Wider),
            format!(
                "`{name}` took it over, declared, and only reads: a declared map carries the call over"
            ),
        ),
        Fate::Merged => (
            &SF305,
            GROWS.meaning(Meaning::Same),
            format!(
                "`{name}` took it over, declared: one call maps, a grant for it would cover more deeds"
            ),
        ),
        Fate::SuspectedMerge => (
            &SF305,
            GONE.authority(Authority::Wider).meaning(Meaning::Same),
            format!("gone; `{name}` looks like a wider heir ({why}), but that is only a guess"),
        ),
        Fate::Suspected => (
            &SF303,
            GONE.authority(Authority::Unknown),
            format!("gone; `{name}` looks like its heir ({why}), but that is only a guess"),
        ),
    };
    at(rule, context, "", (old.raw.get("name"), None), judgement, sentence)
}

/// What became of a removed tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The same contract under another name.
    Renamed,
    /// Another name, and the contract changed besides: the verdict of that change.
    RenamedChanged(Verdict),
    /// Another name that warns or reaches further.
    Warned,
    /// A declared heir with more deeds, all reads.
    MergedReads,
    /// A declared heir with more deeds.
    Merged,
    /// A like tool with more deeds; a guess.
    SuspectedMerge,
    /// A like tool; a guess.
    Suspected,
}

/// No tool is left.
pub fn emptied(context: &Context<'_>, before: usize) -> Change {
    at(
        &SF325,
        context,
        "",
        (Some(&Value::from(before)), Some(&Value::from(0))),
        Judgement::BREAKING.class(Class::Removal).meaning(Meaning::Unknown),
        format!(
            "{before} tool{} before, none now: a fault until proven otherwise; fetch the list again",
            if before == 1 { "" } else { "s" }
        ),
    )
}

/// A tool that is new.
pub fn added(context: &Context<'_>, new: &Tool) -> Change {
    at(
        &SF304,
        context,
        "",
        (None, new.raw.get("name")),
        Judgement::ADDITIVE,
        "new: no planned call names it, no grant by name covers it".to_string(),
    )
}

/// The server's instructions changed.
pub fn instructions(context: &Context<'_>, before: &str, after: &str) -> Vec<Change> {
    let signals = prose::compare(before, after);
    let values = (Value::from(before), Value::from(after));
    wording::text_findings(&signals, &|_, judgement, sentence| {
        at(
            &SF330,
            context,
            "/instructions",
            (Some(&values.0), Some(&values.1)),
            judgement,
            sentence,
        )
    })
}
