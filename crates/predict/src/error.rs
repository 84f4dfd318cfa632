//! What can be wrong with a model.

/// Why no prediction can be computed.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The file is no model: neither JSON nor TOML, an unknown or a missing field, a field of
    /// another type.
    #[error("the model cannot be read: {place}{problem}")]
    File {
        /// The field, such as `processes[2].progress`, and a colon; empty where it is the text
        /// itself that is wrong.
        place: String,
        /// What is wrong, with line and column.
        problem: String,
    },
    /// A model cannot be written in this format.
    #[error("the model cannot be written: {0}")]
    Written(String),
    /// A field holds what cannot be.
    #[error("{path}: {problem}")]
    Field {
        /// The field, such as `processes[2].data[0].requirement`.
        path: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The prediction takes more steps than allowed.
    #[error("{path}: more than {limit} changes of the limiting resource: give the functions fewer pieces, or split the model")]
    TooManyEvents {
        /// The process that was analysed.
        path: String,
        /// The most changes that are allowed.
        limit: u64,
    },
    /// The prediction has more pieces than are kept.
    #[error(
        "{path}: the prediction has more than {limit} pieces of progress and shares: give the functions fewer pieces, or split the model"
    )]
    TooManyPieces {
        /// The process that was analysed.
        path: String,
        /// The most pieces that are kept.
        limit: u64,
    },
    /// Too many processes share one resource: each end changes too many others.
    #[error(
        "{path}: {users} processes share it, and whenever one ends all that run go on at another rate: more than {limit} pieces. \
         Let fewer run at a time (`after`, `start_s`), or put those that are alike into one process"
    )]
    Crowded {
        /// Path of the shared resource.
        path: String,
        /// How many use it, at any time.
        users: usize,
        /// The most pieces that are allowed.
        limit: u64,
    },
    /// Functions that were put into each other got too steep a polynomial.
    #[error(
        "{path}: functions put into each other give a polynomial of a degree above {}: use straight pieces",
        crate::functions::MAX_DEGREE
    )]
    Degree {
        /// Path of the field, such as `processes[2].data[0].requirement`.
        path: String,
    },
}

impl PredictError {
    pub(crate) fn field(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Field { path: path.into(), problem: problem.into() }
    }
}
