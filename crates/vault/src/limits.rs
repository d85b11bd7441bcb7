//! Every bound of the vault, with its reason.

use std::time::Duration;

/// Bytes of a vault file: some hundred credentials with room for keys. A file that is larger is none.
pub const FILE: u64 = 8 << 20;

/// Credentials in one vault: what one person or team can keep in mind.
pub const ENTRIES: usize = 1_000;

/// Bytes of one secret: a long private key or a token with many claims.
pub const SECRET: usize = 16 << 10;

/// The fewest bytes of a secret: a shorter one is guessed, and could not be found in an answer without false finds.
pub const SECRET_LEAST: usize = 8;

/// Letters of a label.
pub const LABEL: usize = 64;

/// Origins of one credential.
pub const ORIGINS: usize = 32;

/// The least that a vault may ask for of Argon2id, in KiB and passes: OWASP's floor. Less was not written by this program.
pub const KDF_LEAST: (u32, u32) = (19 << 10, 2);

/// How long a client of an open vault may take for its question: it is a line on this machine.
pub const QUESTION: Duration = Duration::from_secs(2);

/// Bytes of a question and of the head of an answer.
pub const LINE: usize = 8 << 10;

/// How often it is looked whether a keeper that was told to end has: it ends at once, as a rule.
pub const LOOK: Duration = Duration::from_millis(5);
