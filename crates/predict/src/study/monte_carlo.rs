//! Numbers of a model drawn at random, and what that makes of the finish.

use flowmine_random::Random;

use super::parameter::{Change, Parameter};
use super::sweep::cut;
use crate::error::PredictError;
use crate::model::Model;

/// More samples are refused: each takes a prediction.
pub const MAX_SAMPLES: usize = 1_000_000;

/// A number that is not certain: `PATH=LOW..HIGH` (as likely everywhere), `PATH=MEAN+-DEVIATION`
/// (normal), or with `*` to multiply.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// The path of the number in the model.
    pub path: String,
    /// How a value changes what is there.
    pub change: Change,
    /// The distribution from which values are drawn.
    pub spread: Spread,
}

/// The distribution from which values are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// As likely everywhere between two values.
    Uniform(f64, f64),
    /// Around a mean with a standard deviation; drawn again while not above zero.
    Normal(f64, f64),
}

impl std::str::FromStr for Vary {
    type Err = PredictError;

    fn from_str(text: &str) -> Result<Self, PredictError> {
        let wrong = || PredictError::field("vary", format!("{text:?} is not PATH=LOW..HIGH, PATH=MEAN+-DEVIATION, or either with * for ="));
        let (path, change, range) = cut(text).ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(wrong);
        let spread = match (range.split_once(".."), range.split_once("+-")) {
            (Some((low, high)), None) => Spread::Uniform(number(low)?, number(high)?),
            (None, Some((mean, deviation))) => Spread::Normal(number(mean)?, number(deviation)?),
            _ => return Err(wrong()),
        };
        if let Spread::Normal(mean, deviation) = spread
            && !(mean > 0.0 && deviation >= 0.0)
        {
            return Err(PredictError::field("vary", format!("{text:?}: a mean is above zero, a deviation not below")));
        }
        Ok(Self { path: path.to_owned(), change, spread })
    }
}

/// What the finishes of all samples are.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Number of samples that were drawn.
    pub samples: usize,
    /// How many of them never finish; the numbers below are of the others.
    pub never: usize,
    /// Mean of the times to finish, in seconds.
    pub mean_s: f64,
    /// Standard deviation of the times to finish, in seconds.
    pub deviation_s: f64,
    /// Quantiles: pairs of share and seconds.
    pub quantiles: Vec<(f64, f64)>,
}

const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Draws each number independently of the others, `samples` times; the same seed gives the same.
///
/// # Errors
/// As [`Parameter::find`], [`Model::check`] and [`crate::Workflow::predict`];
/// [`PredictError::Field`] for no or too many samples.
pub fn monte_carlo(model: &Model, vary: &[Vary], samples: usize, seed: u64) -> Result<Interval, PredictError> {
    if !(1..=MAX_SAMPLES).contains(&samples) {
        return Err(PredictError::field("samples", format!("1 to {MAX_SAMPLES} samples, not {samples}")));
    }
    let find = |of: &Vary| Parameter::find(model, &of.path, of.change);
    let parameters = vary.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut random = Random::new(seed);
    let mut finishes = Vec::with_capacity(samples);
    for _ in 0..samples {
        let mut changed = model.clone();
        for (parameter, of) in parameters.iter().zip(vary) {
            parameter.apply(&mut changed, draw(&mut random, of.spread))?;
        }
        finishes.extend(changed.check()?.predict()?.finish_s());
    }
    finishes.sort_by(f64::total_cmp);
    let n = finishes.len() as f64;
    let mean_s = finishes.iter().sum::<f64>() / n;
    let variance = finishes.iter().map(|finish| (finish - mean_s).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let quantile = |share: f64| {
        let at = share * (n - 1.0).max(0.0);
        let (low, high) = (finishes[at.floor() as usize], finishes[at.ceil() as usize]);
        (share, low + (high - low) * at.fract())
    };
    let quantiles = if finishes.is_empty() { Vec::new() } else { QUANTILES.map(quantile).to_vec() };
    Ok(Interval { samples, never: samples - finishes.len(), mean_s, deviation_s: variance.sqrt(), quantiles })
}

fn draw(random: &mut Random, spread: Spread) -> f64 {
    match spread {
        Spread::Uniform(low, high) => low + (high - low) * random.unit(),
        Spread::Normal(mean, deviation) => loop {
            // The Box-Muller transform.
            let radius = (-2.0 * random.unit().ln()).sqrt();
            let value = mean + deviation * radius * (2.0 * std::f64::consts::PI * random.unit()).cos();
            if value > 0.0 {
                return value;
            }
        },
    }
}
