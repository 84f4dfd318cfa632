//! The options of `flowmine trace` and `flowmine doctor`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use flowmine_api::options::parse::duration;
use flowmine_api::target::Access;
use flowmine_api::trace::backends::{self, Backend};
use flowmine_api::trace::{self, CommandLines, Detail, Filters, Hooks, Op, Recording, Request, Tasks, Tracer};

use super::options::choice;
use super::shared::AsOwner;

/// `flowmine trace`.
#[derive(Debug, Args)]
#[command(
    after_help = "With a command: traces it and its child processes, passes signals on to it, and ends with its exit code (128 and the signal's number if a signal ended it). \
    A command that cannot be traced runs untraced, with a warning; --must-trace fails instead. \
    With --join, a tracer that was started with --serve traces the command and reports losses. \
    Without a command: traces the whole host, or the part that filters select, until SIGINT, SIGTERM, SIGHUP or SIGQUIT; this needs eBPF and root (or CAP_BPF, CAP_PERFMON and \
    CAP_SYS_PTRACE). A warning reports lost records; without a command, or with --fail-on-loss, the exit code is then 1. `flowmine doctor` shows what works on this machine."
)]
pub struct Trace {
    /// The dataset; made when it does not exist, for its owner alone.
    #[arg(long, value_name = "DIR", required_unless_present = "join")]
    pub dataset: Option<PathBuf>,
    /// Trace commands that join at this socket (--join), with their children, until a signal. The
    /// programs of eBPF are loaded once, so that a command costs a few milliseconds. Only the
    /// socket's owner may join, until its mode is changed.
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["command", "pid"])]
    pub serve: Option<PathBuf>,
    /// Let the tracer at this socket (--serve) trace the command, into its dataset and with its
    /// options.
    #[arg(long, value_name = "SOCKET", requires = "command", conflicts_with_all = ["dataset", "shared", "as_owner", "backend", "detail", "hooks", "host", "environ", "command_lines", "ring", "flush", "duration", "cgroup", "pid", "user", "group", "file_system", "not_file_system", "op", "directory", "not_directory"])]
    pub join: Option<PathBuf>,
    /// Make the dataset by the umask, so that others may read the paths and command lines of all
    /// traced users.
    #[arg(long)]
    pub shared: bool,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
    /// The backend.
    #[arg(long, value_name = "BACKEND", default_value = AUTO, value_parser = backend())]
    pub backend: Chosen,
    /// Record each read and write, or sums for each process and open file [default: events for a
    /// command, totals for a host].
    #[arg(long, value_name = "DETAIL", value_parser = choice::<Detail>())]
    pub detail: Option<Detail>,
    /// Hooks of eBPF: the kernel's VFS functions or its system calls.
    #[arg(long, value_name = "HOOKS", default_value = "auto", value_parser = choice::<Hooks>())]
    pub hooks: Hooks,
    /// Name of the host in the tables, instead of uname's; for containers.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub host: Option<String>,
    /// Environment variables to record of each process, separated by commas; empty for none
    /// [default: those that identify jobs and tasks, such as SLURM_JOB_ID and AIRFLOW_CTX_TASK_ID].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = variable)]
    pub environ: Option<Vec<String>>,
    /// Recorded part of command lines, which may contain passwords: nothing, the first word, or all
    /// [default: all for a command and its children, else the first word].
    #[arg(long, value_name = "COMMAND_LINES", value_parser = choice::<CommandLines>())]
    pub command_lines: Option<CommandLines>,
    /// Make the command and its children one task of this name: in attribution, logs and models,
    /// alongside those of workflow engines.
    #[arg(long, value_name = "NAME", requires = "command", conflicts_with_all = ["join", "tasks"], value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub task: Option<String>,
    /// Make a task of each command that the command starts, such as those of a shell script, named
    /// after its program.
    #[arg(long, value_enum, requires = "command", conflicts_with = "join")]
    pub tasks: Option<TasksArg>,
    /// Fail where the command cannot be traced, instead of running it untraced.
    #[arg(long)]
    pub must_trace: bool,
    /// Exit with 1 where the command succeeded and its trace is incomplete. By default the exit
    /// code is the command's and a warning reports the loss.
    #[arg(long, requires = "command", conflicts_with = "join")]
    pub fail_on_loss: bool,
    /// Size of the kernel's ring of records, a power of two: 16M, 64M. Larger rings lose less when
    /// much happens at once.
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = ring)]
    pub ring: u32,
    /// Longest time before rows are written, which is the loss at a kill -9.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub flush: Duration,
    /// End the trace after this time. The command continues, and the tracer waits for it.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Selection of operations.
    #[command(flatten)]
    pub filters: TraceFilters,
    /// The command and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What a trace records.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters (each may be given more than once)")]
pub struct TraceFilters {
    /// Only processes in this cgroup or below it: its directory, or its path in the v2 hierarchy.
    #[arg(long, value_name = "CGROUP")]
    pub cgroup: Vec<PathBuf>,
    /// Only this process and its children.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Vec<u32>,
    /// Only processes of this user: name or number.
    #[arg(long, value_name = "USER", value_parser = user)]
    pub user: Vec<u32>,
    /// Only processes of this group: name or number.
    #[arg(long, value_name = "GROUP", value_parser = group)]
    pub group: Vec<u32>,
    /// Only files on file systems of this type: ext4, nfs4. Pseudo file systems (proc, sysfs, …)
    /// are recorded only when they are named here.
    #[arg(long, value_name = "TYPE")]
    pub file_system: Vec<String>,
    /// No files on file systems of this type.
    #[arg(long, value_name = "TYPE")]
    pub not_file_system: Vec<String>,
    /// Only these operations: open, read, write, close, delete, rename, link, truncate, allocate,
    /// sync, mmap, fault.
    #[arg(long, value_name = "OP", value_delimiter = ',', value_parser = op)]
    pub op: Vec<Op>,
    /// Only files below this directory. The FUSE backend overlays these; the current directory when
    /// none is given.
    #[arg(long, value_name = "DIR")]
    pub directory: Vec<PathBuf>,
    /// No files below this directory.
    #[arg(long, value_name = "DIR")]
    pub not_directory: Vec<PathBuf>,
}

/// Tasks of a traced command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TasksArg {
    /// Each command that it starts, with its children.
    Commands,
}

impl Trace {
    /// The request for the library.
    ///
    /// # Errors
    /// When there is neither a dataset nor another tracer.
    pub fn request(&self) -> anyhow::Result<Request> {
        let tracer = match &self.join {
            Some(socket) => Tracer::Listening(socket.clone()),
            None => Tracer::Own(Box::new(self.recording()?)),
        };
        Ok(Request { command: self.command.clone(), must_trace: self.must_trace, tracer })
    }

    fn recording(&self) -> anyhow::Result<Recording> {
        let filters = &self.filters;
        Ok(Recording {
            dataset: self.dataset.clone().context("--dataset is missing")?,
            access: if self.shared { Access::Umask } else { Access::Private },
            as_owner: self.written.as_owner,
            backend: self.backend,
            hooks: self.hooks,
            host: self.host.clone(),
            detail: self.detail,
            environment: self.environ.clone(),
            command_lines: self.command_lines,
            tasks: match (&self.task, self.tasks) {
                (Some(name), _) => Some(Tasks::Whole(name.clone())),
                (None, Some(TasksArg::Commands)) => Some(Tasks::Commands),
                (None, None) => None,
            },
            ring_bytes: self.ring,
            flush_every: self.flush,
            serve: self.serve.clone(),
            filters: Filters {
                cgroups: filters.cgroup.clone(),
                pids: filters.pid.clone(),
                uids: filters.user.clone(),
                gids: filters.group.clone(),
                file_systems: filters.file_system.clone(),
                file_systems_out: filters.not_file_system.clone(),
                ops: filters.op.clone(),
                directories: filters.directory.clone(),
                directories_out: filters.not_directory.clone(),
            },
        })
    }
}

/// A backend of the registry; `None` for the best that works. The alias keeps clap from taking the
/// option for one without a default.
type Chosen = Option<&'static Backend>;

/// The name for the best backend that works.
const AUTO: &str = "auto";

/// Parses the name of a backend.
fn backend() -> impl TypedValueParser<Value = Chosen> {
    let auto = PossibleValue::new(AUTO).help("The best that works here; a message names it with the reason");
    let names = backends::ALL.iter().map(|backend| PossibleValue::new(backend.name).help(backend.about));
    PossibleValuesParser::new(std::iter::once(auto).chain(names)).map(|name| backends::find(&name))
}

/// `flowmine doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 when at least one way to trace works here, 1 when none does.")]
pub struct Doctor {
    /// Output for programs.
    #[arg(long)]
    pub json: bool,
}

/// A size such as `64K`, `16M`, a power of two.
fn ring(text: &str) -> Result<u32, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit: u64 = match unit {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return Err("a number with K, M or G, such as 16M".to_owned()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|bytes| *bytes <= 1 << 30);
    match bytes {
        Some(bytes) if bytes >= 4096 && bytes.is_power_of_two() => Ok(bytes as u32),
        _ => Err("a power of two from 4K to 1G".to_owned()),
    }
}

fn variable(text: &str) -> Result<String, String> {
    if text.contains('=') { Err("the name of a variable, without a value".to_owned()) } else { Ok(text.to_owned()) }
}

fn op(name: &str) -> Result<Op, String> {
    Op::of(name).ok_or_else(|| Op::ALL.iter().map(|op| op.name()).collect::<Vec<_>>().join(", "))
}

fn user(name: &str) -> Result<u32, String> {
    trace::user_id(name).ok_or_else(|| "no such user here".to_owned())
}

fn group(name: &str) -> Result<u32, String> {
    trace::group_id(name).ok_or_else(|| "no such group here".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_powers_of_two() {
        assert_eq!(ring("16M"), Ok(16 << 20));
        assert_eq!(ring("4096"), Ok(4096));
        for wrong in ["", "3M", "2K", "16T", "M", "99999999999999999999G", "2G"] {
            assert!(ring(wrong).is_err(), "{wrong}");
        }
    }
}
