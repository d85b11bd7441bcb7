//! Drift: per server, who plans with what, what waits to be accepted, and how its contracts moved.

use super::{Drawn, Query};
use crate::{Console, html, limits, lock};
use contract::{Class, Diff, Options, ToolList, Verdict};
use gateway::accept::{defined, is_open};
use gateway::control;
use gateway::heavy::heavy;
use gateway::status::{Filter, Remembered, RevisionStatus, Status, ToolStatus, remembered};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{Revision, StoreError};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let all = remembered(console.store(), &Filter::default()).await?;
    let (running, silent) = control::ask_all(&console.config.sockets, &Filter::default()).await;
    let mut servers: BTreeSet<&str> = all.iter().map(|one| one.server.as_str()).collect();
    servers.extend(running.iter().flat_map(|s| s.sessions.iter().map(|one| one.server.as_str())));
    let mut page = String::from("<h1>Drift</h1>");
    for why in &silent {
        page.push_str(&html::message(
            "notice",
            &html::text(&format!("A gateway did not answer: {why}")),
        ));
    }
    let first = servers.iter().next().map(|first| (*first).to_owned());
    let Some(server) = query.get("server").map(str::to_owned).or(first) else {
        page.push_str(&html::message("empty", "No server was guarded with this store yet."));
        return Ok(page);
    };
    page.push_str("<div class=\"bar\">");
    for one in servers.iter().take(limits::SERVERS) {
        let here = if **one == server { " aria-current=\"true\"" } else { "" };
        page.push_str(&format!(
            "<a class=\"button\" data-go href=\"/drift?server={}\"{here}>{}</a>",
            html::part(one),
            html::short(one)
        ));
    }
    page.push_str("</div>");
    let open: Vec<&Remembered> = all.iter().filter(|one| one.server == server).collect();
    page.push_str(&waiting(console, &open));
    page.push_str(&planning(&running, &server));
    page.push_str(&timeline(console, &server, query.parsed("skip").unwrap_or(0)).await?);
    Ok(page)
}

/// What is listed and not granted.
fn waiting(console: &Console, known: &[&Remembered]) -> String {
    let mut rows = String::new();
    for one in known {
        for tool in one.tools.iter().filter(|tool| is_open(tool)) {
            let Some(live) = &tool.advertised else { continue };
            let granted = tool.granted.as_ref().map(|granted| &granted.revision);
            let diff = granted.map_or(String::new(), |granted| {
                let to = to_diff(&one.server, &tool.tool, &granted.digest, &live.digest);
                format!("<a class=\"button\" data-go data-open href=\"{to}\">What changed</a> ")
            });
            let accept = if console.config.approver.is_ok() {
                format!(
                    "<button data-ask=\"accept\" data-server=\"{}\" data-scope=\"{}\" data-tool=\"{tool_}\" data-digest=\"{}\" data-what=\"{tool_}\">Accept <kbd>a</kbd></button>",
                    html::plain(&one.server),
                    html::plain(&one.scope),
                    html::plain(&live.digest),
                    tool_ = html::plain(&tool.tool),
                )
            } else {
                String::new()
            };
            let scope = if one.scope.is_empty() {
                String::new()
            } else {
                format!(" <span class=\"dim small\">{}</span>", html::short(&one.scope))
            };
            rows.push_str(&format!(
                "<div class=\"item\" data-item tabindex=\"-1\" id=\"w-{}\"><p class=\"head\"><strong>{}</strong>{scope}</p><p>listed {} · granted {}</p><p>{diff}{accept}</p></div>",
                html::part(&format!("{}.{}", one.scope, tool.tool)),
                html::short(&tool.tool),
                revision(live),
                granted.map_or("nothing".to_owned(), revision),
            ));
        }
    }
    if rows.is_empty() { rows } else { format!("<h2>Listed and not granted</h2>{rows}") }
}

fn revision(one: &RevisionStatus) -> String {
    let ordinal = one.ordinal.map_or(String::new(), |ordinal| format!("#{ordinal} "));
    format!("<span class=\"nowrap\">{ordinal}{}</span>", html::digest(&one.digest))
}

fn revisions(all: &[RevisionStatus]) -> String {
    let all: Vec<String> = all.iter().map(revision).collect();
    all.join(" or ")
}

/// Who still plans with what: four contracts for each open session and tool.
fn planning(running: &[Status], server: &str) -> String {
    let sessions: Vec<_> =
        running.iter().flat_map(|s| &s.sessions).filter(|s| s.server == server).collect();
    let mut page = String::from("<h2>Who plans with what</h2>");
    if sessions.is_empty() {
        page.push_str(&html::message("dim", "No session of this server is open."));
        return page;
    }
    for one in sessions.iter().take(limits::SESSIONS) {
        let (moved, calm): (Vec<&ToolStatus>, Vec<&ToolStatus>) =
            one.tools.iter().partition(|tool| !settled(tool));
        page.push_str(&format!(
            "<h3><a data-go href=\"/activity?session={id}\">{who}</a> <span class=\"dim small\">{era}, {state}</span></h3>",
            id = html::part(&one.session),
            who = html::short(&one.principal),
            era = html::short(&one.era),
            state = match (&one.upstream.fault, one.upstream.running) {
                (Some(fault), _) => format!("its list cannot be read: {}", html::short(fault)),
                (None, true) => "server running".to_owned(),
                (None, false) => "server not running".to_owned(),
            },
        ));
        page.push_str("<table><thead><tr><th scope=\"col\">Tool</th><th scope=\"col\">Advertised</th><th scope=\"col\">Snapshot</th><th scope=\"col\">Execution</th><th scope=\"col\">Granted</th></tr></thead><tbody>");
        for tool in moved.iter().chain(&calm).take(limits::TOOLS) {
            page.push_str(&planned(tool, &one.session));
        }
        page.push_str("</tbody></table>");
        let more = (moved.len() + calm.len()).saturating_sub(limits::TOOLS) + one.more_tools;
        if more > 0 {
            page.push_str(&html::message(
                "dim",
                &format!("{more} more tools: steadfast status SERVER/TOOL"),
            ));
        }
    }
    if let Some(more @ 1..) = sessions.len().checked_sub(limits::SESSIONS) {
        page.push_str(&html::message("dim", &format!("{more} more sessions: steadfast status")));
    }
    page
}

/// True where one contract is advertised, shown and granted.
fn settled(tool: &ToolStatus) -> bool {
    let ([live], Some(granted)) = (tool.advertised.as_slice(), &tool.granted) else { return false };
    let shown = tool.snapshot.as_ref().is_none_or(|snapshot| {
        snapshot.last.as_ref().is_some_and(|last| last.digest == live.digest)
    });
    shown && granted.revision.digest == live.digest && tool.execution.decision == "forward"
}

fn planned(tool: &ToolStatus, session: &str) -> String {
    let moved = if settled(tool) { "" } else { " class=\"moved\"" };
    let advertised = match tool.advertised.as_slice() {
        [] => "<span class=\"badge bad\">gone</span>".to_owned(),
        all => revisions(all),
    };
    let alternates = if tool.alternates {
        "<div class=\"small\">alternates, as in a rolling deploy</div>"
    } else {
        ""
    };
    let snapshot = tool.snapshot.as_ref().map_or("not fetched yet".to_owned(), |snapshot| {
        let last = snapshot.last.as_ref().map_or("without it".to_owned(), revision);
        let mut earlier = snapshot.candidates.clone();
        earlier.retain(|one| Some(one) != snapshot.last.as_ref());
        let earlier = if earlier.is_empty() {
            String::new()
        } else {
            format!("<div class=\"small\">calls may still come from {}</div>", revisions(&earlier))
        };
        format!(
            "{last}{earlier}<div class=\"dim small\">known by {}</div>",
            html::text(&snapshot.grade)
        )
    });
    let run = &tool.execution;
    let grave = match run.decision.as_str() {
        "forward" => "calm",
        "adapt" | "hold" => "warn",
        _ => "bad",
    };
    let mut why = String::new();
    for (name, words) in [("by", &run.by), ("over", &run.over), ("", &run.rules)] {
        if !words.is_empty() {
            why.push_str(&format!(
                "<div class=\"small\">{name} {}</div>",
                html::short(&words.join(", "))
            ));
        }
    }
    let granted = tool.granted.as_ref().map_or("nothing".to_owned(), |granted| {
        format!(
            "{}<div class=\"dim small\">{} by {}</div>",
            revision(&granted.revision),
            html::text(&granted.how),
            html::short(&granted.by)
        )
    });
    format!(
        "<tr{moved} data-item tabindex=\"-1\" id=\"t-{key}\"><td><strong>{name}</strong></td><td data-l=\"advertised\">{advertised}{alternates}</td><td data-l=\"snapshot\">{snapshot}</td>\
         <td data-l=\"execution\"><span class=\"badge {grave}\">{decision}</span> {code}{why}</td><td data-l=\"granted\">{granted}</td></tr>",
        key = html::part(&format!("{session}.{}", tool.tool)),
        name = html::short(&tool.tool),
        decision = html::text(&run.decision),
        code =
            run.code.as_ref().map_or(String::new(), |c| format!("<code>{}</code>", html::text(c))),
    )
}

/// The revisions of a server, the newest first, each with what it changed.
async fn timeline(console: &Console, server: &str, skip: usize) -> Drawn {
    let mut all = console.store().revisions(server.to_owned()).await?;
    all.sort_by(|a, b| (b.first_at, &b.tool, b.ordinal).cmp(&(a.first_at, &a.tool, a.ordinal)));
    let mut page = String::from("<h2>Timeline</h2>");
    if all.is_empty() {
        page.push_str(&html::message("dim", "Its list was never read."));
        return Ok(page);
    }
    for one in all.iter().skip(skip).take(limits::TIMELINE) {
        let before = all.iter().find(|r| r.tool == one.tool && r.ordinal + 1 == one.ordinal);
        page.push_str(&moment(console, server, one, before).await?);
    }
    let next = skip.saturating_add(limits::TIMELINE);
    if next < all.len() {
        page.push_str(&format!(
            "<div class=\"bar\"><a class=\"button\" data-go data-next href=\"/drift?server={}&amp;skip={next}\">Older <kbd>n</kbd></a></div>",
            html::part(server)
        ));
    }
    Ok(page)
}

async fn moment(
    console: &Console,
    server: &str,
    one: &Revision,
    before: Option<&Revision>,
) -> Drawn {
    let what = match before {
        None => "<p class=\"dim\">first seen</p>".to_owned(),
        Some(before) => {
            let to = to_diff(server, &one.tool, &before.digest, &one.digest);
            let told =
                match compared(console, server, &one.tool, &before.digest, &one.digest).await? {
                    Some(diff) => summary(&diff),
                    None => "a definition of the two is not on record".to_owned(),
                };
            format!("<p>{told} <a data-go data-open href=\"{to}\">the difference</a></p>")
        }
    };
    Ok(format!(
        "<div class=\"item\" data-item tabindex=\"-1\" id=\"m-{key}\"><p class=\"head\"><strong>{tool}</strong> #{ordinal} {digest} {at}</p>{what}</div>",
        key = html::part(&format!("{}.{}", one.tool, one.ordinal)),
        tool = html::short(&one.tool),
        ordinal = one.ordinal,
        digest = html::digest(&one.digest),
        at = html::time(one.first_at),
    ))
}

fn summary(diff: &Diff) -> String {
    let Some(entry) = diff.entries.first() else {
        return "<span class=\"badge calm\">cosmetic</span> nothing that a call can tell"
            .to_owned();
    };
    let first = entry.changes.first().map_or("", |change| change.sentence.as_str());
    let more = match entry.changes.len() {
        0 | 1 => String::new(),
        more => format!(" <span class=\"dim\">and {} more</span>", more - 1),
    };
    format!("{} {} {}{more}", class(entry.class), verdict(entry.verdict), html::short(first))
}

/// The class of a change, by its weight.
pub fn class(class: Class) -> String {
    let grave = match class {
        Class::Cosmetic | Class::Additive => "calm",
        Class::Migration | Class::Semantic => "warn",
        Class::Authority | Class::Removal => "bad",
    };
    format!("<span class=\"badge {grave}\">{}</span>", word(&class))
}

/// The verdict on a call that was planned before.
pub fn verdict(verdict: Verdict) -> String {
    format!("<span class=\"badge\">{}</span>", word(&verdict))
}

/// A word of a closed set, as it is documented.
fn word<T: serde::Serialize>(of: &T) -> String {
    let word = serde_json::to_value(of).unwrap_or_default();
    html::text(word.as_str().unwrap_or_default())
}

fn to_diff(server: &str, tool: &str, from: &str, to: &str) -> String {
    format!(
        "/diff?server={}&amp;tool={}&amp;from={}&amp;to={}",
        html::part(server),
        html::part(tool),
        html::part(from),
        html::part(to)
    )
}

/// Two revisions of a tool compared, once; `None` where one of them is not on record.
pub async fn compared(
    console: &Console,
    server: &str,
    tool: &str,
    from: &str,
    to: &str,
) -> Result<Option<Arc<Diff>>, StoreError> {
    let key = [server, tool, from, to].map(str::to_owned);
    if let Some(known) = lock(&console.compared).get(&key) {
        return Ok(Some(Arc::clone(known)));
    }
    let store = console.store();
    let (Some(old), Some(new)) = (
        defined(store, server, tool, from, None).await?,
        defined(store, server, tool, to, None).await?,
    ) else {
        return Ok(None);
    };
    let work = move || {
        let list = |tool| ToolList { tools: vec![tool], ..ToolList::default() };
        contract::tools::diff(&list(old), &list(new), &Options::default())
    };
    // What cannot be compared is shown as what is not on record: nothing is said of it.
    let Ok(diff) = heavy(work).await.map(Arc::new) else { return Ok(None) };
    let mut known = lock(&console.compared);
    if known.len() >= limits::COMPARED {
        known.clear();
    }
    known.insert(key, Arc::clone(&diff));
    Ok(Some(diff))
}
