//! Who waits for whom.
//!
//! In go rows of `job_dependencies` and the submissions; out come terms (what was declared, the
//! union over time) and edges (what each term means: a submission that was seen, or an id that
//! never was).
//!
//! **Targets.** A term names a raw id: of a job, an array, one task of an array (its own raw id or
//! `8_3`), a component of a heterogeneous job. It is resolved to the submission with that id which
//! was submitted at or before the waiting one (of several generations of the id the latest);
//! failing that, since `scontrol update` can declare a dependency later, to the first that was
//! submitted before polling saw the term. A target that fits none was never seen; it stays as an
//! id, so that two jobs waiting for the same unseen job are found to wait for the same.
//!
//! **Singleton.** sbatch(1): "begin execution after any previously launched jobs sharing the same
//! job name and user have terminated". The term gives an edge to each earlier submission on the
//! same cluster with the same user and name that had not ended, as far as is known, when the
//! waiting one was submitted; back to the latest one that is a singleton itself, for that one waits
//! for all that are earlier still. A singleton with an unknown user or name gives none. A job that
//! was renamed counts under each name that it has had.
//!
//! **Withdrawn.** A term that was taken back before it could be met
//! ([`flowmine_schema::tables::WITHDRAWN`]) stays a term and gives no edge.
//!
//! What is refused: rows about a job of which there is no row in `job_states`; they are counted in
//! a diagnostic.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{JobDependency, WITHDRAWN, source};
pub use flowmine_slurm::dependency::TargetKind;
use rustc_hash::FxHashMap;

use crate::attempts::JobAttempt;
use crate::packed_int::PackedInt;
use crate::strings::{Renumbering, Strings, StringsBuilder, Sym};
use crate::submissions::{Submission, root_id};

/// One declared dependency of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The waiting attempt: an index into [`crate::Jobs::attempts`].
    pub attempt: u32,
    /// The term's word, such as `afterok` or `singleton`.
    pub kind: Sym,
    /// What kind of target the term names.
    pub target_kind: TargetKind,
    /// Raw id of the job or array that is waited for.
    pub target_job_id: PackedInt,
    /// The array index waited for.
    pub target_task_id: PackedInt,
    /// Place in the expression when it was first seen.
    pub position: i32,
    /// How it is joined with the other terms: `and` or `or`.
    pub operator: Option<Sym>,
    /// Delay after the target's start or end, in seconds (`after:1+1` is one minute, sbatch(1)).
    pub delay_s: PackedInt,
    /// The term's state as Slurm printed it last.
    pub state: Option<Sym>,
    /// When polling first saw it; unknown when only accounting reports it.
    pub polled_at_ns: PackedInt,
    /// The sources that report the term, sorted.
    pub sources: Vec<Sym>,
}

/// Where a dependency leads: to a submission that was seen, or to an id that was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// To a submission that was seen: an index into [`crate::Jobs::submissions`], and, when the
    /// term names one job or task of it that was seen, its attempt at that time: an index into
    /// [`crate::Jobs::attempts`].
    Seen(u32, Option<u32>),
    /// To an id on the same cluster that was never seen.
    Unseen(i64),
}

/// A dependency between submissions, which is what a term means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Index of the term in [`Dependencies::terms`].
    pub term: u32,
    /// Index of the waiting submission in [`crate::Jobs::submissions`].
    pub from: u32,
    /// What the submission waits for.
    pub to: Target,
}

/// All dependencies that jobs of a dataset declared.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Dependencies {
    /// The terms, by attempt, then position.
    pub terms: Vec<Term>,
    /// The dependencies between submissions, by term.
    pub edges: Vec<Edge>,
}

flowmine_schema::columns! {
    /// What is read of `job_dependencies`.
    pub struct DependencyRow of JobDependency {
        cluster, job, submit_ns, position, operator, kind, target_kind, target_job_id,
        target_task_id, delay_s, state, observed_at_ns, source,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    cluster: Sym,
    job: Sym,
    submit_ns: PackedInt,
    kind: Sym,
    target_kind: TargetKind,
    target_job_id: PackedInt,
    target_task_id: PackedInt,
}

#[derive(Debug)]
struct RawTerm {
    cluster: Sym,
    job: Sym,
    submit_ns: PackedInt,
    term: Term,
}

/// Takes rows, in the order of writing for each job.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    terms: Vec<RawTerm>,
    by_key: FxHashMap<Key, u32>,
}

impl Folder {
    pub fn push(&mut self, row: &DependencyRow<'_>, strings: &mut StringsBuilder) {
        let key = Key {
            cluster: strings.intern(&row.cluster),
            job: strings.intern(&row.job),
            submit_ns: row.submit_ns.into(),
            kind: strings.intern(&row.kind),
            target_kind: TargetKind::new(&row.target_kind),
            target_job_id: row.target_job_id.into(),
            target_task_id: row.target_task_id.into(),
        };
        let next = self.terms.len() as u32;
        let raw = RawTerm {
            cluster: key.cluster,
            job: key.job,
            submit_ns: key.submit_ns,
            term: Term {
                attempt: 0,
                kind: key.kind,
                target_kind: key.target_kind,
                target_job_id: key.target_job_id,
                target_task_id: key.target_task_id,
                position: row.position,
                operator: None,
                delay_s: PackedInt::UNKNOWN,
                state: None,
                polled_at_ns: PackedInt::UNKNOWN,
                sources: Vec::new(),
            },
        };
        let at = *self.by_key.entry(key).or_insert(next);
        if at == next {
            self.terms.push(raw);
        }
        let term = &mut self.terms[at as usize].term;
        if !source::is_accounting(&row.source) {
            let earlier = term.polled_at_ns.get().map_or(row.observed_at_ns, |t| t.min(row.observed_at_ns));
            term.polled_at_ns = PackedInt::known(earlier);
        }
        term.operator = term.operator.or(row.operator.as_deref().map(|s| strings.intern(s)));
        term.delay_s = term.delay_s.or(row.delay_s.into());
        term.state = row.state.as_deref().map(|s| strings.intern(s)).or(term.state);
        let told_by = strings.intern(&row.source);
        if !term.sources.contains(&told_by) {
            term.sources.push(told_by);
        }
    }

    pub fn renumber(&mut self, to: &Renumbering) {
        for raw in &mut self.terms {
            for sym in [&mut raw.cluster, &mut raw.job, &mut raw.term.kind] {
                to.apply(sym);
            }
            to.apply_to(&mut raw.term.operator);
            to.apply_to(&mut raw.term.state);
            raw.term.sources.iter_mut().for_each(|s| to.apply(s));
            raw.term.sources.sort_unstable();
        }
        self.by_key = FxHashMap::default();
    }

    /// Ties the terms to attempts and resolves them. `attempts` and `submissions` are in their
    /// final order; `former` are names that submissions had before others.
    pub fn resolve(
        self,
        attempts: &[JobAttempt],
        submissions: &[Submission],
        former: &[(u32, Sym)],
        strings: &Strings,
        diagnostics: &mut Diagnostics,
    ) -> Dependencies {
        let labels = Labels::new(attempts);
        let mut terms = Vec::with_capacity(self.terms.len());
        let mut orphans: Vec<(Sym, Sym)> = Vec::new();
        for RawTerm { cluster, job, submit_ns, mut term } in self.terms {
            let same_job = labels.attempts(cluster, job);
            let exact = same_job.iter().find(|&&a| attempts[a as usize].submit_ns == submit_ns);
            match exact.or(same_job.last().filter(|_| !submit_ns.is_known())) {
                Some(&attempt) => {
                    term.attempt = attempt;
                    terms.push(term);
                }
                None => orphans.push((cluster, job)),
            }
        }
        orphans.sort_unstable();
        for (_, job) in orphans {
            let message = format!("a dependency of job {}, of which there is no row in job_states with that submit time", strings.get(job));
            diagnostics.push(
                Diagnostic::warning("dependency_of_unknown_job", message)
                    .advise("import the squeue or sacct output that lists the job into the same dataset"),
            );
        }
        terms.sort_unstable_by_key(|t| (t.attempt, t.position, t.kind, t.target_kind, t.target_job_id, t.target_task_id));
        let mut edges = declared(&terms, attempts, submissions, strings, &labels);
        singletons(&terms, attempts, submissions, former, strings, diagnostics, &mut edges);
        edges.sort_unstable();
        edges.dedup();
        Dependencies { terms, edges }
    }
}

/// Finds attempts by their label.
struct Labels {
    by_label: Vec<(Sym, Sym, u32)>,
    attempts: Vec<u32>,
}

impl Labels {
    fn new(attempts: &[JobAttempt]) -> Self {
        let mut by_label: Vec<(Sym, Sym, u32)> = attempts.iter().enumerate().map(|(at, a)| (a.cluster, a.job, at as u32)).collect();
        by_label.sort_unstable();
        let attempts = by_label.iter().map(|l| l.2).collect();
        Self { by_label, attempts }
    }

    /// The attempts at a job of a cluster, in the order of their submission.
    fn attempts(&self, cluster: Sym, job: Sym) -> &[u32] {
        let start = self.by_label.partition_point(|l| (l.0, l.1) < (cluster, job));
        let end = self.by_label.partition_point(|l| (l.0, l.1) <= (cluster, job));
        &self.attempts[start..end]
    }
}

/// Every raw id by which a submission can be named.
struct Ids(Vec<(Sym, i64, i64, u32)>);

impl Ids {
    fn new(attempts: &[JobAttempt], submissions: &[Submission], strings: &Strings) -> Self {
        let mut ids: Vec<(Sym, i64, i64, u32)> = attempts
            .iter()
            .flat_map(|a| {
                let whole = submissions[a.submission as usize].since_ns;
                [(a.cluster, a.job_id, a.since_ns, a.submission), (a.cluster, root_id(a, strings), whole, a.submission)]
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }

    fn find(&self, cluster: Sym, id: i64, submitted_ns: i64, declared_ns: PackedInt) -> Option<u32> {
        let start = self.0.partition_point(|i| (i.0, i.1) < (cluster, id));
        let end = self.0.partition_point(|i| (i.0, i.1, i.2) <= (cluster, id, submitted_ns));
        if end > start {
            return Some(self.0[end - 1].3);
        }
        let next = self.0.get(start).filter(|i| (i.0, i.1) == (cluster, id))?;
        declared_ns.get().filter(|&seen| next.2 <= seen).map(|_| next.3)
    }
}

/// Returns whether the dependency was withdrawn: its state is [`WITHDRAWN`].
fn is_withdrawn(term: &Term, strings: &Strings) -> bool {
    term.state.is_some_and(|state| strings.get(state) == WITHDRAWN)
}

fn declared(terms: &[Term], attempts: &[JobAttempt], submissions: &[Submission], strings: &Strings, labels: &Labels) -> Vec<Edge> {
    let ids = Ids::new(attempts, submissions, strings);
    let mut edges = Vec::new();
    // Of the attempts at one job or task that belong to the target, the last that had been submitted by then.
    let attempt_of = |cluster: Sym, label: &str, submission: u32, until_ns: i64| -> Option<u32> {
        let all = labels.attempts(cluster, strings.find(label)?);
        let mut of = all.iter().copied().filter(|&a| attempts[a as usize].submission == submission);
        let first = of.next()?;
        Some(of.take_while(|&a| attempts[a as usize].since_ns <= until_ns).last().unwrap_or(first))
    };
    for (at, term) in terms.iter().enumerate().filter(|(_, term)| !is_withdrawn(term, strings)) {
        let Some(id) = term.target_job_id.get() else { continue };
        let waiting = &attempts[term.attempt as usize];
        let cluster = waiting.cluster;
        let submitted_ns = submissions[waiting.submission as usize].since_ns;
        let to = match ids.find(cluster, id, submitted_ns, term.polled_at_ns) {
            None => Target::Unseen(id),
            Some(submission) => {
                let label = match (term.target_kind, term.target_task_id.get()) {
                    (TargetKind::ArrayTask, Some(task)) => Some(format!("{id}_{task}")),
                    (TargetKind::Array, _) => None,
                    _ => Some(id.to_string()),
                };
                let until = waiting.since_ns.max(term.polled_at_ns.get().unwrap_or(i64::MIN));
                let exact = label.and_then(|label| attempt_of(cluster, &label, submission, until));
                Target::Seen(submission, exact)
            }
        };
        edges.push(Edge { term: at as u32, from: waiting.submission, to });
    }
    by_raw_id(&mut edges, terms, attempts, submissions);
    edges
}

/// A plain id can also be the raw id of an array task or of a component: finds the attempts that
/// carry it.
fn by_raw_id(edges: &mut [Edge], terms: &[Term], attempts: &[JobAttempt], submissions: &[Submission]) {
    let mut open: Vec<(u32, i64, usize)> = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let term = &terms[edge.term as usize];
        if let (Target::Seen(submission, None), TargetKind::Job | TargetKind::Other, Some(id)) =
            (edge.to, term.target_kind, term.target_job_id.get())
            // The array's own id means the whole array, also where its last task carries it.
            && submissions[submission as usize].id != id
        {
            open.push((submission, id, at));
        }
    }
    if open.is_empty() {
        return;
    }
    open.sort_unstable();
    for (index, attempt) in attempts.iter().enumerate() {
        let key = (attempt.submission, attempt.job_id);
        let start = open.partition_point(|o| (o.0, o.1) < key);
        for &(_, _, at) in open[start..].iter().take_while(|o| (o.0, o.1) == key) {
            let waiting = &attempts[terms[edges[at].term as usize].attempt as usize];
            let first = matches!(edges[at].to, Target::Seen(_, None));
            // The record of the pending array is not the task, and a requeue after the waiting job's submit is a later attempt.
            if !attempt.array_task_id.is_known() && attempt.array_job_id.is_known() || !first && attempt.since_ns > waiting.since_ns {
                continue;
            }
            edges[at].to = Target::Seen(attempt.submission, Some(index as u32));
        }
    }
}

/// One submission as singletons see it.
struct Named {
    submission: u32,
    /// When all its tasks had ended, in nanoseconds since 1970; `i64::MAX` when some had not.
    ended_ns: i64,
    /// Index of the submission's first singleton term, where it has one.
    term: Option<u32>,
}

fn singletons(
    terms: &[Term],
    attempts: &[JobAttempt],
    submissions: &[Submission],
    former: &[(u32, Sym)],
    strings: &Strings,
    diagnostics: &mut Diagnostics,
    edges: &mut Vec<Edge>,
) {
    let mut term_of: FxHashMap<u32, u32> = FxHashMap::default();
    for (at, term) in terms.iter().enumerate() {
        if term.target_kind == TargetKind::UserAndName && !is_withdrawn(term, strings) {
            term_of.entry(attempts[term.attempt as usize].submission).or_insert(at as u32);
        }
    }
    if term_of.is_empty() {
        return;
    }
    // The last attempt at each job of a submission says when that job ended.
    let mut names: Vec<Option<(Sym, Sym)>> = vec![None; submissions.len()];
    let mut ended: Vec<i64> = vec![i64::MIN; submissions.len()];
    let mut last: FxHashMap<(u32, Sym), u32> = FxHashMap::default();
    for (at, a) in attempts.iter().enumerate() {
        let s = a.submission as usize;
        names[s] = names[s].or(a.user.zip(a.name));
        last.insert((a.submission, a.job), at as u32);
    }
    for (at, a) in attempts.iter().enumerate() {
        // The record of a pending array says nothing about its tasks.
        let record = a.is_pending_array(strings) && submissions[a.submission as usize].jobs > 1;
        if !record && last.get(&(a.submission, a.job)) == Some(&(at as u32)) {
            let end = &mut ended[a.submission as usize];
            *end = (*end).max(a.ended_ns.get().unwrap_or(i64::MAX));
        }
    }
    let mut groups: FxHashMap<(Sym, Sym, Sym), Vec<Named>> = FxHashMap::default();
    let mut unnamed = 0;
    for (at, submission) in submissions.iter().enumerate() {
        let term = term_of.get(&(at as u32)).copied();
        match names[at] {
            Some((user, name)) => {
                let before = former[former.partition_point(|f| f.0 < at as u32)..].iter().take_while(|f| f.0 == at as u32).map(|f| f.1);
                for name in before.filter(|&before| before != name).chain([name]) {
                    let named = Named { submission: at as u32, ended_ns: ended[at], term };
                    groups.entry((submission.cluster, user, name)).or_default().push(named);
                }
            }
            None => unnamed += u64::from(term.is_some()),
        }
    }
    if unnamed > 0 {
        let message = format!("{unnamed} singleton jobs whose user or name is unknown: what they wait for is not known");
        diagnostics.push(Diagnostic { count: unnamed, ..Diagnostic::warning("singleton_without_name", message) });
    }
    // The order in which groups come does not matter: the edges are sorted.
    for group in groups.into_values() {
        let mut running: Vec<Named> = Vec::new();
        for job in group {
            let submitted_ns = submissions[job.submission as usize].since_ns;
            if let Some(term) = job.term {
                // Who has ended by now has ended for all that come later: forgotten, so that no job is looked at again and again in vain.
                let from = running.iter().rposition(|e| e.term.is_some() && e.ended_ns > submitted_ns).unwrap_or(0);
                let tail = running.split_off(from);
                running.extend(tail.into_iter().filter(|e| e.ended_ns > submitted_ns));
                for earlier in &running[from..] {
                    edges.push(Edge { term, from: job.submission, to: Target::Seen(earlier.submission, None) });
                }
            }
            running.push(job);
        }
    }
}
