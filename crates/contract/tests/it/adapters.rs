//! Adapters on real changes of real servers: proved where they are right, and shown where they are not.

use contract::adapter::{Adapters, Proof, Refutation, Verdict};
use contract::document::{Bundle, read};
use contract::lexicon::Lexicon;
use contract::{Contract, Tool};
use serde_json::Value;

pub fn tools(path: &str) -> Vec<Tool> {
    let full = format!("{}/../../fixtures/mcp/{path}.tools.json", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&full).unwrap_or_else(|error| panic!("{full}: {error}"));
    let root = contract::text::read(path, &bytes).unwrap();
    match read(Bundle { name: path.to_owned(), root, ..Bundle::default() }).unwrap().contract {
        Contract::Tools(list) => list.tools,
        _ => panic!("{path} is no list of tools"),
    }
}

pub fn tool(path: &str, name: &str) -> Tool {
    tools(path)
        .into_iter()
        .find(|tool| tool.name == name)
        .unwrap_or_else(|| panic!("{path} has no {name}"))
}

/// One adapter for a tool that keeps its name, or gets another one.
pub fn adapter(tool: &str, to: &str, steps: &str) -> contract::adapter::Adapter {
    let text = format!(
        "[[adapter]]\nid = \"a\"\ntool = \"{tool}\"\nto_tool = \"{to}\"\nuntil = 2027-03-01\n{steps}"
    );
    let read = Adapters::read("a.toml", &text);
    read.unwrap_or_else(|problems| panic!("{text}\n{problems:#?}")).adapters.remove(0)
}

struct Case {
    server: &'static str,
    from: &'static str,
    to: &'static str,
    tool: &'static str,
    to_tool: &'static str,
}

impl Case {
    fn check(&self, steps: &str) -> Result<Proof, Vec<Refutation>> {
        let old = tool(&format!("{}/{}", self.server, self.from), self.tool);
        let new = tool(&format!("{}/{}", self.server, self.to), self.to_tool);
        adapter(self.tool, self.to_tool, steps).check(&old, &new, &Lexicon::default())
    }

    fn proved(&self, steps: &str) -> Proof {
        self.check(steps).unwrap_or_else(|no| panic!("{} {steps}\n{no:#?}", self.tool))
    }

    /// The one reason why it does not load.
    fn no(&self, steps: &str) -> Refutation {
        let mut no = self.check(steps).expect_err(steps);
        no.sort_by_key(|refutation| std::cmp::Reverse(refutation.verdict));
        no.remove(0)
    }
}

const fn case(
    server: &'static str,
    from: &'static str,
    to: &'static str,
    tool: &'static str,
) -> Case {
    Case { server, from, to, tool, to_tool: tool }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_renamed_argument() {
    let case = case("github-mcp-server", "002-v0.8.0", "003-v0.9.0", "search_code");
    case.proved("step = [{ rename = { from = \"/q\", to = \"/query\" } }]");
    let no = case.no("step = [{ rename = { from = \"/q\", to = \"/text\" } }]");
    assert!(no.sentence.contains("declares nothing at /text"), "{}", no.sentence);
    let no = case.no("step = [{ rename = { from = \"/q\", to = \"/sort\" } }]");
    let example = no.counterexample.unwrap();
    assert_eq!((no.verdict, example.keyword.as_str()), (Verdict::Refuted, "required"));
    assert_eq!(example.value, json(r#"{"q": ""}"#));
    assert_eq!(example.becomes, Some(json(r#"{"sort": ""}"#)));
}

#[test]
fn an_index_is_no_id() {
    let case = case("chrome-devtools-mcp", "006-0.12.1", "007-0.14.0", "select_page");
    let no = case.no("step = [{ rename = { from = \"/pageIdx\", to = \"/pageId\" } }]");
    assert_eq!(no.verdict, Verdict::Refused);
    assert!(no.sentence.contains("different handles"), "{}", no.sentence);
}

#[test]
fn a_value_put_into_a_list() {
    let case = case("chrome-devtools-mcp", "009-0.17.3", "010-0.18.1", "wait_for");
    case.proved("step = [{ wrap = { at = \"/text\", into = \"array\" } }]");
    let no = case.no("step = [{ wrap = { at = \"/text\", into = \"object\", key = \"is\" } }]");
    assert_eq!(no.counterexample.unwrap().keyword, "type");
}

#[test]
fn a_field_taken_out_of_every_entry() {
    let case = case("chrome-devtools-mcp", "010-0.18.1", "011-0.20.3", "evaluate_script");
    case.proved("step = [{ unwrap = { at = \"/args/*\", from = \"object\", key = \"uid\" } }]");
    case.no("step = [{ unwrap = { at = \"/args/*\", from = \"object\", key = \"id\" } }]");
}

#[test]
fn values_of_an_enum_renamed() {
    let case = case("chrome-devtools-mcp", "018-1.5.0", "019-1.6.0", "navigate_page");
    case.proved(
        "step = [{ map = { at = \"/handleBeforeUnload\", values = { decline = \"dismiss\" } } }]",
    );
    let no =
        case.no("step = [{ map = { at = \"/timeout\", values = { decline = \"dismiss\" } } }]");
    let example = no.counterexample.unwrap();
    assert_eq!(example.keyword, "enum");
    assert_eq!(example.becomes.unwrap()["handleBeforeUnload"], "decline");
}

#[test]
fn a_default_that_must_be_sent_now() {
    let case = case("playwright-mcp", "013-0.0.52", "014-0.0.58", "browser_take_screenshot");
    let no = case.no("step = [{ map = { at = \"/type\", values = { jpeg = \"jpeg\" } } }]");
    assert!(no.sentence.contains("\"type\" is a required property"), "{}", no.sentence);
    assert_eq!(no.counterexample.unwrap().value, json("{}"));
    let send =
        |value: &str| format!("step = [{{ default = {{ at = \"/type\", value = {value} }} }}]");
    let proof = case.proved(&send("\"png\""));
    assert_eq!(proof.notes, ["sends the old default \"png\" at /type where it is left out"]);
    let no = case.no(&send("\"jpeg\""));
    assert!(no.sentence.contains("states \"png\" as the default"), "{}", no.sentence);
}

#[test]
fn a_rename_beside_new_arguments_that_are_asked_for() {
    let case = case("playwright-mcp", "016-0.0.68", "017-0.0.70", "browser_network_requests");
    let rename = "{ rename = { from = \"/includeStatic\", to = \"/static\" } }";
    let no = case.no(&format!("step = [{rename}]"));
    assert_eq!(no.counterexample.unwrap().keyword, "required");
    case.proved(&format!(
        "step = [{rename}, {{ constant = {{ at = \"/requestBody\", value = false }} }}, {{ constant = {{ at = \"/requestHeaders\", value = false }} }}]"
    ));
}

#[test]
fn several_tools_that_became_one() {
    let case = Case {
        to_tool: "issue_write",
        ..case("github-mcp-server", "014-v0.19.0", "015-v0.20.0", "create_issue")
    };
    let method = |value: &str| {
        format!("step = [{{ constant = {{ at = \"/method\", value = \"{value}\" }} }}]")
    };
    let proof = case.proved(&method("create"));
    assert_eq!(proof.notes, ["sends \"create\" at /method"]);
    let no = case.no("");
    assert_eq!(no.verdict, Verdict::Refused);
    assert!(no.help.contains("constant = { at = \"/method\", value = \"create\" }"), "{}", no.help);
    let no = case.no(&method("update"));
    assert!(no.sentence.contains("rather says \"create\""), "{}", no.sentence);
}
