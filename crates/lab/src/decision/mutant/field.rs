//! Changes of one value that the map names: in every object, and in one that is acted on and one that is not.

use super::{Due, Ground, Mutant, NEW_NUMBER, NEW_WORD, NotMade, Scope};
use crate::decision::contract::of_operation;
use crate::decision::expect;
use crate::decision::fixture::{Fixture, Payload};
use crate::decision::place::{pointers, spelled, values};
use crate::decision::why::identity;
use contract::Decision;
use contract::decision::{Consequence, Reading};
use serde_json::{Map, Value, json};

/// What the map says about the value that is changed.
struct Line<'l> {
    reading: &'l Reading,
    /// The other name that holds during a migration.
    alias: Option<&'l str>,
}

/// Why a kind has its consequence.
#[derive(Clone, Copy)]
enum Because {
    /// The value cannot be read.
    Absent,
    /// The value is none that is known.
    Unknown,
    /// The value can be read as before.
    Same,
}

/// One way to change a member of an object.
struct Kind {
    /// What is done, for the name of the mutant. `{alias}` is the other name.
    name: &'static str,
    /// What changed, for the sentence: the name of the member stands before it.
    told: &'static str,
    due: Because,
    /// Changes the member where this kind can, and says so.
    change: fn(&mut Map<String, Value>, &str, &Line<'_>) -> bool,
}

/// Every way, in the order in which it is told.
const KINDS: &[Kind] = &[
    Kind {
        name: "missing",
        told: "missing",
        due: Because::Absent,
        change: |object, name, _| {
            !object.get(name).is_some_and(Value::is_boolean) && object.shift_remove(name).is_some()
        },
    },
    Kind {
        name: "left out",
        told: "left out",
        due: Because::Absent,
        change: |object, name, _| {
            object.get(name).is_some_and(Value::is_boolean) && object.shift_remove(name).is_some()
        },
    },
    Kind {
        name: "left out where it is false",
        told: "left out where it is false",
        due: Because::Absent,
        change: |object, name, _| {
            let usual = [json!(false), json!(0), json!("")];
            object.get(name).is_some_and(|value| usual.contains(value))
                && object.shift_remove(name).is_some()
        },
    },
    Kind {
        name: "null",
        told: "null",
        due: Because::Absent,
        change: |object, name, _| {
            replace(object, name, |old| (!old.is_null()).then_some(Value::Null))
        },
    },
    Kind {
        name: "empty",
        told: "empty",
        due: Because::Absent,
        change: |object, name, _| {
            replace(object, name, |old| match old {
                Value::String(text) if !text.is_empty() => Some(json!("")),
                Value::Object(members) if !members.is_empty() => Some(json!({})),
                _ => None,
            })
        },
    },
    Kind {
        name: "of another type",
        told: "of another type",
        due: Because::Absent,
        change: |object, name, _| {
            replace(object, name, |old| match old {
                Value::String(text) => Some(json!({"value": text})),
                Value::Bool(flag) => Some(json!(if *flag { "true" } else { "false" })),
                Value::Number(number) => Some(json!(number.to_string())),
                Value::Object(_) => Some(json!("changed")),
                Value::Array(_) => Some(json!({})),
                Value::Null => None,
            })
        },
    },
    Kind {
        name: "renamed to {alias}",
        told: "renamed",
        due: Because::Absent,
        change: |object, name, line| {
            let new = other_name(name, line);
            !object.contains_key(&new) && rename(object, name, &new)
        },
    },
    Kind {
        name: "beside {alias} with the same value",
        told: "there under both names",
        due: Because::Same,
        change: |object, name, line| {
            let value = object.get(name).filter(|_| line.alias.is_some()).cloned();
            let Some(value) = value else { return false };
            object.insert(other_name(name, line), value);
            true
        },
    },
    Kind {
        name: "beside {alias} with another value",
        told: "there under two names that contradict each other",
        due: Because::Absent,
        change: |object, name, line| {
            let other = match object.get(name).filter(|_| line.alias.is_some()) {
                Some(Value::String(text)) => json!(format!("{text}-other")),
                Some(Value::Bool(flag)) => json!(!flag),
                Some(Value::Number(_)) => json!(-1),
                _ => return false,
            };
            object.insert(other_name(name, line), other);
            true
        },
    },
    Kind {
        name: "a new value",
        told: "with a value that nobody knows",
        due: Because::Unknown,
        change: |object, name, line| {
            line.reading.unknown.is_some()
                && replace(object, name, |old| match old {
                    Value::String(_) => Some(json!(NEW_WORD)),
                    Value::Number(_) => Some(json!(NEW_NUMBER)),
                    _ => None,
                })
        },
    },
    Kind {
        name: "a number beyond 2^53",
        told: "a number that many readers round",
        due: Because::Absent,
        change: |object, name, line| {
            // Nine quadrillion and one more than a double can hold.
            line.reading.feeds.contains(&Decision::Target)
                && replace(object, name, |old| {
                    old.is_string().then(|| json!(9_007_199_254_740_993_u64))
                })
        },
    },
];

/// Changes a member where the change gives a new value.
fn replace(
    object: &mut Map<String, Value>,
    name: &str,
    new: impl Fn(&Value) -> Option<Value>,
) -> bool {
    let Some(old) = object.get_mut(name) else { return false };
    let Some(value) = new(old) else { return false };
    *old = value;
    true
}

/// Another name for a member, which keeps its place.
fn rename(object: &mut Map<String, Value>, name: &str, new: &str) -> bool {
    if !object.contains_key(name) {
        return false;
    }
    let members = std::mem::take(object);
    for (key, value) in members {
        let key = if key == name { new.to_owned() } else { key };
        object.insert(key, value);
    }
    true
}

fn other_name(name: &str, line: &Line<'_>) -> String {
    match line.alias {
        Some(alias) => alias.to_owned(),
        None if name.ends_with("id") => format!("{name}_new"),
        None => format!("{name}_id"),
    }
}

/// An object that holds the value: where it stands, and its identifier where it has one.
struct Holder {
    pointer: String,
    id: Option<Value>,
}

pub(super) fn make(ground: &Ground<'_>, mutants: &mut Vec<Mutant>, not_made: &mut Vec<NotMade>) {
    // A value may stand in one fixture of an operation and not in another.
    let mut without: Vec<NotMade> = Vec::new();
    let mut with: Vec<String> = Vec::new();
    for fixture in ground.fixtures.iter().copied() {
        let Some(surface) = ground.surface(fixture) else { continue };
        let target = match &fixture.response.body {
            Payload::Json(body) => identity(surface, body, &ground.base.acted(0)),
            _ => None,
        };
        for reading in surface.response.iter().filter(|reading| about(reading, fixture)) {
            if reading.path.first().is_some_and(|head| head == "header") {
                header(ground, fixture, reading, mutants, not_made);
            }
            if reading.path.first().is_none_or(|head| head != "body") {
                continue;
            }
            let place = shown(&reading.path);
            let key = format!("{} {place}", fixture.operation());
            let Some(holders) = holders(fixture, reading, target) else {
                without.push(NotMade {
                    name: format!("{} {place}", fixture.id()),
                    why: match member(reading) {
                        [] => format!(
                            "no change is made of the list of {} as a whole",
                            fixture.operation()
                        ),
                        _ => format!("no fixture of {} holds {place}", fixture.operation()),
                    },
                });
                continue;
            };
            with.push(key);
            let aliases = of_operation(&ground.contract.aliases, &fixture.operation());
            let alias = aliases.into_iter().flatten().find(|(at, _)| at.steps == reading.path);
            let line = Line { reading, alias: alias.map(|(_, name)| name.as_str()) };
            for kind in KINDS {
                of_kind(ground, fixture, &line, &place, kind, &holders, mutants);
            }
            not_made.extend(no_new_value(fixture, &line, &place, &holders));
        }
        twice(ground, fixture, target, mutants);
    }
    // Only what stands in no fixture at all is out of reach.
    without.retain(|lost| {
        let mut served =
            ground.fixtures.iter().filter(|f| lost.name.starts_with(&format!("{} ", f.id())));
        let operation = served.next().map(|fixture| fixture.operation()).unwrap_or_default();
        let place = lost.name.split_once(' ').map_or("", |(_, place)| place);
        !with.contains(&format!("{operation} {place}"))
    });
    not_made.extend(without);
}

/// What the map says of unknown values, where the value is of a kind of which none is made.
fn no_new_value(
    fixture: &Fixture,
    line: &Line<'_>,
    place: &str,
    holders: &[Holder],
) -> Option<NotMade> {
    line.reading.unknown?;
    let Payload::Json(body) = &fixture.response.body else { return None };
    let name = member(line.reading).last()?;
    let made = holders.iter().any(|holder| {
        let value = body.pointer(&holder.pointer).and_then(|object| object.get(name));
        value.is_some_and(|value| value.is_string() || value.is_number())
    });
    (!made).then(|| NotMade {
        name: format!("{} {place} a new value", fixture.id()),
        why: format!(
            "a new value is made of texts and numbers, and {place} is neither in {}",
            fixture.id()
        ),
    })
}

/// Whether a line of the map is about the answer of this fixture.
fn about(reading: &Reading, fixture: &Fixture) -> bool {
    let status = fixture.response.status.to_string();
    reading.status.as_deref().is_none_or(|wanted| {
        wanted.eq_ignore_ascii_case(&status)
            || wanted.eq_ignore_ascii_case(&format!("{}XX", &status[..1]))
    })
}

fn shown(path: &[String]) -> String {
    path.join(".").replace(".[]", "[]")
}

/// The objects of a fixture that hold the value of a line; none where nothing does.
fn holders(fixture: &Fixture, reading: &Reading, target: Option<&Reading>) -> Option<Vec<Holder>> {
    let Payload::Json(body) = &fixture.response.body else { return None };
    let (name, around) = member(reading).split_last()?;
    let holders: Vec<Holder> = pointers(body, around)
        .into_iter()
        .filter(|pointer| body.pointer(pointer).is_some_and(|object| object.get(name).is_some()))
        .map(|pointer| Holder { id: id_of(body, &pointer, target), pointer })
        .collect();
    (!holders.is_empty()).then_some(holders)
}

/// The way in the body to the member that a line is about: what stands in a list of values is changed with the list.
fn member(reading: &Reading) -> &[String] {
    let path = &reading.path[1..];
    let lists = path.iter().rev().take_while(|step| *step == "[]").count();
    &path[..path.len() - lists]
}

/// The identifier of the object of a list in which a place stands.
fn id_of(body: &Value, pointer: &str, target: Option<&Reading>) -> Option<Value> {
    let target = target?;
    let last = target.path.iter().rposition(|step| step == "[]")?;
    let depth = target.path[1..=last].len();
    let steps: Vec<&str> = pointer.split('/').skip(1).collect();
    let object = format!("/{}", steps.get(..depth)?.join("/"));
    values(body.pointer(&object)?, &target.path[last + 1..]).into_iter().next().map(spelled)
}

fn of_kind(
    ground: &Ground<'_>,
    fixture: &Fixture,
    line: &Line<'_>,
    place: &str,
    kind: &Kind,
    holders: &[Holder],
    mutants: &mut Vec<Mutant>,
) {
    let way = member(line.reading);
    let name = way.last().map_or("", String::as_str);
    let acted = ground.base.acted(0);
    // All at once, then one that is acted on and one that is not: a provider may change some answers only.
    let mut scopes: Vec<(Vec<&Holder>, Scope)> = vec![(holders.iter().collect(), Scope::All)];
    let listed = way.iter().any(|step| step == "[]");
    for wanted in [true, false] {
        let one = holders.iter().find_map(|holder| {
            let id = holder.id.clone().filter(|id| acted.contains(id) == wanted)?;
            Some((vec![holder], Scope::One { id, acted: wanted }))
        });
        scopes.extend(one.filter(|_| listed));
    }
    let mut known: Vec<Scope> = Vec::new();
    for (holders, scope) in scopes {
        let mut changed = fixture.clone();
        let Payload::Json(body) = &mut changed.response.body else { return };
        let change = |body: &mut Value, holder: &Holder| match body.pointer_mut(&holder.pointer) {
            Some(Value::Object(object)) => (kind.change)(object, name, line),
            _ => false,
        };
        // Where a change can be made in some objects only, it is made in the first of them.
        let can: Vec<&Holder> =
            holders.iter().copied().filter(|holder| change(&mut body.clone(), holder)).collect();
        let (holders, scope) = match can.as_slice() {
            [] => continue,
            some if some.len() == holders.len() => (some.to_vec(), scope),
            [first, ..] => match first.id.clone() {
                Some(id) => {
                    let acted = acted.contains(&id);
                    (vec![*first], Scope::One { id, acted })
                }
                None => continue,
            },
        };
        if known.contains(&scope) {
            continue;
        }
        known.push(scope.clone());
        for holder in &holders {
            change(body, holder);
        }
        let consequence = match kind.due {
            Because::Absent => line.reading.absent.unwrap_or_else(|| ground.usual()),
            Because::Unknown => line.reading.unknown.unwrap_or_else(|| ground.usual()),
            Because::Same => Consequence::Note,
        };
        // Under a declared alias a new name alone can be read as before.
        let same =
            matches!(kind.due, Because::Same) || (kind.told == "renamed" && line.alias.is_some());
        let due = if same { Due::Unchanged } else { Due::Declared(consequence, scope.clone()) };
        let alias = other_name(name, line);
        let (scoped, told) = match &scope {
            Scope::All if listed => (" in all".to_owned(), String::new()),
            Scope::All => (String::new(), String::new()),
            Scope::One { id, .. } => {
                let id = expect::name(id);
                (format!(" in {id}"), format!(" in {id}"))
            }
        };
        mutants.push(Mutant {
            name: format!(
                "{} {place} {}{scoped}",
                fixture.id(),
                kind.name.replace("{alias}", &alias)
            ),
            what: format!("{name} {}{told}", kind.told),
            fixture: fixture.id(),
            changed: vec![changed],
            faults: Vec::new(),
            due,
        });
    }
}

/// A header that is missing.
fn header(
    ground: &Ground<'_>,
    fixture: &Fixture,
    reading: &Reading,
    mutants: &mut Vec<Mutant>,
    not_made: &mut Vec<NotMade>,
) {
    let name = reading.path.get(1).map_or("", String::as_str);
    let mut changed = fixture.clone();
    if changed.response.headers.remove(name).is_none() {
        not_made.push(NotMade {
            name: format!("{} header.{name}", fixture.id()),
            why: format!("{} answers without {name}", fixture.id()),
        });
        return;
    }
    let consequence = reading.absent.unwrap_or_else(|| ground.usual());
    mutants.push(Mutant {
        name: format!("{} header.{name} missing", fixture.id()),
        what: format!("the header {name} missing"),
        fixture: fixture.id(),
        changed: vec![changed],
        faults: Vec::new(),
        due: Due::Declared(consequence, Scope::All),
    });
}

/// The same identifier in two objects: alike, and with the values of another object.
fn twice(
    ground: &Ground<'_>,
    fixture: &Fixture,
    target: Option<&Reading>,
    mutants: &mut Vec<Mutant>,
) {
    let Payload::Json(body) = &fixture.response.body else { return };
    let Some(target) = target else { return };
    let Some(last) = target.path.iter().rposition(|step| step == "[]") else { return };
    let list = &target.path[1..last];
    let Some(list) = pointers(body, list).into_iter().next() else { return };
    let Some(Value::Array(items)) = body.pointer(&list) else { return };
    let id = |item: &Value| values(item, &target.path[last + 1..]).into_iter().next();
    let acted = ground.base.acted(0);
    let is_acted = |item: &&Value| id(item).is_some_and(|id| acted.contains(&spelled(id)));
    let Some(one) = items.iter().find(is_acted) else { return };
    let mut push = |name: &str, what: &str, second: Value, due: Due| {
        let mut changed = fixture.clone();
        if let Payload::Json(body) = &mut changed.response.body
            && let Some(Value::Array(items)) = body.pointer_mut(&list)
        {
            items.push(second);
        }
        mutants.push(Mutant {
            name: format!("{} {name}", fixture.id()),
            what: what.to_owned(),
            fixture: fixture.id(),
            changed: vec![changed],
            faults: Vec::new(),
            due,
        });
    };
    push("an identifier twice", "an identifier twice", one.clone(), Due::NotTwice);
    let other = items.iter().find(|item| !is_acted(item));
    if let (Some(other), Some(id)) = (other, id(one)) {
        let mut second = other.clone();
        let inner = pointers(&second, &target.path[last + 1..]).into_iter().next();
        if let Some(slot) = inner.and_then(|inner| second.pointer_mut(&inner)) {
            *slot = id.clone();
            let consequence = target.absent.unwrap_or_else(|| ground.usual());
            push(
                "an identifier twice with other values",
                "an identifier twice with values that contradict each other",
                second,
                Due::Declared(consequence, Scope::One { id: spelled(id), acted: true }),
            );
        }
    }
}
