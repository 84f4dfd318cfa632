//! Rows as text.

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::row::{ColumnSink, Row};

/// The value of a column as text; `None` where it is unknown.
#[derive(Default)]
struct Shown(Option<String>);

impl ColumnSink for Shown {
    fn text(&mut self, value: Option<&str>) {
        self.0 = value.map(|text| format!("{text:?}"));
    }

    fn i64(&mut self, value: Option<i64>) {
        self.0 = value.map(|number| number.to_string());
    }

    fn i32(&mut self, value: Option<i32>) {
        self.0 = value.map(|number| number.to_string());
    }

    fn f64(&mut self, value: Option<f64>) {
        self.0 = value.map(|number| number.to_string());
    }

    fn bool(&mut self, value: Option<bool>) {
        self.0 = value.map(|truth| truth.to_string());
    }
}

/// Returns the known values of a row as `column=value`, in the order of the table.
pub fn row_text<R: Row>(row: &R::Of<'_>) -> String {
    let mut columns: Vec<Shown> = R::COLUMNS.iter().map(|_| Shown::default()).collect();
    R::push(row, &mut columns);
    let known = R::COLUMNS.iter().zip(columns).filter_map(|(column, shown)| Some(format!("{}={}", column.name, shown.0?)));
    known.collect::<Vec<_>>().join(" ")
}

/// Calls `each` with every row of a table.
pub fn each_row<R: Row>(dataset: &Dataset, mut each: impl FnMut(R::Of<'_>)) {
    dataset
        .read::<R, DatasetError>(|row| {
            each(row);
            Ok(())
        })
        .unwrap();
}

/// Returns the rows of a table, one a line, sorted.
pub fn table_text<R: Row>(dataset: &Dataset) -> String {
    let mut lines = Vec::new();
    each_row::<R>(dataset, |row| lines.push(format!("{}\n", row_text::<R>(&row))));
    lines.sort();
    lines.concat()
}
