//! The key of an approver, in a file beside the store, sealed by a passphrase.
//!
//! The file is JSON: the name, the public key, what the passphrase is stretched by (Argon2id), and the secret key sealed
//! with XChaCha20-Poly1305 under what comes of it. Name, public key and costs are bound to the seal: a file whose parts
//! were exchanged does not open.

use crate::ids::chance;
use crate::keys::beside;
use crate::passphrase::{self, stretched};
use crate::{
    Approval, ApprovalId, Approver, Millis, Ruling, Settlement, Store, StoreError, approval, limits,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use ed25519_dalek::{Signer as _, SigningKey};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Bytes of a salt, of a nonce, and of a secret key.
const SALT: usize = 16;
const NONCE: usize = 24;
const SECRET: usize = 32;

/// An approver's key, unlocked.
pub struct ApproverKey(SigningKey);

impl ApproverKey {
    /// A new key.
    ///
    /// # Errors
    /// Where the system gives no chance.
    pub fn new() -> Result<ApproverKey, StoreError> {
        let mut secret = Zeroizing::new([0_u8; SECRET]);
        chance(secret.as_mut())?;
        Ok(ApproverKey(SigningKey::from_bytes(&secret)))
    }

    /// What the store is told of it.
    pub fn approver(&self, name: &str, at: Millis) -> Approver {
        let public_key = STANDARD.encode(self.0.verifying_key().as_bytes());
        Approver { name: name.to_owned(), public_key, at }
    }

    /// Signs a decision about an approval.
    pub fn sign(
        &self,
        id: ApprovalId,
        action_digest: &str,
        expires: Millis,
        ruling: Ruling,
    ) -> String {
        let text = approval::signed_text(id, action_digest, expires, ruling);
        STANDARD.encode(self.0.sign(text.as_bytes()).to_bytes())
    }

    /// Writes the key, sealed, beside a store. A file that is there already is left as it is.
    ///
    /// # Errors
    /// Where the name or the passphrase does not do, or the file cannot be written.
    pub fn keep(
        &self,
        database: &Path,
        name: &str,
        passphrase: &str,
    ) -> Result<PathBuf, StoreError> {
        check_name(name)?;
        passphrase::check(passphrase)?;
        let (mut salt, mut nonce) = ([0_u8; SALT], [0_u8; NONCE]);
        chance(&mut salt)?;
        chance(&mut nonce)?;
        let (memory, passes, lanes) = limits::KDF;
        let public = STANDARD.encode(self.0.verifying_key().as_bytes());
        let bound = bound(name, &public, limits::KDF);
        let key = stretched(passphrase, &salt, limits::KDF)?;
        let secret = Zeroizing::new(self.0.to_bytes());
        let sealed = XChaCha20Poly1305::new(&Key::from(*key))
            .encrypt(&XNonce::from(nonce), Payload { msg: secret.as_ref(), aad: bound.as_bytes() })
            .map_err(|_| StoreError::conflict("The key could not be sealed."))?;
        let text = serde_json::json!({
            "approver": name,
            "public_key": public,
            "kdf": {"name": "argon2id", "kib": memory, "passes": passes, "lanes": lanes, "salt": STANDARD.encode(salt)},
            "nonce": STANDARD.encode(nonce),
            "sealed": STANDARD.encode(sealed),
        });
        let path = path(database, name);
        let failed = |error: std::io::Error| {
            key_error(&path, format!("The key cannot be written: {error}."))
        };
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        file.write_all(format!("{text:#}\n").as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        Ok(path)
    }

    /// Opens the key of an approver beside a store.
    ///
    /// # Errors
    /// Where there is none, or the passphrase is not the one that it was sealed by.
    pub fn open(database: &Path, name: &str, passphrase: &str) -> Result<ApproverKey, StoreError> {
        check_name(name)?;
        let path = path(database, name);
        let mut text = String::new();
        let file = File::open(&path).map_err(|error| {
            key_error(&path, format!("The key of {name} cannot be read: {error}. It is made by `steadfast approver enrol`, and stays on the machine where it was made."))
        })?;
        let read = file.take(limits::KEY_FILE).read_to_string(&mut text);
        let damaged = || {
            key_error(&path, "This is not the file of an approver's key. Put it back from a backup, or dismiss the approver and enrol again.".to_owned())
        };
        read.map_err(|_| damaged())?;
        let file: serde_json::Value = serde_json::from_str(&text).map_err(|_| damaged())?;
        let bytes = |pointer: &str| {
            file.pointer(pointer)
                .and_then(serde_json::Value::as_str)
                .and_then(|text| STANDARD.decode(text).ok())
                .ok_or_else(damaged)
        };
        let cost = |name: &str, most: u32| {
            file.pointer(&format!("/kdf/{name}"))
                .and_then(serde_json::Value::as_u64)
                .and_then(|cost| u32::try_from(cost).ok())
                .filter(|cost| *cost <= most)
                .ok_or_else(damaged)
        };
        let (kib, passes, lanes) = limits::KDF_MOST;
        let costs = (cost("kib", kib)?, cost("passes", passes)?, cost("lanes", lanes)?);
        let nonce: [u8; NONCE] = bytes("/nonce")?.try_into().map_err(|_| damaged())?;
        let sealed = bytes("/sealed")?;
        let public =
            file.get("public_key").and_then(serde_json::Value::as_str).ok_or_else(damaged)?;
        let key = stretched(passphrase, &bytes("/kdf/salt")?, costs)?;
        let bound = bound(name, public, costs);
        let secret = XChaCha20Poly1305::new(&Key::from(*key))
            .decrypt(&XNonce::from(nonce), Payload { msg: &sealed, aad: bound.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| {
                key_error(
                    &path,
                    "The passphrase does not open the key. Nothing was decided.".to_owned(),
                )
            })?;
        let secret: [u8; SECRET] = secret.as_slice().try_into().map_err(|_| damaged())?;
        Ok(ApproverKey(SigningKey::from_bytes(&Zeroizing::new(secret))))
    }
}

/// The approvers whose keys are beside a store, by name.
pub fn kept(database: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder(database)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        entry.file_name().to_str().and_then(|name| name.strip_suffix(".key")).map(str::to_owned)
    });
    let most = usize::try_from(limits::APPROVERS).unwrap_or(usize::MAX);
    let mut names: Vec<String> = names.take(most).collect();
    names.sort();
    names
}

/// Whose key is used: the one that is named, or the only one whose key is beside the store.
///
/// # Errors
/// Where the named one is not enrolled, or nobody is named and not exactly one key is here.
pub async fn chosen(
    store: &dyn Store,
    database: &Path,
    name: Option<&str>,
) -> Result<Result<String, Unchosen>, StoreError> {
    let enrolled = store.approvers().await?;
    let known = kept(database);
    let here: Vec<&String> =
        enrolled.iter().map(|one| &one.name).filter(|name| known.contains(name)).collect();
    Ok(match (name, here.as_slice()) {
        (Some(name), _) if enrolled.iter().any(|one| one.name == *name) => Ok(name.to_owned()),
        (Some(_), _) => Err(Unchosen::Unknown),
        (None, [one]) => Ok((*one).clone()),
        (None, []) => Err(Unchosen::None),
        (None, _) => Err(Unchosen::Several),
    })
}

/// Why nobody is the approver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchosen {
    /// No approver of the given name is enrolled.
    Unknown,
    /// The key of no approver is on this machine.
    None,
    /// The keys of several are.
    Several,
}

/// Puts a person's word on one exact action on record. With a key it is signed; an approval demands one.
///
/// # Errors
/// Where the store refuses it: it is decided already, void, or over, or the key is not the one that is enrolled.
pub async fn say(
    store: &dyn Store,
    waiting: &Approval,
    ruling: Ruling,
    by: &str,
    key: Option<&ApproverKey>,
    at: Millis,
) -> Result<(), StoreError> {
    let sign =
        |key: &ApproverKey| key.sign(waiting.id, &waiting.action_digest, waiting.expires, ruling);
    let signature = key.map(sign);
    store.settle(Settlement { id: waiting.id, ruling, by: by.to_owned(), signature, at }).await
}

/// Removes the key of an approver from beside a store, where it is there.
///
/// # Errors
/// Where it is there and cannot be removed.
pub fn forget(database: &Path, name: &str) -> Result<(), StoreError> {
    check_name(name)?;
    let path = path(database, name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(key_error(&path, format!("The key cannot be removed: {error}.")))
        }
        _ => Ok(()),
    }
}

fn folder(database: &Path) -> PathBuf {
    beside(database, "approvers")
}

fn path(database: &Path, name: &str) -> PathBuf {
    folder(database).join(format!("{name}.key"))
}

/// A name of an approver is a file name everywhere and looks like nothing else.
///
/// # Errors
/// Where it is not.
pub fn check_name(name: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.') {
        return Ok(());
    }
    Err(StoreError::conflict(
        "The name of an approver has 1 to 64 letters, digits, dots, dashes or underscores, and does not begin with a dot.",
    ))
}

fn bound(name: &str, public: &str, (memory, passes, lanes): (u32, u32, u32)) -> String {
    format!("steadfast approver v1\n{name}\n{public}\n{memory} {passes} {lanes}\n")
}

fn key_error(path: &Path, why: String) -> StoreError {
    StoreError::Key { place: path.display().to_string(), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_opens_by_its_passphrase_alone_and_signs_what_the_store_checks() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("steadfast.db");
        let key = ApproverKey::new().unwrap();
        let path = key.keep(&database, "ada", "correct horse").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(kept(&database), ["ada"]);
        assert!(key.keep(&database, "ada", "correct horse").is_err(), "a key is never replaced");
        let opened = ApproverKey::open(&database, "ada", "correct horse").unwrap();
        assert_eq!(opened.approver("ada", 1), key.approver("ada", 1));
        let wrong = ApproverKey::open(&database, "ada", "wrong horse!").err().unwrap();
        assert!(wrong.to_string().contains("does not open"), "{wrong}");
        // Under another name, the same file does not open.
        fs::copy(&path, path.with_file_name("eve.key")).unwrap();
        assert!(ApproverKey::open(&database, "eve", "correct horse").is_err());
        let text = fs::read_to_string(&path).unwrap();
        let secret = STANDARD.encode(key.0.to_bytes());
        assert!(!text.contains(&secret), "the secret is sealed");
    }

    #[test]
    fn names_and_passphrases_that_do_not_do_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("steadfast.db");
        let key = ApproverKey::new().unwrap();
        for name in ["", "../ada", ".ada", "a b", "ä"] {
            assert!(key.keep(&database, name, "correct horse").is_err(), "{name}");
        }
        assert!(key.keep(&database, "ada", "short").is_err());
        fs::create_dir_all(super::folder(&database)).unwrap();
        fs::write(super::path(&database, "ada"), "{\"kdf\":{\"kib\":4000000000}}").unwrap();
        let damaged = ApproverKey::open(&database, "ada", "correct horse").err().unwrap();
        assert!(damaged.to_string().contains("not the file"), "{damaged}");
    }
}
