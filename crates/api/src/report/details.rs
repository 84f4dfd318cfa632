//! What the page shows of single runs and files, and the prediction.

use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, Cases, Filter, RunGraph};
use flowmine_dataset::Dataset;
use flowmine_discover::critical_path::{self, CriticalPath};
use flowmine_discover::gantt::Gantt;
use flowmine_discover::pictures::run_dag as graph_figure;
use flowmine_discover::run_dag;
use flowmine_draw::svg;
use flowmine_file_access::pictures::{file_span as spans_figure, file_timeline as timeline_figure};
use flowmine_file_access::{file_span, file_timeline, find};
use flowmine_predict::picture;
use flowmine_report::{FileAccess, PredictionResults, RunResults};
use flowmine_schema::text::visible;

use super::ReportRequest;
use super::damage::Damage;
use crate::error::{Context, Result};
use crate::models::findings::{self, MOST_INSTANCES};
use crate::models::gantt;
use crate::one_run;
use crate::predict::{Studies, Wider};
use crate::predicted_gains::FittedRun;
use crate::sink::{Silent, Sink};

/// The most runs that are shown in detail.
const MOST_RUNS: usize = 3;

/// The most files whose accesses are drawn.
const MOST_FILES: usize = 3;

/// The most files that are looked up to draw them.
const MOST_TRIED: usize = 12;

/// By how much what limits is made wider.
const WIDER: f64 = 2.0;

/// The longest cases: of those with several instances, if there are any.
///
/// Also returns the graph and the critical path of the longest.
pub fn runs(
    request: &ReportRequest,
    dataset: Option<&Dataset>,
    (log, cases): (&ActivityLog, &Cases),
    damage: &Damage<'_>,
    sink: &dyn Sink,
) -> (Vec<RunResults>, Option<(RunGraph, CriticalPath)>) {
    let traced = dataset.and_then(|dataset| gantt::traced(dataset).map_err(|error| damage.reason(&error)).ok().flatten());
    let shown = findings::longest(log, cases, MOST_RUNS);
    let name = |case: usize| cases.names.get(case as u32).to_owned();
    let is_small = |case: usize| cases.of(case).len() <= MOST_INSTANCES;
    let small: Vec<String> = shown.iter().copied().filter(|case| is_small(*case)).map(name).collect();
    let mut graphs = graphs_of(dataset, request, &small, damage, sink).into_iter();
    let mut longest = None;
    let mut found = Vec::new();
    for (at, &case) in shown.iter().enumerate() {
        let Some(run) = is_small(case).then(|| graphs.next()).flatten() else {
            let reason = format!("it has more than {} instances", flowmine_draw::count(MOST_INSTANCES as u64));
            found.push(RunResults { case: name(case), critical_path: Err(reason.clone()), graph: Err(reason), gantt: None });
            continue;
        };
        let critical_path = run.as_ref().map(|run| critical_path::discover(run, &critical_path::Options::default())).map_err(Clone::clone);
        let graph = run.as_ref().map_err(Clone::clone).and_then(|run| {
            let figure = graph_figure::picture(&run_dag::discover(run, &run_dag::Options::default()));
            svg::svg(&figure).map_err(|error| error.to_string())
        });
        if let (0, Ok(run), Ok(path)) = (at, run, &critical_path) {
            longest = Some((run, path.clone()));
        }
        let case = name(case);
        let gantt = gantt_of(log, &case, traced.as_ref());
        found.push(RunResults { case, critical_path, graph, gantt });
    }
    (found, longest)
}

/// The Gantt chart of one case.
fn gantt_of(log: &ActivityLog, case: &str, traced: Option<&gantt::Traced>) -> Option<Gantt> {
    let filter = Filter { case_names: vec![case.to_owned()], ..Filter::default() };
    let part = filter.apply(log.clone()).ok()?;
    Some(gantt::chart(&part, part.cases()?, None, traced))
}

/// Each case as a graph of tasks, or why there is none.
fn graphs_of(
    dataset: Option<&Dataset>,
    request: &ReportRequest,
    cases: &[String],
    damage: &Damage<'_>,
    sink: &dyn Sink,
) -> Vec<std::result::Result<RunGraph, String>> {
    let all = |reason: String| cases.iter().map(|_| Err(reason.clone())).collect();
    let Some(dataset) = dataset else { return all("the source is a log file and no dataset".to_owned()) };
    match one_run::graphs(dataset, &request.filter, cases, sink) {
        Ok(graphs) => graphs.into_iter().map(|graph| graph.context("it is no run").map_err(|error| damage.reason(&error))).collect(),
        Err(error) => all(damage.reason(&error)),
    }
}

/// How tasks used files: all of them together, and the files with most bytes one by one.
pub fn file_access(dataset: &Dataset, damage: &Damage<'_>, sink: &dyn Sink) -> Result<FileAccess> {
    let _stage = sink.stage("reading the dataset");
    let shares = file_span::read(dataset)?;
    let mut bytes: BTreeMap<&str, i64> = BTreeMap::new();
    for point in shares.groups.iter().flat_map(|group| &group.points) {
        if let Some(path) = &point.path {
            flowmine_sums::add_to(bytes.entry(path).or_default(), point.bytes());
        }
    }
    let mut paths: Vec<(&str, i64)> = bytes.into_iter().collect();
    paths.sort_by_key(|(path, bytes)| (std::cmp::Reverse(*bytes), *path));
    let all = paths.len();
    let mut files = Vec::new();
    for (path, _) in paths.into_iter().take(MOST_TRIED) {
        if files.len() == MOST_FILES {
            break;
        }
        // A path that several files had, or one of which only sums are known, has no figure.
        match find::find(dataset, path).and_then(|found| file_timeline::read(dataset, &found)) {
            Ok(found) => files.push((path.to_owned(), timeline_figure::svg(&found))),
            Err(error) => drop(damage.reason(&error.into())),
        }
    }
    let others = (all - files.len()) as u64;
    Ok(FileAccess { spans: spans_figure::svg(&shares), files, others })
}

/// What a model that is fitted to the traced runs predicts of one of them.
pub fn prediction(fitted: &FittedRun, longest: Option<&str>, damage: &Damage<'_>) -> std::result::Result<PredictionResults, String> {
    let source = fitted.source().map_err(|error| damage.reason(error))?;
    let studies = Studies { wider: Some(Wider::Times(WIDER)), ..Studies::default() };
    let predicted = source.predict(&studies, &Silent, |report| {
        let prediction = report.prediction;
        let mut limits = Vec::new();
        for at in 0..prediction.len() {
            for segment in prediction.segments(at) {
                limits.push((prediction.name(at).to_owned(), prediction.limit_name(at, segment.limit), segment.from, segment.to));
            }
        }
        PredictionResults {
            run: longest.map_or_else(String::new, |case| visible(case).into_owned()),
            finish_s: prediction.finish_s(),
            figure: picture::svg(prediction),
            limits,
            gains: report.gains.iter().map(|gain| (gain.what.clone(), gain.limits_s, gain.gain_s)).collect(),
            notes: report.notes().map(str::to_owned).collect(),
        }
    });
    predicted.map_err(|error| damage.reason(&error))
}
