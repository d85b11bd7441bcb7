//! Bearer tokens: who presents one is its principal. Kept as hashes; a token is 256 bits of chance, so one pass is
//! enough.

use crate::limits;
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// What tokens begin with, so that people and scanners of secrets recognise one.
const PREFIX: &str = "sft_";

/// A new token, shown once and kept nowhere. It has no `Debug`.
pub struct Token(String);

impl Token {
    /// A token that nobody can foresee.
    ///
    /// # Errors
    /// Where the system gives no chance, in a sentence.
    pub fn new() -> Result<Token, String> {
        Ok(Token(format!("{PREFIX}{}", random()?)))
    }

    /// The token, to be shown to whoever will use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// 256 bits of chance as text.
pub(super) fn random() -> Result<String, String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|why| format!("the system gives no chance: {why}"))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The tokens that are known, by their hashes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tokens(BTreeMap<String, String>);

impl Tokens {
    /// Reads a file of tokens: `NAME HASH` a line.
    ///
    /// # Errors
    /// All lines that are none, each in a sentence.
    pub fn read(text: &str) -> Result<Tokens, Vec<String>> {
        let (mut tokens, mut wrong) = (Tokens::default(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let n = index + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let parts: Vec<&str> = line.split_whitespace().collect();
            match parts[..] {
                [name, hash] if is_name(name) && hash.len() == 43 => {
                    if !tokens.insert(name, hash.to_owned()) {
                        wrong.push(format!("Line {n} names {name} a second time."));
                    }
                }
                _ => wrong.push(format!("Line {n} is not a name and the hash of its token.")),
            }
        }
        if wrong.is_empty() { Ok(tokens) } else { Err(wrong) }
    }

    /// The file of these tokens.
    pub fn to_text(&self) -> String {
        let mut lines: Vec<String> =
            self.0.iter().map(|(hash, name)| format!("{name} {hash}\n")).collect();
        lines.sort();
        format!(
            "# Principals and the hashes of their tokens; steadfast token changes it.\n{}",
            lines.concat()
        )
    }

    /// Whose token this is.
    pub fn principal(&self, presented: &str) -> Option<&str> {
        self.0.get(&hash(presented)).map(String::as_str)
    }

    /// Makes a token for a principal. `None` where it has one, or there are too many.
    pub fn add(&mut self, name: &str, token: &Token) -> bool {
        self.0.len() < limits::BEARERS && self.insert(name, hash(&token.0))
    }

    fn insert(&mut self, name: &str, hash: String) -> bool {
        if self.0.values().any(|known| known == name) {
            return false;
        }
        self.0.insert(hash, name.to_owned());
        true
    }

    /// Takes the token of a principal back. Says whether it had one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|_, known| known != name);
        self.0.len() < before
    }

    /// Who has a token, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.values().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// True for what can be the name of a principal or of a server: it stands in paths, lists and metrics.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

fn hash(token: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_for_its_principal_alone_and_is_not_in_the_file() {
        let mut tokens = Tokens::default();
        let (one, two) = (Token::new().unwrap(), Token::new().unwrap());
        assert!(tokens.add("ci", &one) && tokens.add("anna", &two) && !tokens.add("ci", &two));
        let text = tokens.to_text();
        assert!(!text.contains(one.reveal()));
        let mut again = Tokens::read(&text).unwrap_or_default();
        assert!(again == tokens);
        assert_eq!(again.names(), ["anna", "ci"]);
        assert_eq!(again.principal(one.reveal()), Some("ci"));
        assert_eq!(again.principal(&one.reveal()[1..]), None);
        assert!(again.remove("ci") && !again.remove("ci"));
        assert_eq!(again.principal(one.reveal()), None);
    }

    #[test]
    fn a_damaged_file_says_every_line_that_is_wrong() {
        let Err(wrong) = Tokens::read("# fine\n\na b\nx/y z\n") else { panic!("it was read") };
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].starts_with("Line 3"), "{wrong:?}");
    }
}
