//! Which columns of which table are read, as a value: what reads files is compiled once, and not
//! for each view.

use flowmine_schema::row::{ColumnDef, Row, View};

/// The columns of a [`View`], and what has to be known of their table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection<'c> {
    /// Name of the table.
    pub table: &'static str,
    /// Whether its rows lie in a folder for each host and day.
    pub is_split: bool,
    /// All columns of the table.
    pub all: &'static [ColumnDef],
    /// The columns that are read.
    pub columns: &'c [ColumnDef],
}

impl Projection<'static> {
    /// The projection that reads the columns of a view.
    pub(crate) fn new<V: View>() -> Self {
        Self { table: V::Table::TABLE, is_split: V::Table::SPLIT, all: <V::Table as View>::COLUMNS, columns: V::COLUMNS }
    }
}
