//! A journal as a folder that stands on its own: written from a store, verified without one.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::merkle::Hash;
use super::note::hex;
use super::verify::{FaultKind, Report, Trust, Verifier};
use crate::{Store, StoreError, limits};

/// The records, one a line: the bytes of a line without its line feed are the leaf.
const RECORDS: &str = "records.jsonl";
/// The hash of each record, one a line. Derived; it tells which record was altered.
const HASHES: &str = "hashes.txt";
/// All checkpoints, one JSON string a line.
const CHECKPOINTS: &str = "checkpoints.jsonl";
/// The last checkpoint, as a signed note.
const CHECKPOINT: &str = "checkpoint";
/// The public key.
const KEY: &str = "key.pub";
/// What this is.
const README: &str = "README.md";

const README_TEXT: &str = "\
# A journal of steadfast

Everything that is needed to check this journal is in this folder, but for what only you can bring: the public key as you
noted it elsewhere, and a checkpoint that you kept.

    steadfast journal verify FOLDER --key KEY --checkpoint FILE

| file | holds |
| --- | --- |
| `records.jsonl` | one record a line, JSON with sorted members. The bytes of a line, without its line feed, are a leaf |
| `hashes.txt` | SHA-256 of 0x00 and the leaf, in hexadecimal, one a line. Derived from the records: it tells which one was altered |
| `checkpoint` | the last checkpoint: name, number of records and root (base64), signed. The format is C2SP `tlog-checkpoint`, a signed note with Ed25519 |
| `checkpoints.jsonl` | all checkpoints, each as one JSON string a line |
| `key.pub` | the public key as a C2SP verifier key: `NAME+ID+KEY` |

The root is that of RFC 6962: SHA-256, leaves prefixed with 0x00, nodes with 0x01. `sealed` holds, for each part that is kept
apart, SHA-256 of a salt of 32 bytes and the text. Whoever is given salt and text can check them; nobody can guess the text.

This page is no evidence, and is not checked.
";

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// How many records.
    pub records: u64,
    /// How many of them the last checkpoint covers.
    pub signed: u64,
    /// The last checkpoint, as a signed note; empty where there is none.
    pub checkpoint: String,
    /// The public key, in its text form.
    pub key: String,
}

/// Writes the journal of a store into a folder that is empty or not there yet. A store that is written to is signed first;
/// of any, what is signed is written, so that the folder ends with a checkpoint.
pub async fn export(store: &dyn Store, folder: &Path) -> Result<Exported, StoreError> {
    match store.checkpoint().await {
        // Read only: what is signed is signed.
        Ok(_) | Err(StoreError::ReadOnly) => {}
        Err(error) => return Err(error),
    }
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { place: folder.display().to_string() },
        _ => StoreError::Failed { place: folder.display().to_string(), why: error.to_string() },
    };
    fs::create_dir_all(folder).map_err(failed)?;
    if fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(StoreError::conflict(format!(
            "{}: The folder is not empty. Nothing was written; name another one.",
            folder.display()
        )));
    }
    // A gateway may go on meanwhile.
    let signed = last_signed(store).await?;
    let open = |name: &str| File::create(folder.join(name)).map(BufWriter::new).map_err(failed);
    let (mut records, mut hashes) = (open(RECORDS)?, open(HASHES)?);
    let mut count = 0;
    loop {
        let mut page = store.leaves(count, limits::PAGE).await?;
        page.retain(|leaf| leaf.seq < signed);
        let Some(last) = page.last() else { break };
        count = last.seq + 1;
        for leaf in &page {
            writeln!(records, "{}", leaf.envelope).map_err(failed)?;
            writeln!(hashes, "{}", hex(&leaf.hash)).map_err(failed)?;
        }
    }
    let mut checkpoints = open(CHECKPOINTS)?;
    let (mut next, mut last) = (0, None);
    loop {
        let page = store.checkpoints(next, limits::PAGE).await?;
        // What was signed after the last record here has no place here.
        let page: Vec<_> = page.into_iter().filter(|checkpoint| checkpoint.size <= count).collect();
        for checkpoint in &page {
            writeln!(checkpoints, "{}", serde_json::Value::from(checkpoint.note.as_str()))
                .map_err(failed)?;
        }
        let Some(newest) = page.into_iter().next_back() else { break };
        next = newest.size + 1;
        last = Some(newest);
    }
    let exported = Exported {
        records: count,
        signed: last.as_ref().map_or(0, |checkpoint| checkpoint.size),
        checkpoint: last.map(|checkpoint| checkpoint.note).unwrap_or_default(),
        key: store.verifying_key().to_string(),
    };
    for mut file in [records, hashes, checkpoints] {
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)?;
    }
    for (name, text) in [
        (CHECKPOINT, exported.checkpoint.as_str()),
        (KEY, &format!("{}\n", exported.key)),
        (README, README_TEXT),
    ] {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    Ok(exported)
}

/// How many records are signed.
async fn last_signed(store: &dyn Store) -> Result<u64, StoreError> {
    let mut signed = 0;
    loop {
        let page = store.checkpoints(signed + 1, limits::PAGE).await?;
        let Some(newest) = page.last() else { return Ok(signed) };
        signed = newest.size;
    }
}

/// Verifies an exported folder. An error is a folder that cannot be read at all; what is wrong inside is in the report.
pub fn verify_folder(folder: &Path, trust: &Trust) -> Result<Report, StoreError> {
    let read = |name: &str| small(&folder.join(name));
    let found_key = String::from_utf8_lossy(&read(KEY)?).into_owned();
    let (mut verifier, key) = match Verifier::new(&found_key, trust) {
        Ok(begun) => begun,
        Err(report) => return Ok(*report),
    };
    if found_key.trim_end_matches('\n').trim() != found_key.trim_end_matches('\n')
        || !found_key.ends_with('\n')
    {
        verifier.fault(
            FaultKind::Key,
            KEY,
            "The file holds more or less than the key and a line feed.",
        );
    }
    let latest = read(CHECKPOINT)?;
    if !latest.is_empty() {
        verifier.checkpoint(&String::from_utf8_lossy(&latest), &key, CHECKPOINT);
    }
    let mut checkpoints = Lines::open(&folder.join(CHECKPOINTS), limits::NOTE_BYTES)?;
    let mut number = 0;
    let mut newest = None;
    while let Some(line) = checkpoints.next()? {
        number += 1;
        let place = format!("{CHECKPOINTS}, line {number}");
        match serde_json::from_slice::<String>(&line.bytes) {
            Ok(note) if line.ended => {
                verifier.checkpoint(&note, &key, &place);
                newest = Some(note);
            }
            _ => verifier.fault(
                FaultKind::Checkpoint,
                place,
                "The line holds no checkpoint, or is cut.",
            ),
        }
    }
    if newest.unwrap_or_default().as_bytes() != latest {
        verifier.fault(FaultKind::Checkpoint, CHECKPOINT, "It is not the last one of checkpoints.jsonl: one of them was altered, or the end was cut off.");
    }
    let mut records = Lines::open(&folder.join(RECORDS), limits::LINE_BYTES)?;
    let mut hashes = Lines::open(&folder.join(HASHES), limits::LINE_BYTES)?;
    let mut at = 0_u64;
    while let Some(line) = records.next()? {
        let stated = hashes.next()?;
        let hash = stated.as_ref().filter(|line| line.ended).and_then(|line| unhex(&line.bytes));
        if hash.is_none() {
            verifier.fault(
                FaultKind::Altered,
                format!("record {at}"),
                "The line for it in hashes.txt is missing, cut, or no hash.",
            );
        }
        if !line.ended {
            verifier.fault(
                FaultKind::Cut,
                format!("record {at}"),
                "Its line has no end: the file was cut, or the line is longer than any record.",
            );
        }
        verifier.record(&line.bytes, hash);
        at += 1;
    }
    if hashes.next()?.is_some() {
        verifier.fault(
            FaultKind::Cut,
            "the end",
            format!("hashes.txt goes on after the {at} records: records were cut off."),
        );
    }
    verifier.ends_signed();
    Ok(verifier.finish())
}

/// A file that is never large.
fn small(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limits::NOTE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::conflict(format!(
            "{}: The file is missing. A folder that `steadfast journal export` wrote is expected.",
            path.display()
        )),
        _ => StoreError::Failed { place: path.display().to_string(), why: error.to_string() },
    }
}

/// Lines of a file that may have been damaged: none is read further than its limit.
struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    most: usize,
}

struct Line {
    /// Without the line feed.
    bytes: Vec<u8>,
    /// It ended with a line feed, within the limit.
    ended: bool,
}

impl Lines {
    fn open(path: &Path, most: usize) -> Result<Lines, StoreError> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        Ok(Lines { path: path.to_owned(), file: BufReader::new(file), most })
    }

    fn next(&mut self) -> Result<Option<Line>, StoreError> {
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(self.most as u64).read_until(b'\n', &mut bytes);
        if read.map_err(|error| unreadable(&self.path, &error))? == 0 {
            return Ok(None);
        }
        let ended = bytes.last() == Some(&b'\n');
        if ended {
            bytes.pop();
        }
        Ok(Some(Line { bytes, ended }))
    }
}

fn unhex(text: &[u8]) -> Option<Hash> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() == 64)?;
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    // One spelling only: an altered letter case is an alteration.
    (hex(&hash) == text).then_some(hash)
}
