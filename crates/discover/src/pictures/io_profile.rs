//! A profile: as text, as a picture (tables, cumulative distributions, bytes over time), as tables
//! and as JSON (`flowmine-io-profile`).

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL, Ticks, bytes, percent};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::scale::blend;
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width, wrap_words};

use super::calendar;
use super::colours::PALETTE;
use super::csv::{Csv, field, mean_seconds, seconds};
use super::page::{INNER, MARGIN, NAME, Page, RULE, WARNING, name_in, nothing};
use super::text_table::{self, Column};
use crate::distribution::Distribution;
use crate::io_profile::{Group, KindOf, Kinds, Profile, Sums};
use crate::over_time::OverTime;

/// So many groups, files and pieces of advice are shown to people.
const SHOWN: usize = 14;
const ADVICE: usize = 10;

/// The tables of a profile that [`fn@csv`] writes. Numbers of tables and figures are ParaTrac's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Operations by kind, of each group and of all (Table 4 of ParaTrac).
    Operations,
    /// Groups: bytes, files and processes by what was done (Table 5).
    Groups,
    /// Cumulative distributions of sizes, latencies and life times (Figures 5 to 10 and 12).
    Distributions,
    /// Files with what was done to each: opens, calls, bytes, time.
    Files,
    /// Processes with what each did to files: opens, calls, bytes, time.
    Processes,
    /// What each group did to each file.
    Uses,
    /// Bytes over time, of each group.
    OverTime,
    /// Bytes over time and by place in the file.
    OverOffset,
    /// What is noteworthy, with the thresholds that it is beyond.
    Advice,
}

fn groups_of(by: &str) -> String {
    match by {
        "activity" => "activities".to_owned(),
        by => format!("{by}s"),
    }
}

fn facts(found: &Profile) -> (Vec<String>, Vec<String>) {
    let total = &found.total;
    let span = found.span_ns.map_or(String::new(), |(first, last)| {
        format!(", from {} to {} UTC ({})", calendar::moment(first), calendar::moment(last), duration(last.saturating_sub(first) as f64))
    });
    let operations: u64 = total.operations.iter().map(|of| of.count).sum();
    let mut facts = vec![format!(
        "{} of {} on {}{span}.",
        counted(operations, "operation", "operations"),
        counted(total.processes, "process", "processes"),
        counted(found.files.len() as u64, "file", "files"),
    )];
    let left = &found.left_out;
    let least = if left.lost > 0 { "at least " } else { "" };
    facts.push(format!("Read {least}{}, written {least}{}.", bytes(total.read_bytes), bytes(total.written_bytes)));
    if left.lost > 0 {
        let with_bytes = if left.lost_bytes > 0 {
            format!(" with {}", bytes(i64::try_from(left.lost_bytes).unwrap_or(i64::MAX)))
        } else {
            String::new()
        };
        facts.push(format!(
            "The trace lost {}{with_bytes}: all bytes, counts and shares are of the recorded operations; bytes and counts are lower bounds.",
            counted(left.lost, "operation", "operations")
        ));
    }
    if found.made_of.sums > 0 {
        let opens = if found.made_of.events == 0 { ", and files that were only opened" } else { "" };
        facts.push(format!(
            "Reads and writes were added up by the kernel (trace --detail totals): counts, bytes and times are exact; how large each was, how long it \
             took and in which order they came is not known{opens}, and bytes are spread evenly from the first to the last on an open file."
        ));
    }
    let words = [
        (left.lost, counted(left.lost, "operation that the trace lost", "operations that the trace lost")),
        (left.not_wanted, format!("{} of others", counted(left.not_wanted, "operation", "operations"))),
        (left.groups, format!("{} apart from each other", counted(left.groups, "group", "groups"))),
        (
            left.without_latency,
            format!("the latency of {}, whose end is not known", counted(left.without_latency, "operation", "operations")),
        ),
        (
            left.without_offset,
            format!("the place in the file of {}, whose offset is not known", counted(left.without_offset, "operation", "operations")),
        ),
    ];
    (facts, words.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect())
}

/// A number of times with its share.
fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { percent(part / whole) } else { String::new() }
}

fn maybe(n: Option<u64>) -> String {
    n.map_or_else(|| "?".to_owned(), count)
}

type Cell<T> = (&'static str, bool, Box<dyn Fn(&T) -> String>);

/// Columns of operations by kind.
fn operation_columns(of: &Group) -> Vec<Cell<KindOf>> {
    let all: u64 = of.operations.iter().map(|of| of.count).sum();
    let time: i128 = of.operations.iter().map(|of| of.time_ns).sum();
    let latency = |pick: fn(&crate::distribution::Summary) -> f64| {
        Box::new(move |of: &KindOf| of.latencies.summary().map_or(String::new(), |summary| duration(pick(&summary))))
    };
    vec![
        ("operation", false, Box::new(|of: &KindOf| of.kind.to_owned())),
        ("calls", true, Box::new(|of: &KindOf| count(of.count))),
        ("share", true, Box::new(move |of: &KindOf| share(of.count as f64, all as f64))),
        ("failed", true, Box::new(|of: &KindOf| if of.failed == 0 { String::new() } else { count(of.failed) })),
        ("time", true, Box::new(|of: &KindOf| if of.time_ns == 0 { String::new() } else { duration(of.time_ns as f64) })),
        ("share", true, Box::new(move |of: &KindOf| share(of.time_ns as f64, time as f64))),
        ("mean", true, latency(|of| of.mean)),
        ("deviation", true, latency(|of| of.stdev)),
        ("median", true, latency(|of| of.median as f64)),
        ("95 %", true, latency(|of| of.p95 as f64)),
        ("longest", true, latency(|of| of.max as f64)),
    ]
}

/// Columns of groups: Table 5.
fn group_columns(by: &'static str) -> Vec<(&'static str, Cell<Group>)> {
    let kinds = |pick: fn(&Group) -> &Kinds, what: fn(&Kinds) -> Option<u64>| Box::new(move |of: &Group| maybe(what(pick(of))));
    let files: fn(&Group) -> &Kinds = |of| &of.files;
    let processes: fn(&Group) -> &Kinds = |of| &of.processes_by_access;
    let ro: fn(&Kinds) -> Option<u64> = |of| Some(of.read_only);
    let wo: fn(&Kinds) -> Option<u64> = |of| Some(of.write_only);
    let rw: fn(&Kinds) -> Option<u64> = |of| Some(of.read_write);
    let none: fn(&Kinds) -> Option<u64> = |of| of.untouched;
    vec![
        ("", (by, false, Box::new(|of: &Group| of.name.clone()))),
        ("", ("tasks", true, Box::new(|of: &Group| if of.tasks == 0 { String::new() } else { count(of.tasks) }))),
        ("bytes", ("read", true, Box::new(|of: &Group| bytes(of.read_bytes)))),
        ("bytes", ("written", true, Box::new(|of: &Group| bytes(of.written_bytes)))),
        ("files", ("ro", true, kinds(files, ro))),
        ("files", ("wo", true, kinds(files, wo))),
        ("files", ("rw", true, kinds(files, rw))),
        ("files", ("none", true, kinds(files, none))),
        ("processes", ("ro", true, kinds(processes, ro))),
        ("processes", ("wo", true, kinds(processes, wo))),
        ("processes", ("rw", true, kinds(processes, rw))),
        ("processes", ("none", true, kinds(processes, none))),
    ]
}

const KINDS_WORDS: &str = "ro: read only; wo: written only; rw: both; none: opened only; ?: not traced";

fn text_columns<'a, T: 'a>(rows: &[&'a T], columns: Vec<(&'static str, Cell<T>)>) -> Vec<Column> {
    columns
        .into_iter()
        .map(|(group, (heading, right, cell))| Column {
            group: group.to_owned(),
            heading: heading.to_owned(),
            right,
            cells: rows.iter().map(|row| cell(row)).collect(),
        })
        .collect()
}

/// The profile as text for a terminal.
pub fn text(found: &Profile) -> String {
    let mut out = super::text_head(facts(found));
    if found.total.operations.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\nOperations\n");
    let rows: Vec<&KindOf> = found.total.operations.iter().collect();
    let columns = operation_columns(&found.total).into_iter().map(|cell| ("", cell)).collect();
    out.push_str(&text_table::write(&text_columns(&rows, columns)));
    let by = capital(&groups_of(found.by));
    let _ = writeln!(out, "\n{by}: accesses to files, and the number of processes ({KINDS_WORDS})\n");
    let mut rows: Vec<&Group> = found.groups.iter().take(2 * SHOWN).collect();
    let hidden = found.groups.len() - rows.len();
    rows.push(&found.total);
    out.push_str(&text_table::write(&text_columns(&rows, group_columns(found.by))));
    if hidden > 0 {
        let _ = writeln!(
            out,
            "and {} with less time in operations (--format csv --table groups has all)",
            counted(hidden as u64, "line", "lines")
        );
    }
    put_patterns(found, &mut out);
    put_files(found, &mut out);
    put_advice(found, &mut out);
    out
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn put_patterns(found: &Profile, out: &mut String) {
    let rows: Vec<&Group> = found.groups.iter().filter(|group| group.sizes.iter().any(|of| of.count() > 0)).take(SHOWN).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nRequests: how large, and in which order\n");
    let size = |direction: usize, pick: fn(&crate::distribution::Summary) -> i64| -> Box<dyn Fn(&Group) -> String> {
        Box::new(move |of: &Group| of.sizes[direction].summary().map_or(String::new(), |summary| bytes(pick(&summary))))
    };
    let order = |direction: usize, pick: fn(&Group) -> &[u64; 2]| -> Box<dyn Fn(&Group) -> String> {
        Box::new(move |of: &Group| {
            let all = of.sequential[direction] + of.strided[direction] + of.random[direction];
            share(pick(of)[direction] as f64, all as f64)
        })
    };
    let mut columns: Vec<(&'static str, Cell<Group>)> = vec![("", (found.by, false, Box::new(|of: &Group| of.name.clone())))];
    for (direction, name) in [(0, "reads"), (1, "writes")] {
        columns.push((name, ("calls", true, Box::new(move |of: &Group| count(of.sizes[direction].count())))));
        columns.push((name, ("median", true, size(direction, |of| of.median))));
        columns.push((name, ("largest", true, size(direction, |of| of.max))));
        columns.push((name, ("sequential", true, order(direction, |of| &of.sequential))));
        columns.push((name, ("random", true, order(direction, |of| &of.random))));
    }
    out.push_str(&text_table::write(&text_columns(&rows, columns)));
}

fn put_files(found: &Profile, out: &mut String) {
    let rows: Vec<&crate::io_profile::FileUse> =
        found.files.iter().filter(|file| file.sums.read_bytes > 0 || file.sums.written_bytes > 0).take(SHOWN).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nFiles with most bytes\n");
    let columns: Vec<(&'static str, Cell<crate::io_profile::FileUse>)> = vec![
        ("", ("file", false, Box::new(|of| of.path.clone()))),
        ("", ("processes", true, Box::new(|of| count(of.processes)))),
        ("read", ("calls", true, Box::new(|of| count(of.sums.read_calls)))),
        ("read", ("bytes", true, Box::new(|of| bytes(of.sums.read_bytes)))),
        ("written", ("calls", true, Box::new(|of| count(of.sums.write_calls)))),
        ("written", ("bytes", true, Box::new(|of| bytes(of.sums.written_bytes)))),
        ("", ("time", true, Box::new(|of| duration(of.sums.time_ns as f64)))),
    ];
    out.push_str(&text_table::write(&text_columns(&rows, columns)));
    let hidden = found.files.len() - rows.len();
    if hidden > 0 {
        let _ = writeln!(
            out,
            "and {} (--format csv --table files lists all; --table uses lists their users)",
            counted(hidden as u64, "other", "others")
        );
    }
}

fn put_advice(found: &Profile, out: &mut String) {
    if found.advice.is_empty() {
        let _ = writeln!(out, "\nNothing is beyond the thresholds (docs/models.md lists them).");
        return;
    }
    let _ = writeln!(out, "\nNoteworthy\n");
    for advice in found.advice.iter().take(2 * ADVICE) {
        let group = advice.group.as_deref().map_or("all together".to_owned(), visible);
        let _ = writeln!(out, "{:>8}  {group}: {}.", duration(advice.time_ns as f64), advice.seen);
        let _ = writeln!(out, "          {}. ({} above {})", capital(advice.advice), advice.threshold, advice.limit);
    }
}

const ROW: f64 = 17.0;

/// A table on the sheet: columns by their widths, the first one with the names. Gives its lower
/// end.
fn table<T>(sheet: &mut Sheet, top: f64, rows: &[&T], columns: &[(&'static str, Cell<T>)], first: f64) -> f64 {
    let others = (columns.len() - 1).max(1) as f64;
    let step = ((INNER - first) / others).min(92.0);
    let right = |at: usize| MARGIN + first + step * at as f64;
    let mut y = top;
    if columns.iter().any(|(group, _)| !group.is_empty()) {
        let mut at = 0;
        while at < columns.len() {
            let group = columns[at].0;
            let same = columns[at..].iter().take_while(|(of, _)| *of == group).count();
            if !group.is_empty() {
                let (from, to) = (right(at - 1) + 12.0, right(at + same - 1));
                sheet.text((from + to) / 2.0, y + 11.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", group);
                sheet.line((from, y + 15.0), (to, y + 15.0), RULE, 1.0, "");
            }
            at += same;
        }
        y += ROW;
    }
    for (at, (_, (heading, ..))) in columns.iter().enumerate() {
        let (x, anchor) = if at == 0 { (MARGIN, "") } else { (right(at), "text-anchor=\"end\"") };
        sheet.text(x, y + 12.0, SMALL, WEAK_TEXT, anchor, heading);
    }
    y += ROW;
    sheet.line((MARGIN, y), (right(columns.len() - 1), y), RULE, 1.0, "");
    for row in rows {
        for (at, (_, (_, _, cell))) in columns.iter().enumerate() {
            let words = cell(row);
            if at == 0 {
                sheet.text(MARGIN, y + 13.0, NAME, TEXT, "", &name_in(&words, NAME, first - 60.0));
            } else {
                sheet.text(right(at), y + 13.0, SMALL, TEXT, "text-anchor=\"end\"", &words);
            }
        }
        y += ROW;
    }
    y
}

fn heading(sheet: &mut Sheet, top: f64, words: &str, note: &str) -> f64 {
    sheet.text(MARGIN, top + 18.0, 14.0, TEXT, "font-weight=\"bold\"", words);
    if !note.is_empty() {
        sheet.text(MARGIN + width(words, 14.0) * 1.1 + 14.0, top + 18.0, SMALL, WEAK_TEXT, "", note);
    }
    top + 26.0
}

/// Lines of a chart of cumulative shares: a name, a colour, a distribution.
type Lines<'d> = Vec<(String, &'static str, &'d Distribution)>;

/// The profile as an SVG document: tables, cumulative distributions, bytes over time.
pub fn svg(found: &Profile) -> String {
    let (facts, left_out) = facts(found);
    let mut page = Page { title: "Profile: how files are read and written".to_owned(), facts, left_out, ..Page::default() };
    if found.total.operations.is_empty() {
        return page.draw(|sheet, top| nothing(sheet, top, "No operations on files were traced."));
    }
    let hidden = found.groups.len().saturating_sub(SHOWN);
    if hidden > 0 {
        let words =
            format!("{} with less time in operations (--format csv --table groups has all)", counted(hidden as u64, "line", "lines"));
        page.left_out.push(words);
    }
    page.draw(|sheet, top| {
        let mut y = heading(sheet, top - 14.0, "Operations", "time is that in calls, those of all processes added up");
        let rows: Vec<&KindOf> = found.total.operations.iter().collect();
        let columns: Vec<(&'static str, Cell<KindOf>)> = operation_columns(&found.total).into_iter().map(|cell| ("", cell)).collect();
        y = table(sheet, y, &rows, &columns, 150.0) + 14.0;
        y = heading(sheet, y, &capital(&groups_of(found.by)), KINDS_WORDS);
        let mut rows: Vec<&Group> = found.groups.iter().take(SHOWN).collect();
        rows.push(&found.total);
        y = table(sheet, y, &rows, &group_columns(found.by), 236.0) + 14.0;
        y = curves(sheet, found, y);
        y = heat(sheet, found, y);
        advice(sheet, found, y)
    })
}

/// The three fields of cumulative shares.
fn curves(sheet: &mut Sheet, found: &Profile, top: f64) -> f64 {
    let sizes: Lines<'_> = [("read", "#44aa99", 0), ("write", "#cc6677", 1)]
        .into_iter()
        .map(|(name, colour, at)| (name.to_owned(), colour, &found.total.sizes[at]))
        .filter(|(.., of)| of.count() > 0)
        .collect();
    let colours = ["#332288", "#44aa99", "#cc6677", "#ddcc77", "#88ccee"];
    let latencies: Lines<'_> = found
        .total
        .operations
        .iter()
        .filter(|of| of.latencies.count() > 0)
        .take(5)
        .zip(colours)
        .map(|(of, colour)| (of.kind.to_owned(), colour, &of.latencies))
        .collect();
    let lives: Lines<'_> = found
        .groups
        .iter()
        .filter(|of| of.life_times.count() > 0)
        .take(6)
        .zip(PALETTE)
        .map(|(of, colour)| (of.name.clone(), colour, &of.life_times))
        .collect();
    let y = heading(sheet, top, "Cumulative distributions", "cumulative share; logarithmic");
    let room = (INNER - 2.0 * 30.0) / 3.0;
    let fields: [(&str, Lines<'_>, bool); 3] =
        [("request size", sizes, true), ("latency", latencies, false), ("life time of processes", lives, false)];
    let mut low = y;
    for (at, (name, lines, of_bytes)) in fields.into_iter().enumerate() {
        let left = MARGIN + (room + 30.0) * at as f64;
        low = low.max(curve(sheet, (left, y, room), name, &lines, of_bytes));
    }
    low + 14.0
}

fn curve(sheet: &mut Sheet, (left, top, room): (f64, f64, f64), name: &str, lines: &Lines<'_>, of_bytes: bool) -> f64 {
    const HEIGHT: f64 = 150.0;
    sheet.text(left, top + 12.0, NAME, TEXT, "", name);
    let top = top + 20.0;
    let bottom = top + HEIGHT;
    if lines.is_empty() {
        sheet.text(left, top + 20.0, SMALL, WEAK_TEXT, "", "not traced one by one");
        return bottom;
    }
    let log = |n: f64| (n.max(1.0)).log2();
    let ends = lines.iter().filter_map(|(.., of)| of.summary()).map(|of| (log(of.min as f64), log(of.max as f64)));
    let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(low, high), (a, b)| (low.min(a), high.max(b)));
    let across = Axis { low: low.floor(), high: high.ceil().max(low.floor() + 1.0), from: left + 34.0, to: left + room - 4.0 };
    let up = Axis { low: 0.0, high: 1.0, from: bottom, to: top };
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        sheet.line((across.from, up.at(share)), (across.to, up.at(share)), axis::GRID, 1.0, "");
        sheet.text(across.from - 6.0, up.at(share) + 4.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &percent(share));
    }
    for (at, words) in log_ticks(&across, of_bytes) {
        let x = across.at(at);
        sheet.line((x, top), (x, bottom + 4.0), axis::GRID, 1.0, "");
        sheet.text(x, bottom + 16.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
    }
    for (name, colour, of) in lines {
        let mut data = String::new();
        let mut before = 0.0;
        for step in of.steps() {
            let x = across.at(log(step.to as f64));
            let start = if data.is_empty() { "M" } else { "L" };
            let _ = write!(data, "{start}{} {}V{}", Num(x), Num(up.at(before)), Num(up.at(step.share)));
            before = step.share;
        }
        let _ = write!(data, "H{}", Num(across.to));
        sheet.body.push_str("<g>");
        let summary = of.summary().map_or(String::new(), |of| format!("median {}, mean {:.0}, largest {}", of.median, of.mean, of.max));
        sheet.title(&[visible(name), summary]);
        sheet.path(&data, "none", &format!("stroke=\"{colour}\" stroke-width=\"1.8\""));
        sheet.body.push_str("</g>\n");
    }
    let mut y = bottom + 24.0;
    for (name, colour, of) in lines {
        sheet.rect(Frame { x: left + 34.0, y: y + 2.0, w: 10.0, h: 10.0 }, 2.0, colour, None);
        let words = of.summary().map_or(String::new(), |of| {
            let median = if of_bytes { bytes(of.median) } else { duration(of.median as f64) };
            format!(" · {} · median {median}", count(of.count))
        });
        let name = name_in(name, SMALL, room - 56.0 - width(&words, SMALL));
        sheet.text(left + 49.0, y + 11.0, SMALL, TEXT, "", &format!("{name}{words}"));
        y += 15.0;
    }
    y
}

/// Ticks of a logarithmic axis to the base of two.
fn log_ticks(axis: &Axis, of_bytes: bool) -> Vec<(f64, String)> {
    let room = ((axis.to - axis.from) / 58.0).max(1.0);
    if of_bytes {
        let step = ((axis.high - axis.low) / room).ceil().max(1.0);
        let short = |at: f64| {
            let words = bytes(at.exp2() as i64);
            words.replace(".0 ", " ").replace(" bytes", " B").replace(" byte", " B")
        };
        return (0..).map(|n| axis.low + step * f64::from(n)).take_while(|at| *at <= axis.high).map(|at| (at, short(at))).collect();
    }
    let decade = 10f64.log2();
    let first = (axis.low / decade).ceil();
    let step = ((axis.high - axis.low) / decade / room).ceil().max(1.0);
    (0..)
        .map(|n| (first + step * f64::from(n)) * decade)
        .take_while(|at| *at <= axis.high)
        .map(|at| (at, duration(at.exp2().round())))
        .collect()
}

/// Bytes over time: a row for each group, and for each doubling of the offset.
fn heat(sheet: &mut Sheet, found: &Profile, top: f64) -> f64 {
    let Some(origin) = found.over_time.from_ns else { return top };
    let mut y = heading(sheet, top, "Bytes over time", "darker is more: read is green, written is red, logarithmic");
    let names: Vec<String> = found.groups.iter().take(SHOWN).map(|group| group.name.clone()).collect();
    let last = found.span_ns.map_or(origin, |(_, last)| last);
    let axis = Axis { low: 0.0, high: last.saturating_sub(origin).max(1) as f64, from: MARGIN + 210.0, to: MARGIN + INNER - 8.0 };
    y = rows(sheet, &found.over_time, &names, &axis, y);
    let offsets = &found.over_offset;
    if let Some(from) = offsets.from_ns {
        y += 8.0;
        sheet.text(MARGIN, y + 12.0, NAME, TEXT, "", "by place in the file");
        y += 18.0;
        let words = |at: usize| match at {
            0 => "at 0".to_owned(),
            at => format!("from {}", bytes(1i64 << (at - 1).min(62))),
        };
        // Rows of 16 times are enough to see.
        let mut few = OverTime { from_ns: offsets.from_ns, column_ns: offsets.column_ns, rows: Vec::new() };
        let mut names = Vec::new();
        for (at, some) in offsets.rows.iter().skip(1).collect::<Vec<_>>().chunks(4).enumerate() {
            let mut sum = crate::over_time::Row::default();
            for row in some {
                for (into, from) in [(&mut sum.read_bytes, &row.read_bytes), (&mut sum.written_bytes, &row.written_bytes)] {
                    if into.len() < from.len() {
                        into.resize(from.len(), 0);
                    }
                    into.iter_mut().zip(from).for_each(|(into, from)| flowmine_sums::add_to(into, *from));
                }
            }
            few.rows.push(sum);
            names.push(words(4 * at + 1));
        }
        few.rows.insert(0, offsets.rows.first().cloned().unwrap_or_default());
        names.insert(0, words(0));
        let shifted = Axis { low: origin.saturating_sub(from) as f64, high: origin.saturating_sub(from) as f64 + axis.high, ..axis };
        y = rows(sheet, &few, &names, &shifted, y);
    }
    let ticks = Ticks::of_time(&axis, 8.0);
    for (at, words) in &ticks.at {
        sheet.text(axis.at(*at), y + 14.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", words);
    }
    let words = format!("time since {} UTC ({})", calendar::moment(origin), ticks.unit);
    sheet.text((axis.from + axis.to) / 2.0, y + 30.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
    y + 44.0
}

const READ: [[u8; 3]; 3] = [[0xe4, 0xf3, 0xf0], [0x44, 0xaa, 0x99], [0x0b, 0x4a, 0x40]];
const WRITTEN: [[u8; 3]; 3] = [[0xfb, 0xe9, 0xec], [0xcc, 0x66, 0x77], [0x6e, 0x12, 0x25]];

/// Two lines for each row: what was read and, below it, what was written.
fn rows(sheet: &mut Sheet, of: &OverTime, names: &[String], axis: &Axis, top: f64) -> f64 {
    const HIGH: f64 = 9.0;
    const SHADES: f64 = 9.0;
    let of_column = of.column_ns as f64;
    let all = || of.rows.iter().take(names.len()).flat_map(|row| row.read_bytes.iter().chain(&row.written_bytes));
    let most = all().copied().max().unwrap_or(0).max(2) as f64;
    let mut y = top;
    for (name, row) in names.iter().zip(&of.rows) {
        sheet.text(MARGIN, y + HIGH + 4.0, SMALL, TEXT, "", &name_in(name, SMALL, 200.0));
        sheet.body.push_str("<g>");
        let sum = |cells: &[i64]| flowmine_sums::total(cells.iter().copied());
        sheet.title(&[visible(name), format!("read {}, written {}", bytes(sum(&row.read_bytes)), bytes(sum(&row.written_bytes)))]);
        sheet.rect(Frame { x: axis.from, y, w: axis.to - axis.from, h: 2.0 * HIGH }, 0.0, "#f6f8fa", None);
        for (cells, stops, y) in [(&row.read_bytes, READ, y), (&row.written_bytes, WRITTEN, y + HIGH)] {
            // A path for each shade; neighbours of one shade are one piece.
            let shade = |n: i64| (n > 0).then(|| ((n as f64 + 1.0).ln() / (most + 1.0).ln() * SHADES).round() as usize);
            let mut paths = vec![String::new(); SHADES as usize + 1];
            let mut at = 0;
            while at < cells.len() {
                let of = shade(cells[at]);
                let same = cells[at..].iter().take_while(|n| shade(**n) == of).count();
                if let Some(path) = of.and_then(|of| paths.get_mut(of)) {
                    let x = axis.at(at as f64 * of_column).max(axis.from);
                    let to = axis.at((at + same) as f64 * of_column).min(axis.to);
                    let _ = write!(path, "M{} {}h{}v{HIGH}h{}z", Num(x), Num(y), Num((to - x).max(0.8)), Num(-(to - x).max(0.8)));
                }
                at += same;
            }
            for (of, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                sheet.path(path, &blend(&stops, of as f64 / SHADES), "");
            }
        }
        sheet.body.push_str("</g>\n");
        y += 2.0 * HIGH + 3.0;
    }
    y
}

fn advice(sheet: &mut Sheet, found: &Profile, top: f64) -> f64 {
    let mut y = heading(sheet, top, "Noteworthy", "with the time in the operations concerned; docs/models.md lists the thresholds");
    if found.advice.is_empty() {
        sheet.text(MARGIN, y + 13.0, NAME, TEXT, "", "Nothing is beyond the thresholds.");
        return y + 20.0;
    }
    for advice in found.advice.iter().take(ADVICE) {
        let group = advice.group.as_deref().map_or("all together".to_owned(), |name| name_in(name, NAME, 260.0));
        sheet.text(MARGIN + 70.0, y + 13.0, NAME, WARNING, "text-anchor=\"end\"", &duration(advice.time_ns as f64));
        for line in wrap_words(&format!("{group}: {}.", advice.seen), NAME, INNER - 84.0) {
            sheet.text(MARGIN + 84.0, y + 13.0, NAME, TEXT, "", &line);
            y += 15.0;
        }
        for line in wrap_words(&format!("{}.", capital(advice.advice)), SMALL, INNER - 84.0) {
            sheet.text(MARGIN + 84.0, y + 12.0, SMALL, WEAK_TEXT, "", &line);
            y += 16.0;
        }
        y += 3.0;
    }
    let hidden = found.advice.len().saturating_sub(ADVICE);
    if hidden > 0 {
        sheet.text(MARGIN + 84.0, y + 12.0, SMALL, WEAK_TEXT, "", &format!("and {} (--format text has them)", count(hidden as u64)));
        y += 16.0;
    }
    y + 4.0
}

/// Writes one table of the profile as CSV.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Profile, table: Table, out: impl Write) -> io::Result<()> {
    match table {
        Table::Operations => operations_csv(found, out),
        Table::Groups => groups_csv(found, out),
        Table::Distributions => distributions_csv(found, out),
        Table::Files => {
            let mut csv = Csv::new(out, &[&["path", "processes", "groups"][..], &SUMS].concat())?;
            for of in &found.files {
                csv.text(&of.path).count(of.processes).count(of.groups);
                put_sums(&mut csv, &of.sums)?;
            }
            csv.finish()
        }
        Table::Processes => {
            let mut csv = Csv::new(out, &[&["pid", "program", found.by, "life_time_s", "files"][..], &SUMS].concat())?;
            for of in &found.processes {
                csv.number(Some(of.pid)).number(of.program.as_deref().map(field)).text(&of.group);
                csv.number(of.life_time_ns.map(|ns| seconds(ns.into()))).count(of.files);
                put_sums(&mut csv, &of.sums)?;
            }
            csv.finish()
        }
        Table::Uses => {
            let mut csv = Csv::new(out, &[&[found.by, "path", "processes"][..], &SUMS].concat())?;
            for of in &found.uses {
                csv.text(&of.group).text(&of.path).count(of.processes);
                put_sums(&mut csv, &of.sums)?;
            }
            csv.finish()
        }
        Table::OverTime => {
            let names = found.groups.iter().map(|group| group.name.clone()).collect::<Vec<_>>();
            over_time_csv(&found.over_time, found.by, &names, out)
        }
        Table::OverOffset => {
            let from = |at: usize| if at == 0 { 0 } else { 1i64 << (at - 1).min(62) };
            let names: Vec<String> = (0..found.over_offset.rows.len()).map(|at| from(at).to_string()).collect();
            over_time_csv(&found.over_offset, "from_offset", &names, out)
        }
        Table::Advice => {
            let mut csv = Csv::new(out, &["what", found.by, "value", "threshold", "limit", "time_s", "seen", "advice"])?;
            for of in &found.advice {
                csv.text(of.what).number(of.group.as_deref().map(field)).number(Some(of.value)).text(of.threshold).number(Some(of.limit));
                csv.number(Some(seconds(of.time_ns))).text(&of.seen).text(of.advice).end()?;
            }
            csv.finish()
        }
    }
}

const SUMS: [&str; 8] = ["opens", "read_calls", "read_bytes", "write_calls", "written_bytes", "time_s", "first", "last"];

fn put_sums<W: Write>(csv: &mut Csv<W>, of: &Sums) -> io::Result<()> {
    csv.count(of.opens).count(of.read_calls).number(Some(of.read_bytes)).count(of.write_calls).number(Some(of.written_bytes));
    csv.number(Some(seconds(of.time_ns.into()))).number(of.first_ns.map(calendar::iso)).number(of.last_ns.map(calendar::iso)).end()
}

fn all_groups(found: &Profile) -> impl Iterator<Item = &Group> {
    found.groups.iter().chain([&found.total])
}

fn operations_csv(found: &Profile, out: impl Write) -> io::Result<()> {
    let columns = [
        found.by,
        "operation",
        "calls",
        "calls_share",
        "failed",
        "time_s",
        "time_share",
        "latency_mean_s",
        "latency_deviation_s",
        "latency_min_s",
        "latency_median_s",
        "latency_p95_s",
        "latency_max_s",
    ];
    let mut csv = Csv::new(out, &columns)?;
    for group in all_groups(found) {
        let calls: u64 = group.operations.iter().map(|of| of.count).sum();
        let time: i128 = group.operations.iter().map(|of| of.time_ns).sum();
        for of in &group.operations {
            csv.text(&group.name).text(of.kind).count(of.count).number(Some(of.count as f64 / calls.max(1) as f64)).count(of.failed);
            csv.number(Some(seconds(of.time_ns))).number((time > 0).then(|| of.time_ns as f64 / time as f64));
            let summary = of.latencies.summary();
            type Pick = fn(&crate::distribution::Summary) -> i64;
            let (least, median): (Pick, Pick) = (|of| of.min, |of| of.median);
            let (p95, greatest): (Pick, Pick) = (|of| of.p95, |of| of.max);
            csv.number(summary.as_ref().and_then(|of| mean_seconds(of.mean)))
                .number(summary.as_ref().and_then(|of| mean_seconds(of.stdev)));
            for pick in [least, median, p95, greatest] {
                csv.number(summary.as_ref().map(|of| seconds(pick(of).into())));
            }
            csv.end()?;
        }
    }
    csv.finish()
}

fn groups_csv(found: &Profile, out: impl Write) -> io::Result<()> {
    let mut columns = vec![found.by, "tasks", "processes", "processes_without_files", "read_bytes", "written_bytes"];
    columns.extend(["files_read_only", "files_write_only", "files_read_write", "files_untouched"]);
    columns.extend(["processes_read_only", "processes_write_only", "processes_read_write", "processes_untouched"]);
    columns.extend(["sequential_reads", "strided_reads", "random_reads", "sequential_writes", "strided_writes", "random_writes"]);
    columns.extend(["unaligned_reads", "unaligned_writes", "read_again_bytes", "life_time_mean_s", "life_time_deviation_s"]);
    let mut csv = Csv::new(out, &columns)?;
    for of in all_groups(found) {
        csv.text(&of.name).count(of.tasks).count(of.processes).count(of.without_files);
        csv.number(Some(of.read_bytes)).number(Some(of.written_bytes));
        for kinds in [&of.files, &of.processes_by_access] {
            csv.count(kinds.read_only).count(kinds.write_only).count(kinds.read_write).number(kinds.untouched);
        }
        for direction in 0..2 {
            csv.count(of.sequential[direction]).count(of.strided[direction]).count(of.random[direction]);
        }
        csv.count(of.unaligned[0]).count(of.unaligned[1]).number(Some(of.read_again_bytes));
        let life = of.life_times.summary();
        csv.number(life.as_ref().and_then(|of| mean_seconds(of.mean))).number(life.as_ref().and_then(|of| mean_seconds(of.stdev))).end()?;
    }
    csv.finish()
}

fn distributions_csv(found: &Profile, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &[found.by, "of", "unit", "from", "to", "count", "cumulative_share"])?;
    let mut put = |group: &str, of: &str, unit: &str, distribution: &Distribution| -> io::Result<()> {
        for step in distribution.steps() {
            csv.text(group).text(of).text(unit).number(Some(step.from)).number(Some(step.to)).count(step.count).number(Some(step.share));
            csv.end()?;
        }
        Ok(())
    };
    for group in all_groups(found) {
        put(&group.name, "read size", "bytes", &group.sizes[0])?;
        put(&group.name, "write size", "bytes", &group.sizes[1])?;
        for of in &group.operations {
            put(&group.name, &format!("{} latency", of.kind), "ns", &of.latencies)?;
        }
        put(&group.name, "process life time", "ns", &group.life_times)?;
        put(&group.name, "bytes of a process", "bytes", &group.process_bytes)?;
    }
    csv.finish()
}

fn over_time_csv(of: &OverTime, by: &str, names: &[String], out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &[by, "from", "to", "read_bytes", "written_bytes"])?;
    let origin = of.from_ns.unwrap_or(0);
    for (name, row) in names.iter().zip(&of.rows) {
        for at in 0..row.read_bytes.len().max(row.written_bytes.len()) {
            let cell = |cells: &[i64]| cells.get(at).copied().unwrap_or(0);
            let (read, written) = (cell(&row.read_bytes), cell(&row.written_bytes));
            if read > 0 || written > 0 {
                let from = origin.saturating_add((at as i64).saturating_mul(of.column_ns));
                csv.text(name).text(&calendar::iso(from)).text(&calendar::iso(from.saturating_add(of.column_ns)));
                csv.number(Some(read)).number(Some(written)).end()?;
            }
        }
    }
    csv.finish()
}

impl Document for Profile {
    const FORMAT: &'static str = "flowmine-io-profile";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Profile>();

/// Writes the whole profile as JSON (`flowmine-io-profile`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Profile, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}
