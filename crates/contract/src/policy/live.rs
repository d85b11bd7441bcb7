//! `[gateway]` and `[server.NAME]` of `steadfast.toml`: what a gateway is told about where it listens and whom it guards.

use super::read::Reader;
use crate::admission::OnWider;
use crate::depends::{Depends, FromResults};
use crate::keys::{In, Key, Lists};
use crate::limits;
use crate::shape::Shapes;
use crate::text::quoted;
use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use toml::de::DeTable;

/// Where a gateway listens where nothing is said.
const LISTEN: &str = "127.0.0.1:7420";

/// Where a gateway listens, and whom it lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names that it is known by.
    pub hosts: Vec<String>,
    /// Pages that may ask.
    pub origins: Vec<String>,
    /// Who has no token may come in.
    pub anonymous: bool,
    /// How long a session is kept of which nothing is heard.
    pub idle: Option<Duration>,
}

/// One server that is guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Where it stands in the file.
    pub place: String,
    /// Where each of its members stands in the file.
    pub places: BTreeMap<String, String>,
    /// How it is reached; `None` where the file does not say it so that it can be used, which is a problem of its own.
    pub reach: Option<Reach>,
    /// Names of headers, with the environment variable that each value is in.
    pub headers_from_env: Vec<String>,
    /// Tools that only read, whatever they claim.
    pub reads: Vec<String>,
    /// Tools whose calls may outlive their contract.
    pub long: Vec<String>,
    /// Tools whose calls are let end where their client leaves.
    pub finish: Vec<String>,
    /// What calls rely on of the answers of others.
    pub depends: Vec<Depends>,
    /// Arguments whose values must have come in structured answers.
    pub from_results: Vec<FromResults>,
    /// Whether answers without a schema are measured by earlier ones: `off`, `report` or `enforce`.
    pub shapes: Option<Shapes>,
    /// By what the server recognises a request that is made again.
    pub keys: Vec<Key>,
    /// What happens to a call that would use reach beyond the grant.
    pub on_wider: Option<OnWider>,
    /// Hold every call that may have an effect for a person.
    pub hold_effects: bool,
    /// How old the last reading of the list may be for a call with effects.
    pub effect_age: Option<Duration>,
    /// Write a planned default into calls with effects too.
    pub pin_effects: bool,
    /// Block nothing.
    pub observe: bool,
    /// Path of the adapters, from the folder of the file.
    pub adapters: Option<String>,
    /// What adapters may rest on.
    pub facts: BTreeMap<String, String>,
}

impl Server {
    /// Where a member of it stands in the file; where the server stands, if the file does not have the member.
    pub fn place_of(&self, member: &str) -> &str {
        self.places.get(member).unwrap_or(&self.place)
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started.
    Command(Vec<String>),
    /// An endpoint.
    Url(String),
    /// The bindings of this very file, served by a process of the gateway's own.
    Bindings,
}

/// The name of the server of the bindings of a file.
pub const ACTIONS: &str = "actions";

impl Default for Gateway {
    fn default() -> Gateway {
        let listen = SocketAddr::from(([127, 0, 0, 1], 7420));
        Gateway { listen, hosts: Vec::new(), origins: Vec::new(), anonymous: true, idle: None }
    }
}

pub(super) fn read_gateway(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Gateway {
    reader.only(table, "[gateway]", &["listen", "hosts", "origins", "anonymous", "idle"]);
    let mut gateway = Gateway::default();
    if let Some((span, text)) = reader.text(table, "listen") {
        match text.parse() {
            Ok(listen) => gateway.listen = listen,
            Err(_) => reader.problem(
                span,
                format!("{} is no address to listen at.", quoted(&text)),
                &format!("Write an address and a port, such as listen = \"{LISTEN}\"."),
            ),
        }
    }
    gateway.hosts = names(reader, table, "hosts", host);
    gateway.origins = names(reader, table, "origins", origin);
    let near = gateway.listen.ip().is_loopback();
    let said = reader.flag(table, "anonymous");
    gateway.anonymous = said.as_ref().map_or(near, |(_, anonymous)| *anonymous);
    if let Some((span, true)) = said
        && !near
    {
        reader.problem(
            span,
            format!("Whoever reaches {} could act without a token.", gateway.listen),
            "Listen on a loopback address, or leave this out and make tokens: steadfast token add NAME.",
        );
    }
    if gateway.listen.ip().is_unspecified() && gateway.hosts.is_empty() {
        let span = table.get("listen").map_or(0..0, toml::Spanned::span);
        reader.problem(
            span,
            "No host is named that this gateway is known by.".to_owned(),
            "Name them: hosts = [\"gate.example.com\"]. A request for any other is turned away.",
        );
    }
    gateway.idle = reader.duration(table, "idle");
    gateway
}

/// A list of names, each of which a request could really carry.
fn names(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    key: &str,
    wrong: fn(&str) -> Option<&'static str>,
) -> Vec<String> {
    let words = reader.located_words(table, key);
    for (span, word) in &words {
        if let Some(why) = wrong(word) {
            let sentence = format!("{} can stand for nobody in {key}.", quoted(word));
            reader.problem(span.clone(), sentence, why);
        }
    }
    words.into_iter().map(|(_, word)| word).collect()
}

/// What is wrong with a name that a gateway is to be known by, as the way forward. Requests are compared with it as a
/// whole and without their port, so that anything else would match nothing.
fn host(text: &str) -> Option<&'static str> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if bare.parse::<core::net::Ipv6Addr>().is_ok() {
        return (bare != text)
            .then_some("Write an address of the sixth version without its brackets.");
    }
    if text.contains('*') {
        return Some(
            "Name each host in full: a pattern would also stand for names that others own.",
        );
    }
    if text.contains("://") || text.contains('/') {
        return Some("Write the host alone, without a scheme and a path: \"gate.example.com\".");
    }
    if text.contains(':') {
        return Some("Write the host without its port: every port counts.");
    }
    (!is_name(text)).then_some(
        "Write a name such as \"gate.example.com\", or an address; other letters in the form that starts with xn--.",
    )
}

/// What is wrong with an origin that pages may ask from, as the way forward.
fn origin(text: &str) -> Option<&'static str> {
    if text.contains('*') {
        return Some(
            "Name each origin in full, such as \"https://chat.example.com\": a pattern lets pages of others ask.",
        );
    }
    if text.eq_ignore_ascii_case("null") {
        return Some(
            "Any page can ask as null: serve the page from an origin of its own and name that.",
        );
    }
    let whole = Some(
        "Write scheme, host and, where it is not the usual one, port: \"https://chat.example.com\".",
    );
    let text = text.to_ascii_lowercase();
    let Some((scheme, rest)) = text.split_once("://") else { return whole };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(letters) {
        return whole;
    }
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (rest, None),
    };
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let known = match address {
        Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
        None => is_name(name),
    };
    match (port.map(str::parse::<u16>), scheme) {
        _ if !known => whole,
        (Some(Err(_)), _) => whole,
        (Some(Ok(80)), "http") | (Some(Ok(443)), "https") => {
            Some("Leave the port out: browsers do not send the usual one.")
        }
        _ => None,
    }
}

/// A name as it stands in a header: letters, digits, and - _ . between them.
fn is_name(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    text.strip_suffix('.').unwrap_or(text).split('.').all(part)
}

const SERVER: &[&str] = &[
    "command", "url", "headers-from-env", "reads", "long", "finish", "depends", "from-results",
    "shapes", "keys", "key-headers", "key-replaces", "key-repeats", "on-wider", "hold-effects",
    "effect-age", "pin-effects", "observe", "adapters", "facts",
];

/// Reads the servers. `bindings` is where the bindings of the file stand: then there is a server of them, whether or not
/// anything more is said about it.
pub(super) fn read_servers(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    bindings: Option<Range<usize>>,
) -> Vec<Server> {
    let mut servers = Vec::new();
    if let Some(span) = bindings.clone().filter(|_| !table.contains_key(ACTIONS)) {
        servers.push(read_server(reader, ACTIONS, span, &DeTable::new(), true));
    }
    for (key, value) in table.iter() {
        let name = key.get_ref().as_ref();
        let Some(server) = value.get_ref().as_table() else {
            reader.wrong(value, name, &format!("a table: [server.{name}]"));
            continue;
        };
        if name.len() > limits::SERVER_NAME
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
        {
            reader.problem(
                key.span(),
                format!("{} cannot be the name of a server.", quoted(name)),
                "Letters, digits and _ . - stand in paths as they are.",
            );
        }
        let bound = name == ACTIONS && bindings.is_some();
        servers.push(read_server(reader, name, key.span(), server, bound));
    }
    servers
}

/// The dependencies of a server: each word one of them.
fn depends(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<Depends> {
    let mut found = Vec::new();
    for word in reader.words(table, "depends") {
        match Depends::read(&word) {
            Some(depends) => found.push(depends),
            None => {
                let span = table.get("depends").map_or(0..0, toml::Spanned::span);
                let help = "Write TOOL:ARGUMENT=TOOL:MEMBER, as in \"add_comment:issue_id=create_issue:issue.id\".";
                reader.problem(span, format!("{} is no dependency.", quoted(&word)), help);
            }
        }
    }
    found
}

/// The arguments that must come from answers: each word one of them.
fn from_results(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<FromResults> {
    let mut found = Vec::new();
    for word in reader.words(table, "from-results") {
        match FromResults::read(&word) {
            Some(one) => found.push(one),
            None => {
                let span = table.get("from-results").map_or(0..0, toml::Spanned::span);
                let help = "Write TOOL:ARGUMENT, or TOOL:ARGUMENT=TOOL:MEMBER, as in \"add_comment:issue_id=create_issue:issue.id\".";
                reader.problem(span, format!("{} names no argument.", quoted(&word)), help);
            }
        }
    }
    found
}

/// The keys of a server's tools.
fn keys(reader: &mut Reader<'_>, table: &DeTable<'_>, web: bool) -> Vec<Key> {
    let [arguments, headers, replaces, repeats] =
        ["keys", "key-headers", "key-replaces", "key-repeats"]
            .map(|name| reader.words(table, name));
    let lists =
        Lists { arguments: &arguments, headers: &headers, replaces: &replaces, repeats: &repeats };
    let wrong = match Key::all(lists, web) {
        Ok(keys) => return keys,
        Err(wrong) => wrong,
    };
    for wrong in wrong {
        let (name, help) = match wrong.list {
            In::Arguments => ("keys", "Write TOOL:ARGUMENT, as in \"pay:idempotency_key\"."),
            In::Headers => (
                "key-headers",
                "Write TOOL:HEADER, as in \"pay:Idempotency-Key\", for a server with a url.",
            ),
            In::Replaces => (
                "key-replaces",
                "Name a tool that has its key in an argument: keys = [\"TOOL:ARGUMENT\"].",
            ),
            In::Repeats => {
                ("key-repeats", "Name a tool that has a key: keys = [\"TOOL:ARGUMENT\"].")
            }
        };
        let span = table.get(name).map_or(0..0, toml::Spanned::span);
        reader.problem(span, format!("{} {}.", quoted(&wrong.word), wrong.why), help);
    }
    Vec::new()
}

fn read_server(
    reader: &mut Reader<'_>,
    name: &str,
    span: Range<usize>,
    table: &DeTable<'_>,
    bound: bool,
) -> Server {
    reader.only(table, &format!("[server.{name}]"), SERVER);
    let command = reader.words(table, "command");
    let url = reader.text(table, "url").map(|(_, url)| url);
    let headers_from_env = reader.words(table, "headers-from-env");
    let reach = match (table.contains_key("command"), url) {
        (false, None) if bound && !table.contains_key("url") => Some(Reach::Bindings),
        _ if bound => {
            let sentence = format!("{name} is the server of the bindings of this file.");
            let help = "Leave command and url out, or give the other server another name.";
            reader.problem(span.clone(), sentence, help);
            None
        }
        (true, None) if !command.is_empty() => Some(Reach::Command(command)),
        (false, Some(url)) => Some(Reach::Url(url)),
        (false, None) if table.contains_key("url") => None,
        (both, _) => {
            let sentence = if both && table.contains_key("url") {
                format!("{name} has a command and a url.")
            } else {
                format!("How {name} is reached is missing here.")
            };
            let help =
                "Write command = [\"npx\", \"-y\", \"some-server\"] or url = \"https://…/mcp\".";
            reader.problem(span.clone(), sentence, help);
            None
        }
    };
    if !headers_from_env.is_empty() && matches!(reach, Some(Reach::Command(_) | Reach::Bindings)) {
        let at = table.get("headers-from-env").map_or(span.clone(), toml::Spanned::span);
        reader.problem(
            at,
            format!("{name} is a command, which is sent no headers."),
            "Leave this out; a command has the environment of the gateway.",
        );
    }
    let words = [
        ("new-decision", OnWider::NewDecision),
        ("hold", OnWider::Hold),
        ("hold-effects", OnWider::HoldEffects),
        ("refuse", OnWider::Refuse),
    ];
    let mut facts = BTreeMap::new();
    if let Some(said) = reader.table(table, "facts") {
        for fact in said.keys() {
            if let Some((_, value)) = reader.text(said, fact.get_ref()) {
                facts.insert(fact.get_ref().to_string(), value);
            }
        }
    }
    let places =
        table.iter().map(|(key, value)| (key.get_ref().to_string(), reader.place(&value.span())));
    let places = places.collect();
    Server {
        name: name.to_owned(),
        place: reader.place(&span),
        places,
        reads: reader.words(table, "reads"),
        long: reader.words(table, "long"),
        finish: reader.words(table, "finish"),
        depends: depends(reader, table),
        from_results: from_results(reader, table),
        shapes: reader.word(
            table,
            "shapes",
            &[("off", Shapes::Off), ("report", Shapes::Report), ("enforce", Shapes::Enforce)],
        ),
        keys: keys(reader, table, matches!(reach, Some(Reach::Url(_)))),
        on_wider: reader.word(table, "on-wider", &words),
        hold_effects: reader.flag(table, "hold-effects").is_some_and(|(_, flag)| flag),
        effect_age: reader.duration(table, "effect-age"),
        pin_effects: reader.flag(table, "pin-effects").is_some_and(|(_, flag)| flag),
        observe: reader.flag(table, "observe").is_some_and(|(_, flag)| flag),
        adapters: reader.text(table, "adapters").map(|(_, path)| path),
        headers_from_env,
        facts,
        reach,
    }
}
