//! A wider reach that is told without a word like `all`: reading became writing as well, a folder its subfolders too, and
//! what some could see everybody can.

use super::words::{ACCESS, DEEPER, FEW_EYES, MANY_EYES};
use super::{Signal, SignalKind, signal, stems, tokens};

/// Of two sentences about the same thing.
pub(super) fn twins((before, after): (&str, &str), old: &str, found: &mut Vec<Signal>) {
    let (was, is) = (tokens(before), tokens(after));
    let holds = |words: &[String], list: &[&str]| {
        words.iter().find(|word| list.contains(&word.as_str())).cloned()
    };
    let both = |list: &[&str]| holds(&was, list).is_some() && holds(&is, list).is_some();
    let told = |list: &[&str]| holds(&tokens(old), list).is_some();
    let reads = ["read", "readonly", "view"];
    let writes = ["write", "edit", "admin", "full"];
    let written = holds(&is, &writes).filter(|_| holds(&was, &writes).is_none());
    // What an argument can ask for is no wider reach of a call that does not.
    let asked = is.iter().any(|word| {
        matches!(
            word.as_str(),
            "if" | "when" | "whether" | "optionally" | "optional" | "can" | "may" | "set"
        )
    });
    let asked = asked || is.first().is_some_and(|first| matches!(first.as_str(), "use" | "see"));
    let deeper = holds(&is, DEEPER).filter(|_| !told(DEEPER) && !asked);
    let seen = holds(&is, MANY_EYES).filter(|_| {
        holds(&was, FEW_EYES).is_some() && !told(MANY_EYES) && holds(&is, FEW_EYES).is_none()
    });
    let word =
        written.filter(|_| both(ACCESS) && holds(&was, &reads).is_some()).or(deeper).or(seen);
    let known = found.iter().any(|signal| {
        signal.before == before
            && signal.after == after
            && signal.kind != SignalKind::EffectAppeared
    });
    if let Some(word) = word.filter(|word| !known && !stems(before).contains(word)) {
        found.push(signal(SignalKind::ScopeWidened, before, after, &word));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SignalKind, compare};

    #[test]
    fn a_wider_reach_is_a_signal() {
        for (old, new) in [
            ("Grants the user read access.", "Grants the user read and write access."),
            ("Grants view permission on it.", "Grants edit permission on it."),
            ("Lists files in a folder.", "Lists files in a folder and all its subfolders."),
            ("Deletes files in a folder.", "Deletes files in a folder recursively."),
            ("Makes the link visible to members.", "Makes the link public."),
            ("The team can see the page.", "The whole internet can see the page publicly."),
        ] {
            let kinds: Vec<_> = compare(old, new).into_iter().map(|s| s.kind).collect();
            assert!(kinds.contains(&SignalKind::ScopeWidened), "{old} -> {new}: {kinds:?}");
        }
    }

    #[test]
    fn the_same_reach_is_none() {
        for (old, new) in [
            ("Grants read and write access.", "Grants the user write and read access."),
            ("Lists files in a folder.", "Lists files in a folder, optionally in its subfolders."),
            ("Lists files recursively.", "Lists files in a folder and its subfolders."),
            ("Reads a file.", "Reads a file with read access."),
            ("Lists the public pages.", "Lists pages that are public."),
        ] {
            assert_eq!(compare(old, new), [], "{old} -> {new}");
        }
    }
}
