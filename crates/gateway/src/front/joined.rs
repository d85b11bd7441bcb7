//! A session with its connection to the server, and what carries messages between the two.

use super::endpoint::Endpoint;
use super::room::Place;
use super::{Served, answer, lock};
use crate::limits;
use crate::session::{Opening, Outgoing, Session};
use crate::upstream::Upstream;
use crate::view::View;
use axum::http::StatusCode;
use axum::response::Response;
use std::sync::{Arc, Mutex};
use store::{Era, SessionEnd};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

/// A session that is joined to its server.
pub struct Joined {
    /// The session.
    pub session: Arc<Session>,
    /// Where the client came in.
    pub endpoint: Endpoint,
    /// Who is authorised.
    pub principal: String,
    heard: Mutex<Instant>,
    /// Given back when nobody holds the session any more.
    _place: Place,
    tasks: [AbortHandle; 2],
}

impl Joined {
    /// Opens a session and joins it to its server. `take` is given each message for the client, in order, and must not
    /// wait.
    pub async fn open(
        served: &Served,
        endpoint: &Endpoint,
        principal: &str,
        era: Era,
        place: Place,
        mut take: impl FnMut(Outgoing) + Send + 'static,
    ) -> Result<Joined, Response> {
        let view = match (endpoint.pinned(served, era).await?, era) {
            (Some(list), era) => View::of_pinned(list, era == Era::Modern),
            (None, Era::Modern) => View::of_principal(),
            (None, Era::Legacy) => View::default(),
        };
        let (upstream, mut said) = Upstream::new(
            served.name.clone(),
            served.server.clone(),
            Arc::clone(&served.hub.definitions),
            served.settings.patience,
        );
        let (down, mut out) = mpsc::channel(limits::QUEUED_CALLS);
        let opening = Opening { principal: principal.to_owned(), era, view };
        let session = Session::open(
            Arc::clone(&served.hub),
            served.settings.clone(),
            upstream,
            opening,
            down,
        )
        .await
        .map_err(|why| {
            let why = format!("No session can be opened: {why}");
            answer::refused(StatusCode::SERVICE_UNAVAILABLE, &why)
        })?;
        let listener = {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                while let Some(said) = said.recv().await {
                    session.from_server(said).await;
                }
            })
        };
        let router = tokio::spawn(async move {
            while let Some(outgoing) = out.recv().await {
                take(outgoing);
            }
        });
        Ok(Joined {
            session,
            endpoint: endpoint.clone(),
            principal: principal.to_owned(),
            heard: Mutex::new(Instant::now()),
            _place: place,
            tasks: [listener.abort_handle(), router.abort_handle()],
        })
    }

    /// Something was heard of the client.
    pub fn touch(&self) {
        *lock(&self.heard) = Instant::now();
    }

    /// True where its client is gone: nothing was heard of it for so long, no stream was read meanwhile, and nothing is under
    /// way that is worth waiting for. `reads` says whether a stream is read now, which is a sign of life.
    pub fn is_over(&self, idle: std::time::Duration, reads: bool) -> bool {
        if reads {
            self.touch();
            return false;
        }
        let unheard = lock(&self.heard).elapsed();
        self.session.may_end(unheard, idle)
    }

    /// Ends the session. What was under way has its outcome on record before this returns.
    pub async fn close(&self, how: SessionEnd) {
        self.session.upstream().close().await;
        let _ = timeout(limits::LEAVE, self.session.settled()).await;
        self.session.close(how).await;
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        // The listener holds the session, and with it the server's process.
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
