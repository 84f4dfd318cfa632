//! A table as a stream of the Arrow C interface, with columns that are chosen at run time.
//!
//! **In:** a dataset, the declaration of a table, names of columns, hosts. **Out:** its row groups
//! as struct arrays, one after the other and in the order of the table. Arrays that were read are
//! handed over without a copy. A column that an older file does not have is null.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use flowmine_schema::row::ColumnDef;
use flowmine_schema::tables::TableDef;
use polars_arrow::array::{Array, StructArray, new_null_array};
use polars_arrow::datatypes::{ArrowDataType, Field};
use polars_arrow::ffi::export_iterator;
use polars_error::PolarsError;

pub use polars_arrow::ffi::ArrowArrayStream;

use crate::columns::{Columns, arrow_type};
use crate::dataset::Dataset;
use crate::error::{DatasetError, parquet_error};
use crate::parquet_error::ParquetError;
use crate::place::Leaf;
use crate::projection::Projection;
use crate::row_groups::Groups;

/// The row groups of a table, of which only some columns are read.
pub struct TableStream {
    dataset: Dataset,
    table: TableDef,
    columns: Vec<ColumnDef>,
    leaves: VecDeque<Leaf>,
    groups: Groups,
}

impl Dataset {
    /// A table as a stream with these columns, in their order. Of a table that is split by hosts,
    /// `hosts` restricts the rows to those of some hosts, and the files of others are not opened.
    ///
    /// # Errors
    /// When the dataset cannot be read, or the table has no column of a name.
    pub fn stream(&self, table: &TableDef, columns: &[&str], hosts: Option<&[String]>) -> Result<TableStream, DatasetError> {
        let column = |name: &&str| {
            let def = table.columns.iter().find(|def| def.name == *name).copied();
            def.ok_or_else(|| parquet_error(self.dir())(ParquetError::NoColumn((*name).to_owned())))
        };
        let columns = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let leaves = self.leaves_of_hosts(table, hosts)?.into();
        Ok(TableStream { dataset: self.clone(), table: *table, columns, leaves, groups: Groups::default() })
    }

    /// Number of rows of a table, or of some hosts.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn rows_of(&self, table: &TableDef, hosts: Option<&[String]>) -> Result<u64, DatasetError> {
        self.row_count_in(&self.leaves_of_hosts(table, hosts)?)
    }

    fn leaves_of_hosts(&self, table: &TableDef, hosts: Option<&[String]>) -> Result<Vec<Leaf>, DatasetError> {
        let mut leaves = self.leaves_of(table.name, table.split)?;
        if let Some(hosts) = hosts {
            leaves.retain(|leaf| leaf.host().is_none_or(|host| hosts.iter().any(|wanted| wanted == host)));
        }
        Ok(leaves)
    }
}

impl TableStream {
    /// The stream as the Arrow C interface has it. An error or a panic ends it with a message.
    pub fn into_arrow(mut self) -> ArrowArrayStream {
        let field = Field::new("".into(), ArrowDataType::Struct(self.fields()), false);
        let mut has_failed = false;
        let groups = std::iter::from_fn(move || {
            if has_failed {
                return None;
            }
            let read = catch_unwind(AssertUnwindSafe(|| self.read_next()));
            let next = read.unwrap_or_else(|_| Err(parquet_error(self.dataset.dir())(ParquetError::Damaged)));
            has_failed = next.is_err();
            next.map_err(|error| failure(&error)).transpose()
        });
        export_iterator(Box::new(groups), field)
    }

    fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|def| Field::new(def.name.into(), arrow_type(def.kind), def.nullable)).collect()
    }

    fn read_next(&mut self) -> Result<Option<Box<dyn Array>>, DatasetError> {
        let TableDef { name, split, columns, .. } = self.table;
        let projection = Projection { table: name, is_split: split, all: columns, columns: &self.columns };
        let read = loop {
            if let Some(group) = self.groups.next()? {
                break group.read(projection)?;
            }
            let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
            self.dataset.leaf_parts(&leaf)?.into_iter().for_each(|part| self.groups.push(part));
        };
        self.as_struct(&read).map(Some).map_err(parquet_error(self.dataset.dir()))
    }

    fn as_struct(&self, read: &Columns) -> Result<Box<dyn Array>, ParquetError> {
        let values = |def: &ColumnDef| match read.get(def.name) {
            Some(array) => array.to_boxed(),
            None => new_null_array(arrow_type(def.kind), read.rows()),
        };
        let values = self.columns.iter().map(values).collect();
        Ok(StructArray::try_new(ArrowDataType::Struct(self.fields()), read.rows(), values, None)?.boxed())
    }
}

/// An error as polars' interface carries it. It ends at a null byte there, and aborts the process
/// where a text has one.
fn failure(error: &DatasetError) -> PolarsError {
    let text = error.to_string().replace('\0', "\\x00");
    PolarsError::IO { error: Arc::new(io::Error::other(text)), msg: None }
}

#[cfg(test)]
mod tests {
    use flowmine_schema::tables::{ALL, TaskRun};
    use polars_arrow::array::{PrimitiveArray, Utf8ViewArray};
    use polars_arrow::ffi::ArrowArrayStreamReader;

    use crate::{Builder, Role};

    use super::*;

    fn table(name: &str) -> &'static TableDef {
        ALL.iter().find(|table| table.name == name).unwrap()
    }

    #[test]
    fn chosen_columns_come_in_their_order_and_an_unknown_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
        let mut rows: Builder<TaskRun<'static>> = Builder::new();
        for (name, exit_code) in [("align", None), ("merge", Some(1))] {
            rows.push(&TaskRun { name: name.into(), status: "failed".into(), exit_code, ..TaskRun::default() });
        }
        let mut writer = dataset.writer(Role::Raw, "a test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(rows).unwrap();
        transaction.commit().unwrap();

        let runs = table("task_runs");
        assert_eq!(dataset.rows_of(runs, None).unwrap(), 2);
        assert!(dataset.stream(runs, &["nome"], None).is_err());
        let stream = dataset.stream(runs, &["exit_code", "name"], None).unwrap().into_arrow();
        // SAFETY: `into_arrow` made the stream by the C interface.
        let mut reader = unsafe { ArrowArrayStreamReader::try_new(Box::new(stream)).unwrap() };
        // SAFETY: as above.
        let group = unsafe { reader.next() }.unwrap().unwrap();
        // SAFETY: as above.
        assert!(unsafe { reader.next() }.is_none());
        let group = group.as_any().downcast_ref::<StructArray>().unwrap();
        let names = group.values()[1].as_any().downcast_ref::<Utf8ViewArray>().unwrap();
        assert_eq!(names.values_iter().collect::<Vec<_>>(), ["align", "merge"]);
        let codes = group.values()[0].as_any();
        let codes: Vec<Option<i64>> = match codes.downcast_ref::<PrimitiveArray<i64>>() {
            Some(codes) => codes.iter().map(|code| code.copied()).collect(),
            None => codes.downcast_ref::<PrimitiveArray<i32>>().unwrap().iter().map(|code| code.map(|code| i64::from(*code))).collect(),
        };
        assert_eq!(codes, [None, Some(1)]);
    }
}
