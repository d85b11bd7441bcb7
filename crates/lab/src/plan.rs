//! What a file of tests comes to: tests that can be run, each by itself.

use crate::decision::through::Upstream;
use crate::report::Case;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// What every test is given.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The running program, which is started again as a server, a gateway or a relay.
    pub program: PathBuf,
    /// The one test that is asked for. A test with several cases may leave out the others; which tests are run at all
    /// is decided before.
    pub only: Option<String>,
    /// A real model: exchanges with it are recorded, not replayed.
    pub model: Option<Arc<Upstream>>,
    /// The day on which they run, as `2027-06-30`.
    pub today: String,
    /// How much may run at once, for a test that has many runs of its own.
    pub jobs: usize,
}

/// The work of a test.
pub type Work = Pin<Box<dyn Future<Output = Vec<Case>> + Send>>;

/// One test, ready to run.
pub struct Planned {
    /// Its name, for `--only`.
    pub name: String,
    /// Where it is written.
    pub place: String,
    /// Runs it: at least one case, in the order of the file. It ends by itself, whatever it started with it.
    pub run: Box<dyn FnOnce(Arc<Setting>) -> Work + Send>,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("name", &self.name).field("place", &self.place).finish()
    }
}

impl Planned {
    /// Whether `--only` asks for it: by its name, or by the name of a case of it, written `TEST/CASE`.
    pub fn is_asked_for(&self, only: &str) -> bool {
        only.strip_prefix(self.name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}
