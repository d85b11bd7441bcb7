//! The decision map: which values of an API reach a decision of the agent (C1).

/// Which request and response values feed which decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecisionMap {}
