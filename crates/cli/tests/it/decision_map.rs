//! `--decision-map`, from the file to the sentence: which decision a change reaches, and what the
//! agent does then.

use crate::run::Folder;

const MAP: &str = "\
decision-map: 1
operations:
  listProjects:
    response:
      status: {feeds: completion, unknown: stop}
      body.items[].id: {feeds: target, absent: stop}
      body.items[].state: {feeds: eligibility, absent: skip, unknown: skip}
      body.items[].owner: {feeds: [target, eligibility], absent: ask}
";

fn document(id: &str, state: &str, owner: &str, required: &str, answers: &str) -> String {
    format!(
        "\
openapi: 3.0.3
info: {{title: t, version: '1'}}
paths:
  /projects:
    get:
      operationId: listProjects
      responses:
        '200':
          description: The projects.
          content:
            application/json:
              schema:
                type: object
                required: [items]
                properties:
                  items:
                    type: array
                    items:
                      type: object
                      required: [{required}]
                      properties:
                        id: {{type: {id}}}
                        state: {{type: string, enum: [{state}]}}
                        note: {{type: string}}
{owner}{answers}"
    )
}

const OWNER: &str = "                        owner: {type: string}\n";

#[test]
fn a_consequence_is_told_beside_the_change_that_brings_it_about() {
    let folder = Folder::new();
    folder
        .file("map.yaml", MAP)
        .file("old.yaml", document("string", "open, done", OWNER, "id, state", ""))
        .file("new.yaml", document("string", "open, done, held", "", "state", ""));
    folder.run(&["diff", "old.yaml", "new.yaml"]).code(0).does_not_say("owner missing");
    let told = folder
        .run(&["diff", "old.yaml", "new.yaml", "--decision-map", "map.yaml", "--format", "json"])
        .code(0)
        .json();
    let sentences: Vec<&str> = told["operations"][0]["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter_map(|change| change["sentence"].as_str())
        .collect();
    for part in [
        "owner missing: the agent asks a person",
        "id missing: the agent stops",
        "state not known: the agent skips the object",
    ] {
        assert!(
            sentences.iter().any(|sentence| sentence.ends_with(part)),
            "{part}: {sentences:#?}"
        );
    }
    assert!(!sentences.iter().any(|sentence| sentence.contains("state missing")), "{sentences:#?}");
}

#[test]
fn a_null_is_an_absence_and_a_new_status_is_unknown() {
    let folder = Folder::new();
    let more = "        '202': {description: Not yet.}\n";
    folder
        .file("map.yaml", MAP)
        .file("old.yaml", document("string", "open", OWNER, "id", ""))
        .file("new.yaml", document("string, nullable: true", "open", OWNER, "id", more));
    folder
        .run(&["diff", "old.yaml", "new.yaml", "--decision-map", "map.yaml", "--format", "json"])
        .code(0)
        .says("id missing: the agent stops")
        .says("status not known: the agent stops");
}

#[test]
fn a_value_that_the_map_does_not_name_stops_nobody() {
    let folder = Folder::new();
    let old = document("string", "open", OWNER, "id", "");
    folder
        .file("map.yaml", MAP)
        .file("old.yaml", &old)
        .file("new.yaml", old.replace("note: {type: string}", "note: {type: integer}"));
    folder.run(&["diff", "old.yaml", "new.yaml", "--fail-on", "adapt"]).code(1);
    folder
        .run(&["diff", "old.yaml", "new.yaml", "--fail-on", "adapt", "--decision-map", "map.yaml"])
        .code(0);
}

#[test]
fn tools_have_consequences_too() {
    let folder = Folder::new();
    let list = |states: &str| {
        format!(
            r#"[{{"name":"archive","inputSchema":{{"type":"object"}},"outputSchema":{{"type":"object","properties":{{"state":{{"enum":[{states}]}}}}}}}}]"#
        )
    };
    folder
        .file("map.yaml", "decision-map: 1\ntools:\n  archive:\n    output:\n      state: {feeds: completion, unknown: stop}\n")
        .file("old.json", list(r#""done""#))
        .file("new.json", list(r#""done","queued""#));
    folder
        .run(&["diff", "old.json", "new.json", "--decision-map", "map.yaml", "--format", "json"])
        .code(0)
        .says("state not known: the agent stops");
}

#[test]
fn mistakes_of_a_map_are_told_with_their_lines() {
    let folder = Folder::new();
    folder.file("old.json", r#"[{"name":"t","inputSchema":{"type":"object"}}]"#).file(
        "map.yaml",
        "decision-map: 1\ntools:\n  t:\n    output:\n      state: {feeds: fame, absent: pray}\n",
    );
    let run = ["diff", "old.json", "old.json", "--decision-map", "map.yaml"];
    let told = folder.run(&run).code(2);
    for part in ["map.yaml:5:15", "fame", "map.yaml:5:28", "pray"] {
        assert!(told.err.contains(part), "{part}: {}", told.err);
    }
    folder.run(&["diff", "old.json", "old.json", "--decision-map", "none.yaml"]).code(2);
}
