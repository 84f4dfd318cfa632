//! Who may read what a writer makes.
//!
//! In go the modes of a dataset's directory; out come the modes of all that is made in it. The mode
//! is given when a file is made and never changed afterwards: there is no moment in which others
//! could open it.

use std::path::Path;

use flowmine_files::{FileError, Folder};

/// Who may read a dataset.
///
/// The directory remembers it: where its modes shut out everybody but the owner, every later writer
/// keeps it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Those whom the umask(2) of the writer lets.
    #[default]
    Umask,
    /// The owner alone: the directory and its folders have mode 0700, files 0600, less what the
    /// umask takes away.
    Private,
}

impl Access {
    /// That of an existing directory; [`Access::Umask`] where its modes cannot be read.
    pub(crate) fn new(folder: &Folder) -> Self {
        match folder.mode() {
            Ok(mode) if mode & 0o077 == 0 => Self::Private,
            _ => Self::Umask,
        }
    }

    /// Who may read what is made in a folder.
    pub fn of(folder: &Folder) -> Self {
        Self::new(folder)
    }

    /// The mode with which a file is made, before the umask.
    pub fn file_mode(self) -> u32 {
        match self {
            Self::Umask => 0o666,
            Self::Private => 0o600,
        }
    }

    /// The mode with which a folder is made, before the umask.
    pub fn folder_mode(self) -> u32 {
        match self {
            Self::Umask => 0o777,
            Self::Private => 0o700,
        }
    }

    /// Makes a directory, where there is none, and opens it to write into it; those above it follow
    /// the umask.
    ///
    /// # Errors
    /// When it cannot be made, or a link of another user leads there.
    pub fn make_directory(self, dir: &Path) -> Result<Folder, FileError> {
        Folder::make(dir, self.folder_mode())
    }
}
