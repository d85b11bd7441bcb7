//! What machines ask that watch the gateway: is it there, is it ready, what did it do.

use super::{Front, answer, lock};
use crate::limits;
use crate::metrics::Page;
use crate::upstream::Server;
use axum::http::StatusCode;
use axum::response::Response;
use std::collections::BTreeMap;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// An answer about readiness, and when it was found.
pub(super) type Known = Option<(Instant, StatusCode, String)>;

impl Front {
    /// Whether calls can be carried: every server can be reached as far as is known, and the store takes records.
    pub(super) async fn ready(&self) -> Response {
        // Who asks while another asks waits for the same answer.
        let mut known = self.ready.lock().await;
        if let Some((at, status, text)) = &*known
            && at.elapsed() < limits::READY
        {
            return answer::text(*status, "text/plain", text.clone());
        }
        let (mut good, mut text) = (true, String::new());
        for served in self.servers.values() {
            let state = match reachable(served).await {
                Ok(how) => how.to_owned(),
                Err(why) => {
                    good = false;
                    why
                }
            };
            text.push_str(&format!("{}: {state}\n", served.name));
        }
        if let Some(served) = self.servers.values().next() {
            match served.hub.store.checkpoint().await {
                Ok(_) => text.push_str("store: ok\n"),
                Err(why) => {
                    good = false;
                    text.push_str(&format!("store: {why}\n"));
                }
            }
        }
        let status = if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        *known = Some((Instant::now(), status, text.clone()));
        answer::text(status, "text/plain", text)
    }

    /// Everything that is counted.
    pub(super) async fn metrics(&self) -> Response {
        let mut page = Page::default();
        let Some(first) = self.servers.values().next() else {
            return answer::empty(StatusCode::OK);
        };
        first.hub.metrics.write(&mut page);
        let mut sessions: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        let mut ages: BTreeMap<&str, u64> = BTreeMap::new();
        for name in self.servers.keys() {
            sessions.insert((name, "legacy"), 0);
            sessions.insert((name, "modern"), 0);
        }
        let legacy: Vec<_> = lock(&self.sessions).values().cloned().collect();
        let fans: Vec<_> = self.fans.lock().await.values().cloned().collect();
        let legacy = legacy.iter().map(|legacy| ("legacy", &legacy.joined));
        let open: Vec<_> = legacy.chain(fans.iter().map(|fan| ("modern", &fan.joined))).collect();
        for (era, joined) in &open {
            let server = joined.endpoint.server.as_str();
            *sessions.entry((server, *era)).or_default() += 1;
            if let Some(age) = joined.session.upstream().age() {
                let oldest = ages.entry(server).or_default();
                *oldest = age.as_secs().max(*oldest);
            }
        }
        page.gauge("steadfast_sessions", "Sessions that are open.");
        for ((server, era), n) in sessions {
            page.line(&[("server", server), ("era", era)], n);
        }
        page.gauge(
            "steadfast_list_age_seconds",
            "How long ago the list was read that is oldest among open sessions.",
        );
        for (server, age) in ages {
            page.line(&[("server", server)], age);
        }
        page.counter(
            "steadfast_old_revision_calls_total",
            "Calls planned under a revision that no longer holds, by what became of them.",
        );
        // A page without these is better than none.
        for counter in first.hub.store.counters().await.unwrap_or_default() {
            let labels = [
                ("server", counter.server.as_str()),
                ("tool", &counter.tool),
                ("revision", &counter.revision),
                ("what", counter.what.as_str()),
            ];
            page.line(&labels, counter.times);
        }
        answer::text(StatusCode::OK, "text/plain; version=0.0.4", page.finish())
    }
}

/// Whether a server can be reached, as far as can be told without starting anything.
async fn reachable(served: &super::Served) -> Result<&'static str, String> {
    let mut faults = Vec::new();
    for session in served.hub.sessions() {
        let upstream = session.upstream();
        match upstream.fault() {
            None if upstream.age().is_some() => return Ok("ok"),
            None => {}
            Some(fault) => faults.push(fault),
        }
    }
    if let Server::Web(server) = &served.server {
        let (host, port) = server.socket();
        return match timeout(limits::REACH, TcpStream::connect((host, port))).await {
            Ok(Ok(_)) => Ok("ok"),
            Ok(Err(why)) => Err(format!("it cannot be reached: {why}")),
            Err(_) => Err("it takes no connection".to_owned()),
        };
    }
    match faults.pop() {
        Some(fault) => Err(fault),
        None => Ok("not started yet"),
    }
}
