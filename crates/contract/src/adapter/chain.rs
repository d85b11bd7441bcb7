//! Which adapter answers, and several of them one after the other.

use super::context::{Applied, Context, Outcome};
use super::pin::{Pin, pin_default};
use super::prove::{Proof, Refutation, Verdict};
use super::{Adapter, Adapters, End, From, limits, picture};
use crate::admission::{Adapt, Adapted, Bearing, With, bearing};
use crate::document::Tool;
use crate::lexicon::Lexicon;
use crate::revised::Revised;
use crate::text::quoted;
use crate::verdict::Meaning;
use serde_json::Value;
use std::sync::Arc;

/// What a proof is asked from. A proof costs up to a second, so whoever serves calls keeps them: by the adapter's id and
/// the two digests, for as long as the file of adapters and the lexicon stay the same.
pub trait Prove {
    /// [`Adapter::check`], or what it answered before.
    fn prove(
        &self,
        adapter: &Adapter,
        old: &Tool,
        new: &Tool,
    ) -> Arc<Result<Proof, Vec<Refutation>>>;
}

/// Proves anew each time.
#[derive(Debug, Clone, Copy)]
pub struct Anew<'a>(pub &'a Lexicon);

impl Prove for Anew<'_> {
    fn prove(
        &self,
        adapter: &Adapter,
        old: &Tool,
        new: &Tool,
    ) -> Arc<Result<Proof, Vec<Refutation>>> {
        Arc::new(adapter.check(old, new, self.0))
    }
}

/// One conversion of a chain: proved, and by an adapter unless the two contracts fit as they are.
#[derive(Debug, Clone)]
pub struct Link<'a> {
    /// What converts; `None` where every old call is a new call as it stands.
    pub adapter: Option<&'a Adapter>,
    /// What was proved.
    pub proof: Proof,
}

/// Conversions from one revision to the next, each proved.
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    /// In the order of time.
    pub links: Vec<Link<'a>>,
}

impl Adapters {
    /// The one adapter that is proved for this pair of contracts; `None` where none is declared for it.
    ///
    /// # Errors
    /// Why those that are declared do not hold; or that two do, so that a call would have two meanings.
    pub fn choose(
        &self,
        server: Option<&str>,
        old: &Tool,
        new: &Tool,
        prove: &dyn Prove,
    ) -> Result<Option<Link<'_>>, Vec<Refutation>> {
        let (found, refuted) = self.find(server, old, new, prove)?;
        if found.is_none() && !refuted.is_empty() { Err(refuted) } else { Ok(found) }
    }

    /// The one that is proved, and why others are not.
    ///
    /// # Errors
    /// Two are proved.
    fn find(
        &self,
        server: Option<&str>,
        old: &Tool,
        new: &Tool,
        prove: &dyn Prove,
    ) -> Result<(Option<Link<'_>>, Vec<Refutation>), Vec<Refutation>> {
        let mut found: Option<Link<'_>> = None;
        let mut refuted = Vec::new();
        for adapter in &self.adapters {
            let here = adapter.server.is_none() || adapter.server.as_deref() == server;
            if !here || adapter.tool != old.name || adapter.target() != new.name {
                continue;
            }
            match &*prove.prove(adapter, old, new) {
                Ok(proof) => {
                    if let Some(first) = found.as_ref().and_then(|link| link.adapter) {
                        return Err(vec![adapter.no(
                            Verdict::Refused,
                            format!(
                                "{} and {} both convert this revision of {}.",
                                quoted(&first.id),
                                quoted(&adapter.id),
                                quoted(&old.name)
                            ),
                            "A call must not have two meanings: remove one, or say in `from` which revision each is for.",
                        )]);
                    }
                    found = Some(Link { adapter: Some(adapter), proof: proof.clone() });
                }
                Err(why) => {
                    let why = why.iter().filter(|no| no.verdict != Verdict::NotForThis);
                    refuted.extend(why.cloned());
                }
            }
        }
        Ok((found, refuted))
    }

    /// The way from the first of these revisions to the last, one step for each neighbouring pair.
    ///
    /// # Errors
    /// The first pair for which there is no proof, and why.
    pub fn chain(
        &self,
        server: Option<&str>,
        revisions: &[&Tool],
        prove: &dyn Prove,
    ) -> Result<Chain<'_>, Vec<Refutation>> {
        let mut links = Vec::new();
        for pair in revisions.windows(2) {
            let (old, new) = (pair[0], pair[1]);
            let plain = Adapter::plain(old, new);
            if links.len() >= limits::CHAIN {
                return Err(vec![plain.no(
                    Verdict::Undecided,
                    format!("More than {} revisions lie between the two.", limits::CHAIN),
                    "Write one adapter that leads over all of them.",
                )]);
            }
            let (found, refuted) = self.find(server, old, new, prove)?;
            if let Some(link) = found {
                links.push(link);
                continue;
            }
            // An adapter for another step of the way does not stand in the way of this one.
            match &*prove.prove(&plain, old, new) {
                Ok(proof) => links.push(Link { adapter: None, proof: proof.clone() }),
                Err(_) if !refuted.is_empty() => return Err(refuted),
                Err(why) => {
                    return Err(why
                        .iter()
                        .map(|no| Refutation {
                            sentence: format!(
                                "No adapter is declared from one revision of {} to the next, and old calls do not fit as they are: {}",
                                quoted(&old.name),
                                no.sentence
                            ),
                            ..no.clone()
                        })
                        .collect());
                }
            }
        }
        Ok(Chain { links })
    }
}

impl Adapter {
    /// No steps: the old contract as it stands against the new one.
    fn plain(old: &Tool, new: &Tool) -> Adapter {
        let to_tool = (old.name != new.name).then(|| new.name.clone());
        Adapter {
            id: String::new(),
            server: None,
            tool: old.name.clone(),
            to_tool,
            from: From::Any,
            end: End::default(),
            steps: Vec::new(),
            results: Vec::new(),
            place: String::new(),
        }
    }
}

impl Chain<'_> {
    /// Converts the arguments of one call, from the first revision to the last.
    pub fn apply(&self, arguments: &Value, context: &Context<'_>) -> Outcome {
        let mut sent = Vec::new();
        let mut arguments = arguments.clone();
        for link in &self.links {
            let Some(adapter) = link.adapter else { continue };
            match adapter.apply(&arguments, context) {
                Outcome::Applied(applied) => {
                    arguments = applied.arguments;
                    sent.extend(applied.sent);
                }
                other => return other,
            }
        }
        let tool = self.links.last().map(|link| link.proof.to.0.clone()).unwrap_or_default();
        Outcome::Applied(Applied { tool, arguments, sent })
    }

    /// Gives a structured answer of the last revision the shape of the first.
    ///
    /// # Errors
    /// A sentence on why this answer cannot be restored.
    pub fn restore(&self, result: &Value) -> Result<Value, String> {
        let adapters = self.links.iter().rev().filter_map(|link| link.adapter);
        adapters.into_iter().try_fold(result.clone(), |result, adapter| adapter.restore(&result))
    }

    /// The ids of the adapters.
    pub fn ids(&self) -> Vec<String> {
        self.links.iter().filter_map(|link| link.adapter).map(|one| one.id.clone()).collect()
    }
}

/// Adapters at the time of a call, as admission asks for them.
#[derive(Clone, Copy)]
pub struct AtCall<'a> {
    /// The adapters of the project.
    pub adapters: &'a Adapters,
    /// The key of the server.
    pub server: Option<&'a str>,
    /// The project's words.
    pub lexicon: &'a Lexicon,
    /// Where proofs are kept.
    pub proofs: &'a dyn Prove,
    /// What is known now; the grade of the evidence is taken from the question.
    pub context: &'a Context<'a>,
    /// Kept revisions of the tool in the order of time, for a way over several of them.
    pub history: &'a [Arc<Revised>],
}

impl AtCall<'_> {
    /// The way over kept revisions, where somebody declared one.
    fn over_history(&self, planned: &Arc<Revised>, live: &Arc<Revised>) -> Option<Chain<'_>> {
        let at = |wanted: &Arc<Revised>| {
            self.history.iter().rposition(|kept| kept.digest() == wanted.digest())
        };
        let (first, last) = (at(planned)?, at(live)?);
        if first + 1 >= last {
            return None;
        }
        let tools: Vec<&Tool> = self.history[first..=last].iter().map(|kept| kept.tool()).collect();
        let chain = self.adapters.chain(self.server, &tools, self.proofs).ok()?;
        (!chain.ids().is_empty()).then_some(chain)
    }

    /// Converts a call along a way, or says why not now.
    fn along(
        &self,
        chain: &Chain<'_>,
        arguments: &Value,
        with: With<'_>,
    ) -> Result<Adapted, String> {
        let context = Context { evidence: with.grade, ..self.context.clone() };
        let (mut tool, mut arguments) = (String::new(), arguments.clone());
        for link in &chain.links {
            if let Some(adapter) = link.adapter {
                arguments = match adapter.apply(&arguments, &context) {
                    Outcome::Applied(applied) => applied.arguments,
                    Outcome::Ended(why) => {
                        return Err(format!("the adapter for this change has ended: {why}"));
                    }
                    Outcome::Suspended(why) => {
                        return Err(format!("the adapter for this change is suspended: {why}"));
                    }
                    Outcome::NotForThis(why) => {
                        return Err(format!("the adapter has no answer for this call: {why}"));
                    }
                };
            }
            tool.clone_from(&link.proof.to.0);
            // Valid is not the same as meant: what moved beside the adapter is judged for this call.
            for change in &link.proof.remaining {
                let unsure = change.axes.meaning == Meaning::Changed
                    || (change.axes.meaning == Meaning::Unknown && with.effect);
                if unsure && bearing(change, &arguments) == Bearing::Call {
                    let field =
                        change.field.as_deref().map_or_else(|| "the tool".to_owned(), quoted);
                    return Err(format!(
                        "an adapter converts this call, and {field} may mean something else now ({})",
                        change.rule
                    ));
                }
            }
        }
        Ok(Adapted { tool, arguments, by: chain.ids() })
    }
}

impl Adapt for AtCall<'_> {
    fn adapt(
        &self,
        planned: &Arc<Revised>,
        live: &Arc<Revised>,
        arguments: &Value,
        with: With<'_>,
    ) -> Result<Option<Adapted>, String> {
        let direct = self.adapters.choose(self.server, planned.tool(), live.tool(), self.proofs);
        let declared = !matches!(direct, Ok(None));
        let direct = match direct {
            Ok(Some(link)) => self.along(&Chain { links: vec![link] }, arguments, with),
            Ok(None) => Err(String::new()),
            Err(why) => Err(why.into_iter().next().map(|no| no.sentence).unwrap_or_default()),
        };
        let why = match direct {
            Ok(adapted) => return Ok(Some(adapted)),
            Err(why) => why,
        };
        match self.over_history(planned, live) {
            Some(chain) => self.along(&chain, arguments, with).map(Some),
            None if declared => Err(why),
            None => Ok(self.pinned(planned, live, arguments, with)),
        }
    }
}

impl AtCall<'_> {
    /// The planned defaults, where nothing else is in the way of this call.
    fn pinned(
        &self,
        planned: &Arc<Revised>,
        live: &Arc<Revised>,
        arguments: &Value,
        with: With<'_>,
    ) -> Option<Adapted> {
        if planned.name() != live.name() || (with.effect && !with.pin_effects) {
            return None;
        }
        let Pin::Pinned(pinned) = pin_default(planned.tool(), live.tool(), arguments, self.lexicon)
        else {
            return None;
        };
        if pinned.pinned.is_empty() || !live.could_write(&pinned.arguments) {
            return None;
        }
        // Another thing may have moved that bears on this call, too.
        let moved = picture::remaining(planned.tool(), live.tool(), self.lexicon);
        let other = moved.iter().any(|change| {
            change.axes.meaning != Meaning::Same
                && bearing(change, &pinned.arguments) == Bearing::Call
        });
        (!other).then(|| Adapted {
            tool: live.name().to_owned(),
            arguments: pinned.arguments,
            by: pinned.pinned.into_iter().map(|(at, _)| format!("default:{at}")).collect(),
        })
    }
}
