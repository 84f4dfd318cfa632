//! Arguments as typed.

mod discover;
mod old_forms;
mod options;
mod predict;
mod shared;
mod trace;
mod transform;
mod why;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use flowmine_api::groups::{EventFilter, Part, TableColumns};
use flowmine_api::options::parse::{duration, moment};
use flowmine_correlate::{Share, Timestamp};
use options::choice;

pub use discover::{Discover, with_models};
pub use old_forms::in_new_form;
pub use options::Group;
pub use predict::{Predict, PredictFormat, StartArg};
pub use shared::{AsOwner, DatasetArgs, Kept, SourceArgs};
pub use trace::{BackendArg, CommandLinesArg, DetailArg, Doctor, HooksArg, TasksArg, Trace, TraceFilters};
pub use transform::{CollisionsArg, Transform};
pub use why::Why;

/// Process mining for HPC clusters and scientific workflows.
///
/// Watches a Slurm queue from outside, finds the workflows in it, writes event logs and draws what
/// happened.
#[derive(Debug, Parser)]
#[command(name = "flowmine", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 clean, 1 finished with losses or rejected input (it says how many), 2 failed.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a Slurm queue, on this machine or over SSH, and record what changes.
    Observe(Box<Observe>),
    /// Trace what a command, a cgroup or the whole host reads and writes.
    Trace(Box<Trace>),
    /// Read what others recorded.
    #[command(subcommand)]
    Import(Import),
    /// Find out which jobs belong together; writes the tables links, cases and waits.
    Correlate(Correlate),
    /// Take old rows out of a dataset.
    Prune(Prune),
    /// Write an event log.
    Export(Box<Export>),
    /// Check event logs against their standards.
    Validate(Validate),
    /// Discover a model and draw it.
    Discover(Box<Discover>),
    /// Say what jobs waited for, and until when.
    Why(Why),
    /// Predict from a model of its processes when a workflow ends, and what holds it up.
    Predict(Predict),
    /// The whole batch: correlate, export, discover, summarise.
    Run(Run),
    /// Wrap the tasks of a workflow in layers: monitor, container, sandbox, retry, and your own.
    Transform(Transform),
    /// Show what works on this machine and why not.
    Doctor(Doctor),
    /// Print a shell completion script.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// The directory for flowmine.1 and a page for each command; without it flowmine.1 goes to
        /// standard output.
        #[arg(long)]
        dir: Option<PathBuf>,
    },
}

/// `flowmine observe`.
#[derive(Debug, Args)]
#[command(after_help = "One squeue call a poll, for all users and states that the account may see. Times are by the cluster's clock. \
    Nothing that was written is lost or doubled when the command is killed; start it again and it goes on. From cron: \
    * * * * * flowmine observe --once --dataset DIR")]
pub struct Observe {
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Who may read it.
    #[command(flatten)]
    pub kept: Kept,
    /// Poll once and end, for cron.
    #[arg(long, conflicts_with_all = ["every", "polls"])]
    pub once: bool,
    /// Poll at this interval (10s, 2m, 1h), with a jitter of a tenth; after failures it doubles
    /// each time.
    #[arg(long, visible_alias = "interval", value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub every: Duration,
    /// End after so many polls.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub polls: Option<u64>,
    /// Ask sacct as well: true times, exit codes, what polling missed, dependencies of the submit
    /// line, bytes read and written.
    #[arg(long)]
    pub accounting: bool,
    /// From when on accounting is asked the first time; a day before the first poll when not given.
    /// 2026-11-20, 2026-11-20T13:00 (UTC) or with zone.
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "accounting")]
    pub accounting_since: Option<i64>,
    /// Only jobs of the user who asks (over SSH the user there). A dataset keeps to the jobs with
    /// which it began.
    #[arg(long, conflicts_with = "user")]
    pub me: bool,
    /// Only jobs of this user; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub user: Vec<String>,
    /// Only jobs charged to this account; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub account: Vec<String>,
    /// Only jobs in this partition; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub partition: Vec<String>,
    /// The cluster's name, instead of asking scontrol for it.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub cluster: Option<String>,
    /// Where Slurm's commands lie, when they are not in the PATH there.
    #[arg(long, value_name = "DIR")]
    pub slurm_bin_dir: Option<String>,
    /// How long one command may take.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub timeout: Duration,
    /// Keep the raw output of each poll as a file in this directory; `flowmine import squeue` reads
    /// them.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Write codes made with the key in this file in place of names (users, accounts, groups,
    /// hosts, jobs, paths, arguments, comments, …), so that the dataset never holds one. Every poll
    /// needs the same key.
    #[arg(long, value_name = "KEYFILE", conflicts_with = "record")]
    pub pseudonymise: Option<PathBuf>,
    /// Say what each poll brought, also when nobody watches.
    #[arg(long, short)]
    pub verbose: bool,
    /// Where the queue is.
    #[command(flatten)]
    pub ssh: Ssh,
}

/// `flowmine prune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Jobs stay that had not ended by then or of which nobody knows that they had, with their whole array, all components and attempts; so do \
    traces that had not ended, what observers remember, and what was imported of workflow engines and logs. The tables links, cases and the like stay as \
    they are until correlate makes them again."
)]
pub struct Prune {
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// As whom it is written.
    #[command(flatten)]
    pub written: AsOwner,
    /// Take out what had ended before this: 2026-11-20, 2026-11-20T13:00 (UTC) or with zone, 90d,
    /// 12w, yesterday.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub before: i64,
    /// Only say what would go. What would stay is written beside the dataset's files for that, and
    /// removed.
    #[arg(long)]
    pub dry_run: bool,
    /// How long to wait for another writer, such as a poll from cron.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub wait: Duration,
}

/// How to reach a login node.
#[derive(Debug, Args)]
#[command(next_help_heading = "SSH")]
pub struct Ssh {
    /// The login node. `Host` blocks of the user's ssh config apply. Without it squeue runs here.
    #[arg(long = "ssh", value_name = "[USER@]HOST[:PORT]")]
    pub target: Option<String>,
    /// Another ssh config file than ~/.ssh/config.
    #[arg(long = "ssh-config", value_name = "FILE", requires = "target")]
    pub config: Option<PathBuf>,
    /// Jump hosts on the way, the first one first, instead of the config's ProxyJump; `none` for
    /// the direct way.
    #[arg(short = 'J', long = "ssh-jump", value_name = "[USER@]HOST[:PORT][,…]", requires = "target")]
    pub jump: Option<String>,
    /// A private key to try first on the login node (jump hosts have their own in the config); may
    /// be given more than once.
    #[arg(long = "ssh-identity", value_name = "FILE", requires = "target")]
    pub identities: Vec<PathBuf>,
    /// Read the passphrase of an encrypted key from this file descriptor (up to a newline) instead
    /// of asking on the terminal.
    #[arg(long = "ssh-passphrase-fd", value_name = "N", requires = "target")]
    pub passphrase_fd: Option<i32>,
    /// Trust a host that is not in known_hosts, and add its key. A changed or revoked key is
    /// refused all the same.
    #[arg(long = "ssh-accept-new", requires = "target")]
    pub accept_new: bool,
}

/// `flowmine import`.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Files of squeue, sacct or SLURMminer; which it is is found out from each file.
    #[command(visible_alias = "sacct")]
    Squeue(ImportSlurm),
    /// Event logs: XES or OCEL 2.0, as other tools write them.
    Log(ImportLog),
    /// I/O traces of the published eBPF and FUSE monitoring tools: directories with file-bpf.csv
    /// and cgroups.csv.
    IoCsv(ImportIoCsv),
    /// Nextflow: its log (.nextflow.log), its trace file, work directories of its tasks.
    Nextflow(ImportTasks),
    /// Makeflow: its log (.makeflowlog), workflows in JSON, summaries of its resource monitor.
    Makeflow(ImportTasks),
    /// Snakemake: the directory in which it ran, or its logs, .snakemake/metadata, benchmark files,
    /// logs of its jobs on Slurm.
    Snakemake(ImportTasks),
    /// Kubernetes: pods and their events, as kubectl get -o json, its --watch or the API's watch
    /// give them.
    Kubernetes(ImportTasks),
    /// Argo: workflows as JSON, as kubectl get workflow -o json, argo get -o json or a watch give
    /// them.
    Argo(ImportTasks),
    /// Airflow 2 and 3: task logs, the scheduler's log, its metadata database (airflow.db, or
    /// postgresql://USER@HOST/DATABASE, read by psql).
    Airflow(ImportTasks),
    /// The records of tasks that flowmine transform wrapped (t_ID.record): attempts, and which
    /// layer failed.
    Transform(ImportTasks),
    /// WfFormat 1.4 to 1.6, the JSON of WfCommons for runs of any engine.
    Wfformat(ImportTasks),
}

/// `flowmine import nextflow` and the other workflow engines.
#[derive(Debug, Args)]
#[command(
    after_help = "Files are recognised by their content and may be packed with gzip. Give all that belongs to a run in one call: what they tell of \
    the same task is joined to one row of the table task_runs. What was imported before (same content) is skipped."
)]
pub struct ImportTasks {
    /// Files, and directories in which they lie.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Who may read it.
    #[command(flatten)]
    pub kept: Kept,
    /// The zone of times without one, as an offset east of UTC (+01:00), where the files do not
    /// tell it.
    #[arg(long, value_name = "OFFSET", value_parser = zone, allow_hyphen_values = true)]
    pub zone: Option<i64>,
    /// The year in which a log without years begins, where it does not tell it. Otherwise the
    /// file's modification time is asked, and that is said.
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i32).range(1990..2262))]
    pub year: Option<i32>,
}

/// `flowmine import io-csv`.
#[derive(Debug, Args)]
#[command(after_help = "Reads file-bpf.csv and cgroups.csv, packed with gzip or not, in each directory given and in those below it. \
    The name of the directory in which they lie is the host's. A file that was imported before (same host, same content) is skipped.")]
pub struct ImportIoCsv {
    /// A directory of a node, or one that holds several.
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Who may read it.
    #[command(flatten)]
    pub kept: Kept,
}

/// `flowmine import log`.
#[derive(Debug, Args)]
#[command(after_help = "Reads XES, OCEL 2.0 (JSON, XML, SQLite) and tables (CSV, Parquet); the text formats packed with gzip or not. \
    `discover` and `export` take such a file directly as well.")]
pub struct ImportLog {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What the columns of a table hold.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Who may read it.
    #[command(flatten)]
    pub kept: Kept,
}

/// `flowmine validate`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 no error found (there may be warnings), 1 errors found, 2 the file cannot be read.")]
pub struct Validate {
    /// The files: XES, OCEL 2.0 (JSON, XML, SQLite) or tables (CSV, Parquet).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What the columns of a table hold.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
    /// Leave out notes: what is allowed and worth knowing.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `flowmine import squeue`.
#[derive(Debug, Args)]
#[command(after_help = "Reads: squeue -o text with a header and any separator, recordings of `flowmine observe --record`, squeue --json, \
    sacct --parsable2 with a header, sacct --json, and SLURMminer's files; packed with gzip or not, from files or pipes. Files of one queue are taken in the order of their times; \
    a file that was imported before (same name, same content) is skipped.")]
pub struct ImportSlurm {
    /// The files, or directories whose files are all taken.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Who may read it.
    #[command(flatten)]
    pub kept: Kept,
    /// The cluster's name, whatever the files say; without it their own, or "cluster" when they
    /// tell none.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub cluster: Option<String>,
    /// When the queue was looked at, for files that do not tell it in their content or name
    /// (squeue-20261120T130405Z.txt). Otherwise the file's modification time is taken, and said.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub observed_at: Option<i64>,
    /// The zone of times without one, as an offset east of UTC (+01:00). Without it they are taken
    /// as UTC, and that is said.
    #[arg(long, value_name = "OFFSET", value_parser = zone, allow_hyphen_values = true)]
    pub zone: Option<i64>,
    /// What separates the fields of a text file, instead of finding it out from the header.
    #[arg(long, value_name = "TEXT")]
    pub separator: Option<String>,
}

/// `flowmine correlate`.
#[derive(Debug, Args)]
pub struct Correlate {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// As whom it is written.
    #[command(flatten)]
    pub written: AsOwner,
    /// Only this case notion (dependency, account-group, data-flow) is reported on; the tables
    /// always hold all, but data-flow only where a job is known to have read what another wrote, or
    /// when it is asked for here.
    #[arg(long, value_name = "NAME")]
    pub case_notion: Option<String>,
}

/// Formats of event logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// IEEE 1849 XES: one case notion, a trace a case.
    Xes,
    /// The same, packed with gzip.
    #[value(name = "xes.gz")]
    XesGz,
    /// OCEL 2.0 as JSON: objects instead of cases.
    #[value(name = "ocel.json")]
    OcelJson,
    /// OCEL 2.0 as XML.
    #[value(name = "ocel.xml")]
    OcelXml,
    /// OCEL 2.0 as an SQLite database.
    #[value(name = "ocel.sqlite")]
    OcelSqlite,
    /// A table, an event a row, as PM4Py, bupaR and DuckDB read it.
    Csv,
    /// The same as Parquet.
    Parquet,
    /// No log but the I/O of a dataset, as file-bpf.csv and cgroups.csv in a directory for each
    /// host: -o is a directory.
    #[value(name = "io-csv")]
    IoCsv,
    /// No log but the tasks of workflow runs, as WfFormat 1.6 (JSON) for simulators: -o is a
    /// directory, or a file for a single run.
    Wfformat,
}

impl LogFormat {
    /// Whether it is object-centric.
    pub fn has_objects(self) -> bool {
        matches!(self, Self::OcelJson | Self::OcelXml | Self::OcelSqlite)
    }
}

/// Objects of an object-centric log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObjectsArg {
    /// Jobs, with arrays, workflow runs, users, groups, accounts, partitions and nodes.
    Job,
    /// Attempts at tasks, with runs of workflow engines.
    Task,
    /// Processes that belong to tasks or jobs.
    Process,
    /// Files that tasks or jobs read or wrote.
    File,
}

impl ObjectsArg {
    /// Those of a log when nothing else is asked for.
    pub const DEFAULT: [Self; 3] = [Self::Job, Self::Task, Self::File];
}

/// `flowmine export`.
#[derive(Debug, Args)]
pub struct Export {
    /// What to export.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The format.
    #[arg(long, value_enum)]
    pub format: LogFormat,
    /// What a case is, for formats with cases: dependency (when not given), account-group,
    /// data-flow (jobs of which one read what another wrote, as traced; needs
    /// `flowmine correlate`), task-run (the tasks of a workflow engine's run; when not given and
    /// there are no jobs), task-session (of a run and of those that resume it), task-tag (with one
    /// tag, in nf-core's pipelines of one sample), or object:TYPE for the objects of a type. The
    /// cases of an XES file are its traces when not given.
    #[arg(long, value_name = "NAME")]
    pub case_notion: Option<String>,
    /// Which objects, with their events, are in an object-centric log of a dataset. Processes are
    /// many: they are left out when not asked for.
    #[arg(long, value_enum, value_name = "TYPE", value_delimiter = ',', default_values_t = ObjectsArg::DEFAULT)]
    pub objects: Vec<ObjectsArg>,
    /// Cut times to milliseconds in XES, and count how many are cut: for ProM with Java 8, which
    /// takes more digits for a larger number and moves the event by hours.
    #[arg(long)]
    pub milliseconds: bool,
    /// What becomes of the events of an XES log that have no time, which OCEL cannot hold:
    /// leave-out, or neighbour (they get the time of the event before them in their trace, and the
    /// attribute time_unknown says so; their order and number stay).
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub untimed_events: UntimedArg,
    /// Replace names (users, accounts, groups, hosts, jobs, paths, arguments, comments, …) by codes
    /// made with the key in this file.
    #[arg(long, value_name = "KEYFILE")]
    pub pseudonymise: Option<PathBuf>,
    /// Leave out columns of the table job_states, separated by commas, for the jobs of a dataset,
    /// and what says the same of tasks, processes and files; attributes of these keys, for a log of
    /// others.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// Which moment of an observed interval is an event's time; both ends stay in the log.
    #[arg(long, value_name = "MOMENT", default_value = "reported", value_parser = choice::<Timestamp>())]
    pub timestamp: Timestamp,
    /// Only the K-th of N parts of the cases, for formats with cases, so that several processes or
    /// machines can each write one; `discover` takes them together (--log A --log B). Each case is
    /// in one part. Of a dataset the parts are those of its last `flowmine correlate`.
    #[arg(long, value_name = "K/N")]
    pub part: Option<Share>,
    /// Only the workflow run with this id or name, for wfformat.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Where to; standard output when not given.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Which events.
    #[command(flatten)]
    pub filter: Group<EventFilter>,
    /// Which part of the log.
    #[command(flatten)]
    pub of_log: Group<Part>,
    /// What the columns of a table hold.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
}

/// What becomes of events without a time where a format cannot hold them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum UntimedArg {
    /// They are left out, and the exit code says so.
    #[default]
    LeaveOut,
    /// They have the time of the event before them in their trace, or of the first that has one.
    Neighbour,
}

/// `flowmine run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// As whom it is written.
    #[command(flatten)]
    pub written: AsOwner,
    /// The directory for the results; made when it does not exist.
    #[arg(long, short, visible_alias = "output", value_name = "DIR")]
    pub out: PathBuf,
    /// The formats of the logs, separated by commas: formats with cases (xes, xes.gz, csv, parquet)
    /// for each case notion (data-flow where a job is known to have read what another wrote),
    /// ocel.json, ocel.xml, ocel.sqlite for the object-centric log.
    #[arg(long, value_enum, value_name = "FORMAT", value_delimiter = ',', default_values_t = [LogFormat::XesGz, LogFormat::OcelSqlite])]
    pub formats: Vec<LogFormat>,
    /// Which moment of an observed interval is an event's time.
    #[arg(long, value_name = "MOMENT", default_value = "reported", value_parser = choice::<Timestamp>())]
    pub timestamp: Timestamp,
    /// Which events.
    #[command(flatten)]
    pub filter: Group<EventFilter>,
}

fn zone(text: &str) -> Result<i64, String> {
    let bad = || format!("{text:?} is not an offset from UTC such as +01:00 or Z");
    if matches!(text, "Z" | "z" | "UTC") {
        return Ok(0);
    }
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return Err(bad()),
    };
    let digits: String = rest.split(':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<i64>().map_err(|_| bad())?, 0),
        4 => (digits[..2].parse::<i64>().map_err(|_| bad())?, digits[2..].parse::<i64>().map_err(|_| bad())?),
        _ => return Err(bad()),
    };
    if hours > 14 || minutes > 59 {
        return Err(bad());
    }
    Ok(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn zones() {
        assert_eq!(zone("+01:00"), Ok(3600));
        assert_eq!(zone("-0530"), Ok(-19_800));
        assert!(zone("CET").is_err() && zone("+25").is_err());
    }
}
