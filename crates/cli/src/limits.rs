//! Every bound of the shell, with its reason.

/// How many files one folder of tools may have.
///
/// The largest folder of per-tool files known to us has 164; ten thousand is a wrong path.
pub const FOLDER_FILES: usize = 10_000;

/// How many files the references of one document may reach.
///
/// The largest split API descriptions have about 2,000 files.
pub const REFERENCED_FILES: usize = 5_000;

/// How many bytes all files of one document may have together.
///
/// Twice what one document may have: split descriptions are not larger than whole ones.
pub const REFERENCED_BYTES: u64 = 128 << 20;

/// From how many subjects on a comparison shows its progress.
///
/// A tool takes a millisecond at the most usual; below this nothing would be seen of it.
pub const PROGRESS_FROM: usize = 200;

/// The narrowest and widest text, in columns.
///
/// Below the first, columns break apart; beyond the second, lines are no longer read.
pub const WIDTH: (usize, usize) = (40, 120);

/// Rows of a list where none is asked for: some screens of them.
pub const LISTED: u32 = 50;

/// Lines that wait to be written to standard error: past this they are counted, and whoever does not read holds up nothing.
pub const TOLD: usize = 1_024;

/// How long what was said last is waited for when a gateway ends.
pub const LAST_SAID: std::time::Duration = std::time::Duration::from_millis(500);

/// Events that wait to be printed: past this a slow terminal slows the gateways' telling, not their work.
pub const TAILED: usize = 1_024;

/// How often the file of tokens is looked at while a gateway runs: what was taken back opens nothing after that.
pub const TOKENS: std::time::Duration = std::time::Duration::from_millis(500);

/// Bytes of a passphrase: a long sentence.
pub const PASSPHRASE_BYTES: usize = 1 << 10;

/// Days without use after which an adapter may be retired where nothing else is said: longer than a weekend.
pub const QUIET_DAYS: u64 = 7;

/// Copies of one configuration that are left beside it: more would be a loop, not a person.
pub const BACKUPS: u32 = 20;

/// Tests that run at once: each starts up to three processes.
pub const JOBS: usize = 64;

/// Files of tests in one run: a folder with more is a wrong path.
pub const TEST_FILES: usize = 10_000;

/// How deep folders of tests nest: deeper is a link in a circle.
pub const TEST_FOLDERS: usize = 16;

/// How long tests that are broken off may take to end what they started.
pub const BROKEN_OFF: std::time::Duration = std::time::Duration::from_secs(3);

/// Calls on record that rules are held against at once: a busy day of one gateway.
pub const CHECKED: usize = 100_000;
