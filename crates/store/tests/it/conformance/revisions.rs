//! Definitions, lists and grants: what is told apart, what is kept, and for how long.

use super::opened;
use crate::sample::NOON;
use store::{Grant, GrantHow, List, NewGrant, NewList, NewRevision, Store};

pub async fn revisions_count_per_server_and_tool(store: &dyn Store) {
    let new = |server: &str, tool: &str, digest: &str| NewRevision {
        server: server.into(),
        tool: tool.into(),
        digest: digest.into(),
        definition: format!("{{\"name\":\"{tool}\",\"of\":\"{digest}\"}}"),
        at: NOON,
    };
    let mut ordinals = Vec::new();
    for (server, tool, digest) in [
        ("a", "x", "1"),
        ("a", "x", "2"),
        ("a", "x", "1"),
        ("a", "y", "2"),
        ("b", "x", "2"),
        ("a", "x", "3"),
    ] {
        let seen = store.seen(new(server, tool, digest)).await.unwrap();
        ordinals.push((seen.ordinal, seen.new));
    }
    assert_eq!(ordinals, [(1, true), (2, true), (1, false), (1, true), (1, true), (3, true)]);
    let both = store.seen_all(vec![new("a", "x", "9"), new("a", "z", "1")]).await.unwrap();
    assert_eq!(both.iter().map(|seen| seen.ordinal).collect::<Vec<_>>(), [4, 1]);
    let all = store.revisions("a".into()).await.unwrap();
    assert_eq!(all.len(), 6);
    assert_eq!((all[1].tool.as_str(), all[1].ordinal, all[1].digest.as_str()), ("x", 2, "2"));
    let text = store.definition("a".into(), "x".into(), "2".into()).await.unwrap();
    assert_eq!(text.as_deref(), Some(r#"{"name":"x","of":"2"}"#));
    assert_eq!(store.definition("a".into(), "x".into(), "no".into()).await.unwrap(), None);
}

pub async fn lists_come_back_and_are_shown(store: &dyn Store) {
    let new = |digest: &str, at| NewList {
        server: "a".into(),
        scope: "legacy".into(),
        digest: digest.into(),
        tools: vec![("y".into(), "1".into()), ("x".into(), "2".into())],
        pages: Some(format!("[\"{digest}\"]")),
        at,
    };
    store.list_seen(new("one", NOON)).await.unwrap();
    store.list_seen(new("one", NOON + 1)).await.unwrap();
    store.list_seen(new("two", NOON + 2)).await.unwrap();
    store.list_seen(new("one", NOON + 3)).await.unwrap();
    let lists = store.lists("a".into(), None, 0).await.unwrap();
    let short: Vec<_> = lists.iter().map(|l| (l.digest.as_str(), l.turns, l.last_at)).collect();
    assert_eq!(short, [("one", 2, NOON + 3), ("two", 1, NOON + 2)]);
    assert_eq!(lists[0].pages, None);
    let one = store.list("a".into(), "one".into()).await.unwrap().unwrap();
    assert_eq!(one.pages.as_deref(), Some("[\"one\"]"));
    assert_eq!(one.tools[0].0, "y");
    let session = opened(store).await;
    store.shown(session, "one".into(), NOON).await.unwrap();
    store.shown(session, "two".into(), NOON + 4).await.unwrap();
    let shown = store.shown_to(session).await.unwrap();
    assert_eq!(shown.iter().map(|s| s.digest.as_str()).collect::<Vec<_>>(), ["two", "one"]);
    let other = opened(store).await;
    assert!(store.shown_to(other).await.unwrap().is_empty());
}

pub async fn a_grant_moves_by_explicit_calls_alone(store: &dyn Store) {
    let grant = |digest: &str, how| NewGrant {
        server: "a".into(),
        scope: "legacy".into(),
        tool: "x".into(),
        digest: digest.into(),
        how,
        by: "me".into(),
        at: NOON,
    };
    let list = |digest: &str, tools: &[(&str, &str)]| NewList {
        server: "a".into(),
        scope: "legacy".into(),
        digest: digest.into(),
        tools: tools.iter().map(|(t, d)| ((*t).into(), (*d).into())).collect(),
        pages: None,
        at: NOON + 1,
    };
    store.grant(grant("1", GrantHow::FirstSeen)).await.unwrap();
    store.list_seen(list("l1", &[("x", "2")])).await.unwrap();
    let granted = store.grants("a".into()).await.unwrap();
    assert_eq!((granted[0].digest.as_str(), granted[0].gone_at), ("1", None));
    assert!(granted[0].stands_for("2"));
    // Gone, and back as something else: the old grant speaks for the old contract alone.
    store.list_seen(list("l2", &[])).await.unwrap();
    store.list_seen(list("l3", &[("x", "3")])).await.unwrap();
    let granted = store.grants("a".into()).await.unwrap();
    assert_eq!(granted[0].gone_at, Some(NOON + 1));
    assert!(granted[0].stands_for("1") && !granted[0].stands_for("3"));
    store.grant(grant("3", GrantHow::Accepted)).await.unwrap();
    let granted = store.grants("a".into()).await.unwrap();
    assert_eq!(granted.len(), 1);
    assert_eq!((granted[0].how, granted[0].gone_at), (GrantHow::Accepted, None));
    assert!(store.grants("b".into()).await.unwrap().is_empty());
    // Another era, or another authorisation, has grants and lists of its own.
    let elsewhere = NewGrant { scope: "modern".into(), ..grant("9", GrantHow::FirstSeen) };
    store.grant(elsewhere).await.unwrap();
    store.list_seen(NewList { scope: "modern".into(), ..list("l4", &[]) }).await.unwrap();
    let granted = store.grants("a".into()).await.unwrap();
    let holds =
        |scope: &str| Grant::in_scope(&granted, scope, "x").map(|g| (&*g.digest, g.gone_at));
    assert_eq!(holds("legacy"), Some(("3", None)));
    assert_eq!(holds("modern"), Some(("9", Some(NOON + 1))));
    assert_eq!(holds("other"), None);
    same_grant(store, "x").await;
    let current = |lists: Vec<List>| lists.first().map(|list| list.digest.clone());
    let lists = async |scope: &str| store.lists("a".into(), Some(scope.into()), 0).await.unwrap();
    assert_eq!(current(lists("legacy").await).as_deref(), Some("l3"));
    assert_eq!(current(lists("modern").await).as_deref(), Some("l4"));
    // What was granted before scopes were told apart holds in each, until something is granted there.
    let of_all =
        NewGrant { scope: String::new(), tool: "z".into(), ..grant("5", GrantHow::Accepted) };
    store.grant(of_all).await.unwrap();
    let first = NewGrant { tool: "z".into(), ..grant("6", GrantHow::FirstSeen) };
    store.grant(first).await.unwrap();
    let granted = store.grants("a".into()).await.unwrap();
    let holds = |scope: &str| Grant::in_scope(&granted, scope, "z").map(|g| &*g.digest);
    assert_eq!((holds("legacy"), holds("modern")), (Some("5"), Some("5")));
    same_grant(store, "z").await;
}

pub async fn a_definition_ages_by_itself(store: &dyn Store) {
    let new = |tool: &str, digest: &str, at| NewRevision {
        server: "a".into(),
        tool: tool.into(),
        digest: digest.into(),
        definition: "{}".into(),
        at,
    };
    for (digest, at) in [("1", 0), ("2", 10), ("1", 20), ("3", 30)] {
        store.seen(new("x", digest, NOON + at)).await.unwrap();
    }
    store.seen(new("y", "1", NOON + 40)).await.unwrap();
    let kept = async |since, limit| {
        store.kept("a".into(), "x".into(), NOON + since, limit).await.unwrap().concat()
    };
    assert_eq!(kept(0, 10).await, "312");
    assert_eq!(kept(0, 2).await, "31");
    assert_eq!(kept(11, 10).await, "31");
    // One that a session still holds is as young as that, and what was said later by an older word does not age it.
    store.held("a".into(), vec![("x".into(), "2".into())], NOON + 50).await.unwrap();
    store.held("a".into(), vec![("x".into(), "2".into())], NOON + 5).await.unwrap();
    assert_eq!(kept(21, 10).await, "23");
    assert!(store.kept("b".into(), "x".into(), 0, 10).await.unwrap().is_empty());
}

pub async fn a_server_that_never_holds_still_is_bounded(store: &dyn Store) {
    let new = |n: u64| NewRevision {
        server: "a".into(),
        tool: "x".into(),
        digest: n.to_string(),
        definition: "{}".into(),
        at: NOON,
    };
    let all = (1..=store::limits::REVISIONS).map(new).collect();
    let seen = store.seen_all(all).await.unwrap();
    assert_eq!(seen.last().unwrap().ordinal, store::limits::REVISIONS);
    // The oldest goes, and the tool goes on: what it was called and when it was there stays in the journal.
    let more = store.seen(new(0)).await.unwrap();
    assert_eq!((more.new, more.ordinal), (true, store::limits::REVISIONS + 1));
    assert!(!store.seen(new(5)).await.unwrap().new);
    let kept = store.revisions("a".into()).await.unwrap();
    assert!(kept.iter().all(|revision| revision.digest != "1"));
    assert!(store.seen(new(1)).await.unwrap().new);
    assert_eq!(store.records().await.unwrap(), 1 + store::limits::REVISIONS + 2);
}

pub async fn a_server_with_more_lists_than_are_kept_goes_on(store: &dyn Store) {
    let list = |n: u64| NewList {
        server: "a".into(),
        scope: String::new(),
        digest: n.to_string(),
        tools: vec![("x".into(), n.to_string())],
        pages: None,
        at: NOON + n,
    };
    let most = store::limits::LISTS;
    for n in 0..=most {
        store.list_seen(list(n)).await.unwrap();
    }
    assert!(store.list("a".into(), "0".into()).await.unwrap().is_none());
    for n in [1, most] {
        assert!(store.list("a".into(), n.to_string()).await.unwrap().is_some());
    }
    assert_eq!(store.servers().await.unwrap(), ["a"]);
}

pub async fn a_server_that_rewords_large_lists_does_not_fill_the_disk(store: &dyn Store) {
    let large = "x".repeat(store::limits::DEFINITION_BYTES - 9);
    let fit = store::limits::SERVER_BYTES / large.len() as u64;
    let definition = |n: u64| store.definition("a".into(), "x".into(), n.to_string());
    for n in 1..=fit + 4 {
        let new = NewRevision {
            server: "a".into(),
            tool: "x".into(),
            digest: n.to_string(),
            definition: format!("{n} {large}"),
            at: NOON + n,
        };
        assert!(store.seen(new).await.unwrap().new);
        let list = NewList {
            server: "a".into(),
            scope: String::new(),
            digest: n.to_string(),
            tools: vec![("x".into(), n.to_string())],
            pages: Some(large.clone()),
            at: NOON + n,
        };
        store.list_seen(list).await.unwrap();
        if n == 1 {
            let grant = NewGrant {
                server: "a".into(),
                scope: String::new(),
                tool: "x".into(),
                digest: "1".into(),
                how: GrantHow::FirstSeen,
                by: "agent".into(),
                at: NOON,
            };
            store.grant(grant).await.unwrap();
        }
    }
    assert!(definition(1).await.unwrap().is_some(), "what was granted by is kept");
    assert!(definition(2).await.unwrap().is_none(), "what was there longest ago is not");
    assert!(definition(fit + 4).await.unwrap().is_some(), "what is listed is");
    let lists = store.lists("a".into(), None, 1_000).await.unwrap();
    assert!(lists.len() as u64 <= fit, "{} lists", lists.len());
    assert_eq!(lists[0].digest, (fit + 4).to_string());
    assert_eq!(store.revisions("a".into()).await.unwrap().len() as u64, fit + 4);
    // One that comes back is there again.
    let again = NewRevision {
        server: "a".into(),
        tool: "x".into(),
        digest: "2".into(),
        definition: "{}".into(),
        at: NOON + 99,
    };
    assert!(!store.seen(again).await.unwrap().new);
    assert_eq!(definition(2).await.unwrap().as_deref(), Some("{}"));
}

/// One grant is looked up as it is found among all of them.
async fn same_grant(store: &dyn Store, tool: &str) {
    let all = store.grants("a".into()).await.unwrap();
    for scope in ["legacy", "modern", "other", ""] {
        let one = store.grant_of("a".into(), scope.into(), tool.into()).await.unwrap();
        assert_eq!(one.as_ref(), Grant::in_scope(&all, scope, tool), "{scope} {tool}");
    }
}
