//! The tables of a dataset as streams of the Arrow C interface, for programs that hold columns.

use std::path::Path;

use flowmine_dataset::Dataset;
use flowmine_schema::tables;

use crate::error::{Result, refuse};

pub use flowmine_dataset::arrow_stream::ArrowArrayStream;
pub use flowmine_schema::row::{ColumnDef, ColumnKind};
pub use flowmine_schema::tables::{ALL, TableDef};

/// What of a table is read.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The columns, in this order; all where it is not given.
    pub columns: Option<Vec<String>>,
    /// The hosts, of a table that is split by hosts; all where it is not given.
    pub hosts: Option<Vec<String>>,
}

/// Returns the declaration of a table.
///
/// # Errors
/// When there is no table of this name.
pub fn find(name: &str) -> Result<&'static TableDef> {
    match ALL.iter().find(|table| table.name == name) {
        Some(table) => Ok(table),
        None => {
            let names: Vec<_> = tables::ALL.iter().map(|table| table.name).collect();
            refuse!("there is no table {name:?}; there are: {}", names.join(", "))
        }
    }
}

/// Returns the number of rows of a table, or of some hosts.
///
/// # Errors
/// When the dataset cannot be read, or the table is not split by hosts.
pub fn rows(dataset: &Path, table: &TableDef, hosts: Option<&[String]>) -> Result<u64> {
    has_hosts(table, hosts)?;
    Ok(Dataset::open(dataset)?.rows_of(table, hosts)?)
}

fn has_hosts(table: &TableDef, hosts: Option<&[String]>) -> Result<()> {
    if hosts.is_some() && !table.split {
        refuse!("the table {} is not split by hosts, so that no hosts of it can be chosen", table.name);
    }
    Ok(())
}

/// Opens a table as a stream: a struct array for each row group, which is read when it is asked for.
///
/// # Errors
/// When the dataset cannot be opened, the table lacks a column, or it is not split by hosts.
pub fn stream(dataset: &Path, table: &TableDef, selection: &Selection) -> Result<ArrowArrayStream> {
    has_hosts(table, selection.hosts.as_deref())?;
    let columns: Vec<&str> = match &selection.columns {
        Some(columns) if columns.is_empty() => refuse!("no column of the table {} is chosen", table.name),
        Some(columns) => columns.iter().map(String::as_str).collect(),
        None => table.columns.iter().map(|column| column.name).collect(),
    };
    for (at, name) in columns.iter().enumerate() {
        if columns.iter().take(at).any(|before| before == name) {
            refuse!("the column {name:?} is chosen twice");
        }
        if !table.columns.iter().any(|column| column.name == *name) {
            let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            refuse!("the table {} has no column {name:?}; it has: {}", table.name, names.join(", "));
        }
    }
    Ok(Dataset::open(dataset)?.stream(table, &columns, selection.hosts.as_deref())?.into_arrow())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    #[test]
    fn a_selection_that_a_table_does_not_have_is_refused_with_what_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = dir.path().join("dataset");
        Dataset::open_or_create(&dataset).unwrap();
        let refused = |table: &str, selection: Selection| {
            let stream = find(table).and_then(|table| stream(&dataset, table, &selection));
            stream.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let columns = |names: &[&str]| Selection { columns: Some(names.iter().map(|name| (*name).to_owned()).collect()), hosts: None };
        assert!(refused("job_state", Selection::default()).starts_with("there is no table \"job_state\"; there are: job_states, "));
        assert!(refused("links", columns(&[])).starts_with("no column"));
        assert!(refused("waits", columns(&["job", "job"])).ends_with("twice"));
        assert!(refused("waits", columns(&["joob"])).starts_with("the table waits has no column \"joob\"; it has: "));
        assert!(refused("waits", Selection { hosts: Some(vec!["n1".to_owned()]), columns: None }).contains("not split"));
        assert_eq!(refused("io_events", Selection { hosts: Some(vec!["n1".to_owned()]), columns: None }), "");
        assert_eq!(rows(&dataset, find("waits").unwrap(), None).unwrap(), 0);
    }
}
