//! Steps: jobs and tasks with different names, users and accounts that do the same, with the
//! evidence.
//!
//! Which attempts are one step is decided in `flowmine-steps`; here is what a step is in numbers.

use schemars::JsonSchema;
use serde::Serialize;

/// The steps of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Steps {
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Number of attempts at tasks of workflow engines.
    pub tasks: u64,
    /// The steps, those with most attempts first.
    pub steps: Vec<Step>,
}

/// A step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Name; no other step has it.
    pub name: String,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Number of attempts at tasks.
    pub tasks: u64,
    /// Users, by name.
    pub users: Vec<String>,
    /// Accounts, by name.
    pub accounts: Vec<String>,
    /// What names attempts: `engine`, `script`, `name`, `argument`, `program`, or `user` where the
    /// name describes no work.
    pub evidence: Vec<Evidence>,
    /// Whether attempts with different names are joined by their main program.
    pub joined_by_program: bool,
    /// Names without their variable parts, at most five.
    pub templates: Vec<String>,
    /// Names of the oldest attempts, at most five.
    pub examples: Vec<String>,
    /// Main programs, the most frequent one first.
    pub programs: Vec<Program>,
    /// Kinds of traced files that were read.
    pub read_kinds: Vec<String>,
    /// Kinds of traced files that were written.
    pub written_kinds: Vec<String>,
    /// Median number of CPUs.
    pub median_cpus: Option<i64>,
    /// Median requested memory, in bytes.
    pub median_memory_bytes: Option<i64>,
    /// Median running time, in nanoseconds.
    pub median_running_ns: Option<i64>,
}

/// What names attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Kind of evidence.
    pub by: String,
    /// Number of attempts.
    pub attempts: u64,
}

/// A main program of attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Program {
    /// Name, with a subcommand.
    pub name: String,
    /// Number of attempts.
    pub attempts: u64,
    /// CPU time of the program and what it started, in nanoseconds; null where it was not traced.
    pub cpu_time_ns: Option<i64>,
}

/// Lists steps.
pub fn discover(found: &[flowmine_steps::Step]) -> Steps {
    let mut steps: Vec<Step> = found.iter().map(step).collect();
    steps.sort_by(|a, b| (b.attempts(), &a.name).cmp(&(a.attempts(), &b.name)));
    Steps { jobs: steps.iter().map(|step| step.jobs).sum(), tasks: steps.iter().map(|step| step.tasks).sum(), steps }
}

fn step(found: &flowmine_steps::Step) -> Step {
    let found = found.clone();
    Step {
        name: found.name,
        jobs: found.jobs,
        tasks: found.tasks,
        users: found.users,
        accounts: found.accounts,
        evidence: found.named.into_iter().map(|(named, attempts)| Evidence { by: named.name().to_owned(), attempts }).collect(),
        joined_by_program: found.is_joined_by_program,
        templates: found.templates,
        examples: found.examples,
        programs: (found.programs.into_iter()).map(|(name, attempts, cpu_time_ns)| Program { name, attempts, cpu_time_ns }).collect(),
        read_kinds: found.read_kinds,
        written_kinds: found.written_kinds,
        median_cpus: found.cpus,
        median_memory_bytes: found.memory_bytes,
        median_running_ns: found.running_ns,
    }
}

impl Step {
    /// Number of attempts at jobs and tasks.
    pub fn attempts(&self) -> u64 {
        self.jobs + self.tasks
    }
}
