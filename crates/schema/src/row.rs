//! Rows and columns: one declaration for each table defines its row type and its list of columns.
//!
//! A row borrows its text, so that pushing a row into columns ([`ColumnSink`]) copies each string
//! once. Columns are in the order of their declaration, also in files. This module is independent
//! of the layout of columns in memory and in files: implementations of [`ColumnSink`] append a
//! value, implementations of [`ColumnSource`] read one.
//!
//! A type, a [`View`], selects the columns that are read: the table's own row type has all of its
//! columns, a type that [`columns!`](crate::columns) declares has some. The type has no fields for
//! the other columns, so that they cannot be used.

use std::borrow::Cow;

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
    /// Name of the column, with the unit at its end.
    pub name: &'static str,
    /// Type of the column's values.
    pub kind: ColumnKind,
    /// Whether it can be null, which means unknown.
    pub nullable: bool,
    /// Its meaning, as in `docs/tables.md`.
    pub doc: &'static str,
    /// What it can reveal of people, projects and a site, which determines how it is pseudonymised.
    pub private: Private,
    /// Whether `--drop` can leave it out.
    pub droppable: bool,
}

/// Column of split tables with a value that is stored in the folder's name and, as readers of
/// Hive's layout expect, not in the files.
pub const HOST: &str = "host";

/// A column that takes values, null for unknown ones. It ignores a value of another kind.
pub trait ColumnSink {
    /// Appends a text, or null.
    fn text(&mut self, value: Option<&str>);
    /// Appends a 64-bit integer, or null.
    fn i64(&mut self, value: Option<i64>);
    /// Appends a 32-bit integer, or null.
    fn i32(&mut self, value: Option<i32>);
    /// Appends a floating-point number, or null.
    fn f64(&mut self, value: Option<f64>);
    /// Appends true or false, or null.
    fn bool(&mut self, value: Option<bool>);
}

/// A column with values that can be read by the number of their row. The result is `None` for null,
/// for a row that does not exist, and for a column that is absent or of another kind.
pub trait ColumnSource {
    /// The text in row `at`.
    fn text(&self, at: usize) -> Option<&str>;
    /// The 64-bit integer in row `at`.
    fn i64(&self, at: usize) -> Option<i64>;
    /// The 32-bit integer in row `at`.
    fn i32(&self, at: usize) -> Option<i32>;
    /// The floating-point number in row `at`.
    fn f64(&self, at: usize) -> Option<f64>;
    /// The truth value in row `at`.
    fn bool(&self, at: usize) -> Option<bool>;
}

/// A value that a column can hold.
pub trait Value<'a>: Sized + Default {
    /// The column's type.
    const KIND: ColumnKind;
    /// Whether the column can hold null.
    const NULLABLE: bool;
    /// Appends to a column that is being built.
    fn push<S: ColumnSink>(&self, column: &mut S);
    /// Reads row `at`; returns the default if the file has no such column, or if a column without
    /// nulls contains one.
    fn get<S: ColumnSource>(column: &'a S, at: usize) -> Self;
    /// Returns the value in place, to be changed.
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

/// A value in its place in a row, to be changed ([`Record::each_cell`]).
pub enum Cell<'c, 'a> {
    /// Text that is always there.
    Text(&'c mut Cow<'a, str>),
    /// Text that may be unknown.
    OptText(&'c mut Option<Cow<'a, str>>),
    /// A number or a truth value, which can only be cleared.
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
    ($rust:ident, $variant:ident, |$value:ident| $to_bytes:expr, |$taken:ident| $from_bytes:expr) => {
        impl<'a> Value<'a> for Option<$rust> {
            const KIND: ColumnKind = ColumnKind::$variant;
            const NULLABLE: bool = true;
            fn push<S: ColumnSink>(&self, column: &mut S) {
                column.$rust(*self);
            }
            fn get<S: ColumnSource>(column: &'a S, at: usize) -> Self {
                column.$rust(at)
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
            fn push<S: ColumnSink>(&self, column: &mut S) {
                column.$rust(Some(*self));
            }
            fn get<S: ColumnSource>(column: &'a S, at: usize) -> Self {
                column.$rust(at).unwrap_or_default()
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
    fn push<S: ColumnSink>(&self, column: &mut S) {
        column.text(self.as_deref());
    }
    fn get<S: ColumnSource>(column: &'a S, at: usize) -> Self {
        column.text(at).map(Cow::Borrowed)
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
    fn push<S: ColumnSink>(&self, column: &mut S) {
        column.text(Some(self.as_ref()));
    }
    fn get<S: ColumnSource>(column: &'a S, at: usize) -> Self {
        column.text(at).map(Cow::Borrowed).unwrap_or_default()
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
    /// The table of the columns.
    type Table: Row;
    /// The columns, in the order of the type's fields.
    const COLUMNS: &'static [ColumnDef];
    /// Reads row `at`.
    fn get<S: ColumnSource>(columns: &[S], at: usize) -> Self::Of<'_>;
}

/// A row of a table; made by the [`table!`](crate::table) macro. Its [`View::COLUMNS`] are in file
/// order.
pub trait Row: View<Table = Self> {
    /// The table's folder in the dataset.
    const TABLE: &'static str;
    /// Meaning and origin of a row.
    const DOC: &'static str;
    /// Whether its rows come from hosts and are stored in a folder for each host and day.
    const SPLIT: bool;
    /// Appends a row to the columns, which are in the order of [`View::COLUMNS`].
    fn push<S: ColumnSink>(row: &Self::Of<'_>, columns: &mut [S]);
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

/// Type of the values of a table's column with this name. Types in Rust have no text parameters, so
/// a number identifies the name ([`name_of`]). Two names of one table with the same number would
/// not compile.
#[diagnostic::on_unimplemented(message = "`{Self}` has no column of this name", label = "one of these names is no column of the table")]
pub trait Column<const NAME: u64> {
    /// The value, with its text borrowed for `'a`.
    type Of<'a>;
}

/// Returns the number of a column's name in [`Column`] (FNV-1a, 64 bits).
pub const fn name_of(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (mut number, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        number = (number ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    number
}

/// Returns the column of a table with this name.
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

/// Whether the columns include, for each column with pseudonyms that depend on another, that other
/// one.
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

/// Copies or lends the text of a row, for [`table!`](crate::table) and
/// [`columns!`](crate::columns).
pub trait Own {
    /// The value with owned text.
    type Kept;
    /// The value with its text borrowed.
    type Lent<'l>
    where
        Self: 'l;
    /// Takes or copies the text, so that the value owns it.
    fn own(self) -> Self::Kept;
    /// The value with text borrowed from this one.
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
