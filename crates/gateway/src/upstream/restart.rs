//! When a server that ended may be started again: soon at first, then ever later, and never not at all.

use crate::limits;
use std::time::Duration;
use tokio::time::Instant;

/// Starts in a row after which nothing was answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restart {
    /// How many.
    pub tries: u32,
    /// When the last one was.
    begun: Option<Instant>,
    /// When the next one may be.
    not_before: Option<Instant>,
}

impl Restart {
    /// How long the next start has to wait.
    pub fn wait(&self, now: Instant) -> Duration {
        self.not_before.map_or(Duration::ZERO, |at| at.saturating_duration_since(now))
    }

    /// The server answered something. Where it has been there for a while, it can be relied on again.
    pub fn answered(&mut self, now: Instant) {
        if self.begun.is_none_or(|begun| now.duration_since(begun) >= limits::STEADY) {
            *self = Restart::default();
        }
    }

    /// A start begins.
    pub fn begin(&mut self, now: Instant) {
        let doubled = 1_u32.checked_shl(self.tries).unwrap_or(u32::MAX);
        let pause = limits::RESTART_PAUSE.saturating_mul(doubled).min(limits::RESTART_MOST);
        self.tries = self.tries.saturating_add(1);
        self.begun = Some(now);
        self.not_before = Some(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_never_for_ever() {
        let (mut restart, now) = (Restart::default(), Instant::now());
        assert_eq!(restart.wait(now), Duration::ZERO);
        let mut last = Duration::ZERO;
        for _ in 0..100 {
            restart.begin(now);
            assert!(restart.wait(now) >= last && restart.wait(now) <= limits::RESTART_MOST);
            last = restart.wait(now);
        }
        assert_eq!(last, limits::RESTART_MOST);
        assert_eq!(restart.wait(now + last), Duration::ZERO);
        restart.answered(now);
        assert_eq!(restart.tries, 100, "one that answers once and ends is not there for good");
        restart.answered(now + limits::STEADY);
        assert_eq!((restart.tries, restart.wait(now)), (0, Duration::ZERO));
    }
}
