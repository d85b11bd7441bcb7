//! Verifies a store in its place: the records, and that its rows and sealed parts say what the records say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::leaf::{Kind, Leaf, Part, Payload};
use super::verify::{FaultKind, Report, Trust, Verifier};
use crate::approval::check;
use crate::{
    Activity, ActivityQuery, Approval, ApprovalId, OutcomeState, Ruling, Settlement, Store,
    StoreError, Verdict, limits,
};

/// Verifies the journal of a store. `progress` is told how many records were read.
pub async fn verify_store(
    store: &dyn Store,
    trust: &Trust,
    mut progress: impl FnMut(u64),
) -> Result<Report, StoreError> {
    let (mut verifier, key) = match Verifier::new(&store.verifying_key().to_string(), trust) {
        Ok(begun) => begun,
        Err(report) => return Ok(*report),
    };
    let mut next = 0;
    loop {
        let page = match store.checkpoints(next, limits::PAGE).await {
            Ok(page) => page,
            Err(StoreError::Corrupted { why, .. }) => {
                verifier.fault(
                    FaultKind::Checkpoint,
                    "the checkpoints",
                    format!("Not all could be read: {why}."),
                );
                break;
            }
            Err(error) => return Err(error),
        };
        let Some(last) = page.last() else { break };
        next = last.size + 1;
        for checkpoint in &page {
            verifier.checkpoint(
                &checkpoint.note,
                &key,
                &format!("the checkpoint at {}", checkpoint.size),
            );
        }
    }
    let mut expected = Expected::default();
    let mut next = 0;
    loop {
        let page = match store.leaves(next, limits::PAGE).await {
            Ok(page) => page,
            Err(StoreError::Corrupted { why, .. }) => {
                let place = format!("the records from {next} on");
                verifier.fault(
                    FaultKind::Unreadable,
                    place,
                    format!("They cannot be read: {why}."),
                );
                return Ok(verifier.finish());
            }
            Err(error) => return Err(error),
        };
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for leaf in &page {
            verifier.record(leaf.envelope.as_bytes(), Some(leaf.hash));
            expected.take(leaf);
        }
        progress(next);
    }
    let mut report = verifier.finish();
    if lacks_checkpoints(store, &report).await? {
        report.fault(
            FaultKind::Unsigned,
            format!("the records from {} on", report.signed),
            "A journal begins with a checkpoint and is signed again within some thousand records: checkpoints were taken away, and nothing shows any more that these records are those that were written.",
        );
    }
    let decisions = expected.decisions;
    // A gateway may go on writing: what differs is looked at again with the records that came since.
    for look in 1.. {
        next = expected.take_from(store, next).await?;
        let faults = expected.compare(store).await?;
        if faults.is_empty() {
            break;
        }
        if look == limits::LOOKS || store.records().await? == next {
            for (place, sentence) in faults {
                report.fault(FaultKind::Row, place, sentence);
            }
            break;
        }
    }
    requests(store, &mut report, &expected, decisions).await?;
    Ok(report)
}

/// True where more records stand behind the last checkpoint than ever do. A gateway may have signed more meanwhile.
async fn lacks_checkpoints(store: &dyn Store, report: &Report) -> Result<bool, StoreError> {
    // One batch may bring so many before it is looked whether it is time to sign.
    const PER_BATCH: u64 = 8 * limits::BATCH as u64;
    let behind = report.records - report.signed;
    let too_many = report.signed == 0 || behind > limits::CHECKPOINT_EVERY + PER_BATCH;
    if report.records == 0 || !too_many {
        return Ok(false);
    }
    Ok(match store.checkpoints(report.signed + 1, 1).await {
        Ok(more) => more.is_empty(),
        // Said already.
        Err(StoreError::Corrupted { .. }) => false,
        Err(error) => return Err(error),
    })
}

/// What the rows must say, by the records.
#[derive(Default)]
struct Expected {
    /// The number of the record after the last that was taken.
    until: u64,
    decisions: u64,
    servers: BTreeSet<String>,
    /// The last grant of each tool: digest, how, by whom, and when the tool was gone since.
    grants: BTreeMap<[String; 3], [String; 4]>,
    approvers: BTreeMap<String, String>,
    /// Each key that was ever enrolled for a name, and from which record on; `None` where it was taken back.
    keys: BTreeMap<String, Vec<(u64, Option<String>)>>,
    approvals: BTreeMap<String, Asked>,
}

/// An approval, by the records.
struct Asked {
    state: &'static str,
    /// What it was asked for: request, session, principal, server, tool, revision.
    what: [String; 6],
    expires: String,
}

impl Asked {
    fn is(&self, known: &Approval) -> bool {
        let what = [
            known.request.to_string(),
            known.session.to_string(),
            known.principal.clone(),
            known.server.clone(),
            known.tool.clone(),
            known.revision.clone(),
        ];
        self.state == known.state.as_str()
            && self.what == what
            && self.expires == known.expires.to_string()
    }
}

impl Expected {
    fn take(&mut self, leaf: &Leaf) {
        self.until = leaf.seq + 1;
        let Ok(read) = serde_json::from_str::<Value>(&leaf.envelope) else { return };
        let text = |name: &str| read[name].as_str().unwrap_or_default().to_owned();
        if let Some(server) = read["server"].as_str() {
            self.servers.insert(server.to_owned());
        }
        let approval = |expected: &mut Expected, state| {
            if let Some(asked) = expected.approvals.get_mut(&text("approval")) {
                asked.state = state;
            }
        };
        match read["kind"].as_str().and_then(Kind::from_word) {
            Some(Kind::Decision) => self.decisions += 1,
            Some(Kind::Granted) => {
                let granted = [text("digest"), text("how"), text("by"), String::new()];
                self.grants.insert(["server", "scope", "tool"].map(text), granted);
            }
            Some(Kind::Gone) => {
                if let Some(grant) = self.grants.get_mut(&["server", "scope", "tool"].map(text)) {
                    grant[3] = read["at"].to_string();
                }
            }
            Some(Kind::ApproverEnrolled) => {
                self.approvers.insert(text("approver"), text("public_key"));
                let from = (leaf.seq, Some(text("public_key")));
                self.keys.entry(text("approver")).or_default().push(from);
            }
            Some(Kind::ApproverDismissed) => {
                self.approvers.remove(&text("approver"));
                self.keys.entry(text("approver")).or_default().push((leaf.seq, None));
            }
            Some(Kind::ApprovalAsked) if self.approvals.len() < limits::TRACKED => {
                let what = ["request", "session", "principal", "server", "tool", "revision"];
                let asked = Asked {
                    state: "pending",
                    what: what.map(text),
                    expires: read["expires"].to_string(),
                };
                self.approvals.insert(text("approval"), asked);
            }
            Some(Kind::ApprovalRedeemed) => approval(self, "redeemed"),
            Some(Kind::ApprovalVoid) => approval(self, "void"),
            Some(Kind::ApprovalSettled) if text("ruling") == "approved" => {
                approval(self, "approved")
            }
            Some(Kind::ApprovalSettled) => approval(self, "denied"),
            _ => {}
        }
    }

    /// The key that was enrolled for a name when this record was written.
    fn key_at(&self, name: &str, seq: u64) -> Option<&str> {
        let known = self.keys.get(name)?.iter().rev().find(|(from, _)| *from < seq)?;
        known.1.as_deref()
    }

    /// Takes what was recorded from there on, and says where it ends.
    async fn take_from(&mut self, store: &dyn Store, mut next: u64) -> Result<u64, StoreError> {
        loop {
            let page = store.leaves(next, limits::PAGE).await?;
            let Some(last) = page.last() else { return Ok(next) };
            next = last.seq + 1;
            page.iter().for_each(|leaf| self.take(leaf));
        }
    }

    /// Where the rows say something else: the place, and how.
    async fn compare(&self, store: &dyn Store) -> Result<Vec<(String, String)>, StoreError> {
        let mut faults = Vec::new();
        let mut granted = BTreeMap::new();
        for server in &self.servers {
            for grant in store.grants(server.clone()).await? {
                let gone = grant.gone_at.map(|at| at.to_string()).unwrap_or_default();
                let said = [grant.digest, grant.how.to_string(), grant.by, gone];
                granted.insert([server.clone(), grant.scope, grant.tool], said);
            }
        }
        differences(&self.grants, &granted, |[server, _, tool]| {
            faults.push((
                format!("the grant for {tool} of {server}"),
                "What the store takes for granted is not what the records say.".to_owned(),
            ));
        });
        let approvers = store.approvers().await?;
        let enrolled: BTreeMap<_, _> =
            approvers.into_iter().map(|approver| (approver.name, approver.public_key)).collect();
        differences(&self.approvers, &enrolled, |name| {
            faults.push((
                format!("the approver {name}"),
                "The enrolled key is not what the records say.".to_owned(),
            ));
        });
        for (id, asked) in &self.approvals {
            let known = match id.parse::<ApprovalId>() {
                Ok(id) => store.approval(id).await,
                Err(error) => Err(error),
            };
            let fits = match known {
                Ok(known) => known.is_some_and(|known| asked.is(&known)),
                // A card that does not open is named with its request.
                Err(StoreError::Corrupted { .. }) => true,
                Err(StoreError::Malformed { .. }) => false,
                Err(error) => return Err(error),
            };
            if !fits {
                faults.push((
                    format!("the approval {id}"),
                    format!(
                        "By the records it is {} and asked for something else than the store says.",
                        asked.state
                    ),
                ));
            }
        }
        Ok(faults)
    }
}

/// Tells each key under which the two say different things.
fn differences<K: Ord, V: PartialEq>(
    one: &BTreeMap<K, V>,
    two: &BTreeMap<K, V>,
    mut tell: impl FnMut(&K),
) {
    let keys: BTreeSet<&K> = one.keys().chain(two.keys()).collect();
    for key in keys.into_iter().filter(|key| one.get(key) != two.get(key)) {
        tell(key);
    }
}

/// Compares each request's rows and sealed parts with its records.
async fn requests(
    store: &dyn Store,
    report: &mut Report,
    expected: &Expected,
    decisions: u64,
) -> Result<(), StoreError> {
    let mut before = None;
    let mut count = 0;
    loop {
        let query = ActivityQuery { before, limit: limits::PAGE, ..ActivityQuery::default() };
        let page = match store.activity(query).await {
            Ok(page) => page,
            Err(StoreError::Corrupted { why, .. }) => {
                report.fault(
                    FaultKind::Row,
                    "the requests",
                    format!("They cannot be read: {why}."),
                );
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Some(last) = page.last() else { break };
        before = Some(last.request);
        let records = report.records;
        for activity in page.into_iter().filter(|activity| activity.leaf < records) {
            count += 1;
            one_request(store, report, expected, activity).await?;
        }
    }
    if count != decisions {
        report.fault(
            FaultKind::Row,
            "the requests",
            format!("The store holds {count} requests, and the records decide {decisions}."),
        );
    }
    Ok(())
}

/// Compares one request. A gateway may be at work on it: what differs is looked at again, and believed only where the
/// records were the same before and after its rows were read.
async fn one_request(
    store: &dyn Store,
    report: &mut Report,
    expected: &Expected,
    mut activity: Activity,
) -> Result<(), StoreError> {
    let request = activity.request;
    let mut leaves = store.leaves_of(request).await?;
    for look in 0.. {
        let read: Vec<Value> =
            leaves.iter().filter_map(|leaf| serde_json::from_str(&leaf.envelope).ok()).collect();
        let mut faults = sealed(store, report, expected, &activity, &read).await?;
        if !says(&activity, &read) {
            let sentence = "Its rows do not say what its records say.".to_owned();
            faults.push((FaultKind::Row, format!("the request {request}"), sentence));
        }
        let after = store.leaves_of(request).await?;
        // The first rows were read before the records were.
        let settled = look > 0 && after == leaves;
        if faults.is_empty() || settled || look == limits::LOOKS {
            for (kind, place, sentence) in faults {
                report.fault(kind, place, sentence);
            }
            return Ok(());
        }
        leaves = after;
        let query = ActivityQuery { request: Some(request), ..ActivityQuery::default() };
        if let Some(again) = store.activity(query).await?.pop() {
            activity = again;
        }
    }
    Ok(())
}

/// The rows of a request, compared with its records.
fn says(activity: &Activity, records: &[Value]) -> bool {
    let of = |kind: Kind| records.iter().filter(move |read| read["kind"] == kind.as_str());
    let Some(decision) = of(Kind::Decision).next() else { return false };
    let code = match &activity.verdict {
        Verdict::Refused { code } => Some(code.as_str()),
        Verdict::Admitted | Verdict::Held => None,
    };
    let decided = decision["session"] == activity.session.to_string()
        && decision["principal"] == activity.principal.as_str()
        && decision["server"] == activity.server.as_str()
        && decision["tool"] == activity.tool.as_str()
        && decision["effect"] == activity.effect
        && decision["verdict"] == activity.verdict.as_str()
        && decision["code"].as_str() == code
        && decision["at"] == activity.at
        && decision["seq"] == activity.leaf
        && decision["current"].as_str() == activity.current.as_deref()
        && decision["approval"].as_str() == activity.approval.map(|id| id.to_string()).as_deref()
        && of(Kind::Delivered).next().is_some() == activity.delivered
        && of(Kind::Erased).next().is_some() == activity.argument_digest.is_none();
    let attempts = of(Kind::Intent).count() == activity.attempts.len()
        && of(Kind::Intent).zip(&activity.attempts).all(|(read, attempt)| {
            read["attempt"] == attempt.id.to_string()
                && read["n"] == attempt.n
                && read["target"] == attempt.target.as_str()
                && read["idempotency_key"].as_str() == attempt.idempotency_key.as_deref()
                && read["at"] == attempt.at
        });
    let outcomes = activity.attempts.iter().all(|attempt| {
        let id = attempt.id.to_string();
        let told: Vec<_> =
            of(Kind::Outcome).filter(|read| read["attempt"] == id.as_str()).collect();
        told.len() == attempt.outcomes.len()
            && attempt.state == attempt.outcomes.last().map(|outcome| outcome.state)
            && told.iter().zip(&attempt.outcomes).all(|(read, outcome)| {
                read["state"].as_str().and_then(OutcomeState::from_word) == Some(outcome.state)
                    && read["by"] == outcome.by.as_str()
                    && read["late"] == outcome.late
                    && read["at"] == outcome.at
            })
    });
    decided && attempts && outcomes
}

/// The sealed parts of a request, compared with what its records commit to.
async fn sealed(
    store: &dyn Store,
    report: &mut Report,
    expected: &Expected,
    activity: &Activity,
    records: &[Value],
) -> Result<Vec<(FaultKind, String, String)>, StoreError> {
    let opened = match store.payloads(activity.request).await {
        Ok(opened) => opened,
        Err(StoreError::Key { .. }) => {
            // Without the key the records and rows alone are verified.
            let said = "Whether the sealed parts are those that the records commit to, and who signed the approvals: the key that opens them cannot be read.";
            if report.cannot_show.iter().all(|known| known != said) {
                report.cannot_show.push(said.to_owned());
            }
            return Ok(Vec::new());
        }
        Err(StoreError::Corrupted { why, .. }) => {
            let place = format!("the request {}", activity.request);
            return Ok(vec![(FaultKind::Payload, place, format!("{why}."))]);
        }
        Err(error) => return Err(error),
    };
    let found: BTreeMap<(u64, Part), String> =
        opened.iter().map(|payload| ((payload.seq, payload.part), payload.commitment())).collect();
    let mut committed = BTreeMap::new();
    let mut erased_at = None;
    for read in records {
        let seq = read["seq"].as_u64().unwrap_or_default();
        if read["kind"] == Kind::Erased.as_str() {
            erased_at = Some(seq);
        }
        for (part, commitment) in read["sealed"].as_object().into_iter().flatten() {
            if let (Some(part), Some(text)) = (Part::from_word(part), commitment.as_str()) {
                committed.insert((seq, part), text.to_owned());
            }
        }
    }
    let mut faults = unsigned(expected, records, &opened);
    faults.extend(digests(store, activity, records, &opened).await?);
    differences(&committed, &found, |key| {
        let gone = !found.contains_key(key);
        if gone && erased_at.is_some_and(|at| key.0 < at) {
            return;
        }
        let sentence = if gone {
            "It is gone, and no record says that it was erased."
        } else {
            "It is not what the record commits to."
        };
        let place = format!("the {} of record {}", key.1, key.0);
        faults.push((FaultKind::Payload, place, sentence.to_owned()));
    });
    if faults.is_empty() {
        report.payloads += found.len() as u64;
    }
    Ok(faults)
}

/// Digests that stand in rows because calls are found by them, and are not those that are sealed.
async fn digests(
    store: &dyn Store,
    activity: &Activity,
    records: &[Value],
    opened: &[Payload],
) -> Result<Vec<(FaultKind, String, String)>, StoreError> {
    let of = |read: &Value, part: Part| {
        opened.iter().find(|payload| read["seq"] == payload.seq && payload.part == part)
    };
    let mut faults = Vec::new();
    let mut other = |place: String| {
        let sentence = "The digest in its row is not the one that its record sealed.".to_owned();
        faults.push((FaultKind::Row, place, sentence));
    };
    for read in records {
        if read["kind"] == Kind::Decision.as_str()
            && let Some(sealed) = of(read, Part::ArgumentDigest)
            && activity.argument_digest.as_ref() != Some(&sealed.text)
        {
            other(format!("the request {}", activity.request));
        }
        if read["kind"] == Kind::ApprovalAsked.as_str()
            && let Some(sealed) = of(read, Part::ActionDigest)
            && let Some(Ok(id)) = read["approval"].as_str().map(str::parse::<ApprovalId>)
            && let Ok(Some(known)) = store.approval(id).await
            && known.action_digest != sealed.text
        {
            other(format!("the approval {id}"));
        }
    }
    Ok(faults)
}

/// The approvals of a request that the enrolled key did not sign: a gateway alone cannot make one up. What an approval
/// was for is sealed; where that was erased, its signature says nothing any more.
fn unsigned(
    expected: &Expected,
    records: &[Value],
    opened: &[Payload],
) -> Vec<(FaultKind, String, String)> {
    let of = |kind: Kind| records.iter().filter(move |read| read["kind"] == kind.as_str());
    let mut faults = Vec::new();
    for settled in of(Kind::ApprovalSettled) {
        let asked = of(Kind::ApprovalAsked).find(|asked| asked["approval"] == settled["approval"]);
        let Some(asked) = asked else { continue };
        let digest = opened
            .iter()
            .find(|payload| asked["seq"] == payload.seq && payload.part == Part::ActionDigest);
        let Some(digest) = digest else { continue };
        let seq = settled["seq"].as_u64().unwrap_or_default();
        // Whose key was enrolled then is not read yet: it was settled meanwhile.
        if seq >= expected.until {
            continue;
        }
        let by = settled["by"].as_str().unwrap_or_default();
        let text = settled["approval"].as_str().unwrap_or_default();
        let ruling = settled["ruling"].as_str().and_then(Ruling::from_word);
        let signed = match (text.parse(), ruling, expected.key_at(by, seq)) {
            (Ok(id), Some(ruling), Some(key)) => {
                let signature = settled["signature"].as_str().map(str::to_owned);
                let at = settled["at"].as_u64().unwrap_or_default();
                let settlement = Settlement { id, ruling, by: by.to_owned(), signature, at };
                let expires = asked["expires"].as_u64().unwrap_or_default();
                check(key, &settlement, &digest.text, expires).is_ok()
            }
            _ => false,
        };
        if !signed {
            let sentence = format!("It is not signed with the key that was enrolled as {by}.");
            faults.push((FaultKind::Approval, format!("the approval {text}"), sentence));
        }
    }
    faults
}
