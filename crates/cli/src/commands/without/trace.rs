//! `flowmine trace` in a build without tracing.

use crate::Outcome;
use crate::args::Trace;

/// Says why there is no trace.
pub fn run(_: &Trace) -> anyhow::Result<Outcome> {
    anyhow::bail!(
        "this flowmine was built without tracing (the feature `tracing`): build it with that feature, or trace with another one into the same dataset"
    )
}
