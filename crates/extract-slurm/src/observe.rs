//! One poll from beginning to end: query, decode, compare, write.
//!
//! squeue is asked once a poll, for all users and states that the account may see. The script is
//! fixed; the token that ends the fields is drawn anew for each poll and goes through standard
//! input into squeue's environment, where other users of the login node cannot see it. Times are
//! asked for as seconds since 1970, so that no time zone matters, and the moment of a poll is read
//! from the clock of the machine where squeue runs.
//!
//! A poll is used whole or not at all: when the output is cut or squeue fails, nothing is written.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flowmine_dataset::{Access, Builder, Dataset, DatasetError, Role, Writer};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{ControllerClock, DiagnosticRow, JobDependency, JobState, NodeState, source};
use flowmine_schema::text;
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::clock::{self, Ahead};
use serde::{Deserialize, Serialize};

use crate::import_files::UNNAMED;
use crate::memory::{Memory, MemoryError};
use crate::naming::Naming;
use crate::nodes;
use crate::queue::{Changes, PollTime};
use crate::runner::{Output, RunError, Runner};
use crate::sacct;
use crate::squeue::{self, SqueueError};

/// Why a poll, or the whole observation, failed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The command could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The command ran and failed.
    #[error("{command} failed on {place} with exit code {status}: {stderr}")]
    Failed {
        /// squeue, sacct or scontrol.
        command: &'static str,
        /// Where the command ran, as [`Runner::describe`] has it.
        place: String,
        /// Exit code of the command.
        status: i32,
        /// The end of its error output, with control characters made visible.
        stderr: String,
    },
    /// The output stops before its end.
    #[error("{place}: the output of {command} stops before its end: the connection was lost; nothing of it is used")]
    NoEnd {
        /// squeue, sacct or scontrol.
        command: &'static str,
        /// Where the command ran, as [`Runner::describe`] has it.
        place: String,
    },
    /// The command does not exist.
    #[error(
        "{command} was not found on {place}: give the directory that holds Slurm's commands with --slurm-bin-dir (`dirname $(command -v {command})` in a login shell prints it; cron and services have a short PATH)"
    )]
    NotFound {
        /// squeue, sacct or scontrol.
        command: &'static str,
        /// Where the command ran, as [`Runner::describe`] has it.
        place: String,
    },
    /// Its output was not what it should be.
    #[error("{place}: {source}")]
    Squeue {
        /// Where squeue ran, as [`Runner::describe`] has it.
        place: String,
        /// What is wrong with squeue's output.
        source: SqueueError,
    },
    /// sacct's output was not what it should be.
    #[error("{place}: sacct: {why}")]
    Sacct {
        /// Where sacct ran, as [`Runner::describe`] has it.
        place: String,
        /// What is wrong with sacct's output.
        why: String,
    },
    /// sinfo's output was not what it should be.
    #[error("{place}: {why}")]
    Nodes {
        /// Where sinfo ran, as [`Runner::describe`] has it.
        place: String,
        /// What is wrong with sinfo's output.
        why: nodes::NotAsAsked,
    },
    /// scontrol did not report the cluster's name.
    #[error("`scontrol show config` on {place} does not contain the cluster's name: give it with --cluster")]
    NoClusterName {
        /// Where scontrol ran, as [`Runner::describe`] has it.
        place: String,
    },
    /// The dataset's rows are of a cluster without a name.
    #[error(
        "the dataset's rows are of a cluster that no imported file named, and this one is called {cluster}: observe with --cluster {UNNAMED} when it is the same, or into another dataset"
    )]
    NameComesLate {
        /// Name of the cluster that is to be observed.
        cluster: String,
    },
    /// Other jobs are asked for than before.
    #[error(
        "this dataset was observed with {before} and is now to be observed with {now}: jobs outside the new selection would seem to have left the queue; observe into another dataset"
    )]
    OtherJobs {
        /// The options with which the dataset was observed before, in words.
        before: String,
        /// The options with which it is to be observed now, in words.
        now: String,
    },
    /// The kernel gave no random bytes for the token that separates records (getrandom(2)).
    #[error("the kernel gives no random bytes for a delimiter: {0}")]
    Random(getrandom::Error),
    /// A recorded poll could not be written.
    #[error("{}: {source}", .path.display())]
    Record {
        /// Path of the file that was to hold the poll.
        path: PathBuf,
        /// Why the operating system refused.
        source: io::Error,
    },
    /// The dataset could not be read or written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// What was remembered cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl ObserveError {
    /// Whether asking again later may help. A full disk may be emptied, a server come back; a
    /// damaged dataset stays damaged.
    pub fn may_pass(&self) -> bool {
        !matches!(
            self,
            Self::Memory(_)
                | Self::NameComesLate { .. }
                | Self::OtherJobs { .. }
                | Self::NoClusterName { .. }
                | Self::Dataset(DatasetError::Locked { .. } | DatasetError::Version { .. })
        )
    }
}

/// Selection of jobs by user, account and partition; by default the jobs of all users. Several
/// conditions must all hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    /// Jobs of the user who asks, as in `squeue --me`.
    pub me: bool,
    /// Jobs of these users, as in `squeue --user`.
    pub users: Vec<String>,
    /// Jobs charged to these accounts, as in `squeue --account`.
    pub accounts: Vec<String>,
    /// Jobs in these partitions, as in `squeue --partition`.
    pub partitions: Vec<String>,
}

impl Only {
    /// In the words of the options; nothing for all jobs.
    fn words(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.me.then(|| "--me".to_owned()));
        for (option, names) in [("user", &self.users), ("account", &self.accounts), ("partition", &self.partitions)] {
            let mut names = names.clone();
            names.sort();
            words.extend((!names.is_empty()).then(|| format!("--{option} {}", names.join(","))));
        }
        words.join(" ")
    }

    /// The lines that the scripts read: users (`.` for who asks), accounts, partitions.
    fn lines(&self) -> [String; 3] {
        let users = if self.me { ".".to_owned() } else { self.users.join(",") };
        [users, self.accounts.join(","), self.partitions.join(",")]
    }
}

/// Options of an observation: which jobs, of which cluster, with or without accounting.
#[derive(Debug, Clone)]
pub struct Options {
    /// Selection of the jobs that are observed.
    pub only: Only,
    /// Name of the cluster; by default, scontrol is asked for it.
    pub cluster: Option<String>,
    /// A directory that goes before the others in `PATH` there.
    pub slurm_bin_dir: Option<String>,
    /// How long a command may take.
    pub timeout: Duration,
    /// Whether to ask sacct as well.
    pub accounting: bool,
    /// Whether to ask sinfo as well.
    pub nodes: bool,
    /// Start of the first query of accounting; by default a day before the first poll.
    pub accounting_since_ns: Option<i64>,
    /// A directory where each poll's raw output is kept as a file that `flowmine import slurm`
    /// reads.
    pub record: Option<PathBuf>,
    /// How names are written: in clear or as pseudonyms.
    pub naming: Naming,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: Only::default(),
            cluster: None,
            slurm_bin_dir: None,
            timeout: Duration::from_secs(120),
            accounting: false,
            nodes: false,
            accounting_since_ns: None,
            record: None,
            naming: Naming::default(),
        }
    }
}

/// What one poll found and wrote.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Number of records in squeue's answer.
    pub records: u64,
    /// Number of rows of `job_states` written.
    pub changes: usize,
    /// Number of rows of `job_dependencies` written.
    pub dependencies: usize,
    /// What was wrong in the answers of squeue and sacct.
    pub diagnostics: Diagnostics,
    /// Why accounting reported nothing this time.
    pub accounting_failed: Option<String>,
}

/// What every script begins with. Standard input: a directory for `PATH` or nothing, and after how
/// many seconds the command is ended there, because a login node does not end what it started when
/// we hang up.
macro_rules! script {
    ($($line:literal),+) => {
        concat!(
            "IFS= read -r dir; IFS= read -r limit\n",
            "test -z \"$dir\" || PATH=\"$dir:$PATH\"\n",
            "unset SLURM_CLUSTERS SLURM_JSON SLURM_YAML\n",
            "SLURM_BITSTR_LEN=0 SLURM_TIME_FORMAT=%s TZ=UTC\n",
            "export PATH SLURM_BITSTR_LEN SLURM_TIME_FORMAT TZ\n",
            $($line, "\n",)+
            // Only a script that came to its end has written everything: over SSH a lost connection looks like an exit code of 0.
            "echo \"flowmine-end $status\"; exit $status"
        )
    };
}

/// The script of a poll. Standard input goes on with the format.
const POLL: &str = script!(
    "IFS= read -r SQUEUE_FORMAT2 || exit 90; export SQUEUE_FORMAT2",
    "unset SQUEUE_ACCOUNT SQUEUE_ALL SQUEUE_ARRAY SQUEUE_ARRAY_UNIQUE SQUEUE_CLUSTERS SQUEUE_FEDERATION SQUEUE_FORMAT SQUEUE_LICENSES",
    "unset SQUEUE_LOCAL SQUEUE_NAMES SQUEUE_PARTITION SQUEUE_PRIORITY SQUEUE_QOS SQUEUE_SIBLING SQUEUE_SORT SQUEUE_STATES SQUEUE_USERS",
    "IFS= read -r users; IFS= read -r accounts; IFS= read -r partitions; test \"$users\" != . || users=$(id -un)",
    "test -z \"$users\" || export SQUEUE_USERS=\"$users\"; test -z \"$accounts\" || export SQUEUE_ACCOUNT=\"$accounts\"",
    "test -z \"$partitions\" || export SQUEUE_PARTITION=\"$partitions\"",
    "date +%s%N; timeout \"$limit\" squeue --all --states=all; status=$?; date +%s%N"
);

/// The script that asks accounting. Standard input goes on with the delimiter, the start, the
/// fields.
const ACCOUNTING: &str = script!(
    "IFS= read -r delimiter; IFS= read -r start; IFS= read -r format || exit 90",
    "unset SACCT_FORMAT SACCT_LOCAL SACCT_FEDERATION",
    "IFS= read -r users; IFS= read -r accounts; IFS= read -r partitions; test \"$users\" != . || users=$(id -un)",
    "set -- --allusers; test -z \"$users\" || set -- --user=\"$users\"; test -z \"$accounts\" || set -- \"$@\" --accounts=\"$accounts\"",
    "test -z \"$partitions\" || set -- \"$@\" --partition=\"$partitions\"",
    "timeout \"$limit\" sacct \"$@\" --duplicates --parsable --delimiter=\"$delimiter\" --starttime=\"$start\" --format=\"$format\"; status=$?"
);

/// The script that asks for the nodes. Standard input goes on with the format.
const NODES: &str = script!(
    "IFS= read -r format || exit 90; unset SINFO_PARTITION SINFO_SORT",
    "date +%s%N; timeout \"$limit\" sinfo --all --noheader --Node --Format=\"$format\"; status=$?; date +%s%N"
);

/// The script that asks for the cluster's name and slurmctld's time.
const CONFIG: &str = script!("date +%s%N; timeout \"$limit\" scontrol show config; status=$?; date +%s%N");

/// How long the name of a cluster is remembered before it is asked for again.
const NAME_IS_GOOD_NS: i64 = 86_400 * SECOND_NS;

/// How soon after the cluster's name was asked for slurmctld need not be asked again for its time.
const NAME_WAS_JUST_ASKED: Duration = Duration::from_secs(60);

/// A clock that gained or lost more than this between two polls was set.
const CLOCK_WAS_SET_NS: i64 = 2 * SECOND_NS;

/// The file below `.state/` with the names of clusters.
const NAMES: &str = "cluster-names.json";

/// The names of clusters by the place where they were asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Names(BTreeMap<String, Name>);

#[derive(Debug, Serialize, Deserialize)]
struct Name {
    cluster: String,
    asked_ns: i64,
}

impl Names {
    /// What is remembered; nothing when that cannot be read, for then it is asked again.
    fn load(dataset: &Dataset) -> Result<Self, DatasetError> {
        Ok(dataset.state(NAMES)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    fn bytes(&self, dataset: &Dataset) -> Result<Vec<u8>, DatasetError> {
        serde_json::to_vec(self).map_err(|source| DatasetError::Json { path: dataset.dir().join(NAMES), source })
    }
}

/// Observer of the queue of one cluster.
pub struct Observer<'r> {
    writer: Writer,
    runner: Box<dyn Runner + 'r>,
    options: Options,
    /// Name of the cluster; `None` until scontrol has reported it.
    cluster: Option<String>,
    /// `None` after a failure half way: it is loaded again.
    memory: Option<Memory>,
    told_skew: bool,
    /// Time that slurmctld reported with the cluster's name, and the moment of that query.
    reading: Option<(Instant, Option<Reading>)>,
    /// End of the last poll: by a monotonic clock, and by the clock of the machine where squeue
    /// runs.
    last_poll: Option<(Instant, i64)>,
    /// What sacct is asked for; less where it is too old for a field.
    accounting_fields: String,
}

impl<'r> Observer<'r> {
    /// Becomes the dataset's writer, asks for the cluster's name, and loads the memory. The name is
    /// remembered too, for a day. When scontrol cannot be reached, each poll asks for the name
    /// first.
    ///
    /// # Errors
    /// When another process writes to the dataset, scontrol does not report the cluster's name, or
    /// the memory is damaged.
    pub fn open(dataset: &Dataset, runner: Box<dyn Runner + 'r>, options: Options) -> Result<Self, ObserveError> {
        let of = if options.naming.0.is_some() { String::new() } else { format!(" of {}", runner.describe()) };
        let who = format!("observe{of}, process {}", std::process::id());
        let writer = dataset.writer(Role::Raw, &who)?;
        let accounting_fields = sacct::FORMAT.to_owned();
        let mut observer = Self {
            writer,
            runner,
            options,
            cluster: None,
            memory: None,
            told_skew: false,
            reading: None,
            last_poll: None,
            accounting_fields,
        };
        match observer.name() {
            Err(error) if !error.may_pass() => Err(observer.without_names(error)),
            _ => Ok(observer),
        }
    }

    /// Returns an error as it may be shown: with pseudonyms, the output of a command is withheld.
    fn without_names(&self, error: ObserveError) -> ObserveError {
        match error {
            ObserveError::Failed { command, place, status, stderr } => {
                ObserveError::Failed { command, place, status, stderr: self.options.naming.message(stderr) }
            }
            other => other,
        }
    }

    /// Returns the name of the cluster; empty while it is not known.
    pub fn cluster(&self) -> &str {
        self.cluster.as_deref().unwrap_or_default()
    }

    /// Finds the cluster's name, and its memory.
    fn name(&mut self) -> Result<String, ObserveError> {
        if let Some(cluster) = &self.cluster {
            return Ok(cluster.clone());
        }
        let dataset = self.writer.dataset().clone();
        let now = now_ns();
        let mut asked = None;
        let cluster = match &self.options.cluster {
            Some(cluster) => cluster.clone(),
            None => {
                // Another configuration may be another cluster.
                let configuration = std::env::var_os("SLURM_CONF").map(|conf| conf.to_string_lossy().into_owned());
                let directory = self.options.slurm_bin_dir.as_deref().unwrap_or_default();
                let key = format!("{} {directory} {}", self.runner.describe(), configuration.unwrap_or_default());
                // A place has names too: with pseudonyms it is not kept, and the name is asked for by each observer.
                let keeps = self.options.naming.0.is_none();
                let mut names = Names::load(&dataset)?;
                match names.0.get(&key).filter(|name| keeps && (0..NAME_IS_GOOD_NS).contains(&(now - name.asked_ns))) {
                    Some(name) => name.cluster.clone(),
                    None => {
                        let config = Config::ask(self.runner.as_mut(), &self.options)?;
                        let cluster = config.cluster.ok_or_else(|| ObserveError::NoClusterName { place: self.runner.describe() })?;
                        self.reading = Some((Instant::now(), config.reading));
                        names.0.insert(key, Name { cluster: cluster.clone(), asked_ns: now });
                        asked = keeps.then_some(names);
                        cluster
                    }
                }
            }
        };
        let cluster = self.options.naming.cluster(&cluster).into_owned();
        let known = dataset.manifest()?.clusters;
        if known.contains(UNNAMED) && !known.contains(&cluster) {
            return Err(ObserveError::NameComesLate { cluster });
        }
        let memory = Memory::load(&dataset, &cluster, &self.options.naming)?;
        let only = self.only();
        if memory.queue.last_poll().is_some() && memory.only != only {
            let shown = |words: &str| if words.is_empty() { "all jobs".to_owned() } else { text::visible(words).into_owned() };
            return Err(ObserveError::OtherJobs { before: shown(&memory.only), now: shown(&only) });
        }
        self.memory = Some(memory);
        if let Some(names) = asked {
            let mut transaction = self.writer.begin()?;
            transaction.put_state(NAMES, &names.bytes(&dataset)?)?;
            transaction.commit()?;
        }
        self.cluster = Some(cluster.clone());
        Ok(cluster)
    }

    /// Returns the selection of jobs as text: it cannot change from poll to poll.
    fn only(&self) -> String {
        let words = self.options.only.words();
        if words.is_empty() { words } else { self.options.naming.text(&words).into_owned() }
    }

    /// Where squeue runs, as [`Runner::describe`] has it.
    pub fn place(&self) -> String {
        self.runner.describe()
    }

    /// Polls once and writes the changes.
    ///
    /// # Errors
    /// When squeue could not be asked or its output is not whole, or the rows could not be written;
    /// the dataset is as before. A failure of accounting is not an error: the report contains it,
    /// and the next poll queries the same period again.
    pub fn poll(&mut self) -> Result<Report, ObserveError> {
        self.poll_once().map_err(|error| self.without_names(error))
    }

    fn poll_once(&mut self) -> Result<Report, ObserveError> {
        let place = self.runner.describe();
        let cluster = self.name()?;
        let token = squeue::draw_token().map_err(ObserveError::Random)?;
        let format = squeue::format(&token);
        let before = now_ns();
        let [users, accounts, partitions] = self.options.only.lines();
        let output = run_script(self.runner.as_mut(), &self.options, "squeue", POLL, &[&format, &users, &accounts, &partitions])?;
        let after = now_ns();
        let (clock, squeue_output) = split_clock(&output);
        let there = clock.unwrap_or(PollTime { began_ns: before, ended_ns: after });
        if let Some(directory) = &self.options.record {
            record(directory, there, squeue_output, self.writer.dataset().access())?;
        }

        let mut memory = match self.memory.take() {
            Some(memory) => memory,
            None => Memory::load(self.writer.dataset(), &cluster, &self.options.naming)?,
        };
        let mut report = Report::default();
        self.tell_skew(before, after, there, &mut report.diagnostics);
        let went_back_ns = memory.queue.last_poll().map_or(0, |last| last.began_ns.saturating_sub(there.ended_ns)).max(0);
        if went_back_ns > 0 {
            let message = format!("the clock there is {:.1} s behind the last poll", went_back_ns as f64 / 1e9);
            report.diagnostics.push(Diagnostic::warning("clock_went_back", message));
        }
        let mut changes = Changes::new(self.options.naming.clone());
        let (records, shown) = compare(&mut memory, squeue_output, token.as_bytes(), there, &mut changes, &mut report.diagnostics)
            .map_err(|source| ObserveError::Squeue { place: place.clone(), source })?;
        report.records = records;
        self.compare_clocks(&mut memory, shown, there, &mut changes, &mut report.diagnostics);
        memory.only = self.only();
        memory.accounting.begin();
        if self.options.accounting
            && let Err(error) = self.ask_accounting(&mut memory, there, &mut changes, &mut report.diagnostics)
        {
            report.accounting_failed = Some(self.options.naming.message(error.to_string()));
            report
                .diagnostics
                .push(Diagnostic::warning("accounting_failed", error.to_string()).advise("the next poll asks for the same time again"));
        }
        if self.options.nodes
            && let Err(error) = self.ask_nodes(&mut memory, &cluster, &mut changes, &mut report.diagnostics)
        {
            report.diagnostics.push(Diagnostic::warning("nodes_unread", error.to_string()));
        }
        report.changes = changes.states.len();
        report.dependencies = changes.dependencies.len();
        report.diagnostics = self.options.naming.diagnostics(&report.diagnostics).into_owned();
        let input = if self.options.naming.0.is_some() { "squeue".to_owned() } else { format!("squeue on {place}") };
        write(&mut self.writer, &memory, changes, &report.diagnostics, &input, Some(there.ended_ns))?;
        self.memory = Some(memory);
        self.writer.merge_small_files::<JobState<'static>>()?;
        self.writer.merge_small_files::<JobDependency<'static>>()?;
        self.writer.merge_small_files::<ControllerClock<'static>>()?;
        self.writer.merge_small_files::<NodeState<'static>>()?;
        self.writer.merge_small_files::<DiagnosticRow<'static>>()?;
        Ok(report)
    }

    /// Times in the dataset are the cluster's; a large difference to this machine's clock is worth
    /// knowing.
    fn tell_skew(&mut self, before: i64, after: i64, there: PollTime, diagnostics: &mut Diagnostics) {
        let ahead = there.began_ns.saturating_sub(after).max(0) - before.saturating_sub(there.ended_ns).max(0);
        if ahead.abs() > 2 * SECOND_NS && !self.told_skew {
            self.told_skew = true;
            let seconds = ahead as f64 / 1e9;
            let message = format!("the clock there is {seconds:+.1} s against this machine's; times in the dataset are by the clock there");
            diagnostics.push(Diagnostic::warning("clock_skew", message));
        }
    }

    /// Compares the clock there with slurmctld's: by the jobs of a poll, and by slurmctld's own
    /// time each hour and whenever the clock there may have been set.
    fn compare_clocks(&mut self, memory: &mut Memory, shown: Ahead, there: PollTime, changes: &mut Changes, diagnostics: &mut Diagnostics) {
        let finding = memory.see_clock(shown, source::SQUEUE, there, changes);
        let now = Instant::now();
        let was_set = self.last_poll.replace((now, there.ended_ns)).is_some_and(|(last, ended_ns)| {
            let passed_ns = i64::try_from(now.duration_since(last).as_nanos()).unwrap_or(i64::MAX);
            there.ended_ns.saturating_sub(ended_ns).abs_diff(passed_ns) > CLOCK_WAS_SET_NS.unsigned_abs()
        });
        if was_set || memory.clock(source::SQUEUE).is_due(there, finding) {
            memory.clock(source::SQUEUE).asked(there);
            let fresh = self.reading.take().filter(|(asked, _)| asked.elapsed() < NAME_WAS_JUST_ASKED);
            let reading = match fresh {
                Some((_, reading)) => Ok(reading),
                None => Config::ask(self.runner.as_mut(), &self.options).map(|config| config.reading),
            };
            match reading {
                Ok(Some(reading)) => memory.read_clock(reading.ahead(), source::SQUEUE, there, changes),
                Ok(None) => {
                    let message = "scontrol show config has no time".to_owned();
                    diagnostics.push(Diagnostic::warning("controller_clock_unread", message));
                }
                Err(error) => diagnostics.push(Diagnostic::warning("controller_clock_unread", error.to_string())),
            }
        }
        memory.clock(source::SQUEUE).report(diagnostics);
    }

    fn ask_nodes(
        &mut self,
        memory: &mut Memory,
        cluster: &str,
        changes: &mut Changes,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ObserveError> {
        let token = squeue::draw_token().map_err(ObserveError::Random)?;
        let before = now_ns();
        let output = run_script(self.runner.as_mut(), &self.options, "sinfo", NODES, &[&nodes::format(&token)])?;
        let (clock, output) = split_clock(&output);
        let time = clock.unwrap_or(PollTime { began_ns: before, ended_ns: now_ns() });
        let naming = self.options.naming.clone();
        let polled = memory.nodes.poll(output, token.as_bytes(), (cluster, time), &naming, &mut changes.nodes, diagnostics);
        polled.map_err(|why| ObserveError::Nodes { place: self.runner.describe(), why })
    }

    fn ask_accounting(
        &mut self,
        memory: &mut Memory,
        there: PollTime,
        changes: &mut Changes,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ObserveError> {
        let place = self.runner.describe();
        let token = squeue::draw_token().map_err(ObserveError::Random)?;
        // sacct asks for Slurm's times.
        let now_ns = there.began_ns.saturating_sub(memory.clock(source::SQUEUE).ahead().middle_ns());
        let first = self.options.accounting_since_ns.unwrap_or(now_ns - 86_400 * SECOND_NS);
        let start = memory.accounting.window_start_ns(first, now_ns).max(0);
        // sacct(1): YYYY-MM-DDTHH:MM:SS, which it reads in TZ, and that is UTC.
        let start = flowmine_schema::time::rfc3339(start - start % SECOND_NS);
        let start = start.trim_end_matches('Z');
        let [users, accounts, partitions] = self.options.only.lines();
        let mut ask = |fields: &str| {
            let lines = [token.as_str(), start, fields, users.as_str(), accounts.as_str(), partitions.as_str()];
            run_script(self.runner.as_mut(), &self.options, "sacct", ACCOUNTING, &lines)
        };
        let output = match ask(&self.accounting_fields) {
            // sacct refuses the whole query for a field that it does not know: before 21.08 it has no submit line.
            Err(ObserveError::Failed { stderr, .. })
                if stderr.contains("Invalid field requested") && self.accounting_fields == sacct::FORMAT =>
            {
                let message = format!("sacct: {stderr}; asked again without SubmitLine");
                diagnostics.push(Diagnostic::warning("sacct_too_old", message).advise("dependencies are known from squeue only"));
                self.accounting_fields = sacct::FORMAT.replace(",SubmitLine", "");
                ask(&self.accounting_fields)?
            }
            answer => answer?,
        };
        let records = sacct::parse(&output, token.as_bytes(), 0, diagnostics)
            .map_err(|why| ObserveError::Sacct { place: place.clone(), why: why.to_string() })?;
        let naming = &self.options.naming;
        let is_other = |name: &&str| naming.cluster(name) != self.cluster();
        let of_others: Vec<&str> = records.iter().filter_map(|(cluster, _)| cluster.as_deref()).filter(is_other).collect();
        if let Some(other) = of_others.first().filter(|_| of_others.len() == records.len()) {
            let why = format!(
                "it reports cluster {} only, and this one is called {}: give the same name with --cluster",
                text::visible(&naming.cluster(other)),
                self.cluster()
            );
            return Err(ObserveError::Sacct { place, why });
        }
        for (cluster, record) in &records {
            if cluster.as_deref().is_none_or(|cluster| !is_other(&cluster)) {
                memory.accounting.see(record, there.ended_ns, source::SACCT, changes, diagnostics);
            }
        }
        memory.accounting.finish(now_ns);
        Ok(())
    }
}

/// Decodes one output and compares it with the queue as it was. Returns the number of records, and
/// by how much the clock of the poll can be ahead of slurmctld's.
///
/// # Errors
/// When the output is not whole. Then the memory and the changes must not be used.
pub fn compare(
    memory: &mut Memory,
    output: &[u8],
    token: &[u8],
    time: PollTime,
    changes: &mut Changes,
    diagnostics: &mut Diagnostics,
) -> Result<(u64, Ahead), SqueueError> {
    let mut of_records = Diagnostics::default();
    let mut poll = memory.queue.poll(time, source::SQUEUE, changes, diagnostics);
    let count = squeue::parse(output, token, &mut of_records, |record| poll.see(&record))?;
    let shown = poll.finish();
    diagnostics.extend(of_records);
    Ok((count, shown))
}

/// Writes rows, diagnostics and memory in one transaction.
///
/// # Errors
/// When a file cannot be written; then nothing has changed.
pub fn write(
    writer: &mut Writer,
    memory: &Memory,
    changes: Changes,
    diagnostics: &Diagnostics,
    input: &str,
    observed_at_ns: Option<i64>,
) -> Result<(), DatasetError> {
    let dataset = writer.dataset().clone();
    let mut rows = Builder::<DiagnosticRow<'static>>::new();
    rows.extend(diagnostics.rows(input, observed_at_ns));
    let mut transaction = writer.begin()?;
    transaction.append(changes.states)?;
    transaction.append(changes.dependencies)?;
    transaction.append(changes.clocks)?;
    transaction.append(changes.nodes)?;
    transaction.append(rows)?;
    memory.store(&mut transaction, &dataset)?;
    transaction.update_manifest(|manifest| {
        manifest.clusters.insert(memory.queue.cluster().to_owned());
    })?;
    transaction.commit()
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// Takes the clock's readings off the beginning and end of a poll's output. `None` when they are no
/// times: a `date` without `%N`.
fn split_clock(output: &[u8]) -> (Option<PollTime>, &[u8]) {
    let lines = || {
        let first = output.iter().position(|&b| b == b'\n')?;
        let body = output.strip_suffix(b"\n")?;
        let last = body.iter().rposition(|&b| b == b'\n').filter(|&at| at >= first)?;
        Some((&output[..first], &output[first + 1..last + 1], &body[last + 1..]))
    };
    // A record that was cut would stand on the clock's line: that is not taken off, so that the cut is seen.
    let is_of_date = |line: &[u8]| !line.is_empty() && line.len() < 24 && line.iter().all(|b| b.is_ascii_digit() || b"%N".contains(b));
    let Some((before, body, after)) = lines().filter(|(before, _, after)| is_of_date(before) && is_of_date(after)) else {
        return (None, output);
    };
    let nanoseconds = |bytes: &[u8]| flowmine_slurm::units::digits_i64(bytes).filter(|&ns| ns > 1_000_000_000 * SECOND_NS);
    // A clock that was set back meanwhile must not make an interval that ends before it begins.
    let time = nanoseconds(before).zip(nanoseconds(after)).map(|(began, ended)| PollTime { began_ns: began.min(ended), ended_ns: ended });
    (time, body)
}

/// Message of Slurm's commands when they find no configuration.
const NO_CONFIGURATION: [&str; 3] = ["configuration source", "slurm.conf", "resolve_ctls_from_dns_srv"];

/// Runs one of the scripts with lines for its standard input, and gives what it printed when it
/// came to its end and the command succeeded.
fn run_script(
    runner: &mut dyn Runner,
    options: &Options,
    command: &'static str,
    script: &'static str,
    lines: &[&str],
) -> Result<Vec<u8>, ObserveError> {
    let place = runner.describe();
    let mut stdin = format!("{}\n{}\n", options.slurm_bin_dir.as_deref().unwrap_or_default(), options.timeout.as_secs().max(1));
    for line in lines {
        stdin.push_str(line);
        stdin.push('\n');
    }
    let Output { mut stdout, stderr, status, signal } = runner.run(script, stdin.as_bytes(), options.timeout)?;
    if status == 0 && signal.is_none() {
        const END: &[u8] = b"flowmine-end 0\n";
        let begin_of_end = stdout.len().saturating_sub(END.len());
        if !stdout.ends_with(END) {
            return Err(ObserveError::NoEnd { command, place });
        }
        stdout.truncate(begin_of_end);
        return Ok(stdout);
    }
    if status == 127 {
        return Err(ObserveError::NotFound { command, place });
    }
    let said = text::decode(&stderr);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = said[said.len().saturating_sub(3)..].join(" / ");
    let stderr = match (said.is_empty(), status) {
        // cron and services do not read a user's profile, where sites set it.
        (false, _) if NO_CONFIGURATION.iter().any(|words| said.contains(words)) => {
            format!(
                "{}; if SLURM_CONF is set in your shell (`echo $SLURM_CONF`), set it in the crontab or service too",
                text::visible(&said)
            )
        }
        (false, _) => text::visible(&said).into_owned(),
        (true, 124) => format!("no answer within {} s", options.timeout.as_secs()),
        (true, _) => "it printed nothing".to_owned(),
    };
    Err(ObserveError::Failed { command, place, status, stderr })
}

/// slurmctld's time, between two moments of the clock there.
struct Reading {
    asked: PollTime,
    controller_ns: i64,
}

impl Reading {
    fn ahead(&self) -> Ahead {
        Ahead::of_reading(self.asked.began_ns, self.asked.ended_ns, self.controller_ns)
    }
}

/// What is needed of `scontrol show config`.
struct Config {
    cluster: Option<String>,
    reading: Option<Reading>,
}

impl Config {
    fn ask(runner: &mut dyn Runner, options: &Options) -> Result<Self, ObserveError> {
        let before = now_ns();
        let output = run_script(runner, options, "scontrol", CONFIG, &[])?;
        let after = now_ns();
        let (clock, output) = split_clock(&output);
        let asked = clock.unwrap_or(PollTime { began_ns: before, ended_ns: after });
        let config = text::decode(output);
        let name = config.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "ClusterName");
        let cluster = name.map(|(_, name)| name.trim()).filter(|name| !name.is_empty() && *name != "(null)");
        let reading = clock::controller_time_ns(&config).map(|controller_ns| Reading { asked, controller_ns });
        Ok(Self { cluster: cluster.map(str::to_owned), reading })
    }
}

/// The name of a recorded poll's file: when it began and ended.
pub fn record_name(time: PollTime) -> String {
    let stamp = |ns: i64| flowmine_schema::time::rfc3339(ns).replace([':', '-'], "");
    format!("squeue-{}-{}.txt", stamp(time.began_ns), stamp(time.ended_ns))
}

fn record(directory: &Path, time: PollTime, output: &[u8], access: Access) -> Result<(), ObserveError> {
    let path = directory.join(record_name(time));
    let written = access.make_directory(directory).and_then(|folder| {
        let mut file = folder.new_file(record_name(time), access.file_mode())?;
        file.write_all(output)?;
        file.replace()
    });
    written.map_err(|error| ObserveError::Record { path, source: error.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squeue::{FIELDS, Field};
    use flowmine_schema::Row;
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::rc::Rc;

    /// A runner that plays squeue from a script of rows (a stand-in: the real one is in tests/).
    struct Played {
        polls: Rc<RefCell<VecDeque<Poll>>>,
        at_ns: i64,
    }

    enum Poll {
        Queue(Vec<(i64, &'static str)>),
        Cut,
        Fails(i32, &'static str),
    }

    impl Runner for Played {
        fn run(&mut self, script: &'static str, stdin: &[u8], _: Duration) -> Result<Output, RunError> {
            assert!(!script.contains('\''), "over SSH the script stands in single quotes");
            if script == CONFIG {
                return Ok(Output {
                    stdout: b"ClusterName             = lab\nflowmine-end 0\n".to_vec(),
                    stderr: vec![],
                    status: 0,
                    signal: None,
                });
            }
            if script == ACCOUNTING {
                let lines: Vec<&str> = std::str::from_utf8(stdin).unwrap().lines().collect();
                let (token, fields) = (lines[2], lines[4]);
                if fields.contains("SubmitLine") {
                    let stderr = b"sacct: error: Invalid field requested: \"SubmitLine\"\n".to_vec();
                    return Ok(Output { stdout: vec![], stderr, status: 1, signal: None });
                }
                let mut stdout = String::new();
                for row in [
                    fields.split(',').collect::<Vec<_>>(),
                    fields
                        .split(',')
                        .map(|field| match field {
                            "JobID" | "JobIDRaw" => "7",
                            "State" => "COMPLETED",
                            "Submit" | "Start" | "End" => "1795179770",
                            _ => "",
                        })
                        .collect(),
                ] {
                    stdout.extend(row.iter().map(|value| format!("{value}{token}")));
                    stdout.push('\n');
                }
                stdout.push_str("flowmine-end 0\n");
                return Ok(Output { stdout: stdout.into_bytes(), stderr: vec![], status: 0, signal: None });
            }
            let format = stdin.split(|&b| b == b'\n').nth(2).unwrap();
            let token = &format[6..15];
            self.at_ns += 10 * SECOND_NS;
            let mut stdout = format!("{}\n", self.at_ns).into_bytes();
            let mut line = |value: &dyn Fn(usize) -> String| {
                for at in 0..FIELDS.len() {
                    stdout.extend(value(at).as_bytes());
                    stdout.extend(token);
                }
                stdout.push(b'\n');
            };
            line(&|at| FIELDS[at].2.to_owned());
            match self.polls.borrow_mut().pop_front().unwrap() {
                Poll::Fails(status, stderr) => {
                    return Ok(Output { stdout: vec![], stderr: stderr.into(), status, signal: None });
                }
                Poll::Cut => {
                    line(&|_| "1".to_owned());
                    stdout.truncate(stdout.len() - 20);
                }
                Poll::Queue(jobs) => {
                    for (id, state) in jobs {
                        line(&|at| match FIELDS[at].0 {
                            Field::RawId | Field::DisplayedId | Field::ArrayId => id.to_string(),
                            Field::State => state.to_owned(),
                            Field::Submit => "1795179770".to_owned(),
                            _ => "(null)".to_owned(),
                        });
                    }
                }
            }
            stdout.extend(format!("{}\nflowmine-end 0\n", self.at_ns + 1).into_bytes());
            Ok(Output { stdout, stderr: vec![], status: 0, signal: None })
        }

        fn describe(&self) -> String {
            "a play".to_owned()
        }
    }

    fn rows(dataset: &Dataset) -> String {
        let mut rows = Vec::new();
        dataset
            .read::<JobState<'static>, DatasetError>(|row| {
                rows.push(format!("{} {} {}", row.job, row.change, row.state.as_deref().unwrap_or("-")));
                Ok(())
            })
            .unwrap();
        rows.join("; ")
    }

    #[test]
    fn failures_cost_nothing_and_a_restart_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let polls = Rc::new(RefCell::new(VecDeque::from([
            Poll::Queue(vec![(1, "PENDING"), (2, "RUNNING")]),
            Poll::Fails(1, "slurm_load_jobs error: Unable to contact slurm controller\n"),
            Poll::Cut,
            Poll::Queue(vec![(1, "RUNNING"), (2, "RUNNING")]),
        ])));
        let at_ns = 1_795_179_780 * SECOND_NS;
        let play = |at_ns| Box::new(Played { polls: polls.clone(), at_ns });
        let mut observer = Observer::open(&dataset, play(at_ns), Options::default()).unwrap();
        assert!(matches!(
            Observer::open(&dataset, play(at_ns), Options::default()),
            Err(ObserveError::Dataset(DatasetError::Locked { .. }))
        ));
        assert_eq!(observer.poll().unwrap().changes, 2);
        let error = observer.poll().unwrap_err().to_string();
        assert!(error.contains("Unable to contact slurm controller"), "{error}");
        assert!(matches!(observer.poll(), Err(ObserveError::Squeue { .. })));
        assert_eq!(rows(&dataset), "1 new PENDING; 2 new RUNNING");
        assert_eq!(observer.poll().unwrap().changes, 1);
        drop(observer);

        polls.borrow_mut().extend([Poll::Queue(vec![(2, "COMPLETED")])]);
        let mut observer = Observer::open(&dataset, play(at_ns + 100 * SECOND_NS), Options::default()).unwrap();
        assert_eq!(observer.poll().unwrap().changes, 2);
        assert_eq!(rows(&dataset), "1 new PENDING; 2 new RUNNING; 1 state RUNNING; 2 state COMPLETED; 1 left -");
        assert!(dataset.manifest().unwrap().clusters.contains("lab"));

        // A clock that was set back: the poll counts.
        polls.borrow_mut().extend([Poll::Queue(vec![])]);
        let mut late = Observer { runner: play(at_ns - 1000 * SECOND_NS), ..observer };
        let report = late.poll().unwrap();
        assert_eq!((report.changes, report.diagnostics.iter().filter(|d| d.code == "clock_went_back").count()), (1, 1));
        drop(late);
        std::fs::remove_dir_all(dir.path().join(".state")).unwrap();
        assert!(matches!(
            Observer::open(&dataset, play(at_ns), Options::default()),
            Err(ObserveError::Memory(MemoryError::Missing { .. }))
        ));
    }

    /// [`Played`] with a controller that can be down, and a count of how often it was asked for its
    /// name.
    struct Named {
        played: Played,
        asked: Rc<Cell<u32>>,
        is_down: Rc<Cell<bool>>,
    }

    impl Runner for Named {
        fn run(&mut self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError> {
            if script != CONFIG {
                return self.played.run(script, stdin, timeout);
            }
            self.asked.set(self.asked.get() + 1);
            if self.is_down.get() {
                let stderr = b"slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)\n".to_vec();
                return Ok(Output { stdout: vec![], stderr, status: 1, signal: None });
            }
            self.played.run(script, stdin, timeout)
        }

        fn describe(&self) -> String {
            self.played.describe()
        }
    }

    #[test]
    fn the_name_is_asked_for_once_a_day_and_again_while_the_controller_is_down() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let polls = Rc::new(RefCell::new(VecDeque::new()));
        let (asked, is_down) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(true)));
        let at_ns = 1_795_179_780 * SECOND_NS;
        let named = || Named { played: Played { polls: polls.clone(), at_ns }, asked: asked.clone(), is_down: is_down.clone() };
        let mut observer = Observer::open(&dataset, Box::new(named()), Options::default()).unwrap();
        assert_eq!(observer.cluster(), "");
        let error = observer.poll().unwrap_err();
        assert!(error.may_pass() && error.to_string().contains("Unable to contact slurm controller"), "{error}");
        is_down.set(false);
        polls.borrow_mut().push_back(Poll::Queue(vec![(1, "PENDING")]));
        assert_eq!((observer.poll().unwrap().changes, observer.cluster()), (1, "lab"));
        drop(observer);
        assert_eq!(asked.replace(0), 3);
        // As from cron: each poll is a process of its own.
        for _ in 0..3 {
            polls.borrow_mut().push_back(Poll::Queue(vec![(1, "PENDING")]));
            let mut observer = Observer::open(&dataset, Box::new(named()), Options::default()).unwrap();
            assert_eq!((observer.poll().unwrap().changes, observer.cluster()), (0, "lab"));
        }
        assert_eq!(asked.get(), 0);
        let mut names = Names::load(&dataset).unwrap();
        names.0.values_mut().for_each(|name| name.asked_ns -= NAME_IS_GOOD_NS);
        let bytes = names.bytes(&dataset).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.put_state(NAMES, &bytes).unwrap();
        transaction.commit().unwrap();
        drop(writer);
        drop(Observer::open(&dataset, Box::new(named()), Options::default()).unwrap());
        assert_eq!(asked.get(), 1, "a day later it is asked for again");
        // From another place it is another question.
        let elsewhere = Options { slurm_bin_dir: Some("/opt/slurm/bin".to_owned()), ..Options::default() };
        drop(Observer::open(&dataset, Box::new(named()), elsewhere).unwrap());
        assert_eq!(asked.get(), 2);
    }

    #[test]
    fn a_dataset_keeps_to_the_jobs_with_which_it_began() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let polls = Rc::new(RefCell::new(VecDeque::from([Poll::Queue(vec![(1, "PENDING")]), Poll::Queue(vec![(1, "RUNNING")])])));
        let open = |only: Only| {
            let played = Played { polls: polls.clone(), at_ns: 1_795_179_780 * SECOND_NS };
            Observer::open(&dataset, Box::new(played), Options { only, ..Options::default() })
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let two = Only { users: names(&["bob", "ann"]), accounts: names(&["physics"]), ..Only::default() };
        assert_eq!(two.lines(), ["bob,ann", "physics", ""]);
        assert_eq!(open(two.clone()).unwrap().poll().unwrap().changes, 1);
        for other in [Only::default(), Only { me: true, ..Only::default() }, Only { users: names(&["ann"]), ..Only::default() }] {
            let Err(error) = open(other) else { panic!("jobs that are not asked for would leave") };
            assert!(!error.may_pass() && error.to_string().contains("--user ann,bob --account physics"), "{error}");
        }
        let same = Only { users: names(&["ann", "bob"]), ..two };
        assert_eq!(open(same).unwrap().poll().unwrap().changes, 1);
    }

    #[test]
    fn an_old_sacct_is_asked_for_less() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let polls = Rc::new(RefCell::new(VecDeque::from([Poll::Queue(vec![]), Poll::Queue(vec![])])));
        let options = Options { accounting: true, ..Options::default() };
        let mut observer = Observer::open(&dataset, Box::new(Played { polls, at_ns: 1_795_179_780 * SECOND_NS }), options).unwrap();
        let told = |report: &Report| report.diagnostics.iter().filter(|d| d.code == "sacct_too_old").count();
        let report = observer.poll().unwrap();
        assert_eq!((told(&report), report.accounting_failed), (1, None));
        assert_eq!(told(&observer.poll().unwrap()), 0);
        assert_eq!(rows(&dataset), "7 accounting COMPLETED");
    }

    #[test]
    fn the_clock_is_taken_off() {
        let (time, body) = split_clock(b"1795179770000000001\nJOBID\nx\n1795179770000000009\n");
        assert_eq!(
            (time, body),
            (Some(PollTime { began_ns: 1_795_179_770_000_000_001, ended_ns: 1_795_179_770_000_000_009 }), &b"JOBID\nx\n"[..])
        );
        assert_eq!(split_clock(b"1795179770%N\nJOBID\nx\n1795179771%N\n"), (None, &b"JOBID\nx\n"[..]));
        let (time, _) = split_clock(b"1795179770000000009\nJOBID\n1795179770000000001\n");
        assert_eq!(time, Some(PollTime { began_ns: 1_795_179_770_000_000_001, ended_ns: 1_795_179_770_000_000_001 }));
        assert_eq!(split_clock(b""), (None, &b""[..]));
        assert_eq!(JobState::TABLE, "job_states");
    }
}
