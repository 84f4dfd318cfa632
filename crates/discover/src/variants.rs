//! Variants: a log and its cases in, the sequences of activities of its cases out, each with how
//! often it occurs, how long it takes and how many bytes it moves.
//!
//! A variant is the sequence of a case's activities in the order of their starts (van der Aalst,
//! *Process Mining*, 2016, §5.2). Cases without instances are the variant of length 0. No log is
//! refused.

use flowmine_activity_log::{ActivityLog, BytesFrom, Cases, Measure, Names, elapsed_ns};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::{About, ORIGINS, bytes_from, origin, span};
use crate::grouped::Grouped;
use crate::stats::percentile;

/// Limit of the listed variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of listed variants, the most frequent ones; `None` for all. The others are
    /// counted.
    pub most: Option<usize>,
}

/// The variants of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VariantsModel {
    /// Description of the log.
    pub about: About,
    /// The names of activities; [`Variant::trace`] has their numbers.
    pub activities: Names,
    /// Variants by number of cases, most first, then by the names of their activities.
    pub variants: Vec<Variant>,
    /// Number of variants in the log, listed or not.
    pub total: u64,
    /// Number of cases of the variants that are not in the list.
    pub cases_not_listed: u64,
}

/// A variant: one sequence of activities, and the cases that have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variant {
    /// Activities in the order of their starts: indices into [`VariantsModel::activities`].
    pub trace: Vec<u32>,
    /// Number of cases with this sequence of activities.
    pub cases: u64,
    /// Its share of all cases, from 0 to 1.
    pub share: f64,
    /// Cumulative share of this variant and those before it.
    pub cumulative_share: f64,
    /// Name of its first case by start; of several, the first by name.
    pub example: String,
    /// Number of its cases with a known duration.
    pub timed_cases: u64,
    /// Mean time from the first to the last moment of a case, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Median time from the first to the last moment of a case, in nanoseconds.
    pub median_ns: Option<f64>,
    /// Bytes per case, by origin of the counts.
    pub bytes: Vec<Bytes>,
}

/// Bytes that one origin counted. A case counts if at least one of its instances has bytes from
/// this origin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Bytes {
    /// Origin of the counts: `trace`, `engine`, `accounting`, `log` or `untold`.
    pub counted_by: &'static str,
    /// Number of instances with bytes read or written from this origin.
    pub instances: u64,
    /// Mean bytes read per case, of the cases with any.
    pub read_bytes_per_case: Option<f64>,
    /// Mean bytes written per case, of the cases with any.
    pub written_bytes_per_case: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    instances: u64,
    /// Number of cases with bytes from this origin, and their sum: read, written.
    of: [(u64, i128); 2],
}

/// Finds the variants of a log's cases.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> VariantsModel {
    let found = flowmine_activity_log::variants(log, cases);
    let total = found.variants.len();
    let listed = options.most.unwrap_or(total).min(total);
    let mut times = Grouped::new(listed, || {
        let spans = found.of_case.iter().enumerate().filter(|(_, of)| (**of as usize) < listed);
        spans.filter_map(|(case, &of)| Some((of, span(log, cases, case).and_then(|(start, end)| elapsed_ns(start, end))?)))
    });
    let begins = |case: usize| span(log, cases, case).map_or(i64::MAX, |(start, _)| start);
    let mut examples: Vec<Option<(i64, usize)>> = vec![None; listed];
    for (case, &of) in found.of_case.iter().enumerate() {
        let Some(example) = examples.get_mut(of as usize) else { continue };
        let (name, begin) = (|case: usize| cases.names.get(case as u32), begins(case));
        if example.is_none_or(|(first, known)| (begin, name(case)) < (first, name(known))) {
            *example = Some((begin, case));
        }
    }
    let mut bytes = bytes(log, cases, &found.of_case, listed);
    let all = cases.len().max(1) as f64;
    let mut before = 0u64;
    let mut variants = Vec::with_capacity(listed);
    for (at, found) in found.variants.into_iter().take(listed).enumerate() {
        before += found.count;
        let times = times.get(at);
        let known = !times.is_empty();
        let sum: i128 = times.iter().map(|&ns| i128::from(ns)).sum();
        variants.push(Variant {
            trace: found.trace,
            cases: found.count,
            share: found.count as f64 / all,
            cumulative_share: before as f64 / all,
            example: examples[at].map_or("", |(_, case)| cases.names.get(case as u32)).to_owned(),
            timed_cases: times.len() as u64,
            mean_ns: known.then(|| sum as f64 / times.len() as f64),
            median_ns: known.then(|| percentile(times, 0.5)),
            bytes: bytes.as_mut().map(|bytes| std::mem::take(&mut bytes[at])).unwrap_or_default(),
        });
    }
    VariantsModel {
        about: About::new(log, cases),
        activities: log.activities.clone(),
        variants,
        total: total as u64,
        cases_not_listed: cases.len() as u64 - before,
    }
}

fn bytes(log: &ActivityLog, cases: &Cases, of_case: &[u32], listed: usize) -> Option<Vec<Vec<Bytes>>> {
    log.measures(Measure::ReadBytes).or(log.measures(Measure::WrittenBytes))?;
    let mut sums = vec![[Sums::default(); ORIGINS.len()]; listed];
    for (case, &of) in of_case.iter().enumerate() {
        let Some(sums) = sums.get_mut(of as usize) else { continue };
        let mut here = [[None::<i128>; 2]; ORIGINS.len()];
        for at in cases.of(case) {
            let place = place(bytes_from(log, at));
            let known = [Measure::ReadBytes, Measure::WrittenBytes].map(|measure| log.measure(measure, at));
            sums[place].instances += u64::from(known.iter().any(Option::is_some));
            for (sum, value) in here[place].iter_mut().zip(known) {
                if let Some(value) = value {
                    *sum = Some(sum.unwrap_or(0) + i128::from(value));
                }
            }
        }
        for (sums, here) in sums.iter_mut().zip(here) {
            for (sum, value) in sums.of.iter_mut().zip(here) {
                if let Some(value) = value {
                    *sum = (sum.0 + 1, sum.1 + value);
                }
            }
        }
    }
    let mean = |(cases, sum): (u64, i128)| (cases > 0).then(|| sum as f64 / cases as f64);
    let of = |sums: [Sums; ORIGINS.len()]| {
        let known = ORIGINS.into_iter().zip(sums).filter(|(_, sums)| sums.instances > 0);
        let bytes = known.map(|(from, sums)| Bytes {
            counted_by: origin(from),
            instances: sums.instances,
            read_bytes_per_case: mean(sums.of[0]),
            written_bytes_per_case: mean(sums.of[1]),
        });
        bytes.collect()
    };
    Some(sums.into_iter().map(of).collect())
}

fn place(from: BytesFrom) -> usize {
    ORIGINS.iter().position(|origin| *origin == from).unwrap_or(0)
}
