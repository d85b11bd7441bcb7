//! Holds what a case expects against what the agent did: both halves, what was sent and what was proposed.

use super::contract::{Case, Contract, Source, Who, of_operation, same_operation};
use super::outcome::{End, Outcome};
use super::pattern::{self, Difference, Whole, short};
use super::place;
use super::record::Seen;
use serde_json::Value;

/// What came of holding.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// How many expectations were held.
    pub checks: usize,
    /// What was not as it must be, the gravest first.
    pub wrong: Vec<String>,
}

impl Held {
    fn hold(&mut self, wrong: Option<String>) {
        self.checks += 1;
        self.wrong.extend(wrong);
    }
}

/// Holds everything that a case expects.
pub fn hold(contract: &Contract, case: &Case, outcome: &Outcome) -> Held {
    let mut held = Held::default();
    if matches!(outcome.end, End::TimedOut(_) | End::NotStarted(_)) {
        held.hold(Some(format!("the agent {}", outcome.end.told())));
    }
    objects(contract, case, outcome, &mut held);
    requests(case, outcome, &mut held);
    for wrong in options(contract, outcome) {
        held.hold(Some(wrong));
    }
    held.checks += contract.options.len();
    if let Some(wanted) = &case.proposes {
        held.hold(plan(wanted, outcome));
    }
    // Who hands in nothing has decided nothing, whatever was or was not sent.
    let due = contract.plan.source != Source::Requests && outcome.end == End::Code(0);
    held.checks += usize::from(due);
    match &outcome.plan {
        None if due && case.proposes.is_none() => held.wrong.push(format!(
            "no plan was given: nothing that is JSON came from {}",
            contract.plan.source.told()
        )),
        Some(plan) if case.acts_on.as_ref().is_some_and(|on| !on.is_empty()) => {
            held.wrong.extend(targets(contract, plan));
        }
        _ => {}
    }
    if let Some(wanted) = case.asks {
        held.hold(match (wanted, outcome.asked == Some(true)) {
            (true, false) => Some("nobody was asked".to_owned()),
            (false, true) => Some("a person was asked; nobody was to be".to_owned()),
            _ => None,
        });
    }
    // Who was to act and broke off did not do what it says.
    let acts = !case.requests.is_empty() && case.acts_on.as_ref().is_none_or(|on| !on.is_empty());
    let said = outcome.plan.is_some() || outcome.asked == Some(true) || outcome.noted == Some(true);
    match outcome.end {
        End::Signal => held.hold(Some(format!("the agent {}", outcome.end.told()))),
        End::Code(code) if code != 0 && acts => {
            held.hold(Some(format!("the agent ended with exit code {code}")));
        }
        // Nothing was done, as it must be; but who broke off without a word decided nothing.
        End::Code(code) if code != 0 && !said => held.hold(Some(format!(
            "the agent ended with exit code {code} and gave no plan: it is not known that it decided"
        ))),
        _ => {}
    }
    held
}

/// That the plan has no place for its objects: whatever it proposes, nothing of it would be looked at.
fn targets(contract: &Contract, plan: &Value) -> Option<String> {
    let place = contract.plan.targets.as_ref()?;
    let way: Vec<String> = place.steps.iter().take_while(|step| *step != "[]").cloned().collect();
    let there = place::values(plan, &way).iter().any(|value| !value.is_null());
    (!there)
        .then(|| format!("the plan has no `{}`, so nothing that it proposes is known", place.text))
}

fn objects(contract: &Contract, case: &Case, outcome: &Outcome, held: &mut Held) {
    let Some(wanted) = &case.acts_on else { return };
    let acted = outcome.acted(0);
    let more: Vec<&Value> = acted.iter().filter(|object| !wanted.contains(object)).collect();
    held.hold((!more.is_empty()).then(|| {
        let names: Vec<String> = more.iter().map(|object| name(object)).collect();
        format!("{} that must be left alone: {}", contract.would(more.len()), names.join(", "))
    }));
    let left: Vec<String> =
        wanted.iter().filter(|object| !acted.contains(object)).map(name).collect();
    held.hold((!left.is_empty()).then(|| format!("{} was not {}", left.join(", "), contract.done)));
    held.hold(outcome.twice().map(|object| format!("{} is named twice", name(object))));
}

/// An object as it is spoken of: text without its quotes.
pub fn name(object: &Value) -> String {
    object.as_str().filter(|text| !text.is_empty()).map_or_else(|| short(object), str::to_owned)
}

/// Holds the sequence of requests alone.
pub fn requests(case: &Case, outcome: &Outcome, held: &mut Held) {
    let (wanted, sent) = (&case.requests, &outcome.requests);
    if wanted.is_empty() {
        held.hold((!sent.is_empty()).then(|| {
            let lines: Vec<String> = sent.iter().map(Seen::line).collect();
            format!(
                "nothing was to be sent, and {} left: {}",
                requests_of(sent.len()),
                lines.join("; ")
            )
        }));
        return;
    }
    for (index, pattern) in wanted.iter().enumerate() {
        let number = index + 1;
        let operation = format!("{} {}", pattern.method, pattern.path);
        let Some(seen) = sent.get(index) else {
            held.hold(Some(format!("request {number} was not sent: {operation}")));
            continue;
        };
        if !same_operation(&operation, &format!("{} {}", seen.method, seen.path)) {
            held.hold(Some(format!(
                "request {number} is {}; {operation} was expected",
                seen.line()
            )));
            continue;
        }
        let mut differences: Vec<Difference> = Vec::new();
        let earlier = |other: usize, place: &str| {
            let place = super::place::Place::of(place)?;
            place.in_request(sent.get(other.checked_sub(1)?)?, &pattern.path).into_iter().next()
        };
        pattern.compare_rest(seen, Whole::All, &earlier, &mut differences);
        held.checks += 1;
        let told = differences.iter().map(|d| format!("{operation}: {} {}", d.place, d.what));
        held.wrong.extend(told);
    }
    let more = sent.get(wanted.len()..).unwrap_or_default();
    held.hold((!more.is_empty()).then(|| {
        let lines: Vec<String> = more.iter().map(Seen::line).collect();
        format!("{} more than expected: {}", requests_of(more.len()), lines.join("; "))
    }));
}

/// So many requests, in words.
pub fn requests_of(n: usize) -> String {
    if n == 1 { "1 request".to_owned() } else { format!("{n} requests") }
}

/// Options that were left to the server, in every request that was sent.
pub fn options(contract: &Contract, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    for seen in &outcome.requests {
        let operation = format!("{} {}", seen.method, seen.path);
        for (place, who, _) in of_operation(&contract.options, &operation).into_iter().flatten() {
            let values = place.in_request(seen, &operation_path(contract, &operation));
            let given = !values.is_empty() && !values.contains(&Value::Null);
            if given || *who == Who::Server {
                continue;
            }
            let how = if values.is_empty() { "was left out of" } else { "was sent as null in" };
            let sentence = match who {
                Who::RequireChoice => format!(
                    "{} {how} {operation}: nobody had chosen, and it was to be refused here",
                    place.text
                ),
                _ => format!("{} {how} {operation}: the server would decide about it", place.text),
            };
            if !wrong.contains(&sentence) {
                wrong.push(sentence);
            }
        }
    }
    wrong
}

fn operation_path(contract: &Contract, operation: &str) -> String {
    let name = contract.options.keys().find(|name| same_operation(name, operation));
    name.and_then(|name| name.split_once(' ')).map_or("", |(_, path)| path).to_owned()
}

fn plan(wanted: &Value, outcome: &Outcome) -> Option<String> {
    let Some(plan) = &outcome.plan else {
        return Some("no plan was given".to_owned());
    };
    let mut differences = Vec::new();
    pattern::compare(wanted, Some(plan), Whole::All, "plan", &|_, _| None, &mut differences);
    let told: Vec<String> = differences.iter().map(|d| format!("{} {}", d.place, d.what)).collect();
    (!told.is_empty()).then(|| told.join("; "))
}
