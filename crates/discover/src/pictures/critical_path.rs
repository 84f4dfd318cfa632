//! The critical path of a run: as text for a terminal, as a picture of its tasks over time, as a
//! table of its tasks and as JSON (`flowmine-critical-path`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{Axis, SMALL, Ticks, across, percent};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{counted, visible};

use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, NAME, Page, name_in, nothing};
use super::text_table::{self, Column};
use crate::critical_path::{After, Certainty, CriticalPath, Gain, Step, TimePart};

/// So many tasks, gains and activities are shown to people.
const SHOWN: usize = 20;

fn many(noun: &str) -> String {
    format!("{noun}s")
}

/// What the answer rests on, and what is not in it, in sentences.
fn facts(found: &CriticalPath) -> (Vec<String>, Vec<String>) {
    let nouns = many(found.noun);
    let counted_of = |n: u64| counted(n, found.noun, &nouns);
    let of = found.dependencies;
    let mut facts = vec![format!(
        "{}: {}, {} ({} declared, {} seen in traced files, {} both{}).",
        visible(&found.run),
        counted_of(found.tasks),
        counted(of.declared + of.traced + of.both + of.inferred, "dependency", "dependencies"),
        of.declared,
        of.traced,
        of.both,
        if of.inferred > 0 { format!(", {} inferred", of.inferred) } else { String::new() }
    )];
    facts.extend(certainty(found));
    let span = duration(found.span_ns as f64);
    let parallel = if found.span_ns > 0 { found.work_ns as f64 / found.span_ns as f64 } else { 0.0 };
    match found.makespan_ns {
        Some(ns) if let Some(most) = found.most_span_ns => facts.push(format!(
            "The run took {}. With any number of machines it needs at least {span}, and {} if the chain that times allow is one of dependencies. All running times \
             together are {}.",
            duration(ns as f64),
            duration(most as f64),
            duration(found.work_ns as f64)
        )),
        Some(ns) => facts.push(format!(
            "The run took {}. Its longest chain of running times is {span}: no number of machines makes it shorter. All running times together \
             are {}, {parallel:.1} times that.",
            duration(ns as f64),
            duration(found.work_ns as f64)
        )),
        None => facts.push(format!(
            "No times are known, only how long {nouns} ran: the longest chain of running times is {span}, all together are {}, {parallel:.1} times that.",
            duration(found.work_ns as f64)
        )),
    }
    let left = &found.left_out;
    let dependencies = |n: u64, what: &str| format!("{} {what}", counted(n, "dependency", "dependencies"));
    let left_out = [
        (left.tasks_without_times, format!("{} whose times are not known", counted_of(left.tasks_without_times))),
        (left.tasks_backwards, format!("{} that ended before the start", counted_of(left.tasks_backwards))),
        (left.forked_others, format!("{} that forked others, for which they may have waited", counted_of(left.forked_others))),
        (left.unknown_parents, dependencies(left.unknown_parents, &format!("on {nouns} that no row describes"))),
        (left.tasks_without_parents, format!("undeclared dependencies of {}", counted_of(left.tasks_without_parents))),
        (left.circular, dependencies(left.circular, "that go in a circle")),
        (left.started_before, dependencies(left.started_before, &format!("of {nouns} that started before what they depend on"))),
        (
            left.started_early,
            format!(
                "running times of {} before the end of what they waited for, within the precision of the times",
                counted_of(left.started_early)
            ),
        ),
    ];
    (facts, left_out.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect())
}

/// What the path does not rest on.
fn certainty(found: &CriticalPath) -> Option<String> {
    let nouns = many(found.noun);
    let tasks = counted(found.left_out.tasks_without_parents, found.noun, &nouns);
    match found.certainty {
        Certainty::Known => None,
        Certainty::Inferred => Some(format!(
            "The dependencies of {tasks} are not recorded, but inferred from names, tags and times: the path and the gains depend on them."
        )),
        Certainty::Partial => Some(format!(
            "The dependencies of {tasks} are not recorded, and only some can be inferred. The path begins at a task with unknown dependencies; gains and slack are \
             unknown. Add the graph of the engine (Nextflow: -with-dag), or trace the run."
        )),
    }
}

fn after(step: &Step) -> &'static str {
    match step.after {
        After::Begin => "begin",
        After::Declared => "declared",
        After::Traced => "traced",
        After::Beside => "beside",
        After::Inferred => "inferred",
        After::Unknown => "unknown",
    }
}

fn parts_of(step: &Step) -> String {
    let words: Vec<String> = step.parts.iter().map(|of| format!("{} {}", of.part.name(), duration(of.time_ns as f64))).collect();
    words.join(", ")
}

/// The parts that the path has, in the order in which they happen.
fn parts_there(found: &CriticalPath) -> Vec<TimePart> {
    TimePart::ALL.into_iter().filter(|part| found.parts.iter().any(|of| of.part == *part)).collect()
}

/// The tasks that are shown: those with most time on the path, in their order, and how many are
/// not.
fn shown(found: &CriticalPath, most: usize) -> (Vec<&Step>, usize) {
    let mut by_time: Vec<usize> = (0..found.path.len()).collect();
    by_time.sort_by_key(|&at| (std::cmp::Reverse(found.path[at].to_ns - found.path[at].from_ns), at));
    by_time.truncate(most);
    by_time.sort_unstable();
    let steps: Vec<&Step> = by_time.into_iter().map(|at| &found.path[at]).collect();
    let hidden = found.path.len() - steps.len();
    (steps, hidden)
}

/// The answer for a terminal.
pub fn text(found: &CriticalPath) -> String {
    let mut out = super::text_head(facts(found));
    if found.path.is_empty() {
        return out;
    }
    let (steps, hidden) = shown(found, SHOWN);
    let _ = writeln!(out, "\nCritical path: {}\n", counted(found.path.len() as u64, found.noun, &many(found.noun)));
    let column =
        |heading: &str, right: bool, cells: Vec<String>| Column { group: String::new(), heading: heading.to_owned(), right, cells };
    let mut table = vec![
        column("from", true, steps.iter().map(|step| duration(step.from_ns as f64)).collect()),
        column("to", true, steps.iter().map(|step| duration(step.to_ns as f64)).collect()),
        column(found.noun, false, steps.iter().map(|step| step.task.clone()).collect()),
        column("after", false, steps.iter().map(|step| after(step).to_owned()).collect()),
    ];
    for part in parts_there(found) {
        let cell = |step: &&Step| step.parts.iter().find(|of| of.part == part).map_or(String::new(), |of| duration(of.time_ns as f64));
        table.push(column(part.name(), true, steps.iter().map(cell).collect()));
    }
    // A directory that all share says nothing of a task.
    let dirs: BTreeSet<&str> = found.path.iter().filter_map(|step| step.who.work_dir.as_deref()).collect();
    if dirs.len() > 1 {
        let cell = |step: &&Step| step.who.work_dir.clone().unwrap_or_default();
        table.push(column("work directory", false, steps.iter().map(cell).collect()));
    }
    out.push_str(&text_table::write(&table));
    if hidden > 0 {
        let _ = writeln!(out, "and {} with less time on it (--format csv has all)", counted(hidden as u64, found.noun, &many(found.noun)));
    }
    out.push_str("\nWhat the path is made of\n\n");
    let whole: i64 = found.parts.iter().map(|of| of.time_ns).sum();
    for of in &found.parts {
        let share = percent(of.time_ns as f64 / whole.max(1) as f64);
        let _ = writeln!(out, "{share:>6}  {:>9}  {}: {}", duration(of.time_ns as f64), of.part.name(), of.part.meaning());
    }
    if found.certainty != Certainty::Partial {
        put_gains(found, &mut out);
        put_slack(found, &mut out);
    }
    out
}

fn put_gains(found: &CriticalPath, out: &mut String) {
    let Some(factor) = found.gains.first().map(|gain| gain.factor) else { return };
    let _ = writeln!(out, "\nHow much shorter the run would be, with queues and lags as they were\n");
    let gains: Vec<&Gain> = found.gains.iter().take(SHOWN).collect();
    let column =
        |heading: &str, right: bool, cells: Vec<String>| Column { group: String::new(), heading: heading.to_owned(), right, cells };
    out.push_str(&text_table::write(&[
        column("part", false, gains.iter().map(|gain| gain.part.name().to_owned()).collect()),
        column(
            "of",
            false,
            gains.iter().map(|gain| gain.activity.clone().unwrap_or_else(|| format!("all {}", many(found.noun)))).collect(),
        ),
        column("on path", true, gains.iter().map(|gain| duration(gain.on_path_ns as f64)).collect()),
        column(&format!("{factor} × faster"), true, gains.iter().map(|gain| duration(gain.gain_ns as f64)).collect()),
        column("in no time", true, gains.iter().map(|gain| duration(gain.most_ns as f64)).collect()),
    ]));
}

fn put_slack(found: &CriticalPath, out: &mut String) {
    let _ = writeln!(out, "\nSlack: how much later {} could end without making the run longer\n", many(found.noun));
    let rows: Vec<_> = found.slack.iter().take(SHOWN).filter_map(|of| Some((of, of.slack_ns?))).collect();
    let column =
        |heading: &str, right: bool, cells: Vec<String>| Column { group: String::new(), heading: heading.to_owned(), right, cells };
    out.push_str(&text_table::write(&[
        column("activity", false, rows.iter().map(|(of, _)| of.activity.clone()).collect()),
        column(&many(found.noun), true, rows.iter().map(|(_, stats)| stats.count.to_string()).collect()),
        column("without slack", true, rows.iter().map(|(of, _)| of.critical.to_string()).collect()),
        column("least", true, rows.iter().map(|(_, stats)| duration(stats.min as f64)).collect()),
        column("median", true, rows.iter().map(|(_, stats)| duration(stats.median)).collect()),
        column("most", true, rows.iter().map(|(_, stats)| duration(stats.max as f64)).collect()),
    ]));
    let more = found.slack.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "and {} with more slack (--format json has all)", counted(more as u64, "activity", "activities"));
    }
}

const NAMES: f64 = 250.0;
const STEP: f64 = 30.0;

fn colour(part: TimePart) -> &'static str {
    match part {
        TimePart::Unknown => "#eceff2",
        TimePart::Slots => "#999933",
        TimePart::Submission => "#b8bfc7",
        TimePart::Retry => "#a5122e",
        TimePart::OwnWish => "#882255",
        TimePart::Queue => "#ddcc77",
        TimePart::Waiting => "#d5dce4",
        TimePart::Lag => "#aa4499",
        TimePart::Read => "#44aa99",
        TimePart::Write => "#e08a5b",
        TimePart::Compute | TimePart::Run => "#2b7bba",
        TimePart::Overhead => "#9db8cf",
        TimePart::Turnaround => "#88ccee",
    }
}

/// The picture: a bar for each task of the path, from what it waited for to its end.
pub fn svg(found: &CriticalPath) -> String {
    let (facts, left_out) = facts(found);
    let mut page = Page { title: "Critical path: what the run waited for".to_owned(), facts, left_out, ..Page::default() };
    if found.path.is_empty() {
        return page.draw(|sheet, top| nothing(sheet, top, "No times are known."));
    }
    let (steps, hidden) = shown(found, 2 * SHOWN);
    if hidden > 0 {
        page.left_out.push(format!("{} of the path with less time", counted(hidden as u64, found.noun, &many(found.noun))));
    }
    let there = parts_there(found);
    let whole: i64 = found.parts.iter().map(|of| of.time_ns).sum();
    let words = |part: TimePart| {
        let ns = found.parts.iter().find(|of| of.part == part).map_or(0, |of| of.time_ns);
        format!("{}: {} ({})", part.name(), duration(ns as f64), percent(ns as f64 / whole.max(1) as f64))
    };
    let swatches: Vec<(String, String)> = there.iter().map(|part| (colour(*part).to_owned(), words(*part))).collect();
    for (at, some) in swatches.chunks(3).enumerate() {
        let heading = if at == 0 { "Parts of the path" } else { "Parts, continued" };
        page.legend.push(Entry::new(heading, Sample::Swatches(some.to_vec()), ""));
    }
    page.draw(|sheet, top| {
        let end = found.path.iter().map(|step| step.to_ns).max().unwrap_or(0);
        let axis = Axis { low: 0.0, high: end.max(1) as f64, from: MARGIN + NAMES, to: MARGIN + INNER - 60.0 };
        let ticks = Ticks::of_time(&axis, 9.0);
        let bottom = top + STEP * steps.len() as f64;
        across(sheet, &axis, &ticks, top, bottom);
        sheet.text(axis.to + 10.0, bottom + 17.0, SMALL, WEAK_TEXT, "", ticks.unit);
        for (at, step) in steps.iter().enumerate() {
            draw_step(sheet, step, &axis, top + STEP * at as f64);
        }
        bottom + 24.0
    })
}

fn draw_step(sheet: &mut Sheet, step: &Step, axis: &Axis, y: f64) {
    sheet.text(MARGIN, y + 13.0, NAME, TEXT, "", &name_in(&step.task, NAME, NAMES - 14.0));
    let under = if step.after == After::Begin { String::new() } else { format!("after: {}", after(step)) };
    sheet.text(MARGIN, y + 25.0, 9.5, WEAK_TEXT, "", &under);
    sheet.body.push_str("<g>");
    sheet.title(&[visible(&step.task), parts_of(step)]);
    let mut from = step.from_ns;
    for of in &step.parts {
        let to = from.saturating_add(of.time_ns);
        let (x, end) = (axis.at(from as f64).max(axis.from), axis.at(to as f64));
        if end > x {
            let w = (end - x).max(0.5);
            sheet.rect(Frame { x, y: y + 5.0, w, h: 16.0 }, 0.0, colour(of.part), None);
        }
        from = to;
    }
    sheet.body.push_str("</g>\n");
    let end = axis.at(from as f64).max(axis.from);
    sheet.text(end + 5.0, y + 17.0, SMALL, TEXT, "", &duration((step.to_ns - step.from_ns) as f64));
}

/// Writes the tasks on the path as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &CriticalPath, out: impl Write) -> io::Result<()> {
    let names: Vec<String> = TimePart::ALL.iter().map(|part| format!("{}_s", part.name())).collect();
    let mut columns = vec!["task", "activity", "after", "from_s", "to_s"];
    columns.extend(names.iter().map(String::as_str));
    columns.extend(["job", "tag", "work_dir", "confidence"]);
    let mut csv = Csv::new(out, &columns)?;
    for step in &found.path {
        csv.text(&step.task).text(&step.activity).text(after(step));
        csv.number(Some(seconds(step.from_ns.into()))).number(Some(seconds(step.to_ns.into())));
        for part in TimePart::ALL {
            let ns = step.parts.iter().find(|of| of.part == part).map_or(0, |of| of.time_ns);
            csv.number(Some(seconds(ns.into())));
        }
        csv.text_or_unknown(step.who.job.as_deref()).text_or_unknown(step.who.tag.as_deref());
        csv.text_or_unknown(step.who.work_dir.as_deref()).number(step.confidence);
        csv.end()?;
    }
    csv.finish()
}

impl Document for CriticalPath {
    const FORMAT: &'static str = "flowmine-critical-path";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<CriticalPath>();

/// Writes the whole answer as JSON (`flowmine-critical-path`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &CriticalPath, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}
