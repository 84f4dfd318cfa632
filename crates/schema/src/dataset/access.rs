//! Who may read what a writer makes.
//!
//! In go the modes of a dataset's directory; out come the modes of all that is made in it. The mode is given when a file is
//! made and never changed afterwards: there is no moment in which others could open it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Who may read a dataset.
///
/// The directory remembers it: where its modes shut out everybody but the owner, every later writer keeps it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Whom the umask(2) of the writer lets.
    #[default]
    Umask,
    /// The owner alone: the directory and its folders have mode 0700, files 0600, less what the umask takes away.
    Private,
}

impl Access {
    /// That of an existing directory; [`Access::Umask`] where its modes cannot be read.
    pub(super) fn of(dir: &Path) -> Self {
        match fs::metadata(dir) {
            Ok(about) if about.mode() & 0o077 == 0 => Self::Private,
            _ => Self::Umask,
        }
    }

    /// Options to make a file with.
    pub fn options(self) -> OpenOptions {
        let mut options = File::options();
        if self == Self::Private {
            options.mode(0o600);
        }
        options
    }

    /// Makes a folder and those above it that are missing.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make_folders(self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        if self == Self::Private {
            builder.mode(0o700);
        }
        builder.create(path)
    }

    /// Makes a dataset's directory; those above it follow the umask. An empty one that was there is shut to others before
    /// anything is written into it.
    pub(super) fn make_dataset(self, dir: &Path) -> io::Result<()> {
        if self == Self::Umask {
            return self.make_folders(dir);
        }
        if let Some(above) = dir.parent().filter(|above| !above.as_os_str().is_empty()) {
            Self::Umask.make_folders(above)?;
        }
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && Self::of(dir) == Self::Private => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let empty = fs::read_dir(dir)?.next().is_none();
                // What lies there already may be open to somebody.
                if empty { fs::set_permissions(dir, Permissions::from_mode(0o700)) } else { Ok(()) }
            }
            other => other,
        }
    }
}
