//! Adapters: how they are used, when they end, whether they can go; and what still leans on old revisions.

use super::Drawn;
use crate::{Console, html};
use gateway::control;
use gateway::leaning::{self, DAY, Leaning, Retire};
use gateway::status::{AdapterStatus, Filter};

pub async fn draw(console: &Console) -> Drawn {
    let config = &console.config;
    let (leaning, retire) =
        leaning::report(console.store(), config.adapters.as_ref(), config.quiet_days).await?;
    let (running, _) = control::ask_all(&config.sockets, &Filter::default()).await;
    let live: Vec<AdapterStatus> = running.into_iter().flat_map(|status| status.adapters).collect();
    let mut page = String::from(
        "<h1>Adapters</h1><p class=\"lead\">A declared conversion of old calls. One that nothing leans on any more can go.</p>",
    );
    let unused = live.iter().filter(|one| !retire.iter().any(|known| known.id == one.id));
    let mut rows: Vec<String> =
        retire.iter().map(|one| row(one, &live, config.quiet_days)).collect();
    rows.extend(unused.map(|one| {
        item(
            &one.id,
            &format!("{} → {}", html::short(&one.tool), html::short(&one.to)),
            "not used yet",
            &html::short(&one.ends),
            "unknown: no use is on record",
            one.refuted.as_deref(),
        )
    }));
    if rows.is_empty() {
        page.push_str(&html::message("empty", "No adapter was used, and none is in force."));
    } else {
        page.push_str("<table><thead><tr><th scope=\"col\">Adapter</th><th scope=\"col\">Carries</th><th scope=\"col\">Uses</th><th scope=\"col\">Ends</th><th scope=\"col\">Can it be retired?</th></tr></thead><tbody>");
        page.push_str(&rows.concat());
        page.push_str("</tbody></table>");
    }
    page.push_str("<h2>What leans on old revisions</h2>");
    if leaning.is_empty() {
        page.push_str(&html::message("dim", "No call leaned on an old revision."));
        return Ok(page);
    }
    page.push_str("<table><thead><tr><th scope=\"col\">Tool</th><th scope=\"col\">Revision</th><th scope=\"col\">Weight</th><th scope=\"col\">Open sessions</th><th scope=\"col\">Counted</th></tr></thead><tbody>");
    leaning.iter().for_each(|one| page.push_str(&lean(one)));
    page.push_str("</tbody></table>");
    Ok(page)
}

fn row(one: &Retire, live: &[AdapterStatus], quiet_days: u64) -> String {
    let running = live.iter().find(|known| known.id == one.id);
    let tools = match (&one.tools, running) {
        (Some((from, to, _)), _) => format!("{} → {}", html::short(from), html::short(to)),
        (None, Some(known)) => format!("{} → {}", html::short(&known.tool), html::short(&known.to)),
        (None, None) => "not declared here".to_owned(),
    };
    let uses = match &one.used {
        None => "never".to_owned(),
        Some(used) => {
            format!("{}, last {}", html::count(used.times, "use"), html::time(used.last_at))
        }
    };
    let ends = match (&one.tools, running) {
        (Some((_, _, ends)), _) => html::short(ends),
        (None, Some(known)) => html::short(&known.ends),
        (None, None) => "not known".to_owned(),
    };
    let can = match (one.unknown, one.why.as_slice()) {
        (true, _) => "unknown: start the console with --adapters FILE".to_owned(),
        (false, []) => {
            format!("<strong class=\"badge calm\">yes</strong> unused for {quiet_days} days")
        }
        (false, why) => {
            let why: Vec<String> = why.iter().map(|one| one.in_words(html::time)).collect();
            format!("<strong class=\"badge warn\">no</strong> {}", why.join(", and "))
        }
    };
    item(&one.id, &tools, &uses, &ends, &can, running.and_then(|known| known.refuted.as_deref()))
}

fn item(id: &str, tools: &str, uses: &str, ends: &str, can: &str, refuted: Option<&str>) -> String {
    let refuted = refuted.map_or(String::new(), |why| {
        format!(
            "<div class=\"small\"><span class=\"badge bad\">refuted</span> {}</div>",
            html::short(why)
        )
    });
    format!(
        "<tr data-item tabindex=\"-1\" id=\"a-{key}\"><td><strong>{id}</strong>{refuted}</td><td data-l=\"carries\">{tools}</td><td data-l=\"uses\">{uses}</td><td data-l=\"ends\">{ends}</td><td data-l=\"retire?\">{can}</td></tr>",
        key = html::part(id),
        id = html::short(id),
    )
}

#[expect(clippy::cast_precision_loss, reason = "an age is shown, not counted with")]
fn lean(one: &Leaning) -> String {
    let counts: Vec<String> = one
        .counts
        .iter()
        .map(|(what, counter)| {
            format!(
                "<li>{}: {} ({} with an effect), oldest session {:.1} days, last {}</li>",
                what.as_str(),
                counter.times,
                counter.effects,
                counter.oldest_session as f64 / DAY as f64,
                html::time(counter.last_at)
            )
        })
        .collect();
    let ordinal = one.ordinal.map_or(String::new(), |ordinal| format!("#{ordinal} "));
    let current = if one.current { " <span class=\"badge calm\">current</span>" } else { "" };
    format!(
        "<tr data-item tabindex=\"-1\"><td>{} <span class=\"dim\">of</span> {}</td><td data-l=\"revision\">{ordinal}{}{current}</td><td data-l=\"weight\">{:.1}</td><td data-l=\"open sessions\">{}</td><td><ul class=\"plain small\">{}</ul></td></tr>",
        html::short(&one.tool),
        html::short(&one.server),
        html::digest(&one.digest),
        one.weight(),
        one.open,
        counts.concat()
    )
}
