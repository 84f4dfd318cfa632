//! The columns of squeue's text: what each holds by its header, whether a field can be that, and a
//! row's fields as a record.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_slurm::job_ref::{JobRef, parse_displayed};
use flowmine_slurm::state::State;
use flowmine_slurm::units;
use flowmine_slurm::units::shown;

use super::cut_array::cut_array;
use super::error::ImportError;
use super::kind::FileKind;
use super::time_column::TIME_COLUMN;
use super::zone::Zone;
use crate::record::JobRecord;
use crate::squeue::{self, Field, Place, RawFields, interpret};

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
/// Names of columns of `-O` with values that may contain blanks or be empty.
const ANY: &[&str] = &[
    "REQ_NODES",
    "EXC_NODES",
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

    /// Turns JOBID columns into raw or displayed ones; `displayed_first` is whether the first of
    /// two holds the displayed form.
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
        && let Some(message) = cut_array(tasks)
    {
        let advice = "run squeue with SLURM_BITSTR_LEN=0 in the environment for whole lists";
        diagnostics.push(Diagnostic::warning("array_cut", message).at(line, None).advise(advice));
    }
    Some(record)
}
