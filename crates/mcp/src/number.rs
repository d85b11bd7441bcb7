//! One spelling for each number, however it was written.

use std::borrow::Cow;

/// The one spelling of a JSON number: digits alone where it is whole and of common length, else its digits and the power
/// of ten that they count. A text that is no number is its own spelling.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let whole = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits(whole) && whole.len() <= LONG && text != "-0" {
        return Cow::Borrowed(text);
    }
    read(text, whole).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Digits of a whole number that are written out: more than any counter has.
const LONG: usize = 40;

fn read(text: &str, unsigned: &str) -> Option<String> {
    let (mantissa, power) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{before}{after}");
    if !all.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let power = power.checked_sub(i64::try_from(after.len()).ok()?)?;
    let led = all.trim_start_matches('0');
    let digits = led.trim_end_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    let power = power.checked_add(i64::try_from(led.len() - digits.len()).ok()?)?;
    let sign = if text.starts_with('-') { "-" } else { "" };
    let zeros = usize::try_from(power).ok().filter(|zeros| digits.len() + zeros <= LONG);
    Some(match zeros {
        Some(zeros) => format!("{sign}{digits}{}", "0".repeat(zeros)),
        None => format!("{sign}{digits}e{power}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_number_are_one() {
        let same: &[&[&str]] = &[
            &["0", "-0", "0.0", "-0e9", "0E-3"],
            &["1", "1.0", "1e0", "10e-1", "0.1E+1"],
            &["100", "1e2", "1E+02", "100.00"],
            &["-12", "-1.2e1"],
            &["0.5", "5e-1", "0.50"],
            &["1e400", "10e399", "1.0E400"],
            &["18446744073709551616", "18446744073709551616.0"],
        ];
        for (at, group) in same.iter().enumerate() {
            for text in *group {
                assert_eq!(plain(text), plain(group[0]), "{text}");
                let others = same.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(others.into_iter().all(|(_, other)| plain(other[0]) != plain(text)));
            }
        }
        assert_eq!(plain("7"), "7");
        assert_eq!(plain("1e99999999999999999999"), "1e99999999999999999999");
        assert_eq!(plain("12345678901234567000"), "12345678901234567000");
    }
}
