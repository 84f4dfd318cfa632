//! `flowmine import nextflow` and the other workflow engines.

use flowmine_extract_workflow::{Engine, Options};
use flowmine_sources::import;

use super::datasets::dataset_to_write;
use super::import_report;
use crate::args::ImportTasks;
use crate::outcome::Outcome;
use crate::progress::Stage;

/// Imports what an engine recorded.
pub fn import(engine: &dyn Engine, args: &ImportTasks) -> anyhow::Result<Outcome> {
    let fetched = import::Fetched::new(engine, &args.paths)?;
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let options = Options { zone_offset_s: args.zone, year: args.year };
    let stage = Stage::new("importing");
    let imported = import::tasks(&dataset, engine, &fetched, &options)?;
    drop(stage);
    import_report::imported(&imported)
}
