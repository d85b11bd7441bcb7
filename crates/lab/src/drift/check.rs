//! What a scenario may not say, although each of its parts can be read: expectations that nothing can meet, and
//! stories in which nothing is tested.

use super::scenario::{
    Answer, Arrives, Call, Deed, Expected, Request, Scenario, Server, Shown, Step, Target,
    Transport,
};
use crate::read::{Node, Reader};
use crate::script::Phase;
use contract::document::Tool;
use contract::revised::{Fit, Revised};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Notes every way in which the scenario could not show anything.
pub fn sound<'d>(scenario: &Scenario, root: &Node<'d>, reader: &mut Reader<'d>) {
    let Some(steps) = root.get("steps") else { return };
    whole(scenario, &steps, reader);
    client(scenario, root, reader);
    transports(scenario, root, reader);
    let mut checker = Checker {
        scenario,
        reader,
        plans: BTreeMap::new(),
        open: BTreeSet::new(),
        switched: false,
        listed: false,
    };
    let mut before = None;
    for (step, node) in scenario.steps.iter().zip(steps.items()) {
        checker.belongs(&step.deed, before, &node);
        checker.step(&step.deed, &node);
        checker.listed |= matches!(step.deed, Deed::List(_));
        before = Some(&step.deed);
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
    let switch = scenario.steps.iter().position(|step| matches!(step.deed, Deed::Switch));
    let after = switch.map_or(&[][..], |at| &scenario.steps[at + 1..]);
    let later = |is: fn(&Deed) -> bool| after.iter().any(|step| is(&step.deed));
    if switch.is_none() {
        reader.problem(
            steps,
            "The server never changes here: this is no drift.",
            "Add the step `switch`.",
        );
    } else if let Server::Made { before, after } = &scenario.server
        && serde_json::to_value(before).ok() == serde_json::to_value(after).ok()
    {
        reader.problem(
            steps,
            "The server lists and does the same before and after the switch: this is no drift.",
            "Say in `after:` what changes, in `tools:` or in `does:`.",
        );
    }
    if scenario.target == Target::Client {
        if !any(|deed| matches!(deed, Deed::ClientCalls(..) | Deed::ClientEnds { .. })) {
            reader.problem(
                steps,
                "Nothing is looked at of the client, so nothing would be shown.",
                "Add a step `client-calls` or `client-ends`.",
            );
        } else if switch.is_some()
            && !later(|deed| matches!(deed, Deed::ClientCalls(..) | Deed::ClientEnds { .. }))
        {
            reader.problem(
                steps,
                "Nothing is looked at of the client once the server changed.",
                "Add a step `client-calls` or `client-ends` after `switch`.",
            );
        }
        return;
    }
    if !any(|deed| matches!(deed, Deed::Call(..) | Deed::Finish(..))) {
        reader.problem(
            steps,
            "Nothing is called, so nothing would be shown.",
            "Add a step `call`.",
        );
        return;
    }
    let Some(switch) = switch else { return };
    let planned = |name: &String| {
        let is = |step: &Step| matches!(&step.deed, Deed::Plan { name: own, .. } if own == name);
        scenario.steps[..switch].iter().any(is)
    };
    let old = after.iter().any(|step| match &step.deed {
        Deed::Call(name, _) | Deed::Finish(name, _) => planned(name),
        _ => false,
    });
    if !old {
        reader.problem(
            steps,
            "No call that was planned before the switch is made after it, so no old plan is tried.",
            "Put `plan:` before `switch` and its `call:` after it.",
        );
    }
}

/// Notes what does not go with the target.
fn client<'d>(scenario: &Scenario, root: &Node<'d>, reader: &mut Reader<'d>) {
    match (&scenario.target, &scenario.client, &scenario.server) {
        (Target::Client, None, _) => {
            reader.problem(
                root,
                "The client under test is missing.",
                "Add `client:` with `command:`.",
            );
        }
        (Target::Client, Some(_), Server::Real(_)) => {
            reader.problem(
                root,
                "A client is tested on a made-up server: what it asks must be seen before it is answered.",
                "Give `tools:` and `does:` in place of `command:`.",
            );
        }
        (Target::Gateway | Target::Server, Some(_), _) => {
            let help = "Write `target: client`, or leave `client` out.";
            reader.problem(root, "A client is named, and it is not what is under test.", help);
        }
        _ => {}
    }
}

/// Notes where HTTP cannot be spoken.
fn transports<'d>(scenario: &Scenario, root: &Node<'d>, reader: &mut Reader<'d>) {
    let Some(node) = root.get("transports") else { return };
    if !scenario.transports.contains(&Transport::Http) {
        return;
    }
    if matches!(scenario.server, Server::Real(_)) {
        reader.problem(&node, "Real programs are switched behind a pipe.", "Leave `http` out.");
    }
    if scenario.target != Target::Gateway {
        let help = "Write `target: gateway`, or leave `http` out.";
        reader.problem(&node, "Only the gateway speaks HTTP to the server here.", help);
    }
}

/// Steps of a client under test.
fn of_client(deed: &Deed) -> bool {
    matches!(deed, Deed::ClientLists | Deed::ClientCalls(..) | Deed::ClientEnds { .. })
}

/// Steps that steadfast takes as the client.
fn of_own_client(deed: &Deed) -> bool {
    !of_client(deed)
        && !matches!(
            deed,
            Deed::Switch | Deed::Notify | Deed::FailRefresh | Deed::MendRefresh | Deed::Crash
        )
}

struct Checker<'s, 'r, 'd> {
    scenario: &'s Scenario,
    reader: &'r mut Reader<'d>,
    plans: BTreeMap<String, Call>,
    /// Started and not finished.
    open: BTreeSet<String>,
    switched: bool,
    /// The client was shown a list.
    listed: bool,
}

impl<'d> Checker<'_, '_, 'd> {
    /// Notes a step that the target has no place for.
    fn belongs(&mut self, deed: &Deed, before: Option<&Deed>, node: &Node<'d>) {
        let under_test = self.scenario.target == Target::Client;
        if under_test && of_own_client(deed) {
            let help =
                "Steps of a client under test are client-lists, client-calls and client-ends.";
            self.reader.problem(node, "Here the client is under test, and acts by itself.", help);
        }
        if !under_test && of_client(deed) {
            let help = "Write `target: client` and `client:`, or the steps list, plan and call.";
            self.reader.problem(node, "No client is under test here.", help);
        }
        let seen = before
            .is_some_and(|before| matches!(before, Deed::ClientLists | Deed::ClientCalls(..)));
        if under_test && matches!(deed, Deed::Switch) && !seen {
            self.reader.problem(
                node,
                "What the client does meanwhile could meet either server.",
                "Put `switch` directly after `client-lists` or `client-calls`: it is then made before the answer.",
            );
        }
    }

    fn step(&mut self, deed: &Deed, node: &Node<'d>) {
        match deed {
            Deed::ClientCalls(call, expected) => self.effects(&call.tool, expected, node),
            Deed::ClientEnds { events, .. } => {
                let client = self.scenario.client.as_ref();
                if !events.is_empty() && client.is_some_and(|client| client.events.is_none()) {
                    let help = "Say in `client:` where its `events` are read from.";
                    self.reader.problem(node, "The events of this client are not known.", help);
                }
            }
            Deed::Plan { name, call } => {
                let twice = self.plans.insert(name.clone(), call.clone()).is_some();
                if twice {
                    self.reader.problem(
                        node,
                        format!("`{name}` is planned twice."),
                        "Give each plan a name of its own.",
                    );
                }
                self.plan(call, node);
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
            Deed::List(Some(shown @ (Shown::Before | Shown::After)))
                if self.scenario.server.lists()[usize::from(*shown == Shown::After)].is_none() =>
            {
                self.reader.problem(
                    node,
                    "What real programs list is not known beforehand.",
                    "Give their `tools:` beside `command:`, or name the tools: `shows: [NAME, …]`.",
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
            Deed::Arrived(_) if !self.scenario.sees_effects() => {
                let help =
                    "Name the variable by which it is sent to the recorder: `recorder: NAME`.";
                self.reader.problem(
                    node,
                    "When a program is about a call cannot be seen here.",
                    help,
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

    /// Notes a plan that nobody could have made of what was listed: whatever came of it would show nothing.
    fn plan(&mut self, call: &Call, node: &Node<'d>) {
        let [before, after] = self.scenario.server.lists();
        // After the switch a client may still plan by the old list.
        let lists = if self.switched { vec![before, after] } else { vec![before] };
        let Some(lists) = lists.into_iter().collect::<Option<Vec<_>>>() else {
            if !self.listed {
                self.reader.problem(
                    node,
                    "The client plans a call and was shown no list.",
                    "Put a step `list` before it.",
                );
            }
            return;
        };
        let tools = lists.into_iter().flatten();
        let named = |tool: &&Value| tool["name"].as_str() == Some(call.tool.as_str());
        let found: Vec<&Value> = tools.clone().filter(named).collect();
        if found.is_empty() {
            let known: Vec<&str> = tools.filter_map(|tool| tool["name"].as_str()).collect();
            let help = match crate::read::nearest(&call.tool, &known) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Listed are: {}.", known.join(", ")),
            };
            let sentence =
                format!("No tool `{}` is listed that this could be planned by.", call.tool);
            self.reader.problem(node, sentence, help);
            return;
        }
        let fits = found.into_iter().map(|raw| {
            let tool = Tool { name: call.tool.clone(), raw: raw.clone(), ordinal: None };
            Revised::new(tool).takes(&call.arguments)
        });
        let fits: Vec<Fit> = fits.collect();
        if let [Fit::Rejected(why), ..] = fits.as_slice()
            && fits.iter().all(|fit| matches!(fit, Fit::Rejected(_)))
        {
            let sentence = format!(
                "The arguments are no call of {} as it is listed: {}.",
                call.tool,
                why.message.trim_end_matches('.')
            );
            let help = "An old plan was right when it was made: give the arguments of a client that read the list.";
            self.reader.problem(node, sentence, help);
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
        if let Some(tool) = self.plans.get(name).map(|call| call.tool.clone()) {
            self.effects(&tool, expected, node);
        }
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

    fn effects(&mut self, tool: &str, expected: &Expected, node: &Node<'d>) {
        let seen = self.scenario.sees_effects();
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
        let known: Option<Vec<String>> = self.made().map(|phases| {
            let deeds = phases.iter().filter_map(|phase| phase.deeds.get(tool));
            let path = |deed: &crate::script::Deed| {
                deed.path.as_ref().map(|path| format!("{} {path}", deed.method()))
            };
            deeds.filter_map(path).collect()
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
