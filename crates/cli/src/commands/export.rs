//! `flowmine export`.

use flowmine_correlate::EventLog;
use flowmine_discover::{ocel, xes};

use super::jobs;
use crate::args::{Export, LogFormat};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Writes an event log.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    if args.format == LogFormat::OcelJson && args.case_notion.is_some() {
        anyhow::bail!("an object-centric log has no case notion: leave --case-notion out, or choose --format xes");
    }
    let notion = jobs::notion(args.case_notion.as_deref().unwrap_or("dependency"))?;
    let (_, jobs) = jobs::read(&args.dataset, args.timestamp)?;
    let filter = jobs::filter(&args.filter, &jobs)?;
    let _stage = Stage::new("writing the log");
    match args.format {
        LogFormat::Xes => {
            let log = EventLog::build(&jobs, notion, &filter);
            output::write(args.output.as_deref(), |out| Ok(xes::write(&log, out)?))?;
        }
        LogFormat::OcelJson => output::write(args.output.as_deref(), |out| {
            let written = ocel::write(&jobs, &filter, out)?;
            messages::diagnostics("OCEL log", &written.diagnostics);
            Ok(())
        })?,
    }
    Ok(Outcome::Clean)
}
