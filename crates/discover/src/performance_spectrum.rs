//! Performance spectrum (Denisov, Fahland & van der Aalst, *Unbiased, Fine-Grained Description of
//! Processes Performance from Event Data*, BPM 2018): a log and its cases in, the passages between
//! successive activities of a path out.
//!
//! Cases are first projected on the activities of the path; then each pair of successive instances
//! with the activities of a segment is a passage of the segment. A passage begins at the end of its
//! first instance and finishes at the start of its second one. Passages with an unknown time are
//! counted.

use flowmine_activity_log::{ActivityLog, Cases, NONE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::ranks::ranks;
use crate::stats::percentile;

/// Path of a spectrum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Names of the activities of the path, at least two. Empty: the activities of the most
    /// frequent variant.
    pub path: Vec<String>,
    /// Maximum number of segments of a path that is not given.
    pub segments: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { path: Vec::new(), segments: 6 }
    }
}

/// Reason why there is no spectrum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpectrumError {
    /// The log has no activity with this name.
    #[error("the log has no activity {0:?}: see `flowmine discover summary` for those it has")]
    NoActivity(String),
    /// The path has fewer than two activities.
    #[error("a path needs two activities or more")]
    TooShort,
}

/// A performance spectrum: the segments of a path, with their passages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct PerformanceSpectrum {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// The activities of the path.
    pub path: Vec<String>,
    /// Whether the path was found by default, not given.
    pub path_is_most_frequent: bool,
    /// Segments from each activity of the path to the next.
    pub segments: Vec<Segment>,
    /// The names of the cases that have passages.
    #[serde(skip)]
    pub cases: flowmine_activity_log::Names,
}

/// A segment: the passages from one activity to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Segment {
    /// Name of the activity in which the segment begins.
    pub from: String,
    /// Name of the activity in which it ends.
    pub to: String,
    /// Number of passages with both times known.
    pub count: u64,
    /// Number of passages with an unknown time.
    pub without_time: u64,
    /// Number of passages in which the second instance started before the end of the first.
    pub overlapping: u64,
    /// The shortest time, in nanoseconds; negative if the second starts before the end of the
    /// first.
    pub min_ns: Option<i64>,
    /// First quartile, in nanoseconds: a quarter of the times is as short or shorter.
    pub q1_ns: Option<f64>,
    /// Median, in nanoseconds: half of the times are as short or shorter.
    pub median_ns: Option<f64>,
    /// Third quartile, in nanoseconds: three quarters of the times are as short or shorter.
    pub q3_ns: Option<f64>,
    /// The longest time, in nanoseconds.
    pub max_ns: Option<i64>,
    /// Arithmetic mean of the times, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The passages, ordered by start, then by finish, then by case.
    #[serde(skip)]
    pub passages: Vec<Passage>,
}

/// A passage of one case through a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passage {
    /// End of the first instance, UTC nanoseconds since 1970.
    pub start_ns: i64,
    /// Start of the second instance, UTC nanoseconds since 1970.
    pub finish_ns: i64,
    /// The case: an index into [`PerformanceSpectrum::cases`].
    pub case: u32,
}

impl Passage {
    /// Returns its duration, in nanoseconds.
    pub fn duration_ns(&self) -> i64 {
        self.finish_ns.saturating_sub(self.start_ns)
    }
}

impl Segment {
    /// Returns the quarter of the durations in which a passage lies, from 0 for the shortest to 3.
    pub fn quarter(&self, ns: i64) -> usize {
        [self.q1_ns, self.median_ns, self.q3_ns].into_iter().flatten().filter(|bound| ns as f64 > *bound).count()
    }
}

/// Makes a performance spectrum. For a log without a case of two activities, it has no segments.
///
/// # Errors
/// [`SpectrumError`] if the requested path is not possible.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Result<PerformanceSpectrum, SpectrumError> {
    let given = !options.path.is_empty();
    let path: Vec<u32> = if given {
        let find = |name: &String| log.activities.find(name).ok_or_else(|| SpectrumError::NoActivity(name.clone()));
        options.path.iter().map(find).collect::<Result<_, _>>()?
    } else {
        most_frequent(log, cases, options.segments)
    };
    if given && path.len() < 2 {
        return Err(SpectrumError::TooShort);
    }
    let mut on_path = vec![false; log.activities.len()];
    path.iter().for_each(|&activity| on_path[activity as usize] = true);
    let pairs: Vec<(u32, u32)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let name = |activity: u32| log.activities.get(activity).to_owned();
    let mut segments: Vec<Segment> =
        pairs.iter().map(|&(from, to)| Segment { from: name(from), to: name(to), ..Segment::default() }).collect();
    for case in 0..cases.len() {
        let mut before = NONE;
        for at in cases.of(case).filter(|&at| on_path[log.instances.activity[at as usize] as usize]) {
            if before != NONE {
                let pair = (log.instances.activity[before as usize], log.instances.activity[at as usize]);
                let times = log.end_ns(before).zip(log.start_ns(at).filter(|_| log.start_is_known(at)));
                for (segment, _) in segments.iter_mut().zip(&pairs).filter(|(_, wanted)| **wanted == pair) {
                    match times {
                        Some((start_ns, finish_ns)) => segment.passages.push(Passage { start_ns, finish_ns, case: case as u32 }),
                        None => segment.without_time += 1,
                    }
                }
            }
            before = at;
        }
    }
    let ranks = ranks(&cases.names);
    let mut durations = Vec::new();
    for segment in &mut segments {
        segment.passages.sort_unstable_by_key(|passage| (passage.start_ns, passage.finish_ns, ranks[passage.case as usize]));
        durations.clear();
        durations.extend(segment.passages.iter().map(Passage::duration_ns));
        segment.count = durations.len() as u64;
        if durations.is_empty() {
            continue;
        }
        segment.overlapping = durations.iter().filter(|ns| **ns < 0).count() as u64;
        segment.min_ns = durations.iter().min().copied();
        segment.max_ns = durations.iter().max().copied();
        segment.mean_ns = Some(durations.iter().map(|&ns| i128::from(ns)).sum::<i128>() as f64 / durations.len() as f64);
        let mut quartile = |share| Some(percentile(&mut durations, share));
        (segment.q1_ns, segment.median_ns, segment.q3_ns) = (quartile(0.25), quartile(0.5), quartile(0.75));
    }
    Ok(PerformanceSpectrum {
        about: About::new(log, cases),
        path: path.iter().map(|&activity| name(activity)).collect(),
        path_is_most_frequent: !given,
        segments,
        cases: cases.names.clone(),
    })
}

/// Returns the activities of the most frequent variant with two different ones, each once, in the
/// order of their first occurrence.
fn most_frequent(log: &ActivityLog, cases: &Cases, segments: usize) -> Vec<u32> {
    let variants = flowmine_activity_log::variants(log, cases);
    let once = |trace: &[u32]| {
        let mut seen = rustc_hash::FxHashSet::default();
        trace.iter().copied().filter(|activity| seen.insert(*activity)).take(segments.saturating_add(1)).collect::<Vec<u32>>()
    };
    let path = variants.variants.iter().map(|variant| once(&variant.trace)).find(|path| path.len() > 1);
    path.unwrap_or_default()
}
