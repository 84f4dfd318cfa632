//! Runs and cases: the longest one with its critical path and Gantt chart, and the table of all.

use flowmine_discover::critical_path::CriticalPath;
use flowmine_discover::pictures::{critical_path as path_figure, gantt as gantt_figure};
use flowmine_draw::text::counted;
use flowmine_schema::text::visible;

use super::words::span;
use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// The most rows of a table of cases.
const MOST_CASES: usize = 50_000;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.critical_path {
        Ok(found) if !found.path.is_empty() => blocks.extend(critical_path(found)?),
        Ok(_) => blocks.push(no_path("No task of it has a time.")),
        Err(reason) => blocks.push(no_path(&format!("There is no critical path: {reason}."))),
    }
    if let Ok(found) = &results.log {
        match &found.gantt {
            Some((case, gantt)) if !gantt.bars.is_empty() => {
                let caption = format!("Gantt chart of {}: the case with the longest time from begin to end.", visible(case));
                blocks.push(Block::figure("gantt", caption, &gantt_figure::svg(gantt, &gantt_figure::Drawing::default()))?);
            }
            _ => blocks
                .push(Block::missing("No case has an instance with a start and an end.", "Record both, as workflow engines and sacct do.")),
        }
        blocks.push(Block::Table(cases(found)?));
    }
    Ok(Section { id: "runs", title: "Runs", question: "What the longest run waited for, and how all runs compare.", blocks })
}

fn no_path(what: &str) -> Block {
    Block::missing(what, "A critical path needs dependencies: those of a workflow engine, of jobs, or of traced files.")
}

fn critical_path(found: &CriticalPath) -> Result<Vec<Block>, ReportError> {
    let mut facts =
        vec![Fact::new("Run", visible(&found.run).into_owned()).note(counted(found.tasks, found.noun, &super::words::plural(found.noun)))];
    facts.extend(found.makespan_ns.map(|ns| Fact::new("From begin to end", span(ns.into()))));
    facts.push(Fact::new("Work", span(found.work_ns.into())).note("running times added up"));
    facts.push(
        Fact::new("Shortest possible", span(found.span_ns.into())).note("longest path of running times, with any number of machines"),
    );
    if let Some(gain) = found.gains.first() {
        let of = gain.activity.as_deref().map_or_else(|| "all activities".to_owned(), |name| visible(name).into_owned());
        let gained = span(gain.gain_ns.into());
        facts.push(Fact::new("Largest gain", gained).note(format!(
            "if {} of {of} took 1/{} of its time",
            gain.part.meaning(),
            gain.factor
        )));
    }
    let caption = "Critical path: the chain of tasks that decides when the run ends.";
    Ok(vec![Block::Facts(facts), Block::figure("path", caption, &path_figure::svg(found))?])
}

fn cases(found: &LogResults) -> Result<Table, ReportError> {
    let mut rows: Vec<_> = found.summary.case_list.iter().collect();
    let all = rows.len();
    if all > MOST_CASES {
        rows.sort_by_key(|case| std::cmp::Reverse(case.duration_ns));
        rows.truncate(MOST_CASES);
    }
    let columns = [
        Column::text("case", rows.iter().map(|case| Some(case.case.as_str()))),
        Column::time("begin", rows.iter().map(|case| case.start_ns)),
        Column::time("end", rows.iter().map(|case| case.end_ns)),
        Column::duration("from begin to end", rows.iter().map(|case| case.duration_ns.map(i128::from))),
        Column::numbers("instances", Kind::Count, rows.iter().map(|case| Some(case.instances.into()))),
        Column::numbers("failed", Kind::Count, rows.iter().map(|case| case.failed.map(i128::from))),
        Column::duration("run, sum", rows.iter().map(|case| case.service_ns)),
        Column::share("nothing ran", rows.iter().map(|case| case.waiting_share)),
    ];
    let table = Table::new("cases", "Cases", &columns)?;
    Ok(if all > rows.len() {
        let left_out = format!(
            "The {} longest of {} are in this table. flowmine discover summary --table cases --format csv writes all.",
            counted(rows.len() as u64, "case", "cases"),
            counted(all as u64, "case", "cases")
        );
        table.left_out(left_out)
    } else {
        table
    })
}
