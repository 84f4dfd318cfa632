//! CSV (RFC 4180): a log of cases in, a table of its events out.
//!
//! Which columns there are, what they are called and what a table cannot carry says
//! [`crate::flat`]. UTF-8 without a byte order mark, a row of names first, lines end with CR LF,
//! and a text is quoted where it has to be.
//!
//! - A value that is missing is nothing; an empty text is `""`.
//! - Times are `2026-11-20T13:04:05.000+00:00`, in UTC with 3, 6 or 9 digits as they need: pandas,
//!   DuckDB and R read that as a time.
//! - Truth values are `true` and `false`; numbers that are not finite `NaN`, `inf` and `-inf`.
//! - **Formulas.** A text that begins with `=`, `+`, `-`, `@`, tab, CR or LF would be a formula to
//!   a spreadsheet (OWASP, CSV Injection), so an apostrophe is put before it; also where there are
//!   apostrophes before such a character already, so that taking one off gives the text back. A row
//!   with such texts has `true` in the last column, [`ESCAPED`], which is there only where it may be
//!   needed: who reads the table takes apostrophes off in these rows, and in no others. Where that
//!   column is, names of columns have apostrophes by the same rule. Counted as simplified. What is a number and nothing else, `-5` or `+1e3`, computes nothing and
//!   stays as it is.
//! - NUL, at which readers stop, is written visibly as `\x00` and counted as replaced.
//!
//! Whoever reads CSV guesses types: a text `007` may become a number and a text `NA` nothing.
//! Parquet has no such trouble.

use std::io::Write;

use crate::error::LogError;
use crate::flat::{Cell, ESCAPED, Rows, Table};
use crate::log::{CaseLog, Counts};
use crate::nested;
use crate::pieces;
use crate::time;

/// Writes a log. Walks through it twice, and three times where cases must be renamed. The caller
/// buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log, of its columns and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    let table = Table::of(log)?;
    let columns = &table.columns;
    let mut counts = Counts { renamed_cases: table.renamed, ..Counts::default() };
    let mut names = Vec::new();
    for (at, column) in columns.columns().iter().enumerate() {
        if at > 0 {
            names.push(b',');
        }
        text(&column.name, &mut counts, &mut names);
    }
    let marks = table.may_have_formulas;
    if marks {
        names.push(b',');
        names.extend_from_slice(ESCAPED.as_bytes());
    }
    names.extend_from_slice(b"\r\n");
    out.write_all(&names)?;
    let mut total = Rows::default();
    pieces::each(
        table.traces(),
        |batch, piece| {
            let mut counts = Counts::default();
            let mut rows = columns.rows(batch, |cells| {
                row(cells, marks, &mut counts, piece);
                Ok(())
            })?;
            rows.counts += counts;
            Ok(rows)
        },
        |piece, rows| {
            total.add(rows);
            Ok(out.write_all(piece)?)
        },
    )?;
    counts += total.counts;
    Ok(counts)
}

fn row(cells: &[Cell<'_>], marks: bool, counts: &mut Counts, out: &mut Vec<u8>) {
    let mut escaped = false;
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match cell {
            Cell::Missing => {}
            Cell::Text(value) => escaped |= text(value, counts, out),
            Cell::Time(ns) => time::write(*ns, 3, "+00:00", out),
            Cell::Integer(number) => nested::integer(*number, out),
            Cell::Float(number) if number.is_infinite() => out.extend_from_slice(if *number > 0.0 { b"inf" } else { b"-inf" }),
            Cell::Float(number) => nested::double(*number, out),
            Cell::Boolean(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        }
    }
    if marks {
        out.extend_from_slice(if escaped { b",true" } else { b"," });
    }
    out.extend_from_slice(b"\r\n");
}

/// A text as a field, as in the table of a log: quoted where it has to be, and never a formula.
pub fn field(value: &str, out: &mut Vec<u8>) {
    text(value, &mut Counts::default(), out);
}

/// Writes a text as a field. Returns whether an apostrophe was put before it.
fn text(text: &str, counts: &mut Counts, out: &mut Vec<u8>) -> bool {
    let bytes = text.as_bytes();
    let quoted = bytes.is_empty()
        || bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'))
        // Some readers take these off where there are no quotes.
        || matches!(bytes.first(), Some(b' ' | b'\t'))
        || matches!(bytes.last(), Some(b' ' | b'\t'));
    if quoted {
        out.push(b'"');
    }
    let escaped = flowmine_text::is_formula(text);
    if escaped {
        out.push(b'\'');
        counts.simplified_values += 1;
    }
    let mut done = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let instead: &[u8] = match byte {
            b'"' => b"\"\"",
            0 => {
                counts.replaced_characters += 1;
                b"\\x00"
            }
            _ => continue,
        };
        out.extend_from_slice(&bytes[done..at]);
        out.extend_from_slice(instead);
        done = at + 1;
    }
    out.extend_from_slice(&bytes[done..]);
    if quoted {
        out.push(b'"');
    }
    escaped
}
