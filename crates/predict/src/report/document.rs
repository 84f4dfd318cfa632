//! A prediction as a JSON document.

use std::rc::Rc;

use flowmine_draw::document::{Document, Entries};
use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use crate::analysis::{self, Prediction};
use crate::fit::{Fitted, Learnt, LearntEnd, Scale};
use crate::study::{self, Change};
use crate::what_if;

/// A prediction: segments with polynomials, use of resources and waiting data in the middle of
/// each, and the studies that were asked for. Processes and segments are made while they are
/// written: a process of a million segments takes no memory.
#[derive(Serialize, JsonSchema)]
pub struct PredictionDocument<'a> {
    /// When the workflow finishes, in seconds; null when that is never.
    finish_s: Option<f64>,
    /// What would be gained by wider things, the greatest gain first.
    gains: Vec<Gain<'a>>,
    /// The finish where numbers are drawn at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
    /// The logical tasks of which the model was learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    learnt: Option<Vec<LearntTask<'a>>>,
    /// Sentences about what the fit could not learn, and where the prediction may differ from the
    /// exact answer of the model.
    notes: Vec<&'a str>,
    /// The duration of the run when it was observed, in seconds; null when unknown, absent without
    /// a fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_s: Option<Option<f64>>,
    /// The processes of the workflow, in the order of the model.
    processes: Entries<'a, Process<'a>>,
    /// What would be gained by wider limits in one segment alone, the greatest gain first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segment_gains: Vec<SegmentGain<'a>>,
    /// To what the finish is sensitive, the greatest first; empty when the workflow never finishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<Vec<Sensitivity<'a>>>,
    /// The finish for a range of values of one number.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Sweep<'a>>,
}

impl Document for PredictionDocument<'_> {
    const FORMAT: &'static str = "flowmine-prediction";
}

/// What would be gained if one thing that limits processes were wider.
#[derive(Serialize, JsonSchema)]
struct Gain<'a> {
    /// How much earlier the workflow would finish, in seconds.
    gain_s: f64,
    /// How long it limits processes, in seconds, summed over these.
    limits_s: f64,
    /// What is made wider.
    what: &'a str,
}

/// What would be gained if the limit of a process were wider in one segment alone.
#[derive(Serialize, JsonSchema)]
struct SegmentGain<'a> {
    /// Begin of the segment, in seconds.
    from_s: f64,
    /// How much earlier the workflow would finish, in seconds.
    gain_s: f64,
    /// What limits the process in the segment.
    limit: String,
    /// Name of the process.
    process: &'a str,
    /// End of the segment, in seconds; null for a segment without end.
    to_s: Option<f64>,
}

/// The finish for a range of values of one number.
#[derive(Serialize, JsonSchema)]
struct Sweep<'a> {
    /// The point with the earliest finish; null when no point has one.
    best: Option<Point>,
    /// How a value changes the number: `set` or `times`.
    change: &'static str,
    /// Path of the number in the model.
    path: &'a str,
    /// The points, by value.
    points: Vec<Point>,
}

/// A point of a sweep.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Point")]
struct Point {
    /// When the workflow finishes, in seconds; null when that is never.
    finish_s: Option<f64>,
    /// The value.
    value: f64,
}

/// Sensitivity of the finish to a number or function of the model.
#[derive(Serialize, JsonSchema)]
struct Sensitivity<'a> {
    /// Path of the number in the model.
    path: &'a str,
    /// How much later the workflow finishes for one per cent more of it, in per cent.
    per_cent: f64,
}

/// The finish where numbers are drawn at random.
#[derive(Serialize, JsonSchema)]
struct Interval {
    /// Standard deviation of the finish, in seconds; null when no sample finishes.
    deviation_s: Option<f64>,
    /// Mean of the finish, in seconds; null when no sample finishes.
    mean_s: Option<f64>,
    /// Number of samples that never finish; they are not in the other numbers.
    never: usize,
    /// Quantiles of the finish.
    quantiles: Vec<Quantile>,
    /// Number of samples.
    samples: usize,
}

/// A quantile of the finish.
#[derive(Serialize, JsonSchema)]
struct Quantile {
    /// The finish, in seconds.
    finish_s: f64,
    /// The share of samples that finish until then, 0 to 1.
    share: f64,
}

/// What was learnt of a logical task.
#[derive(Serialize, JsonSchema)]
struct LearntTask<'a> {
    /// Its inputs, by the logical tasks that write them.
    inputs: Vec<Input<'a>>,
    /// Number of instances.
    instances: usize,
    /// Name of the logical task.
    name: &'a str,
    /// Its outputs, by the logical tasks that read them.
    outputs: Vec<Output<'a>>,
    /// What its work goes to, from which share of the work on.
    paces: Vec<Pace>,
    /// CPU seconds for each second of work; null when unknown.
    processors: Option<f64>,
    /// Number of instances that read what was still being written.
    streamed: usize,
    /// Number of instances that were traced.
    traced: usize,
    /// Seconds of work by bytes.
    work_s: Scaled,
    /// Bytes written by bytes read; null when nothing is written.
    written_bytes: Option<Scaled>,
}

/// An input of a logical task.
#[derive(Serialize, JsonSchema)]
struct Input<'a> {
    /// Largest difference to what was seen, as a share.
    error: f64,
    /// The logical task that writes it; null for what was there before the run.
    from: Option<&'a str>,
    /// Whether it is needed as a whole (`burst`) or piece by piece (`stream`).
    kind: &'static str,
    /// Pairs of a share of the work and the share of the bytes that are read until then.
    knots: &'a [(f64, f64)],
}

/// An output of a logical task.
#[derive(Serialize, JsonSchema)]
struct Output<'a> {
    /// Largest difference to what was seen, as a share.
    error: f64,
    /// Pairs of a share of the work and the share of the bytes that are written until then.
    knots: &'a [(f64, f64)],
    /// The logical task that reads it; null for none of the run.
    to: Option<&'a str>,
}

/// What work goes to from a share of it on.
#[derive(Serialize, JsonSchema)]
struct Pace {
    /// The share of the work, 0 to 1.
    from: f64,
    /// What it goes to.
    pace: &'static str,
}

/// A number that grows with bytes.
#[derive(Serialize, JsonSchema)]
struct Scaled {
    /// Largest difference to what was seen, as a share.
    error: f64,
    /// The part that does not depend on bytes.
    fixed: f64,
    /// Whether only one size was seen.
    one_size: bool,
    /// What each byte adds.
    per_byte: f64,
}

/// A process of the workflow.
#[derive(Serialize, JsonSchema)]
struct Process<'a> {
    /// When it finishes, in seconds; null when that is never.
    finish_s: Option<f64>,
    /// Its name.
    name: &'a str,
    /// Its progress when it has finished.
    progress_at_end: f64,
    /// Times in which one thing limits it, in order.
    segments: Entries<'a, Segment<'a>>,
    /// When it starts, in seconds; null when that is never.
    start_s: Option<f64>,
}

/// A time in which one thing limits a process.
#[derive(Serialize, JsonSchema)]
struct Segment<'a> {
    /// Use and waiting data in the middle of the segment; at its begin when it has no end.
    at_middle: Middle<'a>,
    /// Begin, in seconds.
    from_s: f64,
    /// What limits the process.
    limit: String,
    /// Coefficients of the progress as a polynomial of the seconds since the begin, the constant
    /// first.
    progress: &'a [f64],
    /// End, in seconds; null for a segment without end.
    to_s: Option<f64>,
}

/// Use and waiting data at one moment.
#[derive(Serialize, JsonSchema)]
struct Middle<'a> {
    /// The data inputs.
    data: Vec<Waiting<'a>>,
    /// The resources.
    resources: Vec<Use<'a>>,
}

/// What of a data input waits.
#[derive(Serialize, JsonSchema)]
struct Waiting<'a> {
    /// What is there and not used yet.
    buffered: f64,
    /// Name of the data input.
    data: &'a str,
}

/// Use of a resource.
#[derive(Serialize, JsonSchema)]
struct Use<'a> {
    /// What the process is given of it.
    allocated: f64,
    /// The used share of the available amount; null if there is none.
    relative: Option<f64>,
    /// Name of the resource.
    resource: &'a str,
    /// What the process uses of it.
    used: f64,
}

impl<'a> PredictionDocument<'a> {
    /// Returns a report as a document.
    pub fn new(report: &'a Report<'a>) -> Self {
        let prediction = report.prediction;
        let segment_gain = |gain: &what_if::SegmentGain| SegmentGain {
            from_s: gain.from_s,
            gain_s: gain.gain_s,
            limit: prediction.limit_name(gain.process, gain.limit),
            process: prediction.name(gain.process),
            to_s: finite(gain.to_s),
        };
        Self {
            finish_s: prediction.finish_s(),
            gains: report.gains.iter().map(|of| Gain { gain_s: of.gain_s, limits_s: of.limits_s, what: &of.what }).collect(),
            interval: report.interval.as_ref().map(interval),
            learnt: report.fitted.map(|fitted: &Fitted| fitted.learnt.iter().map(learnt).collect()),
            notes: report.notes().collect(),
            observed_s: report.fitted.map(|fitted| fitted.observed_s),
            processes: Entries::numbered(prediction.len(), move |at| process(prediction, at)),
            segment_gains: report.segment_gains.iter().map(segment_gain).collect(),
            sensitivity: report
                .sensitivity
                .as_ref()
                .map(|all| all.iter().map(|of| Sensitivity { path: &of.path, per_cent: of.per_cent }).collect()),
            sweep: report.sweep.as_ref().map(|(of, points, best)| Sweep {
                best: best.map(|at| point(&points[at])),
                change: if of.change == Change::Set { "set" } else { "times" },
                path: &of.path,
                points: points.iter().map(point).collect(),
            }),
        }
    }
}

fn finite(seconds: f64) -> Option<f64> {
    seconds.is_finite().then_some(seconds)
}

fn point(of: &study::Point) -> Point {
    Point { finish_s: of.finish_s, value: of.value }
}

fn interval(of: &study::Interval) -> Interval {
    let finishes = !of.quantiles.is_empty();
    Interval {
        deviation_s: finishes.then_some(of.deviation_s),
        mean_s: finishes.then_some(of.mean_s),
        never: of.never,
        quantiles: of.quantiles.iter().map(|(share, finish_s)| Quantile { finish_s: *finish_s, share: *share }).collect(),
        samples: of.samples,
    }
}

fn learnt(of: &Learnt) -> LearntTask<'_> {
    let kind = |end: &LearntEnd| if end.is_burst() { "burst" } else { "stream" };
    LearntTask {
        inputs: of
            .inputs
            .iter()
            .map(|end| Input { error: end.shape.error, from: end.other.as_deref(), kind: kind(end), knots: &end.shape.knots })
            .collect(),
        instances: of.instances,
        name: &of.name,
        outputs: of
            .outputs
            .iter()
            .map(|end| Output { error: end.shape.error, knots: &end.shape.knots, to: end.other.as_deref() })
            .collect(),
        paces: of.paces.iter().map(|(from, pace)| Pace { from: *from, pace: pace.name() }).collect(),
        processors: of.cpu,
        streamed: of.streamed,
        traced: of.traced,
        work_s: scaled(&of.work),
        written_bytes: of.written.as_ref().map(scaled),
    }
}

fn scaled(of: &Scale) -> Scaled {
    Scaled { error: of.error, fixed: of.fixed, one_size: of.one_size, per_byte: of.per_byte }
}

fn process<'a>(prediction: &'a Prediction<'a>, at: usize) -> Process<'a> {
    let [data, resources, _] = prediction.names(at);
    let names = Rc::new((data, resources));
    Process {
        finish_s: prediction.finished_s(at),
        name: prediction.name(at),
        progress_at_end: prediction.progress_at_end(at),
        segments: Entries::new(prediction.segments(at), move |of| segment(prediction, at, of, &names)),
        start_s: prediction.started_s(at),
    }
}

fn segment<'a>(
    prediction: &Prediction<'_>,
    at: usize,
    of: &'a analysis::Segment,
    (data, resources): &(Vec<&'a str>, Vec<&'a str>),
) -> Segment<'a> {
    let middle = if of.to.is_finite() { of.from.midpoint(of.to) } else { of.from };
    let used = |(number, resource): (usize, &&'a str)| Use {
        allocated: prediction.allocation(at, number, middle),
        relative: prediction.relative_use(at, number, middle),
        resource,
        used: prediction.used(at, number, middle),
    };
    let waiting = |(number, data): (usize, &&'a str)| Waiting { buffered: prediction.buffered(at, number, middle), data };
    Segment {
        at_middle: Middle {
            data: data.iter().enumerate().map(waiting).collect(),
            resources: resources.iter().enumerate().map(used).collect(),
        },
        from_s: of.from,
        limit: prediction.limit_name(at, of.limit),
        progress: of.progress.coefficients(),
        to_s: finite(of.to),
    }
}
