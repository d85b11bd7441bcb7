//! The terminal itself, for what must come from a person: not from an argument, the environment or a pipe.

use crate::exit::Failure;
use crate::limits;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// The terminal that controls this process.
pub struct Terminal(File);

impl Terminal {
    /// Opens it.
    pub fn open() -> Result<Terminal, Failure> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").map(Terminal).map_err(|_| {
            Failure::one(
                "/dev/tty",
                "There is no terminal here, and this is taken from a person at a terminal alone.",
                "Run it in a terminal of your own.",
            )
        })
    }

    /// Asks for a passphrase. What is typed is not shown.
    pub fn passphrase(&mut self, prompt: &str) -> Result<Zeroizing<String>, Failure> {
        let asked = self.ask(prompt);
        let line = asked.map_err(|why| {
            Failure::one(
                "/dev/tty",
                format!("The passphrase could not be read: {why}."),
                "Try again. Nothing was decided.",
            )
        })?;
        Ok(line)
    }

    fn ask(&mut self, prompt: &str) -> io::Result<Zeroizing<String>> {
        let before = tcgetattr(&self.0)?;
        let mut raw = before.clone();
        // Signals are read as keys, so that the terminal is never left without an echo.
        raw.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(&self.0, OptionalActions::Flush, &raw)?;
        let restore = Restore(self.0.try_clone()?, before);
        self.0.write_all(prompt.as_bytes())?;
        let line = self.line();
        self.0.write_all(b"\n")?;
        drop(restore);
        line
    }

    fn line(&mut self) -> io::Result<Zeroizing<String>> {
        // With its room made beforehand, nothing of it is left behind where it would have grown.
        let mut line = Zeroizing::new(Vec::with_capacity(limits::PASSPHRASE_BYTES));
        let mut key = Zeroizing::new([0_u8; 1]);
        loop {
            if self.0.read(key.as_mut())? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            match key[0] {
                b'\r' | b'\n' => break,
                0x03 | 0x04 | 0x1a | 0x1c => {
                    return Err(io::Error::new(io::ErrorKind::Interrupted, "it was broken off"));
                }
                0x15 => line.clear(),
                0x7f | 0x08 => {
                    // One character, however many bytes it has.
                    while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                }
                byte if line.len() < limits::PASSPHRASE_BYTES => line.push(byte),
                _ => return Err(io::Error::other("it is too long")),
            }
        }
        let text = std::str::from_utf8(&line).map_err(|_| io::Error::other("it is not UTF-8"))?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

/// Gives the terminal back as it was.
struct Restore(File, Termios);

impl Drop for Restore {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.0, OptionalActions::Flush, &self.1);
    }
}
