//! Who may come in: the host that is meant, the page that asks, and the principal.

use super::answer::EVENTS;
use super::token::Tokens;
use super::{Front, answer};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use std::net::{IpAddr, SocketAddr};

/// Which names and pages are let in.
pub struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    near: bool,
}

impl Guard {
    /// A guard for an address: its own, the names of this machine where it is one of them, and what is configured.
    pub fn new(listen: SocketAddr, hosts: &[String], origins: &[String]) -> Guard {
        let near = listen.ip().is_loopback();
        let mut hosts: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if !listen.ip().is_unspecified() {
            hosts.push(listen.ip().to_string());
        }
        let origins =
            origins.iter().map(|o| o.trim_end_matches('/').to_ascii_lowercase()).collect();
        Guard { hosts, origins, near }
    }

    /// True for a host that this gateway is meant by. A name that an attacker let point here is none of them.
    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        self.hosts.contains(&name) || (self.near && is_near(&name))
    }

    /// True for a page that may ask.
    fn knows_origin(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        self.near && host.is_some_and(|host| is_near(without_port(host)))
    }

    /// Checks where a request is meant for and where it comes from.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            (None, _) => uri.authority().map(axum::http::uri::Authority::as_str),
            // Two hosts are a trick.
            _ => None,
        };
        if !host.is_some_and(|host| self.knows_host(host)) {
            return Err(answer::refused(
                StatusCode::FORBIDDEN,
                "This gateway is not known by that Host. Its names are set by `hosts` under [gateway].",
            )
            .into());
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if !origins.all(|origin| origin.to_str().is_ok_and(|origin| self.knows_origin(origin))) {
            return Err(answer::refused(
                StatusCode::FORBIDDEN,
                "Pages of that Origin may not ask here. Those that may are set by `origins` under [gateway].",
            )
            .into());
        }
        Ok(())
    }
}

fn without_port(host: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    if let Some((name, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        // What follows the brackets is a port or nothing.
        let fine = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return if fine { name } else { host };
    }
    match host.rsplit_once(':') {
        // More than one colon is an address of the sixth version without brackets.
        Some((name, port)) if !name.contains(':') && is_port(port) => name,
        _ => host,
    }
}

fn is_near(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl Front {
    /// Who asks. A token that is presented must be good, even where none is needed.
    pub(super) fn principal(&self, headers: &HeaderMap) -> Result<String, Box<Response>> {
        let challenge = |why: &str| {
            let mut response = answer::refused(StatusCode::UNAUTHORIZED, why);
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            Box::new(response)
        };
        let mut presented = headers.get_all(header::AUTHORIZATION).iter();
        match (presented.next(), presented.next()) {
            (None, _) if self.config.anonymous => Ok(super::ANONYMOUS.to_owned()),
            (None, _) => {
                Err(challenge("A bearer token is needed here; steadfast token add NAME makes one."))
            }
            (Some(value), None) => {
                let token = bearer(value);
                let tokens = self.tokens.borrow();
                let principal = token.and_then(|token| tokens.principal(token));
                principal
                    .map(str::to_owned)
                    .ok_or_else(|| challenge("That token opens nothing here."))
            }
            (Some(_), Some(_)) => Err(challenge("More than one token was presented.")),
        }
    }
}

/// The token of a header, where it has the form of one.
fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

impl Front {
    /// A response to whoever was let in by a token; a stream ends when the token no longer opens.
    pub(super) fn while_it_opens(&self, headers: &HeaderMap, response: Response) -> Response {
        let streams =
            response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
        let token = headers.get(header::AUTHORIZATION).and_then(bearer).filter(|_| streams);
        let Some(token) = token.map(str::to_owned) else { return response };
        let mut tokens = self.tokens.clone();
        response.map(|body| {
            answer::until(body, async move {
                // Where nobody changes tokens any more, the gateway is ending.
                let gone = |tokens: &Tokens| tokens.principal(&token).is_none();
                if tokens.wait_for(gone).await.is_err() {
                    std::future::pending::<()>().await;
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(listen: &str) -> Guard {
        Guard::new(
            listen.parse().unwrap(),
            &["Gate.Example".to_owned()],
            &["https://app.example/".to_owned()],
        )
    }

    #[test]
    fn a_name_that_points_here_is_not_enough() {
        let near = guard("127.0.0.1:80");
        for host in ["localhost:7420", "127.0.0.1", "[::1]:9", "127.0.0.1:1", "gate.example:443"] {
            assert!(near.knows_host(host), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "localhost:80.evil.example",
            "[::1]x",
            "[::1]:80.evil.example",
            "",
            "::2",
        ] {
            assert!(!near.knows_host(host), "{host}");
        }
        let far = guard("0.0.0.0:80");
        assert!(far.knows_host("gate.example") && !far.knows_host("localhost"));
        assert!(guard("10.0.0.7:80").knows_host("10.0.0.7:80"));
    }

    #[test]
    fn only_pages_of_this_machine_and_those_that_are_named_may_ask() {
        let near = guard("127.0.0.1:80");
        for origin in ["http://localhost:6274", "https://app.example", "http://[::1]:3"] {
            assert!(near.knows_origin(origin), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "http://localhost:80.evil.example",
            "http://[::1]x",
            "file://",
        ] {
            assert!(!near.knows_origin(origin), "{origin}");
        }
        assert!(!guard("0.0.0.0:80").knows_origin("http://localhost"));
    }
}
