//! From a target to a snapshot: connect, ask who is there, read the tools until they hold still, leave.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{ErrorKind, Failure, FetchError, quote};
use crate::list::{self, Broken, Settled};
use crate::open::{self, Greeting};
use crate::secret::{Headers, shown_address, shown_command};
use crate::snapshot::{Snapshot, Source};
use crate::version::{Era, Revision};
use crate::{limits, list::Reading};

/// A server to ask. Its `Debug` is its `Display`: without secrets.
#[derive(Clone)]
pub enum Target {
    /// A program to start, with its arguments; it speaks over stdin and stdout.
    Command(Vec<String>),
    /// A Streamable HTTP endpoint.
    Url {
        /// Its address.
        url: String,
        /// Headers to send with each request, and nowhere else.
        headers: Headers,
    },
}

impl Target {
    /// The target as it may be stored: whole, without secrets.
    pub fn source(&self) -> Source {
        match self {
            Target::Command(words) => Source::Command(shown_command(words)),
            Target::Url { url, .. } => Source::Url(shown_address(url)),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source() {
            Source::Command(words) => f.write_str(&quote(&words.join(" "))),
            Source::Url(url) => f.write_str(&quote(&url)),
        }
    }
}

/// What is being done, for a progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starting the command or opening the connection.
    Connecting,
    /// Waiting for the first answer.
    Probing,
    /// Reading a page.
    Page {
        /// Which reading of the list, from 1.
        reading: usize,
        /// Which page of it, from 1.
        page: usize,
        /// Tools read so far in this reading.
        tools: usize,
    },
    /// Ending the connection.
    Leaving,
}

/// How to fetch. The default suits a person who waits; every duration has its reason in [`limits`].
#[derive(Clone)]
pub struct FetchOptions {
    /// The era to speak; `None` finds it out.
    pub era: Option<Era>,
    /// How long the first question may take before the server is taken for a legacy one.
    pub probe_timeout: Duration,
    /// How long each request may take.
    pub request_timeout: Duration,
    /// How long all of it may take.
    pub total_timeout: Duration,
    /// The pause between two readings of the list.
    pub settle: Duration,
    /// Use the proxy that the environment names.
    pub proxy_from_env: bool,
    /// Send headers over plain http to another machine.
    pub plain_http: bool,
    /// Called at each step.
    pub progress: Arc<dyn Fn(Step) + Send + Sync>,
}

impl Default for FetchOptions {
    fn default() -> FetchOptions {
        FetchOptions {
            era: None,
            probe_timeout: limits::PROBE,
            request_timeout: limits::REQUEST,
            total_timeout: limits::FETCH,
            settle: limits::SETTLE,
            proxy_from_env: false,
            plain_http: false,
            progress: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for FetchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchOptions")
            .field("era", &self.era)
            .field("probe_timeout", &self.probe_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("total_timeout", &self.total_timeout)
            .finish_non_exhaustive()
    }
}

/// Fetches a server's contract, blocking. A child process that was started is ended before this returns, also when
/// the program is told to stop (SIGINT, SIGTERM, SIGHUP) in the meantime. From then on these signals are the caller's
/// to handle: the first call installs handlers that stay.
///
/// # Errors
/// One [`FetchError`] with everything that was found wrong and what the server itself said. There is no partial
/// snapshot: a list that cannot be read whole is an error.
///
/// # Panics
/// When called inside a tokio runtime; use [`fetch_async`] there.
pub fn fetch(target: &Target, options: &FetchOptions) -> Result<Snapshot, FetchError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| {
            FetchError::new(
                ErrorKind::Unreachable,
                &target.to_string(),
                format!("This machine gave no resources to ask with: {e}."),
                "Check the limits on open files and processes.",
            )
        })?;
    let place = target.to_string();
    let result = runtime.block_on(async {
        tokio::select! {
            result = fetch_async(target, options) => result,
            () = interrupted() => Err(FetchError::of(Failure::Interrupted, &place, "")),
        }
    });
    // A name that is still being looked up must not hold up the answer.
    runtime.shutdown_background();
    result
}

/// The same inside a tokio runtime. Dropping the future ends a child process at once.
///
/// # Errors
/// As [`fetch`].
pub async fn fetch_async(target: &Target, options: &FetchOptions) -> Result<Snapshot, FetchError> {
    let place = target.to_string();
    match tokio::time::timeout(options.total_timeout, whole(target, options, &place)).await {
        Ok(result) => result,
        Err(_) => Err(FetchError::of(
            Failure::Silent(options.total_timeout),
            &place,
            "all that was asked",
        )),
    }
}

async fn whole(
    target: &Target,
    options: &FetchOptions,
    place: &str,
) -> Result<Snapshot, FetchError> {
    match once(target, options, place).await {
        // A session may end at any time (the server was restarted, it timed out); a new one is a new start.
        Err(Broken::SessionLost(_)) => once(target, options, place).await,
        other => other,
    }
    .map_err(|broken| match broken {
        Broken::Error(error) | Broken::Moved(error) | Broken::SessionLost(error) => error,
    })
}

async fn once(target: &Target, options: &FetchOptions, place: &str) -> Result<Snapshot, Broken> {
    let (mut client, greeting) = open::open(target, options, place).await.map_err(Broken::Error)?;
    let settled = list::settle(&mut client, &greeting, options, place).await;
    let revision = client.revision();
    let said = if settled.is_err() { client.said().await } else { client.stray_lines() };
    (options.progress)(Step::Leaving);
    client.close().await;
    match settled {
        Ok(settled) => Ok(snapshot(target, revision, greeting, settled, said)),
        Err(Broken::Error(error)) => Err(Broken::Error(error.having_said(said))),
        Err(Broken::Moved(error)) => Err(Broken::Moved(error.having_said(said))),
        Err(Broken::SessionLost(error)) => Err(Broken::SessionLost(error.having_said(said))),
    }
}

fn snapshot(
    target: &Target,
    revision: Revision,
    greeting: Greeting,
    settled: Settled,
    stray: Vec<String>,
) -> Snapshot {
    let Settled { reading: Reading { pages, tools }, mut notes } = settled;
    notes.extend(stray.into_iter().map(|line| format!("The server printed {line}")));
    if pages.is_empty() {
        notes.push("The server declares no tools.".to_owned());
    }
    Snapshot {
        source: target.source(),
        revision,
        server_info: greeting.server_info,
        capabilities: greeting.capabilities,
        instructions: greeting.instructions,
        tools,
        pages,
        notes,
    }
}

/// Resolves when the program is told to stop (SIGINT, SIGTERM, SIGHUP). Must be called inside a tokio runtime.
pub async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    std::future::poll_fn(|cx| {
        if signals.iter_mut().any(|s| s.poll_recv(cx).is_ready()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
