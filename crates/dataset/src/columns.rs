//! Columns of equal length in memory: what a table's rows are on their way to a file and back.
//!
//! Each column is one Arrow array of a type that tables have ([`ColumnKind`]); a missing value is
//! null.

use flowmine_schema::row::ColumnKind;
use polars_arrow::array::{Array, MutableBinaryViewArray, Utf8ViewArray};
use polars_arrow::compute::concatenate::concatenate;
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field};

use crate::parquet_error::ParquetError;

/// Columns with their names, all of the same number of rows.
#[derive(Clone, PartialEq)]
pub(crate) struct Columns {
    rows: usize,
    fields: Vec<Field>,
    arrays: Vec<Box<dyn Array>>,
}

/// The Arrow type of a table's column.
pub(crate) fn arrow_type(kind: ColumnKind) -> ArrowDataType {
    match kind {
        ColumnKind::Text => ArrowDataType::Utf8View,
        ColumnKind::I64 => ArrowDataType::Int64,
        ColumnKind::I32 => ArrowDataType::Int32,
        ColumnKind::F64 => ArrowDataType::Float64,
        ColumnKind::Bool => ArrowDataType::Boolean,
    }
}

impl Columns {
    /// No columns yet, with room for this number of rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, fields: Vec::new(), arrays: Vec::new() }
    }

    /// Adds a column.
    ///
    /// # Errors
    /// When it has another number of rows, or there is one of this name.
    pub(crate) fn push(&mut self, name: &str, array: Box<dyn Array>) -> Result<(), ParquetError> {
        if array.len() != self.rows {
            return Err(ParquetError::Damaged);
        }
        if self.get(name).is_some() {
            return Err(ParquetError::Misfit("two columns of one name"));
        }
        self.fields.push(Field::new(name.into(), array.dtype().clone(), true));
        self.arrays.push(array);
        Ok(())
    }

    /// Adds a column that has the same text in each row.
    ///
    /// # Errors
    /// When there is a column of this name.
    pub(crate) fn push_text(&mut self, name: &str, text: &str) -> Result<(), ParquetError> {
        let mut array = MutableBinaryViewArray::<str>::with_capacity(self.rows);
        array.extend_constant(self.rows, Some(text));
        let array: Utf8ViewArray = array.freeze();
        self.push(name, array.boxed())
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Names and types of the columns.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The columns as an Arrow schema.
    pub(crate) fn schema(&self) -> ArrowSchema {
        self.fields.iter().map(|field| (field.name.clone(), field.clone())).collect()
    }

    /// The values of the columns, in their order.
    pub(crate) fn arrays(&self) -> &[Box<dyn Array>] {
        &self.arrays
    }

    /// The values of a column.
    pub(crate) fn get(&self, name: &str) -> Option<&dyn Array> {
        self.fields.iter().position(|field| field.name == name).map(|at| &*self.arrays[at])
    }

    /// Takes a column away, if there is one of this name.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(at) = self.fields.iter().position(|field| field.name == name) {
            self.fields.remove(at);
            self.arrays.remove(at);
        }
    }

    /// `count` rows from row `first` on; nothing is copied.
    pub(crate) fn slice(&self, first: usize, count: usize) -> Self {
        let arrays = self.arrays.iter().map(|array| array.sliced(first, count)).collect();
        Self { rows: count, fields: self.fields.clone(), arrays }
    }

    /// The rows of all pieces, one after the other.
    ///
    /// # Errors
    /// When their columns differ.
    pub(crate) fn concatenated(mut pieces: Vec<Self>) -> Result<Self, ParquetError> {
        if pieces.len() == 1 {
            return Ok(pieces.remove(0));
        }
        let Some(first) = pieces.first() else { return Ok(Self::new(0)) };
        if pieces.iter().any(|piece| piece.fields != first.fields) {
            return Err(ParquetError::Misfit("rows with other columns"));
        }
        let column = |at: usize| concatenate(&pieces.iter().map(|piece| &*piece.arrays[at]).collect::<Vec<_>>());
        let arrays = (0..first.fields.len()).map(column).collect::<Result<_, _>>()?;
        Ok(Self { rows: pieces.iter().map(Self::rows).sum(), fields: first.fields.clone(), arrays })
    }
}
