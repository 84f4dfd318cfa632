//! Errors for which attribution stops.

/// Why attribution stopped.
#[derive(Debug, thiserror::Error)]
pub enum AttributionError {
    /// The dataset could not be read or written.
    #[error("{0}")]
    Dataset(#[from] flowmine_dataset::DatasetError),
    /// Rows that are spilled for a while could not be.
    #[error("{0}")]
    Temporary(flowmine_spill::SpillError),
    /// A partial result was refused.
    #[error(transparent)]
    Partial(#[from] crate::partial::PartialError),
}
