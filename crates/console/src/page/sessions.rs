//! Sessions: which agent runs were authorised, and what became of them.

use super::{Drawn, Query};
use crate::{Console, html, limits};
use store::{Session, SessionQuery};

pub async fn draw(console: &Console, query: &Query) -> Drawn {
    let open = query.get("open").is_some();
    let asked = SessionQuery {
        server: query.get("server").map(str::to_owned),
        open,
        before: query.parsed("before"),
        limit: limits::ROWS + 1,
    };
    let found = console.store().sessions(asked).await?;
    let mut page = String::from(
        "<h1>Sessions</h1><p class=\"lead\">Each is one client connected to one server, authorised as one principal. It outlives this console and the gateway.</p>",
    );
    let here = |is: bool| if is { " aria-current=\"true\"" } else { "" };
    page.push_str(&format!(
        "<div class=\"bar\"><a class=\"button\" data-go href=\"/sessions\"{}>All</a><a class=\"button\" data-go href=\"/sessions?open=yes\"{}>Open</a></div>",
        here(!open),
        here(open)
    ));
    if found.is_empty() {
        page.push_str(&html::message("empty", "No session is on record here."));
        return Ok(page);
    }
    let rows = usize::try_from(limits::ROWS).unwrap_or(usize::MAX);
    page.push_str("<table><thead><tr><th scope=\"col\">Opened</th><th scope=\"col\">Server</th><th scope=\"col\">Authorised as</th><th scope=\"col\">State</th><th scope=\"col\">Calls</th></tr></thead><tbody>");
    found.iter().take(rows).for_each(|one| page.push_str(&row(one)));
    page.push_str("</tbody></table>");
    if let Some(last) = found.get(rows).and(found.get(rows - 1)) {
        let open = if open { "&amp;open=yes" } else { "" };
        page.push_str(&format!(
            "<div class=\"bar\"><a class=\"button\" data-go data-next href=\"/sessions?before={}{open}\">Older <kbd>n</kbd></a></div>",
            last.id
        ));
    }
    Ok(page)
}

fn row(one: &Session) -> String {
    let state = match one.ended {
        None if one.abandoned => "<span class=\"badge warn\">gone</span>".to_owned(),
        None => "<span class=\"badge calm\">open</span>".to_owned(),
        Some((at, how)) => format!("{how} {}", html::time(at)),
    };
    let refused = match one.refused {
        0 => String::new(),
        refused => format!(", <span class=\"badge warn\">{refused} refused</span>"),
    };
    let client = one.client_info.as_deref().map_or(String::new(), |info| {
        format!("<div class=\"dim small\">says it is {}</div>", html::quoted(info))
    });
    format!(
        "<tr data-item tabindex=\"-1\" id=\"s-{id}\"><td data-l=\"opened\">{opened}</td><td data-l=\"server\">{server}{client}</td>\
         <td data-l=\"as\">{principal} <span class=\"dim small\">{era}</span></td><td data-l=\"state\">{state}</td>\
         <td data-l=\"calls\"><a data-go data-open href=\"/activity?session={id}\">{calls}</a>{refused}</td></tr>",
        id = one.id,
        opened = html::time(one.opened_at),
        server = html::short(&one.server),
        principal = html::short(&one.principal),
        era = one.era,
        calls = html::count(one.requests, "call"),
    )
}
