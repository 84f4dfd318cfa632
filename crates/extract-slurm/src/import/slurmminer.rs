//! The log of SLURMminer, the tool of the case study on process mining of HPC data (its extractor,
//! `general/connect.py`).
//!
//! It runs `squeue -o` with `^^^` between 24 fields every few seconds and appends a line for each
//! job that is new or has changed its state: the fields with tabs between them, and the time of
//! this observation, `CURRENT_TIMESTAMP` (`2022-11-03 13:54:23.123456`, local time without zone of
//! the machine that it ran on). It drops fields that are empty, also from the header, so that a job
//! without a name has its columns shifted; and it cuts lines with too many fields at the end.
//! Neither is restored: a line with an invalid job id, state or time is rejected with its number.
//! Copies with other separators and with quotes (CSV) are read as well, and columns that it adds
//! later are ignored.
//!
//! Its JOBID is the raw id; the index of an array's task is not in the file, so tasks are jobs of
//! their own here. It logs no end: a job that left the queue just has no further line.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::source;
use flowmine_slurm::units;

use super::error::{ImportError, usable};
use super::imported::Imported;
use super::kind::{FileKind, Options};
use super::squeue_columns::{Column, Columns, column, record};
use super::squeue_text::Rows;
use super::table::{self, FORGERY, Separator};
use super::zone::Zone;
use crate::record::JobRecord;
use crate::squeue::Field;
use flowmine_slurm::units::shown;

/// Reads a SLURMminer log.
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], options: &Options, diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let kind = FileKind::SlurmMiner;
    let mut zone = Zone::new(options);
    let Some((header_line, header)) = table::lines(bytes).find(|(_, line)| !line.trim_ascii().is_empty()) else {
        return Err(ImportError::Empty);
    };
    let separator = match &options.separator {
        Some(separator) if !separator.is_empty() => Separator::Bytes(separator.clone().into_bytes()),
        _ => table::separator(header, |word| column(word).is_some()).unwrap_or(Separator::Blanks),
    };
    let Separator::Bytes(separator) = separator else {
        let why = format!(
            "{:?} is no header with tabs or another separator between its columns; give the separator with --separator",
            shown(header)
        );
        return Err(ImportError::Header { kind, line: header_line, column: 1, why });
    };
    let cells: Vec<&[u8]> = table::split(header, &separator).map(|cell| cell.trim_ascii()).map(unquoted).collect();
    let mut columns = Columns::new(&cells, false, kind, header_line)?;
    let time_at = columns.columns.iter().position(|&column| column == Column::SeenAt).unwrap_or_default();
    let id_at = columns.columns.iter().position(|&column| column == Column::JobId).unwrap_or_default();
    let unresolved = columns.columns.clone();
    let rows = Rows { width: cells.len(), separator: &separator, padded: false, columns: &unresolved };
    columns.resolve_ids(false);
    let array_at = columns.columns.iter().position(|&column| column == Column::Field(Field::ArrayId));

    let mut entries = Vec::new();
    let mut rejected = 0;
    let mut told_arrays = false;
    let mut number = header_line;
    let mut at = header.as_ptr() as usize - bytes.as_ptr() as usize + header.len();
    at += bytes[at..].iter().position(|&b| b == b'\n').map_or(0, |end| end + 1);
    while at < bytes.len() {
        number += 1;
        let rest = &bytes[at..];
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = rest[..length].trim_ascii_end_newline();
        if line.trim_ascii().is_empty() {
            at += length;
            continue;
        }
        let entry = match rows.split(line) {
            Ok(cells) => {
                let time = seen_at(cells[time_at], number, &mut zone, diagnostics);
                tell_arrays(array_at.map(|array| (cells[id_at], cells[array])), &mut told_arrays, number, diagnostics);
                time.zip(record(&columns, &cells, number, &mut zone, diagnostics))
            }
            Err((why, place)) => match quoted(rest, &separator, &rows) {
                Some((cells, taken)) => {
                    let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
                    let time = seen_at(cells[time_at], number, &mut zone, diagnostics);
                    let record = record(&columns, &cells, number, &mut zone, diagnostics).map(JobRecord::into_owned);
                    // The lines of the record but its last, which is counted below.
                    let lines = memchr::memchr_iter(b'\n', &rest[..taken]).count() as u64;
                    at += taken;
                    number += lines.saturating_sub(1);
                    entries.extend(time.zip(record));
                    continue;
                }
                None => {
                    diagnostics.push(Diagnostic::error("row_rejected", why).at(number, place).advise(FORGERY));
                    None
                }
            },
        };
        rejected += u64::from(entry.is_none());
        entries.extend(entry);
        at += length;
    }
    if !bytes.ends_with(b"\n") && number > header_line {
        let message = "the last line has no newline: its time may be cut short";
        diagnostics.push(Diagnostic::warning("no_last_newline", message).at(number, None));
    }
    usable(kind, entries.len(), rejected, diagnostics)?;
    Ok(Imported::Log { source: source::SLURMMINER, entries, cluster: None })
}

trait LineEnd {
    fn trim_ascii_end_newline(&self) -> &Self;
}

impl LineEnd for [u8] {
    fn trim_ascii_end_newline(&self) -> &Self {
        let line = self.strip_suffix(b"\n").unwrap_or(self);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

fn unquoted(cell: &[u8]) -> &[u8] {
    cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell)
}

/// A record with quotes, when it makes sense as one.
fn quoted(rest: &[u8], separator: &[u8], rows: &Rows<'_>) -> Option<(Vec<Vec<u8>>, usize)> {
    let &[separator] = separator else { return None };
    let first_line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    memchr::memchr(b'"', first_line)?;
    let (cells, taken) = table::split_quoted(rest, separator)?;
    let slices: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
    (cells.len() == rows.width && rows.check(&slices).is_ok()).then_some((cells, taken))
}

fn seen_at(cell: &[u8], line: u64, zone: &mut Zone, diagnostics: &mut Diagnostics) -> Option<i64> {
    zone.see(cell, line, diagnostics);
    match zone.time(cell) {
        Ok(Some(time)) => Some(time),
        _ => {
            diagnostics.push(Diagnostic::error("row_rejected", format!("{:?} is not a time", shown(cell))).at(line, None));
            None
        }
    }
}

/// Says once that the file does not say which task of an array a job is.
fn tell_arrays(ids: Option<(&[u8], &[u8])>, told: &mut bool, line: u64, diagnostics: &mut Diagnostics) {
    let Some((id, array)) = ids.filter(|_| !*told) else { return };
    if id != array && units::digits(array).is_some() && units::digits(id).is_some() {
        *told = true;
        let message = format!(
            "job {} belongs to array {}; this log does not contain the task's index, so tasks are jobs of their own",
            shown(id),
            shown(array)
        );
        diagnostics.push(Diagnostic::warning("slurmminer_array", message).at(line, None));
    }
}
