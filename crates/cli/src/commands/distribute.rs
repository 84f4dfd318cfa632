//! `flowmine distribute`: the work of a command as tasks for a launcher; `flowmine work`: one of them.

use flowmine_api::distribute::{Worked, distribute};

use super::correlate::{report_partials, report_tables};
use crate::args::{Distribute, Work};
use crate::terminal::Terminal;
use crate::{Outcome, output};

/// Runs `flowmine distribute`: writes a plan and what starts its tasks.
pub fn run(args: &Distribute) -> anyhow::Result<Outcome> {
    let done = distribute(&args.options()?, &Terminal)?;
    output::write(None, |out| Ok(done.write(out)?))?;
    Ok(Outcome::Clean)
}

/// Runs `flowmine work`: carries out a task of a plan.
pub fn work(args: &Work) -> anyhow::Result<Outcome> {
    match flowmine_api::distribute::work(&args.plan, args.task, &Terminal)? {
        Worked::Partials(done) => report_partials(&done),
        Worked::Merged(found) => report_tables(&found, false),
    }
}
