//! Who is let in and where the call goes: security, schemes, base addresses.

use super::draft::{Finish, REACH, change};
use super::read::{Alternative, Api, Operation, root_servers, template};
use super::resolve::{Node, Place};
use crate::change::{Change, Entry, Subject};
use crate::digest::canonical;
use crate::rules::finding::Judgement;
use crate::rules::http::*;
use crate::verdict::Decision::{Ask, Scope};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Compares what the two operations ask of a caller.
pub(crate) fn security(old: &Operation<'_>, new: &Operation<'_>, changes: &mut Vec<Change>) {
    if old.security == new.security {
        return;
    }
    let place = &new.security_place;
    let (before, after) = (value(&old.security), value(&new.security));
    let open = |list: &[Alternative]| list.is_empty() || list.iter().any(BTreeMap::is_empty);
    let push = |changes: &mut Vec<Change>, rule, judgement, sentence| {
        changes.push(
            change(rule, judgement, place, sentence)
                .values(Some(&before), Some(&after))
                .guess(&[Ask]),
        );
    };
    match (open(&old.security), open(&new.security)) {
        (true, true) => {}
        (true, false) => push(
            changes,
            &SF535,
            Judgement::BREAKING,
            format!(
                "the operation asks for a credential now ({}): a call without one is turned away",
                words(&new.security)
            ),
        ),
        (false, true) => push(
            changes,
            &SF536,
            REACH,
            format!(
                "the operation no longer asks for a credential (it was {}): the guard is gone",
                words(&old.security)
            ),
        ),
        (false, false) => {
            // A credential that was good enough before: is it still?
            let lost: Vec<&Alternative> = old
                .security
                .iter()
                .filter(|was| !new.security.iter().any(|is| covers(was, is)))
                .collect();
            if lost.is_empty() {
                push(
                    changes,
                    &SF538,
                    Judgement::ADDITIVE,
                    format!(
                        "the operation is content with other or fewer rights now ({}); what was good enough still is",
                        words(&new.security)
                    ),
                );
            } else {
                let demanded = demanded(&lost, &new.security);
                push(
                    changes,
                    &SF535,
                    REACH,
                    format!(
                        "the operation asks for other rights: {demanded}; the credential that was good enough is turned away; going on would need a wider one, which a person grants",
                    ),
                );
            }
        }
    }
}

/// A credential good for `was` is good for `is`.
fn covers(was: &Alternative, is: &Alternative) -> bool {
    is.iter().all(|(scheme, scopes)| {
        was.get(scheme).is_some_and(|held| scopes.iter().all(|scope| held.contains(scope)))
    })
}

fn demanded(lost: &[&Alternative], new: &[Alternative]) -> String {
    let all = |list: Vec<&Alternative>| -> BTreeSet<String> {
        list.iter()
            .flat_map(|alternative| {
                alternative.iter().flat_map(|(scheme, scopes)| {
                    if scopes.is_empty() {
                        vec![scheme.clone()]
                    } else {
                        scopes.iter().map(|scope| format!("{scheme}:{scope}")).collect()
                    }
                })
            })
            .collect()
    };
    let (was, is) = (all(lost.to_vec()), all(new.iter().collect()));
    let list = |set: BTreeSet<&String>| {
        set.into_iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
    };
    let (gone, come) = (list(was.difference(&is).collect()), list(is.difference(&was).collect()));
    match (gone.is_empty(), come.is_empty()) {
        (false, false) => format!("{gone} became {come}"),
        (true, false) => format!("{come} on top"),
        _ => format!("{gone} is no longer one of the ways in"),
    }
}

fn words(alternatives: &[Alternative]) -> String {
    let one = |alternative: &Alternative| {
        alternative
            .iter()
            .map(|(scheme, scopes)| {
                if scopes.is_empty() {
                    format!("`{scheme}`")
                } else {
                    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
                    format!("`{scheme}` with {}", scopes.join(", "))
                }
            })
            .collect::<Vec<_>>()
            .join(" and ")
    };
    if alternatives.is_empty() {
        return "nothing".to_owned();
    }
    alternatives.iter().map(one).collect::<Vec<_>>().join(" or ")
}

fn value(alternatives: &[Alternative]) -> Value {
    json!(alternatives)
}

/// Compares the base addresses of the two operations.
pub(crate) fn servers(old: &Operation<'_>, new: &Operation<'_>, changes: &mut Vec<Change>) {
    changes.extend(addresses(&old.servers, &new.servers, &new.servers_place));
}

/// The document's own base addresses, where they moved and no operation goes by them: whoever
/// took the address from the document goes elsewhere all the same.
pub(crate) fn unused_servers(old: &Api<'_>, new: &Api<'_>, entries: &[Entry]) -> Option<Entry> {
    let told = entries
        .iter()
        .flat_map(|entry| &entry.changes)
        .any(|change| [SF530.code, SF531.code, SF532.code].contains(&change.rule));
    let ((was, _), (is, place)) = (root_servers(&old.document), root_servers(&new.document));
    let change = addresses(&was, &is, &place).filter(|_| !told)?;
    Some(super::entry(Subject::Whole("servers".to_owned()), None, None, vec![change]))
}

fn addresses(was: &[String], is: &[String], place: &Place) -> Option<Change> {
    let normal = |list: &[String]| -> Vec<String> { list.iter().map(|url| normal(url)).collect() };
    let (was, is) = (&normal(was), &normal(is));
    if was == is {
        return None;
    }
    let (before, after) = (json!(was), json!(is));
    let (rule, judgement, sentence) = match (was.first(), is.first()) {
        (Some(a), Some(b)) if a == b => {
            let gone: Vec<&String> = was.iter().filter(|url| !is.contains(url)).collect();
            match gone.first() {
                None => (
                    &SF532,
                    Judgement::ADDITIVE,
                    "another base address is offered; the first one stays".to_owned(),
                ),
                Some(url) => (
                    &SF530,
                    Judgement::LOOK,
                    format!(
                        "the base address `{url}` is gone: a client that was pointed at it goes elsewhere or nowhere"
                    ),
                ),
            }
        }
        (Some(a), Some(b)) if host(a) != host(b) => (
            &SF531,
            REACH,
            format!(
                "calls go to another host: `{a}` became `{b}`; credentials and data would be sent there"
            ),
        ),
        (a, b) => (
            &SF530,
            Judgement::LOOK,
            format!(
                "calls go to another base address: `{}` became `{}`; the same call reaches another version or place",
                a.map_or("/", String::as_str),
                b.map_or("/", String::as_str)
            ),
        ),
    };
    Some(
        change(rule, judgement, place, sentence)
            .values(Some(&before), Some(&after))
            .guess(&[Scope]),
    )
}

/// A base address without what makes no difference: the case of scheme and host, the port that is meant anyway, a
/// slash at the end.
fn normal(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.trim_end_matches('/').to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let scheme = scheme.to_ascii_lowercase();
    // A template in the authority may stand for anything; its name is kept.
    let mut host = match authority.contains('{') {
        true => authority.to_owned(),
        false => authority.to_ascii_lowercase(),
    };
    for (meant, port) in [("https", ":443"), ("http", ":80"), ("wss", ":443"), ("ws", ":80")] {
        if scheme == meant && host.ends_with(port) {
            host.truncate(host.len() - port.len());
        }
    }
    format!("{scheme}://{host}{}", path.trim_end_matches('/'))
}

/// Puts operations whose base path moved between the base address and the path where they were: what a call is sent to
/// is the same. Returns how many.
pub(crate) fn at_old_addresses(old: &Api<'_>, new: &mut Api<'_>) -> usize {
    let addresses = |operation: &Operation<'_>| -> Vec<String> {
        let base = |url: &String| normal(url).trim_end_matches('/').to_owned();
        let path = template(&operation.path);
        operation.servers.iter().map(|url| format!("{}{path}", base(url))).collect()
    };
    let mut gone: BTreeMap<(&str, Vec<String>), Vec<&String>> = BTreeMap::new();
    for (key, was) in old.operations.iter().filter(|(key, _)| !new.operations.contains_key(*key)) {
        gone.entry((&was.method, addresses(was))).or_default().push(key);
    }
    let mut moved = Vec::new();
    for (key, is) in new.operations.iter().filter(|(key, _)| !old.operations.contains_key(*key)) {
        if let Some([was]) = gone.remove(&(is.method.as_str(), addresses(is))).as_deref() {
            moved.push((key.clone(), (*was).clone()));
        }
    }
    for (now, before) in &moved {
        if let (Some(mut operation), Some(was)) =
            (new.operations.remove(now), old.operations.get(before))
        {
            operation.servers.clone_from(&was.servers);
            new.operations.insert(before.clone(), operation);
        }
    }
    moved.len()
}

/// Gives security schemes that only have another name now the name that they had: who presents a credential never sees it.
pub(crate) fn under_old_names<'a>(old: &Api<'a>, new: &mut Api<'a>) {
    let said = |node: &Node<'_>| {
        let mut members = node.value.as_object().cloned().unwrap_or_default();
        members.shift_remove("description");
        canonical(&Value::Object(members))
    };
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for (now, is) in &new.schemes {
        if old.schemes.contains_key(now) {
            continue;
        }
        let mut twins = old
            .schemes
            .iter()
            .filter(|(name, was)| !new.schemes.contains_key(*name) && said(was) == said(is));
        // Where two are alike it is not known which one it was.
        if let (Some((before, _)), None) = (twins.next(), twins.next())
            && !renamed.values().any(|taken| taken == before)
        {
            renamed.insert(now.clone(), before.clone());
        }
    }
    let operations = new.operations.values_mut().chain(new.webhooks.values_mut());
    for operation in operations {
        for alternative in &mut operation.security {
            *alternative = std::mem::take(alternative)
                .into_iter()
                .map(|(scheme, scopes)| (renamed.get(&scheme).cloned().unwrap_or(scheme), scopes))
                .collect();
        }
        operation.security.sort();
    }
}

/// The authority of a URL; a relative one has the document's.
fn host(url: &str) -> &str {
    url.split_once("://")
        .map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default())
}

/// Compares the security schemes that operations use, each once.
pub(crate) fn schemes(old: &Api<'_>, new: &Api<'_>) -> BTreeMap<String, Vec<Change>> {
    let mut found = BTreeMap::new();
    for (name, was) in &old.schemes {
        let Some(is) = new.schemes.get(name) else {
            continue;
        };
        let mut changes = Vec::new();
        scheme(name, was, is, &mut changes);
        if !changes.is_empty() {
            found.insert(name.clone(), changes);
        }
    }
    found
}

fn scheme(name: &str, was: &Node<'_>, is: &Node<'_>, changes: &mut Vec<Change>) {
    for key in ["type", "scheme", "in", "name", "openIdConnectUrl", "flow"] {
        let (before, after) = (was.value.get(key), is.value.get(key));
        let same = match (before.and_then(Value::as_str), after.and_then(Value::as_str)) {
            (Some(a), Some(b)) if key == "scheme" => a.eq_ignore_ascii_case(b),
            _ => before == after,
        };
        if !same {
            let spoken = |value: Option<&Value>| {
                value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"))
            };
            changes.push(
                change(
                    &SF537,
                    Judgement::BREAKING,
                    &is.place.child(key),
                    format!(
                        "the credential `{name}` is presented differently: `{key}` was {}, is {}",
                        spoken(before),
                        spoken(after)
                    ),
                )
                .values(before, after)
                .guess(&[Ask]),
            );
        }
    }
    let urls = |node: &Node<'_>| -> BTreeMap<String, String> {
        let mut urls = BTreeMap::new();
        for key in ["authorizationUrl", "tokenUrl"] {
            if let Some(url) = node.text(key) {
                urls.insert(key.to_owned(), url.to_owned());
            }
        }
        for (flow, node) in node.get("flows").iter().flat_map(Node::members) {
            for key in ["authorizationUrl", "tokenUrl", "refreshUrl"] {
                if let Some(url) = node.text(key) {
                    urls.insert(format!("{flow}.{key}"), url.to_owned());
                }
            }
        }
        urls
    };
    let (before, after) = (urls(was), urls(is));
    if before != after {
        let moved: Vec<String> = before
            .iter()
            .filter(|(key, url)| after.get(*key) != Some(url))
            .map(|(key, url)| {
                let now = after.get(key).map_or("nothing", String::as_str);
                format!("{key} `{url}` became `{now}`")
            })
            .collect();
        if !moved.is_empty() {
            changes.push(
                change(
                    &SF539,
                    REACH,
                    &is.place,
                    format!(
                        "the credential `{name}` is fetched elsewhere: {}; a secret would be sent there",
                        moved.join(", ")
                    ),
                )
                .values(Some(&json!(before)), Some(&json!(after)))
                .guess(&[Ask]),
            );
        }
    }
}
