//! Records: a public envelope, and parts that are sealed and only committed to.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::merkle::Hash;
use super::note::hex;
use crate::word::words;
use crate::{Millis, RequestId, SessionId, StoreError, limits};

words! {
    /// What a record is about.
    pub enum Kind {
        /// The journal begins.
        Opened = "opened",
        /// A session began.
        SessionOpened = "session-opened",
        /// A session ended.
        SessionClosed = "session-closed",
        /// A revision was seen for the first time.
        Revision = "revision",
        /// Another list became the current one of a server.
        List = "list",
        /// A session was shown a list.
        Shown = "shown",
        /// A contract was granted.
        Granted = "granted",
        /// A granted tool is gone from its server's list.
        Gone = "gone",
        /// A request was decided.
        Decision = "decision",
        /// An attempt is about to leave.
        Intent = "intent",
        /// What came of an attempt.
        Outcome = "outcome",
        /// An answer reached the client.
        Delivered = "delivered",
        /// An approval was asked for.
        ApprovalAsked = "approval-asked",
        /// An approver decided.
        ApprovalSettled = "approval-settled",
        /// An approval was used.
        ApprovalRedeemed = "approval-redeemed",
        /// An approval covers nothing any more.
        ApprovalVoid = "approval-void",
        /// The key of an approver was enrolled.
        ApproverEnrolled = "approver-enrolled",
        /// The key of an approver was taken back.
        ApproverDismissed = "approver-dismissed",
        /// The vault beside the store was changed, opened or locked.
        Vault = "vault",
        /// Sealed parts were erased.
        Erased = "erased",
        /// The callers' clock was set back.
        ClockBack = "clock-back",
    }
}

words! {
    /// A part of a record that is sealed.
    pub enum Part {
        /// The arguments as received.
        RawArguments = "raw-arguments",
        /// The arguments as they would be sent.
        NormalisedArguments = "normalised-arguments",
        /// The digest of the arguments that would be sent.
        ArgumentDigest = "argument-digest",
        /// The answer.
        Answer = "answer",
        /// What an approver is shown.
        Card = "card",
        /// The digest of the action that an approval covers.
        ActionDigest = "action-digest",
    }
}

/// A record as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its number; the first is 0.
    pub seq: u64,
    /// The hash of the envelope as a leaf.
    pub hash: Hash,
    /// The public envelope: JSON with sorted members, no space. These bytes are the leaf.
    pub envelope: String,
}

/// A sealed part, opened.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload {
    /// The number of its record.
    pub seq: u64,
    /// Which part it is.
    pub part: Part,
    /// What the commitment was salted with: with it and the text anyone can check the commitment in the envelope.
    pub salt: [u8; 32],
    /// The text.
    pub text: String,
}

// A payload may hold secrets: no `Debug` may show its text.
impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Payload({} {}, {} bytes)", self.seq, self.part, self.text.len())
    }
}

impl Payload {
    /// The commitment that the envelope must hold.
    pub fn commitment(&self) -> String {
        commitment(&self.salt, &self.text)
    }
}

/// What an envelope holds in place of a sealed text.
pub(crate) fn commitment(salt: &[u8; 32], text: &str) -> String {
    format!("sha256:{}", hex(&Sha256::new().chain_update(salt).chain_update(text).finalize()))
}

/// A record on its way into the journal.
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) at: Millis,
    pub(crate) request: Option<RequestId>,
    pub(crate) session: Option<SessionId>,
    pub(crate) members: BTreeMap<&'static str, Value>,
    pub(crate) sealed: Vec<(Part, String)>,
}

impl Entry {
    pub(crate) fn new(kind: Kind, at: Millis) -> Entry {
        Entry {
            kind,
            at,
            request: None,
            session: None,
            members: BTreeMap::new(),
            sealed: Vec::new(),
        }
    }

    pub(crate) fn request(mut self, request: RequestId) -> Entry {
        self.request = Some(request);
        self.with("request", request.to_string())
    }

    pub(crate) fn session(mut self, session: SessionId) -> Entry {
        self.session = Some(session);
        self.with("session", session.to_string())
    }

    /// Adds a member.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Entry {
        self.members.insert(name, value.into());
        self
    }

    /// Adds a member where there is a value.
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Entry {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a sealed part.
    pub(crate) fn seal(mut self, part: Part, text: impl Into<String>) -> Entry {
        self.sealed.push((part, text.into()));
        self
    }

    /// The envelope under this number, with these commitments.
    pub(crate) fn envelope(
        self,
        seq: u64,
        commitments: &[(Part, String)],
    ) -> Result<String, StoreError> {
        let mut members = self.members;
        members.insert("at", self.at.into());
        members.insert("kind", self.kind.as_str().into());
        members.insert("seq", seq.into());
        if !commitments.is_empty() {
            let sorted: BTreeMap<&str, &str> =
                commitments.iter().map(|(part, text)| (part.as_str(), text.as_str())).collect();
            let pairs = sorted.into_iter().map(|(part, text)| (part.to_owned(), text.into()));
            members.insert("sealed", Value::Object(pairs.collect()));
        }
        let text = serde_json::to_string(&members).map_err(|error| {
            StoreError::conflict(format!("The record cannot be written as JSON: {error}."))
        })?;
        if text.len() > limits::ENVELOPE_BYTES {
            return Err(StoreError::TooLarge {
                what: format!("The public part of a record ({})", self.kind),
                size: text.len(),
                most: limits::ENVELOPE_BYTES,
            });
        }
        Ok(text)
    }
}

/// The members of an object, sorted, as an envelope holds them.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let sorted: BTreeMap<&str, Value> =
        members.into_iter().filter(|(_, value)| !value.is_null()).collect();
    Value::Object(sorted.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_sorted_and_holds_commitments_alone() {
        let entry = Entry::new(Kind::Decision, 5)
            .with("tool", "deploy")
            .with_some("adapter", None::<String>)
            .with(
                "planned",
                object([("ordinal", 2.into()), ("digest", Value::Null), ("grade", "none".into())]),
            )
            .seal(Part::RawArguments, "{\"token\":\"hush\"}");
        let envelope = entry.envelope(9, &[(Part::RawArguments, "sha256:00".into())]).unwrap();
        assert_eq!(
            envelope,
            r#"{"at":5,"kind":"decision","planned":{"grade":"none","ordinal":2},"sealed":{"raw-arguments":"sha256:00"},"seq":9,"tool":"deploy"}"#
        );
    }

    #[test]
    fn an_envelope_has_a_limit_and_a_payload_shows_nothing() {
        let long = Entry::new(Kind::Intent, 0).with("target", "x".repeat(limits::ENVELOPE_BYTES));
        assert!(matches!(long.envelope(0, &[]), Err(StoreError::TooLarge { .. })));
        let payload = Payload { seq: 1, part: Part::Answer, salt: [0; 32], text: "hush".into() };
        assert_eq!(format!("{payload:?}"), "Payload(1 answer, 4 bytes)");
        assert_eq!(
            payload.commitment(),
            // printf '\0%.0s' {1..32}; printf hush — through sha256sum.
            format!("sha256:{}", hex(&Sha256::digest([[0_u8; 32].as_slice(), b"hush"].concat())))
        );
    }
}
