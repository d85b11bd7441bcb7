//! Counted work.

/// A budget that is drawn down by every part of one question.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    left: u64,
    total: u64,
}

impl Steps {
    pub(crate) fn new(total: u64) -> Steps {
        Steps { left: total, total }
    }

    /// Draws `count` steps; false where they are not left.
    pub(crate) fn take(&mut self, count: u64) -> bool {
        let enough = self.left >= count;
        self.left = self.left.saturating_sub(count);
        enough
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    pub(crate) fn spent(&self) -> u64 {
        self.total - self.left
    }
}
