//! Revisions, lists, what was shown, and what is granted.

use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeSet;

use super::sessions;
use super::work::{Work, at_most, rows, rows_of, word};
use crate::journal::{Entry, Kind};
use crate::{
    Grant, GrantHow, List, Millis, NewGrant, NewList, NewRevision, Revision, Seen, SessionId,
    Shown, StoreError, limits,
};

pub(super) fn servers(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT server FROM list UNION SELECT server FROM granted ORDER BY 1";
    rows(conn, sql, &[], |row| Ok(row.get(0)?))
}

pub(super) fn all_seen(work: &mut Work<'_>, all: &[NewRevision]) -> Result<Vec<Seen>, StoreError> {
    let seen: Vec<Seen> = all.iter().map(|new| seen(work, new)).collect::<Result<_, _>>()?;
    let servers: BTreeSet<&str> =
        all.iter().zip(&seen).filter(|(_, seen)| seen.new).map(|(r, _)| &*r.server).collect();
    servers.into_iter().try_for_each(|server| make_room(work, server))?;
    Ok(seen)
}

fn seen(work: &mut Work<'_>, new: &NewRevision) -> Result<Seen, StoreError> {
    at_most("The key of the server", &new.server, limits::TEXT_BYTES)?;
    at_most("The name of the tool", &new.tool, limits::TEXT_BYTES)?;
    at_most("The digest", &new.digest, limits::TEXT_BYTES)?;
    at_most("The definition of the tool", &new.definition, limits::DEFINITION_BYTES)?;
    let known = work.row(
        "SELECT ordinal FROM revision WHERE server = ?1 AND tool = ?2 AND digest = ?3",
        params![new.server, new.tool, new.digest],
        |row| row.get(0),
    )?;
    if let Some(ordinal) = known {
        held(work, &new.server, &new.tool, &new.digest, new.at)?;
        work.run(
            "UPDATE revision SET definition = ?4
             WHERE server = ?1 AND tool = ?2 AND digest = ?3 AND definition = ''",
            params![new.server, new.tool, new.digest, new.definition],
        )?;
        return Ok(Seen { ordinal, new: false });
    }
    let ordinal: u64 = work
        .row(
            "SELECT coalesce(max(ordinal), 0) + 1 FROM revision WHERE server = ?1 AND tool = ?2",
            params![new.server, new.tool],
            |row| row.get(0),
        )?
        .unwrap_or(1);
    if ordinal > limits::REVISIONS {
        let_the_oldest_go(work, new)?;
    }
    let entry = Entry::new(Kind::Revision, new.at)
        .with("server", new.server.as_str())
        .with("tool", new.tool.as_str())
        .with("digest", new.digest.as_str())
        .with("ordinal", ordinal);
    work.append(entry)?;
    work.run(
        "INSERT INTO revision (server, tool, digest, ordinal, first_at, last_at, definition)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)",
        params![new.server, new.tool, new.digest, ordinal, new.at, new.definition],
    )?;
    Ok(Seen { ordinal, new: true })
}

/// Makes room for one more revision of a tool that has as many as are kept: those go that were in someone's hands longest
/// ago and that nothing was granted by. That they were there stays in the journal.
fn let_the_oldest_go(work: &mut Work<'_>, new: &NewRevision) -> Result<(), StoreError> {
    work.run(
        "DELETE FROM revision WHERE rowid IN (
             SELECT rowid FROM revision WHERE server = ?1 AND tool = ?2
                 AND NOT EXISTS (SELECT 1 FROM granted WHERE granted.server = revision.server
                     AND granted.tool = revision.tool AND granted.digest = revision.digest)
             ORDER BY last_at, rowid
             LIMIT max(0, (SELECT count(*) FROM revision WHERE server = ?1 AND tool = ?2) - ?3 + 1))",
        params![new.server, new.tool, limits::REVISIONS],
    )?;
    // One of them that comes again has another number.
    work.at_hand.ordinals.clear();
    Ok(())
}

/// Makes room where a server wrote more than is kept of one: the texts of the definitions go that were in someone's hands
/// longest ago and that nothing was granted by. What they were called and when they were there stays on record.
fn make_room(work: &mut Work<'_>, server: &str) -> Result<(), StoreError> {
    let left = "server = ?1 AND definition <> ''
        AND NOT EXISTS (SELECT 1 FROM granted WHERE granted.server = revision.server
            AND granted.tool = revision.tool AND granted.digest = revision.digest)";
    let gone = "UPDATE revision SET definition = '' WHERE rowid = ?1";
    let_go(work, server, "revision", "octet_length(definition)", left, gone)
}

/// The same for lists: whole ones go, but for those that are current.
fn make_room_for_lists(work: &mut Work<'_>, server: &str) -> Result<(), StoreError> {
    let size = "octet_length(tools) + coalesce(octet_length(pages), 0)";
    let gone = "DELETE FROM list WHERE rowid = ?1";
    let_go(work, server, "list", size, "server = ?1 AND NOT current", gone)
}

/// Lets the rows of a server go that are `left` to go, the oldest first, until what it has fits.
fn let_go(
    work: &mut Work<'_>,
    server: &str,
    table: &str,
    size: &str,
    left: &str,
    gone: &str,
) -> Result<(), StoreError> {
    let kept = format!("SELECT coalesce(sum({size}), 0), count(*) FROM {table} WHERE server = ?1");
    let kept = work.row(&kept, [server], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (mut bytes, mut count): (u64, u64) = kept.unwrap_or((0, 0));
    // Of revisions there may be as many for each tool; how many lists are different is up to the server alone.
    let most = if table == "list" { limits::LISTS } else { u64::MAX };
    if bytes <= limits::SERVER_BYTES && count <= most {
        return Ok(());
    }
    let oldest =
        format!("SELECT rowid, {size} FROM {table} WHERE {left} ORDER BY last_at, rowid LIMIT ?2");
    let oldest: Vec<(i64, u64)> =
        rows(work.conn, &oldest, &[&server, &limits::REVISION_ROWS], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    for (row, size) in oldest {
        if bytes <= limits::SERVER_BYTES && count <= most {
            break;
        }
        work.run(gone, [row])?;
        bytes -= size;
        count -= 1;
    }
    Ok(())
}

/// A definition is live, or in the hands of a session, at this time.
fn held(
    work: &mut Work<'_>,
    server: &str,
    tool: &str,
    digest: &str,
    at: Millis,
) -> Result<(), StoreError> {
    work.run(
        "UPDATE revision SET last_at = max(last_at, ?4) WHERE server = ?1 AND tool = ?2 AND digest = ?3",
        params![server, tool, digest, at],
    )?;
    Ok(())
}

pub(super) fn all_held(
    work: &mut Work<'_>,
    server: &str,
    held_now: &[(String, String)],
    at: Millis,
) -> Result<(), StoreError> {
    held_now.iter().try_for_each(|(tool, digest)| held(work, server, tool, digest, at))
}

pub(super) fn list_seen(work: &mut Work<'_>, new: &NewList) -> Result<(), StoreError> {
    at_most("The key of the server", &new.server, limits::TEXT_BYTES)?;
    at_most("The digest", &new.digest, limits::TEXT_BYTES)?;
    if let Some(pages) = &new.pages {
        at_most("The list", pages, limits::PAGES_BYTES)?;
    }
    if new.tools.len() > limits::LIST_TOOLS {
        return Err(StoreError::TooMany {
            what: "tools in the list".into(),
            most: limits::LIST_TOOLS as u64,
            remedy: "Let the server list fewer.".into(),
        });
    }
    at_most("The scope", &new.scope, limits::TEXT_BYTES)?;
    let current: Option<bool> = work.row(
        "SELECT current FROM list WHERE server = ?1 AND scope = ?2 AND digest = ?3",
        params![new.server, new.scope, new.digest],
        |row| row.get(0),
    )?;
    if current == Some(true) {
        work.run(
            "UPDATE list SET last_at = ?4, pages = coalesce(?5, pages)
             WHERE server = ?1 AND scope = ?2 AND digest = ?3",
            params![new.server, new.scope, new.digest, new.at, new.pages],
        )?;
        return Ok(());
    }
    let entry = Entry::new(Kind::List, new.at)
        .with("server", new.server.as_str())
        .with_some("scope", scoped(&new.scope))
        .with("digest", new.digest.as_str())
        .with("tools", new.tools.len());
    work.append(entry)?;
    let tools = serde_json::to_string(&new.tools).map_err(|error| {
        StoreError::conflict(format!("The list cannot be written as JSON: {error}."))
    })?;
    work.run(
        "UPDATE list SET current = 0 WHERE server = ?1 AND scope = ?2 AND current",
        params![new.server, new.scope],
    )?;
    work.run(
        "INSERT INTO list (server, scope, digest, tools, pages, first_at, last_at, turns, current)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1, 1)
         ON CONFLICT (server, scope, digest) DO UPDATE SET
            last_at = excluded.last_at, pages = coalesce(excluded.pages, pages), turns = turns + 1, current = 1",
        params![new.server, new.scope, new.digest, tools, new.pages, new.at],
    )?;
    make_room_for_lists(work, &new.server)?;
    note_gone(work, new)
}

/// A scope as records have it: left out where what is recorded belongs to all.
fn scoped(scope: &str) -> Option<&str> {
    (!scope.is_empty()).then_some(scope)
}

/// Notes which granted tools the list lacks. Their names may come back as something else.
fn note_gone(work: &mut Work<'_>, new: &NewList) -> Result<(), StoreError> {
    let granted: Vec<(String, String)> = rows(
        work.conn,
        "SELECT scope, tool FROM granted WHERE server = ?1 AND scope IN (?2, '') AND gone_at IS NULL",
        &[&new.server, &new.scope],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let listed: BTreeSet<&str> = new.tools.iter().map(|(tool, _)| tool.as_str()).collect();
    for (scope, tool) in granted.iter().filter(|(_, tool)| !listed.contains(tool.as_str())) {
        let entry = Entry::new(Kind::Gone, new.at)
            .with("server", new.server.as_str())
            .with_some("scope", scoped(scope))
            .with("tool", tool.as_str());
        work.append(entry)?;
        work.run(
            "UPDATE granted SET gone_at = ?4 WHERE server = ?1 AND scope = ?2 AND tool = ?3",
            params![new.server, scope, tool, new.at],
        )?;
    }
    Ok(())
}

pub(super) fn shown(
    work: &mut Work<'_>,
    session: SessionId,
    list: &str,
    at: Millis,
) -> Result<(), StoreError> {
    at_most("The digest", list, limits::TEXT_BYTES)?;
    sessions::must_know(work, session)?;
    work.append(Entry::new(Kind::Shown, at).session(session).with("list", list))?;
    work.run(
        "INSERT INTO shown (session, list, at) VALUES (?1, ?2, ?3)",
        params![session.to_string(), list, at],
    )?;
    Ok(())
}

pub(super) fn grant(work: &mut Work<'_>, new: &NewGrant) -> Result<(), StoreError> {
    for (what, text) in [
        ("The key of the server", &new.server),
        ("The name of the tool", &new.tool),
        ("The scope", &new.scope),
        ("The digest", &new.digest),
        ("The name of who grants", &new.by),
    ] {
        at_most(what, text, limits::TEXT_BYTES)?;
    }
    let held = "SELECT 1 FROM granted WHERE server = ?1 AND scope IN (?2, '') AND tool = ?3";
    // What was merely seen first takes the place of nothing, least of all of what a person accepted meanwhile.
    if new.how == GrantHow::FirstSeen
        && work.row(held, params![new.server, new.scope, new.tool], |_| Ok(()))?.is_some()
    {
        return Ok(());
    }
    work.durable = true;
    let entry = Entry::new(Kind::Granted, new.at)
        .with("server", new.server.as_str())
        .with_some("scope", scoped(&new.scope))
        .with("tool", new.tool.as_str())
        .with("digest", new.digest.as_str())
        .with("how", new.how.as_str())
        .with("by", new.by.as_str());
    work.append(entry)?;
    work.run(
        "INSERT OR REPLACE INTO granted (server, scope, tool, digest, how, by, at, gone_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)",
        params![new.server, new.scope, new.tool, new.digest, new.how.as_str(), new.by, new.at],
    )?;
    Ok(())
}

pub(super) fn grants(conn: &Connection, server: &str) -> Result<Vec<Grant>, StoreError> {
    rows(conn, "SELECT * FROM granted WHERE server = ?1 ORDER BY tool", &[&server], granted)
}

/// A scope's own grant goes before the one of before scopes were told apart.
pub(super) fn grant_of(
    conn: &Connection,
    server: &str,
    scope: &str,
    tool: &str,
) -> Result<Option<Grant>, StoreError> {
    // Two look-ups by the whole key: a plan for one question over both is made anew for each value.
    let sql = "SELECT * FROM granted WHERE server = ?1 AND scope = ?2 AND tool = ?3";
    let of = |scope: &str| Ok(rows(conn, sql, &[&server, &scope, &tool], granted)?.pop());
    match of(scope)? {
        None if !scope.is_empty() => of(""),
        found => Ok(found),
    }
}

fn granted(row: &Row<'_>) -> Result<Grant, StoreError> {
    Ok(Grant {
        scope: scope_of(row)?,
        tool: row.get("tool")?,
        digest: row.get("digest")?,
        how: word(row, "how", GrantHow::from_word)?,
        by: row.get("by")?,
        at: row.get("at")?,
        gone_at: row.get("gone_at")?,
    })
}

pub(super) fn revisions(conn: &Connection, server: &str) -> Result<Vec<Revision>, StoreError> {
    let sql = "SELECT tool, ordinal, digest, first_at FROM revision WHERE server = ?1
               ORDER BY tool, ordinal LIMIT ?2";
    let found = rows(conn, sql, &[&server, &(limits::REVISION_ROWS + 1)], |row| {
        Ok(Revision {
            tool: row.get(0)?,
            ordinal: row.get(1)?,
            digest: row.get(2)?,
            first_at: row.get(3)?,
        })
    })?;
    // A part of them would look like the whole.
    if found.len() > limits::REVISION_ROWS as usize {
        return Err(StoreError::TooMany {
            what: format!("revisions at {server}"),
            most: limits::REVISION_ROWS.into(),
            remedy: "Begin a new store for this server.".into(),
        });
    }
    Ok(found)
}

pub(super) fn definition(
    conn: &Connection,
    server: &str,
    tool: &str,
    digest: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT definition FROM revision WHERE server = ?1 AND tool = ?2 AND digest = ?3";
    let text: Option<String> =
        conn.prepare_cached(sql)?.query_row([server, tool, digest], |row| row.get(0)).optional()?;
    // One whose text made room for others is not there.
    Ok(text.filter(|text| !text.is_empty()))
}

/// Of a tool, the digests of what was held since then, the last first.
pub(super) fn kept(
    conn: &Connection,
    server: &str,
    tool: &str,
    since: Millis,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT digest FROM revision WHERE server = ?1 AND tool = ?2 AND last_at >= ?3
               ORDER BY last_at DESC, ordinal DESC LIMIT ?4";
    rows(conn, sql, &[&server, &tool, &since, &rows_of(limit)], |row| Ok(row.get(0)?))
}

/// The scope of a row; a store of an earlier version that is only read has none.
fn scope_of(row: &Row<'_>) -> Result<String, StoreError> {
    match row.as_ref().column_index("scope") {
        Ok(column) => Ok(row.get(column)?),
        Err(_) => Ok(String::new()),
    }
}

fn list_of(row: &Row<'_>, pages: Option<String>) -> Result<List, StoreError> {
    let tools: String = row.get("tools")?;
    Ok(List {
        scope: scope_of(row)?,
        digest: row.get("digest")?,
        tools: serde_json::from_str(&tools)
            .map_err(|error| StoreError::damaged(format!("a list cannot be read: {error}")))?,
        pages,
        first_at: row.get("first_at")?,
        last_at: row.get("last_at")?,
        turns: row.get("turns")?,
    })
}

pub(super) fn lists(
    conn: &Connection,
    server: &str,
    scope: Option<&str>,
    limit: u32,
) -> Result<Vec<List>, StoreError> {
    let order = "ORDER BY current DESC, last_at DESC LIMIT";
    match scope {
        None => {
            let sql = format!("SELECT * FROM list WHERE server = ?1 {order} ?2");
            rows(conn, &sql, &[&server, &rows_of(limit)], |row| list_of(row, None))
        }
        Some(scope) => {
            let sql =
                format!("SELECT * FROM list WHERE server = ?1 AND scope IN (?2, '') {order} ?3");
            rows(conn, &sql, &[&server, &scope, &rows_of(limit)], |row| list_of(row, None))
        }
    }
}

pub(super) fn list(
    conn: &Connection,
    server: &str,
    digest: &str,
) -> Result<Option<List>, StoreError> {
    let sql = "SELECT * FROM list WHERE server = ?1 AND digest = ?2";
    let mut found = rows(conn, sql, &[&server, &digest], |row| list_of(row, row.get("pages")?))?;
    Ok(found.pop())
}

pub(super) fn shown_to(conn: &Connection, session: SessionId) -> Result<Vec<Shown>, StoreError> {
    let sql = "SELECT list, at FROM shown WHERE session = ?1 ORDER BY rowid DESC LIMIT ?2";
    rows(conn, sql, &[&session.to_string(), &limits::ROWS], |row| {
        Ok(Shown { digest: row.get(0)?, at: row.get(1)? })
    })
}
