//! `steadfast console` over real sockets: who comes in, what is shown, and what is done there.

use crate::approvals::{OWN, PASSPHRASE, before, enrolled, holding, waiting, wider};
use crate::live::{Era, Live, code, ran};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);

/// A running console, and the session that its link opened.
struct Page {
    host: String,
    link: String,
    session: String,
    /// Ends with it.
    _child: Box<dyn Send>,
}

/// An answer as it came.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_else(|| panic!("{}", self.body)).to_owned()
    }
}

/// Writes a request byte by byte as it is given, and reads the answer to its end.
async fn raw(host: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an answer").unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: Vec<String> = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    format!(
        "{method} {path} HTTP/1.1\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        headers.concat(),
        body.len()
    )
}

impl Page {
    /// One that decides: the passphrase is typed at its terminal.
    async fn deciding(store: &Path, flags: &[&str]) -> Page {
        let (mut pty, pts) = pty_process::open().unwrap();
        let command = pty_process::Command::new(OWN).arg("console").args(flags).arg("--store");
        let child = command.arg(store).kill_on_drop(true).spawn(pts).unwrap();
        let (mut shown, mut buffer) = (String::new(), [0; 4096]);
        let talk = async {
            loop {
                let count = pty.read(&mut buffer).await.unwrap_or(0);
                assert!(count > 0, "it ended: {shown}");
                shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
                if shown.ends_with("(none: read only): ") {
                    pty.write_all(format!("{PASSPHRASE}\r").as_bytes()).await.unwrap();
                }
                if let Some((_, rest)) = shown.split_once("http://")
                    && let Some((link, _)) = rest.split_once('\n')
                {
                    return link.trim().to_owned();
                }
            }
        };
        let link = timeout(PATIENCE, talk).await.expect("it starts");
        Page::at(&link, Box::new((child, pty))).await
    }

    /// One that only shows.
    async fn reading(store: &Path) -> Page {
        let mut child = tokio::process::Command::new(OWN)
            .args(["console", "--read-only", "--store"])
            .arg(store)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("it starts").unwrap().unwrap();
        Page::at(line.trim_start_matches("http://"), Box::new((child, lines))).await
    }

    async fn at(link: &str, child: Box<dyn Send>) -> Page {
        let (host, token) = link.split_once("/#").unwrap();
        assert!(host.starts_with("127.0.0.1:") && token.len() == 64, "{link}");
        let (host, link) = (host.to_owned(), format!("http://{link}"));
        Page { session: token.to_owned(), host, link, _child: child }
    }

    /// Uses the link up.
    async fn opened(mut self) -> Page {
        let answer = self.post("/session", &[], "").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        self.session = answer.json()["session"].as_str().unwrap().to_owned();
        self
    }

    async fn get(&self, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.session);
        raw(
            &self.host,
            &request("GET", path, &[("Host", &self.host), ("Authorization", &bearer)], ""),
        )
        .await
    }

    async fn post(&self, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let (bearer, origin) =
            (format!("Bearer {}", self.session), format!("http://{}", self.host));
        let mut headers = vec![
            ("Host", self.host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Origin", origin.as_str()),
            ("Content-Type", "application/json"),
        ];
        headers.extend(more);
        raw(&self.host, &request("POST", path, &headers, body)).await
    }

    async fn act(&self, act: &str, body: Value) -> Answer {
        self.post(&format!("/do/{act}"), &[], &body.to_string()).await
    }

    /// What a page shows.
    async fn part(&self, path: &str) -> String {
        let answer = self.get(&format!("/part/{path}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains("cannot be read"), "{path}: {}", answer.body);
        answer.body
    }

    /// What a page shows once it shows that.
    async fn until(&self, path: &str, wanted: &str) -> String {
        for _ in 0..600 {
            let shown = self.part(path).await;
            if shown.contains(wanted) {
                return shown;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("{path} never shows {wanted}: {}", self.part(path).await);
    }
}

/// An attribute of the first element that has it.
fn attribute(page: &str, name: &str) -> String {
    let start = page.find(&format!("{name}=\"")).unwrap_or_else(|| panic!("no {name}: {page}"));
    page[start + name.len() + 2..].split('"').next().unwrap().to_owned()
}

/// What names the one card of a page.
fn card(page: &str) -> Value {
    json!({"id": attribute(page, "data-id"), "action_digest": attribute(page, "data-digest")})
}

/// Waits until the call that was approved ran: at once, or, where the person took longer than clients wait, when the
/// client makes it again.
async fn carried(live: &mut Live, call: u64, arguments: &Value) {
    let answer = live.answer(&json!(call)).await;
    if !ran(&answer) {
        assert_eq!(code(&answer), "APPROVAL_PENDING", "{answer}");
        let again = live.call("deploy", arguments.clone()).await;
        assert!(ran(&again), "{again}");
    }
}

#[tokio::test]
async fn a_held_call_runs_once_when_it_is_approved_on_the_page() {
    let mut live = holding(json!({"phases": [before()]})).await;
    let page = Page::deciding(&live.store(), &[]).await.opened().await;
    assert!(page.part("approvals").await.contains("Nothing waits for a person"));
    let call = json!({"name": "deploy", "arguments": {"project": "shop"}});
    let first = live.begin("tools/call", call.clone()).await;
    let shown = page.until("approvals", "data-ask=\"approve\"").await;
    for wanted in [
        "may destroy",
        "1 object",
        "shop",
        "Does one thing.",
        "no call of this tool was approved",
        "You decide as",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains('{'), "no raw JSON on the card: {shown}");

    let one = card(&shown);
    let mut other = one.clone();
    other["action_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let refused = page.act("approve", other).await;
    assert_eq!(refused.status, 409);
    assert!(refused.error().contains("not what was shown"), "{}", refused.body);
    assert!(live.reached().is_empty(), "nothing was sent");

    let done = page.act("approve", one.clone()).await;
    assert_eq!(done.status, 200, "{}", done.body);
    carried(&mut live, first, &json!({"project": "shop"})).await;
    assert_eq!(live.reached(), [json!({"project": "shop"})]);
    let again = page.act("approve", one).await;
    assert_eq!(again.status, 409, "{}", again.body);
    assert!(again.error().contains("already"), "{}", again.body);

    // Denied on the page: the client is told so, and nothing is sent.
    let second = live.begin("tools/call", call).await;
    let shown = page.until("approvals", "data-ask=\"deny\"").await;
    assert!(shown.contains("the same arguments were approved"), "{shown}");
    assert_eq!(page.act("deny", card(&shown)).await.status, 200);
    assert_eq!(code(&live.answer(&json!(second)).await), "APPROVAL_DENIED");
    assert_eq!(live.reached().len(), 1);

    let activity = page.part("activity").await;
    assert!(
        activity.contains("<strong>left</strong>") && activity.contains("did not leave"),
        "{activity}"
    );
    live.leave().await;
}

#[tokio::test]
async fn what_moved_meanwhile_cannot_be_approved_on_the_page() {
    let mut live = holding(json!({"phases": [before(), wider()]})).await;
    let call =
        live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let page = Page::deciding(&live.store(), &[]).await.opened().await;
    let one = card(&page.until("approvals", "data-ask=\"approve\"").await);
    live.recorder.switch(1);
    live.list().await;
    assert_eq!(code(&live.answer(&json!(call)).await), "APPROVAL_VOID");
    let late = page.act("approve", one).await;
    assert_eq!(late.status, 409);
    assert!(late.error().contains("void already"), "{}", late.body);
    assert!(live.reached().is_empty());

    // Drift shows who plans with what, and what changed; exactly what was shown is accepted.
    let drift = page.until("drift?server=scripted", "data-ask=\"accept\"").await;
    for wanted in ["Who plans with what", "Timeline", "Listed and not granted", "#2"] {
        assert!(drift.contains(wanted), "{wanted}: {drift}");
    }
    let to = attribute(&drift, "data-go data-open href").replace("&amp;", "&");
    let diff = page.part(to.trim_start_matches('/')).await;
    assert!(diff.contains("account_id") && diff.contains("SF"), "{diff}");
    let mut wanted = json!({
        "server": attribute(&drift, "data-server"), "scope": attribute(&drift, "data-scope"),
        "tool": attribute(&drift, "data-tool"), "digest": "sha256:00",
    });
    let refused = page.act("accept", wanted.clone()).await;
    assert!(refused.error().contains("another contract than was shown"), "{}", refused.body);
    wanted["digest"] = json!(attribute(&drift, "data-digest"));
    let accepted = page.act("accept", wanted).await;
    assert_eq!(accepted.status, 200, "{}", accepted.body);
    let (_, out, _) = live.person(&["accept", "scripted", "--yes"]).await;
    assert!(out.contains("granted already"), "{out}");
    live.leave().await;
}

#[tokio::test]
async fn only_its_own_page_with_a_session_comes_in() {
    let live = holding(json!({"phases": [before()]})).await;
    let (_, token, _) = live.person(&["token", "add", "agent"]).await;
    let closed = Page::deciding(&live.store(), &[]).await;
    let host = closed.host.clone();
    let link = closed.session.clone();
    let page = closed.opened().await;

    // A link opens once; neither it nor a token of the gateway is a session.
    let bearer = |token: &str| format!("Bearer {token}");
    let own = format!("http://{host}");
    let used = request(
        "POST",
        "/session",
        &[("Host", &host), ("Origin", &own), ("Authorization", &bearer(&link))],
        "",
    );
    assert_eq!(raw(&host, &used).await.status, 401);
    let agents: Vec<&str> = token.split_whitespace().filter(|word| word.len() > 20).collect();
    assert!(!agents.is_empty(), "{token}");
    for token in agents.into_iter().chain([link.as_str(), "", "0"]) {
        for path in ["/part/approvals", "/live", "/part/nothing"] {
            let asked =
                request("GET", path, &[("Host", &host), ("Authorization", &bearer(token))], "");
            assert_eq!(raw(&host, &asked).await.status, 401, "{path}");
        }
        for act in ["approve", "deny", "accept", "verify", "export", "resolve"] {
            let headers = [
                ("Host", host.as_str()),
                ("Origin", &own),
                ("Authorization", &bearer(token)),
                ("Content-Type", "application/json"),
            ];
            let asked = request("POST", &format!("/do/{act}"), &headers, "{}");
            assert_eq!(raw(&host, &asked).await.status, 401, "{act}");
        }
    }
    let bare = request("GET", "/part/approvals", &[("Host", &host)], "");
    assert_eq!(raw(&host, &bare).await.status, 401);

    // With a good session, from elsewhere.
    let good = bearer(&page.session);
    for other in ["evil.example", "127.0.0.1:1", "localhost", &format!("{host}.evil.example")] {
        for path in ["/", "/console.js", "/part/approvals", "/live"] {
            let asked = request("GET", path, &[("Host", other), ("Authorization", &good)], "");
            assert_eq!(raw(&host, &asked).await.status, 403, "{other} {path}");
        }
    }
    for other in ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let headers = [
            ("Host", host.as_str()),
            ("Origin", other),
            ("Authorization", &good),
            ("Content-Type", "application/json"),
        ];
        let asked = request("POST", "/do/verify", &headers, "{}");
        assert_eq!(raw(&host, &asked).await.status, 403, "{other}");
        let asked = request("GET", "/part/approvals", &headers, "");
        assert_eq!(raw(&host, &asked).await.status, 403, "{other}");
    }
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", good.as_str()),
        ("Content-Type", "application/json"),
    ];
    let unnamed = request("POST", "/do/verify", &headers, "{}");
    assert_eq!(raw(&host, &unnamed).await.status, 403, "who changes something says from where");
    let two = request(
        "GET",
        "/part/approvals",
        &[("Host", &host), ("Host", "evil.example"), ("Authorization", &good)],
        "",
    );
    assert!([400, 403].contains(&raw(&host, &two).await.status));

    // Acts are posts, of JSON, and small.
    assert_eq!(page.get("/do/approve").await.status, 405);
    let form = [
        ("Host", host.as_str()),
        ("Origin", &own),
        ("Authorization", &good),
        ("Content-Type", "text/plain"),
    ];
    assert_eq!(raw(&host, &request("POST", "/do/verify", &form, "{}")).await.status, 415);
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(20_000));
    assert_eq!(page.post("/do/approve", &[], &long).await.status, 413);
    assert_eq!(page.act("anything", json!({})).await.status, 404);
    assert_eq!(page.get("/part/anything").await.status, 404);
    assert_eq!(page.get("/anything").await.status, 404);
    assert_eq!(page.act("approve", json!({"id": "x", "action_digest": "y"})).await.status, 409);

    // Every answer is fenced.
    for path in [
        "/", "/approvals", "/console.js", "/console.css", "/icon.svg", "/part/approvals",
        "/nothing",
    ] {
        let answer = page.get(path).await;
        let policy = answer.head.lines().find(|l| l.starts_with("content-security-policy: "));
        let policy = policy.unwrap_or_else(|| panic!("{path}: {}", answer.head));
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for wanted in [
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.head.contains(wanted), "{path}: {}", answer.head);
        }
        assert!(!answer.head.contains("set-cookie"), "{path}");
        assert!(!answer.body.contains("style=\"") && !answer.body.contains("<style"), "{path}");
        assert!(!answer.body.contains("onclick") && !answer.body.contains("<script>"), "{path}");
    }
}

#[tokio::test]
async fn what_agents_and_servers_say_is_text_and_hides_nothing() {
    let evil = "</q><script>alert(1)</script>\"'\u{202e}drow\u{200b}\u{1b}[2K\u{e0041}";
    let mut script = before();
    script["tools"][0]["description"] = json!(evil);
    let mut live = holding(json!({"phases": [script]})).await;
    let big = json!({"project": evil, "note": "9007199254740993".repeat(400)});
    live.begin("tools/call", json!({"name": "deploy", "arguments": big})).await;
    let page = Page::reading(&live.store()).await.opened().await;
    let shown = page.until("approvals", "data-item").await;
    let trace = attribute(&shown, "data-trace href");
    for path in [
        "approvals",
        "sessions",
        "activity",
        "drift",
        "adapters",
        "journal",
        trace.trim_start_matches('/'),
    ] {
        let shown = page.part(path).await;
        assert!(!shown.contains("<script"), "{path}: {shown}");
        let hides = |c: char| "\u{202e}\u{200b}\u{1b}\u{e0041}".contains(c);
        assert!(!shown.chars().any(hides), "{path}: {shown:?}");
    }
    for wanted in ["\\u{202e}", "&lt;/q&gt;", "cut; whole:"] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let trace = page.part(trace.trim_start_matches('/')).await;
    assert!(trace.contains("9007199254740993") && trace.contains("raw-arguments"), "{trace}");
}

#[tokio::test]
async fn without_a_key_everything_is_shown_and_nothing_decided() {
    let mut live = holding(json!({"phases": [before()]})).await;
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    waiting(&live).await;
    let page = Page::reading(&live.store()).await.opened().await;
    let shown = page.until("approvals", "shop").await;
    assert!(shown.contains("Read only.") && !shown.contains("data-ask"), "{shown}");
    for act in ["approve", "deny", "accept", "resolve", "export"] {
        let refused = page.act(act, json!({})).await;
        assert_eq!(refused.status, 403, "{act}");
        assert!(refused.error().contains("--read-only"), "{}", refused.body);
    }
    assert!(live.reached().is_empty());
    let far = tokio::process::Command::new(OWN)
        .args(["console", "--read-only", "--listen", "0.0.0.0:0", "--store"])
        .arg(live.store())
        .output()
        .await
        .unwrap();
    assert_eq!(far.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&far.stderr).contains("no address of it"));
}

#[tokio::test]
async fn the_journal_is_verified_and_exported_on_the_page() {
    let mut live =
        Live::start_in(enrolled().await, Era::Legacy, json!({"phases": [before()]}), &[]).await;
    live.greet().await;
    live.list().await;
    for n in 0..60 {
        assert!(ran(&live.call("look", json!({"n": n})).await));
    }
    let exports = live.folder.path().join("exports");
    std::fs::create_dir(&exports).unwrap();
    let flags = ["--exports", exports.to_str().unwrap()];
    let page = Page::deciding(&live.store(), &flags).await.opened().await;
    assert_eq!(page.act("verify", json!({})).await.status, 200);
    page.until("journal", "<strong>Sound</strong>").await;
    let exported = page.act("export", json!({})).await;
    assert_eq!(exported.status, 200, "{}", exported.body);
    let folder: Vec<PathBuf> =
        std::fs::read_dir(&exports).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [folder] = folder.as_slice() else { panic!("{folder:?}") };
    let done = tokio::process::Command::new(OWN)
        .args(["journal", "verify"])
        .arg(folder)
        .output()
        .await
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));

    // Pages have cursors, and each older one is another.
    let newest = page.part("journal").await;
    let older = attribute(&newest, "data-go data-next href");
    assert_ne!(page.part(older.trim_start_matches('/')).await, newest);
    let calls = page.part("activity").await;
    let older =
        page.part(attribute(&calls, "data-go data-next href").trim_start_matches('/')).await;
    assert_eq!(older.matches("<tr data-item").count(), 10, "{older}");
    live.leave().await;
}

#[tokio::test]
async fn a_window_hears_at_once_that_something_waits() {
    let mut live = holding(json!({"phases": [before()]})).await;
    let page = Page::reading(&live.store()).await.opened().await;
    let mut stream = TcpStream::connect(&page.host).await.unwrap();
    let asked = format!(
        "GET /live HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        page.host, page.session
    );
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut heard = String::new();
    let mut buffer = [0; 4096];
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let told = async {
        while !heard.contains("\"waiting\":1") {
            let count = stream.read(&mut buffer).await.unwrap();
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    };
    timeout(PATIENCE, told).await.expect("it is told");
}

/// By keyboard alone, in a real browser: a held call is approved; every page passes the check of its accessibility.
#[tokio::test]
async fn by_keys_alone_in_a_browser_a_held_call_is_approved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let installed = target.join("peers/console");
    if !installed.join("node_modules").is_dir() {
        println!("skipped: nothing to drive a browser with; peers/install.sh installs it");
        return;
    }
    let mut live = holding(json!({"phases": [before(), wider()]})).await;
    live.recorder.switch(1);
    live.list().await;
    let arguments = json!({"project": "shop", "note": "from \u{202e}evil"});
    let call = live.begin("tools/call", json!({"name": "deploy", "arguments": arguments})).await;
    waiting(&live).await;
    let page = Page::deciding(&live.store(), &[]).await;
    let mut command = tokio::process::Command::new("node");
    command.arg(root.join("peers/console/keys.mjs")).arg("--installed").arg(&installed);
    command.args(["--link", &page.link]);
    if let Some(shots) = std::env::var_os("STEADFAST_SHOTS") {
        command.arg("--shots").arg(shots);
    }
    let done = timeout(Duration::from_secs(300), command.output()).await.expect("it ends");
    let Ok(done) = done else {
        println!("skipped: no node is here");
        return;
    };
    if done.status.code() == Some(3) {
        println!("skipped: no Chromium is here");
        return;
    }
    let (told, error) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let seen: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}{error}"));
    assert_eq!(seen["failed"], Value::Null, "{seen:#}");
    assert_eq!(seen["errors"], json!([]), "{seen:#}");
    assert_eq!(seen["elsewhere"], json!([]), "nothing leaves for another host: {seen:#}");
    assert_eq!(seen["violations"], json!([]), "{seen:#}");
    assert_eq!(seen["overflow"], false, "it fits a phone: {seen:#}");
    carried(&mut live, call, &arguments).await;
    assert_eq!(live.reached(), [arguments]);
    live.leave().await;
}
