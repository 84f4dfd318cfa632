//! How much the finish changes when a number of the model is a little larger.

use super::parameter::Parameter;
use crate::error::PredictError;
use crate::model::Model;

/// The share by which each parameter is changed, up and down.
const STEP: f64 = 0.01;
/// More parameters are refused: each takes two predictions.
const MAX_PARAMETERS: usize = 20_000;

/// What one per cent more of something does.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The path of the number or function in the model.
    pub path: String,
    /// By how many per cent the finish is later when it is one per cent more: the mean of a little
    /// more and a little less. Below zero where more is earlier.
    pub per_cent: f64,
}

/// The sensitivity of the finish to each capacity, allocation, requirement of a resource and
/// available data, the greatest first; nothing when the workflow does not finish. Those to which it
/// is not sensitive are left out.
///
/// # Errors
/// As [`Model::check`] and [`crate::Workflow::predict`].
pub fn sensitivity(model: &Model) -> Result<Vec<Sensitivity>, PredictError> {
    let Some(finish) = model.check()?.predict()?.finish_s().filter(|finish| *finish > 0.0) else { return Ok(Vec::new()) };
    let parameters = Parameter::all(model);
    if parameters.len() > MAX_PARAMETERS {
        let problem = format!(
            "the model has {} functions and at most {MAX_PARAMETERS} are tried: use --sweep for those that matter",
            parameters.len()
        );
        return Err(PredictError::field("sensitivity", problem));
    }
    let mut all = Vec::new();
    for parameter in parameters {
        let at = |factor: f64| {
            let mut changed = model.clone();
            parameter.apply(&mut changed, factor)?;
            Ok::<_, PredictError>(changed.check()?.predict()?.finish_s())
        };
        // Less of an amount that was just enough may be too little to finish at all: then only the
        // other side counts.
        let per_cent = match (at(1.0 + STEP)?, at(1.0 - STEP)?) {
            (Some(more), Some(less)) => (more - less) / (2.0 * STEP * finish),
            (Some(more), None) => (more - finish) / (STEP * finish),
            (None, Some(less)) => (finish - less) / (STEP * finish),
            (None, None) => continue,
        };
        if per_cent.abs() > 1e-9 {
            all.push(Sensitivity { path: parameter.path().to_owned(), per_cent });
        }
    }
    all.sort_by(|a, b| b.per_cent.abs().total_cmp(&a.per_cent.abs()).then_with(|| a.path.cmp(&b.path)));
    Ok(all)
}
