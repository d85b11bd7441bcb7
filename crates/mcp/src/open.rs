//! Opening a connection: which era does the server speak, found out without doing it harm.
//!
//! The first question is `server/discover`, which asks for nothing and changes nothing. An answer, or an error that
//! only modern servers give, settles it; anything else, silence included, leads to `initialize`. A child process
//! that ends at the question, or refuses `initialize` after it, is started afresh once and asked to `initialize`
//! first, since some servers end at a method that they do not know.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::client::{Client, Link};
use crate::error::{ErrorKind, Failure, FetchError};
use crate::fetch::{FetchOptions, Step, Target};
use crate::message::Message;
use crate::version::{Era, MODERN_ERRORS, Revision, UNSUPPORTED_VERSION};
use crate::{http, json, limits, stdio};

/// What a server said of itself when the connection opened, raw.
#[derive(Debug, Clone, Default)]
pub struct Greeting {
    /// `serverInfo`.
    pub server_info: Option<Box<RawValue>>,
    /// `capabilities`.
    pub capabilities: Option<Box<RawValue>>,
    /// `instructions`.
    pub instructions: Option<String>,
}

impl Greeting {
    /// The server says that it has tools.
    pub fn declares_tools(&self) -> bool {
        self.tools().is_some()
    }

    /// The server says that it tells of changes of its list.
    pub fn announces_changes(&self) -> bool {
        let told = self.tools().and_then(|tools| tools.get("listChanged").cloned());
        told == Some(serde_json::Value::Bool(true))
    }

    /// `tools` of its capabilities.
    fn tools(&self) -> Option<serde_json::Value> {
        #[derive(serde::Deserialize)]
        struct Capabilities {
            tools: Option<serde_json::Value>,
        }
        let raw = self.capabilities.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str::<Capabilities>(raw).ok()?.tools
    }
}

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The `_meta` that each modern request carries.
pub fn meta(revision: Revision) -> String {
    format!(
        "{{\"io.modelcontextprotocol/protocolVersion\":\"{revision}\",\"io.modelcontextprotocol/clientInfo\":{},\
         \"io.modelcontextprotocol/clientCapabilities\":{{}}}}",
        client_info()
    )
}

fn client_info() -> String {
    format!("{{\"name\":\"steadfast\",\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"))
}

/// What the opening is about: kept together so that each step can say where it is.
struct Opening<'a> {
    target: &'a Target,
    options: &'a FetchOptions,
    place: &'a str,
}

/// What the first question found out.
enum Found {
    Modern(Greeting),
    /// Not modern, with what came instead.
    Legacy(Failure),
}

/// Opens a connection in the era that the server speaks, or in the one that was asked for.
pub async fn open(
    target: &Target,
    options: &FetchOptions,
    place: &str,
) -> Result<(Client, Greeting), FetchError> {
    let opening = Opening { target, options, place };
    match options.era {
        Some(Era::Legacy) => opening.legacy(opening.connect()?).await,
        Some(Era::Modern) => opening.modern(opening.connect()?).await,
        None => match target {
            Target::Command(_) => opening.probe_child().await,
            Target::Url { .. } => opening.probe_endpoint().await,
        },
    }
}

impl Opening<'_> {
    fn connect(&self) -> Result<Client, FetchError> {
        (self.options.progress)(Step::Connecting);
        let link = match self.target {
            Target::Command(command) if command.is_empty() => {
                let help = "Write the server's command after `--`, as in `-- npx -y some-server`.";
                return Err(FetchError::new(ErrorKind::Usage, "the command", "No command was given.", help));
            }
            Target::Command(command) => stdio::Server::start(command).map(Link::Stdio).map_err(|f| self.failed(f, INITIALIZE))?,
            Target::Url { url, headers } => {
                http::Server::new(url, headers.clone(), self.options.proxy_from_env, self.options.plain_http)
                    .map(Link::Http)
                    .map_err(|why| {
                        let help = "Give the address of the MCP endpoint, https where a token goes with it; tokens and other headers come from STEADFAST_BEARER, --header-from-env or --headers-file.";
                        FetchError::new(ErrorKind::Usage, self.place, why, help)
                    })?
            }
        };
        Ok(Client::new(link))
    }

    fn failed(&self, failure: Failure, method: &str) -> FetchError {
        FetchError::of(failure, self.place, method)
    }

    /// The failure with what the server said; the connection is ended.
    async fn gave_up(&self, mut client: Client, failure: Failure, method: &str) -> FetchError {
        let error = self.failed(failure, method).having_said(client.said().await);
        client.close().await;
        error
    }

    fn version_error(&self, sentence: String) -> FetchError {
        let help = format!(
            "This program speaks {} and {}; a newer version of it may speak more.",
            Revision::list(Era::Modern),
            Revision::list(Era::Legacy)
        );
        FetchError::new(ErrorKind::Version, self.place, sentence, help)
    }

    async fn probe_child(&self) -> Result<(Client, Greeting), FetchError> {
        let mut client = self.connect()?;
        (self.options.progress)(Step::Probing);
        let found = match self.discover(&mut client, self.options.probe_timeout).await {
            Ok(found) => found,
            Err(error) => {
                client.close().await;
                return Err(error);
            }
        };
        match found {
            Found::Modern(greeting) => Ok((client, greeting)),
            // Not there yet, or deaf to what it does not know: `initialize` is asked on the same process, and a
            // late answer to the first question still counts. Then the process has heard both questions, so a
            // fresh one is asked the right one alone.
            Found::Legacy(Failure::Silent(_)) => {
                client.speak(Revision::newest(Era::Legacy));
                match client
                    .ask_or_late(INITIALIZE, &initialize_params(), self.options.request_timeout)
                    .await
                {
                    Ok((answer, true)) if is_discovery(&answer) => {
                        client.close().await;
                        self.modern(self.connect()?).await
                    }
                    Ok((answer, false)) => self.initialized(client, &answer).await,
                    Ok((_, true)) | Err(_) => {
                        client.close().await;
                        self.legacy(self.connect()?).await
                    }
                }
            }
            Found::Legacy(Failure::Rpc(..) | Failure::Garbled(..)) => {
                client.speak(Revision::newest(Era::Legacy));
                match client
                    .ask(INITIALIZE, &initialize_params(), self.options.request_timeout)
                    .await
                {
                    Ok(answer) => self.initialized(client, &answer).await,
                    // It may be the first question that it took amiss.
                    Err(_) => {
                        client.close().await;
                        self.legacy(self.connect()?).await
                    }
                }
            }
            Found::Legacy(_) => {
                client.close().await;
                self.legacy(self.connect()?).await
            }
        }
    }

    async fn probe_endpoint(&self) -> Result<(Client, Greeting), FetchError> {
        let mut client = self.connect()?;
        (self.options.progress)(Step::Probing);
        match self.discover(&mut client, self.options.probe_timeout).await? {
            Found::Modern(greeting) => Ok((client, greeting)),
            Found::Legacy(failure) => {
                let settled = match &failure {
                    Failure::NoConnection(_)
                    | Failure::Unreachable(_)
                    | Failure::Redirect(_)
                    | Failure::TooLong(_) => true,
                    // A status alone may only mean that there is no session yet.
                    Failure::Status { authenticate, .. } => authenticate.is_some(),
                    _ => false,
                };
                if settled {
                    return Err(self.gave_up(client, failure, DISCOVER).await);
                }
                client.close().await;
                self.legacy(self.connect()?).await
            }
        }
    }

    /// Asks `server/discover`, again under another revision where the server names one.
    async fn discover(&self, client: &mut Client, wait: Duration) -> Result<Found, FetchError> {
        let mut revision = Revision::newest(Era::Modern);
        let mut tried = Vec::new();
        loop {
            client.speak(revision);
            tried.push(revision);
            let params = format!("{{\"_meta\":{}}}", meta(revision));
            let offered = match client.ask(DISCOVER, &params, wait).await {
                Ok(answer) => match discovery(&answer) {
                    Some((offered, raw)) => {
                        if offered.iter().any(|v| v == revision.date) {
                            return Ok(Found::Modern(self.greeting(raw, DISCOVER)?));
                        }
                        offered
                    }
                    None => {
                        let start = answer
                            .result()
                            .unwrap_or_default()
                            .chars()
                            .take(limits::QUOTE)
                            .collect();
                        return Ok(Found::Legacy(Failure::Garbled(
                            "`supportedVersions` is missing".into(),
                            start,
                        )));
                    }
                },
                Err(Failure::Rpc(error, _)) if error.code == UNSUPPORTED_VERSION => {
                    error.supported()
                }
                Err(Failure::Rpc(error, status)) if MODERN_ERRORS.contains(&error.code) => {
                    return Err(self.failed(Failure::Rpc(error, status), DISCOVER));
                }
                Err(failure) => return Ok(Found::Legacy(failure)),
            };
            let names = || offered.iter().map(String::as_str);
            match Revision::common(Era::Modern, names()) {
                Some(common) if !tried.contains(&common) => revision = common,
                _ if Revision::common(Era::Legacy, names()).is_some() => {
                    return Ok(Found::Legacy(Failure::Garbled(
                        "it offers legacy revisions alone".into(),
                        String::new(),
                    )));
                }
                _ => {
                    let offered = crate::error::quote(&offered.join(", "));
                    let offered =
                        if offered.is_empty() { "none that it names".to_owned() } else { offered };
                    return Err(self.version_error(format!(
                        "The server speaks the protocol revisions {offered}."
                    )));
                }
            }
        }
    }

    async fn modern(&self, mut client: Client) -> Result<(Client, Greeting), FetchError> {
        match self.discover(&mut client, self.options.request_timeout).await {
            Ok(Found::Modern(greeting)) => Ok((client, greeting)),
            Ok(Found::Legacy(failure)) => Err(self.gave_up(client, failure, DISCOVER).await),
            Err(error) => {
                client.close().await;
                Err(error)
            }
        }
    }

    async fn legacy(&self, mut client: Client) -> Result<(Client, Greeting), FetchError> {
        client.speak(Revision::newest(Era::Legacy));
        if let Link::Http(server) = client.link() {
            // The handshake itself names its revision in the body alone.
            server.forget_session();
        }
        match client.ask(INITIALIZE, &initialize_params(), self.options.request_timeout).await {
            Ok(answer) => self.initialized(client, &answer).await,
            Err(failure) => {
                let old = match client.link() {
                    Link::Http(server)
                        if matches!(failure, Failure::Status { code: 400 | 404 | 405, .. }) =>
                    {
                        server
                            .speaks_old_transport(limits::CONNECT.min(self.options.request_timeout))
                            .await
                    }
                    _ => false,
                };
                if old {
                    client.close().await;
                    return Err(self.version_error(
                        "The server speaks only the HTTP+SSE transport of 2024-11-05, which the protocol has given up."
                            .into(),
                    ));
                }
                Err(self.gave_up(client, failure, INITIALIZE).await)
            }
        }
    }

    async fn initialized(
        &self,
        mut client: Client,
        answer: &Message,
    ) -> Result<(Client, Greeting), FetchError> {
        #[derive(serde::Deserialize)]
        struct Answer {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        let raw = answer.result().unwrap_or_default();
        let greeted = match serde_json::from_str::<Answer>(raw) {
            Err(_) => Err(self.failed(
                Failure::Garbled(
                    "`protocolVersion` is missing".into(),
                    raw.chars().take(limits::QUOTE).collect(),
                ),
                INITIALIZE,
            )),
            Ok(Answer { version }) => {
                match Revision::named(&version).filter(|r| r.era == Era::Legacy) {
                    None => Err(self.version_error(format!(
                        "The server answers `initialize` with the protocol revision `{}`.",
                        crate::error::quote(&version)
                    ))),
                    Some(revision) => {
                        self.greeting(raw, INITIALIZE).map(|greeting| (revision, greeting))
                    }
                }
            }
        };
        let (revision, greeting) = match greeted {
            Ok(fine) => fine,
            Err(error) => {
                client.close().await;
                return Err(error);
            }
        };
        client.speak(revision);
        match client.tell("notifications/initialized", self.options.request_timeout).await {
            Ok(()) => Ok((client, greeting)),
            Err(failure) => Err(self.gave_up(client, failure, "notifications/initialized").await),
        }
    }

    /// What the server says of itself, with the flaws that a decoder would hide.
    fn greeting(&self, raw: &str, method: &str) -> Result<Greeting, FetchError> {
        #[derive(serde::Deserialize)]
        struct Fields<'a> {
            #[serde(rename = "serverInfo", borrow)]
            server_info: Option<&'a RawValue>,
            #[serde(borrow)]
            capabilities: Option<&'a RawValue>,
            instructions: Option<serde_json::Value>,
            #[serde(rename = "_meta", borrow)]
            meta: Option<&'a RawValue>,
        }
        let place = format!("{} {method}", self.place);
        let flaws = json::flaws(raw, limits::DEPTH, 20);
        if !flaws.is_empty() {
            return Err(crate::list::flawed(&place, flaws));
        }
        let wrong = |what: String| {
            FetchError::new(
                ErrorKind::Answer,
                &place,
                what,
                "That is a fault of the server; nothing was taken from it.",
            )
        };
        let fields: Fields<'_> = serde_json::from_str(raw)
            .map_err(|e| wrong(format!("The answer cannot be read: {e}.")))?;
        let instructions = match fields.instructions {
            None | Some(serde_json::Value::Null) => None,
            Some(serde_json::Value::String(text)) => Some(text),
            Some(_) => return Err(wrong("`instructions` is not a string.".into())),
        };
        let in_meta = fields.meta.and_then(|meta| {
            let members: std::collections::BTreeMap<String, Box<RawValue>> =
                serde_json::from_str(meta.get()).ok()?;
            members.into_iter().find(|(name, _)| name == SERVER_INFO).map(|(_, raw)| raw)
        });
        Ok(Greeting {
            server_info: fields.server_info.map(ToOwned::to_owned).or(in_meta),
            capabilities: fields.capabilities.map(ToOwned::to_owned),
            instructions,
        })
    }
}

fn initialize_params() -> String {
    format!(
        "{{\"protocolVersion\":\"{}\",\"capabilities\":{{}},\"clientInfo\":{}}}",
        Revision::newest(Era::Legacy),
        client_info()
    )
}

/// The revisions that a `DiscoverResult` offers, and the result; `None` for anything else.
fn discovery(answer: &Message) -> Option<(Vec<String>, &str)> {
    #[derive(serde::Deserialize)]
    struct Discovery {
        #[serde(rename = "supportedVersions")]
        supported: Vec<String>,
    }
    let raw = answer.result()?;
    Some((serde_json::from_str::<Discovery>(raw).ok()?.supported, raw))
}

fn is_discovery(answer: &Message) -> bool {
    discovery(answer).is_some()
}
