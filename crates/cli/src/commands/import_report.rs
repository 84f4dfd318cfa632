//! Reports of imports on standard error.

use flowmine_api::import::Imported;

use crate::messages::{self, Kept};
use crate::outcome::Outcome;

/// Number of inputs with warnings or errors that are shown.
const SHOWN: usize = 10;

/// Shows what an import brought, and how it ended.
///
/// # Errors
/// When nothing was imported.
pub fn imported(imported: &Imported) -> anyhow::Result<Outcome> {
    let odd = || imported.inputs.iter().filter(|input| !input.diagnostics.is_empty());
    for input in odd().take(SHOWN) {
        messages::diagnostics(&input.name, &input.diagnostics, Kept::InDataset);
    }
    let more = odd().count().saturating_sub(SHOWN);
    if more > 0 {
        messages::note(&format!("{more} more files with warnings or errors; all are listed in the table `diagnostics` of the dataset"));
    }
    messages::note(&imported.summary);
    anyhow::ensure!(!imported.is_empty, "nothing could be imported");
    Ok(if imported.errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
