//! An open vault.

use crate::file::{self, Form, Kdf, Row, Sealed, beside, chance};
use crate::{Entry, Secret, VaultError, limits};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use store::passphrase;
use zeroize::Zeroizing;

const FORM: u32 = 1;

/// Where the vault beside a store is.
pub fn path(database: &Path) -> PathBuf {
    beside(database, "vault")
}

/// An open vault. Its key has no `Debug` and is wiped where it is dropped.
pub struct Vault {
    path: PathBuf,
    key: Zeroizing<[u8; 32]>,
    form: Form,
    entries: Vec<(Entry, Row)>,
    /// Held while the vault is changed: two writers would lose one another's credentials.
    _lock: Option<File>,
}

/// The last generation that was written, sealed under the vault's key: an older vault put in place of a newer one is
/// told by it. Both put back together look like a restored backup, which nothing on this machine can tell apart.
#[derive(Serialize, Deserialize)]
struct Mark {
    mark: Sealed,
}

impl Vault {
    /// Makes an empty vault. One that is there is left as it is.
    ///
    /// # Errors
    /// Where there is one, the passphrase does not do, or the file cannot be written.
    pub fn create(path: &Path, passphrase: &str) -> Result<Vault, VaultError> {
        passphrase::check(passphrase).map_err(|why| VaultError::Refused(why.to_string()))?;
        let lock = exclusive(path)?;
        if file::read(path)?.is_some() {
            return Err(VaultError::Refused(
                "There is a vault already. It was left as it is.".to_owned(),
            ));
        }
        let id = hex(&chance::<16>()?);
        let salt = chance::<16>()?;
        let costs = store::limits::KDF;
        let wrap = stretched(passphrase, &salt, costs)?;
        let key = Zeroizing::new(chance::<32>()?);
        let (kib, passes, lanes) = costs;
        let kdf = Kdf { name: "argon2id".into(), kib, passes, lanes, salt: STANDARD.encode(salt) };
        let form = Form {
            steadfast_vault: FORM,
            key: Sealed::new(&wrap, &key_place(&id, &kdf), key.as_ref())?,
            index: Sealed::new(&key, "", b"")?,
            id,
            kdf,
            generation: 0,
            entries: Vec::new(),
        };
        let mut vault =
            Vault { path: path.to_owned(), key, form, entries: Vec::new(), _lock: Some(lock) };
        vault.write()?;
        Ok(vault)
    }

    /// Opens a vault to use it.
    ///
    /// # Errors
    /// Where there is none, the passphrase is another one, or any part was altered, exchanged or is an older one.
    pub fn open(path: &Path, passphrase: &str) -> Result<Vault, VaultError> {
        let bytes = file::read(path)?.ok_or(VaultError::Missing)?;
        let altered = |why: &str| VaultError::Altered(why.to_owned());
        let form: Form = serde_json::from_slice(&bytes)
            .map_err(|_| altered("its form is not that of a vault"))?;
        if form.steadfast_vault != FORM {
            return Err(VaultError::Refused(
                "The vault has a form that this version does not know.".to_owned(),
            ));
        }
        let Kdf { name, kib, passes, lanes, salt } = &form.kdf;
        let most = store::limits::KDF_MOST;
        let fair = name == "argon2id"
            && (limits::KDF_LEAST.0..=most.0).contains(kib)
            && (limits::KDF_LEAST.1..=most.1).contains(passes)
            && (1..=most.2).contains(lanes);
        if !fair || form.entries.len() > limits::ENTRIES {
            return Err(altered("it asks for costs that no vault of this program has"));
        }
        let salt = STANDARD.decode(salt).map_err(|_| altered("its salt is none"))?;
        let wrap = stretched(passphrase, &salt, (*kib, *passes, *lanes))?;
        let key =
            form.key.open(&wrap, &key_place(&form.id, &form.kdf)).ok_or(VaultError::Passphrase)?;
        let key: [u8; 32] = key.as_slice().try_into().map_err(|_| altered("its key is none"))?;
        let mut vault = Vault {
            path: path.to_owned(),
            key: Zeroizing::new(key),
            form,
            entries: Vec::new(),
            _lock: None,
        };
        vault.read()?;
        Ok(vault)
    }

    /// Opens a vault to change it: nobody else can meanwhile.
    ///
    /// # Errors
    /// As [`Vault::open`].
    pub fn change(path: &Path, passphrase: &str) -> Result<Vault, VaultError> {
        if !path.exists() {
            return Err(VaultError::Missing);
        }
        let lock = exclusive(path)?;
        let mut vault = Vault::open(path, passphrase)?;
        vault._lock = Some(lock);
        Ok(vault)
    }

    /// What is known of each credential, in the order of labels.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.entries.iter().map(|(entry, _)| entry.clone()).collect();
        entries.sort_by(|one, other| one.label.cmp(&other.label));
        entries
    }

    /// Adds a credential under a label that is free.
    ///
    /// # Errors
    /// Where the label is taken, the entry does not do, or the file cannot be written.
    pub fn add(&mut self, entry: Entry, secret: &Secret) -> Result<(), VaultError> {
        entry.check()?;
        if self.entries.iter().any(|(known, _)| known.label == entry.label) {
            return Err(VaultError::Refused(
                "There is a credential under this label. Give it another secret: steadfast vault rotate.".to_owned(),
            ));
        }
        if self.entries.len() >= limits::ENTRIES {
            return Err(VaultError::Refused(format!(
                "The vault holds {} credentials, which is the most.",
                limits::ENTRIES
            )));
        }
        let row = self.sealed(hex(&chance::<16>()?), &entry, secret)?;
        self.entries.push((entry, row));
        self.write()
    }

    /// Gives a credential another secret; gives the version that it has now.
    ///
    /// # Errors
    /// Where there is none under the label, or the file cannot be written.
    pub fn rotate(&mut self, label: &str, secret: &Secret, at: u64) -> Result<u32, VaultError> {
        let index = self.index_of(label)?;
        let (mut entry, row) = self.entries[index].clone();
        entry.version = entry.version.saturating_add(1);
        entry.at = at;
        let version = entry.version;
        let row = self.sealed(row.id, &entry, secret)?;
        self.entries[index] = (entry, row);
        self.write()?;
        Ok(version)
    }

    /// Removes a credential; gives the version that it had.
    ///
    /// # Errors
    /// Where there is none under the label, or the file cannot be written.
    pub fn remove(&mut self, label: &str) -> Result<u32, VaultError> {
        let index = self.index_of(label)?;
        let (entry, _) = self.entries.remove(index);
        self.write()?;
        Ok(entry.version)
    }

    /// The secret under a label, for one origin. It is opened only where the credential may go there.
    ///
    /// # Errors
    /// Where there is none under the label, it may not go there, or it was altered.
    pub fn secret(&self, label: &str, origin: &str) -> Result<(Entry, Secret), VaultError> {
        let (entry, row) = self.allowed(label, origin)?;
        let place = self.place(&row.id, "secret", entry.version);
        let bytes = row
            .secret
            .open(&self.key, &place)
            .ok_or_else(|| VaultError::Altered(format!("the secret of {label} does not open")))?;
        Ok((entry.clone(), Secret::new(bytes)?))
    }

    /// What is known of the credential under a label, for one origin.
    ///
    /// # Errors
    /// Where there is none under the label, or it may not go there.
    pub fn about(&self, label: &str, origin: &str) -> Result<Entry, VaultError> {
        self.allowed(label, origin).map(|(entry, _)| entry.clone())
    }

    fn allowed(&self, label: &str, origin: &str) -> Result<&(Entry, Row), VaultError> {
        let known = &self.entries[self.index_of(label)?];
        if known.0.origins.iter().any(|known| known == origin) {
            return Ok(known);
        }
        Err(VaultError::Refused(format!("The credential {label} may not go to {origin}.")))
    }

    fn index_of(&self, label: &str) -> Result<usize, VaultError> {
        self.entries.iter().position(|(entry, _)| entry.label == label).ok_or_else(|| {
            VaultError::Refused("The vault holds no credential under this label.".to_owned())
        })
    }

    fn sealed(&self, id: String, entry: &Entry, secret: &Secret) -> Result<Row, VaultError> {
        let about = serde_json::to_vec(entry)
            .map_err(|why| VaultError::System(format!("the entry cannot be written: {why}")))?;
        Ok(Row {
            about: Sealed::new(&self.key, &self.place(&id, "about", 0), &about)?,
            secret: Sealed::new(
                &self.key,
                &self.place(&id, "secret", entry.version),
                secret.bytes(),
            )?,
            id,
        })
    }

    /// What a part of an entry is sealed for: no other vault, entry, part or version.
    fn place(&self, id: &str, part: &str, version: u32) -> String {
        format!("steadfast vault v1\n{}\nentry {id}\n{part}\n{version}\n", self.form.id)
    }

    fn index_place(&self) -> String {
        format!("steadfast vault v1\n{}\nindex\n{}\n", self.form.id, self.form.generation)
    }

    fn mark_place(&self) -> String {
        format!("steadfast vault v1\n{}\nmark\n", self.form.id)
    }

    /// Reads the entries and holds them against the index and the mark.
    fn read(&mut self) -> Result<(), VaultError> {
        let altered = |why: String| VaultError::Altered(why);
        let index = self
            .form
            .index
            .open(&self.key, &self.index_place())
            .and_then(|bytes| serde_json::from_slice::<BTreeMap<String, String>>(&bytes).ok())
            .ok_or_else(|| altered("its index does not open".to_owned()))?;
        let found: BTreeMap<String, String> =
            self.form.entries.iter().map(|row| (row.id.clone(), digest(row))).collect();
        if found != index || found.len() != self.form.entries.len() {
            return Err(altered(
                "an entry was exchanged, taken out, put in, or is an older one".to_owned(),
            ));
        }
        for row in &self.form.entries {
            let entry: Entry = row
                .about
                .open(&self.key, &self.place(&row.id, "about", 0))
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .ok_or_else(|| altered("an entry does not open".to_owned()))?;
            self.entries.push((entry, row.clone()));
        }
        let mark = match file::read(&beside(&self.path, "mark"))? {
            Some(mark) => mark,
            // What made it was ended before its first mark; there is nothing in it that could be older.
            None if self.form.generation == 1 && self.entries.is_empty() => return Ok(()),
            None => return Err(altered("its mark is gone".to_owned())),
        };
        let last = serde_json::from_slice::<Mark>(&mark)
            .ok()
            .and_then(|mark| mark.mark.open(&self.key, &self.mark_place()))
            .and_then(|bytes| Some(u64::from_le_bytes(bytes.as_slice().try_into().ok()?)))
            .ok_or_else(|| altered("its mark does not open".to_owned()))?;
        if self.form.generation < last {
            return Err(altered(format!(
                "it is generation {}, and {last} was written here",
                self.form.generation
            )));
        }
        Ok(())
    }

    /// Writes the next generation, and then its mark: what ends the process in between leaves a vault that is newer than
    /// its mark, and that is fine.
    fn write(&mut self) -> Result<(), VaultError> {
        self.form.generation += 1;
        self.form.entries = self.entries.iter().map(|(_, row)| row.clone()).collect();
        let index: BTreeMap<&str, String> =
            self.form.entries.iter().map(|row| (row.id.as_str(), digest(row))).collect();
        let failed = |why: serde_json::Error| VaultError::System(why.to_string());
        let index = serde_json::to_vec(&index).map_err(failed)?;
        self.form.index = Sealed::new(&self.key, &self.index_place(), &index)?;
        file::replace(&self.path, &serde_json::to_vec_pretty(&self.form).map_err(failed)?)?;
        let generation = self.form.generation.to_le_bytes();
        let mark = Mark { mark: Sealed::new(&self.key, &self.mark_place(), &generation)? };
        file::replace(&beside(&self.path, "mark"), &serde_json::to_vec(&mark).map_err(failed)?)
    }
}

fn key_place(id: &str, kdf: &Kdf) -> String {
    let Kdf { name, kib, passes, lanes, salt } = kdf;
    format!("steadfast vault v1\n{id}\nkey\n{name} {kib} {passes} {lanes} {salt}\n")
}

fn stretched(
    passphrase: &str,
    salt: &[u8],
    costs: passphrase::Costs,
) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    passphrase::stretched(passphrase, salt, costs)
        .map_err(|why| VaultError::Altered(why.to_string()))
}

fn digest(row: &Row) -> String {
    let text = serde_json::to_vec(row).unwrap_or_default();
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Held by whoever changes the vault.
fn exclusive(path: &Path) -> Result<File, VaultError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let lock =
        File::options().create(true).truncate(false).write(true).open(beside(path, "lock"))?;
    lock.try_lock().map_err(|_| {
        VaultError::Refused("Another command changes the vault just now. Try again.".to_owned())
    })?;
    Ok(lock)
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
