//! Credentials at rest, and who may have one for what.
//!
//! A [`Vault`] is one file, sealed by a passphrase. Labels, origins and secrets are sealed apart, each for its place: an
//! exchanged, moved, older or missing part is found when the vault is opened. A secret is opened only after its origin
//! was held against the one that is asked for. A [`keeper`] holds an open vault and hands out one credential a question.

mod entry;
mod file;
pub mod keeper;
pub mod limits;
mod vault;

pub use entry::{Entry, Kind, Secret};
pub use vault::{Vault, path};

/// Why a vault did not do what was asked. No sentence holds a part of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// There is no vault.
    #[error("There is no vault here. Make one: steadfast vault init.")]
    Missing,
    /// The passphrase is another one.
    #[error("The passphrase does not open the vault. Nothing was changed.")]
    Passphrase,
    /// The file was altered, or is none of this program.
    #[error(
        "The vault was altered or damaged: {0}. Nothing of it is used. Put the vault and its mark back from one backup."
    )]
    Altered(String),
    /// What was asked for cannot be.
    #[error("{0}")]
    Refused(String),
    /// The system said no.
    #[error("The vault cannot be read or written: {0}.")]
    System(String),
    /// Nobody holds the vault open.
    #[error("The vault is locked. Open it in a terminal of yours: steadfast vault unlock.")]
    Locked,
}

impl From<std::io::Error> for VaultError {
    fn from(error: std::io::Error) -> VaultError {
        VaultError::System(error.to_string())
    }
}
