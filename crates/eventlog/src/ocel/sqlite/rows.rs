//! Records in, rows of the tables out: what can be done away from the database, on any thread.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rustc_hash::FxHashMap;

use super::names;
use crate::attribute::{Attribute, Value, ValueType};
use crate::error::LogError;
use crate::log::{Counts, TypeDef, Types};
use crate::nested;
use crate::read::shown;
use crate::record::{Batch, Event, Object, Record, Relation};
use crate::time;

/// SQLite has 2000 columns at most; three are the standard's.
const MOST_ATTRIBUTES: usize = 1997;

/// A value of a row. Text is a piece of its [`Rows`]' text.
#[derive(Debug, Clone, Copy)]
pub enum Cell {
    /// No value: SQL's NULL.
    Null,
    /// A whole number, or 0 and 1 for false and true.
    Integer(i64),
    /// A floating-point number, not NaN.
    Real(f64),
    /// A text: where it begins and ends among the bytes of the row's texts.
    Text(usize, usize),
}

/// A cell with its text.
#[derive(Clone, Copy)]
pub struct Bound<'a>(pub Cell, pub &'a [u8]);

impl<'a> Bound<'a> {
    /// The bytes of the cell's text; nothing when it is no text.
    pub fn bytes(&self) -> &'a [u8] {
        match self.0 {
            Cell::Text(from, to) => self.1.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => ToSqlOutput::Owned(SqlValue::Null),
            Cell::Integer(number) => ToSqlOutput::Owned(SqlValue::Integer(number)),
            Cell::Real(number) => ToSqlOutput::Owned(SqlValue::Real(number)),
            Cell::Text(..) => ToSqlOutput::Borrowed(ValueRef::Text(self.bytes())),
        })
    }
}

/// The rows that a batch has for one table.
pub struct Group {
    /// Its place in [`Tables::all`].
    pub table: usize,
    /// The cells, row after row; a row has as many as the table has columns.
    pub cells: Vec<Cell>,
}

/// The rows of a batch.
pub struct Rows {
    /// What the cells' texts are pieces of.
    pub text: Vec<u8>,
    /// In the order in which the tables came; rows in the order of the records.
    pub groups: Vec<Group>,
    /// Whether each record's id comes after the one before.
    pub ascending: bool,
    /// The first and the last record's id.
    pub ends: Option<(Vec<u8>, Vec<u8>)>,
    /// How many records, relations and simplified values the rows are of.
    pub counts: Counts,
}

/// A table that takes rows.
#[derive(Debug)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// How many columns the table has.
    pub width: usize,
    /// Whether its rows lie in the order of their keys.
    pub keyed: bool,
}

/// The place of `event` in [`Tables::all`].
pub const EVENT: usize = 0;
/// Number of columns of `event`.
pub const EVENT_WIDTH: usize = 2;
/// The place of `event_object`.
pub const EVENT_OBJECT: usize = 1;
/// The place of `object` in [`Tables::all`].
pub const OBJECT: usize = 2;
/// The place of `object_object`.
pub const OBJECT_OBJECT: usize = 3;

struct Kind {
    table: usize,
    /// Place and type of each attribute.
    columns: FxHashMap<String, (usize, ValueType)>,
    names: Vec<String>,
}

/// The tables of a log, and where its records go.
pub struct Tables {
    /// The tables that take rows: the standard's four, one for each event type, one for each object
    /// type.
    pub all: Vec<Table>,
    /// What makes the tables that the types need, and the rows of `event_map_type` and
    /// `object_map_type`: type and name of its table's second part.
    pub create: Vec<String>,
    /// Event types with the second part of their tables' names.
    pub event_map: Vec<(String, String)>,
    /// Object types with the second part of their tables' names.
    pub object_map: Vec<(String, String)>,
    events: FxHashMap<String, Kind>,
    objects: FxHashMap<String, Kind>,
}

impl Tables {
    /// Lays out the tables for a log's types.
    ///
    /// # Errors
    /// When a type is there twice or has more attributes than a table can have columns.
    pub fn new(types: &Types) -> Result<Self, LogError> {
        let fixed = [("event", EVENT_WIDTH), ("event_object", 3), ("object", 2), ("object_object", 3)];
        let mut tables = Self {
            all: fixed.map(|(name, width)| Table { name: name.to_owned(), width, keyed: true }).into(),
            create: Vec::new(),
            event_map: Vec::new(),
            object_map: Vec::new(),
            events: FxHashMap::default(),
            objects: FxHashMap::default(),
        };
        for (def, map) in types.events.iter().zip(names::tables(types.events.iter().map(|def| def.name.as_str()))) {
            let kind = tables.add(def, format!("event_{map}"), true)?;
            if tables.events.insert(def.name.clone(), kind).is_some() {
                return Err(twice(def));
            }
            tables.event_map.push((def.name.clone(), map));
        }
        for (def, map) in types.objects.iter().zip(names::tables(types.objects.iter().map(|def| def.name.as_str()))) {
            let kind = tables.add(def, format!("object_{map}"), false)?;
            if tables.objects.insert(def.name.clone(), kind).is_some() {
                return Err(twice(def));
            }
            tables.object_map.push((def.name.clone(), map));
        }
        Ok(tables)
    }

    fn add(&mut self, def: &TypeDef, name: String, event: bool) -> Result<Kind, LogError> {
        if def.attributes.len() > MOST_ATTRIBUTES {
            return Err(LogError::RefusedAt {
                place: format!("type {}", shown(&def.name)),
                message: format!("{} attributes, and a table can have {MOST_ATTRIBUTES}; write JSON or XML instead", def.attributes.len()),
            });
        }
        let names = names::columns(def.attributes.iter().map(|(name, _)| name.as_str()));
        let mut sql = format!("CREATE TABLE {} (ocel_id TEXT NOT NULL, ocel_time TIMESTAMP NOT NULL", names::quoted(&name));
        if !event {
            sql.push_str(", ocel_changed_field TEXT");
        }
        let mut columns = FxHashMap::default();
        let before = if event { 2 } else { 3 };
        for (place, ((attribute, kind), column)) in def.attributes.iter().zip(&names).enumerate() {
            sql.push_str(&format!(", {} {}", names::quoted(column), sql_type(*kind)));
            if columns.insert(attribute.clone(), (before + place, *kind)).is_some() {
                return Err(LogError::RefusedAt {
                    place: format!("type {}", shown(&def.name)),
                    message: format!("it has the attribute {} twice", shown(attribute)),
                });
            }
        }
        // An object has many rows here, one with `ocel_changed_field` NULL, so its table has no key.
        sql.push_str(if event {
            ", PRIMARY KEY (ocel_id), FOREIGN KEY (ocel_id) REFERENCES event (ocel_id)) WITHOUT ROWID"
        } else {
            ", FOREIGN KEY (ocel_id) REFERENCES object (ocel_id))"
        });
        self.create.push(sql);
        let table = self.all.len();
        self.all.push(Table { name, width: before + def.attributes.len(), keyed: event });
        Ok(Kind { table, columns, names })
    }

    /// The rows of a batch's records.
    ///
    /// # Errors
    /// When a record is no event or object, or of a type that the log does not know.
    pub fn rows(&self, batch: &Batch) -> Result<Rows, LogError> {
        let mut making = Making {
            tables: self,
            groups: FxHashMap::default(),
            rows: Rows { text: Vec::new(), groups: Vec::new(), ascending: true, ends: None, counts: Counts::default() },
            row: Vec::new(),
        };
        for record in batch.records() {
            match record? {
                Record::Object(object) => making.object(object)?,
                Record::Event(event) => making.event(event)?,
                Record::Trace(_) | Record::CaseEvent(_) | Record::TraceEnd => return Err(LogError::Damaged),
            }
        }
        Ok(making.rows)
    }
}

fn twice(def: &TypeDef) -> LogError {
    LogError::RefusedAt { place: format!("type {}", shown(&def.name)), message: "the log has this type twice".to_owned() }
}

fn sql_type(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Time => "TIMESTAMP",
        ValueType::Integer => "INTEGER",
        ValueType::Float => "REAL",
        ValueType::Boolean => "BOOLEAN",
        ValueType::String | ValueType::Id | ValueType::List | ValueType::Container => "TEXT",
    }
}

struct Making<'t> {
    tables: &'t Tables,
    /// The place in `rows` of the group of each table.
    groups: FxHashMap<usize, usize>,
    rows: Rows,
    row: Vec<Cell>,
}

impl Making<'_> {
    fn event(&mut self, mut event: Event<'_>) -> Result<(), LogError> {
        let tables = self.tables;
        let kind = tables.events.get(event.kind.as_ref()).ok_or_else(|| unknown("event", &event.id, &event.kind))?;
        self.comes(&event.id);
        let id = self.text(&event.id);
        let kind_name = self.text(&event.kind);
        self.push(EVENT, &[id, kind_name]);
        let time = self.time(event.time_ns);
        let mut row = self.start_row(kind, &[id, time]);
        for attribute in &event.attributes {
            let (place, wanted) = column(kind, &event.id, &event.kind, attribute)?;
            match row.get_mut(place) {
                Some(free @ Cell::Null) => *free = self.cell(attribute, wanted),
                // A second value of one attribute has no place.
                _ => self.rows.counts.simplified_values += 1,
            }
        }
        self.push(kind.table, &row);
        self.row = row;
        self.rows.counts.events += 1;
        self.rows.counts.event_relations += self.relations(EVENT_OBJECT, id, &mut event.relations);
        Ok(())
    }

    fn object(&mut self, mut object: Object<'_>) -> Result<(), LogError> {
        let tables = self.tables;
        let kind = tables.objects.get(object.kind.as_ref()).ok_or_else(|| unknown("object", &object.id, &object.kind))?;
        self.comes(&object.id);
        let id = self.text(&object.id);
        let kind_name = self.text(&object.kind);
        self.push(OBJECT, &[id, kind_name]);
        // The row of initial values is of 1970, or, where none is known so early, of when the object came to be: what others write there as its time.
        let since = |attribute: &Attribute<'_>| attribute.since_ns.unwrap_or(0);
        let earliest_ns = object.attributes.iter().map(since).min().unwrap_or(0);
        let initial_ns = if object.attributes.iter().any(|attribute| since(attribute) == 0) { 0 } else { earliest_ns };
        let initial = self.time(initial_ns);
        let mut row = self.start_row(kind, &[id, initial, Cell::Null]);
        let mut later = Vec::new();
        for (number, attribute) in object.attributes.iter().enumerate() {
            let (place, wanted) = column(kind, &object.id, &object.kind, attribute)?;
            match row.get_mut(place) {
                Some(Cell::Null) if since(attribute) == initial_ns => {
                    let cell = self.cell(attribute, wanted);
                    if let Some(free) = row.get_mut(place) {
                        *free = cell;
                    }
                }
                _ => later.push((number, place, wanted)),
            }
        }
        self.push(kind.table, &row);
        for (number, place, wanted) in later {
            let Some(attribute) = object.attributes.get(number) else { continue };
            let cell = self.cell(attribute, wanted);
            if matches!(cell, Cell::Null) {
                // NaN, counted: a change to nothing would read as something else.
                continue;
            }
            row.fill(Cell::Null);
            let field = self.text(kind.names.get(place - 3).map_or("", String::as_str));
            let since = self.time(since(attribute));
            for (free, cell) in row.iter_mut().zip([id, since, field]) {
                *free = cell;
            }
            if let Some(free) = row.get_mut(place) {
                *free = cell;
            }
            self.push(kind.table, &row);
        }
        self.row = row;
        self.rows.counts.objects += 1;
        self.rows.counts.object_relations += self.relations(OBJECT_OBJECT, id, &mut object.relations);
        Ok(())
    }

    fn comes(&mut self, id: &str) {
        match &mut self.rows.ends {
            Some((_, last)) => {
                self.rows.ascending &= last.as_slice() < id.as_bytes();
                last.clear();
                last.extend_from_slice(id.as_bytes());
            }
            none => *none = Some((id.into(), id.into())),
        }
    }

    /// Writes relations in the order of the table's key, each once, and gives their number.
    fn relations(&mut self, table: usize, from: Cell, relations: &mut Vec<Relation<'_>>) -> u64 {
        relations.sort_unstable_by(|a, b| (&a.object, &a.qualifier).cmp(&(&b.object, &b.qualifier)));
        let all = relations.len();
        relations.dedup();
        self.rows.counts.repeated += (all - relations.len()) as u64;
        for relation in relations.iter() {
            let to = self.text(&relation.object);
            let qualifier = self.text(&relation.qualifier);
            self.push(table, &[from, to, qualifier]);
        }
        relations.len() as u64
    }

    fn push(&mut self, table: usize, row: &[Cell]) {
        let group = *self.groups.entry(table).or_insert_with(|| {
            self.rows.groups.push(Group { table, cells: Vec::new() });
            self.rows.groups.len() - 1
        });
        if let Some(group) = self.rows.groups.get_mut(group) {
            group.cells.extend_from_slice(row);
        }
    }

    fn start_row(&mut self, kind: &Kind, first: &[Cell]) -> Vec<Cell> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(first);
        row.resize(first.len() + kind.names.len(), Cell::Null);
        row
    }

    fn text(&mut self, text: &str) -> Cell {
        let start = self.rows.text.len();
        self.rows.text.extend_from_slice(text.as_bytes());
        Cell::Text(start, self.rows.text.len())
    }

    /// With `+00:00` and digits as needed, the order of the texts is that of the times; `Z` would
    /// come after a digit.
    fn time(&mut self, ns: i64) -> Cell {
        let start = self.rows.text.len();
        time::write(ns, 0, "+00:00", &mut self.rows.text);
        Cell::Text(start, self.rows.text.len())
    }

    /// The cell of a value in a column of the declared type. What is not that value any more is
    /// counted.
    fn cell(&mut self, attribute: &Attribute<'_>, wanted: ValueType) -> Cell {
        if nested::is_nested(attribute) {
            self.rows.counts.simplified_values += 1;
            return self.text(&nested::text(attribute));
        }
        match (&attribute.value, wanted) {
            (Value::String(text) | Value::Id(text), ValueType::String | ValueType::Id | ValueType::List | ValueType::Container) => {
                return self.text(text);
            }
            (Value::Time(ns), ValueType::Time) => return self.time(*ns),
            (Value::Integer(number), ValueType::Integer) => return Cell::Integer(*number),
            (Value::Float(number), ValueType::Float) if !is_lost(*number) => return Cell::Real(*number),
            (Value::Boolean(truth), ValueType::Boolean) => return Cell::Integer(i64::from(*truth)),
            _ => {}
        }
        self.rows.counts.simplified_values += 1;
        match &attribute.value {
            Value::Float(number) if number.is_nan() => Cell::Null,
            Value::Float(number) if wanted == ValueType::Float => Cell::Real(number.abs()),
            // Compared in a type that holds both: 2⁶³ as a float is no i64.
            Value::Integer(number) if wanted == ValueType::Float && *number as f64 as i128 == i128::from(*number) => {
                Cell::Real(*number as f64)
            }
            value => self.text(&nested::value_text(value)),
        }
    }
}

/// Whether SQLite does not have the number: it stores NULL for NaN and 0 for -0.0.
fn is_lost(number: f64) -> bool {
    number.is_nan() || number.to_bits() == (-0.0_f64).to_bits()
}

fn column(kind: &Kind, id: &str, type_name: &str, attribute: &Attribute<'_>) -> Result<(usize, ValueType), LogError> {
    kind.columns.get(attribute.key.as_ref()).copied().ok_or_else(|| LogError::RefusedAt {
        place: shown(id),
        message: format!("it has the attribute {}, which its type {} does not have", shown(&attribute.key), shown(type_name)),
    })
}

fn unknown(what: &str, id: &str, kind: &str) -> LogError {
    LogError::RefusedAt {
        place: format!("{what} {}", shown(id)),
        message: format!("it is of the type {}, which the log does not have", shown(kind)),
    }
}
