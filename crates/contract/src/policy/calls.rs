//! `[[policy.calls]]`: which calls run, which wait for a person, and which never run. The first rule that fits decides, and
//! where none fits the call is denied.
//!
//! A rule never lets a call through that its contract stops: it decides about what is left.

use super::read::Reader;
use crate::lexicon::{Lexicon, Role};
use crate::limits;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::de::DeTable;

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes something.
    Write,
    /// It changes something for good, or its server does not rule that out.
    Irreversible,
}

const EFFECTS: &[(&str, Effect)] =
    &[("read", Effect::Read), ("write", Effect::Write), ("irreversible", Effect::Irreversible)];

impl Effect {
    /// Its word.
    pub fn name(self) -> &'static str {
        EFFECTS.iter().find(|(_, known)| *known == self).map_or("irreversible", |(word, _)| word)
    }
}

/// What is said about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Say {
    /// It runs.
    Allow,
    /// It waits for a person, each time.
    Ask,
    /// It never runs.
    Deny,
}

const SAYS: &[(&str, Say)] = &[("allow", Say::Allow), ("ask", Say::Ask), ("deny", Say::Deny)];

impl Say {
    /// Its word.
    pub fn name(self) -> &'static str {
        SAYS.iter().find(|(_, known)| *known == self).map_or("deny", |(word, _)| word)
    }
}

/// One rule. A list that is empty stands for everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Where it stands: `steadfast.toml:12:1`.
    pub place: String,
    /// Names of servers.
    pub servers: Vec<String>,
    /// Names of tools.
    pub tools: Vec<String>,
    /// Who asks.
    pub principals: Vec<String>,
    /// What the call may do.
    pub effects: Vec<Effect>,
    /// Whether it holds text that is run or fetched.
    pub free_form: Option<bool>,
    /// What is said about it.
    pub say: Say,
}

/// A call, as far as rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Who asks.
    pub principal: &'a str,
    /// What it may do.
    pub effect: Effect,
    /// It holds text that is run or fetched.
    pub free_form: bool,
}

/// Rules, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls(Vec<Rule>);

impl Calls {
    /// What holds for bound actions where nobody wrote rules: reads run, what cannot be undone and what is free-form waits
    /// for a person each time, other effects run.
    pub fn of_actions() -> Calls {
        let rule = |effects: &[Effect], free_form, say| Rule {
            place: "what holds where no rule is written".to_owned(),
            servers: Vec::new(),
            tools: Vec::new(),
            principals: Vec::new(),
            effects: effects.to_vec(),
            free_form,
            say,
        };
        Calls(vec![
            rule(&[Effect::Read], None, Say::Allow),
            rule(&[Effect::Irreversible], None, Say::Ask),
            rule(&[], Some(true), Say::Ask),
            rule(&[Effect::Write], Some(false), Say::Allow),
        ])
    }

    /// What is said about a call, and by which rule; denied where none fits.
    pub fn says(&self, asked: &Asked<'_>) -> (Say, Option<&Rule>) {
        let rule = self.0.iter().find(|rule| rule.fits(asked));
        (rule.map_or(Say::Deny, |rule| rule.say), rule)
    }

    /// The rules by which calls of a server may wait for a person.
    pub fn asking<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a Rule> {
        let names = move |rule: &&Rule| holds(&rule.servers, server);
        self.0.iter().filter(|rule| rule.say == Say::Ask).filter(names)
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.0
    }
}

/// True where a list names it, or nothing.
fn holds(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|known| known == name)
}

impl Rule {
    fn fits(&self, asked: &Asked<'_>) -> bool {
        holds(&self.servers, asked.server)
            && holds(&self.tools, asked.tool)
            && holds(&self.principals, asked.principal)
            && (self.effects.is_empty() || self.effects.contains(&asked.effect))
            && self.free_form.is_none_or(|free_form| free_form == asked.free_form)
    }
}

/// True where some argument of a call, at any depth, holds text that is run or fetched.
pub fn is_free_form(lexicon: &Lexicon, arguments: &Value) -> bool {
    let mut left = vec![("", arguments)];
    while let Some((name, value)) = left.pop() {
        match value {
            Value::Object(members) => {
                left.extend(members.iter().map(|(name, value)| (name.as_str(), value)));
            }
            Value::Array(items) => left.extend(items.iter().map(|item| (name, item))),
            Value::String(_) if lexicon.role_of(name, Some("string")) == Role::FreeForm => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Reads the rules. `None` where none are written; an empty list denies everything.
pub(super) fn read(reader: &mut Reader<'_>, policy: &DeTable<'_>) -> Option<Calls> {
    policy.get("calls")?;
    let mut rules = Vec::new();
    for (span, table) in reader.tables(policy, "calls") {
        if rules.len() == limits::CALL_RULES {
            let sentence = format!("There are at most {} rules.", limits::CALL_RULES);
            reader.problem(span, sentence, "Name several servers or tools in one rule.");
            break;
        }
        rules.extend(rule(reader, span, table));
    }
    unreachable(reader, &rules);
    Some(Calls(rules.into_iter().map(|(_, rule)| rule).collect()))
}

const MEMBERS: &[&str] = &["server", "tools", "principals", "effects", "free-form", "say"];

fn rule(
    reader: &mut Reader<'_>,
    span: Range<usize>,
    table: &DeTable<'_>,
) -> Option<(Range<usize>, Rule)> {
    reader.only(table, "[[policy.calls]]", MEMBERS);
    let mut effects = Vec::new();
    for (at, word) in reader.located_words(table, "effects") {
        match EFFECTS.iter().find(|(known, _)| *known == word) {
            Some((_, effect)) => effects.push(*effect),
            None => reader.problem(
                at,
                format!("{} is no effect.", crate::text::quoted(&word)),
                "Known are: read, write, irreversible.",
            ),
        }
    }
    for name in ["tools", "principals", "effects"] {
        // An empty list would fit nothing, and reads as if it fitted everything.
        let empty = table.get(name).and_then(|value| value.get_ref().as_array());
        if empty.is_some_and(|list| list.is_empty()) {
            reader.problem(
                span.clone(),
                format!("{name} is an empty list here: no call fits it."),
                "Name what the rule is for, or leave it out for everything.",
            );
        }
    }
    reader.needed(table, "say", &span, "Write say = \"allow\", \"ask\" or \"deny\".")?;
    let say = reader.word(table, "say", SAYS);
    let rule = Rule {
        place: reader.place(&span),
        servers: reader.text(table, "server").map(|(_, name)| name).into_iter().collect(),
        tools: reader.words(table, "tools"),
        principals: reader.words(table, "principals"),
        effects,
        free_form: reader.flag(table, "free-form").map(|(_, flag)| flag),
        say: say?,
    };
    Some((span, rule))
}

/// Tells each rule that can never decide: whatever fits it fits an earlier one.
fn unreachable(reader: &mut Reader<'_>, rules: &[(Range<usize>, Rule)]) {
    for (index, (span, rule)) in rules.iter().enumerate() {
        let earlier: Vec<&Rule> = rules[..index].iter().map(|(_, rule)| rule).collect();
        if covered(rule, &earlier) {
            reader.problem(
                span.clone(),
                "This rule can never decide: every call that fits it fits an earlier one."
                    .to_owned(),
                "Put it before the others, or take it out.",
            );
        }
    }
}

/// True where every call that fits a rule fits one of the earlier ones. Names that no rule mentions are alike, so that one
/// of them stands for all; past the bound the answer is no.
fn covered(rule: &Rule, earlier: &[&Rule]) -> bool {
    const OTHER: &str = "\u{0}";
    let names = |own: &[String], of: fn(&Rule) -> &Vec<String>| -> Vec<String> {
        if !own.is_empty() {
            return own.to_vec();
        }
        let all: BTreeSet<String> = earlier.iter().flat_map(|rule| of(rule).clone()).collect();
        all.into_iter().chain([OTHER.to_owned()]).collect()
    };
    let servers = names(&rule.servers, |rule| &rule.servers);
    let tools = names(&rule.tools, |rule| &rule.tools);
    let principals = names(&rule.principals, |rule| &rule.principals);
    let effects: Vec<Effect> = match rule.effects.is_empty() {
        true => EFFECTS.iter().map(|(_, effect)| *effect).collect(),
        false => rule.effects.clone(),
    };
    let forms = rule.free_form.map_or(vec![false, true], |form| vec![form]);
    let count = servers.len() * tools.len() * principals.len() * effects.len() * forms.len();
    if count > limits::CALL_KINDS {
        return false;
    }
    servers.iter().all(|server| {
        tools.iter().all(|tool| {
            principals.iter().all(|principal| {
                effects.iter().all(|effect| {
                    forms.iter().all(|form| {
                        let (effect, free_form) = (*effect, *form);
                        let asked = Asked { server, tool, principal, effect, free_form };
                        earlier.iter().any(|rule| rule.fits(&asked))
                    })
                })
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Settings;
    use serde_json::json;

    fn calls(text: &str) -> Calls {
        Settings::read("s.toml", text).unwrap().policy.calls.unwrap()
    }

    fn problems(text: &str) -> Vec<(String, String)> {
        let problems = Settings::read("s.toml", text).unwrap_err();
        problems.into_iter().map(|one| (one.place, one.sentence)).collect()
    }

    const READ: Asked<'_> = Asked {
        server: "shop",
        tool: "look",
        principal: "ada",
        effect: Effect::Read,
        free_form: false,
    };

    #[test]
    fn the_first_rule_that_fits_decides_and_none_denies() {
        let calls = calls(
            r#"
[[policy.calls]]
server = "shop"
tools = ["pay"]
say = "ask"
[[policy.calls]]
principals = ["bob"]
say = "deny"
[[policy.calls]]
effects = ["read"]
free-form = false
say = "allow"
"#,
        );
        let says = |asked: Asked<'_>| calls.says(&asked).0;
        assert_eq!(says(READ), Say::Allow);
        assert_eq!(says(Asked { tool: "pay", principal: "bob", ..READ }), Say::Ask);
        assert_eq!(says(Asked { principal: "bob", ..READ }), Say::Deny);
        for other in [
            Asked { effect: Effect::Write, ..READ },
            Asked { free_form: true, ..READ },
            Asked { effect: Effect::Irreversible, tool: "Pay", ..READ },
        ] {
            assert_eq!(says(other), Say::Deny, "{other:?}");
            assert!(calls.says(&other).1.is_none());
        }
        assert_eq!(calls.asking("shop").count(), 1);
        assert_eq!(calls.asking("other").count(), 0);
    }

    #[test]
    fn an_empty_policy_denies_and_none_is_none() {
        let empty = calls("[policy]\ncalls = []\n");
        assert_eq!(empty.says(&READ).0, Say::Deny);
        assert_eq!(Settings::read("s.toml", "[policy]\n").unwrap().policy.calls, None);
    }

    #[test]
    fn what_holds_for_actions_lets_reads_run_and_asks_about_what_cannot_be_undone() {
        let calls = Calls::of_actions();
        let says = |effect, free_form| calls.says(&Asked { effect, free_form, ..READ }).0;
        assert_eq!(says(Effect::Read, true), Say::Allow);
        assert_eq!(says(Effect::Write, false), Say::Allow);
        assert_eq!(says(Effect::Write, true), Say::Ask);
        assert_eq!(says(Effect::Irreversible, false), Say::Ask);
    }

    #[test]
    fn rules_are_closed_and_typed() {
        let text = "[[policy.calls]]\nserver = \"a\"\nsays = \"allow\"\n[[policy.calls]]\nsay = \"maybe\"\neffects = [\"delete\"]\n[[policy.calls]]\nsay = \"deny\"\ntools = []\nfree-form = \"yes\"\n";
        let told = problems(text);
        let lines = [1, 3, 5, 6, 7, 10];
        for line in lines {
            let place = format!("s.toml:{line}:");
            assert!(told.iter().any(|(at, _)| at.starts_with(&place)), "{line}: {told:?}");
        }
    }

    #[test]
    fn a_rule_that_can_never_decide_is_told() {
        let never = |text: &str| {
            let told = Settings::read("s.toml", text).err().unwrap_or_default();
            told.iter().filter(|one| one.sentence.contains("can never decide")).count()
        };
        let rule = |members: &str| format!("[[policy.calls]]\n{members}\n");
        let all = |rules: &[&str]| never(&rules.iter().map(|one| rule(one)).collect::<String>());
        assert_eq!(all(&["say = \"deny\"", "server = \"a\"\nsay = \"allow\""]), 1);
        assert_eq!(all(&["server = \"a\"\nsay = \"allow\"", "say = \"deny\""]), 0);
        // Together two cover what neither covers alone.
        let (read, rest) = (
            "effects = [\"read\"]\nsay = \"allow\"",
            "effects = [\"write\", \"irreversible\"]\nsay = \"ask\"",
        );
        assert_eq!(all(&[read, rest, "tools = [\"t\"]\nsay = \"deny\""]), 1);
        assert_eq!(
            all(&[read, "effects = [\"write\"]\nsay = \"ask\"", "tools = [\"t\"]\nsay = \"deny\""]),
            0
        );
        assert_eq!(
            all(&["tools = [\"a\", \"b\"]\nsay = \"ask\"", "tools = [\"b\"]\nsay = \"deny\""]),
            1
        );
        assert_eq!(
            all(&[
                "tools = [\"a\", \"b\"]\nsay = \"ask\"",
                "tools = [\"b\", \"c\"]\nsay = \"deny\""
            ]),
            0
        );
    }

    #[test]
    fn text_that_is_run_or_fetched_is_found_at_any_depth() {
        let lexicon = Lexicon::default();
        assert!(is_free_form(&lexicon, &json!({"a": [{"url": "x"}]})));
        assert!(is_free_form(&lexicon, &json!({"command": "ls"})));
        assert!(!is_free_form(&lexicon, &json!({"project": "url", "n": 1})));
    }
}
