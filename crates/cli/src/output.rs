//! The only place that writes to the terminal: results to standard output, everything else to standard error.

use crate::exit::{Exit, Failure};
use crate::limits;
use anstyle::{AnsiColor, Style};
use contract::Problem;
use contract::policy::Day;
use std::io::{self, IsTerminal, Write};

/// What the program knows about where its words go.
pub struct Shell {
    /// Colour on standard output.
    pub colour: bool,
    /// Colour on standard error.
    colour_errors: bool,
    /// Columns of the terminal, or a width that fits in a log.
    pub width: usize,
    /// Standard error is a terminal: progress may be shown.
    pub interactive: bool,
}

impl Shell {
    /// Asks the environment: terminals, `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, and the width.
    pub fn from_environment() -> Shell {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let zero = |name: &str| std::env::var_os(name).is_some_and(|value| value == "0");
        let wanted = |terminal: bool| {
            if set("NO_COLOR") {
                false
            } else if set("CLICOLOR_FORCE") && !zero("CLICOLOR_FORCE") {
                true
            } else {
                terminal
                    && !zero("CLICOLOR")
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        };
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let (narrowest, widest) = limits::WIDTH;
        Shell {
            colour: wanted(io::stdout().is_terminal()),
            colour_errors: wanted(io::stderr().is_terminal()),
            width: columns.unwrap_or(100).clamp(narrowest, widest),
            interactive: io::stderr().is_terminal(),
        }
    }

    /// Writes a result. A reader that went away (`| head`) is no error.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::one(
                "standard output",
                format!("The result could not be written: {error}."),
                "Check the disk, or where the output is sent.",
            )),
            _ => Ok(()),
        }
    }

    /// Says something beside the result, on standard error.
    pub fn note(&self, text: &str) {
        complain(&format!("{text}\n"));
    }

    /// Lists problems of the input, each with its place and the way forward.
    pub fn list(&self, problems: &[Problem]) {
        let (error, dim, reset) = if self.colour_errors {
            (
                Style::new().bold().fg_color(Some(AnsiColor::Red.into())).render().to_string(),
                Style::new().dimmed().render().to_string(),
                anstyle::Reset.render().to_string(),
            )
        } else {
            Default::default()
        };
        let mut text = String::new();
        for problem in problems {
            text.push_str(&format!(
                "{error}error:{reset} {}: {}\n",
                printable(&problem.place),
                printable(&problem.sentence)
            ));
            if !problem.help.is_empty() {
                text.push_str(&format!("  {dim}{}{reset}\n", printable(&problem.help)));
            }
        }
        complain(&text);
    }

    /// Lists the problems of a failure; the command ends here.
    pub fn fail(&self, failure: &Failure) -> Exit {
        self.list(&failure.problems);
        Exit::Wrong
    }

    /// Answers what the argument parser has to say: help and version, or what was wrong.
    pub fn usage(&self, answer: &clap::Error) -> Exit {
        let styled = answer.render();
        if answer.use_stderr() {
            let text =
                if self.colour_errors { styled.ansi().to_string() } else { styled.to_string() };
            complain(&text);
            return Exit::Wrong;
        }
        let text = if self.colour { styled.ansi().to_string() } else { styled.to_string() };
        match self.print(&text) {
            Ok(()) => Exit::Fine,
            Err(failure) => self.fail(&failure),
        }
    }
}

/// The day on which this runs, the same for everyone: UTC.
pub fn today() -> Day {
    let date = jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date();
    Day { year: date.year(), month: date.month(), day: date.day() }
}

/// Writes to standard error, and lets it go where that is closed.
pub fn complain(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// JSON with hidden characters spelled out: the same values, and nothing that a terminal obeys. They can stand within
/// text only.
pub fn hidden_spelled_out(json: &str) -> String {
    json.chars()
        .map(|character| {
            // Line breaks and tabs stand between values.
            let escape = report::escape::is_hidden(character) && !character.is_ascii_whitespace();
            if !escape {
                return character.to_string();
            }
            let mut units = [0; 2];
            let units = character.encode_utf16(&mut units).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect()
        })
        .collect()
}

/// Text from a file or a server, harmless on a terminal: control and direction characters escaped.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            control if control.is_control() => control.escape_default().to_string(),
            hides if report::escape::is_hidden(hides) => hides.escape_unicode().to_string(),
            other => other.to_string(),
        })
        .collect()
}
