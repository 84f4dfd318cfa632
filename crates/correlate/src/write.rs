//! The tables that `correlate` derives, written anew.
//!
//! In goes a dataset with its jobs in [`Parts`]; out come one link for each declared dependency and
//! each singleton edge, one row for each attempt in each notion's case, and what [`flowmine_attribution`]
//! makes of traces. All tables are replaced in one transaction: a reader sees the old ones or the new
//! ones. Rows are in the order of submission; they are sorted outside of memory.

use flowmine_attribution::entities::{Entities, KnownJob};
use flowmine_attribution::{Attributed, attribute, has_traces};
use flowmine_dataset::{Builder, Dataset, FORMAT_VERSION, Role, Transaction};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::row::{Record, Row};
use flowmine_schema::tables::{Case, DiagnosticRow, Link, TaskRun};
use flowmine_spill::{Sorter, SpillError, put_ordered};
use rustc_hash::FxHashSet;

use crate::CorrelateError;
use crate::cases::CaseNotion;
use crate::dependencies::{Edge, Target, TargetKind, Term};
use crate::jobs::Jobs;
use crate::known_jobs::{known_jobs, of_part};
use crate::parts::Parts;

/// Rows of a file of `links` or `cases`.
const ROWS: usize = 1 << 20;

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct Correlated {
    /// Attempts at jobs; records of arrays that have tasks are none.
    pub attempts: usize,
    /// What was odd about jobs.
    pub diagnostics: Diagnostics,
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
pub fn correlate(dataset: &Dataset, parts: &Parts<'_>, notions: &[&dyn CaseNotion]) -> Result<Correlated, CorrelateError> {
    let mut writer = dataset.writer(Role::Derived, &format!("correlate, process {}", std::process::id()))?;
    let mut transaction = writer.begin()?;
    // All that is derived will be of this version.
    transaction.update_manifest(|manifest| manifest.format_version = FORMAT_VERSION)?;
    let mut gathered = Gathered::new(notions, has_traces(dataset)? || dataset.row_count::<TaskRun<'static>>()? > 0);
    parts.for_each(|jobs| gathered.add(jobs))?;
    let Gathered { mut result, links, rows, known, .. } = gathered;
    result.cases = notions.iter().map(|notion| (notion.name(), 0)).collect();
    for (of_notion, count) in result.cases.iter_mut().zip(gathered.cases) {
        of_notion.1 = count.count();
    }
    write_sorted::<Link<'static>>(links, &mut transaction)?;
    write_sorted::<Case<'static>>(rows, &mut transaction)?;
    let entities = Entities::read(dataset, known_jobs(known))?;
    result.tasks = entities.tasks.len();
    result.attributed = attribute(dataset, &entities, &mut transaction)?;
    let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
    diagnostics.extend(result.attributed.diagnostics.rows("correlate", None));
    transaction.replace(diagnostics)?;
    transaction.commit()?;
    Ok(result)
}

/// The cases of a notion, counted.
enum Cases {
    /// Each lies within one part.
    Counted(usize),
    /// One can go on in another part: their ids.
    Ids(FxHashSet<String>),
}

impl Cases {
    fn count(&self) -> usize {
        match self {
            Self::Counted(count) => *count,
            Self::Ids(ids) => ids.len(),
        }
    }
}

/// What is gathered of the parts.
struct Gathered<'n> {
    notions: &'n [&'n dyn CaseNotion],
    cases: Vec<Cases>,
    links: Sorter,
    rows: Sorter,
    /// Attempts by which processes and tasks find their job, where there are any.
    known: Vec<KnownJob>,
    with_known: bool,
    result: Correlated,
}

impl<'n> Gathered<'n> {
    fn new(notions: &'n [&'n dyn CaseNotion], with_known: bool) -> Self {
        let cases = |notion: &&dyn CaseNotion| {
            if notion.within_parts() { Cases::Counted(0) } else { Cases::Ids(FxHashSet::default()) }
        };
        Self {
            notions,
            cases: notions.iter().map(cases).collect(),
            links: Sorter::default(),
            rows: Sorter::default(),
            known: Vec::new(),
            with_known,
            result: Correlated::default(),
        }
    }

    fn add(&mut self, jobs: &Jobs) -> Result<(), CorrelateError> {
        let mut key = Vec::new();
        for (number, edge) in (0i64..).zip(&jobs.dependencies.edges) {
            let link = link(jobs, edge);
            self.result.links += 1;
            self.result.unseen_targets += usize::from(!link.target_seen);
            let source = &jobs.attempts[jobs.dependencies.terms[edge.term as usize].attempt as usize];
            key.clear();
            jobs.put_order(source, &mut key);
            // The edges of one attempt are in their order.
            put_ordered(number, &mut key);
            self.links.push(&key, |bytes| link.put(bytes)).map_err(CorrelateError::Temporary)?;
        }
        let is_one = |at: &usize| !jobs.is_array_record(&jobs.attempts[*at]);
        self.result.attempts += (0..jobs.attempts.len()).filter(is_one).count();
        for (place, (notion, cases)) in (0i64..).zip(self.notions.iter().zip(&mut self.cases)) {
            let assignment = notion.assign(jobs);
            for at in (0..jobs.attempts.len()).filter(is_one) {
                let attempt = &jobs.attempts[at];
                let row = Case {
                    notion: notion.name().into(),
                    case_id: assignment.id_of(at).into(),
                    cluster: jobs.text(attempt.cluster).into(),
                    job: jobs.text(attempt.job).into(),
                    job_id: attempt.job_id,
                    submit_ns: attempt.submit_ns.get(),
                    attempt: i64::from(attempt.number),
                    ..Case::default()
                };
                self.result.case_rows += 1;
                key.clear();
                put_ordered(place, &mut key);
                jobs.put_order(attempt, &mut key);
                self.rows.push(&key, |bytes| row.put(bytes)).map_err(CorrelateError::Temporary)?;
            }
            match cases {
                Cases::Counted(count) => *count += assignment.ids.len(),
                Cases::Ids(ids) => ids.extend(assignment.ids),
            }
        }
        if self.with_known {
            self.known.extend(of_part(jobs));
        }
        self.result.diagnostics.extend(jobs.diagnostics.clone());
        Ok(())
    }
}

/// Puts sorted rows in place of all that a table held.
fn write_sorted<R: Row>(rows: Sorter, transaction: &mut Transaction<'_>) -> Result<(), CorrelateError>
where
    for<'a> R::Of<'a>: Record<'a>,
{
    transaction.clear::<R>()?;
    let sorted = rows.finish().map_err(CorrelateError::Temporary)?;
    let mut walk = sorted.walk().map_err(CorrelateError::Temporary)?;
    let mut builder = Builder::<R>::new();
    while let Some((_, record)) = walk.next().map_err(CorrelateError::Temporary)? {
        builder.push(&R::Of::take(record).ok_or(CorrelateError::Temporary(SpillError::Damaged))?);
        if builder.len() >= ROWS {
            transaction.append(std::mem::take(&mut builder))?;
        }
    }
    transaction.append(builder)?;
    Ok(())
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
        strength: "declared".into(),
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
