//! squeue's text: one record a job, fields and records ended by a token drawn at random.
//!
//! Job names, comments and arguments may hold any byte but NUL, also a newline and whatever
//! delimiter a format uses, so that with a fixed delimiter a job's name can forge another job's
//! record. The token of a poll is not known before the poll and is passed in the environment of
//! `squeue`, not among its arguments, so no name can contain it. A record is the same number of
//! fields for every job, each followed by the token, and a newline.
//!
//! In goes the output of `squeue` with [`format()`] in `SQUEUE_FORMAT2`, header included; out come
//! [`JobRecord`]s. A value that is not understood becomes null and a diagnostic; a record without
//! an id, or with another number of fields, is rejected.

use std::borrow::Cow;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;
use flowmine_slurm::job_ref::{JobRef, parse_displayed, with_raw_id};
use flowmine_slurm::state::State;
use flowmine_slurm::units::{self, shown};
use memchr::memmem;

use crate::record::JobRecord;

/// A field of squeue(1), as `--Format` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the squeue(1) field whose name stands beside it in FIELDS")]
pub enum Field {
    RawId,
    DisplayedId,
    ArrayId,
    ArrayTask,
    Submit,
    Start,
    End,
    TimeLimit,
    State,
    Reason,
    Account,
    User,
    Group,
    Partition,
    Qos,
    Nodes,
    NodeList,
    Cpus,
    Memory,
    Name,
    Command,
    WorkDir,
    Comment,
    Dependency,
    Priority,
    Nice,
    Features,
    TresPerNode,
    Licenses,
    SubmitNode,
    SubmitSession,
}

impl Field {
    /// Number of fields that are asked for.
    pub const COUNT: usize = FIELDS.len();
}

/// What is asked for, in this order: the field, its name in squeue(1) `--Format`, and the header
/// that squeue prints for it.
pub const FIELDS: &[(Field, &str, &str)] = &[
    (Field::RawId, "JobID", "JOBID"),
    (Field::DisplayedId, "JobArrayID", "JOBID"),
    (Field::ArrayId, "ArrayJobID", "ARRAY_JOB_ID"),
    (Field::ArrayTask, "ArrayTaskID", "ARRAY_TASK_ID"),
    (Field::Submit, "SubmitTime", "SUBMIT_TIME"),
    (Field::Start, "StartTime", "START_TIME"),
    (Field::End, "EndTime", "END_TIME"),
    (Field::TimeLimit, "TimeLimit", "TIME_LIMIT"),
    (Field::State, "State", "STATE"),
    (Field::Reason, "Reason", "REASON"),
    (Field::Account, "Account", "ACCOUNT"),
    (Field::User, "UserName", "USER"),
    (Field::Group, "GroupName", "GROUP"),
    (Field::Partition, "Partition", "PARTITION"),
    (Field::Qos, "QOS", "QOS"),
    (Field::Nodes, "NumNodes", "NODES"),
    (Field::NodeList, "NodeList", "NODELIST"),
    (Field::Cpus, "NumCPUs", "CPUS"),
    (Field::Memory, "MinMemory", "MIN_MEMORY"),
    (Field::Name, "Name", "NAME"),
    (Field::Command, "Command", "COMMAND"),
    (Field::WorkDir, "WorkDir", "WORK_DIR"),
    (Field::Comment, "Comment", "COMMENT"),
    (Field::Dependency, "Dependency", "DEPENDENCY"),
    (Field::Priority, "PriorityLong", "PRIORITY"),
    (Field::Nice, "Nice", "NICE"),
    (Field::Features, "Feature", "FEATURES"),
    (Field::TresPerNode, "tres-per-node", "TRES_PER_NODE"),
    (Field::Licenses, "Licenses", "LICENSES"),
    (Field::SubmitNode, "AllocNodes", "ALLOC_NODES"),
    (Field::SubmitSession, "AllocSID", "ALLOC_SID"),
];

/// How the header of [`FIELDS`] begins where squeue reads what follows the colon as a width, which
/// is then 0.
const WITHOUT_DELIMITER: &[u8] = b"JOBIDJOBIDARRAY_JOB_ID";

/// Fields of one record as written in the output; those missing from the input are `None`.
pub type RawFields<'a> = [Option<&'a [u8]>; Field::COUNT];

/// The value of `SQUEUE_FORMAT2` for a token. Without a width squeue neither cuts nor pads a field;
/// what follows the colon is put after it.
pub fn format(token: &str) -> String {
    let fields: Vec<String> = FIELDS.iter().map(|(_, name, _)| format!("{name}:{token}")).collect();
    fields.join(",")
}

/// Draws a token: the unit separator (0x1f), which makes searching fast, and eight random letters
/// and digits (47 bits).
///
/// # Errors
/// When the kernel gives no random bytes.
pub fn draw_token() -> Result<String, getrandom::Error> {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut token = String::from('\u{1f}');
    while token.len() < 9 {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes)?;
        // 248 is the largest multiple of 62 in a byte: above it some letters would be likelier.
        token.extend(bytes.iter().filter(|&&b| b < 248).take(9 - token.len()).map(|&b| char::from(ALPHABET[usize::from(b % 62)])));
    }
    Ok(token)
}

/// Why an output could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqueueError {
    /// It does not begin with the header that was asked for.
    #[error("squeue did not print the requested header (it began with {begins:?}): is another program installed under its name?")]
    Header {
        /// The first bytes, made visible.
        begins: String,
    },
    /// It prints no text after a field: that came with Slurm 20.02 (commit 9ea6c9468b).
    #[error(
        "squeue put no delimiter after its fields, so it is older than Slurm 20.02: `flowmine import slurm` reads what `squeue -o` and \
         sacct of that version print"
    )]
    NoDelimiter,
    /// The output ends inside a record.
    #[error("squeue's output ends inside record {record}: the connection was cut or squeue was ended; nothing of this poll is used")]
    Truncated {
        /// Number of the record, from 1; the header is not counted.
        record: u64,
    },
}

/// Finds the token in an output that begins with the header of [`FIELDS`]: what stands between the
/// first two column names.
pub fn token_of(output: &[u8]) -> Option<&[u8]> {
    let rest = output.strip_prefix(b"JOBID\x1f")?;
    let end = memmem::find(rest, b"JOBID")?;
    let token = &output[5..5 + 1 + end];
    (token.len() == 9).then_some(token)
}

/// Reads the output of one squeue call as a whole.
///
/// `each` gets every record and where its bytes begin (line and byte offset are of use for messages
/// only).
///
/// # Errors
/// [`SqueueError`] when the output is not whole; then `each` may have been called, and what it was
/// given must not be used.
pub fn parse<'a>(
    output: &'a [u8],
    token: &[u8],
    diagnostics: &mut Diagnostics,
    mut each: impl FnMut(JobRecord<'a>),
) -> Result<u64, SqueueError> {
    let Some((layout, begin)) = Layout::of_header(output, token) else {
        return Err(if output.starts_with(WITHOUT_DELIMITER) {
            SqueueError::NoDelimiter
        } else {
            SqueueError::Header { begins: shown(output) }
        });
    };
    let records = Records { layout, output, at: begin, found: memmem::find_iter(&output[begin..], token), begin, token_len: token.len() };
    let mut count = 0;
    for fields in records {
        count += 1;
        let Ok(fields) = fields else { return Err(SqueueError::Truncated { record: count }) };
        if let Some(record) = interpret(&fields, Place::Record(count), 0, diagnostics) {
            each(record);
        }
    }
    Ok(count)
}

/// Which field each column holds; `None` for one that is not read.
struct Layout(Vec<Option<Field>>);

impl Layout {
    /// Reads the header, and returns where the records begin. A recording may have columns that are
    /// not in [`FIELDS`], or lack some; without an id or a state there is nothing to read.
    fn of_header(output: &[u8], token: &[u8]) -> Option<(Self, usize)> {
        let end = memchr::memchr(b'\n', output)?;
        let line = output[..end].strip_suffix(token)?;
        let mut columns: Vec<Option<Field>> = Vec::new();
        let mut at = 0;
        loop {
            let len = memmem::find(&line[at..], token).unwrap_or(line.len() - at);
            let name = std::str::from_utf8(&line[at..at + len]).ok()?;
            // Two columns are called JOBID: the raw id comes first.
            let field = FIELDS.iter().find(|(field, _, header)| *header == name && !columns.contains(&Some(*field)));
            columns.push(field.map(|(field, _, _)| *field));
            at += len + token.len();
            if at > line.len() {
                break;
            }
        }
        let has = |field| columns.contains(&Some(field));
        (has(Field::RawId) && has(Field::State)).then_some((Self(columns), end + 1))
    }
}

/// Splits an output into records.
struct Records<'a, 't> {
    layout: Layout,
    output: &'a [u8],
    at: usize,
    found: memmem::FindIter<'a, 't>,
    begin: usize,
    token_len: usize,
}

struct CutShort;

impl<'a> Iterator for Records<'a, '_> {
    type Item = Result<RawFields<'a>, CutShort>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.output.len() {
            return None;
        }
        let mut fields: RawFields<'a> = [None; Field::COUNT];
        for field in &self.layout.0 {
            let Some(end) = self.found.next() else {
                self.at = self.output.len();
                return Some(Err(CutShort));
            };
            let end = end + self.begin;
            if let Some(field) = field {
                fields[*field as usize] = Some(&self.output[self.at..end]);
            }
            self.at = end + self.token_len;
        }
        // The newline that squeue ends every record with.
        if self.output.get(self.at) != Some(&b'\n') {
            self.at = self.output.len();
            return Some(Err(CutShort));
        }
        self.at += 1;
        Some(Ok(fields))
    }
}

/// Where a record stands, for messages.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// The n-th record of a poll.
    Record(u64),
    /// A line of a file.
    Line(u64),
}

impl Place {
    fn put(self, diagnostic: Diagnostic) -> Diagnostic {
        match self {
            Place::Record(n) => Diagnostic { message: format!("record {n}: {}", diagnostic.message), ..diagnostic },
            Place::Line(n) => diagnostic.at(n, None),
        }
    }
}

/// Makes a record of its fields. `zone_offset_s` says how far east of UTC times without zone are.
///
/// `None`, with a diagnostic, when there is no job id or no state.
pub fn interpret<'a>(fields: &RawFields<'a>, place: Place, zone_offset_s: i64, diagnostics: &mut Diagnostics) -> Option<JobRecord<'a>> {
    let raw = |field: Field| fields[field as usize];
    let words = |field: Field| raw(field).filter(|bytes| !units::is_nothing(bytes)).map(text::decode);
    // Free text may well be the word "None"; only squeue's own (null) means nothing there.
    let free = |field: Field| raw(field).filter(|bytes| !matches!(*bytes, b"(null)" | b"")).map(text::decode);

    let displayed = raw(Field::DisplayedId).and_then(|bytes| parse_displayed(std::str::from_utf8(bytes).ok()?));
    let raw_id = raw(Field::RawId).and_then(units::digits);
    let from_columns = || raw_id.map(|id| (id, array_from_columns(&raw, id)));
    let Some((job_id, job)) = with_raw_id(raw_id, displayed).or_else(from_columns) else {
        let id = shown(raw(Field::DisplayedId).or(raw(Field::RawId)).unwrap_or_default());
        diagnostics.push(place.put(Diagnostic::error("squeue_job_id", format!("{id:?} is not a job id"))));
        return None;
    };
    let Some(state) = raw(Field::State).filter(|bytes| !bytes.is_empty()) else {
        diagnostics.push(place.put(Diagnostic::error("squeue_state", "the record has no state")));
        return None;
    };
    let state = State::parse(&text::decode(state));

    let mut number = |field: Field, name: &str, read: &units::Read<'_>| -> Option<i64> {
        let bytes = raw(field)?;
        read(bytes).unwrap_or_else(|_| {
            let message = format!("{:?} is not a {name}; treated as unknown", shown(bytes));
            diagnostics.push(place.put(Diagnostic::warning("squeue_value", message)));
            None
        })
    };
    let time = |bytes: &[u8]| units::time(bytes, zone_offset_s);
    let mut record = JobRecord::new(job_id, job, state);
    record.submit_ns = number(Field::Submit, "time", &time);
    record.start_ns = number(Field::Start, "time", &time);
    record.end_ns = number(Field::End, "time", &time);
    record.time_limit_s = number(Field::TimeLimit, "length of time", &units::duration);
    record.nodes = number(Field::Nodes, "count", &units::count);
    record.cpus = number(Field::Cpus, "count", &units::count);
    record.memory_bytes = number(Field::Memory, "size of memory", &units::memory);
    record.priority = number(Field::Priority, "priority", &units::priority);
    record.nice = number(Field::Nice, "nice value", &units::signed);
    record.reason = words(Field::Reason);
    record.account = free(Field::Account);
    record.user = free(Field::User);
    record.group = free(Field::Group);
    record.partition = free(Field::Partition);
    record.qos = free(Field::Qos);
    record.node_list = words(Field::NodeList);
    // Every job has a name, so "(null)" here is a real job name.
    record.name = raw(Field::Name).filter(|bytes| !bytes.is_empty()).map(text::decode);
    record.command_line = free(Field::Command);
    record.work_dir = free(Field::WorkDir);
    record.comment = free(Field::Comment);
    record.dependency = words(Field::Dependency);
    record.tells_dependency = raw(Field::Dependency).is_some();
    record.features = words(Field::Features);
    record.tres_per_node = words(Field::TresPerNode);
    record.licenses = words(Field::Licenses);
    record.submit_node = words(Field::SubmitNode);
    record.submit_session = number(Field::SubmitSession, "session", &units::session);
    Some(record)
}

fn array_from_columns<'a>(raw: &dyn Fn(Field) -> Option<&'a [u8]>, job_id: i64) -> JobRef<'a> {
    let array = raw(Field::ArrayId).and_then(units::digits).unwrap_or(job_id);
    match raw(Field::ArrayTask).filter(|bytes| !units::is_nothing(bytes)) {
        None => JobRef::Single,
        Some(bytes) => match units::digits(bytes) {
            Some(task) => JobRef::Task { array, task },
            None => JobRef::PendingArray { array, tasks: Cow::Owned(text::decode(bytes).into_owned()) },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "\u{1f}Ab3dEf9h";

    /// One record with every field given by `value`, or a likely one.
    fn record(values: &[(Field, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (field, _, _) in FIELDS {
            let default: &[u8] = match field {
                Field::RawId | Field::DisplayedId | Field::ArrayId => b"7",
                Field::State => b"PENDING",
                Field::Submit => b"1795179770",
                _ => b"(null)",
            };
            out.extend(values.iter().find(|(f, _)| f == field).map_or(default, |(_, v)| v));
            out.extend(TOKEN.as_bytes());
        }
        out.push(b'\n');
        out
    }

    fn header() -> Vec<u8> {
        let mut out: Vec<u8> = FIELDS.iter().flat_map(|(_, _, name)| [name.as_bytes(), TOKEN.as_bytes()].concat()).collect();
        out.push(b'\n');
        out
    }

    fn read(output: &[u8]) -> (Vec<JobRecord<'_>>, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let mut records = Vec::new();
        parse(output, TOKEN.as_bytes(), &mut diagnostics, |record| records.push(record)).unwrap();
        (records, diagnostics)
    }

    #[test]
    fn a_name_with_newline_and_bars_forges_nothing() {
        let name: &[u8] = b"evil\nroot|1|(null)\x1fAAAAAAAA\n9\x1fAb3dEf9g";
        let output = [header(), record(&[(Field::Name, name)]), record(&[(Field::Comment, b"l1\nl2")])].concat();
        let (records, diagnostics) = read(&output);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].name.as_deref().unwrap().as_bytes(), name);
        assert_eq!(records[1].comment.as_deref(), Some("l1\nl2"));
        assert!(diagnostics.is_empty());
    }

    #[test]
    fn bytes_that_are_no_utf8_survive() {
        let output = [header(), record(&[(Field::Name, b"bad\xff\xfeutf")])].concat();
        assert_eq!(text::encode(read(&output).0[0].name.as_deref().unwrap()), b"bad\xff\xfeutf");
    }

    #[test]
    fn arrays_and_heterogeneous_jobs() {
        let output = [
            header(),
            record(&[(Field::RawId, b"8"), (Field::DisplayedId, b"8_[3-9%3]"), (Field::ArrayTask, b"3-9%3")]),
            record(&[(Field::RawId, b"11"), (Field::DisplayedId, b"8_1"), (Field::ArrayTask, b"1")]),
            record(&[(Field::RawId, b"19"), (Field::DisplayedId, b"18+1")]),
        ]
        .concat();
        let labels: Vec<String> = read(&output).0.iter().map(JobRecord::label).collect();
        assert_eq!(labels, ["8_*", "8_1", "18+1"]);
    }

    #[test]
    fn a_cut_output_is_refused() {
        let whole = [header(), record(&[]), record(&[])].concat();
        for end in header().len() + 1..whole.len() {
            let mut records = 0;
            let result = parse(&whole[..end], TOKEN.as_bytes(), &mut Diagnostics::default(), |_| records += 1);
            if end == header().len() + record(&[]).len() {
                assert_eq!(result, Ok(1));
            } else {
                assert!(matches!(result, Err(SqueueError::Truncated { .. })), "cut at {end}");
            }
        }
        assert!(matches!(
            parse(b"slurm_load_jobs error", TOKEN.as_bytes(), &mut Diagnostics::default(), |_| ()),
            Err(SqueueError::Header { .. })
        ));
    }

    #[test]
    fn a_squeue_without_delimiters_is_told_by_its_header() {
        let header: String = FIELDS.iter().map(|(_, _, name)| *name).collect();
        let read = |output: &str| parse(output.as_bytes(), TOKEN.as_bytes(), &mut Diagnostics::default(), |_| ());
        assert_eq!(read(&format!("{header}\n77 7N/APENDING\n")), Err(SqueueError::NoDelimiter));
        assert!(matches!(read("JOBID PARTITION NAME\n"), Err(SqueueError::Header { .. })));
    }

    #[test]
    fn a_bad_value_is_unknown_and_told() {
        let output = [header(), record(&[(Field::Cpus, b"many")]), record(&[(Field::RawId, b"x"), (Field::DisplayedId, b"y")])].concat();
        let (records, diagnostics) = read(&output);
        assert_eq!((records.len(), records[0].cpus), (1, None));
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["squeue_value", "squeue_job_id"]);
    }

    #[test]
    fn a_recording_may_have_other_columns() {
        let t = TOKEN;
        let output = format!("STATE{t}LICENSES{t}JOBID{t}\nRUNNING{t}4294901\n{t}7{t}\n");
        let (records, diagnostics) = read(output.as_bytes());
        assert_eq!((records[0].job_id, &records[0].state, diagnostics.is_empty()), (7, &State::Running, true));
        assert!(Layout::of_header(format!("NAME{t}\n").as_bytes(), t.as_bytes()).is_none());
    }

    #[test]
    fn the_token_is_found_in_a_recording() {
        assert_eq!(token_of(&header()), Some(TOKEN.as_bytes()));
        assert_eq!(token_of(b"JOBID JOBID"), None);
    }

    #[test]
    fn tokens_differ() {
        let (a, b) = (draw_token().unwrap(), draw_token().unwrap());
        assert!(a != b && a.len() == 9 && a[1..].bytes().all(|c| c.is_ascii_alphanumeric()));
    }

    proptest! {
        #[test]
        fn any_bytes_in_free_text_come_through(name in proptest::collection::vec(1u8..=255, 1..60), comment in proptest::collection::vec(1u8..=255, 1..60)) {
            prop_assume!(memmem::find(&name, TOKEN.as_bytes()).is_none() && memmem::find(&comment, TOKEN.as_bytes()).is_none());
            prop_assume!(comment != b"(null)");
            let output = [header(), record(&[(Field::Name, &name), (Field::Comment, &comment)])].concat();
            let (records, _) = read(&output);
            prop_assert_eq!(records.len(), 1);
            prop_assert_eq!(text::encode(records[0].name.as_deref().unwrap()), name);
            prop_assert_eq!(text::encode(records[0].comment.as_deref().unwrap()), comment);
        }
        #[test]
        fn nothing_panics(output in proptest::collection::vec(any::<u8>(), 0..400)) {
            let all = [header(), output].concat();
            let _ = parse(&all, TOKEN.as_bytes(), &mut Diagnostics::default(), |_| ());
        }
    }
}
