//! The connection to a server: how it is opened again, and which one a message is meant for.
//!
//! What is read over a connection says nothing about what is behind the next one. So a list carries the [`Epoch`] that it
//! was read in, a call carries that of the list that it was decided by, and the epoch is compared where the bytes are
//! handed to the pipe, or to the session, that they leave over.

use super::{Asking, Fate, FromServer, NotSent, Server, Upstream, lock, pump};
use crate::limits;
use mcp::Era;
use mcp::duplex::{self, Routed, Sending, Uplink};
use mcp::message::{Id, Kind, Message};
use std::sync::Weak;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

/// Which connection: what was read or decided over one holds over no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Epoch {
    /// How often a connection began or ended until then.
    turn: u64,
    /// Which session it led to, where the server may lose one.
    session: u64,
}

/// The connection, where there is one.
#[derive(Default)]
pub(super) struct Link {
    pub(super) up: Option<Uplink>,
    turn: u64,
}

impl Link {
    /// Puts another connection, or none, in its place.
    fn turn(&mut self, up: Option<Uplink>) {
        self.up = up;
        self.turn += 1;
    }

    fn epoch(&self) -> Epoch {
        Epoch { turn: self.turn, session: self.up.as_ref().map_or(0, Uplink::generation) }
    }
}

impl Upstream {
    /// Which connection there is now.
    pub fn epoch(&self) -> Epoch {
        lock(&self.link).epoch()
    }

    /// Sends a request over the connection that it was decided about, or not at all, with headers of its own where it goes
    /// over HTTP; what becomes of it comes from the receiver.
    ///
    /// # Errors
    /// Where nothing of it left.
    pub async fn ask_in(
        &self,
        epoch: Epoch,
        message: &Message,
        headers: Vec<(String, String)>,
    ) -> Result<oneshot::Receiver<Fate>, NotSent> {
        let Kind::Request { id, .. } = message.kind() else {
            return Err(NotSent::why("only a request can be answered"));
        };
        let up = {
            let link = lock(&self.link);
            link.up.clone().filter(|_| link.turn == epoch.turn).ok_or(NotSent::Moved)?
        };
        let (sender, fate) = oneshot::channel();
        lock(&self.waiting).insert(id.clone(), sender);
        let routed = Routed { headers, ..self.routed(message) };
        let failed = match up.send_in(epoch.session, message, routed).await {
            Sending::Sent => {
                // Where it ended meanwhile, those who waited were told before this one did.
                if lock(&self.link).turn != epoch.turn
                    && let Some(waiter) = lock(&self.waiting).remove(id)
                {
                    let _ = waiter.send(Fate::Lost("the connection ended".to_owned()));
                }
                return Ok(fate);
            }
            Sending::NotSent => NotSent::why("the server no longer reads"),
            Sending::Moved => NotSent::Moved,
        };
        lock(&self.waiting).remove(id);
        Err(failed)
    }

    /// Asks a server of bound actions what exactly a call would send over this connection. `Err` is a sentence.
    pub async fn foretold(&self, epoch: Epoch, call: &Message) -> Result<Message, String> {
        let (method, params) =
            crate::call::question(call).ok_or("the call names no tool".to_owned())?;
        self.own(epoch, method, &params).await
    }

    /// Asks a question of the gateway's own over this connection and waits for the raw result. `Err` is a sentence.
    pub(super) async fn own(
        &self,
        epoch: Epoch,
        method: &str,
        params: &str,
    ) -> Result<Message, String> {
        let id = Id::Text(format!("{}{}", self.own, self.count.fetch_add(1, Ordering::Relaxed)));
        let text = mcp::message::request(&id, method, Some(params));
        let message = Message::parse(&text).map_err(|why| why.to_string())?;
        // Whoever asked may stop waiting at any moment.
        let _asking = Asking { upstream: self, id: &id };
        // A server that no longer reads must not hold up the sending either.
        let asked = async {
            let fate = self.ask_in(epoch, &message, Vec::new()).await;
            let fate = fate.map_err(|why| why.to_string())?;
            fate.await.map_err(|_| "the connection ended".to_owned())
        };
        match timeout(self.patience, asked).await {
            Ok(Ok(Fate::Answered(answer))) => Ok(answer),
            Ok(Ok(Fate::Lost(why) | Fate::NotSent(why)) | Err(why)) => Err(why),
            Err(_) => Err(format!("the server did not answer {method} within {:?}", self.patience)),
        }
    }

    /// The connection there is, and its epoch.
    fn there(&self) -> Option<(Uplink, Epoch)> {
        let link = lock(&self.link);
        Some((link.up.clone()?, link.epoch()))
    }

    /// The connection; a server that ended is started again and greeted as the client greeted it.
    pub(super) async fn connected(&self) -> Result<(Uplink, Epoch), NotSent> {
        if let Some(there) = self.there() {
            return Ok(there);
        }
        let _one = self.connecting.lock().await;
        if let Some(there) = self.there() {
            return Ok(there);
        }
        if self.closing.load(Ordering::Acquire) {
            return Err(NotSent::why("the session is ending"));
        }
        let (wait, tries) = {
            let restart = lock(&self.restart);
            (restart.wait(Instant::now()), restart.tries)
        };
        if wait > limits::RESTART_WAIT {
            let seconds = wait.as_secs() + 1;
            return Err(NotSent::why(format!(
                "the server ended {tries} times in a row and is started again in {seconds} s at the earliest"
            )));
        }
        tokio::time::sleep(wait).await;
        lock(&self.restart).begin(Instant::now());
        let (link, incoming) = match &self.server {
            Server::Command(command) => {
                duplex::start(command).map_err(|why| NotSent::why(why.to_string()))?
            }
            Server::Web(server) => duplex::reach((**server).clone()),
            Server::Here(pipes) => pipes.connect().map_err(NotSent::why)?,
        };
        // Without a handshake the first request already names its revision.
        let revision = lock(&self.speech).revision.filter(|r| r.era == Era::Modern);
        if let Some(revision) = revision {
            link.speak(revision);
        }
        let incoming = self.greet(&link, incoming).await?;
        // Known before anything that the server says is handed on: its end among it.
        let epoch = {
            let mut held = lock(&self.link);
            held.turn(Some(link.clone()));
            held.epoch()
        };
        tokio::spawn(pump(Weak::clone(&self.this), self.out.clone(), incoming));
        if self.starts.fetch_add(1, Ordering::Relaxed) > 0 {
            let out = self.out.clone();
            // Where nobody listens any more, nobody has to look again.
            tokio::spawn(async move { out.send(FromServer::Gap).await });
        }
        Ok((link, epoch))
    }

    /// The connection ended: nobody who waits will be answered.
    pub(super) fn ended(&self, why: &str) {
        lock(&self.link).turn(None);
        *lock(&self.last_end) = Some(why.to_owned());
        lock(&self.known).verified = None;
        self.settle_waiters(why);
    }

    fn settle_waiters(&self, why: &str) {
        for waiter in std::mem::take(&mut *lock(&self.waiting)).into_values() {
            let _ = waiter.send(Fate::Lost(why.to_owned()));
        }
    }

    /// Tells the server to leave, waits a while for it, and ends it. Nothing is started any more, and nobody waits for
    /// an answer afterwards.
    pub async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        let link = lock(&self.link).up.clone();
        let Some(link) = link else { return self.settle_waiters("the session ended") };
        link.close().await;
        let left = async {
            while lock(&self.link).up.is_some() && self.is_pipe() {
                tokio::time::sleep(limits::LEFT).await;
            }
        };
        let stays = timeout(limits::LEAVE, left).await.is_err();
        // Ends a program that does not leave, with everything that it started.
        lock(&self.link).turn(None);
        link.end();
        self.settle_waiters("the session ended");
        if stays {
            // It says nothing any more, its end included. Where nobody listens, nobody waits for it.
            let _ = self.out.try_send(FromServer::Ended("it did not leave".to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Connect;
    use super::*;
    use serde_json::{Value, json};
    use std::sync::atomic::AtomicU32;
    use std::sync::{Arc, Mutex};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::sync::{mpsc, watch};

    /// A server in this process that lists one tool, and ends when it is told to.
    #[derive(Default)]
    struct Here {
        /// Which start took which method.
        took: Arc<Mutex<Vec<(u32, String)>>>,
        starts: AtomicU32,
        /// Starts up to this one end.
        ended: watch::Sender<u32>,
        /// The first start ends once it was asked for the list so often, before it gives it.
        ends_at_list: Option<usize>,
    }

    impl Connect for Here {
        fn connect(&self) -> Result<(Uplink, mpsc::Receiver<duplex::Incoming>), String> {
            let start = self.starts.fetch_add(1, Ordering::SeqCst) + 1;
            let (reading, mut output) = tokio::io::duplex(1 << 16);
            let (input, writing) = tokio::io::duplex(1 << 16);
            let (took, mut ended) = (Arc::clone(&self.took), self.ended.subscribe());
            let ends_at_list = self.ends_at_list;
            tokio::spawn(async move {
                let mut lines = BufReader::new(input).lines();
                let mut lists = 0;
                loop {
                    let line = tokio::select! {
                        line = lines.next_line() => line.unwrap(),
                        _ = ended.wait_for(|ended| *ended >= start) => return,
                    };
                    let Some(line) = line else { return };
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let method = message["method"].as_str().unwrap().to_owned();
                    lists += usize::from(method == "tools/list");
                    took.lock().unwrap().push((start, method));
                    if start == 1 && ends_at_list == Some(lists) {
                        return;
                    }
                    // Each start means something else.
                    let tool = json!({"name": "pay", "description": format!("Start {start}"), "inputSchema": {"type": "object"}});
                    let answer =
                        json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [tool]}});
                    let _ = output.write_all(format!("{answer}\n").as_bytes()).await;
                }
            });
            Ok(duplex::over(reading, writing))
        }
    }

    fn upstream(here: &Arc<Here>) -> Arc<Upstream> {
        let pipes: Arc<dyn Connect> = Arc::clone(here) as _;
        Upstream::new("lab".into(), Server::Here(pipes), Arc::default(), None).0
    }

    fn call() -> Message {
        Message::parse(&mcp::message::request(&Id::Number("1".into()), "tools/call", None)).unwrap()
    }

    fn says(upstream: &Upstream) -> (String, Epoch) {
        let (live, epoch) = upstream.live_over("pay");
        (live[0].tool().raw["description"].as_str().unwrap().to_owned(), epoch)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_was_decided_before_the_server_was_started_again_is_not_sent_to_it() {
        let here = Arc::new(Here::default());
        let upstream = upstream(&here);
        upstream.verified(limits::READ_AGE).await.unwrap();
        let (said, epoch) = says(&upstream);
        assert_eq!(said, "Start 1");
        here.ended.send_replace(1);
        while upstream.epoch() == epoch {
            tokio::time::sleep(limits::LEFT).await;
        }
        // Nothing was read since. What was decided holds nowhere.
        assert_eq!(upstream.ask_in(epoch, &call(), Vec::new()).await.err(), Some(NotSent::Moved));
        // However young the last reading is, it was one of another process.
        upstream.verified(limits::READ_AGE).await.unwrap();
        let (said, now) = says(&upstream);
        assert_eq!(said, "Start 2");
        assert_eq!(upstream.ask_in(epoch, &call(), Vec::new()).await.err(), Some(NotSent::Moved));
        assert!(upstream.ask_in(now, &call(), Vec::new()).await.unwrap().await.is_ok());
        let took = here.took.lock().unwrap().clone();
        let calls: Vec<_> = took.iter().filter(|(_, method)| method == "tools/call").collect();
        assert_eq!(calls, [&(2, "tools/call".to_owned())]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reading_during_which_the_server_was_started_again_is_one_of_the_new_one_alone() {
        for ends_at_list in [Some(1), Some(2)] {
            let here = Arc::new(Here { ends_at_list, ..Here::default() });
            let upstream = upstream(&here);
            upstream.verified(limits::READ_AGE).await.unwrap();
            let (said, epoch) = says(&upstream);
            assert_eq!((said.as_str(), epoch), ("Start 2", upstream.epoch()));
        }
    }
}
