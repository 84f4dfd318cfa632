//! ptrace: stops a command at its calls.

use std::path::Path;

use flowmine_dataset::Writer;
use flowmine_extract_ptrace::{Facts, ROOM, verdict};
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::stop::{Ended, Stop};

use super::backend::Backend;
use crate::args::Trace;

/// The backend that traces by ptrace.
pub const BACKEND: Backend = Backend { name: "ptrace", verdict: || verdict(&Facts::read(Path::new("/proc"))), run, room: ROOM, lent: &[] };

fn run(args: &Trace, options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> anyhow::Result<Ended> {
    Ok(flowmine_extract_ptrace::run(&args.command, options, host, writer, stop)?)
}
