//! The scripted server behind HTTP/1.1, one request a connection, by hand so that it can misbehave at will.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::answers::{Out, Server};
use crate::{Switches, log};

const SESSION: &str = "session-4711";

struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

struct State {
    /// Sessions that were dropped so far.
    dropped: u32,
    /// What a cut stream still owes.
    owed: Option<String>,
}

pub fn serve(switches: &Switches, server: &Arc<Mutex<Server>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    crate::say(&format!("http://{address}/mcp"));
    // Ends with the test that started it.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let state = Arc::new(Mutex::new(State { dropped: 0, owed: None }));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let (switches, server, state) = (switches.clone(), Arc::clone(server), Arc::clone(&state));
        std::thread::spawn(move || {
            let _ = handle(&stream, &switches, &server, &state);
        });
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()))
            }
            None => break,
        }
    }
    let length = headers
        .iter()
        .find(|(n, _)| n == "content-length")
        .and_then(|(_, v)| v.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

fn write(
    mut stream: &TcpStream,
    status: &str,
    headers: &[&str],
    body: &str,
) -> std::io::Result<()> {
    let mut head =
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}

fn handle(
    stream: &TcpStream,
    switches: &Switches,
    server: &Mutex<Server>,
    state: &Mutex<State>,
) -> std::io::Result<()> {
    let request = read(stream)?;
    let shown: Vec<String> = request.headers.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    log(
        switches,
        &format!("{} {} [{}] {}", request.method, request.path, shown.join(" | "), request.body),
    );
    if let Some(status) = switches.value("status") {
        return write(
            stream,
            status,
            &["Content-Type: text/html"],
            "<html><body>nothing here</body></html>",
        );
    }
    if switches.has("html") {
        return write(
            stream,
            "200 OK",
            &["Content-Type: text/html"],
            "<html><body>Welcome</body></html>",
        );
    }
    match switches.value("redirect") {
        Some("slash") if request.path == "/mcp" => {
            return write(stream, "307 Temporary Redirect", &["Location: /mcp/"], "");
        }
        Some("away") => {
            return write(
                stream,
                "307 Temporary Redirect",
                &["Location: https://elsewhere.example/mcp?key=k-999999"],
                "",
            );
        }
        Some("round") => return write(stream, "307 Temporary Redirect", &["Location: /mcp"], ""),
        Some("found") => return write(stream, "302 Found", &["Location: /login"], ""),
        _ => {}
    }
    if let Some(token) = switches.value("bearer")
        && request.header("authorization") != Some(&format!("Bearer {token}"))
    {
        let given = request.header("authorization").unwrap_or("nothing");
        let challenge = format!(
            "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"got {given}\""
        );
        return write(stream, "401 Unauthorized", &[&challenge], "");
    }
    match request.method.as_str() {
        "POST" if switches.has("old-transport") => write(stream, "405 Method Not Allowed", &[], ""),
        "POST" => post(stream, switches, server, state, &request),
        "GET" if switches.has("old-transport") => write(
            stream,
            "200 OK",
            &["Content-Type: text/event-stream"],
            "event: endpoint\ndata: /messages?id=1\n\n",
        ),
        "GET" => {
            let owed = state.lock().expect("no thread panicked").owed.take();
            match (owed, request.header("last-event-id")) {
                (Some(owed), Some("e-1")) => {
                    write(stream, "200 OK", &["Content-Type: text/event-stream"], &owed)
                }
                _ => write(stream, "405 Method Not Allowed", &[], ""),
            }
        }
        "DELETE" => write(stream, "200 OK", &[], ""),
        _ => write(stream, "405 Method Not Allowed", &[], ""),
    }
}

fn post(
    stream: &TcpStream,
    switches: &Switches,
    server: &Mutex<Server>,
    state: &Mutex<State>,
    request: &Request,
) -> std::io::Result<()> {
    let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let id = &message["id"];
    let method = message["method"].as_str().unwrap_or_default();
    let in_meta = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let era = switches.value("era").unwrap_or("legacy");
    if era == "legacy" && method != "initialize" && switches.has("session") {
        let text = |what: &str| {
            json!({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":what}}).to_string()
        };
        let mut state = state.lock().expect("no thread panicked");
        match request.header("mcp-session-id") {
            None => {
                return write(
                    stream,
                    "400 Bad Request",
                    &["Content-Type: application/json"],
                    &text("Bad Request: no session"),
                );
            }
            Some(_)
                if switches.has("lose-session") && method == "tools/list" && state.dropped == 0 =>
            {
                state.dropped += 1;
                return write(
                    stream,
                    switches.value("lose-session").unwrap_or("404"),
                    &["Content-Type: application/json"],
                    &text("Session not found"),
                );
            }
            Some(SESSION) => {}
            Some(_) => return write(stream, "404 Not Found", &[], ""),
        }
    }
    if era != "legacy" && in_meta.is_some() {
        let mismatch = request.header("mcp-protocol-version") != in_meta
            || request.header("mcp-method") != Some(method);
        if mismatch {
            let body = json!({"jsonrpc":"2.0","id":id,"error":{"code":-32020,"message":"Header mismatch"}}).to_string();
            return write(stream, "400 Bad Request", &["Content-Type: application/json"], &body);
        }
    }
    let outs = server.lock().expect("no thread panicked").take(&request.body);
    let said: Vec<String> = outs
        .into_iter()
        .filter_map(|out| match out {
            Out::Say(text) | Out::Unended(text) => Some(text),
            Out::CloseStdout => None,
            Out::Die(code) => std::process::exit(code),
        })
        .collect();
    if said.is_empty() {
        if !id.is_null() && !method.is_empty() {
            std::thread::sleep(std::time::Duration::from_secs(300));
        }
        return write(stream, "202 Accepted", &[], "");
    }
    let session = format!("Mcp-Session-Id: {SESSION}");
    let mut headers = Vec::new();
    if switches.has("session") && method == "initialize" {
        headers.push(session.as_str());
    }
    if switches.has("sse") || said.len() > 1 {
        headers.push("Content-Type: text/event-stream");
        let events: String =
            said.iter().map(|text| format!("event: message\r\ndata: {text}\r\n\r\n")).collect();
        if switches.has("cut") && method == "tools/list" {
            return write(stream, "200 OK", &headers, ": hello\n\n");
        }
        if switches.has("resume") && method == "tools/list" {
            state.lock().expect("no thread panicked").owed = Some(events);
            return write(stream, "200 OK", &headers, "id: e-1\nretry: 10\ndata:\n\n");
        }
        return write(stream, "200 OK", &headers, &format!(": hello\r\n\r\n{events}"));
    }
    headers.push("Content-Type: application/json; charset=utf-8");
    let code =
        serde_json::from_str::<Value>(&said[0]).ok().and_then(|v| v["error"]["code"].as_i64());
    let status = match code {
        Some(-32601) if era != "legacy" => "404 Not Found",
        Some(-32022..=-32020 | -32602) if era != "legacy" => "400 Bad Request",
        _ => "200 OK",
    };
    write(stream, status, &headers, &said[0])
}
