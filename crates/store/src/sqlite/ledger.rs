//! Requests, decisions, attempts, outcomes.

use rusqlite::{Connection, params};

use super::journal::opened;
use super::mark::Gone;
use super::work::{Work, at_most, id, listed, rows, rows_of, word, writer_of};
use crate::journal::{Entry, Kind, Part, object};
use crate::keys::Seal;
use crate::{
    Activity, ActivityQuery, Attempt, AttemptId, Decision, Millis, NewAttempt, NewOutcome, Outcome,
    OutcomeState, RequestId, Resolution, SessionId, StoreError, StoredAnswer, Verdict, limits,
};

/// Who says it where no person does.
const GATEWAY: &str = "gateway";
const RESTART: &str = "restart";

pub(super) fn decide(work: &mut Work<'_>, new: &Decision) -> Result<(), StoreError> {
    check(new)?;
    let (request, session) = (new.request.to_string(), new.session.to_string());
    work.call(new.session, matches!(new.verdict, Verdict::Refused { .. }))?;
    if let Some(approval) = new.approval {
        may_name(work, &approval.to_string())?;
    }
    let code = match &new.verdict {
        Verdict::Refused { code } => Some(code.as_str()),
        Verdict::Admitted | Verdict::Held => None,
    };
    let ordinal = match (new.planned.ordinal, &new.planned.digest) {
        (None, Some(digest)) => ordinal_of(work, &new.server, &new.tool, digest)?,
        (ordinal, _) => ordinal,
    };
    let planned = object([
        ("digest", new.planned.digest.as_deref().into()),
        ("ordinal", ordinal.into()),
        ("grade", new.planned.grade.as_str().into()),
    ]);
    let approval = new.approval.map(|id| id.to_string());
    let mut entry = Entry::new(Kind::Decision, new.at)
        .request(new.request)
        .session(new.session)
        .with("principal", new.principal.as_str())
        .with("server", new.server.as_str())
        .with_some("server_version", new.server_version.as_deref())
        .with("tool", new.tool.as_str())
        .with("planned", planned)
        .with_some("current", new.current.as_deref())
        .with_some("granted", new.granted.as_deref())
        .with_some("adapter", new.adapter.as_deref())
        .with("rules", listed(&new.rules))
        .with("effect", new.effect)
        .with("verdict", new.verdict.as_str())
        .with_some("code", code)
        .with_some("approval", approval.as_deref())
        .with("relied_on", listed(&new.relied_on))
        .seal(Part::RawArguments, new.raw_arguments.as_str())
        .seal(Part::ArgumentDigest, new.argument_digest.as_str());
    if let Some(arguments) = new.normalised_arguments.as_deref() {
        entry = entry.seal(Part::NormalisedArguments, arguments);
    }
    let leaf = work.append(entry)?;
    let added = work.run(
        "INSERT OR IGNORE INTO request (id, session, principal, server, tool, effect, verdict, code, current, argument_digest,
                              approval, at, leaf)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            request,
            session,
            new.principal,
            new.server,
            new.tool,
            new.effect,
            new.verdict.as_str(),
            code,
            new.current,
            new.argument_digest,
            approval,
            new.at,
            leaf
        ],
    )?;
    match added {
        0 => Err(StoreError::conflict(format!("The request {request} was decided before."))),
        _ => Ok(()),
    }
}

/// The number of a revision, where it is on record.
fn ordinal_of(
    work: &mut Work<'_>,
    server: &str,
    tool: &str,
    digest: &str,
) -> Result<Option<u64>, StoreError> {
    let key = [server, tool, digest].map(str::to_owned);
    if let Some(ordinal) = work.at_hand.ordinals.get(&key) {
        return Ok(Some(*ordinal));
    }
    let ordinal = work.row(
        "SELECT ordinal FROM revision WHERE server = ?1 AND tool = ?2 AND digest = ?3",
        params![server, tool, digest],
        |row| row.get(0),
    )?;
    if let Some(ordinal) = ordinal {
        if work.at_hand.ordinals.len() >= limits::ORDINALS {
            work.at_hand.ordinals.clear();
        }
        work.at_hand.ordinals.insert(key, ordinal);
    }
    Ok(ordinal)
}

/// Decides, and intends the first attempt.
pub(super) fn leave(
    work: &mut Work<'_>,
    decision: &Decision,
    id: AttemptId,
    new: &NewAttempt,
) -> Result<(), StoreError> {
    decide(work, decision)?;
    if decision.verdict != Verdict::Admitted || decision.request != new.request {
        return intend(work, id, new);
    }
    check_attempt(new)?;
    // It was decided in this transaction: nothing has left for it.
    put(work, id, new, 1, decision.effect)
}

pub(super) fn check(new: &Decision) -> Result<(), StoreError> {
    for (what, text) in [
        ("The key of the server", Some(&new.server)),
        ("The version of the server", new.server_version.as_ref()),
        ("The name of the tool", Some(&new.tool)),
        ("The principal", Some(&new.principal)),
        ("The digest of the arguments", Some(&new.argument_digest)),
        ("The name of the adapter", new.adapter.as_ref()),
    ] {
        at_most(what, text.map_or("", String::as_str), limits::TEXT_BYTES)?;
    }
    at_most("The arguments", &new.raw_arguments, limits::ARGUMENTS_BYTES)?;
    let normalised = new.normalised_arguments.as_deref().unwrap_or_default();
    at_most("The converted arguments", normalised, limits::ARGUMENTS_BYTES)?;
    for (what, count) in
        [("rules of the decision", new.rules.len()), ("results relied on", new.relied_on.len())]
    {
        if count > limits::LISTED {
            return Err(StoreError::TooMany {
                what: what.into(),
                most: limits::LISTED as u64,
                remedy: "Name fewer.".into(),
            });
        }
    }
    Ok(())
}

pub(super) fn intend(
    work: &mut Work<'_>,
    id: AttemptId,
    new: &NewAttempt,
) -> Result<(), StoreError> {
    check_attempt(new)?;
    let request = new.request.to_string();
    let (effect, verdict) = work
        .row("SELECT effect, verdict FROM request WHERE id = ?1", [&request], |row| {
            Ok((row.get::<_, bool>(0)?, row.get::<_, String>(1)?))
        })?
        .ok_or_else(|| StoreError::unknown("request", new.request))?;
    may_leave(work, &request, &verdict)?;
    let earlier: Option<(u32, Option<String>)> = work.row(
        "SELECT n, state FROM attempt WHERE request = ?1 ORDER BY n DESC LIMIT 1",
        [&request],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let n = match &earlier {
        None => 1,
        Some((n, state)) => {
            let state = state.as_deref().and_then(OutcomeState::from_word);
            may_repeat(&request, state, effect, &new.again)?;
            n + 1
        }
    };
    put(work, id, new, n, effect)
}

/// Writes the `n`th attempt of a request that may leave.
fn put(
    work: &mut Work<'_>,
    id: AttemptId,
    new: &NewAttempt,
    n: u32,
    effect: bool,
) -> Result<(), StoreError> {
    work.durable = effect;
    if work.at_hand.attempts.len() < limits::UNDER_WAY {
        work.at_hand.attempts.insert(id, new.request);
    }
    let entry = Entry::new(Kind::Intent, new.at)
        .request(new.request)
        .with("attempt", id.to_string())
        .with("n", n)
        .with("target", new.target.as_str())
        .with_some("idempotency_key", new.idempotency_key.as_deref())
        .with_some("again", new.again.map(crate::Again::as_str));
    work.append(entry)?;
    work.run(
        "INSERT INTO attempt (id, request, n, target, key, at, writer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            id.to_string(),
            new.request.to_string(),
            n,
            new.target,
            new.idempotency_key,
            new.at,
            work.writer
        ],
    )?;
    Ok(())
}

pub(super) fn check_attempt(new: &NewAttempt) -> Result<(), StoreError> {
    let key = new.idempotency_key.as_deref().unwrap_or_default();
    at_most("The target", &new.target, limits::TEXT_BYTES)?;
    at_most("The idempotency key", key, limits::TEXT_BYTES)
}

/// Whether a decision may rest on an approval: it was redeemed, and nothing else left under it.
fn may_name(work: &Work<'_>, approval: &str) -> Result<(), StoreError> {
    let found: Option<(bool, bool)> = work.row(
        "SELECT state = 'redeemed',
                EXISTS (SELECT 1 FROM request r WHERE r.approval = a.id)
                OR EXISTS (SELECT 1 FROM attempt t WHERE t.request = a.request)
         FROM approval a WHERE id = ?1",
        [approval],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    match found {
        None => Err(StoreError::unknown("approval", approval)),
        Some((false, _)) => Err(StoreError::conflict(format!(
            "The approval {approval} was not redeemed: no call can rest on it."
        ))),
        Some((true, true)) => Err(StoreError::conflict(format!(
            "The approval {approval} was used for another call: it covers one alone."
        ))),
        Some((true, false)) => Ok(()),
    }
}

/// Whether the decision lets an attempt leave: admitted, or held and its approval redeemed and used by no other request.
fn may_leave(work: &Work<'_>, request: &str, verdict: &str) -> Result<(), StoreError> {
    match verdict {
        "admitted" => Ok(()),
        "held" => {
            let sql = "SELECT 1 FROM approval a WHERE request = ?1 AND state = 'redeemed'
                       AND NOT EXISTS (SELECT 1 FROM request r WHERE r.approval = a.id)";
            let redeemed = work.row(sql, [request], |_| Ok(()))?;
            redeemed.ok_or_else(|| {
                StoreError::conflict(format!(
                    "The request {request} is held: its approval must be redeemed for it before anything leaves."
                ))
            })
        }
        _ => Err(StoreError::conflict(format!(
            "The request {request} was refused: nothing may leave for it."
        ))),
    }
}

/// Whether another attempt may leave after one with this outcome.
fn may_repeat(
    request: &str,
    earlier: Option<OutcomeState>,
    effect: bool,
    again: &Option<crate::Again>,
) -> Result<(), StoreError> {
    let why = match earlier {
        None => "has an attempt under way",
        Some(OutcomeState::Done) => "was carried out",
        Some(OutcomeState::InDoubt) if effect && again.is_none() => {
            "has an attempt in doubt, and nothing says that it may be repeated"
        }
        Some(_) => return Ok(()),
    };
    Err(StoreError::conflict(format!("The request {request} {why}: no other attempt leaves.")))
}

pub(super) fn outcome(work: &mut Work<'_>, new: &NewOutcome) -> Result<(), StoreError> {
    let known = match work.at_hand.attempts.remove(&new.attempt) {
        Some(request) => Known { request, state: None, outcomes: 0 },
        None => state_of(work, new.attempt)?,
    };
    match (known.state, new.late) {
        (None, true) => {
            return Err(StoreError::conflict(format!(
                "The attempt {} has no outcome yet, so this one is not late.",
                new.attempt
            )));
        }
        (Some(state), false) => {
            return Err(StoreError::conflict(format!(
                "The attempt {} has the outcome {state} already; a later one must say that it is late.",
                new.attempt
            )));
        }
        (None, false) | (Some(_), true) => {}
    }
    append(work, &known, new.attempt, new.state, new.answer.as_deref(), GATEWAY, new.late, new.at)
}

pub(super) fn resolve(
    work: &mut Work<'_>,
    attempt: AttemptId,
    found: Resolution,
    by: &str,
    at: Millis,
) -> Result<(), StoreError> {
    at_most("The name of who resolves", by, limits::TEXT_BYTES)?;
    let known = state_of(work, attempt)?;
    if known.state != Some(OutcomeState::InDoubt) {
        let is = known.state.map_or("under way", OutcomeState::as_str);
        return Err(StoreError::conflict(format!(
            "The attempt {attempt} is {is}, not in doubt: there is nothing to resolve."
        )));
    }
    work.durable = true;
    let state = match found {
        Resolution::Done => OutcomeState::Done,
        Resolution::Failed => OutcomeState::Failed,
    };
    append(work, &known, attempt, state, None, &format!("person {by}"), true, at)
}

/// What an attempt belongs to, and where it stands.
struct Known {
    request: RequestId,
    state: Option<OutcomeState>,
    outcomes: u32,
}

fn state_of(work: &Work<'_>, attempt: AttemptId) -> Result<Known, StoreError> {
    let found = work.row(
        "SELECT request, state, (SELECT count(*) FROM outcome WHERE attempt = id) FROM attempt WHERE id = ?1",
        [attempt.to_string()],
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?, row.get(2)?)),
    )?;
    let (request, state, outcomes) =
        found.ok_or_else(|| StoreError::unknown("attempt", attempt))?;
    Ok(Known {
        request: request.parse()?,
        state: state.as_deref().and_then(OutcomeState::from_word),
        outcomes,
    })
}

#[allow(clippy::too_many_arguments, reason = "one row, written from three places")]
fn append(
    work: &mut Work<'_>,
    known: &Known,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<&str>,
    by: &str,
    late: bool,
    at: Millis,
) -> Result<(), StoreError> {
    let mut entry = Entry::new(Kind::Outcome, at)
        .request(known.request)
        .with("attempt", attempt.to_string())
        .with("state", state.as_str())
        .with("by", by)
        .with("late", late);
    match answer {
        // What came of a call is recorded whatever the size of its answer.
        Some(answer) if answer.len() > limits::ANSWER_BYTES => {
            entry = entry.with("answer_too_large", answer.len());
        }
        Some(answer) => entry = entry.seal(Part::Answer, answer),
        None => {}
    }
    let leaf = work.append(entry)?;
    work.run(
        "INSERT INTO outcome (attempt, n, state, by, late, at, leaf) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            attempt.to_string(),
            known.outcomes + 1,
            state.as_str(),
            by,
            late,
            at,
            leaf
        ],
    )?;
    work.run(
        "UPDATE attempt SET state = ?2 WHERE id = ?1",
        params![attempt.to_string(), state.as_str()],
    )?;
    Ok(())
}

/// Whether processes left something open that are gone.
pub(super) fn any_gone(conn: &Connection, gone: &mut Gone<'_>) -> Result<bool, StoreError> {
    let sql = "SELECT writer FROM attempt WHERE state IS NULL
               UNION SELECT writer FROM session WHERE ended_at IS NULL";
    let writers = rows(conn, sql, &[], |row| Ok(row.get::<_, Option<String>>("writer")?))?;
    Ok(writers.iter().any(|writer| gone.is(writer.as_deref())))
}

/// Marks what processes left under way that are gone, and ends their sessions: whether it had an effect is not known.
/// Gives how many attempts there were.
pub(super) fn settle_gone(
    work: &mut Work<'_>,
    gone: &mut Gone<'_>,
    at: Millis,
) -> Result<u64, StoreError> {
    work.durable = true;
    let sql = "SELECT id, writer FROM attempt WHERE state IS NULL ORDER BY id";
    let open = rows(work.conn, sql, &[], |row| {
        Ok((id::<AttemptId>(row, "id")?, row.get::<_, Option<String>>("writer")?))
    })?;
    let mut count = 0;
    for (attempt, _) in open.into_iter().filter(|(_, writer)| gone.is(writer.as_deref())) {
        let known = state_of(work, attempt)?;
        append(work, &known, attempt, OutcomeState::InDoubt, None, RESTART, false, at)?;
        count += 1;
    }
    super::sessions::end_open(work, gone, at)?;
    Ok(count)
}

/// The requests whose attempts were left open by processes that are gone, as a JSON list.
fn left_open(conn: &Connection, gone: &mut Gone<'_>) -> Result<String, StoreError> {
    let open = rows(conn, "SELECT * FROM attempt WHERE state IS NULL", &[], |row| {
        Ok((row.get::<_, String>("request")?, writer_of(row)?))
    })?;
    let left = open.into_iter().filter(|(_, writer)| gone.is(writer.as_deref()));
    let left: Vec<String> = left.map(|(request, _)| request).collect();
    Ok(listed(&left).to_string())
}

pub(super) fn delivered(
    work: &mut Work<'_>,
    request: RequestId,
    at: Millis,
) -> Result<(), StoreError> {
    let known = work
        .row("SELECT delivered FROM request WHERE id = ?1", [request.to_string()], |row| {
            row.get::<_, bool>(0)
        })?
        .ok_or_else(|| StoreError::unknown("request", request))?;
    if !known {
        work.append(Entry::new(Kind::Delivered, at).request(request))?;
        work.run("UPDATE request SET delivered = 1 WHERE id = ?1", [request.to_string()])?;
    }
    Ok(())
}

pub(super) fn undelivered(
    conn: &Connection,
    seal: &Seal,
    journal: &str,
    session: SessionId,
    since: Millis,
) -> Result<Vec<StoredAnswer>, StoreError> {
    rows(
        conn,
        "SELECT r.id AS request, o.attempt, r.tool, r.current, r.argument_digest, r.approval, o.at, o.leaf, p.sealed
         FROM request r JOIN attempt a ON a.request = r.id JOIN outcome o ON o.attempt = a.id
              JOIN payload p ON p.seq = o.leaf AND p.part = 'answer'
         WHERE r.session = ?1 AND r.effect AND NOT r.delivered AND o.at >= ?2 AND r.argument_digest IS NOT NULL
         ORDER BY o.leaf LIMIT ?3",
        &[&session.to_string(), &since, &limits::ROWS],
        |row| {
            let approval: Option<String> = row.get("approval")?;
            Ok(StoredAnswer {
                request: id(row, "request")?,
                attempt: id(row, "attempt")?,
                tool: row.get("tool")?,
                current: row.get("current")?,
                argument_digest: row.get("argument_digest")?,
                approval: approval.map(|text| text.parse()).transpose()?,
                answer: opened(seal, journal, row.get("leaf")?, Part::Answer, row.get("sealed")?)?.text,
                at: row.get("at")?,
            })
        },
    )
}

pub(super) fn activity(
    conn: &Connection,
    query: &ActivityQuery,
    gone: &mut Gone<'_>,
) -> Result<Vec<Activity>, StoreError> {
    let left = if query.in_doubt { left_open(conn, gone)? } else { String::from("[]") };
    // What is asked for stands in the text, so that an index serves it: a page of a large store is read, not all of it.
    let (request, session) = (query.request.is_some(), query.session.is_some());
    let asked = [
        (request, "id = ?1"),
        (session, "session = ?2"),
        (query.server.is_some(), "server = ?3"),
        (
            query.in_doubt,
            "id IN (SELECT request FROM attempt WHERE state = 'in-doubt'
                    UNION SELECT value FROM json_each(?6))",
        ),
        (query.before.is_some(), "id < ?4"),
    ];
    let asked: Vec<&str> = asked.into_iter().filter(|(is, _)| *is).map(|(_, sql)| sql).collect();
    let asked = if asked.is_empty() { "TRUE".to_owned() } else { asked.join(" AND ") };
    let mut found = rows(
        conn,
        &format!(
            "SELECT *, ?1, ?2, ?3, ?4, ?6 FROM request WHERE {asked} ORDER BY id DESC LIMIT ?5"
        ),
        &[
            &query.request.map(|id| id.to_string()),
            &query.session.map(|id| id.to_string()),
            &query.server,
            &query.before.map(|id| id.to_string()),
            &rows_of(query.limit),
            &left,
        ],
        |row| {
            let verdict: String = row.get("verdict")?;
            let code: Option<String> = row.get("code")?;
            Ok(Activity {
                request: id(row, "id")?,
                session: id(row, "session")?,
                principal: row.get("principal")?,
                server: row.get("server")?,
                tool: row.get("tool")?,
                effect: row.get("effect")?,
                verdict: match (verdict.as_str(), code) {
                    ("admitted", _) => Verdict::Admitted,
                    ("held", _) => Verdict::Held,
                    ("refused", Some(code)) => Verdict::Refused { code },
                    _ => {
                        return Err(StoreError::damaged(format!(
                            "`{verdict}` is no verdict that is known"
                        )));
                    }
                },
                at: row.get("at")?,
                leaf: row.get("leaf")?,
                current: row.get("current")?,
                approval: row
                    .get::<_, Option<String>>("approval")?
                    .map(|text| text.parse())
                    .transpose()?,
                argument_digest: row.get("argument_digest")?,
                delivered: row.get("delivered")?,
                attempts: Vec::new(),
            })
        },
    )?;
    for activity in &mut found {
        activity.attempts = attempts(conn, activity.request, gone)?;
    }
    Ok(found)
}

fn attempts(
    conn: &Connection,
    request: RequestId,
    gone: &mut Gone<'_>,
) -> Result<Vec<Attempt>, StoreError> {
    let sql = "SELECT * FROM attempt WHERE request = ?1 ORDER BY n";
    let mut found = rows(conn, sql, &[&request.to_string()], |row| {
        let (state, writer) = (row.get::<_, Option<String>>("state")?, writer_of(row)?);
        Ok(Attempt {
            id: id(row, "id")?,
            n: row.get("n")?,
            target: row.get("target")?,
            idempotency_key: row.get("key")?,
            at: row.get("at")?,
            outcomes: Vec::new(),
            state: state.as_deref().and_then(OutcomeState::from_word),
            abandoned: state.is_none() && gone.is(writer.as_deref()),
        })
    })?;
    for attempt in &mut found {
        let sql = "SELECT * FROM outcome WHERE attempt = ?1 ORDER BY n";
        attempt.outcomes = rows(conn, sql, &[&attempt.id.to_string()], |row| {
            Ok(Outcome {
                state: word(row, "state", OutcomeState::from_word)?,
                by: row.get("by")?,
                late: row.get("late")?,
                at: row.get("at")?,
            })
        })?;
    }
    Ok(found)
}
