//! A line of `file-bpf.csv` in, a row of `io_events` out, without host and trace.
//!
//! The columns are those of the header when there is one, else those of the published tool.
//! Refused, with the place: lines with too few columns, types that are not known, and numbers that
//! are none or out of range. Values that the format writes as 0 because they are unknown become
//! null: the file and handle of a failed open, four CPU times of 0, offset and size of what
//! transfers nothing.

use flowmine_schema::tables::IoEvent;

use crate::field;
use crate::path::{self, PathColumn};
use crate::{COLUMNS, Problem};

/// What a line of the file of operations is.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is an event, and one is alive at a time")]
pub enum Decoded<'a> {
    /// Empty, a comment or a header.
    Nothing,
    /// An operation on a file.
    Event(Event<'a>),
    /// A line that is rejected, and why.
    Bad(Problem),
}

/// An operation, as a line describes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event<'a> {
    /// Its row of `io_events`, without host and trace.
    pub row: IoEvent<'a>,
    /// Whether its path was cut, so that it has none.
    pub path_cut: bool,
    /// Whether the path may be cut without a sign: it has as many parts, or a part as long, as the
    /// published tool can record.
    pub path_doubtful: bool,
    /// Whether it ended before it began, so that it has no end.
    pub ends_before: bool,
}

/// Position of a column in [`COLUMNS`].
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
enum Column {
    TimeStart,
    TimeEnd,
    Pid,
    UtimeStart,
    UtimeEnd,
    StimeStart,
    StimeEnd,
    Inode,
    Type,
    Result,
    Handle,
    Offset,
    Size,
    Flags,
    Path,
}

/// Without these a line has no content.
const REQUIRED: [Column; 3] = [Column::TimeStart, Column::Pid, Column::Type];
const ABSENT: usize = usize::MAX;
/// The highest number that a process can have on a 64-bit Linux (PID_MAX_LIMIT, proc(5)).
pub const MAX_PID: u64 = 4 << 20;
/// O_LARGEFILE as x86-64's kernel has it in every open file (fcntl.h of the kernel); no program
/// asks for it.
const LARGEFILE: u32 = 0x8000;

/// Decodes the lines of one file of operations; its header has the positions of columns.
#[derive(Debug, Clone)]
pub struct Decoder {
    /// For each of [`COLUMNS`] its position in a line.
    at: [usize; COLUMNS.len()],
    /// How many columns a line has at least; what follows belongs to the last.
    count: usize,
    /// Whether a header or a line with data was seen: after that no other header is expected.
    begun: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { at: std::array::from_fn(|column| column), count: COLUMNS.len(), begun: false }
    }
}

/// Positions and bytes of the fields of a line.
struct Fields<'l> {
    line: &'l [u8],
    /// Each begins one after the comma before it.
    starts: [usize; MOST + 2],
    count: usize,
}

/// The most columns a header may have.
const MOST: usize = 32;

impl<'l> Fields<'l> {
    /// Splits at the first `count - 1` commas.
    fn new(line: &'l [u8], count: usize) -> Self {
        let mut starts = [0; MOST + 2];
        let mut found = 1;
        if count > 1 {
            for comma in memchr::memchr_iter(b',', line) {
                starts[found] = comma + 1;
                found += 1;
                if found == count {
                    break;
                }
            }
        }
        starts[found] = line.len() + 1;
        Self { line, starts, count: found }
    }

    fn raw(&self, position: usize) -> Option<&'l [u8]> {
        (position < self.count).then(|| &self.line[self.starts[position]..self.starts[position + 1] - 1])
    }

    /// The column of a field's text in bytes, from 1.
    fn column(&self, position: usize) -> u64 {
        let Some(raw) = self.raw(position) else { return self.line.len() as u64 + 1 };
        let padding = raw.len() - raw.trim_ascii_start().len();
        (self.starts[position] + padding + 1) as u64
    }
}

impl Decoder {
    /// Reads a line, without its end.
    pub fn decode<'a>(&mut self, line: &'a [u8]) -> Decoded<'a> {
        let text = line.trim_ascii_start();
        match text.first() {
            None => return Decoded::Nothing,
            Some(b'#') => return Decoded::Nothing,
            Some(byte) if byte.is_ascii_alphabetic() => {
                let first = text.split(|&byte| byte == b',').next().map(field::trimmed);
                match self.begun {
                    false => return self.header(line),
                    // Concatenated files.
                    true if COLUMNS.iter().any(|name| first == Some(name.as_bytes())) => return Decoded::Nothing,
                    true => {}
                }
            }
            Some(_) => {}
        }
        self.begun = true;
        match self.event(line) {
            Ok(event) => Decoded::Event(event),
            Err(problem) => Decoded::Bad(problem),
        }
    }

    fn header(&mut self, line: &[u8]) -> Decoded<'static> {
        let names = Fields::new(line, MOST + 1);
        let bad =
            |position: usize, message: String| Decoded::Bad(Problem { code: "header_unknown", message, column: names.column(position) });
        if names.count > MOST {
            return bad(0, format!("a header with more than {MOST} columns"));
        }
        let mut at = [ABSENT; COLUMNS.len()];
        for position in 0..names.count {
            let name = names.raw(position).map(field::trimmed).unwrap_or_default();
            if let Some(column) = COLUMNS.iter().position(|known| known.as_bytes() == name) {
                if at[column] != ABSENT {
                    return bad(position, format!("two columns are called {}", COLUMNS[column]));
                }
                at[column] = position;
            }
        }
        if let Some(missing) = REQUIRED.iter().find(|&&column| at[column as usize] == ABSENT) {
            return bad(0, format!("the header has no column {}", COLUMNS[*missing as usize]));
        }
        let path = at[Column::Path as usize];
        if path != ABSENT && path + 1 != names.count {
            return bad(path, "the path is not the last column, so that one with a comma could not be read".to_owned());
        }
        (self.at, self.count, self.begun) = (at, names.count, true);
        Decoded::Nothing
    }

    fn event<'a>(&self, line: &'a [u8]) -> Result<Event<'a>, Problem> {
        let fields = Fields::new(line, self.count);
        if fields.count < self.count {
            let message = format!("{} of {} columns", fields.count, self.count);
            return Err(Problem { code: "too_few_columns", message, column: line.len() as u64 + 1 });
        }
        let text = |column: Column| fields.raw(self.at[column as usize]).map(field::trimmed);
        let bad = |column: Column, code: &'static str, what: &str| Problem {
            code,
            message: format!("{} is {:?}, which is {what}", COLUMNS[column as usize], shown(text(column).unwrap_or_default())),
            column: fields.column(self.at[column as usize]),
        };
        let time = |column: Column| match text(column) {
            None => Ok(None),
            Some(text) => field::seconds(text).map(Some).ok_or_else(|| bad(column, "bad_time", "no number of seconds since 1970")),
        };
        let number = |column: Column| match text(column) {
            None => Ok(None),
            Some(text) => field::signed(text).map(Some).ok_or_else(|| bad(column, "bad_number", "no whole number of 64 bits")),
        };

        let kind = text(Column::Type).unwrap_or_default();
        let op = match kind {
            b"R" => "read",
            b"W" => "write",
            b"O" => "open",
            b"C" => "close",
            b"U" => "delete",
            b"M" => "fault",
            _ => return Err(bad(Column::Type, "unknown_type", "none of O, C, R, W, U and M")),
        };
        let start_ns = time(Column::TimeStart)?.unwrap_or_default();
        let end_ns = time(Column::TimeEnd)?;
        let ends_before = end_ns.is_some_and(|end| end < start_ns);
        let pid = text(Column::Pid).and_then(field::unsigned).filter(|pid| *pid <= MAX_PID);
        let pid = pid.ok_or_else(|| bad(Column::Pid, "bad_number", "no number of a process"))? as i32;
        let cpu = [time(Column::UtimeStart)?, time(Column::UtimeEnd)?, time(Column::StimeStart)?, time(Column::StimeEnd)?];
        let cpu = if cpu.iter().all(|time| matches!(time, None | Some(0))) { [None; 4] } else { cpu };
        let result = number(Column::Result)?;
        let transfers = matches!(op, "read" | "write" | "fault");
        let inode = match text(Column::Inode) {
            None | Some(b"0") => None,
            Some(text) => {
                let inode = field::unsigned(text).ok_or_else(|| bad(Column::Inode, "bad_number", "no whole number of 64 bits"))? as i64;
                // Of a file that it had not seen before, the published tool writes minus the file system's own number: not one of its numbers.
                (op != "delete" || inode >= 0).then_some(inode)
            }
        };
        let failed = result.is_some_and(|result| result < 0);
        // The FUSE tool counts from 0, the other from 1; both write a number below or 0 where there is none.
        let none_is_zero = op == "delete" || op == "open" && failed;
        let handle = number(Column::Handle)?.filter(|&handle| if none_is_zero { handle > 0 } else { handle >= 0 });
        let (offset, size) = if transfers { (number(Column::Offset)?, number(Column::Size)?) } else { (None, None) };
        for (column, value) in [(Column::Offset, offset), (Column::Size, size)] {
            if value.is_some_and(|value| value < 0) {
                return Err(bad(column, "bad_number", "less than 0"));
            }
        }
        let flags = match text(Column::Flags) {
            Some(text) if op == "open" => {
                let flags = field::hexadecimal(text).ok_or_else(|| bad(Column::Flags, "bad_number", "no hexadecimal number of 32 bits"))?;
                (!failed || flags != 0).then_some((flags & !LARGEFILE) as i32)
            }
            _ => None,
        };
        // A fault moves no bytes for the process; the tool writes the read-ahead, and -1 for an
        // error without its number.
        let result = if op == "fault" { result.and_then(|result| (result >= 0).then_some(0)) } else { result };
        let told = match op {
            "open" | "delete" => fields.raw(self.at[Column::Path as usize]).map_or(PathColumn::None, path::read),
            _ => PathColumn::None,
        };
        let path_cut = told == PathColumn::Cut;
        let path = if let PathColumn::Path(path) = told { Some(path) } else { None };
        let path_doubtful = path.as_deref().is_some_and(doubtful);
        let [utime_start_ns, utime_end_ns, stime_start_ns, stime_end_ns] = cpu;
        let row = IoEvent {
            pid,
            op: op.into(),
            via: "call".into(),
            start_ns,
            end_ns: end_ns.filter(|_| !ends_before),
            handle,
            inode,
            offset,
            size,
            result,
            flags,
            path,
            utime_start_ns,
            utime_end_ns,
            stime_start_ns,
            stime_end_ns,
            ..IoEvent::default()
        };
        Ok(Event { row, path_cut, path_doubtful, ends_before })
    }

    /// Whether a last line that no newline ends is whole: what follows the last comma is a path,
    /// and a part of one looks like one.
    pub fn is_whole(&self, line: &[u8], event: &Event<'_>) -> bool {
        let has_path = matches!(&*event.row.op, "open" | "delete");
        self.at[Column::Path as usize] != ABSENT && (!has_path || line.ends_with(b" ") || line.ends_with(b"::") || line.ends_with(b"::\""))
    }
}

fn doubtful(path: &str) -> bool {
    let mut parts = 0;
    let mut long = false;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        parts += 1;
        long |= part.len() == path::LONGEST_PART;
    }
    parts == path::MOST_PARTS || long
}

/// The beginning of a field for a message.
pub fn shown(field: &[u8]) -> String {
    let field = &field[..field.len().min(40)];
    String::from_utf8_lossy(field).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(line: &str) -> Event<'_> {
        match Decoder::default().decode(line.as_bytes()) {
            Decoded::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }

    fn problem(line: &str) -> (&'static str, u64) {
        match Decoder::default().decode(line.as_bytes()) {
            Decoded::Bad(problem) => (problem.code, problem.column),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_papers_lines() {
        let open = event(
            "1714067937.744, 1714067937.744, 1169224, 27151.124, 27151.124, 27151.124, 27151.124, 5277, O, 0, 35625, 0, 0, 0x00008000, /home/w/a.fq.gz",
        );
        let expected = IoEvent {
            pid: 1_169_224,
            op: "open".into(),
            via: "call".into(),
            start_ns: 1_714_067_937_744_000_000,
            end_ns: Some(1_714_067_937_744_000_000),
            handle: Some(35_625),
            inode: Some(5_277),
            result: Some(0),
            flags: Some(0),
            path: Some("/home/w/a.fq.gz".into()),
            utime_start_ns: Some(27_151_124_000_000),
            utime_end_ns: Some(27_151_124_000_000),
            stime_start_ns: Some(27_151_124_000_000),
            stime_end_ns: Some(27_151_124_000_000),
            ..IoEvent::default()
        };
        assert_eq!(open.row, expected);
        let read = event(
            "1714067937.745, 1714067937.745, 1169224, 27151.124, 27151.124, 27151.124, 27151.124, 5277, R, 512, 35625, 1034, 512, 0x00008000,",
        );
        assert_eq!((read.row.offset, read.row.size, read.row.result, read.row.flags), (Some(1034), Some(512), Some(512), None));
        assert_eq!((read.row.tid, read.row.device, read.row.process_start_ns), (None, None, None));
    }

    #[test]
    fn zeros_that_mean_nothing_are_null() {
        let failed = event("1.000,1.000,7,0.000,0.000,0.000,0.000,0,O,-2,0,0,0,0x00000000,::").row;
        assert_eq!((failed.result, failed.handle, failed.inode, failed.flags, failed.path), (Some(-2), None, None, None, None));
        assert_eq!((failed.utime_start_ns, failed.stime_end_ns, failed.offset, failed.size), (None, None, None, None));
        let first_of_fuse = event("1.000,1.000,7,0.000,0.000,0.000,0.000,1,O,0,0,0,0,0x00000002,").row;
        assert_eq!((first_of_fuse.handle, first_of_fuse.flags), (Some(0), Some(2)));
        let unseen = event("1.000,1.000,7,0.000,0.010,0.000,0.000,18446744073709546339,U,0,0,0,0,0x00000000,/w/a::").row;
        assert_eq!((unseen.inode, unseen.handle, unseen.path), (None, None, Some("/w/a".into())));
        assert_eq!((unseen.utime_start_ns, unseen.utime_end_ns), (Some(0), Some(10_000_000)));
        let fault = event("1.000,1.000,7,0.000,0.000,0.000,0.000,3,M,131072,2,4096,131072,0x00008000,").row;
        assert_eq!((&*fault.op, fault.result, fault.offset, fault.size), ("fault", Some(0), Some(4096), Some(131_072)));
    }

    #[test]
    fn a_header_says_the_order() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(b"# made by somebody"), Decoded::Nothing);
        assert_eq!(decoder.decode(b"type, pid, time_start, more, path"), Decoded::Nothing);
        let Decoded::Event(event) = decoder.decode(b"O, 7, 1.5, x, /a,b") else { panic!("no event") };
        assert_eq!((event.row.pid, event.row.start_ns, event.row.end_ns), (7, 1_500_000_000, None));
        assert_eq!(event.row.path.as_deref(), Some("/a,b"));
        for bad in ["time_start,type,path", "time_start,type,path,pid", "time_start,pid,pid,type", "tomatoes"] {
            assert!(matches!(Decoder::default().decode(bad.as_bytes()), Decoded::Bad(p) if p.code == "header_unknown"), "{bad}");
        }
        assert!(matches!(decoder.decode(b"time_start,pid,type"), Decoded::Nothing), "files that were joined");
        assert!(matches!(decoder.decode(b"tomatoes"), Decoded::Bad(_)));
    }

    #[test]
    fn places_of_what_is_wrong() {
        let good = "1.000,1.000,  7,0.000,0.000,0.000,0.000,3,R,1,2,0,1,0x0,";
        assert_eq!(event(good).row.pid, 7);
        assert_eq!(problem(&good.replace(",R,", ", Q,")), ("unknown_type", 44));
        assert_eq!(problem(&good.replace("  7", "  x")), ("bad_number", 15));
        assert_eq!(problem(&good.replace("  7", "4194305")), ("bad_number", 13));
        assert_eq!(problem(&good.replacen("1.000", "-1.00", 1)), ("bad_time", 1));
        assert_eq!(problem(&good.replace(",0,1,", ",18446744073709551615,1,")).0, "bad_number");
        assert_eq!(problem("1.000,1.000,7"), ("too_few_columns", 14));
        assert!(event(&good.replacen("1.000", "2.000", 1)).ends_before);
    }

    proptest! {
        #[test]
        fn any_line_is_decoded(line in proptest::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b','), Just(b'.')], 0..200)) {
            let _ = Decoder::default().decode(&line);
        }

        #[test]
        fn any_fields_are_decoded(fields in proptest::collection::vec("[ ]{0,2}([0-9]{0,20}(\\.[0-9]{3})?|[OCRWUM]|0x[0-9a-f]{0,9}|.{0,5})", 15)) {
            let line = fields.join(",");
            let _ = Decoder::default().decode(line.as_bytes());
        }
    }
}
