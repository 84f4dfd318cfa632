//! What the inputs of a workflow's tasks hold.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;

use flowmine_transform::algebra::Contents;
use flowmine_transform::digest;

/// Of an input that is larger, or that comes after as many bytes of others, the length stands for the
/// content: a workflow can name files of any size, and any number of them.
const DIGESTED_FILE: u64 = 1 << 30;
/// See [`DIGESTED_FILE`].
const DIGESTED_ALL: u64 = 8 << 30;

/// Digests of the inputs that are there, each read once.
pub struct FileContents {
    directory: PathBuf,
    known: RefCell<HashMap<String, Option<[u8; 32]>>>,
    /// Bytes that were read so far.
    read: Cell<u64>,
}

impl FileContents {
    /// Returns those of inputs that are named from a directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, known: RefCell::default(), read: Cell::new(0) }
    }

    /// Directories, pipes and devices count by their names.
    fn digest_of(&self, name: &str) -> io::Result<[u8; 32]> {
        let file = flowmine_files::open_plain(&self.directory.join(name))?;
        let length = file.metadata()?.len();
        let read = self.read.get().saturating_add(length);
        if length > DIGESTED_FILE || read > DIGESTED_ALL {
            return digest(&length.to_le_bytes()[..]);
        }
        self.read.set(read);
        // Some files of the kernel have no end, and no length.
        digest(file.take(length))
    }
}

impl Contents for FileContents {
    fn digest(&self, name: &str) -> Option<[u8; 32]> {
        if let Some(digest) = self.known.borrow().get(name) {
            return *digest;
        }
        let digest = self.digest_of(name).ok();
        self.known.borrow_mut().insert(name.to_owned(), digest);
        digest
    }
}
