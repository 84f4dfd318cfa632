//! Links of processes and tasks, as rows.

use flowmine_dataset::{Builder, Transaction};
use flowmine_schema::tables::Link;
use rustc_hash::FxHashSet;

use crate::AttributionError;
use crate::entities::Entities;
use crate::listener::Listener;
use crate::owners::Owner;
use crate::partial::Tables;
use crate::partial::tables::names;
use crate::processes::Belongs;
use crate::rules::{Claim, Facts, Finding, Strength, native_id};

/// Rows that are written at once.
const ROWS: usize = 1 << 15;

/// The relation of a task and the job, pod or container that it was.
const RAN_AS: &str = "ran-as";

/// What a task ran as: the number of the task, and type, scope and id of the job, pod or container
/// in one text. Each link is written once.
type RanAs = FxHashSet<(u32, String)>;

fn ran_as(task: u32, link: &Link<'_>) -> (u32, String) {
    (task, format!("{} {} {}", link.target_type, link.target_scope, link.target))
}

/// The links of the processes of one host, as rows of its partial result.
#[derive(Default)]
pub struct HostLinks {
    ran_as: RanAs,
}

impl HostLinks {
    /// Adds the links of a process.
    pub fn of_process(
        &mut self,
        facts: &Facts,
        belongs: &Belongs,
        owner: &Owner,
        entities: &Entities,
        tables: &mut Tables,
    ) -> Result<(), AttributionError> {
        for finding in [&belongs.task, &belongs.job, &belongs.pod, &belongs.container, &belongs.unit].into_iter().flatten() {
            let target = target(finding, &facts.host, owner, entities);
            let link = Link {
                source_type: "process".into(),
                source_scope: facts.host.as_str().into(),
                source: facts.pid.to_string().into(),
                source_ns: facts.started_ns,
                relation: "belongs-to".into(),
                rule: finding.rule.into(),
                strength: finding.strength.name().into(),
                evidence: finding.evidence.as_str().into(),
                ..target
            };
            tables.push(names::LINKS, &link)?;
            self.task_of(finding, belongs, &facts.host, owner, entities, tables)?;
        }
        Ok(())
    }

    /// Adds the links of a task to the job, pod or container in which it ran.
    fn task_of(
        &mut self,
        finding: &Finding,
        belongs: &Belongs,
        host: &str,
        owner: &Owner,
        entities: &Entities,
        tables: &mut Tables,
    ) -> Result<(), AttributionError> {
        let Some(task) = belongs.task_number().filter(|_| matches!(finding.claim, Claim::Job(_) | Claim::Pod(_) | Claim::Container(_)))
        else {
            return Ok(());
        };
        let Some(by) = &belongs.task else { return Ok(()) };
        let target = target(finding, host, owner, entities);
        // A step is a part of the job that the task was.
        let whole = Link {
            target: if target.target_type == "step" {
                target.target.split('.').next().unwrap_or_default().to_owned().into()
            } else {
                target.target.clone()
            },
            target_type: if target.target_type == "step" { "job".into() } else { target.target_type.clone() },
            ..target
        };
        if !self.ran_as.insert(ran_as(task, &whole)) {
            return Ok(());
        }
        let known = entities.tasks.get(task);
        let link = Link {
            source_type: "task".into(),
            source_scope: known.engine.as_str().into(),
            source: known.key.as_str().into(),
            source_ns: None,
            relation: RAN_AS.into(),
            rule: by.rule.into(),
            strength: by.strength.name().into(),
            evidence: by.evidence.as_str().into(),
            ..whole
        };
        tables.push(names::LINKS, &link)
    }
}

/// Rows of `links` on their way.
pub struct Links<'l> {
    listener: &'l mut dyn Listener,
    rows: Builder<Link<'static>>,
    written: u64,
    ran_as: RanAs,
}

impl<'l> Links<'l> {
    /// Creates links without rows; the listener gets each row.
    pub fn telling(listener: &'l mut dyn Listener) -> Self {
        Self { listener, rows: Builder::new(), written: 0, ran_as: RanAs::default() }
    }

    /// Adds a row of `links` and gives it to the listener.
    pub fn push(&mut self, link: &Link<'_>, transaction: &mut Transaction<'_>) -> Result<(), AttributionError> {
        self.listener.link(link);
        self.rows.push(link);
        self.written += 1;
        if self.rows.len() >= ROWS {
            transaction.append(std::mem::take(&mut self.rows))?;
        }
        Ok(())
    }

    /// Adds a row of a host. That a task ran as something is written once for all hosts. False if
    /// it names a task that there is not.
    pub fn of_host(&mut self, link: &Link<'_>, entities: &Entities, transaction: &mut Transaction<'_>) -> Result<bool, AttributionError> {
        if link.relation == RAN_AS {
            let Some(task) = entities.tasks.number(&link.source) else { return Ok(false) };
            if !self.ran_as.insert(ran_as(task, link)) {
                return Ok(true);
            }
        }
        self.push(link, transaction).map(|()| true)
    }

    /// Adds links of tasks to the jobs that their engines report, if none of the task's processes
    /// was traced in a job. A raw id that several jobs had at that time gives no link.
    pub fn of_untraced(&mut self, entities: &Entities, transaction: &mut Transaction<'_>) -> Result<(), AttributionError> {
        let traced: FxHashSet<u32> = self.ran_as.iter().filter(|(_, what)| what.starts_with("job ")).map(|(task, _)| *task).collect();
        for (number, task) in (0u32..).zip(entities.tasks.iter()) {
            let Some(id) = task.native_id.as_deref().filter(|_| task.native_kind.as_deref() == Some("slurm_job")) else { continue };
            let Some(at) = task.submitted.or(task.started).or(task.finished) else { continue };
            let Some(job_id) = id.parse().ok().filter(|_| !traced.contains(&number)) else { continue };
            let [job] = entities.jobs.there_at(job_id, at.0)[..] else { continue };
            let job = entities.jobs.get(job);
            let link = Link {
                source_type: "task".into(),
                source_scope: task.engine.as_str().into(),
                source: task.key.as_str().into(),
                target_type: "job".into(),
                target_scope: job.cluster.as_str().into(),
                target: job.job.as_str().into(),
                target_ns: job.submit_ns,
                relation: RAN_AS.into(),
                rule: native_id::NAME.into(),
                strength: Strength::Declared.name().into(),
                evidence: format!("{} names Slurm job {id}", task.engine).into(),
                target_seen: true,
                ..Link::default()
            };
            self.push(&link, transaction)?;
        }
        Ok(())
    }

    /// Writes the remaining rows; returns the number of rows, and the listener.
    pub fn finish(self, transaction: &mut Transaction<'_>) -> Result<(u64, &'l mut dyn Listener), AttributionError> {
        transaction.append(self.rows)?;
        Ok((self.written, self.listener))
    }
}

/// Returns the claim of a finding as the target of a link.
fn target<'e>(finding: &Finding, host: &str, owner: &Owner, entities: &'e Entities) -> Link<'e> {
    let (kind, scope, id, ns, seen) = match &finding.claim {
        Claim::Task(task) => {
            let task = entities.tasks.get(*task);
            ("task", task.engine.clone(), task.key.clone(), None, true)
        }
        Claim::Job(claim) => {
            let job = owner.job.as_ref();
            let label = job.map_or_else(|| claim.id.to_string(), |job| job.job.to_string());
            let cluster = job.and_then(|job| job.cluster.as_deref()).unwrap_or_default().to_owned();
            let submit_ns = job.and_then(|job| job.submit_ns);
            let observed = !entities.jobs.find(claim.id, claim.cluster.as_deref(), None).is_empty();
            match &claim.step {
                Some(step) => ("step", cluster, format!("{label}.{step}"), submit_ns, observed),
                None => ("job", cluster, label, submit_ns, observed),
            }
        }
        Claim::Pod(uid) => ("pod", String::new(), uid.clone(), None, !entities.tasks.with_native_id(uid).is_empty()),
        Claim::Container(id) => ("container", host.to_owned(), id.clone(), None, true),
        Claim::Unit(unit) => ("unit", host.to_owned(), unit.clone(), None, true),
    };
    Link { target_type: kind.into(), target_scope: scope.into(), target: id.into(), target_ns: ns, target_seen: seen, ..Link::default() }
}
