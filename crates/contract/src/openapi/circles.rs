//! Schemas that come back to themselves without a step into the value, and so never say anything.
//!
//! `X: {allOf: [X]}` and `X: {anyOf: [X, string]}` are such. A type whose `oneOf` lists its descendants, each of which
//! is `allOf` it, is not taken for one: documents describe inheritance so, and mean something by it.

use super::cut::Side;
use super::lower;
use super::resolve::Place;
use crate::decision::Flow;
use crate::document::Problem;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a place refers to by one way of putting schemas together.
type Edges<'s> = BTreeMap<&'s Place, Vec<Place>>;

/// One flaw for each circle that was met, at the first of its places.
pub(super) fn standing(side: &Side<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for flow in [Flow::Request, Flow::Response] {
        for keywords in [&["allOf"][..], &["anyOf", "oneOf"][..]] {
            let edges: Edges<'_> = side
                .lowered()
                .filter(|(_, of, _)| *of == flow)
                .map(|(place, _, value)| (place, in_place(value, keywords)))
                .collect();
            found.extend(circles(&edges).into_iter().map(|place| {
                side.document.problem(
                    place,
                    "this schema comes back to itself without a step into the value (a `$ref` circle), so it never says anything".to_owned(),
                )
            }));
        }
    }
    found.sort_by(|a, b| a.place.cmp(&b.place));
    found.dedup();
    found
}

/// The places that a schema refers to about the same value, through these keywords alone.
fn in_place(schema: &Value, keywords: &[&str]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        places.extend(schema.get("$ref").and_then(Value::as_str).map(lower::place));
        for keyword in keywords {
            open.extend(schema.get(*keyword).and_then(Value::as_array).into_iter().flatten());
        }
    }
    places
}

/// The places from which a walk along the edges comes back, one for each circle met.
fn circles<'s>(edges: &Edges<'s>) -> Vec<&'s Place> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Open,
        Done,
    }
    let mut marks: BTreeMap<&Place, Mark> = BTreeMap::new();
    let mut found = Vec::new();
    for start in edges.keys().copied() {
        // Each entry: a place, and how many of its edges were followed.
        let mut way: Vec<(&Place, usize)> = Vec::new();
        if !marks.contains_key(start) {
            marks.insert(start, Mark::Open);
            way.push((start, 0));
        }
        while let Some((place, at)) = way.last_mut() {
            let here = *place;
            let next = edges[here].get(*at);
            *at += 1;
            let Some(next) = next else {
                marks.insert(here, Mark::Done);
                way.pop();
                continue;
            };
            let Some((next, _)) = edges.get_key_value(next) else { continue };
            match marks.get(next) {
                Some(Mark::Open) => found.push(*next),
                Some(Mark::Done) => {}
                None => {
                    marks.insert(next, Mark::Open);
                    way.push((next, 0));
                }
            }
        }
    }
    found
}
