//! What is said of a dataset whose traces do not have all operations.

use flowmine_attribution::losses;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::losses::LostOperations;

use crate::sink::Sink;

/// Warns that what is made of the dataset's traces are lower bounds, when operations were lost.
pub fn warn(dataset: &Dataset, sink: &dyn Sink) -> Result<LostOperations, DatasetError> {
    let lost = losses::lost_operations(dataset)?;
    if let Some(sentence) = lost.sentence() {
        sink.warning(&sentence);
    }
    Ok(lost)
}
