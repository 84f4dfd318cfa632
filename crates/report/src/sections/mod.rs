//! The sections of the page, a file each.

mod data;
mod failures;
mod findings;
mod graph;
mod io;
mod observed;
pub mod overview;
mod process;
mod resources;
mod runs;
mod terms;
mod variants;
mod waiting;
mod words;

use crate::ReportError;
use crate::block::Section;
use crate::results::Results;

/// All sections, in the order of the page.
///
/// # Errors
/// When a figure or a table cannot be made.
pub fn all(results: &Results) -> Result<Vec<Section>, ReportError> {
    Ok(vec![
        overview::section(results)?,
        process::section(results)?,
        waiting::section(results)?,
        runs::section(results)?,
        resources::section(results)?,
        io::section(results)?,
        variants::section(results)?,
        data::section(results)?,
        terms::section(),
    ])
}
