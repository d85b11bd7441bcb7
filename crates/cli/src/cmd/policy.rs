//! `steadfast policy check`: what the rules would have said about the calls on record.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::limits;
use crate::output::{Shell, printable};
use crate::settings::SettingsArgs;
use crate::state::{StoreArgs, now, shown_time, wait};
use contract::lexicon::Lexicon;
use contract::policy::{ACTIONS, Asked, Calls, Effect, Say, is_free_form};
use contract::{Revised, Tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::journal::Part;
use store::{Access, Activity, ActivityQuery, Sqlite, Store as _};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct PolicyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Hold the rules against the calls on record
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// So many hours back from now
    #[arg(long, value_name = "N", default_value_t = 24)]
    hours: u64,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for PolicyArgs {
    const NAME: &'static str = "policy";
    const ABOUT: &'static str =
        "Show what the rules about calls would have said of those on record";
    const EXAMPLES: &'static str = "\
Reads [[policy.calls]] of steadfast.toml, reports every problem of it, and says of each call that
was recorded whether it would have run, waited for a person, or been denied, and by which rule.
Nothing is changed. What a call's contract stops is stopped whatever the rules say.

Examples:
  steadfast policy check
  steadfast policy check --hours 168 --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let Action::Check(check) = self.action;
        check.run(shell)
    }
}

/// One call, and what would have been said.
struct Said {
    activity: Activity,
    effect: Effect,
    free_form: bool,
    say: Say,
    place: Option<String>,
}

impl CheckArgs {
    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let found = self.settings.read_or_default()?;
        let own = Calls::of_actions();
        let store = self.store.open(Access::Read)?;
        let since = now().saturating_sub(self.hours.saturating_mul(3_600_000));
        let mut hints = BTreeMap::new();
        let (mut all, mut before) = (Vec::new(), None);
        'pages: loop {
            let query = ActivityQuery { before, limit: limits::LISTED, ..ActivityQuery::default() };
            let page = wait(store.activity(query))?;
            let Some(last) = page.last() else { break };
            before = Some(last.request);
            for activity in page {
                if activity.at < since || all.len() >= limits::CHECKED {
                    break 'pages;
                }
                let rules = match &found.settings.policy.calls {
                    Some(calls) => Some(calls),
                    // What holds for bound actions where nobody wrote rules.
                    None => (activity.server == ACTIONS).then_some(&own),
                };
                let Some(rules) = rules else { continue };
                all.push(said(&store, rules, activity, &mut hints, &found.options.lexicon)?);
            }
        }
        shell.print(&match self.format {
            Plain::Text => text(&all, self.hours),
            Plain::Json => format!("{:#}\n", object(&all)),
        })?;
        Ok(Exit::Fine)
    }
}

fn said(
    store: &Sqlite,
    rules: &Calls,
    activity: Activity,
    hints: &mut BTreeMap<(String, String), bool>,
    lexicon: &Lexicon,
) -> Result<Said, Failure> {
    let tool = (activity.server.clone(), activity.tool.clone());
    let destroys = match hints.get(&tool) {
        Some(known) => *known,
        None => {
            let found = destroys(store, &tool.0, &tool.1)?;
            hints.insert(tool, found);
            found
        }
    };
    let effect = match (activity.effect, destroys) {
        (false, _) => Effect::Read,
        (true, false) => Effect::Write,
        (true, true) => Effect::Irreversible,
    };
    let payloads = wait(store.payloads(activity.request))?;
    let raw = payloads.into_iter().find(|payload| payload.part == Part::RawArguments);
    let arguments = raw.and_then(|raw| serde_json::from_str::<Value>(&raw.text).ok());
    // What was erased may have held anything.
    let free_form = arguments.is_none_or(|arguments| is_free_form(lexicon, &arguments));
    let asked = Asked {
        server: &activity.server,
        tool: &activity.tool,
        principal: &activity.principal,
        effect,
        free_form,
    };
    let (say, rule) = rules.says(&asked);
    let place = rule.map(|rule| rule.place.clone());
    Ok(Said { activity, effect, free_form, say, place })
}

/// Whether a tool may destroy by its last definition on record; one that is not known may.
fn destroys(store: &Sqlite, server: &str, tool: &str) -> Result<bool, Failure> {
    let all = wait(store.revisions(server.to_owned()))?;
    let Some(last) = all.into_iter().rfind(|revision| revision.tool == tool) else {
        return Ok(true);
    };
    let text = wait(store.definition(server.to_owned(), tool.to_owned(), last.digest))?;
    let raw: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(raw.is_none_or(|raw| {
        let hints = Revised::new(Tool { name: tool.to_owned(), raw, ordinal: None }).hints();
        hints.destructive && !hints.read_only
    }))
}

fn count(all: &[Said], say: Say) -> usize {
    all.iter().filter(|one| one.say == say).count()
}

fn text(all: &[Said], hours: u64) -> String {
    let mut text = format!(
        "{} calls in {hours} h: {} would have run, {} waited for a person, {} been denied\n",
        all.len(),
        count(all, Say::Allow),
        count(all, Say::Ask),
        count(all, Say::Deny)
    );
    for one in all.iter().filter(|one| one.say != Say::Allow) {
        text.push_str(&format!(
            "{}  {}  {} {}  {}{}: {} by {}\n",
            one.activity.request,
            shown_time(one.activity.at),
            printable(&one.activity.server),
            printable(&one.activity.tool),
            one.effect.name(),
            if one.free_form { ", free-form" } else { "" },
            one.say.name(),
            one.place.as_deref().map_or("no rule".to_owned(), printable)
        ));
    }
    text
}

fn object(all: &[Said]) -> Value {
    let calls: Vec<Value> = all
        .iter()
        .map(|one| {
            json!({
                "request": one.activity.request.to_string(),
                "at": shown_time(one.activity.at),
                "principal": one.activity.principal,
                "server": one.activity.server,
                "tool": one.activity.tool,
                "effect": one.effect.name(),
                "free_form": one.free_form,
                "say": one.say.name(),
                "rule": one.place,
                "was": one.activity.verdict.as_str(),
            })
        })
        .collect();
    json!({
        "allow": count(all, Say::Allow),
        "ask": count(all, Say::Ask),
        "deny": count(all, Say::Deny),
        "calls": calls,
    })
}
