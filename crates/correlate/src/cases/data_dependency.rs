//! The notion `data-dependency`: jobs that any file connects are one case.
//!
//! D. Ghoshal et al., Characterizing scientific workflows on HPC systems using logs, WORKS 2020,
//! identify workflows by data dependencies in logs of reads and writes. Only the abstract was
//! available to us. Here it is `data-flow` without hub files: every file that one job wrote and
//! another read joins them, whatever its age, kind and number of readers. It is a baseline for
//! `data-flow`; the method's other half is `temporal`.

use super::data_flow;
use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};

/// Connected components of declared dependencies and of all files that jobs gave to each other.
#[derive(Debug, Clone, Copy)]
pub struct DataDependency;

impl CaseNotion for DataDependency {
    fn name(&self) -> &'static str {
        "data-dependency"
    }

    fn description(&self) -> &'static str {
        "as data-flow, but each file joins jobs, whatever its age, kind and readers"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn needs_data_flow(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        data_flow::assign(entities, self.name(), &entities.overview.exchanges.of_all_files)
    }
}
