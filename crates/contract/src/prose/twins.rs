//! Sentences of two texts that are about the same thing, found within a counted number of
//! comparisons: a text of thousands of sentences must not hold up the call that waits for it.

use super::{LIKE, key, sentences, stems, tokens};
use crate::limits;
use std::collections::{BTreeMap, BTreeSet};

/// One sentence, read once.
pub(super) struct Sentence {
    /// As it stands.
    pub text: String,
    /// Its stems as numbers, ascending.
    words: Vec<u32>,
}

/// What differs between two texts, sentence by sentence.
pub(super) struct Changed {
    /// Sentences that only the old text has.
    pub gone: Vec<Sentence>,
    /// Sentences that only the new text has.
    pub come: Vec<Sentence>,
}

/// How alike two sentences are, 0 to 1, by common stems.
pub(super) fn alike(a: &Sentence, b: &Sentence) -> f64 {
    let (mut left, mut right, mut common) = (0, 0, 0_usize);
    while let (Some(x), Some(y)) = (a.words.get(left), b.words.get(right)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                left += 1;
                right += 1;
            }
        }
    }
    let all = a.words.len() + b.words.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// How alike two sentences are that are about the same thing; `None` where they are not. Of a few words one is enough
/// that leads both, or all but the numbers: `Default: 10` and `Default: 50`, `10 max` and `50 max`.
pub(super) fn about_the_same(a: &Sentence, b: &Sentence) -> Option<f64> {
    const FEW: usize = 3;
    let score = alike(a, b);
    let led_alike = || {
        let leads = (tokens(&a.text).into_iter().next(), tokens(&b.text).into_iter().next());
        a.words.len().max(b.words.len()) <= FEW && leads.0.is_some() && leads.0 == leads.1
    };
    let but_for_numbers = || {
        let words = |text: &str| -> Vec<String> {
            let is_number = |word: &String| word.parse::<u64>().is_ok();
            tokens(text).into_iter().filter(|word| !is_number(word)).collect()
        };
        words(&a.text) == words(&b.text)
    };
    (score >= LIKE || score > 0.0 && (led_alike() || but_for_numbers())).then_some(score)
}

/// The sentences that differ. `None` where they are more than are weighed.
pub(super) fn changed(old: &str, new: &str) -> Option<Changed> {
    if old.len() + new.len() > limits::TEXT_BYTES {
        return None;
    }
    let (was, is) = (keyed(old), keyed(new));
    let keys = |list: &[(String, String)]| -> BTreeSet<String> {
        list.iter().map(|(_, key)| key.clone()).collect()
    };
    let (old_keys, new_keys) = (keys(&was), keys(&is));
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut only = |list: Vec<(String, String)>, other: &BTreeSet<String>| -> Vec<Sentence> {
        list.into_iter()
            .filter(|(_, key)| !other.contains(key))
            .map(|(text, _)| {
                let mut words: Vec<u32> = stems(&text)
                    .into_iter()
                    .map(|stem| {
                        let next = numbers.len() as u32;
                        *numbers.entry(stem).or_insert(next)
                    })
                    .collect();
                words.sort_unstable();
                Sentence { text, words }
            })
            .collect()
    };
    let gone = only(was, &new_keys);
    let come = only(is, &old_keys);
    (gone.len().saturating_mul(come.len()) <= limits::TEXT_PAIRS).then_some(Changed { gone, come })
}

fn keyed(text: &str) -> Vec<(String, String)> {
    sentences(text)
        .into_iter()
        .map(|sentence| {
            let key = key(&sentence);
            (sentence, key)
        })
        .collect()
}
