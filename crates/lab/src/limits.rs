//! Every bound of the lab, with its reason.

use std::time::Duration;

/// Requests that a recorder keeps: far more than any scenario makes; past it, requests are refused, not forgotten.
pub const RECORDS: usize = 1_000_000;

/// Bytes of one recorded body.
pub const BODY: usize = 8 << 20;

/// How long a question for the next phase waits before it is asked again.
pub const PHASE_WAIT: Duration = Duration::from_secs(20);

/// How long a request to the recorder may take: it is on this machine.
pub const REQUEST: Duration = Duration::from_secs(30);

/// Phases of one script.
pub const PHASES: usize = 1_000;
