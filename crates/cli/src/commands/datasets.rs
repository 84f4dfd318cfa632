//! Datasets of commands that write into them.

use std::path::Path;

use flowmine_dataset::{Access, Dataset};

use crate::args::Kept;

/// Opens the dataset of a command that writes raw tables, or makes it.
pub fn dataset_to_write(dir: &Path, kept: &Kept) -> anyhow::Result<Dataset> {
    let dataset = Dataset::open_or_create_with(dir, if kept.private { Access::Private } else { Access::Umask }, kept.written.as_owner)?;
    anyhow::ensure!(
        !kept.private || dataset.access() == Access::Private,
        "{0} was made without --private, and others may have read it: shut it with `chmod -R go-rwx {0}`, after which it stays private, or give \
         another directory",
        dir.display()
    );
    Ok(dataset)
}
