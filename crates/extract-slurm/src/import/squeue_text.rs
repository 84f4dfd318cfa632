//! squeue's text with a header, in any of the forms that `-o`, `-O` and `-l` give it.
//!
//! In goes a file whose header names at least JOBID and STATE or ST, in this order of preference:
//!
//! - a recording of ours, with a separator of nine characters of which the first is 0x1f: records
//!   are distinguished by counting fields, so newlines in names do no harm;
//! - columns with a separator between them, which is found out from the header (or said by the
//!   user);
//! - columns of fixed width or separated by single blanks: then a row is taken only when there is
//!   one way to read it.
//!
//! Before the header there may be squeue's date line (`-l`, `-i`), its `CLUSTER: name` line (`-M`)
//! or a clock reading in nanoseconds.
//!
//! Two columns JOBID are the raw and the displayed id; a single one is the displayed id, or the raw
//! one where ARRAY_TASK_ID stands beside it.

use std::borrow::Cow;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::source;
use flowmine_schema::{text, time};
use flowmine_slurm::index_set::IndexSet;
use flowmine_slurm::job_ref::{JobRef, parse_displayed};
use flowmine_slurm::state::State;
use flowmine_slurm::units;

use super::blanks;
use super::error::{ImportError, usable};
use super::imported::Imported;
use super::kind::{FileKind, Options};
use super::table::{self, Separator};
use super::time_column::TIME_COLUMN;
use super::zone::{Zone, epoch};
use crate::record::JobRecord;
use crate::squeue::{self, Field, Place, RawFields, interpret};
use flowmine_slurm::units::shown;

/// What a column of squeue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// A field of a record as it is.
    Field(Field),
    /// A job id, not yet known whether raw or displayed.
    JobId,
    /// `NODELIST(REASON)`: nodes, or the reason in parentheses.
    NodesOrReason,
    /// `HET_JOB_ID` of `-O`.
    HetId,
    /// `HET_JOB_OFFSET` of `-O`.
    HetOffset,
    /// `CLUSTER` of `-O`.
    Cluster,
    /// `CURRENT_TIMESTAMP` of SLURMminer.
    SeenAt,
    /// Not read, but known to be one word, or a number or time.
    Word,
    /// Not read, may hold anything.
    Any,
}

/// The headers of squeue 22.05 that are one word without blanks but not read.
const WORDS: &[&str] = &[
    "MIN_CPUS",
    "MIN_TMP_DISK",
    "OVER_SUBSCRIBE",
    "EXEC_HOST",
    "SOCKETS_PER_NODE",
    "CORES_PER_SOCKET",
    "THREADS_PER_CORE",
    "TIME_LEFT",
    "TIME",
    "CONTIGUOUS",
    "UID",
    "CORE_SPEC",
    "S:C:T",
    "ACCRUE_TIME",
    "ALLOC_NODES",
    "ALLOC_SID",
    "ASSOC_ID",
    "BATCH_FLAG",
    "BOARDS_PER_NODE",
    "CPUS_PER_TASK",
    "DEADLINE",
    "DELAY_BOOT",
    "DERIVED_EC",
    "ELIGIBLE_TIME",
    "EXIT_CODE",
    "HET_JOB_ID_SET",
    "LAST_SCHED_EVAL",
    "MAX_CPUS",
    "MAX_NODES",
    "NTASKS_PER_BOARD",
    "NTASKS_PER_CORE",
    "NTASKS_PER_NODE",
    "NTASKS_PER_SOCKET",
    "ORIGIN",
    "ORIGIN_RAW",
    "PENDING_TIME",
    "PREEMPT_TIME",
    "PROFILE",
    "REBOOT",
    "REQUEUE",
    "RESIZE_TIME",
    "RESTART_COUNT",
    "SOCKETS_PER_BOARD",
    "TASKS",
    "TIME_MIN",
    "WAIT4SWITCH",
    "REQ_SWITCH",
    "RESERVATION",
    "WCKEY",
];
/// Names of columns of `-O` whose values may hold blanks or be empty.
const ANY: &[&str] = &[
    "REQ_NODES",
    "EXC_NODES",
    "LICENSES",
    "SCHEDNODES",
    "ADMIN_COMMENT",
    "SYSTEM_COMMENT",
    "BURST_BUFFER",
    "BURST_BUFFER_STATE",
    "CLUSTER_FEATURES",
    "CONTAINER",
    "MCSLABEL",
    "NETWORK",
    "PREFER",
    "STDERR",
    "STDIN",
    "STDOUT",
    "TRES_ALLOC",
    "TRES_BIND",
    "TRES_FREQ",
    "TRES_PER_JOB",
    "TRES_PER_SOCKET",
    "TRES_PER_TASK",
    "CPUS_PER_TRES",
    "MEM_PER_TRES",
    "ACTIVE_SIBLINGS",
    "VIABLE_SIBLINGS",
    "ACTIVE_SIBLINGS_RAW",
];

/// The column that a header names.
pub(super) fn column(header: &[u8]) -> Option<Column> {
    let name = std::str::from_utf8(header).ok()?;
    Some(match name {
        "JOBID" => Column::JobId,
        "ST" => Column::Field(Field::State),
        "NODELIST(REASON)" => Column::NodesOrReason,
        "HET_JOB_ID" => Column::HetId,
        "HET_JOB_OFFSET" => Column::HetOffset,
        "CLUSTER" => Column::Cluster,
        TIME_COLUMN => Column::SeenAt,
        _ => match squeue::FIELDS.iter().find(|(_, _, header)| *header == name) {
            Some(&(field, _, _)) => Column::Field(field),
            None if WORDS.contains(&name) => Column::Word,
            None if ANY.contains(&name) => Column::Any,
            None => return None,
        },
    })
}

/// The column of a header that its width has cut short (`PARTITIO`), when only one name begins like
/// that.
pub(super) fn cut_column(header: &[u8]) -> Option<Column> {
    let name = std::str::from_utf8(header).ok().filter(|name| name.len() >= 4)?;
    let fixed = ["JOBID", "ST", "NODELIST(REASON)", "HET_JOB_ID", "HET_JOB_OFFSET", "CLUSTER"];
    let all = fixed
        .iter()
        .copied()
        .chain(squeue::FIELDS.iter().map(|(_, _, name)| *name))
        .chain(WORDS.iter().copied())
        .chain(ANY.iter().copied());
    let mut found = None;
    for full in all.filter(|full| full.starts_with(name)) {
        match found {
            Some(other) if other != full => return None,
            _ => found = Some(full),
        }
    }
    column(found?.as_bytes())
}

/// Whether a field can be what its column says. Only what must never be wrong is looked at; the
/// rest becomes null and a warning.
pub(super) fn is_plausible(column: Column, field: &[u8]) -> bool {
    match column {
        Column::JobId | Column::Field(Field::RawId | Field::DisplayedId) => {
            std::str::from_utf8(field).is_ok_and(|field| parse_displayed(field).is_some_and(|(_, job)| is_possible(&job)))
        }
        Column::Field(Field::State) => is_state(field),
        Column::Field(Field::Submit | Field::Start | Field::End) => units::time(field, 0).is_ok(),
        Column::SeenAt => !units::is_nothing(field) && units::time(field, 0).is_ok(),
        _ => true,
    }
}

/// A pending array's list must be one: anything may stand between brackets.
fn is_possible(job: &JobRef<'_>) -> bool {
    match job {
        JobRef::PendingArray { tasks, .. } => tasks.bytes().all(|b| b.is_ascii_digit() || b",-:%.".contains(&b)),
        _ => true,
    }
}

/// A state that Slurm knows, or one that a later Slurm might.
fn is_state(field: &[u8]) -> bool {
    (2..=30).contains(&field.len()) && field.iter().all(|b| b.is_ascii_uppercase() || *b == b'_') || is_known_state(field)
}

/// A state of squeue(1), by name or code.
pub(super) fn is_known_state(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(|field| !matches!(State::parse(field), State::Other(_)))
}

/// The columns of a file, by its header.
#[derive(Debug)]
pub(super) struct Columns {
    pub columns: Vec<Column>,
}

impl Columns {
    /// Of a header's cells. `kind` and `line` are for the error that says which column is missing.
    pub fn new(cells: &[&[u8]], cut: bool, kind: FileKind, line: u64) -> Result<Self, ImportError> {
        let columns: Vec<Column> =
            cells.iter().map(|cell| column(cell).or_else(|| if cut { cut_column(cell) } else { None }).unwrap_or(Column::Any)).collect();
        let missing = if !columns.contains(&Column::JobId) {
            "JOBID (%i or %A)"
        } else if !columns.contains(&Column::Field(Field::State)) {
            "STATE or ST (%T or %t)"
        } else if kind == FileKind::SlurmMiner && !columns.contains(&Column::SeenAt) {
            TIME_COLUMN
        } else {
            return Ok(Self { columns });
        };
        let names: Vec<String> = cells.iter().take(40).map(|cell| shown(cell)).collect();
        Err(ImportError::Header { kind, line, column: 1, why: format!("the header has no column {missing}; it has {}", names.join(", ")) })
    }

    /// Turns JOBID columns into raw or displayed ones, now that it is known whether a displayed
    /// form stands in the first of two.
    pub fn resolve_ids(&mut self, displayed_first: bool) {
        let ids: Vec<usize> = (0..self.columns.len()).filter(|&at| self.columns[at] == Column::JobId).collect();
        let has_task = self.columns.contains(&Column::Field(Field::ArrayTask));
        for (nth, &at) in ids.iter().enumerate() {
            let raw = match (ids.len(), nth) {
                (1, _) => has_task,
                (_, 0) => !displayed_first,
                (_, 1) => displayed_first,
                _ => {
                    self.columns[at] = Column::Word;
                    continue;
                }
            };
            self.columns[at] = Column::Field(if raw { Field::RawId } else { Field::DisplayedId });
        }
    }
}

/// A row's cells as a record. `None`, with a diagnostic, when it cannot be one.
pub(super) fn record<'a>(
    columns: &Columns,
    cells: &[&'a [u8]],
    line: u64,
    zone: &mut Zone,
    diagnostics: &mut Diagnostics,
) -> Option<JobRecord<'a>> {
    let mut fields: RawFields<'a> = [None; Field::COUNT];
    let (mut het_id, mut het_offset) = (None, None);
    for (&column, &cell) in columns.columns.iter().zip(cells) {
        match column {
            Column::Field(field) => {
                if matches!(field, Field::Submit | Field::Start | Field::End) {
                    zone.see(cell, line, diagnostics);
                }
                // Of two columns with the same name the first, but a group's name (%g) rather than its number (%G).
                let before = &mut fields[field as usize];
                if before.is_none() || (field == Field::Group && before.is_some_and(|before| units::digits(before).is_some())) {
                    *before = Some(cell);
                }
            }
            Column::NodesOrReason => match cell.strip_prefix(b"(") {
                Some(reason) => {
                    fields[Field::Reason as usize] = fields[Field::Reason as usize].or(Some(reason.strip_suffix(b")").unwrap_or(reason)))
                }
                None => fields[Field::NodeList as usize] = fields[Field::NodeList as usize].or(Some(cell)),
            },
            Column::HetId => het_id = units::digits(cell).filter(|&id| id != 0),
            Column::HetOffset => het_offset = units::digits(cell),
            Column::JobId | Column::Cluster | Column::SeenAt | Column::Word | Column::Any => {}
        }
    }
    // A raw id that is shown as displayed (`8_3`) after all, in a file with task column.
    let raw = fields[Field::RawId as usize];
    if fields[Field::DisplayedId as usize].is_none() && raw.is_some_and(|raw| units::digits(raw).is_none()) {
        fields[Field::DisplayedId as usize] = fields[Field::RawId as usize].take();
    }
    let mut record = interpret(&fields, Place::Line(line), zone.offset_s, diagnostics)?;
    if record.job == JobRef::Single
        && let (Some(leader), Some(offset)) = (het_id, het_offset)
    {
        record.job = JobRef::Het { leader, offset };
    }
    if let JobRef::PendingArray { tasks, .. } = &record.job
        && IndexSet::parse(tasks).is_none_or(|set| set.cut)
    {
        let message = format!("the list of array tasks was cut short: {:?}", shown(tasks.as_bytes()));
        let advice = "run squeue with SLURM_BITSTR_LEN=0 in the environment for whole lists";
        diagnostics.push(Diagnostic::warning("array_cut", message).at(line, None).advise(advice));
    }
    Some(record)
}

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
                let message = format!("times such as {:?} say no zone and are taken as UTC", shown(trimmed));
                diagnostics.push(
                    Diagnostic::warning("no_zone", message)
                        .at(number, None)
                        .advise("say the cluster's zone with --zone, as in --zone=+01:00"),
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
                "{:?} is no header with columns that squeue has and something between them; say the separator with --separator",
                shown(header)
            ),
        })?,
    };
    let after = table::after_line(body);
    let first_row = header_line + 1;
    let errors = diagnostics.errors();
    let (records, row_cluster) = match separator {
        Separator::Bytes(separator) => delimited(after, header, &separator, header_line, first_row, &mut zone, diagnostics)?,
        Separator::Blanks => (blanks::read(after, header, header_line, &mut zone, diagnostics)?, None),
    };
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

/// Rows whose fields can be what the columns say.
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

/// What to do about rejected rows.
pub(super) const FORGERY: &str =
    "a name with the separator or a newline in it looks like this; squeue --json, or `flowmine observe`, has no such trouble";

/// A record that borrows nothing.
pub(super) fn into_owned(record: JobRecord<'_>) -> JobRecord<'static> {
    fn own(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
        text.map(|text| Cow::Owned(text.into_owned()))
    }
    JobRecord {
        job_id: record.job_id,
        job: match record.job {
            JobRef::Single => JobRef::Single,
            JobRef::Task { array, task } => JobRef::Task { array, task },
            JobRef::PendingArray { array, tasks } => JobRef::PendingArray { array, tasks: Cow::Owned(tasks.into_owned()) },
            JobRef::Het { leader, offset } => JobRef::Het { leader, offset },
        },
        state: record.state,
        submit_ns: record.submit_ns,
        start_ns: record.start_ns,
        end_ns: record.end_ns,
        time_limit_s: record.time_limit_s,
        priority: record.priority,
        nice: record.nice,
        features: own(record.features),
        tres_per_node: own(record.tres_per_node),
        requested_tres: own(record.requested_tres),
        allocated_tres: own(record.allocated_tres),
        eligible_ns: record.eligible_ns,
        max_rss_bytes: record.max_rss_bytes,
        cpu_time_ns: record.cpu_time_ns,
        name: own(record.name),
        user: own(record.user),
        group: own(record.group),
        account: own(record.account),
        partition: own(record.partition),
        qos: own(record.qos),
        reason: own(record.reason),
        comment: own(record.comment),
        command_line: own(record.command_line),
        work_dir: own(record.work_dir),
        nodes: record.nodes,
        node_list: own(record.node_list),
        cpus: record.cpus,
        memory_bytes: record.memory_bytes,
        total_memory_bytes: record.total_memory_bytes,
        dependency: own(record.dependency),
        tells_dependency: record.tells_dependency,
        exit_code: record.exit_code,
        exit_signal: record.exit_signal,
        cancelled_by_uid: record.cancelled_by_uid,
        read_bytes: record.read_bytes,
        written_bytes: record.written_bytes,
        submit_line: own(record.submit_line),
    }
}
