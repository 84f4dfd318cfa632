//! One event log in memory, as columns: the input of every model, for logs from any source.
//!
//! - **In:** events, which are paired by their lifecycle ([`LogBuilder::event`]), or instances with
//!   known start and end ([`LogBuilder::instance`]), case after case ([`LogBuilder::end_case`]).
//! - **Out:** an [`ActivityLog`]: **events** (a moment each, in the order of the log) and
//!   **activity instances** made of them. An instance is one execution of an activity, from when it
//!   was ready over its start to its end. Instances belong to **cases**; an object-centric log has
//!   one grouping for each type of objects ([`Cases`]).
//! - **Of a log:** parts of it by a [`Filter`], its distinct traces by [`variants()`].
//! - **Also here,** because models take it: one run as a graph of tasks and files ([`RunGraph`]), a
//!   run as it was traced ([`TracedRun`]), what jobs waited for ([`JobWait`]), processes
//!   ([`Processes`]) and operations.
//!
//! **Units.** Times are UTC nanoseconds since 1970, lengths of time nanoseconds, sizes bytes. What
//! is not known is [`UNKNOWN`] (times, measures) or [`NONE`] (names, events), never zero; functions
//! that look one up give an `Option`. What was lost on the way is counted in [`LeftOut`].
//!
//! **Errors.** [`TooLarge`] beyond what 32 bits count; [`FilterError`] for a filter that cannot be
//! applied.
//!
//! A log of one case, of a start and an end that belong together:
//!
//! ```
//! use flowmine_activity_log::{EventRow, LogBuilder, Transition};
//!
//! let mut builder = LogBuilder::new(&[]);
//! let align = builder.activity("align");
//! for (time_ns, transition) in [(5_000, Transition::Start), (9_000, Transition::Complete)] {
//!     builder.event(&EventRow { activity: align, time_ns, transition, ..EventRow::default() })?;
//! }
//! builder.end_case("order 1")?;
//! let log = builder.finish();
//!
//! assert_eq!((log.events.time_ns.len(), log.instances.activity.len()), (2, 1));
//! assert_eq!((log.activity(0), log.service_ns(0)), ("align", Some(4_000)));
//! assert_eq!(log.cases().map(|cases| cases.len()), Some(1));
//! # Ok::<(), flowmine_activity_log::TooLarge>(())
//! ```
//!
//! This crate reads no files, and contains nothing about Slurm, engines, models or figures.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod builder;
mod columns;
mod concatenate;
pub mod condition;
mod elapsed;
pub mod filter;
mod job_waits;
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
pub use concatenate::{ConcatenateError, Concatenation};
pub use condition::Condition;
pub use elapsed::elapsed_ns;
pub use filter::{Filter, FilterError, TimeFrame};
pub use job_waits::{JOB, JobWait, NOT_READY_FOR, QUEUED_FOR, WaitKind, WaitPart};
pub use names::{Interner, Names};
pub use operations::{DirectionSum, IoPhase, Operation, OperationKind, OperationSum, TracedOperation, TracedOwner};
pub use processes::{ProcessIo, ProcessRow, Processes};
pub use run_graph::{Declared, EngineSteps, FileFlow, LogicalParent, Loss, Rename, RunGraph, RunTask, Touch, TracedProcess};
pub use traced_run::{Curve, RunLeftOut, TracedInput, TracedOutput, TracedRun, TracedTask};
pub use variants::{Variant, Variants, variants};
