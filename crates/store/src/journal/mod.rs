//! The journal: a Merkle log of records, signed at intervals, that anyone can check with the public key alone.

mod leaf;
mod merkle;
mod note;

pub use leaf::{Kind, Leaf, Part, Payload};
pub use merkle::{Hash, Tree, leaf_hash};
pub use note::{Checkpoint, VerifyingKey};

pub(crate) use leaf::{Entry, commitment, object};
