//! Datasets that are written into.

use std::path::PathBuf;

use flowmine_dataset::Dataset;

pub use flowmine_dataset::Access;

use crate::error::{Result, ensure};

/// A dataset for raw tables; made when it does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Its directory.
    pub dir: PathBuf,
    /// Who may read it.
    pub access: Access,
    /// For root: whether it is written as its owner.
    pub as_owner: bool,
}

impl Target {
    /// Opens or makes it.
    ///
    /// # Errors
    /// When it cannot be written, or others may have read what is to be private.
    pub fn open(&self) -> Result<Dataset> {
        let dataset = Dataset::open_or_create_with(&self.dir, self.access, self.as_owner)?;
        ensure!(
            self.access != Access::Private || dataset.access() == Access::Private,
            "{0} was made without --private, and others may have read it: shut it with `chmod -R go-rwx {0}`, after which it stays \
             private, or give another directory",
            self.dir.display()
        );
        Ok(dataset)
    }
}
