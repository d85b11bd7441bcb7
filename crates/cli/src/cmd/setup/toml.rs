//! A configuration in TOML, edited in its place.

use super::{Deed, Edited, ODD, REMOTE, Server, Wanted};
use crate::exit::Failure;
use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

/// Edits the servers below `mcp_servers`.
pub fn edit(name: &str, text: &str, wanted: Wanted<'_>) -> Result<Edited, Failure> {
    let mut document: DocumentMut = text.parse().map_err(|why: toml_edit::TomlError| {
        Failure::one(
            name,
            format!("The file is not TOML that can be read: {}.", why.message()),
            "Mend it. Nothing was changed.",
        )
    })?;
    let mut servers = Vec::new();
    let mut moved = false;
    if let Some(table) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) {
        for (key, entry) in table.iter_mut() {
            let name = key.get().to_owned();
            let server = match entry.as_table_like_mut() {
                Some(entry) => one(name, entry, wanted),
                None => Server::left(&name, ODD),
            };
            moved |= matches!(server.deed, Deed::Wrapped | Deed::Unwrapped);
            servers.push(server);
        }
    }
    let text = if moved { document.to_string() } else { text.to_owned() };
    Ok(Edited { text, servers })
}

fn one(name: String, entry: &mut dyn TableLike, wanted: Wanted<'_>) -> Server {
    let left = |name: String, why| Server::left(&name, why);
    let Some(command) = entry.get("command") else { return left(name, REMOTE) };
    let Some(word) = command.as_str().map(str::to_owned) else { return left(name, ODD) };
    let list = entry.get("args").map(Item::as_array);
    let bare = list.is_none();
    let arguments: Option<Vec<String>> = match list {
        None => Some(Vec::new()),
        Some(None) => None,
        Some(Some(list)) => list.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
    };
    let Some(arguments) = arguments else { return left(name, ODD) };
    let (deed, before) = wanted.deed(&name, &word, &arguments);
    let shown = |words: Vec<String>| mcp::shown_command(&words).join(" ");
    let whole = shown([vec![word.clone()], arguments.clone()].concat());
    match deed {
        Deed::Wrapped => {
            put(entry, "command", wanted.own);
            match entry.get_mut("args").and_then(Item::as_array_mut) {
                Some(list) => {
                    for (index, item) in ["wrap", "--", &word].into_iter().enumerate() {
                        list.insert(index, item);
                    }
                }
                None => {
                    let list: Array = ["wrap", "--", &word].into_iter().collect();
                    entry.insert("args", toml_edit::value(list));
                }
            }
            Server { name, deed, command: whole, bare }
        }
        Deed::Unwrapped => {
            put(entry, "command", &arguments[before]);
            if let Some(list) = entry.get_mut("args").and_then(Item::as_array_mut) {
                for _ in 0..=before {
                    list.remove(0);
                }
                if let Some(first) = list.get_mut(0) {
                    let suffix = first.decor().suffix().cloned().unwrap_or_default();
                    *first.decor_mut() = toml_edit::Decor::new("", suffix);
                }
            }
            let command = shown(arguments[before..].to_vec());
            if before + 1 == arguments.len() && wanted.was_bare(&name, &command) {
                entry.remove("args");
            }
            Server { name, deed, command, bare }
        }
        Deed::Nothing | Deed::Left(_) => Server { name, deed, command: whole, bare },
    }
}

/// Puts a text in the place of another, with the white space and the comment of that one.
fn put(entry: &mut dyn TableLike, key: &str, text: &str) {
    let decor = entry.get(key).and_then(Item::as_value).map(|value| value.decor().clone());
    let mut value = Value::from(text);
    if let Some(decor) = decor {
        *value.decor_mut() = decor;
    }
    entry.insert(key, Item::Value(value));
}

#[cfg(test)]
mod tests {
    use super::super::Known;
    use super::*;

    #[test]
    fn tables_keep_their_comments_and_undoing_gives_them_back() {
        let text = "# mine\nmodel = \"m\"\n\n[mcp_servers.a] # one\ncommand = \"npx\" # runner\nargs = [\"-y\", \"x\"]\nenv = { T = \"1\" }\n\n[mcp_servers.b]\nurl = \"https://x/mcp\"\n";
        let known = Known::new();
        let wanted = Wanted { own: "/bin/steadfast", only: None, undo: false, known: &known };
        let wrapped = edit("f", text, wanted).unwrap();
        assert!(wrapped.text.contains("command = \"/bin/steadfast\" # runner"), "{}", wrapped.text);
        let read: DocumentMut = wrapped.text.parse().unwrap();
        let args = read["mcp_servers"]["a"]["args"].as_array().unwrap();
        let args: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
        assert_eq!(args, ["wrap", "--", "npx", "-y", "x"]);
        assert_eq!(wrapped.servers[1].deed, Deed::Left(REMOTE));
        assert_eq!(edit("f", &wrapped.text, wanted).unwrap().text, wrapped.text);
        let undone = edit("f", &wrapped.text, Wanted { undo: true, ..wanted }).unwrap();
        assert_eq!(undone.text, text);
    }
}
