//! Processes that belong to tasks or jobs.
//!
//! Links and rows of `processes` meet sorted by host, process number and start; of the rows of one process the latest holds.

use flowmine_correlate::cases::escape;
use flowmine_correlate::jobs::put_seconds;
use flowmine_eventlog::spool::{Sorted, Sorter, put_ordered, put_ordered_text};
use flowmine_eventlog::{Attribute, LogError, Object, ValueType};
use flowmine_schema::Projection;
use flowmine_schema::row::Row;
use flowmine_schema::tables::{Link, Process};

use super::TaskLogError;
use super::assemble::place;
use super::attributes::{self, PROCESS};
use super::objects::{JOB, Making, Order, PROCESS_RANK, TASK_RANK, job_id, relation, task_id};

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
    let sorted = sorted(making)?;
    let mut walk = sorted.walk()?;
    let mut one = One::default();
    loop {
        let next = walk.next()?;
        if next.is_none_or(|(key, _)| key != one.key) {
            std::mem::take(&mut one).finish(making)?;
        }
        let Some((key, record)) = next else { return Ok(()) };
        one.key = key.to_vec();
        one.take(record).ok_or(LogError::Damaged)?;
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
    dataset.read::<Link<'static>, TaskLogError>(Projection::All, |row| {
        let wanted = match &*row.target_type {
            "task" => making.wanted.tasks,
            "job" | "step" => making.wanted.jobs,
            _ => false,
        };
        if !wanted || row.source_type != "process" || row.relation != "belongs-to" {
            return Ok(());
        }
        let row = rules.apply_link(row);
        // Only ours are numbers.
        let Ok(pid) = row.source.parse() else { return Ok(()) };
        let key = put_key(&row.source_scope, pid, row.source_ns);
        Ok(sorter.push(&key, |bytes| {
            bytes.push(LINK);
            <Link<'static> as Row>::put(&row, bytes);
        })?)
    })?;
    dataset.read::<Process<'static>, TaskLogError>(Projection::All, |row| {
        let row = rules.apply_process(row);
        let key = put_key(&row.host, row.pid, row.started_ns);
        Ok(sorter.push(&key, |bytes| {
            bytes.push(PROCESS_ROW);
            <Process<'static> as Row>::put(&row, bytes);
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

/// One process on its way.
#[derive(Default)]
struct One {
    key: Vec<u8>,
    tasks: Vec<String>,
    jobs: Vec<String>,
    row: Option<Process<'static>>,
}

impl One {
    fn take(&mut self, record: &[u8]) -> Option<()> {
        let (kind, row) = record.split_first()?;
        if *kind == PROCESS_ROW {
            let row = <Process<'static> as Row>::take(row)?;
            if self.row.as_ref().is_none_or(|known| row.as_of_ns >= known.as_of_ns) {
                self.row = Some(row.into_owned());
            }
            return Some(());
        }
        let link = <Link<'static> as Row>::take(row)?;
        if link.target_type == "task" {
            self.tasks.push(task_id(&link.target));
        } else {
            let job = link.target.split_once('.').map_or(&*link.target, |(job, _)| job);
            self.jobs.push(job_id(&link.target_scope, job, link.target_ns));
        }
        Some(())
    }

    fn finish(mut self, making: &mut Making<'_>) -> Result<(), TaskLogError> {
        self.tasks.retain(|task| making.is_inside(task));
        for ids in [&mut self.tasks, &mut self.jobs] {
            ids.sort_unstable();
            ids.dedup();
        }
        let Some(row) = self.row.filter(|_| !(self.tasks.is_empty() && self.jobs.is_empty())) else { return Ok(()) };
        let from = making.from;
        let id = process_id(&row.host, row.pid, row.started_ns);
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
            return Ok(());
        }
        let attributes = attributes::of(PROCESS, &row, &from.rules.drop).collect();
        let object = Object { id: id.as_str().into(), kind: "process".into(), attributes, relations: Vec::new() };
        making.objects.object(&place(PROCESS_RANK, &id), object)?;
        for task in &self.tasks {
            making.objects.relate((PROCESS_RANK, &id), "belongs to", (TASK_RANK, task))?;
        }
        for job in &self.jobs {
            making.objects.relate((PROCESS_RANK, &id), "belongs to", (JOB, job))?;
        }
        // Starts of parents are told after boot: what one start is in both ways tells the difference.
        let boot_ns = row.started_ns.zip(row.process_start_ns).map(|(utc, boot)| utc.saturating_sub(boot));
        if let (Some(pid), Some(started), Some(boot)) = (row.parent_pid, row.parent_start_ns, boot_ns) {
            let parent = process_id(&row.host, pid, Some(started.saturating_add(boot)));
            making.objects.relate((PROCESS_RANK, &id), "child of", (PROCESS_RANK, &parent))?;
        }
        Ok(())
    }
}
