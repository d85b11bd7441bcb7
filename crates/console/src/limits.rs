//! Every bound of the console, with its reason.

use std::time::Duration;

/// Connections at once: a browser opens six, and a person has a few windows.
pub const CONNECTIONS: usize = 64;

/// How long the head of a request may take: it comes from this machine.
pub const HEAD: Duration = Duration::from_secs(10);

/// Bytes of the head of a request: what browsers send is a tenth of it.
pub const HEAD_BYTES: usize = 16 << 10;

/// Headers of a request: browsers send about twenty.
pub const HEADERS: usize = 64;

/// Bytes of the body of a request: an id and a digest, or the names of a grant.
pub const BODY_BYTES: usize = 16 << 10;

/// How long the body of a request may take.
pub const BODY: Duration = Duration::from_secs(10);

/// The pause after a connection could not be accepted: out of descriptors, as a rule.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long streams may take to end when the console ends.
pub const LEAVE: Duration = Duration::from_secs(1);

/// Sessions of browsers at once: each was opened by a link that the terminal printed.
pub const BROWSERS: usize = 16;

/// Links at once that were printed and not used: the last ones count.
pub const LINKS: usize = 4;

/// Streams of changes at once: one for each window.
pub const STREAMS: usize = 32;

/// The pause between two looks at the journal: a person takes it for at once.
pub const LOOK: Duration = Duration::from_millis(250);

/// After this long without a change a stream says that it is alive.
pub const ALIVE: Duration = Duration::from_secs(15);

/// Events that wait to be kept: past this gateways tell slower.
pub const TAILED: usize = 1_024;

/// The last events of running gateways that are kept to be shown: two screens.
pub const EVENTS: usize = 100;

/// Bytes of one event that are kept: a sentence and some names.
pub const EVENT_BYTES: usize = 8 << 10;

/// Rows of a page: some screens of them; the next page is a key away.
pub const ROWS: u32 = 50;

/// Approvals on one page, the oldest first: nobody decides about more in one sitting. The rest is counted.
pub const CARDS: usize = 50;

/// Revisions of one server on a page, each compared with the one before.
pub const TIMELINE: usize = 30;

/// Servers that are listed on one page.
pub const SERVERS: usize = 100;

/// Sessions, and tools of each, whose contracts are shown at once.
pub const SESSIONS: usize = 20;

/// Tools of one session that are shown at once, those that moved first.
pub const TOOLS: usize = 60;

/// Characters of one name or value in a list.
pub const SHOWN: usize = 400;

/// Characters of one part of a trace: a larger one is cut, and `steadfast journal show` prints it whole.
pub const TRACE: usize = 20_000;

/// Records of one request in its trace.
pub const TRACE_RECORDS: usize = 200;

/// Changes of one comparison that are shown, the gravest first.
pub const CHANGES: usize = 100;

/// How many pairs of revisions are kept compared: a timeline is drawn again at each change.
pub const COMPARED: usize = 512;

/// Folders of exports that are made beside one another in one second.
pub const EXPORTS: u32 = 100;

/// Records between two words about a verification that runs: a few a second.
pub const VERIFIED_TOLD: u64 = 50_000;
