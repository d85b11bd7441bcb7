//! What `steadfast gateway` says of its settings before anything is started.

use crate::run::Folder;

#[test]
fn a_check_refuses_what_a_start_refuses() {
    for member in ["on-wider = \"hold\"", "on-wider = \"hold-effects\"", "hold-effects = true"] {
        let folder = Folder::new();
        folder.file("steadfast.toml", format!("[server.f]\ncommand = [\"true\"]\n{member}\n"));
        for arguments in [
            vec!["gateway", "--check", "--store", "state.db"],
            vec!["gateway", "--store", "state.db"],
        ] {
            let outcome = folder.run(&arguments).code(2);
            let place = format!("steadfast.toml:3:{}: ", member.find('=').unwrap() + 3);
            assert!(outcome.err.contains(&place), "{place}\n{}", outcome.err);
            assert!(outcome.err.contains("nobody is enrolled"), "{}", outcome.err);
        }
        assert!(!folder.names().contains("state.db"));
        let observed = format!("[server.f]\ncommand = [\"true\"]\n{member}\nobserve = true\n");
        folder
            .file("steadfast.toml", observed)
            .run(&["gateway", "--check", "--store", "state.db"])
            .code(0);
    }
}

#[test]
fn all_problems_come_in_one_round_in_the_order_of_the_file() {
    let folder = Folder::new();
    folder.file(
        "steadfast.toml",
        r#"[gateway]
bogus = 1
[server.e]
url = "ftp://x"
[server.h]
command = ["true"]
adapters = "nofile.toml"
[server.j]
url = "http://y:1/mcp"
headers-from-env = ["Authorization=NOT_SET_ANYWHERE"]
[server.k]
adapters = "none.toml"
[server.m]
command = ["true"]
on-wider = "hold"
[server.n]
command = ["true"]
on-wider = "maybe"
"#,
    );
    let outcome = folder.run(&["gateway", "--check", "--store", "state.db"]).code(2);
    let mut rest = outcome.err.as_str();
    for expected in [
        "steadfast.toml:2:1: \"bogus\" is not known",
        "steadfast.toml:4:7: ",
        "steadfast.toml:7:12: `nofile.toml`: There is no such file",
        "taken from the folder of this file",
        "steadfast.toml:10:20: ",
        "steadfast.toml:11:9: How k is reached is missing here.",
        "steadfast.toml:12:12: `none.toml`",
        "steadfast.toml:15:12: Calls are to be held",
        "steadfast.toml:18:12: \"maybe\" is no value of on-wider.",
    ] {
        let Some((_, after)) = rest.split_once(expected) else {
            panic!("{expected}\n{}", outcome.err);
        };
        rest = after;
    }
    assert_eq!(outcome.err.matches("error: ").count(), 8, "{}", outcome.err);
    assert!(!outcome.err.contains("current folder"), "{}", outcome.err);
}

#[test]
fn hosts_and_origins_that_no_request_could_carry_are_problems() {
    let check = |member: &str, word: &str| {
        let folder = Folder::new();
        let text =
            format!("[gateway]\n{member} = [\"{word}\"]\n[server.f]\ncommand = [\"true\"]\n");
        folder.file("steadfast.toml", text).run(&["gateway", "--check", "--store", "state.db"])
    };
    for (member, word) in [
        ("hosts", "http://x"),
        ("hosts", "x/mcp"),
        ("hosts", "x:7420"),
        ("hosts", "*"),
        ("hosts", "*.example.com"),
        ("hosts", ""),
        ("hosts", "[::1]"),
        ("hosts", "bücher.example"),
        ("origins", "*"),
        ("origins", "https://*.example.com"),
        ("origins", "null"),
        ("origins", "chat.example.com"),
        ("origins", "https://chat.example.com/page"),
        ("origins", "https://chat.example.com:443"),
        ("origins", "https://"),
        ("origins", "https://x:99999"),
        ("origins", "https://me@x"),
    ] {
        let outcome = check(member, word).code(2);
        let expected = format!(
            "steadfast.toml:2:{}: \"{word}\" can stand for nobody in {member}.",
            member.len() + 5
        );
        assert!(outcome.err.contains(&expected), "{expected}\n{}", outcome.err);
    }
    for (member, word) in [
        ("hosts", "gate.example.com"),
        ("hosts", "gate_1"),
        ("hosts", "10.0.0.7"),
        ("hosts", "fd00::7"),
        ("origins", "https://Chat.example.com/"),
        ("origins", "http://localhost:6274"),
        ("origins", "http://[::1]:3"),
        ("origins", "vscode-webview://0a1b"),
        ("origins", "http://x:443"),
    ] {
        check(member, word).code(0);
    }
}

#[test]
fn the_store_of_tokens_stands_before_or_after_what_is_done() {
    let folder = Folder::new();
    folder.run(&["token", "add", "ci", "--store", "state.db"]).code(0);
    folder.run(&["token", "list", "--store", "state.db"]).code(0).says("ci");
    folder.run(&["token", "--store", "state.db", "list"]).code(0).says("ci");
}
