//! Actions from outside: a client on a pipe, a vault that is held open, and an HTTP server on loopback as the judge.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use vault::keeper::{self, Keeper};
use vault::{Entry, Kind, Secret, Vault};
use zeroize::Zeroizing;

const CANARY: &str = "canary-5up3r/secret+value";

/// A server that records what reached it and errs as its path says.
struct Judge {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Judge {
    fn start(elsewhere: u16) -> Judge {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = answer(stream.unwrap(), &kept, elsewhere);
            }
        });
        Judge { port, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>, elsewhere: u16) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let text = loop {
        let count = stream.read(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break text;
            }
        }
        if count == 0 {
            return Ok(());
        }
    };
    seen.lock().unwrap().push(text.clone());
    let path = text.split(' ').nth(1).unwrap();
    let whole = |body: &str, more: &str| {
        format!("HTTP/1.1 200 OK\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
    };
    let reply = match path.split('?').next().unwrap() {
        "/echo" => {
            // The value comes back in two chunks.
            let (one, two) = CANARY.split_at(9);
            format!(
                "HTTP/1.1 200 OK\r\nx-api-key: {CANARY}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
                one.len(),
                two.len()
            )
        }
        "/escaped" => whole("{\"v\": \"\\u0063anary-5up3r/secret+value\"}", ""),
        "/zip" => whole("not really zipped", "content-encoding: gzip\r\n"),
        "/away" => format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:{elsewhere}/plain\r\ncontent-length: 0\r\n\r\n"
        ),
        "/cut" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"half\":".to_owned(),
        "/silent" => String::new(),
        "/broken" => "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "/no" => "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => whole("{\"id\": 9007199254740993}", ""),
    };
    stream.write_all(reply.as_bytes())
}

/// A client of the actions.
struct Client {
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    said: String,
    next: u64,
}

impl Client {
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let text = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
        let line = self.lines.next_line().await.unwrap().unwrap();
        self.said.push_str(&line);
        serde_json::from_str(&line).unwrap()
    }

    async fn call(&mut self, tool: &str) -> Value {
        let arguments = json!({"project": "shop"});
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer["result"]["structuredContent"].clone()
    }
}

fn binding(name: &str, port: u16, effect: &str) -> String {
    format!(
        "[bindings.{name}]\ndescription = \"Does it.\"\norigin = \"http://127.0.0.1:{port}\"\nmethod = \"POST\"\npath = \"/{name}\"\nbody = '{{\"project\": \"{{project}}\"}}'\nquery = {{ p = \"{{project}}\" }}\ncredential = \"shop\"\nnetworks = [\"127.0.0.0/8\"]\neffect = \"{effect}\"\n[bindings.{name}.arguments.project]\ntype = \"string\"\n"
    )
}

fn serving(file: PathBuf, vault: PathBuf) -> Client {
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        let (input, output) = tokio::io::split(far);
        action::serve(&file, &[], &vault, input, output).await.unwrap();
    });
    let (read, write) = tokio::io::split(near);
    Client { write, lines: BufReader::new(read).lines(), said: String::new(), next: 0 }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_credential_reaches_its_place_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault");
    let other = Judge::start(0);
    let judge = Judge::start(other.port);
    let mut vault = Vault::create(&path, "correct horse").ok().unwrap();
    let entry = Entry {
        label: "shop".to_owned(),
        kind: Kind::Bearer,
        origins: vec![format!("http://127.0.0.1:{}", judge.port)],
        version: 1,
        at: 1,
    };
    let secret = Secret::new(Zeroizing::new(CANARY.as_bytes().to_vec())).ok().unwrap();
    vault.add(entry, &secret).unwrap();

    let mut text = String::new();
    for name in ["plain", "echo", "escaped", "zip", "away", "cut", "silent", "broken", "no"] {
        text.push_str(&binding(name, judge.port, "write"));
    }
    text.push_str(&binding("foreign", other.port, "write"));
    text.push_str(
        &binding("look", judge.port, "read").replace("path = \"/look\"", "path = \"/silent\""),
    );
    text.push_str(
        &binding("denied", judge.port, "write").replace("networks = [\"127.0.0.0/8\"]\n", ""),
    );
    let nobody = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port() };
    text.push_str(&binding("nobody", nobody, "write"));
    let file = folder.path().join("actions.toml");
    std::fs::write(&file, &text).unwrap();
    let mut client = serving(file.clone(), path.clone());

    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 13);

    // Locked: nothing is sent.
    let locked = client.call("plain").await;
    assert_eq!(locked["outcome"], "not_sent");
    assert!(locked["notes"][0].as_str().unwrap().contains("locked"), "{locked}");
    assert!(judge.seen().is_empty());

    let keeper = Keeper::open(&path).ok().unwrap();
    assert!(Keeper::open(&path).is_err(), "one at a time");
    let held = std::thread::spawn(move || keeper.serve(&vault));

    let done = client.call("plain").await;
    assert_eq!(
        (&done["outcome"], &done["credential"], &done["credential_version"]),
        (&json!("done"), &json!("shop"), &json!(1)),
        "{done}"
    );
    assert_eq!(done["body"].to_string(), "{\"id\":9007199254740993}");
    let request = judge.seen().pop().unwrap();

    // What leaves is what was foretold, byte for byte, and nothing that is added on the way.
    let body = "{\"project\":\"shop\"}";
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "POST /plain?p=shop HTTP/1.1\r\nhost: 127.0.0.1:{}\r\naccept: application/json, text/*;q=0.5\r\naccept-encoding: identity\r\nuser-agent: steadfast/{version}\r\nauthorization: Bearer {CANARY}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        judge.port,
        body.len()
    );
    assert_eq!(request, expected);
    let arguments = json!({"project": "shop"});
    let asked = json!({"name": "plain", "arguments": arguments});
    let foretold = client.ask("steadfast/foretell", asked.clone()).await["result"].clone();
    let shown = &foretold["shown"];
    assert_eq!((&shown["target"], &shown["body"]), (&json!("/plain?p=shop"), &json!(body)));
    assert_eq!((&shown["credential"], &shown["credential_version"]), (&json!("shop"), &json!(1)));
    assert_eq!(judge.seen().len(), 1, "nothing leaves where it is only foretold");
    for (digest, outcome) in [
        (foretold["digest"].clone(), "done"),
        (json!("sha256:00"), "not_sent"),
        (json!(7), "not_sent"),
    ] {
        let mut approved = asked.clone();
        approved["_meta"] = json!({"steadfast/approved": digest});
        let answer = client.ask("tools/call", approved).await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], outcome, "{answer}");
    }
    assert_eq!(judge.seen().len(), 2, "nothing but what was approved leaves");
    let mut wrong = asked.clone();
    wrong["arguments"] = json!({"project": 1});
    let unsent = client.ask("steadfast/foretell", wrong).await;
    assert_eq!(unsent["result"]["unsent"], json!({"state": "not_sent", "why": "arguments"}));

    let echo = client.call("echo").await;
    assert_eq!((&echo["body"], &echo["redacted"]), (&json!("[credential]"), &json!(1)), "{echo}");
    for withheld in ["escaped", "zip"] {
        let answer = client.call(withheld).await;
        assert_eq!(
            (&answer["outcome"], &answer["body"]),
            (&json!("done"), &Value::Null),
            "{answer}"
        );
        assert!(answer["notes"].to_string().contains("withheld"), "{answer}");
    }
    for (tool, outcome) in [
        ("away", "failed"),
        ("no", "failed"),
        ("cut", "in_doubt"),
        ("silent", "in_doubt"),
        ("broken", "in_doubt"),
        ("look", "failed"),
    ] {
        let before = judge.seen().len();
        let answer = client.call(tool).await;
        assert_eq!(answer["outcome"], outcome, "{tool}: {answer}");
        assert_eq!(judge.seen().len(), before + 1, "{tool} is sent once");
    }
    let before = judge.seen().len();
    for tool in ["foreign", "denied", "nobody"] {
        let answer = client.call(tool).await;
        assert_eq!(answer["outcome"], "not_sent", "{tool}: {answer}");
    }
    assert!(other.seen().is_empty(), "no redirect is followed, and no other place is asked");
    assert_eq!(judge.seen().len(), before);

    // Another binding than the one that was listed is not carried out, and is listed as another contract.
    std::fs::write(&file, text.replace("path = \"/plain\"", "path = \"/plain/all\"")).unwrap();
    let stale = client.call("plain").await;
    assert_eq!(stale["outcome"], "not_sent", "{stale}");
    assert_eq!(judge.seen().len(), before);
    let again = client.ask("tools/list", json!({})).await;
    let tool = |list: &Value| {
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == "plain").unwrap().clone()
    };
    assert_ne!(tool(&again)["outputSchema"], tool(&listed)["outputSchema"]);
    assert_eq!(client.call("plain").await["outcome"], "done");

    // What the agent writes is no header and no other argument.
    let arguments = json!({"project": "shop", "Authorization": "Bearer mine"});
    let params = json!({"name": "plain", "arguments": arguments});
    let refused = client.ask("tools/call", params).await;
    assert_eq!(refused["result"]["structuredContent"]["outcome"], "not_sent");

    keeper::lock(&path).unwrap();
    held.join().unwrap();
    assert_eq!(client.call("plain").await["outcome"], "not_sent");
    assert!(!client.said.contains("canary"), "the agent's side holds the credential");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "a file holds the credential");
    }
}
