//! What came of a trial: three outcomes, and none where it cannot be told. Pure.

use super::plan::{Drift, Trial};
use contract::Verdict;
use report::escape::{clip, visible};
use serde_json::Value;

/// Characters of an answer that are shown.
const SHOWN: usize = 300;

/// What came back of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A result that is no error: its text and structured content.
    Done(Value),
    /// A tool execution error: its text.
    ToolError(String),
    /// An error of the protocol: its code and message.
    ProtocolError(i64, String),
    /// Nothing, and why.
    Nothing(String),
}

impl Reply {
    /// The reply in one line.
    pub fn in_words(&self) -> String {
        let shown = |text: &str| clip(&visible(text), SHOWN);
        match self {
            Reply::Done(value) => format!("answered {}", shown(&text_of(value))),
            Reply::ToolError(text) => format!("refused: {}", shown(text)),
            Reply::ProtocolError(code, text) => format!("error {code}: {}", shown(text)),
            Reply::Nothing(why) => format!("no answer: {}", shown(why)),
        }
    }

    fn error(&self) -> Option<&str> {
        match self {
            Reply::ToolError(text) | Reply::ProtocolError(_, text) => Some(text),
            Reply::Done(_) | Reply::Nothing(_) => None,
        }
    }
}

fn text_of(value: &Value) -> String {
    let blocks = value.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { value.to_string() } else { texts.join(" ") }
}

/// What says that the old behaviour was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// What was seen: the same answer of a tool that only reads, the same requests of another.
    Seen,
    /// The comparison of the two contracts alone; what was seen differs, or nobody looked.
    Compared,
}

/// What the server did with the old call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It kept the old safe behaviour.
    Kept(Ground),
    /// It refused before any effect.
    Refused {
        /// A model could repair the call by the text of the error alone, and why or why not.
        repairable: bool,
        /// The same in words.
        why: String,
    },
    /// It did something else.
    Else(String),
    /// It cannot be told.
    Open(String),
}

/// What reached the recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effects {
    /// Requests during the old call.
    pub during_old: usize,
    /// They are the same as those during the control call: method, path and body.
    pub same: bool,
}

/// Judges a trial. `effects` is `None` where nobody looked.
pub fn judge(trial: &Trial, control: &Reply, old: &Reply, effects: Option<Effects>) -> Outcome {
    match old {
        Reply::Nothing(why) => match control {
            Reply::Nothing(_) => Outcome::Open("neither call was answered".to_owned()),
            _ => Outcome::Else(format!("it never answered the old call ({why})")),
        },
        Reply::Done(answer) => carried_out(trial, control, answer, effects),
        Reply::ToolError(text) | Reply::ProtocolError(_, text) => {
            if let Some(n) = effects.map(|effects| effects.during_old).filter(|n| *n > 0) {
                let requests = if n == 1 { "a request" } else { "requests" };
                return Outcome::Else(format!(
                    "it answered a clean error, but {requests} had left"
                ));
            }
            refused(trial, control, old, text)
        }
    }
}

/// Judges an old call against what the server that is replaced did with the same call.
pub fn against_old(trial: &Trial, kept: &Reply, now: &Reply, effects: Option<Effects>) -> Outcome {
    let Reply::Done(answer) = now else { return judge(trial, kept, now, effects) };
    let alike = matches!(kept, Reply::Done(other) if same_answer(other, answer));
    match (effects, trial.reads) {
        (Some(Effects { same: false, .. }), _) => {
            Outcome::Else("it made other requests than the server that it replaces".to_owned())
        }
        (Some(_), false) => Outcome::Kept(Ground::Seen),
        (_, true) if alike => Outcome::Kept(Ground::Seen),
        (_, true) => {
            Outcome::Else("it answered otherwise than the server that it replaces".to_owned())
        }
        (None, false) => Outcome::Open(
            "it carried the old call out, and nobody saw with which effects".to_owned(),
        ),
    }
}

/// Judges a call of a tool that is no longer listed.
pub fn gone(trial: &Trial, old: &Reply, effects: Option<Effects>) -> Outcome {
    if effects.is_some_and(|effects| effects.during_old > 0) {
        return Outcome::Else(
            "requests left during the call of a tool that is no longer listed".to_owned(),
        );
    }
    match old {
        Reply::Nothing(why) => Outcome::Else(format!("it never answered the old call ({why})")),
        Reply::Done(_) => {
            Outcome::Else("it carried out a call of a tool that it no longer lists".to_owned())
        }
        Reply::ToolError(text) | Reply::ProtocolError(_, text) => {
            let repairable = has_word(text, &trial.tool);
            let why = match repairable {
                true => "the error names the tool".to_owned(),
                false => "the error does not say which tool is gone".to_owned(),
            };
            Outcome::Refused { repairable, why }
        }
    }
}

fn carried_out(
    trial: &Trial,
    control: &Reply,
    answer: &Value,
    effects: Option<Effects>,
) -> Outcome {
    let answered_alike = matches!(control, Reply::Done(other) if same_answer(other, answer));
    // What a tool that only reads did is what it answered; what another did is what reached the world.
    let same = answered_alike && effects.map_or(trial.reads, |effects| effects.same);
    match &trial.drift {
        Drift::Kept { verdict, fits: true, .. } => match verdict {
            Verdict::Safe | Verdict::NewName if same => Outcome::Kept(Ground::Seen),
            Verdict::Safe | Verdict::NewName => Outcome::Kept(Ground::Compared),
            Verdict::Adapt | Verdict::Undecided => Outcome::Open(
                "it carried the old call out, and whether that still means the same cannot be told from outside"
                    .to_owned(),
            ),
            Verdict::NewApproval | Verdict::Refuse => Outcome::Else(
                "it carried the old call out although its meaning or reach moved".to_owned(),
            ),
        },
        Drift::Kept { .. } if same => Outcome::Kept(Ground::Seen),
        Drift::Kept { .. } => {
            Outcome::Else("it carried out a call that its own contract no longer takes".to_owned())
        }
        Drift::Unknown(_) | Drift::Renamed { .. } if same => Outcome::Kept(Ground::Seen),
        Drift::Unknown(field) => {
            Outcome::Else(format!("it carried out a call without `{field}`, which it requires"))
        }
        Drift::Renamed { was, is } => Outcome::Else(format!(
            "it ignored `{was}` and carried out a call without `{is}`, which it requires"
        )),
        Drift::Gone(field) => Outcome::Else(format!(
            "it ignored `{field}` without a word: a caller who meant to narrow the call by it is not told"
        )),
    }
}

/// The same answer; what a clock or a counter wrote into it may make two answers differ that mean the same.
fn same_answer(a: &Value, b: &Value) -> bool {
    ["content", "structuredContent"].iter().all(|part| a.get(part) == b.get(part))
}

fn refused(trial: &Trial, control: &Reply, old: &Reply, text: &str) -> Outcome {
    let names = named(trial, text);
    let told_apart = match control {
        Reply::Done(_) => true,
        Reply::Nothing(_) => false,
        // Both failed: the old one was refused for its form only where it says so.
        Reply::ToolError(_) | Reply::ProtocolError(..) => {
            control.error() != old.error() && (!names.is_empty() || invalid(old))
        }
    };
    if !told_apart {
        return Outcome::Open(format!(
            "the control call failed too ({}), so the error of the old call means nothing",
            control.in_words()
        ));
    }
    let (repairable, why) = match names.as_slice() {
        [] => (
            false,
            "the error names no argument, so a model can only guess what to change".to_owned(),
        ),
        names => (
            true,
            format!("the error names {}, so a model can repair the call", names.join(" and ")),
        ),
    };
    Outcome::Refused { repairable, why }
}

/// The error says that the parameters are wrong.
fn invalid(reply: &Reply) -> bool {
    matches!(reply, Reply::ProtocolError(-32602, _))
}

/// The arguments that an error names, in quotes.
fn named(trial: &Trial, text: &str) -> Vec<String> {
    let fields: Vec<&String> = match &trial.drift {
        Drift::Kept { field, .. } => field.iter().collect(),
        Drift::Unknown(field) | Drift::Gone(field) => vec![field],
        Drift::Renamed { was, is } => vec![is, was],
    };
    let mut fields: Vec<String> = fields.into_iter().cloned().collect();
    if let (Drift::Kept { .. }, Some(members)) = (&trial.drift, trial.control.as_object()) {
        fields.extend(members.keys().cloned());
    }
    fields.sort();
    fields.dedup();
    fields.retain(|field| !field.is_empty() && has_word(text, field));
    fields.iter().map(|field| format!("`{field}`")).collect()
}

/// The text has the name as a word of its own: `path` is not named by `paths are long`.
fn has_word(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn trial(drift: Drift) -> Trial {
        Trial {
            tool: "t".into(),
            harmless: "",
            reads: true,
            control: json!({"path": "/a"}),
            old: json!({}),
            drift,
        }
    }

    fn unknown() -> Trial {
        trial(Drift::Unknown("path".into()))
    }

    fn done(text: &str) -> Reply {
        Reply::Done(json!({"content": [{"type": "text", "text": text}]}))
    }

    fn error(text: &str) -> Reply {
        Reply::ToolError(text.into())
    }

    #[test]
    fn a_refusal_is_repairable_where_it_names_the_argument() {
        let named = judge(&unknown(), &done("x"), &error("`path` is required"), None);
        assert!(matches!(named, Outcome::Refused { repairable: true, .. }), "{named:?}");
        let vague = judge(&unknown(), &done("x"), &error("all paths invalid"), None);
        assert!(matches!(vague, Outcome::Refused { repairable: false, .. }), "{vague:?}");
    }

    #[test]
    fn a_clean_error_after_an_effect_is_no_refusal() {
        let outcome = judge(
            &unknown(),
            &done("x"),
            &error("`path` is required"),
            Some(Effects { during_old: 1, same: false }),
        );
        assert!(matches!(outcome, Outcome::Else(_)), "{outcome:?}");
    }

    #[test]
    fn an_old_call_that_is_carried_out_is_safe_only_where_the_answer_is_that_of_before() {
        let seen_kept = Outcome::Kept(Ground::Seen);
        assert_eq!(judge(&unknown(), &done("x"), &done("x"), None), seen_kept);
        assert!(matches!(judge(&unknown(), &done("x"), &done("y"), None), Outcome::Else(_)));
        let writer = Trial { reads: false, ..unknown() };
        assert!(matches!(judge(&writer, &done("x"), &done("x"), None), Outcome::Else(_)));
        let seen = |same| Some(Effects { during_old: 1, same });
        assert_eq!(judge(&writer, &done("x"), &done("x"), seen(true)), seen_kept);
        assert!(matches!(judge(&writer, &done("x"), &done("x"), seen(false)), Outcome::Else(_)));
        let gone = trial(Drift::Gone("scope".into()));
        assert!(matches!(judge(&gone, &done("x"), &done("x"), None), Outcome::Else(_)));
        let kept = |verdict, fits| {
            trial(Drift::Kept { verdict, sentence: String::new(), field: None, fits })
        };
        // Another answer: only the comparison says that it means the same.
        let safe = kept(Verdict::Safe, true);
        let compared = Outcome::Kept(Ground::Compared);
        assert_eq!(judge(&safe, &done("x"), &done("y"), None), compared);
        assert_eq!(judge(&safe, &done("x"), &done("x"), None), seen_kept);
        let moved = judge(&kept(Verdict::Refuse, true), &done("x"), &done("x"), None);
        assert!(matches!(moved, Outcome::Else(_)), "{moved:?}");
    }

    #[test]
    fn where_the_control_call_fails_too_only_an_error_of_its_own_tells() {
        let same = judge(&unknown(), &error("no such file"), &error("no such file"), None);
        assert!(matches!(same, Outcome::Open(_)), "{same:?}");
        let own = judge(&unknown(), &error("no such file"), &error("path: Required"), None);
        assert!(matches!(own, Outcome::Refused { repairable: true, .. }), "{own:?}");
        let silent = judge(&unknown(), &done("x"), &Reply::Nothing("it ended".into()), None);
        assert!(matches!(silent, Outcome::Else(_)), "{silent:?}");
    }
}
