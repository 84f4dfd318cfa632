//! What is said of a dataset whose traces do not have all operations.

use flowmine_attribution::losses;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::losses::LostOperations;

use crate::messages;

/// Warns that what is made of the dataset's traces are lower bounds, when operations were lost.
pub fn warn(dataset: &Dataset) -> Result<LostOperations, DatasetError> {
    let lost = losses::lost_operations(dataset)?;
    if let Some(sentence) = lost.sentence() {
        messages::warning(&sentence);
    }
    Ok(lost)
}
