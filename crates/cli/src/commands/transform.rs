//! `flowmine transform`: applies layers of the workflow algebra to a workflow.

use flowmine_api::transform::{Numbers, transform};

use crate::args::Transform;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Reads, applies, and writes or shows what comes out.
pub fn run(args: &Transform) -> anyhow::Result<Outcome> {
    let transformed = transform(&args.request(), &Terminal)?;
    let Numbers { tasks, transformed: changed } = transformed.numbers();
    if args.explain.is_some() {
        output::write(None, |out| Ok(transformed.explain(out)?))?;
    } else if args.dry_run {
        output::write(None, |out| Ok(out.write_all(transformed.plan.workflow.as_bytes())?))?;
    } else if args.out.is_some() && !args.check {
        let scripts = transformed.write(&Terminal)?;
        messages::note(&format!("{changed} of {tasks} tasks transformed, {scripts} scripts"));
    } else {
        messages::note(&format!("the layers go with {changed} of {tasks} tasks"));
    }
    Ok(if transformed.is_lossy { Outcome::WithLosses } else { Outcome::Clean })
}
