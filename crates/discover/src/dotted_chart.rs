//! Dotted chart (Song & van der Aalst, *Supporting process mining by showing events at a glance*,
//! WITS 2007): a log and its cases in, one dot or bar for each activity instance out, in rows of
//! cases.
//!
//! Instances without a known time are counted and have no dot; cases without a known time are
//! counted and have no row.

use flowmine_activity_log::{ActivityLog, Cases, Names};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::{About, span};
use crate::stats::percentile;

/// Order of the rows of a dotted chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By the first moment of the case.
    #[default]
    Start,
    /// By the time from the first to the last moment, shortest first.
    Duration,
    /// By the last moment of the case, earliest first.
    End,
    /// By the name of the case.
    Name,
}

/// Quantity of the horizontal axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Time {
    /// The moment itself, in UTC.
    #[default]
    Absolute,
    /// Time since the first moment of the case.
    Relative,
}

/// Order of the rows and time of the dots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Order of the rows.
    pub sort: Sort,
    /// Quantity of the horizontal axis; `None`: selected by the log.
    pub time: Option<Time>,
}

/// A dotted chart: rows of cases and the dots in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DottedChart {
    /// Description of the log.
    pub about: About,
    /// Order of the rows.
    pub sort: Sort,
    /// Time of the dots and the axis.
    pub time: Time,
    /// Whether the time was selected by the log.
    pub is_time_chosen: bool,
    /// The names of activities, by their numbers in the log.
    pub activities: Names,
    /// Number of dots of each activity.
    pub counts: Vec<u64>,
    /// The names of the cases that have a row, in the order of rows.
    pub rows: Names,
    /// The first moment of each row's case, UTC nanoseconds since 1970.
    pub first_ns: Vec<i64>,
    /// The dots, ordered by row, then by start.
    pub dots: Vec<Dot>,
    /// Whether some dot has a start and an end.
    pub intervals: bool,
    /// Number of instances without a known time, which have no dot.
    pub without_time: u64,
    /// Number of cases without a known time, which have no row.
    pub cases_without_time: u64,
}

/// One activity instance: a dot, or a bar if its start and end are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot {
    /// Index of its row in [`DottedChart::rows`].
    pub row: u32,
    /// Index of its activity in [`DottedChart::activities`].
    pub activity: u32,
    /// Start or only moment: UTC nanoseconds since 1970, or since the case's first moment.
    pub start_ns: i64,
    /// End, in the same form as `start_ns`; `None` unless start and end are known.
    pub end_ns: Option<i64>,
}

/// Share of the log's duration: with shorter cases, a chart of moments is a diagonal without
/// visible cases.
const SHORT: f64 = 0.05;

/// Returns relative time if all but the longest twentieth of the cases are short compared with the
/// log.
fn fitting_time(spans: &[Option<(i64, i64)>]) -> Time {
    let known = || spans.iter().flatten();
    let (Some(first), Some(last)) = (known().map(|span| span.0).min(), known().map(|span| span.1).max()) else { return Time::Absolute };
    let mut durations: Vec<i64> = known().map(|(start, end)| end.saturating_sub(*start)).collect();
    let usual = percentile(&mut durations, 0.95);
    if usual > 0.0 && usual < SHORT * last.saturating_sub(first) as f64 { Time::Relative } else { Time::Absolute }
}

/// Makes a dotted chart of a log; each instance has a dot in each of its cases' rows.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> DottedChart {
    let spans: Vec<Option<(i64, i64)>> = (0..cases.len()).map(|case| span(log, cases, case)).collect();
    let mut order: Vec<(i64, u32)> = Vec::with_capacity(cases.len());
    for (case, span) in spans.iter().enumerate() {
        if let Some((start, end)) = span {
            let key = match options.sort {
                Sort::Start => *start,
                Sort::End => *end,
                Sort::Duration => end.saturating_sub(*start),
                Sort::Name => 0,
            };
            order.push((key, case as u32));
        }
    }
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| cases.names.get(a.1).cmp(cases.names.get(b.1))).then(a.1.cmp(&b.1)));
    let time = options.time.unwrap_or_else(|| fitting_time(&spans));
    let mut chart = DottedChart {
        about: About::new(log, cases),
        sort: options.sort,
        time,
        is_time_chosen: options.time.is_none(),
        activities: log.activities.clone(),
        counts: vec![0; log.activities.len()],
        cases_without_time: (cases.len() - order.len()) as u64,
        ..DottedChart::default()
    };
    for (row, &(_, case)) in order.iter().enumerate() {
        let first = spans[case as usize].map_or(0, |span| span.0);
        let zero = if time == Time::Relative { first } else { 0 };
        chart.rows.push(cases.names.get(case));
        chart.first_ns.push(first);
        for at in cases.of(case as usize) {
            let (start, end) = (log.start_ns(at), log.end_ns(at));
            let Some(moment) = start.or(end) else {
                chart.without_time += 1;
                continue;
            };
            let end_ns = if log.is_moment(at) { None } else { start.and(end) };
            let activity = log.instances.activity[at as usize];
            if let Some(count) = chart.counts.get_mut(activity as usize) {
                *count += 1;
            }
            chart.intervals |= end_ns.is_some();
            chart.dots.push(Dot {
                row: row as u32,
                activity,
                start_ns: moment.saturating_sub(zero),
                end_ns: end_ns.map(|end| end.saturating_sub(zero)),
            });
        }
    }
    // Instances of cases without a row: their times are not known.
    let no_row = (0..cases.len()).filter(|&case| spans[case].is_none());
    chart.without_time += no_row.map(|case| cases.of(case).len() as u64).sum::<u64>();
    chart
}
