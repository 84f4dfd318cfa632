//! The macros that declare tables ([`table!`](crate::table)) and which of their columns are read
//! ([`columns!`](crate::columns)).

/// The Rust type of a column kind as the [`table!`](crate::table) macro names it; `opt_` means
/// nullable.
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

/// Personal data that a column can reveal; a column of text must declare it.
#[doc(hidden)]
#[macro_export]
macro_rules! column_private {
    ($kind:ident $private:expr) => {{
        #[allow(unused_imports, reason = "names of lists of words are in few columns")]
        use $crate::private::{Private::*, Vocabulary::*};
        $private
    }};
    (text) => {
        compile_error!("a column of text says what it can tell of somebody: `name: text(Path)`, as in `flowmine_schema::private::Private`")
    };
    (opt_text) => {
        $crate::column_private!(text)
    };
    ($kind:ident) => {
        $crate::private::Private::Harmless
    };
}

/// Whether `--drop` can leave a column out, by the word after its kind.
#[doc(hidden)]
#[macro_export]
macro_rules! is_droppable {
    () => {
        false
    };
    (droppable) => {
        true
    };
}

/// Whether a table is split, by the word after its name.
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

/// Implementations for both the row of a whole table and the row of some columns.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($name:ident of $table:ident { $($column:ident),+ }) => {
        impl<'a> $crate::row::Record<'a> for $name<'a> {
            const TABLE: &'static str = <$table<'static> as $crate::row::Row>::TABLE;
            fn each_cell(&mut self, mut each: impl FnMut(&'static $crate::row::ColumnDef, $crate::row::Cell<'_, 'a>)) {
                let mut columns = <$name<'static> as $crate::row::View>::COLUMNS.iter();
                $( if let Some(column) = columns.next() { each(column, $crate::row::Value::cell(&mut self.$column)); } )+
            }
            fn put(&self, bytes: &mut Vec<u8>) {
                $( $crate::row::Value::put(&self.$column, bytes); )+
            }
            fn take(mut bytes: &'a [u8]) -> Option<Self> {
                $( let $column = $crate::row::Value::take(&mut bytes)?; )+
                bytes.is_empty().then_some($name { $($column,)+ lifetime: std::marker::PhantomData })
            }
        }

        #[allow(dead_code, reason = "not every row is kept")]
        impl $name<'_> {
            /// The same row with its text copied, to be kept.
            pub fn into_owned(self) -> $name<'static> {
                $name { $( $column: $crate::row::Own::own(self.$column), )+ lifetime: std::marker::PhantomData }
            }
        }

        const _: () = assert!(
            $crate::row::says_what_of(<$name<'static> as $crate::row::View>::COLUMNS),
            "the pseudonym of one of these columns depends on a column that is not among them"
        );
    };
}

/// Declares a table: its row type, columns and documentation in one place.
///
/// A column is `name: kind` with kind one of `text`, `i64`, `i32`, `f64`, `bool`, or one of these
/// with `opt_` before it. After the kind, in parentheses, follows what it can reveal of people,
/// projects and a site ([`Private`](crate::private::Private)): `path: opt_text(Path)`. A text must
/// declare it, as `Harmless` if it reveals nothing; a number is `Harmless` by default. Then follows
/// `droppable`, if `--drop` can leave the column out. A table with rows that come from hosts has
/// `by host` after its name: its files are stored in a folder for each host and day.
///
/// ```compile_fail
/// flowmine_schema::table! {
///     /// A table of which nobody knows whether its text is somebody's name.
///     pub struct Unsaid in "unsaid" {
///         /// Who?
///         text: opt_text,
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident in $table:literal $(by $split:ident)? {
            $( $(#[doc = $column_doc:literal])+ $column:ident : $kind:ident $( ( $private:expr ) )? $( $droppable:ident )? , )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name<'a> {
            $( $(#[doc = $column_doc])+ pub $column: $crate::column_type!($kind, 'a), )+
            #[doc(hidden)]
            pub lifetime: std::marker::PhantomData<&'a ()>,
        }

        $(
            impl $crate::row::Column<{ $crate::row::name_of(stringify!($column)) }> for $name<'static> {
                type Of<'a> = $crate::column_type!($kind, 'a);
            }
        )+

        impl $crate::row::View for $name<'static> {
            type Of<'a> = $name<'a>;
            type Table = Self;
            const COLUMNS: &'static [$crate::row::ColumnDef] = &[ $( $crate::row::ColumnDef {
                name: stringify!($column),
                kind: <$crate::column_type!($kind, 'static) as $crate::row::Value<'static>>::KIND,
                nullable: <$crate::column_type!($kind, 'static) as $crate::row::Value<'static>>::NULLABLE,
                doc: concat!($($column_doc),+),
                private: $crate::column_private!($kind $($private)?),
                droppable: $crate::is_droppable!($($droppable)?),
            } ),+ ];
            fn get<S: $crate::row::ColumnSource>(columns: &[S], at: usize) -> $name<'_> {
                let mut columns = columns.iter();
                $( let $column = columns.next().map(|column| $crate::row::Value::get(column, at)).unwrap_or_default(); )+
                $name { $($column,)+ lifetime: std::marker::PhantomData }
            }
        }

        impl $crate::row::Row for $name<'static> {
            const TABLE: &'static str = $table;
            const SPLIT: bool = $crate::is_split!($($split)?);
            const DOC: &'static str = concat!($($doc, "\n"),+);
            fn push<S: $crate::row::ColumnSink>(row: &$name<'_>, columns: &mut [S]) {
                let mut columns = columns.iter_mut();
                $( if let Some(column) = columns.next() { $crate::row::Value::push(&row.$column, column); } )+
            }
        }

        $crate::record!($name of $name { $($column),+ });
    };
}

/// Declares which columns of a table are read, as a row type with these fields and no others.
///
/// ```
/// use flowmine_schema::tables::TaskIo;
///
/// flowmine_schema::columns! {
///     /// How much of which file.
///     struct Sizes of TaskIo { path, read_bytes }
/// }
///
/// // Of the row of the whole table; `flowmine-dataset` reads files as such rows, and only these columns of them.
/// let all = TaskIo { path: Some("/data/a".into()), read_bytes: 7, written_bytes: 9, ..TaskIo::default() };
/// let sizes = Sizes::of(&all);
/// assert_eq!((sizes.path.as_deref(), sizes.read_bytes), (Some("/data/a"), 7));
/// ```
///
/// A column that was not selected is no field:
///
/// ```compile_fail,E0609
/// # use flowmine_schema::tables::TaskIo;
/// # flowmine_schema::columns! {
/// #     /// How much of which file.
/// #     struct Sizes of TaskIo { path, read_bytes }
/// # }
/// fn written(row: &Sizes<'_>) -> i64 {
///     row.written_bytes
/// }
/// ```
///
/// and a name that is no column's does not compile:
///
/// ```compile_fail,E0277
/// # use flowmine_schema::tables::TaskIo;
/// flowmine_schema::columns! {
///     /// How much of which file.
///     struct Sizes of TaskIo { path, bytes_read }
/// }
/// ```
#[macro_export]
macro_rules! columns {
    (
        $(#[doc = $doc:literal])+
        $visible:vis struct $name:ident of $table:ident { $($column:ident),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Default)]
        $visible struct $name<'a> {
            $(
                #[doc = concat!("As in the table's column `", stringify!($column), "`.")]
                pub $column: <$table<'static> as $crate::row::Column<{ $crate::row::name_of(stringify!($column)) }>>::Of<'a>,
            )+
            #[doc(hidden)]
            pub lifetime: std::marker::PhantomData<&'a ()>,
        }

        impl $crate::row::View for $name<'static> {
            type Of<'a> = $name<'a>;
            type Table = $table<'static>;
            const COLUMNS: &'static [$crate::row::ColumnDef] =
                &[ $( $crate::row::column_of::<$table<'static>>(stringify!($column)) ),+ ];
            fn get<S: $crate::row::ColumnSource>(columns: &[S], at: usize) -> $name<'_> {
                let mut columns = columns.iter();
                $( let $column = columns.next().map(|column| $crate::row::Value::get(column, at)).unwrap_or_default(); )+
                $name { $($column,)+ lifetime: std::marker::PhantomData }
            }
        }

        #[allow(dead_code, reason = "most are only read")]
        impl<'a> $name<'a> {
            /// These columns of a row of the whole table.
            pub fn of(row: &'a $table<'_>) -> Self {
                $name { $($column: $crate::row::Own::lend(&row.$column),)+ lifetime: std::marker::PhantomData }
            }
        }

        $crate::record!($name of $table { $($column),+ });
    };
}
