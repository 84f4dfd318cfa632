//! One event log in memory, as columns: what every model takes, wherever the log came from.
//!
//! An [`ActivityLog`] has **events** (a moment each, in the order of the log) and **activity instances** made of
//! them: one execution of an activity, from when it was ready over its start to its end. Instances lie in **cases**;
//! an object-centric log has one grouping for each type of objects ([`Cases`]). [`LogBuilder`] makes a log out of
//! events, paired by their lifecycle, or out of instances whose start and end are known. [`filter`] takes parts of a
//! log, [`variants()`] sums up its traces.
//!
//! What is not known is [`UNKNOWN`] (times, measures) or [`NONE`] (names, events), never zero. What was lost on the
//! way is counted in [`LeftOut`].
//!
//! Nothing here reads files or knows Slurm, engines, models or pictures.

mod builder;
mod columns;
pub mod filter;
mod names;
mod operations;
mod processes;
mod run_graph;
mod traced_run;
mod variants;

pub use builder::{EventRow, InstanceRow, LogBuilder, TooLarge, Transition};
pub use columns::{
    ActivityLog, Attribute, BytesFrom, Cases, Events, Flow, Flows, Instances, LeftOut, Measure, Members, NONE, Status, UNKNOWN, Words,
};
pub use filter::{Filter, FilterError};
pub use names::{Interner, Names};
pub use operations::{DirectionSum, IoPhase, Operation, OperationKind, OperationSum, TracedOperation, TracedOwner};
pub use processes::{ProcessIo, ProcessRow, Processes};
pub use run_graph::{Declared, FileFlow, Loss, RunGraph, RunTask};
pub use traced_run::{Curve, RunLeftOut, TracedInput, TracedOutput, TracedRun, TracedTask};
pub use variants::{Variant, Variants, variants};
