//! Partial results: what one host contributes to the derived tables.
//!
//! The input of a partial result is the raw rows of one host, and the known tasks and jobs. The
//! result is tables ([`tables`]) that [`crate::merge`] joins with those of the other hosts, without
//! the raw rows. One process does the same, with tables in memory ([`InMemory`]); on several
//! machines they are files ([`PartialDir`]).

mod collection;
mod dir;
mod error;
mod manifest;
mod memory;
pub mod tables;

use flowmine_schema::losses::LostOperations;
use flowmine_schema::row::{Record, Row};
use serde::{Deserialize, Serialize};

pub use collection::Collection;
pub use dir::PartialDir;
pub use error::PartialError;
pub use manifest::{FORMAT, PartialManifest, expected, short_name};
pub use memory::InMemory;
pub(crate) use memory::Tables;

use crate::AttributionError;

/// Numbers of a partial result that are no rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Number of operations; a sum counts as one.
    pub operations: u64,
    /// Number of processes.
    pub processes: u64,
    /// Maximum error of the host's clock, in nanoseconds.
    pub clock_doubt_ns: i64,
    /// Number of lost operations.
    pub lost_operations: u64,
    /// Bytes of lost reads and writes, as far as they are known.
    pub lost_bytes: u64,
}

impl Summary {
    /// The lost operations.
    pub fn lost(&self) -> LostOperations {
        LostOperations { count: self.lost_operations, bytes: self.lost_bytes }
    }
}

/// What one host contributes to the derived tables.
pub trait HostPartial {
    /// Name of the host.
    fn host(&self) -> &str;

    /// The numbers that are no rows.
    fn summary(&self) -> &Summary;

    /// Calls `each` with the rows of a table in order; with none if there are none.
    ///
    /// # Errors
    /// When they cannot be read, or what `each` returns.
    fn read<R: Row>(&self, name: &'static str, each: impl FnMut(R::Of<'_>) -> Result<(), AttributionError>) -> Result<(), AttributionError>
    where
        for<'a> R::Of<'a>: Record<'a>;
}
