//! The tables that `correlate` derives, written anew.
//!
//! In goes a dataset with its [`Jobs`]; out come one link for each declared dependency and each singleton edge, one row for each attempt in each notion's case, and what
//! [`flowmine_attribution`] makes of traces. All tables are replaced in one transaction: a reader sees the old ones or the new ones.

use flowmine_attribution::entities::Entities;
use flowmine_attribution::{Attributed, attribute};
use flowmine_schema::dataset::Role;
use flowmine_schema::tables::{Case, DiagnosticRow, Link};
use flowmine_schema::{Builder, Dataset};

use crate::CorrelateError;
use crate::cases::CaseNotion;
use crate::dependencies::{Edge, Target, TargetKind, Term};
use crate::jobs::Jobs;
use crate::known_jobs::known_jobs;

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct Correlated {
    /// Rows of `links`.
    pub links: usize,
    /// Of these, how many lead to something that was never seen.
    pub unseen_targets: usize,
    /// Number of cases of each notion, in the order asked for.
    pub cases: Vec<(&'static str, usize)>,
    /// Rows of `cases`.
    pub case_rows: usize,
    /// Attempts at tasks of workflow engines.
    pub tasks: usize,
    /// Whose the traced operations are.
    pub attributed: Attributed,
}

/// Writes links, cases for these notions, and whose the traced operations are.
///
/// # Errors
/// When another process is correlating the same dataset, or the tables cannot be written; then they are as they were.
pub fn correlate(dataset: &Dataset, jobs: &Jobs, notions: &[&dyn CaseNotion]) -> Result<Correlated, CorrelateError> {
    let mut result = Correlated::default();
    let mut links = Builder::<Link<'static>>::with_capacity(jobs.dependencies.edges.len());
    for edge in &jobs.dependencies.edges {
        let link = link(jobs, edge);
        result.unseen_targets += usize::from(!link.target_seen);
        links.push(&link);
    }
    result.links = links.len();
    let mut cases = Builder::<Case<'static>>::with_capacity(jobs.attempts.len() * notions.len());
    for notion in notions {
        let assignment = notion.assign(jobs);
        result.cases.push((notion.name(), assignment.ids.len()));
        for (at, attempt) in jobs.attempts.iter().enumerate().filter(|(_, attempt)| !jobs.is_array_record(attempt)) {
            cases.push(&Case {
                notion: notion.name().into(),
                case_id: assignment.id_of(at).into(),
                cluster: jobs.text(attempt.cluster).into(),
                job: jobs.text(attempt.job).into(),
                job_id: attempt.job_id,
                submit_ns: attempt.submit_ns.get(),
                attempt: i64::from(attempt.number),
                ..Case::default()
            });
        }
    }
    result.case_rows = cases.len();
    let mut writer = dataset.writer(Role::Derived, &format!("correlate, process {}", std::process::id()))?;
    let mut transaction = writer.begin()?;
    transaction.replace(links)?;
    transaction.replace(cases)?;
    let entities = Entities::read(dataset, known_jobs(jobs))?;
    result.tasks = entities.tasks.len();
    result.attributed = attribute(dataset, &entities, &mut transaction)?;
    let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
    result.attributed.diagnostics.append_to(&mut diagnostics, "correlate", None);
    transaction.replace(diagnostics)?;
    transaction.commit()?;
    Ok(result)
}

/// An edge as a row.
pub fn link<'j>(jobs: &'j Jobs, edge: &Edge) -> Link<'j> {
    let term = &jobs.dependencies.terms[edge.term as usize];
    let source = &jobs.attempts[term.attempt as usize];
    let singleton = term.target_kind == TargetKind::UserAndName;
    let (target, target_submit_ns, target_seen) = match edge.to {
        Target::Unseen(id) => (written(term, id), None, false),
        Target::Seen(_, Some(attempt)) => {
            let attempt = &jobs.attempts[attempt as usize];
            (jobs.text(attempt.job).to_owned(), attempt.submit_ns.get(), true)
        }
        Target::Seen(submission, None) => {
            let label = match (term.target_kind, term.target_job_id.get()) {
                // A task that has not been seen by itself, of an array that has.
                (TargetKind::ArrayTask, Some(id)) => written(term, id),
                _ => jobs.label(submission),
            };
            let first = &jobs.attempts[jobs.submissions[submission as usize].first_attempt as usize];
            (label, first.submit_ns.get(), true)
        }
    };
    let told_by: Vec<&str> = term.sources.iter().map(|s| jobs.text(*s)).collect();
    let what = match term.target_job_id.get() {
        Some(id) => format!("{}:{}", jobs.text(term.kind), written(term, id)),
        None => jobs.text(term.kind).to_owned(),
    };
    let rule = if singleton { "singleton" } else { "declared-dependency" };
    Link {
        source_type: "job".into(),
        source_scope: jobs.text(source.cluster).into(),
        source: jobs.text(source.job).into(),
        source_ns: source.submit_ns.get(),
        target_type: "job".into(),
        target_scope: jobs.text(source.cluster).into(),
        target: target.into(),
        target_ns: target_submit_ns,
        relation: jobs.text(term.kind).into(),
        rule: rule.into(),
        strength: "told".into(),
        evidence: format!("{} said {what}", told_by.join(" and ")).into(),
        target_seen,
        ..Link::default()
    }
}

/// A target as squeue writes it.
pub fn written(term: &Term, id: i64) -> String {
    match (term.target_kind, term.target_task_id.get()) {
        (TargetKind::ArrayTask, Some(task)) => format!("{id}_{task}"),
        (TargetKind::Array, _) => format!("{id}_*"),
        _ => id.to_string(),
    }
}
