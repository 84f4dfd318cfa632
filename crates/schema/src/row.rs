//! Rows and columns: one declaration a table gives a row type, its column list, a builder and a reader.
//!
//! A row borrows its text, so that pushing a row into a [`Builder`] copies each string once, into its column. The
//! order of columns is the order of declaration and is the order in the Parquet file.

use std::borrow::Cow;
use std::marker::PhantomData;

use polars::prelude::{
    BooleanChunked, BooleanChunkedBuilder, ChunkedBuilder, Column, DataFrame, Float64Chunked, Int32Chunked, Int64Chunked, IntoColumn,
    IntoSeries, PlSmallStr, PolarsResult, PrimitiveChunkedBuilder, StringChunked, StringChunkedBuilder,
};
use polars::prelude::{Float64Type, Int32Type, Int64Type};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text, see [`crate::text`] for how other bytes are kept.
    Text,
    /// 64-bit signed integer.
    I64,
    /// 32-bit signed integer.
    I32,
    /// 64-bit floating point.
    F64,
    /// True or false.
    Bool,
}

impl ColumnKind {
    /// The name used in `docs/tables.md`.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Text => "text",
            ColumnKind::I64 => "i64",
            ColumnKind::I32 => "i32",
            ColumnKind::F64 => "f64",
            ColumnKind::Bool => "bool",
        }
    }
}

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub struct ColumnDef {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnKind,
    /// Whether it can be null, which means unknown.
    pub nullable: bool,
    /// What it says, as it stands in `docs/tables.md`.
    pub doc: &'static str,
}

/// Which columns to read.
#[derive(Debug, Clone, Copy)]
pub enum Projection<'p> {
    /// Every column.
    All,
    /// Only these; the others come back as null, zero or empty.
    Only(&'p [&'p str]),
}

impl Projection<'_> {
    pub(crate) fn has(self, column: &str) -> bool {
        match self {
            Projection::All => true,
            Projection::Only(names) => names.contains(&column),
        }
    }
}

/// The column of tables that are split whose value stands in the folder's name and, as Hive's readers want it, not in the files.
pub(crate) const HOST: &str = "host";

/// A value that a column can hold.
pub trait Value<'a>: Sized + Default {
    /// The column's type.
    const KIND: ColumnKind;
    /// Whether null is possible.
    const NULLABLE: bool;
    /// Appends to a column that is being built.
    fn push(&self, column: &mut ColumnBuilder);
    /// Reads row `at`; the default when the column was not read or, for a column that knows no null, holds one.
    fn get(column: &ColumnRef<'a>, at: usize) -> Self;
    /// Appends to a row of bytes.
    fn put(&self, bytes: &mut Vec<u8>);
    /// Takes from the beginning of a row of bytes; `None` when they are not such a row.
    fn take(bytes: &mut &'a [u8]) -> Option<Self>;
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn take_number<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    take_bytes(bytes, N)?.try_into().ok()
}

/// A column while it grows.
pub enum ColumnBuilder {
    #[doc(hidden)]
    Text(StringChunkedBuilder),
    #[doc(hidden)]
    I64(PrimitiveChunkedBuilder<Int64Type>),
    #[doc(hidden)]
    I32(PrimitiveChunkedBuilder<Int32Type>),
    #[doc(hidden)]
    F64(PrimitiveChunkedBuilder<Float64Type>),
    #[doc(hidden)]
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

    fn finish(self) -> Column {
        match self {
            Self::Text(b) => b.finish().into_series().into_column(),
            Self::I64(b) => b.finish().into_series().into_column(),
            Self::I32(b) => b.finish().into_series().into_column(),
            Self::F64(b) => b.finish().into_series().into_column(),
            Self::Bool(b) => b.finish().into_series().into_column(),
        }
    }
}

/// A column that was read, or its absence.
pub enum ColumnRef<'a> {
    #[doc(hidden)]
    Text(&'a StringChunked),
    #[doc(hidden)]
    I64(&'a Int64Chunked),
    #[doc(hidden)]
    I32(&'a Int32Chunked),
    #[doc(hidden)]
    F64(&'a Float64Chunked),
    #[doc(hidden)]
    Bool(&'a BooleanChunked),
    /// Not read, or not in the file (an older format).
    Absent,
}

impl<'a> ColumnRef<'a> {
    fn of(frame: &'a DataFrame, def: &ColumnDef) -> PolarsResult<Self> {
        let Some(index) = frame.get_column_index(def.name) else { return Ok(Self::Absent) };
        let series = frame.columns()[index].as_materialized_series();
        Ok(match def.kind {
            ColumnKind::Text => Self::Text(series.str()?),
            ColumnKind::I64 => Self::I64(series.i64()?),
            ColumnKind::I32 => Self::I32(series.i32()?),
            ColumnKind::F64 => Self::F64(series.f64()?),
            ColumnKind::Bool => Self::Bool(series.bool()?),
        })
    }
}

macro_rules! value {
    ($rust:ty, $variant:ident, |$value:ident| $to_bytes:expr, |$taken:ident| $from_bytes:expr) => {
        impl<'a> Value<'a> for Option<$rust> {
            const KIND: ColumnKind = ColumnKind::$variant;
            const NULLABLE: bool = true;
            fn push(&self, column: &mut ColumnBuilder) {
                if let ColumnBuilder::$variant(builder) = column {
                    builder.append_option(*self);
                }
            }
            fn get(column: &ColumnRef<'a>, at: usize) -> Self {
                if let ColumnRef::$variant(values) = column { values.get(at) } else { None }
            }
            fn put(&self, bytes: &mut Vec<u8>) {
                bytes.push(u8::from(self.is_some()));
                if let Some(value) = self {
                    value.put(bytes);
                }
            }
            fn take(bytes: &mut &'a [u8]) -> Option<Self> {
                match take_number(bytes)? {
                    [0] => Some(None),
                    _ => <$rust>::take(bytes).map(Some),
                }
            }
        }
        impl<'a> Value<'a> for $rust {
            const KIND: ColumnKind = ColumnKind::$variant;
            const NULLABLE: bool = false;
            fn push(&self, column: &mut ColumnBuilder) {
                Some(*self).push(column);
            }
            fn get(column: &ColumnRef<'a>, at: usize) -> Self {
                Option::<$rust>::get(column, at).unwrap_or_default()
            }
            fn put(&self, bytes: &mut Vec<u8>) {
                let $value = *self;
                bytes.extend_from_slice(&$to_bytes);
            }
            fn take(bytes: &mut &'a [u8]) -> Option<Self> {
                let $taken = take_number(bytes)?;
                Some($from_bytes)
            }
        }
    };
}
value!(i64, I64, |value| value.to_le_bytes(), |taken| i64::from_le_bytes(taken));
value!(i32, I32, |value| value.to_le_bytes(), |taken| i32::from_le_bytes(taken));
value!(f64, F64, |value| value.to_le_bytes(), |taken| f64::from_le_bytes(taken));
value!(bool, Bool, |value| [u8::from(value)], |taken| taken != [0]);

impl<'a> Value<'a> for Option<Cow<'a, str>> {
    const KIND: ColumnKind = ColumnKind::Text;
    const NULLABLE: bool = true;
    fn push(&self, column: &mut ColumnBuilder) {
        if let ColumnBuilder::Text(builder) = column {
            builder.append_option(self.as_deref());
        }
    }
    fn get(column: &ColumnRef<'a>, at: usize) -> Self {
        if let ColumnRef::Text(values) = *column { values.get(at).map(Cow::Borrowed) } else { None }
    }
    fn put(&self, bytes: &mut Vec<u8>) {
        // One more than the length, so that 0 is null.
        let length = self.as_deref().map_or(0, |text| text.len() as u64 + 1);
        bytes.extend_from_slice(&length.to_le_bytes()[..4]);
        bytes.extend_from_slice(self.as_deref().unwrap_or_default().as_bytes());
    }
    fn take(bytes: &mut &'a [u8]) -> Option<Self> {
        let Some(length) = u32::from_le_bytes(take_number(bytes)?).checked_sub(1) else { return Some(None) };
        let text = std::str::from_utf8(take_bytes(bytes, length as usize)?).ok()?;
        Some(Some(Cow::Borrowed(text)))
    }
}

impl<'a> Value<'a> for Cow<'a, str> {
    const KIND: ColumnKind = ColumnKind::Text;
    const NULLABLE: bool = false;
    fn push(&self, column: &mut ColumnBuilder) {
        if let ColumnBuilder::Text(builder) = column {
            builder.append_value(self.as_ref());
        }
    }
    fn get(column: &ColumnRef<'a>, at: usize) -> Self {
        Option::<Cow<'a, str>>::get(column, at).unwrap_or_default()
    }
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.len() as u32).to_le_bytes());
        bytes.extend_from_slice(self.as_bytes());
    }
    fn take(bytes: &mut &'a [u8]) -> Option<Self> {
        let length = u32::from_le_bytes(take_number(bytes)?);
        std::str::from_utf8(take_bytes(bytes, length as usize)?).ok().map(Cow::Borrowed)
    }
}

/// A row of a table; made by the [`table!`](crate::table) macro.
pub trait Row: Sized + Send {
    /// The row with its text borrowed for `'a`.
    type Of<'a>: Sized;
    /// The table's folder in the dataset.
    const TABLE: &'static str;
    /// What a row is and where it comes from.
    const DOC: &'static str;
    /// Whether its rows come from hosts and lie in a folder for each host and day.
    const SPLIT: bool;
    /// The columns, in file order.
    const COLUMNS: &'static [ColumnDef];
    /// Appends a row to the columns, which are in the order of [`Row::COLUMNS`].
    fn push(row: &Self::Of<'_>, columns: &mut [ColumnBuilder]);
    /// Reads row `at`.
    fn get<'a>(columns: &[ColumnRef<'a>], at: usize) -> Self::Of<'a>;
    /// Appends a row as bytes, in a form for temporary files that never outlives a run. A text has less than 4 GiB.
    fn put(row: &Self::Of<'_>, bytes: &mut Vec<u8>);
    /// Reads a row from exactly these bytes; `None` when they are no row.
    fn take(bytes: &[u8]) -> Option<Self::Of<'_>>;
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
    /// An empty table.
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

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rows as columns.
    ///
    /// # Errors
    /// Only when columns differ in length, which the row macro makes impossible.
    pub fn finish(self) -> PolarsResult<Rows<R>> {
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Rows { frame: DataFrame::new(self.len, columns)?, row: PhantomData })
    }
}

/// Rows of one table in memory, by column.
pub struct Rows<R: Row> {
    pub(crate) frame: DataFrame,
    row: PhantomData<R>,
}

impl<R: Row> Rows<R> {
    pub(crate) fn from_frame(mut frame: DataFrame) -> Self {
        frame.rechunk_mut();
        Self { frame, row: PhantomData }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.frame.height()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row; for a few of them, as the columns are looked up each time.
    ///
    /// # Errors
    /// As [`Rows::iter`].
    pub fn get(&self, at: usize) -> PolarsResult<R::Of<'_>> {
        let columns = R::COLUMNS.iter().map(|def| ColumnRef::of(&self.frame, def)).collect::<PolarsResult<Vec<_>>>()?;
        Ok(R::get(&columns, at))
    }

    /// The rows in order.
    ///
    /// # Errors
    /// When a column in the file has another type than the table declares.
    pub fn iter(&self) -> PolarsResult<impl Iterator<Item = R::Of<'_>> + '_> {
        let columns = R::COLUMNS.iter().map(|def| ColumnRef::of(&self.frame, def)).collect::<PolarsResult<Vec<_>>>()?;
        Ok((0..self.len()).map(move |at| R::get(&columns, at)))
    }
}

/// The Rust type of a column kind as the [`table!`](crate::table) macro names it; `opt_` means nullable.
#[doc(hidden)]
#[macro_export]
macro_rules! column_type {
    (text, $a:lifetime) => { std::borrow::Cow<$a, str> };
    (opt_text, $a:lifetime) => { Option<std::borrow::Cow<$a, str>> };
    (i64, $a:lifetime) => { i64 };
    (opt_i64, $a:lifetime) => { Option<i64> };
    (i32, $a:lifetime) => { i32 };
    (opt_i32, $a:lifetime) => { Option<i32> };
    (f64, $a:lifetime) => { f64 };
    (opt_f64, $a:lifetime) => { Option<f64> };
    (bool, $a:lifetime) => { bool };
    (opt_bool, $a:lifetime) => { Option<bool> };
}

/// Whether a table is split, by what stands after its name.
#[doc(hidden)]
#[macro_export]
macro_rules! is_split {
    () => {
        false
    };
    (host) => {
        true
    };
}

/// Declares a table: its row type, columns and documentation in one place.
///
/// A column is `name: kind` with kind one of `text`, `i64`, `i32`, `f64`, `bool`, or one of these with `opt_` before it.
/// A table whose rows come from hosts says `by host` after its name: its files lie in a folder for each host and day.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident in $table:literal $(by $split:ident)? {
            $( $(#[doc = $column_doc:literal])+ $column:ident : $kind:ident , )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name<'a> {
            $( $(#[doc = $column_doc])+ pub $column: $crate::column_type!($kind, 'a), )+
            #[doc(hidden)]
            pub lifetime: std::marker::PhantomData<&'a ()>,
        }

        impl $crate::row::Row for $name<'static> {
            type Of<'a> = $name<'a>;
            const TABLE: &'static str = $table;
            const SPLIT: bool = $crate::is_split!($($split)?);
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const COLUMNS: &'static [$crate::row::ColumnDef] = &[ $( $crate::row::ColumnDef {
                name: stringify!($column),
                kind: <$crate::column_type!($kind, 'static) as $crate::row::Value<'static>>::KIND,
                nullable: <$crate::column_type!($kind, 'static) as $crate::row::Value<'static>>::NULLABLE,
                doc: concat!($($column_doc),+),
            } ),+ ];
            fn push(row: &$name<'_>, columns: &mut [$crate::row::ColumnBuilder]) {
                let mut columns = columns.iter_mut();
                $( if let Some(column) = columns.next() { $crate::row::Value::push(&row.$column, column); } )+
            }
            fn get<'a>(columns: &[$crate::row::ColumnRef<'a>], at: usize) -> $name<'a> {
                let mut columns = columns.iter();
                $( let $column = columns.next().map(|column| $crate::row::Value::get(column, at)).unwrap_or_default(); )+
                $name { $($column,)+ lifetime: std::marker::PhantomData }
            }
            fn put(row: &$name<'_>, bytes: &mut Vec<u8>) {
                $( $crate::row::Value::put(&row.$column, bytes); )+
            }
            fn take(mut bytes: &[u8]) -> Option<$name<'_>> {
                $( let $column = $crate::row::Value::take(&mut bytes)?; )+
                bytes.is_empty().then_some($name { $($column,)+ lifetime: std::marker::PhantomData })
            }
        }

        impl $name<'_> {
            /// The same row with its text copied, to be kept.
            pub fn into_owned(self) -> $name<'static> {
                $name { $( $column: $crate::row::Own::own(self.$column), )+ lifetime: std::marker::PhantomData }
            }
        }
    };
}

/// Copies borrowed text out of a row, for [`table!`](crate::table).
pub trait Own {
    /// The owned value.
    type Kept;
    /// Copies what is borrowed.
    fn own(self) -> Self::Kept;
}
impl Own for Cow<'_, str> {
    type Kept = Cow<'static, str>;
    fn own(self) -> Self::Kept {
        Cow::Owned(self.into_owned())
    }
}
impl Own for Option<Cow<'_, str>> {
    type Kept = Option<Cow<'static, str>>;
    fn own(self) -> Self::Kept {
        self.map(Own::own)
    }
}
macro_rules! own {
    ($($plain:ty),+) => { $( impl Own for $plain { type Kept = $plain; fn own(self) -> $plain { self } } )+ };
}
own!(i64, i32, f64, bool, Option<i64>, Option<i32>, Option<f64>, Option<bool>);
