//! Functions of one number in pieces: polynomials between exact breakpoints, with jumps.

mod operations;
pub mod piecewise;
pub mod polynomial;

pub use operations::Minimum;
pub use piecewise::Piecewise;
pub use polynomial::{MAX_DEGREE, Poly};
