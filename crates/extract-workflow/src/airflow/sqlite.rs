//! Reader of `airflow.db`, a live database or a copy: it is opened read-only, and no files are
//! created next to it.
//!
//! A database in SQLite's write-ahead mode (Airflow 3) needs the files `-wal` and `-shm` as long as
//! a program has it open. Without a `-wal` no program does, and it is read as immutable. Nothing in
//! the file is executed: no views, no triggers. A damaged file that yields more rows than it can
//! hold (pages that refer to each other) is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flowmine_schema::text;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use super::database::{Database, HISTORY, TABLES};

/// The first 16 bytes of an SQLite 3 database (SQLite's "Database File Format", section 1.3).
pub const MAGIC: &[u8] = b"SQLite format 3\0";
/// Maximum size of a value in bytes; Airflow writes no larger one.
const LARGEST_VALUE: i32 = 256 << 20;

/// Interval of the checks, in instructions of SQLite. Only a damaged file needs more instructions
/// than its size requires.
const INSTRUCTIONS_A_LOOK: u64 = 10_000;

/// Returns the write-ahead log, which contains changes that are not in the database yet; `None`
/// when there is none.
pub fn wal(path: &Path) -> Option<PathBuf> {
    beside(path, "-wal").filter(|wal| wal.is_file())
}

fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(ending);
    Some(path.with_file_name(name))
}

/// Whether a database has a table of Airflow.
///
/// # Errors
/// A message for the user, when the database cannot be read.
pub fn is_one(path: &Path) -> Result<bool, String> {
    let connection = open(path)?;
    for (table, _) in TABLES {
        if has_table(&connection, table).map_err(|error| format!("SQLite reports: {error}"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the tables; errors in a row are passed to `say`.
///
/// # Errors
/// A message for the user, when the database cannot be read.
pub fn read(path: &Path, source: &str, mut say: impl FnMut(String)) -> Result<Database, String> {
    let wrong = |error: rusqlite::Error| format!("SQLite reports: {error}");
    let connection = open(path)?;
    let mut room = size(path).map_err(|e| e.to_string())?;
    let mut database = Database::default();
    database.has_history = has_table(&connection, HISTORY).map_err(wrong)?;
    // All tables as of the same moment.
    connection.execute_batch("BEGIN").map_err(wrong)?;
    for (table, wanted) in TABLES {
        let columns = columns(&connection, table, wanted).map_err(wrong)?;
        if columns.is_empty() {
            continue;
        }
        let mut statement = connection.prepare(&format!("SELECT {} FROM main.{table}", columns.join(", "))).map_err(wrong)?;
        let mut rows = statement.query([]).map_err(wrong)?;
        while let Some(row) = rows.next().map_err(wrong)? {
            let mut values = Map::new();
            let mut bytes = 4;
            for (at, column) in columns.iter().enumerate() {
                let value = match row.get_ref(at).map_err(wrong)? {
                    ValueRef::Null => continue,
                    ValueRef::Integer(number) => number.into(),
                    ValueRef::Real(number) => number.into(),
                    ValueRef::Text(value) => {
                        bytes += value.len() as u64;
                        text::decode(value).into_owned().into()
                    }
                    ValueRef::Blob(value) => {
                        bytes += value.len() as u64;
                        Value::String(value.iter().map(|byte| format!("{byte:02x}")).collect())
                    }
                };
                values.insert((*column).to_owned(), value);
            }
            room = room.checked_sub(bytes).ok_or("it gives more rows than it can hold: it is damaged")?;
            if let Err(why) = database.add(table, &values, source) {
                say(why);
            }
        }
    }
    Ok(database)
}

fn open(path: &Path) -> Result<Connection, String> {
    let path = std::path::absolute(path).map_err(|e| e.to_string())?;
    let mut header = Vec::new();
    for ending in ["-wal", "-shm", "-journal"] {
        // SQLite would wait for the writer of a FIFO, and read what a link leads to.
        if beside(&path, ending).is_some_and(|beside| crate::input::is_no_plain_file(&beside)) {
            return Err(format!("the file {ending} next to it is no plain file"));
        }
    }
    let file = crate::input::open_plain(&path).map_err(|e| e.to_string())?;
    (&file).take(100).read_to_end(&mut header).map_err(|e| e.to_string())?;
    // Byte 19 is the format version that a reader needs; 2 is the write-ahead log.
    let how = match (header.get(19), wal(&path).is_some()) {
        (Some(2), true) if !beside(&path, "-shm").is_some_and(|shm| shm.is_file()) => {
            return Err(
                "it was in use, and its file -wal was copied without the file -shm: copy all three, or end Airflow first".to_owned()
            );
        }
        (Some(2), false) => "immutable=1",
        _ => "mode=ro",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let wrong = |error: rusqlite::Error| format!("SQLite reports: {error}");
    let before = opened(&file);
    let connection = Connection::open_with_flags(uri(&path, how), flags).map_err(wrong)?;
    // SQLite follows links. What it has opened by the path of a listed file has to be that file.
    if flowmine_files::is_within(&path) && opened(&file) <= before {
        return Err("it was replaced while it was opened".to_owned());
    }
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    ] {
        connection.set_db_config(setting, value).map_err(wrong)?;
    }
    let mut instructions = 10_000_000 + size(&path).map_err(|e| e.to_string())?.saturating_mul(64);
    let ends = move || {
        instructions = instructions.saturating_sub(INSTRUCTIONS_A_LOOK);
        instructions == 0
    };
    connection.progress_handler(INSTRUCTIONS_A_LOOK as i32, Some(ends)).map_err(wrong)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST_VALUE).map_err(wrong)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON").map_err(wrong)?;
    connection.busy_timeout(std::time::Duration::from_secs(30)).map_err(wrong)?;
    Ok(connection)
}

/// Number of descriptors of this process that are open on this file.
fn opened(file: &File) -> usize {
    let is_same = |name: std::ffi::OsString| {
        let path = std::path::Path::new("/proc/self/fd").join(name);
        flowmine_files::FileId::at(&path).ok().zip(flowmine_files::FileId::of(file).ok()).is_some_and(|(a, b)| a == b)
    };
    flowmine_files::kernel::names("/proc/self/fd").map_or(0, |names| names.into_iter().filter(|name| is_same(name.clone())).count())
}

/// Returns the URI of a path, with every byte that needs it escaped.
fn uri(path: &Path, how: &str) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(*byte as char);
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("{uri}?{how}")
}

fn size(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.len() + wal(path).and_then(|wal| std::fs::metadata(wal).ok()).map_or(0, |wal| wal.len()))
}

fn has_table(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1")?.exists([table])
}

/// Returns the wanted columns that exist; none unless it is a plain table.
fn columns(connection: &Connection, table: &str, wanted: &[&'static str]) -> rusqlite::Result<Vec<&'static str>> {
    let is_virtual = "SELECT 1 FROM main.sqlite_schema WHERE name = ?1 AND rootpage = 0";
    if !has_table(connection, table)? || connection.prepare(is_virtual)?.exists([table])? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let there: Vec<String> = statement.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(wanted.iter().copied().filter(|column| there.iter().any(|name| name == column)).collect())
}
