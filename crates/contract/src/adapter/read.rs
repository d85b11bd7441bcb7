//! A file of adapters: TOML, with every problem of it at once.

use super::path::Part;
use super::{Action, Adapter, Adapters, Constant, End, From, Path, Step, Wrapper, context, limits};
use crate::document::Problem;
use crate::policy::Day;
use crate::policy::read::Reader;
use crate::text::quoted;
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const MEMBERS: &[&str] = &[
    "id", "server", "tool", "to_tool", "from", "from_ordinal", "until", "until_version", "step",
    "result",
];
const KINDS: &[&str] = &["rename", "move", "wrap", "unwrap", "map", "constant", "default", "drop"];
const OLD_SESSIONS: &str = "old-sessions-end";
const HOW_TO_END: &str = "Write until = 2027-03-01 (the last day), until = \"old-sessions-end\", or until_version = \"2.0.0\".";
const HOW_TO_PLACE: &str =
    "Write a JSON Pointer: \"/limit\", \"/options/limit\", or \"/labels/*/name\" for every item.";

impl Adapters {
    /// Reads the text of a file of adapters; `name` is only quoted in problems.
    ///
    /// # Errors
    /// All problems at once, each at `name:line:column`: no TOML, unknown members, missing parts, places that are
    /// none, an adapter without an end, two adapters of one id, two for the same revision of the same tool.
    ///
    /// ```
    /// use contract::adapter::Adapters;
    /// let text = r#"
    /// [[adapter]]
    /// id = "limit-to-page-size"
    /// tool = "search"
    /// until = 2027-03-01
    /// step = [{ rename = { from = "/limit", to = "/page_size" } }]
    /// "#;
    /// assert_eq!(Adapters::read("adapters.toml", text).unwrap().adapters[0].id, "limit-to-page-size");
    /// let problems = Adapters::read("adapters.toml", &text.replace("until", "untill")).unwrap_err();
    /// assert_eq!(problems[1].place, "adapters.toml:5:1");
    /// ```
    pub fn read(name: &str, text: &str) -> Result<Adapters, Vec<Problem>> {
        if text.len() > limits::FILE_BYTES {
            return Err(vec![Problem {
                place: name.to_owned(),
                sentence: format!(
                    "The file has {} MB; more than {} MB of adapters are not read.",
                    text.len() >> 20,
                    limits::FILE_BYTES >> 20
                ),
                help: "Split it, or remove adapters that have ended.".to_owned(),
            }]);
        }
        let mut reader = Reader::new(name, text);
        let whole = reader.parse();
        let table = whole.get_ref();
        reader.only(table, "this file", &["adapter"]);
        let items = reader.tables(table, "adapter");
        if let Some((span, _)) = items.get(limits::ADAPTERS) {
            reader.problem(
                span.clone(),
                format!("There are more than {} adapters in this file.", limits::ADAPTERS),
                "Remove those that have ended, or split the file.",
            );
        }
        let mut adapters: Vec<Adapter> = Vec::new();
        for (span, item) in items.into_iter().take(limits::ADAPTERS) {
            let Some(adapter) = read_adapter(&mut reader, item, &span) else { continue };
            if let Some(first) = adapters.iter().find(|known| known.id == adapter.id) {
                let sentence = format!(
                    "The id {} is used twice; first at {}.",
                    quoted(&adapter.id),
                    first.place
                );
                reader.problem(span, sentence, "Journals and reports name adapters by their id.");
            } else if let Some(first) = adapters.iter().find(|known| competes(known, &adapter)) {
                let sentence = format!(
                    "{} converts the same revision of the same tool as {} at {}.",
                    quoted(&adapter.id),
                    quoted(&first.id),
                    first.place
                );
                reader.problem(span, sentence, "Keep one: a call must not have two meanings.");
            } else {
                adapters.push(adapter);
            }
        }
        reader.finish()?;
        Ok(Adapters { adapters })
    }
}

/// Two adapters that would answer the same call, by what they declare.
fn competes(one: &Adapter, two: &Adapter) -> bool {
    let same_server = match (&one.server, &two.server) {
        (Some(one), Some(two)) => one == two,
        _ => true,
    };
    let same_revision = match (&one.from, &two.from) {
        (From::Digests(one), From::Digests(two)) => one.iter().any(|digest| two.contains(digest)),
        (From::Ordinals(one), From::Ordinals(two)) => one.iter().any(|n| two.contains(n)),
        // What each of them is proved for is known only with the contracts.
        _ => false,
    };
    same_server && same_revision && one.tool == two.tool && one.target() == two.target()
}

fn read_adapter(
    reader: &mut Reader<'_>,
    item: &DeTable<'_>,
    span: &Range<usize>,
) -> Option<Adapter> {
    reader.only(item, "[[adapter]]", MEMBERS);
    let id = reader.needed(item, "id", span, "Journals and reports name the adapter by its id.");
    let tool = reader.needed(item, "tool", span, "Name the tool as it was called before.");
    let server = reader.text(item, "server").map(|(_, text)| text);
    let to_tool = reader.text(item, "to_tool").map(|(_, text)| text);
    let from = read_from(reader, item);
    let end = read_end(reader, item, span);
    let steps = read_steps(reader, item, "step", KINDS);
    let results = read_steps(reader, item, "result", &KINDS[..2]);
    let same_name = to_tool.is_none() || to_tool.as_deref() == tool.as_ref().map(|(_, t)| &**t);
    if same_name && steps.is_empty() && results.is_empty() && item.get("step").is_none() {
        reader.problem(
            span.clone(),
            "This adapter changes nothing.".to_owned(),
            "Give it a [[adapter.step]], or to_tool where the tool has another name now.",
        );
    }
    Some(Adapter {
        id: id?.1,
        server,
        tool: tool?.1,
        to_tool,
        from,
        end: end?,
        steps,
        results,
        place: reader.place(span),
    })
}

/// A member that is one value or a list of them.
fn one_or_more<'t, 'd>(table: &'t DeTable<'d>, key: &str) -> Vec<&'t Spanned<DeValue<'d>>> {
    match table.get(key) {
        None => Vec::new(),
        Some(value) => match value.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![value],
        },
    }
}

fn read_from(reader: &mut Reader<'_>, item: &DeTable<'_>) -> From {
    let mut digests = Vec::new();
    for value in one_or_more(item, "from") {
        match value.get_ref().as_str() {
            Some(text) if is_digest(text) => digests.push(text.to_owned()),
            _ => reader.problem(
                value.span(),
                "from is no digest here.".to_owned(),
                "Write \"sha256:\" and 64 hexadecimal digits as reports show them, or from_ordinal = 3.",
            ),
        }
    }
    let mut ordinals = Vec::new();
    for value in one_or_more(item, "from_ordinal") {
        match json(reader, value).as_ref().and_then(Value::as_u64) {
            Some(number) if number > 0 => ordinals.push(number),
            _ => reader.problem(
                value.span(),
                "from_ordinal is no revision number here.".to_owned(),
                "Write the number that the lock counts: from_ordinal = 3.",
            ),
        }
    }
    match (digests.is_empty(), ordinals.is_empty()) {
        (true, true) => From::Any,
        (false, true) => From::Digests(digests),
        (true, false) => From::Ordinals(ordinals),
        (false, false) => {
            if let Some((key, _)) = item.get_key_value("from_ordinal") {
                reader.problem(
                    key.span(),
                    "from and from_ordinal stand side by side.".to_owned(),
                    "Keep one of the two: the digest is exact, the number is shorter.",
                );
            }
            From::Digests(digests)
        }
    }
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
    })
}

fn read_end(reader: &mut Reader<'_>, item: &DeTable<'_>, span: &Range<usize>) -> Option<End> {
    let mut end = End::default();
    if let Some(value) = item.get("until") {
        match value.get_ref() {
            DeValue::String(text) if text == OLD_SESSIONS => end.old_sessions = true,
            DeValue::String(text) => end.day = day(text),
            DeValue::Datetime(found) if found.time.is_none() => end.day = day(&found.to_string()),
            _ => {}
        }
        if end == End::default() {
            reader.problem(value.span(), "until is no end here.".to_owned(), HOW_TO_END);
            return None;
        }
    }
    if let Some((span, version)) = reader.text(item, "until_version") {
        if context::numbers(&version).is_none() {
            let sentence = format!("{} is no version that can be compared.", quoted(&version));
            reader.problem(span, sentence, "Write numbers and dots: until_version = \"2.0.0\".");
            return None;
        }
        end.version = Some(version);
    }
    if end == End::default() && item.get("until_version").is_none() {
        reader.problem(span.clone(), "This adapter has no end.".to_owned(), HOW_TO_END);
        return None;
    }
    Some(end)
}

/// A day as it is written in both notations: `2027-03-01`.
fn day(text: &str) -> Option<Day> {
    let [year, month, day] = text.split('-').collect::<Vec<_>>()[..] else { return None };
    let digits = text.chars().all(|c| c.is_ascii_digit() || c == '-');
    if !digits || (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let day = Day { year: year.parse().ok()?, month: month.parse().ok()?, day: day.parse().ok()? };
    ((1..=12).contains(&day.month) && (1..=31).contains(&day.day)).then_some(day)
}

fn read_steps(
    reader: &mut Reader<'_>,
    item: &DeTable<'_>,
    list: &str,
    kinds: &[&str],
) -> Vec<Step> {
    let tables = reader.tables(item, list);
    if let Some((span, _)) = tables.get(limits::STEPS) {
        reader.problem(
            span.clone(),
            format!("This adapter has more than {} steps.", limits::STEPS),
            "Convert in two adapters, one revision after the other.",
        );
    }
    let mut steps = Vec::new();
    for (span, table) in tables.into_iter().take(limits::STEPS) {
        reader.only(table, &format!("[[adapter.{list}]]"), kinds);
        let kind = kinds.iter().find(|kind| table.contains_key(**kind));
        let (Some(kind), 1) = (kind, table.len()) else {
            if table.len() != 1 {
                reader.problem(
                    span,
                    format!("A step does one thing, and this one names {}.", table.len()),
                    &format!("Write one of {} in it.", kinds.join(", ")),
                );
            }
            continue;
        };
        let Some(body) = reader.table(table, kind) else { continue };
        let reason = reader.text(body, "reason").map(|(_, text)| text);
        if let Some(action) = read_action(reader, kind, body, &span) {
            steps.push(Step { action, reason, place: reader.place(&span) });
        }
    }
    steps
}

fn read_action(
    reader: &mut Reader<'_>,
    kind: &str,
    body: &DeTable<'_>,
    span: &Range<usize>,
) -> Option<Action> {
    match kind {
        "rename" | "move" => {
            reader.only(body, kind, &["from", "to", "reason"]);
            let from = place(reader, body, "from", span);
            let to = place(reader, body, "to", span);
            let (from, to) = (from?, to?);
            let action = Action::Move { from: from.clone(), to: to.clone() };
            let trouble = if from.holds(&to) || to.holds(&from) {
                Some((
                    "One of the two places lies inside the other.",
                    "A value is put into something new by wrap, and a member moves out of its object to a place of its own.",
                ))
            } else if kind == "rename" && action.word() != "rename" {
                Some((
                    "These are members of two different objects.",
                    "Write move in place of rename.",
                ))
            } else if [&from, &to]
                .iter()
                .any(|path| path.0[from.shared(&to)..].contains(&Part::Each))
            {
                Some((
                    "A value would move into a list or out of it.",
                    "With * both places lie in the same item: from = \"/labels/*/text\", to = \"/labels/*/name\".",
                ))
            } else {
                None
            };
            if let Some((sentence, help)) = trouble {
                reader.problem(span.clone(), sentence.to_owned(), help);
                return None;
            }
            Some(action)
        }
        "wrap" => {
            reader.only(body, kind, &["at", "into", "key", "reason"]);
            let at = place(reader, body, "at", span);
            let into = wrapper(reader, body, "into", span);
            Some(Action::Wrap { at: at?, into: into? })
        }
        "unwrap" => {
            reader.only(body, kind, &["at", "from", "key", "reason"]);
            let at = place(reader, body, "at", span);
            let from = wrapper(reader, body, "from", span);
            Some(Action::Unwrap { at: at?, from: from? })
        }
        "default" => {
            reader.only(body, kind, &["at", "value", "reason"]);
            let at = member(reader, body, span);
            let value = value(reader, body, span);
            Some(Action::Default { at: at?, value: value? })
        }
        "map" => {
            reader.only(body, kind, &["at", "values", "reason"]);
            let at = place(reader, body, "at", span);
            let values = mapped(reader, body, span);
            Some(Action::Map { at: at?, values: values? })
        }
        "constant" => {
            reader.only(body, kind, &["at", "value", "historical", "reason", "while"]);
            let at = member(reader, body, span);
            let historical = match body.get("historical").map(|value| (value, value.get_ref())) {
                None => false,
                Some((_, DeValue::Boolean(flag))) => *flag,
                Some((value, _)) => {
                    reader.wrong(value, "historical", "true or false");
                    false
                }
            };
            let mut conditions = BTreeMap::new();
            if let Some(table) = reader.table(body, "while") {
                for key in table.keys() {
                    if let Some((_, text)) = reader.text(table, key.get_ref()) {
                        conditions.insert(key.get_ref().to_string(), text);
                    }
                }
            }
            let value = value(reader, body, span);
            let (at, value) = (at?, value?);
            Some(Action::Constant(Constant { at, value, historical, conditions }))
        }
        "drop" => {
            reader.only(body, kind, &["at", "only_if", "reason"]);
            let at = member(reader, body, span);
            let only_if = match body.get("only_if") {
                Some(value) => Some(json(reader, value)?),
                None => None,
            };
            Some(Action::Drop { at: at?, only_if })
        }
        _ => None,
    }
}

fn place(
    reader: &mut Reader<'_>,
    body: &DeTable<'_>,
    key: &str,
    span: &Range<usize>,
) -> Option<Path> {
    let (span, text) = reader.needed(body, key, span, HOW_TO_PLACE)?;
    Path::read(&text).map_err(|why| reader.problem(span, format!("{why}."), HOW_TO_PLACE)).ok()
}

/// What is put around a value or taken away.
fn wrapper(
    reader: &mut Reader<'_>,
    body: &DeTable<'_>,
    word: &str,
    span: &Range<usize>,
) -> Option<Wrapper> {
    let object = reader.word(body, word, &[("object", true), ("array", false)]);
    let key = reader.text(body, "key").map(|(_, text)| text);
    match (object, key) {
        (Some(true), Some(key)) => Some(Wrapper::Object(key)),
        (Some(false), None) => Some(Wrapper::Array),
        // The word itself is wrong, which is told already.
        (None, _) if body.contains_key(word) => None,
        _ => {
            reader.problem(
                span.clone(),
                "What stands around the value is not clear.".to_owned(),
                &format!("Write {word} = \"array\", or {word} = \"object\" with key = \"name\"."),
            );
            None
        }
    }
}

/// The value of a step that sends one.
fn value(reader: &mut Reader<'_>, body: &DeTable<'_>, span: &Range<usize>) -> Option<Value> {
    let Some(value) = body.get("value") else {
        reader.problem(span.clone(), "value is missing here.".to_owned(), "Say what is sent.");
        return None;
    };
    json(reader, value)
}

/// A place that is a member of an object.
fn member(reader: &mut Reader<'_>, body: &DeTable<'_>, span: &Range<usize>) -> Option<Path> {
    let path = place(reader, body, "at", span)?;
    if path.0.last() == Some(&Part::Each) {
        reader.problem(
            span.clone(),
            "The place is every item of a list, and a member is wanted.".to_owned(),
            "Lists keep their items: name a member, such as \"/labels/*/name\".",
        );
        return None;
    }
    Some(path)
}

/// The pairs of a `map`: a table from text to values, or a list of { from, to }.
fn mapped(
    reader: &mut Reader<'_>,
    body: &DeTable<'_>,
    span: &Range<usize>,
) -> Option<Vec<(Value, Value)>> {
    const HOW: &str =
        "Write values = { low = \"minor\" }, or values = [{ from = 1, to = \"minor\" }].";
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    match body.get("values").map(|value| (value.span(), value.get_ref())) {
        Some((_, DeValue::Table(table))) => {
            for (old, new) in table.iter() {
                pairs.push((Value::String(old.get_ref().to_string()), json(reader, new)?));
            }
        }
        Some((_, DeValue::Array(_))) => {
            for (span, pair) in reader.tables(body, "values") {
                reader.only(pair, "values", &["from", "to"]);
                let (Some(old), Some(new)) = (pair.get("from"), pair.get("to")) else {
                    reader.problem(span, "A pair has from and to.".to_owned(), HOW);
                    return None;
                };
                pairs.push((json(reader, old)?, json(reader, new)?));
            }
        }
        Some((span, _)) => {
            reader.problem(span, "values are no pairs here.".to_owned(), HOW);
            return None;
        }
        None => {
            reader.problem(span.clone(), "values are missing here.".to_owned(), HOW);
            return None;
        }
    }
    let twice = pairs.iter().enumerate().find(|(index, (old, _))| {
        pairs[..*index].iter().any(|(other, _)| super::apply::equal(old, other))
    });
    let trouble = match twice {
        Some((_, (old, _))) => Some(format!("The value {old} is mapped twice.")),
        None if pairs.is_empty() => Some("There are no pairs.".to_owned()),
        None if pairs.len() > limits::MAPPED_VALUES => {
            Some(format!("There are more than {} pairs.", limits::MAPPED_VALUES))
        }
        None => None,
    };
    if let Some(sentence) = trouble {
        reader.problem(span.clone(), sentence, HOW);
        return None;
    }
    Some(pairs)
}

/// A TOML value as JSON. `{ json = "null" }` is what TOML cannot write, as JSON text.
fn json(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Value> {
    let number = |text: &str| serde_json::from_str::<Number>(text).ok();
    let read = match value.get_ref() {
        DeValue::String(text) => Some(Value::String(text.to_string())),
        DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
        DeValue::Integer(found) if found.radix() == 10 => {
            number(found.as_str().trim_start_matches('+')).map(Value::Number)
        }
        DeValue::Integer(found) => {
            i64::from_str_radix(found.as_str(), found.radix()).ok().map(Value::from)
        }
        DeValue::Float(found) => number(found.as_str().trim_start_matches('+')).map(Value::Number),
        DeValue::Datetime(_) => None,
        DeValue::Array(items) => items
            .iter()
            .map(|item| json(reader, item))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        DeValue::Table(members) => match (members.len(), members.get("json")) {
            (1, Some(text)) => text.get_ref().as_str().and_then(|text| {
                crate::text::read_as("", text.as_bytes(), crate::text::Notation::Json).ok()
            }),
            _ => {
                let mut object = Map::new();
                for (name, member) in members.iter() {
                    object.insert(name.get_ref().to_string(), json(reader, member)?);
                }
                return Some(Value::Object(object));
            }
        },
    };
    if read.is_none() {
        reader.problem(
            value.span(),
            "This is no value that JSON can hold.".to_owned(),
            "Dates are text in JSON: put them in quotes. What TOML cannot write is { json = \"null\" }.",
        );
    }
    read
}
