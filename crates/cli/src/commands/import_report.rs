//! Reports of imports on standard error.

use flowmine_sources::import::{Imported, Input};

use crate::messages::{self, Kept};
use crate::outcome::Outcome;

/// Number of inputs with warnings or errors that are shown.
const SHOWN: usize = 10;

/// Shows what was wrong with inputs.
pub fn inputs(all: &[Input], kept: Kept) {
    let odd: Vec<&Input> = all.iter().filter(|input| !input.diagnostics.is_empty()).collect();
    for input in odd.iter().take(SHOWN) {
        messages::diagnostics(&input.name, &input.diagnostics, kept);
    }
    if odd.len() > SHOWN {
        let more = odd.len() - SHOWN;
        let place = if kept == Kept::InDataset { "; all stand in the table `diagnostics` of the dataset" } else { "" };
        messages::note(&format!("and {more} more files with warnings or errors{place}"));
    }
}

/// Shows what an import brought, and how it ended.
///
/// # Errors
/// When nothing was imported.
pub fn imported(imported: &Imported) -> anyhow::Result<Outcome> {
    inputs(&imported.inputs, Kept::InDataset);
    messages::note(&imported.summary);
    anyhow::ensure!(!imported.is_empty, "nothing could be imported");
    Ok(if imported.errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
