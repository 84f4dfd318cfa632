//! When a workflow ends, and what holds each of its processes up at each moment.
//!
//! The input is a [`model::Model`]: processes with the data and resources that progress takes,
//! their shares of these, and the data flow between them. The output is a [`Prediction`]: progress
//! over time in exact pieces, what limits it, use of resources, data that wait, finish times. The
//! model is that of BottleMod (Lößer, Witzke, Schintke, Scheuermann); `docs/prediction.md` says
//! what was decided where the paper is silent. Refused with the path of the field: functions that
//! fall where they must not, numbers that are not finite, units that differ, cycles.
//!
//! Nothing here samples time: the analysis goes from one change of what limits a process to the
//! next, so that 100 GB cost what 1 GB costs.
//!
//! ```
//! use flowmine_predict::model::Model;
//!
//! // One process that needs four seconds of a processor and gets half of one.
//! let model = Model::from_toml(
//!     r#"
//!     [[processes]]
//!     name = "work"
//!     progress = 1
//!     resources = [{ name = "cpu", requirement = { points = [[0, 0], [1, 4]] }, allocation = 0.5 }]
//!     "#,
//! )?;
//! let workflow = model.check()?;
//! let prediction = workflow.predict()?;
//! assert_eq!(prediction.finish_s(), Some(8.0));
//! assert_eq!(prediction.limit_name(0, prediction.limit(0, 1.0)), "resource cpu");
//! # Ok::<(), flowmine_predict::PredictError>(())
//! ```
//!
//! [`fit`] makes a model of traced runs, [`study`] sweeps and varies the numbers of one,
//! [`what_if`] computes the gains of wider bottlenecks, [`report`] and [`picture`] write it all.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod analysis;
mod check;
mod coupling;
mod error;
pub mod fit;
pub mod functions;
pub mod model;
mod model_file;
pub mod picture;
pub mod report;
pub mod study;
pub mod what_if;

pub use analysis::{Limit, Prediction, Segment};
pub use check::{MAX_PIECES, MAX_PROCESSES, Workflow};
pub use error::PredictError;
