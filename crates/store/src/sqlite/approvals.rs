//! Approvals and approvers.

use rusqlite::{Connection, Row, params};

use super::journal::opened;
use super::work::{Work, at_most, id, rows, word};
use crate::approval::{check, public_key};
use crate::journal::{Entry, Kind, Part};
use crate::keys::Seal;
use crate::{
    Approval, ApprovalId, ApprovalQuery, ApprovalState, Approver, Millis, NewApproval, Redeemed,
    RequestId, Ruling, Settlement, StoreError, VaultChange, WhyNot, limits,
};

pub(super) fn ask(work: &mut Work<'_>, new: &NewApproval) -> Result<(), StoreError> {
    for (what, text) in [
        ("The key of the server", &new.server),
        ("The name of the tool", &new.tool),
        ("The principal", &new.principal),
        ("The digest", &new.revision),
        ("The digest of the action", &new.action_digest),
    ] {
        at_most(what, text, limits::TEXT_BYTES)?;
    }
    at_most("What the approver is shown", &new.card, limits::CARD_BYTES)?;
    let held = work.row(
        "SELECT verdict = 'held' FROM request WHERE id = ?1",
        [new.request.to_string()],
        |row| row.get(0),
    )?;
    match held {
        None => return Err(StoreError::unknown("request", new.request)),
        Some(false) => {
            return Err(StoreError::conflict(format!(
                "The request {} is not held: there is nothing to approve.",
                new.request
            )));
        }
        Some(true) => {}
    }
    let waiting: u64 = work
        .row(
            "SELECT count(*) FROM approval WHERE state = 'pending' AND expires > ?1",
            [new.at],
            |row| row.get(0),
        )?
        .unwrap_or(0);
    if waiting >= limits::PENDING_APPROVALS {
        return Err(StoreError::TooMany {
            what: "approvals waiting".into(),
            most: limits::PENDING_APPROVALS,
            remedy: "Decide about some, or let them expire.".into(),
        });
    }
    let id = new.id.to_string();
    if work.row("SELECT 1 FROM approval WHERE id = ?1", [&id], |_| Ok(()))?.is_some() {
        return Err(StoreError::conflict(format!("The approval {id} was asked for before.")));
    }
    work.durable = true;
    let entry = Entry::new(Kind::ApprovalAsked, new.at)
        .request(new.request)
        .session(new.session)
        .with("approval", id.as_str())
        .with("principal", new.principal.as_str())
        .with("server", new.server.as_str())
        .with("tool", new.tool.as_str())
        .with("revision", new.revision.as_str())
        .with("expires", new.expires)
        .seal(Part::Card, new.card.as_str())
        .seal(Part::ActionDigest, new.action_digest.as_str());
    let leaf = work.append(entry)?;
    work.run(
        "INSERT INTO approval (id, request, principal, session, server, tool, revision, action_digest, expires, at,
                               state, leaf)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending', ?11)",
        params![
            id,
            new.request.to_string(),
            new.principal,
            new.session.to_string(),
            new.server,
            new.tool,
            new.revision,
            new.action_digest,
            new.expires,
            new.at,
            leaf
        ],
    )?;
    Ok(())
}

/// What decides about an approval.
struct Standing {
    request: RequestId,
    state: ApprovalState,
    action_digest: String,
    expires: Millis,
}

fn standing(work: &Work<'_>, approval: ApprovalId) -> Result<Standing, StoreError> {
    let found = rows(
        work.conn,
        "SELECT request, state, action_digest, expires FROM approval WHERE id = ?1",
        &[&approval.to_string()],
        |row| {
            Ok(Standing {
                request: id(row, "request")?,
                state: word(row, "state", ApprovalState::from_word)?,
                action_digest: row.get("action_digest")?,
                expires: row.get("expires")?,
            })
        },
    )?;
    found.into_iter().next().ok_or_else(|| StoreError::unknown("approval", approval))
}

pub(super) fn settle(work: &mut Work<'_>, ruling: &Settlement) -> Result<(), StoreError> {
    let known = standing(work, ruling.id)?;
    if known.state != ApprovalState::Pending {
        return Err(StoreError::conflict(format!(
            "The approval {} is {} already.",
            ruling.id, known.state
        )));
    }
    if known.expires <= ruling.at {
        return Err(StoreError::conflict(format!(
            "The time to decide about {} is over; the call must be made again.",
            ruling.id
        )));
    }
    at_most("The name of the approver", &ruling.by, limits::TEXT_BYTES)?;
    let key: Option<String> =
        work.row("SELECT public_key FROM approver WHERE name = ?1", [&ruling.by], |row| {
            row.get(0)
        })?;
    let Some(key) = key else {
        return Err(StoreError::Unsigned {
            why: format!(
                "No key is enrolled for the approver {}; {} stays pending.",
                ruling.by, ruling.id
            ),
        });
    };
    check(&key, ruling, &known.action_digest, known.expires)?;
    work.durable = true;
    let state = match ruling.ruling {
        Ruling::Approved => ApprovalState::Approved,
        Ruling::Denied => ApprovalState::Denied,
    };
    let entry = Entry::new(Kind::ApprovalSettled, ruling.at)
        .request(known.request)
        .with("approval", ruling.id.to_string())
        .with("ruling", ruling.ruling.as_str())
        .with("by", ruling.by.as_str())
        .with_some("signature", ruling.signature.as_deref());
    work.append(entry)?;
    put(work, ruling.id, state, Some(&ruling.by))
}

fn put(
    work: &Work<'_>,
    approval: ApprovalId,
    state: ApprovalState,
    by: Option<&str>,
) -> Result<(), StoreError> {
    work.run(
        "UPDATE approval SET state = ?2, by = coalesce(?3, by) WHERE id = ?1",
        params![approval.to_string(), state.as_str(), by],
    )?;
    Ok(())
}

pub(super) fn redeem(
    work: &mut Work<'_>,
    approval: ApprovalId,
    action_digest: &str,
    at: Millis,
) -> Result<Redeemed, StoreError> {
    let known = standing(work, approval)?;
    let why_not = match known.state {
        ApprovalState::Pending if known.expires <= at => WhyNot::Expired,
        ApprovalState::Pending => WhyNot::Pending,
        ApprovalState::Denied => WhyNot::Denied,
        ApprovalState::Redeemed => WhyNot::Used,
        ApprovalState::Void => WhyNot::Void,
        ApprovalState::Approved if known.expires <= at => WhyNot::Expired,
        ApprovalState::Approved if known.action_digest != action_digest => WhyNot::OtherAction,
        ApprovalState::Approved => {
            as_sealed(work, approval, &known)?;
            work.durable = true;
            let entry = Entry::new(Kind::ApprovalRedeemed, at)
                .request(known.request)
                .with("approval", approval.to_string());
            work.append(entry)?;
            put(work, approval, ApprovalState::Redeemed, None)?;
            return Ok(Redeemed::Once);
        }
    };
    Ok(Redeemed::Not(why_not))
}

/// Holds the digest that an approval is redeemed by against the one that was sealed when it was asked for: what an approver
/// signed is that one.
fn as_sealed(work: &Work<'_>, approval: ApprovalId, known: &Standing) -> Result<(), StoreError> {
    let part = Part::ActionDigest;
    let sealed: Option<(u64, Vec<u8>)> = work.row(
        "SELECT p.seq, p.sealed FROM approval a JOIN payload p ON p.seq = a.leaf AND p.part = ?2
         WHERE a.id = ?1",
        params![approval.to_string(), part.as_str()],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((seq, sealed)) = sealed else {
        return Err(StoreError::damaged(format!(
            "what {approval} was asked for is sealed nowhere"
        )));
    };
    let sealed = opened(&work.keys.seal, &work.log.name, seq, part, sealed)?;
    if sealed.text != known.action_digest {
        return Err(StoreError::damaged(format!(
            "the action that {approval} covers was altered after it was asked for"
        )));
    }
    Ok(())
}

/// Which approvals become void.
pub(super) enum Of<'a> {
    Tool { server: &'a str, tool: &'a str },
    Request(RequestId),
    One(ApprovalId),
}

pub(super) fn void(
    work: &mut Work<'_>,
    of: &Of<'_>,
    why: &str,
    at: Millis,
) -> Result<u64, StoreError> {
    at_most("The reason", why, limits::TEXT_BYTES)?;
    let (server, tool, request, one) = match of {
        Of::Tool { server, tool } => (Some(*server), Some(*tool), None, None),
        Of::Request(request) => (None, None, Some(request.to_string()), None),
        Of::One(approval) => (None, None, None, Some(approval.to_string())),
    };
    let open = rows(
        work.conn,
        "SELECT id, request FROM approval WHERE state IN ('pending', 'approved')
         AND ((server = ?1 AND tool = ?2) OR request = ?3 OR id = ?4)",
        &[&server, &tool, &request, &one],
        |row| Ok((id::<ApprovalId>(row, "id")?, id::<RequestId>(row, "request")?)),
    )?;
    work.durable |= !open.is_empty();
    for (approval, request) in &open {
        let entry = Entry::new(Kind::ApprovalVoid, at)
            .request(*request)
            .with("approval", approval.to_string())
            .with("why", why);
        work.append(entry)?;
        put(work, *approval, ApprovalState::Void, Some(why))?;
    }
    Ok(open.len() as u64)
}

/// Puts a change of the vault on record, with what it makes void.
pub(super) fn vault_changed(
    work: &mut Work<'_>,
    change: &VaultChange,
    name_of: impl Fn(&str) -> String,
) -> Result<u64, StoreError> {
    at_most("The name of who changed the vault", &change.by, limits::TEXT_BYTES)?;
    work.durable = true;
    let credential = change.credential.as_ref();
    let entry = Entry::new(Kind::Vault, change.at)
        .with("what", change.what.as_str())
        .with_some("credential", credential.map(|(label, _)| name_of(label)))
        .with_some("version", credential.map(|(_, version)| *version))
        .with("by", change.by.as_str());
    work.append(entry)?;
    let why = format!("the vault was changed: {}", change.what);
    let mut voided = 0;
    for approval in &change.void {
        voided += void(work, &Of::One(*approval), &why, change.at)?;
    }
    Ok(voided)
}

fn approval_of(row: &Row<'_>, seal: Option<&Seal>, journal: &str) -> Result<Approval, StoreError> {
    let sealed: Option<Vec<u8>> = row.get("sealed")?;
    let card = match (sealed, seal) {
        (Some(sealed), Some(seal)) => {
            Some(opened(seal, journal, row.get("leaf")?, Part::Card, sealed)?.text)
        }
        _ => None,
    };
    Ok(Approval {
        id: id(row, "id")?,
        request: id(row, "request")?,
        principal: row.get("principal")?,
        session: id(row, "session")?,
        server: row.get("server")?,
        tool: row.get("tool")?,
        revision: row.get("revision")?,
        action_digest: row.get("action_digest")?,
        card,
        expires: row.get("expires")?,
        at: row.get("at")?,
        state: word(row, "state", ApprovalState::from_word)?,
        by: row.get("by")?,
    })
}

pub(super) fn approval(
    conn: &Connection,
    seal: Option<&Seal>,
    journal: &str,
    approval: ApprovalId,
) -> Result<Option<Approval>, StoreError> {
    let sql = "SELECT a.*, p.sealed FROM approval a LEFT JOIN payload p ON p.seq = a.leaf AND p.part = 'card'
               WHERE a.id = ?1";
    let found = rows(conn, sql, &[&approval.to_string()], |row| approval_of(row, seal, journal))?;
    Ok(found.into_iter().next())
}

pub(super) fn approvals(
    conn: &Connection,
    seal: Option<&Seal>,
    journal: &str,
    query: &ApprovalQuery,
) -> Result<Vec<Approval>, StoreError> {
    // The words are those of a closed set: they stand in the text so that the index of open approvals serves.
    let states: Vec<String> = query.states.iter().map(|state| format!("'{state}'")).collect();
    let sql = format!(
        "SELECT a.*, p.sealed FROM approval a LEFT JOIN payload p ON p.seq = a.leaf AND p.part = 'card'
         WHERE a.server = ?1 AND a.tool = ?2 AND a.state IN ({}) ORDER BY a.id DESC LIMIT ?3",
        states.join(", ")
    );
    let limit = query.limit.min(limits::ROWS);
    rows(conn, &sql, &[&query.server, &query.tool, &limit], |row| approval_of(row, seal, journal))
}

pub(super) fn pending(
    conn: &Connection,
    seal: Option<&Seal>,
    journal: &str,
    at: Millis,
) -> Result<Vec<Approval>, StoreError> {
    let sql = "SELECT a.*, p.sealed FROM approval a LEFT JOIN payload p ON p.seq = a.leaf AND p.part = 'card'
               WHERE a.state = 'pending' AND a.expires > ?1 ORDER BY a.id LIMIT ?2";
    let most = limits::PENDING_APPROVALS;
    rows(conn, sql, &[&at, &most], |row| approval_of(row, seal, journal))
}

pub(super) fn open(
    conn: &Connection,
    seal: Option<&Seal>,
    journal: &str,
) -> Result<Vec<Approval>, StoreError> {
    let sql = "SELECT a.*, p.sealed FROM approval a LEFT JOIN payload p ON p.seq = a.leaf AND p.part = 'card'
               WHERE a.state IN ('pending', 'approved') ORDER BY a.id LIMIT ?1";
    rows(conn, sql, &[&limits::ROWS], |row| approval_of(row, seal, journal))
}

pub(super) fn enrol(work: &mut Work<'_>, new: &Approver, by: &str) -> Result<(), StoreError> {
    at_most("The name of the approver", &new.name, limits::TEXT_BYTES)?;
    at_most("The name of who enrols", by, limits::TEXT_BYTES)?;
    public_key(&new.public_key)?;
    let known = work.row(
        "SELECT count(*), count(*) FILTER (WHERE name = ?1) FROM approver",
        [&new.name],
        |row| Ok((row.get::<_, u64>(0)?, row.get::<_, bool>(1)?)),
    )?;
    match known {
        Some((_, true)) => {
            return Err(StoreError::conflict(format!(
                "A key is enrolled for {} already; dismiss it first.",
                new.name
            )));
        }
        Some((count, _)) if count >= limits::APPROVERS => {
            return Err(StoreError::TooMany {
                what: "approvers".into(),
                most: limits::APPROVERS,
                remedy: "Dismiss those who left.".into(),
            });
        }
        _ => {}
    }
    work.durable = true;
    let entry = Entry::new(Kind::ApproverEnrolled, new.at)
        .with("approver", new.name.as_str())
        .with("public_key", new.public_key.as_str())
        .with("by", by);
    work.append(entry)?;
    work.run(
        "INSERT INTO approver (name, public_key, at) VALUES (?1, ?2, ?3)",
        params![new.name, new.public_key, new.at],
    )?;
    Ok(())
}

pub(super) fn dismiss(
    work: &mut Work<'_>,
    approver: &str,
    by: &str,
    at: Millis,
) -> Result<(), StoreError> {
    at_most("The name of who dismisses", by, limits::TEXT_BYTES)?;
    if work.run("DELETE FROM approver WHERE name = ?1", [approver])? == 0 {
        return Err(StoreError::unknown("approver", approver));
    }
    work.durable = true;
    let entry = Entry::new(Kind::ApproverDismissed, at).with("approver", approver).with("by", by);
    work.append(entry)?;
    Ok(())
}

pub(super) fn approvers(conn: &Connection) -> Result<Vec<Approver>, StoreError> {
    rows(conn, "SELECT name, public_key, at FROM approver ORDER BY name", &[], |row| {
        Ok(Approver { name: row.get(0)?, public_key: row.get(1)?, at: row.get(2)? })
    })
}
