//! An OCEL file in the form of an SQLite database in, its types, objects and events out: objects in
//! the order of their ids, events in that of their rows. OCEL 2.0 has a form of its own for this;
//! OCEL 1.0 has none, and is read as PM4Py writes it (`first_version`).
//!
//! Files of PM4Py, process_mining, ours and others differ: keys and indexes are missing, ids are
//! numbers, columns have no types, tables of relations are missing. So each table is only scanned
//! from its beginning to its end, what belongs to one id is brought together by sorting (in bounded
//! memory, with a temporary file as large as the input where it does not fit), and what can be kept
//! is kept, with a [`Finding`].
//!
//! Refused, with the table and the row: what is no SQLite file or is damaged or being written; a
//! file without the tables of either version; views and virtual tables in the place of tables; rows
//! larger than the limits. Left out with a finding: rows without an id, events without a time,
//! relations without their event or source. A relation to an object that does not exist is given as
//! it is; the checks ([`crate::validate::ocel_sqlite`]) find it.
//!
//! Values that an object has since 1970-01-01 00:00 it has always had. Its attributes come in the
//! order of the table's columns, then of their times.

mod database;
mod first_version;
mod rows;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::ValueRef;
use rustc_hash::{FxHashMap, FxHashSet};

use self::values::{Seen, Taken};
use crate::attribute::ValueType;
use crate::error::LogError;
use crate::log::{TypeDef, Types};
use crate::ocel::sqlite::names::OF_PM4PY;
use crate::read::{Finding, Limits, Severity, Sink, shown};

pub(crate) use self::database::{Database, Table, refused, table_place};

/// Findings of one rule that are given one by one; the rest is counted.
pub(crate) const FINDINGS_A_RULE: u64 = 100;

/// Columns that as many types as are allowed may have on average.
const COLUMNS_A_TYPE: usize = 10;

/// The tables by which an SQLite database is an OCEL log: `event` and `object` of OCEL 2.0, or
/// `EVENTS`, `OBJECTS` and `RELATIONS` of PM4Py's OCEL 1.0. `None` where it is none.
///
/// # Errors
/// When it is no SQLite file, is being written, or its schema cannot be read.
pub fn known_tables(path: &Path, limits: &Limits) -> Result<Option<&'static str>, LogError> {
    let database = Database::open(path, limits)?;
    if is_second(&database) {
        return Ok(Some("event, object"));
    }
    Ok(first_version::is_one(&database)?.then_some("EVENTS, OBJECTS, RELATIONS"))
}

/// Whether a database has the tables of OCEL 2.0.
fn is_second(database: &Database) -> bool {
    [EVENTS.name, OBJECTS.name].iter().all(|table| database.has(table))
}

/// Whether a database has the tables of OCEL 1.0, as PM4Py writes it, and not those of OCEL 2.0.
pub(crate) fn has_first_version(database: &Database) -> Result<bool, LogError> {
    Ok(!is_second(database) && first_version::is_one(database)?)
}

/// Reads an OCEL file in the form of SQLite and gives its content to the sink.
///
/// # Errors
/// Of the sink; when nothing more of the file can be used: [`LogError::RefusedAt`] says where and
/// why; when a temporary file cannot be written.
pub fn read(path: &Path, limits: &Limits, sink: &mut dyn Sink) -> Result<(), LogError> {
    let database = Database::open(path, limits)?;
    let mut report = Report::default();
    let result = read_from(&database, limits, sink, &mut report);
    report.end(&mut |finding| sink.finding(finding));
    result
}

pub(crate) fn read_from(database: &Database, limits: &Limits, sink: &mut dyn Sink, report: &mut Report) -> Result<(), LogError> {
    let (mut events, mut objects) = if has_first_version(database)? {
        (first_version::side(database, &FIRST_EVENTS, limits, report)?, first_version::side(database, &FIRST_OBJECTS, limits, report)?)
    } else {
        (Side::new(database, &EVENTS, limits, report)?, Side::new(database, &OBJECTS, limits, report)?)
    };
    report.pass(sink);
    sink.types(Types { events: events.types.clone(), objects: objects.types.clone() })?;
    objects.read(database, limits, sink, report)?;
    events.read(database, limits, sink, report)?;
    report.pass(sink);
    Ok(())
}

/// What differs between events and objects, and between the versions of OCEL.
pub(crate) struct Kind {
    pub is_events: bool,
    /// The table with a row for each event or object.
    pub name: &'static str,
    /// Name of its column with the id.
    pub id: &'static str,
    /// Name of its column with the type.
    pub kind: &'static str,
    /// Name of the column with the time, in the table with the attributes.
    pub time: &'static str,
    /// Columns of the table with the attributes that are none.
    pub standard: &'static [&'static str],
    /// Name of the table of types: `event_map_type` or `object_map_type`; none in OCEL 1.0.
    pub map: &'static str,
    /// The table of relations, with its columns; none for the objects of OCEL 1.0.
    pub relations: &'static str,
    /// Name of the column with the id of the source of a relation.
    pub from: &'static str,
    /// Name of the column with the id of the object to which a relation leads.
    pub to: &'static str,
    /// Name of the column with the qualifier of a relation.
    pub qualifier: &'static str,
    /// Whether a qualifier must not be NULL.
    pub has_qualifiers: bool,
}

pub(crate) const EVENTS: Kind = Kind {
    is_events: true,
    name: "event",
    id: "ocel_id",
    kind: "ocel_type",
    time: "ocel_time",
    standard: &["ocel_id", "ocel_time", "ocel_changed_field"],
    map: "event_map_type",
    relations: "event_object",
    from: "ocel_event_id",
    to: "ocel_object_id",
    qualifier: "ocel_qualifier",
    has_qualifiers: true,
};
pub(crate) const OBJECTS: Kind = Kind {
    is_events: false,
    name: "object",
    map: "object_map_type",
    relations: "object_object",
    from: "ocel_source_id",
    to: "ocel_target_id",
    ..EVENTS
};
pub(crate) const FIRST_EVENTS: Kind = Kind {
    is_events: true,
    name: "EVENTS",
    id: "ocel:eid",
    kind: "ocel:activity",
    time: "ocel:timestamp",
    standard: &["ocel:eid", "ocel:activity", "ocel:timestamp"],
    map: "",
    relations: "RELATIONS",
    from: "ocel:eid",
    to: "ocel:oid",
    qualifier: "ocel:qualifier",
    has_qualifiers: false,
};
pub(crate) const FIRST_OBJECTS: Kind = Kind {
    is_events: false,
    name: "OBJECTS",
    id: "ocel:oid",
    kind: "ocel:type",
    standard: &["ocel:oid", "ocel:type"],
    relations: "",
    ..FIRST_EVENTS
};

/// Findings on their way to the sink.
#[derive(Default)]
pub(crate) struct Report {
    waiting: Vec<Finding>,
    /// How many there were, by rule.
    seen: BTreeMap<&'static str, (u64, Option<Severity>)>,
}

impl Report {
    pub fn add(&mut self, severity: Severity, rule: &'static str, place: impl FnOnce() -> String, message: impl FnOnce() -> String) {
        if self.is_given(severity, rule) {
            self.waiting.push(Finding { severity, rule, line: None, column: None, place: place(), message: message() });
        }
    }

    /// Takes what a reader found.
    pub fn take(&mut self, finding: Finding) {
        if self.is_given(finding.severity, finding.rule) {
            self.waiting.push(finding);
        }
    }

    /// Counts one more of a rule; says whether it is given by itself.
    fn is_given(&mut self, severity: Severity, rule: &'static str) -> bool {
        let (count, worst) = self.seen.entry(rule).or_default();
        *count += 1;
        *worst = (*worst).max(Some(severity));
        *count <= FINDINGS_A_RULE
    }

    /// Counts some more of a rule that was reported.
    pub fn count(&mut self, rule: &'static str, more: u64) {
        self.seen.entry(rule).or_default().0 += more;
    }

    pub fn pass(&mut self, sink: &mut dyn Sink) {
        self.waiting.drain(..).for_each(|finding| sink.finding(finding));
    }

    /// Gives what waits, and how many there were of which only the first were given.
    pub fn end(&mut self, give: &mut dyn FnMut(Finding)) {
        self.waiting.drain(..).for_each(&mut *give);
        for (rule, (count, worst)) in std::mem::take(&mut self.seen) {
            if let (Some(more @ 1..), Some(severity)) = (count.checked_sub(FINDINGS_A_RULE), worst) {
                give(Finding {
                    severity,
                    rule,
                    line: None,
                    column: None,
                    place: String::new(),
                    message: format!("{more} more of this kind"),
                });
            }
        }
    }
}

/// A table of one or more types.
pub(crate) struct TypeTable {
    pub table: Table,
    pub id: usize,
    pub time: Option<usize>,
    pub changed_field: Option<usize>,
    /// Place and type of each attribute's column.
    pub attributes: Vec<(usize, ValueType)>,
}

/// The events or the objects of a file: their types, and the tables of these.
pub(crate) struct Side {
    pub kind: &'static Kind,
    /// The types of the file, then those that only the records have.
    pub types: Vec<TypeDef>,
    /// The place of a type in `types`.
    pub by_name: FxHashMap<String, usize>,
    /// The place of a type's table in `tables`.
    pub table_of: Vec<Option<usize>>,
    pub tables: Vec<TypeTable>,
    /// Whether the rows of `event` or `object` are in the order of their ids, once they were read.
    pub rows_ascend: bool,
}

impl Side {
    fn new(database: &Database, kind: &'static Kind, limits: &Limits, report: &mut Report) -> Result<Self, LogError> {
        let mut side =
            Self { kind, types: Vec::new(), by_name: FxHashMap::default(), table_of: Vec::new(), tables: Vec::new(), rows_ascend: true };
        let mut by_table = FxHashMap::default();
        let mut columns = 0_usize;
        for (name, map) in type_names(database, kind, limits, report)? {
            if side.by_name.contains_key(&name) {
                let message = || format!("the type {} is there twice; remove one of the rows", shown(&name));
                report.add(Severity::Error, "duplicate_type", || table_place(kind.map), message);
                continue;
            }
            let table_name = format!("{}_{map}", kind.name);
            let place = match by_table.get(&table_name.to_ascii_lowercase()) {
                Some(&place) => Some(place),
                None => match database.table(&table_name)? {
                    Some(table) => {
                        let table = type_table(database, table, kind, limits, report)?;
                        columns += table.attributes.len();
                        if columns > limits.definitions.saturating_mul(COLUMNS_A_TYPE) {
                            let message =
                                format!("more than {} columns in all tables of types", limits.definitions.saturating_mul(COLUMNS_A_TYPE));
                            return Err(refused(&table_place(kind.map), &message));
                        }
                        by_table.insert(table_name.to_ascii_lowercase(), side.tables.len());
                        side.tables.push(table);
                        Some(side.tables.len() - 1)
                    }
                    None => {
                        let message = || {
                            format!(
                                "the type {} has no table {}; its times and attributes are not in the file",
                                shown(&name),
                                shown(&table_name)
                            )
                        };
                        report.add(Severity::Error, "type_without_table", || table_place(kind.map), message);
                        None
                    }
                },
            };
            let attributes = place.and_then(|place| side.tables.get(place)).map(TypeTable::definitions).unwrap_or_default();
            side.by_name.insert(name.clone(), side.types.len());
            side.types.push(TypeDef { name, attributes });
            side.table_of.push(place);
        }
        Ok(side)
    }
}

impl TypeTable {
    fn definitions(&self) -> Vec<(String, ValueType)> {
        let named = |&(place, kind): &(usize, ValueType)| Some((self.table.columns.get(place)?.name.clone(), kind));
        self.attributes.iter().filter_map(named).collect()
    }
}

/// The types with the second part of their tables' names, in the order of the file.
fn type_names(database: &Database, kind: &Kind, limits: &Limits, report: &mut Report) -> Result<Vec<(String, String)>, LogError> {
    let mut names = Vec::new();
    let Some(table) = database.table(kind.map)? else {
        let message = || format!("it is missing; the types are those in {0}, and their tables those with like names; add it", kind.name);
        report.add(Severity::Error, "missing_table", || table_place(kind.map), message);
        names = names_without_map(database, kind, limits)?;
        return Ok(names);
    };
    let name = needed(&table, "ocel_type")?;
    let map = needed(&table, "ocel_type_map")?;
    database.scan(&table, &[name, map], |number, row| {
        let place = || format!("{}, row {number}", table_place(&table.name));
        let Some(name) = id(row.get_ref(0)?, report, place) else { return Ok(()) };
        let map = id(row.get_ref(1)?, report, place).unwrap_or_else(|| name.clone());
        names.push((name, map));
        if names.len() > limits.definitions {
            return Err(refused(&place(), &format!("more than {} types", limits.definitions)));
        }
        Ok(())
    })?;
    Ok(names)
}

/// Returns the types of events or objects, each with its table: the one with the same letters and
/// digits in its name.
fn names_without_map(database: &Database, kind: &Kind, limits: &Limits) -> Result<Vec<(String, String)>, LogError> {
    let Some(table) = database.table(kind.name)? else { return Ok(Vec::new()) };
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let mut tables: FxHashMap<String, &str> = FxHashMap::default();
    for name in database.tables() {
        if let Some((start, map)) = name.split_at_checked(kind.name.len() + 1)
            && start.eq_ignore_ascii_case(&format!("{}_", kind.name))
        {
            tables.insert(bare(map), map);
        }
    }
    let mut names: Vec<(String, String)> = Vec::new();
    let mut seen = FxHashSet::default();
    database.scan(&table, &[needed(&table, "ocel_type")?], |number, row| {
        let Ok(name) = row.get_ref(0)?.as_str() else { return Ok(()) };
        if seen.contains(name) {
            return Ok(());
        }
        if names.len() >= limits.definitions {
            return Err(refused(&format!("{}, row {number}", table_place(kind.name)), &format!("more than {} types", limits.definitions)));
        }
        seen.insert(name.to_owned());
        names.push((name.to_owned(), tables.get(&bare(name)).map_or(name, |map| map).to_owned()));
        Ok(())
    })?;
    Ok(names)
}

pub(crate) fn needed(table: &Table, column: &str) -> Result<usize, LogError> {
    table.column(column).ok_or_else(|| refused(&table_place(&table.name), &format!("the column {column} is missing")))
}

fn type_table(database: &Database, table: Table, kind: &Kind, limits: &Limits, report: &mut Report) -> Result<TypeTable, LogError> {
    let id = needed(&table, kind.id)?;
    let time = table.column(kind.time);
    let changed_field = table.column("ocel_changed_field");
    let mut attributes = Vec::new();
    let mut unclear = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        if kind.standard.iter().any(|standard| column.name.eq_ignore_ascii_case(standard)) {
            continue;
        }
        if OF_PM4PY.contains(&column.name.as_str()) {
            let message = || format!("the column {} is one that PM4Py adds for itself, and is left out", column.name);
            report.add(Severity::Note, "not_an_attribute", || table_place(&table.name), message);
            continue;
        }
        match values::declared(&column.declared) {
            Some(kind) => attributes.push((place, kind)),
            None => {
                unclear.push((attributes.len(), place));
                attributes.push((place, ValueType::String));
            }
        }
    }
    if attributes.len() > limits.definitions {
        return Err(refused(&table_place(&table.name), &format!("more than {} columns", limits.definitions)));
    }
    if !unclear.is_empty() {
        let mut seen = vec![Seen::default(); unclear.len()];
        let columns: Vec<_> = unclear.iter().map(|&(_, place)| place).collect();
        database.scan(&table, &columns, |_, row| {
            for (column, seen) in seen.iter_mut().enumerate() {
                seen.see(row.get_ref(column)?);
            }
            Ok(())
        })?;
        for (&(attribute, _), seen) in unclear.iter().zip(seen) {
            if let Some((_, kind)) = attributes.get_mut(attribute) {
                *kind = seen.kind();
            }
        }
        let message = || format!("{} columns are declared without a type; it was taken from their values", unclear.len());
        report.add(Severity::Note, "column_type", || table_place(&table.name), message);
    }
    Ok(TypeTable { table, id, time, changed_field, attributes })
}

/// An id, a type's name, a qualifier: text, or a number as text.
pub(crate) fn id(value: ValueRef<'_>, report: &mut Report, place: impl Fn() -> String) -> Option<String> {
    match values::take(value, ValueType::String) {
        Taken::Fits(crate::Value::String(text)) => Some(text.into_owned()),
        Taken::NotUtf8(crate::Value::String(text)) => {
            report.add(Severity::Error, "not_utf8", place, || "bytes that are no UTF-8; they are written as \\xNN".to_owned());
            Some(text.into_owned())
        }
        Taken::Differs(crate::Value::Integer(number)) => Some(number.to_string()),
        Taken::Differs(crate::Value::Float(number)) => Some(number.to_string()),
        Taken::Absent => {
            report.add(Severity::Error, "null_id", place, || "an id or name is NULL, and the row is left out; give it one".to_owned());
            None
        }
        _ => {
            report.add(Severity::Error, "not_text", place, || "an id or name is a BLOB, and the row is left out; make it text".to_owned());
            None
        }
    }
}

#[cfg(test)]
mod tests;
