//! What calls rely on, as a person declares it: an argument of one tool takes its value from the answer of another.

use std::fmt;

/// One such dependency, written `TOOL:ARGUMENT=TOOL:MEMBER`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depends {
    /// The tool that relies on it.
    pub tool: String,
    /// The argument of it, at the top level.
    pub argument: String,
    /// The tool whose answer is relied on.
    pub on: String,
    /// The member of its structured answer, dotted.
    pub member: String,
}

impl Depends {
    /// Reads one. `None` where the text is none.
    pub fn read(text: &str) -> Option<Depends> {
        let (to, from) = text.split_once('=')?;
        let (tool, argument) = to.trim().rsplit_once(':')?;
        let (on, member) = from.trim().rsplit_once(':')?;
        let parts = [tool, argument, on, member];
        let whole = parts.iter().all(|part| !part.is_empty() && part.trim() == *part)
            && member.split('.').all(|name| !name.is_empty());
        let [tool, argument, on, member] = parts.map(str::to_owned);
        whole.then_some(Depends { tool, argument, on, member })
    }

    /// The member as a JSON pointer into the structured answer.
    pub fn pointer(&self) -> String {
        let names = self.member.split('.').map(schema::reference::escape);
        names.map(|name| format!("/{name}")).collect()
    }
}

/// An argument whose value must have come in a structured answer, written `TOOL:ARGUMENT`, or
/// `TOOL:ARGUMENT=TOOL:MEMBER` where it must have come from that member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromResults {
    /// The tool.
    pub tool: String,
    /// The argument of it, at the top level.
    pub argument: String,
    /// The tool and the dotted member that it must come from; from anywhere where nothing is said.
    pub from: Option<(String, String)>,
}

impl FromResults {
    /// Reads one. `None` where the text is none.
    pub fn read(text: &str) -> Option<FromResults> {
        if text.contains('=') {
            let Depends { tool, argument, on, member } = Depends::read(text)?;
            return Some(FromResults { tool, argument, from: Some((on, member)) });
        }
        let (tool, argument) = text.rsplit_once(':')?;
        let whole = [tool, argument].iter().all(|part| !part.is_empty() && part.trim() == *part);
        let (tool, argument) = (tool.to_owned(), argument.to_owned());
        whole.then_some(FromResults { tool, argument, from: None })
    }
}

impl fmt::Display for Depends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}={}:{}", self.tool, self.argument, self.on, self.member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_names_both_ends_or_is_none() {
        let text = "add_comment:issue_id=create_issue:issue.id";
        let read = Depends::read(text).unwrap();
        assert_eq!((read.to_string().as_str(), read.pointer().as_str()), (text, "/issue/id"));
        let anywhere = FromResults::read("add_comment:issue_id").unwrap();
        assert_eq!((anywhere.argument.as_str(), anywhere.from), ("issue_id", None));
        assert!(FromResults::read(text).is_some_and(|one| one.from.is_some()));
        assert!(["a", "a:", ":b", "a:b=c"].iter().all(|none| FromResults::read(none).is_none()));
        for none in ["", "a=b", "a:b", "a:b=c", "a:b=c:", ":b=c:d", "a:b=c:d..e", "a:b =c :d"] {
            assert_eq!(Depends::read(none), None, "{none}");
        }
    }
}
