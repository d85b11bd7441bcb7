//! Gateways that run now, and the servers that they or the store know.

use crate::exit::Failure;
use crate::output::printable;
use crate::state::StoreArgs;
use gateway::control::{self, Control};
use gateway::status::{Filter, Status};
use gateway::{Events, Hub};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The folder with the sockets of the gateways that work on a store.
pub fn folder(store: &StoreArgs) -> Result<PathBuf, Failure> {
    let mut name = store.path()?.into_os_string();
    name.push(".run");
    Ok(PathBuf::from(name))
}

/// Opens the control socket. A gateway that cannot be asked how it does still does what it must.
pub fn opened(
    store: &StoreArgs,
    hubs: Vec<Arc<Hub>>,
    events: &Events,
    quiet: bool,
) -> Result<Option<Control>, Failure> {
    let folder = folder(store)?;
    let control = Control::open(&folder, hubs, events);
    if let (Err(why), false) = (&control, quiet) {
        crate::output::complain(&format!(
            "steadfast: status and tail cannot see this gateway ({}: {why})\n",
            folder.display()
        ));
    }
    Ok(control.ok())
}

/// A runtime that can speak to sockets.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
        Failure::one(
            "steadfast",
            format!("This machine gave no resources: {why}."),
            "Close some programs, or try again.",
        )
    })
}

/// Asks every gateway that runs. One that does not answer is named in the second list, with the reason.
pub async fn ask(
    store: &StoreArgs,
    filter: &Filter,
) -> Result<(Vec<Status>, Vec<String>), Failure> {
    Ok(control::ask_all(&folder(store)?, filter).await)
}

/// Reads SERVER or SERVER/TOOL. Names of servers may have slashes of their own, so what is known decides.
pub fn named(text: &str, known: &BTreeSet<String>) -> Result<Filter, Failure> {
    if known.contains(text) {
        return Ok(Filter { server: Some(text.to_owned()), tool: None });
    }
    for (at, _) in text.rmatch_indices('/') {
        let (server, tool) = (&text[..at], &text[at + 1..]);
        if known.contains(server) && !tool.is_empty() {
            return Ok(Filter { server: Some(server.to_owned()), tool: Some(tool.to_owned()) });
        }
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{}`", printable(name))).collect();
    Err(Failure::one(
        printable(text),
        "No server of this name is known.",
        match names.as_slice() {
            [] => "None was ever guarded with this store; name another with --store.".to_owned(),
            names => format!("Known are: {}.", names.join(", ")),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_have_slashes_in_its_name_and_so_may_a_tool() {
        let known = ["npx -y @scope/server", "https://example.com/mcp", "npx -y @scope/server/sub"];
        let known: BTreeSet<String> = known.map(str::to_owned).into();
        let of = |text: &str| named(text, &known).map(|f| (f.server.unwrap(), f.tool)).ok();
        let whole = |server: &str| Some((server.to_owned(), None));
        let tool = |server: &str, tool: &str| Some((server.to_owned(), Some(tool.to_owned())));
        assert_eq!(of("npx -y @scope/server"), whole("npx -y @scope/server"));
        assert_eq!(of("npx -y @scope/server/sub"), whole("npx -y @scope/server/sub"));
        assert_eq!(of("npx -y @scope/server/sub/t"), tool("npx -y @scope/server/sub", "t"));
        assert_eq!(of("https://example.com/mcp/a/b"), tool("https://example.com/mcp", "a/b"));
        assert_eq!(of("https://example.com"), None);
        assert_eq!(of("https://example.com/mcp/"), None);
    }
}
