//! `steadfast vault`: credentials that agents use and never hold.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::state::{StoreArgs, now, print_list, shown_time, wait, who};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use store::{Approval, Sqlite, Store as _, VaultChange, VaultDeed};
use vault::keeper::{self, Keeper};
use vault::{Entry, Kind, Secret, Vault, VaultError};
use zeroize::Zeroizing;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct VaultArgs {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make an empty vault beside the store
    Init,
    /// Add a credential, typed at this terminal
    Add(Add),
    /// Add a credential from a file
    Import(Import),
    /// List labels, kinds and origins; secrets are never shown
    List {
        /// How the list is written
        #[arg(long, value_enum, default_value_t = Plain::Text)]
        format: Plain,
    },
    /// Give a credential another secret
    Rotate {
        /// Its label
        label: String,
        /// Read the secret from this file in place of the terminal
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Remove a credential
    Remove {
        /// Its label
        label: String,
    },
    /// Hold the vault open until it is locked or this command is ended
    Unlock,
    /// End the command that holds the vault open
    Lock,
}

#[derive(Debug, clap::Args)]
struct Add {
    /// What bindings call it
    label: String,
    /// Where it may go, as https://host (repeatable)
    #[arg(long = "origin", value_name = "ORIGIN", required = true)]
    origins: Vec<String>,
    /// Send it as the password of this user (Basic) in place of a bearer token
    #[arg(long, value_name = "USER", conflicts_with = "header")]
    basic: Option<String>,
    /// Send it in this header in place of a bearer token
    #[arg(long, value_name = "NAME")]
    header: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Import {
    #[command(flatten)]
    add: Add,
    /// The file whose content is the secret
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

impl Command for VaultArgs {
    const NAME: &'static str = "vault";
    const ABOUT: &'static str = "Keep credentials that agents use and never hold";
    const EXAMPLES: &'static str = "\
The vault is a sealed file beside the store. Passphrase and secrets are read from the terminal
without an echo, or a secret from a file: never from an argument, the environment or a pipe.
A credential goes only to the origins that it was stored with.

Examples:
  steadfast vault init
  steadfast vault add shop --origin https://api.example.com
  steadfast vault import shop --origin https://api.example.com --file token.txt
  steadfast vault unlock";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        self.store.make_folder()?;
        let path = vault::path(&self.store.path()?);
        let failed = |why: VaultError| failure(&path, &why);
        match self.action {
            Action::Init => {
                let mut terminal = Terminal::open()?;
                let passphrase = terminal.passphrase("Passphrase for the new vault: ")?;
                let again = terminal.passphrase("The same again: ")?;
                if *passphrase != *again {
                    return Err(Failure::one(
                        "vault",
                        "The two passphrases differ. Nothing was made.",
                        "Try again.",
                    ));
                }
                let books = Books::open(&self.store)?;
                Vault::create(&path, &passphrase).map_err(failed)?;
                books.record(shell, VaultDeed::Made, None)?;
                shell.print(&format!("made {}\n", path.display()))?;
                shell.note("note: nobody can open it without the passphrase; keep that, and a backup of the vault with its mark");
            }
            Action::Add(add) => add.store(shell, &path, None, &self.store)?,
            Action::Import(Import { add, file }) => {
                add.store(shell, &path, Some(&file), &self.store)?;
            }
            Action::List { format } => {
                let vault = Vault::open(&path, &passphrase()?).map_err(failed)?;
                print_list(
                    shell,
                    format,
                    ("credentials", "the vault is empty"),
                    &vault.entries(),
                    line,
                    object,
                )?;
            }
            Action::Rotate { label, file } => {
                let mut vault = Vault::change(&path, &passphrase()?).map_err(failed)?;
                let secret = secret(&label, file.as_deref())?;
                let books = Books::open(&self.store)?;
                let version = vault.rotate(&label, &secret, now()).map_err(failed)?;
                books.record(shell, VaultDeed::Rotated, Some((&label, version)))?;
                shell.print(&format!("{label} has version {version}\n"))?;
                locked_after(shell, &path, &books)?;
            }
            Action::Remove { label } => {
                let mut vault = Vault::change(&path, &passphrase()?).map_err(failed)?;
                let books = Books::open(&self.store)?;
                let version = vault.remove(&label).map_err(failed)?;
                books.record(shell, VaultDeed::Removed, Some((&label, version)))?;
                shell.print(&format!("removed {label}\n"))?;
                locked_after(shell, &path, &books)?;
            }
            Action::Unlock => {
                let vault = Vault::open(&path, &passphrase()?).map_err(failed)?;
                let books = Books::open(&self.store)?;
                let keeper = Keeper::open(&path).map_err(failed)?;
                // Whatever ended the last one: what was approved before was approved of what it held.
                books.record(shell, VaultDeed::Unlocked, None)?;
                drop(books);
                shell.print(&format!(
                    "open: {} credentials, until this command ends\n",
                    vault.entries().len()
                ))?;
                keeper.serve(&vault);
                shell.print("locked\n")?;
            }
            Action::Lock => {
                keeper::lock(&path).map_err(failed)?;
                shell.print("locked\n")?;
                Books::open(&self.store)?.record(shell, VaultDeed::Locked, None)?;
            }
        }
        Ok(Exit::Fine)
    }
}

/// The journal in which changes of the vault are recorded. It is opened before anything is changed: what cannot be
/// recorded is not done.
struct Books(Sqlite);

impl Books {
    fn open(at: &StoreArgs) -> Result<Books, Failure> {
        at.open_or_make().map(Books)
    }

    /// Records a change. What was approved with a credential that is another one now, or with any where the vault itself
    /// was opened or locked, is void from here on.
    fn record(
        &self,
        shell: &Shell,
        what: VaultDeed,
        credential: Option<(&str, u32)>,
    ) -> Result<(), Failure> {
        let used = |approval: &Approval| {
            let card = approval.card.as_deref()?;
            let card: Value = serde_json::from_str(card).ok()?;
            Some(card.pointer("/sends/credential")?.as_str()?.to_owned())
        };
        let meant = |approval: &Approval| match (used(approval), credential) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(used), Some((label, _))) => used == label,
        };
        let open = wait(self.0.open_approvals())?;
        let change = VaultChange {
            what,
            credential: credential.map(|(label, version)| (label.to_owned(), version)),
            by: who(),
            void: open.iter().filter(|one| meant(one)).map(|one| one.id).collect(),
            at: now(),
        };
        let voided = wait(self.0.vault_changed(change))?;
        if voided > 0 {
            shell.note(&format!("note: {voided} approvals that waited or were given are void"));
        }
        Ok(())
    }
}

/// Locks a vault that is held open: it would go on with what it held.
fn locked_after(shell: &Shell, path: &Path, books: &Books) -> Result<(), Failure> {
    match keeper::lock(path) {
        Ok(()) => {
            books.record(shell, VaultDeed::Locked, None)?;
            shell.note("note: the vault was held open and is locked now: steadfast vault unlock");
            Ok(())
        }
        Err(VaultError::Locked) => Ok(()),
        Err(why) => Err(failure(path, &why)),
    }
}

impl Add {
    fn store(
        self,
        shell: &Shell,
        path: &Path,
        file: Option<&Path>,
        at: &StoreArgs,
    ) -> Result<(), Failure> {
        let failed = |why: VaultError| failure(path, &why);
        let mut origins = Vec::new();
        for text in &self.origins {
            let origin = action::Origin::read(text).map_err(|why| {
                Failure::one("--origin", why, "Write it as https://api.example.com.")
            })?;
            origins.push(origin.to_string());
        }
        let kind = match (self.basic, self.header) {
            (Some(user), _) => Kind::Basic { user },
            (_, Some(name)) => Kind::Header { name: name.to_ascii_lowercase() },
            _ => Kind::Bearer,
        };
        let entry = Entry { label: self.label, kind, origins, version: 1, at: now() };
        entry.check().map_err(failed)?;
        let mut vault = Vault::change(path, &passphrase()?).map_err(failed)?;
        let secret = secret(&entry.label, file)?;
        let (text, label) = (line(&entry), entry.label.clone());
        let books = Books::open(at)?;
        vault.add(entry, &secret).map_err(failed)?;
        books.record(shell, VaultDeed::Added, Some((&label, 1)))?;
        shell.print(&format!("added {text}"))
    }
}

fn passphrase() -> Result<Zeroizing<String>, Failure> {
    Terminal::open()?.passphrase("Passphrase of the vault: ")
}

/// A secret, from a file or typed without an echo.
fn secret(label: &str, file: Option<&Path>) -> Result<Secret, Failure> {
    let bytes = match file {
        Some(path) => {
            // With its room made beforehand, nothing of it is left behind where it would have grown.
            let mut bytes = Zeroizing::new(Vec::with_capacity(2 * vault::limits::SECRET));
            std::fs::File::open(path)
                .and_then(|file| {
                    file.take(vault::limits::SECRET as u64 + 3).read_to_end(&mut bytes)
                })
                .map_err(|why| {
                    Failure::one(
                        path.display().to_string(),
                        format!("The file cannot be read: {why}."),
                        "",
                    )
                })?;
            bytes
        }
        None => {
            let typed = Terminal::open()?.passphrase(&format!("Secret of {label}: "))?;
            Zeroizing::new(typed.as_bytes().to_vec())
        }
    };
    Secret::new(bytes).map_err(|why| Failure::one(label, why.to_string(), ""))
}

fn line(entry: &Entry) -> String {
    let kind = match &entry.kind {
        Kind::Bearer => "bearer".to_owned(),
        Kind::Basic { user } => format!("basic as {user}"),
        Kind::Header { name } => format!("header {name}"),
    };
    let Entry { label, version, origins, .. } = entry;
    format!("{label}@{version}  {kind}  {}  since {}\n", origins.join(" "), shown_time(entry.at))
}

fn object(entry: &Entry) -> Value {
    let mut value = json!(entry);
    value["at"] = shown_time(entry.at).into();
    value
}

fn failure(path: &Path, why: &VaultError) -> Failure {
    Failure::one(path.display().to_string(), why.to_string(), "")
}
