//! Jobs as an object-centric log, for OCEL 2.0.
//!
//! Objects, with ids that begin with their type so that two types cannot collide:
//!
//! | type | id | is |
//! |---|---|---|
//! | `job` | `job:<cluster>:<job>@<submit time in seconds>` | one job attempt |
//! | `array` | `array:<cluster>:<array id>`, `#2` for a later use of the id | a job array |
//! | `workflow run` | `workflow run:<cluster>:<id>`, as the case of the notion `dependency` | jobs joined by declared dependencies |
//! | `user`, `group` | `user:<name>`, `group:<name>` | as the system's user database has them, for all clusters |
//! | `account`, `partition`, `node` | `account:<cluster>:<name>` | of one cluster |
//!
//! A job that depends on nothing, and on which nothing depends, is in no workflow run. A job that
//! another one depends on and that is not in the log is an object without attributes: left out by a
//! filter, or never seen and so of type `job` with an id without a submit time,
//! `job:<cluster>:<id>` with the id as squeue writes it.
//!
//! An event's type says what happened: see [`event_type`]. Events lead to objects as `job`,
//! `member of array`, `part of`, `submitted by`, `of group`, `charged to`, `in partition` and
//! `ran on`; jobs to objects as `attempt of` (the first attempt at the job), `member of array`,
//! `part of` (the workflow run), `component of` (the first component of a heterogeneous job),
//! `submitted by` and `depends on (afterok)`, … as declared.
//!
//! State, reason and node list of a job change, and what `scontrol update` can change (name,
//! partition, time limit, …) where it did: they carry the time of each change; of several values at
//! one moment the last counts, the events have all. The interval of an observed change is
//! `not_before` and `observed_at` of its event; `reported` is the time that Slurm reports.
//!
//! A host list with more than [`MAX_NODES`] nodes, or one that is none, stays one object of type
//! `node`, which a diagnostic says.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use flowmine_correlate::attempts::Value as Earlier;
use flowmine_correlate::cases::{CaseNotion, Dependency, Entities};
use flowmine_correlate::dependencies::Target;
use flowmine_correlate::log::ResolvedFilter;
use flowmine_correlate::state::{self, CHANGED, ELIGIBLE, HELD, LEFT, PENDING, RELEASED, RUNNING};
use flowmine_correlate::write::written;
use flowmine_correlate::{Assignment, Event as JobEvent, Filter, JobAttempt, Jobs, Lifecycle, PackedInt, Submission, Sym};
use flowmine_eventlog::record::give_event_id;
use flowmine_eventlog::sorted::{SortRecords, SortedRecords};
use flowmine_eventlog::{Attribute, Batches, Event, LogError, Object, ObjectLog, Record, Relation, TypeDef, Types, ValueType};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text::ids::escape;
use flowmine_schema::text::visible;
use flowmine_slurm::host_list;
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::{BYTES, NUMBERS, Pick, TEXTS, TIMES};

/// How many nodes one host list may name.
pub const MAX_NODES: usize = 100_000;

/// The object types in the order in which their objects come.
pub(crate) const OBJECT_TYPES: [&str; 8] = ["job", "array", "workflow run", "user", "group", "account", "partition", "node"];
const JOB: u8 = 0;
const ARRAY: u8 = 1;
const RUN: u8 = 2;
const USER: u8 = 3;
const GROUP: u8 = 4;
const ACCOUNT: u8 = 5;
const PARTITION: u8 = 6;
const NODE: u8 = 7;

/// What of a job changes, as its events say.
const CHANGING: [Pick<JobEvent, Option<Sym>>; 3] = [("state", |e| Some(e.state)), ("reason", |e| e.reason), ("node_list", |e| e.node_list)];

const EVENT_TEXTS: [&str; 6] = ["activity", "state", "lifecycle", "changed", "reason", "source"];
const EVENT_TIMES: [Pick<JobEvent, PackedInt>; 3] =
    [("not_before", |e| e.not_before_ns), ("observed_at", |e| PackedInt::known(e.observed_at_ns)), ("reported", |e| e.reported_ns)];

/// What happened when a job came into a state, as the type of an event.
const HAPPENED: [(&str, &str); 29] = [
    (PENDING, "job pending"),
    (RUNNING, "job started"),
    (LEFT, "job left queue"),
    (ELIGIBLE, "job eligible"),
    (HELD, "job held"),
    (RELEASED, "job released"),
    (CHANGED, "job changed"),
    ("BOOT_FAIL", "job failed to boot"),
    ("CANCELLED", "job cancelled"),
    ("COMPLETED", "job completed"),
    ("COMPLETING", "job completing"),
    ("CONFIGURING", "job configuring"),
    ("DEADLINE", "job missed deadline"),
    ("FAILED", "job failed"),
    ("NODE_FAIL", "job lost node"),
    ("OUT_OF_MEMORY", "job ran out of memory"),
    ("PREEMPTED", "job preempted"),
    ("REQUEUED", "job requeued"),
    ("REQUEUE_FED", "job requeued by federation"),
    ("REQUEUE_HOLD", "job requeued and held"),
    ("RESIZING", "job resizing"),
    ("RESV_DEL_HOLD", "job held"),
    ("REVOKED", "job revoked"),
    ("SIGNALING", "job signaling"),
    ("SPECIAL_EXIT", "job requeued by special exit"),
    ("STAGE_OUT", "job staging out"),
    ("STOPPED", "job stopped"),
    ("SUSPENDED", "job suspended"),
    ("TIMEOUT", "job timed out"),
];

/// Types of events that are not of the state that a job came into.
const SUBMITTED: &str = "job submitted";
const RESUMED: &str = "job resumed";

/// What happened, as the type of an event: `job submitted` for the first time in the queue when its
/// moment is known, otherwise by the state that the job came into. A state that squeue(1) does not
/// list is named as it is.
pub fn event_type(state: &str, lifecycle: Lifecycle, submission: bool) -> Cow<'static, str> {
    match state {
        PENDING if submission => return SUBMITTED.into(),
        RUNNING if lifecycle == Lifecycle::Resume => return RESUMED.into(),
        _ => {}
    }
    match HAPPENED.iter().find(|(known, _)| *known == state) {
        Some((_, kind)) => Cow::Borrowed(kind),
        None => Cow::Owned(format!("job {}", state.to_lowercase())),
    }
}

/// Whether a text is the type of an event of a job in a state that is known.
pub fn is_event_type(text: &str) -> bool {
    text == SUBMITTED || text == RESUMED || HAPPENED.iter().any(|(_, kind)| *kind == text)
}

/// Takes jobs part by part and makes the object-centric log.
#[derive(Default)]
pub(super) struct Builder {
    objects: Sorter,
    events: Sorter,
    event_types: BTreeSet<Cow<'static, str>>,
    /// Objects that several parts can have: rank and id, with cluster and name.
    shared: BTreeMap<(u8, String), (Option<String>, String)>,
    unclear_host_lists: BTreeSet<String>,
}

impl Builder {
    pub fn add(&mut self, jobs: &Jobs, filter: &Filter) -> Result<(), LogError> {
        let filter = filter.resolve(jobs);
        let attempts: Vec<(u32, &JobAttempt)> =
            (0u32..).zip(&jobs.attempts).filter(|(_, attempt)| filter.events(attempt).next().is_some()).collect();
        let part = Part::new(jobs, &attempts, &filter, &mut self.unclear_host_lists);
        let mut outside = BTreeSet::new();
        let mut runs: BTreeMap<u32, i64> = BTreeMap::new();
        let mut key = Vec::new();
        for &(at, attempt) in &attempts {
            self.share(jobs, &part, attempt, &filter);
            if let Some(run) = part.run_of(at) {
                *runs.entry(run).or_default() += 1;
            }
            let object = part.job(at, attempt, &filter, &mut outside);
            key.clear();
            key.push(JOB);
            jobs.put_order(attempt, &mut key);
            self.objects.push_record(&key, &Record::Object(object))?;
            for index in filter.events(attempt) {
                let event = part.event(index, attempt);
                if !self.event_types.contains(&event.kind) {
                    self.event_types.insert(Cow::Owned(event.kind.clone().into_owned()));
                }
                key.clear();
                put_ordered(event.time_ns, &mut key);
                jobs.put_order(attempt, &mut key);
                put_ordered(i64::from(index - attempt.events.0), &mut key);
                self.events.push_record(&key, &Record::Event(event))?;
            }
        }
        for &array in &part.arrays {
            let submission = &jobs.submissions[array as usize];
            let attributes =
                vec![Attribute::text("cluster", jobs.text(submission.cluster)), Attribute::integer("array_job_id", submission.id)];
            self.whole(ARRAY, submission.since_ns, part.array_id(submission), attributes)?;
        }
        for (run, count) in runs {
            let first = part.run_oldest[run as usize];
            let submission = &jobs.submissions[first as usize];
            let attributes = vec![
                Attribute::text("cluster", jobs.text(submission.cluster)),
                Attribute::text("case_id", part.runs.ids[run as usize].as_str()),
                Attribute::integer("job_attempts", count),
            ];
            self.whole(RUN, submission.since_ns, part.run_id(run), attributes)?;
        }
        for (rank, id) in outside {
            // After all others of its type: it has no place in time.
            self.whole(rank, i64::MAX, id, Vec::new())?;
        }
        Ok(())
    }

    fn whole(&mut self, rank: u8, since_ns: i64, id: String, attributes: Vec<Attribute<'_>>) -> Result<(), LogError> {
        let mut key = vec![rank];
        put_ordered(since_ns, &mut key);
        put_ordered_text(&id, &mut key);
        let kind = OBJECT_TYPES[rank as usize].into();
        self.objects.push_record(&key, &Record::Object(Object { id: id.into(), kind, attributes, relations: Vec::new() }))
    }

    /// Users, groups, accounts, partitions and nodes.
    fn share(&mut self, jobs: &Jobs, part: &Part<'_>, attempt: &JobAttempt, filter: &ResolvedFilter<'_>) {
        let mut add = |rank: u8, id: String, cluster: Option<&str>, name: &str| {
            self.shared.entry((rank, id)).or_insert_with(|| (cluster.map(str::to_owned), name.to_owned()));
        };
        for (rank, name) in [(USER, attempt.user), (GROUP, attempt.group)] {
            if let Some(name) = jobs.text_of(name) {
                add(rank, format!("{}:{name}", OBJECT_TYPES[rank as usize]), None, name);
            }
        }
        let cluster = Some(jobs.text(attempt.cluster));
        if let Some(name) = jobs.text_of(attempt.account) {
            add(ACCOUNT, part.on_cluster("account", attempt.cluster, name), cluster, name);
        }
        for name in part.partitions(attempt) {
            add(PARTITION, part.on_cluster("partition", attempt.cluster, name), cluster, name);
        }
        let mut before = None;
        for list in filter.events(attempt).filter_map(|e| jobs.events[e as usize].node_list) {
            if before.replace(list) == Some(list) {
                continue;
            }
            for name in part.nodes.get(&list).into_iter().flatten() {
                add(NODE, part.on_cluster("node", attempt.cluster, name), cluster, name);
            }
        }
    }

    pub fn finish(mut self, diagnostics: &mut Diagnostics) -> Result<JobObjectLog, LogError> {
        for (at, ((rank, id), (cluster, name))) in std::mem::take(&mut self.shared).into_iter().enumerate() {
            let mut attributes = Vec::new();
            attributes.extend(cluster.map(|cluster| Attribute::text("cluster", cluster)));
            attributes.push(Attribute::text("name", name));
            self.whole(rank, at as i64, id, attributes)?;
        }
        for message in self.unclear_host_lists {
            diagnostics.push(Diagnostic::warning("ocel_host_list", message));
        }
        let event_attributes: Vec<(String, ValueType)> = (EVENT_TEXTS.iter().map(|name| ((*name).to_owned(), ValueType::String)))
            .chain(EVENT_TIMES.iter().map(|(name, _)| ((*name).to_owned(), ValueType::Time)))
            .collect();
        let events =
            self.event_types.into_iter().map(|name| TypeDef { name: name.into_owned(), attributes: event_attributes.clone() }).collect();
        Ok(JobObjectLog {
            types: Types { events, objects: object_types() },
            objects: self.objects.finish()?,
            events: self.events.finish()?,
        })
    }
}

fn object_types() -> Vec<TypeDef> {
    let named = |names: &[&str], kind| names.iter().map(|name| ((*name).to_owned(), kind)).collect::<Vec<_>>();
    let mut job = named(&TEXTS.map(|a| a.0), ValueType::String);
    job.extend(named(&NUMBERS.map(|a| a.0), ValueType::Integer));
    job.extend(named(&BYTES.map(|a| a.0), ValueType::Integer));
    job.extend(named(&TIMES.map(|a| a.0), ValueType::Time));
    job.extend(named(&CHANGING.map(|a| a.0), ValueType::String));
    let array = [named(&["cluster"], ValueType::String), named(&["array_job_id"], ValueType::Integer)].concat();
    let run = [named(&["cluster", "case_id"], ValueType::String), named(&["job_attempts"], ValueType::Integer)].concat();
    let name = || named(&["name"], ValueType::String);
    let on_cluster = || named(&["cluster", "name"], ValueType::String);
    let attributes = [job, array, run, name(), name(), on_cluster(), on_cluster(), on_cluster()];
    OBJECT_TYPES.iter().zip(attributes).map(|(name, attributes)| TypeDef { name: (*name).to_owned(), attributes }).collect()
}

/// One part's jobs with what is looked up in them.
struct Part<'j> {
    jobs: &'j Jobs,
    inside: FxHashSet<u32>,
    /// The submissions in the log that are arrays.
    arrays: BTreeSet<u32>,
    nodes: FxHashMap<Sym, Vec<String>>,
    /// The edges of each attempt, in order.
    depends: FxHashMap<u32, Vec<u32>>,
    first_attempts: FxHashMap<(u32, Sym), u32>,
    runs: Assignment,
    /// For each case the number of its oldest submission.
    run_oldest: Vec<u32>,
    /// Whether a case has a declared dependency.
    run_joined: Vec<bool>,
}

impl<'j> Part<'j> {
    fn new(jobs: &'j Jobs, attempts: &[(u32, &JobAttempt)], filter: &ResolvedFilter<'j>, unclear: &mut BTreeSet<String>) -> Self {
        let mut nodes = FxHashMap::default();
        for (_, attempt) in attempts {
            for list in filter.events(attempt).filter_map(|event| jobs.events[event as usize].node_list) {
                nodes.entry(list).or_insert_with(|| expand(jobs.text(list), unclear));
            }
        }
        let mut depends: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let runs = Dependency.assign(&Entities::new(jobs));
        let mut run_joined = vec![false; runs.ids.len()];
        // What the record of an array waits for is what its tasks wait for.
        let mut of_arrays: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, edge) in (0u32..).zip(&jobs.dependencies.edges) {
            let attempt = jobs.dependencies.terms[edge.term as usize].attempt;
            let waiting = &jobs.attempts[attempt as usize];
            if jobs.is_array_record(waiting) {
                of_arrays.entry(waiting.submission).or_default().push(at);
            } else {
                depends.entry(attempt).or_default().push(at);
            }
            run_joined[runs.case_of[attempt as usize] as usize] = true;
        }
        for &(at, attempt) in attempts {
            if let Some(edges) = of_arrays.get(&attempt.submission) {
                depends.entry(at).or_insert_with(|| edges.clone());
            }
        }
        let mut first_attempts = FxHashMap::default();
        let mut run_oldest = vec![u32::MAX; runs.ids.len()];
        for ((at, attempt), &run) in (0u32..).zip(&jobs.attempts).zip(&runs.case_of) {
            first_attempts.entry((attempt.submission, attempt.job)).or_insert(at);
            // Submissions are numbered by age.
            let oldest = &mut run_oldest[run as usize];
            *oldest = (*oldest).min(attempt.submission);
        }
        let inside = attempts.iter().map(|a| a.0).collect();
        let of_array = |attempt: &&JobAttempt| is_of_array(jobs, attempt);
        let arrays = attempts.iter().map(|a| a.1).filter(of_array).map(|attempt| attempt.submission).collect();
        Self { jobs, inside, arrays, nodes, depends, first_attempts, runs, run_oldest, run_joined }
    }

    fn on_cluster(&self, kind: &str, cluster: Sym, name: &str) -> String {
        let mut id = format!("{kind}:");
        escape(self.jobs.text(cluster), &mut id);
        id.push(':');
        id.push_str(name);
        id
    }

    fn array_id(&self, submission: &Submission) -> String {
        let again = if submission.generation > 1 { format!("#{}", submission.generation) } else { String::new() };
        self.on_cluster("array", submission.cluster, &format!("{}{again}", submission.id))
    }

    fn job_id(&self, attempt: u32) -> String {
        format!("job:{}", self.jobs.attempt_id(&self.jobs.attempts[attempt as usize]))
    }

    /// The workflow run that an attempt is part of: an index of a case.
    fn run_of(&self, attempt: u32) -> Option<u32> {
        let run = self.runs.case_of[attempt as usize];
        self.run_joined[run as usize].then_some(run)
    }

    fn run_id(&self, run: u32) -> String {
        let case = &self.runs.ids[run as usize];
        format!("workflow run:{}", case.split_once(':').map_or(case.as_str(), |(_, rest)| rest))
    }

    fn is_of_array(&self, attempt: &JobAttempt) -> bool {
        is_of_array(self.jobs, attempt)
    }

    fn partitions(&self, attempt: &JobAttempt) -> impl Iterator<Item = &'j str> + use<'j> {
        let mut names: Vec<&str> =
            self.jobs.text_of(attempt.partition).into_iter().flat_map(|p| p.split(',')).filter(|p| !p.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }

    fn job(&self, at: u32, attempt: &JobAttempt, filter: &ResolvedFilter<'_>, outside: &mut BTreeSet<(u8, String)>) -> Object<'j> {
        let jobs = self.jobs;
        let mut attributes = Vec::with_capacity(32);
        for (name, pick) in TEXTS {
            let add = |(since, value): (Option<i64>, Earlier)| {
                let Earlier::Text(text) = value else { return None };
                jobs.text_of(text).map(|text| since_or_ever(Attribute::text(name, text), since))
            };
            attributes.extend(history(jobs, attempt, filter, name, Earlier::Text(pick(attempt))).into_iter().filter_map(add));
        }
        for (name, pick) in NUMBERS.iter().chain(&BYTES) {
            let add = |(since, value): (Option<i64>, Earlier)| {
                let Earlier::Number(number) = value else { return None };
                number.get().map(|number| since_or_ever(Attribute::integer(*name, number), since))
            };
            attributes.extend(history(jobs, attempt, filter, name, Earlier::Number(pick(attempt))).into_iter().filter_map(add));
        }
        for (name, pick) in TIMES {
            attributes.extend(pick(attempt).get().map(|time| Attribute::time(name, time)));
        }
        for (name, pick) in CHANGING {
            let values = filter.events(attempt).filter_map(|event| {
                let event = &jobs.events[event as usize];
                pick(event).filter(|value| name != "state" || !state::keeps_state(jobs.text(*value))).map(|value| (event.time_ns, value))
            });
            attributes.extend(changes(values).into_iter().map(|(time, value)| Attribute::text(name, jobs.text(value)).since(time)));
        }
        let mut relations: Vec<Relation<'_>> = Vec::new();
        let mut relate = |object: String, qualifier: Cow<'static, str>| relations.push(Relation { object: object.into(), qualifier });
        let lead_to = |attempt: u32, outside: &mut BTreeSet<(u8, String)>| {
            let id = self.job_id(attempt);
            if !self.inside.contains(&attempt) {
                outside.insert((JOB, id.clone()));
            }
            id
        };
        if let Some(&first) = self.first_attempts.get(&(attempt.submission, attempt.job)).filter(|&&first| first != at) {
            relate(lead_to(first, outside), "attempt of".into());
        }
        let submission = &jobs.submissions[attempt.submission as usize];
        if self.is_of_array(attempt) {
            relate(self.array_id(submission), "member of array".into());
        }
        let component = submission.first_attempt;
        if attempt.het_job_id.is_known() && component != at && jobs.attempts[component as usize].job != attempt.job {
            relate(lead_to(component, outside), "component of".into());
        }
        for &edge in self.depends.get(&at).map_or(&[][..], Vec::as_slice) {
            let edge = &jobs.dependencies.edges[edge as usize];
            let kind = jobs.text(jobs.dependencies.terms[edge.term as usize].kind);
            let target = match edge.to {
                Target::Seen(_, Some(attempt)) => lead_to(attempt, outside),
                Target::Seen(target, None) => {
                    let target = &jobs.submissions[target as usize];
                    if self.is_of_array(&jobs.attempts[target.first_attempt as usize]) {
                        let id = self.array_id(target);
                        if !self.arrays.contains(&self.jobs.attempts[target.first_attempt as usize].submission) {
                            outside.insert((ARRAY, id.clone()));
                        }
                        id
                    } else {
                        lead_to(target.first_attempt, outside)
                    }
                }
                Target::Unseen(id) => {
                    let term = &jobs.dependencies.terms[edge.term as usize];
                    let id = self.on_cluster("job", attempt.cluster, &written(term, id));
                    outside.insert((JOB, id.clone()));
                    id
                }
            };
            relate(target, format!("depends on ({kind})").into());
        }
        if let Some(run) = self.run_of(at) {
            relate(self.run_id(run), "part of".into());
        }
        if let Some(user) = jobs.text_of(attempt.user) {
            relate(format!("user:{user}"), "submitted by".into());
        }
        // What is declared twice is one relation.
        let mut seen = FxHashSet::default();
        relations.retain(|relation| seen.insert((relation.object.clone(), relation.qualifier.clone())));
        Object { id: self.job_id(at).into(), kind: "job".into(), attributes, relations }
    }

    fn event(&self, index: u32, attempt: &JobAttempt) -> Event<'j> {
        let jobs = self.jobs;
        let event = &jobs.events[index as usize];
        let mut attributes = Vec::with_capacity(8);
        let texts = [
            Some(jobs.text(attempt.activity)),
            Some(jobs.text(event.state)),
            Some(event.lifecycle.name()),
            jobs.text_of(event.changed),
            jobs.text_of(event.reason),
            Some(jobs.text(event.source)),
        ];
        for (name, text) in EVENT_TEXTS.into_iter().zip(texts) {
            attributes.extend(text.map(|text| Attribute::text(name, text)));
        }
        for (name, pick) in EVENT_TIMES {
            attributes.extend(pick(event).get().map(|time| Attribute::time(name, time)));
        }
        let mut relations = vec![Relation { object: self.job_id(event.attempt).into(), qualifier: "job".into() }];
        let mut relate =
            |object: String, qualifier: &'static str| relations.push(Relation { object: object.into(), qualifier: qualifier.into() });
        if self.is_of_array(attempt) {
            relate(self.array_id(&jobs.submissions[attempt.submission as usize]), "member of array");
        }
        if let Some(run) = self.run_of(event.attempt) {
            relate(self.run_id(run), "part of");
        }
        if let Some(user) = jobs.text_of(attempt.user) {
            relate(format!("user:{user}"), "submitted by");
        }
        if let Some(group) = jobs.text_of(attempt.group) {
            relate(format!("group:{group}"), "of group");
        }
        if let Some(account) = jobs.text_of(attempt.account) {
            relate(self.on_cluster("account", attempt.cluster, account), "charged to");
        }
        for partition in self.partitions(attempt) {
            relate(self.on_cluster("partition", attempt.cluster, partition), "in partition");
        }
        if let Some(nodes) = event.node_list {
            for node in self.nodes.get(&nodes).into_iter().flatten() {
                relate(self.on_cluster("node", attempt.cluster, node), "ran on");
            }
        }
        let submission =
            attempt.number == 1 && index == attempt.events.0 && event.reported_ns == attempt.submit_ns && attempt.submit_ns.is_known();
        // The number of an event in the log is known only when all are in order; it becomes its id then.
        Event {
            id: Cow::Borrowed(""),
            kind: event_type(jobs.text(event.state), event.lifecycle, submission),
            time_ns: event.time_ns,
            attributes,
            relations,
        }
    }
}

/// The values of a column, each since the event that reports the change; the first since ever.
/// `last` is the attempt's own value.
fn history(jobs: &Jobs, attempt: &JobAttempt, filter: &ResolvedFilter<'_>, column: &str, last: Earlier) -> Vec<(Option<i64>, Earlier)> {
    if jobs.before.is_empty() {
        return vec![(None, last)];
    }
    let mut values: Vec<(Option<i64>, Earlier)> = Vec::new();
    let mut since = None;
    for event in filter.events(attempt).map(|at| &jobs.events[at as usize]) {
        let before = event.before.and_then(|at| jobs.before.get(at as usize)).into_iter().flatten();
        for before in before.filter(|before| before.column == column) {
            // Of several changes at one moment the last counts.
            values.pop_if(|(other, _)| *other == since && since.is_some());
            values.push((since, before.value));
            since = Some(event.time_ns);
        }
    }
    values.pop_if(|(other, _)| *other == since && since.is_some());
    values.push((since, last));
    values
}

fn since_or_ever<'a>(attribute: Attribute<'a>, since: Option<i64>) -> Attribute<'a> {
    match since {
        Some(time) => attribute.since(time),
        None => attribute,
    }
}

/// The values that last, of values in the order of their times: at one time an attribute has one,
/// the last of them.
fn changes(values: impl Iterator<Item = (i64, Sym)>) -> Vec<(i64, Sym)> {
    let mut lasting: Vec<(i64, Sym)> = Vec::new();
    for (time, value) in values {
        lasting.pop_if(|(before, _)| *before == time);
        if lasting.last().is_none_or(|(_, before)| *before != value) {
            lasting.push((time, value));
        }
    }
    lasting
}

fn is_of_array(jobs: &Jobs, attempt: &JobAttempt) -> bool {
    attempt.array_job_id.is_known() || jobs.text(attempt.job).contains('_')
}

fn expand(list: &str, unclear: &mut BTreeSet<String>) -> Vec<String> {
    match host_list::expand(list, MAX_NODES) {
        Ok(mut names) => {
            names.sort_unstable();
            names.dedup();
            names
        }
        Err(error) => {
            let start: String = list.chars().take(80).collect();
            unclear.insert(format!("{error}: {:?} is one object of type node", visible(&start)));
            vec![list.to_owned()]
        }
    }
}

/// Jobs, and the objects added to them, as an object-centric log.
pub struct JobObjectLog {
    types: Types,
    objects: Sorted,
    events: Sorted,
}

impl JobObjectLog {
    pub(crate) fn new(types: Types, objects: Sorted, events: Sorted) -> Self {
        Self { types, objects, events }
    }

    /// Types; objects by rank of their type; events by time, without ids.
    pub(crate) fn into_parts(self) -> (Types, Sorted, Sorted) {
        (self.types, self.objects, self.events)
    }
}

impl ObjectLog for JobObjectLog {
    fn types(&self) -> &Types {
        &self.types
    }

    fn objects(&self) -> Batches<'_> {
        self.objects.batches(|_, _| false)
    }

    fn events(&self) -> Batches<'_> {
        // As many digits for all, so that the order of ids is that of the events.
        let digits = self.events.len().to_string().len();
        let mut number = 0u64;
        self.events.batches(move |bytes, out| {
            number += 1;
            give_event_id(bytes, &format!("e{number:0digits$}"), out)
        })
    }
}
