//! Checkpoints as signed notes: the text formats of C2SP `tlog-checkpoint` and `signed-note`, with Ed25519.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use sha2::{Digest, Sha256};

use super::merkle::Hash;
use crate::limits;

/// The type of an Ed25519 key in a signed note.
const ED25519: u8 = 0x01;

/// How a signature line begins: an em dash and a space.
const SIGNATURE_LINE: &str = "\u{2014} ";

/// The public key that checks a journal's checkpoints, with the journal's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    name: String,
    key: ed25519_dalek::VerifyingKey,
}

impl VerifyingKey {
    pub(crate) fn of(name: &str, signing: &SigningKey) -> VerifyingKey {
        VerifyingKey { name: name.to_owned(), key: signing.verifying_key() }
    }

    /// The name of the journal, which is the first line of each checkpoint.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The four bytes by which a signature line names its key.
    fn id(&self) -> [u8; 4] {
        let digest = Sha256::new()
            .chain_update(self.name.as_bytes())
            .chain_update([b'\n', ED25519])
            .chain_update(self.key.as_bytes())
            .finalize();
        [digest[0], digest[1], digest[2], digest[3]]
    }

    /// Reads the text form, `NAME+ID+KEY`.
    pub fn read(text: &str) -> Result<VerifyingKey, String> {
        let wrong = "This is no verifier key of the form NAME+ID+KEY.";
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong.into());
        };
        let bytes = STANDARD.decode(key).map_err(|_| wrong.to_owned())?;
        let Some((&ED25519, bytes)) = bytes.split_first() else {
            return Err("The key is not of the type Ed25519.".into());
        };
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| wrong.to_owned())?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| wrong.to_owned())?;
        let read = VerifyingKey { name: name.to_owned(), key };
        if !is_name(name) || key.is_weak() {
            Err(wrong.into())
        } else if hex(&read.id()) != id {
            Err("The key and its id do not belong together: one of them was altered.".into())
        } else {
            Ok(read)
        }
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[ED25519], self.key.as_bytes().as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, hex(&self.id()), STANDARD.encode(key))
    }
}

/// A name that a note can carry: no space, no plus sign, no control character.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

/// A size and a root, signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// How many leaves it covers.
    pub size: u64,
    /// The root over them.
    pub root: Hash,
    /// The signed note, as text.
    pub note: String,
}

impl Checkpoint {
    /// Signs a size and a root.
    pub(crate) fn sign(key: &SigningKey, name: &str, size: u64, root: Hash) -> Checkpoint {
        let text = format!("{name}\n{size}\n{}\n", STANDARD.encode(root));
        Checkpoint { size, root, note: sign(key, name, &text) }
    }

    /// Reads a signed note and checks its signature. Signatures by other keys, as witnesses add them, are passed over.
    pub fn read(note: &str, key: &VerifyingKey) -> Result<Checkpoint, String> {
        let text = open(note, key)?;
        let mut lines = text.lines();
        let (Some(name), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err("The checkpoint lacks a line: name, size and root are needed.".into());
        };
        if name != key.name {
            return Err(format!(
                "The checkpoint is of another journal: {}, not {}.",
                quoted(name),
                quoted(&key.name)
            ));
        }
        let number = size.parse::<u64>().ok().filter(|number| number.to_string() == size);
        let hash = STANDARD.decode(root).ok().and_then(|bytes| Hash::try_from(bytes).ok());
        match (number, hash) {
            (Some(size), Some(root)) => Ok(Checkpoint { size, root, note: note.to_owned() }),
            _ => Err("The size or the root of the checkpoint cannot be read.".into()),
        }
    }
}

/// Signs a text; the text ends with a line feed.
fn sign(key: &SigningKey, name: &str, text: &str) -> String {
    let id = VerifyingKey::of(name, key).id();
    let signature = key.sign(text.as_bytes()).to_bytes();
    let blob = STANDARD.encode([id.as_slice(), signature.as_slice()].concat());
    format!("{text}\n{SIGNATURE_LINE}{name} {blob}\n")
}

/// The text of a note, after a signature by this key was found and checked.
fn open<'a>(note: &'a str, key: &VerifyingKey) -> Result<&'a str, String> {
    if note.len() > limits::NOTE_BYTES {
        return Err("The checkpoint is longer than any checkpoint is.".into());
    }
    let Some(at) = note.rfind("\n\n") else {
        return Err("The checkpoint carries no signature.".into());
    };
    let (text, signatures) = (&note[..=at], &note[at + 2..]);
    if !signatures.ends_with('\n') {
        return Err("The last line of the checkpoint is cut.".into());
    }
    let mut signed = false;
    for line in signatures.lines() {
        let Some((name, blob)) =
            line.strip_prefix(SIGNATURE_LINE).and_then(|rest| rest.split_once(' '))
        else {
            return Err("A line below the checkpoint is no signature.".into());
        };
        let blob = STANDARD.decode(blob).unwrap_or_default();
        let Some((id, signature)) = blob.split_first_chunk::<4>() else {
            return Err("A signature of the checkpoint cannot be read.".into());
        };
        if name != key.name || *id != key.id() {
            continue;
        }
        let fits = Signature::from_slice(signature)
            .is_ok_and(|signature| key.key.verify_strict(text.as_bytes(), &signature).is_ok());
        if !fits {
            return Err(
                "The signature does not fit the checkpoint: one of them was altered.".into()
            );
        }
        signed = true;
    }
    if signed { Ok(text) } else { Err("The checkpoint is not signed with this key.".into()) }
}

/// A foreign word, short and harmless.
fn quoted(text: &str) -> String {
    format!("`{}`", text.escape_debug().take(80).collect::<String>())
}

/// Small hexadecimal digits, two for each byte. It is asked for each part of each record, where `format!` costs more than
/// the hash itself.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example note of Go's `sumdb/note`, made by another implementation.
    #[test]
    fn a_note_of_another_implementation_is_read() {
        let key = VerifyingKey::read(
            "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        )
        .unwrap();
        let text = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n";
        let note = format!(
            "{text}\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
        );
        assert_eq!(open(&note, &key), Ok(text));
        assert!(open(&note.replace("cryptography", "Cryptography"), &key).is_err());
        assert!(VerifyingKey::read(&key.to_string().replace("c74f", "c74e")).is_err());
    }

    #[test]
    fn any_altered_byte_of_a_checkpoint_is_found() {
        let signing = SigningKey::from_bytes(&[7; 32]);
        let key = VerifyingKey::of("steadfast/x", &signing);
        assert_eq!(VerifyingKey::read(&key.to_string()), Ok(key.clone()));
        let made = Checkpoint::sign(&signing, "steadfast/x", 12, [3; 32]);
        assert_eq!(Checkpoint::read(&made.note, &key), Ok(made.clone()));
        for at in 0..made.note.len() {
            for bit in 0..8 {
                let mut bytes = made.note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let read = String::from_utf8(bytes).map(|note| Checkpoint::read(&note, &key));
                assert!(!matches!(read, Ok(Ok(_))), "byte {at}, bit {bit}");
            }
            assert!(
                !made.note.is_char_boundary(at)
                    || Checkpoint::read(&made.note[..at], &key).is_err()
            );
        }
    }

    #[test]
    fn a_witness_may_sign_below() {
        let signing = SigningKey::from_bytes(&[7; 32]);
        let key = VerifyingKey::of("steadfast/x", &signing);
        let mut made = Checkpoint::sign(&signing, "steadfast/x", 12, [3; 32]);
        made.note.push_str(&format!("\u{2014} witness {}\n", STANDARD.encode([9; 68])));
        assert_eq!(Checkpoint::read(&made.note, &key).map(|read| read.size), Ok(12));
        let other = VerifyingKey::of("steadfast/y", &SigningKey::from_bytes(&[8; 32]));
        assert_eq!(
            Checkpoint::read(&made.note, &other),
            Err("The checkpoint is not signed with this key.".into())
        );
    }
}
