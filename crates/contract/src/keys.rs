//! By what a server recognises a request that is made again, as a person declares it: an argument of the tool, or a
//! header, takes a key that belongs to the request and stays the same over its attempts.

use std::collections::BTreeMap;

/// The key of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The tool.
    pub tool: String,
    /// Where the key goes.
    pub place: Place,
    /// A value that the caller wrote there is replaced; without this such a call is refused.
    pub replaces: bool,
    /// The server carries a request out once however often it comes with one key: a call in doubt may be sent again.
    pub repeats: bool,
}

/// Where a key goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An argument at the top level.
    Argument(String),
    /// A header of the request over HTTP.
    Header(String),
}

/// What is declared, list by list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lists<'a> {
    /// `TOOL:ARGUMENT`.
    pub arguments: &'a [String],
    /// `TOOL:HEADER`.
    pub headers: &'a [String],
    /// Tools whose callers' own values are replaced.
    pub replaces: &'a [String],
    /// Tools whose calls in doubt may be sent again.
    pub repeats: &'a [String],
}

/// Which list a word that is wrong stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum In {
    /// The arguments.
    Arguments,
    /// The headers.
    Headers,
    /// What is replaced.
    Replaces,
    /// What may be sent again.
    Repeats,
}

/// A word that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where it stands.
    pub list: In,
    /// The word.
    pub word: String,
    /// Why, as the rest of a sentence that begins with the word.
    pub why: &'static str,
}

/// Headers that belong to the protocol, to the connection, or to who asks.
const OURS: &[&str] = &[
    "accept", "authorization", "connection", "content-length", "content-type", "cookie", "host",
    "last-event-id", "te", "trailer", "transfer-encoding", "upgrade",
];

impl Key {
    /// Joins the lists. `web` says that the server is reached over HTTP.
    ///
    /// # Errors
    /// Every word that is wrong.
    pub fn all(lists: Lists<'_>, web: bool) -> Result<Vec<Key>, Vec<Wrong>> {
        let mut keys: BTreeMap<String, Key> = BTreeMap::new();
        let mut wrong = Vec::new();
        let both = [(In::Arguments, lists.arguments), (In::Headers, lists.headers)];
        for (list, word) in both.iter().flat_map(|(list, words)| words.iter().map(|w| (*list, w))) {
            let mut bad = |why| wrong.push(Wrong { list, word: word.clone(), why });
            let Some((tool, name)) = word.rsplit_once(':').filter(|(tool, name)| {
                [tool, name].iter().all(|part| !part.is_empty() && part.trim() == **part)
            }) else {
                bad("names no tool and no place for its key");
                continue;
            };
            let place = match list {
                In::Headers => Place::Header(name.to_owned()),
                _ => Place::Argument(name.to_owned()),
            };
            if matches!(place, Place::Header(_)) {
                if !web {
                    bad("is a header, and a server on a pipe is sent none");
                    continue;
                }
                if !is_header(name) {
                    bad("is no header that may be written");
                    continue;
                }
            }
            if keys.contains_key(tool) {
                bad("gives its tool a second key");
                continue;
            }
            let key = Key { tool: tool.to_owned(), place, replaces: false, repeats: false };
            keys.insert(tool.to_owned(), key);
        }
        for (list, words) in [(In::Replaces, lists.replaces), (In::Repeats, lists.repeats)] {
            for word in words {
                let why = match (keys.get_mut(word), list) {
                    (None, _) => "is a tool without a key",
                    (Some(Key { place: Place::Header(_), .. }), In::Replaces) => {
                        "has its key in a header, which no caller writes"
                    }
                    (Some(key), In::Replaces) => {
                        key.replaces = true;
                        continue;
                    }
                    (Some(key), _) => {
                        key.repeats = true;
                        continue;
                    }
                };
                wrong.push(Wrong { list, word: word.clone(), why });
            }
        }
        if wrong.is_empty() { Ok(keys.into_values().collect()) } else { Err(wrong) }
    }
}

/// True for a header that the gateway may write.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && !name.starts_with("mcp-")
        && !OURS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_key_has_one_place_and_what_is_said_of_it_needs_one() {
        let arguments = words(&["pay:key", "ns:tool:key"]);
        let headers = words(&["refund:Idempotency-Key"]);
        let (replaces, repeats) = (words(&["pay"]), words(&["refund"]));
        let lists = Lists {
            arguments: &arguments,
            headers: &headers,
            replaces: &replaces,
            repeats: &repeats,
        };
        let keys = Key::all(lists, true).unwrap();
        let said: Vec<_> = keys.iter().map(|k| (k.tool.as_str(), k.replaces, k.repeats)).collect();
        assert_eq!(
            said,
            [("ns:tool", false, false), ("pay", true, false), ("refund", false, true)]
        );

        let bad = words(&["pay", "pay:", ":key", "pay:a", "pay:b"]);
        let headers = words(&["x:Authorization", "x:Mcp-Name", "x:a b"]);
        let lists =
            Lists { arguments: &bad, headers: &headers, replaces: &repeats, repeats: &repeats };
        assert_eq!(Key::all(lists, true).unwrap_err().len(), 4 + 3 + 2);
        let lists = Lists { headers: &headers, ..Lists::default() };
        assert_eq!(Key::all(lists, false).unwrap_err().len(), 3);
    }
}
