//! Declared adapters in force: each is proved for the very pair of revisions before it touches a call.

use crate::event::{self, Event, Events};
use crate::limits;
use contract::adapter::{
    Adapter, Adapters, Anew, AtCall, Context, Proof, Prove, Refutation, Verdict,
};
use contract::admission::{Adapt, Adapted, Grade, InForce, With};
use contract::lexicon::Lexicon;
use contract::policy::Day;
use contract::{Revised, Tool};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
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
    /// Who is told of an adapter that does not hold, and the server that it was to be for.
    told: Option<(String, Events)>,
    /// What was told already.
    said: Mutex<HashSet<Pair>>,
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
        let (proofs, said) = (Mutex::default(), Mutex::default());
        Declared { adapters, facts, lexicon, today, proofs, told: None, said }
    }

    /// The same, telling of each adapter that does not hold for the definitions of a server, once for each pair of them.
    #[must_use]
    pub fn telling(mut self, server: &str, events: &Events) -> Declared {
        self.told = Some((server.to_owned(), events.clone()));
        self
    }

    /// Tells of the adapters that were declared for a call which none carries, and do not hold.
    fn tell_why(&self, planned: &Revised, live: &Revised) {
        for adapter in self.adapters.adapters.iter().filter(|one| one.tool == planned.name()) {
            let pair = (adapter.id.clone(), planned.digest().to_owned(), live.digest().to_owned());
            let lock = || self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
            let known = lock().get(&pair).cloned();
            if let Some(Err(why)) = known.as_deref() {
                self.tell(adapter, pair, why);
            }
        }
    }

    /// Tells that old calls which an adapter was declared for are refused, and why, once for each pair of definitions. That
    /// it is for other revisions is no news.
    fn tell(&self, adapter: &Adapter, pair: Pair, why: &[Refutation]) {
        let Some((server, events)) = &self.told else { return };
        let Some(worst) = why.iter().max_by_key(|no| no.verdict) else { return };
        let word = match worst.verdict {
            Verdict::NotForThis => return,
            Verdict::Undecided => "could not be proved",
            Verdict::Refuted => "is refuted",
            Verdict::Refused => "does what no adapter may do",
        };
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= limits::COMPARISONS {
            said.clear();
        }
        if !said.insert(pair) {
            return;
        }
        events.tell(Event {
            at: event::now(),
            kind: "adapter-out",
            server: server.clone(),
            tool: Some(adapter.tool.clone()),
            code: None,
            sentence: format!(
                "the adapter {} ({}) {word} for what is listed now and carries no call of {}: {} See steadfast adapters check.",
                contract::admission::shown_name(&adapter.id),
                worst.place,
                contract::admission::shown_name(&adapter.tool),
                worst.sentence,
            ),
        });
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
        let proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        let refuted = |id: &str| {
            let mut tried = proofs.iter().filter(|((of, ..), _)| of == id);
            let (_, proof) = tried.find(|(_, proof)| proof.is_err())?;
            proof.as_ref().as_ref().err()?.first().map(|refuted| refuted.sentence.clone())
        };
        adapters
            .map(|adapter| InForce {
                id: adapter.id.clone(),
                server: adapter.server.clone(),
                tool: adapter.tool.clone(),
                to: adapter.target().to_owned(),
                ends: adapter.end.to_string(),
                refuted: refuted(&adapter.id),
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
        let outcome = at_call.adapt(planned, live, arguments, with);
        if !matches!(outcome, Ok(Some(_))) {
            self.tell_why(planned, live);
        }
        outcome
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
