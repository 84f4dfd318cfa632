//! The run of a process, by the engine from which it descends, and its job in the run.
//!
//! Snakemake starts the jobs of a run as its own children: for a command `bash -c 'set -euo
//! pipefail; COMMAND'`, for Python code and groups of jobs itself once more, `python -m snakemake …
//! --target-jobs 'RULE:WILDCARDS'`, for a script its interpreter. The process that opens a run's
//! own log (`DIR/.snakemake/log/RUN.snakemake.log`) for writing is the run's engine: below it are
//! tasks of that run, and tasks of that run are below it ([`excludes`]). A child of the engine that
//! makes a file that one job declares as its output is that job (`groups.rs`, rule [`OUTPUT`]).

use super::claim::{Claim, Finding, Strength};
use super::facts::{Facts, Program};
use super::rule::{AddClaim, Rule};
use crate::entities::{Entities, Run, SNAKEMAKE, Task, starts_jobs};

/// Name of the rule by which a child of an engine is the job that declares the output that the
/// child made, as in the table `links`.
pub const OUTPUT: &str = "declared-output";

/// The name of the rule by which an engine that runs once more for one job is that job.
pub const TARGET: &str = "target-job";

/// O_ACCMODE, O_WRONLY and O_CREAT | O_TRUNC of open(2).
const ACCESS: i32 = 0o3;
const WRITE_ONLY: i32 = 0o1;
const MAKES: i32 = 0o1100;

/// The run with the log that a process opened with these flags, if any; evaluated for every open.
pub fn of_log(path: &str, flags: Option<i32>) -> Option<Run> {
    let name = path.strip_suffix(".snakemake.log")?;
    let (dir, name) = name.rsplit_once("/.snakemake/log/")?;
    let writes = flags.is_some_and(|flags| flags & ACCESS == WRITE_ONLY);
    (writes && is_name(name)).then(|| Run { name: name.to_owned(), dir: dir.to_owned() })
}

/// Whether a run is called as its own log is: `2026-11-22T060002.317716`.
fn is_name(name: &str) -> bool {
    let form = b"0000-00-00T000000.000000";
    name.len() == form.len() && name.bytes().zip(form).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form })
}

/// Whether an open makes the file or its contents; one that opens an input to change it does not.
pub fn makes(flags: Option<i32>) -> bool {
    flags.is_some_and(|flags| flags & ACCESS == WRITE_ONLY || flags & ACCESS != 0 && flags & MAKES != 0)
}

/// The tasks of a run that declare a file, or a folder above it, as their output.
pub fn with_output<'e>(run: &Run, path: &str, entities: &'e Entities) -> &'e [u32] {
    let below = path.strip_prefix(run.dir.as_str()).and_then(|rest| rest.strip_prefix('/'));
    // A job with a shadow directory runs in a folder of its own, and its outputs are moved from there.
    let shadow = below.and_then(|below| below.strip_prefix(".snakemake/shadow/")?.split_once('/')).map(|(_, below)| below);
    let named = [shadow, below, Some(path)].into_iter().flatten();
    let folders = named.flat_map(|path| std::path::Path::new(path).ancestors().filter_map(std::path::Path::to_str));
    folders
        .filter(|path| !path.is_empty())
        .map(|path| entities.tasks.of_run_with_output(&run.name, path))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// Whether a process may be a task: it began and ended while the task ran, and ended as the task
/// did, as far as that is known.
pub fn ran_as(task: &Task, facts: &Facts, slack_ns: i64) -> bool {
    let covers = |ns: Option<i64>| ns.is_none_or(|ns| task.covers(ns, slack_ns));
    let ended_so = facts.exit_code.is_none_or(|code| match task.exit_code {
        Some(told) => told == code,
        None => task.status != "completed" || code == 0,
    });
    covers(facts.started_ns) && covers(facts.exit_ns) && ended_so
}

/// Maximum delay of an engine's record of a job, in nanoseconds: on a busy machine the job begins
/// before it.
const LATE_NS: i64 = 1_000_000_000;

/// Of tasks those that a process may be ([`ran_as`]): by the times as they are, or else by times that the engine wrote late.
pub fn that_ran_as<T: Copy>(tasks: impl Iterator<Item = T> + Clone, task: impl Fn(T) -> u32, facts: &Facts, entities: &Entities) -> Vec<T> {
    let within = |slack_ns| tasks.clone().filter(|at| ran_as(entities.tasks.get(task(*at)), facts, slack_ns)).collect::<Vec<T>>();
    let exact = within(0);
    if exact.is_empty() { within(LATE_NS) } else { exact }
}

/// Whether a process is below the engine of a task's run.
pub fn is_above(task: &Task, facts: &Facts) -> bool {
    starts_jobs(&task.engine) && facts.engine.as_ref().is_some_and(|run| task.run_name.as_deref() == Some(&run.name))
}

/// Whether a guess cannot be true because of the engine: the process is below the engine of another
/// run, or the engine of the task's run was seen on its host and is not above it. `above` is the
/// nearest engine above the process, `seen` are all that were seen on its host.
pub fn excludes(finding: &Finding, above: Option<&Run>, seen: &[std::rc::Rc<Run>], entities: &Entities) -> bool {
    let Claim::Task(task) = finding.claim else { return false };
    let task = entities.tasks.get(task);
    let Some(run) = task.run_name.as_deref().filter(|run| task.engine == SNAKEMAKE && is_name(run)) else { return false };
    finding.strength == Strength::Inferred && above.map_or_else(|| seen.iter().any(|seen| seen.name == run), |above| above.name != run)
}

/// The jobs for which Snakemake starts itself once more, as it writes them.
pub fn target_jobs(program: &Program) -> impl Iterator<Item = &str> {
    let words = program.command_line.as_deref().unwrap_or_default();
    let is_snakemake = words.iter().take(3).any(|word| word.rsplit('/').next() == Some("snakemake"));
    let after = words.iter().skip_while(|word| *word != "--target-jobs").skip(1).filter(move |_| is_snakemake);
    after.map(String::as_str).take_while(|word| !word.starts_with("--"))
}

/// Snakemake that runs once more, for one job.
pub(super) struct TargetJob;

impl Rule for TargetJob {
    fn name(&self) -> &'static str {
        TARGET
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn of_program(&self, program: &Program, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        let mut jobs = target_jobs(program);
        let (Some(job), None, Some(run)) = (jobs.next(), jobs.next(), &facts.engine) else { return };
        // A job without wildcards is written `rule:`.
        let named = entities.tasks.of_run_with_name(&run.name, job.trim_end_matches(':'));
        for task in that_ran_as(named.iter().copied(), |task| task, facts, entities) {
            say(Claim::Task(task), format!("--target-jobs {job}"));
        }
    }
}
