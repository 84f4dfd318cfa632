//! ptrace: stops a command at its calls.

use std::path::Path;

use flowmine_dataset::Writer;
use flowmine_extract_ptrace::{Facts, verdict};
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::stop::{Ended, Stop};

use super::way::Way;
use crate::args::Trace;

/// The way in by ptrace.
pub const WAY: Way = Way { name: "ptrace", verdict: || verdict(&Facts::read(Path::new("/proc"))), run, lent: &[] };

fn run(args: &Trace, options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> anyhow::Result<Ended> {
    Ok(flowmine_extract_ptrace::run(&args.command, options, host, writer, stop)?)
}
