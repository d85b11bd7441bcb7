//! SARIF 2.1.0, the part of it that code scanning reads.

use crate::escape::json;
use crate::level::{Level, is_finding};
use crate::limits::SARIF_RESULTS;
use crate::locate::Places;
use crate::{Report, words};
use contract::{Axes, Change, Class, Decision, Entry, Kind, Verdict, Witness};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    column_kind: &'static str,
    results: Vec<Finding<'a>>,
    properties: RunProperties<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunProperties<'a> {
    kind: Kind,
    verdict: Verdict,
    summary: String,
    old: &'a str,
    new: &'a str,
    /// Findings beyond what the service takes.
    left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<Value>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor<'a>>,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_description: Option<Text>,
    help: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    rule_id: &'a str,
    rule_index: usize,
    kind: &'static str,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    partial_fingerprints: BTreeMap<&'static str, &'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression<'a>>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    status: &'static str,
    justification: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<Physical>,
    logical_locations: [Logical; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    name: String,
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Properties<'a> {
    verdict: Verdict,
    class: Class,
    axes: Axes,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a Witness>,
    #[serde(skip_serializing_if = "<[Decision]>::is_empty")]
    decisions: &'a [Decision],
}

/// Every finding, gravest first; with `all`, also the safe changes, as information.
pub(crate) fn render(report: &Report) -> String {
    let diff = report.diff;
    let mut told: Vec<(&Entry, &Change)> = diff
        .entries
        .iter()
        .flat_map(|entry| entry.changes.iter().map(move |change| (entry, change)))
        .filter(|(_, change)| report.options.all || is_finding(change))
        .collect();
    // Stable: what is cut off is the mildest, and equals keep the order of the diff.
    told.sort_by_key(|(_, change)| std::cmp::Reverse((change.verdict, change.class)));
    let left_out = told.len().saturating_sub(SARIF_RESULTS);
    told.truncate(SARIF_RESULTS);

    let codes: BTreeSet<&str> = told.iter().map(|(_, change)| change.rule).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let places = Places::of(report.options);
    json(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "steadfast",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: codes.iter().map(|code| descriptor(report, code)).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: told
                .iter()
                .map(|(entry, change)| finding(report, &places, &codes, entry, change))
                .collect(),
            properties: RunProperties {
                kind: diff.kind,
                verdict: diff.verdict,
                summary: words::summary(diff),
                old: &report.options.old_name,
                new: &report.options.new_name,
                left_out,
                review: report.review.map(crate::json::review),
            },
        }],
    })
}

fn descriptor<'a>(report: &Report<'a>, code: &'a str) -> Descriptor<'a> {
    let rule = report.rule(code);
    Descriptor {
        id: code,
        name: rule.map(|rule| rule.name),
        short_description: rule.map(|rule| Text { text: message(rule.summary) }),
        help: Text { text: format!("steadfast explain {code} prints docs/rules/{code}.md.") },
        help_uri: report.options.pages.as_ref().map(|base| format!("{base}{code}.md")),
    }
}

fn finding<'a>(
    report: &Report,
    places: &Places,
    codes: &[&str],
    entry: &'a Entry,
    change: &'a Change,
) -> Finding<'a> {
    let name = words::name(&entry.subject);
    let told = is_finding(change);
    Finding {
        rule_id: change.rule,
        rule_index: codes
            .binary_search(&change.rule)
            .expect("the codes are those of the findings, sorted"),
        kind: if told { "fail" } else { "informational" },
        level: if told {
            match Level::of(change.verdict, report.options.fail_on) {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Notice => "note",
            }
        } else {
            "none"
        },
        message: Text { text: message(&format!("{name}: {}", words::sentence(change))) },
        locations: [Location {
            physical_location: report.options.file.as_ref().map(|file| Physical {
                artifact_location: Artifact { uri: uri(file) },
                region: Region {
                    start_line: places.line(&entry.subject, &change.path).unwrap_or(1),
                },
            }),
            logical_locations: [Logical {
                fully_qualified_name: format!("{name}{}", words::line(&change.path)),
                name,
                kind: "object",
            }],
        }],
        partial_fingerprints: [("steadfast/v1", change.fingerprint.as_str())].into(),
        suppressions: change
            .suppressed
            .as_deref()
            .map(|justification| Suppression {
                // The reason stands in the configuration, not in the file that is scanned.
                kind: "external",
                status: "accepted",
                justification,
            })
            .into_iter()
            .collect(),
        properties: Properties {
            verdict: change.verdict,
            class: change.class,
            axes: change.axes,
            witness: change.witness.as_ref(),
            decisions: &change.decisions,
        },
    }
}

/// A plain-text message. SARIF gives a meaning to `[text](target)` and to `{0}` even there.
fn message(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        out.push(c);
        let next = characters.peek();
        if (c == ']' && next == Some(&'(')) || (c == '{' && next.is_some_and(char::is_ascii_digit))
        {
            out.push(' ');
        }
    }
    out
}

/// A path as a relative reference: `/` stays, what has a meaning in a URI is encoded.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
