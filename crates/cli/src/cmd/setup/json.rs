//! A configuration in JSON, edited in its place: what is not a command stays to the byte, comments too.

use super::{Deed, Edited, ODD, REMOTE, Server, Wanted};
use crate::exit::Failure;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Edits the servers in the tables at these places.
pub fn edit(
    name: &str,
    text: &str,
    tables: &[&[&str]],
    wanted: Wanted<'_>,
) -> Result<Edited, Failure> {
    let plain = plain(text);
    let root: Members<'_> = serde_json::from_str(&plain).map_err(|why| {
        Failure::one(
            format!("{name}:{}:{}", why.line(), why.column()),
            format!("The file is not JSON that can be read: {why}."),
            "Mend it, or let the client write it anew. Nothing was changed.",
        )
    })?;
    let mut servers = Vec::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for table in tables {
        for found in below(&root, table) {
            for (server, entry) in &found {
                servers.push(one(&plain, server, entry, wanted, &mut edits));
            }
        }
    }
    // From the last to the first, so that places stay what they are.
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        edited.replace_range(range, &new);
    }
    Ok(Edited { text: edited, servers })
}

/// The tables at a place; `*` is every member.
fn below<'a>(members: &Members<'a>, path: &[&str]) -> Vec<Members<'a>> {
    let Some((first, rest)) = path.split_first() else { return vec![members.clone()] };
    let next = members.iter().filter(|(name, _)| *first == "*" || name == first);
    next.filter_map(|(_, raw)| serde_json::from_str::<Members<'a>>(raw.get()).ok())
        .flat_map(|members| below(&members, rest))
        .collect()
}

/// Where a value stands in the text.
fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + value.get().len()
}

fn one(
    text: &str,
    name: &str,
    entry: &RawValue,
    wanted: Wanted<'_>,
    edits: &mut Vec<(Range<usize>, String)>,
) -> Server {
    let left = |why| Server::left(name, why);
    let Ok(entry) = serde_json::from_str::<Members<'_>>(entry.get()) else { return left(ODD) };
    let Some(command) = entry.get("command") else { return left(REMOTE) };
    let Ok(word) = serde_json::from_str::<String>(command.get()) else { return left(ODD) };
    let raw: Option<Vec<&RawValue>> = match entry.get("args") {
        None => None,
        Some(list) => match serde_json::from_str(list.get()) {
            Ok(list) => Some(list),
            Err(_) => return left(ODD),
        },
    };
    let items = raw.as_deref().unwrap_or_default();
    let arguments: Result<Vec<String>, _> =
        items.iter().map(|item| serde_json::from_str(item.get())).collect();
    let Ok(arguments) = arguments else { return left(ODD) };
    let (deed, before) = wanted.deed(name, &word, &arguments);
    let shown = |words: Vec<String>| mcp::shown_command(&words).join(" ");
    let whole = || shown([vec![word.clone()], arguments.clone()].concat());
    let command_at = place(text, command);
    let bare = raw.is_none();
    let server = |command| Server { name: name.to_owned(), deed: deed.clone(), command, bare };
    match deed {
        Deed::Wrapped => {
            let own = serde_json::Value::from(wanted.own).to_string();
            match (entry.get("args"), items.first()) {
                (None, _) => {
                    let gap = gap_before_key(text, command_at.start);
                    let list = format!("[\"wrap\", \"--\", {}]", command.get());
                    edits.push((command_at, format!("{own},{gap}\"args\": {list}")));
                }
                (Some(list), None) => {
                    edits.push((command_at, own));
                    let list = place(text, list);
                    edits.push((list, format!("[\"wrap\", \"--\", {}]", command.get())));
                }
                (Some(list), Some(first)) => {
                    edits.push((command_at, own));
                    let (list, first) = (place(text, list), place(text, first));
                    let gap = line_gap(&text[list.start + 1..first.start]);
                    let words = format!("\"wrap\",{gap}\"--\",{gap}{},{gap}", command.get());
                    edits.push((first.start..first.start, words));
                }
            }
            server(whole())
        }
        Deed::Unwrapped => {
            let shown = shown(arguments[before..].to_vec());
            let end_of_command = command_at.end;
            edits.push((command_at, items[before].get().to_owned()));
            if let Some(list) = entry.get("args").filter(|_| before + 1 == items.len())
                && wanted.was_bare(name, &shown)
                && stands_next(&text[end_of_command..place(text, list).start])
            {
                edits.push((end_of_command..place(text, list).end, String::new()));
                return server(shown);
            }
            let start = place(text, items[0]).start;
            let end = match items.get(before + 1) {
                Some(next) => place(text, next).start,
                None => place(text, items[before]).end,
            };
            edits.push((start..end, String::new()));
            server(shown)
        }
        Deed::Nothing | Deed::Left(_) => server(whole()),
    }
}

/// Whether nothing but the key `args` stands between the command and a list: so it is put there.
fn stands_next(between: &str) -> bool {
    let key = between.trim_start().strip_prefix(',').map(str::trim_start);
    let colon = key.and_then(|rest| rest.strip_prefix("\"args\""));
    colon.is_some_and(|rest| rest.trim() == ":")
}

/// The white space that an item of a list is set off by: a line of its own where the first one has it.
fn line_gap(before: &str) -> String {
    match before.rfind('\n') {
        Some(at) => before[at..].to_owned(),
        None => " ".to_owned(),
    }
}

/// The white space that stands before the key of the value at a place.
fn gap_before_key(text: &str, value: usize) -> String {
    let before = &text[..value];
    let key = before.rfind("\"command\"").unwrap_or(value);
    let space = before[..key].trim_end_matches([' ', '\t', '\r', '\n']);
    line_gap(&before[space.len()..key])
}

/// The same text without comments and without commas before an end, each byte in its place.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let blank = |out: &mut Vec<u8>, range: Range<usize>| {
        for byte in &mut out[range] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    };
    if text.starts_with('\u{FEFF}') {
        blank(&mut out, 0..3);
    }
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            (b'/', Some(b'/')) => {
                let end = text[at..].find('\n').map_or(bytes.len(), |length| at + length);
                blank(&mut out, at..end);
                at = end;
            }
            (b'/', Some(b'*')) => {
                let end = text[at + 2..].find("*/").map_or(bytes.len(), |length| at + length + 4);
                blank(&mut out, at..end);
                at = end;
            }
            (b',', _) => {
                comma = Some(at);
                at += 1;
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
                at += 1;
            }
            (byte, _) => {
                // The mark at the beginning is white space here.
                let mark = at < 3 && text.starts_with('\u{FEFF}');
                if !mark && !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole characters were blanked: comments begin and end with ASCII.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Known;
    use super::*;

    const TABLES: &[&[&str]] = &[&["mcpServers"]];

    fn wrap(text: &str, undo: bool) -> String {
        let known = Known::new();
        let wanted = Wanted { own: "/bin/steadfast", only: None, undo, known: &known };
        edit("f", text, TABLES, wanted).unwrap().text
    }

    #[test]
    fn only_commands_move_and_undoing_gives_the_same_bytes() {
        for text in [
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}"#,
            "{\n  // ours: \"mcpServers\" é\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\", /* two */\n        \"x\",\n      ],\n    },\n  },\n}\n",
            "\u{FEFF}{\"mcpServers\": {\"a\": {\"args\": [ \"one\" ], \"env\": {\"T\": \"1.0\"}, \"command\": \"n\\\"px\"}}, \"big\": 12345678901234567890.10}",
        ] {
            let wrapped = wrap(text, false);
            assert_ne!(wrapped, text);
            assert!(wrapped.contains("wrap"), "{wrapped}");
            assert_eq!(wrap(&wrapped, false), wrapped, "twice is once");
            assert_eq!(wrap(&wrapped, true), text);
        }
    }

    #[test]
    fn the_arguments_are_those_of_the_command() {
        let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"npx\"\n    },\n    \"b\": {\"command\": \"uvx\", \"args\": []}\n  }\n}";
        let wrapped = wrap(text, false);
        let read: serde_json::Value = serde_json::from_str(&wrapped).unwrap();
        for (name, command) in [("a", "npx"), ("b", "uvx")] {
            let server = &read["mcpServers"][name];
            assert_eq!(server["command"], "/bin/steadfast");
            assert_eq!(server["args"], serde_json::json!(["wrap", "--", command]));
        }
        assert!(wrapped.contains("\"/bin/steadfast\",\n      \"args\""), "{wrapped}");
        let undone: serde_json::Value = serde_json::from_str(&wrap(&wrapped, true)).unwrap();
        assert_eq!(undone["mcpServers"]["a"], serde_json::json!({"command": "npx"}));
        assert_eq!(undone["mcpServers"]["b"], serde_json::json!({"command": "uvx"}));
    }

    #[test]
    fn what_cannot_be_wrapped_is_left_with_the_reason() {
        let text = r#"{"mcpServers":{"r":{"url":"https://x/mcp"},"o":{"command":["a"]},"p":{"command":"a","args":[1]}}}"#;
        let known = Known::new();
        let wanted = Wanted { own: "steadfast", only: None, undo: false, known: &known };
        let edited = edit("f", text, TABLES, wanted).unwrap();
        assert_eq!(edited.text, text);
        let deeds: Vec<&Deed> = edited.servers.iter().map(|server| &server.deed).collect();
        assert_eq!(deeds, [&Deed::Left(ODD), &Deed::Left(ODD), &Deed::Left(REMOTE)]);
        assert!(edit("f", "{\"mcpServers\": {", TABLES, wanted).is_err());
        assert!(edit("f", "[]", TABLES, wanted).is_err());
    }
}
