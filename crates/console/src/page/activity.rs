//! Activity: each call, whether it left this machine, and what came of it.

use super::{Drawn, Query};
use crate::{Console, html, limits, lock};
use serde_json::Value;
use store::{Activity, ActivityQuery, Attempt, OutcomeState, Verdict};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let in_doubt = query.get("in-doubt").is_some();
    let asked = ActivityQuery {
        request: query.parsed("request"),
        session: query.parsed("session"),
        server: None,
        in_doubt,
        before: query.parsed("before"),
        limit: limits::ROWS + 1,
    };
    let session = asked.session;
    let found = console.store().activity(asked).await?;
    let mut page = String::from("<h1>Activity</h1>");
    let here = |is: bool| if is { " aria-current=\"true\"" } else { "" };
    page.push_str(&format!(
        "<div class=\"bar\"><a class=\"button\" data-go href=\"/activity\"{}>All</a><a class=\"button\" data-go href=\"/activity?in-doubt=yes\"{}>In doubt</a></div>",
        here(!in_doubt && session.is_none()),
        here(in_doubt)
    ));
    if let Some(session) = session {
        page.push_str(&html::message("lead", &format!("Of session <code>{session}</code>.")));
    }
    if session.is_none() && query.get("before").is_none() {
        page.push_str(&told(console));
    }
    if found.is_empty() {
        page.push_str(&html::message("empty", "No such call is on record."));
        return Ok(page);
    }
    let rows = usize::try_from(limits::ROWS).unwrap_or(usize::MAX);
    let may = console.config.approver.is_ok();
    page.push_str("<table><thead><tr><th scope=\"col\">When</th><th scope=\"col\">Call</th><th scope=\"col\">Decided</th><th scope=\"col\">Left this machine?</th><th scope=\"col\">Trace</th></tr></thead><tbody>");
    found.iter().take(rows).for_each(|one| page.push_str(&row(one, may)));
    page.push_str("</tbody></table>");
    if let Some(last) = found.get(rows).and(found.get(rows - 1)) {
        let session = session.map_or(String::new(), |id| format!("&amp;session={id}"));
        let doubt = if in_doubt { "&amp;in-doubt=yes" } else { "" };
        page.push_str(&format!(
            "<div class=\"bar\"><a class=\"button\" data-go data-next href=\"/activity?before={}{session}{doubt}\">Older <kbd>n</kbd></a></div>",
            last.request
        ));
    }
    Ok(page)
}

/// What running gateways told lately, as `tail` shows it.
fn told(console: &Console) -> String {
    let events = lock(&console.events);
    if events.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = events.iter().rev().map(event).collect();
    format!(
        "<details id=\"told\"><summary>What running gateways told since this console was started ({})</summary><ul class=\"plain small\">{}</ul></details>",
        rows.len(),
        rows.concat()
    )
}

fn event(event: &Value) -> String {
    let word = |name: &str| html::short(event[name].as_str().unwrap_or_default());
    let at = event["at"].as_u64().map(html::time).unwrap_or_default();
    format!(
        "<li>{at} <span class=\"badge\">{}</span> {}: {}</li>",
        word("kind"),
        word("server"),
        word("sentence")
    )
}

fn row(one: &Activity, may: bool) -> String {
    let decided = match &one.verdict {
        Verdict::Admitted => "<span class=\"badge calm\">admitted</span>".to_owned(),
        Verdict::Held => "<span class=\"badge warn\">held</span>".to_owned(),
        Verdict::Refused { code } => {
            format!("<span class=\"badge bad\">refused</span> <code>{}</code>", html::text(code))
        }
    };
    let attempts: Vec<String> = one.attempts.iter().map(|a| attempt(a, may)).collect();
    let effect = if one.effect { "" } else { " <span class=\"dim small\">reads</span>" };
    format!(
        "<tr data-item tabindex=\"-1\" id=\"r-{id}\"><td>{at}</td>\
         <td>{tool} <span class=\"dim\">of</span> {server}{effect}<div class=\"dim small\">{principal}</div></td>\
         <td>{decided}</td><td>{left}{attempts}</td>\
         <td class=\"small\"><a data-go data-open data-trace href=\"/trace?request={id}\">record {leaf}</a></td></tr>",
        id = one.request,
        at = html::time(one.at),
        tool = html::short(&one.tool),
        server = html::short(&one.server),
        principal = html::short(&one.principal),
        left = left(one),
        attempts = attempts.concat(),
        leaf = one.leaf,
    )
}

/// Whether anything left, as it is on record.
pub fn left(one: &Activity) -> &'static str {
    let last = |attempt: &Attempt| match attempt.outcomes.last() {
        Some(outcome) => Some(outcome.state),
        None if attempt.abandoned => Some(OutcomeState::InDoubt),
        None => None,
    };
    let states: Vec<Option<OutcomeState>> = one.attempts.iter().map(last).collect();
    let any = |state: OutcomeState| states.contains(&Some(state));
    if any(OutcomeState::Done) || any(OutcomeState::Failed) || any(OutcomeState::AwaitingInput) {
        "<strong>left</strong>"
    } else if any(OutcomeState::InDoubt) {
        "<strong class=\"badge bad\">may have left</strong>"
    } else if states.contains(&None) {
        "<span class=\"badge warn\">under way</span>"
    } else {
        "did not leave"
    }
}

fn attempt(attempt: &Attempt, may: bool) -> String {
    let outcomes: Vec<String> = attempt
        .outcomes
        .iter()
        .map(|outcome| match outcome.by.as_str() {
            "gateway" => outcome.state.to_string(),
            by => format!("{} ({})", outcome.state, html::short(by)),
        })
        .collect();
    let outcomes = match outcomes.as_slice() {
        [] if attempt.abandoned => "in-doubt (its gateway is gone)".to_owned(),
        [] => "no answer yet".to_owned(),
        known => known.join(", then "),
    };
    let doubt = attempt.outcomes.last().is_some_and(|last| last.state == OutcomeState::InDoubt);
    let resolve = |found: &str, words: &str| {
        format!(
            "<button class=\"small\" data-ask=\"resolve\" data-attempt=\"{}\" data-found=\"{found}\" data-what=\"{words}\">{words}</button> ",
            attempt.id
        )
    };
    let resolve = if doubt && may {
        format!(
            "<div>{}{}</div>",
            resolve("done", "It was carried out"),
            resolve("failed", "It was not carried out")
        )
    } else {
        String::new()
    };
    format!(
        "<div class=\"small dim\">to {}: {outcomes}</div>{resolve}",
        html::short(&attempt.target)
    )
}
