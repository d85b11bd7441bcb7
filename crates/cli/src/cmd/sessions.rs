//! `steadfast sessions`: which agent runs were authorised.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::limits;
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, print_list, shown_time, wait};
use serde_json::{Value, json};
use store::{Access, Session, SessionQuery, Store};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Sessions {
    /// Of this server alone
    #[arg(long, value_name = "SERVER")]
    server: Option<String>,
    /// Open ones alone
    #[arg(long)]
    open: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = limits::LISTED)]
    limit: u32,
    #[command(flatten)]
    store: StoreArgs,
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for Sessions {
    const NAME: &'static str = "sessions";
    const ABOUT: &'static str = "List the sessions of the gateway, the newest first";
    const EXAMPLES: &'static str = "\
A session is one client connected to one server. What was called in it: steadfast activity --session ID.

Examples:
  steadfast sessions
  steadfast sessions --open --server github
  steadfast sessions --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let store = self.store.open(Access::Read)?;
        let limit = self.limit.max(1);
        let query = SessionQuery { server: self.server, open: self.open, before: None, limit };
        let found = wait(store.sessions(query))?;
        print_list(shell, self.format, ("sessions", "no such session"), &found, line, object)?;
        Ok(Exit::Fine)
    }
}

fn line(session: &Session) -> String {
    let state = match session.ended {
        None if session.abandoned => "gone".to_owned(),
        None => "open".to_owned(),
        Some((at, how)) => format!("{how} {}", shown_time(at)),
    };
    let refused = match session.refused {
        0 => String::new(),
        refused => format!(", {refused} refused"),
    };
    format!(
        "{}  {}  {}  {}  {state}  {}{refused}\n",
        session.id,
        shown_time(session.opened_at),
        printable(&session.server),
        printable(&session.principal),
        match session.requests {
            1 => "1 request".to_owned(),
            requests => format!("{requests} requests"),
        }
    )
}

fn object(session: &Session) -> Value {
    // What the client says about itself is JSON, or it is shown as the text that it is.
    let client_info = session.client_info.as_deref();
    let client_info =
        client_info.map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
    json!({
        "session": session.id.to_string(),
        "server": session.server,
        "principal": session.principal,
        "era": session.era.as_str(),
        "client_info": client_info,
        "opened_at": shown_time(session.opened_at),
        "ended_at": session.ended.map(|(at, _)| shown_time(at)),
        "how": session.ended.map(|(_, how)| how.as_str()).or(session.abandoned.then_some("gone")),
        "requests": session.requests,
        "refused": session.refused,
    })
}
