//! What every implementation must do. Each function takes an empty store; another implementation runs the same list.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use store::{
    ActivityQuery, Again, ApprovalQuery, ApprovalState, Approver, Count, Counted, Decision,
    NewApproval, NewOutcome, OutcomeState, Redeemed, RequestId, Resolution, Ruling, SessionEnd,
    SessionId, SessionQuery, Settlement, Store, StoreError, Verdict, WhyNot, approval::signed_text,
};

use crate::sample::{NOON, attempt, decision, outcome, session};

mod revisions;

pub use revisions::*;

/// Runs each function against a fresh store.
#[macro_export]
macro_rules! conforms {
    ($fresh:expr; $($name:ident)+) => {$(
        #[test]
        fn $name() {
            $crate::sample::run(async {
                let (_keep, store) = $fresh;
                $crate::conformance::$name(&store).await;
            });
        }
    )+};
}

async fn opened(store: &dyn Store) -> SessionId {
    store.open_session(session()).await.unwrap()
}

async fn admitted(store: &dyn Store) -> (SessionId, RequestId) {
    let session = opened(store).await;
    let new = decision(store, session);
    let request = new.request;
    store.decide(new).await.unwrap();
    (session, request)
}

fn refused<T: std::fmt::Debug>(answer: Result<T, StoreError>, sentence: &str) {
    let error = answer.expect_err(sentence).to_string();
    assert!(error.contains(sentence), "{error}");
}

pub async fn sessions_open_and_end(store: &dyn Store) {
    let one = opened(store).await;
    let two = opened(store).await;
    let new = Decision {
        verdict: Verdict::Refused { code: "STALE_TOOL_SCHEMA".into() },
        ..decision(store, one)
    };
    store.decide(new).await.unwrap();
    store.close_session(one, SessionEnd::Closed, NOON + 5).await.unwrap();
    store.close_session(one, SessionEnd::Expired, NOON + 9).await.unwrap();
    let all = store.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(all.iter().map(|s| s.id).collect::<Vec<_>>(), [two, one]);
    assert_eq!(all[1].ended, Some((NOON + 5, SessionEnd::Closed)));
    assert_eq!((all[1].requests, all[1].refused), (1, 1));
    let open = SessionQuery { open: true, ..SessionQuery::default() };
    assert_eq!(store.sessions(open).await.unwrap().len(), 1);
    let other = SessionQuery { server: Some("other".into()), ..SessionQuery::default() };
    assert!(store.sessions(other).await.unwrap().is_empty());
    let nobody = store.ids().session(NOON).unwrap();
    refused(store.close_session(nobody, SessionEnd::Closed, NOON).await, "There is no session");
}

pub async fn a_request_has_attempts_and_outcomes(store: &dyn Store) {
    let (session, request) = admitted(store).await;
    let first = store.intend(attempt(request)).await.unwrap();
    refused(store.intend(attempt(request)).await, "under way");
    store.outcome(outcome(first, OutcomeState::NotSent)).await.unwrap();
    let second = store.intend(attempt(request)).await.unwrap();
    store.outcome(outcome(second, OutcomeState::Done)).await.unwrap();
    refused(store.outcome(outcome(second, OutcomeState::Failed)).await, "must say that it is late");
    refused(store.intend(attempt(request)).await, "was carried out");
    let query = ActivityQuery { request: Some(request), ..ActivityQuery::default() };
    let found = store.activity(query).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].session, found[0].verdict.clone()), (session, Verdict::Admitted));
    let attempts = &found[0].attempts;
    assert_eq!(attempts.iter().map(|a| (a.id, a.n)).collect::<Vec<_>>(), [(first, 1), (second, 2)]);
    assert_eq!(attempts[0].outcomes[0].state, OutcomeState::NotSent);
    assert_eq!(attempts[1].outcomes[0].by, "gateway");
    assert_eq!(attempts[1].idempotency_key, Some(request.to_string()));
}

pub async fn nothing_leaves_without_a_decision(store: &dyn Store) {
    let session = opened(store).await;
    let nobody = store.ids().request(NOON).unwrap();
    refused(store.intend(attempt(nobody)).await, "There is no request");
    let code = "STALE_TOOL_SCHEMA".to_owned();
    let no = Decision { verdict: Verdict::Refused { code }, ..decision(store, session) };
    let request = no.request;
    store.decide(no.clone()).await.unwrap();
    refused(store.intend(attempt(request)).await, "was refused");
    refused(store.decide(no.clone()).await, "was decided before");
    let stranger = store.ids().session(NOON).unwrap();
    let strange = Decision { session: stranger, request: store.ids().request(NOON).unwrap(), ..no };
    refused(store.decide(strange).await, "There is no session");
    let ghost = store.ids().attempt(NOON).unwrap();
    refused(store.outcome(outcome(ghost, OutcomeState::Done)).await, "There is no attempt");
}

pub async fn doubt_is_not_repeated_and_is_resolved(store: &dyn Store) {
    let (_, request) = admitted(store).await;
    let first = store.intend(attempt(request)).await.unwrap();
    let person = || "me".to_owned();
    refused(store.resolve(first, Resolution::Done, person(), NOON).await, "not in doubt");
    let late = NewOutcome { late: true, ..outcome(first, OutcomeState::Done) };
    refused(store.outcome(late.clone()).await, "is not late");
    store.outcome(outcome(first, OutcomeState::InDoubt)).await.unwrap();
    refused(store.intend(attempt(request)).await, "in doubt");
    let in_doubt = || ActivityQuery { in_doubt: true, ..ActivityQuery::default() };
    assert_eq!(store.activity(in_doubt()).await.unwrap().len(), 1);
    let again = store::NewAttempt { again: Some(Again::KeyCovers), ..attempt(request) };
    let second = store.intend(again).await.unwrap();
    store.outcome(outcome(second, OutcomeState::InDoubt)).await.unwrap();
    store.resolve(second, Resolution::Failed, person(), NOON).await.unwrap();
    refused(store.resolve(second, Resolution::Done, person(), NOON).await, "not in doubt");
    // The truth may come after the person: it is appended.
    store.outcome(NewOutcome { attempt: second, ..late }).await.unwrap();
    let found = store.activity(in_doubt()).await.unwrap();
    let outcomes = &found[0].attempts[1].outcomes;
    let told: Vec<_> = outcomes.iter().map(|o| (o.state, o.by.as_str(), o.late)).collect();
    assert_eq!(
        told,
        [
            (OutcomeState::InDoubt, "gateway", false),
            (OutcomeState::Failed, "person me", true),
            (OutcomeState::Done, "gateway", true),
        ]
    );
}

pub async fn an_answer_waits_until_it_is_delivered(store: &dyn Store) {
    let (session, request) = admitted(store).await;
    let id = store.intend(attempt(request)).await.unwrap();
    let answer = Some("answer canary".to_owned());
    let done = NewOutcome { answer, at: NOON + 10, ..outcome(id, OutcomeState::Done) };
    store.outcome(done).await.unwrap();
    let waiting = store.undelivered(session, NOON).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].request, waiting[0].answer.as_str()), (request, "answer canary"));
    assert_eq!(waiting[0].argument_digest, "sha256:digest-canary");
    assert!(store.undelivered(session, NOON + 11).await.unwrap().is_empty());
    let other = opened(store).await;
    assert!(store.undelivered(other, NOON).await.unwrap().is_empty());
    store.delivered(request, NOON + 12).await.unwrap();
    store.delivered(request, NOON + 13).await.unwrap();
    assert!(store.undelivered(session, NOON).await.unwrap().is_empty());
    // A read's answer is not kept for anyone.
    let read = Decision { effect: false, ..decision(store, session) };
    let request = read.request;
    store.decide(read).await.unwrap();
    let id = store.intend(attempt(request)).await.unwrap();
    let done = NewOutcome { answer: Some("x".into()), ..outcome(id, OutcomeState::Done) };
    store.outcome(done).await.unwrap();
    assert!(store.undelivered(session, NOON).await.unwrap().is_empty());
}

async fn held(store: &dyn Store) -> NewApproval {
    let session = opened(store).await;
    let new = Decision { verdict: Verdict::Held, ..decision(store, session) };
    let request = new.request;
    store.decide(new).await.unwrap();
    let approval = NewApproval {
        id: store.ids().approval(NOON).unwrap(),
        request,
        principal: "uid:1000".into(),
        session,
        server: "github".into(),
        tool: "create_issue".into(),
        revision: "sha256:bb".into(),
        action_digest: "sha256:action".into(),
        card: r#"{"verb":"create","card":"card canary"}"#.into(),
        expires: NOON + 1_000,
        at: NOON,
    };
    store.ask(approval.clone()).await.unwrap();
    approval
}

fn signed(key: &SigningKey, asked: &NewApproval, ruling: Ruling) -> Settlement {
    let text = signed_text(asked.id, &asked.action_digest, asked.expires, ruling);
    Settlement {
        id: asked.id,
        ruling,
        by: "anna".into(),
        signature: Some(STANDARD.encode(key.sign(text.as_bytes()).to_bytes())),
        at: NOON + 1,
    }
}

async fn enrolled(store: &dyn Store) -> SigningKey {
    let key = SigningKey::from_bytes(&[5; 32]);
    let public_key = STANDARD.encode(key.verifying_key().as_bytes());
    let anna = Approver { name: "anna".into(), public_key, at: NOON };
    store.enrol(anna, "owner".into()).await.unwrap();
    key
}

pub async fn an_approval_is_signed_and_used_once(store: &dyn Store) {
    let asked = held(store).await;
    let digest = || asked.action_digest.clone();
    let key = SigningKey::from_bytes(&[5; 32]);
    let yes = signed(&key, &asked, Ruling::Approved);
    refused(store.settle(yes.clone()).await, "No key is enrolled");
    enrolled(store).await;
    refused(store.settle(Settlement { signature: None, ..yes.clone() }).await, "no signature");
    let forged = signed(&SigningKey::from_bytes(&[6; 32]), &asked, Ruling::Approved);
    refused(store.settle(forged).await, "was not made with the key");
    let no = signed(&key, &asked, Ruling::Denied);
    let turned = Settlement { ruling: Ruling::Approved, ..no };
    refused(store.settle(turned).await, "was not made with the key");
    let redeem = |at| store.redeem(asked.id, digest(), at);
    assert_eq!(redeem(NOON).await, Ok(Redeemed::Not(WhyNot::Pending)));
    refused(store.intend(attempt(asked.request)).await, "is held");
    assert_eq!(store.pending(NOON).await.unwrap()[0].card.as_deref(), Some(asked.card.as_str()));
    store.settle(yes.clone()).await.unwrap();
    refused(store.settle(yes).await, "is approved already");
    refused(store.intend(attempt(asked.request)).await, "is held");
    let other = store.redeem(asked.id, "sha256:other".into(), NOON).await;
    assert_eq!(other, Ok(Redeemed::Not(WhyNot::OtherAction)));
    assert_eq!(redeem(NOON + 1_000).await, Ok(Redeemed::Not(WhyNot::Expired)));
    // Two at once: one of them gets it.
    let (one, two) = tokio::join!(redeem(NOON + 2), redeem(NOON + 2));
    assert_eq!((one, two), (Ok(Redeemed::Once), Ok(Redeemed::Not(WhyNot::Used))));
    // The same call comes back and rests on it; then nothing else does.
    let resting = |session| Decision { approval: Some(asked.id), ..decision(store, session) };
    let call = resting(asked.session);
    let request = call.request;
    store.decide(call).await.unwrap();
    store.intend(attempt(request)).await.unwrap();
    refused(store.decide(resting(asked.session)).await, "was used for another call");
    refused(store.intend(attempt(asked.request)).await, "is held");
    let unknown = store.ids().approval(NOON).unwrap();
    let strange = Decision { approval: Some(unknown), ..decision(store, asked.session) };
    refused(store.decide(strange).await, "There is no approval");
    let known = store.approval(asked.id).await.unwrap().unwrap();
    assert_eq!((known.state, known.by.as_deref()), (ApprovalState::Redeemed, Some("anna")));
}

pub async fn a_held_request_leaves_under_its_own_approval(store: &dyn Store) {
    let key = enrolled(store).await;
    let asked = held(store).await;
    store.settle(signed(&key, &asked, Ruling::Approved)).await.unwrap();
    let resting = Decision { approval: Some(asked.id), ..decision(store, asked.session) };
    refused(store.decide(resting.clone()).await, "was not redeemed");
    let once = store.redeem(asked.id, asked.action_digest.clone(), NOON).await;
    assert_eq!(once, Ok(Redeemed::Once));
    store.intend(attempt(asked.request)).await.unwrap();
    refused(store.decide(resting).await, "was used for another call");
}

pub async fn an_approval_ends_by_denial_change_and_time(store: &dyn Store) {
    let key = enrolled(store).await;
    let denied = held(store).await;
    let no = Settlement { signature: None, ..signed(&key, &denied, Ruling::Denied) };
    store.settle(no).await.unwrap();
    let asked = held(store).await;
    store.settle(signed(&key, &asked, Ruling::Approved)).await.unwrap();
    let waiting = held(store).await;
    let void =
        |tool: &str| store.void("github".into(), tool.into(), "the contract moved".into(), NOON);
    assert_eq!(void("other").await, Ok(0));
    assert_eq!(void("create_issue").await, Ok(2));
    let mut told = Vec::new();
    for asked in [&denied, &asked, &waiting] {
        told.push(store.redeem(asked.id, asked.action_digest.clone(), NOON).await.unwrap());
    }
    let void = Redeemed::Not(WhyNot::Void);
    assert_eq!(told, [Redeemed::Not(WhyNot::Denied), void, void]);
    let of = |states: &[ApprovalState], limit| {
        let (server, tool) = ("github".into(), "create_issue".into());
        store.approvals(ApprovalQuery { server, tool, states: states.to_vec(), limit })
    };
    let ids = |found: Vec<store::Approval>| found.iter().map(|one| one.id).collect::<Vec<_>>();
    let voided = of(&[ApprovalState::Void], 9).await.unwrap();
    assert_eq!(voided[0].card.as_deref(), Some(waiting.card.as_str()));
    assert_eq!(ids(voided), [waiting.id, asked.id], "the newest first");
    assert_eq!(ids(of(ApprovalState::ALL, 1).await.unwrap()), [waiting.id]);
    assert!(of(&[ApprovalState::Pending, ApprovalState::Approved], 9).await.unwrap().is_empty());
    let late = held(store).await;
    let yes = Settlement { at: late.expires, ..signed(&key, &late, Ruling::Approved) };
    refused(store.settle(yes).await, "is over");
    assert_eq!(store.pending(NOON).await.unwrap().len(), 1);
    assert!(store.pending(late.expires).await.unwrap().is_empty());
    store.dismiss("anna".into(), "owner".into(), NOON).await.unwrap();
    refused(store.settle(signed(&key, &late, Ruling::Approved)).await, "No key is enrolled");
    assert!(store.approvers().await.unwrap().is_empty());
}

pub async fn approvals_do_not_flood(store: &dyn Store) {
    let first = held(store).await;
    let mut refusal = None;
    for _ in 0..store::limits::PENDING_APPROVALS {
        let id = store.ids().approval(NOON).unwrap();
        if let Err(error) = store.ask(NewApproval { id, ..first.clone() }).await {
            refusal = Some(error.to_string());
        }
    }
    assert!(refusal.unwrap().contains("1000 approvals waiting"));
}

pub async fn counts_weigh_age_and_effect(store: &dyn Store) {
    let session = opened(store).await;
    let event = |effect, at| Count {
        server: "a".into(),
        tool: "x".into(),
        revision: "1".into(),
        what: Counted::Normalised,
        session,
        effect,
        at,
    };
    store.count(event(true, NOON + 100)).await.unwrap();
    store.count(event(false, NOON + 40)).await.unwrap();
    store.count(Count { what: Counted::Person, ..event(false, NOON) }).await.unwrap();
    let all = store.counters().await.unwrap();
    assert_eq!(all.len(), 2);
    let one = &all[0];
    assert_eq!((one.times, one.effects, one.session_age), (2, 1, 140));
    assert_eq!((one.oldest_session, one.last_at), (100, NOON + 100));
    store.adapter_used("region".into(), NOON).await.unwrap();
    store.adapter_used("region".into(), NOON + 7).await.unwrap();
    let used = store.adapters().await.unwrap();
    assert_eq!((used[0].times, used[0].first_at, used[0].last_at), (2, NOON, NOON + 7));
}

pub async fn secrets_are_sealed_and_can_be_erased(store: &dyn Store) {
    let asked = held(store).await;
    let envelopes = |leaves: Vec<store::journal::Leaf>| -> String {
        leaves.into_iter().map(|leaf| leaf.envelope + "\n").collect()
    };
    let public = envelopes(store.leaves(0, 0).await.unwrap());
    assert!(!public.contains("canary"), "{public}");
    assert!(!public.contains("sha256:action"), "{public}");
    let payloads = store.payloads(asked.request).await.unwrap();
    assert_eq!(payloads.len(), 5);
    for payload in &payloads {
        assert!(public.contains(&payload.commitment()), "{payload:?}");
    }
    assert!(payloads.iter().any(|payload| payload.text.contains("raw canary")));
    let before = store.leaves_of(asked.request).await.unwrap();
    assert_eq!(store.erase(asked.request, "me".into(), NOON).await, Ok(5));
    assert!(store.payloads(asked.request).await.unwrap().is_empty());
    let known = store.approval(asked.id).await.unwrap().unwrap();
    assert_eq!((known.card, known.state), (None, ApprovalState::Void));
    let after = store.leaves_of(asked.request).await.unwrap();
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.len(), before.len() + 2);
    let nobody = store.ids().request(NOON).unwrap();
    refused(store.erase(nobody, "me".into(), NOON).await, "There is no request");
}

pub async fn a_checkpoint_covers_every_record(store: &dyn Store) {
    let session = opened(store).await;
    for _ in 0..300 {
        store.shown(session, "l".into(), NOON).await.unwrap();
    }
    let made = store.checkpoint().await.unwrap();
    assert_eq!(store.checkpoint().await.unwrap(), made);
    let leaves = store.leaves(0, 0).await.unwrap();
    assert_eq!(made.size, leaves.len() as u64);
    let mut tree = store::journal::Tree::default();
    for leaf in &leaves {
        assert_eq!(store::journal::leaf_hash(leaf.envelope.as_bytes()), leaf.hash);
        tree.push(leaf.hash);
    }
    assert_eq!(tree.root(), made.root);
    let all = store.checkpoints(0, 0).await.unwrap();
    assert!(all.len() >= 2 && all.last() == Some(&made), "{all:?}");
    let read = store::journal::Checkpoint::read(&made.note, store.verifying_key());
    assert_eq!(read, Ok(made));
}

pub async fn a_clock_set_back_is_noted(store: &dyn Store) {
    let session = opened(store).await;
    store.shown(session, "l".into(), NOON - 1_000).await.unwrap();
    store.shown(session, "l".into(), NOON - 60_000).await.unwrap();
    let leaves = store.leaves(0, 0).await.unwrap();
    let noted: Vec<_> = leaves.iter().filter(|l| l.envelope.contains("clock-back")).collect();
    assert_eq!(noted.len(), 1);
    assert!(noted[0].envelope.contains(&format!("\"from\":{}", NOON - 1_000)));
}

pub async fn what_is_too_large_is_refused_whole(store: &dyn Store) {
    let session = opened(store).await;
    let size = store.leaves(0, 0).await.unwrap().len();
    let long = "x".repeat(store::limits::TEXT_BYTES + 1);
    let large = Decision { tool: long.clone(), ..decision(store, session) };
    refused(store.decide(large).await, "The name of the tool has 4097 bytes");
    let raw_arguments = "x".repeat(store::limits::ARGUMENTS_BYTES + 1);
    refused(
        store.decide(Decision { raw_arguments, ..decision(store, session) }).await,
        "arguments",
    );
    let rules = vec!["r".repeat(3_000); 30];
    refused(store.decide(Decision { rules, ..decision(store, session) }).await, "public part");
    assert_eq!(store.leaves(0, 0).await.unwrap().len(), size);
    // What came of a call is recorded whatever the size of its answer.
    let (session, request) = admitted(store).await;
    let id = store.intend(attempt(request)).await.unwrap();
    let answer = Some("x".repeat(store::limits::ANSWER_BYTES + 1));
    let done = NewOutcome { answer, ..outcome(id, OutcomeState::Done) };
    store.outcome(done).await.unwrap();
    assert!(store.undelivered(session, NOON).await.unwrap().is_empty());
}
