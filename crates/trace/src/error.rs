//! Why a trace could not go on.

use flowmine_dataset::DatasetError;

/// Why a trace could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The dataset could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The operating system refused something without which there is no trace.
    #[error("{what}: {source}")]
    System {
        /// What was attempted, and where.
        what: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// This backend does not work here; the text says why and what would help.
    #[error("{0}")]
    NotHere(String),
}

impl TraceError {
    /// An error of the system while doing `what`.
    pub fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> TraceError {
        move |source| TraceError::System { what: what.into(), source }
    }
}
