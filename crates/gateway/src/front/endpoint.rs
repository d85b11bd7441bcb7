//! Which server a path means, and which list a client declares to have planned with.

use super::{Served, answer};
use crate::catalogue::Catalogue;
use crate::limits;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use std::sync::Arc;
use store::Era;

/// The last part of a path: `NAME` or `NAME@DIGEST`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The server.
    pub server: String,
    /// The first digits of the digest of a list, in small letters.
    pub pin: Option<String>,
}

impl Endpoint {
    /// Reads the last part of a path.
    pub fn read(text: &str) -> Option<Endpoint> {
        let Some((server, pin)) = text.split_once('@') else {
            return Some(Endpoint { server: text.to_owned(), pin: None });
        };
        let digits = pin.strip_prefix("sha256:").unwrap_or(pin).to_ascii_lowercase();
        let good = (limits::PIN_DIGITS..=64).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_hexdigit());
        good.then(|| Endpoint { server: server.to_owned(), pin: Some(digits) })
    }

    /// The list that the client declares, from what was recorded; `None` where it declares none. It is served as the server
    /// wrote it, where that was kept of this era, and else each of its tools is.
    pub async fn pinned(
        &self,
        served: &Served,
        era: Era,
    ) -> Result<Option<Arc<Catalogue>>, Response> {
        let Some(pin) = &self.pin else { return Ok(None) };
        let failed = |why: String| answer::refused(StatusCode::SERVICE_UNAVAILABLE, &why);
        let store = &served.hub.store;
        let lists = store
            .lists(served.name.clone(), None, limits::PIN_LISTS)
            .await
            .map_err(|why| failed(why.to_string()))?;
        let prefix = format!("sha256:{pin}");
        let mut seen = std::collections::BTreeSet::new();
        // The same list may have been given to several who asked.
        let mut matching = lists
            .into_iter()
            .filter(|list| list.digest.starts_with(&prefix) && seen.insert(list.digest.clone()));
        let list = match (matching.next(), matching.next()) {
            (Some(list), None) => list,
            (None, _) => {
                let why = format!("{} never listed tools with the digest {pin}.", served.name);
                return Err(answer::refused(StatusCode::NOT_FOUND, &why));
            }
            (Some(_), Some(_)) => {
                let why = format!("More than one list begins with {pin}: give more digits.");
                return Err(answer::refused(StatusCode::NOT_FOUND, &why));
            }
        };
        let whole = store.list(served.name.clone(), list.digest.clone()).await;
        let whole = whole.map_err(|why| failed(why.to_string()))?;
        let kept = whole.and_then(|whole| Some((whole.scope, written(&whole.pages?)?)));
        let pages = match kept {
            Some((scope, pages)) if scope.starts_with(word(era)) => pages,
            Some((_, pages)) => vec![page(&tools_of(&pages).map_err(failed)?, era)],
            None => {
                let mut tools = Vec::new();
                for (tool, digest) in list.tools {
                    let kept = store.definition(served.name.clone(), tool.clone(), digest).await;
                    let kept = kept.map_err(|why| failed(why.to_string()))?;
                    tools.push(kept.ok_or_else(|| {
                        failed(format!("The definition of {tool} is not kept any more."))
                    })?);
                }
                vec![page(&tools, era)]
            }
        };
        served.hub.definitions.list(pages).map(Some).map_err(failed)
    }
}

/// How a scope begins that belongs to an era.
fn word(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy/",
        Era::Modern => "modern/",
    }
}

/// The pages as they are on record.
fn written(pages: &str) -> Option<Vec<Arc<str>>> {
    let pages: Vec<String> = serde_json::from_str(pages).ok()?;
    Some(pages.into_iter().map(Arc::from).collect())
}

/// Each tool of some pages, as it was written.
fn tools_of(pages: &[Arc<str>]) -> Result<Vec<String>, String> {
    let mut tools = Vec::new();
    for page in pages {
        let read = mcp::ListPage::read(page, "a kept list").map_err(|problems| {
            problems.into_iter().next().map_or_else(String::new, |problem| problem.sentence)
        })?;
        tools.extend(read.tools.iter().map(|tool| tool.get().to_owned()));
    }
    Ok(tools)
}

/// One page with these tools: a modern client needs more beside them, which a legacy one is not sent.
fn page(tools: &[String], era: Era) -> Arc<str> {
    let tools = tools.join(",");
    match era {
        Era::Legacy => format!("{{\"tools\":[{tools}]}}").into(),
        Era::Modern => format!(
            "{{\"resultType\":\"complete\",\"tools\":[{tools}],\"ttlMs\":0,\"cacheScope\":\"private\"}}"
        )
        .into(),
    }
}

/// The revisions of the modern era, as an error names them.
pub fn supported() -> Value {
    let modern = mcp::version::REVISIONS.iter().filter(|r| r.era == mcp::Era::Modern);
    modern.map(|revision| Value::from(revision.date)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_server_and_perhaps_a_list() {
        let pin = |text| Endpoint::read(text).map(|endpoint| endpoint.pin);
        assert_eq!(pin("files"), Some(None));
        assert_eq!(pin("files@ABCDEF01"), Some(Some("abcdef01".to_owned())));
        assert_eq!(pin("files@sha256:abcdef0123"), Some(Some("abcdef0123".to_owned())));
        for bad in ["files@", "files@abc", "files@abcdefgh", "a@b@abcdef01"] {
            assert_eq!(pin(bad), None, "{bad}");
        }
    }
}
