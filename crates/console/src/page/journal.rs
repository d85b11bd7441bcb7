//! The journal: its records, whether it is sound, and its export.

use super::{Drawn, Query};
use crate::{Console, html, limits, lock};
use serde_json::Value;
use store::Millis;
use store::journal::{Leaf, Report};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let records = console.store().records().await?;
    let end: u64 = query.parsed("before").unwrap_or(records).min(records);
    let from = end.saturating_sub(u64::from(limits::ROWS));
    let limit = u32::try_from(end - from).unwrap_or(limits::ROWS);
    let leaves = if limit == 0 { Vec::new() } else { console.store().leaves(from, limit).await? };
    let mut page = format!(
        "<h1>Journal</h1><p class=\"lead\">{} in order, each covered by the next signed checkpoint. Nothing is edited; what is sealed can be erased, and every proof stays valid.</p>",
        html::count(records, "record")
    );
    page.push_str("<div class=\"bar\"><button data-verify>Verify <kbd>v</kbd></button>");
    if console.config.approver.is_ok() {
        page.push_str(&format!(
            "<button data-ask=\"export\" data-what=\"Into a new folder in {}\">Export <kbd>e</kbd></button>",
            html::plain(&console.config.exports.display().to_string())
        ));
    }
    page.push_str("</div>");
    page.push_str(&verified(console));
    page.push_str("<table><thead><tr><th scope=\"col\">Record</th><th scope=\"col\">When</th><th scope=\"col\">Kind</th><th scope=\"col\">What it says</th></tr></thead><tbody>");
    leaves.iter().rev().for_each(|leaf| page.push_str(&row(leaf)));
    page.push_str("</tbody></table>");
    if from > 0 {
        page.push_str(&format!("<div class=\"bar\"><a class=\"button\" data-go data-next href=\"/journal?before={from}\">Older <kbd>n</kbd></a></div>"));
    }
    Ok(page)
}

fn row(leaf: &Leaf) -> String {
    let envelope: Value = serde_json::from_str(&leaf.envelope).unwrap_or(Value::Null);
    let rest: Vec<String> = envelope
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !["at", "kind", "seq", "sealed", "request"].contains(&name.as_str()))
        .filter_map(|(name, value)| member(name, value))
        .collect();
    let trace = envelope["request"].as_str().map_or(String::new(), |request| {
        format!(
            " <a class=\"nowrap\" data-go data-open data-trace href=\"/trace?request={}\">its request</a>",
            html::part(request)
        )
    });
    format!(
        "<tr data-item tabindex=\"-1\" id=\"j-{seq}\"><td class=\"nowrap\" data-l=\"record\">{seq}</td><td>{at}</td><td><span class=\"badge\">{kind}</span></td><td class=\"small\">{rest}{trace}</td></tr>",
        seq = leaf.seq,
        at = envelope["at"].as_u64().map(html::time).unwrap_or_default(),
        kind = html::text(envelope["kind"].as_str().unwrap_or("unreadable")),
        rest = rest.join(" "),
    )
}

/// One member of a record, compact; nothing where it is empty.
fn member(name: &str, value: &Value) -> Option<String> {
    let shown = match value {
        Value::Null => return None,
        Value::Array(items) if items.is_empty() => return None,
        Value::String(said) if said.starts_with("sha256:") => html::digest(said),
        Value::String(said) => html::short(said),
        Value::Object(members) => {
            let members = members.iter().filter_map(|(name, value)| member(name, value));
            members.collect::<Vec<_>>().join(" ")
        }
        other => html::short(&other.to_string()),
    };
    Some(format!("<span class=\"dim\">{}</span> {shown}", html::text(name)))
}

/// What the last verification found, and how far one that runs has come.
fn verified(console: &Console) -> String {
    let state = lock(&console.verified);
    let mut words = String::new();
    if let Some(read) = state.running {
        words.push_str(&html::message("notice", &format!("Being verified: {read} records read.")));
    }
    match &state.last {
        None => {}
        Some((at, Err(why))) => words.push_str(&format!(
            "<p class=\"fault\">It could not be verified at {}: {}</p>",
            html::time(*at),
            html::text(why)
        )),
        Some((at, Ok(report))) => words.push_str(&told(*at, report)),
    }
    words
}

fn told(at: Millis, report: &Report) -> String {
    let mut words = if report.is_sound() {
        format!("<div class=\"good\"><strong>Sound</strong> at {}: ", html::time(at))
    } else {
        let faults = report.faults.len() as u64 + report.more_faults;
        format!(
            "<div class=\"fault\"><strong>Not sound</strong> at {}: {}. ",
            html::time(at),
            html::count(faults, "fault")
        )
    };
    words.push_str(&format!(
        "{} read, {} covered by checkpoints, {} sealed parts compared.",
        html::count(report.records, "record"),
        report.signed,
        report.payloads
    ));
    let mut rows: Vec<String> = report
        .faults
        .iter()
        .map(|fault| {
            format!(
                "<li><strong>{}</strong> {}: {}</li>",
                fault.kind,
                html::short(&fault.place),
                html::short(&fault.sentence)
            )
        })
        .collect();
    if report.open_attempts > 0 {
        rows.push(format!("<li>attempts without an outcome: {}</li>", report.open_attempts));
    }
    rows.extend(
        report.cannot_show.iter().map(|said| format!("<li>Not shown: {}</li>", html::short(said))),
    );
    words.push_str(&format!("<ul>{}</ul></div>", rows.concat()));
    words
}
