//! Why traces could not be imported or written.

use flowmine_dataset::DatasetError;

/// Why traces could not be imported or written. Faults of a file or of one of its lines are no
/// error; they are in its report.
#[derive(Debug, thiserror::Error)]
pub enum IoCsvError {
    /// The dataset could not be read or written.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// The operating system refused a file or a directory.
    #[error("{what}: {source}")]
    System {
        /// What was attempted, and where.
        what: String,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl IoCsvError {
    /// An error of the system while doing `what`.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> IoCsvError {
        move |source| IoCsvError::System { what: what.into(), source }
    }
}
