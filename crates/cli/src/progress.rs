//! A sign of life on standard error while a long comparison runs.

use crate::limits;
use crate::output::Shell;
use contract::Contract;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Runs `work`, and shows that it runs where a person watches and there is much to do.
pub fn while_running<T>(shell: &Shell, what: String, size: usize, work: impl FnOnce() -> T) -> T {
    if !shell.interactive || size < limits::PROGRESS_FROM {
        return work();
    }
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}")
        .expect("the template names members that exist");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(120));
    let result = work();
    bar.finish_and_clear();
    result
}

/// How much there is to compare: tools, or operations at a guess.
pub fn size(contract: &Contract) -> usize {
    match contract {
        Contract::Tools(list) => list.tools.len(),
        Contract::Openapi(bundle) => {
            let paths = bundle.root.get("paths").and_then(|paths| paths.as_object());
            paths.map_or(0, serde_json::Map::len) + bundle.files.len()
        }
        Contract::Schema(bundle) => bundle.files.len(),
    }
}
