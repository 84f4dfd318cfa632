//! `flowmine import`: imports what others recorded into a dataset.

use flowmine_api::import::{Recorded, import};

use super::import_report;
use crate::args::Import;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Runs `flowmine import`: imports into a dataset.
pub fn run(args: &Import) -> anyhow::Result<Outcome> {
    let request = args.request();
    let imported = import(&request, &Terminal)?;
    // Each log has its own line.
    if let Recorded::Logs(..) = request.recorded {
        return Ok(if imported.errors > 0 { Outcome::WithLosses } else { Outcome::Clean });
    }
    import_report::imported(&imported)
}
