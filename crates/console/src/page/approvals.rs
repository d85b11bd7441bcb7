//! The calls that wait for a person, a card each.

use super::Drawn;
use crate::{Console, html, limits};
use gateway::event;
use serde_json::Value;
use store::Approval;

pub async fn draw(console: &Console) -> Drawn {
    let waiting = console.store().pending(event::now()).await?;
    let mut page = String::from("<h1>Approvals</h1>");
    page.push_str(&match &console.config.approver {
        Ok(one) => format!(
            "<p class=\"lead\">You decide as <strong>{}</strong>. An approval covers exactly one call, once, and is void when anything moves.</p>",
            html::text(&one.name)
        ),
        Err(why) => format!(
            "<p class=\"notice\" role=\"note\"><strong>Read only.</strong> {}</p>",
            html::text(why)
        ),
    });
    if waiting.is_empty() {
        page.push_str("<div class=\"empty\"><p>Nothing waits for a person.</p><p class=\"dim\">A call that is held stands here at once.</p></div>");
    }
    let may = console.config.approver.is_ok();
    for one in waiting.iter().take(limits::CARDS) {
        page.push_str(&card(one, may));
    }
    if let Some(more @ 1..) = waiting.len().checked_sub(limits::CARDS) {
        page.push_str(&html::message("dim", &format!("{more} more wait behind these.")));
    }
    Ok(page)
}

/// One call. Its mode, its number and its targets come first; the whole of the rest is a key away.
fn card(waiting: &Approval, may: bool) -> String {
    let id = waiting.id.to_string();
    let read = waiting.card.as_deref().and_then(|card| serde_json::from_str::<Value>(card).ok());
    let Some(card) = read else {
        return format!(
            "<article class=\"card\" data-item tabindex=\"-1\" id=\"c-{id}\"><h2>{}</h2>{}</article>",
            html::text(&waiting.tool),
            html::message("fault", "What it is about was erased: it cannot be judged any more.")
        );
    };
    let word = |name: &str| card[name].as_str().unwrap_or_default();
    let rows = |name: &str| card[name].as_array().map_or(&[][..], Vec::as_slice);
    let mode = word("mode");
    let grave = match mode {
        "reads" => "calm",
        "writes" => "warn",
        _ => "bad",
    };
    let count = card["objects"].as_u64().unwrap_or(1);
    let objects = html::count(count, "object");
    let mut facts = String::new();
    // A list of ids has a row of its own, with its digest.
    let listed = |target: &&Value| target["field"] != card["ids"]["field"];
    for target in rows("targets").iter().filter(listed) {
        facts.push_str(&html::row("Target", &pair(target)));
    }
    if let Some(ids) = card["ids"].as_object() {
        facts.push_str(&html::row("Targets", &first_ids(ids)));
    }
    for from in rows("eligible") {
        facts.push_str(&html::row("Eligible by", &eligible(from)));
    }
    if let Some(sends) = card["sends"].as_object() {
        facts.push_str(&sent(sends));
    }
    facts.push_str(&html::row("Waits because", &reason(word("reason"))));
    for moved in rows("moved") {
        let field =
            moved["field"].as_str().map_or(String::new(), |f| format!("{} ", html::quoted(f)));
        let what = format!(
            "{field}{} <code>{}</code>",
            html::short(moved["what"].as_str().unwrap_or_default()),
            html::text(moved["rule"].as_str().unwrap_or_default())
        );
        facts.push_str(&html::row("What moved", &what));
    }
    facts.push_str(&html::row("Reversible", reversible(word("reversible"), mode)));
    facts.push_str(&html::row("Last time", &differs(&card["differs"])));
    let targets = rows("targets");
    let rest: Vec<&Value> = rows("arguments").iter().filter(|a| !targets.contains(a)).collect();
    let mut arguments = String::new();
    for one in &rest {
        arguments.push_str(&html::row("Argument", &pair(one)));
    }
    if let Some(more) = card["more_arguments"].as_u64().filter(|more| *more > 0) {
        arguments.push_str(&html::row("And", &format!("{more} more arguments")));
    }
    if !rows("adapted_by").is_empty() {
        let by: Vec<&str> = rows("adapted_by").iter().filter_map(Value::as_str).collect();
        arguments.push_str(&html::row("Written by", &html::text(&by.join(", "))));
    }
    let said = card["says"]
        .as_str()
        .map_or(String::new(), |says| html::row("The server says", &html::quoted(says)));
    let digest = &waiting.action_digest;
    let buttons = if may {
        format!(
            "<button class=\"go\" data-ask=\"approve\" data-id=\"{id}\" data-digest=\"{d}\" data-what=\"{what}\">Approve once <kbd>a</kbd></button>\
             <button data-ask=\"deny\" data-id=\"{id}\" data-digest=\"{d}\" data-what=\"{what}\">Deny <kbd>d</kbd></button>",
            d = html::plain(digest),
            what = html::plain(&format!(
                "{} of {}: {mode} on {objects}",
                word("tool"),
                word("server")
            )),
        )
    } else {
        String::new()
    };
    format!(
        "<article class=\"card {grave}\" data-item tabindex=\"-1\" id=\"c-{id}\" aria-labelledby=\"h-{id}\">\
         <header><h2 id=\"h-{id}\">{tool} <span class=\"of\">of</span> {server}</h2>\
         <span class=\"left\" data-until=\"{until}\">until {until_shown}</span></header>\
         <p class=\"sum\"><span class=\"badge {grave}\">{mode}</span> <strong>{objects}</strong></p>\
         <dl>{facts}{arguments}{said}{asked}</dl>\
         <p class=\"dim small\">Names and values in quotes are what the agent and the server say; nobody checked them.<br>Exactly this action: {digest}, under contract {revision}.</p>\
         <footer>{buttons}<a class=\"button\" data-go data-trace href=\"/trace?request={request}\">Trace <kbd>t</kbd></a></footer></article>",
        tool = html::quoted(word("tool")),
        server = html::quoted(word("server")),
        mode = html::text(mode),
        until = waiting.expires,
        until_shown = html::time(waiting.expires),
        asked = html::row(
            "Asked by",
            &format!("{} {}", html::quoted(&waiting.principal), html::time(waiting.at))
        ),
        digest = html::digest(digest),
        revision = html::digest(&waiting.revision),
        request = waiting.request,
    )
}

/// What a bound action would send: where it goes, with whose credential, and each value of its body.
fn sent(sends: &serde_json::Map<String, Value>) -> String {
    let word = |name: &str| sends.get(name).and_then(Value::as_str).unwrap_or_default();
    let place = format!("{} {}{}", word("method"), word("origin"), word("target"));
    let mut rows = html::row("Sends", &format!("<code>{}</code>", html::short(&place)));
    let credential = match sends.get("credential").and_then(Value::as_str) {
        Some(label) => {
            let version = sends.get("credential_version").and_then(Value::as_u64).unwrap_or(0);
            format!("{}, version {version}", html::quoted(label))
        }
        None => "none".to_owned(),
    };
    rows.push_str(&html::row("Credential", &credential));
    let body = sends.get("body").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for one in body {
        rows.push_str(&html::row("Body", &pair(one)));
    }
    if let Some(more) = sends.get("more_body").and_then(Value::as_u64).filter(|more| *more > 0) {
        rows.push_str(&html::row("And", &format!("{more} more values in the body")));
    }
    rows
}

/// A name and its value, both as somebody else said them.
fn pair(row: &Value) -> String {
    let digest = row["digest"].as_str();
    let cut =
        digest.map_or(String::new(), |d| format!(" <em>cut; whole:</em> {}", html::digest(d)));
    format!(
        "{} = {}{cut}",
        html::quoted(row["field"].as_str().unwrap_or_default()),
        html::short(row["value"].as_str().unwrap_or_default())
    )
}

fn first_ids(ids: &serde_json::Map<String, Value>) -> String {
    let first = ids.get("first").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let shown: Vec<String> = first.iter().filter_map(Value::as_str).map(html::short).collect();
    let all = ids.get("count").and_then(Value::as_u64).unwrap_or_default();
    let digest = ids.get("digest").and_then(Value::as_str).map_or(String::new(), html::digest);
    let more = all.saturating_sub(first.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let field = ids.get("field").and_then(Value::as_str).unwrap_or_default();
    format!("{} = {}{more}; all {all}: {digest}", html::quoted(field), shown.join(", "))
}

/// The member of an answer that a value came in.
fn eligible(from: &Value) -> String {
    let word = |name: &str| html::quoted(from[name].as_str().unwrap_or_default());
    let member =
        from["member"].as_str().map_or(String::new(), |m| format!("{} of ", html::quoted(m)));
    format!(
        "{} = {}, as it came in {member}{}",
        word("field"),
        html::short(from["value"].as_str().unwrap_or_default()),
        word("tool")
    )
}

/// Why a call waits, in the language of operations.
fn reason(code: &str) -> String {
    let words = match code {
        "APPROVAL_REQUIRED" => "calls with an effect wait for a person here",
        "AUTHORITY_WIDENED" => "it would reach further than what was granted",
        "CONTRACT_UNDECIDED" => "what it does under the contract of now cannot be decided",
        "STALE_TOOL_SCHEMA" => "it was planned under a contract that no longer holds",
        _ => "the gateway holds it",
    };
    format!("{words} <code>{}</code>", html::text(code))
}

/// What is known of undoing it. A server's own word never makes it look safer than it is.
fn reversible(said: &str, mode: &str) -> &'static str {
    match (said, mode) {
        (_, "reads") => "nothing to undo, as the server tells",
        ("declared", "writes") => "it can be changed back, as the binding says",
        ("unknown", _) | (_, "writes") => "not known; the server tells that it destroys nothing",
        _ => "take it as irreversible: the server does not rule out that it destroys",
    }
}

fn differs(differs: &Value) -> String {
    match differs.as_array().map(Vec::as_slice) {
        None => "no call of this tool was approved before".to_owned(),
        Some([]) => "the same arguments were approved".to_owned(),
        Some(all) => {
            let shown = |one: &Value, name: &str| {
                one[name].as_str().map_or("<em>nothing</em>".to_owned(), html::short)
            };
            let rows: Vec<String> = all
                .iter()
                .map(|one| {
                    format!(
                        "<li>{}: <del>{}</del> → <ins>{}</ins></li>",
                        html::quoted(one["field"].as_str().unwrap_or_default()),
                        shown(one, "before"),
                        shown(one, "after")
                    )
                })
                .collect();
            format!("<ul class=\"plain\">{}</ul>", rows.concat())
        }
    }
}
