//! The jobs of a dataset as columns: an instance is an attempt at a job, from its submission over its start to its end.
//!
//! The events are those of the log of cases ([`crate::job_log`]), in the same order, so that an exported XES file says the same.

use flowmine_activity_log::{ActivityLog, BytesFrom, EventRow, Flow, Flows, LogBuilder, Measure, NONE, TooLarge, Transition};
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Attempt, EventLog, Filter, Jobs, Lifecycle, Sym, state};
use flowmine_eventlog::IdHash;
use flowmine_schema::tables::DataFlow;
use flowmine_schema::{Dataset, DatasetError};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ReadOptions;
use crate::task_log::TracedJobs;

/// Where a text of a job comes from.
type Pick = fn(&Attempt) -> Option<Sym>;

/// Attributes of jobs that can be kept, by the names of the table `job_states`.
const KEPT: [(&str, Pick); 10] = [
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
];

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

/// Whether attributes of these names can be told of jobs here.
pub(crate) fn knows(keep: &[String]) -> bool {
    keep.iter().all(|key| find(key).is_some())
}

fn find(key: &str) -> Option<Pick> {
    let name = key.strip_prefix("slurm:").unwrap_or(key);
    let name = match name {
        "org:resource" => "user",
        "org:group" => "group",
        name => name,
    };
    KEPT.iter().find(|(known, _)| *known == name).map(|(_, pick)| *pick)
}

/// Whether the labels and attributes that are asked for are among those that [`jobs`] knows; all others stand in the log of cases.
pub fn suffices(options: &ReadOptions) -> bool {
    let labels = options.activity.iter().all(|key| matches!(key.as_str(), "concept:name" | "activity" | "state" | "slurm:state"));
    labels && knows(&options.keep)
}

/// The log of a notion's cases, of the events that pass the filter.
///
/// # Errors
/// When there are too many events.
pub fn jobs(
    jobs: &Jobs,
    notion: &dyn CaseNotion,
    filter: &Filter,
    traced: &TracedJobs,
    options: &ReadOptions,
) -> Result<(ActivityLog, InstanceOfAttempt), TooLarge> {
    let log = EventLog::build(jobs, notion, filter);
    let mut builder = LogBuilder::new(&options.keep);
    let picks: Vec<_> = options.keep.iter().map(|key| find(key)).collect();
    let with_activity = options.activity.is_empty() || options.activity.iter().any(|key| key == "activity" || key == "concept:name");
    let with_state = options.activity.iter().any(|key| key.ends_with("state"));
    let mut numbers: FxHashMap<(Option<Sym>, Option<Sym>), u32> = FxHashMap::default();
    let mut users: FxHashMap<Sym, u32> = FxHashMap::default();
    let mut instance_of = vec![NONE; jobs.attempts.len()];
    let mut added: Vec<(u32, u32)> = Vec::new();
    for case in &log.cases {
        added.clear();
        let first = builder.next_instance();
        for &at in log.event_indices(case) {
            let event = &jobs.events[at as usize];
            let Some(transition) = options.unit.takes(transition(event.lifecycle)) else { continue };
            let attempt = jobs.attempt_of(event);
            let key = (with_activity.then_some(attempt.activity), with_state.then_some(event.state));
            let activity = *numbers.entry(key).or_insert_with(|| {
                let parts: Vec<&str> = [key.0, key.1].into_iter().flatten().map(|sym| jobs.text(sym)).collect();
                builder.activity(&parts.join("+"))
            });
            let resource = attempt.user.map(|user| *users.entry(user).or_insert_with(|| builder.resource(jobs.text(user))));
            let mut kept = Vec::with_capacity(picks.len());
            for (place, pick) in picks.iter().enumerate() {
                if let Some(sym) = pick.and_then(|pick| pick(attempt)) {
                    kept.push((place, builder.value(place, jobs.text(sym))));
                }
            }
            let mut measures = Vec::new();
            let mut bytes_from = BytesFrom::Nobody;
            for (measure, value, factor) in [
                (Measure::Cpus, attempt.cpus, 1),
                (Measure::MemoryBytes, attempt.memory_bytes, 1),
                (Measure::TimeLimitNs, attempt.time_limit_s, 1_000_000_000),
            ] {
                measures.extend(value.get().map(|value| (measure, value.saturating_mul(factor))));
            }
            if state::phase(jobs.text(event.state)).ends_attempt() {
                let traced = if traced.is_empty() { None } else { traced.of(&jobs.attempt_id(attempt)) };
                match traced {
                    Some(traced) => {
                        bytes_from = BytesFrom::Trace;
                        super::traced::put_traced(traced, &mut measures);
                    }
                    None => {
                        for (measure, value) in [(Measure::ReadBytes, attempt.read_bytes), (Measure::WrittenBytes, attempt.written_bytes)] {
                            if let Some(value) = value.get() {
                                measures.push((measure, value));
                                bytes_from = BytesFrom::Accounting;
                            }
                        }
                    }
                }
            }
            let before = builder.next_instance();
            builder.event(&EventRow {
                activity,
                time_ns: event.time_ns,
                transition,
                instance: Some(event.attempt),
                resource,
                attempt: attempt.number,
                measures: &measures,
                bytes_from,
                attributes: &kept,
            })?;
            if builder.next_instance() > before {
                added.push((event.attempt, before - first));
            }
        }
        builder.end_case(&case.id)?;
        for &(attempt, place) in added.iter().rev() {
            instance_of[attempt as usize] = builder.places()[place as usize];
        }
    }
    let mut log = builder.finish();
    log.words.instance = options.unit.word("job");
    log.words.ready = "submitted".to_owned();
    log.words.notion = format!("{}: {}", notion.name(), notion.description());
    if let Some(cases) = log.groups.first_mut() {
        cases.kind = notion.name().to_owned();
    }
    Ok((log, InstanceOfAttempt(instance_of)))
}

/// Which instance each attempt is.
pub struct InstanceOfAttempt(Vec<u32>);

impl InstanceOfAttempt {
    /// Adds the bytes that jobs gave to each other, as they were traced. An attempt that cannot be told from another of the same job gives
    /// and takes nothing: its bytes count as those of others.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn add_flows(&self, jobs: &Jobs, dataset: &Dataset, log: &mut ActivityLog) -> Result<(), DatasetError> {
        if dataset.row_count::<DataFlow<'static>>()? == 0 {
            return Ok(());
        }
        let mut by_name: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        for (attempt, &instance) in jobs.attempts.iter().zip(&self.0) {
            let name = (jobs.text(attempt.cluster), jobs.text(attempt.job));
            by_name.entry(name).and_modify(|known| *known = NONE).or_insert(instance);
        }
        let find = |kind: &Option<std::borrow::Cow<'_, str>>,
                    scope: &Option<std::borrow::Cow<'_, str>>,
                    id: &Option<std::borrow::Cow<'_, str>>| {
            if kind.as_deref() != Some("job") {
                return NONE;
            }
            by_name.get(&(scope.as_deref().unwrap_or_default(), id.as_deref().unwrap_or_default())).copied().unwrap_or(NONE)
        };
        let mut gathered = GatheredFlows::default();
        each_flow::<DatasetError>(dataset, |row| {
            let from = find(&row.writer_type, &row.writer_scope, &row.writer);
            let to = find(&row.reader_type, &row.reader_scope, &row.reader);
            gathered.add(from, to, row.read_bytes);
            Ok(())
        })?;
        log.flows = Some(gathered.finish());
        Ok(())
    }
}

/// What a row of `data_flow` tells of: one version of a file, and one who read it.
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

/// Calls `each` with the rows of `data_flow`, but for those whose writer made or emptied the file and wrote nothing, where another wrote what was read: a shell opens what its commands write to.
/// Where there is such a row, 16 bytes are held for each row.
///
/// # Errors
/// When the dataset cannot be read, or what `each` returns.
pub fn each_flow<E: From<DatasetError>>(dataset: &Dataset, each: impl FnMut(FlowRow<'_>) -> Result<(), E>) -> Result<(), E> {
    let any = some_wrote_nothing(dataset)?;
    each_flow_of(dataset, any, each)
}

fn wrote_nothing(writer_type: Option<&str>, written_bytes: i64) -> bool {
    writer_type.is_some() && written_bytes == 0
}

/// Whether there is a row whose writer wrote nothing.
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

/// As [`each_flow`], for who knows whether [`some_wrote_nothing`].
///
/// # Errors
/// Likewise.
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

/// Adds up who gave bytes to whom.
#[derive(Debug, Default)]
pub(super) struct GatheredFlows {
    between: FxHashMap<(u32, u32), i64>,
    outside: FxHashMap<u32, i64>,
    flows: Flows,
}

impl GatheredFlows {
    /// Bytes read by `to` of what `from` wrote; [`NONE`] is somebody who is not in the log.
    pub fn add(&mut self, from: u32, to: u32, bytes: i64) {
        let sum = match (from, to) {
            (_, NONE) => &mut self.flows.read_by_others,
            (NONE, to) => self.outside.entry(to).or_default(),
            (from, to) if from == to => &mut self.flows.read_back,
            pair => self.between.entry(pair).or_default(),
        };
        *sum = sum.saturating_add(bytes);
    }

    pub fn finish(self) -> Flows {
        let mut between: Vec<Flow> = self.between.into_iter().map(|((from, to), bytes)| Flow { from, to, bytes }).collect();
        between.sort_unstable();
        let mut from_outside: Vec<(u32, i64)> = self.outside.into_iter().collect();
        from_outside.sort_unstable();
        Flows { between, from_outside, ..self.flows }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_schema::Builder;
    use flowmine_schema::dataset::Role;

    use super::*;

    /// A shell that opens what its commands write to has written nothing of what is read.
    #[test]
    fn who_only_made_a_file_gave_no_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
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
        let mut rows: Builder<DataFlow<'static>> = Builder::new();
        for row in [
            row(7, Some(("unassigned", "starts-tasks")), 0, "sort"),
            row(7, Some(("task", "head")), 10, "sort"),
            // Nobody else is known to have written it: it may have been written through a mapping.
            row(8, Some(("task", "ld")), 0, "sort"),
            row(9, None, 0, "sort"),
        ] {
            rows.push(&row);
        }
        let mut writer = dataset.writer(Role::Derived, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(rows).unwrap();
        transaction.commit().unwrap();
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
