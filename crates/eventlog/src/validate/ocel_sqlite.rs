//! An OCEL 2.0 file in the form of an SQLite database in, what is wrong with it out: each finding
//! with its table and row, and what to do.
//!
//! Checked are the pages of the file, the relational rules of the standard (which tables, columns,
//! primary and foreign keys there are), and what the rows say: ids are unique and no NULLs, types
//! are known, each event and object has its row in the table of its type and no row is there
//! without them, relations lead to what exists, times can be read. Of each rule the first findings
//! are given, the rest is counted.

use std::path::Path;

use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::read::ocel_sqlite::{Database, EVENTS, Kind, OBJECTS, Report, Table, read_from, table_place};
use crate::read::{Finding, Limits, Severity, Sink, printable, shown};
use crate::record::{Record, Relation};
use flowmine_spill::Sorter;

/// Checks a file; what makes it unreadable is a finding too.
///
/// # Errors
/// When the file cannot be opened at all, or a temporary file cannot be written.
pub fn check(path: &Path, limits: &Limits, give: &mut dyn FnMut(Finding)) -> Result<(), LogError> {
    let mut report = Report::default();
    let mut sink = Targets { give, sorter: Sorter::default() };
    let result = check_all(path, limits, &mut report, &mut sink);
    if let Err(LogError::RefusedAt { place, message }) = result {
        report.add(Severity::Error, "unreadable", || place, || message);
    } else {
        result?;
    }
    report.end(sink.give);
    Ok(())
}

fn check_all(path: &Path, limits: &Limits, report: &mut Report, sink: &mut Targets<'_>) -> Result<(), LogError> {
    let database = Database::open(path, limits)?;
    for kind in [&EVENTS, &OBJECTS] {
        structure(&database, kind, report)?;
    }
    report.pass(sink);
    read_from(&database, limits, sink, report)?;
    let sorter = std::mem::take(&mut sink.sorter);
    dangling(sorter, report)
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
                Some(mapped) => format!("{} calls it {}; some tools tell upper from lower case. Rename it", kind.map, shown(mapped)),
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

const IS_THERE: u8 = 0;
const FROM_EVENT: u8 = 1;
const FROM_OBJECT: u8 = 2;

/// Gathers ids of objects and the targets of relations.
struct Targets<'g> {
    give: &'g mut dyn FnMut(Finding),
    sorter: Sorter,
}

impl Targets<'_> {
    fn relations(&mut self, tag: u8, from: &str, relations: &[Relation<'_>]) -> Result<(), LogError> {
        let mut value = Vec::with_capacity(1 + from.len());
        value.push(tag);
        value.extend_from_slice(from.as_bytes());
        relations
            .iter()
            .try_for_each(|relation| self.sorter.push(relation.object.as_bytes(), |out| out.extend_from_slice(&value)))
            .map_err(Into::into)
    }
}

impl Sink for Targets<'_> {
    fn types(&mut self, _: Types) -> Result<(), LogError> {
        Ok(())
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Object(object) => {
                self.sorter.push(object.id.as_bytes(), |out| out.push(IS_THERE))?;
                self.relations(FROM_OBJECT, &object.id, &object.relations)
            }
            Record::Event(event) => self.relations(FROM_EVENT, &event.id, &event.relations),
            _ => Ok(()),
        }
    }

    fn finding(&mut self, finding: Finding) {
        (self.give)(finding);
    }
}

/// Finds relations whose target is not there.
fn dangling(sorter: Sorter, report: &mut Report) -> Result<(), LogError> {
    let sorted = sorter.finish()?;
    let mut walk = sorted.walk()?;
    let mut id: Option<Vec<u8>> = None;
    let mut is_there = false;
    // The object can come after relations to it.
    let mut waiting: Vec<Vec<u8>> = Vec::new();
    let mut more = 0_u64;
    loop {
        let entry = walk.next()?;
        let same = matches!((&entry, &id), (Some((key, _)), Some(id)) if *key == id.as_slice());
        if !same {
            if let (Some(id), false) = (&id, is_there) {
                let to = shown(&String::from_utf8_lossy(id));
                for from in &waiting {
                    let (tag, from) = from.split_first().ok_or(LogError::Damaged)?;
                    let kind = if *tag == FROM_EVENT { &EVENTS } else { &OBJECTS };
                    let place = || format!("{}, {} {}", table_place(kind.relations), kind.from, shown(&String::from_utf8_lossy(from)));
                    let message =
                        || format!("it leads to the object {to}, which is not in the table object; add it or remove the relation");
                    report.add(Severity::Error, "dangling_relation", place, message);
                }
                report.count("dangling_relation", more);
            }
            waiting.clear();
            more = 0;
            is_there = false;
        }
        let Some((key, value)) = entry else { return Ok(()) };
        if !same {
            id = Some(key.to_vec());
        }
        if value.first() == Some(&IS_THERE) {
            is_there = true;
        } else if (waiting.len() as u64) < crate::read::ocel_sqlite::FINDINGS_A_RULE {
            waiting.push(value.to_vec());
        } else {
            more += 1;
        }
    }
}
