//! sacct's text with a header, fields separated by any delimiter (`--parsable2`, `--parsable`).
//!
//! A file with a delimiter drawn at random ([`crate::sacct`]) is read by counting fields. Otherwise
//! a row is a line. A line with another number of fields, or with an invalid JobID, State, time or
//! exit code, is rejected with its number (a newline or the delimiter in a name or submit line
//! makes such lines). Where every record ends with the delimiter (`--parsable`), a record with a
//! newline in it is joined again. Elsewhere a line that is not a record may be the rest of the
//! record before: the last field of that record is then left out, where it is free text. Steps are
//! added to their jobs.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::source;
use flowmine_slurm::job_ref::{JobRef, parse_displayed};
use flowmine_slurm::units;

use super::error::{ImportError, usable};
use super::imported::Imported;
use super::kind::{FileKind, Options};
use super::table::{self, FORGERY, Separator};
use super::zone::Zone;
use crate::sacct::{self, Attempts, COLUMNS, Column, Row, SacctError};
use flowmine_slurm::units::shown;

/// A record with a newline in it is not longer, in lines.
const MOST_LINES: usize = 1000;

/// Fields of sacct(1) that are known but not read.
const OTHERS: &[&str] = &[
    "AdminComment",
    "AllocTRES",
    "AssocID",
    "AveCPU",
    "AveDiskRead",
    "AveDiskWrite",
    "AveRSS",
    "AveVMSize",
    "CPUTime",
    "CPUTimeRAW",
    "DBIndex",
    "DerivedExitCode",
    "Eligible",
    "Flags",
    "GID",
    "Layout",
    "MaxDiskRead",
    "MaxDiskWrite",
    "MaxRSS",
    "MaxVMSize",
    "Priority",
    "QOSRAW",
    "ReqTRES",
    "Reserved",
    "Planned",
    "Reservation",
    "Suspended",
    "SystemCPU",
    "TotalCPU",
    "UID",
    "UserCPU",
    "WCKey",
    "Constraints",
    "Restarts",
];

/// Names of columns that hardly another table has.
const TELLING: &[&str] = &[
    "AllocCPUS",
    "AllocNodes",
    "AllocTRES",
    "CPUTimeRAW",
    "ElapsedRaw",
    "JobName",
    "MaxRSS",
    "NCPUS",
    "NNodes",
    "ReqTRES",
    "TimelimitRaw",
];

/// Whether a header without job ids is one of sacct: three of its columns, one of which is telling.
pub(super) fn looks_like(words: &[&[u8]]) -> bool {
    let known = words.iter().filter(|word| is_known(word)).count();
    known >= 3 && 2 * known >= words.len() && words.iter().any(|word| TELLING.iter().any(|name| name.as_bytes() == *word))
}

fn is_known(word: &[u8]) -> bool {
    Column::named(word).is_some() || OTHERS.iter().any(|name| name.as_bytes() == word)
}

/// Reads a file of sacct's text.
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], options: &Options, diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let kind = FileKind::SacctText;
    let mut zone = Zone::new(options);
    let Some((header_line, header)) = table::lines(bytes).find(|(_, line)| !line.trim_ascii().is_empty()) else {
        return Err(ImportError::Empty);
    };
    let refuse = |why: String| ImportError::Header { kind, line: header_line, column: 1, why };
    let separator = match &options.separator {
        Some(separator) if !separator.trim().is_empty() || separator == "\t" => Separator::Bytes(separator.clone().into_bytes()),
        _ => table::separator(header, is_known).ok_or_else(|| {
            refuse(format!(
                "{:?} is no header with columns that sacct has and something between them; give the separator with --separator",
                shown(header)
            ))
        })?,
    };
    let Separator::Bytes(separator) = separator else {
        return Err(refuse("sacct's output with blanks cuts values short; run it with --parsable2".to_owned()));
    };
    let mut cells: Vec<&[u8]> = table::split(header, &separator).collect();
    // `--parsable` ends the last field too.
    let ended = cells.last().is_some_and(|cell| cell.is_empty());
    if ended {
        cells.pop();
    }
    let columns: Vec<Option<Column>> = cells.iter().map(|cell| Column::named(cell.trim_ascii())).collect();
    let missing =
        match (columns.contains(&Some(Column::JobId)) || columns.contains(&Some(Column::JobIdRaw)), columns.contains(&Some(Column::State)))
        {
            (false, _) => Some("JobID"),
            (true, false) => Some("State"),
            (true, true) => None,
        };
    if let Some(missing) = missing {
        let names: Vec<String> = cells.iter().take(40).map(|cell| shown(cell)).collect();
        return Err(refuse(format!("the header has no column {missing}; it has {}", names.join(", "))));
    }
    report_inferred_times(&columns, header_line, diagnostics);
    let body = &bytes[header.as_ptr() as usize - bytes.as_ptr() as usize..];
    if ended && separator.len() >= 8 && separator[0] == 0x1f {
        let records = sacct::parse(body, &separator, zone.offset_s, diagnostics).map_err(|why| match why {
            SacctError::TooMany => ImportError::TooMany,
            why => refuse(why.to_string()),
        })?;
        return Ok(Imported::Accounting { source: source::SACCT, records });
    }

    let mut attempts = Attempts::default();
    let (mut used, mut rejected) = (0, 0);
    let mut last = None;
    let rows = table::after_line(body);
    let width = columns.len();
    let job_at = columns.iter().position(|column| matches!(column, Some(Column::JobId | Column::JobIdRaw))).unwrap_or(0);
    let mut lines = table::lines(rows).map(|(number, line)| (number + header_line, line)).peekable();
    while let Some((number, mut line)) = lines.next() {
        if line.is_empty() {
            continue;
        }
        if line == header {
            // Several outputs one after the other say the same of other times; that is no harm.
            continue;
        }
        if ended && let Some((joined, count)) = joined(rows, line, &separator, width) {
            line = joined;
            lines.by_ref().take(count).for_each(drop);
        }
        let mut cells: Vec<&[u8]> = table::split(line, &separator).collect();
        if ended && cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        let goes_on = |next: &[u8]| {
            let is_record = table::split(next, &separator).nth(job_at).is_some_and(is_job);
            !next.is_empty() && next != header && !is_record
        };
        let is_cut = !ended && cells.len() == width && lines.peek().is_some_and(|(_, next)| goes_on(next));
        if is_cut
            && let (Some(Some(column)), Some(cell)) = (columns.last(), cells.last_mut())
            && is_free_text(*column)
        {
            *cell = b"";
        }
        match row(&columns, &cells, &separator, line) {
            Ok(row) => {
                for column in [Column::Submit, Column::Start, Column::End] {
                    zone.see(row[column as usize].unwrap_or_default(), number, diagnostics);
                }
                used += usize::from(attempts.push(&row, number, zone.offset_s, diagnostics));
                if attempts.too_many() {
                    return Err(ImportError::TooMany);
                }
                last = Some(number);
            }
            Err((why, place)) => {
                rejected += 1;
                diagnostics.push(Diagnostic::error("row_rejected", why).at(number, place).advise(FORGERY));
                last = None;
            }
        }
    }
    if let Some(last) = last.filter(|_| !bytes.ends_with(b"\n")) {
        let message = "the last line has no newline: its last field may be cut short";
        diagnostics.push(Diagnostic::warning("no_last_newline", message).at(last, None));
    }
    usable(kind, used, rejected, diagnostics)?;
    Ok(Imported::Accounting { source: source::SACCT, records: attempts.finish() })
}

/// Reports that starts or ends without a column are inferred from the elapsed time.
fn report_inferred_times(columns: &[Option<Column>], header_line: u64, diagnostics: &mut Diagnostics) {
    let has = |column| columns.contains(&Some(column));
    if !has(Column::Elapsed) && !has(Column::ElapsedRaw) {
        return;
    }
    let message = match (has(Column::Start), has(Column::End)) {
        (true, false) => "the header has no column End: the end of a job is its Start plus Elapsed, without suspended time",
        (false, true) => "the header has no column Start: the start of a job is its End minus Elapsed, without suspended time",
        _ => return,
    };
    let advice = "add Start and End to sacct --format for the recorded times";
    diagnostics.push(Diagnostic::warning("times_from_elapsed", message).at(header_line, None).advise(advice));
}

/// Returns a record up to the delimiter that ends it, with the number of further lines that it
/// takes; `None` for a record that is whole, or that cannot be completed to `width` fields.
fn joined<'a>(rows: &'a [u8], line: &'a [u8], separator: &[u8], width: usize) -> Option<(&'a [u8], usize)> {
    let begin = line.as_ptr() as usize - rows.as_ptr() as usize;
    let rest = rows.get(begin..)?;
    let ends = memchr::memchr_iter(b'\n', rest).chain([rest.len()]).take(MOST_LINES);
    for (count, end) in ends.enumerate() {
        let record = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        let fields = table::split(record, separator).count();
        if fields > width + 1 {
            return None;
        }
        if record.ends_with(separator) && fields == width + 1 {
            return (count > 0).then_some((record, count));
        }
    }
    None
}

/// Whether any text can be a value of the column, so that one that is cut cannot be recognised.
fn is_free_text(column: Column) -> bool {
    matches!(column, Column::JobName | Column::Comment | Column::WorkDir | Column::SubmitLine)
}

/// A line's cells as a row, or why not and at which byte.
fn row<'a>(columns: &[Option<Column>], cells: &[&'a [u8]], separator: &[u8], line: &[u8]) -> Result<Row<'a>, (String, Option<u64>)> {
    if cells.len() != columns.len() {
        let separator = table::shown_separator(separator);
        return Err((format!("{} fields instead of {}, separated by {separator}: {:?}", cells.len(), columns.len(), shown(line)), None));
    }
    let mut row: Row<'a> = [None; Column::COUNT];
    for (column, cell) in columns.iter().zip(cells) {
        let Some(column) = *column else { continue };
        if let Err(what) = check(column, cell) {
            let name = COLUMNS[column as usize].1;
            let at = cell.as_ptr() as u64 - line.as_ptr() as u64 + 1;
            return Err((format!("{name} is {:?}, which is not {what}", shown(cell)), Some(at)));
        }
        row[column as usize] = Some(cell);
    }
    Ok(row)
}

/// Whether a field can be what its column says, where a wrong one would do harm.
fn check(column: Column, field: &[u8]) -> Result<(), &'static str> {
    let (good, what) = match column {
        Column::JobId => (is_job(field), "a job id"),
        Column::JobIdRaw => (field.is_empty() || is_job(field), "a job id"),
        Column::State => (sacct::is_state(field), "a state"),
        Column::Submit | Column::Start | Column::End => (units::time(field, 0).is_ok(), "a time"),
        Column::ExitCode => (field.iter().all(|b| b.is_ascii_digit() || *b == b':'), "an exit code"),
        _ => (true, ""),
    };
    if good { Ok(()) } else { Err(what) }
}

/// A job or step: what follows a dot is the step's name or number.
fn is_job(field: &[u8]) -> bool {
    let job = &field[..memchr::memchr(b'.', field).unwrap_or(field.len())];
    let step = field.get(job.len() + 1..).unwrap_or(b"0");
    let listed = |job: &JobRef<'_>| match job {
        JobRef::PendingArray { tasks, .. } => tasks.bytes().all(|b| b.is_ascii_digit() || b",-:%.".contains(&b)),
        _ => true,
    };
    !step.is_empty()
        && step.iter().all(|b| b.is_ascii_alphanumeric() || b"+_-".contains(b))
        && std::str::from_utf8(job).is_ok_and(|job| parse_displayed(job).is_some_and(|(_, job)| listed(&job)))
}
