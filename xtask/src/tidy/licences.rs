//! Every dependency has a licence of the list in deny.toml.

use crate::repo::{self, Complaints, Result};
use serde_json::Value;

pub(super) fn check() -> Result<()> {
    let allowed = allowed(&repo::read("deny.toml")?);
    if allowed.is_empty() {
        return Complaints::one("deny.toml: no `allow = [ … ]` below [licenses]");
    }
    let metadata =
        repo::output(&repo::cargo(), &["metadata", "--format-version", "1", "--locked"])?;
    let metadata: Value = match serde_json::from_str(&metadata) {
        Ok(value) => value,
        Err(error) => return Complaints::one(format!("cargo metadata: {error}")),
    };
    let mut complaints = Complaints::default();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or_default();
        complaints.check(permitted(licence, &allowed), || {
            format!("{name}: the licence `{licence}` is not on the list in deny.toml")
        });
    }
    complaints.verdict()
}

fn allowed(text: &str) -> Vec<String> {
    let Some((_, section)) = text.split_once("[licenses]") else {
        return Vec::new();
    };
    let Some((_, list)) = section.split_once("allow = [") else {
        return Vec::new();
    };
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An SPDX expression: `OR` wants one side, `AND` wants both; brackets nest; `/` is the old way to write `OR`.
fn permitted(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let result = any_of(&words, &mut at, allowed);
    result && at == words.len() && !words.is_empty()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut result = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        result |= all_of(words, at, allowed);
    }
    result
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut result = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        result &= one(words, at, allowed);
    }
    result
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if *word == "(" {
        let result = any_of(words, at, allowed);
        *at += 1;
        return result;
    }
    let mut name = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{name} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        let allowed = allowed(
            "[licenses]\nallow = [\n  \"MIT\",\n  \"Apache-2.0\",\n  \"Apache-2.0 WITH LLVM-exception\",\n]\n",
        );
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(permitted(good, &allowed), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND GPL-2.0", "MIT MIT"] {
            assert!(!permitted(bad, &allowed), "{bad}");
        }
    }
}
