//! A partial result in memory, and outside of it where it is large.

use std::collections::BTreeMap;

use flowmine_schema::row::{Record, Row};
use flowmine_spill::{Sorted, Sorter};

use super::{HostPartial, Summary};
use crate::AttributionError;
use crate::bytes::damaged;

/// The tables of a partial result while they are made.
pub struct Tables {
    /// Bytes of a table in memory, at most.
    memory: usize,
    tables: BTreeMap<&'static str, Sorter>,
}

impl Tables {
    /// Tables of which this number of hosts is made at the same time.
    pub fn beside(hosts: usize) -> Self {
        Self { memory: flowmine_spill::MEMORY / hosts.clamp(1, 8), tables: BTreeMap::new() }
    }

    /// Adds a row to a table.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push<'a, R: Record<'a>>(&mut self, name: &'static str, row: &R) -> Result<(), AttributionError> {
        // Without a key: they come back in the order in which they were put.
        let table = self.tables.entry(name).or_insert_with(|| Sorter::new(self.memory));
        table.push(&[], |bytes| row.put(bytes)).map_err(AttributionError::Temporary)
    }

    /// The finished partial result of a host.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn finish(self, host: &str, summary: Summary) -> Result<InMemory, AttributionError> {
        let finish = |(name, rows): (&'static str, Sorter)| Ok((name, rows.finish().map_err(AttributionError::Temporary)?));
        Ok(InMemory {
            host: host.to_owned(),
            summary,
            tables: self.tables.into_iter().map(finish).collect::<Result<_, AttributionError>>()?,
        })
    }
}

/// A partial result of a host in memory.
pub struct InMemory {
    host: String,
    summary: Summary,
    tables: BTreeMap<&'static str, Sorted>,
}

impl HostPartial for InMemory {
    fn host(&self) -> &str {
        &self.host
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }

    fn read<R: Row>(
        &self,
        name: &'static str,
        mut each: impl FnMut(R::Of<'_>) -> Result<(), AttributionError>,
    ) -> Result<(), AttributionError>
    where
        for<'a> R::Of<'a>: Record<'a>,
    {
        let Some(rows) = self.tables.get(name) else { return Ok(()) };
        let mut walk = rows.walk().map_err(AttributionError::Temporary)?;
        while let Some((_, record)) = walk.next().map_err(AttributionError::Temporary)? {
            each(damaged(R::Of::take(record))?)?;
        }
        Ok(())
    }
}
