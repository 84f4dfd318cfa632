//! A number of a model swept over a range (the paper's Figure 7).

use super::parameter::{Change, Parameter};
use crate::error::PredictError;
use crate::model::Model;

/// More points are refused: each takes a prediction.
pub const MAX_POINTS: usize = 100_000;

/// What is swept: `PATH=LOW..HIGH/POINTS`, or `PATH*LOW..HIGH/POINTS` to multiply.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The path of the number in the model.
    pub path: String,
    /// How the value changes what is there.
    pub change: Change,
    /// The first value of the sweep.
    pub low: f64,
    /// The last value of the sweep.
    pub high: f64,
    /// Number of values, evenly spaced, both ends included.
    pub points: usize,
}

/// A value and when all has finished with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The value that the number is set to or multiplied with.
    pub value: f64,
    /// When all has finished, in seconds; nothing when that is never.
    pub finish_s: Option<f64>,
}

/// Cuts `PATH=REST` or `PATH*REST`; names in a path may hold these signs, what follows the last
/// bracket may not.
pub(super) fn cut(text: &str) -> Option<(&str, Change, &str)> {
    let after = text.rfind(']').map_or(0, |at| at + 1);
    let at = after + text[after..].find(['=', '*'])?;
    let change = if text.as_bytes()[at] == b'=' { Change::Set } else { Change::Times };
    Some((&text[..at], change, &text[at + 1..]))
}

impl std::str::FromStr for Sweep {
    type Err = PredictError;

    fn from_str(text: &str) -> Result<Self, PredictError> {
        let wrong = || PredictError::field("sweep", format!("{text:?} is not PATH=LOW..HIGH/POINTS or PATH*LOW..HIGH/POINTS"));
        let (path, change, range) = cut(text).ok_or_else(wrong)?;
        let (ends, points) = range.split_once('/').unwrap_or((range, "101"));
        let (low, high) = ends.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(wrong);
        let points = points.trim().parse().map_err(|_| wrong())?;
        if !(1..=MAX_POINTS).contains(&points) {
            return Err(PredictError::field("sweep", format!("1 to {MAX_POINTS} points, not {points}")));
        }
        Ok(Self { path: path.to_owned(), change, low: number(low)?, high: number(high)?, points })
    }
}

/// Predicts at each point; the number of the best one, nothing when none ever finishes. Of points
/// that are equal but for rounding the first is the best.
///
/// # Errors
/// As [`Parameter::find`], [`Model::check`] and [`crate::Workflow::predict`], with the value in the
/// path.
pub fn sweep(model: &Model, of: &Sweep) -> Result<(Vec<Point>, Option<usize>), PredictError> {
    let parameter = Parameter::find(model, &of.path, of.change)?;
    let mut points = Vec::with_capacity(of.points);
    let mut best: Option<(f64, usize)> = None;
    let mut changed = model.clone();
    for n in 0..of.points {
        let share = if of.points > 1 { n as f64 / (of.points - 1) as f64 } else { 0.0 };
        let value = of.low + (of.high - of.low) * share;
        if parameter.is_repeatable() {
            parameter.apply(&mut changed, value)?;
        } else {
            changed = model.clone();
            parameter.apply(&mut changed, value)?;
        }
        let finish_s = changed.check()?.predict()?.finish_s();
        if let Some(finish) = finish_s
            && best.is_none_or(|(least, _)| finish < least * (1.0 - 1e-12))
        {
            best = Some((finish, n));
        }
        points.push(Point { value, finish_s });
    }
    Ok((points, best.map(|best| best.1)))
}
