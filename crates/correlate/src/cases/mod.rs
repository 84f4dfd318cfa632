//! Case notions: which attempts belong together.
//!
//! In go entities ([`Entities`]: jobs, and what is known of them beyond what Slurm reports); out
//! comes, for a notion, one case for each attempt. A new notion is a new file with an
//! implementation of [`CaseNotion`] and one line in [`ALL`].
//!
//! A case id begins with the notion's name and a colon, so that it never equals a job id. Names in
//! it are escaped by [`escape`](flowmine_schema::text::ids::escape), so that two different things
//! never get the same id.

mod account_group;
mod array;
mod auto;
mod correlation_miner;
mod data_dependency;
mod data_flow;
mod dependency;
mod engine_run;
mod entities;
mod first_path;
mod gap;
mod grouped;
mod job;
mod name;
mod notion;
mod of_task;
mod of_user;
mod session;
mod temporal;
mod work_directory;

pub use account_group::AccountGroup;
pub use array::Array;
pub use auto::Auto;
pub use correlation_miner::CorrelationMiner;
pub use data_dependency::DataDependency;
pub use data_flow::DataFlow;
pub use dependency::Dependency;
pub use engine_run::EngineRun;
pub(crate) use engine_run::signed;
pub use entities::Entities;
pub use first_path::FIRST_PATH;
pub use gap::Gap;
pub use job::Job;
pub use name::NAME;
pub use notion::{Assignment, CaseNotion, Strength, Why, lower, rounded};
pub use of_task::assign_by_task;
pub use session::Session;
pub use temporal::Temporal;
pub use work_directory::WORK_DIRECTORY;

use crate::exchanges::Exchanges;

/// All case notions of jobs.
pub static ALL: &[&dyn CaseNotion] = &[
    &Dependency,
    &AccountGroup,
    &DataFlow,
    &Job,
    &Array,
    &WORK_DIRECTORY,
    &NAME,
    &EngineRun,
    &Session,
    &Auto,
    &Gap::Arrival,
    &Gap::Last,
    &Gap::Max,
    &Temporal,
    &DataDependency,
    &CorrelationMiner,
    &FIRST_PATH,
];

/// The case notion of jobs with this name.
pub fn find(name: &str) -> Option<&'static dyn CaseNotion> {
    ALL.iter().copied().find(|notion| notion.name() == name)
}

/// The usual notion, and the standard ones that say something of a dataset in which jobs gave these data to each
/// other. Where they gave none, a notion that needs data flow says nothing: its cases would be
/// those of another notion.
pub fn telling(exchanges: &Exchanges, usual: &'static dyn CaseNotion) -> Vec<&'static dyn CaseNotion> {
    let says_something = |notion: &&dyn CaseNotion| notion.is_standard() && (!notion.needs_data_flow() || exchanges.any());
    let others = ALL.iter().copied().filter(says_something).filter(|notion| notion.name() != usual.name());
    std::iter::once(usual).chain(others).collect()
}
