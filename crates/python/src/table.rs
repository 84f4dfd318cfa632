//! Tables of datasets.

use std::path::PathBuf;

use flowmine_api::tables::{self, ALL, Selection};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::call::{Reply, call};

/// The name of the capsule, as the Arrow PyCapsule interface has it.
const CAPSULE: &std::ffi::CStr = c"arrow_array_stream";

/// A column: its name, type and meaning, and whether it can be null.
type Column = (&'static str, &'static str, &'static str, bool);

/// All tables: name, meaning, whether it is split by hosts, columns.
#[pyfunction]
pub fn declared() -> Vec<(&'static str, &'static str, bool, Vec<Column>)> {
    let columns = |table: &tables::TableDef| table.columns.iter().map(|of| (of.name, of.kind.name(), of.doc.trim(), of.nullable)).collect();
    ALL.iter().map(|table| (table.name, table.doc.trim(), table.split, columns(table))).collect()
}

/// The number of rows of a table, or of some hosts.
#[pyfunction]
#[pyo3(signature = (dataset, table, hosts = None))]
pub fn rows(py: Python<'_>, dataset: PathBuf, table: String, hosts: Option<Vec<String>>) -> PyResult<Reply> {
    let work = move |_: &dyn flowmine_api::Sink| tables::rows(&dataset, tables::find(&table)?, hosts.as_deref());
    call(py, None, work, |py, rows| Ok(rows.into_pyobject(py)?.into_any().unbind()))
}

/// A table as a capsule of the Arrow C stream interface. A reader that takes the stream marks it as
/// released; dropped is what no reader took.
#[pyfunction]
#[pyo3(signature = (dataset, table, columns = None, hosts = None))]
pub fn stream(
    py: Python<'_>,
    dataset: PathBuf,
    table: String,
    columns: Option<Vec<String>>,
    hosts: Option<Vec<String>>,
) -> PyResult<Reply> {
    let work = move |_: &dyn flowmine_api::Sink| {
        let selection = Selection { columns, hosts };
        tables::stream(&dataset, tables::find(&table)?, &selection)
    };
    call(py, None, work, |py, stream| Ok(PyCapsule::new_with_value(py, stream, CAPSULE)?.into_any().unbind()))
}
