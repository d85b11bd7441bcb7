//! The pages, and what each is asked for.

mod activity;
mod adapters;
mod approvals;
mod diff;
mod drift;
mod journal;
mod sessions;
mod trace;

use crate::{Console, html};
use std::collections::BTreeMap;
use store::StoreError;

/// What a page is asked for: names and values of the address.
pub struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads it; what is no pair counts for nothing.
    pub fn read(text: &str) -> Query {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        Query(pairs.map(|(name, value)| (decoded(name), decoded(value))).collect())
    }

    /// One value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// One value that is read as something.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (byte, hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What a page shows, or why it cannot.
type Drawn = Result<String, StoreError>;

/// The names of the pages.
const PAGES: &[&str] =
    &["approvals", "sessions", "activity", "drift", "diff", "adapters", "journal", "trace"];

/// True for the name of a page.
pub fn known(name: &str) -> bool {
    PAGES.contains(&name)
}

/// Draws the part of a page; `None` where there is no such page.
pub async fn draw(console: &Console, name: &str, query: &Query) -> Option<String> {
    let drawn: Drawn = match name {
        "approvals" => approvals::draw(console).await,
        "sessions" => sessions::draw(console, query).await,
        "activity" => activity::draw(console, query).await,
        "drift" => drift::draw(console, query).await,
        "diff" => diff::draw(console, query).await,
        "adapters" => adapters::draw(console).await,
        "journal" => journal::draw(console, query).await,
        "trace" => trace::draw(console, query).await,
        _ => return None,
    };
    Some(drawn.unwrap_or_else(|why| {
        html::message("fault", &html::text(&format!("The store cannot be read: {why}")))
    }))
}
