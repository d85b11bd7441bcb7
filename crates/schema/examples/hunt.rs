//! The long soundness hunt: random pairs over every keyword, attacked with drawn values, two other validators and
//! the set algebra of another engine. The same seed gives the same pair on every machine.
//!
//! `cargo run --release -p steadfast-schema --example hunt -- [PAIRS] [FIRST SEED]`; default 10000 from 0. A failure prints its
//! seed and the smallest pair that still fails, and the run ends with status 1.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a measuring tool for people"
)]

#[path = "../tests/it/attack.rs"]
mod attack;
#[path = "../tests/it/generate.rs"]
mod generate;
#[path = "../tests/it/grammar.rs"]
mod grammar;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread;

/// What one thread counted.
#[derive(Default)]
struct Count {
    asked: usize,
    decided: usize,
    other_engine: usize,
    other_engine_wrong: usize,
    wrong: Vec<(u64, String)>,
    open: BTreeMap<String, (usize, u64)>,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap());
    let pairs = words.next().unwrap_or(10_000);
    let first = words.next().unwrap_or(0);
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let start = std::time::Instant::now();
    let counts: Vec<Count> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|own| {
                // The other engine recurses deep.
                thread::Builder::new()
                    .stack_size(256 << 20)
                    .spawn_scoped(scope, move || {
                        hunt((first + own..first + pairs).step_by(threads as usize))
                    })
                    .unwrap()
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut total = Count::default();
    for count in counts {
        total.asked += count.asked;
        total.decided += count.decided;
        total.other_engine += count.other_engine;
        total.other_engine_wrong += count.other_engine_wrong;
        total.wrong.extend(count.wrong);
        for (reason, (count, seed)) in count.open {
            let entry = total.open.entry(reason).or_insert((0, seed));
            *entry = (entry.0 + count, entry.1.min(seed));
        }
    }
    total.wrong.sort();
    println!(
        "{pairs} pairs from seed {first}: {} answers, {} decided ({:.3} %), {} wrong, in {:.0} s",
        total.asked,
        total.decided,
        100.0 * total.decided as f64 / total.asked.max(1) as f64,
        total.wrong.len(),
        start.elapsed().as_secs_f64()
    );
    println!(
        "the other engine decided {} of the answers it was asked for; {} of its answers are refuted by a replayed value",
        total.other_engine, total.other_engine_wrong
    );
    for (reason, (count, seed)) in &total.open {
        println!("open {count:>6}  first seed {seed:<8} {reason}");
    }
    for (seed, _) in total.wrong.iter().take(12) {
        let (old, new, _) = attack::pair(*seed);
        let (_, _, why) = attack::shrink(old, new, *seed, true);
        println!("wrong at seed {seed}: {why}");
    }
    if total.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn hunt(seeds: impl Iterator<Item = u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let (old, new, mut dice) = attack::pair(seed);
        let found = attack::judge(&old, &new, &mut dice, seed % 4 == 0);
        count.asked += found.asked;
        count.decided += found.decided;
        count.other_engine += found.other_engine;
        count.other_engine_wrong += found.other_engine_wrong;
        count.wrong.extend(found.wrong.into_iter().map(|why| (seed, why)));
        for reason in found.open {
            count.open.entry(reason).or_insert((0, seed)).0 += 1;
        }
    }
    count
}
