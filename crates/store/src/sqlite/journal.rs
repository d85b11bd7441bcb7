//! Records, checkpoints, and what is sealed.

use rusqlite::{Connection, params};
use zeroize::Zeroizing;

use super::approvals::{Of, void};
use super::work::{Work, at_most, place, rows, rows_of, word};
use crate::journal::{Checkpoint, Entry, Kind, Leaf, Part, Payload, VerifyingKey};
use crate::keys::Seal;
use crate::{Millis, RequestId, StoreError, limits};

pub(super) fn records(conn: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(seq) + 1, 0) FROM leaf";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

pub(super) fn leaves(conn: &Connection, from: u64, limit: u32) -> Result<Vec<Leaf>, StoreError> {
    let sql = "SELECT seq, hash, envelope FROM leaf WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
    rows(conn, sql, &[&from, &rows_of(limit)], |row| {
        Ok(Leaf { seq: row.get(0)?, hash: row.get(1)?, envelope: row.get(2)? })
    })
}

pub(super) fn leaves_of(conn: &Connection, request: RequestId) -> Result<Vec<Leaf>, StoreError> {
    let sql = "SELECT seq, hash, envelope FROM leaf WHERE request = ?1 ORDER BY seq LIMIT ?2";
    rows(conn, sql, &[&request.to_string(), &limits::ROWS], |row| {
        Ok(Leaf { seq: row.get(0)?, hash: row.get(1)?, envelope: row.get(2)? })
    })
}

pub(super) fn checkpoints(
    conn: &Connection,
    key: &VerifyingKey,
    from: u64,
    limit: u32,
) -> Result<Vec<Checkpoint>, StoreError> {
    let sql = "SELECT size, note FROM checkpoint WHERE size >= ?1 ORDER BY size LIMIT ?2";
    rows(conn, sql, &[&from, &rows_of(limit)], |row| {
        let (size, note): (u64, String) = (row.get(0)?, row.get(1)?);
        Checkpoint::read(&note, key)
            .ok()
            .filter(|checkpoint| checkpoint.size == size)
            .ok_or_else(|| StoreError::damaged(format!("the checkpoint at {size} was altered")))
    })
}

/// Opens a sealed part.
pub(super) fn opened(
    seal: &Seal,
    journal: &str,
    seq: u64,
    part: Part,
    sealed: Vec<u8>,
) -> Result<Payload, StoreError> {
    let plain = seal.open_sealed(&place(journal, seq, part), &sealed).map(Zeroizing::new);
    let read = plain.as_ref().and_then(|plain| {
        let (salt, text) = plain.split_first_chunk::<32>()?;
        Some(Payload { seq, part, salt: *salt, text: std::str::from_utf8(text).ok()?.to_owned() })
    });
    read.ok_or_else(|| {
        StoreError::damaged(format!("the sealed {part} of record {seq} does not open: it was altered, or sealed with another key"))
    })
}

pub(super) fn payloads(
    conn: &Connection,
    seal: &Seal,
    journal: &str,
    request: RequestId,
) -> Result<Vec<Payload>, StoreError> {
    let sql =
        "SELECT seq, part, sealed FROM payload WHERE seq IN (SELECT seq FROM leaf WHERE request = ?1)
         ORDER BY seq, part LIMIT ?2";
    rows(conn, sql, &[&request.to_string(), &limits::ROWS], |row| {
        opened(seal, journal, row.get(0)?, word(row, "part", Part::from_word)?, row.get(2)?)
    })
}

pub(super) fn erase(
    work: &mut Work<'_>,
    request: RequestId,
    by: &str,
    at: Millis,
) -> Result<u64, StoreError> {
    at_most("The name of who erases", by, limits::TEXT_BYTES)?;
    let text = request.to_string();
    if work.row("SELECT 1 FROM request WHERE id = ?1", [&text], |_| Ok(()))?.is_none() {
        return Err(StoreError::unknown("request", request));
    }
    // Nobody can approve what can no longer be shown.
    void(work, &Of::Request(request), "what it is about was erased", at)?;
    let parts = work.run(
        "DELETE FROM payload WHERE seq IN (SELECT seq FROM leaf WHERE request = ?1)",
        [&text],
    )? as u64;
    work.run("UPDATE request SET argument_digest = NULL WHERE id = ?1", [&text])?;
    work.run("UPDATE approval SET action_digest = '' WHERE request = ?1", [&text])?;
    let entry = Entry::new(Kind::Erased, at).request(request).with("by", by).with("parts", parts);
    work.append(entry)?;
    work.durable = true;
    work.erased = true;
    Ok(parts)
}

pub(super) fn checkpoint(work: &mut Work<'_>) -> Result<Checkpoint, StoreError> {
    work.durable = true;
    if work.log.signed < work.log.tree.size() {
        return work.checkpoint();
    }
    // Signed already: Ed25519 would make the same note again.
    let size = work.log.signed;
    let note: Option<String> =
        work.row("SELECT note FROM checkpoint WHERE size = ?1", params![size], |row| row.get(0))?;
    match note {
        Some(note) => Ok(Checkpoint { size, root: work.log.tree.root(), note }),
        None => Err(StoreError::damaged(format!("the checkpoint at {size} is missing"))),
    }
}
