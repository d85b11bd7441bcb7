//! `cargo xtask picture`: the README's picture, drawn from what the binary really prints.

use crate::repo::{self, Complaints, Result};
use std::fmt::Write as _;
use std::process::Command;

/// Where the picture lies.
const PICTURE: &str = "docs/drift.svg";
/// What is typed, without the name of the binary.
const TYPED: &[&str] = &["diff", "--example"];
/// Width of the terminal that is drawn, in columns: what a README shows without scaling.
const COLUMNS: usize = 100;
/// At most so many lines are drawn; the rest is a line of dots. A picture is looked at, not read.
const LINES: usize = 40;

/// Runs the binary with colours and draws its answer.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(stray) = arguments.first() {
        return Complaints::one(format!("cargo xtask picture takes no arguments, not {stray}"));
    }
    let done = Command::new(repo::cargo())
        .args(["run", "--quiet", "--package", "steadfast", "--"])
        .args(TYPED)
        .env("CLICOLOR_FORCE", "1")
        .env("COLUMNS", COLUMNS.to_string())
        .env_remove("NO_COLOR")
        .current_dir(repo::root())
        .output();
    match done {
        Err(error) => Complaints::one(format!("cargo did not start: {error}")),
        Ok(done) if !done.status.success() => Complaints::one(format!(
            "the binary failed: {}",
            String::from_utf8_lossy(&done.stderr).trim()
        )),
        Ok(done) => {
            let printed = String::from_utf8_lossy(&done.stdout);
            repo::write(PICTURE, &draw(&format!("$ steadfast {}\n\n{printed}", TYPED.join(" "))))
        }
    }
}

/// How a stretch of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Look {
    bold: bool,
    dim: bool,
    colour: Option<u8>,
}

/// The sixteen colours of a terminal, on a dark ground.
const COLOURS: [&str; 16] = [
    "#5c6370", "#ef6b73", "#8fce6c", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4",
    "#7f848e", "#ff7b85", "#a5e075", "#f0d399", "#78c0ff", "#d992ee", "#6fd0dc", "#ffffff",
];

fn draw(printed: &str) -> String {
    let mut lines: Vec<&str> = printed.trim_end().lines().collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…");
    }
    let (width, height) = (COLUMNS * 8 + 32, lines.len() * 18 + 32);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"what steadfast {} prints\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1f2329\"/>\n\
         <g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\" font-size=\"13\" fill=\"#dcdfe4\" \
         xml:space=\"preserve\">\n",
        TYPED.join(" "),
    );
    let mut look = Look::default();
    for (row, line) in lines.iter().enumerate() {
        let _ = write!(svg, "<text x=\"16\" y=\"{}\">", row * 18 + 30);
        for (text, next) in stretches(line, look) {
            look = next;
            if !text.is_empty() {
                let _ = write!(svg, "<tspan{}>{}</tspan>", style(look), escaped(text));
            }
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The text between the escape sequences, each with its look.
fn stretches(line: &str, mut look: Look) -> Vec<(&str, Look)> {
    let mut found = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        if index == 0 {
            found.push((part, look));
            continue;
        }
        let Some((codes, text)) = part.split_once('m') else {
            continue;
        };
        for code in codes.split(';') {
            look = match code.parse::<u8>() {
                Err(_) | Ok(0) => Look::default(),
                Ok(1) => Look { bold: true, ..look },
                Ok(2) => Look { dim: true, ..look },
                Ok(22) => Look { bold: false, dim: false, ..look },
                Ok(code @ 30..=37) => Look { colour: Some(code - 30), ..look },
                Ok(39) => Look { colour: None, ..look },
                Ok(code @ 90..=97) => Look { colour: Some(code - 82), ..look },
                Ok(_) => look,
            };
        }
        found.push((text, look));
    }
    found
}

fn style(look: Look) -> String {
    let mut style = String::new();
    if let Some(colour) = look.colour.and_then(|colour| COLOURS.get(usize::from(colour))) {
        let _ = write!(style, " fill=\"{colour}\"");
    }
    if look.bold {
        style.push_str(" font-weight=\"bold\"");
    }
    if look.dim {
        style.push_str(" opacity=\"0.65\"");
    }
    style
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_carried_over_and_reset() {
        let found = stretches("a\u{1b}[1;31mb\u{1b}[0mc", Look::default());
        let red = Look { bold: true, dim: false, colour: Some(1) };
        assert_eq!(found, [("a", Look::default()), ("b", red), ("c", Look::default())]);
    }

    #[test]
    fn text_cannot_become_markup() {
        assert!(draw("<script>&").contains("&lt;script&gt;&amp;"));
    }
}
