//! The event streams of one legacy session: which message goes on which, and what is kept of them for a while.
//!
//! Stream 0 is the one that the client opens by GET; every POST with requests has one of its own. A message goes on
//! exactly one stream. An event's id names its stream and its place there, so that a client whose connection broke
//! reads on where it stopped.

use super::queue::{self, Cut, Reader, Weighed, Writer};
use crate::limits;
use crate::session::Outgoing;
use mcp::message::{Id, Kind, Message};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// One event as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Event(pub Arc<str>);

impl Weighed for Event {
    fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// An event with a message; with an id where it can be asked for again.
pub fn event(id: Option<(u64, u64)>, text: &str) -> Event {
    // A line end inside a message could only be white space between its tokens.
    let line: String =
        text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let id = id.map_or(String::new(), |(stream, n)| format!("id: {stream}-{n}\n"));
    Event(format!("{id}event: message\ndata: {line}\n\n").into())
}

/// Events that a response begins with, and what follows.
pub type Attached = (VecDeque<Event>, Reader<Event>);

/// The streams of one session.
#[derive(Debug, Default)]
pub struct Streams(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    streams: BTreeMap<u64, Stream>,
    last: u64,
    requests: BTreeMap<Id, u64>,
    kept: Kept,
}

/// Bytes that are kept to be read again: of one session, and of all that share the count.
#[derive(Debug, Default)]
struct Kept {
    own: usize,
    all: Arc<AtomicUsize>,
}

impl Kept {
    fn add(&mut self, bytes: usize) {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::AcqRel);
    }

    fn sub(&mut self, bytes: usize) {
        self.own -= bytes;
        self.all.fetch_sub(bytes, Ordering::AcqRel);
    }

    fn fits(&self) -> bool {
        self.own <= limits::REPLAY_BYTES && self.all.load(Ordering::Acquire) <= limits::REPLAY_ALL
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::AcqRel);
    }
}

#[derive(Debug)]
struct Stream {
    /// Events so far.
    count: u64,
    /// Events that were handed to a connection.
    handed: u64,
    kept: VecDeque<(u64, Event)>,
    live: Option<Writer<Event>>,
    /// Requests without an answer yet.
    waiting: usize,
    moved: Instant,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            count: 0,
            handed: 0,
            kept: VecDeque::new(),
            live: None,
            waiting: 0,
            moved: Instant::now(),
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is on its way, or kept until the client comes back for it.
    Taken,
    /// The client does not read: its stream was cut.
    Cut,
}

impl Streams {
    /// The streams of a session, which count what they keep with those of others.
    pub fn counted(all: &Arc<AtomicUsize>) -> Streams {
        let kept = Kept { own: 0, all: Arc::clone(all) };
        Streams(Mutex::new(Inner { kept, ..Inner::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a stream for requests. `primed` begins it with an event without a message, so that a client can come back
    /// even where the connection breaks before the first one. `Err` is an id that is in use.
    pub fn open(&self, requests: &[Id], primed: bool) -> Result<Attached, Id> {
        let mut inner = self.lock();
        // Two of one id would be answered once, and the stream would wait for the other for ever.
        let mut taken = requests.iter().enumerate();
        let twice = |(n, id): &(usize, &Id)| {
            inner.requests.contains_key(*id) || requests[..*n].contains(id)
        };
        if let Some((_, used)) = taken.find(twice) {
            return Err(used.clone());
        }
        inner.last += 1;
        let number = inner.last;
        requests.iter().for_each(|id| {
            inner.requests.insert(id.clone(), number);
        });
        let (live, reader) = queue::stream();
        let mut stream = Stream { live: Some(live), waiting: requests.len(), ..Stream::default() };
        let mut first = VecDeque::new();
        if primed {
            stream.count = 1;
            stream.handed = 1;
            // A client that is cut off asks again after a second.
            first.push_back(Event(format!("id: {number}-1\nretry: 1000\ndata: \n\n").into()));
        }
        inner.streams.insert(number, stream);
        Ok((first, reader))
    }

    /// Opens the stream of what nobody asked for, in place of an earlier connection. It begins with what could not be
    /// said so far.
    pub fn listen(&self) -> Attached {
        let mut inner = self.lock();
        let stream = inner.streams.entry(0).or_default();
        let from = stream.handed;
        stream.attach(from)
    }

    /// Takes up a stream after an event. `None` where that is no longer, or was never, there.
    pub fn resume(&self, last: &str) -> Option<Attached> {
        let (number, n) = last.split_once('-')?;
        let (number, n) = (number.parse::<u64>().ok()?, n.parse::<u64>().ok()?);
        let mut inner = self.lock();
        let stream = inner.streams.get_mut(&number)?;
        let complete = match stream.kept.front() {
            Some((oldest, _)) => *oldest <= n + 1,
            None => n == stream.count,
        };
        if n > stream.count || !complete {
            return None;
        }
        let attached = stream.attach(n);
        if number != 0 && stream.waiting == 0 {
            // Everything was said: what is kept is all there is.
            stream.live = None;
        }
        Some(attached)
    }

    /// Puts a message on the stream it belongs to.
    pub fn put(&self, outgoing: &Outgoing) -> Put {
        let mut inner = self.lock();
        let number = match outgoing.about.as_ref().and_then(|id| inner.requests.get(id)) {
            Some(number) => *number,
            None if outgoing.text.is_empty() => return Put::Taken,
            None => inner.elsewhere(outgoing),
        };
        if outgoing.ends
            && let Some(id) = &outgoing.about
        {
            inner.requests.remove(id);
        }
        let stream = inner.streams.entry(number).or_default();
        stream.moved = Instant::now();
        let (pushed, size) = match outgoing.text.as_str() {
            "" => (None, 0),
            text => stream.say(number, text),
        };
        if pushed == Some(Ok(())) {
            outgoing.receipt.give();
        }
        let mut size = size;
        if outgoing.ends && number != 0 {
            stream.waiting = stream.waiting.saturating_sub(1);
            if stream.waiting == 0 {
                // The connection ends once this was read.
                stream.live = None;
                // Nobody can come back to before the first event of a stream: no id names that place. Most answers are
                // the only one, lists of tools among them.
                if stream.count == 1 && pushed == Some(Ok(())) {
                    stream.kept.clear();
                    size = 0;
                }
            }
        }
        inner.kept.add(size);
        inner.evict();
        if pushed == Some(Err(Cut::Slow)) { Put::Cut } else { Put::Taken }
    }

    /// Forgets what nobody came back for.
    pub fn sweep(&self) {
        let mut inner = self.lock();
        let gone: Vec<u64> = inner
            .streams
            .iter()
            .filter(|(number, stream)| {
                **number != 0 && stream.waiting == 0 && stream.moved.elapsed() > limits::REPLAY
            })
            .map(|(number, _)| *number)
            .collect();
        gone.into_iter().for_each(|number| inner.drop_stream(number));
    }

    /// True where no connection reads a stream.
    pub fn is_quiet(&self) -> bool {
        self.lock().streams.values().all(|s| s.live.as_ref().is_none_or(Writer::is_left))
    }

    /// Ends all connections.
    pub fn close(&self) {
        let mut inner = self.lock();
        let kept = Kept { own: 0, all: Arc::clone(&inner.kept.all) };
        *inner = Inner { kept, ..Inner::default() };
    }
}

impl Stream {
    /// Says a message, or keeps it until someone listens. Gives what became of it, and how much room it takes.
    fn say(&mut self, number: u64, text: &str) -> (Option<Result<(), Cut>>, usize) {
        self.count += 1;
        let (n, event) = (self.count, event(Some((number, self.count)), text));
        let size = event.bytes();
        let pushed = self.live.as_ref().map(|live| live.push(event.clone()));
        match pushed {
            Some(Ok(())) => self.handed = n,
            Some(Err(_)) => self.live = None,
            None => {}
        }
        self.kept.push_back((n, event));
        (pushed, size)
    }

    /// Gives the stream to a new connection, from after an event on.
    fn attach(&mut self, after: u64) -> Attached {
        let (live, reader) = queue::stream();
        self.live = Some(live);
        self.handed = self.count;
        let backlog =
            self.kept.iter().filter(|(n, _)| *n > after).map(|(_, event)| event.clone()).collect();
        (backlog, reader)
    }

    fn is_read(&self) -> bool {
        self.live.as_ref().is_some_and(|live| !live.is_left())
    }
}

impl Inner {
    /// Where a message goes that belongs to no request under way. A question of the server must reach a client that
    /// never opened a stream for such things: it goes beside what the client asked last.
    fn elsewhere(&self, outgoing: &Outgoing) -> u64 {
        if self.streams.get(&0).is_some_and(Stream::is_read) {
            return 0;
        }
        let asks = Message::parse(&outgoing.text)
            .is_ok_and(|message| matches!(message.kind(), Kind::Request { .. }));
        let open = || self.streams.iter().rev().find(|(n, s)| **n != 0 && s.is_read());
        asks.then(open).flatten().map_or(0, |(number, _)| *number)
    }

    fn drop_stream(&mut self, number: u64) {
        if let Some(stream) = self.streams.remove(&number) {
            self.kept.sub(stream.kept.iter().map(|(_, event)| event.bytes()).sum());
        }
    }

    /// Keeps within bounds: whole streams that have ended go first, then the oldest events.
    fn evict(&mut self) {
        loop {
            let ended: Vec<u64> = self
                .streams
                .iter()
                .filter(|(number, stream)| **number != 0 && stream.waiting == 0)
                .map(|(number, _)| *number)
                .collect();
            let crowded = ended.len() > limits::REPLAY_STREAMS;
            if self.kept.fits() && !crowded {
                return;
            }
            if let Some(oldest) = ended.first() {
                self.drop_stream(*oldest);
                continue;
            }
            let Some(stream) = self.streams.values_mut().find(|s| !s.kept.is_empty()) else {
                return;
            };
            if let Some((_, event)) = stream.kept.pop_front() {
                self.kept.sub(event.bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u64) -> Id {
        Id::from(n)
    }

    fn text(event: &Event) -> &str {
        event.0.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default()
    }

    async fn rest((mut first, mut reader): Attached) -> Vec<String> {
        let mut found: Vec<String> = first.drain(..).map(|event| text(&event).to_owned()).collect();
        while let Some(event) = reader.next().await {
            found.push(text(&event).to_owned());
        }
        found
    }

    #[tokio::test]
    async fn each_message_goes_on_the_stream_of_its_request_and_an_answer_ends_it() {
        let streams = Streams::default();
        let one = streams.open(&[id(1)], true).unwrap();
        let two = streams.open(&[id(2)], false).unwrap();
        assert_eq!(streams.open(&[id(3), id(2)], false).unwrap_err(), id(2));
        assert_eq!(streams.open(&[id(3), id(4), id(3)], false).unwrap_err(), id(3));
        streams.put(&Outgoing::beside(Some(id(2)), "p2".into()));
        streams.put(&Outgoing::beside(None, "alone".into()));
        streams.put(&Outgoing::answer(&id(1), "a1".into()));
        streams.put(&Outgoing::answer(&id(2), "a2".into()));
        assert_eq!(rest(one).await, ["", "a1"]);
        assert_eq!(rest(two).await, ["p2", "a2"]);
        let get = streams.listen();
        streams.close();
        assert_eq!(rest(get).await, ["alone"], "kept until someone listens");
    }

    #[tokio::test]
    async fn a_broken_stream_is_read_on_from_where_it_stopped_and_nothing_comes_twice() {
        let streams = Streams::default();
        drop(streams.open(&[id(1)], true).unwrap());
        streams.put(&Outgoing::beside(Some(id(1)), "p".into()));
        streams.put(&Outgoing::answer(&id(1), "a".into()));
        assert_eq!(rest(streams.resume("1-1").unwrap()).await, ["p", "a"]);
        assert_eq!(rest(streams.resume("1-2").unwrap()).await, ["a"]);
        assert_eq!(rest(streams.resume("1-3").unwrap()).await, [""; 0]);
        for never in ["1-4", "2-1", "x", "1", "-", "99999999999999999999-1"] {
            assert!(streams.resume(never).is_none(), "{never}");
        }
    }

    #[tokio::test]
    async fn a_question_of_the_server_finds_a_client_that_never_listens() {
        let streams = Streams::default();
        let post = streams.open(&[id(1)], false).unwrap();
        let ask = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"roots/list\"}";
        streams.put(&Outgoing::beside(None, ask.into()));
        streams.put(&Outgoing::answer(&id(1), "a".into()));
        assert_eq!(rest(post).await, [ask, "a"]);
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_gap_is_not_hidden() {
        let streams = Streams::default();
        let large = "x".repeat(limits::REPLAY_BYTES / 4);
        for n in 1..20 {
            drop(streams.open(&[id(n)], true).unwrap());
            streams.put(&Outgoing::answer(&id(n), large.clone()));
        }
        for _ in 0..20 {
            streams.put(&Outgoing::beside(None, large.clone()));
        }
        assert!(streams.lock().kept.own <= limits::REPLAY_BYTES);
        assert!(streams.resume("1-0").is_none() && streams.resume("0-1").is_none());
        assert!(streams.resume("0-19").is_some());
        for n in 100..300 {
            drop(streams.open(&[id(n)], false).unwrap());
            streams.put(&Outgoing::answer(&id(n), "a".into()));
        }
        assert!(streams.lock().streams.len() <= limits::REPLAY_STREAMS + 1);
    }

    #[test]
    fn the_only_answer_of_a_stream_that_nobody_can_come_back_to_is_not_kept() {
        let streams = Streams::default();
        let read = streams.open(&[id(1)], false).unwrap();
        streams.put(&Outgoing::answer(&id(1), "a".into()));
        assert_eq!(streams.lock().kept.own, 0);
        assert!(streams.resume("1-1").is_some() && streams.resume("1-0").is_none());
        drop(read);
        // One that was asked for with a place to come back to, and one whose client had left, are.
        for (n, primed) in [(2, true), (3, false)] {
            drop(streams.open(&[id(n)], primed).unwrap());
            streams.put(&Outgoing::answer(&id(n), "a".into()));
        }
        assert!(streams.resume("2-1").is_some() && streams.resume("3-0").is_some());
    }

    #[test]
    fn what_all_sessions_keep_is_bounded_and_given_back() {
        let all = Arc::new(AtomicUsize::new(0));
        let large = "x".repeat(limits::REPLAY_BYTES / 2);
        let many: Vec<Streams> = (0..2 * limits::REPLAY_ALL / limits::REPLAY_BYTES)
            .map(|_| {
                let streams = Streams::counted(&all);
                drop(streams.open(&[id(1)], true).unwrap());
                streams.put(&Outgoing::answer(&id(1), large.clone()));
                assert!(all.load(Ordering::Acquire) <= limits::REPLAY_ALL);
                streams
            })
            .collect();
        let kept = many.iter().filter(|streams| streams.resume("1-1").is_some()).count();
        assert!(kept > 0 && kept < many.len(), "the later ones are not kept: {kept}");
        many[0].close();
        drop(many);
        assert_eq!(all.load(Ordering::Acquire), 0);
    }

    #[test]
    fn a_client_that_does_not_read_is_cut() {
        let streams = Streams::default();
        let kept = streams.listen();
        let put = |n: usize| streams.put(&Outgoing::beside(None, n.to_string()));
        assert!((0..limits::STREAM_MESSAGES).all(|n| put(n) == Put::Taken));
        assert_eq!(put(0), Put::Cut);
        assert_eq!(put(0), Put::Taken, "kept for when it comes back");
        drop(kept);
    }
}
