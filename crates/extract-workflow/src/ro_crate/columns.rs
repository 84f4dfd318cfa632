//! Columns of `task_runs` that the profiles have no terms for: values of `additionalProperty`, with
//! the name of the column. A property without a value is an unknown value.

use flowmine_schema::row::{ColumnKind, ColumnSink, ColumnSource};
use flowmine_schema::tables::TaskRun;
use flowmine_schema::{ColumnDef, Row as _, View};
use serde_json::{Value, json};

use super::graph::Graph;
use crate::{Row, json as bounded};

/// Beginning of `propertyID`, before the name of the column.
pub const PREFIX: &str = "urn:uuid:23b97881-e4f9-5338-8175-c97bfddbf0a6#";

/// Columns that follow from the import itself, and are not those of the run.
const OF_THE_IMPORT: [&str; 4] = ["engine", "source", "line", "source_sha256"];
/// Columns with JSON as text.
const JSON: [&str; 7] = ["machines", "layers", "parents", "logical_parents", "inputs", "outputs", "engine_steps"];
/// Largest integer that every reader of JSON keeps.
const LARGEST_EXACT: u64 = 1 << 53;

/// One value of a row.
#[derive(Debug, Clone, Default, PartialEq)]
struct Cell(Value);

impl ColumnSink for Cell {
    fn text(&mut self, value: Option<&str>) {
        self.0 = json!(value);
    }
    fn i64(&mut self, value: Option<i64>) {
        self.0 = json!(value);
    }
    fn i32(&mut self, value: Option<i32>) {
        self.0 = json!(value);
    }
    fn f64(&mut self, value: Option<f64>) {
        self.0 = json!(value);
    }
    fn bool(&mut self, value: Option<bool>) {
        self.0 = json!(value);
    }
}

impl ColumnSource for Cell {
    fn text(&self, _at: usize) -> Option<&str> {
        self.0.as_str()
    }
    fn i64(&self, _at: usize) -> Option<i64> {
        self.0.as_i64()
    }
    fn i32(&self, _at: usize) -> Option<i32> {
        self.0.as_i64()?.try_into().ok()
    }
    fn f64(&self, _at: usize) -> Option<f64> {
        self.0.as_f64()
    }
    fn bool(&self, _at: usize) -> Option<bool> {
        self.0.as_bool()
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    let mut cells = vec![Cell::default(); TaskRun::COLUMNS.len()];
    TaskRun::push(row, &mut cells);
    cells
}

/// Returns the columns in which `row` differs from what a reader finds without them, with their
/// values.
pub fn differences(row: &Row, read: &Row) -> Vec<(&'static str, Value)> {
    let columns = TaskRun::COLUMNS.iter().zip(cells(row).into_iter().zip(cells(read)));
    let differing = columns.filter(|(column, (value, read))| value != read && !OF_THE_IMPORT.contains(&column.name));
    differing.map(|(column, (value, _))| (column.name, portable(value.0))).collect()
}

fn portable(value: Value) -> Value {
    match value.as_i64() {
        Some(number) if number.unsigned_abs() > LARGEST_EXACT => json!(number.to_string()),
        _ => value,
    }
}

/// Puts the properties of an action in the columns of its row.
pub fn put(graph: &Graph<'_>, task: &Value, row: &mut Row) {
    let mut cells = None;
    for property in graph.entities_of(&task["additionalProperty"]) {
        let Some(name) = property["propertyID"].as_str().and_then(|id| id.strip_prefix(PREFIX)) else { continue };
        let Some(at) = TaskRun::COLUMNS.iter().position(|column| column.name == name && !OF_THE_IMPORT.contains(&name)) else { continue };
        let value = &property["value"];
        let Some(value) = (if value.is_null() { Some(Value::Null) } else { of_column(&TaskRun::COLUMNS[at], value) }) else { continue };
        cells.get_or_insert_with(|| self::cells(row))[at] = Cell(value);
    }
    if let Some(cells) = cells {
        *row = TaskRun::get(&cells, 0).into_owned();
    }
}

/// Returns a value that the column can hold.
fn of_column(column: &ColumnDef, value: &Value) -> Option<Value> {
    match column.kind {
        ColumnKind::Text => {
            let text = value.as_str()?;
            (!JSON.contains(&column.name) || bounded::from_str(text).is_ok()).then(|| json!(text))
        }
        ColumnKind::I64 | ColumnKind::I32 => value.as_i64().or_else(|| value.as_str()?.parse().ok()).map(Value::from),
        ColumnKind::F64 => value.as_f64().map(Value::from),
        ColumnKind::Bool => value.as_bool().map(Value::from),
    }
}

/// Returns the entity of a value of a column.
pub fn entity(id: &str, column: &str, value: &Value) -> Value {
    let mut entity = json!({ "@id": id, "@type": "PropertyValue", "name": column, "propertyID": format!("{PREFIX}{column}") });
    if !value.is_null() {
        entity["value"] = value.clone();
    }
    entity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_value_that_the_column_cannot_hold_is_ignored() {
        let property = |column: &str, value: Value| entity("", column, &value);
        let task = json!({ "additionalProperty": [
            property("parents", json!("no JSON")),
            property("exit_code", json!("three")),
            property("source", json!("elsewhere")),
            property("no_column", json!(1)),
            property("cpus", json!("4")),
            property("submitted_ns", json!("1772352000000000001")),
            property("tag", Value::Null),
        ] });
        let mut row = Row { tag: Some("a".into()), ..Row::default() };
        put(&Graph::of(&json!({})), &task, &mut row);
        assert_eq!(row, Row { cpus: Some(4), submitted_ns: Some(1_772_352_000_000_000_001), ..Row::default() });
    }
}
