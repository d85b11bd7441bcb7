//! Two lists of tools: matched by name, each pair walked once, heirs looked for, all joined.

use crate::change::{Change, Counts, Diff, Entry, Heir, Kind, Revision, Subject};
use crate::diff::Options;
use crate::digest;
use crate::document::{self, Tool, ToolList};
use crate::edit::walk;
use crate::engine::{Direction, Pair, concerns_sets};
use crate::heirs;
use crate::prose;
use crate::relation::Local;
use crate::rules::finding::{Context, canonical, claims_loss, worst};
use crate::rules::tool::{Fate, Hints};
use crate::rules::{comparison, input, output, tool};
use crate::verdict::{Authority, Axes, Class, Verdict};
use crate::view::{Node, Source};
use serde_json::Value;
use std::collections::BTreeMap;

/// Compares two lists.
pub fn diff(old: &ToolList, new: &ToolList, options: &Options) -> Diff {
    let old_by_name: BTreeMap<&str, &Tool> =
        old.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let new_by_name: BTreeMap<&str, &Tool> =
        new.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let gone: Vec<&Tool> =
        old.tools.iter().filter(|tool| !new_by_name.contains_key(tool.name.as_str())).collect();
    let come: Vec<&Tool> =
        new.tools.iter().filter(|tool| !old_by_name.contains_key(tool.name.as_str())).collect();
    if new.tools.is_empty() && !old.tools.is_empty() {
        return emptied(old, options);
    }
    let heirs = heirs::find(&gone, &come, new, &options.renames);

    let held = texts_held(old, &new_by_name, &come);
    let mut entries = Vec::new();
    let mut unchanged = 0;
    for tool in &old.tools {
        if let Some(now) = new_by_name.get(tool.name.as_str()) {
            let sibling = held.get(tool.name.as_str()).copied();
            match pair_among(tool, now, sibling, options) {
                Some(entry) => entries.push(entry),
                None => unchanged += 1,
            }
        } else {
            entries.push(removed(tool, heirs.get(&tool.name), (gone.len(), new), options));
        }
    }
    let was: BTreeMap<&str, &str> = heirs
        .iter()
        .map(|(old_name, (heir, _, _))| (heir.name.as_str(), old_name.as_str()))
        .collect();
    for tool in &come {
        entries.push(added(tool, was.get(tool.name.as_str()).copied(), options));
    }
    entries.extend(instructions(old, new, options));
    let counts = Counts { old: old.tools.len(), new: new.tools.len(), unchanged };
    let verdict = entries.iter().map(|entry| entry.verdict).max().unwrap_or(Verdict::Safe);
    Diff { kind: Kind::Tools, verdict, entries, counts, flaws: Vec::new() }
}

/// Tools that hold the text of another one now, by [`prose::exchanged`].
fn texts_held<'a>(
    old: &'a ToolList,
    new: &BTreeMap<&str, &'a Tool>,
    come: &[&'a Tool],
) -> BTreeMap<&'a str, &'a str> {
    let text = |tool: &'a Tool| tool.raw.get("description").and_then(Value::as_str);
    let kept = old.tools.iter().map(|tool| {
        (tool.name.as_str(), text(tool), new.get(tool.name.as_str()).copied().and_then(text))
    });
    let come = come.iter().copied().map(|tool| (tool.name.as_str(), None, text(tool)));
    prose::exchanged(&kept.chain(come).collect::<Vec<_>>())
}

/// A list that goes from many to none is a fault of the server or of its reader until proven
/// otherwise, never "all tools removed".
fn emptied(old: &ToolList, options: &Options) -> Diff {
    let subject = Subject::Whole("tools".to_string());
    let context = Context {
        subject: &subject,
        lexicon: &options.lexicon,
        old_text: "",
        new_text: "",
        prefix: "",
    };
    let change = tool::emptied(&context, old.tools.len());
    let counts = Counts { old: old.tools.len(), new: 0, unchanged: 0 };
    let entry = join(subject, None, None, vec![change]);
    Diff {
        kind: Kind::Tools,
        verdict: entry.verdict,
        entries: vec![entry],
        counts,
        flaws: Vec::new(),
    }
}

/// Everything a tool says in prose: its own text and that of its arguments.
fn all_text(tool: &Tool) -> String {
    let mut text = String::new();
    gather(&tool.raw, &mut text, 0);
    text
}

fn gather(value: &Value, text: &mut String, depth: usize) {
    // Texts deeper than this belong to no argument that a person reads.
    if depth > 24 {
        return;
    }
    match value {
        Value::Object(members) => {
            if let Some(Value::String(own)) = members.get("description") {
                text.push_str(own);
                text.push('\n');
            }
            for (name, member) in members {
                if name != "annotations" && name != "_meta" {
                    gather(member, text, depth + 1);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, text, depth + 1)),
        _ => {}
    }
}

fn revision(tool: &Tool) -> Revision {
    Revision { digest: digest::of_tool(&tool.raw), ordinal: tool.ordinal }
}

/// One pair of tools with one name: `None` where nothing changed.
pub fn pair(old: &Tool, new: &Tool, options: &Options) -> Option<Entry> {
    pair_among(old, new, None, options)
}

/// The same, where it is known whose text the tool holds now.
fn pair_among(old: &Tool, new: &Tool, sibling: Option<&str>, options: &Options) -> Option<Entry> {
    let (from, to) = (revision(old), revision(new));
    if from.digest == to.digest {
        return None;
    }
    let subject = Subject::Tool(new.name.clone());
    let changes = changes(old, new, (&subject, sibling), options);
    Some(join(subject, Some(from), Some(to), changes))
}

/// The journey of one pair: walk, ask the engine, judge, see that nothing is left unexplained.
fn changes(
    old: &Tool,
    new: &Tool,
    (subject, sibling): (&Subject, Option<&str>),
    options: &Options,
) -> Vec<Change> {
    let (old_text, new_text) = (all_text(old), all_text(new));
    let context = Context {
        subject,
        lexicon: &options.lexicon,
        old_text: &old_text,
        new_text: &new_text,
        prefix: "",
    };
    let mut changes = tool::judge(old, new, sibling, &context);
    changes.extend(schemas(old, new, "inputSchema", Direction::Input, &context));
    changes.extend(schemas(old, new, "outputSchema", Direction::Output, &context));
    if changes.is_empty() {
        changes.push(tool::restated(&context));
    }
    if let Some(map) = &options.decisions {
        crate::decision::tool::settle(map, &old.name, &mut changes);
    }
    changes
}

fn schemas(
    old: &Tool,
    new: &Tool,
    member: &str,
    direction: Direction,
    context: &Context<'_>,
) -> Vec<Change> {
    let (before, after) = (old.raw.get(member), new.raw.get(member));
    if direction == Direction::Output {
        // Null where an answer could be described is nothing described.
        let described = |schema: &&Value| !schema.is_null();
        match (before.filter(described), after.filter(described)) {
            (None, None) => return Vec::new(),
            (None, Some(schema)) => return vec![output::described(schema, context)],
            (Some(schema), None) => return vec![output::undescribed(schema, context)],
            _ => {}
        }
    }
    let (before, after) = (before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null));
    if canonical(before) == canonical(after) {
        return Vec::new();
    }
    let prefix = format!("/{member}");
    let context = Context { prefix: &prefix, ..*context };
    if !before.is_object() {
        return vec![comparison::no_schema(old.raw.get(member), after, &context)];
    }
    let node = |schema| Node {
        source: Source::single(schema),
        file: "",
        pointer: String::new(),
        value: schema,
    };
    let edits = walk(&node(before), &node(after));
    let engine = Pair::of_call(before, after, direction);
    let mut changes = Vec::new();
    let mut unreadable = None;
    for edit in &edits {
        let local = match concerns_sets(edit).then(|| engine.local(edit, context.old_text)) {
            Some(Ok(local)) => local,
            Some(Err(why)) => {
                unreadable.get_or_insert(why);
                continue;
            }
            None => Local::not_asked(),
        };
        let mut found = match direction {
            Direction::Input => input::judge(edit, &local, &context),
            Direction::Output => output::judge(edit, &local, &context),
        };
        if found.iter().any(claims_loss) && engine.cancels_out(edit) {
            continue;
        }
        engine.show(edit, &mut found);
        changes.extend(found);
    }
    for place in engine.senseless() {
        let below = format!("{prefix}{place}/");
        changes.retain(|change| !change.path.starts_with(&below));
    }
    changes.extend(unreadable.map(|why| comparison::unreadable(&why, &context)));
    let unexplained = engine.explain(&mut changes, &context);
    changes.extend(unexplained);
    // A caller that was told nothing sent what it liked.
    let moved = changes.iter().any(|change| change.class != Class::Cosmetic);
    if direction == Direction::Input && moved && before.as_object().is_some_and(document::is_blank)
    {
        changes.push(comparison::no_schema(Some(before), after, &context));
    }
    if changes.is_empty() {
        let unseen = engine.unseen((before, after), &context);
        changes.push(unseen.unwrap_or_else(|| tool::schema_restated(&prefix, &context)));
    }
    changes
}

fn removed(
    old: &Tool,
    heir: Option<&(Heir, &Tool, bool)>,
    (gone, list): (usize, &ToolList),
    options: &Options,
) -> Entry {
    let subject = Subject::Tool(old.name.clone());
    let text = all_text(old);
    let context = Context {
        subject: &subject,
        lexicon: &options.lexicon,
        old_text: &text,
        new_text: "",
        prefix: "",
    };
    let mut inner = Vec::new();
    let found = heir.map(|(heir, new, same_contract)| {
        inner = changes(old, new, (&subject, None), options);
        inner.retain(|change| change.class != Class::Cosmetic);
        (heir, fate(old, new, heir, *same_contract, &inner))
    });
    let removal = match found {
        Some((heir, fate)) => tool::replaced(&context, old, heir, fate),
        None => tool::removed(&context, old, heirs::nearest(old, gone, list)),
    };
    let verdict = removal.verdict;
    let mut all = vec![removal];
    if let Some((_, Fate::Renamed | Fate::RenamedChanged(_) | Fate::Warned)) = found {
        all.append(&mut inner);
    }
    let mut entry = join(subject, Some(revision(old)), None, all);
    entry.verdict = verdict;
    entry.renamed_to = found.map(|(heir, _)| heir.clone());
    entry
}

/// What became of a tool that has an heir, by what the pair itself says.
fn fate(old: &Tool, new: &Tool, heir: &Heir, same_contract: bool, inner: &[Change]) -> Fate {
    let worst = worst(inner);
    let wider = inner.iter().any(|change| change.axes.authority == Authority::Wider);
    let warned = heirs::warns(&old.name, &new.name);
    if heir.declared && heirs::is_merged(old, new) {
        return if Hints::of(new).read_only { Fate::MergedReads } else { Fate::Merged };
    }
    if !(heir.declared || same_contract || warned) {
        let merged = heirs::is_merged(old, new);
        return if merged { Fate::SuspectedMerge } else { Fate::Suspected };
    }
    if warned || worst == Verdict::Safe && wider {
        Fate::Warned
    } else if worst == Verdict::Safe {
        Fate::Renamed
    } else {
        Fate::RenamedChanged(worst)
    }
}

fn added(new: &Tool, was: Option<&str>, options: &Options) -> Entry {
    let subject = Subject::Tool(new.name.clone());
    let text = all_text(new);
    let context = Context {
        subject: &subject,
        lexicon: &options.lexicon,
        old_text: "",
        new_text: &text,
        prefix: "",
    };
    let change = tool::added(&context, new);
    let mut entry = join(subject, None, Some(revision(new)), vec![change]);
    entry.was = was.map(str::to_string);
    entry
}

fn instructions(old: &ToolList, new: &ToolList, options: &Options) -> Option<Entry> {
    let (before, after) = (old.instructed()?, new.instructed()?);
    if before == after {
        return None;
    }
    let subject = Subject::Whole("instructions".to_string());
    let context = Context {
        subject: &subject,
        lexicon: &options.lexicon,
        old_text: before,
        new_text: after,
        prefix: "",
    };
    let changes = tool::instructions(&context, before, after);
    Some(join(subject, None, None, changes))
}

/// Joins changes: the gravest class and verdict win, the axes join each by itself.
pub fn join(
    subject: Subject,
    from: Option<Revision>,
    to: Option<Revision>,
    mut changes: Vec<Change>,
) -> Entry {
    // Gravest first; the sort is stable, so document order holds within one verdict and class.
    changes.sort_by_key(|change| std::cmp::Reverse((change.verdict, change.class)));
    let live = || changes.iter().filter(|change| change.suppressed.is_none());
    Entry {
        class: live().map(|change| change.class).max().unwrap_or(Class::Cosmetic),
        verdict: live().map(|change| change.verdict).max().unwrap_or(Verdict::Safe),
        axes: live().fold(Axes::SAME, |axes, change| axes.join(change.axes)),
        subject,
        from,
        to,
        changes,
        renamed_to: None,
        was: None,
        relation: None,
    }
}
