//! `steadfast approver`: whose key may approve calls.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::state::{StoreArgs, failure, now, shown_time, wait, who};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use store::approver::{self, ApproverKey};
use store::{Access, Store, StoreError};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct ApproverArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a key, sealed by a passphrase that is typed at this terminal
    Enrol(Named),
    /// Take a key back: it approves nothing from now on
    Dismiss(Named),
    /// List who may approve
    List(List),
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The approver
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    store: StoreArgs,
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for ApproverArgs {
    const NAME: &'static str = "approver";
    const ABOUT: &'static str = "Enrol whose key may approve calls that wait for a person";
    const EXAMPLES: &'static str = "\
The key is kept beside the store, sealed by a passphrase that is read from the terminal alone:
never from an argument, the environment or a pipe, where an agent could leave it.
Once an approver is enrolled, a gateway that is started holds calls with an effect that would
reach further than was granted, in place of letting the model look again.

Examples:
  steadfast approver enrol ada
  steadfast approver list
  steadfast approver dismiss ada";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        match self.action {
            Action::Enrol(named) => named.enrol(shell),
            Action::Dismiss(named) => named.dismiss(shell),
            Action::List(list) => list.run(shell),
        }
    }
}

impl Named {
    fn enrol(&self, shell: &Shell) -> Result<Exit, Failure> {
        let path = self.store.path()?;
        let failed = |error: StoreError| failure(&path, &error);
        approver::check_name(&self.name).map_err(failed)?;
        // An approver is enrolled before the first gateway runs, as a rule.
        let store = self.store.open_or_make()?;
        if wait(store.approvers())?.iter().any(|known| known.name == self.name) {
            return Err(Failure::one(
                &self.name,
                "A key is enrolled under this name already.",
                "Dismiss it first, or choose another name.",
            ));
        }
        let mut terminal = Terminal::open()?;
        let passphrase =
            terminal.passphrase(&format!("Passphrase for the key of {}: ", self.name))?;
        let again = terminal.passphrase("The same again: ")?;
        if *passphrase != *again {
            return Err(Failure::one(
                &self.name,
                "The two passphrases differ. Nothing was enrolled.",
                "Try again.",
            ));
        }
        let key = ApproverKey::new().map_err(failed)?;
        let kept = key.keep(&path, &self.name, &passphrase).map_err(failed)?;
        if let Err(failure) = wait(store.enrol(key.approver(&self.name, now()), who())) {
            // A key that nobody knows would only stand in the way of the next try.
            let _ = approver::forget(&path, &self.name);
            return Err(failure);
        }
        shell.print(&format!("enrolled {}; the sealed key is {}\n", self.name, kept.display()))?;
        shell.note("note: gateways that run already keep to what they were started with");
        Ok(Exit::Fine)
    }

    fn dismiss(&self, shell: &Shell) -> Result<Exit, Failure> {
        let path = self.store.path()?;
        let store = self.store.open(Access::Command)?;
        wait(store.dismiss(self.name.clone(), who(), now()))?;
        approver::forget(&path, &self.name).map_err(|error| failure(&path, &error))?;
        shell.print(&format!("dismissed {}\n", self.name))?;
        Ok(Exit::Fine)
    }
}

impl List {
    fn run(&self, shell: &Shell) -> Result<Exit, Failure> {
        let path = self.store.path()?;
        let store = self.store.open(Access::Read)?;
        let kept = approver::kept(&path);
        let approvers = wait(store.approvers())?;
        shell.print(&match self.format {
            Plain::Text if approvers.is_empty() => "nobody may approve\n".to_owned(),
            Plain::Text => approvers
                .iter()
                .map(|one| {
                    let here =
                        if kept.contains(&one.name) { "" } else { "  key not on this machine" };
                    format!("{}  since {}{here}\n", one.name, shown_time(one.at))
                })
                .collect(),
            Plain::Json => {
                let approvers: Vec<Value> = approvers
                    .iter()
                    .map(|one| {
                        json!({
                            "name": one.name, "public_key": one.public_key,
                            "enrolled_at": shown_time(one.at), "key_here": kept.contains(&one.name),
                        })
                    })
                    .collect();
                format!("{:#}\n", json!({ "approvers": approvers }))
            }
        })?;
        Ok(Exit::Fine)
    }
}
