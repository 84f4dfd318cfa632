//! Rows of one table in memory, as columns: on their way to a file ([`Builder`]), and as they were
//! read ([`Rows`]).
//!
//! In go rows as a table declares them, out come columns, and the same rows again. A column of
//! another type than the table declares is refused; one that is absent reads as null.

use std::marker::PhantomData;
use std::path::Path;

use flowmine_schema::row::{ColumnDef, ColumnKind, ColumnSink, ColumnSource, Row, View};
use polars_arrow::array::{
    Array, BooleanArray, MutableBinaryViewArray, MutableBooleanArray, MutablePrimitiveArray, PrimitiveArray, StaticArray, Utf8ViewArray,
};

use crate::columns::Columns;
use crate::error::{DatasetError, parquet_error};
use crate::parquet_error::ParquetError;

/// A column while it grows.
enum ColumnBuilder {
    Text(MutableBinaryViewArray<str>),
    I64(MutablePrimitiveArray<i64>),
    I32(MutablePrimitiveArray<i32>),
    F64(MutablePrimitiveArray<f64>),
    Bool(MutableBooleanArray),
}

impl ColumnBuilder {
    fn new(def: &ColumnDef, capacity: usize) -> Self {
        match def.kind {
            ColumnKind::Text => Self::Text(MutableBinaryViewArray::with_capacity(capacity)),
            ColumnKind::I64 => Self::I64(MutablePrimitiveArray::with_capacity(capacity)),
            ColumnKind::I32 => Self::I32(MutablePrimitiveArray::with_capacity(capacity)),
            ColumnKind::F64 => Self::F64(MutablePrimitiveArray::with_capacity(capacity)),
            ColumnKind::Bool => Self::Bool(MutableBooleanArray::with_capacity(capacity)),
        }
    }

    fn finish(self) -> Box<dyn Array> {
        match self {
            Self::Text(values) => values.freeze().boxed(),
            Self::I64(values) => values.freeze().boxed(),
            Self::I32(values) => values.freeze().boxed(),
            Self::F64(values) => values.freeze().boxed(),
            Self::Bool(values) => values.freeze().boxed(),
        }
    }
}

impl ColumnSink for ColumnBuilder {
    #[inline]
    fn text(&mut self, value: Option<&str>) {
        if let Self::Text(builder) = self {
            builder.push(value);
        }
    }
    #[inline]
    fn i64(&mut self, value: Option<i64>) {
        if let Self::I64(builder) = self {
            builder.push(value);
        }
    }
    #[inline]
    fn i32(&mut self, value: Option<i32>) {
        if let Self::I32(builder) = self {
            builder.push(value);
        }
    }
    #[inline]
    fn f64(&mut self, value: Option<f64>) {
        if let Self::F64(builder) = self {
            builder.push(value);
        }
    }
    #[inline]
    fn bool(&mut self, value: Option<bool>) {
        if let Self::Bool(builder) = self {
            builder.push(value);
        }
    }
}

/// The values of a column that was read, or its absence.
enum ColumnValues {
    Text(Utf8ViewArray),
    I64(PrimitiveArray<i64>),
    I32(PrimitiveArray<i32>),
    F64(PrimitiveArray<f64>),
    Bool(BooleanArray),
    /// Not in the file (an older format).
    Absent,
}

impl ColumnValues {
    fn all(columns: &Columns, defs: &[ColumnDef]) -> Result<Vec<Self>, ParquetError> {
        defs.iter().map(|def| Self::new(columns, def)).collect()
    }

    fn new(columns: &Columns, def: &ColumnDef) -> Result<Self, ParquetError> {
        let Some(array) = columns.get(def.name) else { return Ok(Self::Absent) };
        let array = array.as_any();
        let values = match def.kind {
            ColumnKind::Text => array.downcast_ref().cloned().map(Self::Text),
            ColumnKind::I64 => array.downcast_ref().cloned().map(Self::I64),
            ColumnKind::I32 => array.downcast_ref().cloned().map(Self::I32),
            ColumnKind::F64 => array.downcast_ref().cloned().map(Self::F64),
            ColumnKind::Bool => array.downcast_ref().cloned().map(Self::Bool),
        };
        values.ok_or(ParquetError::WrongType(def.name))
    }
}

impl ColumnSource for ColumnValues {
    #[inline]
    fn text(&self, at: usize) -> Option<&str> {
        if let Self::Text(values) = self { StaticArray::get(values, at) } else { None }
    }
    #[inline]
    fn i64(&self, at: usize) -> Option<i64> {
        if let Self::I64(values) = self { StaticArray::get(values, at) } else { None }
    }
    #[inline]
    fn i32(&self, at: usize) -> Option<i32> {
        if let Self::I32(values) = self { StaticArray::get(values, at) } else { None }
    }
    #[inline]
    fn f64(&self, at: usize) -> Option<f64> {
        if let Self::F64(values) = self { StaticArray::get(values, at) } else { None }
    }
    #[inline]
    fn bool(&self, at: usize) -> Option<bool> {
        if let Self::Bool(values) = self { StaticArray::get(values, at) } else { None }
    }
}

/// Rows of one table on their way to a file.
pub struct Builder<R: Row> {
    columns: Vec<ColumnBuilder>,
    len: usize,
    row: PhantomData<R>,
}

impl<R: Row> Default for Builder<R> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<R: Row> Builder<R> {
    /// A builder without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty table with room for `capacity` rows.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { columns: R::COLUMNS.iter().map(|def| ColumnBuilder::new(def, capacity)).collect(), len: 0, row: PhantomData }
    }

    /// Appends a row.
    pub fn push(&mut self, row: &R::Of<'_>) {
        R::push(row, &mut self.columns);
        self.len += 1;
    }

    /// Appends several rows.
    pub fn extend<'r>(&mut self, rows: impl IntoIterator<Item = R::Of<'r>>) {
        rows.into_iter().for_each(|row| self.push(&row));
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the columns of the appended rows.
    ///
    /// # Errors
    /// Only when columns differ in length, which the row macro makes impossible.
    pub fn finish(self) -> Result<Rows<R>, ParquetError> {
        let mut columns = Columns::new(self.len);
        for (def, values) in R::COLUMNS.iter().zip(self.columns) {
            columns.push(def.name, values.finish())?;
        }
        Rows::of(columns)
    }
}

/// Rows of one table in memory, by column.
pub struct Rows<V: View> {
    pub(crate) columns: Columns,
    /// The values of [`View::COLUMNS`].
    values: Vec<ColumnValues>,
    view: PhantomData<fn() -> V>,
}

impl<V: View> Rows<V> {
    /// Refuses a column of another type than the table declares.
    pub(crate) fn of(columns: Columns) -> Result<Self, ParquetError> {
        let values = ColumnValues::all(&columns, V::COLUMNS)?;
        Ok(Self { columns, values, view: PhantomData })
    }

    /// What was read of a file or dataset at `path`.
    pub(crate) fn read(columns: Columns, path: &Path) -> Result<Self, DatasetError> {
        Self::of(columns).map_err(parquet_error(path))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.columns.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `at`; one of nulls, zeros and empty texts where there is none.
    pub fn get(&self, at: usize) -> V::Of<'_> {
        V::get(&self.values, at)
    }

    /// All rows, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = V::Of<'_>> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}
