//! What a server promised at one moment, as a file.

use serde_json::value::RawValue;

use crate::json;
use crate::list::Listed;
use crate::version::Revision;

/// The version of the file's own format.
pub const SNAPSHOT_VERSION: u64 = 1;

/// Where a snapshot came from, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A command and its arguments.
    Command(Vec<String>),
    /// An address.
    Url(String),
}

/// A server's contract: its tools and what it said of itself, as it said it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Where it came from.
    pub source: Source,
    /// The revision under which it was read; its era too.
    pub revision: Revision,
    /// `serverInfo`, raw.
    pub server_info: Option<Box<RawValue>>,
    /// `capabilities`, raw.
    pub capabilities: Option<Box<RawValue>>,
    /// `instructions`.
    pub instructions: Option<String>,
    /// The tools in the order of the list, each definition as it was listed. Names are unique.
    pub tools: Vec<Listed>,
    /// The raw `result` of each page of the last reading.
    pub pages: Vec<Box<RawValue>>,
    /// What a reader of the list should know, in sentences. Not part of the file.
    pub notes: Vec<String>,
}

impl Snapshot {
    /// The file: JSON in two-space indents. Inside raw parts only white space differs from what the server sent.
    /// Holds no time, no environment value and no header: the same answers give the same bytes.
    pub fn to_json(&self) -> String {
        let mut members: Vec<(&str, String)> =
            vec![("steadfast_snapshot", SNAPSHOT_VERSION.to_string())];
        let source = match &self.source {
            Source::Command(words) => serde_json::json!({ "command": words }),
            Source::Url(url) => serde_json::json!({ "url": url }),
        };
        members.push(("source", source.to_string()));
        members.push(("era", text(self.revision.era.name())));
        members.push(("protocolVersion", text(self.revision.date)));
        let raw = |value: &Option<Box<RawValue>>| {
            value.as_deref().map_or("null".to_owned(), |v| v.get().to_owned())
        };
        members.push(("serverInfo", raw(&self.server_info)));
        members.push(("capabilities", raw(&self.capabilities)));
        members
            .push(("instructions", self.instructions.as_deref().map_or("null".to_owned(), text)));
        let tools: Vec<&str> = self.tools.iter().map(|t| t.raw.get()).collect();
        members.push(("tools", format!("[{}]", tools.join(","))));
        members.push(("pages", self.pages.len().to_string()));
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        json::indent(&format!("{{{}}}", members.join(",")), 0) + "\n"
    }
}

fn text(s: &str) -> String {
    serde_json::Value::from(s).to_string()
}
