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

/// Characters of a correlation id: a trace id with its span has fewer.
pub const CORRELATION_CHARS: usize = 200;

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

/// Bytes of what a client under test wrote that are shown: the last ones.
pub const SAID: usize = 2_000;

/// Lines of it that are shown.
pub const SAID_LINES: usize = 20;

/// Bytes that a client under test may write, and that its events may have: one that writes more does not stop.
pub const CLIENT_OUTPUT: usize = 8 << 20;

/// How long a program may take to tell the events of a client.
pub const EVENTS: Duration = Duration::from_secs(30);

/// Messages that wait in a relay: past it, whoever sends is slowed down.
pub const RELAYED: usize = 64;

/// Notifications of one flood: what a server that went wrong says in a second.
pub const FLOOD: u64 = 10_000;

/// Faults that wait at once: a test arms a few.
pub const FAULTS: usize = 100;

/// Connections that the contract server holds at once: more than any agent opens; the next one waits.
pub const CONNECTIONS: usize = 256;

/// The pause after a connection could not be taken, so that a machine without descriptors is not kept busy.
pub const ACCEPT_AGAIN: Duration = Duration::from_millis(20);

/// How long bytes may take to leave before their connection is cut: they go to this machine.
pub const LEAVE: Duration = Duration::from_millis(20);

/// How long a request that hangs is held where nobody says how long: longer than the patience of most clients in a test.
pub const HANG: Duration = Duration::from_secs(30);

/// Fixtures of one set: a reviewer reads each of them.
pub const FIXTURES: usize = 1_000;

/// Seconds that an agent has where the contract does not say how many.
pub const AGENT_SECONDS: usize = 10;

/// Seconds that a contract may give an agent: a run that takes longer is no test.
pub const AGENT_SECONDS_MOST: usize = 600;

/// Milliseconds for which a request of an agent that hangs is held where the contract does not say how many.
pub const AGENT_HANG: u64 = 500;

/// Bytes that are kept of what an agent writes, each to its output, its errors and one file.
pub const AGENT_OUTPUT: usize = 1 << 20;

/// Files that are read from the folder of a run.
pub const AGENT_FILES: usize = 100;

/// Folders that are visited in the folder of a run: caches of a runtime are fewer.
pub const AGENT_FOLDERS: usize = 1_000;

/// How long the pipes of an agent that ended are listened to: what it started ends with it.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a program that serves HTTP may take until it listens: an interpreter with many imports starts within it.
pub const LISTENING: Duration = Duration::from_secs(30);

/// Times that processes which left their group are looked for: what one starts before it ends is found in the next.
pub const ROUNDS: usize = 4;

/// Processes of this machine that are looked at.
pub const PROCESSES: usize = 50_000;

/// Bytes of an environment that are looked at: the system takes no more for one variable than a few of these.
pub const ENVIRONMENT: u64 = 1 << 20;

/// How long a real model may take for one answer while an exchange is recorded.
pub const MODEL: Duration = Duration::from_secs(300);

/// Mutants of one contract: far more than the largest map makes of the fixtures that people read.
pub const MUTANTS: usize = 20_000;

/// Files of a folder in which fixtures are looked for: more is a wrong path.
pub const FOLDER_ENTRIES: usize = 10_000;
