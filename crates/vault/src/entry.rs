//! One credential: what is known of it, and the secret itself.

use crate::{VaultError, limits};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// How a credential goes into a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// `Authorization: Bearer SECRET` (RFC 6750).
    Bearer,
    /// `Authorization: Basic …`, with this user (RFC 7617).
    Basic {
        /// The user.
        user: String,
    },
    /// A header of this name, with the secret as its value.
    Header {
        /// The name.
        name: String,
    },
}

/// What is known of a credential. The secret is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What bindings call it.
    pub label: String,
    /// How it goes into a request.
    #[serde(flatten)]
    pub kind: Kind,
    /// Where it may go: origins in their one spelling, compared as a whole.
    pub origins: Vec<String>,
    /// Grows by one at each rotation, from 1.
    pub version: u32,
    /// When this version came, as Unix time in milliseconds.
    pub at: u64,
}

impl Entry {
    /// Whether a vault may hold it.
    ///
    /// # Errors
    /// In a sentence.
    pub fn check(&self) -> Result<(), VaultError> {
        let refused = |why: &str| Err(VaultError::Refused(why.to_owned()));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !(1..=limits::LABEL).contains(&self.label.len()) || !self.label.chars().all(plain) {
            return refused("A label has 1 to 64 letters, digits, dots, dashes or underscores.");
        }
        if self.origins.is_empty() || self.origins.len() > limits::ORIGINS {
            return refused("A credential goes to named origins: give --origin, at most 32 times.");
        }
        match &self.kind {
            Kind::Basic { user } if user.contains(':') || user.chars().any(char::is_control) => {
                refused("A user has no colon and no control characters (RFC 7617).")
            }
            Kind::Header { name } if !is_slot(name) => refused(
                "This header cannot carry a credential: it is no name, or belongs to the connection.",
            ),
            _ => Ok(()),
        }
    }
}

/// Whether a header of this name may carry a credential.
fn is_slot(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    (1..=64).contains(&name.len())
        && name.bytes().all(token)
        && !lower.starts_with("proxy-")
        && ![
            "host", "connection", "content-length", "content-type", "transfer-encoding", "te",
            "trailer", "upgrade", "accept", "accept-encoding", "expect", "cookie", "keep-alive",
        ]
        .contains(&lower.as_str())
}

/// A secret. It cannot be shown or serialised, and is wiped where it is dropped.
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes a secret over, without the line end of a file.
    ///
    /// # Errors
    /// Where it is too short, too long, or holds what a header cannot carry. The sentence does not quote it.
    pub fn new(mut bytes: Zeroizing<Vec<u8>>) -> Result<Secret, VaultError> {
        while bytes.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
            bytes.pop();
        }
        let refused = |why: String| Err(VaultError::Refused(why));
        if !(limits::SECRET_LEAST..=limits::SECRET).contains(&bytes.len()) {
            return refused(format!(
                "A secret has {} to {} bytes. Nothing was stored.",
                limits::SECRET_LEAST,
                limits::SECRET
            ));
        }
        if !bytes.iter().all(|byte| (0x20..0x7f).contains(byte)) {
            return refused("The secret holds a character that a header cannot carry: only visible ASCII and spaces can. Nothing was stored.".to_owned());
        }
        Ok(Secret(bytes))
    }

    /// The secret itself, for the place that sends it.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
