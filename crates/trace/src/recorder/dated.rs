//! Rows of one table by the day of their partition.

use std::collections::BTreeMap;

use flowmine_dataset::{Builder, DatasetError, Transaction};
use flowmine_schema::Row;
use flowmine_schema::time::Day;

/// Rows of one table by the day of their partition, in UTC.
#[derive(Default)]
pub(super) struct Dated<R: Row> {
    days: BTreeMap<Day, Builder<R>>,
}

impl<R: Row> Dated<R> {
    /// The rows of the day of this moment, in nanoseconds after 1970.
    pub(super) fn at(&mut self, utc_ns: i64) -> &mut Builder<R> {
        self.days.entry(Day::new(utc_ns)).or_default()
    }

    /// Puts them into a transaction.
    ///
    /// # Errors
    /// When the dataset cannot be written.
    pub(super) fn write(self, transaction: &mut Transaction<'_>, host: &str) -> Result<(), DatasetError> {
        for (day, rows) in self.days {
            transaction.append_split(rows, host, day)?;
        }
        Ok(())
    }
}
