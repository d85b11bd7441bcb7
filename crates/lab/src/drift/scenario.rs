//! What a scenario says: two servers, a target, steps, and what must be seen.

use crate::script::Phase;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it is about, for the report.
    pub story: String,
    /// The server before and after the switch.
    pub server: Server,
    /// What is under test.
    pub target: Target,
    /// Over what the made-up server is spoken to: the scenario runs once for each.
    pub transports: Vec<Transport>,
    /// The client, where it is under test.
    pub client: Option<UnderTest>,
    /// The folder of the scenario.
    pub folder: PathBuf,
    /// An adapter declared for the gateway, in TOML.
    pub adapters: Option<String>,
    /// What adapters may rest on.
    pub facts: BTreeMap<String, String>,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// How long one step may take, in seconds.
    pub patience: u64,
}

impl Scenario {
    /// Whether the gateway stands between a client under test and the server.
    pub fn is_guarded(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.guarded)
    }

    /// Whether what the server does to the world can be seen.
    pub fn sees_effects(&self) -> bool {
        match &self.server {
            Server::Made { .. } => true,
            Server::Real(real) => real.recorder.is_some(),
        }
    }
}

impl Server {
    /// What it must list before and after the switch, where that is known beforehand.
    pub fn lists(&self) -> [Option<&[Value]>; 2] {
        match self {
            Server::Made { before, after } => [Some(&before.tools), Some(&after.tools)],
            Server::Real(real) => real.lists.each_ref().map(Option::as_deref),
        }
    }
}

/// The server that changes.
#[derive(Debug, Clone)]
pub enum Server {
    /// Made up: what it lists and does, before and after.
    Made {
        /// Until the switch.
        before: Phase,
        /// From the switch on.
        after: Phase,
    },
    /// Real programs behind a switch that keeps the client's connection.
    Real(Real),
}

/// Real programs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Real {
    /// The command that is started first. Empty: until the switch a made-up server lists what `lists` says, and does
    /// nothing.
    pub before: Vec<String>,
    /// What makes it another server.
    pub switch: Hook,
    /// The environment variable in which the programs are told where the recorder is; without one, effects are not
    /// observed.
    pub recorder: Option<String>,
    /// What they list before and after the switch, where the scenario says so.
    #[serde(skip)]
    pub lists: [Option<Vec<Value>>; 2],
}

impl Real {
    /// The command that is started by whoever connects after the switch.
    pub fn after(&self) -> &[String] {
        match &self.switch {
            Hook::Command(command) => command,
            _ => &self.before,
        }
    }
}

/// What makes a server another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Hook {
    /// Another command takes its place under the connection of the client.
    Command(Vec<String>),
    /// A program is run, once.
    Run(Vec<String>),
    /// An HTTP request is sent: method and address.
    Request(String, String),
    /// A file is written.
    File(String),
    /// The server's process group is sent a signal.
    Signal(Signal),
    /// Nothing is switched here: the relay only tells what passes.
    Elsewhere,
}

/// The signals that a switch may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGHUP.
    Hup,
    /// SIGUSR1.
    Usr1,
    /// SIGUSR2.
    Usr2,
}

/// What is under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The server: steadfast is the old client.
    Server,
    /// Both ends with `steadfast wrap` between them.
    Gateway,
    /// The client: steadfast is the server that changes.
    Client,
}

/// Over what a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A pipe.
    Stdio,
    /// Streamable HTTP.
    Http,
}

impl Transport {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        }
    }
}

/// A client under test.
#[derive(Debug, Clone)]
pub struct UnderTest {
    /// Its command; it is told by its environment how to start the server.
    pub command: Vec<String>,
    /// Where its events are read from; without it, only what crosses the wire is seen.
    pub events: Option<ClientEvents>,
    /// `steadfast wrap` stands between it and the server.
    pub guarded: bool,
}

/// Where the events of a client are read from, once it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvents {
    /// What it wrote to its standard output and error.
    Output,
    /// A file, by its path from the folder of the scenario.
    File(String),
    /// What a program prints.
    Command(Vec<String>),
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Where it is written.
    pub place: String,
    /// What is done.
    pub deed: Deed,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Deed {
    /// The client connects anew.
    Reconnect,
    /// The client reads the list, and must be shown this.
    List(Option<Shown>),
    /// The client prepares a call.
    Plan {
        /// By which later steps name it.
        name: String,
        /// The call.
        call: Call,
    },
    /// The server becomes another one, without a word.
    Switch,
    /// The server says that its list changed.
    Notify,
    /// The client waits until it was told so.
    Told,
    /// Lists cannot be read from here on.
    FailRefresh,
    /// Lists can be read again.
    MendRefresh,
    /// The server's process ends.
    Crash,
    /// The planned call is made and answered.
    Call(String, Box<Expected>),
    /// The planned call is made; its answer is looked at by [`Deed::Finish`].
    Start(String),
    /// Waits until the started call has reached the server.
    Arrived(String),
    /// The client under test asks for the list.
    ClientLists,
    /// The client under test makes this call, and it has this effect.
    ClientCalls(Call, Box<Expected>),
    /// The client under test ends, with this code and these events.
    ClientEnds {
        /// Its exit code; not looked at where absent.
        exit: Option<i32>,
        /// What its events name.
        events: Vec<String>,
    },
    /// The answer of a started call.
    Finish(String, Box<Expected>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What a list must show.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// What the server lists before the switch.
    Before,
    /// What it lists after.
    After,
    /// Tools of exactly these names.
    Names(Vec<String>),
    /// An error.
    Fails,
}

/// What must be seen of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// Of what kind the answer is.
    pub answer: Option<Answer>,
    /// The code of a refusal.
    pub code: Option<String>,
    /// What its text names.
    pub names: Vec<String>,
    /// Members of the structured answer.
    pub holds: Map<String, Value>,
    /// Members that the structured answer does not have.
    pub lacks: Vec<String>,
    /// The arguments that reach the server: exactly these, or none.
    pub arrives: Option<Arrives>,
    /// The requests that reach the world because of it: exactly these, in order. `None`: they cannot be seen.
    pub downstream: Option<Vec<Request>>,
}

/// Of what kind an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A result that is no error.
    Done,
    /// A tool execution error that leaves nothing begun.
    Refused,
    /// It was carried out, and the answer is an error that stops what depends on it.
    Stopped,
    /// It left, and nobody knows whether it was carried out; the caller is told so.
    InDoubt,
    /// An error of the protocol.
    ProtocolError,
    /// None: the connection ended, or time ran out.
    Lost,
}

impl Answer {
    /// The word for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Done => "done",
            Answer::Refused => "refused",
            Answer::Stopped => "stopped",
            Answer::InDoubt => "in-doubt",
            Answer::ProtocolError => "protocol-error",
            Answer::Lost => "lost",
        }
    }
}

/// What reaches the server of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrives {
    /// No call.
    Nothing,
    /// One call with these arguments.
    Arguments(Value),
}

/// A request that reaches the world.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path, with its query.
    pub path: String,
    /// Its body, exactly; not looked at where absent.
    pub body: Option<Value>,
    /// Headers of authority that it carries.
    pub authority: Vec<String>,
}
