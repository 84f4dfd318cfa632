//! Rows and columns: one declaration a table gives a row type, its column list, a builder and a reader.
//!
//! A row borrows its text, so that pushing a row into a [`Builder`] copies each string once, into its column. The
//! order of columns is the order of declaration and is the order in the Parquet file.
//!
//! What is read of a table is chosen by a type, a [`View`]: the table's own row type has all of its
//! columns, a type that [`columns!`](crate::columns) declares has some. What was not asked for is
//! no field of it, so that it cannot be used.

use std::borrow::Cow;
use std::marker::PhantomData;

use polars::prelude::{
    BooleanChunkedBuilder, ChunkedBuilder, DataFrame, IntoColumn, IntoSeries, PlSmallStr, PolarsError, PrimitiveChunkedBuilder,
    StringChunkedBuilder,
};
use polars::prelude::{Float64Type, Int32Type, Int64Type};
use polars_arrow::array::{BooleanArray, PrimitiveArray, StaticArray, Utf8ViewArray};

use crate::parquet_error::ParquetError;
use crate::private::Private;

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
    /// What it can tell of people, projects and a site, and so what pseudonyms make of it.
    pub private: Private,
    /// Whether `--drop` can leave it out.
    pub droppable: bool,
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
    /// Reads row `at`; the default when the file has no such column or, for a column that knows no
    /// null, it holds one.
    fn get(column: &'a ColumnValues, at: usize) -> Self;
    /// The value where it stands in a row, to be changed.
    fn cell(&mut self) -> Cell<'_, 'a>;
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

/// The values of a column that was read, or its absence.
pub enum ColumnValues {
    #[doc(hidden)]
    Text(Utf8ViewArray),
    #[doc(hidden)]
    I64(PrimitiveArray<i64>),
    #[doc(hidden)]
    I32(PrimitiveArray<i32>),
    #[doc(hidden)]
    F64(PrimitiveArray<f64>),
    #[doc(hidden)]
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

/// A value where it stands in a row, to be changed ([`Record::each_cell`]).
pub enum Cell<'c, 'a> {
    /// Text that is always there.
    Text(&'c mut Cow<'a, str>),
    /// Text that may be unknown.
    OptText(&'c mut Option<Cow<'a, str>>),
    /// What is no text.
    Other(&'c mut dyn Clear),
}

impl<'a> Cell<'_, 'a> {
    /// The text; `None` when it is unknown, or none.
    pub fn text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            Cell::OptText(text) => text.as_deref(),
            Cell::Other(_) => None,
        }
    }

    /// Puts another text in place of a known one.
    pub fn replace(self, with: impl FnOnce(Cow<'a, str>) -> Cow<'a, str>) {
        match self {
            Cell::Text(text) => *text = with(std::mem::take(text)),
            Cell::OptText(text) => *text = text.take().map(with),
            Cell::Other(_) => {}
        }
    }

    /// Makes it unknown; what cannot be becomes empty, zero or false.
    pub fn clear(self) {
        match self {
            Cell::Text(text) => *text = Cow::default(),
            Cell::OptText(text) => *text = None,
            Cell::Other(value) => value.clear(),
        }
    }
}

/// A value that can be made unknown.
pub trait Clear {
    /// Makes it unknown; what cannot be becomes empty, zero or false.
    fn clear(&mut self);
}

impl<T: Default> Clear for T {
    fn clear(&mut self) {
        *self = T::default();
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
            fn get(column: &'a ColumnValues, at: usize) -> Self {
                if let ColumnValues::$variant(values) = column { StaticArray::get(values, at) } else { None }
            }
            fn cell(&mut self) -> Cell<'_, 'a> {
                Cell::Other(self)
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
            fn get(column: &'a ColumnValues, at: usize) -> Self {
                Option::<$rust>::get(column, at).unwrap_or_default()
            }
            fn cell(&mut self) -> Cell<'_, 'a> {
                Cell::Other(self)
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
    fn get(column: &'a ColumnValues, at: usize) -> Self {
        if let ColumnValues::Text(values) = column { StaticArray::get(values, at).map(Cow::Borrowed) } else { None }
    }
    fn cell(&mut self) -> Cell<'_, 'a> {
        Cell::OptText(self)
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
    fn get(column: &'a ColumnValues, at: usize) -> Self {
        Option::<Cow<'a, str>>::get(column, at).unwrap_or_default()
    }
    fn cell(&mut self) -> Cell<'_, 'a> {
        Cell::Text(self)
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

/// Columns of a table that are read together, as a type: the row of the whole table, made by
/// [`table!`](crate::table), or some of its columns, made by [`columns!`](crate::columns).
pub trait View: Sized + Send {
    /// The row with its text borrowed for `'a`.
    type Of<'a>: Record<'a>;
    /// The table.
    type Table: Row;
    /// The columns, in the order of the type's fields.
    const COLUMNS: &'static [ColumnDef];
    /// Reads row `at`.
    fn get(columns: &[ColumnValues], at: usize) -> Self::Of<'_>;
}

/// A row of a table; made by the [`table!`](crate::table) macro. Its [`View::COLUMNS`] are in file
/// order.
pub trait Row: View<Table = Self> {
    /// The table's folder in the dataset.
    const TABLE: &'static str;
    /// What a row is and where it comes from.
    const DOC: &'static str;
    /// Whether its rows come from hosts and lie in a folder for each host and day.
    const SPLIT: bool;
    /// Appends a row to the columns, which are in the order of [`View::COLUMNS`].
    fn push(row: &Self::Of<'_>, columns: &mut [ColumnBuilder]);
}

/// One row, of a whole table or of some of its columns.
pub trait Record<'a>: Sized {
    /// The table's folder in the dataset.
    const TABLE: &'static str;
    /// Calls `each` with each column and its value, in the order of the columns.
    fn each_cell(&mut self, each: impl FnMut(&'static ColumnDef, Cell<'_, 'a>));
    /// Appends the row as bytes, in a form for temporary files that never outlives a run. A text
    /// has less than 4 GiB.
    fn put(&self, bytes: &mut Vec<u8>);
    /// Reads a row from exactly these bytes; `None` when they are no row.
    fn take(bytes: &'a [u8]) -> Option<Self>;
}

/// What a table's column of this name holds. Rust knows no texts as parameters of types, so that a
/// number stands for the name ([`name_of`]); two names of one table with one number would not
/// compile.
#[diagnostic::on_unimplemented(message = "`{Self}` has no column of this name", label = "one of these names is no column of the table")]
pub trait Column<const NAME: u64> {
    /// The value, with its text borrowed for `'a`.
    type Of<'a>;
}

/// The number that stands for a column's name in [`Column`] (FNV-1a, 64 bits).
pub const fn name_of(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (mut number, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        number = (number ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    number
}

/// The column of this name among those of a table.
///
/// # Panics
/// When the table has none: at compile time, where [`columns!`](crate::columns) uses it.
pub const fn column_of<R: Row>(name: &str) -> ColumnDef {
    match find(R::COLUMNS, name) {
        Some(column) => column,
        None => panic!("the table has no column of this name"),
    }
}

const fn find(columns: &[ColumnDef], name: &str) -> Option<ColumnDef> {
    let mut at = 0;
    while at < columns.len() {
        if is_same(columns[at].name, name) {
            return Some(columns[at]);
        }
        at += 1;
    }
    None
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether each column whose pseudonyms depend on another stands beside that one.
#[doc(hidden)]
pub const fn says_what_of(columns: &[ColumnDef]) -> bool {
    let mut at = 0;
    while at < columns.len() {
        if let Some(other) = columns[at].private.depends_on()
            && find(columns, other).is_none()
        {
            return false;
        }
        at += 1;
    }
    true
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `at`; one of nulls, zeros and empty texts where there is none.
    pub fn get(&self, at: usize) -> V::Of<'_> {
        V::get(&self.columns, at)
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = V::Of<'_>> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// Copies or lends the text of a row, for [`table!`](crate::table) and
/// [`columns!`](crate::columns).
pub trait Own {
    /// The owned value.
    type Kept;
    /// The value with its text borrowed.
    type Lent<'l>
    where
        Self: 'l;
    /// Copies what is borrowed.
    fn own(self) -> Self::Kept;
    /// Borrows the text.
    fn lend(&self) -> Self::Lent<'_>;
}
impl Own for Cow<'_, str> {
    type Kept = Cow<'static, str>;
    type Lent<'l>
        = Cow<'l, str>
    where
        Self: 'l;
    fn own(self) -> Self::Kept {
        Cow::Owned(self.into_owned())
    }
    fn lend(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}
impl Own for Option<Cow<'_, str>> {
    type Kept = Option<Cow<'static, str>>;
    type Lent<'l>
        = Option<Cow<'l, str>>
    where
        Self: 'l;
    fn own(self) -> Self::Kept {
        self.map(Own::own)
    }
    fn lend(&self) -> Option<Cow<'_, str>> {
        self.as_deref().map(Cow::Borrowed)
    }
}
macro_rules! own {
    ($($plain:ty),+) => { $(
        impl Own for $plain {
            type Kept = $plain;
            type Lent<'l> = $plain;
            fn own(self) -> $plain {
                self
            }
            fn lend(&self) -> $plain {
                *self
            }
        }
    )+ };
}
own!(i64, i32, f64, bool, Option<i64>, Option<i32>, Option<f64>, Option<bool>);
