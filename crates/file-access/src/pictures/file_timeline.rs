//! The reads and writes of one file as a self-contained SVG figure (Figure 5 of the monitoring
//! paper).
//!
//! A vertical bar is a read or write: its lower end is the offset, its height the bytes that it
//! moved. Below, each task has a lane with its time. The figure mentions all omissions: operations
//! that cannot be drawn, and bars that represent several operations, are described in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Owner;
use crate::file_timeline::{Accesses, COLUMNS, ROWS, Sum, User};
use crate::merge::{Bar, EXACT};
use flowmine_draw::axis::{self, Axis, SMALL, Ticks, bytes, percent};
use flowmine_draw::sheet::{Frame, Num, Part, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width, wrap_name, wrap_words};

const MARGIN: f64 = 24.0;
const PLOT: (f64, f64) = (COLUMNS as f64, ROWS as f64);
/// Colours for writes and reads of one task, or logical task; the last one is for all that have
/// none of their own.
const COLOURS: [(&str, &str); 7] = [
    ("#134f80", "#6db0e2"),
    ("#9a4a00", "#f4a95c"),
    ("#1b6b3a", "#7ccb9d"),
    ("#55308a", "#b59de0"),
    ("#8c1d4b", "#e88fb4"),
    ("#5c5a12", "#c6c058"),
    ("#3d4852", "#aab4be"),
];
/// Lanes of times of tasks.
const LANES: usize = 10;
const LANE: f64 = 34.0;
/// Height of the smallest bar.
const LEAST: f64 = 2.0;
const BOUNDARY: &str = "#8a2c0d";

/// Draws the reads and writes of the file as an SVG document.
pub fn svg(accesses: &Accesses) -> String {
    let kinds = Kinds::new(accesses);
    let mut sheet = Sheet::default();
    let name = accesses.path.rsplit('/').find(|name| !name.is_empty()).unwrap_or(&accesses.path);
    let title = format!("Reads and writes of {}", visible(name));
    let (time, ticks) = time_axis(accesses);
    let base = offset_base(accesses);
    let (low, high) = (accesses.extent.offset as f64 - base as f64, accesses.extent.end as f64 - base as f64);
    let mut offsets = Axis { low: low.min(0.0), high: high.max(low + 1.0), from: 0.0, to: 0.0 };
    let offset_ticks = Ticks::of_bytes(&offsets, 8.0);
    let left = MARGIN + 22.0 + axis::room(&offset_ticks) + 10.0;
    let right = left + PLOT.0;
    let inner = right - MARGIN;
    let time = Axis { from: left, to: right, ..time };

    sheet.begin(Part::Heading);
    let mut y = MARGIN;
    for line in wrap_name(&title, 18.0 * 1.14, inner, 2) {
        y += 20.0;
        sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
    }
    y += 6.0;
    let facts = facts(accesses);
    for line in facts.iter().flat_map(|fact| wrap_words(fact, 12.0, inner)) {
        y += 16.0;
        sheet.text(MARGIN, y, 12.0, WEAK_TEXT, "", &line);
    }
    let missing = missing(accesses);
    if !missing.is_empty() {
        for line in wrap_words(&format!("Not shown: {}.", missing.join("; ")), 12.0 * 1.14, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, BOUNDARY, "font-weight=\"bold\"", &line);
        }
    }
    sheet.end();
    let above = y + 8.0;
    let top = y + if accesses.versions.is_empty() { 20.0 } else { 38.0 };
    let bottom = top + PLOT.1;
    (offsets.from, offsets.to) = (bottom, top);

    axis::up(&mut sheet, &offsets, &offset_ticks, left, right);
    let words = if base == 0 {
        format!("offset in the file ({})", offset_ticks.unit)
    } else {
        format!("offset less {} bytes ({})", count(base.unsigned_abs()), offset_ticks.unit)
    };
    axis::upward_words(&mut sheet, MARGIN + 11.0, (top + bottom) / 2.0, &words);
    axis::across(&mut sheet, &time, &ticks, top, bottom);
    versions(&mut sheet, accesses, &time, top, bottom);
    bars(&mut sheet, accesses, &kinds, &time, &offsets, base);
    y = bottom + 32.0;
    sheet.text(
        (left + right) / 2.0,
        y,
        SMALL,
        WEAK_TEXT,
        "text-anchor=\"middle\"",
        &format!("time since the first access ({})", ticks.unit),
    );
    y = lanes(&mut sheet, accesses, &kinds, &time, y + 14.0);
    sheet.drawing(Frame { x: MARGIN - 12.0, y: above, w: inner + 24.0, h: y + 8.0 - above });
    sheet.begin(Part::Legend);
    y = legend(&mut sheet, accesses, &kinds, y + 10.0, inner);
    sheet.end();
    sheet.document(right + MARGIN, (y + MARGIN).ceil(), &title, &[facts, missing].concat().join(" "))
}

/// Colours of users: one for each, or, if there are many, one for each of the logical tasks with
/// the most bytes.
struct Kinds {
    of_user: Vec<usize>,
    /// Meaning and number of users, by colour.
    names: BTreeMap<usize, (String, usize)>,
}

impl Kinds {
    fn new(accesses: &Accesses) -> Self {
        let own = COLOURS.len() - 1;
        let many = accesses.users.len() > own;
        let name = |(at, user): (usize, &User)| if many { user.name() } else { format!("{at}") };
        let mut bytes: BTreeMap<String, i64> = BTreeMap::new();
        for pair in accesses.users.iter().enumerate() {
            let sum = bytes.entry(name(pair)).or_default();
            flowmine_sums::add_to(sum, flowmine_sums::add(pair.1.read.bytes, pair.1.written.bytes));
        }
        let mut order: Vec<&String> = bytes.keys().collect();
        if many {
            order.sort_by_key(|name| std::cmp::Reverse(bytes[*name]));
        }
        let place = |name: &String| order.iter().position(|other| *other == name).unwrap_or(own).min(own);
        let of_user: Vec<usize> = accesses.users.iter().enumerate().map(|pair| place(&name(pair))).collect();
        let name_of = |colour: usize, user: &User| match many {
            _ if colour == own => "others".to_owned(),
            true => user.name(),
            false => label(user),
        };
        let mut names: BTreeMap<usize, (String, usize)> = BTreeMap::new();
        for (&colour, user) in of_user.iter().zip(&accesses.users) {
            let entry = names.entry(colour).or_insert_with(|| (name_of(colour, user), 0));
            entry.1 += 1;
        }
        Self { of_user, names }
    }

    fn colour(&self, user: usize, write: bool) -> &'static str {
        let (dark, light) = COLOURS[self.of_user.get(user).copied().unwrap_or(COLOURS.len() - 1)];
        if write { dark } else { light }
    }
}

/// From the first access to the last, and tasks' times as far as they fit.
fn time_axis(accesses: &Accesses) -> (Axis, Ticks) {
    let zero = accesses.extent.first_ns;
    let since = |ns: i64| (i128::from(ns) - i128::from(zero)) as f64;
    let last = since(accesses.extent.last_ns).max(1.0);
    let times = accesses.users.iter().filter_map(|user| user.time_ns);
    let (mut low, mut high) = (0.0, last);
    for (start, end) in times {
        // A task that ran for much longer would leave no room for what it did.
        low = if since(start) >= -1.5 * last { f64::min(low, since(start)) } else { low };
        high = if since(end) <= 2.5 * last { f64::max(high, since(end)) } else { high };
    }
    let room = (high - low) * 0.01;
    let axis = Axis { low: low - room, high: high + room, from: 0.0, to: PLOT.0 };
    let ticks = Ticks::of_time(&axis, 10.0);
    (axis, ticks)
}

/// Returns the offset that is subtracted from all offsets: 0, unless the accesses are far from the
/// file's beginning.
fn offset_base(accesses: &Accesses) -> i64 {
    let span = accesses.extent.end.saturating_sub(accesses.extent.offset);
    if accesses.extent.offset <= span.saturating_mul(2) && accesses.extent.offset >= 0 { 0 } else { accesses.extent.offset }
}

fn facts(accesses: &Accesses) -> Vec<String> {
    let sum = |of: fn(&User) -> &Sum| {
        accesses.users.iter().map(of).fold((0u64, 0i64), |sum, next| (sum.0 + next.operations, flowmine_sums::add(sum.1, next.bytes)))
    };
    let (reads, writes) = (sum(|user| &user.read), sum(|user| &user.written));
    let users = |owner: fn(&Owner) -> bool| accesses.users.iter().filter(|user| owner(&user.owner)).count() as u64;
    let tasks = users(|owner| matches!(owner, Owner::Task(_)));
    let others = users(|owner| !matches!(owner, Owner::Task(_) | Owner::Nobody));
    let by = match (tasks, others) {
        (0, 0) => "no task".to_owned(),
        (tasks, 0) => counted(tasks, "task", "tasks"),
        (0, others) => counted(others, "job or container", "jobs and containers"),
        (tasks, others) => {
            format!("{} and {}", counted(tasks, "task", "tasks"), counted(others, "job or container", "jobs and containers"))
        }
    };
    let hosts: Vec<String> = accesses.hosts.iter().take(4).map(|host| visible(host)).collect();
    let more = accesses.hosts.len().saturating_sub(hosts.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let mut facts = vec![
        visible(&accesses.path),
        format!(
            "on {}{more} · by {by} · {} ({}) · {} ({})",
            hosts.join(", "),
            counted(reads.0, "read", "reads"),
            bytes(reads.1),
            counted(writes.0, "write", "writes"),
            bytes(writes.1)
        ),
    ];
    if accesses.merged {
        facts.push(format!(
            "More than {} operations: those of a task on the same pixels are drawn as one bar, from the lowest to the highest byte ({}).",
            count(EXACT as u64),
            counted(accesses.bars.len() as u64, "bar", "bars")
        ));
    }
    facts
}

fn missing(accesses: &Accesses) -> Vec<String> {
    let missing = &accesses.missing;
    let mut words = Vec::new();
    let mut say = |n: u64, one: &str, many: &str| {
        if n > 0 {
            words.push(counted(n, one, many));
        }
    };
    say(missing.failed, "read or write that failed", "reads and writes that failed");
    say(missing.no_offset.0, "operation without a known offset", "operations without a known offset");
    say(missing.no_result, "operation without a known result", "operations without a known result");
    say(missing.faults, "page fault of a mapping, of unknown size", "page faults of mappings, of unknown size");
    say(missing.only_sums.0.unsigned_abs(), "byte of which only the sum is known", "bytes of which only sums are known");
    say(
        missing.lost,
        "operation that was lost on the host meanwhile, perhaps not of this file",
        "operations that were lost on the host meanwhile, perhaps not of this file",
    );
    if missing.only_sums.1 > 0 {
        words.push(format!("the table task_io lacks {}: run `flowmine correlate` again", bytes(missing.only_sums.1)));
    }
    words
}

fn versions(sheet: &mut Sheet, accesses: &Accesses, time: &Axis, top: f64, bottom: f64) {
    let mut free = f64::NEG_INFINITY;
    let mut unnamed = 0u64;
    for version in accesses.versions.iter().take(200) {
        let x = time.at((i128::from(version.first_ns) - i128::from(accesses.extent.first_ns)) as f64).clamp(time.from, time.to);
        sheet.line((x, top - 6.0), (x, bottom), BOUNDARY, 1.0, "stroke-dasharray=\"3 3\" stroke-opacity=\"0.7\"");
        let words = format!("version {}: {}", version.version, visible(&version.origin));
        let room = width(&words, SMALL);
        let start = x.min(time.to - room);
        if start < free {
            unnamed += 1;
            continue;
        }
        sheet.text(start, top - 10.0, SMALL, BOUNDARY, "", &words);
        free = start + room + 10.0;
    }
    unnamed += accesses.versions.len().saturating_sub(200) as u64;
    if unnamed > 0 {
        let words = format!("{} of the file, not all named", counted(accesses.versions.len() as u64, "version", "versions"));
        sheet.text(time.to, top - 24.0, SMALL, BOUNDARY, "text-anchor=\"end\"", &words);
    }
}

fn bars(sheet: &mut Sheet, accesses: &Accesses, kinds: &Kinds, time: &Axis, offsets: &Axis, base: i64) {
    // Bars that can be distinguished are broad enough to be seen.
    let broad = (PLOT.0 / (2.0 * accesses.bars.len().max(1) as f64)).clamp(1.2, 3.0);
    let mut groups: BTreeMap<(bool, u32), String> = BTreeMap::new();
    for bar in &accesses.bars {
        // Writes first: what was written is then read.
        bar_path(groups.entry((!bar.write, bar.owner)).or_default(), bar, accesses, time, offsets, base, broad);
    }
    for ((read, owner), data) in groups {
        let Some(user) = accesses.users.get(owner as usize) else { continue };
        let (verb, sum) = if read { ("read", &user.read) } else { ("wrote", &user.written) };
        sheet.body.push_str("<g>\n");
        sheet.title(&[format!(
            "{} {verb} {} in {}",
            visible(&user.name()),
            bytes(sum.bytes),
            counted(sum.operations, "operation", "operations")
        )]);
        sheet.path(&data, kinds.colour(owner as usize, !read), "");
        sheet.body.push_str("</g>\n");
    }
}

fn bar_path(data: &mut String, bar: &Bar, accesses: &Accesses, time: &Axis, offsets: &Axis, base: i64, broad: f64) {
    let x = time.at((i128::from(bar.first_ns) - i128::from(accesses.extent.first_ns)) as f64);
    let number = |offset: i64| (i128::from(offset) - i128::from(base)) as f64;
    let (low, high) = (offsets.at(number(bar.offset)), offsets.at(number(bar.end)));
    // Few bytes of a large file would not be seen.
    let high = high.min(low - LEAST);
    let _ = write!(data, "M{} {}h{}V{}h-{}z", Num(x - broad / 2.0), Num(low), Num(broad), Num(high), Num(broad));
}

/// The time of each user and when it read and wrote; gives the lower end.
fn lanes(sheet: &mut Sheet, accesses: &Accesses, kinds: &Kinds, time: &Axis, top: f64) -> f64 {
    let shown: Vec<(usize, &User)> =
        accesses.users.iter().enumerate().filter(|(_, user)| user.owner != Owner::Nobody).take(LANES).collect();
    let mut y = top;
    if shown.is_empty() {
        return y;
    }
    sheet.text(
        MARGIN,
        y + 2.0,
        SMALL,
        TEXT,
        "font-weight=\"bold\"",
        "Times of tasks; in them from the first to the last write (upper half) and read (lower half)",
    );
    y += 10.0;
    for (at, user) in &shown {
        lane(sheet, accesses, kinds, (*at, user), time, y);
        y += LANE;
    }
    let more = accesses.users.iter().filter(|user| user.owner != Owner::Nobody).count() - shown.len();
    if more > 0 {
        sheet.text(
            MARGIN,
            y + 8.0,
            SMALL,
            WEAK_TEXT,
            "",
            &format!("and {} more, in the order of the first access", counted(more as u64, "task", "tasks")),
        );
        y += 16.0;
    }
    y
}

fn lane(sheet: &mut Sheet, accesses: &Accesses, kinds: &Kinds, (at, user): (usize, &User), time: &Axis, y: f64) {
    let since = |ns: i64| (i128::from(ns) - i128::from(accesses.extent.first_ns)) as f64;
    let place = |ns: i64| time.at(since(ns)).clamp(time.from, time.to);
    let (bar, height) = (y + 18.0, 9.0);
    let mut words = lane_words(user);
    if let Some((start, end)) = user.time_ns {
        let (x, to) = (place(start), place(end));
        sheet.rect(Frame { x, y: bar, w: (to - x).max(1.0), h: height }, 2.0, "#eef1f5", Some(("#9aa5b1", 1.0)));
        if time.at(since(start)) < time.from - 0.5 {
            words.push_str(" · ◀ began earlier");
        }
        if time.at(since(end)) > time.to + 0.5 {
            words.push_str(" · ended later ▶");
        }
    }
    for (sum, write) in [(&user.written, true), (&user.read, false)] {
        if let Some((first, last)) = sum.span_ns {
            let (x, half) = (place(first), height / 2.0);
            let top = if write { bar } else { bar + half };
            sheet.rect(Frame { x, y: top, w: (place(last) - x).max(2.0), h: half }, 0.0, kinds.colour(at, write), None);
        }
    }
    sheet.text(MARGIN, y + 12.0, SMALL, TEXT, "", &words);
}

/// `TRIMGALORE (1#1)`: which task and attempt it is.
fn label(user: &User) -> String {
    match (&user.logical_task, &user.owner) {
        (Some(name), Owner::Task(id)) => format!("{name} ({})", id.rsplit('/').next().unwrap_or(id)),
        _ => user.name(),
    }
}

/// `TRIMGALORE (1#1): ran 9.9s · writes from 32% to 42% of it · reads …`.
fn lane_words(user: &User) -> String {
    // A long name is cut in its middle.
    let mut words = wrap_name(&label(user), SMALL, 330.0, 1).concat();
    let _ = match user.time_ns {
        Some((start, end)) => write!(words, ": ran {}", duration((i128::from(end) - i128::from(start)) as f64)),
        None => write!(words, ": for how long is not known"),
    };
    for (sum, verb) in [(&user.written, "writes"), (&user.read, "reads")] {
        let Some((first, last)) = sum.span_ns else { continue };
        let _ = match user.share(first).zip(user.share(last)) {
            Some((from, to)) => write!(words, " · {verb} {} between {} and {}", bytes(sum.bytes), percent(from), percent(to)),
            None => write!(words, " · {verb} {}", bytes(sum.bytes)),
        };
    }
    words
}

/// Draws the legend of colours; returns its lower end.
fn legend(sheet: &mut Sheet, accesses: &Accesses, kinds: &Kinds, top: f64, inner: f64) -> f64 {
    sheet.line((MARGIN, top), (MARGIN + inner, top), "#d5dce4", 1.0, "");
    let mut y = top + 18.0;
    sheet.text(
        MARGIN,
        y,
        SMALL,
        TEXT,
        "font-weight=\"bold\"",
        "Bars: from the offset up, as high as bytes were moved, at least two pixels",
    );
    y += 8.0;
    let mut x = MARGIN;
    for (&colour, (name, users)) in &kinds.names {
        let of = |write: bool| {
            let sum = |user: &User| if write { user.written.operations } else { user.read.operations };
            accesses.users.iter().zip(&kinds.of_user).any(|(user, kind)| *kind == colour && sum(user) > 0)
        };
        let (writes, reads) = (of(true), of(false));
        let many = if *users > 1 { format!(" ({})", counted(*users as u64, "task", "tasks")) } else { String::new() };
        let name = wrap_name(name, SMALL, 260.0, 1).concat() + &many;
        let room = width(&name, SMALL) + 14.0 + if writes { 58.0 } else { 0.0 } + if reads { 54.0 } else { 0.0 };
        if x + room > MARGIN + inner && x > MARGIN {
            x = MARGIN;
            y += 20.0;
        }
        for (there, fill, words, step) in [(writes, COLOURS[colour].0, "writes", 58.0), (reads, COLOURS[colour].1, "reads", 54.0)] {
            if there {
                sheet.rect(Frame { x, y: y + 3.0, w: 10.0, h: 10.0 }, 1.0, fill, None);
                sheet.text(x + 14.0, y + 12.0, SMALL, TEXT, "", words);
                x += step;
            }
        }
        sheet.text(x, y + 12.0, SMALL, TEXT, "", &name);
        x += width(&name, SMALL) + 24.0;
    }
    y + 20.0
}
