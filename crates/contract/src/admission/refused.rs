//! Refusals that rest on no comparison.

use super::faults::misfit;
use super::{Action, Code, Facts, Fault, Grade, Refusal, Retry};
use crate::revised::Revised;
use std::sync::Arc;

/// The refusal of arguments that the live revision does not take, and that nobody planned.
pub(super) fn invalid(facts: &Facts<'_>, live: &Arc<Revised>) -> Refusal {
    let (missing, rejection) = misfit(live, facts.arguments);
    Refusal {
        missing,
        rejection,
        current_revision: Some(live.digest().to_owned()),
        required_action: Action::FixArguments,
        ..plain(facts, Code::InvalidArguments)
    }
}

/// The same refusal with more that moved. Whoever is told that must look before the next call.
pub(super) fn also(mut refusal: Refusal, moved: Vec<Fault>) -> Refusal {
    if !moved.is_empty() {
        refusal.required_action = Action::RefreshTools;
        refusal.changed.extend(moved);
    }
    refusal
}

/// The refusal of an effect where not everything was looked through that the client may have planned with.
pub(super) fn crowded(facts: &Facts<'_>) -> Refusal {
    let fault = Fault {
        rule: "revisions",
        field: None,
        what: "it moved so often of late that not every definition that the call may come from is compared".into(),
    };
    Refusal {
        changed: vec![fault],
        current_revision: facts.live.first().map(|live| live.digest().to_owned()),
        ..plain(facts, Code::ContractUndecided)
    }
}

pub(super) fn removed(facts: &Facts<'_>) -> Refusal {
    let (required_action, retry) = match facts.heir {
        Some(_) => (Action::UseTool, Retry::NewDecision),
        // Whoever pinned a list is shown that list for ever.
        None if facts.grade == Grade::Declared => (Action::AskPerson, Retry::No),
        None => (Action::RefreshTools, Retry::NewDecision),
    };
    Refusal {
        retry,
        heir: facts.heir.map(str::to_owned),
        planned_revision: facts.candidates.first().map(|c| c.digest().to_owned()),
        required_action,
        ..plain(facts, Code::ToolRemoved)
    }
}

pub(super) fn plain(facts: &Facts<'_>, code: Code) -> Refusal {
    Refusal {
        code,
        tool: facts.name.to_owned(),
        missing: Vec::new(),
        obsolete: Vec::new(),
        changed: Vec::new(),
        required_action: Action::RefreshTools,
        retry: Retry::NewDecision,
        planned_revision: None,
        current_revision: None,
        ready: None,
        heir: None,
        rejection: None,
    }
}
