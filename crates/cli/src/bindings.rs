//! The bindings of a file: read here to tell their problems, served by a process of its own that alone is handed credentials.

use crate::exit::Failure;
use crate::state::StoreArgs;
use action::binding::{Binding, Effect};
use contract::Problem;
use contract::policy::Calls;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

/// Members of a file of bindings that others read: it may be a `steadfast.toml`.
const BESIDE: &[&str] = contract::policy::MEMBERS;

/// Every problem of the bindings in a file.
pub fn problems(file: &Path) -> Vec<Problem> {
    action::bindings(file, BESIDE).err().unwrap_or_default().into_iter().map(told).collect()
}

/// The rules about calls that hold for a server.
#[derive(Default)]
pub struct Rules {
    /// Those that are written.
    pub written: Option<Arc<Calls>>,
    /// For bound actions, where none are: what holds then, and what of it asks a person about something that is bound now.
    pub own: Option<(Arc<Calls>, Option<String>)>,
}

impl Rules {
    /// The rules that are written, and of a server of bindings, their file.
    pub fn of(written: Option<&Calls>, bindings: Option<&Path>) -> Rules {
        let own = bindings.filter(|_| written.is_none()).map(|file| {
            let bound = action::bindings(file, BESIDE).unwrap_or_default();
            let grave = |one: &&Binding| one.effect == Effect::Irreversible;
            let waits = bound.iter().find(grave);
            let waits = waits.map(|one| format!("{}: [bindings.{}]", file.display(), one.name));
            (Arc::new(Calls::of_actions()), waits)
        });
        Rules { written: written.cloned().map(Arc::new), own }
    }

    /// Where it is said that some call of a server waits for a person.
    pub fn asks(&self, server: &str) -> Option<String> {
        let written = self.written.iter().flat_map(|calls| calls.asking(server)).next();
        let own = || self.own.as_ref().and_then(|(_, waits)| waits.clone());
        written.map(|rule| rule.place.clone()).or_else(own)
    }
}

/// Serves the bindings of a file on standard input and output.
pub async fn serve(file: &Path, vault: &Path) -> Result<(), Vec<Problem>> {
    let served = action::serve(file, BESIDE, vault, tokio::io::stdin(), tokio::io::stdout()).await;
    served.map_err(|problems| problems.into_iter().map(told).collect())
}

fn told(one: mcp::Problem) -> Problem {
    Problem { place: one.place, sentence: one.sentence, help: one.help }
}

/// The command of the process that serves the bindings of a file: this very program.
pub fn command(file: &Path, store: &StoreArgs) -> Result<Vec<String>, Failure> {
    let cannot = |what: &str, why: std::io::Error| {
        Failure::one(what, format!("It cannot be told where this is: {why}."), "")
    };
    let own = std::env::current_exe().map_err(|why| cannot("steadfast", why))?;
    let file = absolute(file).map_err(|why| cannot("--bindings", why))?;
    let store = absolute(store.path()?).map_err(|why| cannot("--store", why))?;
    [own, PathBuf::from("actions"), "--bindings".into(), file, "--store".into(), store]
        .into_iter()
        .map(|word| {
            word.into_os_string().into_string().map_err(|word| {
                let sentence = "A path that holds what is no text cannot be handed on.";
                Failure::one(word.to_string_lossy(), sentence, "Use another path.")
            })
        })
        .collect()
}
