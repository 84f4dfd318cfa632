//! `flowmine trace`: traces the I/O of a command, or of a host until a signal.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, bail};
use flowmine_attribution::rules::environment::VARIABLES;
use flowmine_dataset::{Access, Builder, Dataset, DatasetError};
use flowmine_extract_workflow::commands::{self, Traced, Which};
use flowmine_schema::tables::TaskRun;
use flowmine_schema::text::visible;
use flowmine_trace::command::{run_beside, shell_code};
use flowmine_trace::host::HostFacts;
use flowmine_trace::options::Filters;
use flowmine_trace::probe::{self, Needs};
use flowmine_trace::stop::{Ended, Stop};
use flowmine_trace::{CommandLines, Detail, Options, limits, privileges, serve};

use super::backends::{self, Backend};
use crate::args::{BackendArg, CommandLinesArg, DetailArg, TasksArg, Trace};
use crate::messages;
use crate::outcome::Outcome;

/// Traces a command, or the host until a signal.
pub fn run(args: &Trace) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !backends::built().is_empty(),
        "this flowmine was built without tracing (the feature `tracing`): build it with that feature, or trace with another one into the same dataset"
    );
    if let Some(socket) = &args.join {
        return joined(args, socket);
    }
    let options = options(args)?;
    let mut stop = Stop::by_signals(!args.command.is_empty()).context("cannot handle signals")?;
    stop.duration = args.duration;
    stop.note = Some(messages::note);
    let ended = match trace(args, &options, &stop) {
        Ok(ended) => ended,
        Err(error) if !args.command.is_empty() && !args.must_trace && !stop.has_begun() && !is_usage(&error) => {
            return untraced(args, &error, &stop);
        }
        Err(error) => return Err(error),
    };
    tell(&ended, &options);
    let is_complete = ended.outcome.lost == 0 && ended.failed.is_none();
    match (write_tasks(args, &ended), ended.status.map(shell_code)) {
        (Ok(()), status) => Ok(outcome(status, is_complete, args.fail_on_loss)),
        // The command has run: whoever waits for it gets its exit code.
        (Err(error), Some(code)) => {
            messages::warning(&format!("the tasks of the command could not be written: {}", messages::chain(&error)));
            Ok(outcome(Some(code), false, args.fail_on_loss))
        }
        (Err(error), None) => Err(error),
    }
}

/// Returns the outcome for a command that ended with the exit code `command`, or for a trace
/// without a command.
fn outcome(command: Option<u8>, is_complete: bool, fail_on_loss: bool) -> Outcome {
    match command {
        None if is_complete => Outcome::Clean,
        None => Outcome::WithLosses,
        Some(0) if fail_on_loss && !is_complete => Outcome::WithLosses,
        Some(code) => Outcome::Code(code),
    }
}

fn trace(args: &Trace, options: &Options, stop: &Stop) -> anyhow::Result<Ended> {
    let backend = backend(args, &options.filters)?;
    limits::have(backend.room)?;
    let mut host = HostFacts::read(Path::new("/proc"));
    if let Some(name) = &args.host {
        host.name.clone_from(name);
    }
    let dataset = args.dataset.as_ref().context("--dataset is missing")?;
    let dataset = Dataset::open_or_create_with(dataset, if args.shared { Access::Umask } else { Access::Private }, args.written.as_owner)?;
    let writer = dataset.host_writer(&host.name, &format!("trace, process {}", std::process::id()))?;
    (backend.run)(args, options, host, writer, stop)
}

/// Writes the tasks that the command was, if that was asked for.
fn write_tasks(args: &Trace, ended: &Ended) -> anyhow::Result<()> {
    let which = match (&args.task, args.tasks) {
        (Some(name), _) => Which::Whole(name),
        (None, Some(TasksArg::Commands)) => Which::Commands,
        (None, None) => return Ok(()),
    };
    let (Some(dir), Some(pid)) = (&args.dataset, ended.outcome.command) else { return Ok(()) };
    let host = args.host.clone().unwrap_or_else(|| HostFacts::read(Path::new("/proc")).name);
    let dataset = Dataset::open(dir)?;
    let dataset = if args.written.as_owner { dataset.as_owner()? } else { dataset };
    let name = script_name(&args.command);
    let traced = Traced { host: &host, trace_ns: ended.outcome.trace_ns, pid: i32::try_from(pid).unwrap_or(i32::MAX), name: &name };
    let tasks = commands::tasks(&dataset, &traced, which)?;
    if tasks.is_empty() {
        messages::warning("no process of the command that would be a task was recorded: there is no task");
        return Ok(());
    }
    let mut rows = Builder::<TaskRun<'static>>::with_capacity(tasks.len());
    tasks.iter().for_each(|row| rows.push(row));
    let mut writer = dataset.host_writer(&host, &format!("trace, process {}", std::process::id()))?;
    let mut transaction = writer.begin()?;
    transaction.append(rows)?;
    transaction.commit()?;
    Ok(())
}

/// What a run of a script's commands is called: the script, or the program that was started.
fn script_name(command: &[OsString]) -> String {
    let base = |word: &OsString| Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
    let program = command.first().map(base).unwrap_or_default();
    let is_shell = matches!(program.as_str(), "sh" | "bash" | "dash" | "ksh" | "zsh");
    // `sh -x all.sh`; `sh -c COMMANDS` has no script.
    let options = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let is_text = command.iter().skip(1).take_while(options).any(|word| word.as_encoded_bytes().ends_with(b"c"));
    let script = command.iter().skip(1).find(|word| !options(word)).filter(|_| is_shell && !is_text);
    script.map_or(program, base)
}

/// Runs the command where another tracer sees it.
fn joined(args: &Trace, socket: &Path) -> anyhow::Result<Outcome> {
    // Before joining: what it starts for itself is none of the command.
    let stop = Stop::by_signals(true).context("cannot handle signals")?;
    match serve::join(socket) {
        Ok(()) => Ok(Outcome::Code(shell_code(run_beside(&args.command, &stop)?))),
        Err(error) if args.must_trace => Err(error.into()),
        Err(error) => untraced(args, &error.into(), &stop),
    }
}

/// Whether an error is about what was asked, so that whoever asked has to ask again, and not about
/// what can be had here.
fn is_usage(error: &anyhow::Error) -> bool {
    let dataset = error.chain().find_map(|cause| cause.downcast_ref::<DatasetError>());
    let asked = |error: &DatasetError| {
        matches!(
            error,
            DatasetError::NotEmpty(_)
                | DatasetError::NotADataset(_)
                | DatasetError::Version { .. }
                | DatasetError::Foreign { .. }
                | DatasetError::OfAnother { .. }
        )
    };
    dataset.is_some_and(asked) || error.downcast_ref::<Asked>().is_some()
}

/// What was asked makes no sense, whatever the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Asked(String);

/// Runs the command without a trace: somebody waits for what it does.
fn untraced(args: &Trace, error: &anyhow::Error, stop: &Stop) -> anyhow::Result<Outcome> {
    if let Some(signal) = stop.ending() {
        // Before there was a command: it would have been ended so.
        return Ok(Outcome::Code((128 + signal) as u8));
    }
    messages::warning(&format!(
        "NOT TRACED: {}; the command runs all the same, without a trace (--must-trace fails instead)",
        messages::chain(error)
    ));
    let code = shell_code(run_beside(&args.command, stop)?);
    Ok(outcome(Some(code), false, args.fail_on_loss))
}

/// Says what was recorded when somebody watches, and what was lost in any case.
fn tell(ended: &Ended, options: &Options) {
    let outcome = &ended.outcome;
    if let Some(error) = &ended.failed {
        messages::warning(&format!("the trace broke off, the command ran on: {error}"));
    }
    if let Some(why) = &outcome.not_written {
        messages::warning(&format!("the dataset could not be written all the time: {why}"));
    }
    if messages::on_terminal() {
        let rows = match options.detail {
            Detail::Events => format!("{} operations", outcome.events),
            Detail::Totals => {
                format!("{} operations, {} of them in {} sums", outcome.received, outcome.received - outcome.events, outcome.totals)
            }
        };
        messages::note(&format!("flowmine: {rows} of {} processes recorded", outcome.processes));
    }
    if let Some(losses) = outcome.losses() {
        let where_written = if outcome.not_written.is_some() { ", where it could be written" } else { "" };
        // Nothing is won by it where a call cannot be recorded at all.
        let less = match outcome.lost_by_reason.contains_key("ring-full") || outcome.lost_by_reason.contains_key("table-full") {
            true => ". A larger ring (--ring), --detail totals or filters lose less",
            false => "",
        };
        messages::warning(&format!(
            "{losses}; the table `losses` tells which and when{where_written}; bytes and numbers of operations are lower bounds{less}"
        ));
    }
}

/// Whether a type of file systems is mounted or stands in `/proc/filesystems`, which lacks what
/// comes with modules that are not loaded.
fn is_known_file_system(name: &str) -> bool {
    let text = |path| std::fs::read_to_string(path).unwrap_or_default();
    let mounted = text("/proc/self/mounts").lines().any(|line| line.split(' ').nth(2) == Some(name));
    mounted || text("/proc/filesystems").lines().any(|line| line.split('\t').next_back() == Some(name))
}

/// Which backend: the one that was asked for, or the best.
fn backend(args: &Trace, filters: &Filters) -> anyhow::Result<&'static Backend> {
    let command = !args.command.is_empty();
    match args.backend {
        BackendArg::Ebpf => backends::find("ebpf"),
        BackendArg::Fuse | BackendArg::Ptrace if !command => {
            Err(Asked("this backend can only trace a command that it starts: flowmine trace … -- COMMAND".to_owned()).into())
        }
        BackendArg::Fuse => backends::find("fuse"),
        BackendArg::Ptrace => backends::find("ptrace"),
        BackendArg::Auto if args.serve.is_some() => backends::find("ebpf"),
        BackendArg::Auto => {
            let directories = !filters.directories.is_empty() && !filters.directories.iter().any(|directory| directory == Path::new("/"));
            let wanted = Needs { command, directories };
            let (backend, why) = probe::choose(&backends::verdicts(), wanted).map_err(anyhow::Error::msg)?;
            messages::note(&format!("flowmine: tracing with {why}"));
            backends::find(backend)
        }
    }
}

/// With rights that the program has by its file: what their borrower may trace. The user, or why
/// not.
fn only_user(args: &Trace) -> anyhow::Result<Option<u32>> {
    let Some(user) = privileges::lent_to() else { return Ok(None) };
    if args.command.is_empty() && args.filters.pid.is_empty() && args.serve.is_none() {
        bail!(
            "this program has its rights by its file (setcap): then a user may trace a command that he starts or processes of his own (--pid), not the whole host; root may"
        );
    }
    let owner = |pid: &u32| std::fs::metadata(Path::new("/proc").join(pid.to_string())).ok().map(|about| about.uid());
    if let Some(pid) = args.filters.pid.iter().find(|pid| owner(pid) != Some(user)) {
        bail!(
            "process {pid} is not yours: this program has its rights by its file (setcap), and with these a user may trace his own processes only"
        );
    }
    if args.filters.user.iter().any(|other| *other != user) {
        bail!("this program has its rights by its file (setcap): with these a user may trace his own processes only, whatever --user says");
    }
    Ok(Some(user))
}

fn options(args: &Trace) -> anyhow::Result<Options> {
    let filters = &args.filters;
    let only_user = only_user(args)?;
    if let Some(pid) = filters.pid.iter().find(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
        bail!("there is no process {pid}");
    }
    if let Some(name) = filters.file_system.iter().find(|name| !is_known_file_system(name)) {
        messages::warning(&format!("this kernel knows no file system of type {}, and none is mounted", visible(name)));
    }
    // Paths in records are without symbolic links; a filter must be so too.
    let real = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| std::fs::canonicalize(path).with_context(|| path.display().to_string())).collect::<anyhow::Result<Vec<_>>>()
    };
    let detail = match args.detail {
        Some(DetailArg::Events) => Detail::Events,
        Some(DetailArg::Totals) => Detail::Totals,
        None if args.command.is_empty() && args.serve.is_none() => Detail::Totals,
        None => Detail::Events,
    };
    Ok(Options {
        detail,
        filters: Filters {
            cgroups: filters.cgroup.clone(),
            pids: filters.pid.clone(),
            uids: only_user.map_or_else(|| filters.user.clone(), |user| vec![user]),
            gids: filters.group.clone(),
            file_systems: filters.file_system.clone(),
            file_systems_out: filters.not_file_system.clone(),
            ops: filters.op.clone(),
            directories: real(&filters.directory)?,
            directories_out: real(&filters.not_directory)?,
        },
        environment: match &args.environ {
            Some(names) => names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            None => VARIABLES.iter().map(|name| (*name).to_owned()).collect(),
        },
        command_lines: match args.command_lines {
            Some(CommandLinesArg::None) => CommandLines::None,
            Some(CommandLinesArg::Program) => CommandLines::Program,
            Some(CommandLinesArg::All) => CommandLines::All,
            // With --pid and a command there are processes of others beside it.
            None if args.command.is_empty() || !filters.pid.is_empty() => CommandLines::Program,
            None => CommandLines::All,
        },
        only_user,
        ring_bytes: args.ring,
        flush_every: args.flush,
        serve: args.serve.clone(),
        ..Options::default()
    })
}
