//! Declared adapters in force: each is proved for the very pair of revisions before it touches a call.

use crate::limits;
use contract::adapter::{Adapter, Adapters, Anew, AtCall, Context, Proof, Prove, Refutation};
use contract::admission::{Adapt, Adapted, Grade, InForce, With};
use contract::lexicon::Lexicon;
use contract::policy::Day;
use contract::{Revised, Tool};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// What is asked for the day of a call.
pub type Today = Box<dyn Fn() -> Day + Send + Sync>;

/// Adapters that a person declared, with what they may rest on.
pub struct Declared {
    adapters: Adapters,
    /// What is known about who acts and where.
    facts: BTreeMap<String, String>,
    lexicon: Lexicon,
    today: Today,
    proofs: Mutex<HashMap<Pair, Proved>>,
}

/// The adapter, and the digests of the two revisions.
type Pair = (String, String, String);
type Proved = Arc<Result<Proof, Vec<Refutation>>>;

impl Declared {
    /// Adapters with what they may rest on.
    pub fn new(
        adapters: Adapters,
        facts: BTreeMap<String, String>,
        lexicon: Lexicon,
        today: Today,
    ) -> Declared {
        Declared { adapters, facts, lexicon, today, proofs: Mutex::default() }
    }
}

impl Prove for Declared {
    fn prove(&self, adapter: &Adapter, old: &Tool, new: &Tool) -> Proved {
        let digest = |tool: &Tool| contract::digest::of_tool(&tool.raw);
        let key = (adapter.id.clone(), digest(old), digest(new));
        let lock = || self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let proved = Anew(&self.lexicon).prove(adapter, old, new);
        let mut proofs = lock();
        if proofs.len() >= limits::COMPARISONS {
            proofs.clear();
        }
        proofs.insert(key, Arc::clone(&proved));
        proved
    }
}

impl Adapt for Declared {
    fn target(&self, tool: &str) -> Option<String> {
        let mut targets =
            self.adapters.adapters.iter().filter(|a| a.tool == tool).map(Adapter::target);
        targets.find(|target| *target != tool).map(str::to_owned)
    }

    fn converts(&self, tool: &str) -> bool {
        self.adapters.adapters.iter().any(|adapter| adapter.tool == tool)
    }

    fn carries(&self, server: &str, planned: &Arc<Revised>, live: &Arc<Revised>) -> Vec<String> {
        let chosen = self.adapters.choose(Some(server), planned.tool(), live.tool(), self);
        let adapter = chosen.ok().flatten().and_then(|link| link.adapter);
        adapter.map(|adapter| adapter.id.clone()).into_iter().collect()
    }

    fn declared(&self) -> Vec<InForce> {
        let adapters = self.adapters.adapters.iter();
        adapters
            .map(|adapter| InForce {
                id: adapter.id.clone(),
                server: adapter.server.clone(),
                tool: adapter.tool.clone(),
                to: adapter.target().to_owned(),
                ends: adapter.end.to_string(),
            })
            .collect()
    }

    fn adapt(
        &self,
        planned: &Arc<Revised>,
        live: &Arc<Revised>,
        arguments: &Value,
        with: With<'_>,
    ) -> Result<Option<Adapted>, String> {
        let context = Context {
            today: (self.today)(),
            server_version: with.server_version,
            // It was shown the old contract, so it was there before the new one. A pinned endpoint says nothing of when.
            session_started_before_change: with.grade == Grade::Session,
            conditions: &self.facts,
            evidence: with.grade,
        };
        let at_call = AtCall {
            adapters: &self.adapters,
            server: Some(with.server),
            lexicon: &self.lexicon,
            proofs: self,
            context: &context,
            history: with.history,
        };
        at_call.adapt(planned, live, arguments, with)
    }

    fn restore(&self, by: &[String], answer: &Value) -> Result<Value, String> {
        // The last conversion of the call is the first one of the answer.
        by.iter().rev().try_fold(answer.clone(), |answer, id| {
            let adapter = self.adapters.adapters.iter().find(|adapter| adapter.id == *id);
            // A pinned default has nothing to restore.
            adapter.map_or(Ok(answer.clone()), |adapter| adapter.restore(&answer))
        })
    }
}
