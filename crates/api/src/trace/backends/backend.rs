//! What all tracing backends have in common.

use std::ffi::OsString;

use flowmine_dataset::Writer;
use flowmine_trace::Options;
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits;
use flowmine_trace::probe::{Needs, Verdict};
use flowmine_trace::stop::{Ended, Stop};

use super::super::Hooks;
use crate::error::Result;
use crate::sink::Sink;

/// A way to trace.
#[derive(Debug)]
pub struct Backend {
    /// The name in options and tables.
    pub name: &'static str,
    /// What it does, in help.
    pub about: &'static str,
    /// Whether it is chosen for such a trace where it works and no backend before it does.
    pub suits: fn(Needs) -> bool,
    /// Whether it traces only commands that it starts.
    pub only_commands: bool,
    /// Whether commands can join its trace.
    pub serves: bool,
    /// Its program; `None` where this build lacks it.
    pub built: Option<Built>,
}

/// The program of a backend.
#[derive(Debug)]
pub struct Built {
    /// Reports whether it works on this machine.
    pub verdict: fn() -> Verdict,
    /// Traces into a dataset until the command has ended, or the trace is stopped.
    pub run: fn(Job<'_>) -> Result<Ended>,
    /// What it needs of what may be limited.
    pub room: limits::Needs,
    /// Numbers of the capabilities that it is lent by the program's file (capabilities(7)).
    pub lent: &'static [u32],
}

/// A trace that a backend makes.
pub struct Job<'j> {
    /// The command and its arguments; empty for a trace without one.
    pub command: &'j [OsString],
    /// What is recorded.
    pub options: &'j Options,
    /// The hooks, for a backend that can choose.
    pub hooks: Hooks,
    /// The host, with the name that it has in tables.
    pub host: HostFacts,
    /// The tables.
    pub writer: Writer,
    /// What ends the trace.
    pub stop: &'j Stop,
    /// The receiver of messages.
    pub sink: &'j dyn Sink,
}
