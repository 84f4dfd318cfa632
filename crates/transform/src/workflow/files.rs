//! The files that a workflow names, read within bounds.
//!
//! A workflow of a few lines can name a file again and again, and that file others: so the files
//! that one workflow names are bounded together, in number and in bytes, however often each is
//! named.

use std::cell::Cell;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Fault, Place};

/// Access to the files that a workflow names.
pub trait Files {
    /// Returns a file's text by its name in the workflow.
    ///
    /// # Errors
    /// When it cannot be read, or is no text.
    fn text(&self, name: &str) -> io::Result<String>;

    /// Whether writing or removing `changed` can change the file `script`, in their present places.
    /// By default the names decide.
    fn can_change(&self, changed: &str, script: &str) -> bool {
        can_change(changed, script)
    }

    /// Whether writing to an unknown name can change the file `script`, although that name ends
    /// differently: if the file is a link, or has several names. By default it has one.
    fn has_other_names(&self, script: &str) -> bool {
        let _ = script;
        false
    }

    /// Whether a name leads to the directory of the workflow or to one around it, through links. By
    /// default there are none.
    fn leads_here(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// Whether a name is that of a script or of a directory around it, or cannot be compared with it.
pub fn can_change(changed: &str, script: &str) -> bool {
    let is_open = |name: &str| name.starts_with('/') || name.split('/').any(|part| part == "..");
    is_open(changed) || is_open(script) || holds(changed, script)
}

fn holds(changed: &str, script: &str) -> bool {
    let tidy = |name: &str| name.split('/').filter(|part| !matches!(*part, "" | ".")).map(|part| format!("{part}/")).collect::<String>();
    tidy(script).starts_with(&tidy(changed))
}

/// Whether a change can be one of a script for files in a directory: by their names, through links,
/// and of files with several names.
pub fn can_change_in(directory: &Path, changed: &str, script: &str) -> bool {
    let is_held = !changed.starts_with('/') && !script.starts_with('/') && holds(changed, script);
    let (path, script) = (directory.join(changed.trim_end_matches('/')), directory.join(script));
    let inode = |path: &Path| path.metadata().map(|of| (of.dev(), of.ino()));
    let is_same = matches!((inode(&path), inode(&script)), (Ok(path), Ok(script)) if path == script);
    // A file that is not there yet lies where its directory does.
    let parent = || path.parent().and_then(|parent| Some(parent.canonicalize().ok()?.join(path.file_name()?)));
    let real = path.canonicalize().ok().or_else(parent);
    is_held || is_same || matches!((real, script.canonicalize()), (Some(real), Ok(script)) if script.starts_with(&real))
}

/// Whether a script of a directory is reached through a link, or has several names.
pub fn has_other_names_in(directory: &Path, script: &str) -> bool {
    let path = directory.join(script);
    let Ok(here) = directory.canonicalize() else { return false };
    let named = here.join(script.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<PathBuf>());
    let named = if script.starts_with('/') { PathBuf::from(script) } else { named };
    path.metadata().is_ok_and(|of| of.nlink() > 1) || path.canonicalize().is_ok_and(|real| real != named)
}

/// Whether a name in a directory leads to that directory, or to one around it.
pub fn leads_here_in(directory: &Path, name: &str) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    matches!((real(directory), real(&directory.join(name))), (Some(here), Some(there)) if here.starts_with(&there))
}

/// Files of workflows that name none that must be read.
pub struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Maximum number of files that one workflow may name to be read; each time counts.
pub const NAMED_FILES: usize = 10_000;
/// Maximum size of these files together, in bytes; each time counts.
pub const NAMED_BYTES: usize = 64 << 20;
/// Maximum number of comparisons of files that a script writes with the job scripts that it
/// submits.
const COMPARED: usize = 1_000_000;
/// Maximum number of rules, calls and notes of scripts and Snakefiles.
pub const STATEMENTS: usize = 100_000;

/// Whether a name is that of a device, in which nothing is stored.
pub(super) fn is_device(name: &str) -> bool {
    matches!(name, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

/// The files of one workflow, with the amounts that were read so far.
pub(super) struct Named<'f> {
    files: &'f dyn Files,
    count: Cell<usize>,
    bytes: Cell<usize>,
    compared: Cell<usize>,
}

impl<'f> Named<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, count: Cell::new(0), bytes: Cell::new(0), compared: Cell::new(0) }
    }

    /// Counts comparisons of names that are about to be made, within a bound.
    pub(super) fn may_compare(&self, names: usize) -> bool {
        self.compared.set(self.compared.get().saturating_add(names));
        self.compared.get() <= COMPARED
    }

    pub(super) fn can_change(&self, changed: &str, script: &str) -> bool {
        self.files.can_change(changed, script)
    }

    pub(super) fn has_other_names(&self, script: &str) -> bool {
        self.files.has_other_names(script)
    }

    pub(super) fn leads_here(&self, name: &str) -> bool {
        self.files.leads_here(name)
    }

    /// A file's text, or why it cannot be read. A fault at `at` where the workflow names too much.
    pub(super) fn text(&self, at: Place, name: &str) -> Result<io::Result<String>, Fault> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > NAMED_FILES {
            return Err(Fault::new(at, format!("the workflow names more than {NAMED_FILES} files that are to be read")));
        }
        let text = self.files.text(name);
        let bytes = text.as_ref().map_or(0, String::len);
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        if self.bytes.get() > NAMED_BYTES {
            return Err(Fault::new(at, format!("the files that the workflow names have more than {} MiB together", NAMED_BYTES >> 20)));
        }
        Ok(text)
    }
}

/// Refuses a workflow that has more statements than can be meant.
pub(super) fn not_too_many(at: Place, statements: usize) -> Result<(), Fault> {
    if statements <= STATEMENTS {
        return Ok(());
    }
    Err(Fault::new(at, format!("up to here the workflow has more than {STATEMENTS} rules, calls of sbatch and notes: split it")))
}
