//! Columns in the order of a table's rows, in; an [`ActivityLog`], out. [`super`] describes the
//! meaning of the rows and their order.
//!
//! Rows are grouped by counting those of each case, and sorted only where they are out of order.
//! Then each column is moved once. Only rows with a lifecycle that records more than completions go
//! through [`LogBuilder`].

use std::thread;

use flowmine_activity_log::{
    ActivityLog, Attribute, BytesFrom, Cases, EventRow, Events, Instances, LogBuilder, Measure, NONE, Names, Status, TooLarge, Transition,
    UNKNOWN,
};
use flowmine_threads::{Beside, beside};

use super::TableError;
use super::columns::{Coded, Columns, in_order_of_rows, threads};
use crate::log_file::as_objects::UNNAMED;

/// The rows of a table, grouped by case.
#[derive(Debug, Default)]
struct ByCase {
    /// Where the rows of each case begin, and where those of the last end.
    offsets: Vec<u32>,
    names: Names,
    /// The rows one after the other, unless they are all in the order of the table.
    rows: Option<Vec<u32>>,
    without_case: u64,
}

/// A log of a table's columns and notes about it.
pub fn assemble(mut columns: Columns, keys: Vec<String>) -> Result<(ActivityLog, Vec<String>), TableError> {
    let mut notes = Vec::new();
    let mut bad_numbers = columns.bad_numbers;
    for (measure, values) in &mut columns.measures {
        for value in values.iter_mut().filter(|value| !measure.allows(**value) && **value != UNKNOWN) {
            *value = UNKNOWN;
            bad_numbers += 1;
        }
    }
    let unnamed = name_the_unnamed(&mut columns.activity);
    let transitions = columns.lifecycle.take().map(|lifecycle| {
        let of: Vec<Transition> = lifecycle.names.iter().map(Transition::parse).collect();
        (lifecycle.codes, of)
    });
    let used = |what: fn(Transition) -> bool| {
        transitions.as_ref().is_some_and(|(codes, of)| {
            let mut used = vec![false; of.len()];
            for &code in codes {
                if let Some(used) = used.get_mut(code as usize) {
                    *used = true;
                }
            }
            of.iter().zip(used).any(|(&transition, used)| used && what(transition))
        })
    };
    let tells_starts = used(|transition| transition == Transition::Start);
    if columns.start.is_some() && tells_starts && !columns.start_is_asked {
        notes.push("the lifecycle of the table records starts: its start column is not used".to_owned());
        columns.start = None;
    }
    let by_case = by_case(&columns.case);
    columns.case = Coded::default();
    let without_case = by_case.without_case;
    let mut log = if let Some(start) = columns.start.take() {
        intervals(columns, start, transitions.map(ends), by_case)?
    } else if used(|transition| !matches!(transition, Transition::Untold | Transition::Complete)) {
        let Some((codes, of)) = transitions else { return Err(TooLarge { what: "events" }.into()) };
        paired(columns, &codes, &of, by_case, keys)?
    } else {
        moments(columns, transitions.map(ends), by_case)?
    };
    log.left_out.unnamed += unnamed;
    log.left_out.without_case += without_case;
    log.left_out.bad_numbers += bad_numbers;
    log.words.instance = "event".to_owned();
    log.words.ready = "scheduled".to_owned();
    Ok((log, notes))
}

/// How rows ended: numbers of transitions, and what each says of an end.
type Ends = (Vec<u32>, Vec<Status>);

fn ends((codes, of): (Vec<u32>, Vec<Transition>)) -> Ends {
    (codes, of.into_iter().map(Transition::status).collect())
}

fn status_of(ends: Option<&Ends>, row: u32) -> Status {
    ends.and_then(|(codes, of)| of.get(codes[row as usize] as usize)).copied().unwrap_or_default()
}

/// The status of each row, nothing where no row has one.
fn statuses(ends: Option<&Ends>, rows: impl Iterator<Item = u32>) -> Vec<Status> {
    if ends.is_none_or(|(_, of)| of.iter().all(|&status| status == Status::Unknown)) {
        return Vec::new();
    }
    let of: Vec<Status> = rows.map(|row| status_of(ends, row)).collect();
    if of.iter().any(|&status| status != Status::Unknown) { of } else { Vec::new() }
}

/// Gives rows without an activity one, and counts them. An empty name is none.
pub(super) fn name_the_unnamed(activity: &mut Coded) -> u64 {
    let empty = activity.names.find("");
    let is_unnamed = |code: u32| code == NONE || Some(code) == empty;
    let count = activity.codes.iter().filter(|&&code| is_unnamed(code)).count() as u64;
    if count > 0 {
        let number = activity.names.find(UNNAMED).unwrap_or_else(|| activity.names.push(UNNAMED));
        activity.codes.iter_mut().filter(|code| is_unnamed(**code)).for_each(|code| *code = number);
    }
    count
}

/// Puts the rows of each case together, cases in the order of their first rows.
fn by_case(case: &Coded) -> ByCase {
    let mut number = vec![NONE; case.names.len()];
    let mut counts: Vec<u32> = Vec::new();
    let mut order: Vec<u32> = Vec::new();
    let mut together = true;
    let mut without_case = 0;
    let mut last = NONE;
    for &code in &case.codes {
        let Some(of) = number.get_mut(code as usize) else {
            without_case += 1;
            continue;
        };
        if *of == NONE {
            *of = counts.len() as u32;
            counts.push(0);
            order.push(code);
        } else if *of != last {
            together = false;
        }
        last = *of;
        counts[last as usize] += 1;
    }
    let mut offsets = Vec::with_capacity(counts.len() + 1);
    offsets.push(0);
    let mut end = 0;
    offsets.extend(counts.iter().map(|count| {
        end += count;
        end
    }));
    let rows = (!together || without_case > 0).then(|| {
        let mut next = offsets.clone();
        let mut rows = vec![0; end as usize];
        for (row, &code) in case.codes.iter().enumerate() {
            if let Some(&of) = number.get(code as usize) {
                let place = &mut next[of as usize];
                rows[*place as usize] = row as u32;
                *place += 1;
            }
        }
        rows
    });
    let as_it_is = order.len() == case.names.len() && order.is_sorted();
    let names = if as_it_is { case.names.clone() } else { order.iter().map(|&code| case.names.get(code)).collect() };
    ByCase { offsets, names, rows, without_case }
}

/// Runs of cases, about as many as there are threads, each with about as many rows as the others.
fn shares(offsets: &[u32]) -> Vec<std::ops::Range<usize>> {
    let (cases, rows) = (offsets.len().saturating_sub(1), offsets.last().copied().unwrap_or_default() as usize);
    let parts = if rows < 1 << 14 { 1 } else { threads() };
    let mut shares = Vec::new();
    let mut start = 0;
    for part in 1..=parts {
        let until = (rows * part / parts) as u32;
        let end = if part == parts { cases } else { offsets.partition_point(|&offset| offset < until).clamp(start, cases) };
        if start < end {
            shares.push(start..end);
        }
        start = end;
    }
    shares
}

/// Puts the rows of each case in the order of their times.
fn in_order_of_time(by_case: &mut ByCase, time: &[i64]) {
    let shares = shares(&by_case.offsets);
    let offsets = &by_case.offsets;
    if by_case.rows.is_none() {
        let sorted = |share: &std::ops::Range<usize>| {
            share.clone().all(|case| is_in_order(time[offsets[case] as usize..offsets[case + 1] as usize].iter().copied()))
        };
        let all_sorted = thread::scope(|scope| {
            let others: Vec<_> = shares.iter().skip(1).map(|share| beside(scope, || sorted(share))).collect();
            let first = shares.first().is_none_or(sorted);
            others.into_iter().fold(first, |all, other| all & other.join())
        });
        if all_sorted {
            return;
        }
        by_case.rows = Some((0..time.len() as u32).collect());
    }
    let Some(rows) = &mut by_case.rows else { return };
    thread::scope(|scope| {
        let mut rest = &mut rows[..];
        let mut done = 0;
        for share in shares {
            let end = offsets[share.end] as usize;
            let (part, others) = std::mem::take(&mut rest).split_at_mut(end - done);
            rest = others;
            let first = done;
            done = end;
            let work = move || {
                let mut known = Vec::new();
                for case in share {
                    let rows = &mut part[offsets[case] as usize - first..offsets[case + 1] as usize - first];
                    if !is_in_order(rows.iter().map(|&row| time[row as usize])) {
                        sort(rows, time, &mut known);
                    }
                }
            };
            drop(beside(scope, work));
        }
    });
}

fn is_in_order(mut times: impl Iterator<Item = i64>) -> bool {
    let mut last = UNKNOWN;
    // What is unknown is less than everything and changes nothing.
    times.all(|time| {
        let fits = time >= last || time == UNKNOWN;
        last = last.max(time);
        fits
    })
}

/// Puts rows in order; those without a time stay in their places.
pub(super) fn sort(rows: &mut [u32], time: &[i64], known: &mut Vec<(i64, u32)>) {
    known.clear();
    known.extend(rows.iter().map(|&row| (time[row as usize], row)).filter(|&(time, _)| time != UNKNOWN));
    known.sort_unstable();
    let places = rows.iter_mut().filter(|row| time[**row as usize] != UNKNOWN);
    places.zip(known.iter()).for_each(|(place, &(_, row))| *place = row);
}

/// A column in the order of these rows.
fn moved<T: Copy + Default + Send + Sync>(column: Vec<T>, rows: Option<&[u32]>) -> Vec<T> {
    let Some(rows) = rows else { return column };
    let mut out = vec![T::default(); rows.len()];
    let share = rows.len().div_ceil(threads()).max(1 << 14);
    thread::scope(|scope| {
        for (to, from) in out.chunks_mut(share).zip(rows.chunks(share)) {
            let column = &column;
            let mut work = move || to.iter_mut().zip(from).for_each(|(to, &from)| *to = column[from as usize]);
            if from.len() == rows.len() { work() } else { drop(beside(scope, work)) }
        }
    });
    out
}

/// Moves what instances have besides times into a log, in the order of its instances.
fn fill(log: &mut ActivityLog, columns: Columns, rows: Option<&[u32]>) {
    let text = |mut column: Coded| {
        column.codes = moved(column.codes, rows);
        in_order_of_rows(&mut column);
        column
    };
    let activity = text(columns.activity);
    (log.instances.activity, log.activities) = (activity.codes, activity.names);
    if let Some(column) = columns.resource {
        let column = text(column);
        if !column.names.is_empty() {
            (log.instances.resource, log.resources) = (column.codes, column.names);
        }
    }
    for (measure, column) in columns.measures {
        let column = moved(column, rows);
        if column.iter().any(|&value| value != UNKNOWN) {
            log.instances.measures.push((measure, column));
        }
    }
    if has_bytes(&log.instances.measures) {
        let mut from = vec![BytesFrom::Nobody; log.instances.activity.len()];
        for (_, column) in log.instances.measures.iter().filter(|(measure, _)| is_bytes(*measure)) {
            from.iter_mut().zip(column).filter(|(_, value)| **value != UNKNOWN).for_each(|(from, _)| *from = BytesFrom::Log);
        }
        log.instances.bytes_from = from;
    }
    for (key, column) in columns.attributes {
        let column = text(column);
        log.attributes.push(Attribute { key, names: column.names, of: column.codes });
    }
}

pub(super) fn is_bytes(measure: Measure) -> bool {
    matches!(measure, Measure::ReadBytes | Measure::WrittenBytes)
}

fn has_bytes(measures: &[(Measure, Vec<i64>)]) -> bool {
    measures.iter().any(|(measure, _)| is_bytes(*measure))
}

fn check(rows: usize, events_of_each: usize) -> Result<(), TooLarge> {
    if rows.checked_mul(events_of_each).is_some_and(|events| events < NONE as usize - 4) {
        Ok(())
    } else {
        Err(TooLarge { what: "events" })
    }
}

/// Each row is an instance of one moment.
fn moments(mut columns: Columns, ends: Option<Ends>, mut by_case: ByCase) -> Result<ActivityLog, TooLarge> {
    check(columns.time.len(), 1)?;
    let time = std::mem::take(&mut columns.time);
    in_order_of_time(&mut by_case, &time);
    let ByCase { offsets, names, rows, .. } = by_case;
    let mut log = ActivityLog::default();
    let time_ns = moved(time, rows.as_deref());
    let all: Vec<u32> = (0..time_ns.len() as u32).collect();
    log.left_out.events_without_time = time_ns.iter().filter(|&&time| time == UNKNOWN).count() as u64;
    let status = match &rows {
        Some(rows) => statuses(ends.as_ref(), rows.iter().copied()),
        None => statuses(ends.as_ref(), 0..time_ns.len() as u32),
    };
    log.instances = Instances { start: all.clone(), end: all, status, ..Instances::default() };
    fill(&mut log, columns, rows.as_deref());
    // An empty list represents rows in their own order.
    let record = rows.filter(|rows| rows.iter().enumerate().any(|(at, &row)| at != row as usize)).unwrap_or_default();
    log.events = Events { time_ns, record };
    log.groups = vec![Cases { names, offsets, ..Cases::default() }];
    Ok(log)
}

/// Rows with a lifecycle are events, paired case by case.
fn paired(mut columns: Columns, codes: &[u32], of: &[Transition], mut by_case: ByCase, keys: Vec<String>) -> Result<ActivityLog, TooLarge> {
    in_order_of_time(&mut by_case, &columns.time);
    let mut builder = LogBuilder::new(&keys);
    // Numbers in the builder, given when first needed.
    let mut activities = vec![NONE; columns.activity.names.len()];
    let mut resources = columns.resource.as_ref().map_or_else(Vec::new, |column| vec![NONE; column.names.len()]);
    let mut values: Vec<Vec<u32>> = columns.attributes.iter().map(|(_, column)| vec![NONE; column.names.len()]).collect();
    let (mut measures, mut attributes) = (Vec::new(), Vec::new());
    for case in 0..by_case.offsets.len() - 1 {
        for place in by_case.offsets[case]..by_case.offsets[case + 1] {
            let row = by_case.rows.as_ref().map_or(place, |rows| rows[place as usize]) as usize;
            let code = columns.activity.codes[row];
            let activity = &mut activities[code as usize];
            if *activity == NONE {
                *activity = builder.activity(columns.activity.names.get(code));
            }
            let activity = *activity;
            let resource = columns.resource.as_ref().map(|column| (column, column.codes[row])).filter(|&(_, code)| code != NONE);
            let resource = resource.map(|(column, code)| {
                let number = &mut resources[code as usize];
                if *number == NONE {
                    *number = builder.resource(column.names.get(code));
                }
                *number
            });
            let instance = columns.instance.as_ref().map(|column| (column, column.codes[row])).filter(|&(_, code)| code != NONE);
            let instance = instance.map(|(column, code)| builder.instance_id(column.names.get(code)));
            measures.clear();
            measures
                .extend(columns.measures.iter().map(|(measure, column)| (*measure, column[row])).filter(|&(_, value)| value != UNKNOWN));
            attributes.clear();
            for (at, (_, column)) in columns.attributes.iter().enumerate() {
                let code = column.codes[row];
                if code != NONE {
                    let number = &mut values[at][code as usize];
                    if *number == NONE {
                        *number = builder.value(at, column.names.get(code));
                    }
                    attributes.push((at, *number));
                }
            }
            builder.event(&EventRow {
                activity,
                time_ns: columns.time[row],
                transition: of.get(codes[row] as usize).copied().unwrap_or_default(),
                instance,
                resource,
                attempt: 0,
                measures: &measures,
                bytes_from: if measures.iter().any(|(measure, _)| is_bytes(*measure)) { BytesFrom::Log } else { BytesFrom::Nobody },
                attributes: &attributes,
            })?;
        }
        builder.end_case(by_case.names.get(case as u32))?;
    }
    columns.time = Vec::new();
    if let Some(rows) = &by_case.rows {
        builder.records(rows);
    }
    Ok(builder.finish())
}

/// What a share of the cases with starts and ends gives.
#[derive(Default)]
struct Share {
    /// Of each instance in its order the row, and where in the share's events it starts and ends.
    rows: Vec<u32>,
    start: Vec<u32>,
    end: Vec<u32>,
    time_ns: Vec<i64>,
    record: Vec<u32>,
    /// How many instances each case has.
    sizes: Vec<u32>,
    starts: u64,
    without_end: u64,
    lone_ends: u64,
    without_moment: u64,
}

/// Each row is an instance with a start, an end, or both. The order is that of
/// [`LogBuilder::instance`].
fn intervals(mut columns: Columns, start: Vec<i64>, ends: Option<Ends>, by_case: ByCase) -> Result<ActivityLog, TooLarge> {
    check(columns.time.len(), 2)?;
    let end = std::mem::take(&mut columns.time);
    let status_of = |row: u32| status_of(ends.as_ref(), row);
    let shares: Vec<Share> = thread::scope(|scope| {
        let others: Vec<_> = shares(&by_case.offsets)
            .into_iter()
            .map(|share| {
                let (by_case, start, end) = (&by_case, &start, &end);
                beside(scope, move || {
                    let mut out = Share::default();
                    share.for_each(|case| out.case(by_case, case, start, end, status_of));
                    out
                })
            })
            .collect();
        others.into_iter().map(Beside::join).collect()
    });
    drop((start, end));
    let mut log = ActivityLog::default();
    let mut rows = Vec::new();
    let mut offsets = vec![0];
    let (mut starts, mut lone_ends) = (0, 0);
    for share in shares {
        let first = log.events.time_ns.len() as u32;
        rows.extend_from_slice(&share.rows);
        log.instances.start.extend(share.start.iter().map(|event| event + first));
        log.instances.end.extend(share.end.iter().map(|event| event + first));
        log.events.time_ns.extend_from_slice(&share.time_ns);
        log.events.record.extend_from_slice(&share.record);
        let mut last = offsets.last().copied().unwrap_or_default();
        offsets.extend(share.sizes.iter().map(|size| {
            last += size;
            last
        }));
        starts += share.starts;
        lone_ends += share.lone_ends;
        log.left_out.without_end += share.without_end;
        log.left_out.without_moment += share.without_moment;
    }
    if starts > 0 {
        log.left_out.without_start += lone_ends;
    }
    log.instances.status = statuses(ends.as_ref(), rows.iter().copied());
    fill(&mut log, columns, Some(&rows));
    log.groups = vec![Cases { names: by_case.names, offsets, ..Cases::default() }];
    log.count_contradictions();
    Ok(log)
}

/// A moment of an instance: its key to be sorted by, its time.
type Moment = ((i64, u8, u32, bool), i64);

impl Share {
    fn case(&mut self, by_case: &ByCase, case: usize, start: &[i64], end: &[i64], status: impl Fn(u32) -> Status) {
        let (from, to) = (by_case.offsets[case], by_case.offsets[case + 1]);
        let mut moments: Vec<Moment> = Vec::with_capacity(2 * (to - from) as usize);
        let mut members: Vec<u32> = Vec::with_capacity((to - from) as usize);
        for place in from..to {
            let row = by_case.rows.as_ref().map_or(place, |rows| rows[place as usize]);
            let (start, end) = (start[row as usize], end[row as usize]);
            if start == UNKNOWN && end == UNKNOWN {
                self.without_moment += 1;
                continue;
            }
            let number = members.len() as u32;
            members.push(row);
            let instant = start == UNKNOWN || end == UNKNOWN || start >= end;
            if start != UNKNOWN {
                moments.push(((start, if instant { 1 } else { 2 }, number, false), start));
                self.starts += 1;
                self.without_end += u64::from(end == UNKNOWN);
            }
            if end != UNKNOWN {
                // An end before its start is shown as it is, but cannot come first.
                let by = if start == UNKNOWN { end } else { end.max(start) };
                moments.push(((by, u8::from(instant), number, true), end));
                self.lone_ends += u64::from(start == UNKNOWN && status(row) != Status::Cached);
            }
        }
        if !moments.is_sorted_by_key(|(by, _)| *by) {
            moments.sort_unstable_by_key(|(by, _)| *by);
        }
        let first = self.time_ns.len() as u32;
        let mut ends = vec![NONE; members.len()];
        let begin = self.rows.len();
        for (at, &((_, _, number, is_end), time)) in moments.iter().enumerate() {
            let event = first + at as u32;
            let row = members[number as usize];
            self.time_ns.push(time);
            self.record.push(row);
            let end = &mut ends[number as usize];
            if *end == NONE {
                // Its first moment: instances are in the order of these.
                self.start.push(event);
                self.rows.push(number);
                *end = event;
            } else if is_end {
                *end = event;
            }
        }
        for number in &mut self.rows[begin..] {
            self.end.push(ends[*number as usize]);
            *number = members[*number as usize];
        }
        self.sizes.push(members.len() as u32);
    }
}
