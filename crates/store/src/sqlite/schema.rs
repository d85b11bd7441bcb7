//! The tables, by version. A migration is appended, never changed.

use rusqlite::Connection;

use crate::StoreError;

/// What marks a database as ours, in its header: `SfSt`.
pub(super) const APPLICATION: u32 = u32::from_be_bytes(*b"SfSt");

/// Each migration brings the database to the version of its place in the list, counted from one.
const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5];

/// The version that this program reads and writes.
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// The columns beside a leaf and the rows of the ledger are an index over the envelopes: what holds is the leaf.
const VERSION_1: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE leaf (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, hash BLOB NOT NULL, envelope TEXT NOT NULL,
    request TEXT, session TEXT
) STRICT;
CREATE INDEX leaf_request ON leaf (request) WHERE request IS NOT NULL;
CREATE TABLE payload (
    seq INTEGER NOT NULL, part TEXT NOT NULL, request TEXT, sealed BLOB NOT NULL, UNIQUE (seq, part)
) STRICT;
CREATE INDEX payload_request ON payload (request) WHERE request IS NOT NULL;
CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, note TEXT NOT NULL, edge BLOB NOT NULL) STRICT;
CREATE TABLE session (
    id TEXT PRIMARY KEY, server TEXT NOT NULL, principal TEXT NOT NULL, era TEXT NOT NULL, client_info TEXT,
    opened_at INTEGER NOT NULL, ended_at INTEGER, how TEXT, requests INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX session_open ON session (id) WHERE ended_at IS NULL;
CREATE TABLE revision (
    server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, ordinal INTEGER NOT NULL,
    first_at INTEGER NOT NULL, definition TEXT NOT NULL, UNIQUE (server, tool, digest), UNIQUE (server, tool, ordinal)
) STRICT;
CREATE TABLE list (
    server TEXT NOT NULL, digest TEXT NOT NULL, tools TEXT NOT NULL, pages TEXT, first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL, turns INTEGER NOT NULL, current INTEGER NOT NULL, UNIQUE (server, digest)
) STRICT;
CREATE TABLE shown (session TEXT NOT NULL, list TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE INDEX shown_session ON shown (session);
CREATE TABLE granted (
    server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, how TEXT NOT NULL, by TEXT NOT NULL,
    at INTEGER NOT NULL, gone_at INTEGER, PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;
CREATE TABLE request (
    id TEXT PRIMARY KEY, session TEXT NOT NULL, principal TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
    effect INTEGER NOT NULL, verdict TEXT NOT NULL, code TEXT, current TEXT, argument_digest TEXT, approval TEXT,
    at INTEGER NOT NULL, leaf INTEGER NOT NULL, delivered INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX request_session ON request (session);
CREATE TABLE attempt (
    id TEXT PRIMARY KEY, request TEXT NOT NULL, n INTEGER NOT NULL, target TEXT NOT NULL, key TEXT,
    at INTEGER NOT NULL, state TEXT, UNIQUE (request, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_open ON attempt (id) WHERE state IS NULL;
CREATE INDEX attempt_in_doubt ON attempt (request) WHERE state = 'in-doubt';
CREATE TABLE outcome (
    attempt TEXT NOT NULL, n INTEGER NOT NULL, state TEXT NOT NULL, by TEXT NOT NULL, late INTEGER NOT NULL,
    at INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY (attempt, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE approval (
    id TEXT PRIMARY KEY, request TEXT NOT NULL, principal TEXT NOT NULL, session TEXT NOT NULL, server TEXT NOT NULL,
    tool TEXT NOT NULL, revision TEXT NOT NULL, action_digest TEXT NOT NULL, expires INTEGER NOT NULL,
    at INTEGER NOT NULL, state TEXT NOT NULL, by TEXT, leaf INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_pending ON approval (id) WHERE state = 'pending';
CREATE INDEX approval_tool ON approval (server, tool) WHERE state IN ('pending', 'approved');
CREATE INDEX approval_request ON approval (request);
CREATE TABLE approver (name TEXT PRIMARY KEY, public_key TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE counter (
    server TEXT NOT NULL, tool TEXT NOT NULL, revision TEXT NOT NULL, what TEXT NOT NULL, times INTEGER NOT NULL,
    effects INTEGER NOT NULL, session_age INTEGER NOT NULL, oldest_session INTEGER NOT NULL, last_at INTEGER NOT NULL,
    PRIMARY KEY (server, tool, revision, what)
) STRICT, WITHOUT ROWID;
CREATE TABLE adapter (
    name TEXT PRIMARY KEY, times INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Which process a session is open in and an attempt is under way in; an approval carries one call.
const VERSION_2: &str = "
ALTER TABLE session ADD COLUMN writer TEXT;
ALTER TABLE attempt ADD COLUMN writer TEXT;
CREATE INDEX IF NOT EXISTS request_approval ON request (approval) WHERE approval IS NOT NULL;
";

/// Lists and grants belong to a scope: an era, and an authorisation at the server. Those of before belong to every scope,
/// which is what they did.
const VERSION_3: &str = "
ALTER TABLE list RENAME TO list_2;
CREATE TABLE list (
    server TEXT NOT NULL, scope TEXT NOT NULL, digest TEXT NOT NULL, tools TEXT NOT NULL, pages TEXT,
    first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, turns INTEGER NOT NULL, current INTEGER NOT NULL,
    UNIQUE (server, scope, digest)
) STRICT;
INSERT INTO list SELECT server, '', digest, tools, pages, first_at, last_at, turns, current FROM list_2;
DROP TABLE list_2;
ALTER TABLE granted RENAME TO granted_2;
CREATE TABLE granted (
    server TEXT NOT NULL, scope TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, how TEXT NOT NULL,
    by TEXT NOT NULL, at INTEGER NOT NULL, gone_at INTEGER, PRIMARY KEY (server, scope, tool)
) STRICT, WITHOUT ROWID;
INSERT INTO granted SELECT server, '', tool, digest, how, by, at, gone_at FROM granted_2;
DROP TABLE granted_2;
";

/// When each definition was last in someone's hands: it ages by itself, not with the whole list that it came in. Of what was
/// seen before that was told, the last list that had it says so.
const VERSION_4: &str = "
ALTER TABLE revision ADD COLUMN last_at INTEGER NOT NULL DEFAULT 0;
UPDATE revision SET last_at = seen.at FROM (
    SELECT list.server AS server, json_extract(tool.value, '$[0]') AS tool, json_extract(tool.value, '$[1]') AS digest,
        max(list.last_at) AS at
    FROM list, json_each(list.tools) AS tool GROUP BY 1, 2, 3
) AS seen WHERE seen.server = revision.server AND seen.tool = revision.tool AND seen.digest = revision.digest;
CREATE INDEX revision_last ON revision (server, tool, last_at);
";

/// A sealed part stands in one tree, by the record that it belongs to: the record says whose request it is.
const VERSION_5: &str = "
CREATE TABLE payload_5 (
    seq INTEGER NOT NULL, part TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (seq, part)
) STRICT, WITHOUT ROWID;
INSERT INTO payload_5 SELECT seq, part, sealed FROM payload ORDER BY seq, part;
DROP TABLE payload;
ALTER TABLE payload_5 RENAME TO payload;
";

/// Brings the tables to this program's version, inside the caller's transaction.
pub(super) fn migrate(conn: &Connection, from: u32) -> Result<(), StoreError> {
    for migration in MIGRATIONS.iter().skip(from as usize) {
        conn.execute_batch(migration)?;
    }
    conn.pragma_update(None, "application_id", APPLICATION)?;
    conn.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}
