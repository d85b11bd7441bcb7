//! Spellings that say the same: the quotes of a typesetter, and thousands that are set apart.

/// The text with straight quotes, and with each number in one piece: `“1,000”` becomes `"1000"`.
pub(super) fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut plain = String::with_capacity(text.len());
    // How many digits stand before this place in their group, and whether a number can go on from it.
    let (mut digits, mut goes_on) = (0_usize, false);
    for (at, &character) in chars.iter().enumerate() {
        let straight = match character {
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
            other => other,
        };
        if straight.is_ascii_digit() {
            goes_on |= digits == 0 && straight != '0';
            digits += 1;
            plain.push(straight);
            continue;
        }
        let sets_apart = matches!(straight, ',' | '_') && goes_on && (1..=3).contains(&digits);
        let is_group = sets_apart && a_group(&chars[at + 1..]);
        (digits, goes_on) = (0, is_group);
        if !is_group {
            plain.push(straight);
        }
    }
    plain
}

/// Three digits, and no more of them.
fn a_group(rest: &[char]) -> bool {
    rest.len() >= 3
        && rest[..3].iter().all(char::is_ascii_digit)
        && !rest.get(3).is_some_and(char::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::super::{SignalKind, compare, compare_field};
    use super::*;

    #[test]
    fn thousands_and_quotes_are_spelt_plainly() {
        for (text, said) in [
            ("1,000 rows", "1000 rows"),
            ("1,000,000", "1000000"),
            ("10_000", "10000"),
            ("1, 2", "1, 2"),
            ("1,00", "1,00"),
            ("0,500", "0,500"),
            ("1234,567", "1234,567"),
            ("“a” ‘b’", "\"a\" 'b'"),
            ("x,123", "x,123"),
        ] {
            assert_eq!(plain(text), said, "{text}");
        }
    }

    #[test]
    fn another_spelling_of_a_value_is_no_signal_and_another_value_is_one() {
        for (old, new) in [
            ("Returns at most 1000 rows.", "Returns at most 1,000 rows."),
            ("Timeout (default: 3600).", "Timeout (default: 3,600)."),
            ("Defaults to \"info\".", "Defaults to “info”."),
            ("Default: false", "Off by default."),
            ("On by default.", "Default: true"),
        ] {
            assert_eq!(compare_field(old, new), [], "{old} -> {new}");
            assert_eq!(compare(old, new), [], "{old} -> {new}");
        }
        for (old, new, kind) in [
            (
                "Returns at most 10,000 rows.",
                "Returns at most 1,000 rows.",
                SignalKind::LimitLowered,
            ),
            ("Timeout (default: 3,600).", "Timeout (default: 3,601).", SignalKind::DefaultMoved),
            ("Defaults to “info”.", "Defaults to “warn”.", SignalKind::DefaultMoved),
            ("Default: false", "On by default.", SignalKind::DefaultMoved),
        ] {
            let found: Vec<_> = compare_field(old, new).into_iter().map(|s| s.kind).collect();
            assert!(found.contains(&kind), "{old} -> {new}: {found:?}");
        }
    }
}
