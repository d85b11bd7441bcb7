//! Where a request goes: scheme, host and port in their one spelling.
//!
//! Other spellings of the same host are refused rather than rewritten: what a person reads in a file is what is compared,
//! and no resolver or library gets to see it otherwise.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name, in lower case, without a dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whether the connection is under TLS.
    pub tls: bool,
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

impl Origin {
    /// Reads an origin.
    ///
    /// # Errors
    /// In a sentence, where it is none, or is spelled in another way than the one that is compared.
    ///
    /// ```
    /// use action::Origin;
    /// assert_eq!(Origin::read("https://api.example.com").unwrap().port, 443);
    /// assert!(Origin::read("https://api.example.com@evil.example").is_err());
    /// ```
    pub fn read(text: &str) -> Result<Origin, String> {
        let (scheme, rest) =
            text.split_once("://").ok_or("An origin begins with https:// and has a host.")?;
        let tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err("Only https, and http on this machine, can be bound.".to_owned()),
        };
        if rest.contains('@') {
            return Err("An origin has no user and no password.".to_owned());
        }
        if rest.contains(['/', '?', '#', '\\'])
            || rest.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err(
                "An origin ends with its host or port: the path is written under path.".to_owned()
            );
        }
        let (name, port) = match rest.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                let read = port.parse::<u16>().ok().filter(|n| *n > 0 && n.to_string() == port);
                (name, Some(read.ok_or("The port is no number from 1 to 65535.")?))
            }
            _ => (rest, None),
        };
        let usual = if tls { 443 } else { 80 };
        if port == Some(usual) {
            return Err(format!("Leave the port {usual} out: it is the usual one."));
        }
        let host = host(name)?;
        if !tls && !on_this_machine(&host) {
            return Err(
                "http carries a credential in the clear: it can be bound on this machine alone."
                    .to_owned(),
            );
        }
        Ok(Origin { tls, host, port: port.unwrap_or(usual) })
    }

    /// What the `Host` header holds (RFC 9110, 7.2).
    pub fn authority(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.authority())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

fn on_this_machine(host: &Host) -> bool {
    match host {
        Host::Name(name) => name == "localhost",
        Host::Address(address) => address.is_loopback(),
    }
}

fn host(name: &str) -> Result<Host, String> {
    if let Some(inner) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr =
            inner.parse().map_err(|_| "Between brackets stands an IPv6 address.".to_owned())?;
        if address.to_string() != inner {
            return Err(format!("Write this address in its usual form: [{address}]."));
        }
        return Ok(Host::Address(IpAddr::V6(address)));
    }
    if !name.is_ascii() {
        return Err("Write a name with other letters in the form that starts with xn--: letters that look alike are told apart in it.".to_owned());
    }
    if name.ends_with('.') {
        return Err("Leave out the dot at the end of the host.".to_owned());
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    // What a resolver would take for a number, in whatever base, is an address (WHATWG URL, 3.5).
    if last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") {
        let address: std::net::Ipv4Addr = name
            .parse()
            .map_err(|_| "This is another spelling of an address. Write four numbers from 0 to 255 with dots.".to_owned())?;
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    if name.len() > 253 || !name.split('.').all(label) {
        return Err("The host is no name: small letters, digits and - between dots.".to_owned());
    }
    Ok(Host::Name(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_of_an_origin_is_taken() {
        for good in [
            "https://api.example.com",
            "https://api.example.com:8443",
            "https://192.0.2.1",
            "http://127.0.0.1:8080",
            "http://localhost:1",
            "https://[2001:db8::1]",
            "http://[::1]:80880",
        ] {
            let read = Origin::read(good);
            if good.ends_with("80880") {
                assert!(read.is_err());
                continue;
            }
            assert_eq!(read.unwrap().to_string(), good);
        }
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for bad in [
            "api.example.com",
            "ftp://a.example",
            "http://api.example.com",
            "https://user@a.example",
            "https://a.example@evil.example",
            "https://a.example/",
            "https://a.example?x",
            "https://a.example#x",
            "https://a.example.",
            "https://A.example",
            "https://ex\u{e4}mple.com",
            "https://\u{430}pple.com",
            "https://2130706433",
            "https://0x7f.1",
            "https://127.1",
            "https://0177.0.0.1",
            "https://1.2.3.0x4",
            "https://a.example:443",
            "https://a.example:0443",
            "https://a.example:0",
            "https://a.example:99999",
            "https://[::ffff:7f00:1]x",
            "https://[0:0:0:0:0:0:0:1]",
            "https://",
            "https://a..example",
            "https://-a.example",
            "https://a.example\\@evil.example",
            "https://a .example",
            "https://a_b.example",
        ] {
            assert!(Origin::read(bad).is_err(), "{bad}");
        }
    }
}
