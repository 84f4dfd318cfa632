//! What jobs waited for, and for how long.

use flowmine_discover::pictures::{waits as figure, waits_by_week};
use flowmine_discover::waits::Dimension;
use flowmine_draw::text::{count, counted};

use super::times;
use super::words::{core_hours, span};
use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results, WaitResults};

/// The dimensions that have a table of their own here.
const DIMENSIONS: [(&str, &str, &str); 5] = [
    ("user", "waitsbyuser", "Waits by user"),
    ("account", "waitsbyaccount", "Waits by account"),
    ("partition", "waitsbypartition", "Waits by partition"),
    ("activity", "waitsbyactivity", "Waits by activity"),
    ("hour", "waitsbyhour", "Waits by hour of submission (UTC)"),
];

/// The most rows of the table of weeks.
const MOST_WEEKS: usize = 20_000;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match (&results.waits, &results.log) {
        (Ok(found), _) => blocks.extend(of_jobs(found)?),
        (Err(_), Ok(found)) => blocks.push(without_causes(found)),
        (Err(_), Err(_)) => blocks.push(missing()),
    }
    if let Ok(found) = &results.log {
        blocks.push(Block::Heading("Work over time".to_owned()));
        blocks.extend(times::blocks(found)?);
    }
    Ok(Section { id: "waiting", title: "Waiting and time", question: "The causes, users and times of waits.", blocks })
}

fn missing() -> Block {
    Block::missing("Waits and their causes are not known.", "Observe a Slurm queue with flowmine observe, or import slurm or sacct.")
}

/// The time in the queue of a log without causes.
fn without_causes(found: &LogResults) -> Block {
    match found.summary.total.queue {
        None => missing(),
        Some(times) => Block::Facts(vec![
            Fact::new("In the queue", span(times.sum_ns))
                .note(format!("{} with a known time; the cause is not recorded", found.summary.about.counted(times.count))),
            Fact::new("Median", span(times.median_ns.round() as i128)),
            Fact::new("Longest", span(times.max_ns.into())),
        ]),
    }
}

fn of_jobs(found: &WaitResults) -> Result<Vec<Block>, ReportError> {
    let waits = &found.causes;
    let mut facts = vec![Fact::new("Waited", format!("{} of {}", count(waits.waited), counted(waits.jobs, "job", "jobs")))];
    if let Some(first) = waits.causes.first() {
        let time = if first.core_ns > 0 { core_hours(first.core_ns) } else { span(first.time_ns) };
        facts.push(Fact::new("Main cause", first.cause.replace('_', " ")).note(format!("{time}, {}", counted(first.jobs, "job", "jobs"))));
    }
    if waits.without_cpus > 0 {
        facts.push(Fact::new("CPUs not known", counted(waits.without_cpus, "job", "jobs")).note("in no core-hours"));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.push(Block::figure("waits", "CPUs waited for over time, by cause.", &figure::svg(waits))?);
    blocks.push(Block::Table(causes(found)?));
    if found.weeks.groups.iter().any(|group| group.weeks.len() > 1) {
        blocks.push(Block::figure("weeks", "Time in the queue week by week.", &waits_by_week::svg(&found.weeks))?);
        blocks.push(Block::Table(weeks(found)?));
    }
    for (name, id, title) in DIMENSIONS {
        // All jobs in one hour of the day are the sums above.
        let least = if name == "hour" { 2 } else { 1 };
        if let Some(dimension) = waits.by.iter().find(|of| of.name == name).filter(|of| of.rows.len() >= least) {
            blocks.push(Block::Table(by(dimension, id, title)?));
        }
    }
    Ok(blocks)
}

fn causes(found: &WaitResults) -> Result<Table, ReportError> {
    let rows = &found.causes.causes;
    let causes: Vec<String> = rows.iter().map(|row| row.cause.replace('_', " ")).collect();
    let examples: Vec<Option<&str>> = rows.iter().map(|row| row.examples.first().map(|example| example.job.as_str())).collect();
    let main = |dimension: &'static str| {
        rows.iter().map(move |row| row.main.iter().find(|main| main.dimension == dimension).map(|main| main.value.as_str()))
    };
    let columns = [
        Column::text("cause", causes.iter().map(|cause| Some(cause.as_str()))),
        Column::text("limit", rows.iter().map(|row| row.limit.as_deref())),
        Column::numbers("jobs", Kind::Count, rows.iter().map(|row| Some(row.jobs.into()))),
        Column::duration("time", rows.iter().map(|row| Some(row.time_ns))),
        Column::core_hours("core-hours", rows.iter().map(|row| (row.core_ns > 0).then_some(row.core_ns))),
        Column::duration("median", rows.iter().map(|row| Some(row.median_ns.into()))),
        Column::text("mostly user", main("user")),
        Column::text("mostly partition", main("partition")),
        Column::text("longest job", examples.into_iter()),
    ];
    Table::new("causes", "Waits by cause", &columns)
}

/// The waits of each partition, account and user week after week.
fn weeks(found: &WaitResults) -> Result<Table, ReportError> {
    let all: Vec<_> = found.weeks.groups.iter().flat_map(|group| group.weeks.iter().map(move |week| (group, week))).collect();
    let rows = &all[..all.len().min(MOST_WEEKS)];
    let causes: Vec<Option<String>> = rows.iter().map(|(_, week)| week.main_cause.map(|cause| cause.replace('_', " "))).collect();
    let value = |value: &'static str, of: &str| if of.is_empty() { value.to_owned() } else { of.to_owned() };
    let values: Vec<String> = rows.iter().map(|(group, _)| value(group.by, &group.value)).collect();
    let columns = [
        Column::text("by", rows.iter().map(|(group, _)| Some(group.by))),
        Column::text("value", values.iter().map(|value| Some(value.as_str()))),
        Column::time("week from", rows.iter().map(|(_, week)| Some(week.begin_ns))),
        Column::numbers("jobs", Kind::Count, rows.iter().map(|(_, week)| Some(week.jobs.into()))),
        Column::duration("in the queue", rows.iter().map(|(_, week)| Some(week.queue_ns))),
        Column::core_hours("core-hours", rows.iter().map(|(_, week)| (week.queue_core_ns > 0).then_some(week.queue_core_ns))),
        Column::duration("median", rows.iter().map(|(_, week)| Some(week.median_ns.into()))),
        Column::duration("nine of ten below", rows.iter().map(|(_, week)| Some(week.ninth_decile_ns.into()))),
        Column::text("main cause", causes.iter().map(Option::as_deref)),
    ];
    let table = Table::new("waitsbyweek", "Waits by week of submission", &columns)?;
    Ok(if all.len() > rows.len() {
        table.left_out(format!(
            "The first {} of {} are in this table. flowmine discover waits --over-time --format csv writes all.",
            counted(rows.len() as u64, "row", "rows"),
            counted(all.len() as u64, "row", "rows")
        ))
    } else {
        table
    })
}

fn by(dimension: &Dimension, id: &'static str, title: &'static str) -> Result<Table, ReportError> {
    let rows = &dimension.rows;
    let causes: Vec<Option<String>> = rows.iter().map(|row| row.main_cause.map(|cause| cause.replace('_', " "))).collect();
    let columns = [
        Column::text(dimension.name, rows.iter().map(|row| Some(row.value.as_str()))),
        Column::numbers("jobs", Kind::Count, rows.iter().map(|row| Some(row.jobs.into()))),
        Column::duration("in the queue", rows.iter().map(|row| Some(row.queue_ns))),
        Column::core_hours("core-hours", rows.iter().map(|row| (row.queue_core_ns > 0).then_some(row.queue_core_ns))),
        Column::duration("median", rows.iter().map(|row| Some(row.median_queue_ns.into()))),
        Column::duration("not eligible", rows.iter().map(|row| Some(row.wish_ns))),
        Column::duration("for predecessors", rows.iter().map(|row| Some(row.predecessor_ns))),
        Column::text("main cause", causes.iter().map(Option::as_deref)),
    ];
    Table::new(id, title, &columns)
}
