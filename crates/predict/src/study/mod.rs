//! Many predictions of one model: a number of it swept over a range, changed a little, or drawn at
//! random.

mod monte_carlo;
mod parameter;
mod sensitivity;
mod sweep;

pub use monte_carlo::{Interval, MAX_SAMPLES, Spread, Vary, monte_carlo};
pub use parameter::{Change, Parameter};
pub use sensitivity::{Sensitivity, sensitivity};
pub use sweep::{MAX_POINTS, Point, Sweep, sweep};
