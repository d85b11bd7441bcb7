//! Characters that move, reorder, hide or carry text unseen.

/// True for controls, line separators, the bidirectional controls and every default-ignorable character of Unicode
/// (zero-width, fillers, tags, variation selectors), and for what is no character at all. U+FE0F is left alone: it only asks for the emoji form.
pub fn is_hidden(c: char) -> bool {
    matches!(u32::from(c),
        0x00..=0x1F | 0x7F..=0x9F
        | 0xAD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x08E2
        | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800
        | 0x3164 | 0xFE00..=0xFE0E | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0xFDD0..=0xFDEF | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
        || u32::from(c) & 0xFFFE == 0xFFFE
}

/// The hidden characters of a text that no script and no layout explains: joiners between emoji or letters that take
/// them, marks of direction beside letters that run from right to left, and line ends are left out.
pub fn hides(text: &str) -> impl Iterator<Item = char> + '_ {
    let runs_left = text.chars().any(is_right_to_left);
    let mut before = None;
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            let joins = before.is_some_and(takes_joiners)
                && chars.peek().is_some_and(|c| takes_joiners(*c));
            before = Some(c);
            let explained = match u32::from(c) {
                0x09 | 0x0A | 0x0D => true,
                0x200C | 0x200D => joins,
                0x200E | 0x200F | 0x061C | 0x0600..=0x0605 | 0x06DD => runs_left,
                // Variants of an ideograph or of a symbol.
                0xFE00..=0xFE0E => true,
                _ => false,
            };
            if is_hidden(c) && !explained {
                return Some(c);
            }
        }
    })
}

/// Letters of scripts that are written with joiners, and emoji.
fn takes_joiners(c: char) -> bool {
    matches!(u32::from(c),
        0x0600..=0x08FF | 0x0900..=0x0DFF | 0x0F00..=0x109F | 0x1780..=0x18AF | 0x2190..=0x2BFF
        | 0xFB50..=0xFDFF | 0xFE0F | 0xFE70..=0xFEFF | 0x1F000..=0x1FAFF)
}

fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE)
}
