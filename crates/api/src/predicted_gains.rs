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

use crate::error::{Error, Result};
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
    fitted: OnceCell<Result<Source>>,
    is_close: OnceCell<bool>,
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
        Ok(source.only_dataset().map(|dir| Self { dir: dir.to_owned(), run, fitted: OnceCell::new(), is_close: OnceCell::new() }))
    }

    /// The model, which is fitted once; of several runs it is that of the named one.
    pub fn source(&self) -> std::result::Result<&Source, &Error> {
        let of = |run: Option<&str>| Runs { datasets: vec![self.dir.clone()], run: run.map(str::to_owned), ..Runs::default() };
        let fit = || Source::fit(&of(None), &Silent).or_else(|_| Source::fit(&of(self.run.as_deref()), &Silent));
        self.fitted.get_or_init(fit).as_ref()
    }

    /// The model, where it predicts the run well enough for gains.
    fn close(&self) -> Option<&Source> {
        let source = self.source().ok()?;
        self.is_close.get_or_init(|| is_close(source).unwrap_or(false)).then_some(source)
    }
}

/// Whether a model predicts its run; `None` where it predicts no end, or none was observed.
fn is_close(source: &Source) -> Option<bool> {
    let observed = source.fitted.as_ref()?.observed_s.filter(|seconds| *seconds > 0.0)?;
    let predicted = source.model.check().ok()?.predict().ok()?.finish_s()?;
    Some((predicted - observed).abs() <= FITS * observed)
}

/// The name of the run that a case is: cases are named after their notion.
fn run_name(case: &str) -> Option<&str> {
    case.split_once(':').map(|(_, name)| name)
}

impl Predictor for FittedRun {
    fn gain(&self, activity: &str, limit: Limit) -> Option<(i128, i128)> {
        let source = self.close()?;
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
