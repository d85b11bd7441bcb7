//! Names of sessions, requests, attempts and approvals: UUIDs of version 7, which sort by the time they were made.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::{Millis, StoreError};

/// Makes a type of id, so that one kind cannot stand where another is meant.
macro_rules! id {
    ($(#[$about:meta])* $name:ident, $what:literal) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = StoreError;

            fn from_str(text: &str) -> Result<$name, StoreError> {
                Uuid::try_parse(text).map($name).map_err(|_| StoreError::Malformed {
                    what: $what.into(),
                    given: text.chars().take(80).collect(),
                })
            }
        }
    };
}

id!(
    /// A session: one client, connected to one server.
    SessionId, "session"
);
id!(
    /// A request: the wish to have a tool called, whatever is tried for it.
    RequestId, "request"
);
id!(
    /// An attempt: one try to carry a request out.
    AttemptId, "attempt"
);
id!(
    /// An approval that was asked for.
    ApprovalId, "approval"
);

/// Makes ids. The time in them is the caller's; the rest is chance, or follows from a seed.
pub struct Ids {
    source: Source,
    /// The last time used and how many ids it has given, so that ids of one millisecond keep their order.
    last: Mutex<(Millis, u16)>,
}

enum Source {
    Chance,
    Seed(u64, Mutex<u64>),
}

impl Ids {
    /// Ids that nobody can foresee.
    pub fn by_chance() -> Ids {
        Ids { source: Source::Chance, last: Mutex::new((0, 0)) }
    }

    /// The same ids for the same seed and the same order of questions: for tests.
    pub fn seeded(seed: u64) -> Ids {
        Ids { source: Source::Seed(seed, Mutex::new(0)), last: Mutex::new((0, 0)) }
    }

    /// A new session.
    pub fn session(&self, at: Millis) -> Result<SessionId, StoreError> {
        self.next(at).map(SessionId)
    }

    /// A new request.
    pub fn request(&self, at: Millis) -> Result<RequestId, StoreError> {
        self.next(at).map(RequestId)
    }

    /// A new attempt.
    pub fn attempt(&self, at: Millis) -> Result<AttemptId, StoreError> {
        self.next(at).map(AttemptId)
    }

    /// A new approval.
    pub fn approval(&self, at: Millis) -> Result<ApprovalId, StoreError> {
        self.next(at).map(ApprovalId)
    }

    fn next(&self, at: Millis) -> Result<Uuid, StoreError> {
        let mut bytes = [0_u8; 10];
        match &self.source {
            Source::Chance => chance(&mut bytes)?,
            Source::Seed(seed, asked) => {
                let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                *asked += 1;
                let digest = Sha256::new()
                    .chain_update(seed.to_be_bytes())
                    .chain_update(asked.to_be_bytes())
                    .finalize();
                bytes.copy_from_slice(&digest[..10]);
            }
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (time, count) = &mut *last;
        if at > *time {
            (*time, *count) = (at, 0);
        } else if *count == 0x0fff {
            // 4096 ids in one millisecond: go on in the next one rather than repeat an order.
            (*time, *count) = (*time + 1, 0);
        } else {
            *count += 1;
        }
        // The twelve bits after the version count within a millisecond.
        bytes[..2].copy_from_slice(&count.to_be_bytes());
        Ok(Builder::from_unix_timestamp_millis(*time, &bytes).into_uuid())
    }
}

/// Fills from the system's source of chance.
pub(crate) fn chance(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|error| StoreError::NoChance { why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_the_order_in_which_they_were_made() {
        let ids = Ids::by_chance();
        let mut made: Vec<_> =
            (0..10_000).map(|n| ids.request(1_000 + n / 5_000).unwrap()).collect();
        // A clock that is set back does not turn the order around.
        made.push(ids.request(5).unwrap());
        let texts: Vec<String> = made.iter().map(ToString::to_string).collect();
        assert!(texts.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(&texts[0][14..15], "7");
    }

    #[test]
    fn a_seed_makes_the_same_ids_again() {
        let (one, two, other) = (Ids::seeded(7), Ids::seeded(7), Ids::seeded(8));
        let first = one.attempt(9).unwrap();
        assert_eq!(first, two.attempt(9).unwrap());
        assert_ne!(first, other.attempt(9).unwrap());
        assert_eq!(first, first.to_string().parse().unwrap());
        assert!("no-id".parse::<AttemptId>().is_err());
    }
}
