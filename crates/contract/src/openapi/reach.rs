//! Which decision of the agent a change reaches: by the map where there is one, else by a guess.

use super::Matched;
use super::operation::Site;
use super::read::Operation;
use super::schemas::Judged;
use crate::change::Change;
use crate::decision::guess::{self, Spot};
use crate::decision::{Aspect, DecisionMap, Flow, Surface, Use, consequence, steps};
use crate::verdict::Decision;
use std::collections::BTreeSet;

/// What is known about one change in one operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reached {
    pub decisions: BTreeSet<Decision>,
    /// At least one of them was guessed.
    pub guessed: bool,
    /// The map says that nobody reads the value.
    pub unread: bool,
    /// What the map says that the agent does then.
    pub consequences: BTreeSet<String>,
}

/// The operation's lines in the map.
pub(crate) fn surface<'m>(
    map: Option<&'m DecisionMap>,
    old: &Operation<'_>,
) -> Option<&'m Surface> {
    map.and_then(|map| map.operation(old.id, &old.name()))
}

/// A change of a schema, reached from a site by these ways.
pub(crate) fn of_schema(
    judged: &Judged,
    site: &Site,
    ways: &[Vec<String>],
    one: &Matched<'_, '_>,
    map: Option<&Surface>,
) -> Reached {
    let mut reached = Reached { unread: true, ..Reached::default() };
    for way in ways {
        let path = [site.steps.as_slice(), way.as_slice(), judged.steps.as_slice()].concat();
        let spot = |path: &[String]| -> Vec<Decision> {
            let spot = Spot {
                flow: site.flow,
                path,
                schema: judged.schema.as_ref(),
                reads: one.old.reads(),
                error: site.error(),
                about: &one.about,
            };
            match &judged.by_text {
                Some(text) => guess::text(text, &spot),
                None => guess::decisions(&spot),
            }
        };
        let declared = map.map(|map| map.at(site.flow, site.status.as_deref(), &path));
        match declared {
            // A line about what holds a value that is new cannot have meant it.
            Some(Use::Read(lines))
                if !judged.novel || lines.iter().any(|line| line.path == path) =>
            {
                reached.unread = false;
                if site.flow == Flow::Response {
                    let told = consequence::told(&judged.change, &lines, &path);
                    reached.consequences.extend(told);
                }
                reached.decisions.extend(Use::Read(lines).decisions());
            }
            // What is new, or bears on calls that leave the value out, no map can have named.
            Some(Use::Unread)
                if !(judged.novel || judged.omitted && site.flow == Flow::Request) => {}
            _ => {
                let mut found = spot(&path);
                if let Some(alias) = &judged.alias {
                    let mut renamed = path.clone();
                    renamed.pop();
                    renamed.push(alias.clone());
                    found.extend(spot(&renamed));
                }
                reached.unread = false;
                reached.guessed = true;
                reached.decisions.extend(found);
            }
        }
    }
    if !reached.unread {
        reached.decisions.extend(judged.hints.iter().copied());
    }
    reached
}

/// A change of the operation itself; `change.decisions` holds the guess.
pub(crate) fn of_operation(change: &Change, map: Option<&Surface>) -> Reached {
    let guessed = Reached {
        decisions: change.decisions.iter().copied().collect(),
        guessed: true,
        ..Reached::default()
    };
    let Some(map) = map else {
        return guessed;
    };
    if let Some(aspect) = aspect(change) {
        if let Some(feeds) = map.aspects.get(&aspect)
            && !(aspect == Aspect::Purpose && change.decisions_by_text())
        {
            return Reached { decisions: feeds.iter().copied().collect(), ..Reached::default() };
        }
        return guessed;
    }
    let (flow, status) = where_it_is(change);
    let path = match &change.field {
        Some(field) => field_steps(field),
        None => match change.rule {
            "SF520" | "SF521" | "SF522" | "SF528" => vec!["status".to_owned()],
            "SF516" | "SF517" | "SF523" | "SF524" => vec!["content-type".to_owned()],
            _ => return guessed,
        },
    };
    match map.at(flow, status.as_deref(), &path) {
        Use::Read(lines) => Reached {
            consequences: match flow {
                Flow::Response => consequence::told(change, &lines, &path),
                Flow::Request => BTreeSet::new(),
            },
            decisions: Use::Read(lines).decisions().into_iter().collect(),
            ..Reached::default()
        },
        // The status and the form of an answer are read by every caller.
        Use::Unread if change.field.is_none() => guessed,
        // What is new, or must be sent, no map can have named.
        Use::Unread if matches!(change.rule, "SF507" | "SF508" | "SF509" | "SF512") => guessed,
        Use::Unread => Reached { unread: true, ..Reached::default() },
    }
}

trait ByText {
    fn decisions_by_text(&self) -> bool;
}

impl ByText for Change {
    /// A text that speaks of something in particular feeds that, not what the whole is for.
    fn decisions_by_text(&self) -> bool {
        self.path.contains("/responses/")
    }
}

fn aspect(change: &Change) -> Option<Aspect> {
    match change.rule {
        "SF503" => Some(Aspect::Name),
        "SF530" | "SF531" | "SF532" => Some(Aspect::Server),
        "SF535" | "SF536" | "SF537" | "SF538" | "SF539" => Some(Aspect::Security),
        "SF540" if change.field.is_none() => Some(Aspect::Purpose),
        _ => None,
    }
}

fn where_it_is(change: &Change) -> (Flow, Option<String>) {
    match change.path.split_once("/responses/") {
        Some((_, rest)) => {
            let status = rest.split('/').next().unwrap_or_default();
            (Flow::Response, Some(status.to_owned()))
        }
        None => (Flow::Request, None),
    }
}

/// `query.limit` and `header.Retry-After` as the map's steps.
fn field_steps(field: &str) -> Vec<String> {
    match field.split_once('.') {
        Some(("header", name)) => vec!["header".to_owned(), name.to_ascii_lowercase()],
        Some((location, name)) => vec![location.to_owned(), name.to_owned()],
        None => steps(field),
    }
}

/// Writes what was found onto a change. A change that nobody reads is shown for review, it stops
/// nobody.
pub(crate) fn settle(change: &mut Change, reached: &Reached) {
    change.decisions = reached.decisions.iter().copied().collect();
    change.decisions_guessed = reached.guessed && !change.decisions.is_empty();
    consequence::tell(change, &reached.consequences);
    if reached.unread {
        crate::decision::tool::unread(change);
    }
}
