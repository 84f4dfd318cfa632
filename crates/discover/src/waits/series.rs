//! CPUs waited for over time.

use flowmine_activity_log::WaitPart;
use schemars::JsonSchema;
use serde::Serialize;

/// Number of equal spans into which the time is divided.
const BINS: usize = 120;

/// CPUs waited for, by cause, in equal spans of time. A job without known CPUs counts as one CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// Start of the first span, in nanoseconds since 1970.
    pub begin_ns: i64,
    /// Length of a span, in nanoseconds; 0 if there is none.
    pub step_ns: i64,
    /// Mean CPUs waited for in each span, by cause.
    pub causes: Vec<SeriesOf>,
}

/// The CPUs waited for because of one cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SeriesOf {
    /// Name of the cause.
    pub cause: &'static str,
    /// Mean CPUs waited for in each span.
    pub cpus: Vec<f64>,
}

/// Builder that collects parts, and divides them when the whole time is known.
#[derive(Debug, Default)]
pub(super) struct Builder {
    causes: Vec<&'static str>,
    parts: Vec<(u32, u32, i64, i64)>,
}

impl Builder {
    pub fn add(&mut self, part: &WaitPart<'_>, cpus: Option<i64>) {
        let known = self.causes.iter().position(|known| *known == part.cause);
        let cause = known.unwrap_or_else(|| {
            self.causes.push(part.cause);
            self.causes.len() - 1
        });
        let cpus = cpus.and_then(|cpus| u32::try_from(cpus).ok()).unwrap_or(1);
        self.parts.push((cause as u32, cpus, part.from_ns, part.to_ns));
    }

    pub fn finish(self, begin_ns: Option<i64>, end_ns: Option<i64>) -> Series {
        let (Some(begin_ns), Some(end_ns)) = (begin_ns, end_ns) else { return Series::default() };
        let step_ns = end_ns.saturating_sub(begin_ns).max(0) / BINS as i64 + 1;
        let mut causes: Vec<SeriesOf> = self.causes.into_iter().map(|cause| SeriesOf { cause, cpus: vec![0.0; BINS] }).collect();
        for (cause, cpus, from, to) in self.parts {
            let place = |time: i64| (time.saturating_sub(begin_ns) / step_ns).clamp(0, BINS as i64 - 1) as usize;
            for bin in place(from)..=place(to) {
                let start = begin_ns.saturating_add(step_ns.saturating_mul(bin as i64));
                let inside = to.min(start.saturating_add(step_ns)).saturating_sub(from.max(start)).max(0);
                causes[cause as usize].cpus[bin] += inside as f64 / step_ns as f64 * f64::from(cpus);
            }
        }
        causes.sort_by_key(|of| of.cause);
        Series { begin_ns, step_ns, causes }
    }
}
