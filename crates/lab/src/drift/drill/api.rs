//! An HTTP API under check: how it is reached, and a call of one of its operations as a request.

use super::Trouble;
use super::judge::Reply;
use crate::limits;
use contract::openapi::{Part, Request};
use report::escape::{clip, visible};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::Stdio;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// Stands for the port in a command.
pub const PORT: &str = "{port}";

/// Where an API is.
#[derive(Debug, Clone)]
pub enum At {
    /// At this address, under which the paths of its document stand.
    Url(String),
    /// Started by this command, with [`PORT`] where the port goes.
    Command(Vec<String>),
}

/// Which contract a request is written by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The one that was accepted.
    Old,
    /// The one that holds now.
    New,
}

/// An API, and what is known of its operations.
#[derive(Clone)]
pub struct Api {
    /// Where it is.
    pub at: At,
    /// Its operations, as they were accepted and as they are now, by the name that reports give them.
    pub requests: [BTreeMap<String, Request>; 2],
    /// Headers that go with each request.
    pub headers: mcp::Headers,
    /// How long one answer may take.
    pub wait: Duration,
}

/// An API that can be asked.
pub(super) struct Running {
    api: Api,
    address: String,
    /// The address holds the base path already.
    whole: bool,
    client: reqwest::Client,
    process: Option<Process>,
}

/// A process with everything it starts, which does not outlive this value.
struct Process {
    child: Child,
    group: Option<Pid>,
    errors: File,
}

impl Process {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails only where nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    /// The last words on its standard error.
    fn said(&mut self) -> String {
        let mut text = Vec::new();
        let length = self.errors.metadata().map_or(0, |data| data.len());
        let from = length.saturating_sub(limits::SAID as u64);
        if self.errors.seek(SeekFrom::Start(from)).is_ok() {
            // What cannot be read was not said.
            let _ = (&mut self.errors).take(limits::SAID as u64).read_to_end(&mut text);
        }
        clip(&visible(String::from_utf8_lossy(&text).trim()), limits::SAID)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

impl Running {
    /// Starts it, where it is to be started, and waits until it takes connections. `variable` sends it to a recorder.
    pub(super) async fn open(
        api: &Api,
        variable: Option<(&str, String)>,
    ) -> Result<Running, Trouble> {
        mcp::http::cryptography();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(api.wait)
            .build()
            .map_err(|why| Trouble::Api(why.to_string()))?;
        let (address, process) = match &api.at {
            At::Url(address) => {
                // A credential is sent over https, or on this machine.
                mcp::http::Server::new(address, api.headers.clone(), false, false)
                    .map_err(Trouble::Api)?;
                (address.trim_end_matches('/').to_owned(), None)
            }
            At::Command(words) => {
                let (address, process) = start(words, variable).await?;
                (address, Some(process))
            }
        };
        let whole = process.is_none();
        Ok(Running { api: api.clone(), address, whole, client, process })
    }

    /// Calls an operation: the arguments go where the contract puts them.
    pub(super) async fn call(&self, operation: &str, arguments: &Value, by: By) -> Reply {
        let Some(request) = self.api.requests[usize::from(by == By::New)].get(operation) else {
            return Reply::Nothing("the contract does not have this operation".to_owned());
        };
        let mut written = Written::of(request, arguments);
        let base = if self.whole { "" } else { &request.base };
        let mut url = format!("{}{base}{}", self.address, written.path);
        if !written.query.is_empty() {
            url = format!("{url}?{}", written.query.join("&"));
        }
        let Ok(method) = reqwest::Method::from_bytes(request.method.as_bytes()) else {
            return Reply::Nothing("the method is none".to_owned());
        };
        let mut sent = self.client.request(method, &url);
        for (name, value) in &written.headers {
            sent = sent.header(name, value);
        }
        sent = sent.headers(self.api.headers.map().clone());
        if let (Some(body), Some(media)) = (written.body.take(), &request.media) {
            sent = sent.header("content-type", media).body(body);
        }
        match sent.send().await {
            Ok(answer) => read(answer, &self.api.headers).await,
            Err(why) => Reply::Nothing(visible(&why.without_url().to_string())),
        }
    }

    /// Asks it to end, and waits for that; what it does last is still on record.
    pub(super) async fn leave(mut self) {
        if let Some(process) = &mut self.process {
            process.signal(Signal::TERM);
            // Who does not end is ended.
            let _ = timeout(limits::LAST_WORDS, process.child.wait()).await;
        }
    }
}

async fn start(
    words: &[String],
    variable: Option<(&str, String)>,
) -> Result<(String, Process), Trouble> {
    let port = {
        let free = TcpListener::bind(("127.0.0.1", 0)).await;
        let port = free.and_then(|free| free.local_addr()).map(|address| address.port());
        port.map_err(|why| Trouble::Machine(why.to_string()))?
    };
    let words: Vec<String> =
        words.iter().map(|word| word.replace(PORT, &port.to_string())).collect();
    let trouble = |why: String| Trouble::Api(format!("`{}`: {why}", visible(&words.join(" "))));
    let Some((program, arguments)) = words.split_first() else {
        return Err(trouble("it names no program".to_owned()));
    };
    let errors = tempfile::tempfile().map_err(|why| trouble(why.to_string()))?;
    let out = errors.try_clone().map_err(|why| trouble(why.to_string()))?;
    let mut command = Command::new(program);
    command.args(arguments).env_remove(mcp::BEARER_VARIABLE);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
    if let Some((name, address)) = variable {
        command.env(name, address);
    }
    let child = command.process_group(0).kill_on_drop(true).spawn();
    let child = child.map_err(|why| trouble(format!("it cannot be started: {why}")))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut process = Process { child, group, errors };
    let end = Instant::now() + limits::LISTENING;
    loop {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok((format!("http://127.0.0.1:{port}"), process));
        }
        if let Ok(Some(status)) = process.child.try_wait() {
            let said = process.said();
            return Err(trouble(format!("it ended with {status} before it listened: {said}")));
        }
        if Instant::now() > end {
            let seconds = limits::LISTENING.as_secs();
            return Err(trouble(format!("nobody listened on port {port} within {seconds} s")));
        }
        sleep(limits::ACCEPT_AGAIN).await;
    }
}

/// What an answer means: only one that says that the caller erred is a refusal.
async fn read(mut answer: reqwest::Response, headers: &mcp::Headers) -> Reply {
    let status = answer.status();
    let mut bytes = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(_) => {
                return Reply::Nothing(format!("status {status}, and a body that breaks off"));
            }
        }
        if bytes.len() > limits::BODY {
            return Reply::Nothing(format!("a body of more than {} MB", limits::BODY >> 20));
        }
    }
    let text = headers.cut_out(&String::from_utf8_lossy(&bytes));
    if status.is_success() {
        let structured: Value = serde_json::from_str(&text).unwrap_or_default();
        return Reply::Done(json!({
            "content": [{"type": "text", "text": format!("{status} {text}")}],
            "structuredContent": structured,
        }));
    }
    if status.is_client_error() {
        return Reply::ToolError(format!("{status} {text}"));
    }
    // A fault of the server, or another place: nothing that a caller could take for a refusal.
    Reply::Nothing(clip(&visible(&format!("status {status} {text}")), limits::SAID))
}

/// A request, written out.
#[derive(Debug, Default, PartialEq)]
struct Written {
    path: String,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

impl Written {
    fn of(request: &Request, arguments: &Value) -> Written {
        let mut written = Written { path: request.path.clone(), ..Written::default() };
        let form = request.media.as_deref() == Some("application/x-www-form-urlencoded");
        let (mut members, mut fields) = (Map::new(), Vec::new());
        let mut cookies = Vec::new();
        // What the contract does not know can only be a member of the body.
        let unknown = |name: &String| Part {
            location: "member".to_owned(),
            name: name.clone(),
            exploded: false,
        };
        for (argument, value) in arguments.as_object().into_iter().flatten() {
            let part = request.places.get(argument).cloned().unwrap_or_else(|| unknown(argument));
            let name = encoded(&part.name);
            match part.location.as_str() {
                "path" => {
                    let place = format!("{{{}}}", part.name);
                    written.path = written.path.replace(&place, &encoded(&plain(value)));
                }
                "query" => written.query.extend(pairs(&name, value, part.exploded)),
                "header" => written.headers.push((part.name, header(&plain(value)))),
                "cookie" => cookies.push(format!("{}={}", part.name, encoded(&plain(value)))),
                "body" => written.body = Some(value.to_string()),
                _ if form => fields.extend(pairs(&name, value, true)),
                _ => {
                    members.insert(part.name, value.clone());
                }
            }
        }
        if !cookies.is_empty() {
            written.headers.push(("cookie".to_owned(), cookies.join("; ")));
        }
        if !fields.is_empty() {
            written.body = Some(fields.join("&"));
        } else if !members.is_empty() {
            written.body = Some(Value::Object(members).to_string());
        }
        written
    }
}

/// `name=value`, for each value of a list again where it is exploded.
fn pairs(name: &str, value: &Value, exploded: bool) -> Vec<String> {
    match value {
        Value::Array(items) if exploded => {
            items.iter().map(|item| format!("{name}={}", encoded(&plain(item)))).collect()
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| encoded(&plain(item))).collect();
            vec![format!("{name}={}", items.join(","))]
        }
        other => vec![format!("{name}={}", encoded(&plain(other)))],
    }
}

/// A value as it stands in an address: texts without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A value that a header can carry; what it cannot is left out, so that the request leaves.
fn header(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Percent-encoded but for what RFC 3986 leaves unreserved.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Tool;

    fn request(media: Option<&str>) -> Request {
        let part = |location: &str, name: &str, exploded| {
            (name.to_owned(), Part { location: location.into(), name: name.into(), exploded })
        };
        Request {
            tool: Tool { name: "t".into(), raw: Value::Null, ordinal: None },
            method: "POST".into(),
            path: "/p/{id}/x".into(),
            base: String::new(),
            places: [
                part("path", "id", false),
                part("query", "tag", true),
                part("header", "X-Mode", false),
                part("cookie", "s", false),
                part("member", "reason", false),
            ]
            .into(),
            media: media.map(str::to_owned),
        }
    }

    #[test]
    fn each_argument_goes_where_the_contract_puts_it() {
        let arguments = json!({"id": "a/b", "tag": ["x", "y z"], "X-Mode": 3, "s": "1", "reason": "old", "new": null});
        let written = Written::of(&request(Some("application/json")), &arguments);
        assert_eq!(written.path, "/p/a%2Fb/x");
        assert_eq!(written.query, ["tag=x", "tag=y%20z"]);
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(written.headers, [header("X-Mode", "3"), header("cookie", "s=1")]);
        assert_eq!(written.body.as_deref(), Some("{\"reason\":\"old\",\"new\":null}"));
        let form = Written::of(
            &request(Some("application/x-www-form-urlencoded")),
            &json!({"id": "1", "reason": "a&b"}),
        );
        assert_eq!(form.body.as_deref(), Some("reason=a%26b"));
        assert_eq!(Written::of(&request(None), &json!({"id": "1"})).body, None);
    }
}
