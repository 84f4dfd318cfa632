//! Runs and cases: the table of all, the longest in detail, and each compared with those before it.

use flowmine_discover::critical_path::CriticalPath;
use flowmine_discover::history::Run;
use flowmine_discover::pictures::{critical_path as path_figure, gantt as gantt_figure, history as figure};
use flowmine_draw::duration;
use flowmine_draw::text::{count, counted};
use flowmine_schema::text::visible;

use super::words::span;
use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{FileAccess, LogResults, Results, RunResults};

/// The most rows of a table of cases.
const MOST_CASES: usize = 50_000;

/// The most rows of the table of compared runs.
const MOST_COMPARED: usize = 20_000;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    if let Ok(found) = &results.log {
        if !found.history.is_empty() {
            blocks.push(Block::Heading("Compared with the runs before".to_owned()));
            blocks.extend(history(found)?);
        }
        blocks.push(Block::Table(cases(found)?));
    }
    for (at, run) in results.runs.iter().enumerate() {
        let which = if at == 0 { "the longest".to_owned() } else { format!("number {} by length", at + 1) };
        blocks.push(Block::Heading(format!("{}: {which}", visible(&run.case))));
        blocks.extend(one(at, run)?);
    }
    if results.runs.is_empty() {
        blocks.push(no_path("No run is shown: no case has an instance with a time."));
    }
    if let Ok(found) = &results.log {
        let all = found.summary.case_list.len();
        if all > results.runs.len() && !results.runs.is_empty() {
            blocks.push(Block::Text(format!(
                "{} of {} are shown in detail. The commands flowmine discover critical-path, dag and gantt show any other with --case NAME.",
                count(results.runs.len() as u64),
                counted(all as u64, "case", "cases")
            )));
        }
    }
    if let Ok(files) = &results.file_access {
        blocks.extend(file_access(files)?);
    }
    Ok(Section { id: "runs", title: "Runs", question: "The waits of the longest runs, and a comparison of all runs.", blocks })
}

/// A run in detail.
fn one(at: usize, run: &RunResults) -> Result<Vec<Block>, ReportError> {
    let mut blocks = Vec::new();
    let case = visible(&run.case).into_owned();
    match &run.critical_path {
        Ok(found) if !found.path.is_empty() => blocks.extend(critical_path((at, &case), found)?),
        Ok(_) => blocks.push(no_path("No task of it has a time.")),
        Err(reason) => blocks.push(no_path(&format!("There is no critical path: {reason}."))),
    }
    match &run.gantt {
        Some(gantt) if !gantt.bars.is_empty() => {
            let caption = format!("Gantt chart of {case}: queue, staging, running, and reads and writes where they were traced.");
            blocks.push(Block::figure(named("gantt", at), caption, &gantt_figure::svg(gantt, &gantt_figure::Drawing::default()))?);
        }
        _ => blocks
            .push(Block::missing("The case has no instance with a start and an end.", "Record both, as workflow engines and sacct do.")),
    }
    if let Ok(svg) = &run.graph {
        blocks.push(Block::figure(
            named("dag", at),
            format!("Tasks of {case} and, where they were traced, the files that they exchanged."),
            svg,
        )?);
    }
    Ok(blocks)
}

/// The id of a figure of a run.
fn named(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("{name}{}", at + 1) }
}

/// How tasks used files.
fn file_access(files: &FileAccess) -> Result<Vec<Block>, ReportError> {
    let mut blocks = vec![Block::Heading("Files of the tasks".to_owned())];
    let caption = "The share of a task's time from its first to its last access to a file, for each task and file.";
    blocks.push(Block::figure("spans", caption, &files.spans)?);
    for (at, (path, svg)) in files.files.iter().enumerate() {
        let caption = format!("Reads and writes of {}: place in the file over time, by task.", visible(path));
        blocks.push(Block::figure(format!("accesses{at}"), caption, svg)?);
    }
    if files.others > 0 {
        blocks.push(Block::Text(format!(
            "{} with fewer bytes have no figure here. The command flowmine discover accesses --file PATH draws one.",
            counted(files.others, "other file", "other files")
        )));
    }
    Ok(blocks)
}

/// Runs of the same workflow one after the other.
fn history(found: &LogResults) -> Result<Vec<Block>, ReportError> {
    let cases = found.log.cases();
    let case = |number: u32| cases.map_or("", |cases| cases.names.get(number));
    let mut sentences = Vec::new();
    for of in &found.history {
        if let Some(last) = of.runs.last().filter(|run| run.regressed == Some(true)) {
            let before = last.before_ns.map_or_else(String::new, |ns| format!(", the median of those before {}", duration(ns)));
            let changed = last.changed.as_ref().filter(|(_, ns)| *ns > 0.0);
            let changed = changed.map_or_else(String::new, |(name, ns)| {
                format!(" Most of the difference is in {}: {} more running time than usual.", visible(name), duration(*ns))
            });
            sentences.push(format!(
                "Regression in {}: the last run took {}, longer than each before{before}.{changed}",
                figure::name(of),
                duration(last.time_ns as f64)
            ));
        }
    }
    let mut blocks = vec![if sentences.is_empty() {
        Block::Text("No workflow has a last run that took longer than all runs before it.".to_owned())
    } else {
        Block::List(sentences)
    }];
    blocks.push(Block::figure("history", "Time of each run, in the order in which they began.", &figure::svg(&found.history, case))?);
    let names: Vec<String> = found.history.iter().map(figure::name).collect();
    let all = found.history.iter().zip(&names).flat_map(|(of, name)| of.runs.iter().map(move |run| (name, run)));
    let number: usize = found.history.iter().map(|of| of.runs.len()).sum();
    let rows: Vec<(&String, &Run)> = all.take(MOST_COMPARED).collect();
    let verdict = |run: &Run| match run.regressed {
        Some(true) => "longer than all before",
        Some(false) => "as usual",
        None => "too few before",
    };
    let columns = [
        Column::text("workflow", rows.iter().map(|(name, _)| Some(name.as_str()))),
        Column::text("case", rows.iter().map(|(_, run)| Some(case(run.case)))),
        Column::time("begin", rows.iter().map(|(_, run)| Some(run.begin_ns))),
        Column::duration("from begin to end", rows.iter().map(|(_, run)| Some(run.time_ns.into()))),
        Column::duration("median before", rows.iter().map(|(_, run)| run.before_ns.map(|ns| ns.round() as i128))),
        Column::duration("difference", rows.iter().map(|(_, run)| run.before_ns.map(|ns| i128::from(run.time_ns) - ns.round() as i128))),
        Column::text("verdict", rows.iter().map(|(_, run)| Some(verdict(run)))),
        Column::text("most changed activity", rows.iter().map(|(_, run)| run.changed.as_ref().map(|(name, _)| name.as_str()))),
        Column::duration("its difference", rows.iter().map(|(_, run)| run.changed.as_ref().map(|(_, ns)| ns.round() as i128))),
    ];
    let table = Table::new("history", "Runs compared with those before", &columns)?;
    blocks.push(Block::Table(if number > rows.len() {
        table.left_out(format!(
            "The first {} of {} are in this table, workflows with most runs first. \
             flowmine discover summary --table cases --format csv writes all.",
            counted(rows.len() as u64, "run", "runs"),
            counted(number as u64, "run", "runs")
        ))
    } else {
        table
    }));
    Ok(blocks)
}

fn no_path(what: &str) -> Block {
    Block::missing(what, "A critical path needs dependencies: those of a workflow engine, of jobs, or of traced files.")
}

fn critical_path((at, case): (usize, &str), found: &CriticalPath) -> Result<Vec<Block>, ReportError> {
    let mut facts = vec![Fact::new("Size", counted(found.tasks, found.noun, &super::words::plural(found.noun)))];
    facts.extend(found.makespan_ns.map(|ns| Fact::new("From begin to end", span(ns.into()))));
    facts.push(Fact::new("Work", span(found.work_ns.into())).note("running times added up"));
    facts.push(
        Fact::new("Shortest possible", span(found.span_ns.into())).note("longest path of running times, with any number of machines"),
    );
    if let Some(gain) = found.gains.first() {
        let of = gain.activity.as_deref().map_or_else(|| "all activities".to_owned(), |name| visible(name).into_owned());
        let gained = span(gain.gain_ns.into());
        facts.push(Fact::new("Largest gain", gained).note(format!(
            "if this part of {of} were {} times as fast: {}",
            gain.factor,
            gain.part.meaning()
        )));
    }
    let caption = format!("Critical path of {case}: the chain of tasks that determines the end of the run.");
    Ok(vec![Block::Facts(facts), Block::figure(named("path", at), caption, &path_figure::svg(found))?])
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
