//! What a backend is to the command line.

use flowmine_dataset::Writer;
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits::Needs;
use flowmine_trace::probe::Verdict;
use flowmine_trace::stop::{Ended, Stop};

use crate::args::Trace;

/// A tracing backend, as commands use it.
pub struct Backend {
    /// As `--backend` and the tables call it.
    pub name: &'static str,
    /// Whether it works on this machine.
    pub verdict: fn() -> Verdict,
    /// Traces what was asked for into a dataset.
    pub run: fn(&Trace, &Options, HostFacts, Writer, &Stop) -> anyhow::Result<Ended>,
    /// What it needs of what may be limited.
    pub room: Needs,
    /// Numbers of the capabilities that it is lent by the program's file (capabilities(7)).
    pub lent: &'static [u32],
}
