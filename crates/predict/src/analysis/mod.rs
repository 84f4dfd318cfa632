//! Algorithm 2 of the paper for all processes of a workflow at once, from event to event.

mod division;
mod engine;
mod joint;
mod prediction;
mod segment;
mod share;
mod state;
mod step;

pub use prediction::Prediction;
pub use segment::{Limit, Segment};

use crate::check::Workflow;
use crate::error::PredictError;

impl Workflow {
    /// Predicts how each process goes on and when it finishes.
    ///
    /// # Errors
    /// [`PredictError::TooManyEvents`], [`PredictError::Degree`].
    pub fn predict(&self) -> Result<Prediction<'_>, PredictError> {
        engine::Engine::new(self).run()
    }
}
