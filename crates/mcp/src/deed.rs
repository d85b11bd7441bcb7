//! What a server of bound actions tells of a call besides its result: what became of the request outside, as it was seen on
//! the connection. It stands in `_meta` of the result.
//!
//! Anyone can write such a member. Whoever reads it decides first whether the server is one whose word counts.

use serde_json::{Value, json};

/// The member of `_meta`.
pub const META: &str = "steadfast/outcome";

/// The member of `_meta` of a call that a person approved: the digest of exactly what may leave.
pub const APPROVED: &str = "steadfast/approved";

/// Asks what exactly a call would send: `name` and `arguments` as of a call. The result holds `digest`, and `shown` with
/// `method`, `origin`, `target`, `body`, `effect`, `credential` and `credential_version`; or `unsent`, as under [`META`],
/// and `note`, a sentence.
pub const FORETELL: &str = "steadfast/foretell";

/// What became of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Not one byte of it left.
    NotSent(Unsent),
    /// It was answered as done.
    Done,
    /// It was answered as not done.
    Failed,
    /// Some of it left, and whether it was done is not known.
    InDoubt,
}

/// Why nothing left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// The arguments are not those of the binding.
    Arguments,
    /// The binding is another one than the tool that was listed.
    Moved,
    /// The bindings cannot be read, or make no request.
    Binding,
    /// Too much is under way.
    Busy,
    /// The place cannot be reached.
    Unreachable,
    /// The place is none that may be connected to, or did not prove that it is the one.
    Place,
    /// The vault is locked.
    Locked,
    /// The vault has no such credential for this place.
    Credential,
    /// What would leave is not what a person approved.
    Approval,
}

const UNSENT: &[(Unsent, &str)] = &[
    (Unsent::Arguments, "arguments"),
    (Unsent::Moved, "moved"),
    (Unsent::Binding, "binding"),
    (Unsent::Busy, "busy"),
    (Unsent::Unreachable, "unreachable"),
    (Unsent::Place, "place"),
    (Unsent::Locked, "locked"),
    (Unsent::Credential, "credential"),
    (Unsent::Approval, "approval"),
];

impl Unsent {
    /// Its word.
    pub fn word(self) -> &'static str {
        UNSENT.iter().find(|(known, _)| *known == self).map_or("binding", |(_, word)| word)
    }
}

impl Deed {
    /// Its word in results.
    pub fn word(self) -> &'static str {
        match self {
            Deed::NotSent(_) => "not_sent",
            Deed::Done => "done",
            Deed::Failed => "failed",
            Deed::InDoubt => "in_doubt",
        }
    }

    /// What stands under [`META`].
    pub fn written(self) -> Value {
        match self {
            Deed::NotSent(why) => json!({"state": self.word(), "why": why.word()}),
            _ => json!({"state": self.word()}),
        }
    }

    /// Reads what stands under [`META`] in a `_meta`. `None` where there is nothing that could be read.
    ///
    /// ```
    /// use mcp::deed::{Deed, META, Unsent};
    /// let meta = serde_json::json!({META: Deed::NotSent(Unsent::Locked).written()});
    /// assert_eq!(Deed::read(&meta), Some(Deed::NotSent(Unsent::Locked)));
    /// assert_eq!(Deed::read(&serde_json::json!({META: {"state": "maybe"}})), None);
    /// ```
    pub fn read(meta: &Value) -> Option<Deed> {
        Deed::told(meta.get(META)?)
    }

    /// Reads what [`Deed::written`] wrote.
    pub fn told(told: &Value) -> Option<Deed> {
        match told.get("state")?.as_str()? {
            "done" => Some(Deed::Done),
            "failed" => Some(Deed::Failed),
            "in_doubt" => Some(Deed::InDoubt),
            "not_sent" => {
                let word = told.get("why")?.as_str()?;
                let (why, _) = UNSENT.iter().find(|(_, known)| *known == word)?;
                Some(Deed::NotSent(*why))
            }
            _ => None,
        }
    }
}
