//! Sessions.

use rusqlite::{Connection, params};

use super::mark::Gone;
use super::work::{Work, at_most, id, rows, rows_of, word, writer_of};
use crate::journal::{Entry, Kind};
use crate::{
    Era, Millis, NewSession, Session, SessionEnd, SessionId, SessionQuery, StoreError, limits,
};

pub(super) fn open(work: &mut Work<'_>, new: &NewSession) -> Result<SessionId, StoreError> {
    at_most("The key of the server", &new.server, limits::TEXT_BYTES)?;
    at_most("The principal", &new.principal, limits::TEXT_BYTES)?;
    let client_info = &new.client_info;
    if let Some(info) = client_info {
        at_most("What the client says about itself", info, limits::CLIENT_INFO_BYTES)?;
    }
    let id = work.ids.session(new.at)?;
    let entry = Entry::new(Kind::SessionOpened, new.at)
        .session(id)
        .with("server", new.server.as_str())
        .with("principal", new.principal.as_str())
        .with("era", new.era.as_str())
        .with_some("client_info", client_info.as_deref());
    work.append(entry)?;
    work.run(
        "INSERT INTO session (id, server, principal, era, client_info, opened_at, writer)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            id.to_string(),
            new.server,
            new.principal,
            new.era.as_str(),
            client_info,
            new.at,
            work.writer
        ],
    )?;
    Ok(id)
}

pub(super) fn close(
    work: &mut Work<'_>,
    session: SessionId,
    how: SessionEnd,
    at: Millis,
) -> Result<(), StoreError> {
    if must_know(work, session)? {
        end(work, session, how, at)?;
    }
    Ok(())
}

/// Refuses a session that is not known; says whether it is open.
pub(super) fn must_know(work: &Work<'_>, session: SessionId) -> Result<bool, StoreError> {
    let found = work.row(
        "SELECT ended_at IS NULL FROM session WHERE id = ?1",
        [session.to_string()],
        |row| row.get(0),
    )?;
    found.ok_or_else(|| StoreError::unknown("session", session))
}

fn end(
    work: &mut Work<'_>,
    session: SessionId,
    how: SessionEnd,
    at: Millis,
) -> Result<(), StoreError> {
    let entry = Entry::new(Kind::SessionClosed, at).session(session).with("how", how.as_str());
    work.append(entry)?;
    work.run(
        "UPDATE session SET ended_at = ?2, how = ?3 WHERE id = ?1",
        params![session.to_string(), at, how.as_str()],
    )?;
    Ok(())
}

/// Ends the sessions of processes that are gone.
pub(super) fn end_open(
    work: &mut Work<'_>,
    gone: &mut Gone<'_>,
    at: Millis,
) -> Result<(), StoreError> {
    let sql = "SELECT id, writer FROM session WHERE ended_at IS NULL";
    let open = rows(work.conn, sql, &[], |row| {
        Ok((id::<SessionId>(row, "id")?, row.get::<_, Option<String>>("writer")?))
    })?;
    for (session, _) in open.into_iter().filter(|(_, writer)| gone.is(writer.as_deref())) {
        end(work, session, SessionEnd::Restart, at)?;
    }
    Ok(())
}

pub(super) fn list(
    conn: &Connection,
    query: &SessionQuery,
    gone: &mut Gone<'_>,
) -> Result<Vec<Session>, StoreError> {
    // Open ones are few among many, and have an index of their own. No id is behind `~`.
    let open = if query.open { "AND ended_at IS NULL" } else { "" };
    rows(
        conn,
        &format!(
            "SELECT * FROM session WHERE (?1 IS NULL OR server = ?1) {open} AND id < coalesce(?2, '~')
             ORDER BY id DESC LIMIT ?3"
        ),
        &[&query.server, &query.before.map(|id| id.to_string()), &rows_of(query.limit)],
        |row| {
            let ended_at: Option<Millis> = row.get("ended_at")?;
            let writer = writer_of(row)?;
            Ok(Session {
                id: id(row, "id")?,
                server: row.get("server")?,
                principal: row.get("principal")?,
                era: word(row, "era", Era::from_word)?,
                client_info: row.get("client_info")?,
                opened_at: row.get("opened_at")?,
                ended: match ended_at {
                    Some(at) => Some((at, word(row, "how", SessionEnd::from_word)?)),
                    None => None,
                },
                abandoned: ended_at.is_none() && gone.is(writer.as_deref()),
                requests: row.get("requests")?,
                refused: row.get("refused")?,
            })
        },
    )
}
