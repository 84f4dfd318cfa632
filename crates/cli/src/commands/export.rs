//! `flowmine export`.

use flowmine_correlate::EventLog;
use flowmine_discover::{ocel, xes};

use super::jobs;
use crate::args::{Export, LogFormat};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Writes an event log.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    let notion = jobs::notion(&args.case_notion)?;
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
            messages::diagnostics("log", &written.diagnostics);
            Ok(())
        })?,
    }
    Ok(Outcome::Clean)
}
