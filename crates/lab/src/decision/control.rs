//! The control API of the contract server: a table of routes, and the document that describes them.

use super::fixture::Fixture;
use super::server::Shared;
use super::shelf::Armed;
use axum::body::Body;
use axum::http::{Response, request::Parts};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where the control API stands; everything else is the API under test.
pub const PREFIX: &str = "/.steadfast/";

/// The OpenAPI document of the control API.
pub const OPENAPI: &str = include_str!("control.openapi.json");

type Handler = fn(&Shared, &Parts, &[u8]) -> Result<Response<Body>, String>;

/// Every route: method, path below the prefix, what it does.
static ROUTES: &[(&str, &str, Handler)] = &[
    ("GET", "openapi.json", |_, _, _| Ok(text(200, "application/json", OPENAPI.to_owned()))),
    ("GET", "records", records),
    ("GET", "records.jsonl", lines),
    ("GET", "fixtures", fixtures),
    ("PUT", "versions", versions),
    ("GET", "faults", |shared, _, _| {
        Ok(json_answer(&json!({"faults": shared.lock().shelf.faults()})))
    }),
    ("POST", "faults", arm),
    ("DELETE", "faults", |shared, _, _| {
        shared.lock().shelf.disarm();
        Ok(json_answer(&json!({"faults": []})))
    }),
    ("POST", "reset", reset),
];

/// Answers one request to the control API.
pub(super) fn answer(shared: &Shared, head: &Parts, body: &[u8]) -> Response<Body> {
    // A page in a browser may send requests to this machine under another name, and without asking.
    let host = head.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = shared.port();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !ours.iter().any(|name| name == host) || head.headers.contains_key("origin") {
        return refused(403, "The control API answers programs on this machine alone.");
    }
    let path = head.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let here: Vec<_> = ROUTES.iter().filter(|(_, route, _)| *route == path).collect();
    if here.is_empty() {
        let names: Vec<&str> = ROUTES.iter().map(|(_, route, _)| *route).collect();
        return refused(
            404,
            &format!("There is no `{path}` here; there are: {}.", names.join(", ")),
        );
    }
    let Some((_, _, handler)) = here.iter().find(|(method, ..)| *method == head.method.as_str())
    else {
        let methods: Vec<&str> = here.iter().map(|(method, ..)| *method).collect();
        return refused(405, &format!("`{path}` takes {}.", methods.join(" and ")));
    };
    handler(shared, head, body).unwrap_or_else(|why| refused(400, &why))
}

fn after(head: &Parts) -> Result<usize, String> {
    let query = head.uri.query().unwrap_or_default();
    match query.strip_prefix("after=") {
        None if query.is_empty() => Ok(0),
        None => Err("Known in the query: after=N.".to_owned()),
        Some(n) => n.parse().map_err(|_| "`after` is the number of a record.".to_owned()),
    }
}

fn records(shared: &Shared, head: &Parts, _: &[u8]) -> Result<Response<Body>, String> {
    let after = after(head)?;
    let inner = shared.lock();
    let entries = inner.entries.get(after..).unwrap_or_default();
    Ok(json_answer(&json!({"records": entries})))
}

fn lines(shared: &Shared, head: &Parts, _: &[u8]) -> Result<Response<Body>, String> {
    let after = after(head)?;
    let inner = shared.lock();
    let mut out = String::new();
    for entry in inner.entries.get(after..).unwrap_or_default() {
        out.push_str(&serde_json::to_string(entry).map_err(|why| why.to_string())?);
        out.push('\n');
    }
    Ok(text(200, "application/jsonl", out))
}

fn fixtures(shared: &Shared, _: &Parts, _: &[u8]) -> Result<Response<Body>, String> {
    let inner = shared.lock();
    let told = |fixture: &Fixture| {
        json!({
            "id": fixture.id(),
            "name": fixture.name,
            "version": fixture.version,
            "operation": fixture.operation(),
            "holds": inner.shelf.holds(fixture),
            "served": inner.shelf.served(fixture),
            "until": fixture.until,
            "why": fixture.why,
        })
    };
    let all: Vec<Value> = inner.shelf.fixtures().iter().map(told).collect();
    Ok(json_answer(&json!({"fixtures": all})))
}

fn versions(shared: &Shared, _: &Parts, body: &[u8]) -> Result<Response<Body>, String> {
    let wanted: BTreeMap<String, u64> = serde_json::from_slice(body)
        .map_err(|why| format!("Send names with versions, as {{\"projects-list\": 2}}: {why}."))?;
    let mut inner = shared.lock();
    // All or none: a half of them is a server that nobody meant.
    let before = inner.shelf.clone();
    for (name, version) in &wanted {
        if let Err(why) = inner.shelf.choose(name, *version) {
            inner.shelf = before;
            return Err(why);
        }
    }
    Ok(json_answer(&json!({"versions": wanted})))
}

fn arm(shared: &Shared, _: &Parts, body: &[u8]) -> Result<Response<Body>, String> {
    let armed: Armed = serde_json::from_slice(body).map_err(|why| {
        format!("Send {{\"fixture\": NAME, \"fault\": FAULT, \"times\": N}}: {why}.")
    })?;
    let mut inner = shared.lock();
    inner.shelf.arm(armed)?;
    Ok(json_answer(&json!({"faults": inner.shelf.faults()})))
}

fn reset(shared: &Shared, _: &Parts, _: &[u8]) -> Result<Response<Body>, String> {
    let mut inner = shared.lock();
    inner.shelf.reset();
    // What is asked from now on has higher numbers.
    Ok(json_answer(&json!({"after": inner.entries.len()})))
}

fn json_answer(value: &Value) -> Response<Body> {
    text(200, "application/json", value.to_string())
}

/// An error with a sentence.
pub(super) fn refused(status: u16, why: &str) -> Response<Body> {
    text(status, "application/json", json!({"error": why}).to_string())
}

fn text(status: u16, kind: &'static str, body: String) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", kind)
        .body(Body::from(body))
        .expect("a known status and a known header")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_names_every_route_and_no_other() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut told = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                told.push(format!("{} {path}", method.to_ascii_uppercase()));
            }
        }
        let mut routes: Vec<String> =
            ROUTES.iter().map(|(method, path, _)| format!("{method} {PREFIX}{path}")).collect();
        told.sort();
        routes.sort();
        assert_eq!(told, routes);
    }
}
