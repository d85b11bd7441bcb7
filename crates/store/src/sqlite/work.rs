//! One transaction at work: rows and records that are written together.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::ids::chance;
use crate::journal::{
    Checkpoint, Entry, Hash, Kind, Part, Tree, VerifyingKey, commitment, leaf_hash,
};
use crate::keys::{Seal, Signer};
use crate::{AttemptId, Ids, Millis, RequestId, SessionId, StoreError, limits};

/// The secrets of a store that is written to.
pub(super) struct Keys {
    pub(super) signer: Signer,
    pub(super) seal: Arc<Seal>,
}

/// What the writer knows about the journal without reading it.
#[derive(Clone, Default)]
pub(super) struct Log {
    pub(super) name: String,
    pub(super) tree: Tree,
    /// The size of the last checkpoint.
    pub(super) signed: u64,
    /// The time of the last record.
    pub(super) last_at: Millis,
}

/// A transaction.
pub(super) struct Work<'a> {
    pub(super) conn: &'a Connection,
    pub(super) log: &'a mut Log,
    pub(super) keys: &'a Keys,
    pub(super) ids: &'a Ids,
    /// The name of this process among those that write.
    pub(super) writer: &'a str,
    /// What was written must be on disk before the caller goes on.
    pub(super) durable: bool,
    /// The write-ahead log holds something that was erased.
    pub(super) erased: bool,
    /// The calls of this transaction by session. A session that stands here is known.
    pub(super) calls: BTreeMap<SessionId, Calls>,
    /// What need not be looked up.
    pub(super) at_hand: &'a mut AtHand,
}

/// What this process wrote or read of late and nobody else changes. Not all of it; gone with a transaction that is given up.
#[derive(Default)]
pub(super) struct AtHand {
    /// Attempts of this process without an outcome, and their requests.
    pub(super) attempts: BTreeMap<AttemptId, RequestId>,
    /// The numbers of revisions, by server, tool and digest.
    pub(super) ordinals: BTreeMap<[String; 3], u64>,
}

impl AtHand {
    pub(super) fn clear(&mut self) {
        *self = AtHand::default();
    }
}

/// How many calls of a session were decided, and how many of them refused.
#[derive(Clone, Copy, Default)]
pub(super) struct Calls {
    pub(super) all: u64,
    pub(super) refused: u64,
}

impl Work<'_> {
    /// Writes a record, and gives its number.
    pub(super) fn append(&mut self, entry: Entry) -> Result<u64, StoreError> {
        if entry.at + limits::CLOCK_SLACK < self.log.last_at {
            let from = self.log.last_at;
            self.write(Entry::new(Kind::ClockBack, entry.at).with("from", from))?;
        }
        self.write(entry)
    }

    fn write(&mut self, entry: Entry) -> Result<u64, StoreError> {
        let seq = self.log.tree.size();
        let request = entry.request.map(|id| id.to_string());
        let mut commitments = Vec::with_capacity(entry.sealed.len());
        for (part, text) in &entry.sealed {
            let mut salt = Zeroizing::new([0_u8; 32]);
            chance(salt.as_mut_slice())?;
            commitments.push((*part, commitment(&salt, text)));
            let plain = Zeroizing::new([salt.as_slice(), text.as_bytes()].concat());
            let sealed = self.keys.seal.seal(&place(&self.log.name, seq, *part), &plain)?;
            self.run(
                "INSERT INTO payload (seq, part, sealed) VALUES (?1, ?2, ?3)",
                params![seq, part.as_str(), sealed],
            )?;
        }
        let (kind, at, session) = (entry.kind, entry.at, entry.session);
        let envelope = entry.envelope(seq, &commitments)?;
        let hash = leaf_hash(envelope.as_bytes());
        self.run(
            "INSERT INTO leaf (seq, at, kind, hash, envelope, request, session) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                seq,
                at,
                kind.as_str(),
                hash,
                envelope,
                request,
                session.map(|id| id.to_string())
            ],
        )?;
        self.log.tree.push(hash);
        self.log.last_at = at;
        Ok(seq)
    }

    /// Counts a call of a session that must be known.
    pub(super) fn call(&mut self, session: SessionId, refused: bool) -> Result<(), StoreError> {
        if !self.calls.contains_key(&session) {
            super::sessions::must_know(self, session)?;
        }
        let calls = self.calls.entry(session).or_default();
        calls.all += 1;
        calls.refused += u64::from(refused);
        Ok(())
    }

    /// Writes what was counted, once for each session and not for each of its calls.
    pub(super) fn count_calls(&mut self) -> Result<(), StoreError> {
        for (session, calls) in std::mem::take(&mut self.calls) {
            self.run(
                "UPDATE session SET requests = requests + ?2, refused = refused + ?3 WHERE id = ?1",
                params![session.to_string(), calls.all, calls.refused],
            )?;
        }
        Ok(())
    }

    /// Signs the journal as it is inside this transaction.
    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint, StoreError> {
        let tree = &self.log.tree;
        let made = self.keys.signer.sign(&self.log.name, tree.size(), tree.root());
        let edge = tree.edge();
        // The same size has the same root and so the same note.
        self.run(
            "INSERT OR REPLACE INTO checkpoint (size, note, edge) VALUES (?1, ?2, ?3)",
            params![made.size, made.note, edge],
        )?;
        self.log.signed = made.size;
        Ok(made)
    }

    /// Runs one statement; gives how many rows it touched.
    pub(super) fn run(&self, sql: &str, values: impl Params) -> Result<usize, StoreError> {
        Ok(self.conn.prepare_cached(sql)?.execute(values)?)
    }

    /// One row, where there is one.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.conn.prepare_cached(sql)?.query_row(values, read).optional()?)
    }
}

/// All rows of a question.
pub(super) fn rows<T>(
    conn: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut found = statement.query(values)?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

/// The place that a payload is sealed for.
pub(super) fn place(journal: &str, seq: u64, part: Part) -> String {
    format!("{journal} {seq} {part}")
}

/// A word of a table.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| StoreError::damaged(format!("`{text}` is no {column} that is known")))
}

/// An id of a table.
pub(super) fn id<T: std::str::FromStr<Err = StoreError>>(
    row: &Row<'_>,
    column: &str,
) -> Result<T, StoreError> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error: StoreError| StoreError::damaged(error.to_string()))
}

/// The process that wrote a row. Tables of the first version do not say it, and who only reads does not migrate them.
pub(super) fn writer_of(row: &Row<'_>) -> Result<Option<String>, StoreError> {
    match row.get("writer") {
        Err(rusqlite::Error::InvalidColumnName(_)) => Ok(None),
        read => Ok(read?),
    }
}

/// How many rows a question may have.
pub(super) fn rows_of(limit: u32) -> u32 {
    if limit == 0 { limits::ROWS } else { limit.min(limits::ROWS) }
}

/// Refuses a text above its limit.
pub(super) fn at_most(what: &str, text: &str, most: usize) -> Result<(), StoreError> {
    if text.len() > most {
        return Err(StoreError::TooLarge { what: what.into(), size: text.len(), most });
    }
    Ok(())
}

/// Reads what the writer must know, and checks that the end of the journal fits its last checkpoint.
pub(super) fn read_log(conn: &Connection, key: &VerifyingKey) -> Result<Log, StoreError> {
    let last = conn
        .prepare_cached("SELECT size, note, edge FROM checkpoint ORDER BY size DESC LIMIT 1")?
        .query_row([], |row| {
            Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?))
        })
        .optional()?;
    let mut log = Log { name: key.name().to_owned(), ..Log::default() };
    if let Some((size, note, edge)) = last {
        let signed = Checkpoint::read(&note, key).map_err(StoreError::damaged)?;
        let tree = Tree::from_edge(size, &edge).filter(|tree| tree.root() == signed.root);
        log.tree = tree.filter(|_| signed.size == size).ok_or_else(|| {
            StoreError::damaged(format!(
                "the checkpoint at {size} does not fit what is kept beside it"
            ))
        })?;
        log.signed = size;
    }
    let mut statement = conn
        .prepare_cached("SELECT seq, at, hash, envelope FROM leaf WHERE seq >= ?1 ORDER BY seq")?;
    // One record before, so that a journal that was cut to less than its checkpoint is noticed.
    let mut found = statement.query([log.signed.saturating_sub(1)])?;
    let mut next = log.signed.saturating_sub(1);
    while let Some(row) = found.next()? {
        let (seq, hash, envelope): (u64, Hash, String) = (row.get(0)?, row.get(2)?, row.get(3)?);
        if seq != next {
            return Err(StoreError::damaged(format!("record {next} is missing from the journal")));
        }
        if leaf_hash(envelope.as_bytes()) != hash {
            return Err(StoreError::damaged(format!("record {seq} of the journal was altered")));
        }
        if seq >= log.signed {
            log.tree.push(hash);
        }
        log.last_at = row.get(1)?;
        next += 1;
    }
    if next < log.signed {
        return Err(StoreError::damaged(format!("record {next} is missing from the journal")));
    }
    Ok(log)
}

/// Strings as a JSON list.
pub(super) fn listed<T: ToString>(items: &[T]) -> Value {
    items.iter().map(|item| Value::from(item.to_string())).collect()
}
