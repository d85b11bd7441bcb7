//! Who only watches stands in nobody's way: what cannot be judged passes, and is told.

use super::turns::Queued;
use super::{Open, Session, lock};
use contract::admission::{Code, Ground};
use mcp::message::{Id, Message};

impl Session {
    /// While observing: a call that cannot be judged goes to the server as the client wrote it, and so does the answer.
    pub(super) async fn let_pass(&self, id: &Id, message: Message, why: &str) {
        if let Some(open) = lock(&self.open).get_mut(id) {
            *open = Open::Plain;
        }
        let name = mcp::json::find(message.params().unwrap_or_default(), &["name"]);
        let name = name.and_then(|name| serde_json::from_str::<String>(name).ok());
        let tool = name.filter(|name| !self.upstream.live(name).is_empty());
        let code = Code::InvalidArguments.name();
        let sentence = format!("would have refused a call that cannot be read: {why}");
        self.tell("would-refuse", tool.as_deref(), Some(code), &sentence);
        if let Some(tool) = &tool {
            self.tally(tool, "refuse", Some(code), &Ground::default(), &[]);
        }
        self.put_in_turn(id, Queued::Pass(message)).await;
    }
}
