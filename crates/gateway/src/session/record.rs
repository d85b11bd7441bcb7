//! What a decision rests on, and what is taken down of it.

use super::Session;
use crate::call::{Call, Turn};
use crate::catalogue::Catalogue;
use crate::upstream::Epoch;
use crate::{event, limits};
use contract::admission::{Adapted, Ground, Refusal};
use contract::{Revised, Tool, ToolList, Verdict};
use mcp::message;
use std::sync::Arc;
use std::time::Duration;
use store::{NewList, RequestId};
use tokio::time::Instant;

/// What holds for a call, and the connection that it holds over: the one place where a call is bound to a connection. Both
/// are of one list, and nothing that is done afterwards changes either.
pub(crate) struct Standing {
    /// The revisions that may run it.
    pub(crate) live: Vec<Arc<Revised>>,
    /// Where they were listed, and nowhere else.
    pub(crate) epoch: Epoch,
    /// Why that is not known well enough, where it is not.
    pub(crate) verified: Result<(), String>,
}

impl Session {
    /// Makes sure that what holds is known well enough for a call of the tool, which was asked for then, and takes it down
    /// with the connection that it was read over.
    pub(crate) async fn standing(self: &Arc<Self>, tool: &str, asked: Instant) -> Standing {
        let mut verified = self.verified_for(tool, asked).await;
        for _ in 1..limits::STANDING_TURNS {
            if verified.is_err() || self.runs_over(tool).1 == self.upstream.epoch() {
                break;
            }
            // Recording what was read took its time, and the server is another one by now.
            verified = self.verified_for(tool, Instant::now()).await;
        }
        let (live, mut epoch) = self.runs_over(tool);
        let now = self.upstream.epoch();
        if epoch != now {
            if self.settings.observe {
                // Who only watches stands in nobody's way.
                epoch = now;
            }
            verified =
                verified.and(Err("the connection to the server is another one by now".into()));
        }
        Standing { live, epoch, verified }
    }

    /// Makes sure that what holds is known well enough for a call of the tool, which was asked for then.
    async fn verified_for(self: &Arc<Self>, tool: &str, asked: Instant) -> Result<(), String> {
        let live = self.upstream.live(tool);
        let digest = live.first().map_or("", |live| live.digest());
        let granted = self.granted(tool, digest).await?.stands;
        // Hints never lower what is demanded: what was granted must say so too.
        let reads = self.settings.is_read(tool)
            || (granted.is_some_and(|granted| granted.hints().read_only)
                && !live.is_empty()
                && live.iter().all(|live| live.hints().read_only));
        let age = if live.is_empty() {
            // A name that is not listed is looked for once more.
            Duration::ZERO
        } else if self.settings.is_read(tool) {
            limits::READ_AGE
        } else if reads {
            // A claim of the server's own, if an accepted one: it is not leaned on for long.
            limits::CLAIMED_READ_AGE
        } else {
            self.settings.effect_age.unwrap_or(if self.upstream.is_pipe() {
                limits::EFFECT_AGE_PIPE
            } else {
                limits::EFFECT_AGE_HTTP
            })
        };
        let verified = if reads {
            self.upstream.verified_soon(age, limits::READ_PATIENCE).await
        } else {
            self.upstream.verified_since(age, asked).await
        };
        let flawed = self.upstream.flaw(tool);
        if let Err(why) = &verified {
            self.tell(
                "fault",
                Some(tool),
                None,
                &format!("the list of tools could not be read: {why}"),
            );
        }
        self.put_on_record().await?;
        self.heed_accepted().await?;
        self.notice(None).await;
        match flawed {
            // Its definition alone cannot be read; what else is listed goes on.
            Some(flaw) => verified.and(Err(flaw)),
            None => verified,
        }
    }

    /// Takes down the current list and its definitions, and grants what was never seen before.
    pub(crate) async fn put_on_record(&self) -> Result<(), String> {
        let Some(catalogue) = self.upstream.catalogue() else { return Ok(()) };
        let mut recorded = self.recorded.lock().await;
        let before = recorded.current.clone();
        if before.as_ref().is_some_and(|before| before.digest() == catalogue.digest()) {
            return Ok(());
        }
        let (server, at) = (self.upstream.name().to_owned(), event::now());
        let revisions = self.to_record(&catalogue, at);
        let tools: Vec<(String, String)> =
            revisions.iter().map(|r| (r.tool.clone(), r.digest.clone())).collect();
        // A list that a server went back to is current again, though everything in it is known.
        let known = recorded.lists.contains(catalogue.digest());
        let work = async {
            if known {
                self.hub.store.held(server.clone(), tools.clone(), at).await?;
            } else {
                self.hub.store.seen_all(revisions).await?;
            }
            let list = NewList {
                server,
                scope: self.scope(),
                digest: catalogue.digest().to_owned(),
                tools,
                pages: catalogue.verbatim(),
                at,
            };
            self.hub.store.list_seen(list).await?;
            Ok::<(), store::StoreError>(())
        };
        work.await.map_err(|why| why.to_string())?;
        self.grant_first_seen(&catalogue, at).await?;
        self.void_moved(before.as_deref(), &catalogue).await?;
        for flaw in catalogue.flaws() {
            let sentence = format!("a tool cannot be read, and is not called: {}", flaw.why);
            self.tell("fault", flaw.name.as_deref(), None, &sentence);
        }
        if recorded.lists.len() >= limits::COMPARISONS {
            recorded.lists.clear();
        }
        recorded.lists.insert(catalogue.digest().to_owned());
        recorded.current = Some(catalogue);
        Ok(())
    }

    /// Makes one approval void: what it was given for is no longer what would be done.
    pub(crate) async fn voided(&self, id: store::ApprovalId, why: String) {
        let voided = self.hub.store.void_one(id, why, event::now()).await;
        self.noted("that an approval is void", voided);
    }

    /// Makes void what a person said about tools that are no longer what the person was shown.
    async fn void_moved(&self, before: Option<&Catalogue>, now: &Catalogue) -> Result<(), String> {
        let digests = |list: &Catalogue, tool: &str| -> Vec<String> {
            list.tool(tool).iter().map(|revised| revised.digest().to_owned()).collect()
        };
        for (tool, _) in before.iter().flat_map(|before| before.tools()) {
            if before.is_some_and(|before| digests(before, tool) != digests(now, tool)) {
                let (server, at) = (self.upstream.name().to_owned(), event::now());
                let why = "its contract changed".to_owned();
                let voided = self.hub.store.void(server, tool.clone(), why, at).await;
                let voided = voided.map_err(|why| why.to_string())?;
                if voided > 0 {
                    let what = format!("{tool} changed: {voided} approvals for it are void");
                    self.tell("changed", Some(tool), None, &what);
                }
            }
        }
        Ok(())
    }

    /// The kept revisions of a tool in the order in which they were first seen, where some conversion is declared for it
    /// and what a caller planned with is not what runs.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub(crate) async fn history(
        &self,
        tool: &str,
        planned: &[Arc<Revised>],
        live: &[Arc<Revised>],
    ) -> Result<Vec<Arc<Revised>>, String> {
        let runs =
            |planned: &Arc<Revised>| live.iter().any(|live| live.digest() == planned.digest());
        if !self.hub.adapters.converts(tool) || planned.iter().all(runs) {
            return Ok(Vec::new());
        }
        let failed = |why: store::StoreError| why.to_string();
        let server = self.upstream.name().to_owned();
        let known = self.hub.store.revisions(server.clone()).await.map_err(failed)?;
        let mut known: Vec<_> = known.into_iter().filter(|known| known.tool == tool).collect();
        known.sort_by_key(|known| known.ordinal);
        let skipped = known.len().saturating_sub(limits::HISTORY);
        let mut history = Vec::new();
        for revision in known.into_iter().skip(skipped) {
            let raw = self.hub.store.definition(server.clone(), revision.tool, revision.digest);
            let raw = raw.await.map_err(failed)?;
            history.extend(raw.and_then(|raw| self.hub.definitions.read(tool, &raw)));
        }
        Ok(history)
    }

    /// The revisions that may run a call: those of the tool, or, where it is gone, of the one that an adapter carries
    /// its calls to.
    pub(crate) fn runs(&self, tool: &str) -> Vec<Arc<Revised>> {
        self.runs_over(tool).0
    }

    /// The same, and the connection over which they were listed.
    fn runs_over(&self, tool: &str) -> (Vec<Arc<Revised>>, Epoch) {
        let (live, epoch) = self.upstream.live_over(tool);
        match self.hub.adapters.target(tool).filter(|_| live.is_empty()) {
            Some(target) => self.upstream.live_over(&target),
            None => (live, epoch),
        }
    }

    /// The heir of a tool that is gone, where it is declared or has the same contract.
    pub(crate) fn heir(&self, tool: &str, candidates: &[Arc<Revised>]) -> Option<String> {
        let current = self.upstream.catalogue()?;
        if !current.tool(tool).is_empty() {
            return None;
        }
        let old = candidates.first()?;
        let list = |tools: Vec<Tool>| ToolList { tools, ..ToolList::default() };
        let known = self.view().last().map(|last| Arc::clone(&last.catalogue));
        let mut before = vec![old.tool().clone()];
        // What is on both lists is nobody's heir.
        before.extend(known.iter().flat_map(|known| known.tools()).filter_map(
            |(name, revisions)| {
                (name != tool && !current.tool(name).is_empty())
                    .then(|| revisions.first().map(|r| r.tool().clone()))?
            },
        ));
        let after =
            current.tools().filter_map(|(_, r)| r.first().map(|r| r.tool().clone())).collect();
        let diff =
            contract::tools::diff(&list(before), &list(after), self.hub.comparisons.options());
        let entry = diff.entries.into_iter().find(|entry| entry.subject.name() == tool)?;
        let sure = entry.verdict == Verdict::NewName
            || entry.renamed_to.as_ref().is_some_and(|heir| heir.declared);
        entry.renamed_to.filter(|_| sure).map(|heir| heir.name)
    }

    /// Something of the gateway's own failed: the call is not carried out.
    pub(crate) async fn broken(&self, call: &Call, turn: Turn, why: &str) {
        drop(turn);
        self.tell("fault", Some(&call.tool), None, why);
        let result = crate::refusal::not_recorded(&call.tool, why, self.era());
        self.reply(&call.id, message::response(&call.id, &result)).await;
    }

    /// Takes down a refusal and tells who watches.
    pub(crate) async fn refused(
        &self,
        tool: &str,
        refusal: &Refusal,
        ground: &Ground,
        person: bool,
    ) {
        let moved: Vec<&str> = refusal
            .missing
            .iter()
            .map(|(field, _)| field.as_str())
            .chain(refusal.obsolete.iter().map(String::as_str))
            .chain(refusal.changed.iter().filter_map(|fault| fault.field.as_deref()))
            .collect();
        let about =
            if moved.is_empty() { String::new() } else { format!(" over {}", moved.join(", ")) };
        let sentence = format!("refused a call of {tool}{about}: nothing was sent");
        self.tell("refused", Some(tool), Some(refusal.code.name()), &sentence);
        self.count(tool, store::Counted::Refused, ground).await;
        if let Some(planned) = &ground.planned {
            self.view().to_repair(tool, planned);
        }
        if person {
            self.count(tool, store::Counted::Person, ground).await;
        }
    }

    /// A call goes through as it came: where one was refused before it, the client repaired it without a person.
    pub(crate) async fn repaired(&self, tool: &str, ground: &Ground) {
        let planned = self.view().repaired(tool);
        if let Some(planned) = planned.filter(|planned| Some(planned) != ground.planned.as_ref()) {
            let old = Ground { planned: Some(planned), ..ground.clone() };
            self.count(tool, store::Counted::Repaired, &old).await;
        }
    }

    /// Takes down that a call was adapted and tells who watches.
    pub(crate) async fn adapted(&self, tool: &str, adapted: &Adapted, ground: &Ground) {
        self.tell(
            "adapted",
            Some(tool),
            None,
            &format!("carried an old call of {tool} over by {}", adapted.by.join(", ")),
        );
        self.hub.metrics.adapted(self.upstream.name());
        self.count(tool, store::Counted::Normalised, ground).await;
        for adapter in &adapted.by {
            let used = self.hub.store.adapter_used(adapter.clone(), event::now()).await;
            self.noted("the use of an adapter", used);
        }
    }

    pub(crate) async fn count(&self, tool: &str, what: store::Counted, ground: &Ground) {
        let Some(revision) = ground.planned.clone() else { return };
        let count = store::Count {
            server: self.upstream.name().to_owned(),
            tool: tool.to_owned(),
            revision,
            what,
            session: self.id,
            effect: ground.effect,
            at: event::now(),
        };
        self.noted("a count", self.hub.store.count(count).await);
    }

    /// Tells who watches where something could not be recorded on which no call depends.
    pub(crate) fn noted<T, E: std::fmt::Display>(&self, what: &str, done: Result<T, E>) {
        if let Err(why) = done {
            self.tell("fault", None, None, &format!("{what} could not be recorded: {why}"));
        }
    }

    /// Takes down a decision.
    pub(crate) async fn decided(&self, decision: &store::Decision) -> Result<(), String> {
        self.hub.store.decide(decision.clone()).await.map_err(|why| why.to_string())?;
        self.counted(&decision.server, &decision.verdict);
        Ok(())
    }

    /// Counts a decision.
    pub(crate) fn counted(&self, server: &str, verdict: &store::Verdict) {
        self.hub.metrics.decided(server, verdict);
    }

    /// Counts what came of an attempt.
    pub(crate) fn came(&self, state: store::OutcomeState) {
        self.hub.metrics.outcome(self.upstream.name(), state);
    }

    /// A new request id.
    pub(crate) fn new_request(&self) -> Result<RequestId, String> {
        self.hub.store.ids().request(event::now()).map_err(|why| why.to_string())
    }
}
