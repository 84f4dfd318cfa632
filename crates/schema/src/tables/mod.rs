//! The tables of a dataset, one file each. `docs/tables.md` is generated from these declarations.

mod cases;
mod controller_clocks;
mod data_flow;
mod diagnostics;
mod files;
mod hosts;
mod imported_logs;
mod io_events;
mod job_dependencies;
mod job_states;
mod links;
mod node_states;
mod processes;
mod task_io;
mod task_runs;
mod waits;

pub use cases::Case;
pub use controller_clocks::ControllerClock;
pub use data_flow::DataFlow;
pub use diagnostics::DiagnosticRow;
pub use files::TracedFile;
pub use hosts::{Clock, Host};
pub use imported_logs::{ImportedLog, LogEvent, LogObject};
pub use io_events::{IoEvent, IoLoss, IoTotal};
pub use job_dependencies::{JobDependency, WITHDRAWN};
pub use job_states::{JobState, change, source};
pub use links::Link;
pub use node_states::NodeState;
pub use processes::Process;
pub use task_io::{LogicalTaskTotal, TaskIo, TaskTotal};
pub use task_runs::TaskRun;
pub use waits::WaitPart;

use crate::row::{ColumnDef, Row};

/// A table of a dataset, as `docs/tables.md` describes it.
#[derive(Debug, Clone, Copy)]
pub struct TableDef {
    /// Its folder in the dataset.
    pub name: &'static str,
    /// What a row of the table is.
    pub doc: &'static str,
    /// Whether its files lie in a folder for each host and day.
    pub split: bool,
    /// Its columns in file order.
    pub columns: &'static [ColumnDef],
}

impl TableDef {
    /// That of a table by its row.
    pub const fn new<R: Row>() -> Self {
        Self { name: R::TABLE, doc: R::DOC, split: R::SPLIT, columns: R::COLUMNS }
    }
}

/// Every table, raw ones first.
pub const ALL: &[TableDef] = &[
    TableDef::new::<JobState<'static>>(),
    TableDef::new::<JobDependency<'static>>(),
    TableDef::new::<ControllerClock<'static>>(),
    TableDef::new::<NodeState<'static>>(),
    TableDef::new::<DiagnosticRow<'static>>(),
    TableDef::new::<Host<'static>>(),
    TableDef::new::<Clock<'static>>(),
    TableDef::new::<Process<'static>>(),
    TableDef::new::<TracedFile<'static>>(),
    TableDef::new::<IoEvent<'static>>(),
    TableDef::new::<IoTotal<'static>>(),
    TableDef::new::<IoLoss<'static>>(),
    TableDef::new::<TaskRun<'static>>(),
    TableDef::new::<ImportedLog<'static>>(),
    TableDef::new::<LogObject<'static>>(),
    TableDef::new::<LogEvent<'static>>(),
    TableDef::new::<Link<'static>>(),
    TableDef::new::<Case<'static>>(),
    TableDef::new::<WaitPart<'static>>(),
    TableDef::new::<TaskIo<'static>>(),
    TableDef::new::<TaskTotal<'static>>(),
    TableDef::new::<LogicalTaskTotal<'static>>(),
    TableDef::new::<DataFlow<'static>>(),
];
