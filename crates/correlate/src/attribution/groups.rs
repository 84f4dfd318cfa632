//! Control groups that belong to one task as a whole: the second half of the monitoring paper's rule (section V-B).
//!
//! When a process in a container opens its task's script, the container belongs to the task, with the processes that ran in it before. Of a trace that tells only numbers of control
//! groups (`io-csv`) a group counts when no process in it is older than the task, as the one that an engine itself runs in is. A group in which scripts of two tasks were opened
//! belongs to neither, which is a diagnostic. It is decided when all hosts have been read.

use std::collections::BTreeMap;

use flowmine_schema::Transaction;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::Link;
use rustc_hash::FxHashMap;

use super::links::Links;
use super::processes::Belongs;
use crate::CorrelateError;
use crate::entities::Entities;
use crate::rules::{Claim, Facts, Strength, work_directory};

/// Clocks of an engine and a host.
const SLACK_NS: i64 = 10_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Id {
    Container(String),
    Cgroup(i64),
}

#[derive(Debug)]
struct Group {
    host: u32,
    id: Id,
    /// When its first process started.
    oldest_ns: Option<i64>,
    /// Tasks whose scripts were opened in it, with the evidence.
    claims: BTreeMap<u32, String>,
    task: Option<u32>,
}

/// The groups of all hosts.
#[derive(Debug, Default)]
pub struct Groups {
    all: Vec<Group>,
    numbers: FxHashMap<(u32, Id), u32>,
}

impl Groups {
    /// The group of a process, and what it says about it.
    pub fn of_process(&mut self, host: u32, facts: &Facts, cgroup_id: Option<i64>, belongs: &Belongs) -> Option<u32> {
        let id = match belongs.container.as_ref().map(|finding| &finding.claim) {
            Some(Claim::Container(id)) => Id::Container(id.clone()),
            _ => Id::Cgroup(cgroup_id.filter(|_| facts.cgroup_path.is_none())?),
        };
        let all = &mut self.all;
        let number = *self.numbers.entry((host, id.clone())).or_insert_with(|| {
            all.push(Group { host, id, oldest_ns: None, claims: BTreeMap::new(), task: None });
            all.len() as u32 - 1
        });
        let group = &mut all[number as usize];
        group.oldest_ns = [group.oldest_ns, facts.started_ns].into_iter().flatten().min();
        if let Some(finding) = belongs.task.as_ref().filter(|finding| finding.rule == work_directory::NAME)
            && let Claim::Task(task) = finding.claim
        {
            group.claims.entry(task).or_insert_with(|| finding.evidence.clone());
        }
        Some(number)
    }

    /// Decides to which task each group belongs.
    pub fn decide(
        &mut self,
        entities: &Entities,
        hosts: &[String],
        links: &mut Links,
        diagnostics: &mut Diagnostics,
        transaction: &mut Transaction<'_>,
    ) -> Result<(), CorrelateError> {
        for group in &mut self.all {
            let host = hosts[group.host as usize].as_str();
            let (kind, name) = match &group.id {
                Id::Container(id) => ("container", id.clone()),
                Id::Cgroup(id) => ("cgroup", id.to_string()),
            };
            let mut claims = group.claims.iter();
            let Some((&task, evidence)) = claims.next() else { continue };
            if let Some((&other, _)) = claims.next() {
                // Where an engine runs tasks without containers, all of them are in its own control group.
                if matches!(group.id, Id::Container(_)) {
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
            links.push(&link, transaction)?;
        }
        Ok(())
    }

    /// The task that a group belongs to.
    pub fn task(&self, number: u32) -> Option<u32> {
        self.all.get(number as usize)?.task
    }
}
