//! The data: every activity instance, every finding, and the messages of reading.

use flowmine_activity_log::{ActivityLog, Cases, Measure, NONE};
use flowmine_discover::findings::Finding;
use flowmine_discover::findings::thresholds::LEAST_SHARE;
use flowmine_discover::pictures::findings as picture;
use flowmine_discover::who::{JOB_IN_FILES, OF_TASKS};
use flowmine_draw::text::counted;
use flowmine_schema::text::visible;

use super::failures::{exit_code, state, value};
use super::words::{INSTANCES, plural, status};
use crate::ReportError;
use crate::block::{Block, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// The most rows of the table of instances: 8 MB of a page hold about twice as many.
const MOST_INSTANCES: usize = 150_000;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.log {
        Ok(found) => {
            blocks.push(Block::Table(instances(found)?));
            blocks.push(Block::Table(findings(found)?));
        }
        Err(_) => blocks.push(Block::missing("There are no rows.", "Record jobs, tasks or events.")),
    }
    if !results.quality.messages.is_empty() {
        blocks.push(Block::Heading("Messages".to_owned()));
        blocks.push(Block::List(results.quality.messages.iter().map(|message| visible(message).into_owned()).collect()));
    }
    Ok(Section { id: "data", title: "Data", question: "All rows, to sort, filter and download.", blocks })
}

/// The instances of which the table has a row: all, or those that took longest and those that
/// failed.
fn rows(log: &ActivityLog) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..log.len() as u32).collect();
    if rows.len() > MOST_INSTANCES {
        let took =
            |at: u32| log.submitted_ns(at).or_else(|| log.start_ns(at)).zip(log.end_ns(at)).map(|(from, to)| to.saturating_sub(from));
        rows.sort_by_key(|&at| (std::cmp::Reverse(is_failed(log, at)), std::cmp::Reverse(took(at)), at));
        rows.truncate(MOST_INSTANCES);
        rows.sort_unstable();
    }
    rows
}

fn is_failed(log: &ActivityLog, at: u32) -> bool {
    log.status(at) == flowmine_activity_log::Status::Failed
}

fn instances(found: &LogResults) -> Result<Table, ReportError> {
    let log = &found.log;
    let rows = rows(log);
    let cases = log.cases().map(|cases| (cases, cases.of_instances(log.len())));
    let case = |at: u32| cases.as_ref().and_then(|(cases, of)| case_name(cases, of[at as usize]));
    let of = |keys: &'static [&'static str]| rows.iter().map(move |&at| value(log, keys, at));
    let measure = |name, kind, of: Measure| Column::numbers(name, kind, rows.iter().map(|&at| log.measure(of, at).map(i128::from)));
    let time = |name, of: Measure| Column::duration(name, rows.iter().map(|&at| log.measure(of, at).map(i128::from)));
    let resource = |at: u32| {
        let resource = log.instances.resource.get(at as usize).copied().filter(|resource| *resource != NONE)?;
        Some(log.resources.get(resource))
    };
    let columns = [
        Column::text("job", of(&["job", JOB_IN_FILES])),
        Column::text("task", of(&[OF_TASKS[0]])),
        Column::text("activity", rows.iter().map(|&at| Some(log.activity(at)))),
        Column::text("outcome", rows.iter().map(|&at| Some(status(log.status(at))))),
        Column::text("state", rows.iter().map(|&at| state(log, at))),
        Column::text("exit code", rows.iter().map(|&at| exit_code(log, at))),
        Column::time("submitted", rows.iter().map(|&at| log.submitted_ns(at))),
        Column::time("start", rows.iter().map(|&at| log.start_ns(at).filter(|_| log.start_is_known(at)))),
        Column::time("end", rows.iter().map(|&at| log.end_ns(at))),
        Column::duration("queue", rows.iter().map(|&at| log.queue_ns(at).map(i128::from))),
        Column::duration("run", rows.iter().map(|&at| log.service_ns(at).map(i128::from))),
        Column::numbers("attempt", Kind::Count, rows.iter().map(|&at| log.attempt(at).map(i128::from))),
        Column::text("user", of(&["user", "task:user"])),
        Column::text("account", of(&["account", "slurm:account"])),
        Column::text("partition", of(&["partition", "slurm:partition"])),
        Column::text("resource", rows.iter().map(|&at| resource(at))),
        measure("CPUs", Kind::Count, Measure::Cpus),
        time("CPU time", Measure::CpuTimeNs),
        measure("memory requested", Kind::Bytes, Measure::MemoryBytes),
        measure("memory, peak", Kind::Bytes, Measure::PeakMemoryBytes),
        time("time limit", Measure::TimeLimitNs),
        measure("read", Kind::Bytes, Measure::ReadBytes),
        measure("written", Kind::Bytes, Measure::WrittenBytes),
        Column::text("waited for", of(&[flowmine_activity_log::QUEUED_FOR])),
        Column::text("work directory", of(&[OF_TASKS[2]])),
        Column::text("case", rows.iter().map(|&at| case(at))),
    ];
    let word = found.summary.about.word();
    let all = log.len() as u64;
    let table = Table::new(INSTANCES, format!("All {}", counted(all, &word, &plural(&word))), &columns)?;
    Ok(if rows.len() < log.len() {
        table.left_out(format!(
            "{} of {} are in this table: those that failed, then those that took longest. flowmine export --format csv writes all.",
            flowmine_draw::count(rows.len() as u64),
            counted(all, &word, &plural(&word))
        ))
    } else {
        table
    })
}

fn case_name(cases: &Cases, case: u32) -> Option<&str> {
    (case != NONE).then(|| cases.names.get(case))
}

/// The activities of a finding, each with its share where there are several.
fn activities(of: &Finding) -> String {
    let share = |share: &f64| if of.activities.len() > 1 { format!(" ({})", flowmine_draw::axis::percent(*share)) } else { String::new() };
    let named = of.activities.iter().zip(&of.activity_shares).map(|(name, of)| format!("{name}{}", share(of)));
    named.collect::<Vec<_>>().join(", ")
}

fn findings(found: &LogResults) -> Result<Table, ReportError> {
    let rows = &found.findings.findings;
    let examples: Vec<Option<String>> = rows.iter().map(|row| row.examples.first().and_then(|example| example.who.words())).collect();
    let activities: Vec<String> = rows.iter().map(activities).collect();
    let kinds: Vec<String> = rows.iter().map(|row| super::findings::rule_words(row.rule)).collect();
    let gains: Vec<String> = rows.iter().map(|row| picture::gain(&row.gain)).collect();
    let columns = [
        Column::numbers("rank", Kind::Count, (1..=rows.len() as i128).map(Some)),
        Column::text("kind", kinds.iter().map(|kind| Some(kind.as_str()))),
        Column::text("cause", rows.iter().map(|row| Some(row.cause.as_str()))),
        Column::text("activities", activities.iter().map(|names| Some(names.as_str()))),
        Column::numbers("instances", Kind::Count, rows.iter().map(|row| Some(row.instances.into()))),
        Column::duration("time at stake", rows.iter().map(|row| Some(row.at_stake_ns))),
        Column::core_hours("core-hours at stake", rows.iter().map(|row| row.at_stake_core_ns)),
        Column::text("found", rows.iter().map(|row| Some(row.found.as_str()))),
        Column::text("gain", gains.iter().map(|gain| Some(gain.as_str()))),
        Column::text("action", rows.iter().map(|row| Some(row.action.as_str()))),
        Column::text("example", examples.iter().map(Option::as_deref)),
    ];
    let table = Table::new("findings", "All findings", &columns)?;
    let small = found.findings.small;
    Ok(if small > 0 {
        let least = flowmine_draw::axis::percent(LEAST_SHARE.value);
        table.left_out(format!("{} left out: less than {least} is at stake.", counted(small, "finding is", "findings are")))
    } else {
        table
    })
}
