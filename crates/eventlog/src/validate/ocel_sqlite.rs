//! An OCEL file in the form of an SQLite database in, what is wrong with it out: each finding with
//! its table and row, and what to do.
//!
//! OCEL 1.0 has no such form in its standard: PM4Py's is checked for its tables and columns, without
//! keys. Of OCEL 2.0 checked are the pages of the file, the relational rules of the standard (which tables, columns,
//! primary and foreign keys there are), and what the rows say: ids are unique and no NULLs, types
//! are known, each event and object has its row in the table of its type and no row is there
//! without them, relations lead to what exists, times can be read. Of each rule the first findings
//! are given, the rest is counted.

use std::path::Path;

use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::read::ocel_sqlite::{
    Database, EVENTS, FIRST_EVENTS, FIRST_OBJECTS, Kind, OBJECTS, Report, Table, has_first_version, read_from, table_place,
};
use crate::read::{Finding, Limits, Severity, Sink, printable, shown};
use crate::record::Record;
use crate::validate::relations::{Ids, Names};

/// Checks a file; what makes it unreadable is a finding too. Returns whether it is OCEL 1.0.
///
/// # Errors
/// When the file cannot be opened at all, or a temporary file cannot be written.
pub fn check(path: &Path, limits: &Limits, give: &mut dyn FnMut(Finding)) -> Result<bool, LogError> {
    let mut report = Report::default();
    let mut sink = Checked { give, ids: Ids::default() };
    let mut is_first = false;
    let result = check_all(path, limits, &mut is_first, &mut report, &mut sink);
    if let Err(LogError::RefusedAt { place, message }) = result {
        report.add(Severity::Error, "unreadable", || place, || message);
    } else {
        result?;
    }
    report.end(sink.give);
    Ok(is_first)
}

fn check_all(path: &Path, limits: &Limits, is_first: &mut bool, report: &mut Report, sink: &mut Checked<'_>) -> Result<(), LogError> {
    let database = Database::open(path, limits)?;
    *is_first = has_first_version(&database)?;
    let [events, objects] = if *is_first {
        structure_of_first_version(&database, report)?;
        [&FIRST_EVENTS, &FIRST_OBJECTS]
    } else {
        for kind in [&EVENTS, &OBJECTS] {
            structure(&database, kind, report)?;
        }
        [&EVENTS, &OBJECTS]
    };
    report.pass(sink);
    read_from(&database, limits, sink, report)?;
    let names = Names {
        source: &|of_event, id| {
            let kind = if of_event { events } else { objects };
            format!("{}, {} {}", table_place(kind.relations), kind.from, shown(id))
        },
        objects: &format!("the table {}", objects.name),
    };
    std::mem::take(&mut sink.ids).finish(&names, report)
}

/// The columns that PM4Py reads from OCEL 1.0.
fn structure_of_first_version(database: &Database, report: &mut Report) -> Result<(), LogError> {
    let relations: &[&str] = &[FIRST_EVENTS.from, FIRST_EVENTS.to, FIRST_EVENTS.kind, FIRST_EVENTS.time, FIRST_OBJECTS.kind];
    for (name, columns) in
        [(FIRST_EVENTS.name, FIRST_EVENTS.standard), (FIRST_OBJECTS.name, FIRST_OBJECTS.standard), (FIRST_EVENTS.relations, relations)]
    {
        if let Some(table) = database.table(name)? {
            table_rules(database, &table, columns, &[], &[], report)?;
        }
    }
    Ok(())
}

/// The rules about tables, columns and keys.
fn structure(database: &Database, kind: &Kind, report: &mut Report) -> Result<(), LogError> {
    let rules = [
        (kind.map, &["ocel_type", "ocel_type_map"][..], &["ocel_type"][..], &[][..]),
        (kind.name, &["ocel_id", "ocel_type"], &["ocel_id"], &[("ocel_type", kind.map, "ocel_type")]),
        (
            kind.relations,
            &[kind.from, kind.to, "ocel_qualifier"],
            &[kind.from, kind.to, "ocel_qualifier"],
            &[(kind.from, kind.name, "ocel_id"), (kind.to, OBJECTS.name, "ocel_id")],
        ),
    ];
    for (name, columns, key, foreign) in rules {
        match database.table(name)? {
            Some(table) => table_rules(database, &table, columns, key, foreign, report)?,
            None => report.add(Severity::Error, "missing_table", || table_place(name), || "it is missing; create it".to_owned()),
        }
    }
    let mut mapped = Vec::new();
    if let Some(map) = database.table(kind.map)?
        && let Some(column) = map.column("ocel_type_map")
    {
        database.scan(&map, &[column], |_, row| {
            if let Ok(map) = row.get_ref(0)?.as_str() {
                mapped.push(format!("{}_{map}", kind.name));
            }
            Ok(())
        })?;
    }
    mapped.sort_unstable();
    mapped.dedup();
    let prefix = format!("{}_", kind.name);
    for name in database.tables() {
        let ours = name.split_at_checked(prefix.len()).is_some_and(|(start, _)| start.eq_ignore_ascii_case(&prefix));
        if !ours || [kind.map, kind.relations].iter().any(|standard| name.eq_ignore_ascii_case(standard)) {
            continue;
        }
        if mapped.binary_search_by(|mapped| mapped.as_str().cmp(name)).is_err() {
            // Linear only for tables that break the rule.
            let message = match mapped.iter().find(|mapped| mapped.eq_ignore_ascii_case(name)) {
                Some(mapped) => format!("{} calls it {}; some tools distinguish upper and lower case. Rename it", kind.map, shown(mapped)),
                None => format!("no type in {} has this table; add the type, or rename or drop the table", kind.map),
            };
            report.add(Severity::Error, "table_without_type", || table_place(name), || message);
        }
    }
    for name in mapped {
        let Some(table) = database.table(&name)? else { continue };
        let foreign = [("ocel_id", kind.name, "ocel_id")];
        let events = kind.name == EVENTS.name;
        let columns: &[&str] = if events { &["ocel_id", "ocel_time"] } else { &["ocel_id", "ocel_time", "ocel_changed_field"] };
        table_rules(database, &table, columns, if events { &["ocel_id"] } else { &[] }, &foreign, report)?;
        if let Some(time) = table.column("ocel_time").and_then(|place| table.columns.get(place))
            && time.declared != "TIMESTAMP"
        {
            let message = || format!("the column ocel_time is declared as {}; declare it as TIMESTAMP", shown(&time.declared));
            report.add(Severity::Error, "time_type", || table_place(&name), message);
        }
        let more_key = table.columns.iter().any(|column| column.key > 0 && !column.name.eq_ignore_ascii_case("ocel_id"));
        if events && more_key {
            let message = || "its primary key has more columns than ocel_id, so that an event can have several rows".to_owned();
            report.add(Severity::Error, "primary_key", || table_place(&name), message);
        }
    }
    Ok(())
}

fn table_rules(
    database: &Database,
    table: &Table,
    columns: &[&str],
    key: &[&str],
    foreign: &[(&str, &str, &str)],
    report: &mut Report,
) -> Result<(), LogError> {
    let place = || table_place(&table.name);
    for said in database.quick_check(table)? {
        let message = || {
            format!(
                "{}: the file is damaged; get it again, or save what is left with the `.recover` of the sqlite3 shell",
                printable(&said, 200)
            )
        };
        report.add(Severity::Error, "damaged", place, message);
    }
    for name in columns {
        match table.column(name).and_then(|place| table.columns.get(place)) {
            None => report.add(Severity::Error, "missing_column", place, || format!("the column {name} is missing; add it")),
            Some(column) if column.key == 0 && key.contains(name) => {
                let message = || format!("the column {name} is not in the primary key; declare PRIMARY KEY ({})", key.join(", "));
                report.add(Severity::Error, "primary_key", place, message);
            }
            Some(_) => {}
        }
    }
    let keys = if foreign.is_empty() { Vec::new() } else { database.foreign_keys(table)? };
    for (from, other, to) in foreign {
        let is = |(key_from, key_other, _): &&(String, String, Option<String>)| key_from == from && key_other == other;
        let advice = || format!("declare FOREIGN KEY ({from}) REFERENCES {other} ({to})");
        match keys.iter().find(is) {
            Some((_, _, Some(key_to))) if key_to == to => {}
            Some((_, _, None)) => {
                let message =
                    || format!("the foreign key of {from} does not name its column in {other}, which some tools need; {}", advice());
                report.add(Severity::Warning, "foreign_key", place, message);
            }
            _ => report.add(Severity::Error, "foreign_key", place, || format!("the foreign key of {from} is missing; {}", advice())),
        }
    }
    Ok(())
}

/// Passes findings on, and gathers ids of objects and the targets of relations.
struct Checked<'g> {
    give: &'g mut dyn FnMut(Finding),
    ids: Ids,
}

impl Sink for Checked<'_> {
    fn types(&mut self, _: Types) -> Result<(), LogError> {
        Ok(())
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        self.ids.record(record)
    }

    fn finding(&mut self, finding: Finding) {
        (self.give)(finding);
    }
}
