//! All adapters of a file against two lists of tools.

use super::prove::{Proof, Refutation, Verdict};
use super::{Adapter, Adapters};
use crate::document::{Tool, ToolList};
use crate::lexicon::Lexicon;
use crate::text::quoted;

/// One adapter, and what came of checking it.
#[derive(Debug, Clone)]
pub struct Checked<'a> {
    /// The adapter.
    pub adapter: &'a Adapter,
    /// The proof, or everything that stands in the way.
    pub outcome: Result<Proof, Vec<Refutation>>,
}

impl Checked<'_> {
    /// The kind of no, the gravest first; `None` where it is proved.
    pub fn verdict(&self) -> Option<Verdict> {
        self.outcome.as_ref().err()?.iter().map(|no| no.verdict).max()
    }
}

impl Adapters {
    /// Checks every adapter that is for this server against the tools that it names, in the order of the file.
    /// Without a server all are checked.
    pub fn check(
        &self,
        server: Option<&str>,
        old: &ToolList,
        new: &ToolList,
        lexicon: &Lexicon,
    ) -> Vec<Checked<'_>> {
        let here = |adapter: &&Adapter| {
            server.is_none() || adapter.server.is_none() || adapter.server.as_deref() == server
        };
        let mut checked: Vec<Checked<'_>> = self
            .adapters
            .iter()
            .filter(here)
            .map(|adapter| {
                let outcome = match (find(old, &adapter.tool), find(new, adapter.target())) {
                    (Some(before), Some(after)) => adapter.check(before, after, lexicon),
                    (before, _) => {
                        let (list, tool) = if before.is_some() {
                            (new, adapter.target())
                        } else {
                            (old, adapter.tool.as_str())
                        };
                        Err(vec![adapter.no(
                            Verdict::NotForThis,
                            format!("{} has no tool {}.", list.name, quoted(tool)),
                            "It may be for other revisions; if not, correct the name or remove the adapter.",
                        )])
                    }
                };
                Checked { adapter, outcome }
            })
            .collect();
        for later in 1..checked.len() {
            let (before, rest) = checked.split_at_mut(later);
            let one = &mut rest[0];
            let twin = before.iter().find(|other| {
                other.outcome.is_ok() && one.outcome.is_ok() && rivals(other.adapter, one.adapter)
            });
            if let Some(twin) = twin {
                one.outcome = Err(vec![one.adapter.no(
                    Verdict::Refused,
                    format!(
                        "{} at {} converts the same calls of {}.",
                        quoted(&twin.adapter.id),
                        twin.adapter.place,
                        quoted(&one.adapter.tool)
                    ),
                    "A call must not have two meanings: remove one, or say in `from` which revision each is for.",
                )]);
            }
        }
        checked
    }
}

/// Two adapters for the calls of one tool.
fn rivals(one: &Adapter, two: &Adapter) -> bool {
    let servers = match (&one.server, &two.server) {
        (Some(one), Some(two)) => one == two,
        _ => true,
    };
    servers && one.tool == two.tool
}

fn find<'t>(list: &'t ToolList, name: &str) -> Option<&'t Tool> {
    list.tools.iter().find(|tool| tool.name == name)
}
