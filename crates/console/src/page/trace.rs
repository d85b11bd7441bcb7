//! The engineer's trace of one request: every record about it, with what is sealed, as it is on record.

use super::{Drawn, Query, activity};
use crate::{Console, html, limits};
use serde_json::Value;
use store::{ActivityQuery, RequestId};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let Some(request) = query.parsed::<RequestId>("request") else {
        return Ok(html::message("fault", "Say which request: its id stands in Activity."));
    };
    let asked = ActivityQuery { request: Some(request), ..ActivityQuery::default() };
    let known = console.store().activity(asked).await?.into_iter().next();
    let leaves = console.store().leaves_of(request).await?;
    let mut page = format!("<h1>Trace</h1><p class=\"lead\">Request <code>{request}</code></p>");
    if leaves.is_empty() {
        page.push_str(&html::message("empty", "No record is about this request."));
        return Ok(page);
    }
    if let Some(known) = &known {
        page.push_str(&format!(
            "<p>{} of {}: {} · <a data-go href=\"/activity?session={session}\">its session</a></p>",
            html::quoted(&known.tool),
            html::quoted(&known.server),
            activity::left(known),
            session = known.session,
        ));
    }
    let sealed = match console.store().payloads(request).await {
        Ok(sealed) => sealed,
        Err(why) => {
            let why = format!("What is sealed cannot be opened here: {why}");
            page.push_str(&html::message("notice", &html::text(&why)));
            Vec::new()
        }
    };
    for leaf in leaves.iter().take(limits::TRACE_RECORDS) {
        let envelope: Value = serde_json::from_str(&leaf.envelope).unwrap_or(Value::Null);
        let hash: String = leaf.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        page.push_str(&format!(
            "<section class=\"item\" data-item tabindex=\"-1\" id=\"l-{seq}\"><p class=\"head\"><strong>{kind}</strong> <span class=\"dim\">record {seq}, hash {hash}</span>{at}</p><pre tabindex=\"0\">{envelope}</pre>",
            seq = leaf.seq,
            kind = html::text(envelope["kind"].as_str().unwrap_or("unreadable")),
            hash = html::digest(&hash),
            at = envelope["at"].as_u64().map(html::time).unwrap_or_default(),
            envelope = pretty(&leaf.envelope),
        ));
        for payload in sealed.iter().filter(|payload| payload.seq == leaf.seq) {
            page.push_str(&format!(
                "<details id=\"p-{seq}-{part}\"><summary>{part} <span class=\"dim small\">sealed</span></summary><pre tabindex=\"0\">{text}</pre></details>",
                seq = payload.seq,
                part = payload.part,
                text = pretty(&payload.text),
            ));
        }
        page.push_str("</section>");
    }
    if let Some(more @ 1..) = leaves.len().checked_sub(limits::TRACE_RECORDS) {
        page.push_str(&html::message(
            "dim",
            &format!("and {more} more records: steadfast journal show --request {request}"),
        ));
    }
    Ok(page)
}

/// JSON over several lines, or text as it is; what is too long for a page is cut, and says so.
pub fn pretty(text: &str) -> String {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let whole = value.map_or_else(|| text.to_owned(), |value| format!("{value:#}"));
    let mut kept = whole.chars();
    let cut: String = kept.by_ref().take(limits::TRACE).collect();
    match kept.count() {
        0 => html::plain(&cut),
        more => format!("{}\n… {more} more characters", html::plain(&cut)),
    }
}
