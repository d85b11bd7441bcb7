//! The difference of two revisions of a tool: each change with its class, its sentence and the value that shows it.

use super::drift::{class, compared, verdict};
use super::trace::pretty;
use super::{Drawn, Query};
use crate::{Console, html, limits};
use contract::{Change, Side};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let (Some(server), Some(tool), Some(from), Some(to)) =
        (query.get("server"), query.get("tool"), query.get("from"), query.get("to"))
    else {
        return Ok(html::message("fault", "Say which two revisions: Drift links to them."));
    };
    let mut page = format!(
        "<h1>{} <span class=\"dim\">of</span> {}</h1><p class=\"lead\">{} → {}</p>",
        html::quoted(tool),
        html::quoted(server),
        html::digest(from),
        html::digest(to)
    );
    let Some(diff) = compared(console, server, tool, from, to).await? else {
        page.push_str(&html::message("fault", "One of these definitions is not on record, or they could not be compared: take it as changed."));
        return Ok(page);
    };
    match diff.entries.first() {
        None => page.push_str(&html::message("empty", "Nothing that a call can tell.")),
        Some(entry) => {
            page.push_str(&format!(
                "<p>A call planned under the first is {}; what changed is {}.</p>",
                verdict(entry.verdict),
                class(entry.class)
            ));
            for (n, one) in entry.changes.iter().take(limits::CHANGES).enumerate() {
                page.push_str(&change(n, one));
            }
            if let Some(more @ 1..) = entry.changes.len().checked_sub(limits::CHANGES) {
                page.push_str(&html::message("dim", &format!("and {more} more changes")));
            }
        }
    }
    page.push_str("<h2>Definitions</h2><div class=\"two\">");
    for (which, digest) in [("Before", from), ("After", to)] {
        let known = console.store().definition(server.into(), tool.into(), digest.into()).await?;
        page.push_str(&format!(
            "<details id=\"d-{which}\"><summary>{which}, as the server spelled it</summary><pre tabindex=\"0\">{}</pre></details>",
            known.map_or_else(|| "not on record".to_owned(), |text| pretty(&text))
        ));
    }
    page.push_str("</div>");
    Ok(page)
}

fn change(n: usize, one: &Change) -> String {
    let value = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or("<em>nothing</em>".to_owned(), |v| html::short(&v.to_string()))
    };
    let witness = one.witness.as_ref().map_or(String::new(), |witness| {
        let (takes, rejects) = match witness.accepted_by {
            Side::Old => ("the first", "the second"),
            Side::New => ("the second", "the first"),
        };
        html::row(
            "Witness",
            &format!(
                "<code>{}</code> {takes} takes it, {rejects} rejects it by <code>{}</code>",
                html::short(&witness.value.to_string()),
                html::short(&witness.rejected_by)
            ),
        )
    });
    format!(
        "<section class=\"item\" data-item tabindex=\"-1\" id=\"x-{n}\"><p class=\"head\">{} {} <code>{}</code></p><p>{}</p><dl>{}{}{witness}</dl></section>",
        class(one.class),
        verdict(one.verdict),
        one.rule,
        html::text(&one.sentence),
        html::row("Place", &format!("<code>{}</code>", html::short(&one.path))),
        html::row(
            "Value",
            &format!("<del>{}</del> → <ins>{}</ins>", value(&one.before), value(&one.after))
        ),
    )
}
