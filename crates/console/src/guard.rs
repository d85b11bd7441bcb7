//! Who may come in: a page of this console alone, with a session that was opened by a link of its terminal.
//!
//! Nothing here rests on a cookie: a browser sends those of one port to every port of a host, so that any program of this
//! machine that is visited would get them. The session is a bearer token that the page keeps in the storage of its own
//! origin, and that no browser sends by itself.

use crate::limits;
use axum::http::{HeaderMap, Uri, header};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Why someone does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// Meant for another host, or asked by another page.
    Elsewhere,
    /// Without a session.
    Unknown,
}

type Hash = [u8; 32];

/// Who may come in.
pub struct Guard {
    hosts: Vec<String>,
    /// Hashes of links that were printed and not used.
    links: Mutex<VecDeque<Hash>>,
    /// Hashes of open sessions.
    sessions: Mutex<VecDeque<Hash>>,
}

impl Guard {
    /// A guard for an address of this machine.
    pub fn new(listen: SocketAddr) -> Guard {
        let port = listen.port();
        let hosts = vec![listen.to_string(), format!("localhost:{port}")];
        Guard { hosts, links: Mutex::default(), sessions: Mutex::default() }
    }

    /// A new token that opens one session.
    ///
    /// # Errors
    /// Where the system gives no chance.
    pub fn link(&self) -> Result<String, String> {
        let token = token()?;
        keep(&self.links, hash(&token), limits::LINKS);
        Ok(token)
    }

    /// Opens a session for a token of a link, which is used up. `None` where it opens nothing.
    ///
    /// # Errors
    /// Where the system gives no chance.
    pub fn open(&self, headers: &HeaderMap) -> Result<Option<String>, String> {
        let Some(presented) = bearer(headers).map(hash) else { return Ok(None) };
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(index) = links.iter().position(|link| *link == presented) else { return Ok(None) };
        let session = token()?;
        links.remove(index);
        keep(&self.sessions, hash(&session), limits::BROWSERS);
        Ok(Some(session))
    }

    /// Whether a request is meant for here and comes from a page of here.
    ///
    /// # Errors
    /// Where it is not. A request that changes something must say where it comes from; browsers do.
    pub fn near(&self, uri: &Uri, headers: &HeaderMap, changes: bool) -> Result<(), Out> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            // Two hosts are a trick.
            _ => None,
        };
        let known = |host: &str| self.hosts.iter().any(|one| one.eq_ignore_ascii_case(host));
        let fits = host.is_some_and(known) && uri.authority().is_none_or(|a| known(a.as_str()));
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        let named = origins.peek().is_some();
        let ours = origins.all(|origin| {
            let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            host.is_some_and(known)
        });
        // What a browser says about the page that asks; other programs say nothing.
        let mut sites = headers.get_all("sec-fetch-site").iter();
        let same = sites.all(|site| site == "same-origin" || (site == "none" && !changes));
        if fits && ours && same && (named || !changes) { Ok(()) } else { Err(Out::Elsewhere) }
    }

    /// Whether a request comes from an open session.
    ///
    /// # Errors
    /// Where it does not.
    pub fn knows(&self, headers: &HeaderMap) -> Result<(), Out> {
        let presented = bearer(headers).map(hash).ok_or(Out::Unknown)?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().any(|known| *known == presented).then_some(()).ok_or(Out::Unknown)
    }
}

fn keep(place: &Mutex<VecDeque<Hash>>, one: Hash, most: usize) {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if place.len() >= most {
        place.pop_front();
    }
    place.push_back(one);
}

/// 256 bits of chance.
fn token() -> Result<String, String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|why| format!("the system gives no chance: {why}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Hashes are compared in place of tokens: how long that takes says nothing of a token.
fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

/// The one token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut presented = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (presented.next(), presented.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_link_opens_one_session_and_no_more() {
        let guard = Guard::new("127.0.0.1:7".parse().unwrap());
        let link = guard.link().unwrap();
        let with = |token: &str| headers(&[("authorization", &format!("Bearer {token}"))]);
        assert_eq!(guard.knows(&with(&link)), Err(Out::Unknown), "a link is no session");
        let session = guard.open(&with(&link)).unwrap().unwrap();
        assert_eq!(guard.open(&with(&link)).unwrap(), None, "it is used up");
        assert_eq!(guard.knows(&with(&session)), Ok(()));
        assert_eq!(guard.open(&with(&session)).unwrap(), None, "a session opens no other");
        assert_eq!(guard.knows(&headers(&[])), Err(Out::Unknown));
    }

    #[test]
    fn only_pages_of_this_very_address_may_ask() {
        let guard = Guard::new("127.0.0.1:7".parse().unwrap());
        let uri: Uri = "/".parse().unwrap();
        let near =
            |pairs: &[(&'static str, &str)], changes| guard.near(&uri, &headers(pairs), changes);
        let host = ("host", "127.0.0.1:7");
        assert_eq!(near(&[host], false), Ok(()));
        assert_eq!(
            near(&[("host", "localhost:7"), ("origin", "http://localhost:7")], true),
            Ok(())
        );
        assert_eq!(near(&[host], true), Err(Out::Elsewhere), "who changes says from where");
        for other in ["evil.example", "127.0.0.1", "127.0.0.1:8", "localhost:7.evil.example", ""] {
            assert_eq!(near(&[("host", other)], false), Err(Out::Elsewhere), "{other}");
        }
        for other in ["null", "https://127.0.0.1:7", "http://127.0.0.1:8", "http://evil.example"] {
            assert_eq!(near(&[host, ("origin", other)], false), Err(Out::Elsewhere), "{other}");
        }
        let site = |site| near(&[host, ("sec-fetch-site", site)], false);
        assert_eq!((site("none"), site("same-origin")), (Ok(()), Ok(())));
        assert_eq!(
            (site("cross-site"), site("same-site")),
            (Err(Out::Elsewhere), Err(Out::Elsewhere))
        );
    }
}
