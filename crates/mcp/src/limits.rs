//! Every bound of the wire layer, with its reason.

use std::time::Duration;

/// One message: a line, an event or a body. The largest real `tools/list` page seen is under 1 MiB; a server that
/// writes ten times the largest real page into one line is broken or hostile, and a client would choke on it.
pub const MESSAGE_BYTES: usize = 8 << 20;

/// One message that is passed on: an answer may hold a film. Past this, a client would choke on it.
pub const RELAYED_BYTES: usize = 64 << 20;

/// All pages of one walk together: sixteen times the largest list seen.
pub const LIST_BYTES: usize = 16 << 20;

/// Nesting of one tool. Common readers stop at 128 levels, and a snapshot adds two of its own around a tool.
pub const DEPTH: usize = 120;

/// Pages of one walk. Real servers use fewer than 20; past this the list is a generator, not a list.
pub const PAGES: usize = 500;

/// Tools of one server. Models stop choosing well in the hundreds; the largest real list has about 1,000.
pub const TOOLS: usize = 10_000;

/// Walks before a list counts as moving: two are needed to see that it holds still.
pub const WALKS: usize = 5;

/// Messages in a batch (only revision 2025-03-26 allows one).
pub const BATCH: usize = 1_000;

/// Messages that wait between the reader of a pipe and its consumer: then the pipe itself pushes back.
pub const QUEUE: usize = 64;

/// Parts of a server's stderr, of 8 KiB at most, that wait for whoever reads this program's; what is beyond is counted.
pub const ERRORS_AHEAD: usize = 64;

/// Lines of a server's stderr kept for an error text: about one screen.
pub const STDERR_LINES: usize = 20;

/// Characters quoted of any line or body that a server wrote.
pub const QUOTE: usize = 300;

/// Stray stdout lines that are quoted; the rest are counted.
pub const STRAY_LINES: usize = 3;

/// Messages that are not the answer, tolerated while waiting for it (a chatty server sends logs and progress).
pub const SIDE_MESSAGES: usize = 10_000;

/// Same-origin redirects followed: `/mcp` to `/mcp/` and one more.
pub const REDIRECTS: usize = 3;

/// Times one broken legacy event stream is resumed.
pub const RESUMES: usize = 5;

/// The longest pause that an event stream may ask for before it is resumed.
pub const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The pause before a stream that ended is opened again; each time that it cannot be, or soon ends, it doubles.
pub const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// The longest such pause: a server that was away for a night is heard again within half a minute.
pub const LISTEN_MOST: Duration = Duration::from_secs(30);

/// How long a stream has to last to count as one that lasts.
pub const LISTEN_STEADY: Duration = Duration::from_secs(10);

/// The pause between two times that a lost session is opened again: a server that loses each is broken.
pub const RENEW_PAUSE: Duration = Duration::from_secs(10);

/// A file of headers: a few tokens, not a document.
pub const HEADERS_FILE_BYTES: usize = 64 << 10;

/// How long a server may take to answer the first question before it is taken for a legacy one. A server that is
/// still being installed by its launcher is silent too, which costs nothing: its late answer still counts.
pub const PROBE: Duration = Duration::from_secs(10);

/// How long one request may take. First runs install a package before they answer.
pub const REQUEST: Duration = Duration::from_secs(60);

/// How long reading a whole contract may take, whatever each request takes.
pub const FETCH: Duration = Duration::from_secs(600);

/// How long opening a connection may take.
pub const CONNECT: Duration = Duration::from_secs(10);

/// The pause between two walks: a server that changes its list right after the handshake has then said so.
pub const SETTLE: Duration = Duration::from_millis(100);

/// How long a server may take to leave after its stdin closed, and again after it was asked to.
pub const LEAVE: Duration = Duration::from_secs(2);

/// How long the last lines of a dead server's stderr are waited for.
pub const LAST_WORDS: Duration = Duration::from_millis(300);
