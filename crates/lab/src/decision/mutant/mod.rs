//! Failure fixtures, made from the decision map and the fixtures: every way in which what an agent reads can change
//! under it, and the ways that change nothing for it. Pure: the same ground gives the same mutants in the same order.

mod benign;
mod contradicted;
mod field;
mod pages;
mod unmet;
mod whole;

use super::contract::{Contract, of_operation};
use super::fixture::Fixture;
use super::outcome::Outcome;
use super::place::Place;
use super::shelf::Armed;
use crate::limits;
use contract::decision::{Consequence, DecisionMap, Surface};
use serde_json::Value;

/// One change of what an agent meets.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Its name: the fixture, the place, the change, and where it is made.
    pub name: String,
    /// What changed, to begin a sentence: "owner missing".
    pub what: String,
    /// The fixture that is changed; the mutant is reached where it is served.
    pub fixture: String,
    /// Fixtures that take the place of those with the same id, or stand beside the others.
    pub changed: Vec<Fixture>,
    /// What goes wrong.
    pub faults: Vec<Armed>,
    /// What must come of it.
    pub due: Due,
}

/// What must come of a mutant.
#[derive(Debug, Clone, PartialEq)]
pub enum Due {
    /// The same as without it: nothing that the agent reads has changed.
    Unchanged,
    /// What the map declares.
    Declared(Consequence, Scope),
    /// Nothing is acted on: what was answered is no ground for it.
    NoAct,
    /// The same as without it, or less.
    SameOrLess,
    /// The action is not carried out again without the same token, and nobody takes it for done.
    Once(Option<Place>),
    /// No object twice, none beyond what was acted on before.
    NotTwice,
    /// Not more pages than the cap allows, and nothing beyond the first is acted on.
    Pages {
        /// The operation.
        on: String,
        /// Where the cursor is sent.
        sent: Place,
        /// How many requests of this operation there may be.
        most: usize,
    },
}

impl Due {
    /// In words, for a report.
    pub fn told(&self) -> String {
        match self {
            Due::Unchanged => "the same as without the change".to_owned(),
            Due::Declared(consequence, Scope::All) => format!("the agent {}", consequence.deed()),
            Due::Declared(consequence, Scope::One { id, .. }) => {
                format!("the agent {} ({})", consequence.deed(), super::expect::name(id))
            }
            Due::NoAct => "nothing is acted on".to_owned(),
            Due::SameOrLess => "the same as without the change, or less".to_owned(),
            Due::Once(Some(place)) => format!("sent once, or again with the same {}", place.text),
            Due::Once(None) => "sent once".to_owned(),
            Due::NotTwice => "no object twice".to_owned(),
            Due::Pages { most, .. } => {
                format!("at most {most} pages, and nothing beyond the cap is acted on")
            }
        }
    }
}

/// Which objects are changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// All of them, or the one there is.
    All,
    /// This one, by its identifier.
    One {
        /// The identifier, as it was before.
        id: Value,
        /// It is acted on where nothing is changed.
        acted: bool,
    },
}

/// Something that could not be made, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotMade {
    /// What it is about.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What mutants are made from.
pub struct Ground<'g> {
    /// The contract.
    pub contract: &'g Contract,
    /// The map.
    pub map: &'g DecisionMap,
    /// The fixtures that were served without a change, in the order in which they were.
    pub fixtures: Vec<&'g Fixture>,
    /// Every fixture of the contract.
    pub known: &'g [Fixture],
    /// The name of the case that is changed.
    pub case: &'g str,
    /// What the agent did without a change.
    pub base: &'g Outcome,
}

impl Ground<'_> {
    /// What the map says of the operation of a fixture.
    pub(super) fn surface(&self, fixture: &Fixture) -> Option<&Surface> {
        let id = fixture.operation_id.as_deref();
        let found = self.map.operation(id, &fixture.operation());
        found.or_else(|| of_operation(&self.map.operations, &fixture.operation()))
    }

    /// What happens where the map does not say it.
    pub(super) fn usual(&self) -> Consequence {
        if self.contract.acts { Consequence::Stop } else { Consequence::Note }
    }
}

/// One maker of mutants.
type Maker = fn(&Ground<'_>, &mut Vec<Mutant>, &mut Vec<NotMade>);

/// All makers, in the order in which their mutants are told.
const MAKERS: &[Maker] =
    &[field::make, contradicted::make, pages::make, whole::make, benign::make, unmet::make];

/// Makes all mutants, and says what could not be made.
pub fn make(ground: &Ground<'_>) -> (Vec<Mutant>, Vec<NotMade>) {
    let (mut mutants, mut not_made) = (Vec::new(), Vec::new());
    for maker in MAKERS {
        maker(ground, &mut mutants, &mut not_made);
    }
    mutants.retain(|mutant| {
        let changes = changes(ground, mutant);
        if !changes {
            let why = format!("it leaves {} as it is", mutant.fixture);
            not_made.push(NotMade { name: mutant.name.clone(), why });
        }
        changes
    });
    if mutants.len() > limits::MUTANTS {
        let more = mutants.len() - limits::MUTANTS;
        mutants.truncate(limits::MUTANTS);
        not_made.push(NotMade {
            name: format!("{more} more mutants"),
            why: format!("more than {} are not made of one contract", limits::MUTANTS),
        });
    }
    (mutants, not_made)
}

/// Whether anything is served differently under a mutant. Answers are compared as they are sent: another order of
/// members is a change.
fn changes(ground: &Ground<'_>, mutant: &Mutant) -> bool {
    let sent = |fixture: &Fixture| {
        let answer = &fixture.response;
        (answer.status, answer.headers.clone(), answer.body.bytes())
    };
    let same = |new: &Fixture, old: &Fixture| {
        new.id() == old.id() && new.request == old.request && sent(new) == sent(old)
    };
    let is_new = |new: &Fixture| !ground.known.iter().any(|old| same(new, old));
    !mutant.faults.is_empty() || mutant.changed.iter().any(is_new)
}

/// A value that no listed one is.
pub(super) const NEW_WORD: &str = "not-yet-known";

/// The same among numbers: what stands for a kind or a code is small.
pub(super) const NEW_NUMBER: u64 = 987_654_321;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Document;
    use std::collections::BTreeSet;

    const FIXTURE: &str = "\
fixture: 1
name: list
version: 1
request: {method: GET, path: /p}
response:
  body:
    items:
      - {why: a, id: p1, state: off, owner: a, archivable: true, kind: 3}
      - {why: b, id: p2, state: off, owner: b, archivable: false, kind: 3}
    next: null
";
    const MAP: &str = "\
decision-map: 1
operations:
  GET /p:
    response:
      body.items[].id: {feeds: target, absent: stop}
      body.items[].state: {feeds: eligibility, absent: skip, unknown: ask}
      body.items[].owner: {feeds: eligibility, absent: stop}
      body.items[].archivable: {feeds: eligibility, absent: skip}
      body.items[].risk: eligibility
      body.items[].kind: {feeds: eligibility, absent: stop, unknown: stop}
      body.next: {feeds: completion, unknown: note}
";
    const CONTRACT: &str = "\
contract: 1
name: t
agent: {command: [x]}
fixtures: [.]
plan: {from: stdout, targets: 'archive[]'}
aliases: {GET /p: {'body.items[].owner': owner_id}}
pages: {GET /p: {items: 'body.items[]', cursor: body.next, sent-as: query.cursor, most-objects: 5, second-page: never}}
cases: [{name: c, requests: [GET /p], acts-on: [p1]}]
";

    fn made() -> (Vec<Mutant>, Vec<NotMade>) {
        let fixture = Fixture::read(&Document::parse("f", FIXTURE.as_bytes()).unwrap()).unwrap();
        let contract = Contract::read(&Document::parse("c", CONTRACT.as_bytes()).unwrap()).unwrap();
        let map = DecisionMap::parse("m.yaml", MAP).unwrap();
        let base = Outcome { planned: vec!["p1".into()], ..Outcome::default() };
        let known = [fixture];
        make(&Ground {
            contract: &contract,
            map: &map,
            fixtures: vec![&known[0]],
            known: &known,
            case: "c",
            base: &base,
        })
    }

    #[test]
    fn every_kind_of_the_list_is_made_and_each_once() {
        let (mutants, not_made) = made();
        let names: BTreeSet<&str> = mutants.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names.len(), mutants.len());
        for wanted in [
            "list-v1 body.items[].owner missing in all",
            "list-v1 body.items[].owner missing in p1",
            "list-v1 body.items[].owner missing in p2",
            "list-v1 body.items[].owner null in all",
            "list-v1 body.items[].owner empty in all",
            "list-v1 body.items[].owner of another type in all",
            "list-v1 body.items[].owner beside owner_id with the same value in all",
            "list-v1 body.items[].owner beside owner_id with another value in p1",
            "list-v1 body.items[].owner renamed to owner_id in all",
            "list-v1 body.items[].id renamed to id_new in all",
            "list-v1 body.items[].id a number beyond 2^53 in p1",
            "list-v1 body.items[].state a new value in p1",
            "list-v1 body.items[].kind a new value in p1",
            "list-v1 body.items[].archivable left out in p1",
            "list-v1 body.items[].archivable left out where it is false in p2",
            "list-v1 an identifier twice",
            "list-v1 an identifier twice with other values",
            "list-v1 an empty page with a cursor",
            "list-v1 a second page over the cap",
            "list-v1 an endless cursor",
            "list-v1 another content type",
            "list-v1 an error with status 200",
            "list-v1 a truncated body",
            "list-v1 no answer at first",
            "list-v1 status 500 at first",
            "list-v1 a field that nobody knows",
            "list-v1 members in another order",
        ] {
            assert!(names.contains(wanted), "no {wanted:?} in\n{names:#?}");
        }
        let lost: Vec<&str> = not_made.iter().map(|lost| lost.name.as_str()).collect();
        assert_eq!(lost, ["list-v1 body.next a new value", "list-v1 body.items[].risk"]);
    }

    #[test]
    fn consequences_are_those_of_the_map() {
        let (mutants, _) = made();
        let due = |name: &str| mutants.iter().find(|m| m.name == name).unwrap().due.clone();
        assert_eq!(
            due("list-v1 body.items[].owner missing in all"),
            Due::Declared(Consequence::Stop, Scope::All)
        );
        assert_eq!(
            due("list-v1 body.items[].archivable left out in p2"),
            Due::Declared(Consequence::Skip, Scope::One { id: "p2".into(), acted: false })
        );
        assert_eq!(
            due("list-v1 body.items[].state a new value in p1"),
            Due::Declared(Consequence::Ask, Scope::One { id: "p1".into(), acted: true })
        );
        // Both names hold during the migration that the contract declares.
        assert_eq!(due("list-v1 body.items[].owner renamed to owner_id in all"), Due::Unchanged);
        assert_eq!(due("list-v1 a field that nobody knows"), Due::Unchanged);
    }
}
