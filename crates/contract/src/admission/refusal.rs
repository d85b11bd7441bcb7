//! A "no" with a way forward, for a model, for a program and for a journal.
//!
//! A refusal is a trusted voice: it holds names and values that the server listed, escaped, and never the server's
//! prose.

use serde_json::{Map, Value, json};

/// Which kind of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The call was planned under a contract that no longer holds.
    StaleToolSchema,
    /// No revision takes such arguments.
    InvalidArguments,
    /// The tool is gone.
    ToolRemoved,
    /// What holds now could not be read.
    ContractUnverified,
    /// The call would reach further than was granted.
    AuthorityWidened,
    /// What it would do under the new contract cannot be decided.
    ContractUndecided,
    /// The server lists the name more than once, and a call cannot say which is meant.
    ToolAmbiguous,
    /// Nothing is wrong with it, but such calls wait for a person.
    ApprovalRequired,
    /// A rule of the operator says that such calls never run.
    PolicyDenied,
}

impl Code {
    /// True where whoever reads the refusal knows what moved.
    pub fn tells_what_moved(self) -> bool {
        matches!(self, Code::StaleToolSchema | Code::AuthorityWidened | Code::ContractUndecided)
    }

    /// As it stands in `error_code`.
    pub fn name(self) -> &'static str {
        match self {
            Code::StaleToolSchema => "STALE_TOOL_SCHEMA",
            Code::InvalidArguments => "INVALID_ARGUMENTS",
            Code::ToolRemoved => "TOOL_REMOVED",
            Code::ContractUnverified => "CONTRACT_UNVERIFIED",
            Code::AuthorityWidened => "AUTHORITY_WIDENED",
            Code::ContractUndecided => "CONTRACT_UNDECIDED",
            Code::ToolAmbiguous => "TOOL_AMBIGUOUS",
            Code::ApprovalRequired => "APPROVAL_REQUIRED",
            Code::PolicyDenied => "POLICY_DENIED",
        }
    }
}

/// What the caller does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Fetch the list again and decide anew.
    RefreshTools,
    /// Correct the arguments.
    FixArguments,
    /// Use the tool that is named.
    UseTool,
    /// Ask a person.
    AskPerson,
    /// Stop.
    Stop,
}

impl Action {
    /// As it stands in `required_action`.
    pub fn name(self) -> &'static str {
        match self {
            Action::RefreshTools => "refresh_tools",
            Action::FixArguments => "fix_arguments",
            Action::UseTool => "use_tool",
            Action::AskPerson => "ask_person",
            Action::Stop => "stop",
        }
    }
}

/// Whether a client may refresh and try again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It may: nothing is left to decide.
    AutoAllowed,
    /// A model or a person decides anew.
    NewDecision,
    /// Trying again changes nothing.
    No,
}

impl Retry {
    /// As it stands in `retry`.
    pub fn name(self) -> &'static str {
        match self {
            Retry::AutoAllowed => "auto_allowed",
            Retry::NewDecision => "new_decision",
            Retry::No => "no",
        }
    }
}

/// One thing that moved and stops this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rule that found it.
    pub rule: &'static str,
    /// The argument, dotted; `None` where it is about the whole tool.
    pub field: Option<String>,
    /// What moved, in words without any prose of the server.
    pub what: String,
}

/// What stands in place of a rule where an adapter was to carry a call and does not.
pub const ADAPTER: &str = "adapter";

impl Fault {
    /// An adapter that was to carry the call, and why it does not.
    pub(super) fn of_adapter(why: String) -> Fault {
        Fault { rule: ADAPTER, field: None, what: why }
    }
}

/// A refusal in all its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// Which kind.
    pub code: Code,
    /// The tool that was called.
    pub tool: String,
    /// Arguments that must be sent now and were not, with their schemas as listed.
    pub missing: Vec<(String, Value)>,
    /// Arguments that were sent and are no longer taken.
    pub obsolete: Vec<String>,
    /// What else moved.
    pub changed: Vec<Fault>,
    /// What to do next.
    pub required_action: Action,
    /// Whether that needs a decision.
    pub retry: Retry,
    /// Digest of the revision the call was planned under, where known.
    pub planned_revision: Option<String>,
    /// Digest of the live revision, where there is one.
    pub current_revision: Option<String>,
    /// The same call in the new form, only where nothing in it is invented.
    pub ready: Option<Value>,
    /// The tool to use in place of one that is gone.
    pub heir: Option<String>,
    /// Where the arguments do not fit, in words.
    pub rejection: Option<String>,
}

/// A name as a refusal shows it: plain where it is plain, else as JSON of plain ASCII.
pub fn name(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '[' | ']' | '/');
    if !text.is_empty() && text.len() <= 128 && text.chars().all(plain) {
        format!("`{text}`")
    } else {
        let cut: String = text.chars().take(128).collect();
        escaped(&Value::from(cut))
    }
}

/// A value as JSON of plain ASCII: nothing in it can move a cursor or close a quote.
pub(super) fn escaped(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Values of a list that are shown; a model needs no more to choose from.
const SHOWN_VALUES: usize = 12;

/// Characters of a pattern that are shown.
const SHOWN_PATTERN: usize = 200;

/// What an argument takes, in words: its type and its listed values.
pub(super) fn takes(schema: &Value) -> String {
    if let Some(Value::Array(values)) = schema.get("enum") {
        let shown: Vec<String> = values.iter().take(SHOWN_VALUES).map(escaped).collect();
        let more = if values.len() > SHOWN_VALUES { ", …" } else { "" };
        return format!("one of {}{more}", shown.join(", "));
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => return "any value that its schema takes".to_owned(),
    };
    let pattern = schema.get("pattern").map_or(String::new(), |pattern| {
        format!(
            " that matches {}",
            escaped(pattern).chars().take(SHOWN_PATTERN).collect::<String>()
        )
    });
    let default = schema
        .get("default")
        .map_or(String::new(), |default| format!(", default {}", escaped(default)));
    format!("{kind}{pattern}{default}")
}

impl Refusal {
    /// The text for the model: what happened, what moved, what to do. `token` lets the next call say that this was
    /// read.
    pub fn text(&self, token: Option<&str>) -> String {
        let tool = name(&self.tool);
        let mut lines = vec![match self.code {
            Code::StaleToolSchema => format!(
                "NOT EXECUTED: {tool} changed after this call was planned. Nothing was sent to it."
            ),
            Code::InvalidArguments => {
                format!("NOT EXECUTED: {tool} takes no such arguments. Nothing was sent to it.")
            }
            Code::ToolRemoved => {
                format!("NOT EXECUTED: {tool} no longer exists. Nothing was done in its place.")
            }
            Code::ContractUnverified => format!(
                "NOT EXECUTED: whether {tool} is still what it was could not be checked, and this call may have an effect. Nothing was sent."
            ),
            Code::AuthorityWidened => format!(
                "NOT EXECUTED: {tool} reaches further now than was accepted, and this call would use it. Nothing was sent."
            ),
            Code::ContractUndecided => format!(
                "NOT EXECUTED: {tool} changed, and whether this call still means the same could not be decided. Nothing was sent."
            ),
            Code::ToolAmbiguous => format!(
                "NOT EXECUTED: the server lists more than one tool by the name {tool}, and a call cannot say which is meant. Nothing was sent. Fetching the list again changes nothing while it lists both."
            ),
            Code::ApprovalRequired => {
                format!(
                    "NOT EXECUTED: calls of {tool} wait for a person's approval. Nothing was sent."
                )
            }
            Code::PolicyDenied => format!(
                "NOT EXECUTED: the rules of whoever runs this gateway do not let this call of {tool} run. Nothing was sent."
            ),
        }];
        for (field, schema) in &self.missing {
            lines.push(format!("- {} must be sent now: {}.", name(field), takes(schema)));
        }
        for field in &self.obsolete {
            lines.push(format!("- {} is no longer an argument.", name(field)));
        }
        for fault in &self.changed {
            lines.push(match &fault.field {
                Some(field) => format!("- {}: {}.", name(field), fault.what),
                None => format!("- {}.", fault.what),
            });
        }
        if let Some(rejection) = &self.rejection {
            lines.push(format!("- {rejection}."));
        }
        lines.push(self.way_forward(token));
        lines.join("\n")
    }

    fn way_forward(&self, token: Option<&str>) -> String {
        let ready = self.ready.as_ref().map(|ready| {
            format!(" A call with these arguments says the same: {}.", escaped(ready))
        });
        let ready = ready.unwrap_or_default();
        let said = token.map(|token| {
            format!(
                " Then call {} again with \"steadfast_ack\": \"{token}\" among the arguments.",
                name(&self.tool)
            )
        });
        match self.required_action {
            Action::FixArguments => format!(
                "What to do: correct the arguments.{ready}{}",
                said.unwrap_or_else(|| " Then call it again.".to_owned())
            ),
            Action::RefreshTools => format!(
                "What to do: fetch the list of tools again, read what changed, and decide anew whether this call is still wanted.{ready}{}",
                said.unwrap_or_default()
            ),
            Action::UseTool => match &self.heir {
                Some(heir) => {
                    format!("What to do: use {} in its place, by its own definition.", name(heir))
                }
                None => "What to do: fetch the list of tools again and choose another.".to_owned(),
            },
            Action::AskPerson => format!(
                "What to do: ask the person you work for; do not try to work around this.{}",
                said.unwrap_or_default()
            ),
            Action::Stop => {
                "What to do: stop, and tell the person you work for. Repeating the call changes nothing."
                    .to_owned()
            }
        }
    }

    /// The data for a program. Members are added, never renamed.
    pub fn data(&self) -> Value {
        let names = |fields: &[String]| Value::from(fields.to_vec());
        let mut data = Map::new();
        data.insert("error_code".into(), self.code.name().into());
        data.insert("tool".into(), self.tool.clone().into());
        let missing: Vec<String> = self.missing.iter().map(|(field, _)| field.clone()).collect();
        data.insert("missing".into(), names(&missing));
        data.insert("obsolete".into(), names(&self.obsolete));
        let changed = self
            .changed
            .iter()
            .map(|fault| json!({"rule": fault.rule, "field": fault.field, "what": fault.what}));
        data.insert("changed".into(), changed.collect());
        data.insert("required_action".into(), self.required_action.name().into());
        data.insert("side_effect_started".into(), false.into());
        data.insert("planned_revision".into(), self.planned_revision.clone().into());
        data.insert("current_revision".into(), self.current_revision.clone().into());
        data.insert("retry".into(), self.retry.name().into());
        if let Some(heir) = &self.heir {
            data.insert("use_tool".into(), heir.clone().into());
        }
        if let Some(ready) = &self.ready {
            data.insert("ready_arguments".into(), ready.clone());
        }
        Value::Object(data)
    }
}
