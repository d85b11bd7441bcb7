//! What the pure crates may not touch: files, clock, environment, network, processes, chance.

use crate::repo::{self, Complaints, Result};

/// The crates whose answer depends on nothing but their arguments.
const PURE: &[&str] = &["crates/schema/src/", "crates/contract/src/", "crates/report/src/"];

/// A word in the code and why it is banned.
const BANNED: &[(&str, &str)] = &[
    ("std::fs", "reads or writes files: leave it to the shell"),
    ("std::env", "reads the environment: take it as an argument"),
    ("std::net", "reaches the network: leave it to the shell"),
    ("std::process", "starts or ends processes: leave it to the shell"),
    ("SystemTime", "reads the clock: take the date as an argument"),
    ("Instant::now", "reads the clock: count steps"),
    ("RandomState", "depends on chance: use an ordered map"),
    ("thread::spawn", "starts threads: the core answers in one"),
    ("println!", "prints: return the text"),
    ("eprintln!", "prints: return the text"),
    ("include!(", "hides code from this check"),
];

pub(super) fn check() -> Result<()> {
    let mut complaints = Complaints::default();
    for path in repo::files()? {
        if path.ends_with(".rs") && PURE.iter().any(|pure| path.starts_with(pure)) {
            complaints.0.extend(complain(&path, &repo::read(&path)?));
        }
    }
    complaints.verdict()
}

/// Looks at the code before the file's tests; comments may name what they like.
fn complain(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        for (word, why) in BANNED {
            if code.contains(word) {
                found.push(format!("{path}:{}: `{word}` {why}", number + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_looked_at_and_comments_and_tests_are_not() {
        assert_eq!(complain("a.rs", "use std::fs;\n").len(), 1);
        assert!(complain("a.rs", "// std::fs is for the shell\n").is_empty());
        assert!(
            complain("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n").is_empty()
        );
    }
}
