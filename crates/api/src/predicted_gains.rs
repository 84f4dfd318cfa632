//! Gains of findings, by a model that is fitted to a traced run.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use flowmine_dataset::Dataset;
use flowmine_discover::findings::{Limit, Predictor};
use flowmine_predict::fit::Pace;
use flowmine_predict::what_if::Wider;
use flowmine_schema::tables::Process;

use crate::error::Result;
use crate::predict::{Runs, Source};
use crate::sink::Silent;
use crate::source::SourcePaths;

/// How far the predicted time of the run may be from the observed one, as a share of it: of a model
/// that is further off, gains are no better than those of the log.
const FITS: f64 = 0.1;

/// A run to which a model is fitted when a gain is first asked for.
pub(crate) struct FittedRun {
    dir: PathBuf,
    run: Option<String>,
    fitted: OnceCell<Option<Source>>,
}

impl fmt::Debug for FittedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FittedRun").field("dir", &self.dir).field("run", &self.run).finish_non_exhaustive()
    }
}

impl FittedRun {
    /// The run that a case of a dataset is; `None` where nothing was traced.
    pub fn new(source: &SourcePaths, dataset: &Dataset, case: Option<&str>) -> Result<Option<Self>> {
        if dataset.row_count::<Process<'static>>()? == 0 {
            return Ok(None);
        }
        let run = case.and_then(run_name).map(str::to_owned);
        Ok(source.only_dataset().map(|dir| Self { dir: dir.to_owned(), run, fitted: OnceCell::new() }))
    }

    fn fit(&self) -> Option<Source> {
        let source = fit(&self.dir, self.run.as_deref()).ok()?;
        let observed = source.fitted.as_ref()?.observed_s.filter(|seconds| *seconds > 0.0)?;
        let predicted = source.model.check().ok()?.predict().ok()?.finish_s()?;
        ((predicted - observed).abs() <= FITS * observed).then_some(source)
    }
}

/// The name of the run that a case is: cases are named after their notion.
pub(crate) fn run_name(case: &str) -> Option<&str> {
    case.split_once(':').map(|(_, name)| name)
}

/// Fits a model to the runs of a dataset; of several, to the named one.
pub(crate) fn fit(dir: &std::path::Path, run: Option<&str>) -> Result<Source> {
    let of = |run: Option<&str>| Runs { datasets: vec![dir.to_owned()], run: run.map(str::to_owned), ..Runs::default() };
    Source::fit(&of(None), &Silent).or_else(|_| Source::fit(&of(run), &Silent))
}

impl Predictor for FittedRun {
    fn gain(&self, activity: &str, limit: Limit) -> Option<(i128, i128)> {
        let source = self.fitted.get_or_init(|| self.fit()).as_ref()?;
        let tasks: BTreeSet<&str> = source.activities.iter().filter(|(_, of)| of == activity).map(|(task, _)| task.as_str()).collect();
        let pace = match limit {
            Limit::Files => Pace::Files,
            Limit::Cpu => Pace::Cpu,
        };
        let workflow = source.model.check().ok()?;
        let gain = |wider| {
            let seconds = workflow.joint_gain(|task, resource| resource == pace.name() && tasks.contains(task), wider).ok().flatten()?;
            seconds.is_finite().then_some((seconds * 1e9).round() as i128)
        };
        Some((gain(Wider::Times(2.0))?, gain(Wider::Unlimited)?))
    }
}
