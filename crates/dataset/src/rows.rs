//! Rows of one table in memory, as columns: on their way to a file ([`Builder`]), and as they were
//! read ([`Rows`]).
//!
//! In go rows as a table declares them, out come columns of polars, and the same rows again. A
//! column of another type than the table declares is refused; one that is absent reads as null.

use std::marker::PhantomData;

use flowmine_schema::row::{ColumnDef, ColumnKind, ColumnSink, ColumnSource, Row, View};
use polars::prelude::{
    BooleanChunkedBuilder, ChunkedBuilder, DataFrame, Float64Type, Int32Type, Int64Type, IntoColumn, IntoSeries, PlSmallStr, PolarsError,
    PrimitiveChunkedBuilder, StringChunkedBuilder,
};
use polars_arrow::array::{BooleanArray, PrimitiveArray, StaticArray, Utf8ViewArray};

use crate::parquet_error::ParquetError;

/// A column while it grows.
enum ColumnBuilder {
    Text(StringChunkedBuilder),
    I64(PrimitiveChunkedBuilder<Int64Type>),
    I32(PrimitiveChunkedBuilder<Int32Type>),
    F64(PrimitiveChunkedBuilder<Float64Type>),
    Bool(BooleanChunkedBuilder),
}

impl ColumnBuilder {
    fn new(def: &ColumnDef, capacity: usize) -> Self {
        let name = PlSmallStr::from_static(def.name);
        match def.kind {
            ColumnKind::Text => Self::Text(StringChunkedBuilder::new(name, capacity)),
            ColumnKind::I64 => Self::I64(PrimitiveChunkedBuilder::new(name, capacity)),
            ColumnKind::I32 => Self::I32(PrimitiveChunkedBuilder::new(name, capacity)),
            ColumnKind::F64 => Self::F64(PrimitiveChunkedBuilder::new(name, capacity)),
            ColumnKind::Bool => Self::Bool(BooleanChunkedBuilder::new(name, capacity)),
        }
    }

    fn finish(self) -> polars::prelude::Column {
        match self {
            Self::Text(b) => b.finish().into_series().into_column(),
            Self::I64(b) => b.finish().into_series().into_column(),
            Self::I32(b) => b.finish().into_series().into_column(),
            Self::F64(b) => b.finish().into_series().into_column(),
            Self::Bool(b) => b.finish().into_series().into_column(),
        }
    }
}

impl ColumnSink for ColumnBuilder {
    #[inline]
    fn text(&mut self, value: Option<&str>) {
        if let Self::Text(builder) = self {
            builder.append_option(value);
        }
    }
    #[inline]
    fn i64(&mut self, value: Option<i64>) {
        if let Self::I64(builder) = self {
            builder.append_option(value);
        }
    }
    #[inline]
    fn i32(&mut self, value: Option<i32>) {
        if let Self::I32(builder) = self {
            builder.append_option(value);
        }
    }
    #[inline]
    fn f64(&mut self, value: Option<f64>) {
        if let Self::F64(builder) = self {
            builder.append_option(value);
        }
    }
    #[inline]
    fn bool(&mut self, value: Option<bool>) {
        if let Self::Bool(builder) = self {
            builder.append_option(value);
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
    /// A column of a frame whose columns lie in one piece each.
    fn of(frame: &DataFrame, def: &ColumnDef) -> Result<Self, PolarsError> {
        let Some(index) = frame.get_column_index(def.name) else { return Ok(Self::Absent) };
        let series = frame.columns()[index].as_materialized_series();
        let values = match def.kind {
            ColumnKind::Text => series.str()?.downcast_iter().next().cloned().map(Self::Text),
            ColumnKind::I64 => series.i64()?.downcast_iter().next().cloned().map(Self::I64),
            ColumnKind::I32 => series.i32()?.downcast_iter().next().cloned().map(Self::I32),
            ColumnKind::F64 => series.f64()?.downcast_iter().next().cloned().map(Self::F64),
            ColumnKind::Bool => series.bool()?.downcast_iter().next().cloned().map(Self::Bool),
        };
        Ok(values.unwrap_or(Self::Absent))
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
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        Rows::of(DataFrame::new(self.len, columns)?)
    }
}

/// Rows of one table in memory, by column.
pub struct Rows<V: View> {
    pub(crate) frame: DataFrame,
    /// Those of [`View::COLUMNS`], in the frame.
    columns: Vec<ColumnValues>,
    view: PhantomData<fn() -> V>,
}

impl<V: View> Rows<V> {
    /// Refuses a column of another type than the table declares.
    pub(crate) fn of(mut frame: DataFrame) -> Result<Self, ParquetError> {
        frame.rechunk_mut();
        let columns = V::COLUMNS.iter().map(|def| ColumnValues::of(&frame, def)).collect::<Result<_, _>>()?;
        Ok(Self { frame, columns, view: PhantomData })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.frame.height()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `at`; one of nulls, zeros and empty texts where there is none.
    pub fn get(&self, at: usize) -> V::Of<'_> {
        V::get(&self.columns, at)
    }

    /// All rows, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = V::Of<'_>> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}
