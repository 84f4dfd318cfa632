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
    /// Reason for the time if the log selected it.
    pub chosen: Option<Reason>,
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

/// Share of the log's duration in which no case is open; above it, cases lie far apart.
const EMPTY: f64 = 0.5;

/// Reason for which a chart has the time that the log selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// All but the longest twentieth of the cases are shorter than a twentieth of the log.
    Short,
    /// No case begins before the one before it has ended.
    Apart,
    /// In more than half of the log's duration no case is open.
    FarApart,
    /// Cases overlap.
    Together,
    /// There are not two cases with a duration.
    Few,
}

impl Reason {
    /// Returns the time of a chart for this reason.
    pub fn time(self) -> Time {
        if matches!(self, Self::Together | Self::Few) { Time::Absolute } else { Time::Relative }
    }

    /// Returns the reason as a clause.
    pub fn words(self) -> &'static str {
        match self {
            Self::Short => "cases are short in the time of the log",
            Self::Apart => "cases do not overlap",
            Self::FarApart => "cases lie far apart",
            Self::Together => "cases overlap",
            Self::Few => "there are not two cases with a duration",
        }
    }
}

/// Returns the reason for the time of a chart that the cases of a log select.
pub fn fitting_time(log: &ActivityLog, cases: &Cases) -> Reason {
    reason((0..cases.len()).filter_map(|case| span(log, cases, case)).collect())
}

fn reason(mut spans: Vec<(i64, i64)>) -> Reason {
    spans.sort_unstable();
    let mut durations: Vec<i64> = spans.iter().map(|(start, end)| end.saturating_sub(*start)).collect();
    let (Some(&(first, mut open_until)), true) = (spans.first(), durations.iter().filter(|ns| **ns > 0).count() > 1) else {
        return Reason::Few;
    };
    let (mut empty, mut overlap) = (0i128, false);
    for &(start, end) in &spans[1..] {
        overlap |= start < open_until;
        empty += (i128::from(start) - i128::from(open_until)).max(0);
        open_until = open_until.max(end);
    }
    let whole = (i128::from(open_until) - i128::from(first)) as f64;
    if percentile(&mut durations, 0.95) < SHORT * whole {
        Reason::Short
    } else if !overlap {
        Reason::Apart
    } else if empty as f64 > EMPTY * whole {
        Reason::FarApart
    } else {
        Reason::Together
    }
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
    let chosen = options.time.is_none().then(|| reason(spans.iter().flatten().copied().collect()));
    let time = options.time.or(chosen.map(Reason::time)).unwrap_or_default();
    let mut chart = DottedChart {
        about: About::new(log, cases),
        sort: options.sort,
        time,
        chosen,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_time_is_for_cases_apart_and_for_short_ones() {
        let reason = |spans: &[(i64, i64)]| reason(spans.to_vec());
        assert_eq!(reason(&[(10, 20), (0, 10), (20, 35)]), Reason::Apart, "in any order");
        assert_eq!(reason(&[(0, 10), (9, 20), (20, 35)]), Reason::Together);
        assert_eq!(reason(&[(0, 10), (5, 15), (60, 70), (65, 75)]), Reason::FarApart);
        assert_eq!(reason(&[(0, 10), (5, 15), (45, 55), (50, 60)]), Reason::Together, "half of the time is not more than half");
        let many: Vec<(i64, i64)> = (0..100).map(|at| (at * 10, at * 10 + 12)).collect();
        assert_eq!(reason(&many), Reason::Short);
        assert_eq!(reason(&[(0, 10)]), Reason::Few);
        assert_eq!(reason(&[(0, 0), (7, 7), (9, 9)]), Reason::Few, "moments");
        assert_eq!(reason(&[]), Reason::Few);
    }
}
