//! The form of the file: JSON, with every part sealed for its place.

use crate::{VaultError, limits};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The whole file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub steadfast_vault: u32,
    pub id: String,
    pub kdf: Kdf,
    /// The key of the vault, under the key that comes of the passphrase.
    pub key: Sealed,
    /// Grows by one at each write.
    pub generation: u64,
    /// Which entries there are, by the digest of each.
    pub index: Sealed,
    pub entries: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kdf {
    pub name: String,
    pub kib: u32,
    pub passes: u32,
    pub lanes: u32,
    pub salt: String,
}

/// One credential: what is known of it and the secret, sealed apart.
#[derive(Serialize, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub id: String,
    pub about: Sealed,
    pub secret: Sealed,
}

#[derive(Serialize, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sealed {
    nonce: String,
    sealed: String,
}

impl Sealed {
    /// Seals bytes for one place; at any other it does not open.
    pub fn new(key: &[u8; 32], place: &str, bytes: &[u8]) -> Result<Sealed, VaultError> {
        let nonce = chance::<24>()?;
        let sealed = XChaCha20Poly1305::new(&Key::from(*key))
            .encrypt(&XNonce::from(nonce), Payload { msg: bytes, aad: place.as_bytes() })
            .map_err(|_| VaultError::System("it could not be sealed".to_owned()))?;
        Ok(Sealed { nonce: STANDARD.encode(nonce), sealed: STANDARD.encode(sealed) })
    }

    /// Opens them; `None` where anything of it was altered.
    pub fn open(&self, key: &[u8; 32], place: &str) -> Option<Zeroizing<Vec<u8>>> {
        let nonce: [u8; 24] = STANDARD.decode(&self.nonce).ok()?.try_into().ok()?;
        let sealed = STANDARD.decode(&self.sealed).ok()?;
        XChaCha20Poly1305::new(&Key::from(*key))
            .decrypt(&XNonce::from(nonce), Payload { msg: &sealed, aad: place.as_bytes() })
            .map(Zeroizing::new)
            .ok()
    }
}

/// Bytes that nobody can foresee.
pub(crate) fn chance<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|why| VaultError::System(format!("the system gives no chance: {why}")))?;
    Ok(bytes)
}

/// Reads a file that only its owner may read.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, VaultError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        return Err(VaultError::Refused(format!(
            "{} can be read by others. Run chmod 600 on it.",
            path.display()
        )));
    }
    let mut bytes = Vec::new();
    file.take(limits::FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::FILE {
        return Err(VaultError::Altered("it is larger than a vault can be".to_owned()));
    }
    Ok(Some(bytes))
}

/// Writes a file whole or not at all, whatever ends the process meanwhile.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), VaultError> {
    let draft = beside(path, "new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    // One that was left behind by whoever was ended here keeps the permissions that it had.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// A file beside another.
pub(crate) fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    PathBuf::from(name)
}
