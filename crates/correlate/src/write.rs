//! The tables that `correlate` derives, written anew.
//!
//! In goes a dataset with its jobs in [`Parts`]; out come one link for each declared dependency and
//! each singleton edge, what [`flowmine_attribution`] makes of traces, one row for each attempt in
//! each notion's case, and one for each part of an attempt's wait ([`crate::waits`]). All tables are
//! replaced in one transaction: a reader sees the old ones or the new ones. Only the waits and
//! cases of tasks are added in a second one, because they follow from the tables of the first
//! ([`TaskRows`]). Rows are in the order of
//! submission, sorted outside of memory; those of waits are so within each part.
//!
//! Traces come before cases, as notions may need the data flow that follows from them: such a
//! notion has the jobs walked through twice more, to find those that exchanged data and to assign
//! all. Without one that is worth it they are walked through once.

use std::collections::BTreeMap;

use flowmine_attribution::entities::{self, KnownJob};
use flowmine_attribution::partial::{Collection, InMemory};
use flowmine_attribution::{Attributed, Listener, attribute_telling, has_traces, merge, partial_of};
use flowmine_dataset::{Builder, Dataset, FORMAT_VERSION, Role, Transaction};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::row::{Record, Row};
use flowmine_schema::tables::{Case, DiagnosticRow, Link, TaskRun, WaitPart};
use flowmine_spill::{Sorter, SpillError, put_ordered};
use rustc_hash::FxHashSet;

use crate::CorrelateError;
use crate::cases::{CaseNotion, Entities, rounded};
use crate::dependencies::{Edge, Target, TargetKind, Term};
use crate::exchanges::{self, Exchanges, Hub};
use crate::groups::Groups;
use crate::jobs::Jobs;
use crate::known_jobs::{known_jobs, of_part};
use crate::overview::Overview;
use crate::parts::Parts;
use crate::waits::{Waits, row as wait_row};

/// Rows of a file of `links` or `cases`.
const ROWS: usize = 1 << 20;

/// Rows of a file of `waits`, which are held in columns until it is written.
const WAIT_ROWS: usize = 1 << 18;

/// What [`correlate`] wrote, in numbers.
#[derive(Debug, Clone, Default)]
pub struct Correlated {
    /// Attempts at jobs; records of arrays that have tasks are none.
    pub attempts: usize,
    /// What was odd in the rows about jobs.
    pub diagnostics: Diagnostics,
    /// Number of rows of `links`.
    pub links: usize,
    /// Of these, how many lead to something that was never seen.
    pub unseen_targets: usize,
    /// Number of cases of each notion of which there are, in the order asked for.
    pub cases: NamedCounts,
    /// Number of rows of `cases`.
    pub case_rows: usize,
    /// Whether a job read what another wrote; not looked for when no notion needs it.
    pub jobs_exchanged_data: bool,
    /// Files that jobs of several runs read, and that therefore join none.
    pub hubs: Vec<Hub>,
    /// Of the notion that was asked for, how many attempts each reason decided, most first; empty
    /// where the notion is the only reason.
    pub decided: NamedCounts,
    /// Number of cases of each notion of tasks.
    pub task_cases: NamedCounts,
    /// Number of attempts at tasks of workflow engines.
    pub tasks: usize,
    /// What attribution found of the traced operations, in numbers.
    pub attributed: Attributed,
}

/// Numbers, each with the name of what was counted.
pub type NamedCounts = Vec<(&'static str, usize)>;

/// What follows of tasks from the tables `links` and `cases`. This crate knows neither runs as
/// graphs nor notions of tasks: the caller does.
#[derive(Clone, Copy)]
pub struct TaskRows<'w> {
    /// Puts the parts of the time of all tasks of a dataset, as rows of the table `waits`, in the
    /// order of runs and tasks.
    pub waits: &'w dyn Fn(&Dataset, PutWait<'_>) -> Result<(), CorrelateError>,
    /// Puts rows of the table `cases` for tasks, and for the jobs that these ran as. Returns the
    /// number of cases of each notion of tasks.
    pub cases: &'w PutCases,
}

impl TaskRows<'static> {
    /// No rows of tasks.
    const NONE: Self = Self { waits: &|_, _| Ok(()), cases: &|_, _, _| Ok(Vec::new()) };
}

/// Puts rows of the table `cases` of a dataset, also of the notion with this name.
type PutCases = dyn Fn(&Dataset, Option<&str>, PutCase<'_>) -> Result<NamedCounts, CorrelateError>;

/// Takes a row of the table `waits`.
pub type PutWait<'p> = &'p mut dyn FnMut(&WaitPart<'_>) -> Result<(), CorrelateError>;

/// Takes a row of the table `cases`.
pub type PutCase<'p> = &'p mut dyn FnMut(&Case<'_>) -> Result<(), CorrelateError>;

/// [`correlate_with_tasks`] of raw rows, without the waits and cases of tasks.
///
/// # Errors
/// See there.
pub fn correlate(
    dataset: &Dataset,
    parts: &Parts<'_>,
    notions: &[&dyn CaseNotion],
    asked: Option<&str>,
) -> Result<Correlated, CorrelateError> {
    correlate_with_tasks(dataset, parts, notions, asked, Traces::Rows, TaskRows::NONE)
}

/// From what the owners of traced processes and bytes are derived.
#[derive(Debug)]
pub enum Traces {
    /// The raw rows of all hosts.
    Rows,
    /// Partial results of all hosts; no raw row of a host is read.
    Partials(Collection),
}

/// The tasks and jobs of a dataset that processes may belong to. They are the same for all partial
/// results of a dataset.
///
/// # Errors
/// When the dataset cannot be read.
pub fn entities(dataset: &Dataset, parts: &Parts<'_>) -> Result<entities::Entities, CorrelateError> {
    let mut known = Vec::new();
    parts.for_each(|jobs| {
        known.extend(of_part(jobs));
        Ok::<(), CorrelateError>(())
    })?;
    Ok(entities::Entities::read(dataset, known_jobs(known))?)
}

/// The partial result of one host, of several that are made at the same time. No table is written.
///
/// # Errors
/// When the dataset cannot be read.
pub fn partial(dataset: &Dataset, known: &entities::Entities, host: &str, hosts: usize) -> Result<InMemory, CorrelateError> {
    Ok(partial_of(dataset, known, host, hosts)?)
}

/// Writes the links, the cases of these notions (the standard ones and the one with the name
/// `asked`), and the owners of traced operations. A notion that needs data flow has cases only
/// where jobs gave data to each other, or when `asked` names it.
///
/// Waits of tasks follow from the data flow between them, and their cases from those of the jobs that
/// they ran as. They are written last, in a transaction of their own; no other process can correlate
/// the dataset meanwhile.
///
/// # Errors
/// When another process is correlating the same dataset, or the tables cannot be written. After an
/// error they are unchanged, or without the waits and cases of tasks.
pub fn correlate_with_tasks(
    dataset: &Dataset,
    parts: &Parts<'_>,
    notions: &[&dyn CaseNotion],
    asked: Option<&str>,
    traces: Traces,
    of_tasks: TaskRows<'_>,
) -> Result<Correlated, CorrelateError> {
    let mut writer = dataset.writer(Role::Derived, &format!("correlate, process {}", std::process::id()))?;
    let mut transaction = writer.begin()?;
    // All that is derived will be of this version.
    transaction.update_manifest(|manifest| manifest.format_version = FORMAT_VERSION)?;
    let limits = dataset.manifest()?.hubs.unwrap_or_default();
    let with_traces = has_traces(dataset)?;
    let mut all: Vec<OfNotion<'_>> = (0i64..)
        .zip(notions)
        .filter(|(_, notion)| notion.is_standard() || asked == Some(notion.name()))
        .map(|(place, notion)| OfNotion::new(place, *notion))
        .collect();
    let mut gathered = Gathered::new(with_traces || dataset.row_count::<TaskRun<'static>>()? > 0, parts.last_observation(dataset)?);
    transaction.clear::<WaitPart<'static>>()?;
    parts.for_each(|jobs| {
        gathered.add(jobs)?;
        gathered.add_waits(jobs, &mut transaction)?;
        let entities = Entities::new(jobs);
        all.iter_mut().filter(|of| !of.needs_overview()).try_for_each(|of| of.add(&entities, &mut gathered.rows))
    })?;
    let Gathered { mut result, links, waits, mut rows, known, .. } = gathered;
    write_sorted::<Link<'static>>(links, &mut transaction)?;
    transaction.append(waits)?;

    let known = entities::Entities::read(dataset, known_jobs(known))?;
    result.tasks = known.tasks.len();
    let mut given = exchanges::Rows::default();
    let listens = with_traces && all.iter().any(|of| of.notion.uses_data_flow());
    let listener: &mut dyn Listener = if listens { &mut given } else { &mut () };
    result.attributed = match traces {
        Traces::Rows => attribute_telling(dataset, &known, &mut transaction, listener)?,
        Traces::Partials(partials) => {
            merge::merge(&partials.hosts(), partials.into_partials().map(Ok), &known, &mut transaction, listener)?
        }
    };
    drop(known);
    let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
    diagnostics.extend(result.attributed.diagnostics.rows("correlate", None));
    transaction.replace(diagnostics)?;

    let exchanges = Exchanges::find(parts, &given.finish()?, limits)?;
    all.retain(|of| !of.notion.needs_data_flow() || exchanges.any() || asked == Some(of.notion.name()));
    let of_whole: Vec<&dyn CaseNotion> = all.iter().filter(|of| of.needs_overview()).map(|of| of.notion).collect();
    let groups = Groups::find(parts, &of_whole, &exchanges)?;
    let overview = Overview { exchanges, groups, ..Overview::default() };
    if !of_whole.is_empty() {
        parts.for_each(|jobs| {
            let entities = Entities { jobs, overview: &overview };
            all.iter_mut().filter(|of| of.needs_overview()).try_for_each(|of| of.add(&entities, &mut rows))
        })?;
    }
    result.cases = all.iter().map(|of| (of.notion.name(), of.whole + of.going_on.len())).collect();
    result.jobs_exchanged_data = overview.exchanges.any();
    result.hubs = overview.exchanges.hubs().to_vec();
    result.decided = all.iter_mut().find(|of| asked == Some(of.notion.name())).map(OfNotion::decided).unwrap_or_default();
    result.case_rows = all.iter().map(|of| of.rows).sum();
    drop(all);
    write_sorted::<Case<'static>>(rows, &mut transaction)?;
    parts.keep(dataset, &mut transaction)?;
    transaction.commit()?;
    if result.tasks > 0 {
        result.task_cases = write_of_tasks(dataset, writer.begin()?, of_tasks, asked)?;
    }
    Ok(result)
}

/// Adds the waits and cases of tasks to those of jobs.
fn write_of_tasks(
    dataset: &Dataset,
    mut transaction: Transaction<'_>,
    of_tasks: TaskRows<'_>,
    asked: Option<&str>,
) -> Result<NamedCounts, CorrelateError> {
    let mut rows = Builder::<Case<'static>>::new();
    let cases = (of_tasks.cases)(dataset, asked, &mut |row| {
        rows.push(row);
        if rows.len() >= ROWS {
            transaction.append(std::mem::take(&mut rows))?;
        }
        Ok(())
    })?;
    transaction.append(rows)?;
    let mut rows = Builder::<WaitPart<'static>>::new();
    (of_tasks.waits)(dataset, &mut |row| {
        rows.push(row);
        if rows.len() >= WAIT_ROWS {
            transaction.append(std::mem::take(&mut rows))?;
        }
        Ok(())
    })?;
    transaction.append(rows)?;
    transaction.commit()?;
    Ok(cases)
}

/// Returns whether an attempt counts as one: it is not the record of an array that has tasks.
fn is_one(jobs: &Jobs) -> impl Fn(&usize) -> bool + '_ {
    |at| !jobs.is_array_record(&jobs.attempts[*at])
}

/// What is gathered of the parts for one notion.
struct OfNotion<'n> {
    /// The notion's place in the list of notions.
    place: i64,
    notion: &'n dyn CaseNotion,
    /// Cases that lie within one part, counted.
    whole: usize,
    /// The ids of those that can go on in another.
    going_on: FxHashSet<String>,
    rows: usize,
    /// The reasons of attempts.
    reasons: BTreeMap<&'static str, usize>,
}

impl<'n> OfNotion<'n> {
    fn new(place: i64, notion: &'n dyn CaseNotion) -> Self {
        Self { place, notion, whole: 0, going_on: FxHashSet::default(), rows: 0, reasons: BTreeMap::new() }
    }

    fn decided(&mut self) -> NamedCounts {
        let mut decided: NamedCounts = std::mem::take(&mut self.reasons).into_iter().collect();
        decided.sort_by_key(|(reason, attempts)| (std::cmp::Reverse(*attempts), *reason));
        decided
    }

    /// Whether it must know more than the jobs of one part.
    fn needs_overview(&self) -> bool {
        self.notion.uses_data_flow() || self.notion.grouping().is_some()
    }

    fn add(&mut self, entities: &Entities<'_>, rows: &mut Sorter) -> Result<(), CorrelateError> {
        let jobs = entities.jobs;
        let assignment = self.notion.assign(entities);
        let mut has_rows = vec![false; assignment.ids.len()];
        let mut key = Vec::new();
        for at in (0..jobs.attempts.len()).filter(is_one(jobs)) {
            let attempt = &jobs.attempts[at];
            let why = assignment.why.get(at);
            let row = Case {
                notion: self.notion.name().into(),
                case_id: assignment.id_of(at).into(),
                cluster: Some(jobs.text(attempt.cluster).into()),
                job: Some(jobs.text(attempt.job).into()),
                job_id: Some(attempt.job_id),
                submit_ns: attempt.submit_ns.get(),
                attempt: Some(i64::from(attempt.number)),
                reason: why.map_or(self.notion.name(), |why| why.reason).into(),
                strength: why.and_then(|why| why.strength).unwrap_or(self.notion.strength()).name().into(),
                evidence: why.and_then(|why| why.evidence.as_deref()).map(Into::into),
                confidence: why.and_then(|why| why.confidence).map(rounded),
                ..Case::default()
            };
            self.rows += 1;
            if let Some(why) = why {
                *self.reasons.entry(why.reason).or_default() += 1;
            }
            has_rows[assignment.case_of[at] as usize] = true;
            key.clear();
            put_ordered(self.place, &mut key);
            jobs.put_order(attempt, &mut key);
            rows.push(&key, |bytes| row.put(bytes)).map_err(CorrelateError::Temporary)?;
        }
        let cases = assignment.ids.into_iter().zip(assignment.goes_on).zip(has_rows);
        for ((id, goes_on), _) in cases.filter(|(_, has_rows)| *has_rows) {
            if goes_on {
                self.going_on.insert(id);
            } else {
                self.whole += 1;
            }
        }
        Ok(())
    }
}

/// What is gathered of all parts before it is written.
struct Gathered {
    links: Sorter,
    /// Rows of the table `waits` that are still to be written.
    waits: Builder<WaitPart<'static>>,
    /// Until when what has not ended is known to go on.
    until_ns: Option<i64>,
    /// Rows of the table `cases`.
    rows: Sorter,
    /// Attempts by which processes and tasks find their job, where there are any.
    known: Vec<KnownJob>,
    with_known: bool,
    result: Correlated,
}

impl Gathered {
    fn new(with_known: bool, until_ns: Option<i64>) -> Self {
        let result = Correlated::default();
        Self { links: Sorter::default(), waits: Builder::new(), until_ns, rows: Sorter::default(), known: Vec::new(), with_known, result }
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
        self.result.attempts += (0..jobs.attempts.len()).filter(is_one(jobs)).count();
        if self.with_known {
            self.known.extend(of_part(jobs));
        }
        self.result.diagnostics.extend(jobs.diagnostics.clone());
        Ok(())
    }

    /// Adds the parts of the attempts' waits. Since there are several for each attempt, they are
    /// not sorted with the other rows: their order follows the order of the parts, which is always
    /// the same.
    fn add_waits(&mut self, jobs: &Jobs, transaction: &mut Transaction<'_>) -> Result<(), CorrelateError> {
        let waits = Waits::new(jobs, self.until_ns);
        for attempt in (0..jobs.attempts.len()).filter(is_one(jobs)).map(|at| &jobs.attempts[at]) {
            for (number, part) in (0i64..).zip(waits.of(attempt).parts) {
                self.waits.push(&wait_row(jobs, &waits, attempt, number, &part));
            }
            if self.waits.len() >= WAIT_ROWS {
                transaction.append(std::mem::take(&mut self.waits))?;
            }
        }
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

/// An edge between jobs as a row of the table `links`.
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

/// The target of a dependency as squeue(1) writes it.
pub fn written(term: &Term, id: i64) -> String {
    match (term.target_kind, term.target_task_id.get()) {
        (TargetKind::ArrayTask, Some(task)) => format!("{id}_{task}"),
        (TargetKind::Array, _) => format!("{id}_*"),
        _ => id.to_string(),
    }
}
