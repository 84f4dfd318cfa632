//! A metadata database in PostgreSQL, read by the program `psql`, so that the user's `~/.pgpass`,
//! service files and certificates apply.
//!
//! The input is a URL as in Airflow's `sql_alchemy_conn`. The output is a file with one JSON object
//! a line, which is then read as any other source. `psql` gets fixed SQL through its standard input
//! and the parts of the URL through its environment, where other users cannot read them. It reads
//! in one read-only transaction.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowmine_files::Folder;
use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::text;
use serde_json::Value;

use super::database::Database;
use crate::input::Lines;
use crate::{Source, json};

/// First bytes of a file that [`fetch`] wrote.
pub const MAGIC: &[u8] = b"{\"airflow_database\"";
/// Maximum length of a line in bytes: DAGs with thousands of tasks need this.
const LONGEST_LINE: usize = 256 << 20;

/// JSON does not contain the characters used as quote and delimiter, so each line is an unchanged
/// object.
const SQL: &str = r"\set ON_ERROR_STOP on
SET client_encoding TO 'UTF8';
SET timezone TO 'UTC';
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT to_regclass('task_instance_history') IS NOT NULL AS has_history, to_regclass('rendered_task_instance_fields') IS NOT NULL AS has_fields \gset
COPY (SELECT json_build_object('airflow_database', json_build_object('has_history', to_regclass('task_instance_history') IS NOT NULL)))
  TO STDOUT WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02');
COPY (SELECT json_build_object('serialized_dag', row_to_json(t)) FROM serialized_dag t)
  TO STDOUT WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02');
\if :has_fields
COPY (SELECT json_build_object('rendered_task_instance_fields', row_to_json(t)) FROM rendered_task_instance_fields t)
  TO STDOUT WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02');
\endif
COPY (SELECT json_build_object('task_instance', row_to_json(t)) FROM task_instance t ORDER BY dag_id, run_id, task_id, map_index)
  TO STDOUT WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02');
\if :has_history
COPY (SELECT json_build_object('task_instance_history', row_to_json(t)) FROM task_instance_history t
  ORDER BY dag_id, run_id, task_id, map_index, try_number)
  TO STDOUT WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02');
\endif
COMMIT;
";

/// Whether a path is a URL of PostgreSQL, with any driver of SQLAlchemy.
pub fn is_address(path: &Path) -> bool {
    path.to_str().and_then(|text| text.split_once("://")).is_some_and(|(scheme, _)| {
        let dialect = scheme.split('+').next().unwrap_or_default();
        matches!(dialect, "postgresql" | "postgres")
    })
}

/// Writes the contents of the database to a file in `dir`.
///
/// # Errors
/// A message for the user that states what to do.
pub fn fetch(address: &Path, dir: &Path) -> Result<PathBuf, String> {
    let environment = environment(address.to_str().unwrap_or_default())?;
    let (path, out) = new_file(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut command = Command::new("psql");
    command.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--no-password"]);
    command.env("PGCONNECT_TIMEOUT", std::env::var_os("PGCONNECT_TIMEOUT").unwrap_or_else(|| "15".into()));
    command.envs(environment);
    let started = command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "psql is missing, which reads PostgreSQL: install it (Debian's package postgresql-client)".to_owned(),
        _ => format!("psql cannot be started: {error}"),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // Fails when psql exits early, in which case psql reports the reason.
        let _ = stdin.write_all(SQL.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| format!("psql: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("psql could not read the database: {}", message.trim()));
    }
    Ok(path)
}

/// Creates a file with a free name, since several databases can be given.
fn new_file(dir: &Path) -> io::Result<(PathBuf, File)> {
    let folder = Folder::open_to_write(dir)?;
    let mut number = 1;
    loop {
        let name = format!("airflow-database-{number}.jsonl");
        match folder.create_new(&name, 0o600) {
            Err(error) if error.is_already_there() => number += 1,
            made => return Ok((dir.join(name), made?)),
        }
    }
}

/// Returns the environment variables of libpq for a URL.
fn environment(address: &str) -> Result<Vec<(&'static str, String)>, String> {
    let bad = |what: &str| format!("this is no URL of PostgreSQL ({what}); it looks like postgresql://USER@HOST:PORT/DATABASE");
    let (_, rest) = address.split_once("://").ok_or_else(|| bad("no ://"))?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    let mut hosts_of = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',') {
        // An IPv6 address is in brackets.
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, port)) => (name, port.strip_prefix(':').unwrap_or_default()),
            None => host.split_once(':').unwrap_or((host, "")),
        };
        if !port.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad("the port is no number"));
        }
        hosts_of.push(name);
        ports.push(port);
    }
    let mut found = Vec::new();
    let mut add = |name: &'static str, value: &str| -> Result<(), String> {
        let value = unescaped(value).ok_or_else(|| bad("a % without two digits, or no text"))?;
        if !value.is_empty() {
            found.push((name, value));
        }
        Ok(())
    };
    add("PGUSER", user)?;
    add("PGPASSWORD", password.unwrap_or_default())?;
    add("PGHOST", &hosts_of.join(","))?;
    if ports.iter().any(|port| !port.is_empty()) {
        add("PGPORT", &ports.join(","))?;
    }
    add("PGDATABASE", database)?;
    for (name, value) in query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, ""))) {
        let variable = match name {
            "host" => "PGHOST",
            "port" => "PGPORT",
            "user" => "PGUSER",
            "password" => "PGPASSWORD",
            "dbname" => "PGDATABASE",
            "service" => "PGSERVICE",
            "passfile" => "PGPASSFILE",
            "options" => "PGOPTIONS",
            "sslmode" => "PGSSLMODE",
            "sslrootcert" => "PGSSLROOTCERT",
            "sslcert" => "PGSSLCERT",
            "sslkey" => "PGSSLKEY",
            "sslcrl" => "PGSSLCRL",
            "gssencmode" => "PGGSSENCMODE",
            "channel_binding" => "PGCHANNELBINDING",
            "target_session_attrs" => "PGTARGETSESSIONATTRS",
            "connect_timeout" => "PGCONNECT_TIMEOUT",
            "application_name" => "PGAPPNAME",
            _ => return Err(format!("the URL's parameter {name:?} is not known; leave it out, or set it in a service file (PGSERVICE)")),
        };
        add(variable, value)?;
    }
    Ok(found)
}

/// Decodes `%40` to `@`; `None` for bytes that are not text or would end it.
fn unescaped(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
                (digit(bytes.next())? * 16 + digit(bytes.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok().filter(|text| !text.contains('\0'))
}

/// Reads the file as Airflow's database in PostgreSQL.
///
/// # Errors
/// When reading fails. Errors in a line are diagnostics of the source.
pub fn read(reader: impl BufRead, source: &mut Source) -> io::Result<Database> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let mut database = Database::default();
    while let Some((number, bytes)) = lines.next()? {
        let line = json::from_str(&text::decode(bytes)).ok();
        let Some((table, row)) = line.as_ref().and_then(Value::as_object).and_then(|line| line.iter().next()) else {
            source.diagnostics.push(Diagnostic::error("line_bad", "this line is no row of Airflow's database").at(number, Some(1)));
            continue;
        };
        if table == "airflow_database" {
            database.has_history = row["has_history"] == true;
        }
        if let Some(Err(why)) = row.as_object().map(|row| database.add(table, row, &source.name)) {
            source.diagnostics.push(Diagnostic::error("row_bad", why).at(number, Some(1)));
        }
    }
    Ok(database)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        environment(url).unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn urls() {
        for (url, expected) in [
            ("postgresql://u@h:5433/d", "PGUSER=u PGHOST=h PGPORT=5433 PGDATABASE=d"),
            ("postgresql+psycopg2://u:p%40%2f:x@h/d?sslmode=require", "PGUSER=u PGPASSWORD=p@/:x PGHOST=h PGDATABASE=d PGSSLMODE=require"),
            ("postgres://[::1]:1,b:2/d", "PGHOST=::1,b PGPORT=1,2 PGDATABASE=d"),
            ("postgresql:///d?host=/run/x&user=u", "PGDATABASE=d PGHOST=/run/x PGUSER=u"),
            ("postgresql://?service=airflow", "PGSERVICE=airflow"),
        ] {
            assert_eq!(shown(url), expected);
        }
        for bad in ["postgresql://u@h:x/d", "postgresql://h/%zz", "postgresql://h/%00", "postgresql://h/%ff", "postgresql://h/d?evil=1"] {
            assert!(environment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses() {
        for (path, expected) in [
            ("postgresql://h/d", true),
            ("postgresql+psycopg2://h/d", true),
            ("postgres://h/d", true),
            ("postgresql", false),
            ("mysql://h/d", false),
            ("a/postgresql.db", false),
        ] {
            assert_eq!(is_address(Path::new(path)), expected, "{path}");
        }
    }
}
