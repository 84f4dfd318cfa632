//! What a run made last, so that it is not made again when nothing is new.
//!
//! Beside the results lies a note (`.flowmine-run.json`): which version made which files, with
//! which options, of which files of the dataset. Results are current when all of that is as it is
//! now. Without the note, or when anything differs, all is made: a log is whole or nothing.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use flowmine_files::{FileError, Folder};
use flowmine_schema::text::bounds::read_whole;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::output;

const NOTE: &str = ".flowmine-run.json";
/// The most bytes of a note that are read: a larger file was not written by flowmine.
const LARGEST: u64 = 256 << 20;

/// What results are made of: the version, the options in words, and the files of the raw tables
/// with their sizes and times. What `correlate` derives is made anew by each run and does not
/// count.
///
/// # Errors
/// When the dataset's folders cannot be read.
pub fn of(dataset: &Path, options: &str) -> io::Result<Value> {
    let mut files = Map::new();
    add_files(dataset, "", &mut files)?;
    Ok(json!({ "flowmine": env!("CARGO_PKG_VERSION"), "options": options, "rows": files }))
}

fn add_files(folder: &Path, above: &str, files: &mut Map<String, Value>) -> io::Result<()> {
    for entry in Folder::open(folder)?.entries(usize::MAX)?.entries {
        let name = entry.name.to_string_lossy().into_owned();
        // Hidden are locks, memories of observers, and what is being written.
        if name.starts_with('.') || name.contains("=derived") {
            continue;
        }
        let path = format!("{above}/{name}");
        let place = folder.join(&entry.name);
        match fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_dir() => add_files(&place, &path, files)?,
            Ok(metadata) => _ = files.insert(path, stamp(&metadata)),
            // Merged away meanwhile.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Size and time of change.
fn stamp(metadata: &fs::Metadata) -> Value {
    json!([metadata.len(), metadata.mtime(), metadata.mtime_nsec()])
}

/// The note of the last run, where it ended; that of another user is none.
fn note(out: &Path) -> Option<Value> {
    let file = Folder::open(out).ok()?.own_note(NOTE).ok()??;
    serde_json::from_slice(&read_whole(file, LARGEST).ok()?).ok()
}

/// The names of the files that the last run made, where it ended.
pub fn files(out: &Path) -> Vec<String> {
    note(out).and_then(|note| Some(note.get("files")?.as_object()?.keys().cloned().collect())).unwrap_or_default()
}

/// What the last run wrote to standard output, and whether something was lost, when its results are
/// those that would be made now.
pub fn current(out: &Path, of: &Value) -> Option<(String, bool)> {
    let note = note(out)?;
    let files = note.get("files")?.as_object()?;
    let is_there = |(name, known): (&String, &Value)| fs::symlink_metadata(out.join(name)).is_ok_and(|metadata| stamp(&metadata) == *known);
    let is_current = note.get("of") == Some(of) && files.iter().all(is_there);
    is_current.then_some(())?;
    Some((note.get("told")?.as_str()?.to_owned(), note.get("losses")?.as_bool()?))
}

/// Takes the note away before anything is made.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn forget(out: &Path) -> Result<(), FileError> {
    match Folder::open_to_write(out)?.remove(NOTE) {
        Err(error) if error.is_not_found() => Ok(()),
        done => done,
    }
}

/// Writes the note, once all files are there.
///
/// # Errors
/// When a file cannot be looked at or the note not be written.
pub fn remember<'f>(out: &Path, of: &Value, files: impl Iterator<Item = &'f str>, told: &str, losses: bool) -> Result<()> {
    let mut stamps = Map::new();
    for name in files {
        stamps.insert(name.to_owned(), stamp(&fs::symlink_metadata(out.join(name))?));
    }
    let note = json!({ "of": of, "files": stamps, "told": told, "losses": losses });
    output::write(Some(&out.join(NOTE)), |out| Ok(serde_json::to_writer(out, &note)?))
}
