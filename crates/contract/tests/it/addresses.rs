//! What a call is sent to is the base address and the path together.

use contract::{Bundle, Contract, Diff, Options, Verdict, diff, document};
use serde_json::{Value, json};

fn api(server: &str, paths: &[&str]) -> Contract {
    let done = json!({"get": {"responses": {"204": {"description": "done"}}}});
    let paths: serde_json::Map<String, Value> =
        paths.iter().map(|path| ((*path).to_owned(), done.clone())).collect();
    let root = json!({
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": server}],
        "paths": paths
    });
    let bundle = Bundle { name: "t".into(), root, files: Default::default() };
    document::read(bundle).expect("the document is sound").contract
}

fn compared(old: &Contract, new: &Contract) -> Diff {
    diff(old, new, &Options::default()).expect("both are sound")
}

#[test]
fn a_base_path_may_stand_on_either_side() {
    let old = api("https://a.example/v1", &["/projects", "/projects/{id}"]);
    let new = api("https://a.example", &["/v1/projects", "/v1/projects/{number}"]);
    for (one, other) in [(&old, &new), (&new, &old)] {
        let found = compared(one, other);
        assert_eq!(found.verdict, Verdict::Safe, "{found:#?}");
        assert!(found.entries.iter().all(|entry| entry.to.is_some()), "{found:#?}");
    }
}

#[test]
fn another_address_is_another_address() {
    let old = api("https://a.example/v1", &["/projects"]);
    for new in [
        api("https://a.example", &["/v2/projects"]),
        api("https://b.example", &["/v1/projects"]),
        api("https://a.example/v1", &["/v1/projects"]),
        api("https://a.example", &["/projects"]),
    ] {
        assert!(compared(&old, &new).verdict > Verdict::Safe);
    }
}
