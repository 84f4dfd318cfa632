//! An object-centric log in, an OCEL 2.0 file in the form of an SQLite database out.
//!
//! The tables are those of the standard (OCEL 2.0 specification, relational form) with all its
//! primary and foreign keys: `event_map_type` and `object_map_type` name the types and their
//! tables; `event` and `object` have an id and a type; `event_object` and `object_object` the
//! relations; `event_<type>` the time and attributes of events; `object_<type>` those of objects: a
//! row with what holds from the beginning (`ocel_time` 1970-01-01, `ocel_changed_field` NULL) and a
//! row for each change. How tables and columns are called is in [`names`]. Columns are typed; times
//! are text as RFC 3339 in UTC, with as many digits as they need, and their order as text is their
//! order in time. True and false are 1 and 0.
//!
//! Written once and counted: a relation that occurs twice. Left out and counted: NaN, which SQLite
//! does not have; a second value of an event's attribute. Counted as simplified: the sign of -0.0;
//! lists and attributes of attributes, which become text ([`crate::nested`]); values that do not
//! have the declared type; attributes with a column of another name.
//!
//! Refused: what breaks the contract of [`ObjectLog`]: ids that are there twice, types and
//! attributes that are not declared, relations to objects that do not exist.
//!
//! Rows of `event` lie in the order of the log, which is that of events of one time. While ids
//! ascend, it is that of their keys; with the first that does not, the table gets row ids.
//!
//! Records with ascending ids are written directly; others are sorted first, in bounded memory with
//! a temporary file next to the output, and so are the indexes. There is no journal and no fsync:
//! the file is usable only when [`write()`] has returned without an error.

pub mod names;
pub(crate) mod rows;

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params_from_iter};

use self::rows::{Bound, Cell, EVENT, EVENT_OBJECT, EVENT_WIDTH, Group, OBJECT, OBJECT_OBJECT, Rows, Tables};
use crate::error::LogError;
use crate::log::{Batches, Counts, ObjectLog, Types};
use crate::parallel;
use crate::read::shown;
use flowmine_spill::Sorter;

/// Parameters of one INSERT. More rows at once spare starting and ending statements; beyond some
/// hundreds nothing is gained.
const PARAMETERS: usize = 240;

/// Text of rows that were put aside, in one statement.
const PUT_ASIDE_BYTES: usize = 1 << 20;

/// Writes a log into a file that does not exist yet.
///
/// # Errors
/// When the file exists or cannot be written, when the log cannot be read, or when it breaks the
/// contract of [`ObjectLog`]; what was written then is of no use.
pub fn write(log: &dyn ObjectLog, path: &Path) -> Result<Counts, LogError> {
    let tables = Tables::new(log.types())?;
    // SQLite takes `file:` at the beginning of a relative path for a URI.
    let path = std::path::absolute(path)?;
    let (folder, name) = flowmine_files::place_of(&path).map_err(io::Error::from)?;
    folder.create_new(name, 0o666).map_err(io::Error::from)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&path, flags)?;
    // Pages of 16 KiB: with 4 KiB writing takes a fifth more time, with 64 KiB a log of a few events and thirty tables takes 2 MB.
    database.execute_batch(
        "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -12288; PRAGMA foreign_keys = OFF; PRAGMA temp_store = FILE;",
    )?;
    database.set_prepared_statement_cache_capacity(256);
    let dir = path.parent().unwrap_or(&path).to_owned();
    let beside = SortedBeside::new(&database, &dir);
    database.execute_batch("BEGIN EXCLUSIVE")?;
    let mut writer = Writer { database: &database, tables: &tables, dir, counts: renamed(log.types()) };
    writer.create()?;
    writer.load(log.objects())?;
    writer.load(log.events())?;
    writer.index()?;
    writer.prove()?;
    let counts = writer.counts;
    database.execute_batch("COMMIT")?;
    drop(beside);
    database.close().map_err(|(_, error)| error)?;
    Ok(counts)
}

/// Counts the attribute names that columns cannot have: those with NUL, and those already in use.
fn renamed(types: &Types) -> Counts {
    let mut counts = Counts::default();
    for def in types.events.iter().chain(&types.objects) {
        let wanted = || def.attributes.iter().map(|(name, _)| name.as_str());
        for (name, column) in wanted().zip(names::columns(wanted())) {
            let nuls = name.matches('\0').count();
            counts.replaced_characters += nuls as u64;
            counts.simplified_values += u64::from(column.len() != name.len() + 3 * nuls);
        }
    }
    counts
}

struct Writer<'a> {
    database: &'a Connection,
    tables: &'a Tables,
    dir: PathBuf,
    counts: Counts,
}

impl Writer<'_> {
    fn create(&self) -> Result<(), LogError> {
        for table in ["event", "object"] {
            self.database.execute_batch(&format!(
                "CREATE TABLE {table}_map_type (ocel_type TEXT NOT NULL, ocel_type_map TEXT NOT NULL, PRIMARY KEY (ocel_type)) WITHOUT ROWID;
                 {} WITHOUT ROWID;",
                create_entities(table)
            ))?;
        }
        self.database.execute_batch(
            "CREATE TABLE event_object (ocel_event_id TEXT NOT NULL, ocel_object_id TEXT NOT NULL, ocel_qualifier TEXT NOT NULL,
                 PRIMARY KEY (ocel_event_id, ocel_object_id, ocel_qualifier), FOREIGN KEY (ocel_event_id) REFERENCES event (ocel_id),
                 FOREIGN KEY (ocel_object_id) REFERENCES object (ocel_id)) WITHOUT ROWID;
             CREATE TABLE object_object (ocel_source_id TEXT NOT NULL, ocel_target_id TEXT NOT NULL, ocel_qualifier TEXT NOT NULL,
                 PRIMARY KEY (ocel_source_id, ocel_target_id, ocel_qualifier), FOREIGN KEY (ocel_source_id) REFERENCES object (ocel_id),
                 FOREIGN KEY (ocel_target_id) REFERENCES object (ocel_id)) WITHOUT ROWID;",
        )?;
        for create in &self.tables.create {
            self.database.execute_batch(create)?;
        }
        for (table, types) in [("event", &self.tables.event_map), ("object", &self.tables.object_map)] {
            let mut insert = self.database.prepare(&format!("INSERT INTO {table}_map_type VALUES (?, ?)"))?;
            for (name, map) in types {
                insert.execute([name, map])?;
            }
        }
        Ok(())
    }

    fn load(&mut self, records: Batches<'_>) -> Result<(), LogError> {
        let mut last: Option<Vec<u8>> = None;
        let mut later = Sorter::beside(&self.dir);
        let mut keeps_order = false;
        let tables = self.tables;
        parallel::in_order(
            records,
            |batch| tables.rows(batch),
            |rows| {
                self.counts += rows.counts;
                let Some((first, end)) = &rows.ends else { return Ok(()) };
                let ascends = rows.ascending && last.as_ref().is_none_or(|last| last < first);
                if !ascends && !keeps_order && rows.groups.iter().any(|group| group.table == EVENT) {
                    keeps_order = true;
                    self.give_row_ids_to_events()?;
                }
                if ascends {
                    last = Some(end.clone());
                    rows.groups.iter().try_for_each(|group| self.insert(group, &rows.text))
                } else {
                    for group in rows.groups.iter().filter(|group| group.table == EVENT) {
                        // One row in a statement, so that an id that is there twice is known.
                        group.cells.chunks_exact(EVENT_WIDTH).try_for_each(|row| self.insert_row(EVENT, row, &rows.text))?;
                    }
                    put_aside(&rows, tables, &mut later)
                }
            },
        )?;
        let later = later.finish()?;
        let mut later = later.walk()?;
        let mut group = Group { table: 0, cells: Vec::new() };
        let mut text = Vec::new();
        while let Some((key, value)) = later.next()? {
            let table = key.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or(LogError::Damaged)?;
            let table = usize::try_from(table).map_err(|_| LogError::Damaged)?;
            // Ids that are there twice meet in this table, and one row in a statement says which.
            let alone = table == OBJECT;
            if table != group.table || alone || group.cells.len() >= PARAMETERS || text.len() >= PUT_ASIDE_BYTES {
                self.insert(&group, &text)?;
                group = Group { table, cells: Vec::new() };
                text.clear();
            }
            take_back(value, &mut group.cells, &mut text)?;
        }
        self.insert(&group, &text)
    }

    /// Rebuilds the table of events with row ids, so that its rows stay in the order in which they
    /// come.
    fn give_row_ids_to_events(&self) -> Result<(), LogError> {
        self.database.execute_batch(&format!(
            "CREATE TEMP TABLE events_before AS SELECT ocel_id, ocel_type FROM main.event ORDER BY ocel_id;
             DROP TABLE main.event;
             {};
             INSERT INTO main.event SELECT ocel_id, ocel_type FROM events_before ORDER BY rowid;
             DROP TABLE events_before;",
            create_entities("event")
        ))?;
        Ok(())
    }

    fn insert_row(&self, table: usize, row: &[Cell], text: &[u8]) -> Result<(), LogError> {
        let table = self.tables.all.get(table).ok_or(LogError::Damaged)?;
        self.execute(table, 1, std::iter::once(row), text)
    }

    fn insert(&self, group: &Group, text: &[u8]) -> Result<(), LogError> {
        let table = self.tables.all.get(group.table).ok_or(LogError::Damaged)?;
        let at_once = (PARAMETERS / table.width).max(1);
        let many = group.cells.chunks_exact(at_once * table.width);
        let rest = many.remainder().chunks_exact(table.width);
        self.execute(table, at_once, many, text)?;
        self.execute(table, 1, rest, text)
    }

    fn execute<'c>(
        &self,
        table: &rows::Table,
        rows: usize,
        chunks: impl ExactSizeIterator<Item = &'c [Cell]>,
        text: &[u8],
    ) -> Result<(), LogError> {
        if chunks.len() == 0 {
            return Ok(());
        }
        let row = format!("({})", vec!["?"; table.width].join(","));
        let sql = format!("INSERT INTO {} VALUES {}", names::quoted(&table.name), vec![row; rows].join(","));
        let mut insert = self.database.prepare_cached(&sql)?;
        for chunk in chunks {
            insert
                .execute(params_from_iter(chunk.iter().map(|&cell| Bound(cell, text))))
                .map_err(|error| twice(error, table, chunk, text))?;
        }
        Ok(())
    }

    /// Indexes for the ways back, from an object to its events and values; there is none yet that
    /// leads there.
    fn index(&self) -> Result<(), LogError> {
        self.database.execute_batch(
            "CREATE INDEX relation_by_object ON event_object (ocel_object_id);
             CREATE INDEX relation_by_target ON object_object (ocel_target_id);",
        )?;
        for table in self.tables.all.iter().filter(|table| !table.keyed) {
            let name = names::quoted(&format!("by_id_in_{}", table.name));
            self.database.execute_batch(&format!("CREATE INDEX {name} ON {} (ocel_id)", names::quoted(&table.name)))?;
        }
        Ok(())
    }

    /// Foreign keys hold by construction, but for objects that relations lead to.
    fn prove(&self) -> Result<(), LogError> {
        for (table, from, to) in [(EVENT_OBJECT, "ocel_event_id", "ocel_object_id"), (OBJECT_OBJECT, "ocel_source_id", "ocel_target_id")] {
            let table = self.tables.all.get(table).ok_or(LogError::Damaged)?;
            let name = &table.name;
            let sql = format!(
                "SELECT {to}, (SELECT {from} FROM {name} WHERE {to} = target.{to} LIMIT 1) FROM (SELECT DISTINCT {to} FROM {name}) AS target
                 WHERE NOT EXISTS (SELECT 1 FROM object WHERE ocel_id = target.{to}) LIMIT 1"
            );
            let mut statement = self.database.prepare(&sql)?;
            let mut found = statement.query([])?;
            if let Some(row) = found.next()? {
                let (to, from): (String, String) = (row.get(0)?, row.get(1)?);
                return Err(LogError::RefusedAt {
                    place: shown(&from),
                    message: format!("it is related to the object {}, which the log does not have", shown(&to)),
                });
            }
        }
        Ok(())
    }
}

/// Says which record is there twice, when that is the error; the rows are those of one statement.
fn twice(error: rusqlite::Error, table: &rows::Table, cells: &[Cell], text: &[u8]) -> LogError {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
        && let Some(&cell) = cells.first()
    {
        let id = String::from_utf8_lossy(Bound(cell, text).bytes());
        return LogError::RefusedAt { place: format!("table {}", table.name), message: format!("the id {} is there twice", shown(&id)) };
    }
    error.into()
}

/// Creates `event` or `object`; behind it may stand WITHOUT ROWID.
fn create_entities(table: &str) -> String {
    format!(
        "CREATE TABLE {table} (ocel_id TEXT NOT NULL, ocel_type TEXT NOT NULL, PRIMARY KEY (ocel_id),
             FOREIGN KEY (ocel_type) REFERENCES {table}_map_type (ocel_type))"
    )
}

/// Puts rows aside to be sorted, but for those of `event`, which have an order of their own.
fn put_aside(rows: &Rows, tables: &Tables, later: &mut Sorter) -> Result<(), LogError> {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for group in rows.groups.iter().filter(|group| group.table != EVENT) {
        let table = tables.all.get(group.table).ok_or(LogError::Damaged)?;
        for row in group.cells.chunks_exact(table.width) {
            value.clear();
            value.extend_from_slice(&(row.len() as u32).to_le_bytes());
            for &cell in row {
                match cell {
                    Cell::Null => value.push(0),
                    Cell::Integer(number) => {
                        value.push(1);
                        value.extend_from_slice(&number.to_le_bytes());
                    }
                    Cell::Real(number) => {
                        value.push(2);
                        value.extend_from_slice(&number.to_le_bytes());
                    }
                    Cell::Text(from, to) => {
                        value.push(3);
                        value.extend_from_slice(&((to - from) as u64).to_le_bytes());
                        value.extend_from_slice(rows.text.get(from..to).unwrap_or_default());
                    }
                }
            }
            let id = row.first().map(|&cell| Bound(cell, &rows.text).bytes()).unwrap_or_default();
            let number = u32::try_from(group.table).map_err(|_| LogError::Damaged)?;
            key.clear();
            key.extend_from_slice(&number.to_be_bytes());
            key.extend_from_slice(id);
            later.push(&key, |out| out.extend_from_slice(&value))?;
        }
    }
    Ok(())
}

/// Adds a row that was put aside.
fn take_back(value: &[u8], cells: &mut Vec<Cell>, text: &mut Vec<u8>) -> Result<(), LogError> {
    let mut rest = value;
    let mut take = |length: usize| -> Result<&[u8], LogError> {
        let (taken, left) = rest.split_at_checked(length).ok_or(LogError::Damaged)?;
        rest = left;
        Ok(taken)
    };
    let count = take(4)?.try_into().map(u32::from_le_bytes).map_err(|_| LogError::Damaged)?;
    for _ in 0..count {
        let kind = take(1)?.first().copied();
        if kind == Some(0) {
            cells.push(Cell::Null);
            continue;
        }
        let eight: [u8; 8] = take(8)?.try_into().map_err(|_| LogError::Damaged)?;
        cells.push(match kind {
            Some(1) => Cell::Integer(i64::from_le_bytes(eight)),
            Some(2) => Cell::Real(f64::from_le_bytes(eight)),
            _ => {
                let start = text.len();
                text.extend_from_slice(take(usize::try_from(u64::from_le_bytes(eight)).map_err(|_| LogError::Damaged)?)?);
                Cell::Text(start, text.len())
            }
        });
    }
    Ok(())
}

/// Says where SQLite's own sorting has its files, for as long as this lives. It is one place for
/// the whole process, guarded by SQLite; another writer can end this early, and the files of the
/// time after that are where SQLite has them by default.
struct SortedBeside<'a>(&'a Connection);

impl<'a> SortedBeside<'a> {
    fn new(database: &'a Connection, dir: &Path) -> Self {
        // SQLite cannot be given a directory with a name that is not UTF-8.
        if let Some(dir) = dir.to_str() {
            let _ = database.pragma_update(None, "temp_store_directory", dir);
        }
        Self(database)
    }
}

impl Drop for SortedBeside<'_> {
    fn drop(&mut self) {
        let _ = self.0.pragma_update(None, "temp_store_directory", "");
    }
}
