//! What one client has seen, and what it was told: the evidence for which contract a call was planned under.

use crate::catalogue::Catalogue;
use crate::limits;
use contract::Revised;
use contract::admission::Grade;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::time::Instant;

/// A list as it was shown to the client.
#[derive(Debug, Clone)]
pub struct Shown {
    /// When.
    pub at: Instant,
    /// What.
    pub catalogue: Arc<Catalogue>,
}

/// Says that a refusal was read: good for one call.
#[derive(Debug, Clone)]
struct Token {
    tool: String,
    /// Digest of the live revision that the refusal told of.
    live: String,
    /// Arguments that may differ from the refused call: those the refusal named.
    free: Vec<String>,
    /// Digest of the rest of the refused call's arguments.
    rest: String,
    expires: Instant,
}

/// A refusal that says what moved. Until its client has looked, calls are judged as the refused one was.
#[derive(Debug)]
struct Stale {
    /// Digest of the live revision that it told of.
    live: String,
    /// What the refused call may have been planned under.
    planned: Vec<Arc<Revised>>,
    at: Instant,
    /// When the client fetched the list after it, or said that it read it.
    looked: Option<Instant>,
}

/// A tool; with it the arguments where many clients share a view: who sends others may be somebody else.
type Whose = (String, Option<String>);

/// What one client has seen.
#[derive(Debug, Default)]
pub struct View {
    /// How well it is known that a caller plans with what it was shown; by its session where nothing else is said.
    grade: Option<Grade>,
    /// Many clients share it.
    shared: bool,
    /// What the caller declared to have planned with.
    pinned: Option<Arc<Catalogue>>,
    shown: VecDeque<Shown>,
    /// When the list came that took the place of one that is remembered no more.
    forgotten: Option<Instant>,
    /// Lists whose pages are being fetched, by what their cursors begin with: two walks never share a page.
    walks: VecDeque<(String, Arc<Catalogue>)>,
    /// The last refusals that say what moved.
    stale: HashMap<Whose, Stale>,
    tokens: VecDeque<(String, Token)>,
    /// How often calls were refused, by tool and [`repeat_of`].
    repeats: HashMap<(String, String), u32>,
    /// Tools of which a call was refused and none went through since, with the revision it was planned under.
    refused: HashMap<String, String>,
}

impl View {
    /// What all clients of one principal have seen.
    pub fn of_principal() -> View {
        View { grade: Some(Grade::Principal), shared: true, ..View::default() }
    }

    /// What a client has seen that declares by its endpoint which list it plans with; or what many have, that `share` it.
    pub fn of_pinned(list: Arc<Catalogue>, share: bool) -> View {
        let (grade, pinned) = (Some(Grade::Declared), Some(list));
        View { grade, shared: share, pinned, ..View::default() }
    }

    /// True where many clients share it.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The list that the client declared to plan with.
    pub fn pinned(&self) -> Option<&Arc<Catalogue>> {
        self.pinned.as_ref()
    }

    /// The last list that was shown whole.
    pub fn last(&self) -> Option<&Shown> {
        self.shown.back()
    }

    /// Takes down that a list was shown whole at this moment; `asked` is when the client asked for it.
    pub fn show(&mut self, catalogue: Arc<Catalogue>, asked: Instant, at: Instant) {
        // What was asked for before a refusal came is no answer to it.
        for stale in self.stale.values_mut().filter(|stale| stale.at <= asked) {
            stale.looked.get_or_insert(at);
        }
        if let Some(last) = self.shown.back_mut()
            && last.catalogue.digest() == catalogue.digest()
        {
            // The same list again: what was seen before it is as old as it was.
            last.catalogue = catalogue;
            return;
        }
        let mut bytes: usize = self.shown.iter().map(|shown| shown.catalogue.weight()).sum();
        while self.shown.len() >= limits::SHOWN || bytes > limits::EARLIER_BYTES {
            let Some(oldest) = self.shown.pop_front() else { break };
            bytes -= oldest.catalogue.weight();
            self.forgotten = Some(self.shown.front().map_or(at, |next| next.at));
        }
        self.shown.push_back(Shown { at, catalogue });
    }

    /// True where a call may come from a list that was shown and is remembered no more, so that [`View::planned`] cannot
    /// name all that it may have been planned under. The arguments are as there.
    pub fn lacks_some(&self, tool: &str, live: &str, whole: &str, made: Instant) -> bool {
        let told = self.stale.get(&self.whose(tool, whole)).is_some_and(|s| s.live == live);
        let in_hands = |until: Instant| made.duration_since(until) < limits::OVERLAP;
        self.pinned.is_none() && !told && self.forgotten.is_some_and(in_hands)
    }

    /// What the clients may hold of what was shown: the last list of one client; of many clients, each of the last lists.
    pub fn held(&self) -> Vec<Arc<Catalogue>> {
        let shown = self.shown.iter().rev().map(|shown| Arc::clone(&shown.catalogue));
        match self.grade {
            Some(Grade::Principal) => shown.collect(),
            _ => shown.take(1).collect(),
        }
    }

    /// Where a cursor leads: the list that is being fetched, and the number of the page. `None` for a cursor that was
    /// never given, or too long ago.
    pub fn page_of(&self, cursor: &str) -> Option<(Arc<Catalogue>, usize)> {
        let (name, page) = cursor.split_once('-')?;
        let (_, list) = self.walks.iter().find(|(known, _)| known == name)?;
        Some((Arc::clone(list), page.parse().ok()?))
    }

    /// The cursor to a page of a list. Every reading has its own, so that a walk that began with one ends with it.
    pub fn cursor_to(&mut self, list: &Arc<Catalogue>, page: usize) -> String {
        let known = self.walks.iter().find(|(_, known)| Arc::ptr_eq(known, list));
        let name = match known {
            Some((name, _)) => name.clone(),
            None => {
                let mut bytes: usize = self.walks.iter().map(|(_, list)| list.weight()).sum();
                while self.walks.len() >= limits::WALKS || bytes > limits::EARLIER_BYTES {
                    let Some((_, oldest)) = self.walks.pop_front() else { break };
                    bytes -= oldest.weight();
                }
                let name = uuid::Uuid::new_v4().simple().to_string();
                self.walks.push_back((name.clone(), Arc::clone(list)));
                name
            }
        };
        format!("{name}-{page}")
    }

    /// The revisions that a call of the tool may have been planned under, and how well that is known.
    ///
    /// The last list counts. For a while after it was fetched, so does what the client saw before it: calls under way
    /// may still come from there. That ends once the client has looked at a refusal of the tool: it has fetched the list
    /// after that, or sent its token. Until then calls of the tool are judged as the refused one was, whatever was fetched
    /// before.
    ///
    /// `whole` names all arguments of the call. Where many clients share the view, a refusal and what followed it speak
    /// for this very call alone.
    pub fn planned(
        &self,
        tool: &str,
        live: &str,
        whole: Option<&str>,
        made: Instant,
    ) -> (Vec<Arc<Revised>>, Grade) {
        if let Some(pinned) = &self.pinned {
            return (pinned.tool(tool).to_vec(), Grade::Declared);
        }
        let stale = self.stale.get(&self.whose(tool, whole.unwrap_or_default()));
        let looked = stale.and_then(|stale| stale.looked).is_some_and(|looked| looked <= made);
        if let Some(stale) = stale.filter(|_| !looked) {
            return (stale.planned.clone(), self.grade.unwrap_or(Grade::Session));
        }
        let told = stale.is_some_and(|stale| stale.live == live);
        // A list that was shown after the call was made is none that it was planned with.
        let before = self.shown.iter().filter(|shown| shown.at <= made).count();
        let mut shown = self.shown.iter().take(before).rev();
        let Some(last) = shown.next() else { return (Vec::new(), Grade::None) };
        let mut planned: Vec<Arc<Revised>> = last.catalogue.tool(tool).to_vec();
        let overlaps = made.duration_since(last.at) < limits::OVERLAP && !told;
        if planned.is_empty() || overlaps {
            let mut later = last.at;
            for earlier in shown {
                // What was replaced long before the last list came is no longer in anyone's hands.
                let recent = made.duration_since(later) < limits::OVERLAP;
                if !recent && !planned.is_empty() {
                    break;
                }
                for revised in earlier.catalogue.tool(tool) {
                    if !planned.iter().any(|known| known.digest() == revised.digest()) {
                        planned.push(Arc::clone(revised));
                    }
                }
                later = earlier.at;
            }
        }
        (planned, self.grade.unwrap_or(Grade::Session))
    }

    /// Every revision of the tool that was shown and is kept, the newest first.
    pub fn earlier(&self, tool: &str) -> Vec<Arc<Revised>> {
        let mut found: Vec<Arc<Revised>> = Vec::new();
        for revised in self.shown.iter().rev().flat_map(|shown| shown.catalogue.tool(tool)) {
            if !found.iter().any(|known| known.digest() == revised.digest()) {
                found.push(Arc::clone(revised));
            }
        }
        found
    }

    /// Takes down a refusal. Gives how often this very call was refused, and a token that says it was read.
    pub fn refused(&mut self, call: &Refused<'_>, now: Instant) -> (u32, String) {
        // Where nothing was shown, what was listed of late counts as it is.
        if call.told && !self.shown.is_empty() {
            let whose = self.whose(call.tool, &call.whole);
            self.forget_the_oldest(&whose);
            let stale = Stale {
                live: call.live.to_owned(),
                planned: call.planned.clone(),
                at: now,
                looked: None,
            };
            self.stale.insert(whose, stale);
        }
        if self.repeats.len() >= limits::REFUSALS {
            self.repeats.clear();
        }
        let repeated = (call.tool.to_owned(), repeat_of(&call.whole, call.live));
        let times = self.repeats.entry(repeated).or_default();
        *times += 1;
        let times = *times;
        self.tokens.retain(|(_, token)| token.expires > now);
        if self.tokens.len() >= limits::TOKENS {
            self.tokens.pop_front();
        }
        let text: String = uuid::Uuid::new_v4().simple().to_string().chars().take(16).collect();
        let token = Token {
            tool: call.tool.to_owned(),
            live: call.live.to_owned(),
            free: call.free.clone(),
            rest: call.rest.clone(),
            expires: now + limits::TOKEN,
        };
        self.tokens.push_back((text.clone(), token));
        (times, text)
    }

    fn whose(&self, tool: &str, whole: &str) -> Whose {
        (tool.to_owned(), self.shared.then(|| whole.to_owned()))
    }

    /// Makes room for one refusal more: the one that was looked at, or else made, longest ago goes.
    fn forget_the_oldest(&mut self, new: &Whose) {
        let weight = |stale: &Stale| stale.planned.iter().map(|r| r.weight()).sum::<usize>();
        let mut bytes: usize = self.stale.values().map(weight).sum();
        while self.stale.len() >= limits::REFUSALS || bytes > limits::EARLIER_BYTES {
            let all = self.stale.iter().filter(|(whose, _)| *whose != new);
            let oldest = all.min_by_key(|(_, stale)| (stale.looked.is_none(), stale.at));
            let Some(whose) = oldest.map(|(whose, _)| whose.clone()) else { return };
            bytes -= self.stale.remove(&whose).map_or(0, |stale| weight(&stale));
        }
    }

    /// Takes down under which revision the last refused call of a tool was planned.
    pub fn to_repair(&mut self, tool: &str, planned: &str) {
        if self.refused.len() >= limits::REFUSALS {
            self.refused.clear();
        }
        self.refused.insert(tool.to_owned(), planned.to_owned());
    }

    /// A call of the tool goes through: where one was refused before it, the revision that one was planned under.
    pub fn repaired(&mut self, tool: &str) -> Option<String> {
        self.refused.remove(tool)
    }

    /// Redeems a token: the live revision that the caller says it knows. Good once, for the tool and the arguments
    /// that it was given for, where only those may differ that the refusal named.
    pub fn redeem(
        &mut self,
        text: &str,
        tool: &str,
        rest: impl Fn(&[String]) -> String,
        now: Instant,
    ) -> Option<String> {
        let index = self.tokens.iter().position(|(known, _)| known == text)?;
        let (_, token) = &self.tokens[index];
        let good = token.tool == tool && token.expires > now && token.rest == rest(&token.free);
        if !good {
            return None;
        }
        // A new decision: what was refused before it no longer counts as repeated.
        let repeated = repeat_of(&rest(&[]), &token.live);
        self.repeats.remove(&(tool.to_owned(), repeated));
        let whose = self.whose(tool, &rest(&[]));
        if let Some(stale) = self.stale.get_mut(&whose) {
            stale.looked.get_or_insert(now);
        }
        self.tokens.remove(index).map(|(_, token)| token.live)
    }
}

/// A call that is made again, of the same live revision: of another one it is judged anew.
fn repeat_of(whole: &str, live: &str) -> String {
    format!("{whole} {live}")
}

/// A refused call, as it is taken down.
#[derive(Debug)]
pub struct Refused<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Digest of the live revision; empty where the tool is gone.
    pub live: &'a str,
    /// Digest of all arguments.
    pub whole: String,
    /// Arguments that the refusal named.
    pub free: Vec<String>,
    /// Digest of the arguments without those.
    pub rest: String,
    /// The refusal says what moved.
    pub told: bool,
    /// What it may have been planned under.
    pub planned: Vec<Arc<Revised>>,
}
