//! Arguments as typed.

mod discover;
mod distribute;
mod evaluate;
mod export;
mod generate;
mod import;
mod old_forms;
mod options;
mod predict;
#[cfg(test)]
mod python_docs;
mod report;
mod serve;
mod shared;
mod similar;
mod trace;
mod transform;
mod why;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use flowmine_api::correlate::HubOptions;
use flowmine_api::groups::{EventFilter, TableColumns, Timestamp};
use flowmine_api::log_format::LogFormat;
use flowmine_api::observe::{LoginNode, Only, Options, Request, Rhythm};
use flowmine_api::options::parse::{duration, moment};
use options::{choice, log_format};

pub use discover::{Discover, with_models};
pub use distribute::{Distribute, Work};
pub use evaluate::Evaluate;
pub use export::Export;
pub use generate::Generate;
pub use import::Import;
pub use old_forms::in_new_form;
pub use options::Group;
pub use predict::Predict;
pub use report::Report;
pub use serve::Serve;
pub use shared::{AsOwner, DatasetArgs, Kept, SourceArgs};
pub use trace::{Doctor, Trace, TraceFilters};
pub use transform::Transform;
pub use why::Why;

/// Process mining for HPC clusters and scientific workflows.
///
/// Observes a Slurm queue from outside, finds the workflows in it, writes event logs and draws
/// models.
#[derive(Debug, Parser)]
#[command(name = "flowmine", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 complete, 1 finished with losses or rejected input (counted in the output), 2 failed.")]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record the changes of a Slurm queue, on this machine or over SSH.
    Observe(Box<Observe>),
    /// Trace reads and writes of a command, a control group or the whole host.
    Trace(Box<Trace>),
    /// Import recordings of other programs.
    #[command(subcommand)]
    Import(Import),
    /// Find the jobs that belong together; writes the tables links, cases and waits.
    Correlate(Correlate),
    /// Write the tables of `correlate` from partial results of hosts.
    Merge(Merge),
    /// Distribute the work of a command as jobs of Slurm or as a workflow.
    Distribute(Box<Distribute>),
    /// Carry out a task of a plan that `distribute` wrote.
    Work(Work),
    /// Remove old rows from a dataset.
    Prune(Prune),
    /// Write an event log.
    Export(Box<Export>),
    /// Check event logs against their standards.
    Validate(Validate),
    /// Discover a model and draw it.
    Discover(Box<Discover>),
    /// Write one page about any source: findings, failures, process, waits, tables.
    Report(Box<Report>),
    /// Serve the page of `report` with models on demand, for large data, and follow changes.
    Serve(Box<Serve>),
    /// Show the waits of jobs, by cause.
    Why(Why),
    /// Compare case notions with the true cases of jobs.
    Evaluate(Evaluate),
    /// Write jobs of simulated users with known workflow runs.
    Generate(Generate),
    /// Predict the end of a workflow and its limiting resources from a model of its processes.
    Predict(Predict),
    /// Alias of `report --out DIR`: page, logs and tables of a dataset.
    Run(Run),
    /// Wrap the tasks of a workflow in layers: monitor, container, sandbox, retry, and your own.
    Transform(Transform),
    /// Show the features that work on this machine, with the reason for those that do not.
    Doctor(Doctor),
    /// Print the help of a command with all details.
    Help {
        /// The words of the command, such as `discover dfg`.
        command: Vec<String>,
    },
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
#[command(
    after_help = "Each poll is one squeue call for all users and states that the account may see. Times are by the cluster's clock. \
    A kill neither loses nor duplicates written rows; start the command again to continue. From cron: \
    * * * * * flowmine observe --once --dataset DIR"
)]
pub struct Observe {
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Readers of written files.
    #[command(flatten)]
    pub kept: Kept,
    /// Poll once and end, for cron.
    #[arg(long, conflicts_with_all = ["every", "polls"])]
    pub once: bool,
    /// Poll at this interval (10s, 2m, 1h), with a jitter of a tenth; after failures it doubles
    /// each time.
    #[arg(long, visible_alias = "interval", value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub every: Duration,
    /// Number of polls before the end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub polls: Option<u64>,
    /// Also run sacct: exact times, exit codes, jobs between polls, dependencies of the submit
    /// line, bytes read and written.
    #[arg(long)]
    pub accounting: bool,
    /// Start of the first period of accounting [default: a day before the first poll]: 2026-11-20,
    /// 2026-11-20T13:00 (UTC) or with zone.
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "accounting")]
    pub accounting_since: Option<i64>,
    /// Also run sinfo: allocated, idle and down CPUs of each node, its state and reason.
    #[arg(long)]
    pub nodes: bool,
    /// Only jobs of the calling user (over SSH the user there). A dataset keeps the selection with
    /// which it began.
    #[arg(long, conflicts_with = "user")]
    pub me: bool,
    /// Only jobs of this user; repeatable.
    #[arg(long, value_name = "NAME")]
    pub user: Vec<String>,
    /// Only jobs charged to this account; repeatable.
    #[arg(long, value_name = "NAME")]
    pub account: Vec<String>,
    /// Only jobs in this partition; repeatable.
    #[arg(long, value_name = "NAME")]
    pub partition: Vec<String>,
    /// Name of the cluster, instead of scontrol's.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub cluster: Option<String>,
    /// Directory of Slurm's commands, where PATH does not have it.
    #[arg(long, value_name = "DIR")]
    pub slurm_bin_dir: Option<String>,
    /// Time limit of one command.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub timeout: Duration,
    /// Directory for the raw output of each poll, a file each; `flowmine import slurm` reads them.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Replace names (users, accounts, groups, hosts, jobs, paths, arguments, comments, …) by codes
    /// made with the key in this file; the dataset never contains a name. Every poll needs the same
    /// key.
    #[arg(long, value_name = "KEYFILE", conflicts_with = "record")]
    pub pseudonymise: Option<PathBuf>,
    /// Print the result of each poll, also without a terminal.
    #[arg(long, short)]
    pub verbose: bool,
    /// Place of the queue.
    #[command(flatten)]
    pub ssh: Ssh,
}

impl Observe {
    /// The request for the library.
    pub fn request(&self) -> Request {
        let rhythm = if self.once { Rhythm::Once } else { Rhythm::Every { interval: self.every, polls: self.polls } };
        let only = Only { me: self.me, users: self.user.clone(), accounts: self.account.clone(), partitions: self.partition.clone() };
        let options = Options {
            only,
            cluster: self.cluster.clone(),
            slurm_bin_dir: self.slurm_bin_dir.clone(),
            timeout: self.timeout,
            accounting: self.accounting,
            nodes: self.nodes,
            accounting_since_ns: self.accounting_since,
            record: self.record.clone(),
            ..Options::default()
        };
        let login_node = self.ssh.login_node();
        Request { into: self.kept.target(&self.dataset), login_node, rhythm, options, pseudonymise: self.pseudonymise.clone() }
    }
}

/// `flowmine prune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Jobs with a later or unknown end stay, with their whole array, all components and attempts. Traces that had not ended, the memory of \
    observers, and tables imported from workflow engines and logs also stay. The tables links, cases and the like stay as they are until correlate \
    makes them again."
)]
pub struct Prune {
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
    /// Remove jobs, tasks and traces that ended before this time: 2026-11-20, 2026-11-20T13:00
    /// (UTC) or with zone, 90d, 12w, yesterday.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub before: i64,
    /// Only count the rows that would be removed. The remaining rows are written next to the
    /// dataset's files for that, and removed.
    #[arg(long)]
    pub dry_run: bool,
    /// Time to wait for another writer, such as a poll from cron.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub wait: Duration,
}

/// How to reach a login node.
#[derive(Debug, Args)]
#[command(next_help_heading = "SSH")]
pub struct Ssh {
    /// Login node. `Host` blocks of the user's ssh config apply. By default squeue runs on this
    /// machine.
    #[arg(long = "ssh", value_name = "[USER@]HOST[:PORT]")]
    pub target: Option<String>,
    /// ssh config file, instead of ~/.ssh/config.
    #[arg(long = "ssh-config", value_name = "FILE", requires = "target")]
    pub config: Option<PathBuf>,
    /// Jump hosts in order, instead of the config's ProxyJump; `none` for a direct connection.
    #[arg(short = 'J', long = "ssh-jump", value_name = "[USER@]HOST[:PORT][,…]", requires = "target")]
    pub jump: Option<String>,
    /// Private key to try first on the login node (jump hosts have their own in the config);
    /// repeatable.
    #[arg(long = "ssh-identity", value_name = "FILE", requires = "target")]
    pub identities: Vec<PathBuf>,
    /// File descriptor with the passphrase of an encrypted key (up to a newline), instead of the
    /// terminal.
    #[arg(long = "ssh-passphrase-fd", value_name = "N", requires = "target")]
    pub passphrase_fd: Option<i32>,
    /// Trust a host that is not in known_hosts, and add its key. A changed or revoked key is still
    /// refused.
    #[arg(long = "ssh-accept-new", requires = "target")]
    pub accept_new: bool,
    /// ssh program that connects, such as `ssh`; used automatically where the config needs it
    /// (ProxyCommand, certificates, GSSAPI, ControlMaster).
    #[arg(long = "ssh-command", value_name = "PROGRAM", requires = "target", conflicts_with = "passphrase_fd")]
    pub command: Option<PathBuf>,
}

impl Ssh {
    /// The login node for the library.
    fn login_node(&self) -> Option<LoginNode> {
        let target = self.target.clone()?;
        let (config, jump, identities) = (self.config.clone(), self.jump.clone(), self.identities.clone());
        let (passphrase_fd, accept_new, command) = (self.passphrase_fd, self.accept_new, self.command.clone());
        Some(LoginNode { target, config, jump, identities, passphrase_fd, accept_new, command })
    }
}

/// `flowmine validate`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 no error found (there may be warnings), 1 errors found, 2 the file cannot be read.")]
pub struct Validate {
    /// The files: XES, OCEL 2.0 (JSON, XML, SQLite) or tables (CSV, Parquet).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Contents of a table's columns.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
    /// Leave out notes.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `flowmine correlate`.
#[derive(Debug, Args)]
pub struct Correlate {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
    /// Cases and hub files.
    #[command(flatten)]
    pub cases: CorrelatedCases,
    /// Write partial results of hosts into this directory instead of the tables, for `merge`. One
    /// that is there and still valid is kept.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["case_notion", "hub_runs", "hub_readers", "hub_age", "as_owner"])]
    pub partial: Option<PathBuf>,
    /// With --partial: only this host; repeatable [default: all hosts of the dataset].
    #[arg(long, value_name = "NAME", requires = "partial")]
    pub host: Vec<String>,
}

/// `flowmine merge`.
#[derive(Debug, Args)]
#[command(after_help = "The tables are equal to those of `flowmine correlate`, to the byte. docs/scale.md has an example.")]
pub struct Merge {
    /// Directories with partial results of all hosts, in any order.
    #[arg(required = true, value_name = "DIR")]
    pub partials: Vec<PathBuf>,
    /// The dataset of which the partial results were made.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
    /// Cases and hub files.
    #[command(flatten)]
    pub cases: CorrelatedCases,
}

/// Cases of the report, and files that join no jobs.
#[derive(Debug, Args)]
pub struct CorrelatedCases {
    /// Case notion of the report. The tables always contain auto, dependency, account-group and,
    /// where jobs are known to exchange files, data-flow; other notions only if they are named here.
    #[arg(long, value_name = "NAME")]
    pub case_notion: Option<String>,
    /// Output as JSON, with the share of attempts that each kind of evidence decided.
    #[arg(long)]
    pub json: bool,
    /// Minimum number of groups of several jobs that read a hub file, which joins no jobs
    /// [initially: 3]. Stored in the dataset, as are the next two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub hub_runs: Option<u32>,
    /// Minimum number of groups of any size that read a hub file [initially: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub hub_readers: Option<u32>,
    /// Minimum time between writing and reading a hub file [initially: 7 days]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub hub_age: Option<Duration>,
}

impl CorrelatedCases {
    /// The limits of hub files.
    pub fn hubs(&self) -> HubOptions {
        let count = |count: Option<u32>| count.map(|count| count as usize);
        let age_ns = self.hub_age.map(|age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
        HubOptions { runs: count(self.hub_runs), readers: count(self.hub_readers), age_ns }
    }
}

/// `flowmine run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
    /// The directory for the results; made when it does not exist.
    #[arg(long, short, visible_alias = "output", value_name = "DIR")]
    pub out: PathBuf,
    /// Formats of the logs, separated by commas: with cases (xes, xes.gz, csv, parquet) for each
    /// case notion (data-flow where jobs are known to exchange files); ocel.json, ocel.xml,
    /// ocel.sqlite for the object-centric log.
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_values = ["xes.gz", "ocel.sqlite"], value_parser = log_format(LogFormat::is_log))]
    pub formats: Vec<&'static LogFormat>,
    /// Time of an event within its observed interval.
    #[arg(long, value_name = "MOMENT", default_value = "reported", value_parser = choice::<Timestamp>())]
    pub timestamp: Timestamp,
    /// Selection of events.
    #[command(flatten)]
    pub filter: Group<EventFilter>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
