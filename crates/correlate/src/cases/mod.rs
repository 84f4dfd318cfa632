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
mod data_flow;
mod dependency;
mod entities;
mod notion;

pub use account_group::AccountGroup;
pub use data_flow::DataFlow;
pub use dependency::Dependency;
pub use entities::Entities;
pub use notion::{Assignment, CaseNotion};

use crate::exchanges::Exchanges;

/// All case notions of jobs.
pub static ALL: &[&dyn CaseNotion] = &[&Dependency, &AccountGroup, &DataFlow];

/// The case notion of jobs with this name.
pub fn find(name: &str) -> Option<&'static dyn CaseNotion> {
    ALL.iter().copied().find(|notion| notion.name() == name)
}

/// The notions that say something of a dataset in which jobs gave these data to each other: all,
/// but where they gave none those that need data flow, whose cases would be those of another
/// notion.
pub fn telling(exchanges: &Exchanges) -> Vec<&'static dyn CaseNotion> {
    ALL.iter().copied().filter(|notion| !notion.needs_data_flow() || exchanges.any()).collect()
}
