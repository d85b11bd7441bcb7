//! What a gateway says on standard error while it runs. A thread of its own writes it, so that whoever does not read it holds
//! up no message between a client and its server.

use crate::exit::Failure;
use crate::limits;
use crate::output;
use gateway::Event;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Says lines, as far as they are read.
pub struct Teller {
    /// Lines; nothing, where none follows.
    lines: SyncSender<Option<String>>,
    lost: Arc<AtomicU64>,
    ended: Mutex<Receiver<()>>,
}

impl Teller {
    /// Starts the thread.
    ///
    /// # Errors
    /// Where the system gives none.
    pub fn start() -> Result<Teller, Failure> {
        Teller::over(output::complain)
    }

    fn over(write: impl FnMut(&str) + Send + 'static) -> Result<Teller, Failure> {
        let (lines, queue) = sync_channel(limits::TOLD);
        let (end, ended) = channel();
        let lost = Arc::new(AtomicU64::new(0));
        let lost_lines = Arc::clone(&lost);
        let said = move || {
            say_all(&queue, &lost_lines, write);
            drop(end);
        };
        std::thread::Builder::new().name("teller".into()).spawn(said).map_err(|why| {
            Failure::one(
                "standard error",
                format!("This machine gave no resources: {why}."),
                "Close some programs, or try again.",
            )
        })?;
        Ok(Teller { lines, lost, ended: Mutex::new(ended) })
    }

    /// Says a line once those before it were read; where too many of them wait, it is counted instead.
    pub fn say(&self, line: &str) {
        if self.lines.try_send(Some(format!("{line}\n"))).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says what happens, until nothing can happen any more. `named` says of which server.
    pub async fn tell(&self, mut events: broadcast::Receiver<Event>, named: bool) {
        loop {
            let event = match events.recv().await {
                Ok(event) => event,
                Err(RecvError::Lagged(missed)) => {
                    self.lost.fetch_add(missed, Ordering::Relaxed);
                    continue;
                }
                Err(RecvError::Closed) => return,
            };
            let server = if named { format!("{}: ", event.server) } else { String::new() };
            let code = event.code.map_or(String::new(), |code| format!(" [{code}]"));
            let line = format!("steadfast: {server}{}{code}", event.sentence);
            self.say(&output::printable(&line));
        }
    }

    /// Waits a moment for what was said last.
    pub fn end(&self) {
        let until = Instant::now() + limits::LAST_SAID;
        while matches!(self.lines.try_send(None), Err(TrySendError::Full(_))) {
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(limits::LAST_SAID / 100);
        }
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = ended.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

fn say_all(queue: &Receiver<Option<String>>, lost: &AtomicU64, mut write: impl FnMut(&str)) {
    loop {
        let next = match queue.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                // What was lost came after all that waited.
                say_lost(lost, &mut write);
                queue.recv().ok().flatten()
            }
        };
        match next {
            Some(line) => write(&line),
            None => return say_lost(lost, &mut write),
        }
    }
}

fn say_lost(lost: &AtomicU64, write: &mut impl FnMut(&str)) {
    let lost = lost.swap(0, Ordering::Relaxed);
    if lost > 0 {
        write(&format!(
            "steadfast: {lost} lines were not said here, because those before them were not read; steadfast activity has what was done\n"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn event(n: usize) -> Event {
        Event {
            at: 0,
            kind: "fault",
            server: "lab".into(),
            tool: None,
            code: Some("CODE"),
            sentence: format!("line {n}"),
        }
    }

    #[test]
    fn whoever_does_not_read_is_not_waited_for_and_hears_how_much_was_lost() {
        let (go, wait) = mpsc::channel::<()>();
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let teller = Teller::over(move |line| {
            // Nobody reads until this is over.
            let _ = wait.recv();
            heard.lock().unwrap().push(line.to_owned());
        })
        .unwrap();
        for n in 0..limits::TOLD + 10 {
            teller.say(&format!("line {n}"));
        }
        drop(go);
        teller.end();
        let said = said.lock().unwrap();
        assert_eq!(said[0], "line 0\n");
        let lost: usize =
            said.last().unwrap().split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap();
        assert_eq!(said.len() - 1 + lost, limits::TOLD + 10);
        assert!((9..=10).contains(&lost), "the thread holds one at most: {lost}");
    }

    #[tokio::test]
    async fn what_was_missed_is_counted_and_what_follows_is_told() {
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        let teller = Teller::over(move |line| heard.lock().unwrap().push_str(line)).unwrap();
        let (sender, events) = broadcast::channel(2);
        for n in 0..5 {
            sender.send(event(n)).unwrap();
        }
        drop(sender);
        teller.tell(events, true).await;
        teller.end();
        let said = said.lock().unwrap();
        assert!(
            said.contains("steadfast: lab: line 3 [CODE]\nsteadfast: lab: line 4 [CODE]\n"),
            "{said}"
        );
        assert!(said.contains("steadfast: 3 lines were not said here"), "{said}");
    }
}
