//! The jobs of a dataset as columns: an instance is an attempt at a job, from submission through
//! start to end.
//!
//! The events are those of the log of cases ([`crate::job_log`]), in the same order, so that an
//! exported XES file has the same content.

use flowmine_activity_log::{
    ActivityLog, BytesFrom, EventRow, Flow, Flows, Interner, LeftOut, LogBuilder, Measure, NONE, NOT_READY_FOR, QUEUED_FOR, TooLarge,
    Transition,
};
use flowmine_correlate::attempts::UNKNOWN_ACTIVITY;
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::waits::{Cause, Wait};
use flowmine_correlate::{Entities, EventLog, Filter, JobAttempt, Jobs, Lifecycle, Sym, Waits, state};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_eventlog::IdHash;
use flowmine_schema::tables::{DataFlow, TaskTotal};
use rustc_hash::{FxHashMap, FxHashSet};

use super::options::{ReadOptions, Unit};
use crate::steps::STEP;
use crate::task_log::TracedJobs;

/// A measure below zero: it counts as unknown, and as a number out of range.
const OUT_OF_RANGE: i64 = -1;

/// Takes one text out of an attempt, such as its account.
type Pick = fn(&JobAttempt) -> Option<Sym>;

/// Where the value of an attribute that is kept comes from.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// A text of the attempt.
    Text(Pick),
    /// The cause of most of the time in the queue.
    QueuedFor,
    /// The wish of its own for which it waited longest.
    NotReadyFor,
    /// Slurm's reason for most of the time before the start.
    Reason,
    /// The step that the job is an instance of.
    Step,
}

/// Attributes of jobs that can be kept, by the names of the table `job_states`.
const KEPT: [(&str, Pick); 14] = [
    ("account", |a| a.account),
    ("user", |a| a.user),
    ("group", |a| a.group),
    ("partition", |a| a.partition),
    ("qos", |a| a.qos),
    ("cluster", |a| Some(a.cluster)),
    ("name", |a| a.name),
    ("job", |a| Some(a.job)),
    ("node_list", |a| a.node_list),
    ("work_dir", |a| a.work_dir),
    ("comment", |a| a.comment),
    ("command", |a| a.command),
    ("arguments", |a| a.arguments),
    ("state", |a| a.final_state),
];

/// What of an event is part of its activity.
#[derive(Debug, Clone, Copy)]
enum LabelPart {
    /// A text of the attempt.
    Text(Pick),
    /// The state that the event is.
    State,
    /// The step that the job is an instance of.
    Step,
}

/// The value of a part of an activity: a text of the jobs, or the number of a step.
type LabelValue = Result<Sym, u32>;

/// The parts of an activity by the names of attributes; `None` where one is not known here.
fn label_parts(keys: &[String]) -> Option<Vec<LabelPart>> {
    const USUAL: LabelPart = LabelPart::Text(|a| Some(a.activity));
    if keys.is_empty() {
        return Some(vec![USUAL]);
    }
    let part = |key: &String| match key.as_str() {
        "concept:name" | "activity" => Some(USUAL),
        "state" | "slurm:state" => Some(LabelPart::State),
        key => match find(key)? {
            Kept::Text(pick) => Some(LabelPart::Text(pick)),
            Kept::Step => Some(LabelPart::Step),
            Kept::QueuedFor | Kept::NotReadyFor | Kept::Reason => None,
        },
    };
    keys.iter().map(part).collect()
}

fn transition(lifecycle: Lifecycle) -> Transition {
    match lifecycle {
        Lifecycle::Schedule | Lifecycle::Assign => Transition::Ready,
        Lifecycle::Start => Transition::Start,
        Lifecycle::Suspend | Lifecycle::Resume | Lifecycle::Reassign => Transition::Inner,
        Lifecycle::Complete => Transition::Complete,
        Lifecycle::Withdraw => Transition::Aborted,
        Lifecycle::AteAbort => Transition::Failed,
        Lifecycle::Unknown => Transition::Unknown,
    }
}

/// Whether attributes of these names can be given for jobs here.
pub(crate) fn knows(keep: &[String]) -> bool {
    keep.iter().all(|key| find(key).is_some())
}

fn find(key: &str) -> Option<Kept> {
    match key {
        QUEUED_FOR => return Some(Kept::QueuedFor),
        NOT_READY_FOR => return Some(Kept::NotReadyFor),
        "reason" => return Some(Kept::Reason),
        STEP => return Some(Kept::Step),
        _ => {}
    }
    let name = key.strip_prefix("slurm:").unwrap_or(key);
    let name = match name {
        "org:resource" => "user",
        "org:group" => "group",
        name => name,
    };
    KEPT.iter().find(|(known, _)| *known == name).map(|(_, pick)| Kept::Text(*pick))
}

/// Returns whether [`JobColumns`] knows all requested labels and attributes; the log of cases
/// contains all others.
pub fn suffices(options: &ReadOptions) -> bool {
    label_parts(&options.activity).is_some() && knows(&options.keep)
}

/// In place of a length of time that is not known, see [`Measure::BeforeReadyNs`].
const NOT_KNOWN: i64 = -1;

/// An event on its way into the log.
#[derive(Debug, Clone, Copy)]
struct TakenEvent {
    time_ns: i64,
    /// Index into [`JobColumns::attempts`].
    attempt: u32,
    /// Index into [`JobColumns::activities`].
    activity: u32,
    transition: Transition,
    /// Whether the attempt ended by it: then its bytes are known.
    ends: bool,
}

/// An attempt that has an event in the log.
#[derive(Debug, Clone, Copy)]
struct TakenAttempt {
    /// Sort key of attempts in the order of submission. It ends with the part and the place in the
    /// part, since attempts that agree in the rest of the key are in one part.
    order: (i64, u32, i64, u32, u32),
    /// Index into [`JobColumns::resources`], or [`NONE`].
    resource: u32,
    number: u32,
    /// Its measures: where they begin, where those begin that are known when it ends, where they
    /// end.
    measures: (u32, u32, u32),
    bytes_from: BytesFrom,
}

/// The events of a case that one part has.
#[derive(Debug)]
struct Chunk {
    id: String,
    first_ns: i64,
    events: (u32, u32),
}

/// Names, and the numbers that the log gives them when they are first used.
#[derive(Default)]
struct Numbered {
    names: Interner,
    numbers: Vec<u32>,
}

impl Numbered {
    fn number(&mut self, name: u32, give: impl FnOnce(&str) -> u32) -> u32 {
        self.numbers.resize(self.names.names().len(), NONE);
        let number = &mut self.numbers[name as usize];
        if *number == NONE {
            *number = give(self.names.names().get(name));
        }
        *number
    }
}

/// Takes a dataset's jobs, part after part ([`flowmine_correlate::parts`]), and makes the log of a
/// notion's cases of the events that pass the filter. Until it is made, an event takes 24 bytes, an
/// attempt about a hundred.
pub struct JobColumns<'a> {
    notion: &'a dyn CaseNotion,
    filter: &'a Filter,
    traced: &'a TracedJobs,
    options: &'a ReadOptions,
    label: Vec<LabelPart>,
    picks: Vec<Option<Kept>>,
    activities: Numbered,
    resources: Numbered,
    values: Vec<Numbered>,
    clusters: Interner,
    part: u32,
    chunks: Vec<Chunk>,
    /// The chunks of cases that can continue in another part, ascending.
    going_on: Vec<u32>,
    events: Vec<TakenEvent>,
    attempts: Vec<TakenAttempt>,
    measures: Vec<(Measure, i64)>,
    /// Of each attempt the value of each attribute that is kept, or [`NONE`].
    kept: Vec<u32>,
    /// Attempts by cluster and job, where bytes flow between jobs; [`NONE`] for one that is not in
    /// the log or cannot be distinguished from another.
    by_name: Option<FxHashMap<(u32, Box<str>), u32>>,
}

impl<'a> JobColumns<'a> {
    /// A log of these cases, with what was traced of jobs.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn new(
        dataset: &Dataset,
        notion: &'a dyn CaseNotion,
        filter: &'a Filter,
        traced: &'a TracedJobs,
        options: &'a ReadOptions,
    ) -> Result<Self, DatasetError> {
        let has_flows = dataset.row_count::<DataFlow<'static>>()? > 0;
        Ok(Self {
            notion,
            filter,
            traced,
            options,
            label: label_parts(&options.activity).unwrap_or_default(),
            picks: options.keep.iter().map(|key| find(key)).collect(),
            activities: Numbered::default(),
            resources: Numbered::default(),
            values: options.keep.iter().map(|_| Numbered::default()).collect(),
            clusters: Interner::default(),
            part: 0,
            chunks: Vec::new(),
            going_on: Vec::new(),
            events: Vec::new(),
            attempts: Vec::new(),
            measures: Vec::new(),
            kept: Vec::new(),
            by_name: has_flows.then(FxHashMap::default),
        })
    }

    /// Adds the jobs of one part, or all.
    ///
    /// # Errors
    /// When there are too many events.
    pub fn add(&mut self, entities: &Entities<'_>) -> Result<(), TooLarge> {
        let jobs = entities.jobs;
        let log = EventLog::build(entities, self.notion, self.filter);
        if self.events.len() + log.event_count() >= NONE as usize - 4 {
            return Err(TooLarge { what: "events" });
        }
        let mut labels: FxHashMap<Box<[Option<LabelValue>]>, u32> = FxHashMap::default();
        let mut key = Vec::new();
        let mut taken = vec![NONE; jobs.attempts.len()];
        let waits = Waits::new(jobs, None);
        // The step of an attempt is looked up once for all of its events.
        let mut steps: Vec<Option<Option<u32>>> = Vec::new();
        if self.label.iter().any(|part| matches!(part, LabelPart::Step)) {
            steps.resize(jobs.attempts.len(), None);
        }
        let mut step_of = |jobs: &Jobs, attempt: &JobAttempt, at: u32| {
            let find = || self.options.steps.as_ref()?.number(&jobs.attempt_id(attempt));
            *steps.get_mut(at as usize)?.get_or_insert_with(find)
        };
        for case in &log.cases {
            let first = self.events.len() as u32;
            let mut first_ns = None;
            for event in log.events(case) {
                first_ns.get_or_insert(event.time_ns);
                let Some(transition) = self.options.unit.takes(transition(event.lifecycle)) else { continue };
                let attempt = jobs.attempt_of(event);
                key.clear();
                key.extend(self.label.iter().map(|part| match part {
                    LabelPart::Text(pick) => pick(attempt).map(Ok),
                    LabelPart::State => Some(Ok(event.state)),
                    LabelPart::Step => step_of(jobs, attempt, event.attempt).map(Err),
                }));
                let activity = match labels.get(key.as_slice()) {
                    Some(&known) => known,
                    None => {
                        // What is not known is left out of the label.
                        let text = |value: &LabelValue| match *value {
                            Ok(sym) => Some(jobs.text(sym)),
                            Err(step) => self.options.steps.as_ref().and_then(|steps| steps.name(step)),
                        };
                        let parts: Vec<&str> = key.iter().flatten().filter_map(text).collect();
                        let activity = if parts.is_empty() { UNKNOWN_ACTIVITY.to_owned() } else { parts.join("+") };
                        let number = self.activities.names.intern(&activity);
                        labels.insert(key.as_slice().into(), number);
                        number
                    }
                };
                let place = &mut taken[event.attempt as usize];
                if *place == NONE {
                    *place = self.attempts.len() as u32;
                    self.take(jobs, &waits, attempt, event.attempt);
                }
                let attempt = taken[event.attempt as usize];
                let ends = state::phase(jobs.text(event.state)).ends_attempt();
                self.events.push(TakenEvent { time_ns: event.time_ns, attempt, activity, transition, ends });
            }
            let events = (first, self.events.len() as u32);
            self.going_on.extend(case.goes_on.then_some(self.chunks.len() as u32));
            self.chunks.push(Chunk { id: case.id.clone(), first_ns: first_ns.unwrap_or(i64::MIN), events });
        }
        if let Some(by_name) = &mut self.by_name {
            for (attempt, at) in jobs.attempts.iter().zip(taken) {
                let name = (self.clusters.intern(jobs.text(attempt.cluster)), jobs.text(attempt.job).into());
                by_name.entry(name).and_modify(|known| *known = NONE).or_insert(at);
            }
        }
        self.part += 1;
        Ok(())
    }

    fn take(&mut self, jobs: &Jobs, waits: &Waits<'_>, attempt: &JobAttempt, at: u32) {
        let resource = attempt.user.map_or(NONE, |user| self.resources.names.intern(jobs.text(user)));
        let wait = if self.options.unit == Unit::Instances { waits.of(attempt) } else { Wait::default() };
        for (kept, values) in self.picks.iter().zip(&mut self.values) {
            let text = match kept {
                Some(Kept::Text(pick)) => pick(attempt).map(|sym| jobs.text(sym)),
                Some(Kept::QueuedFor) => {
                    let known = wait.main_cause(|cause| !cause.is_own_wish() && cause != Cause::Unknown);
                    known.or_else(|| wait.main_cause(|cause| cause == Cause::Unknown)).map(Cause::name)
                }
                Some(Kept::NotReadyFor) => wait.main_cause(Cause::is_own_wish).map(Cause::name),
                Some(Kept::Reason) => wait.main_reason(),
                Some(Kept::Step) => self.options.steps.as_ref().and_then(|steps| steps.of(&jobs.attempt_id(attempt))),
                None => None,
            };
            self.kept.push(text.map_or(NONE, |text| values.names.intern(text)));
        }
        let first = self.measures.len() as u32;
        for (measure, value, factor) in [
            (Measure::Cpus, attempt.cpus, 1),
            (Measure::Gpus, attempt.gpus, 1),
            (Measure::GpuPercent, attempt.gpu_percent, 1),
            (Measure::MemoryBytes, attempt.job_memory_bytes, 1),
            (Measure::PeakMemoryBytes, attempt.job_peak_bytes, 1),
            (Measure::CpuTimeNs, attempt.cpu_time_ns, 1),
            (Measure::TimeLimitNs, attempt.time_limit_s, 1_000_000_000),
        ] {
            // What cannot be counted in nanoseconds is out of range, and counted as that.
            self.measures.extend(value.get().map(|value| (measure, value.checked_mul(factor).unwrap_or(OUT_OF_RANGE))));
        }
        if self.options.unit == Unit::Instances {
            self.measures.push((Measure::BeforeReadyNs, wait.before_ready_ns.unwrap_or(NOT_KNOWN)));
        }
        let at_end = self.measures.len() as u32;
        let traced = if self.traced.is_empty() { None } else { self.traced.of(&jobs.attempt_id(attempt)) };
        let mut bytes_from = BytesFrom::Nobody;
        match traced {
            Some(traced) => {
                bytes_from = BytesFrom::Trace;
                let traced_from = self.measures.len();
                super::traced::put_traced(traced, &mut self.measures);
                // Accounting counts all processes of a job.
                if attempt.cpu_time_ns.is_known()
                    && let Some(at) = self.measures[traced_from..].iter().position(|(measure, _)| *measure == Measure::CpuTimeNs)
                {
                    self.measures.remove(traced_from + at);
                }
            }
            None => {
                for (measure, value) in [(Measure::ReadBytes, attempt.read_bytes), (Measure::WrittenBytes, attempt.written_bytes)] {
                    if let Some(value) = value.get() {
                        self.measures.push((measure, value));
                        bytes_from = BytesFrom::Accounting;
                    }
                }
            }
        }
        let cluster = self.clusters.intern(jobs.text(attempt.cluster));
        self.attempts.push(TakenAttempt {
            order: (attempt.since_ns, cluster, attempt.job_id, self.part, at),
            resource,
            number: attempt.number,
            measures: (first, at_end, self.measures.len() as u32),
            bytes_from,
        });
    }

    /// The cases in the order of their first event, then by id: which chunks each has. Ids of cases
    /// that do not go on in another part are all different.
    fn cases(&self) -> Vec<Vec<u32>> {
        let mut cases: Vec<Vec<u32>> = Vec::with_capacity(self.chunks.len() - self.going_on.len());
        let mut of_id: FxHashMap<&str, usize> = FxHashMap::default();
        let mut going_on = self.going_on.iter().peekable();
        for (number, chunk) in (0u32..).zip(&self.chunks) {
            let next = cases.len();
            let goes_on = going_on.next_if(|chunk| **chunk == number).is_some();
            match if goes_on { *of_id.entry(&chunk.id).or_insert(next) } else { next } {
                case if case == next => cases.push(vec![number]),
                case => cases[case].push(number),
            }
        }
        let first_ns = |case: &Vec<u32>| case.iter().map(|&chunk| self.chunks[chunk as usize].first_ns).min();
        cases.sort_by_cached_key(|case| (first_ns(case), self.chunks[case[0] as usize].id.clone()));
        cases
    }

    /// The place of each attempt in the order of submission.
    fn ranks(&self) -> Vec<u32> {
        let mut by_name = vec![0u32; self.clusters.names().len()];
        for (rank, cluster) in (0u32..).zip(self.clusters.names().sorted()) {
            by_name[cluster as usize] = rank;
        }
        let mut order: Vec<u32> = (0..self.attempts.len() as u32).collect();
        order.sort_unstable_by_key(|&at| {
            let (since_ns, cluster, job_id, part, place) = self.attempts[at as usize].order;
            (since_ns, by_name[cluster as usize], job_id, part, place)
        });
        let mut ranks = vec![0u32; order.len()];
        for (rank, at) in (0u32..).zip(order) {
            ranks[at as usize] = rank;
        }
        ranks
    }

    /// Returns the log, once all jobs have been added. Where events are paired to instances, it
    /// contains the bytes that jobs gave to each other.
    ///
    /// # Errors
    /// When there are too many events, or the dataset cannot be read.
    pub fn finish(mut self, dataset: &Dataset) -> Result<ActivityLog, ColumnsError> {
        let cases = self.cases();
        let ranks = if cases.iter().any(|case| case.len() > 1) { self.ranks() } else { Vec::new() };
        let mut builder = LogBuilder::new(&self.options.keep);
        let mut instance_of = vec![NONE; self.attempts.len()];
        let mut added: Vec<(u32, u32)> = Vec::new();
        let (mut events, mut measures, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for case in &cases {
            events.clear();
            for &chunk in case {
                let (from, to) = self.chunks[chunk as usize].events;
                events.extend_from_slice(&self.events[from as usize..to as usize]);
            }
            if case.len() > 1 {
                // Those of one attempt are of one chunk and stay in their order.
                events.sort_by_key(|event| (event.time_ns, ranks[event.attempt as usize]));
            }
            added.clear();
            let first = builder.next_instance();
            for event in &events {
                let attempt = self.attempts[event.attempt as usize];
                let activity = self.activities.number(event.activity, |name| builder.activity(name));
                let resource = (attempt.resource != NONE).then(|| self.resources.number(attempt.resource, |name| builder.resource(name)));
                kept.clear();
                let from = event.attempt as usize * self.picks.len();
                for (place, (values, &value)) in self.values.iter_mut().zip(&self.kept[from..from + self.picks.len()]).enumerate() {
                    if value != NONE {
                        kept.push((place, values.number(value, |name| builder.value(place, name))));
                    }
                }
                let (from, at_end, to) = attempt.measures;
                measures.clear();
                measures.extend_from_slice(&self.measures[from as usize..if event.ends { to } else { at_end } as usize]);
                let before = builder.next_instance();
                builder.event(&EventRow {
                    activity,
                    time_ns: event.time_ns,
                    transition: event.transition,
                    instance: Some(event.attempt),
                    resource,
                    attempt: attempt.number,
                    measures: &measures,
                    bytes_from: if event.ends { attempt.bytes_from } else { BytesFrom::Nobody },
                    attributes: &kept,
                })?;
                if builder.next_instance() > before {
                    added.push((event.attempt, before - first));
                }
            }
            builder.end_case(&self.chunks[case[0] as usize].id)?;
            for &(attempt, place) in added.iter().rev() {
                instance_of[attempt as usize] = builder.places()[place as usize];
            }
        }
        let mut log = builder.finish();
        log.words.instance = self.options.unit.word("job");
        log.words.ready = "eligible".to_owned();
        log.words.notion = format!("{}: {}", self.notion.name(), self.notion.description());
        if let Some(cases) = log.groups.first_mut() {
            cases.kind = self.notion.name().to_owned();
        }
        if self.options.unit == Unit::Instances
            && let Some(by_name) = &self.by_name
        {
            log.flows = Some(flows(dataset, by_name, &self.clusters, &instance_of, &mut log.left_out)?);
        }
        Ok(log)
    }
}

/// Why jobs did not become columns.
#[derive(Debug, thiserror::Error)]
pub enum ColumnsError {
    /// There are too many events.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// The dataset could not be read.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
}

/// The bytes that jobs gave to each other, as they were traced. An attempt that cannot be
/// distinguished from another of the same job gives and takes nothing: its bytes count as those of
/// others.
fn flows(
    dataset: &Dataset,
    by_name: &FxHashMap<(u32, Box<str>), u32>,
    clusters: &Interner,
    instance_of: &[u32],
    left_out: &mut LeftOut,
) -> Result<Flows, DatasetError> {
    let clusters: FxHashMap<&str, u32> = clusters.names().iter().zip(0u32..).collect();
    let of_job = |cluster: Option<&str>, job: Option<&str>| {
        let cluster = clusters.get(cluster.unwrap_or_default());
        let attempt = cluster.and_then(|&cluster| by_name.get(&(cluster, job.unwrap_or_default().into())));
        attempt.and_then(|&attempt| instance_of.get(attempt as usize).copied()).unwrap_or(NONE)
    };
    let mut of_tasks: FxHashMap<Box<str>, u32> = FxHashMap::default();
    each_task_in_job(dataset, |task, cluster, job| {
        of_tasks.insert(task.into(), of_job(cluster, Some(job)));
    })?;
    let find = |kind: Option<&str>, scope: Option<&str>, id: Option<&str>| match kind {
        Some("job") => of_job(scope, id),
        Some("task") => id.and_then(|task| of_tasks.get(task)).copied().unwrap_or(NONE),
        _ => NONE,
    };
    let mut gathered = GatheredFlows::default();
    each_flow::<DatasetError>(dataset, |row| {
        let from = find(row.writer_type.as_deref(), row.writer_scope.as_deref(), row.writer.as_deref());
        let to = find(row.reader_type.as_deref(), row.reader_scope.as_deref(), row.reader.as_deref());
        gathered.add(from, to, row.read_bytes);
        Ok(())
    })?;
    Ok(gathered.finish(left_out))
}

flowmine_schema::columns! {
    /// The job in which a task ran.
    struct JobOfTask of TaskTotal { task, cluster, job }
}

/// Calls `each` with every task that ran in a job, with the job's cluster and the job: what the task
/// read or wrote, the job did.
///
/// # Errors
/// When the dataset cannot be read.
pub fn each_task_in_job(dataset: &Dataset, mut each: impl FnMut(&str, Option<&str>, &str)) -> Result<(), DatasetError> {
    dataset.read::<JobOfTask<'static>, DatasetError>(|row| {
        if let (Some(task), Some(job)) = (row.task.as_deref(), row.job.as_deref()) {
            each(task, row.cluster.as_deref(), job);
        }
        Ok(())
    })
}

/// What a row of `data_flow` is about: one version of a file, and one who read it.
macro_rules! reading {
    ($row:expr) => {{
        let version = (&$row.host, $row.device, $row.inode, $row.generation, $row.incarnation, &$row.path, $row.version);
        IdHash::of_parts(&(version, &$row.reader_type, &$row.reader_scope, &$row.reader))
    }};
}

flowmine_schema::columns! {
    /// One version of a file and one who read it, and whether its writer wrote anything.
    struct Reading of DataFlow {
        host, device, inode, generation, incarnation, path, version, written_bytes, reader_type,
        reader_scope, reader,
    }
}

flowmine_schema::columns! {
    /// What [`each_flow`] reads: all but phases and origins.
    pub struct FlowRow of DataFlow {
        host, device, inode, generation, incarnation, path, version, writer_type, writer_scope,
        writer, written_bytes, first_write_ns, last_write_ns, reader_type, reader_scope, reader,
        read_bytes, first_read_ns, last_read_ns, order_doubtful,
    }
}

flowmine_schema::columns! {
    /// How much a writer wrote.
    struct Wrote of DataFlow { writer_type, written_bytes }
}

/// Calls `each` with the rows of `data_flow`. A row is left out if its writer created or truncated
/// the file and wrote nothing, while another writer wrote the data that was read: a shell opens the
/// files that its commands write to. If a writer in any row wrote nothing, memory holds 16 bytes
/// for each row.
///
/// # Errors
/// When the dataset cannot be read, or `each` returns an error.
pub fn each_flow<E: From<DatasetError>>(dataset: &Dataset, each: impl FnMut(FlowRow<'_>) -> Result<(), E>) -> Result<(), E> {
    let any = some_wrote_nothing(dataset)?;
    each_flow_of(dataset, any, each)
}

fn wrote_nothing(writer_type: Option<&str>, written_bytes: i64) -> bool {
    writer_type.is_some() && written_bytes == 0
}

/// Returns whether the writer in any row wrote nothing.
///
/// # Errors
/// When the dataset cannot be read.
pub fn some_wrote_nothing(dataset: &Dataset) -> Result<bool, DatasetError> {
    let mut any = false;
    dataset.read::<Wrote<'static>, DatasetError>(|row| {
        any |= wrote_nothing(row.writer_type.as_deref(), row.written_bytes);
        Ok(())
    })?;
    Ok(any)
}

/// Does the same as [`each_flow`], for callers that know the result of [`some_wrote_nothing`]
/// (`any`).
///
/// # Errors
/// When the dataset cannot be read, or `each` returns an error.
pub fn each_flow_of<E: From<DatasetError>>(
    dataset: &Dataset,
    any: bool,
    mut each: impl FnMut(FlowRow<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut written: FxHashSet<IdHash> = FxHashSet::default();
    if any {
        dataset.read::<Reading<'static>, E>(|row| {
            written.extend((row.written_bytes > 0).then(|| reading!(row)));
            Ok(())
        })?;
    }
    dataset.read::<FlowRow<'static>, E>(|row| {
        let gave_nothing = wrote_nothing(row.writer_type.as_deref(), row.written_bytes) && written.contains(&reading!(row));
        if gave_nothing { Ok(()) } else { each(row) }
    })
}

/// The bytes that attempts gave to each other, added up.
#[derive(Debug, Default)]
pub(super) struct GatheredFlows {
    between: FxHashMap<(u32, u32), i128>,
    outside: FxHashMap<u32, i128>,
    flows: Flows,
}

impl GatheredFlows {
    /// Adds bytes that `from` wrote and `to` read; [`NONE`] represents anything outside the log.
    pub fn add(&mut self, from: u32, to: u32, bytes: i64) {
        let sum = match (from, to) {
            (_, NONE) => &mut self.flows.read_by_others,
            (NONE, to) => self.outside.entry(to).or_default(),
            (from, to) if from == to => &mut self.flows.read_back,
            pair => self.between.entry(pair).or_default(),
        };
        *sum += i128::from(bytes);
    }

    /// Returns the sums. A pair with more bytes than 64 bits can hold is left out and counted as a
    /// bad number.
    pub fn finish(self, left_out: &mut LeftOut) -> Flows {
        let mut between: Vec<Flow> = Vec::with_capacity(self.between.len());
        for ((from, to), bytes) in self.between {
            match i64::try_from(bytes) {
                Ok(bytes) => between.push(Flow { from, to, bytes }),
                Err(_) => left_out.bad_numbers += 1,
            }
        }
        between.sort_unstable();
        let mut from_outside: Vec<(u32, i128)> = self.outside.into_iter().collect();
        from_outside.sort_unstable();
        Flows { between, from_outside, ..self.flows }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_test_support::TempDataset;

    use super::*;

    /// A shell that opens the files that its commands write to has written none of the data that is
    /// read.
    #[test]
    fn who_only_made_a_file_gave_no_bytes() {
        let dataset = TempDataset::new();
        let row = |inode, writer: Option<(&'static str, &'static str)>, written_bytes, reader: &'static str| DataFlow {
            inode: Some(inode),
            version: 1,
            writer_type: writer.map(|(kind, _)| kind.into()),
            writer: writer.map(|(_, id)| id.into()),
            written_bytes,
            reader_type: Some("task".into()),
            reader: Some(reader.into()),
            read_bytes: 10,
            ..DataFlow::default()
        };
        dataset.derive::<DataFlow<'static>>(&[
            row(7, Some(("unassigned", "starts-tasks")), 0, "sort"),
            row(7, Some(("task", "head")), 10, "sort"),
            // No other writer is known: the file may have been written through a mapping.
            row(8, Some(("task", "ld")), 0, "sort"),
            row(9, None, 0, "sort"),
        ]);
        let mut told = Vec::new();
        each_flow::<DatasetError>(&dataset, |row| {
            told.push((row.inode, row.writer.map(|writer| writer.into_owned())));
            Ok(())
        })
        .unwrap();
        told.sort();
        assert_eq!(told, [(Some(7), Some("head".to_owned())), (Some(8), Some("ld".to_owned())), (Some(9), None)]);
    }
}
