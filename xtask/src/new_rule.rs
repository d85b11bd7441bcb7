//! `cargo xtask new-rule NAME --area AREA`: row, page, hit and near miss, all failing until they are filled.

use crate::docs;
use crate::repo::{self, Complaints, Result};
use contract::rules;

/// Area, its variant, the first digit of its codes.
const AREAS: &[(&str, &str, u32)] = &[
    ("input", "Input", 1),
    ("output", "Output", 2),
    ("tool", "Tool", 3),
    ("authority", "Authority", 4),
    ("http", "Http", 5),
    ("comparison", "Comparison", 9),
];

/// Makes all parts of a rule.
pub fn run(arguments: &[String]) -> Result<()> {
    let (name, area) = parse(arguments)?;
    let Some((file, variant, series)) = AREAS.iter().find(|(word, _, _)| *word == area) else {
        return Complaints::one(format!("`{area}` is no area; one of {}", words()));
    };
    let code = next_code(*series, &repo::read(docs::CODES).unwrap_or_default())?;
    let source = format!("crates/contract/src/rules/{file}.rs");
    let text = with_row(&repo::read(&source)?, &code, &name, variant).ok_or_else(|| {
        Complaints(vec![format!("{source}: no `rules! {{ … }}` to add a row to")])
    })?;
    repo::write(&source, &text)?;
    repo::write(&format!("docs/rules/{code}.md"), &page(&code, &name))?;
    for which in ["hit", "near"] {
        for side in ["old", "new"] {
            repo::write(&format!("fixtures/rules/{code}/{which}/{side}.json"), EMPTY_TOOL)?;
        }
    }
    repo::output(&repo::cargo(), &["fmt", "--package", "steadfast-contract"])?;
    println!("{code} {name}");
    println!("  row      {source}: evidence and summary");
    println!("  page     docs/rules/{code}.md: every section, the example is executed");
    println!("  hit      fixtures/rules/{code}/hit: a pair that must report it");
    println!("  near     fixtures/rules/{code}/near: a pair that looks like it and must not");
    println!("then `cargo xtask docs`, `cargo xtask bless`, `cargo xtask ci`");
    Ok(())
}

fn parse(arguments: &[String]) -> Result<(String, String)> {
    match arguments {
        [name, flag, area] if flag == "--area" && is_kebab(name) => {
            Ok((name.clone(), area.clone()))
        }
        _ => Complaints::one(format!("cargo xtask new-rule kebab-case-name --area {}", words())),
    }
}

fn words() -> String {
    AREAS.iter().map(|(word, _, _)| *word).collect::<Vec<_>>().join("|")
}

fn is_kebab(name: &str) -> bool {
    !name.starts_with('-') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// One more than the highest code of the series in the table and in the list of codes ever given out.
fn next_code(series: u32, given_out: &str) -> Result<String> {
    let listed = given_out.lines().filter_map(|line| line.split(' ').next());
    let highest = rules::all()
        .iter()
        .map(|rule| rule.code)
        .chain(listed)
        .filter_map(|code| code.strip_prefix("SF")?.parse::<u32>().ok())
        .filter(|number| number / 100 == series)
        .max()
        .unwrap_or(series * 100);
    let next = highest + 1;
    if next / 100 == series {
        Ok(format!("SF{next}"))
    } else {
        Complaints::one(format!("the series SF{series}xx is full"))
    }
}

/// The source of an area's table with one more row at its end.
fn with_row(source: &str, code: &str, name: &str, variant: &str) -> Option<String> {
    let row =
        format!("    {code} \"{name}\" Proof \"TODO: one sentence in operational language.\"\n");
    if let Some(empty) = EMPTY_TABLES.iter().find(|empty| source.contains(**empty)) {
        return Some(source.replacen(empty, &format!("rules! {{\n    {variant};\n{row}}}"), 1));
    }
    let table = source.find("rules! {\n")?;
    let end = table + source[table..].find("\n}")? + 1;
    Some(format!("{}{row}{}", &source[..end], &source[end..]))
}

/// How an area without rules writes its table.
const EMPTY_TABLES: &[&str] = &["/// The rows.\npub static RULES: &[&Rule] = &[];"];

/// The headings of a page, in their order.
pub const HEADINGS: &[&str] = &[
    "What changed",
    "Why it matters to a session already running",
    "Example",
    "Witness",
    "What to do",
    "Adapter",
    "Related",
];

/// Marks what is still to be written; a page that holds it is not finished.
pub const UNWRITTEN: &str = "(to be written)";

fn page(code: &str, name: &str) -> String {
    let mut text = format!("# {code} {name}\n");
    for heading in HEADINGS {
        let body = if *heading == "Example" {
            format!(
                "```json old\n{EMPTY_TOOL}```\n```json new\n{EMPTY_TOOL}```\n```text reports\n-\n```"
            )
        } else {
            UNWRITTEN.to_owned()
        };
        text.push_str(&format!("\n## {heading}\n\n{body}\n"));
    }
    text
}

const EMPTY_TOOL: &str = "{\n  \"name\": \"a_tool\",\n  \"description\": \"What it does.\",\n  \"inputSchema\": {\"type\": \"object\", \"properties\": {}}\n}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_joins_an_empty_and_a_filled_table() {
        let empty = format!("//! Head.\n\n{}\n\nfn judge() {{\n}}\n", EMPTY_TABLES[0]);
        let one = with_row(&empty, "SF101", "first-thing", "Input").unwrap();
        let two = with_row(&one, "SF102", "second-thing", "Input").unwrap();
        assert!(one.contains("rules! {\n    Input;\n    SF101 \"first-thing\" Proof"), "{one}");
        let place = |code| two.find(code).unwrap();
        assert!(place("SF101") < place("SF102") && place("SF102") < place("fn judge"), "{two}");
        assert_eq!(with_row("no table", "SF101", "x", "Input"), None);
    }

    #[test]
    fn codes_of_removed_rules_are_not_given_out_again() {
        let high = next_code(8, "SF801 old-thing\nSF807 gone\nSF901 other\n").unwrap();
        assert_eq!(high, "SF808");
        assert!(next_code(8, "SF899 last\n").is_err());
    }

    #[test]
    fn a_name_is_kebab_case() {
        assert!(is_kebab("required-input-added"));
        assert!(!is_kebab("RequiredInput") && !is_kebab("--area"));
    }
}
