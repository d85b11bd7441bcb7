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

/// How long an answer takes that comes too late: longer than a cancelled call is waited for.
pub const LATE: Duration = Duration::from_millis(6_500);

/// Phases of one script.
pub const PHASES: usize = 1_000;

/// Letters of a misspelt key that are compared with known ones: longer than any of them.
pub const KEY_CHARS: usize = 60;

/// How long a server may take to say that it ends: it is on this machine.
pub const CRASH: Duration = Duration::from_secs(10);

/// Steps of one scenario: one that needs more tells several stories.
pub const STEPS: usize = 200;

/// Seconds that one step may take where the scenario says nothing: a real server that starts anew is read within them.
pub const PATIENCE: u64 = 30;

/// The longest patience that a scenario may ask for, in seconds.
pub const PATIENCE_MOST: u64 = 600;

/// Messages of one connection that are kept as evidence; later ones are counted.
pub const MESSAGES: usize = 1_000;

/// Messages that are shown of a case that failed: the last ones, near the failure.
pub const MESSAGES_SHOWN: usize = 4;

/// Characters of a message that are shown: its head says what it is.
pub const MESSAGE_CHARS: usize = 280;

/// Messages that wait in a relay: past it, whoever sends is slowed down.
pub const RELAYED: usize = 64;

/// Notifications of one flood: what a server that went wrong says in a second.
pub const FLOOD: u64 = 10_000;
