//! `flowmine why`: reports what single jobs waited for.

use flowmine_api::why::{Options, why};

use crate::args::Why;
use crate::outcome::Outcome;
use crate::output;
use crate::terminal::Terminal;

/// Reports what single jobs waited for.
pub fn run(args: &Why) -> anyhow::Result<Outcome> {
    let options = Options { dataset: args.dataset.clone(), jobs: args.jobs.clone(), cluster: args.cluster.clone() };
    let found = why(&options, &Terminal)?;
    output::write(None, |out| Ok(out.write_all(found.join("\n").as_bytes())?))?;
    Ok(Outcome::Clean)
}
