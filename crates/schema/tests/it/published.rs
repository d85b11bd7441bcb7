//! Test suites of other projects, where `peers/schemas.sh` has put them in place: no answer against a label that is not
//! explained, and as many answers as before.

use crate::suites::{self, Tally, exceptions, folder};

#[track_caller]
fn nothing_wrong(name: &str, tally: &Tally) {
    println!("{}", tally.show(name));
    assert!(tally.wrong.is_empty(), "{}\n{}", tally.wrong.len(), tally.wrong.join("\n"));
}

fn ask(suite: &str, cases: &[suites::Case]) -> Tally {
    let exceptions = exceptions(suite);
    let mut tally = Tally::default();
    cases.iter().for_each(|case| tally.ask(case, &exceptions));
    tally
}

#[test]
fn fixtures_of_jsoncompat_are_answered_as_labelled() {
    let Some(folder) = folder("jsoncompat-0.5.0") else { return };
    let tally = ask("jsoncompat", &suites::jsoncompat(&folder));
    nothing_wrong("jsoncompat", &tally);
    assert_eq!(tally.asked, 198);
    assert!(tally.witnessed >= 96 && tally.open.is_empty(), "{:?}", tally.open);
}

#[test]
fn canonical_forms_of_the_jsonschema_crate_are_equal_to_their_schemas() {
    let Some(folder) = folder("jsonschema-0.60.2") else { return };
    let tally = ask("canonical", &suites::canonical(&folder, true));
    nothing_wrong("canonical suite", &tally);
    assert!(tally.proved >= 2_807, "{:?}", tally.open);
    nothing_wrong("older drafts", &ask("canonical", &suites::canonical(&folder, false)));
}

#[test]
fn the_official_suite_holds_as_relations() {
    let Some(folder) = folder("jsonschema-4.25.1") else { return };
    for draft in ["draft2020-12", "draft7"] {
        let groups = suites::official(&folder, draft, true);
        // Each schema against its neighbours in the same files; the example holds all against all.
        let tally = suites::official_relations(&groups, 8);
        nothing_wrong(draft, &tally);
        assert!(tally.open.is_empty(), "{:?}", tally.open);
    }
}
