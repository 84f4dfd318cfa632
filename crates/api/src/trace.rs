//! Traces of the I/O of a command, or of a host until the trace is stopped.

mod asked;
pub mod backends;
mod tasks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmine_dataset::{Access, Dataset, DatasetError};
use flowmine_trace::command::{run_beside, shell_code};
use flowmine_trace::host::HostFacts;
use flowmine_trace::limits;
use flowmine_trace::privileges;
use flowmine_trace::probe::Needs;
use flowmine_trace::serve;
use flowmine_trace::stop::Ended;
use serde::Serialize;

use crate::error::{Error, Result, chain, ensure, refuse};
use crate::options::Choice;
use crate::sink::{Message, Sink};
use backends::{Backend, Job};

pub use flowmine_trace::host::{group_id, user_id};
pub use flowmine_trace::options::Filters;
pub use flowmine_trace::stop::Stop;
pub use flowmine_trace::{CommandLines, Detail, Op};

/// A trace: of what, and by whom.
#[derive(Debug, Clone)]
pub struct Request {
    /// The command and its arguments; empty for the host, or what the filters leave of it.
    pub command: Vec<OsString>,
    /// Whether the command does not run where it cannot be traced.
    pub must_trace: bool,
    /// Who traces.
    pub tracer: Tracer,
}

/// Who traces.
#[derive(Debug, Clone)]
pub enum Tracer {
    /// Another tracer, which listens at this socket and writes into its own dataset.
    Listening(PathBuf),
    /// This process.
    Own(Box<Recording>),
}

/// How a trace is recorded, and where.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The dataset; made when it does not exist.
    pub dataset: PathBuf,
    /// Who may read a dataset that is made.
    pub access: Access,
    /// For root: whether the dataset is written as its owner.
    pub as_owner: bool,
    /// The backend; `None` for the best that works.
    pub backend: Option<&'static Backend>,
    /// The hooks of eBPF.
    pub hooks: Hooks,
    /// The name of the host in tables, in place of its own.
    pub host: Option<String>,
    /// How much is kept; by default events of a command, and totals of a host.
    pub detail: Option<Detail>,
    /// The environment variables that are kept; by default those by which jobs and tasks are found.
    pub environment: Option<Vec<String>>,
    /// What is kept of command lines; by default all of a command, and the first word of all else.
    pub command_lines: Option<CommandLines>,
    /// The tasks that the command is.
    pub tasks: Option<Tasks>,
    /// Size of the kernel's ring of records in bytes, a power of two.
    pub ring_bytes: u32,
    /// How long rows may be held back before they are written.
    pub flush_every: Duration,
    /// The socket at which commands ask to be traced; with it nothing else is.
    pub serve: Option<PathBuf>,
    /// What is recorded.
    pub filters: Filters,
}

/// What of a traced command is a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tasks {
    /// The command with all that it starts, by this name.
    Whole(String),
    /// Each command that it starts, with what that starts.
    Commands,
}

/// Hooks of eBPF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hooks {
    /// Those of the kernel's file systems where it allows them, otherwise its calls.
    #[default]
    Auto,
    /// Functions of the kernel's file systems, by fentry or else by kprobes.
    Vfs,
    /// Functions of the kernel's file systems, by kprobes.
    VfsKprobe,
    /// System calls.
    Syscalls,
}

impl Choice for Hooks {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("auto", "VFS functions where the kernel lets us, otherwise system calls", Self::Auto),
        ("vfs", "VFS functions, by fentry or else by kprobes", Self::Vfs),
        ("vfs-kprobe", "VFS functions by kprobes, also where fentry works", Self::VfsKprobe),
        ("syscalls", "System calls", Self::Syscalls),
    ];
}

impl Choice for Detail {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("totals", "Sums of reads and writes", Self::Totals), ("events", "Each operation", Self::Events)];
}

impl Choice for CommandLines {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("none", "Nothing", Self::None), ("program", "The first word", Self::Program), ("all", "All, up to 4096 bytes", Self::All)];
}

/// How a trace ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Traced {
    /// Exit code of the command; 128 and the number of the signal that ended it.
    pub exit_code: Option<u8>,
    /// Whether nothing is known to be lost. Losses of a command that joined another tracer are
    /// reported there.
    pub is_complete: bool,
    /// Why the command ran without a trace.
    pub untraced: Option<String>,
    /// Number of operations that were recorded, those in sums included.
    pub operations: u64,
    /// Number of processes that were recorded.
    pub processes: u64,
    /// Number of records that were lost.
    pub lost: u64,
}

impl Traced {
    fn of_command(exit_code: u8, is_complete: bool) -> Self {
        Self { exit_code: Some(exit_code), is_complete, ..Self::default() }
    }
}

/// Traces a command, or the host until `stop`. A command that cannot be traced runs without a
/// trace, which is reported, unless it must be traced.
///
/// # Errors
/// When the request contradicts itself, nothing that works here can trace, or the dataset cannot be
/// written.
pub fn trace(request: &Request, stop: &Stop, sink: &dyn Sink) -> Result<Traced> {
    ensure!(
        backends::any_built(),
        "this flowmine was built without tracing (the feature `tracing`): build it with that feature, or trace with another one into the same dataset"
    );
    match &request.tracer {
        Tracer::Listening(socket) => join(request, socket, stop, sink),
        Tracer::Own(recording) => record(request, recording, stop, sink),
    }
}

/// Gives up rights that this program has by its file and not by its caller; for a trace those stay
/// that backends need. Returns whether that could be done.
pub fn keep_lent_rights_small(is_trace: bool) -> bool {
    let built = backends::ALL.iter().filter(|_| is_trace).filter_map(|backend| backend.built.as_ref());
    let needed: Vec<u32> = built.flat_map(|built| built.lent).copied().collect();
    privileges::lent_to().is_none() || privileges::keep_of_lent(&needed)
}

/// Runs the command where another tracer sees it.
fn join(request: &Request, socket: &Path, stop: &Stop, sink: &dyn Sink) -> Result<Traced> {
    match serve::join(socket) {
        Ok(()) => Ok(Traced::of_command(shell_code(run_beside(&request.command, stop)?), true)),
        Err(error) if request.must_trace => Err(error.into()),
        Err(error) => untraced(request, &error.into(), stop, sink),
    }
}

fn record(request: &Request, recording: &Recording, stop: &Stop, sink: &dyn Sink) -> Result<Traced> {
    let options = asked::options(&request.command, recording, sink)?;
    let ended = match begin(request, recording, &options, stop, sink) {
        Ok(ended) => ended,
        Err(error) if !request.command.is_empty() && !request.must_trace && !stop.has_begun() && !is_usage(&error) => {
            return untraced(request, &error, stop, sink);
        }
        Err(error) => return Err(error),
    };
    tell(&ended, options.detail, sink);
    let exit_code = ended.status.map(shell_code);
    let mut is_complete = ended.outcome.lost == 0 && ended.failed.is_none();
    if let Some(tasks) = &recording.tasks
        && let Err(error) = tasks::write(&request.command, recording, tasks, &ended, sink)
    {
        // The command has run: whoever waits for it gets its exit code.
        if exit_code.is_none() {
            return Err(error);
        }
        sink.warning(&format!("the tasks of the command could not be written: {}", chain(&error)));
        is_complete = false;
    }
    let outcome = ended.outcome;
    let (operations, processes, lost) = (outcome.received, outcome.processes, outcome.lost);
    Ok(Traced { exit_code, is_complete, untraced: None, operations, processes, lost })
}

fn begin(request: &Request, recording: &Recording, options: &flowmine_trace::Options, stop: &Stop, sink: &dyn Sink) -> Result<Ended> {
    let backend = backend(request, recording, &options.filters, sink)?.program()?;
    limits::have(backend.room)?;
    let host = host(recording);
    let dataset = Dataset::open_or_create_with(&recording.dataset, recording.access, recording.as_owner)?;
    let writer = dataset.host_writer(&host.name, &writer_name())?;
    (backend.run)(Job { command: &request.command, options, hooks: recording.hooks, host, writer, stop, sink })
}

/// Returns what is known of this host, with the name that it has in tables.
fn host(recording: &Recording) -> HostFacts {
    let mut host = HostFacts::read(Path::new("/proc"));
    if let Some(name) = &recording.host {
        host.name.clone_from(name);
    }
    host
}

/// The name of this process as a writer of a dataset.
fn writer_name() -> String {
    format!("trace, process {}", std::process::id())
}

/// Returns the backend that was asked for, or the best.
fn backend(request: &Request, recording: &Recording, filters: &Filters, sink: &dyn Sink) -> Result<&'static Backend> {
    let command = !request.command.is_empty();
    if let Some(backend) = recording.backend {
        if backend.only_commands && !command {
            refuse!("this backend can only trace a command that it starts: flowmine trace … -- COMMAND");
        }
        return Ok(backend);
    }
    if recording.serve.is_some()
        && let Some(backend) = backends::ALL.iter().find(|backend| backend.serves)
    {
        return Ok(backend);
    }
    let directories = !filters.directories.is_empty() && !filters.directories.iter().any(|directory| directory == Path::new("/"));
    let (backend, why) = backends::choose(Needs { command, directories })?;
    sink.message(Message::Begun(&format!("tracing with {why}")));
    Ok(backend)
}

/// Whether an error is about what was asked, so that whoever asked has to ask again, and not about
/// what can be had here.
fn is_usage(error: &Error) -> bool {
    matches!(
        error,
        Error::Dataset(
            DatasetError::NotEmpty(_)
                | DatasetError::NotADataset(_)
                | DatasetError::Version { .. }
                | DatasetError::Foreign { .. }
                | DatasetError::OfAnother { .. }
        )
    )
}

/// Runs the command without a trace: somebody waits for what it does.
fn untraced(request: &Request, error: &Error, stop: &Stop, sink: &dyn Sink) -> Result<Traced> {
    if let Some(signal) = stop.ending() {
        // Before there was a command: it would have been ended so.
        return Ok(Traced::of_command((128 + signal) as u8, false));
    }
    let why = chain(error);
    sink.warning(&format!("NOT TRACED: {why}; the command runs without a trace (--must-trace fails instead)"));
    let code = shell_code(run_beside(&request.command, stop)?);
    Ok(Traced { untraced: Some(why), ..Traced::of_command(code, false) })
}

/// Reports what was recorded to whoever watches, and what was lost in any case.
fn tell(ended: &Ended, detail: Detail, sink: &dyn Sink) {
    let outcome = &ended.outcome;
    if let Some(error) = &ended.failed {
        sink.warning(&format!("the trace broke off, the command ran on: {error}"));
    }
    if let Some(why) = &outcome.not_written {
        sink.warning(&format!("the dataset could not be written all the time: {why}"));
    }
    let rows = match detail {
        Detail::Events => format!("{} operations", outcome.events),
        Detail::Totals => {
            format!("{} operations, {} of them in {} sums", outcome.received, outcome.received - outcome.events, outcome.totals)
        }
    };
    sink.message(Message::Watched(&format!("{rows} of {} processes recorded", outcome.processes)));
    if let Some(losses) = outcome.losses() {
        let where_written = if outcome.not_written.is_some() { ", where it could be written" } else { "" };
        // Nothing is won by it where a call cannot be recorded at all.
        let less = match outcome.lost_by_reason.contains_key("ring-full") || outcome.lost_by_reason.contains_key("table-full") {
            true => ". A larger ring (--ring), --detail totals or filters lose less",
            false => "",
        };
        sink.warning(&format!(
            "{losses}; the table `losses` lists them with their times{where_written}; bytes and numbers of operations are lower bounds{less}"
        ));
    }
}
