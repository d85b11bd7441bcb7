//! What exactly would leave: the one description of a request from which it is built, shown and digested.

use crate::binding::{Binding, Effect};
use crate::request::Request;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use vault::{Entry, Kind};

/// A request as it leaves, but for the bytes of its credential.
pub struct Exact {
    /// The method.
    pub method: String,
    /// Where it goes.
    pub origin: String,
    /// Path and query.
    pub target: String,
    /// Headers in their order.
    pub headers: Vec<(String, Slot)>,
    /// The body.
    pub body: String,
    /// What stands in the credential's place, in words: label, version and kind.
    credential: Option<(String, u32, String)>,
    effect: Effect,
    revision: String,
}

/// What a header holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// This.
    Text(String),
    /// The credential.
    Credential,
}

impl Exact {
    /// What a filled binding sends with this credential.
    pub fn of(binding: &Binding, request: &Request, entry: Option<&Entry>) -> Exact {
        let text = |name: &str, value: &str| (name.to_owned(), Slot::Text(value.to_owned()));
        let mut headers = vec![
            text("host", &binding.origin.authority()),
            text("accept", "application/json, text/*;q=0.5"),
            // What is compressed could not be scanned.
            text("accept-encoding", "identity"),
            text("user-agent", concat!("steadfast/", env!("CARGO_PKG_VERSION"))),
        ];
        headers.extend(binding.headers.iter().map(|(name, value)| text(name, value)));
        if let Some(entry) = entry {
            let name = match &entry.kind {
                Kind::Bearer | Kind::Basic { .. } => "authorization",
                Kind::Header { name } => name,
            };
            headers.push((name.to_owned(), Slot::Credential));
        }
        let body = request.body.clone().unwrap_or_default();
        if request.body.is_some() {
            headers.push(text("content-type", "application/json"));
        }
        if request.body.is_some() || ["POST", "PUT", "PATCH"].contains(&binding.method.as_str()) {
            headers.push(text("content-length", &body.len().to_string()));
        }
        Exact {
            method: binding.method.clone(),
            origin: binding.origin.to_string(),
            target: request.target.clone(),
            headers,
            body,
            credential: entry.map(|entry| {
                let kind = serde_json::to_string(&entry.kind).unwrap_or_default();
                (entry.label.clone(), entry.version, kind)
            }),
            effect: binding.effect,
            revision: binding.revision.clone(),
        }
    }

    /// Stands for all of it: every part with its length before it, so that no two requests are written alike.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new_with_prefix("steadfast request v1\n");
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        };
        for text in [&self.revision, &self.method, &self.origin, &self.target] {
            part(text);
        }
        part(&self.headers.len().to_string());
        for (name, slot) in &self.headers {
            part(name);
            match slot {
                Slot::Text(value) => {
                    part("text");
                    part(value);
                }
                Slot::Credential => part("credential"),
            }
        }
        if let Some((label, version, kind)) = &self.credential {
            part(label);
            part(&version.to_string());
            part(kind);
        }
        part("body");
        part(&self.body);
        let digest = hash.finalize();
        format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// What a person is shown of it.
    pub fn shown(&self) -> Value {
        let mut shown = json!({
            "method": self.method,
            "origin": self.origin,
            "target": self.target,
            "body": self.body,
            "effect": match self.effect {
                Effect::Read => "read",
                Effect::Write => "write",
                Effect::Irreversible => "irreversible",
            },
        });
        if let Some((label, version, _)) = &self.credential {
            shown["credential"] = label.as_str().into();
            shown["credential_version"] = (*version).into();
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const FILE: &str = r#"
[bindings.deploy]
description = "Deploys."
origin = "https://api.example.com"
method = "POST"
path = "/projects/{project}"
query = { mode = "live" }
headers = { X-Client = "agents" }
body = '{"id": "{id}"}'
credential = "shop"
effect = "write"
[bindings.deploy.arguments]
project = { type = "string" }
id = { type = "number" }
"#;

    fn exact(file: &str, arguments: &str, entry: &Entry) -> Exact {
        let binding = crate::binding::read("a.toml", file, &[]).unwrap().remove(0);
        let request = crate::request::fill(&binding, arguments).unwrap();
        Exact::of(&binding, &request, Some(entry))
    }

    fn entry(version: u32, kind: Kind) -> Entry {
        let origins = vec!["https://api.example.com".to_owned()];
        Entry { label: "shop".to_owned(), kind, origins, version, at: 1 }
    }

    #[test]
    fn whatever_differs_in_what_leaves_has_another_digest() {
        const ARGUMENTS: &str = r#"{"project": "a", "id": 9007199254740992}"#;
        let same = || exact(FILE, ARGUMENTS, &entry(1, Kind::Bearer)).digest();
        let mut all = BTreeSet::from([same()]);
        assert_eq!(all.first(), Some(&same()));
        let mut other = |digest: String| assert!(all.insert(digest), "two are alike");
        for (old, new) in [
            ("POST", "PUT"),
            ("api.example.com", "api.example.net"),
            ("/projects/", "/project/"),
            ("live", "test"),
            ("\"agents\"", "\"agent\""),
            ("{\"id\"", "{\"x\": 1, \"id\""),
            ("X-Client", "X-Clients"),
            ("write", "irreversible"),
        ] {
            other(exact(&FILE.replace(old, new), ARGUMENTS, &entry(1, Kind::Bearer)).digest());
        }
        // Numbers that are one number to a float, and one value in two spellings.
        for arguments in [
            r#"{"project": "a", "id": 9007199254740993}"#,
            r#"{"project": "b", "id": 9007199254740992}"#,
            r#"{"project": "a", "id": 9007199254740992.0}"#,
            r#"{"project": "a\u200b", "id": 9007199254740992}"#,
        ] {
            other(exact(FILE, arguments, &entry(1, Kind::Bearer)).digest());
        }
        other(exact(FILE, ARGUMENTS, &entry(2, Kind::Bearer)).digest());
        other(exact(FILE, ARGUMENTS, &entry(1, Kind::Header { name: "x-key".into() })).digest());
        for user in ["ada", "bob"] {
            other(exact(FILE, ARGUMENTS, &entry(1, Kind::Basic { user: user.into() })).digest());
        }
    }
}
