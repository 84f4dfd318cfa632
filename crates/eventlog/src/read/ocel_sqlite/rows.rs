//! Rows of several tables in, records out: all that belongs to one id comes together by sorting.

use std::borrow::Cow;

use rusqlite::types::ValueRef;
use rustc_hash::FxHashSet;

use super::values::{self, Taken};
use super::{Database, Report, Side, TypeTable, id, needed, refused, table_place};
use crate::attribute::{Attribute, Value, ValueType};
use crate::error::LogError;
use crate::log::{TypeDef, Types};
use crate::read::{Limits, Severity, Sink, shown};
use crate::record::{Event, Object, Record, Relation};
use crate::sorted::{SortRecords, SortedRecords};
use crate::time;
use flowmine_spill::{Keyed, Sorter, Walk};

/// What a sorted entry is: a row of `event` or `object` with the place of its type and its number, …
const ENTITY: u8 = 0;
/// … a row of a type's table with the place of the table and a record of the values, …
const VALUES: u8 = 1;
/// … the same with a time that cannot be read, …
const NO_TIME: u8 = 2;
/// … a relation of the event or object.
const RELATION: u8 = 3;

impl Side {
    /// Reads all records of this side.
    pub(super) fn read(&mut self, database: &Database, limits: &Limits, sink: &mut dyn Sink, report: &mut Report) -> Result<(), LogError> {
        let mut sorter = Sorter::default();
        let more = self.entities(database, limits, &mut sorter, report)?;
        if !more.is_empty() {
            let types =
                if self.kind.is_events { Types { events: more, objects: Vec::new() } } else { Types { events: Vec::new(), objects: more } };
            sink.types(types)?;
        }
        for number in 0..self.tables.len() {
            self.values(database, number, &mut sorter, report)?;
        }
        self.relations(database, &mut sorter, report)?;
        report.pass(sink);
        let sorted = sorter.finish()?;
        let mut groups = Groups { walk: sorted.walk()?, next: None, most: limits.record_bytes, name: self.kind.name };
        // Events of one time are in the order of their rows, objects in that of their ids.
        let mut by_row = (self.kind.is_events && !self.rows_ascend).then(Sorter::default);
        while let Some((id, entries)) = groups.next()? {
            let id = String::from_utf8(id).map_err(|_| LogError::Damaged)?;
            if let Some(record) = self.record(&id, &entries, report)? {
                match &mut by_row {
                    None => sink.record(&record)?,
                    Some(by_row) => {
                        let mut key = row_number(&entries)?.to_be_bytes().to_vec();
                        key.extend_from_slice(id.as_bytes());
                        by_row.push_record(&key, &record)?;
                    }
                }
            }
            report.pass(sink);
        }
        let Some(by_row) = by_row else { return Ok(()) };
        for batch in by_row.finish()?.batches(|_, _| false) {
            batch?.records().try_for_each(|record| sink.record(&record?))?;
        }
        Ok(())
    }

    /// The rows of `event` or `object`; gives the types that were not declared.
    fn entities(
        &mut self,
        database: &Database,
        limits: &Limits,
        sorter: &mut Sorter,
        report: &mut Report,
    ) -> Result<Vec<TypeDef>, LogError> {
        let name = self.kind.name;
        let table = database.table(name)?.ok_or_else(|| refused(&table_place(name), "it is missing, so this is no OCEL file"))?;
        let columns = [needed(&table, self.kind.id)?, needed(&table, self.kind.kind)?];
        let declared = self.types.len();
        let mut last = String::new();
        self.rows_ascend = true;
        database.scan(&table, &columns, |number, row| {
            let at = || format!("{}, row {number}", table_place(name));
            let (Some(id), Some(kind)) = (id(row.get_ref(0)?, report, at), id(row.get_ref(1)?, report, at)) else { return Ok(()) };
            let place = match self.by_name.get(&kind) {
                Some(&place) => place,
                None => {
                    if self.types.len() >= limits.definitions {
                        return Err(refused(&at(), &format!("more than {} types", limits.definitions)));
                    }
                    let message =
                        || format!("the type {} of {} is not in {}; add it, and a table for it", shown(&kind), shown(&id), self.kind.map);
                    report.add(Severity::Error, "unknown_type", at, message);
                    self.types.push(TypeDef { name: kind.clone(), attributes: Vec::new() });
                    self.table_of.push(None);
                    self.by_name.insert(kind, self.types.len() - 1);
                    self.types.len() - 1
                }
            };
            self.rows_ascend &= last <= id;
            last.clone_from(&id);
            let entry = |out: &mut Vec<u8>| {
                out.extend_from_slice(&tagged(ENTITY, place));
                out.extend_from_slice(&number.to_be_bytes());
            };
            sorter.push(id.as_bytes(), entry).map_err(Into::into)
        })?;
        Ok(self.types.get(declared..).unwrap_or_default().to_vec())
    }

    /// The rows of a type's table.
    fn values(&self, database: &Database, number: usize, sorter: &mut Sorter, report: &mut Report) -> Result<(), LogError> {
        let Some(table) = self.tables.get(number) else { return Ok(()) };
        let events = self.kind.is_events;
        let mut columns = vec![table.id];
        let mut place_of = |column: Option<usize>| {
            columns.extend(column);
            column.map(|_| columns.len() - 1)
        };
        let (time, changed_field) = (place_of(table.time), place_of(table.changed_field.filter(|_| !events)));
        let first = columns.len();
        columns.extend(table.attributes.iter().map(|&(place, _)| place));
        let mut buffer = Vec::new();
        database.scan(&table.table, &columns, |row_number, row| {
            let Some(id) = id(row.get_ref(0)?, report, || row_place(table, row_number, "")) else { return Ok(()) };
            let at = || row_place(table, row_number, &id);
            let when = match time.map(|column| row.get_ref(column)).transpose()? {
                None | Some(ValueRef::Null) => None,
                Some(ValueRef::Text(bytes)) => match std::str::from_utf8(bytes).map_err(|_| time::NotATime::Form).and_then(time::parse) {
                    Ok(ns) => Some(Ok(ns)),
                    Err(why) => Some(Err(why)),
                },
                Some(_) => Some(Err(time::NotATime::Form)),
            };
            if let Some(Err(why)) = when {
                let message = || match why {
                    time::NotATime::Form => format!("{} is no time; write it like 2026-11-20T13:04:05.678+00:00", self.kind.time),
                    time::NotATime::Range => format!("{} is outside of 1677-09-21 to 2262-04-11", self.kind.time),
                };
                report.add(Severity::Error, "time", at, message);
            }
            let field = match changed_field.map(|column| row.get_ref(column)).transpose()? {
                None | Some(ValueRef::Null) => None,
                Some(value) => match super::id(value, report, at) {
                    Some(field) => Some(field),
                    None => return Ok(()),
                },
            };
            let ns = when.and_then(Result::ok);
            let mut attributes = Vec::new();
            let mut known = field.is_none();
            for (column, (&(place, wanted), name)) in table.attributes.iter().zip(table.names()).enumerate() {
                let changed = field.as_deref().is_none_or(|field| field.eq_ignore_ascii_case(name));
                known |= changed;
                if !changed {
                    continue;
                }
                let since_ns = if events { None } else { ns.filter(|&ns| ns != 0) };
                let Some(value) = self.value(row.get_ref(first + column)?, wanted, name, report, at) else {
                    if field.is_some() {
                        let message = || format!("it changes {} to NULL, which cannot be kept; the value before stays", shown(name));
                        report.add(Severity::Warning, "changed_to_null", at, message);
                    }
                    continue;
                };
                // The key is the place for now, so that values of one attribute can be brought together.
                attributes.push(Attribute { key: Cow::Owned(place.to_string()), value, since_ns, children: Vec::new() });
            }
            if !known {
                let message =
                    || format!("ocel_changed_field is {}, which is no column of the table", shown(field.as_deref().unwrap_or_default()));
                report.add(Severity::Error, "changed_field", at, message);
            }
            let tag = if events && ns.is_none() { NO_TIME } else { VALUES };
            if events && when.is_none() {
                report.add(Severity::Error, "time", at, || format!("{} is missing", self.kind.time));
            }
            buffer.clear();
            buffer.extend_from_slice(&tagged(tag, number));
            Record::Event(Event { time_ns: ns.unwrap_or(0), attributes, ..Event::default() }).encode(&mut buffer);
            sorter.push(id.as_bytes(), |out| out.extend_from_slice(&buffer)).map_err(Into::into)
        })
    }

    fn value<'v>(
        &self,
        value: ValueRef<'v>,
        wanted: ValueType,
        name: &str,
        report: &mut Report,
        at: impl FnOnce() -> String,
    ) -> Option<Value<'v>> {
        match values::take(value, wanted) {
            Taken::Absent => None,
            Taken::Fits(value) => Some(value),
            Taken::Differs(value) => {
                let message = || {
                    let (wanted, kind) = (wanted.ocel_name(), value.kind().ocel_name());
                    format!("the column {} is declared as {wanted}, and the value is {kind}; it is kept as that", shown(name))
                };
                report.add(Severity::Warning, "value_type", at, message);
                Some(value)
            }
            Taken::NotUtf8(value) => {
                let message = || format!("the column {} has bytes that are no UTF-8; they are written as \\xNN", shown(name));
                report.add(Severity::Error, "not_utf8", at, message);
                Some(value)
            }
            Taken::Bytes => {
                let message = || format!("the column {} has a BLOB, which is left out; make it text or a number", shown(name));
                report.add(Severity::Error, "not_text", at, message);
                None
            }
        }
    }

    /// The rows of `event_object` or `object_object`.
    fn relations(&self, database: &Database, sorter: &mut Sorter, report: &mut Report) -> Result<(), LogError> {
        let name = self.kind.relations;
        if name.is_empty() {
            return Ok(());
        }
        let Some(table) = database.table(name)? else {
            report.add(Severity::Error, "missing_table", || table_place(name), || "it is missing, so there are no relations".to_owned());
            return Ok(());
        };
        let mut columns = vec![needed(&table, self.kind.from)?, needed(&table, self.kind.to)?];
        columns.extend(table.column(self.kind.qualifier));
        let qualified = columns.len() == 3;
        let mut value = Vec::new();
        database.scan(&table, &columns, |number, row| {
            let at = || format!("{}, row {number}", table_place(name));
            let (Some(from), Some(to)) = (id(row.get_ref(0)?, report, at), id(row.get_ref(1)?, report, at)) else { return Ok(()) };
            let qualifier = match if qualified { row.get_ref(2)? } else { ValueRef::Text(b"") } {
                ValueRef::Null if !self.kind.has_qualifiers => String::new(),
                ValueRef::Null => {
                    let message =
                        || format!("the relation of {} to {} has the qualifier NULL; write a word or ''", shown(&from), shown(&to));
                    report.add(Severity::Error, "null_qualifier", at, message);
                    String::new()
                }
                value => id(value, report, at).unwrap_or_default(),
            };
            value.clear();
            value.extend_from_slice(&tagged(RELATION, to.len()));
            value.extend_from_slice(to.as_bytes());
            value.extend_from_slice(qualifier.as_bytes());
            sorter.push(from.as_bytes(), |out| out.extend_from_slice(&value)).map_err(Into::into)
        })
    }

    /// Builds a record from the entries of one id, if they can form one.
    fn record<'r>(&'r self, id: &'r str, entries: &'r [Vec<u8>], report: &mut Report) -> Result<Option<Record<'r>>, LogError> {
        let name = self.kind.name;
        let mut kind = None;
        let mut time_ns = None;
        let mut table_rows = 0;
        let mut attributes: Vec<(usize, Attribute<'r>)> = Vec::new();
        let mut relations: Vec<Relation<'r>> = Vec::new();
        let mut without_entity = false;
        let place = || format!("{name} {}", shown(id));
        for entry in entries {
            let (tag, number, rest) = untagged(entry)?;
            match tag {
                ENTITY if kind.is_some() => {
                    let rule = if self.kind.is_events { "duplicate_event_id" } else { "duplicate_object_id" };
                    let message = || format!("the id is in the table {name} twice; the first is used. Give each its own id");
                    report.add(Severity::Error, rule, place, message);
                }
                ENTITY => kind = Some(number),
                VALUES | NO_TIME => {
                    let Some(table) = self.tables.get(number) else { return Err(LogError::Damaged) };
                    let of = match kind {
                        Some(kind) => kind,
                        None => {
                            // A type is found by its table, so that nothing is lost; the row is missing in one place only.
                            if !without_entity {
                                without_entity = true;
                                let message = || format!("it is not in the table {name}; add a row with its id and type");
                                report.add(Severity::Error, "row_without_id", || row_of(table, id), message);
                            }
                            let Some(of) = self.table_of.iter().position(|place| *place == Some(number)) else { continue };
                            kind = Some(of);
                            of
                        }
                    };
                    if self.table_of.get(of).copied().flatten() != Some(number) {
                        let of = self.types.get(of).map_or("", |def| def.name.as_str());
                        let message = || format!("its type is {}, which has another table; the row is left out. Move it there", shown(of));
                        report.add(Severity::Error, "row_in_other_table", || row_of(table, id), message);
                        continue;
                    }
                    table_rows += 1;
                    if self.kind.is_events && table_rows > 1 {
                        let message = || "it has a second row for one event, which is left out; remove it".to_owned();
                        report.add(Severity::Error, "duplicate_event_row", || row_of(table, id), message);
                        continue;
                    }
                    let Record::Event(row) = Record::decode(rest)? else { return Err(LogError::Damaged) };
                    time_ns = (tag == VALUES).then_some(row.time_ns);
                    for mut attribute in row.attributes {
                        let column: usize = attribute.key.parse().map_err(|_| LogError::Damaged)?;
                        attribute.key = Cow::Borrowed(table.table.columns.get(column).map_or("", |column| column.name.as_str()));
                        attributes.push((column, attribute));
                    }
                }
                _ => {
                    let (to, qualifier) = rest.split_at_checked(number).ok_or(LogError::Damaged)?;
                    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| LogError::Damaged);
                    relations.push(Relation { object: text(to)?.into(), qualifier: text(qualifier)?.into() });
                }
            }
        }
        let Some(kind) = kind else {
            let message = || format!("{} relations come from it, but it is not in the table {name}; they are left out", relations.len());
            report.add(Severity::Error, "relation_without_source", place, message);
            return Ok(None);
        };
        let kind = Cow::Borrowed(self.types.get(kind).map_or("", |def| def.name.as_str()));
        let before = relations.len();
        let mut seen = FxHashSet::default();
        if before > 1 {
            relations.retain(|relation| seen.insert((relation.object.clone(), relation.qualifier.clone())));
        }
        if relations.len() < before {
            let message = || format!("{} of its relations are there more than once; each is used once", before - relations.len());
            report.add(Severity::Warning, "repeated_relation", place, message);
        }
        if table_rows == 0 {
            let message = || format!("the type {} has no row for it in its table; add one", shown(&kind));
            report.add(Severity::Error, "no_row_in_type_table", place, message);
        }
        let id = Cow::Borrowed(id);
        if !self.kind.is_events {
            attributes.sort_by_key(|(column, attribute)| (*column, attribute.since_ns.is_some(), attribute.since_ns));
            let attributes = attributes.into_iter().map(|(_, attribute)| attribute).collect();
            return Ok(Some(Record::Object(Object { id, kind, attributes, relations })));
        }
        let Some(time_ns) = time_ns else {
            let message = || "it has no time that can be read, and is left out; an event needs one".to_owned();
            report.add(Severity::Error, "event_left_out", place, message);
            return Ok(None);
        };
        let attributes = attributes.into_iter().map(|(_, attribute)| attribute).collect();
        Ok(Some(Record::Event(Event { id, kind, time_ns, attributes, relations })))
    }
}

impl TypeTable {
    fn id_name(&self) -> &str {
        self.table.columns.get(self.id).map_or("", |column| column.name.as_str())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter_map(|&(place, _)| Some(self.table.columns.get(place)?.name.as_str()))
    }
}

fn row_place(table: &TypeTable, number: u64, id: &str) -> String {
    format!("{}, row {number} ({} {})", table_place(&table.table.name), table.id_name(), shown(id))
}

fn row_of(table: &TypeTable, id: &str) -> String {
    format!("{}, {} {}", table_place(&table.table.name), table.id_name(), shown(id))
}

fn tagged(tag: u8, number: usize) -> [u8; 9] {
    let mut bytes = [tag; 9];
    let (_, rest) = bytes.split_at_mut(1);
    rest.copy_from_slice(&(number as u64).to_le_bytes());
    bytes
}

fn untagged(entry: &[u8]) -> Result<(u8, usize, &[u8]), LogError> {
    let (head, rest) = entry.split_first_chunk::<9>().ok_or(LogError::Damaged)?;
    let [tag, number @ ..] = *head;
    Ok((tag, usize::try_from(u64::from_le_bytes(number)).map_err(|_| LogError::Damaged)?, rest))
}

/// The number of the row that an event has in the table `event`; without one it comes last.
fn row_number(entries: &[Vec<u8>]) -> Result<u64, LogError> {
    for entry in entries {
        let (tag, _, rest) = untagged(entry)?;
        if tag == ENTITY {
            return rest.try_into().map(u64::from_be_bytes).map_err(|_| LogError::Damaged);
        }
    }
    Ok(u64::MAX)
}

/// An id with all that was sorted under it.
type Group = (Vec<u8>, Vec<Vec<u8>>);

struct Groups<'s> {
    walk: Walk<'s>,
    next: Option<(Vec<u8>, Vec<u8>)>,
    most: usize,
    name: &'static str,
}

impl Groups<'_> {
    fn next(&mut self) -> Result<Option<Group>, LogError> {
        let owned = |(key, value): Keyed<'_>| (key.to_vec(), value.to_vec());
        let first = match self.next.take() {
            Some(first) => Some(first),
            None => self.walk.next()?.map(owned),
        };
        let Some((id, entry)) = first else { return Ok(None) };
        let mut bytes = entry.len();
        let mut entries = vec![entry];
        loop {
            match self.walk.next()?.map(owned) {
                Some((key, value)) if key == id => {
                    // An entry costs memory in addition to its bytes.
                    bytes = bytes.saturating_add(value.len()).saturating_add(32);
                    if bytes > self.most {
                        let place = format!("{} {}", self.name, shown(&String::from_utf8_lossy(&id)));
                        return Err(refused(
                            &place,
                            &format!("all that belongs to it is larger than {} bytes, which is the limit", self.most),
                        ));
                    }
                    entries.push(value);
                }
                other => {
                    self.next = other;
                    return Ok(Some((id, entries)));
                }
            }
        }
    }
}
