//! `flowmine doctor`: what works on this machine, why not, and what would help.

use flowmine_api::doctor::doctor;

use crate::args::Doctor;
use crate::outcome::Outcome;
use crate::output;

/// Probes every backend and shows what was found.
pub fn run(args: &Doctor) -> anyhow::Result<Outcome> {
    let found = doctor();
    let text = if args.json { found.json()? } else { found.text() };
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(if found.can_trace() { Outcome::Clean } else { Outcome::WithLosses })
}
