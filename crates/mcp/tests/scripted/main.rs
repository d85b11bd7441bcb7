//! A server that is right or wrong in exactly the way its arguments say, on real pipes and sockets.
//!
//! `--era legacy|modern|dual` and any of the switches below; `--http` serves Streamable HTTP on a free loopback
//! port and prints its address. `--log FILE` keeps what was received, one line each.
#![allow(
    clippy::print_stderr,
    clippy::zombie_processes,
    reason = "a server that prints and leaves things behind is the point"
)]

mod answers;
mod web;

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};

use answers::{Out, Server};

/// The switches: `--name` or `--name value`.
#[derive(Debug, Clone, Default)]
pub struct Switches(Vec<(String, Option<String>)>);

impl Switches {
    fn read(arguments: impl Iterator<Item = String>) -> Switches {
        let mut out: Vec<(String, Option<String>)> = Vec::new();
        for argument in arguments {
            match argument.strip_prefix("--") {
                Some(name) => out.push((name.to_owned(), None)),
                None => out.last_mut().expect("a value follows a switch").1 = Some(argument),
            }
        }
        Switches(out)
    }

    /// The switch is on.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// The value of a switch.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).and_then(|(_, v)| v.as_deref())
    }

    /// The value of a switch as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name).map(|v| v.parse().expect("a number"))
    }
}

/// Appends a line to the log.
pub fn log(switches: &Switches, line: &str) {
    if let Some(file) = switches.value("log") {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .expect("the log opens");
        writeln!(file, "{line}").expect("the log takes a line");
    }
}

fn main() {
    let switches = Switches::read(std::env::args().skip(1));
    log(&switches, "start");
    if let Some(ms) = switches.number("slow-start") {
        std::thread::sleep(std::time::Duration::from_millis(ms));
    }
    if let Some(name) = switches.value("show-env") {
        eprintln!("{name}={:?}", std::env::var(name).ok());
    }
    if switches.has("die-at-start") {
        eprintln!("cannot start: the variable DATA_DIR is not set");
        std::process::exit(3);
    }
    if switches.has("grandchild") {
        let child = std::process::Command::new("sleep").arg("300").spawn().expect("sleep starts");
        log(&switches, &format!("grandchild {}", child.id()));
    }
    let server = Arc::new(Mutex::new(Server::new(switches.clone())));
    if switches.has("http") {
        web::serve(&switches, &server);
    } else {
        pipe(&switches, &server);
    }
}

fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

fn pipe(switches: &Switches, server: &Mutex<Server>) {
    if switches.has("chatty") {
        say("Listening on stdio, version 1.2.3");
        say("{\"level\":\"info\",\"msg\":\"ready\"}");
    }
    if switches.has("flood-stderr") {
        for n in 0..20_000 {
            eprintln!(
                "debug line {n} ........................................................................"
            );
        }
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        log(switches, &line);
        let outs = server.lock().expect("no thread panicked").take(&line);
        for out in outs {
            match out {
                Out::Say(text) => say(&text),
                Out::Unended(text) => {
                    let mut stdout = std::io::stdout().lock();
                    let _ = stdout.write_all(text.as_bytes());
                    let _ = stdout.flush();
                }
                Out::Die(code) => {
                    eprintln!("fatal: the backend went away");
                    std::process::exit(code);
                }
                Out::CloseStdout => {
                    // The only way to close it without unsafe code is to become another program.
                    use std::os::unix::process::CommandExt;
                    let _ = std::process::Command::new("sleep")
                        .arg("300")
                        .stdout(std::process::Stdio::null())
                        .exec();
                }
            }
        }
    }
    if switches.has("ignore-eof") {
        std::thread::sleep(std::time::Duration::from_secs(300));
    }
    log(switches, "left by itself");
}
