//! The store's two secrets, each in a file that only its owner can read: the key that signs checkpoints and the key
//! that seals payloads. Neither has a `Debug` or leaves this module.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, Payload as Sealing};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use ed25519_dalek::SigningKey;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::StoreError;
use crate::ids::chance;
use crate::journal::{Checkpoint, Hash, VerifyingKey};

/// Bytes of a fingerprint: enough to tell the few credentials of one store apart.
const FINGERPRINT: usize = 6;

/// Bytes of a nonce.
const NONCE: usize = 24;

/// A file beside the database.
pub(crate) fn beside(database: &Path, what: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    PathBuf::from(name)
}

/// The key that signs checkpoints.
pub(crate) struct Signer(SigningKey);

impl Signer {
    /// Reads the key, or makes it where there may be none yet.
    pub(crate) fn open(database: &Path, make: bool) -> Result<Signer, StoreError> {
        let secret = secret(&beside(database, "signing-key"), make)?;
        Ok(Signer(SigningKey::from_bytes(&secret)))
    }

    pub(crate) fn public(&self, name: &str) -> VerifyingKey {
        VerifyingKey::of(name, &self.0)
    }

    pub(crate) fn sign(&self, name: &str, size: u64, root: Hash) -> Checkpoint {
        Checkpoint::sign(&self.0, name, size, root)
    }
}

/// The key that seals payloads, and one derived from it by which secrets get names.
pub(crate) struct Seal(XChaCha20Poly1305, Zeroizing<[u8; 32]>);

impl Seal {
    /// Reads the key, or makes it where there may be none yet.
    pub(crate) fn open(database: &Path, make: bool) -> Result<Seal, StoreError> {
        let secret = secret(&beside(database, "payload-key"), make)?;
        let names = Sha256::new().chain_update(b"steadfast names").chain_update(secret.as_slice());
        Ok(Seal(
            XChaCha20Poly1305::new(&Key::from(*secret)),
            Zeroizing::new(names.finalize().into()),
        ))
    }

    /// A short name for a secret. Whoever lacks the key cannot try secrets against it.
    pub(crate) fn fingerprint(&self, secret: &str) -> String {
        let keyed = Sha256::new().chain_update(self.1.as_slice()).chain_update(secret.as_bytes());
        keyed.finalize().iter().take(FINGERPRINT).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Seals a text for one place; at any other place it does not open.
    pub(crate) fn seal(&self, place: &str, text: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0_u8; NONCE];
        chance(&mut nonce)?;
        let sealing = Sealing { msg: text, aad: place.as_bytes() };
        let sealed = self
            .0
            .encrypt(&XNonce::from(nonce), sealing)
            .map_err(|_| StoreError::conflict("The payload could not be sealed."))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Opens what was sealed for this place; `None` where it was altered, moved, or sealed with another key.
    pub(crate) fn open_sealed(&self, place: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let opening = Sealing { msg: sealed, aad: place.as_bytes() };
        self.0.decrypt(&XNonce::from(*nonce), opening).ok()
    }
}

fn secret(path: &Path, make: bool) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let place = path.display().to_string();
    let key = |why: String| StoreError::Key { place: place.clone(), why };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && make => {
            create(path).map_err(|error| {
                key(format!("The key could not be made: {error}. Check who may write there."))
            })??;
            fs::metadata(path).map_err(|error| key(format!("The key cannot be read: {error}.")))?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(key(
                "The key of this store is missing. Put it back from a backup; without it nothing can be recorded here."
                    .into(),
            ));
        }
        Err(error) => return Err(key(format!("The key cannot be read: {error}."))),
    };
    let open_to = metadata.permissions().mode() & 0o077;
    if open_to != 0 {
        return Err(key("The key can be read by others. Run chmod 600 on it, and think about who may have read it.".into()));
    }
    let bytes = Zeroizing::new(
        fs::read(path).map_err(|error| key(format!("The key cannot be read: {error}.")))?,
    );
    let mut secret = Zeroizing::new([0_u8; 32]);
    if bytes.len() != secret.len() {
        return Err(key(format!(
            "The key has {} bytes and not 32: the file was altered. Put it back from a backup.",
            bytes.len()
        )));
    }
    secret.copy_from_slice(&bytes);
    Ok(secret)
}

/// Writes a new key whole or not at all: a crash in between leaves no short key behind.
fn create(path: &Path) -> io::Result<Result<(), StoreError>> {
    let mut secret = Zeroizing::new([0_u8; 32]);
    if let Err(error) = chance(secret.as_mut_slice()) {
        return Ok(Err(error));
    }
    let draft = beside(path, "new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(secret.as_slice())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_once_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("steadfast.db");
        assert!(matches!(Signer::open(&database, false), Err(StoreError::Key { .. })));
        let first = Signer::open(&database, true).unwrap().public("x");
        assert_eq!(Signer::open(&database, true).unwrap().public("x"), first);
        let path = beside(&database, "signing-key");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Signer::open(&database, true).err().unwrap();
        assert!(error.to_string().contains("can be read by others"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "short").unwrap();
        assert!(Signer::open(&database, true).is_err());
    }

    #[test]
    fn a_secret_has_one_name_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let one = Seal::open(&folder.path().join("a"), true).unwrap();
        let other = Seal::open(&folder.path().join("b"), true).unwrap();
        assert_eq!(one.fingerprint("s"), one.fingerprint("s"));
        assert_ne!(one.fingerprint("s"), one.fingerprint("t"));
        assert_ne!(one.fingerprint("s"), other.fingerprint("s"));
        assert_eq!(one.fingerprint("s").len(), 2 * FINGERPRINT);
    }

    #[test]
    fn what_is_sealed_opens_at_its_place_alone() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("a"), true).unwrap();
        let sealed = seal.seal("1 answer", b"hush").unwrap();
        assert_eq!(seal.open_sealed("1 answer", &sealed).as_deref(), Some(b"hush".as_slice()));
        assert_eq!(seal.open_sealed("2 answer", &sealed), None);
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(seal.open_sealed("1 answer", &altered), None, "byte {at}");
        }
        assert_eq!(seal.open_sealed("1 answer", &sealed[..10]), None);
    }
}
