//! `steadfast setup`: configurations of clients, before and after and back.

use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A home with a project in it.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.at("project")).unwrap();
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    fn setup(&self, arguments: &[&str]) -> (i32, String) {
        let done = Command::new(env!("CARGO_BIN_EXE_steadfast"))
            .arg("setup")
            .args(arguments)
            .current_dir(self.at("project"))
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.at(".config"))
            .env_remove("CODEX_HOME")
            .output()
            .unwrap();
        let both = [done.stdout, done.stderr].concat();
        (done.status.code().unwrap(), String::from_utf8(both).unwrap())
    }
}

fn copies(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned() + ".before-steadfast";
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    entries.filter(|e| e.as_ref().unwrap().file_name().to_str().unwrap().starts_with(&name)).count()
}

const ODD: &str = "{\n  // mine\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"uvx\",\n      \"args\": [\n        \"mcp-server-git\",\n      ],\n      \"env\": {\"N\": \"1\"}\n    },\n    \"far\": {\"url\": \"https://example.com/mcp\"}\n  },\n  \"other\": 1.50\n}\n";

#[test]
fn every_client_is_set_up_where_it_keeps_its_configuration_and_back() {
    let toml =
        "model = \"m\" # mine\n[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"mcp-server-git\"]\n";
    let servers = ODD.replace("mcpServers", "servers");
    let projects = json!({"projects": {"/p": {"mcpServers": {"git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"]}}}}});
    let projects = projects.to_string();
    for (client, path, text) in [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", ODD),
        ("claude-code", "project/.mcp.json", ODD),
        ("claude-code", ".claude.json", &projects),
        ("cursor", "project/.cursor/mcp.json", ODD),
        ("cursor", ".cursor/mcp.json", ODD),
        ("vscode", "project/.vscode/mcp.json", &servers),
        ("vscode", ".config/Code/User/mcp.json", &servers),
        ("windsurf", ".codeium/windsurf/mcp_config.json", ODD),
        ("gemini", ".gemini/settings.json", ODD),
        ("codex", ".codex/config.toml", toml),
    ] {
        let home = Home::new();
        home.put(path, text);
        let (code, said) = home.setup(&["--client", client, "--dry-run"]);
        assert_eq!((code, home.get(path).as_str()), (0, text), "{said}");
        assert!(said.contains("git: steadfast wrap -- uvx mcp-server-git"), "{client}: {said}");

        let (code, said) = home.setup(&["--client", client]);
        assert_eq!(code, 0, "{said}");
        let wrapped = home.get(path);
        assert!(
            wrapped.contains("\"wrap\"") && wrapped.contains(env!("CARGO_BIN_EXE_steadfast")),
            "{wrapped}"
        );
        let (_, again) = home.setup(&["--client", client]);
        assert_eq!(home.get(path), wrapped, "twice is once");
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(copies(&home.at(path)), 1);

        let (code, said) = home.setup(&["--client", client, "--undo"]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(home.get(path), text, "{client}");
        assert_eq!(copies(&home.at(path)), 0);
    }
}

#[test]
fn what_was_changed_since_is_kept_when_it_is_undone() {
    let home = Home::new();
    home.put("project/.mcp.json", ODD);
    home.setup(&["--client", "claude-code"]);
    let edited = home.get("project/.mcp.json").replace("1.50", "\"new\"");
    home.put("project/.mcp.json", &edited);
    let (code, said) = home.setup(&["--client", "claude-code", "--undo"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(home.get("project/.mcp.json"), ODD.replace("1.50", "\"new\""));
    assert_eq!(copies(&home.at("project/.mcp.json")), 1, "the copy is still there");
}

#[test]
fn one_server_alone_and_files_by_name() {
    let home = Home::new();
    home.put("x.json", r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "args": ["--token", "secret-value"]}}}"#);
    let file = home.at("x.json");
    let file = file.to_str().unwrap();
    let (code, said) =
        home.setup(&["--client", "cursor", "--file", file, "--server", "b", "--format", "json"]);
    assert_eq!(code, 0, "{said}");
    let done: Value = serde_json::from_str(said.split("note:").next().unwrap()).unwrap();
    let deeds: Vec<&Value> =
        done["files"][0]["servers"].as_array().unwrap().iter().map(|s| &s["deed"]).collect();
    assert_eq!(deeds, ["left", "wrapped"]);
    let read: Value = serde_json::from_str(&home.get("x.json")).unwrap();
    assert_eq!(read["mcpServers"]["a"], json!({"command": "a"}));
    assert_eq!(
        read["mcpServers"]["b"]["args"],
        json!(["wrap", "--", "b", "--token", "secret-value"])
    );
    let copy = home.at("x.json.before-steadfast");
    assert_eq!(std::fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, said) = home.setup(&["--client", "cursor", "--file", file, "--server", "c"]);
    assert_eq!(code, 2);
    assert!(said.contains("No server of this name is configured"), "{said}");
}

#[test]
fn a_link_stays_a_link_and_bad_files_change_nothing() {
    let home = Home::new();
    home.put("dotfiles/mcp.json", ODD);
    std::fs::create_dir(home.at(".cursor")).unwrap();
    std::os::unix::fs::symlink(home.at("dotfiles/mcp.json"), home.at(".cursor/mcp.json")).unwrap();
    let (code, said) = home.setup(&["--client", "cursor"]);
    assert_eq!(code, 0, "{said}");
    assert!(std::fs::symlink_metadata(home.at(".cursor/mcp.json")).unwrap().is_symlink());
    assert!(home.get("dotfiles/mcp.json").contains("wrap"));

    let (code, said) = home.setup(&["--client", "windsurf"]);
    assert_eq!(code, 2);
    assert!(
        said.contains("No configuration of this client was found")
            && said.contains("mcp_config.json"),
        "{said}"
    );
    // One of two files is broken: neither is touched.
    home.put("project/.mcp.json", ODD);
    home.put(".claude.json", "{\"mcpServers\": {");
    let (code, said) = home.setup(&["--client", "claude-code"]);
    assert_eq!(code, 2);
    assert!(said.contains(".claude.json:1:"), "{said}");
    assert_eq!(home.get("project/.mcp.json"), ODD);
    assert_eq!(copies(&home.at("project/.mcp.json")), 0);
}

#[test]
fn the_wrapped_command_starts() {
    let home = Home::new();
    home.put("project/.mcp.json", r#"{"mcpServers": {"s": {"command": "true"}}}"#);
    home.setup(&["--client", "claude-code"]);
    let read: Value = serde_json::from_str(&home.get("project/.mcp.json")).unwrap();
    let server = &read["mcpServers"]["s"];
    let args = server["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap());
    let done = Command::new(server["command"].as_str().unwrap())
        .args(args)
        .env("XDG_STATE_HOME", home.0.path())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn what_setup_did_not_wrap_is_left_and_no_empty_list_stays() {
    // Both forms in which a person may have wrapped it; one server had no arguments, one an empty list.
    let json = r#"{"mcpServers": {
  "hand": {"command": "/usr/bin/steadfast", "args": ["wrap", "--", "x"]},
  "more": {"command": "steadfast", "args": ["wrap", "--observe", "--", "y"]},
  "bare": {"command": "python"},
  "empty": {"command": "node", "args": []},
  "some": {"command": "npx", "args": ["-y", "s"], "env": {"K": "v"}}
}}"#;
    let toml = "[mcp_servers.hand]\ncommand = \"/usr/bin/steadfast\"\nargs = [\"wrap\", \"--\", \"x\"]\n\n[mcp_servers.bare]\ncommand = \"python\"\n\n[mcp_servers.empty]\ncommand = \"node\"\nargs = []\nenv = { K = \"v\" }\n";
    for (client, path, text) in
        [("cursor", "project/.cursor/mcp.json", json), ("codex", ".codex/config.toml", toml)]
    {
        for edited in [false, true] {
            let home = Home::new();
            home.put(path, text);
            home.setup(&["--client", client]);
            assert!(home.get(path).contains(env!("CARGO_BIN_EXE_steadfast")));
            let changed =
                |text: &str| if edited { text.replace("\"v\"", "\"w\"") } else { text.to_owned() };
            home.put(path, &changed(&home.get(path)));
            let (code, said) = home.setup(&["--client", client, "--undo"]);
            assert_eq!(code, 0, "{said}");
            assert_eq!(home.get(path), changed(text), "{client}, edited {edited}: {said}");
            assert!(said.contains("hand: left as it is: it was not this command"), "{said}");
            assert!(said.contains("bare: taken out; starts as before: python"), "{said}");
        }
    }
}

#[test]
fn without_a_copy_only_what_is_written_as_setup_writes_it_is_taken_out() {
    let home = Home::new();
    home.put(".cursor/mcp.json", r#"{"mcpServers": {"s": {"command": "/opt/old/steadfast", "args": ["wrap", "--", "a"]}, "h": {"command": "steadfast", "args": ["wrap", "--", "b"]}, "o": {"command": "/opt/steadfast", "args": ["wrap", "--observe", "--", "c"]}}}"#);
    let (code, said) = home.setup(&["--client", "cursor", "--undo"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        home.get(".cursor/mcp.json"),
        r#"{"mcpServers": {"s": {"command": "a"}, "h": {"command": "steadfast", "args": ["wrap", "--", "b"]}, "o": {"command": "/opt/steadfast", "args": ["wrap", "--observe", "--", "c"]}}}"#
    );
}
