//! Rules that assign processes to tasks, jobs, pods and containers, one file each.
//!
//! The input is the observed properties of a process ([`Facts`]), a script that it opened
//! ([`Script`]), or its job, pod and container ([`Place`]). The results are findings: a process
//! belongs to a task, a job, a pod, a container, a systemd unit. A finding contains its rule, its
//! confidence and its evidence.
//!
//! Rules are independent of each other. [`decide`] chooses between their findings: the strongest
//! holds. Of equally strong ones that name tasks of different runs (an engine that runs in a task
//! of another engine), the first in the order of [`ALL`] holds. Equally strong ones that name
//! different tasks of one run decide nothing. Findings that contradict the result are always
//! reported.
//!
//! Before that, impossible findings are left out ([`plausible`]): the user who starts a process
//! controls much of the input of rules.
//!
//! A process for which nothing is found inherits from its parent ([`process_tree`]). A new rule is
//! a new file with an implementation of [`Rule`] and one line in [`ALL`].

mod claim;
mod command_line;
mod container_cgroup;
pub mod engine;
pub mod environment;
mod facts;
mod monitored_layer;
pub mod native_id;
pub mod plausible;
pub mod process_tree;
mod rule;
mod slurm_cgroup;
mod systemd_cgroup;
pub mod work_directory;

#[cfg(test)]
mod tests;

use crate::entities::Entities;

pub use claim::{Claim, Finding, JobClaim, Strength};
pub use facts::{Facts, Place, Program, ROOT, Script, User};
pub use rule::{AddClaim, Rule};

/// Whether a rule uses the opening of a file; called for every open.
pub fn is_script(path: &str) -> bool {
    work_directory::is_script(path)
}

/// Whether a user can have made the control group that names the container of a process.
pub fn is_container_of_user(facts: &Facts) -> bool {
    container_cgroup::of_user(facts)
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

/// Returns the findings of all rules about a process alone, in the order of the rules.
pub fn find(facts: &Facts, scripts: &[Script], entities: &Entities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in ALL {
        let (name, strength) = (rule.name(), rule.strength());
        let mut add = |claim, evidence, users, from_ns| findings.push(Finding { claim, rule: name, strength, evidence, users, from_ns });
        let runs = |program: Option<&Program>| program.and_then(|program| program.real_user.clone()).into_iter().collect::<Vec<_>>();
        rule.of_process(facts, entities, &mut |claim, evidence| add(claim, evidence, rule.makers(facts), i64::MIN));
        for (number, program) in facts.programs.iter().enumerate() {
            // What it forked before was forked by another program.
            let from_ns = program.exec_ns.filter(|_| number > 0).unwrap_or(i64::MIN);
            rule.of_program(program, facts, entities, &mut |claim, evidence| add(claim, evidence, runs(Some(program)), from_ns));
        }
        for script in scripts {
            let users = || runs(facts.program_at(script.at_ns));
            rule.of_script(script, facts, entities, &mut |claim, evidence| add(claim, evidence, users(), script.at_ns));
        }
    }
    findings
}

/// Returns the findings of all rules about its place.
pub fn find_by_place(place: &Place, facts: &Facts, entities: &Entities) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in ALL {
        let users: Vec<User> = facts.real_user().cloned().into_iter().collect();
        let (name, strength) = (rule.name(), rule.strength());
        let mut say = |claim, evidence| {
            findings.push(Finding { claim, rule: name, strength, evidence, users: users.clone(), from_ns: i64::MIN });
        };
        rule.of_place(place, facts, entities, &mut say);
    }
    findings
}

/// Decision between findings of one kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decision<'f> {
    /// The finding that holds; `None` when there is none or they contradict each other.
    pub holds: Option<&'f Finding>,
    /// One that contradicts it or, when none holds, two that contradict each other.
    pub against: Vec<&'f Finding>,
}

/// Chooses between findings that all claim the same kind of thing, in the order of the rules.
/// `exclude` returns whether two claims cannot both be true.
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
