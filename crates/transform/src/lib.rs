//! The workflow algebra: tasks, transformations that wrap them, and scripts that do it.
//!
//! After Hazekamp and Thain, "An Algebra for Robust Workflow Transformations" (the algebra paper). In go workflows and
//! transformations as text ([`jx`]), out come typed tasks ([`algebra`]), scripts ([`script`]) and workflows ([`workflow`]).
//! Nothing is run here, and no file is read but inputs of tasks for their checksums. Refused are names that
//! collide, definitions that need themselves, and what is too large or too deep; each with file, line and column.

pub mod algebra;
pub mod builtin;
mod error;
pub mod jx;
pub mod script;
pub mod workflow;

pub use algebra::digest;
pub use error::{Error, Fault, Place, Result};
