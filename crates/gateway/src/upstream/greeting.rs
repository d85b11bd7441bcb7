//! A server that is greeted again: as its client greeted it, and what it says of itself by now.

use super::{FromServer, NotSent, Upstream, lock};
use crate::limits;
use mcp::duplex::{Incoming, Routed, Uplink};
use mcp::message::{Id, Kind, Message};
use tokio::sync::mpsc;
use tokio::time::timeout;

impl Upstream {
    /// Greets a server that was started again. What it says until then is its answer to the greeting.
    pub(super) async fn greet(
        &self,
        link: &Uplink,
        mut incoming: mpsc::Receiver<Incoming>,
    ) -> Result<mpsc::Receiver<Incoming>, NotSent> {
        let speech = self.speech();
        if let Some(initialize) = speech.initialize.filter(|_| speech.initialized) {
            let id = Id::Text(format!("{}greeting", self.own));
            let text = mcp::message::request(&id, "initialize", initialize.params());
            let greeting = Message::parse(&text).map_err(|why| NotSent::why(why.to_string()))?;
            link.send(&greeting, Routed::default()).await;
            let answered = async {
                while let Some(item) = incoming.recv().await {
                    match item {
                        Incoming::Message(message, _) if matches!(message.kind(), Kind::Response { id: Some(i) } if *i == id) =>
                        {
                            return message.outcome().map(str::to_owned).map_err(|error| {
                                NotSent::why(format!(
                                    "the server refuses to be greeted again: error {}",
                                    error.code
                                ))
                            });
                        }
                        Incoming::Ended(_) => break,
                        _ => {}
                    }
                }
                Err(NotSent::why("the server ended again while it was greeted"))
            };
            let greeted = timeout(limits::HANDSHAKE, answered)
                .await
                .map_err(|_| NotSent::why("the server that was started again does not answer"))??;
            let (out, greeted) = (self.out.clone(), self.greeted_again(&greeted));
            // Where nobody listens any more, nobody heeds it.
            tokio::spawn(async move { out.send(greeted).await });
            let text = mcp::message::notification("notifications/initialized", None);
            if let Ok(done) = Message::parse(&text) {
                link.send(&done, Routed::default()).await;
            }
        }
        Ok(incoming)
    }

    /// Takes down who the server says that it is by now. `result` is its raw answer to the greeting.
    pub(super) fn greeted_again(&self, result: &str) -> FromServer {
        let text = |path: &[&str]| {
            let raw = mcp::json::find(result, path)?;
            serde_json::from_str::<String>(raw).ok()
        };
        let version = text(&["serverInfo", "version"]);
        self.learn(|speech| speech.server_version = version);
        FromServer::Greeted(text(&["instructions"]))
    }

    /// Takes down that the server instructs its clients otherwise than this one was told, in a sentence; `None` where it
    /// does so no more.
    pub fn instructs(&self, otherwise: Option<String>) {
        *lock(&self.instructs) = otherwise;
    }
}
