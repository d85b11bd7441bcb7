//! What the simulated server's contracts mean: what no gateway can see, and every run is judged by.

use super::plan::Drift;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What an argument is for. Two fields with one meaning do the same, whatever their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    Note,
    Dollars,
    Cents,
    AccountBySlug,
    AccountById,
    Visibility,
    Mode,
    Label(u32),
}

impl Meaning {
    fn text(self) -> String {
        match self {
            Meaning::Note => "Text of the note".to_owned(),
            Meaning::Dollars => "Amount in US dollars".to_owned(),
            Meaning::Cents => "Amount in US cents".to_owned(),
            Meaning::AccountBySlug => "Slug of the account".to_owned(),
            Meaning::AccountById => "Numeric id of the account".to_owned(),
            Meaning::Visibility => "Who may read the note".to_owned(),
            Meaning::Mode => "Whether the note is only drafted or sent".to_owned(),
            Meaning::Label(n) => format!("Label number {n}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub meaning: Meaning,
    pub required: bool,
    pub default: Option<&'static str>,
    pub choices: &'static [&'static str],
}

/// One revision of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub tool: &'static str,
    pub reads: bool,
    pub fields: Vec<Field>,
    /// The member of the answer that names what was done.
    pub answer: &'static str,
    wording: bool,
}

const NARROW: &[&str] = &["private", "team"];
/// The choice that only a wider contract has.
pub const WIDE: &str = "public";
const WIDER: &[&str] = &["private", "team", WIDE];

fn field(name: &str, meaning: Meaning, required: bool) -> Field {
    Field { name: name.to_owned(), meaning, required, default: None, choices: &[] }
}

/// The contracts of the beginning.
pub fn first() -> Vec<Contract> {
    let note = || field("note", Meaning::Note, true);
    let mode = Field {
        default: Some("draft"),
        choices: &["draft", "sent"],
        ..field("mode", Meaning::Mode, false)
    };
    let visibility = Field { choices: NARROW, ..field("visibility", Meaning::Visibility, false) };
    let contract =
        |tool, reads, fields| Contract { tool, reads, fields, answer: "id", wording: false };
    vec![
        contract(
            "post",
            false,
            vec![note(), field("amount", Meaning::Dollars, true), mode, visibility],
        ),
        contract("move", false, vec![note(), field("account", Meaning::AccountBySlug, true)]),
        contract("find", true, vec![note()]),
    ]
}

impl Contract {
    /// As the server lists it.
    pub fn listed(&self) -> Value {
        let mut properties = Map::new();
        for field in &self.fields {
            let mut schema = json!({"type": "string", "description": field.meaning.text()});
            if !field.choices.is_empty() {
                schema["enum"] = json!(field.choices);
            }
            if let Some(default) = field.default {
                schema["default"] = json!(default);
            }
            properties.insert(field.name.clone(), schema);
        }
        let required: Vec<&str> =
            self.fields.iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
        let text = if self.wording { "Handles one note." } else { "Handles a note." };
        json!({
            "name": self.tool,
            "description": text,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "outputSchema": {
                "type": "object",
                "properties": {self.answer: {"type": "string"}, "echo": {"type": "string"}},
                "required": [self.answer, "echo"],
            },
            "annotations": {"readOnlyHint": self.reads},
        })
    }

    /// What a call with these arguments does: each meaning with its value.
    pub fn intent(&self, arguments: &Map<String, Value>) -> BTreeMap<Meaning, String> {
        let value = |field: &Field| match arguments.get(&field.name) {
            Some(given) => given.as_str().map(str::to_owned),
            None => field.default.map(str::to_owned),
        };
        self.fields.iter().filter_map(|f| Some((f.meaning, value(f)?))).collect()
    }

    /// Why the server does not take arguments.
    pub fn refuses(&self, arguments: &Map<String, Value>) -> bool {
        let missing = self.fields.iter().any(|f| f.required && !arguments.contains_key(&f.name));
        let foreign = self.fields.iter().any(|f| {
            let given = arguments.get(&f.name).and_then(Value::as_str);
            given.is_some_and(|given| !f.choices.is_empty() && !f.choices.contains(&given))
        });
        missing || foreign
    }

    /// The arguments of a call that is planned by this.
    pub fn arguments(&self, note: &str, reach: bool, optional: bool) -> Map<String, Value> {
        let mut arguments = Map::new();
        for field in &self.fields {
            let value = match field.meaning {
                Meaning::Note => note,
                Meaning::Visibility => {
                    if !(reach || optional) {
                        continue;
                    }
                    if reach && field.choices.contains(&WIDE) { WIDE } else { "private" }
                }
                _ if !field.required && !optional => continue,
                Meaning::Mode => field.default.unwrap_or("draft"),
                _ => "7",
            };
            arguments.insert(field.name.clone(), value.into());
        }
        arguments
    }

    /// True where these arguments reach further than anything that was granted at first.
    pub fn is_wide(&self, arguments: &Map<String, Value>) -> bool {
        self.intent(arguments).get(&Meaning::Visibility).is_some_and(|who| who == WIDE)
    }

    /// The next revision; `number` is one that was not used before.
    pub fn moved(&self, how: Drift, number: u32) -> Contract {
        let mut next = self.clone();
        let label = Meaning::Label(number);
        match how {
            Drift::Wording => next.wording = !next.wording,
            Drift::Optional => next.fields.push(field(&format!("label_{number}"), label, false)),
            Drift::Required => next.fields.push(field(&format!("label_{number}"), label, true)),
            Drift::Rename => {
                if let Some(field) = next.fields.get_mut(1) {
                    field.name = format!("field_{number}");
                }
            }
            Drift::Meaning => {
                if let Some(field) = next.fields.get_mut(1) {
                    field.meaning = match field.meaning {
                        Meaning::Dollars => Meaning::Cents,
                        Meaning::Cents => Meaning::Dollars,
                        Meaning::AccountBySlug => Meaning::AccountById,
                        Meaning::AccountById => Meaning::AccountBySlug,
                        other => other,
                    };
                }
            }
            Drift::Default => {
                for field in next.fields.iter_mut().filter(|f| f.meaning == Meaning::Mode) {
                    field.default =
                        Some(if field.default == Some("draft") { "sent" } else { "draft" });
                }
            }
            Drift::Wider | Drift::Narrower => {
                let choices = if how == Drift::Wider { WIDER } else { NARROW };
                for field in next.fields.iter_mut().filter(|f| f.meaning == Meaning::Visibility) {
                    field.choices = choices;
                }
            }
            Drift::Deed => next.reads = !next.reads,
            Drift::Answer => next.answer = if next.answer == "id" { "reference" } else { "id" },
            Drift::Gone | Drift::Back | Drift::Earlier | Drift::Empty => {}
        }
        next
    }
}
