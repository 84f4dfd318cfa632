//! Rows of the plain tables of an untrusted SQLite file; no code in the file is executed.
//!
//! The file is opened read-only and as immutable, without reading files next to it; views, triggers
//! and virtual tables are not used, neither are indexes, generated columns, CHECKs and collations.
//! Only plain scans are made, one table at a time. A scan that returns more than the file can hold
//! is ended, because pages that refer to each other make a small file endless.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use flowmine_files::{FileError, open_plain};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use rustc_hash::FxHashMap;

use crate::error::LogError;
use crate::ocel::sqlite::names::quoted;
use crate::read::{Limits, printable};

/// Instructions of SQLite between two looks at how many there were.
const INSTRUCTIONS_A_LOOK: i32 = 10_000;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub name: String,
    /// As declared, in capitals.
    pub declared: String,
    /// From 1 within the primary key; 0 outside.
    pub key: i64,
}

/// A table that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub name: String,
    pub columns: Vec<Column>,
}

impl Table {
    /// The place of a column; SQLite does not know upper from lower case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// An open SQLite file, of which only plain tables are read.
pub(crate) struct Database {
    connection: Connection,
    file_bytes: u64,
    text_bytes: usize,
    instructions: Arc<AtomicI64>,
    /// All that has a name, by its name in lower case: the name, and whether it is a plain table.
    names: FxHashMap<String, (String, bool)>,
}

impl Database {
    /// Opens an SQLite file read-only and as immutable.
    ///
    /// # Errors
    /// When it is no SQLite file, is being written, or its schema cannot be read.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, LogError> {
        let path = std::path::absolute(path)?;
        let file = match open_plain(&path) {
            Err(FileError::Foreign(_)) => return Err(refused("the file", "it is no SQLite database")),
            other => other.map_err(io::Error::from)?,
        };
        let file_bytes = file.metadata()?.len();
        let mut magic = Vec::new();
        file.take(16).read_to_end(&mut magic)?;
        if magic != b"SQLite format 3\0" {
            return Err(refused("the file", "it is no SQLite database"));
        }
        for (ending, header) in [("-wal", 1), ("-journal", 8)] {
            let mut beside = path.clone().into_os_string();
            beside.push(ending);
            let name = Path::new(&beside).file_name().unwrap_or_default().to_string_lossy().into_owned();
            let refused = |message: &str| refused(&format!("the file {name}"), message);
            let mut bytes = Vec::new();
            match open_plain(Path::new(&beside)) {
                Ok(file) => _ = file.take(header).read_to_end(&mut bytes)?,
                Err(error) if error.is_not_found() => {}
                // It may have rows that the database does not have yet.
                Err(error) => return Err(refused(&format!("it cannot be read ({error})"))),
            }
            if bytes.iter().any(|&byte| byte != 0) {
                return Err(refused(
                    "a program is writing the database or was killed while it was; let it end, or open the database with it once more",
                ));
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri(&path), flags)?;
        for (setting, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        ] {
            connection.set_db_config(setting, value)?;
        }
        let most = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
        for (limit, value) in [
            // A row can be as long as a record, and a little longer by the names of its columns.
            (Limit::SQLITE_LIMIT_LENGTH, most(limits.record_bytes.saturating_add(1 << 20))),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, 4 << 20),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, value)?;
        }
        let instructions = Arc::new(AtomicI64::new(0));
        let left = Arc::clone(&instructions);
        connection.progress_handler(
            INSTRUCTIONS_A_LOOK,
            Some(move || left.fetch_sub(i64::from(INSTRUCTIONS_A_LOOK), Ordering::Relaxed) < i64::from(INSTRUCTIONS_A_LOOK)),
        )?;
        let mut database = Self { connection, file_bytes, text_bytes: limits.text_bytes, instructions, names: FxHashMap::default() };
        database.refill();
        // These read the schema, so the budget is there before.
        database
            .connection
            .execute_batch(
                "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON; PRAGMA ignore_check_constraints = ON;
             PRAGMA cache_size = -8192; PRAGMA temp_store = FILE;",
            )
            .map_err(|error| broken("the schema", error))?;
        database.read_names(limits)?;
        Ok(database)
    }

    fn read_names(&mut self, limits: &Limits) -> Result<(), LogError> {
        self.refill();
        let place = "the schema";
        let most = limits.definitions.saturating_mul(8);
        let mut statement =
            self.connection.prepare("SELECT type, name, rootpage FROM main.sqlite_schema").map_err(|error| broken(place, error))?;
        let mut rows = statement.query([]).map_err(|error| broken(place, error))?;
        let mut names = FxHashMap::default();
        while let Some(row) = rows.next().map_err(|error| broken(place, error))? {
            let (Ok(kind), Ok(name)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else {
                return Err(refused(place, "it has a name that is no text"));
            };
            if kind != "table" && kind != "view" {
                continue;
            }
            // Virtual tables have no pages of their own.
            let plain = kind == "table" && row.get::<_, i64>(2).is_ok_and(|page| page > 0);
            names.insert(name.to_ascii_lowercase(), (name, plain));
            if names.len() > most {
                return Err(refused(place, &format!("more than {most} tables")));
            }
        }
        drop(rows);
        drop(statement);
        self.names = names;
        Ok(())
    }

    fn refill(&self) {
        // An honest row has at least a byte for each value, and a value takes some instructions.
        let budget = 1_000_000 + self.file_bytes.saturating_mul(64);
        self.instructions.store(i64::try_from(budget).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Whether there is a plain table with this name.
    pub fn has(&self, table: &str) -> bool {
        self.names.get(&table.to_ascii_lowercase()).is_some_and(|(_, plain)| *plain)
    }

    /// The names of the plain tables, sorted.
    pub fn tables(&self) -> Vec<&str> {
        let mut tables: Vec<_> = self.names.values().filter(|(_, plain)| *plain).map(|(name, _)| name.as_str()).collect();
        tables.sort_unstable();
        tables
    }

    /// The table of a name, or none.
    ///
    /// # Errors
    /// When it is a view or a virtual table, or its columns cannot be read.
    pub fn table(&self, name: &str) -> Result<Option<Table>, LogError> {
        let Some((name, plain)) = self.names.get(&name.to_ascii_lowercase()) else { return Ok(None) };
        let place = table_place(name);
        if !plain {
            return Err(refused(&place, "it is a view or a virtual table, and what they compute is not read; make it a table"));
        }
        self.refill();
        let at = |error| broken(&place, error);
        let mut statement = self.connection.prepare("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1, 'main')").map_err(at)?;
        let mut rows = statement.query([name]).map_err(at)?;
        let mut columns = Vec::new();
        while let Some(row) = rows.next().map_err(at)? {
            // Generated columns would be computed by expressions in the file.
            if row.get::<_, i64>(3).map_err(at)? == 0 {
                let declared = row.get::<_, String>(1).map_err(at)?.to_ascii_uppercase();
                columns.push(Column { name: row.get(0).map_err(at)?, declared, key: row.get(2).map_err(at)? });
            }
        }
        Ok(Some(Table { name: name.clone(), columns }))
    }

    /// Calls `each` with the number (from 1) and the values of each row of these columns.
    ///
    /// # Errors
    /// Of `each`, or when the table cannot be read.
    pub fn scan(
        &self,
        table: &Table,
        columns: &[usize],
        mut each: impl FnMut(u64, &Row<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let columns: Vec<_> = columns.iter().filter_map(|&place| table.columns.get(place)).map(|column| quoted(&column.name)).collect();
        let place = table_place(&table.name);
        let sql = format!("SELECT {} FROM main.{} NOT INDEXED", columns.join(", "), quoted(&table.name));
        self.refill();
        let mut statement = self.connection.prepare(&sql).map_err(|error| broken(&place, error))?;
        let mut rows = statement.query([]).map_err(|error| broken(&place, error))?;
        // Text can become half as long again when the file has UTF-16.
        let mut bytes_left = self.file_bytes.saturating_mul(2);
        let mut number = 0;
        loop {
            number += 1;
            let at = || format!("{place}, row {number}");
            let Some(row) = rows.next().map_err(|error| broken(&at(), error))? else { return Ok(()) };
            for column in 0..columns.len() {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column).map_err(|error| broken(&at(), error))? {
                    if bytes.len() > self.text_bytes {
                        return Err(refused(&at(), &format!("a value of {} bytes; {} are the limit", bytes.len(), self.text_bytes)));
                    }
                    bytes_left = bytes_left.checked_sub(bytes.len() as u64).ok_or_else(|| refused(&at(), ENDLESS))?;
                }
            }
            each(number, row)?;
        }
    }

    /// What SQLite itself finds wrong with a table's pages, 100 at most. (For the whole file it
    /// would call the code of virtual tables too.)
    ///
    /// # Errors
    /// When it cannot even be looked at.
    pub fn quick_check(&self, table: &Table) -> Result<Vec<String>, LogError> {
        self.refill();
        let at = |error| broken(&table_place(&table.name), error);
        let mut statement = self.connection.prepare(&format!("PRAGMA main.quick_check({})", quoted(&table.name))).map_err(at)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(at)?;
        let said: Vec<_> = rows.collect::<Result<_, _>>().map_err(at)?;
        Ok(said.into_iter().filter(|said| said != "ok").collect())
    }

    /// Foreign keys of a table: column, the other table, its column; names in lower case.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn foreign_keys(&self, table: &Table) -> Result<Vec<(String, String, Option<String>)>, LogError> {
        self.refill();
        let at = |error| broken(&table_place(&table.name), error);
        let mut statement =
            self.connection.prepare("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?1, 'main')").map_err(at)?;
        let lower = |text: String| text.to_ascii_lowercase();
        let rows = statement
            .query_map([&table.name], |row| Ok((lower(row.get(0)?), lower(row.get(1)?), row.get::<_, Option<String>>(2)?.map(lower))))?;
        rows.collect::<Result<_, _>>().map_err(|error| broken(&table_place(&table.name), error))
    }
}

const ENDLESS: &str = "the table gives more than the file can hold, so its pages refer to each other: the file is damaged or made to harm";

pub(crate) fn table_place(name: &str) -> String {
    format!("table {}", printable(name, 60))
}

pub(crate) fn refused(place: &str, message: &str) -> LogError {
    LogError::RefusedAt { place: place.to_owned(), message: message.to_owned() }
}

/// An error of SQLite with its place, in words where it has a known meaning.
fn broken(place: &str, error: rusqlite::Error) -> LogError {
    let short = error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ);
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) if short => "the file ends too early; get it again".to_owned(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!(
                "the file is damaged ({}); get it again, or save what is left with the `.recover` of the sqlite3 shell",
                printable(&error.to_string(), 200)
            )
        }
        Some(ErrorCode::OperationInterrupted) => ENDLESS.to_owned(),
        Some(ErrorCode::TooBig) => "a row is larger than the limit".to_owned(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory | ErrorCode::DiskFull | ErrorCode::CannotOpen) => return error.into(),
        // It can name what the file calls its columns.
        _ => format!("SQLite cannot read it: {}", printable(&error.to_string(), 200)),
    };
    LogError::RefusedAt { place: place.to_owned(), message }
}

/// `immutable`: no file next to it is read, and nothing is locked.
fn uri(path: &Path) -> String {
    use std::fmt::Write;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push_str("?mode=ro&immutable=1");
    uri
}
