//! Every bound of the gateway, with its reason.

use std::time::Duration;

/// Calls of one session that wait for their turn. A model sends a handful at once; past this the client is pushed back.
pub const QUEUED_CALLS: usize = 256;

/// Bytes that are read ahead of a client on a pipe while the server takes no message: as much as one message may have.
/// Past this the client is pushed back, and that it left is noticed once there is room again, or when the gateway is told to stop.
pub const AHEAD: usize = mcp::limits::RELAYED_BYTES;

/// Bytes between the gateway and what joins bound actions with a server: a few messages of the usual size.
pub const BESIDE: usize = 64 << 10;

/// Lists and greetings that are asked for at once of a server with bound actions beside it: the gateway asks one at a time.
pub const BESIDE_OPEN: usize = 64;

/// Requests of one client that are under way at once. Past this it is refused, not the server flooded.
pub const OPEN_REQUESTS: usize = 4_096;

/// How long one page of a list may take before the reading has failed, where nobody said otherwise.
pub const PAGE: Duration = Duration::from_secs(30);

/// Pages of one reading. Real servers use fewer than 20; past this the list is a generator, not a list.
pub const PAGES: usize = 500;

/// Bytes of one reading: sixteen times the largest list seen. In memory it is some four times as much, and a server may have
/// a few at once in use.
pub const LIST_BYTES: usize = 16 << 20;

/// Times one reading is begun because its connection was another one at the end: a server that ends, or loses its session,
/// whenever it is read is broken.
pub const READING_TURNS: usize = 2;

/// Times what holds for one call is looked at because the connection was another one by then: a second one is rare, and
/// past this the call is not verified.
pub const STANDING_TURNS: usize = 3;

/// Readings before a list counts as moving: two that agree are a contract, one is a moment.
pub const READINGS: usize = 5;

/// How old the last reading may be when a call is decided that only reads by the word of the server and of who accepted
/// it. One reading a second costs a server little.
pub const CLAIMED_READ_AGE: Duration = Duration::from_secs(1);

/// How long a call that only reads waits for a list that the server leaves unanswered: a server that is well answers
/// sooner, and a reading is not held up by one that is not.
pub const READ_PATIENCE: Duration = Duration::from_secs(1);

/// How old the last reading may be when a call is decided that the operator configured as one that only reads.
pub const READ_AGE: Duration = Duration::from_secs(30);

/// How old it may be when a call with effects is decided over a pipe: none, one round trip costs little there.
pub const EFFECT_AGE_PIPE: Duration = Duration::ZERO;

/// The same over HTTP.
pub const EFFECT_AGE_HTTP: Duration = Duration::from_secs(30);

/// The pause between two unasked readings of a quiet server; a third of it more or less by chance.
pub const POLL: Duration = Duration::from_secs(30);

/// How long after a client fetched the list again its calls may still come from what it saw before.
pub const OVERLAP: Duration = Duration::from_secs(60);

/// How long a definition that was listed may still be in some client's hands.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How often a session takes down that what its client was shown is still in its hands. A process that is killed loses as
/// much of that time, which is added to the day.
pub const KEEP: Duration = Duration::from_secs(10 * 60);

/// Definitions of one tool that are looked through for those that a client may hold. A tool that is worked on moves some times
/// in a day; where one moves more often, a call with an effect wants a fresh look.
pub const KEPT_DEFINITIONS: u32 = 32;

/// Lists whose pages are being fetched at once in one session: the oldest walk starts again.
pub const WALKS: usize = 16;

/// How long a client of the modern era may keep a list without asking: as long as a silent drift may stay unfound.
pub const SERVED_TTL: Duration = Duration::from_secs(30);

/// Lists that one session is remembered to have been shown: one a second, for as long as they may be in its hands, and the last.
/// Where there were more, a call with an effect wants a fresh look.
pub const SHOWN: usize = 64;

/// How long a definition that moved in notation or wording only is held back within a session.
pub const HOLD_BACK: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the token of a refusal holds.
pub const TOKEN: Duration = Duration::from_secs(10 * 60);

/// Tokens of one session; the oldest goes first.
pub const TOKENS: usize = 256;

/// Different refused calls that one session is remembered for.
pub const REFUSALS: usize = 1_024;

/// From this many equal refusals on, the caller is told to stop.
pub const REPEATS: u32 = 3;

/// Comparisons kept by their two digests; a server with 200 tools that changes all of them fills a tenth.
pub const COMPARISONS: usize = 2_048;

/// Bytes of the definitions that those comparisons are of: findings quote them.
pub const COMPARED_BYTES: usize = 64 << 20;

/// Definitions kept by their digest that nobody may hold any more, over all servers and sessions: they often come again.
pub const DEFINITIONS: usize = 8_192;

/// Bytes of those: 5,000 of the usual size. A server that words large definitions anew each second pushes out only what
/// is read again from the record.
pub const DEFINITION_BYTES: usize = 32 << 20;

/// Bytes of the earlier definitions of one server's tools by which alternation is recognised, and of the earlier lists that
/// one client was shown: 2,000 definitions of the usual size, or four of the largest lists seen. What is beyond is evidence no
/// longer, so that a call with an effect wants a fresh look.
pub const EARLIER_BYTES: usize = 16 << 20;

/// Earlier definitions of one tool by which alternation is recognised.
pub const HISTORY: usize = 8;

/// How deep marks for headers are looked for in a schema, and how many of one call count: headers are few and short.
pub const MIRROR_DEPTH: usize = 16;
/// See [`MIRROR_DEPTH`].
pub const MIRRORED: usize = 64;

/// How long an earlier definition counts when it comes back: rolling deploys take minutes.
pub const ROLLING: Duration = Duration::from_secs(15 * 60);

/// Readings in a row with one definition after which one that came back has settled, where [`SETTLED_FOR`] has passed too.
/// By chance they all meet the same one of two equal replicas once in 10^18 times, the larger part of four to one once in
/// 650,000, and of nine to one twice in a thousand. Five, as it was, came by chance each sixteenth time.
pub const SETTLED: u32 = 60;

/// How long it has to be the only one that is read: readings come by the hundred in a second where calls do, and a balancer
/// may send all of those to one place. Who accepts it does not wait.
pub const SETTLED_FOR: Duration = Duration::from_secs(5 * 60);

/// The pause between two unasked readings until then, in place of [`POLL`]: [`SETTLED`] of them take as long as that.
pub const POLL_UNSETTLED: Duration = Duration::from_secs(5);

/// The pause between two starts of a server that answered nothing in between; each further one doubles it.
pub const RESTART_PAUSE: Duration = Duration::from_millis(200);

/// The longest such pause: what was mended by hand is found within a minute, and a server that cannot start costs little.
pub const RESTART_MOST: Duration = Duration::from_secs(60);

/// How long a server has to be there until an answer of it counts for having started well.
pub const STEADY: Duration = Duration::from_secs(5);

/// How long whoever asks waits for the next start. Past this it is told when that will be.
pub const RESTART_WAIT: Duration = Duration::from_secs(1);

/// The pause after a connection to the control socket could not be taken.
pub const CONTROL_PAUSE: Duration = Duration::from_millis(200);

/// Notices of a changed list that wait for one reading: a client has a stream or two for them.
pub const NOTICES: usize = 64;

/// How long a handshake with a server that was started again may take.
pub const HANDSHAKE: Duration = Duration::from_secs(60);

/// How often it is looked whether a server has left.
pub const LEFT: Duration = Duration::from_millis(10);

/// How long a server may take to leave.
pub const LEAVE: Duration = Duration::from_secs(5);

/// How long a server that was told of a cancellation may still answer before the call counts as in doubt.
pub const WITHDRAWN: Duration = Duration::from_secs(5);

/// Bytes from which on an answer is measured beside the threads that carry messages: smaller ones take less than a
/// millisecond.
pub const HEAVY_ANSWER: usize = 64 << 10;

/// Tasks of one client that are known by what they were planned under; the oldest counts as in doubt.
pub const TASKS: usize = 1_024;

/// The same of all clients of a server: ten days of a busy team, as long as it is known for whom they run.
pub const TASKS_ALL: usize = 10_000;

/// Answers of effects of one session that nobody took yet, kept for the same request made again: a client retries the few
/// that were under way when its stream broke.
pub const OWED: usize = 64;

/// Bytes of them: what a session that nobody reads may hold. A larger one is not kept.
pub const OWED_BYTES: usize = 4 << 20;

/// For how long they are kept: a client that comes back later looks first.
pub const OWED_FOR: Duration = Duration::from_secs(600);

/// Names of tasks of which it is known for whom they run, of all sessions with a server: of ten days of a busy team. One that
/// is forgotten is answered for by the server alone.
pub const MINTED: usize = 10_000;

/// Values of one member that others rely on, kept by their digests: a session works with some dozens of objects.
pub const RELIED: usize = 256;

/// Values of one source that arguments may be declared to come from, kept by their digests: the oldest goes first. A list
/// of some thousand objects with an id each fits.
pub const PROVEN: usize = 10_000;

/// Bytes of a text that is read as an answer where there is no structured part.
pub const TEXT_ANSWER: usize = 1 << 20;

/// How deep such values are looked for: real answers nest five deep.
pub const PROVEN_DEPTH: usize = 16;

/// Requests of one session whose server waits for input: a client works on a handful, and one that never goes on is
/// forgotten.
pub const ROUNDS: usize = 256;

/// How long a server's question for input holds: a person may be away for a meal, and after that looks anew.
pub const ROUND: Duration = Duration::from_secs(60 * 60);

/// Tools whose answers' shapes are known, over all principals: a hundred people on a server of ten such tools fit.
pub const SHAPES: usize = 1_024;

/// Members of one tool's answers that are told to have moved.
pub const SHAPE_MOVED: usize = 64;

/// Calls of one session that were given up and may still be answered.
pub const GIVEN_UP: usize = 256;

/// Events that wait for a slow listener before it misses some.
pub const EVENTS: usize = 1_024;

/// Characters of a raw answer that are shown in place of a structured one.
pub const RAW_ANSWER: usize = 64 << 10;

/// Tools of one session whose calls are tallied: as many as a catalogue of the largest servers seen, twice over.
pub const TALLIES: usize = 1_024;

/// Programs that ask one gateway at once how it does: some terminals and a page.
pub const CONTROL_CLIENTS: usize = 16;

/// Bytes of one question to a running gateway: a name and a filter.
pub const CONTROL_LINE: usize = 16 << 10;

/// Bytes of one answer of a running gateway that is read: all sessions and tools that one answer holds.
pub const CONTROL_ANSWER: usize = 64 << 20;

/// How long whoever asks a gateway may take to ask, and to take an answer.
pub const CONTROL_PATIENCE: Duration = Duration::from_secs(30);

/// Sessions of one answer about how a gateway does; a filter gives the rest.
pub const STATUS_SESSIONS: usize = 200;

/// Tools of one session in such an answer.
pub const STATUS_TOOLS: usize = 1_000;

/// Characters of an answer that was not understood, in the sentence that says so.
pub const SHOWN_ANSWER: usize = 200;

// What follows bounds the front: many clients over HTTP.

/// Connections at once, where the system gives as many: [`SESSIONS`] with a stream that stays open and a request each, and
/// some. Past this new ones wait in the queue of the system.
pub const CONNECTIONS: usize = 24_000;

/// Descriptors that one connection may cost: its own, and one to a server or a part of a server's pipes.
pub const DESCRIPTORS_EACH: usize = 2;

/// Bytes of one request's head. Ordinary ones have 1 KiB; arguments mirrored into headers fit several times over.
pub const HEAD_BYTES: usize = 64 << 10;

/// Headers of one request.
pub const HEADERS: usize = 128;

/// How long a client may take to send the head of a request, and then its body.
pub const HEAD: Duration = Duration::from_secs(15);
/// See [`HEAD`].
pub const BODY: Duration = Duration::from_secs(60);

/// Sessions at once, of all principals: each may hold a process.
pub const SESSIONS: usize = 10_000;

/// Sessions of one principal and server: an agent host opens some dozens, a client that leaks them is stopped.
pub const SESSIONS_EACH: usize = 1_000;

/// How long a session is kept of which nothing is heard, where the configuration says nothing.
pub const IDLE: Duration = Duration::from_secs(30 * 60);

/// How much longer a session is kept whose client left requests under way, and reads no stream: one whose connection broke
/// comes back within a second or two. Then what is not answered goes on record as in doubt.
pub const ABANDONED: Duration = Duration::from_secs(5);

/// The same where a call is under way that is let end: the longest that such a call may take with nobody there to hear of it.
pub const LET_END: Duration = Duration::from_secs(60 * 60);

/// How often is looked for what has expired.
pub const SWEEP: Duration = Duration::from_secs(5);

/// How often is looked for what gateways left open on the same store that are gone.
pub const GONE: Duration = Duration::from_secs(5);

/// How long sessions that ended before may still take to go on record when the gateway ends: no longer than one that ends now.
pub const ENDING: Duration = Duration::from_secs(15);

/// Messages that wait on one stream for a client that does not read; then the stream is cut.
pub const STREAM_MESSAGES: usize = 256;

/// Bytes that wait on one stream; one message of any size is always let through.
pub const STREAM_BYTES: usize = 16 << 20;

/// Bytes of one session that are kept to be read again after a stream broke.
pub const REPLAY_BYTES: usize = 1 << 20;

/// Bytes of all sessions that are kept so: past this an answer that its client did not take is on record, and not kept.
pub const REPLAY_ALL: usize = 64 << 20;

/// Streams of one session that are kept so.
pub const REPLAY_STREAMS: usize = 64;

/// How long a stream is kept so after its last message.
pub const REPLAY: Duration = Duration::from_secs(60);

/// The pause between two signs of life on a quiet stream: proxies cut after a minute at the earliest.
pub const ALIVE: Duration = Duration::from_secs(15);

/// How long a first message is waited for before a modern answer begins as a stream: until then it can still have the
/// status that its error calls for.
pub const FIRST_WORD: Duration = Duration::from_secs(5);

/// How long calls under way may take to finish when the gateway ends.
pub const FINISH: Duration = Duration::from_secs(10);

/// Digits of a digest that a pinned endpoint must name at least: fewer are guessed at.
pub const PIN_DIGITS: usize = 8;

/// Bytes of a list that is kept as it was written, for those who pin it: the largest seen fit several times over. A larger
/// one is put together again from its definitions.
pub const KEPT_PAGES: usize = 8 << 20;

/// Lists of a server among which a pinned one is looked for.
pub const PIN_LISTS: u32 = 1_000;

/// How long an answer about readiness is good for: probes come every few seconds, and each costs a flush.
pub const READY: Duration = Duration::from_secs(5);

/// How long an upstream may take to take a connection when readiness is asked for.
pub const REACH: Duration = Duration::from_secs(2);

/// Lines of one kind in the metrics; what is beyond is left out and counted.
pub const METRIC_LINES: usize = 1_000;

/// Characters of one label.
pub const LABEL: usize = 128;

/// Tokens that are known at once.
pub const BEARERS: usize = 10_000;

/// The pause after a connection could not be taken.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long a held call waits for a person before the client is told that it is pending: clients give up at a minute.
pub const HOLD: Duration = Duration::from_secs(20);

/// The pause between two looks for the word of a person.
pub const HOLD_LOOK: Duration = Duration::from_millis(200);

/// The pause between two notifications that a call still waits.
pub const HOLD_PROGRESS: Duration = Duration::from_secs(5);

/// How long an approval that was asked for holds: a person may be away for a meal, and after that looks anew.
pub const APPROVAL: Duration = Duration::from_secs(60 * 60);

/// Open approvals of one tool that are looked through for the one that covers a call.
pub const OPEN_APPROVALS: u32 = 1_000;

/// Arguments that an approver is shown: more than this nobody reads.
pub const CARD_FIELDS: usize = 60;

/// Characters of one value that an approver is shown.
pub const CARD_VALUE: usize = 400;

/// Ids of one list that an approver is shown; the digest covers all.
pub const CARD_IDS: usize = 5;

/// How deep targets are looked for in the arguments: real ones nest three deep.
pub const CARD_DEPTH: usize = 8;

/// Gateways that are followed at once: one for each server of some clients.
pub const FOLLOWED: usize = 200;

/// The pause between two looks for gateways that were started: a person does not notice it.
pub const LOOK_AGAIN: Duration = Duration::from_millis(500);
