//! Bound actions beside a server: one list, and each call goes to the one side that it belongs to.
//!
//! The two are processes of their own. What the server says reaches the client as the bytes it is, but for its greeting,
//! which promises tools, and the last page of its list, which also holds the bound ones. A name that was once listed as
//! bound belongs to the bindings for as long as this lives: whatever the server lists under it, no call of it goes there,
//! and a name that both list is refused as any name that is listed twice.

use crate::limits;
use crate::session::Bound;
use crate::upstream::Connect;
use mcp::duplex::{self, Incoming, Routed, Sending, Uplink};
use mcp::framing::{Line, Lines};
use mcp::json;
use mcp::message::{self, Id, Kind, Message};
use std::collections::{BTreeMap, BTreeSet};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// A server on a pipe, and the process of the bindings beside it.
pub struct Beside {
    /// The command of the server.
    pub server: Vec<String>,
    /// The command of the process that serves the bindings.
    pub actions: Vec<String>,
    /// The names of the bound tools, as they become known.
    pub bound: Bound,
}

impl Connect for Beside {
    fn connect(&self) -> Result<(Uplink, mpsc::Receiver<Incoming>), String> {
        let said = |why: mcp::Failure| why.to_string();
        let (server, server_said) = duplex::start(&self.server).map_err(said)?;
        let (actions, actions_said) = duplex::start(&self.actions).map_err(said)?;
        let joined = Joined {
            server: told(server),
            actions: told(actions),
            bound: self.bound.clone(),
            greetings: BTreeSet::new(),
            lists: BTreeSet::new(),
            pages: BTreeMap::new(),
            calls: BTreeMap::new(),
            count: 0,
        };
        // A pipe each way: that the gateway says nothing more is heard while it still listens.
        let (input, heard) = tokio::io::duplex(limits::BESIDE);
        let (said, output) = tokio::io::duplex(limits::BESIDE);
        tokio::spawn(joined.carry(heard, said, server_said, actions_said));
        Ok(duplex::over(output, input))
    }

    fn credentials(&self) -> Option<String> {
        // By what the server knows who asks; what the bindings use is in the vault.
        let words = &self.server;
        (mcp::shown_command(words) != *words).then(|| words.join("\n"))
    }
}

/// Tells a side what is queued, and to leave once the queue is closed. A side that does not read holds up nobody else.
fn told(side: Uplink) -> mpsc::Sender<Message> {
    let (queue, mut queued) = mpsc::channel::<Message>(limits::QUEUED_CALLS);
    tokio::spawn(async move {
        while let Some(message) = queued.recv().await {
            if side.send(&message, Routed::default()).await == Sending::NotSent {
                break;
            }
        }
        side.close().await;
    });
    queue
}

struct Joined {
    server: mpsc::Sender<Message>,
    actions: mpsc::Sender<Message>,
    bound: Bound,
    /// Questions what the server is.
    greetings: BTreeSet<Id>,
    /// Questions for a page of the server's list.
    lists: BTreeSet<Id>,
    /// Last pages of the server, by the question for what belongs behind them.
    pages: BTreeMap<Id, Message>,
    /// Calls that are not answered yet, and whose answer counts.
    calls: BTreeMap<Id, Callee>,
    count: u64,
}

/// Where a call went.
enum Callee {
    /// To the bindings.
    Actions,
    /// To the server, under this name.
    Server(Option<String>),
}

/// One side is gone: what it was asked is not answered any more.
struct Gone;

impl Joined {
    /// Carries messages until one of the three is gone; then all are.
    async fn carry(
        mut self,
        mut heard: DuplexStream,
        mut said: DuplexStream,
        mut server_said: mpsc::Receiver<Incoming>,
        mut actions_said: mpsc::Receiver<Incoming>,
    ) {
        let mut lines = Lines::new(mcp::limits::RELAYED_BYTES);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let told = tokio::select! {
                read = heard.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => Err(Gone),
                    Ok(count) => self.gateway_said(lines.push(&buffer[..count])).await,
                },
                one = server_said.recv() => self.server_said(one).await,
                one = actions_said.recv() => self.actions_said(one),
            };
            match told {
                Ok(None) => {}
                Ok(Some(text)) if line(&mut said, &text).await.is_ok() => {}
                Ok(Some(_)) | Err(Gone) => break,
            }
        }
        // What either side still answers is heard, for as long as a server is waited for.
        let Joined { server, actions, .. } = &mut self;
        (*server, *actions) = (mpsc::channel(1).0, mpsc::channel(1).0);
        let deadline = Instant::now() + limits::LEAVE;
        while let Ok(one) = timeout_at(deadline, actions_said.recv()).await {
            match self.actions_said(one) {
                Ok(Some(text)) if line(&mut said, &text).await.is_ok() => {}
                Ok(None) => {}
                Ok(Some(_)) | Err(Gone) => break,
            }
        }
        while let Ok(one) = timeout_at(deadline, server_said.recv()).await {
            match self.server_said(one).await {
                Ok(Some(text)) if line(&mut said, &text).await.is_ok() => {}
                Ok(None) => {}
                Ok(Some(_)) | Err(Gone) => break,
            }
        }
    }

    /// Hands on what the gateway says.
    async fn gateway_said(&mut self, lines: Vec<Line>) -> Result<Option<String>, Gone> {
        for line in lines {
            let Line::Whole(bytes) = line else { continue };
            for message in Message::parse_all(&bytes).unwrap_or_default() {
                let mut side = &self.server;
                if let Kind::Request { id, method } = message.kind() {
                    match method.as_str() {
                        "initialize" | "server/discover" => {
                            remember(&mut self.greetings, id);
                        }
                        "tools/list" => remember(&mut self.lists, id),
                        "tools/call" | mcp::deed::FORETELL => {
                            let name = name_of(&message);
                            let bound = name.as_ref().is_some_and(|name| self.bound.holds(name));
                            if self.calls.len() >= limits::OPEN_REQUESTS {
                                return Err(Gone);
                            }
                            let callee = match bound {
                                true => Callee::Actions,
                                false => Callee::Server(name),
                            };
                            self.calls.insert(id.clone(), callee);
                            if bound {
                                side = &self.actions;
                            }
                        }
                        _ => {}
                    }
                }
                side.send(message).await.map_err(|_| Gone)?;
            }
        }
        Ok(None)
    }

    /// What the gateway is told of what the server says.
    async fn server_said(&mut self, said: Option<Incoming>) -> Result<Option<String>, Gone> {
        let message = match said {
            Some(Incoming::Message(message, _)) => message,
            Some(Incoming::Stray(start, _)) => return Ok(Some(start)),
            Some(Incoming::Renewed(_) | Incoming::Listening) => return Ok(None),
            // An answer that cannot be read answers nothing: what was asked is in doubt, and so is the rest.
            Some(Incoming::Lost(..) | Incoming::Ended(_)) | None => return Err(Gone),
        };
        let Kind::Response { id: Some(id) } = message.kind() else {
            return Ok(Some(message.text().to_owned()));
        };
        match self.calls.get(id) {
            // It answers for somebody else: an action is answered by the process of the bindings alone.
            Some(Callee::Actions) => return Ok(None),
            // The name became that of a binding meanwhile: nobody could tell whose answer this is.
            Some(Callee::Server(Some(name))) if self.bound.holds(name) => return Err(Gone),
            Some(Callee::Server(_)) => {
                self.calls.remove(id);
            }
            None => {}
        }
        if self.greetings.remove(id) {
            return Ok(Some(with_tools(message.text())));
        }
        let last = match message.result() {
            Some(page) => json::find(page, &["nextCursor"]).is_none_or(|next| next == "null"),
            // A server without tools has none to page through.
            None => message.error().is_some_and(|error| error.code == NO_SUCH_METHOD),
        };
        if !self.lists.remove(id) || !last {
            return Ok(Some(message.text().to_owned()));
        }
        self.count += 1;
        let own = Id::Text(format!("steadfast-beside-{}", self.count));
        let asked = message::request(&own, "tools/list", Some("{}"));
        let asked = Message::parse(&asked).map_err(|_| Gone)?;
        if self.pages.len() >= limits::BESIDE_OPEN {
            return Err(Gone);
        }
        self.pages.insert(own, message);
        self.actions.send(asked).await.map_err(|_| Gone)?;
        Ok(None)
    }

    /// What the gateway is told of what the bindings say.
    fn actions_said(&mut self, said: Option<Incoming>) -> Result<Option<String>, Gone> {
        let message = match said {
            Some(Incoming::Message(message, _)) => message,
            // What it says beside its answers is for nobody.
            Some(Incoming::Stray(..) | Incoming::Renewed(_) | Incoming::Listening) => {
                return Ok(None);
            }
            // An action under way may have left: whoever waits is told by the end of the connection.
            Some(Incoming::Lost(..) | Incoming::Ended(_)) | None => return Err(Gone),
        };
        let Kind::Response { id: Some(id) } = message.kind() else { return Ok(None) };
        let Some(page) = self.pages.remove(id) else {
            let asked = matches!(self.calls.get(id), Some(Callee::Actions));
            if asked {
                self.calls.remove(id);
            }
            return Ok(asked.then(|| message.text().to_owned()));
        };
        let Kind::Response { id: Some(asked) } = page.kind() else { return Ok(None) };
        // Where the bindings cannot be read, the list cannot: a shorter one would say that they are gone.
        let list = match message.outcome() {
            Ok(list) => list,
            Err(error) => {
                return Ok(Some(message::failure(asked, error.code, &error.message)));
            }
        };
        let own = json::find(list, &["tools"]).unwrap_or("[]");
        self.bound.add(names(own));
        Ok(Some(match page.result() {
            Some(result) => message::response(asked, &with_more(result, own)),
            None => message::response(asked, list),
        }))
    }
}

const NO_SUCH_METHOD: i64 = -32_601;

/// The tool that a call names.
fn name_of(call: &Message) -> Option<String> {
    let name = call.params().and_then(|params| json::find(params, &["name"]))?;
    serde_json::from_str(name).ok()
}

/// Takes down a question, of which only so many are open at once.
fn remember(open: &mut BTreeSet<Id>, id: &Id) {
    if open.len() >= limits::BESIDE_OPEN {
        open.pop_first();
    }
    open.insert(id.clone());
}

/// The names of the tools in a list, as they are spelled.
fn names(list: &str) -> Vec<String> {
    let name = |tool: &str| serde_json::from_str(json::find(tool, &["name"])?).ok();
    json::parts(list).into_iter().filter_map(|(_, tool)| name(tool)).collect()
}

/// A page with more tools behind its own.
fn with_more(page: &str, more: &str) -> String {
    let inner = |list: &str| {
        let inner = list.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.map_or(String::new(), |inner| inner.trim().to_owned())
    };
    let own = json::find(page, &["tools"]).map_or(String::new(), inner);
    let more = inner(more);
    let comma = if own.is_empty() || more.is_empty() { "" } else { "," };
    json::replace(page, &[(&["tools"], &format!("[{own}{comma}{more}]"))])
}

/// A greeting that promises tools, where its server has none itself.
fn with_tools(greeting: &str) -> String {
    const CAPABILITIES: &[&str] = &["result", "capabilities"];
    let Some(capabilities) = json::find(greeting, CAPABILITIES) else {
        return greeting.to_owned();
    };
    if json::find(capabilities, &["tools"]).is_some() {
        return greeting.to_owned();
    }
    let Some(rest) = capabilities.trim().strip_prefix('{') else { return greeting.to_owned() };
    let comma = if rest.trim() == "}" { "" } else { "," };
    let promised = format!("{{\"tools\":{{\"listChanged\":true}}{comma}{rest}");
    json::replace(greeting, &[(CAPABILITIES, &promised)])
}

/// Writes one line.
async fn line(far: &mut DuplexStream, text: &str) -> std::io::Result<()> {
    // A line feed inside a message could only be white space between its tokens.
    let mut line = text.replace(['\n', '\r'], " ").into_bytes();
    line.push(b'\n');
    far.write_all(&line).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_greetings_are_kept_but_for_what_is_added() {
        let more = r#"[{"name":"b"}]"#;
        assert_eq!(
            with_more(r#"{"ttl":1e0,"tools": [ {"name":"a"} ]}"#, more),
            r#"{"ttl":1e0,"tools": [{"name":"a"},{"name":"b"}]}"#
        );
        assert_eq!(with_more(r#"{"tools":[]}"#, more), r#"{"tools":[{"name":"b"}]}"#);
        assert_eq!(with_more(r#"{"tools":[{"name":"a"}]}"#, "[]"), r#"{"tools":[{"name":"a"}]}"#);
        assert_eq!(names(r#"[{"name":"b"},{"x":1},{"name":"\u0063"}]"#), ["b", "c"]);
        let greeted = |capabilities: &str| {
            format!(r#"{{"id":1,"result":{{"capabilities":{capabilities}}}}}"#)
        };
        for (before, after) in [
            ("{}", r#"{"tools":{"listChanged":true}}"#),
            (r#"{"logging":{}}"#, r#"{"tools":{"listChanged":true},"logging":{}}"#),
            (r#"{"tools":{}}"#, r#"{"tools":{}}"#),
        ] {
            assert_eq!(with_tools(&greeted(before)), greeted(after));
        }
    }
}
