//! The decision map on MCP tools: which finding reaches which decision.

use super::{DecisionMap, Flow, Use, consequence, steps};
use crate::change::Change;
use crate::verdict::Verdict;

/// Gives the findings about a tool the decisions that the map declares. A value of the answer
/// that the map says nobody reads is shown for review and stops nobody; an argument stops as
/// before, since a server judges it whether or not it is read here.
pub fn settle(map: &DecisionMap, tool: &str, changes: &mut [Change]) {
    let Some(surface) = map.tool(tool) else {
        return;
    };
    for change in changes {
        let flow = match change.path.split('/').nth(1) {
            Some("inputSchema") => Flow::Request,
            Some("outputSchema") => Flow::Response,
            _ => {
                if let Some(feeds) = surface.aspects.get(&super::Aspect::Purpose) {
                    change.decisions.clone_from(feeds);
                }
                continue;
            }
        };
        let Some(field) = &change.field else {
            continue;
        };
        match surface.at(flow, None, &steps(field)) {
            Use::Read(lines) => {
                if flow == Flow::Response {
                    let told = consequence::told(change, &lines, &steps(field));
                    consequence::tell(change, &told);
                }
                change.decisions = Use::Read(lines).decisions();
            }
            Use::Unread if flow == Flow::Response => unread(change),
            Use::Unread => {}
        }
        change.decisions_guessed = false;
    }
}

/// Turns a finding that nobody reads into one for review: its class stays.
pub fn unread(change: &mut Change) {
    if change.verdict != Verdict::Safe {
        change.verdict = Verdict::Safe;
        change.sentence.push_str("; by the decision map nobody reads it: for review, no stop");
    }
}
