//! Processes that belong to tasks or jobs.
//!
//! Links and rows of `processes` meet sorted by host, process number and start; of the rows of one
//! process the latest holds. Where a whole container or control group belongs to a task, so do its
//! processes that belong to no task by themselves; memory holds the names of these groups.

use flowmine_correlate::jobs::put_seconds;
use flowmine_eventlog::{Attribute, LogError, Object, ValueType};
use flowmine_schema::Record;
use flowmine_schema::tables::{Link, Process};
use flowmine_schema::text::ids::escape;
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use rustc_hash::FxHashMap;

use super::TaskLogError;
use super::assemble::place;
use super::attributes::{self, PROCESS};
use super::making::{JOB, Making, Order, PROCESS_RANK, TASK_RANK, job_id, relation, task_id};

const EVENT_ATTRIBUTES: &[(&str, ValueType)] = &[
    ("exit_code", ValueType::Integer),
    ("exit_signal", ValueType::Integer),
    ("utime_ns", ValueType::Integer),
    ("stime_ns", ValueType::Integer),
    ("precision_ns", ValueType::Integer),
];

const LINK: u8 = 0;
const PROCESS_ROW: u8 = 1;

pub(super) fn add(making: &mut Making<'_>) -> Result<(), TaskLogError> {
    let groups = Groups::read(making)?;
    let sorted = sorted(making)?;
    let mut walk = sorted.walk()?;
    let mut one = One::default();
    loop {
        let next = walk.next()?;
        if next.is_none_or(|(key, _)| key != one.key) {
            std::mem::take(&mut one).finish(&groups, making)?;
        }
        let Some((key, record)) = next else { return Ok(()) };
        one.key = key.to_vec();
        one.take(record).ok_or(LogError::Damaged)?;
    }
}

/// Containers and control groups that belong to a task as a whole, by host.
struct Groups(FxHashMap<(String, String), String>);

impl Groups {
    fn read(making: &Making<'_>) -> Result<Self, TaskLogError> {
        let mut groups = Self(FxHashMap::default());
        making.from.dataset.read::<Link<'static>, TaskLogError>(|row| {
            if matches!(&*row.source_type, "container" | "cgroup") && row.target_type == "task" && row.relation == "belongs-to" {
                let row = making.from.rules.apply(row);
                groups.0.insert((row.source_scope.into_owned(), row.source.into_owned()), task_id(&row.target));
            }
            Ok(())
        })?;
        Ok(groups)
    }

    fn of(&self, host: &str, group: &str) -> Option<&String> {
        self.0.get(&(host.to_owned(), group.to_owned()))
    }
}

fn sorted(making: &Making<'_>) -> Result<Sorted, TaskLogError> {
    let (dataset, rules) = (making.from.dataset, making.from.rules);
    let mut sorter = Sorter::default();
    let mut key = Vec::new();
    let mut put_key = |host: &str, pid: i32, started_ns: Option<i64>| {
        key.clear();
        put_ordered_text(host, &mut key);
        put_ordered(pid.into(), &mut key);
        put_ordered(started_ns.unwrap_or(i64::MIN), &mut key);
        key.clone()
    };
    dataset.read::<Link<'static>, TaskLogError>(|row| {
        let wanted = match &*row.target_type {
            "task" => making.wanted.tasks,
            "job" | "step" => making.wanted.jobs,
            "container" => making.wanted.tasks,
            _ => false,
        };
        if !wanted || row.source_type != "process" || row.relation != "belongs-to" {
            return Ok(());
        }
        let row = rules.apply(row);
        // Only ours are numbers.
        let Ok(pid) = row.source.parse() else { return Ok(()) };
        let key = put_key(&row.source_scope, pid, row.source_ns);
        Ok(sorter.push(&key, |bytes| {
            bytes.push(LINK);
            row.put(bytes);
        })?)
    })?;
    dataset.read::<Process<'static>, TaskLogError>(|row| {
        let row = rules.apply(row);
        let key = put_key(&row.host, row.pid, row.started_ns);
        Ok(sorter.push(&key, |bytes| {
            bytes.push(PROCESS_ROW);
            row.put(bytes);
        })?)
    })?;
    Ok(sorter.finish()?)
}

fn process_id(host: &str, pid: i32, started_ns: Option<i64>) -> String {
    let mut id = String::from("process:");
    escape(host, &mut id);
    id.push_str(&format!(":{pid}@"));
    match started_ns {
        Some(ns) => put_seconds(ns, &mut id),
        None => id.push('?'),
    }
    id
}

/// One process while its records are merged.
#[derive(Default)]
struct One {
    key: Vec<u8>,
    tasks: Vec<String>,
    jobs: Vec<String>,
    container: Option<String>,
    row: Option<Process<'static>>,
}

impl One {
    fn take(&mut self, record: &[u8]) -> Option<()> {
        let (kind, row) = record.split_first()?;
        if *kind == PROCESS_ROW {
            let row = Process::take(row)?;
            if self.row.as_ref().is_none_or(|known| row.as_of_ns >= known.as_of_ns) {
                self.row = Some(row.into_owned());
            }
            return Some(());
        }
        let link = Link::take(row)?;
        match &*link.target_type {
            "task" => self.tasks.push(task_id(&link.target)),
            "container" => self.container = Some(link.target.into_owned()),
            _ => {
                let job = link.target.split_once('.').map_or(&*link.target, |(job, _)| job);
                self.jobs.push(job_id(&link.target_scope, job, link.target_ns));
            }
        }
        Some(())
    }

    fn finish(mut self, groups: &Groups, making: &mut Making<'_>) -> Result<(), TaskLogError> {
        let Some(row) = self.row else { return Ok(()) };
        if self.tasks.is_empty() {
            let container = self.container.as_deref().and_then(|container| groups.of(&row.host, container));
            // A number names a group only where there is no path.
            let number = row.cgroup_id.filter(|_| row.cgroup_path.is_none());
            let task = container.or_else(|| groups.of(&row.host, &number?.to_string()));
            self.tasks.extend(task.cloned());
        }
        self.tasks.retain(|task| making.is_inside(task));
        for ids in [&mut self.tasks, &mut self.jobs] {
            ids.sort_unstable();
            ids.dedup();
        }
        let from = making.from;
        let id = process_id(&row.host, row.pid, row.started_ns);
        let attributes = attributes::of(PROCESS, &row, &from.rules.drop).collect();
        let object = Object { id: id.as_str().into(), kind: "process".into(), attributes, relations: Vec::new() };
        let place = place(PROCESS_RANK, &id);
        if self.tasks.is_empty() && self.jobs.is_empty() {
            // It may be the parent of a process that belongs to a task or job.
            return Ok(making.objects.on_demand(&place, object)?);
        }
        let moments = [("process started", row.started_ns), ("process ended", row.exit_ns)];
        let mut used = from.wants_all();
        for (number, (kind, time)) in (0u8..).zip(moments) {
            let Some(time_ns) = time.filter(|time| from.wants(*time)) else { continue };
            used = true;
            let numbers = if number == 0 {
                [("precision_ns", row.start_precision_ns), ("", None), ("", None), ("", None)]
            } else {
                [
                    ("exit_code", row.exit_code.map(i64::from)),
                    ("exit_signal", row.exit_signal.map(i64::from)),
                    ("utime_ns", row.utime_ns),
                    ("stime_ns", row.stime_ns),
                ]
            };
            let attributes = numbers.into_iter().filter_map(|(name, number)| Some(Attribute::integer(name, number?))).collect();
            let mut relations = vec![relation(&id, "process")];
            relations.extend(self.tasks.iter().map(|task| relation(task, "task")));
            relations.extend(self.jobs.iter().map(|job| relation(job, "job")));
            making.event(&Order::Process(&id, number), kind, EVENT_ATTRIBUTES, time_ns, attributes, relations)?;
        }
        if !used {
            return Ok(making.objects.on_demand(&place, object)?);
        }
        making.objects.object(&place, object)?;
        for task in &self.tasks {
            making.objects.relate((PROCESS_RANK, &id), "belongs to", (TASK_RANK, task))?;
        }
        for job in &self.jobs {
            making.objects.relate((PROCESS_RANK, &id), "belongs to", (JOB, job))?;
        }
        // Starts of parents are reported after boot: what one start is in both ways gives the difference.
        let boot_ns = row.started_ns.zip(row.process_start_ns).map(|(utc, boot)| utc.saturating_sub(boot));
        if let (Some(pid), Some(started), Some(boot)) = (row.parent_pid, row.parent_start_ns, boot_ns) {
            let parent = process_id(&row.host, pid, Some(started.saturating_add(boot)));
            making.objects.relate((PROCESS_RANK, &id), "child of", (PROCESS_RANK, &parent))?;
        }
        Ok(())
    }
}
