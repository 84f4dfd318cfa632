//! Observation of the queue of a Slurm cluster, once or until it is stopped.

#[cfg_attr(not(feature = "ssh"), path = "observe/without/login_node.rs")]
mod login_node;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flowmine_extract_slurm::observe::{ObserveError, Observer};
use flowmine_extract_slurm::schedule::{self, SHORTEST_POLITE};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time;
use serde::Serialize;

use crate::error::{Result, ensure};
use crate::pseudonyms;
use crate::sink::Sink;
use crate::target::Target;

pub use flowmine_extract_slurm::observe::{Only, Options};

/// Longest sleep between two looks at whether the observation is to stop.
const NAP: Duration = Duration::from_millis(100);

/// An observation: of which queue, when, and into which dataset.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dataset.
    pub into: Target,
    /// The login node; `None` for this machine.
    pub login_node: Option<LoginNode>,
    /// The moments of the polls.
    pub rhythm: Rhythm,
    /// The jobs, and what is asked of Slurm. The key of the request decides on `naming`.
    pub options: Options,
    /// The file with the key of codes that are written in place of names.
    pub pseudonymise: Option<PathBuf>,
}

/// A login node that is reached over SSH.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoginNode {
    /// The node, as `[USER@]HOST[:PORT]`.
    pub target: String,
    /// The config file of SSH, in place of the user's.
    pub config: Option<PathBuf>,
    /// The jump hosts in place of those of the config, with commas between them.
    pub jump: Option<String>,
    /// The private keys that are tried first.
    pub identities: Vec<PathBuf>,
    /// The file descriptor with the passphrase of a key; without it the user is asked.
    pub passphrase_fd: Option<i32>,
    /// Whether the key of an unknown host is trusted and kept.
    pub accept_new: bool,
    /// The ssh program that connects. Without one libssh2 does, unless the config needs a program.
    pub command: Option<PathBuf>,
}

/// The moments of the polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rhythm {
    /// One poll.
    Once,
    /// Polls at an interval.
    Every {
        /// The interval, from the begin of a poll to the begin of the next.
        interval: Duration,
        /// The number of polls; `None` for polls until the observation is stopped.
        polls: Option<u64>,
    },
}

/// What one poll found.
#[derive(Debug, Serialize)]
pub struct Poll<'p> {
    /// The cluster.
    pub cluster: &'p str,
    /// Where its commands ran.
    pub place: String,
    /// When the poll had ended, in nanoseconds since 1970, by the clock of this machine in seconds.
    pub ended_ns: i64,
    /// Jobs and array tasks in the queue, as squeue lists them.
    pub records: u64,
    /// Changes that were written.
    pub changes: usize,
    /// Dependencies that were written.
    pub dependencies: usize,
    /// Why accounting reported nothing.
    pub accounting_failed: Option<&'p str>,
    /// What was wrong in the answers; the dataset has it too.
    #[serde(skip)]
    pub diagnostics: &'p Diagnostics,
}

impl Poll<'_> {
    /// Whether something of the queue is lost.
    pub fn is_lossy(&self) -> bool {
        self.diagnostics.errors() > 0 || self.accounting_failed.is_some()
    }

    /// Returns the poll in one line.
    pub fn text(&self) -> String {
        let (when, cluster) = (time::human(self.ended_ns), self.cluster);
        let Self { records, changes, dependencies, .. } = self;
        format!("{when}  {cluster}: {records} in the queue, {changes} changes, {dependencies} dependencies")
    }
}

/// How an observation ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// Number of polls, failed ones included.
    pub polls: u64,
    /// Number of polls at the end that failed.
    pub failures: u32,
    /// Whether something of the queue is lost.
    pub is_lossy: bool,
}

/// Polls until the observation is complete or `stop` is set. Each poll goes to `polled`.
///
/// # Errors
/// When the queue cannot be asked and a later poll would not help, or the dataset cannot be
/// written.
pub fn observe(request: &Request, stop: &AtomicBool, sink: &dyn Sink, polled: &mut dyn FnMut(&Poll<'_>)) -> Result<Observed> {
    if let Rhythm::Every { interval, .. } = request.rhythm
        && interval < SHORTEST_POLITE
    {
        sink.warning(&format!(
            "polling every {} s is a burden on slurmctld: squeue(1) asks not to call it from loops, and sites ask for 10 to 120 s",
            interval.as_secs_f64()
        ));
    }
    let runner = login_node::runner(request.login_node.as_ref(), sink)?;
    let dataset = request.into.open()?;
    let mut options = request.options.clone();
    check(&options)?;
    if let Some(key) = &request.pseudonymise {
        options.naming = pseudonyms::naming(pseudonyms::read_key(key, sink)?);
    }
    let mut observer = Observer::open(&dataset, runner, options)?;
    match request.rhythm {
        Rhythm::Once => Ok(Observed { polls: 1, failures: 0, is_lossy: poll(&mut observer, polled)? }),
        Rhythm::Every { interval, polls } => watch(&mut observer, interval, polls, stop, sink, polled),
    }
}

/// Polls once. Returns whether something is lost.
fn poll(observer: &mut Observer<'_>, polled: &mut dyn FnMut(&Poll<'_>)) -> Result<bool, ObserveError> {
    let report = observer.poll()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let poll = Poll {
        cluster: observer.cluster(),
        place: observer.place(),
        ended_ns: now * time::SECOND_NS,
        records: report.records,
        changes: report.changes,
        dependencies: report.dependencies,
        accounting_failed: report.accounting_failed.as_deref(),
        diagnostics: &report.diagnostics,
    };
    polled(&poll);
    Ok(poll.is_lossy())
}

fn watch(
    observer: &mut Observer<'_>,
    interval: Duration,
    most: Option<u64>,
    stop: &AtomicBool,
    sink: &dyn Sink,
    polled: &mut dyn FnMut(&Poll<'_>),
) -> Result<Observed> {
    let mut so_far = Observed::default();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        let polled = poll(observer, polled);
        so_far.failures = if polled.is_ok() { 0 } else { so_far.failures + 1 };
        let pause = schedule::wait(interval, began.elapsed(), so_far.failures, draw());
        match polled {
            Ok(is_lossy) => so_far.is_lossy |= is_lossy,
            Err(error) if error.may_pass() => {
                sink.warning(&format!("{error}; trying again in about {:.0} s", pause.as_secs_f64()));
            }
            Err(error) => return Err(error.into()),
        }
        so_far.polls += 1;
        if most.is_some_and(|most| so_far.polls >= most) {
            break;
        }
        sleep(pause, stop);
    }
    so_far.is_lossy |= so_far.failures > 0;
    Ok(so_far)
}

/// Sleeps in short pieces, so that a stop is noticed.
fn sleep(length: Duration, stop: &AtomicBool) {
    let end = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(NAP));
    }
}

/// Returns a number from 0 to 1 for the jitter; it need not be a good one.
fn draw() -> f64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    f64::from(nanos % 1_000_003) / 1_000_003.0
}

/// Refuses values that would be several in the command to which they go.
fn check(options: &Options) -> Result<()> {
    let Only { users, accounts, partitions, .. } = &options.only;
    for (option, names) in [("--user", users), ("--account", accounts), ("--partition", partitions)] {
        for name in names {
            ensure!(!name.is_empty() && !name.contains([',', '\n', '\0']), "{option} takes one name: {name:?}");
        }
    }
    // It goes through a line of standard input.
    let has_newline = options.slurm_bin_dir.as_deref().is_some_and(|dir| dir.contains(['\n', '\0']));
    ensure!(!has_newline, "--slurm-bin-dir must not hold a newline");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_name() {
        let only = |users: &[&str]| Options {
            only: Only { users: users.iter().map(|name| (*name).to_owned()).collect(), ..Only::default() },
            ..Options::default()
        };
        assert!(check(&only(&["ada", "bob"])).is_ok());
        for name in ["", "ada,bob", "ada\nbob", "ada\0"] {
            let refused = check(&only(&[name])).err().map(|error| error.to_string());
            assert_eq!(refused, Some(format!("--user takes one name: {name:?}")));
        }
        let dir = Options { slurm_bin_dir: Some("/opt\n/bin".to_owned()), ..Options::default() };
        assert_eq!(check(&dir).err().map(|error| error.to_string()).as_deref(), Some("--slurm-bin-dir must not hold a newline"));
    }
}
