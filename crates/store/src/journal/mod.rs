//! The journal: a Merkle log of records, signed at intervals, that anyone can check with the public key alone.

mod folder;
mod leaf;
mod merkle;
mod note;
mod rows;
pub mod verify;

pub use folder::{Exported, export, verify_folder};
pub use leaf::{Kind, Leaf, Part, Payload};
pub use merkle::{Hash, Tree, leaf_hash};
pub use note::{Checkpoint, VerifyingKey};
pub use rows::verify_store;
pub use verify::{Fault, FaultKind, Report, Trust};

pub(crate) use leaf::{Entry, commitment, object};
