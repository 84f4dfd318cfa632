//! Rows of derived tables with a sum that the column cannot hold.

use std::collections::BTreeMap;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

/// The number of rows, by table, with a sum that is a bound because the true one does not fit
/// ([`flowmine_sums::is_bound`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutOfRange(BTreeMap<&'static str, u64>);

impl OutOfRange {
    /// Counts a row of a table by its sums.
    pub(crate) fn check(&mut self, table: &'static str, sums: &[i64]) {
        if sums.iter().copied().any(flowmine_sums::is_bound) {
            *self.0.entry(table).or_default() += 1;
        }
    }

    /// A diagnostic for each table that has such rows.
    pub(crate) fn report(&self, diagnostics: &mut Diagnostics) {
        for (table, rows) in &self.0 {
            let message = format!("rows of {table} with a sum that does not fit, given as {}: {rows}", i64::MAX);
            diagnostics.push(Diagnostic::warning("sum_out_of_range", message));
        }
    }
}
