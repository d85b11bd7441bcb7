use crate::sample::{self, assert_inert, options, render, render_reviewed};
use contract::{Diff, Verdict};
use report::{Format, RenderOptions};

fn github(diff: &Diff, options: &RenderOptions) -> String {
    render(diff, Format::Github, options)
}

/// A command as a runner reads it: level, properties, message.
pub type Command = (String, Vec<(String, String)>, String);

/// Reads a log the way the runner does: a line is a command where it starts with `::`, spaces aside.
pub fn commands(log: &str) -> Vec<Command> {
    let unescape = |text: &str| {
        text.replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%25", "%")
    };
    log.lines()
        .filter_map(|line| line.trim_start().strip_prefix("::"))
        .map(|line| {
            let (head, message) = line.split_once("::").expect("the end of the head");
            let (level, rest) = head.split_once(' ').unwrap_or((head, ""));
            let properties = rest
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .map(|(key, value)| (key.to_owned(), unescape(value)))
                .collect();
            (level.to_owned(), properties, unescape(message))
        })
        .collect()
}

fn count(commands: &[Command], level: &str) -> usize {
    commands.iter().filter(|(mine, ..)| mine == level).count()
}

#[test]
fn every_verdict() {
    insta::assert_snapshot!(github(&sample::every_verdict(), &options()));
}

#[test]
fn verdicts_become_levels() {
    let commands = commands(&github(&sample::every_verdict(), &options()));
    assert_eq!(count(&commands, "error"), 2);
    assert_eq!(count(&commands, "warning"), 2);
    assert_eq!(count(&commands, "notice"), 2);
}

#[test]
fn the_threshold_makes_errors() {
    let strict = RenderOptions { fail_on: Some(Verdict::Adapt), ..options() };
    let commands = commands(&github(&sample::every_verdict(), &strict));
    assert_eq!(count(&commands, "error"), 5);
    assert_eq!(count(&commands, "warning"), 0);
}

#[test]
fn more_than_the_service_shows_is_summed_up() {
    let mut diff = sample::burst();
    for (at, entry) in diff.entries.iter_mut().enumerate() {
        entry.changes[0].field = Some(format!("field_{at}"));
    }
    let commands = commands(&github(&diff, &options()));
    assert_eq!(count(&commands, "error"), 10);
    let last = commands.iter().rev().find(|(level, ..)| level == "error");
    let (_, properties, message) = last.expect("an error");
    let title = &properties.last().expect("a title").1;
    assert_eq!(title, "82 more findings of the same level");
    assert!(message.starts_with("tool_08, tool_09"), "{message}");
}

#[test]
fn a_burst_is_one_annotation() {
    let commands = commands(&github(&sample::burst(), &options()));
    assert_eq!(count(&commands, "error"), 1);
}

#[test]
fn hostile_strings_command_nothing() {
    let mut diff = sample::hostile();
    for entry in &mut diff.entries {
        entry.changes[0].suppressed = None;
    }
    let log = github(&diff, &sample::hostile_options());
    assert_inert(&log);
    let commands = commands(&log);
    assert_eq!(commands.len(), 10);
    for (level, properties, _) in &commands {
        assert_eq!(level, "error");
        let keys: Vec<&str> = properties.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["file", "title"]);
    }
    insta::assert_snapshot!(log);
}

#[test]
fn the_review_record_is_a_group_of_the_log() {
    let log = render_reviewed(&sample::every_verdict(), &sample::review(), Format::Github);
    assert_inert(&log);
    let group = log.find("::group::Review record\n").expect("a group");
    let end = log.find("::endgroup::\n").expect("its end");
    assert!(log[group..end].contains("ASKED FOR"));
    let known = ["error", "warning", "notice", "group", "endgroup"];
    for line in log.lines().filter(|line| line.trim_start().starts_with("::")) {
        let word = line.trim_start()[2..].split([' ', ':']).next().expect("a word");
        assert!(known.contains(&word), "{line}");
    }
}

/// The line that a place of `source` gets.
fn line(source: &str, path: &str) -> Option<String> {
    let mut diff = sample::every_verdict();
    diff.entries = vec![diff.entries.remove(1)];
    diff.entries[0].changes.truncate(1);
    diff.entries[0].changes[0].path = path.into();
    let options = RenderOptions { source: Some(source.into()), ..options() };
    let (_, properties, _) = commands(&github(&diff, &options)).remove(0);
    properties.into_iter().find(|(key, _)| key == "line").map(|(_, value)| value)
}

#[test]
fn annotations_stand_at_the_line_of_their_place() {
    let list = "{\"tools\": [\n {\"name\": \"other\", \"inputSchema\": {}},\n {\"name\": \"deploy_preview\",\n  \"inputSchema\": {\n   \"required\": [\"a/b\",\n    2.5e3],\n   \"properties\": {\"a/b\":\n    {\"type\": \"string\"}}}}]}";
    let at = |path| line(list, path);
    assert_eq!(at("").as_deref(), Some("3"));
    assert_eq!(at("/inputSchema/required/1").as_deref(), Some("6"));
    assert_eq!(at("/inputSchema/properties/a~1b").as_deref(), Some("7"));
    assert_eq!(at("/inputSchema/properties/a~1b/type").as_deref(), Some("8"));
    // A place that the file lacks has the line of what it would stand in.
    assert_eq!(at("/inputSchema/properties/gone").as_deref(), Some("7"));

    let lock = "{\n\"tools\": [{\n\"name\": \"deploy_preview\",\n\"definition\": {\n\"name\": \"deploy_preview\",\n\"inputSchema\": {}}}]}";
    assert_eq!(line(lock, "/inputSchema").as_deref(), Some("6"));
}

#[test]
fn a_source_that_cannot_be_read_has_no_lines() {
    for source in ["", "name: yaml", "{\"tools\": [", "\"\\", "[1 2]", "}"] {
        assert_eq!(line(source, "/inputSchema"), None, "{source:?}");
    }
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(line(&deep, "/inputSchema"), None);
}
