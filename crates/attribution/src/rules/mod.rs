//! Who belongs to whom: rules, one file each.
//!
//! In goes what was observed of a process ([`Facts`]), a script that it opened ([`Script`]), or the job, pod and container that it is in ([`Place`]); out come findings: a process
//! belongs to a task, a job, a pod, a container, a systemd unit. A finding says by which rule, how far that can be trusted, and on what evidence.
//!
//! Rules do not know each other. [`decide`] chooses between what they find: the strongest holds; of equally strong ones that name tasks of different runs (an engine that runs in a
//! task of another engine) the first in the order of [`ALL`]; equally strong ones that name different tasks of one run decide nothing. Whoever wins, what contradicts it is told.
//!
//! Before that what cannot be true is left out ([`plausible`]): much of what rules look at is in the hands of whoever starts a process.
//!
//! A process for which nothing is found inherits from its parent ([`process_tree`]). A new rule is a new file with an implementation of [`Rule`] and one line in [`ALL`].

mod command_line;
mod container_cgroup;
pub mod engine;
pub mod environment;
mod monitored_layer;
pub mod native_id;
pub mod plausible;
pub mod process_tree;
mod slurm_cgroup;
mod systemd_cgroup;
pub mod work_directory;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use flowmine_schema::tables::Process;
use serde::Deserialize;

use crate::entities::Entities;

/// How far a finding can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A last resort: it looks like it.
    Guessed,
    /// It follows from what was observed.
    Derived,
    /// A scheduler, an engine or the kernel says so, with an id.
    Told,
}

impl Strength {
    /// As in the table `links`.
    pub fn name(self) -> &'static str {
        match self {
            Strength::Guessed => "guessed",
            Strength::Derived => "derived",
            Strength::Told => "told",
        }
    }
}

/// What a process belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// A task attempt, by its number in [`crate::entities::Tasks`].
    Task(u32),
    /// A Slurm job.
    Job(JobClaim),
    /// A pod, by its uid.
    Pod(String),
    /// A container, by its id.
    Container(String),
    /// A systemd scope or service.
    Unit(String),
}

/// A Slurm job as a process shows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobClaim {
    /// Slurm's raw id.
    pub id: i64,
    /// Its cluster, if that is shown.
    pub cluster: Option<String>,
    /// The step: `0`, `batch`, `extern`, `interactive`.
    pub step: Option<String>,
}

/// A claim, and who makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub claim: Claim,
    /// By which rule.
    pub rule: &'static str,
    /// How far to trust it.
    pub strength: Strength,
    /// On what evidence.
    pub evidence: String,
    /// Since when; a child that was forked before does not inherit it. `i64::MIN` when it holds for all of the process.
    pub from_ns: i64,
}

/// What was observed of a process.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Its host.
    pub host: String,
    /// Its number.
    pub pid: i64,
    /// Its number in its own pid namespace, if that is another.
    pub container_pid: Option<i64>,
    /// When it started.
    pub started_ns: Option<i64>,
    /// When it ended.
    pub exit_ns: Option<i64>,
    /// Its cgroup's path in the v2 hierarchy.
    pub cgroup_path: Option<String>,
    /// Its paths in the v1 hierarchies.
    pub cgroup_v1: Vec<String>,
    /// Environment variables that were kept.
    pub environment: Vec<(String, String)>,
    /// Its exit code; 128 and the number of the signal that ended it.
    pub exit_code: Option<i64>,
    /// The programs that it was one after the other, the last one included: a shell may execute its last command in its own place. The first is its parent's when nothing is known of it.
    pub programs: Vec<Program>,
    /// The nearest engine above it that was seen.
    pub engine: Option<std::rc::Rc<engine::Run>>,
}

/// A program that a process was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Since when; `None` when it was so from the beginning.
    pub exec_ns: Option<i64>,
    /// Its command line.
    pub command_line: Option<Vec<String>>,
    /// Whether the command line is not all of it.
    pub command_line_cut: bool,
    /// Its working directory when it began.
    pub work_dir: Option<String>,
}

impl Program {
    /// Whether the command line is known by its first word only: that is what a trace keeps of processes of others.
    pub fn only_program(&self) -> bool {
        self.command_line_cut && self.command_line.as_ref().is_some_and(|words| words.len() == 1)
    }
}

impl Facts {
    /// Of a row of `processes`.
    pub fn of(row: &Process<'_>) -> Self {
        let object = |text: &Option<Cow<'_, str>>| -> Vec<(String, String)> {
            let map = text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).ok());
            map.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
        };
        Self {
            host: row.host.to_string(),
            pid: row.pid.into(),
            container_pid: row.container_pid.map(i64::from),
            started_ns: row.started_ns,
            exit_ns: row.exit_ns,
            cgroup_path: row.cgroup_path.as_deref().map(str::to_owned),
            cgroup_v1: object(&row.cgroup_v1).into_iter().map(|(_, path)| path).collect(),
            environment: object(&row.environment),
            exit_code: row.exit_code.or(row.exit_signal.map(|signal| 128 + signal)).map(i64::from),
            programs: programs(row),
            engine: None,
        }
    }

    /// The program that it was at a moment; the first one when that was before it is known what it was.
    pub fn program_at(&self, ns: i64) -> Option<&Program> {
        let then = self.programs.iter().rev().find(|program| program.exec_ns.is_none_or(|since| since <= ns));
        then.or(self.programs.first())
    }

    /// An environment variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// All paths of its control groups.
    pub fn cgroups(&self) -> impl Iterator<Item = &str> {
        self.cgroup_path.iter().chain(&self.cgroup_v1).map(String::as_str)
    }
}

fn programs(row: &Process<'_>) -> Vec<Program> {
    let mut programs: Vec<Program> = row.earlier_programs.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    programs.push(Program {
        exec_ns: row.exec_ns,
        command_line: row.command_line.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        command_line_cut: row.command_line_cut,
        work_dir: row.work_dir.as_deref().map(str::to_owned),
    });
    programs
}

/// A file that a process opened for reading, of which a rule may know whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// As the host sees it.
    pub path: String,
    /// As the process sees it, if that differs.
    pub container_path: Option<String>,
    /// When.
    pub at_ns: i64,
}

/// Whether a rule wants to know that a file was opened; asked of every open.
pub fn is_script(path: &str) -> bool {
    work_directory::is_script(path)
}

/// Where a process is, as found by the rules that look at it alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Its job.
    pub job: Option<JobClaim>,
    /// Its pod.
    pub pod: Option<String>,
    /// Its container.
    pub container: Option<String>,
}

/// What a rule says: the claim and the evidence for it.
pub type Said<'f> = dyn FnMut(Claim, String) + 'f;

/// A way to find out where a process belongs.
pub trait Rule: Sync {
    /// Its name, as in the table `links`.
    fn name(&self) -> &'static str;
    /// How far its findings can be trusted.
    fn strength(&self) -> Strength;
    /// What follows from a program that a process was.
    fn of_program(&self, _program: &Program, _facts: &Facts, _entities: &Entities, _say: &mut Said<'_>) {}
    /// What follows from a process.
    fn of_process(&self, _facts: &Facts, _entities: &Entities, _say: &mut Said<'_>) {}
    /// What follows from a script that it opened.
    fn of_script(&self, _script: &Script, _facts: &Facts, _entities: &Entities, _say: &mut Said<'_>) {}
    /// What follows from where it is.
    fn of_place(&self, _place: &Place, _facts: &Facts, _entities: &Entities, _say: &mut Said<'_>) {}
}

/// Every rule, the more specific ones first.
pub static ALL: &[&dyn Rule] = &[
    &monitored_layer::MonitoredLayer,
    &native_id::NativeId,
    &slurm_cgroup::SlurmCgroup,
    &container_cgroup::ContainerCgroup,
    &systemd_cgroup::SystemdCgroup,
    &work_directory::WorkDirectory,
    &engine::TargetJob,
    &environment::Environment,
    &command_line::CommandLine,
];

/// What all rules find about a process alone, in the order of the rules.
pub fn find(facts: &Facts, scripts: &[Script], entities: &Entities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in ALL {
        let (name, strength) = (rule.name(), rule.strength());
        let mut add = |claim, evidence, from_ns| findings.push(Finding { claim, rule: name, strength, evidence, from_ns });
        rule.of_process(facts, entities, &mut |claim, evidence| add(claim, evidence, i64::MIN));
        for (number, program) in facts.programs.iter().enumerate() {
            // What it forked before was forked by another program.
            let from_ns = program.exec_ns.filter(|_| number > 0).unwrap_or(i64::MIN);
            rule.of_program(program, facts, entities, &mut |claim, evidence| add(claim, evidence, from_ns));
        }
        for script in scripts {
            rule.of_script(script, facts, entities, &mut |claim, evidence| add(claim, evidence, script.at_ns));
        }
    }
    findings
}

/// What all rules find about where it is.
pub fn find_by_place(place: &Place, facts: &Facts, entities: &Entities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in ALL {
        let mut say =
            |claim, evidence| findings.push(Finding { claim, rule: rule.name(), strength: rule.strength(), evidence, from_ns: i64::MIN });
        rule.of_place(place, facts, entities, &mut say);
    }
    findings
}

/// What is decided between findings of one kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decision<'f> {
    /// The finding that holds.
    pub holds: Option<&'f Finding>,
    /// One that contradicts it or, when none holds, two that contradict each other.
    pub against: Vec<&'f Finding>,
}

/// Chooses between findings that all claim the same kind of thing, in the order of the rules. `exclude` says of two claims whether they cannot both be true.
pub fn decide<'f>(findings: &[&'f Finding], exclude: impl Fn(&Finding, &Finding) -> bool) -> Decision<'f> {
    let Some(strongest) = findings.iter().map(|finding| finding.strength).max() else { return Decision::default() };
    let mut best = findings.iter().copied().filter(|finding| finding.strength == strongest);
    let Some(first) = best.next() else { return Decision::default() };
    if let Some(other) = best.find(|other| exclude(first, other)) {
        return Decision { holds: None, against: vec![first, other] };
    }
    let against = findings.iter().copied().filter(|other| exclude(first, other)).take(1).collect();
    Decision { holds: Some(first), against }
}
