//! Which decision a value feeds, guessed from its name, its kind and where it stands.
//!
//! A guess is marked as one wherever it is reported. It knows words, not APIs: every list below
//! holds parts of names that mean the same in any API.

use super::Flow;
use crate::lexicon::{singular, words};
use crate::verdict::Decision::{self, Ask, Completion, Eligibility, Scope, Target};
use serde_json::Value;

/// Where a value stands and what is known about it.
#[derive(Debug, Clone)]
pub struct Spot<'a> {
    /// Which way it travels.
    pub flow: Flow,
    /// Its place in the map's steps: `query`, `limit` or `body`, `items`, `[]`, `id`.
    pub path: &'a [String],
    /// The schema at the place, where it is at hand.
    pub schema: Option<&'a Value>,
    /// The operation promises to change nothing.
    pub reads: bool,
    /// The answer is an error (4xx, 5xx, default).
    pub error: bool,
    /// The words of the operation's path or the tool's name: `jobs`, `id`.
    pub about: &'a [String],
}

/// Walks a list, or ends it.
const PAGING: &[&str] = &[
    "cursor", "next", "previous", "prev", "page", "offset", "more", "continuation", "pagination",
    "after", "before", "marker", "eof", "last", "first",
];
/// How many at a time.
const AMOUNT_OF_ITEMS: &[&str] =
    &["limit", "size", "per", "max", "top", "count", "take", "results"];
/// Money, measures, quantities.
const AMOUNTS: &[&str] = &[
    "amount", "budget", "price", "cost", "total", "subtotal", "balance", "quantity", "qty", "fee",
    "tax", "rate", "currency", "unit", "quota", "limit", "max", "min", "maximum", "minimum",
    "size", "capacity", "volume", "weight", "duration", "timeout", "ttl", "discount", "refund",
    "credit", "charge", "salary", "number", "percent", "percentage", "ratio", "interval", "bytes",
    "replica", "memory", "cpu", "disk", "value", "usage", "count", "scale",
];
/// A person's yes.
const ASKING: &[&str] = &[
    "approval", "approve", "approved", "approver", "confirm", "confirmation", "confirmed",
    "consent", "acknowledge", "acknowledged", "acknowledgement", "authorization", "authorize",
    "review", "reviewer", "signoff", "mfa", "otp", "2fa", "challenge", "permit",
];
/// Destroys or cannot be taken back.
const DESTRUCTIVE: &[&str] = &[
    "delete", "destroy", "remove", "purge", "overwrite", "force", "wipe", "erase", "drop",
    "truncate", "terminate", "revoke", "cascade", "recursive", "replace", "override", "prune",
    "kill", "reset", "uninstall", "bypass", "permanent", "permanently", "irreversible", "archive",
    "cancel", "expire", "disable", "transfer", "move", "publish", "skip", "ignore", "unsafe",
];
/// Whether an object qualifies.
const STANDING: &[&str] = &[
    "status", "state", "phase", "stage", "condition", "health", "enabled", "disabled", "active",
    "inactive", "archived", "deleted", "locked", "frozen", "suspended", "blocked", "banned",
    "verified", "expired", "expiry", "expires", "owner", "role", "permission", "permissions",
    "scope", "visibility", "private", "public", "plan", "tier", "type", "kind", "category",
    "level", "priority", "flag", "flags", "eligible", "allowed", "available", "can", "is", "has",
    "draft", "membership", "access", "policy", "label", "tag", "assignee", "member", "severity",
    "version",
];
/// When: ages and deadlines decide what qualifies.
const TIMES: &[&str] = &[
    "created", "updated", "modified", "deleted", "at", "date", "time", "timestamp", "expires",
    "expiration", "due", "since", "until", "started", "ended", "finished", "published", "on",
];
/// Who or what it is.
const NAMING: &[&str] = &[
    "id", "ids", "uuid", "guid", "uid", "key", "slug", "arn", "sid", "iid", "urn", "name", "login",
    "username", "email", "href", "url", "uri", "self", "ref", "sha", "digest", "handle", "number",
    "code", "node",
];
/// Whether an earlier action is over.
const DONE: &[&str] = &[
    "job", "task", "operation", "run", "execution", "attempt", "retry", "retries", "retryable",
    "progress", "done", "completed", "complete", "finished", "succeeded", "success", "failed",
    "failure", "pending", "result", "error", "errors", "message", "reason", "outcome", "ok",
    "delivery", "export", "import", "request", "batch", "async", "idempotency", "idempotent",
    "correlation", "etag",
];
/// Where it goes.
const DESTINATIONS: &[&str] = &[
    "to", "destination", "dest", "recipient", "recipients", "region", "zone", "location", "cc",
    "bcc", "channel", "webhook", "callback", "host", "endpoint", "environment", "bucket", "path",
    "folder", "directory", "into", "target", "domain",
];
/// What grants rights when it is sent.
const RIGHTS: &[&str] = &[
    "role", "permission", "permissions", "scope", "scopes", "admin", "visibility", "private",
    "public", "secret", "token", "credential", "access", "acl", "policy", "owner", "sudo",
    "impersonate",
];
/// Makes a list wider.
const WIDENING: &[&str] =
    &["include", "including", "with", "all", "show", "expand", "recursive", "deep"];

fn any(list: &[&str], parts: &[String]) -> bool {
    parts.iter().any(|part| list.contains(&part.as_str()) || list.contains(&singular(part)))
}

/// The field's own name: the last step that is one.
pub fn field(path: &[String]) -> &str {
    path.iter().rev().find(|step| *step != "[]").map_or("", String::as_str)
}

/// True where the name says that a person is asked.
pub fn asks(name: &str) -> bool {
    any(ASKING, &words(name))
}

/// True where the name, or a value by that name, destroys or cannot be taken back.
pub fn destroys(name: &str) -> bool {
    any(DESTRUCTIVE, &words(name))
}

/// The decisions that the value probably feeds; empty where it only describes.
pub fn decisions(spot: &Spot<'_>) -> Vec<Decision> {
    let mut found = match spot.flow {
        Flow::Request => sent(spot),
        Flow::Response => answered(spot),
    };
    found.sort_unstable();
    found.dedup();
    found
}

fn kind(schema: Option<&Value>) -> &str {
    match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("")
        }
        _ => "",
    }
}

fn is_time(spot: &Spot<'_>, parts: &[String]) -> bool {
    let format =
        spot.schema.and_then(|schema| schema.get("format")).and_then(Value::as_str).unwrap_or("");
    matches!(format, "date" | "date-time" | "time" | "duration")
        || parts.last().is_some_and(|last| TIMES.contains(&last.as_str()))
}

fn sent(spot: &Spot<'_>) -> Vec<Decision> {
    let location = spot.path.first().map_or("", String::as_str);
    let name = field(spot.path);
    let parts = words(name);
    let schema = spot.schema;
    if location == "content-type" {
        return vec![Completion];
    }
    if location == "header" {
        // A header that is no credential and no guard steers delivery: keys of repetition,
        // preconditions, versions.
        if any(ASKING, &parts) || any(RIGHTS, &parts) {
            return vec![Ask];
        }
        return vec![Completion];
    }
    if location == "path" {
        return vec![Target];
    }
    if any(ASKING, &parts) {
        return vec![Ask];
    }
    if any(&["idempotency", "idempotent", "retry", "retries", "dedup", "deduplication"], &parts) {
        return vec![Completion];
    }
    let paged = location == "query" || spot.reads;
    if paged && any(AMOUNT_OF_ITEMS, &parts) {
        return vec![Scope];
    }
    if paged && any(PAGING, &parts) && kind(schema) != "boolean" {
        return vec![Completion];
    }
    if any(DESTRUCTIVE, &parts) {
        return vec![Scope, Ask];
    }
    if any(RIGHTS, &parts) && !spot.reads {
        return vec![Scope, Ask];
    }
    if spot.reads {
        if any(WIDENING, &parts) {
            return vec![Eligibility, Scope];
        }
        if parts.last().is_some_and(|last| NAMING.contains(&last.as_str())) {
            return vec![Target];
        }
        if any(STANDING, &parts) || is_time(spot, &parts) || any(TIMES, &parts) {
            return vec![Eligibility];
        }
        if kind(schema) == "boolean" {
            return vec![Eligibility, Scope];
        }
        return vec![Scope];
    }
    if any(DESTINATIONS, &parts) {
        return vec![Scope];
    }
    if parts.last().is_some_and(|last| {
        matches!(singular(last), "id" | "uuid" | "key" | "slug" | "sid" | "name")
    }) {
        return vec![Target];
    }
    vec![Scope]
}

fn answered(spot: &Spot<'_>) -> Vec<Decision> {
    let location = spot.path.first().map_or("", String::as_str);
    let name = field(spot.path);
    let parts = words(name);
    if matches!(location, "status" | "content-type" | "header") || spot.error {
        return vec![Completion];
    }
    if spot.path.iter().all(|step| step == "body" || step == "[]") {
        return vec![Completion];
    }
    if any(ASKING, &parts) {
        return vec![Ask];
    }
    let kind = kind(spot.schema);
    let in_item = spot.path.iter().any(|step| step == "[]");
    if !in_item && any(PAGING, &parts) {
        return vec![Completion];
    }
    let last = parts.last().map_or("", String::as_str);
    if is_time(spot, &parts) {
        return vec![Eligibility];
    }
    // A list that is answered as such is a page; its end and its emptiness tell whether to go on.
    if !in_item && kind == "array" {
        return vec![Completion];
    }
    let about_a_job = spot.about.iter().any(|word| {
        matches!(
            singular(word),
            "job" | "task" | "operation" | "run" | "execution" | "build" | "deploy" | "deployment"
        )
    });
    let acts = !spot.reads || about_a_job;
    if acts && any(&["status", "state", "phase", "stage"], &parts) && !in_item {
        return vec![Completion];
    }
    if any(DONE, &parts) && (acts || !in_item) {
        return vec![Completion];
    }
    let names_it = NAMING.contains(&last) || NAMING.contains(&singular(last));
    let owner = any(&["owner", "assignee", "member", "role", "permission"], &parts);
    if names_it && owner {
        return vec![Target, Eligibility];
    }
    // The last word is what the value is: a `usage_category` is a category.
    if STANDING.contains(&last) && !AMOUNTS.contains(&last) {
        return vec![Eligibility];
    }
    if any(AMOUNTS, &parts) && (matches!(kind, "number" | "integer" | "string" | "") || !names_it) {
        return vec![Scope];
    }
    if names_it {
        return vec![Target];
    }
    if any(STANDING, &parts) || kind == "boolean" || any(TIMES, &parts) {
        return vec![Eligibility];
    }
    if spot
        .schema
        .is_some_and(|schema| schema.get("enum").is_some() || schema.get("const").is_some())
    {
        return vec![Eligibility];
    }
    if matches!(kind, "number" | "integer") {
        return vec![Scope];
    }
    Vec::new()
}

/// The decisions that a text feeds, from what the changed sentences speak about.
pub fn text(changed: &str, spot: &Spot<'_>) -> Vec<Decision> {
    let parts = words(changed);
    let mut found = Vec::new();
    if any(
        &["page", "cursor", "retry", "retries", "poll", "complete", "empty", "end", "offset"],
        &parts,
    ) {
        found.push(Completion);
    } else if any(
        &[
            "dollar", "cent", "euro", "usd", "eur", "second", "millisecond", "minute", "hour",
            "byte", "kb", "mb", "gb", "percent", "unit", "amount", "default", "maximum", "limit",
            "most",
        ],
        &parts,
    ) {
        found.push(Scope);
    } else if any(
        &["approval", "confirm", "approve", "consent", "permission", "irreversible"],
        &parts,
    ) {
        found.push(Ask);
    } else if any(
        &["only", "all", "every", "any", "caller", "visible", "own", "exclude", "include"],
        &parts,
    ) {
        found.push(Eligibility);
    }
    if found.is_empty() {
        found = decisions(spot);
    }
    found
}
