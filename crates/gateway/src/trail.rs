//! The definitions that one tool has had lately: whether a change was one, or replicas take turns.

use crate::limits;
use contract::Revised;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// The definitions that one tool has had lately.
#[derive(Default)]
pub struct Trail {
    /// With the time of the last reading that had it, oldest first.
    pub seen: VecDeque<(Arc<Revised>, Instant)>,
    /// A definition that had gone came back.
    pub alternates: bool,
    /// Readings in a row with one definition.
    steady: u32,
}

impl Trail {
    /// True where it may still matter that the tool was there.
    pub fn is_recent(&self, now: Instant) -> bool {
        self.seen.back().is_some_and(|(_, at)| now.duration_since(*at) < limits::ROLLING)
    }

    /// Takes down that a reading had this definition.
    pub fn saw(&mut self, revised: &Arc<Revised>, now: Instant) {
        let newest = self.seen.back().is_some_and(|(last, _)| last.digest() == revised.digest());
        if newest {
            self.steady += 1;
            if self.steady >= limits::SETTLED {
                self.alternates = false;
                self.seen.drain(..self.seen.len() - 1);
            }
        } else {
            let earlier = self.seen.iter().position(|(r, _)| r.digest() == revised.digest());
            if let Some((_, at)) = earlier.and_then(|index| self.seen.remove(index)) {
                self.alternates |= now.duration_since(at) < limits::ROLLING;
            }
            self.steady = 0;
            self.seen.push_back((Arc::clone(revised), now));
            if self.seen.len() > limits::HISTORY {
                self.seen.pop_front();
            }
        }
        if let Some((_, at)) = self.seen.back_mut() {
            *at = now;
        }
    }
}
