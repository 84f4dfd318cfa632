//! Summary: a log and its cases in, a table of its activities and one of its cases out, as in a
//! run's report.
//!
//! Times in the wrong order (an end before the start) are treated as unknown and counted. Bytes of
//! different origins are separate. No log is refused.

use flowmine_activity_log::{ActivityLog, Cases, Measure, NONE, Status, elapsed_ns};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::{About, ORIGINS, bytes_from, origin, span};
use crate::grouped::Grouped;
use crate::stats::percentile;

/// Order of a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The order of [`Summary::case_list`].
    pub cases_by: CasesBy,
}

/// Order of cases in a summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CasesBy {
    /// By their first moment, those without one last.
    #[default]
    Start,
    /// By duration, longest first.
    Duration,
    /// By the name of the case.
    Name,
}

/// A log in numbers: a row for each activity and one for each case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// The first known moment, UTC nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// The last known moment, UTC nanoseconds since 1970.
    pub last_ns: Option<i64>,
    /// Number of instances that end before they start, or start before they are ready: their time
    /// is treated as unknown.
    pub backwards: u64,
    /// Activities by time in service, most first, then by instances, then by name.
    pub activities: Vec<Activity>,
    /// The sums over all activities.
    pub total: Activity,
    /// A row for each case, in the requested order.
    pub case_list: Vec<Case>,
}

/// The times of some instances, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Times {
    /// Number of instances with a known time.
    pub count: u64,
    /// Median of the times, in nanoseconds.
    pub median_ns: f64,
    /// 95th percentile in nanoseconds, linear between neighbours.
    pub p95_ns: f64,
    /// The longest time, in nanoseconds.
    pub max_ns: i64,
    /// Sum of all times, in nanoseconds.
    pub sum_ns: i128,
}

/// The instances of an activity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Activity {
    /// Its name; empty for all activities together.
    pub activity: String,
    /// Number of instances.
    pub instances: u64,
    /// Number of cases in which it occurs.
    pub cases: u64,
    /// Number of failed instances; `None` if no outcome is known.
    pub failed: Option<u64>,
    /// Number of second or later attempts; `None` if no attempt is numbered.
    pub retried: Option<u64>,
    /// Number of instances that did not run because an earlier result was reused; `None` as for
    /// `failed`.
    pub cached: Option<u64>,
    /// Number of instances that were cancelled or never ran; `None` as for `failed`.
    pub aborted: Option<u64>,
    /// Times in the queue, from ready to start; `None` if none is known.
    pub queue: Option<Times>,
    /// Times in service, from start to end; `None` if none is known.
    pub service: Option<Times>,
    /// Bytes, by origin of the counts.
    pub bytes: Vec<Bytes>,
    /// Sum of CPU time, in nanoseconds.
    pub cpu_ns: Option<i128>,
    /// CPU time divided by requested CPUs × service time, of instances with all three known; above
    /// 1 if they used more than requested.
    pub cpu_efficiency: Option<f64>,
    /// Largest requested memory, in bytes.
    pub memory_asked_bytes: Option<i64>,
    /// The largest resident memory, in bytes.
    pub memory_peak_bytes: Option<i64>,
    /// Largest share of its requested memory that an instance used.
    pub memory_used_share: Option<f64>,
}

/// Bytes that one origin counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Bytes {
    /// Origin of the counts: `trace`, `engine`, `accounting`, `log` or `untold`.
    pub counted_by: &'static str,
    /// Number of instances with bytes read or written from this origin.
    pub instances: u64,
    /// Sum of the bytes read by these instances; `None` if none is known.
    pub read_bytes: Option<i128>,
    /// Sum of the bytes written by these instances; `None` if none is known.
    pub written_bytes: Option<i128>,
    /// Bytes read and written per second of service, of the instances with both known.
    pub bytes_per_s: Option<f64>,
}

/// A case in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Case {
    /// Name of the case.
    pub case: String,
    /// Its first known moment (ready, start or end), UTC nanoseconds since 1970.
    pub start_ns: Option<i64>,
    /// Its last known moment, UTC nanoseconds since 1970.
    pub end_ns: Option<i64>,
    /// Time from the first to the last known moment, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// Number of instances in the case.
    pub instances: u64,
    /// Number of failed instances; `None` if no outcome is known.
    pub failed: Option<u64>,
    /// Sum of the times from start to end of its instances, in nanoseconds; `None` if none is
    /// known.
    pub service_ns: Option<i128>,
    /// The share of its duration in which none of its instances ran; `None` if no service time is
    /// known.
    pub waiting_share: Option<f64>,
}

/// Sums of an activity while instances are added.
#[derive(Clone, Default)]
struct Sums {
    row: Activity,
    statuses: [u64; 4],
    status_known: bool,
    attempts: bool,
    bytes: [ByteSums; ORIGINS.len()],
    /// CPU time and available CPU time, in nanoseconds.
    cpu_used: i128,
    cpu_there: i128,
    /// The available CPU time exceeds 128 bits.
    cpu_unknown: bool,
    last_case: u32,
}

#[derive(Clone, Copy, Default)]
struct ByteSums {
    instances: u64,
    read: Option<i128>,
    written: Option<i128>,
    timed_bytes: i128,
    timed_ns: i128,
}

impl Sums {
    fn add(&mut self, log: &ActivityLog, at: u32) {
        let row = &mut self.row;
        row.instances += 1;
        let status = log.status(at);
        self.status_known |= status != Status::Unknown;
        match status {
            Status::Failed => self.statuses[0] += 1,
            Status::Cached => self.statuses[1] += 1,
            Status::Aborted => self.statuses[2] += 1,
            _ => {}
        }
        if let Some(attempt) = log.attempt(at) {
            self.attempts = true;
            self.statuses[3] += u64::from(attempt > 1);
        }
        if log.instances.measures.is_empty() {
            return;
        }
        let service = log.service_ns(at);
        let (read, written) = (log.measure(Measure::ReadBytes, at), log.measure(Measure::WrittenBytes, at));
        if read.is_some() || written.is_some() {
            let from = bytes_from(log, at);
            let place = ORIGINS.iter().position(|origin| *origin == from).unwrap_or(0);
            let sums = &mut self.bytes[place];
            sums.instances += 1;
            for (sum, value) in [(&mut sums.read, read), (&mut sums.written, written)] {
                if let Some(value) = value {
                    *sum = Some(sum.unwrap_or(0) + i128::from(value));
                }
            }
            if let Some(ns) = service {
                sums.timed_bytes += i128::from(read.unwrap_or(0)) + i128::from(written.unwrap_or(0));
                sums.timed_ns += i128::from(ns);
            }
        }
        if let Some(cpu) = log.measure(Measure::CpuTimeNs, at) {
            row.cpu_ns = Some(row.cpu_ns.unwrap_or(0) + i128::from(cpu));
            if let Some((cpus, ns)) = log.measure(Measure::Cpus, at).zip(service) {
                self.cpu_used += i128::from(cpu);
                match (i128::from(cpus) * i128::from(ns)).checked_add(self.cpu_there) {
                    Some(there) => self.cpu_there = there,
                    None => self.cpu_unknown = true,
                }
            }
        }
        let (asked, peak) = (log.measure(Measure::MemoryBytes, at), log.measure(Measure::PeakMemoryBytes, at));
        row.memory_asked_bytes = row.memory_asked_bytes.max(asked);
        row.memory_peak_bytes = row.memory_peak_bytes.max(peak);
        if let Some((asked, peak)) = asked.zip(peak).filter(|(asked, _)| *asked > 0) {
            let share = peak as f64 / asked as f64;
            row.memory_used_share = Some(row.memory_used_share.map_or(share, |most| most.max(share)));
        }
    }

    fn finish(self, queue: &mut [i64], service: &mut [i64]) -> Activity {
        let known = |n: u64| self.status_known.then_some(n);
        let [failed, cached, aborted, retried] = self.statuses;
        let bytes = ORIGINS.into_iter().zip(self.bytes).filter(|(_, sums)| sums.instances > 0).map(|(from, sums)| Bytes {
            counted_by: origin(from),
            instances: sums.instances,
            read_bytes: sums.read,
            written_bytes: sums.written,
            bytes_per_s: (sums.timed_ns > 0).then(|| sums.timed_bytes as f64 / (sums.timed_ns as f64 / 1e9)),
        });
        Activity {
            failed: known(failed),
            cached: known(cached),
            aborted: known(aborted),
            retried: self.attempts.then_some(retried),
            queue: times(queue),
            service: times(service),
            bytes: bytes.collect(),
            cpu_efficiency: (self.cpu_there > 0 && !self.cpu_unknown).then(|| self.cpu_used as f64 / self.cpu_there as f64),
            ..self.row
        }
    }
}

fn times(values: &mut [i64]) -> Option<Times> {
    let &max_ns = values.iter().max()?;
    Some(Times {
        count: values.len() as u64,
        sum_ns: values.iter().map(|&ns| i128::from(ns)).sum(),
        max_ns,
        median_ns: percentile(values, 0.5),
        p95_ns: percentile(values, 0.95),
    })
}

/// Sums up a log. An instance counts once for its activity, however many cases it is in.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Summary {
    let all = 0..log.len() as u32;
    let activity_of = |at: u32| log.instances.activity[at as usize];
    let numbers = |of: fn(&ActivityLog, u32) -> Option<i64>| {
        let all = all.clone();
        move || all.clone().filter_map(move |at| of(log, at).map(|ns| (activity_of(at), ns)))
    };
    let mut queue = Grouped::new(log.activities.len(), numbers(ActivityLog::queue_ns));
    let mut service = Grouped::new(log.activities.len(), numbers(ActivityLog::service_ns));
    let everything = |of: fn(&ActivityLog, u32) -> Option<i64>| all.clone().filter_map(|at| of(log, at)).collect::<Vec<i64>>();
    let mut sums = vec![Sums { last_case: NONE, ..Sums::default() }; log.activities.len()];
    let mut total = Sums::default();
    let mut backwards = 0;
    for at in all.clone() {
        sums[activity_of(at) as usize].add(log, at);
        total.add(log, at);
        backwards += u64::from(log.starts_before_ready(at) || log.ends_before_start(at));
    }
    let mut case_list = Vec::with_capacity(cases.len());
    let mut intervals = Vec::new();
    for case in 0..cases.len() {
        for at in cases.of(case) {
            let sums = &mut sums[activity_of(at) as usize];
            if sums.last_case != case as u32 {
                sums.last_case = case as u32;
                sums.row.cases += 1;
            }
        }
        total.row.cases += u64::from(cases.of(case).len() > 0);
        case_list.push(case_row(log, cases, case, &mut intervals));
    }
    match options.cases_by {
        CasesBy::Start => case_list.sort_by(|a, b| {
            let start = |case: &Case| (case.start_ns.is_none(), case.start_ns);
            start(a).cmp(&start(b)).then_with(|| a.case.cmp(&b.case))
        }),
        CasesBy::Duration => case_list.sort_by(|a, b| b.duration_ns.cmp(&a.duration_ns).then_with(|| a.case.cmp(&b.case))),
        CasesBy::Name => case_list.sort_by(|a, b| a.case.cmp(&b.case)),
    }
    let mut activities = Vec::new();
    for (number, sums) in sums.into_iter().enumerate().filter(|(_, sums)| sums.row.instances > 0) {
        let row = sums.finish(queue.get(number), service.get(number));
        activities.push(Activity { activity: log.activities.get(number as u32).to_owned(), ..row });
    }
    let time = |row: &Activity| row.service.map_or(0, |times| times.sum_ns);
    activities.sort_by(|a, b| {
        let most_first = time(b).cmp(&time(a)).then(b.instances.cmp(&a.instances));
        most_first.then_with(|| a.activity.cmp(&b.activity))
    });
    Summary {
        about: About::new(log, cases),
        first_ns: case_list.iter().filter_map(|case| case.start_ns).min(),
        last_ns: case_list.iter().filter_map(|case| case.end_ns).max(),
        backwards,
        activities,
        total: total.finish(&mut everything(ActivityLog::queue_ns), &mut everything(ActivityLog::service_ns)),
        case_list,
    }
}

fn case_row(log: &ActivityLog, cases: &Cases, case: usize, intervals: &mut Vec<(i64, i64)>) -> Case {
    let span = span(log, cases, case);
    intervals.clear();
    let (mut failed, mut known, mut service) = (0, false, None::<i128>);
    for at in cases.of(case) {
        let status = log.status(at);
        known |= status != Status::Unknown;
        failed += u64::from(status == Status::Failed);
        if let Some(ns) = log.service_ns(at) {
            service = Some(service.unwrap_or(0) + i128::from(ns));
            intervals.extend(log.start_ns(at).zip(log.end_ns(at)));
        }
    }
    intervals.sort_unstable();
    let (mut running, mut until) = (0i128, i64::MIN);
    for &(start, end) in intervals.iter() {
        let start = start.max(until);
        running += i128::from(end.max(start)) - i128::from(start);
        until = until.max(end);
    }
    let duration = span.map(|(start, end)| i128::from(end) - i128::from(start));
    Case {
        case: cases.names.get(case as u32).to_owned(),
        start_ns: span.map(|span| span.0),
        end_ns: span.map(|span| span.1),
        duration_ns: span.and_then(|(start, end)| elapsed_ns(start, end)),
        instances: cases.of(case).len() as u64,
        failed: known.then_some(failed),
        service_ns: service,
        waiting_share: service.and(duration).filter(|ns| *ns > 0).map(|ns| 1.0 - running as f64 / ns as f64),
    }
}
