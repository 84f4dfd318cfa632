//! squeue's text with a header, in any of the forms that `-o`, `-O` and `-l` give it.
//!
//! The input is a file with a header that names at least JOBID and STATE or ST, in this order of
//! preference:
//!
//! - a recording of ours, with a separator of nine characters of which the first is 0x1f: records
//!   are distinguished by counting fields, so newlines in names do no harm;
//! - columns with a separator between them, which is found from the header (or given by the user);
//! - columns of fixed width or separated by single blanks: then a row is accepted only when there
//!   is exactly one way to read it.
//!
//! Before the header there may be squeue's date line (`-l`, `-i`), its `CLUSTER: name` line (`-M`)
//! or a clock reading in nanoseconds.
//!
//! Two columns JOBID are the raw and the displayed id; a single one is the displayed id, or the raw
//! one where there is also a column ARRAY_TASK_ID.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::source;
use flowmine_schema::{text, time};
use flowmine_slurm::units;

use super::blanks;
use super::error::{ImportError, usable};
use super::imported::Imported;
use super::kind::{FileKind, Options};
use super::squeue_columns::{Column, Columns, column, is_plausible, record};
use super::table::{self, FORGERY, Separator};
use super::zone::{Zone, epoch};
use crate::record::JobRecord;
use crate::squeue::{self, Field};
use flowmine_slurm::units::shown;

/// What stands before the header.
struct Preamble<'a> {
    observed_at_ns: Option<i64>,
    cluster: Option<String>,
    header_line: u64,
    header: &'a [u8],
    /// Byte offset at which the header's line begins.
    offset: usize,
}

fn preamble<'a>(bytes: &'a [u8], zone: &mut Zone, diagnostics: &mut Diagnostics) -> Result<Preamble<'a>, ImportError> {
    let mut observed_at_ns = None;
    let mut cluster = None;
    for (number, line) in table::lines(bytes) {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix(b"CLUSTER:") {
            cluster = Some(text::decode(name.trim_ascii()).into_owned());
        } else if let Some(ns) = epoch(trimmed) {
            observed_at_ns = Some(ns);
        } else if let Some(ns) = date(trimmed) {
            if !zone.is_known {
                zone.is_known = true;
                let message = format!("times such as {:?} have no zone and are interpreted as UTC", shown(trimmed));
                diagnostics.push(
                    Diagnostic::warning("no_zone", message)
                        .at(number, None)
                        .advise("give the cluster's zone with --zone, as in --zone=+01:00"),
                );
            }
            observed_at_ns = ns.checked_sub(zone.offset_s.saturating_mul(time::SECOND_NS));
        } else {
            let offset = line.as_ptr() as usize - bytes.as_ptr() as usize;
            return Ok(Preamble { observed_at_ns, cluster, header_line: number, header: line, offset });
        }
    }
    let why = "there is no header; run squeue without --noheader (-h)".to_owned();
    Err(ImportError::Header { kind: FileKind::SqueueText, line: 1, column: 1, why })
}

/// squeue's date line, `Fri Nov 20 13:40:50 2026`, as if it were UTC.
fn date(line: &[u8]) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    words.next().filter(|day| day.len() == 3)?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let day: u32 = words.next()?.parse().ok()?;
    let clock = words.next()?;
    let year: u32 = words.next()?.parse().ok()?;
    if words.next().is_some() {
        return None;
    }
    time::parse(&format!("{year:04}-{month:02}-{day:02}T{clock}"))
}

/// The names of the clusters of which `squeue -M` printed one queue after the other; `None` of one
/// or none.
fn clusters(bytes: &[u8]) -> Option<String> {
    let names: Vec<String> =
        table::lines(bytes).filter_map(|(_, line)| Some(shown(line.strip_prefix(b"CLUSTER: ")?.trim_ascii()))).take(9).collect();
    (names.len() > 1).then(|| names.join(", "))
}

/// Reads a file of squeue's text.
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], options: &Options, diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let kind = FileKind::SqueueText;
    let mut zone = Zone::new(options);
    let Preamble { observed_at_ns, cluster, header_line, header, offset } = preamble(bytes, &mut zone, diagnostics)?;
    let body = &bytes[offset..];

    if let Some(token) = squeue::token_of(body) {
        return recording(body, token, observed_at_ns, cluster, diagnostics);
    }
    let separator = match &options.separator {
        Some(separator) if separator == " " => Separator::Blanks,
        Some(separator) if separator.is_empty() => {
            return Err(ImportError::Header { kind, line: header_line, column: 1, why: "an empty separator separates nothing".to_owned() });
        }
        Some(separator) => Separator::Bytes(separator.clone().into_bytes()),
        None => table::separator(header, |word| column(word).is_some()).ok_or_else(|| ImportError::Header {
            kind,
            line: header_line,
            column: 1,
            why: format!(
                "{:?} is no header with columns that squeue has and something between them; give the separator with --separator",
                shown(header)
            ),
        })?,
    };
    let after = table::after_line(body);
    let first_row = header_line + 1;
    let errors = diagnostics.errors();
    let read = match separator {
        Separator::Bytes(separator) => delimited(after, header, &separator, header_line, first_row, &mut zone, diagnostics),
        Separator::Blanks => blanks::read(after, header, header_line, &mut zone, diagnostics).map(|records| (records, None)),
    };
    let (records, row_cluster) = read.map_err(|error| match (error, clusters(bytes)) {
        (ImportError::SeveralPolls { .. }, Some(clusters)) => ImportError::SeveralClusters { clusters },
        (error, _) => error,
    })?;
    let whole = diagnostics.errors() == errors;
    Ok(Imported::Queue { observed_at_ns, source: source::SQUEUE, records, cluster: cluster.or(row_cluster), whole })
}

fn recording<'a>(
    body: &'a [u8],
    token: &[u8],
    observed_at_ns: Option<i64>,
    cluster: Option<String>,
    diagnostics: &mut Diagnostics,
) -> Result<Imported<'a>, ImportError> {
    // A clock reading may follow the last record.
    let without_clock = body.strip_suffix(b"\n").and_then(|rest| {
        let last = memchr::memrchr(b'\n', rest)?;
        epoch(&rest[last + 1..]).map(|_| &body[..last + 1])
    });
    let errors = diagnostics.errors();
    let mut records = Vec::new();
    squeue::parse(without_clock.unwrap_or(body), token, diagnostics, |record| records.push(record)).map_err(|why| ImportError::Header {
        kind: FileKind::SqueueText,
        line: 1,
        column: 1,
        why: why.to_string(),
    })?;
    let whole = diagnostics.errors() == errors;
    Ok(Imported::Queue { observed_at_ns, source: source::SQUEUE, records, cluster, whole })
}

/// Rows with a separator between their fields.
fn delimited<'a>(
    bytes: &'a [u8],
    header: &'a [u8],
    separator: &[u8],
    header_line: u64,
    first_row: u64,
    zone: &mut Zone,
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<JobRecord<'a>>, Option<String>), ImportError> {
    let kind = FileKind::SqueueText;
    let raw_cells: Vec<&[u8]> = table::split(header, separator).collect();
    let cells: Vec<&[u8]> = raw_cells.iter().map(|cell| cell.trim_ascii()).collect();
    // `%.18i|%.9P` pads; a header that is padded says that the rows are.
    let padded = raw_cells.iter().zip(&cells).any(|(raw, trimmed)| raw.len() != trimmed.len());
    let mut columns = Columns::new(&cells, padded, kind, header_line)?;
    let rows = Rows { width: cells.len(), separator, padded, columns: &columns.columns };
    let accepted = rows.read(bytes, first_row, header, kind, diagnostics)?;
    let rejected = accepted.rejected;
    let first_id = columns.columns.iter().position(|&column| column == Column::JobId);
    let displayed_first = first_id.is_some_and(|at| accepted.rows.iter().any(|(_, cells)| units::digits(cells[at]).is_none()));
    columns.resolve_ids(displayed_first);
    let cluster = columns.columns.iter().position(|&column| column == Column::Cluster);
    let cluster = cluster.and_then(|at| accepted.rows.first().map(|(_, cells)| text::decode(cells[at]).into_owned()));
    let mut records = Vec::with_capacity(accepted.rows.len());
    for (line, cells) in &accepted.rows {
        records.extend(record(&columns, cells, *line, zone, diagnostics));
    }
    usable(kind, records.len(), rejected, diagnostics)?;
    Ok((records, cluster))
}

/// Splits rows at the separator, and checks each field against its column.
pub(super) struct Rows<'c> {
    pub width: usize,
    pub separator: &'c [u8],
    pub padded: bool,
    pub columns: &'c [Column],
}

/// Rows with fields that are plausible for their columns.
pub(super) struct Accepted<'a> {
    pub rows: Vec<(u64, Vec<&'a [u8]>)>,
    pub rejected: u64,
}

impl Rows<'_> {
    /// Splits every line; what does not fit is rejected with its line.
    pub fn read<'a>(
        &self,
        bytes: &'a [u8],
        first_row: u64,
        header: &[u8],
        kind: FileKind,
        diagnostics: &mut Diagnostics,
    ) -> Result<Accepted<'a>, ImportError> {
        let mut accepted = Accepted { rows: Vec::new(), rejected: 0 };
        let mut last = 0;
        for (number, line) in table::lines(bytes).map(|(number, line)| (number - 1 + first_row, line)) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            if line == header && kind == FileKind::SqueueText {
                return Err(ImportError::SeveralPolls { line: number });
            }
            match self.split(line) {
                Ok(cells) => accepted.rows.push((number, cells)),
                Err((why, column)) => {
                    accepted.rejected += 1;
                    diagnostics.push(Diagnostic::error("row_rejected", why).at(number, column).advise(FORGERY));
                }
            }
            last = number;
        }
        if !bytes.is_empty() && !bytes.ends_with(b"\n") && accepted.rows.last().is_some_and(|(number, _)| *number == last) {
            let message = "the last line has no newline: its last field may be cut short";
            diagnostics.push(Diagnostic::warning("no_last_newline", message).at(last, None));
        }
        Ok(accepted)
    }

    /// One line's cells, or why not and at which byte.
    pub fn split<'a>(&self, line: &'a [u8]) -> Result<Vec<&'a [u8]>, (String, Option<u64>)> {
        let mut cells: Vec<&[u8]> = table::split(line, self.separator).collect();
        if cells.len() == self.width + 1 && cells.last().is_some_and(|cell| cell.is_empty()) {
            // A separator after the last field too, but not in the header.
            cells.pop();
        }
        if cells.len() != self.width {
            let separator = table::shown_separator(self.separator);
            return Err((format!("{} fields instead of {}, separated by {separator}: {:?}", cells.len(), self.width, shown(line)), None));
        }
        if self.padded {
            cells.iter_mut().for_each(|cell| *cell = cell.trim_ascii());
        }
        self.check(&cells).map_err(|(why, at)| (why, Some(cells[at].as_ptr() as u64 - line.as_ptr() as u64 + 1)))?;
        Ok(cells)
    }

    /// Whether cells can be what their columns say; else why not and which.
    pub fn check(&self, cells: &[&[u8]]) -> Result<(), (String, usize)> {
        for (at, (&column, cell)) in self.columns.iter().zip(cells).enumerate() {
            if !is_plausible(column, cell) {
                let what = match column {
                    Column::Field(Field::State) => "a state",
                    Column::Field(_) | Column::SeenAt => "a time",
                    _ => "a job id",
                };
                return Err((format!("field {} is {:?}, which is not {what}", at + 1, shown(cell)), at));
            }
        }
        Ok(())
    }
}
