//! Every bound of the store, with its reason.

use std::time::Duration;

/// Writes that wait for the writer. Each holds one call's arguments; past this the callers wait themselves.
pub const QUEUE: usize = 4_096;

/// Writes in one transaction: enough to share a flush among all that wait, few enough that the first is not kept long.
pub const BATCH: usize = 512;

/// Attempts without an outcome that the writer has at hand; it looks the others up.
pub const UNDER_WAY: usize = QUEUE;

/// Reads that wait for a reader.
pub const READ_QUEUE: usize = 1_024;

/// Readers: a page of the console and a call are answered side by side; more only contend for two cores.
pub const READERS: usize = 2;

/// How long a write that nobody waits for may stay unflushed: what a power cut may cost of reads and late news.
pub const LAZY_FLUSH: Duration = Duration::from_millis(200);

/// How long another process may hold the database: a command at a terminal takes a few milliseconds.
pub const BUSY: Duration = Duration::from_secs(5);

/// How long a gateway waits for a command that holds its place: commands take milliseconds, another gateway stays.
pub const LOCK: Duration = Duration::from_secs(1);

/// Leaves between two checkpoints: what an edit without the key can reach unsigned, and how many leaves are hashed again
/// when the store is opened. A signature costs about 30 microseconds.
pub const CHECKPOINT_EVERY: u64 = 256;

/// Pages of the write-ahead log that are copied back at once (4 KiB each).
pub const WAL_PAGES: u64 = 1_000;

/// Bytes of the write-ahead log past which the writer waits until its rest is copied back: a writer that never pauses
/// would let it grow without end.
pub const WAL_BYTES: u64 = 16 << 20;

/// Bytes past which the writer copies it back itself before it goes on: on a busy machine the copier may not get its turn.
pub const WAL_MOST: u64 = 24 << 20;

/// How long the writer waits for that where a reader stands in the way; then it is tried again later.
pub const COPY: Duration = Duration::from_millis(100);

/// Revisions of one tool that are kept. Servers that are developed on a live line make some hundreds; one that makes more
/// writes a new contract each time it is asked, and would fill the disk.
pub const REVISIONS: u64 = 10_000;

/// Different lists of one server that are kept, for the same reason: each names all its tools.
pub const LISTS: u64 = 1_000;

/// Numbers of revisions that the writer has at hand; it looks the others up.
pub const ORDINALS: usize = 4_096;

/// Bytes of the definitions that are kept of one server, and as many of its lists: 20,000 definitions of the usual size. One that rewords large lists all the time fills this, and not the disk.
pub const SERVER_BYTES: u64 = 64 << 20;

/// Revisions given at once for one server: some for each tool of the largest lists.
pub const REVISION_ROWS: u32 = 100_000;

/// Raw or normalised arguments of one call, as large as one message of the wire.
pub const ARGUMENTS_BYTES: usize = 8 << 20;

/// A stored answer. A larger one is not stored, and the record says so.
pub const ANSWER_BYTES: usize = 8 << 20;

/// What an approver is shown.
pub const CARD_BYTES: usize = 256 << 10;

/// A tool's definition, as large as one message of the wire.
pub const DEFINITION_BYTES: usize = 8 << 20;

/// All pages of one list together, as they were served.
pub const PAGES_BYTES: usize = 64 << 20;

/// Tools of one list, as many as the wire layer reads.
pub const LIST_TOOLS: usize = 10_000;

/// The public part of one record. Names, digests and rule codes fit in a hundredth of it.
pub const ENVELOPE_BYTES: usize = 64 << 10;

/// A name, a principal, a target, an address: what fits on a screen.
pub const TEXT_BYTES: usize = 4 << 10;

/// What a client says about itself.
pub const CLIENT_INFO_BYTES: usize = 16 << 10;

/// Rule codes, or results relied on, of one decision.
pub const LISTED: usize = 256;

/// Approvals that wait at once: more than this is a flood, and nobody reads it.
pub const PENDING_APPROVALS: u64 = 1_000;

/// Approvers that are enrolled at once.
pub const APPROVERS: u64 = 100;

/// Rows of one answer to a question.
pub const ROWS: u32 = 10_000;

/// How far back the callers' time may run before the journal notes that the clock was set back: calls that were made
/// at once arrive in any order.
pub const CLOCK_SLACK: u64 = 5_000;

/// One line of an exported folder: an envelope, with room for what a damaged file may hold.
pub const LINE_BYTES: usize = 2 * ENVELOPE_BYTES;

/// A checkpoint with its signatures.
pub const NOTE_BYTES: usize = 16 << 10;

/// Faults that are listed; the rest are counted.
pub const FAULTS: usize = 200;

/// Requests and attempts that a verification keeps in mind to see whether each is complete: some 200 MB. Past this it
/// says that it did not look.
pub const TRACKED: usize = 2_000_000;

/// How long records of calls that only read wait for others to share a transaction with: what the end of the process may
/// cost of reads. Far less than a person notices, and long enough for many calls.
pub const LAZY_COMMIT: Duration = Duration::from_millis(10);

/// How often rows are read again that differ from their records while a gateway goes on writing between the two looks.
pub const LOOKS: u32 = 5;

/// Records read at once while a journal is exported or verified.
pub const PAGE: u32 = 1_000;

/// The file of an approver's key: a few hundred bytes, and nothing that is longer is one.
pub const KEY_FILE: u64 = 4 << 10;

/// The shortest passphrase of an approver, in characters: shorter ones are found by trying, whatever each try costs.
pub const PASSPHRASE: usize = 10;

/// What one try at a passphrase costs: 64 MiB of memory, three times over, about a quarter of a second.
pub const KDF: (u32, u32, u32) = (64 << 10, 3, 1);

/// The most that a key file may ask for, in KiB, passes and lanes: a damaged one must not take the machine.
pub const KDF_MOST: (u32, u32, u32) = (1 << 20, 16, 8);
