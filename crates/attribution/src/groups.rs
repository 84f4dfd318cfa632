//! Processes that belong to one task as a whole, of which it is known late which one that is:
//! control groups, the second half of the monitoring paper's rule (section V-B), and what a child
//! of an engine started.
//!
//! When a process in a container opens its task's script, the container belongs to the task, with
//! the processes that ran in it before. If a trace has only numbers of control groups (`io-csv`), a
//! group counts when no process in it is older than the task; the engine's own group has older
//! ones. A group in which scripts of two tasks were opened belongs to neither, and gives a
//! diagnostic. A child of an engine, with all that it starts, is the job of the engine
//! (`rules/engine.rs`) that declares the outputs that are made there, and that began and ended as
//! the child did. This is decided when the host has been read.

use std::collections::BTreeMap;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::Link;
use rustc_hash::FxHashMap;

use crate::AttributionError;
use crate::attribute::refuted;
use crate::entities::Entities;
use crate::partial::Tables;
use crate::partial::tables::names;
use crate::processes::{Belongs, Key};
use crate::rules::{self, Claim, Facts, Strength, engine, plausible, process_tree, work_directory};

/// Maximum difference between the clocks of an engine and a host, in nanoseconds.
const SLACK_NS: i64 = 10_000_000_000;

/// Maximum number of tasks that may declare a file that a job made, and of contradictions that are
/// reported.
const CLAIMS: usize = 64;
const UNDECIDED: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Id {
    /// A container by its id and, where a user can have made its control group, by that user.
    Container(String, Option<Box<str>>),
    Cgroup(i64),
    /// A process that an engine started as its child, with its descendants.
    Job(Key),
}

#[derive(Debug)]
struct Group {
    id: Id,
    /// When its first process started, in nanoseconds since 1970.
    oldest_ns: Option<i64>,
    /// Tasks to which it may belong, each with the rule and the evidence.
    claims: BTreeMap<u32, (&'static str, String)>,
    task: Option<u32>,
    /// Properties of the group if it is the child of an engine.
    job: Job,
}

/// A child of an engine, and the known properties of the processes that it started.
#[derive(Debug, Default)]
struct Job {
    /// The job in which its engine runs, which is one more for jobs of the same run.
    outer: Option<u32>,
    /// The child itself, once it has ended.
    child: Option<Child>,
    /// Processes of which nothing else is known: number and start.
    members: Vec<(i64, Option<i64>)>,
    /// Contradictions that are reported if it stays undecided.
    undecided: Vec<Diagnostic>,
}

/// The child of an engine.
#[derive(Debug, Default)]
struct Child {
    facts: Facts,
    /// The name of its user, as [`Belongs::user`].
    user: Option<Box<str>>,
    /// Task to which it belongs by the rules.
    told: Option<u32>,
}

/// The groups of processes of a host that may belong to one task each.
#[derive(Debug, Default)]
pub struct Groups {
    all: Vec<Group>,
    numbers: FxHashMap<Id, u32>,
}

impl Groups {
    fn number(&mut self, id: Id) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry(id.clone()).or_insert_with(|| {
            all.push(Group { id, oldest_ns: None, claims: BTreeMap::new(), task: None, job: Job::default() });
            all.len() as u32 - 1
        })
    }

    /// The group of the innermost of the jobs that a process is in.
    fn of_jobs(&mut self, jobs: &[Key]) -> Option<u32> {
        let numbers: Vec<u32> = jobs.iter().map(|job| self.number(Id::Job(*job))).collect();
        for pair in numbers.windows(2) {
            self.all[pair[0] as usize].job.outer = Some(pair[1]);
        }
        numbers.first().copied()
    }

    /// Returns the group of a process, and adds the claims of the process to it. `jobs` are the
    /// children of engines that it is or descends from, the innermost first.
    pub fn of_process(&mut self, facts: &Facts, key: Key, cgroup_id: Option<i64>, jobs: &[Key], belongs: &Belongs) -> Option<u32> {
        let number = match belongs.container.as_ref().map(|finding| &finding.claim) {
            Some(Claim::Container(id)) => {
                let user = belongs.user.clone().filter(|_| rules::is_container_of_user(facts));
                self.number(Id::Container(id.clone(), user))
            }
            _ => match self.of_jobs(jobs) {
                Some(number) => number,
                None => self.number(Id::Cgroup(cgroup_id.filter(|_| facts.cgroup_path.is_none())?)),
            },
        };
        let group = &mut self.all[number as usize];
        group.oldest_ns = [group.oldest_ns, facts.started_ns].into_iter().flatten().min();
        if group.id == Id::Job(key) {
            let Facts { pid, started_ns, exit_ns, exit_code, .. } = *facts;
            let facts = Facts { pid, started_ns, exit_ns, exit_code, ..Facts::default() };
            group.job.child = Some(Child { facts, user: belongs.user.clone(), told: belongs.task_number() });
        }
        let is_job = matches!(group.id, Id::Job(_));
        if is_job && belongs.task.is_none() {
            group.job.members.push((facts.pid, facts.started_ns));
        }
        // In the group of a job that is one of Python code Snakemake runs once more.
        let of_whole = if is_job { engine::TARGET } else { work_directory::NAME };
        if let Some(finding) = belongs.task.as_ref().filter(|finding| finding.rule == of_whole)
            && let Claim::Task(task) = finding.claim
        {
            group.claims.entry(task).or_insert_with(|| (finding.rule, finding.evidence.clone()));
        }
        Some(number)
    }

    /// Adds a contradiction in a group, which is reported if the group stays undecided.
    pub fn undecided(&mut self, number: u32, said: Diagnostic) {
        let undecided = &mut self.all[number as usize].job.undecided;
        if undecided.len() < UNDECIDED {
            undecided.push(said);
        }
    }

    /// A file was made in a job, which these attempts declare as their output.
    pub fn made(&mut self, jobs: &[Key], makers: &[u32], path: &str) {
        let Some(number) = self.of_jobs(jobs) else { return };
        let claims = &mut self.all[number as usize].claims;
        for maker in makers.iter().take(CLAIMS.saturating_sub(claims.len())) {
            claims.entry(*maker).or_insert_with(|| (engine::OUTPUT, format!("made {path}")));
        }
    }

    /// Decides to which task each group belongs.
    pub fn decide(
        &mut self,
        entities: &Entities,
        host: &str,
        diagnostics: &mut Diagnostics,
        tables: &mut Tables,
    ) -> Result<(), AttributionError> {
        for group in &mut self.all {
            let (kind, name) = match &group.id {
                Id::Job((pid, _)) => {
                    group.decide_job(*pid, host, entities, diagnostics, tables)?;
                    continue;
                }
                Id::Container(id, _) => ("container", id.clone()),
                Id::Cgroup(id) => ("cgroup", id.to_string()),
            };
            let mut claims = group.claims.iter();
            let Some((&task, (_, evidence))) = claims.next() else { continue };
            if let Some((&other, _)) = claims.next() {
                // Where an engine runs tasks without containers, all of them are in its own control group.
                if matches!(group.id, Id::Container(..)) {
                    let keys = (&entities.tasks.get(task).key, &entities.tasks.get(other).key);
                    let message =
                        format!("{kind} {name} of {host} ran scripts of the tasks {} and {}: it belongs to neither", keys.0, keys.1);
                    diagnostics.push(Diagnostic::warning("links_contradict", message));
                }
                continue;
            }
            let known = entities.tasks.get(task);
            let not_older = || {
                let (submitted, precision) = known.submitted.or(known.started)?;
                Some(group.oldest_ns? >= submitted.saturating_sub(precision?.saturating_add(SLACK_NS)))
            };
            if matches!(group.id, Id::Cgroup(_)) && not_older() != Some(true) {
                continue;
            }
            group.task = Some(task);
            let link = Link {
                source_type: kind.into(),
                source_scope: host.into(),
                source: name.into(),
                target_type: "task".into(),
                target_scope: known.engine.as_str().into(),
                target: known.key.as_str().into(),
                relation: "belongs-to".into(),
                rule: work_directory::NAME.into(),
                strength: Strength::Derived.name().into(),
                evidence: evidence.as_str().into(),
                target_seen: true,
                ..Link::default()
            };
            tables.push(names::GROUP_LINKS, &link)?;
        }
        Ok(())
    }

    /// Whether a group is unassigned because the findings about it contradict each other.
    pub fn contradicts_itself(&self, number: u32) -> bool {
        self.all.get(number as usize).is_some_and(|group| group.task.is_none() && !group.job.undecided.is_empty())
    }

    /// The task that a group belongs to: its own, or the one in which its engine runs.
    pub fn task(&self, mut number: u32) -> Option<u32> {
        for _ in 0..=self.all.len() {
            let group = self.all.get(number as usize)?;
            if group.task.is_some() || !group.job.undecided.is_empty() {
                return group.task;
            }
            number = group.job.outer?;
        }
        None
    }
}

impl Group {
    /// Decides which job of its run the child of an engine is.
    fn decide_job(
        &mut self,
        pid: i32,
        host: &str,
        entities: &Entities,
        diagnostics: &mut Diagnostics,
        tables: &mut Tables,
    ) -> Result<(), AttributionError> {
        let Child { facts, user, told } = self.job.child.take().unwrap_or_default();
        let user = user.as_deref();
        let mut fitting: Vec<(&u32, &(&str, String))> = engine::that_ran_as(self.claims.iter(), |(task, _)| *task, &facts, entities);
        fitting.retain(|(task, (rule, evidence))| {
            let why = plausible::of_anothers_task(entities.tasks.get(**task), user.as_slice(), facts.started_ns, entities);
            if let Some(why) = &why {
                let said = format!("task {} by rule {rule} ({evidence})", entities.tasks.get(**task).key);
                diagnostics.push(refuted(host, pid, &said, why));
            }
            why.is_none()
        });
        // Of several attempts the one that ended as it did; a job may also fail after its last process has ended well.
        let ended_so = |task: &u32| (entities.tasks.get(*task).status == "completed") == (facts.exit_code == Some(0));
        if fitting.len() > 1 && fitting.iter().any(|(task, _)| ended_so(task)) {
            fitting.retain(|(task, _)| ended_so(task));
        }
        let name = |task: u32| &entities.tasks.get(task).key;
        match (&fitting[..], told) {
            ([(task, (rule, evidence))], Some(told)) if **task != told => {
                let message = format!(
                    "process {pid} of {host} belongs to task {}, and to task {} by rule {rule} ({evidence}): the first holds",
                    name(told),
                    name(**task)
                );
                diagnostics.push(Diagnostic::warning("links_contradict", message));
            }
            ([(task, (rule, evidence))], _) => {
                self.task = Some(**task);
                self.job.undecided.clear();
                for (member, started_ns) in &self.job.members {
                    let known = entities.tasks.get(**task);
                    let is_child = *member == i64::from(pid) && *started_ns == facts.started_ns;
                    let link = Link {
                        source_type: "process".into(),
                        source_scope: host.into(),
                        source: member.to_string().into(),
                        source_ns: *started_ns,
                        target_type: "task".into(),
                        target_scope: known.engine.as_str().into(),
                        target: known.key.as_str().into(),
                        relation: "belongs-to".into(),
                        rule: if is_child { rule } else { process_tree::NAME }.into(),
                        strength: Strength::Derived.name().into(),
                        evidence: evidence.as_str().into(),
                        target_seen: true,
                        ..Link::default()
                    };
                    tables.push(names::GROUP_LINKS, &link)?;
                }
            }
            ([(a, (_, made_a)), (b, (_, made_b)), ..], None) => {
                let message = format!(
                    "process {pid} of {host} is a job of its engine that belongs to task {} ({made_a}), and to task {} ({made_b}): neither holds",
                    name(**a),
                    name(**b)
                );
                self.job.undecided.push(Diagnostic::warning("links_contradict", message));
            }
            _ => {}
        }
        self.job.undecided.iter().for_each(|said| diagnostics.push(said.clone()));
        Ok(())
    }
}
