//! What a scenario may not say, although each of its parts can be read: expectations that nothing can meet, and
//! stories in which nothing is tested.

use super::scenario::{Answer, Arrives, Call, Deed, Expected, Request, Scenario, Server, Shown};
use crate::read::{Node, Reader};
use crate::script::Phase;
use std::collections::{BTreeMap, BTreeSet};

/// Notes every way in which the scenario could not show anything.
pub fn sound<'d>(scenario: &Scenario, root: &Node<'d>, reader: &mut Reader<'d>) {
    let Some(steps) = root.get("steps") else { return };
    whole(scenario, &steps, reader);
    let mut checker = Checker {
        scenario,
        reader,
        plans: BTreeMap::new(),
        open: BTreeSet::new(),
        switched: false,
    };
    for (step, node) in scenario.steps.iter().zip(steps.items()) {
        checker.step(&step.deed, &node);
    }
    let left: Vec<String> = checker.open.iter().cloned().collect();
    for name in left {
        reader.problem(
            &steps,
            format!("The call `{name}` is started and never finished."),
            "Add `finish:`.",
        );
    }
}

/// Notes a story in which nothing drifts or nothing is tried.
fn whole<'d>(scenario: &Scenario, steps: &Node<'d>, reader: &mut Reader<'d>) {
    let any = |is: fn(&Deed) -> bool| scenario.steps.iter().any(|step| is(&step.deed));
    if scenario.steps.is_empty() {
        reader.problem(
            steps,
            "There are no steps, so nothing would be shown.",
            "Begin with `list`, `plan`, `switch`, `call`.",
        );
        return;
    }
    if !any(|deed| matches!(deed, Deed::Switch)) {
        reader.problem(
            steps,
            "The server never changes here: this is no drift.",
            "Add the step `switch`.",
        );
    }
    if !any(|deed| matches!(deed, Deed::Call(..) | Deed::Finish(..))) {
        reader.problem(
            steps,
            "Nothing is called, so nothing would be shown.",
            "Add a step `call`.",
        );
    }
}

struct Checker<'s, 'r, 'd> {
    scenario: &'s Scenario,
    reader: &'r mut Reader<'d>,
    plans: BTreeMap<String, Call>,
    /// Started and not finished.
    open: BTreeSet<String>,
    switched: bool,
}

impl<'d> Checker<'_, '_, 'd> {
    fn step(&mut self, deed: &Deed, node: &Node<'d>) {
        match deed {
            Deed::Plan { name, call } => {
                let twice = self.plans.insert(name.clone(), call.clone()).is_some();
                if twice {
                    self.reader.problem(
                        node,
                        format!("`{name}` is planned twice."),
                        "Give each plan a name of its own.",
                    );
                }
            }
            Deed::Switch => {
                if self.switched {
                    self.reader.problem(
                        node,
                        "The server has switched already.",
                        "One scenario has one switch.",
                    );
                }
                self.switched = true;
            }
            Deed::List(Some(Shown::After)) if !self.switched => {
                self.reader.problem(
                    node,
                    "The new list can never be shown before the switch.",
                    "Write `shows: before`, or move the step.",
                );
            }
            Deed::List(Some(Shown::Before | Shown::After)) if self.made().is_none() => {
                self.reader.problem(
                    node,
                    "What real programs list is not known beforehand.",
                    "Name the tools: `shows: [NAME, …]`.",
                );
            }
            Deed::Start(name) => {
                self.planned(name, node);
                if !self.open.insert(name.clone()) {
                    self.reader.problem(
                        node,
                        format!("`{name}` is under way already."),
                        "Finish it first.",
                    );
                }
            }
            Deed::Arrived(name) if !self.open.contains(name) => {
                self.reader.problem(
                    node,
                    format!("`{name}` is not under way."),
                    "Write `start:` before it.",
                );
            }
            Deed::FailRefresh | Deed::MendRefresh if self.made().is_none() => {
                self.reader.problem(
                    node,
                    "The lists of real programs cannot be made to fail.",
                    "Leave the step out, or make the server up.",
                );
            }
            Deed::Finish(name, expected) => {
                if !self.open.remove(name) {
                    self.reader.problem(
                        node,
                        format!("`{name}` was not started."),
                        "Write `start:` before it, or `call:` in place of both.",
                    );
                }
                self.expected(name, expected, node);
            }
            Deed::Call(name, expected) => {
                self.planned(name, node);
                self.expected(name, expected, node);
            }
            _ => {}
        }
    }

    /// The two states of a made-up server.
    fn made(&self) -> Option<[&Phase; 2]> {
        match &self.scenario.server {
            Server::Made { before, after } => Some([before, after]),
            Server::Real(_) => None,
        }
    }

    fn planned(&mut self, name: &str, node: &Node<'d>) {
        if !self.plans.contains_key(name) {
            let known: Vec<&str> = self.plans.keys().map(String::as_str).collect();
            let help = match crate::read::nearest(name, &known) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => "Plan it before: `plan: NAME`, `tool:`, `arguments:`.".to_owned(),
            };
            self.reader.problem(node, format!("`{name}` was not planned."), help);
        }
    }

    fn expected(&mut self, name: &str, expected: &Expected, node: &Node<'d>) {
        if expected.answer.is_none() {
            self.reader.missing(node, "answer");
        }
        self.effects(name, expected, node);
        let no = expected.answer.map(|answer| answer != Answer::Done);
        if no == Some(false) && expected.code.is_some() {
            self.never(node, "An answer that is done has no code.");
        }
        if matches!(expected.answer, Some(Answer::Lost))
            && (!expected.names.is_empty() || !expected.holds.is_empty())
        {
            self.never(node, "An answer that is lost says nothing.");
        }
        if expected.holds.keys().any(|name| expected.lacks.contains(name)) {
            self.never(node, "The same member is to be there and to be absent.");
        }
    }

    fn effects(&mut self, name: &str, expected: &Expected, node: &Node<'d>) {
        let seen = match &self.scenario.server {
            Server::Made { .. } => true,
            Server::Real(real) => real.recorder.is_some(),
        };
        match (&expected.downstream, seen) {
            (None, true) => self.reader.problem(
                node,
                "It is not said what may reach the world, so an effect would go unnoticed.",
                "Add `downstream: nothing`, or the requests.",
            ),
            (Some(_), false) => self.reader.problem(
                node,
                "What the server does to the world cannot be seen here.",
                "Name the variable by which it is sent to the recorder, `recorder: NAME`, or leave `downstream` out.",
            ),
            _ => {}
        }
        let requests = expected.downstream.as_deref().unwrap_or_default();
        if expected.answer == Some(Answer::Refused) {
            if !requests.is_empty() {
                self.never(node, "A refusal after an effect is never right.");
            }
            if matches!(expected.arrives, Some(Arrives::Arguments(_)))
                && self.scenario.target == super::scenario::Target::Gateway
            {
                self.never(node, "What the gateway refuses never arrives.");
            }
        }
        let known: Option<Vec<String>> =
            self.made().zip(self.plans.get(name)).map(|(phases, call)| {
                let paths = phases.iter().filter_map(|phase| phase.deeds.get(&call.tool));
                paths
                    .filter_map(|deed| {
                        deed.path.as_ref().map(|path| format!("{} {path}", deed.method()))
                    })
                    .collect()
            });
        if let Some(known) = known {
            for Request { method, path, .. } in requests {
                if !known.contains(&format!("{method} {path}")) {
                    let help = if known.is_empty() {
                        "It reaches nothing.".to_owned()
                    } else {
                        format!("It makes {}.", known.join(" or "))
                    };
                    self.reader.problem(
                        node,
                        format!("The tool never makes {method} {path}."),
                        help,
                    );
                }
            }
        }
    }

    fn never(&mut self, node: &Node<'d>, sentence: &str) {
        self.reader.problem(node, sentence, "This can never be met: correct it.");
    }
}
