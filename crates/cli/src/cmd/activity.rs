//! `steadfast activity`: which calls left the machine, or did not, and what came of them.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::limits;
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, now, print_list, shown_time, wait, who};
use serde_json::{Value, json};
use store::{
    Access, Activity, ActivityQuery, Attempt, AttemptId, OutcomeState, RequestId, Resolution,
    SessionId, Sqlite, Store, Verdict,
};

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ActivityArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Record what a person found out about an attempt in doubt
    Resolve(ResolveArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// This request alone
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Of this session alone
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this server alone
    #[arg(long, value_name = "SERVER")]
    server: Option<String>,
    /// Those alone that may have had an effect nobody knows of
    #[arg(long)]
    in_doubt: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = limits::LISTED)]
    limit: u32,
    #[command(flatten)]
    store: StoreArgs,
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

#[derive(Debug, clap::Args)]
struct ResolveArgs {
    /// The attempt, or its request
    #[arg(value_name = "ID")]
    id: String,
    /// It was carried out
    #[arg(long, required_unless_present = "failed", conflicts_with = "failed")]
    done: bool,
    /// It was not carried out
    #[arg(long)]
    failed: bool,
    /// Who found out [default: the user of this terminal]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Command for ActivityArgs {
    const NAME: &'static str = "activity";
    const ABOUT: &'static str = "List calls and what came of them, or settle one that is in doubt";
    const EXAMPLES: &'static str = "\
An attempt is in doubt where it may have left and no answer is known. Nothing in doubt is sent again by itself:
look at the other side, and record what you found.

Examples:
  steadfast activity
  steadfast activity --in-doubt
  steadfast activity --session 019ad465-4d00-7003-816a-f38f59d2ddeb --format json
  steadfast activity resolve 019ad465-4d00-7005-a4a9-2c8768b0163e --done";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        match self.action {
            Some(Action::Resolve(arguments)) => resolve(&arguments, shell),
            None => list(self.list, shell),
        }
    }
}

fn list(arguments: ListArgs, shell: &Shell) -> Result<Exit, Failure> {
    let query = ActivityQuery {
        request: arguments.request.as_deref().map(id::<RequestId>).transpose()?,
        session: arguments.session.as_deref().map(id::<SessionId>).transpose()?,
        server: arguments.server,
        in_doubt: arguments.in_doubt,
        before: None,
        limit: arguments.limit.max(1),
    };
    let store = arguments.store.open(Access::Read)?;
    let found = wait(store.activity(query))?;
    let words = ("requests", "no such call");
    print_list(shell, arguments.format, words, &found, lines, object)?;
    Ok(Exit::Fine)
}

fn id<T: std::str::FromStr<Err = store::StoreError>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: store::StoreError| {
        Failure::one("activity", error.to_string(), "Copy it from the list.")
    })
}

fn lines(activity: &Activity) -> String {
    let verdict = match &activity.verdict {
        Verdict::Refused { code } => format!("refused {}", printable(code)),
        other => other.as_str().to_owned(),
    };
    let mut text = format!(
        "{}  {}  {} {}  {verdict}{}\n",
        activity.request,
        shown_time(activity.at),
        printable(&activity.server),
        printable(&activity.tool),
        if activity.effect { "" } else { "  read" },
    );
    for attempt in &activity.attempts {
        let outcomes: Vec<String> = attempt
            .outcomes
            .iter()
            .map(|outcome| match outcome.by.as_str() {
                "gateway" => outcome.state.to_string(),
                by => format!("{} ({})", outcome.state, printable(by)),
            })
            .collect();
        let outcomes = match outcomes.as_slice() {
            [] if attempt.abandoned => "in-doubt (its gateway is gone)".to_owned(),
            [] => "under way".to_owned(),
            known => known.join(", then "),
        };
        text.push_str(&format!(
            "  attempt {} to {}: {outcomes}\n",
            attempt.id,
            printable(&attempt.target)
        ));
    }
    text
}

fn object(activity: &Activity) -> Value {
    let code = match &activity.verdict {
        Verdict::Refused { code } => Some(code),
        Verdict::Admitted | Verdict::Held => None,
    };
    let attempts: Vec<Value> = activity.attempts.iter().map(attempt).collect();
    json!({
        "request": activity.request.to_string(),
        "session": activity.session.to_string(),
        "principal": activity.principal,
        "server": activity.server,
        "tool": activity.tool,
        "effect": activity.effect,
        "verdict": activity.verdict.as_str(),
        "code": code,
        "at": shown_time(activity.at),
        "record": activity.leaf,
        "attempts": attempts,
    })
}

fn attempt(attempt: &Attempt) -> Value {
    let mut outcomes: Vec<Value> = attempt
        .outcomes
        .iter()
        .map(|outcome| {
            json!({
                "state": outcome.state.as_str(),
                "by": outcome.by,
                "late": outcome.late,
                "at": shown_time(outcome.at),
            })
        })
        .collect();
    if attempt.abandoned {
        // Not on record yet: whoever writes to the store next puts it there.
        outcomes.push(json!({
            "state": OutcomeState::InDoubt.as_str(), "by": "gone", "late": false, "at": null,
        }));
    }
    json!({
        "attempt": attempt.id.to_string(),
        "n": attempt.n,
        "target": attempt.target,
        "idempotency_key": attempt.idempotency_key,
        "at": shown_time(attempt.at),
        "outcomes": outcomes,
    })
}

fn resolve(arguments: &ResolveArgs, shell: &Shell) -> Result<Exit, Failure> {
    let store = arguments.store.open(Access::Command)?;
    let attempt = attempt_in_doubt(&store, &arguments.id)?;
    let found = if arguments.done { Resolution::Done } else { Resolution::Failed };
    let by = arguments.by.clone().unwrap_or_else(who);
    wait(store.resolve(attempt, found, by, now()))?;
    shell.print(&format!("{attempt} recorded as {found}\n"))?;
    Ok(Exit::Fine)
}

/// The attempt that is meant: itself, or the one of a request that is in doubt.
fn attempt_in_doubt(store: &Sqlite, text: &str) -> Result<AttemptId, Failure> {
    let query = ActivityQuery { request: Some(id::<RequestId>(text)?), ..ActivityQuery::default() };
    let Some(activity) = wait(store.activity(query))?.into_iter().next() else {
        return id(text);
    };
    let in_doubt = |attempt: &&Attempt| {
        attempt.outcomes.last().is_some_and(|last| last.state == OutcomeState::InDoubt)
    };
    let found: Vec<&Attempt> = activity.attempts.iter().filter(in_doubt).collect();
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Failure::one(
            text,
            "No attempt of this request is in doubt.",
            "List those that are: steadfast activity --in-doubt.",
        )),
        _ => Err(Failure::one(
            text,
            "Several attempts of this request are in doubt.",
            "Name one of them; steadfast activity --request ID lists them.",
        )),
    }
}
