//! Files: read with a bound, written whole or not at all.

use crate::exit::Failure;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Reads a whole file, or standard input where the path is `-`.
pub fn read(path: &str) -> Result<Vec<u8>, Failure> {
    // One byte more than is allowed, so that the reader of the text can say that it is too much.
    let limit = contract::limits::DOCUMENT_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let outcome = if path == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        opened(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    match outcome {
        Ok(_) => Ok(bytes),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Opens a regular file, or a pipe that the shell made for this command (`<(…)`). Any other pipe or device may never
/// end, or never begin.
fn opened(path: &str) -> io::Result<File> {
    let of_the_shell = ["/dev/fd/", "/dev/stdin", "/proc/"].iter().any(|way| path.starts_with(way));
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() || of_the_shell {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR))
}

const NOT_REGULAR: &str = "it is a pipe, a socket or a device";

/// The text of a regular file that was read before, for reports that point at lines.
pub fn text_of(path: &str) -> Option<String> {
    if path == "-" || !Path::new(path).is_file() {
        return None;
    }
    String::from_utf8(read(path).ok()?).ok()
}

/// Why a path cannot be read, in a sentence.
pub fn unreadable(path: &str, error: &io::Error) -> Failure {
    let (sentence, help) = match error.kind() {
        io::ErrorKind::NotFound => (
            "There is no such file or folder.".to_owned(),
            "Check the path; it is taken from the current folder.",
        ),
        io::ErrorKind::PermissionDenied => {
            ("Reading it is not allowed.".to_owned(), "Check who owns the file.")
        }
        io::ErrorKind::IsADirectory => {
            ("This is a folder, not a file.".to_owned(), "Name the file in it.")
        }
        io::ErrorKind::InvalidInput if error.to_string() == NOT_REGULAR => (
            format!("This is not a regular file: {NOT_REGULAR}."),
            "Name a file. Pipe other input in with - as the path.",
        ),
        _ => (format!("It could not be read: {error}."), "Check the disk and the path."),
    };
    Failure::one(path, sentence, help)
}

/// Writes a file through a temporary one beside it: whoever reads sees the old content or the new.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_with(path, text, permissions(path))
}

/// The same for a file that only its owner may read.
pub fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    write_with(path, text, std::fs::Permissions::from_mode(0o600))
}

fn write_with(path: &Path, text: &str, permissions: std::fs::Permissions) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let attempt = || -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".steadfast-")
            .permissions(permissions)
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    attempt().map_err(|error| {
        Failure::one(
            path.display().to_string(),
            format!("The file could not be written: {error}."),
            "Nothing was changed. Check that the folder exists and may be written to.",
        )
    })
}

/// Those of the file that is replaced, else what a new file of a project usually has.
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(path) {
        Ok(known) => known.permissions(),
        Err(_) => std::fs::Permissions::from_mode(0o644),
    }
}
