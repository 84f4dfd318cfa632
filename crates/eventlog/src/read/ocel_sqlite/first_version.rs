//! OCEL 1.0 in SQLite, as PM4Py writes it: a table `EVENTS` and a table `OBJECTS` with all attributes
//! as columns, and `RELATIONS` with a row for each object of an event.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rustc_hash::FxHashMap;

use super::{Database, FIRST_EVENTS, FIRST_OBJECTS, Kind, Report, Side, id, needed, refused, table_place, type_table};
use crate::attribute::ValueType;
use crate::error::LogError;
use crate::log::TypeDef;
use crate::read::Limits;

/// Whether a database has the tables of this form, with their ids.
pub(super) fn is_one(database: &Database) -> Result<bool, LogError> {
    if !database.has(FIRST_EVENTS.relations) {
        return Ok(false);
    }
    for kind in [&FIRST_EVENTS, &FIRST_OBJECTS] {
        if !database.has(kind.name) || database.table(kind.name)?.is_none_or(|table| table.column(kind.id).is_none()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The types of events or objects, each with the columns that have a value for it. All share one
/// table.
pub(super) fn side(database: &Database, kind: &'static Kind, limits: &Limits, report: &mut Report) -> Result<Side, LogError> {
    let missing = || refused(&table_place(kind.name), "it is missing, so this is no OCEL file");
    let table = type_table(database, database.table(kind.name)?.ok_or_else(missing)?, kind, limits, report)?;
    let mut columns = vec![needed(&table.table, kind.kind)?];
    columns.extend(table.attributes.iter().map(|&(place, _)| place));
    let mut types: Vec<(String, BTreeSet<usize>)> = Vec::new();
    let mut by_name: FxHashMap<String, usize> = FxHashMap::default();
    database.scan(&table.table, &columns, |number, row| {
        let at = || format!("{}, row {number}", table_place(kind.name));
        // A type without a name is reported where its row is read.
        let Some(name) = id(row.get_ref(0)?, &mut Report::default(), at) else { return Ok(()) };
        let place = match by_name.get(&name) {
            Some(&place) => place,
            None if types.len() >= limits.definitions => {
                return Err(refused(&at(), &format!("more than {} types", limits.definitions)));
            }
            None => {
                by_name.insert(name.clone(), types.len());
                types.push((name, BTreeSet::new()));
                types.len() - 1
            }
        };
        let Some((_, seen)) = types.get_mut(place) else { return Ok(()) };
        for column in 1..columns.len() {
            if row.get_ref(column)? != ValueRef::Null {
                seen.insert(column - 1);
            }
        }
        Ok(())
    })?;
    let all: Vec<(String, ValueType)> = table.definitions();
    let of_type = |(name, seen): (String, BTreeSet<usize>)| TypeDef {
        name,
        attributes: seen.into_iter().filter_map(|column| all.get(column).cloned()).collect(),
    };
    let types: Vec<TypeDef> = types.into_iter().map(of_type).collect();
    Ok(Side { kind, table_of: vec![Some(0); types.len()], types, by_name, tables: vec![table], rows_ascend: true })
}
