//! Counts per old revision, and the use of adapters.

use rusqlite::{Connection, params};

use super::work::{Work, at_most, rows, word};
use crate::{AdapterUse, Count, Counted, Counter, Millis, StoreError, limits};

pub(super) fn count(work: &mut Work<'_>, event: &Count) -> Result<(), StoreError> {
    for (what, text) in [
        ("The key of the server", &event.server),
        ("The name of the tool", &event.tool),
        ("The digest", &event.revision),
    ] {
        at_most(what, text, limits::TEXT_BYTES)?;
    }
    let opened: Option<Millis> = work.row(
        "SELECT opened_at FROM session WHERE id = ?1",
        [event.session.to_string()],
        |row| row.get(0),
    )?;
    let opened = opened.ok_or_else(|| StoreError::unknown("session", event.session))?;
    let age = event.at.saturating_sub(opened);
    work.run(
        "INSERT INTO counter (server, tool, revision, what, times, effects, session_age, oldest_session, last_at)
         VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?6, ?7)
         ON CONFLICT DO UPDATE SET
            times = times + 1, effects = effects + excluded.effects, session_age = session_age + excluded.session_age,
            oldest_session = max(oldest_session, excluded.oldest_session), last_at = max(last_at, excluded.last_at)",
        params![
            event.server,
            event.tool,
            event.revision,
            event.what.as_str(),
            event.effect,
            age,
            event.at
        ],
    )?;
    Ok(())
}

pub(super) fn counters(conn: &Connection) -> Result<Vec<Counter>, StoreError> {
    rows(conn, "SELECT * FROM counter ORDER BY server, tool, revision, what", &[], |row| {
        Ok(Counter {
            server: row.get("server")?,
            tool: row.get("tool")?,
            revision: row.get("revision")?,
            what: word(row, "what", Counted::from_word)?,
            times: row.get("times")?,
            effects: row.get("effects")?,
            session_age: row.get("session_age")?,
            oldest_session: row.get("oldest_session")?,
            last_at: row.get("last_at")?,
        })
    })
}

pub(super) fn adapter_used(
    work: &mut Work<'_>,
    adapter: &str,
    at: Millis,
) -> Result<(), StoreError> {
    at_most("The name of the adapter", adapter, limits::TEXT_BYTES)?;
    work.run(
        "INSERT INTO adapter (name, times, first_at, last_at) VALUES (?1, 1, ?2, ?2)
         ON CONFLICT DO UPDATE SET times = times + 1, last_at = max(last_at, excluded.last_at)",
        params![adapter, at],
    )?;
    Ok(())
}

pub(super) fn adapters(conn: &Connection) -> Result<Vec<AdapterUse>, StoreError> {
    rows(conn, "SELECT name, times, first_at, last_at FROM adapter ORDER BY name", &[], |row| {
        Ok(AdapterUse {
            adapter: row.get(0)?,
            times: row.get(1)?,
            first_at: row.get(2)?,
            last_at: row.get(3)?,
        })
    })
}
