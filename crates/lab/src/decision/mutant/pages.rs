//! Lists that come in pages: a cursor is no consent.

use super::{Due, Ground, Mutant, NotMade};
use crate::decision::contract::{Pages, of_operation};
use crate::decision::expect;
use crate::decision::fixture::{Fixture, Payload};
use crate::decision::place::{pointer, pointers, spelled};
use crate::decision::shelf::{Armed, Fault, put};
use crate::decision::why::identity;
use serde_json::{Value, json};

/// The cursor that is answered where there was none.
const CURSOR: &str = "page-2";

pub(super) fn make(ground: &Ground<'_>, mutants: &mut Vec<Mutant>, not_made: &mut Vec<NotMade>) {
    for fixture in ground.fixtures.iter().copied() {
        let Some(pages) = of_operation(&ground.contract.pages, &fixture.operation()) else {
            continue;
        };
        let Payload::Json(body) = &fixture.response.body else { continue };
        let lists = pages.items.steps.get(1..pages.items.steps.len() - 1).unwrap_or_default();
        let list = pointers(body, lists).into_iter().next();
        let items = list.as_deref().and_then(|list| body.pointer(list)).and_then(Value::as_array);
        let (Some(list), Some(items)) = (list, items) else {
            not_made.push(NotMade {
                name: format!("{} pages", fixture.id()),
                why: format!("{} is no list in {}", pages.items.text, fixture.id()),
            });
            continue;
        };
        let cursor = pointer(&pages.cursor.steps[1..]);
        let paged = Paged { ground, fixture, pages, list: &list, cursor: &cursor };
        // Where the cursor has no place, no answer could carry one.
        if !put(&mut body.clone(), &cursor, json!(CURSOR)) {
            not_made.push(NotMade {
                name: format!("{} pages", fixture.id()),
                why: format!("{} has no place in {}", pages.cursor.text, fixture.id()),
            });
            continue;
        }
        for made in [paged.empty_page(), paged.over_the_cap(items)] {
            match made {
                Some(mutant) => mutants.push(mutant),
                None => not_made.push(NotMade {
                    name: format!("{} a second page", fixture.id()),
                    why: format!("{} has no place in the request", pages.sent.text),
                }),
            }
        }
        mutants.push(paged.endless(items.len()));
    }
}

struct Paged<'p> {
    ground: &'p Ground<'p>,
    fixture: &'p Fixture,
    pages: &'p Pages,
    list: &'p str,
    cursor: &'p str,
}

impl Paged<'_> {
    fn mutant(&self, name: &str, changed: Vec<Fixture>, faults: Vec<Armed>, most: usize) -> Mutant {
        Mutant {
            name: format!("{} {name}", self.fixture.id()),
            what: name.to_owned(),
            fixture: self.fixture.id(),
            changed,
            faults,
            due: Due::Pages {
                on: self.fixture.operation(),
                sent: self.pages.sent.clone(),
                most: if self.pages.follow { most } else { 1 },
            },
        }
    }

    /// A page with these items and this cursor.
    fn page(&self, items: Vec<Value>, cursor: Value) -> Option<Fixture> {
        let mut page = self.fixture.clone();
        let Payload::Json(body) = &mut page.response.body else { return None };
        *body.pointer_mut(self.list)? = Value::Array(items);
        put(body, self.cursor, cursor).then_some(page)
    }

    /// What is answered to the cursor.
    fn second(&self, items: Vec<Value>) -> Option<Fixture> {
        let mut page = self.page(items, Value::Null)?;
        page.name = format!("{}-second-page", page.name);
        let name = self.pages.sent.steps.get(1).cloned().unwrap_or_default();
        if self.pages.sent.steps.first().map(String::as_str) == Some("query") {
            page.request.query.insert(name, json!(CURSOR));
        } else {
            let mut body = page.request.body.take().unwrap_or_else(|| json!({}));
            if !put(&mut body, &pointer(&self.pages.sent.steps[1..]), json!(CURSOR)) {
                return None;
            }
            page.request.body = Some(body);
        }
        Some(page)
    }

    fn empty_page(&self) -> Option<Mutant> {
        let changed = vec![self.page(Vec::new(), json!(CURSOR))?, self.second(Vec::new())?];
        let mut mutant = self.mutant("an empty page with a cursor", changed, Vec::new(), 2);
        if self.pages.follow {
            // The second page is empty too: there is nothing to act on.
            mutant.due = Due::NoAct;
        }
        Some(mutant)
    }

    /// The second page brings one object more than may be looked at, each like one that is acted on.
    fn over_the_cap(&self, items: &[Value]) -> Option<Mutant> {
        let acted = self.ground.base.acted(0);
        let surface = self.ground.surface(self.fixture);
        let target = match &self.fixture.response.body {
            Payload::Json(body) => surface.and_then(|surface| identity(surface, body, &acted)),
            _ => None,
        };
        let name = target.and_then(|t| t.path.last()).cloned().unwrap_or_else(|| "id".to_owned());
        let like = items
            .iter()
            .find(|item| item.get(&name).is_some_and(|id| acted.contains(&spelled(id.clone()))));
        let like = like.or(items.first()).cloned().unwrap_or_else(|| json!({}));
        let more = (self.pages.most + 1).saturating_sub(items.len()).max(1);
        let copy = |n: usize| {
            let mut item = like.clone();
            if let Some(id) = item.get_mut(&name) {
                *id = match &*id {
                    Value::Number(_) => json!(900_000 + n),
                    other => json!(format!("{}-more-{n}", expect::name(other))),
                };
            }
            item
        };
        let second = self.second((1..=more).map(copy).collect())?;
        let changed = vec![self.page(items.to_vec(), json!(CURSOR))?, second];
        Some(self.mutant("a second page over the cap", changed, Vec::new(), 2))
    }

    fn endless(&self, each: usize) -> Mutant {
        let armed = Armed {
            fixture: Some(self.fixture.name.clone()),
            fault: Fault::EndlessCursor,
            times: None,
            at: Some(self.cursor.to_owned()),
        };
        // The page that goes over the cap may be read: only then is it known.
        let most = self.pages.most / each.max(1) + 1;
        self.mutant("an endless cursor", Vec::new(), vec![armed], most)
    }
}
