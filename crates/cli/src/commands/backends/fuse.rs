//! FUSE: an overlay over the directories of a command.

use std::path::Path;

use flowmine_dataset::Writer;
use flowmine_extract_fuse::{ROOM, facts, trace};
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::stop::{Ended, Stop};

use super::backend::Backend;
use crate::args::Trace;

/// The backend that traces by FUSE.
pub const BACKEND: Backend =
    Backend { name: "fuse", verdict: || facts::verdict(&facts::FuseFacts::read(Path::new("/"))), run, room: ROOM, lent: &[] };

fn run(args: &Trace, options: &Options, host: HostFacts, writer: Writer, stop: &Stop) -> anyhow::Result<Ended> {
    Ok(trace(&args.command, options, host, writer, stop)?)
}
