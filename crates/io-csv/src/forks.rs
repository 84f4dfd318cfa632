//! A line of `cgroups.csv` in, a fork out.
//!
//! The published tool writes a line for each `sched_process_fork`: threads are among them, the
//! parent's number is that of the forking thread, and the cgroup is that of the parent at that
//! moment, which the child inherits (unless it was cloned into another). A number that comes again
//! is another process.

use crate::events::MAX_PID;
use crate::{Problem, field};

/// A process, or a thread, that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fork {
    /// When, in nanoseconds since 1970.
    pub at_ns: i64,
    /// Who forked; `None` when not known (0).
    pub parent: Option<i32>,
    /// Number of the process that was forked.
    pub pid: i32,
    /// Id of its cgroup; `None` when not known (0).
    pub cgroup: Option<i64>,
}

const NAMES: [&str; 4] = ["time", "ppid", "pid", "cgroupid"];

/// Reads a line, without its end; `None` when it is empty, a comment or a header.
///
/// # Errors
/// What is wrong with the line.
pub fn decode(line: &[u8]) -> Result<Option<Fork>, Problem> {
    let text = line.trim_ascii();
    if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"time") {
        return Ok(None);
    }
    let mut fields = [&[][..]; 4];
    let mut columns = [0u64; 4];
    let mut count = 0;
    let mut start = 0;
    for field in line.split(|&byte| byte == b',') {
        if count < 4 {
            fields[count] = field::trimmed(field);
            columns[count] = (start + field.len() - field.trim_ascii_start().len() + 1) as u64;
        }
        start += field.len() + 1;
        count += 1;
    }
    if count != 4 {
        let code = if count < 4 { "too_few_columns" } else { "too_many_columns" };
        return Err(Problem { code, message: format!("{count} columns instead of 4"), column: line.len() as u64 + 1 });
    }
    let bad = |at: usize, code: &'static str, what: &str| {
        let shown = crate::events::shown(fields[at]);
        Problem { code, message: format!("{} is {shown:?}, which is {what}", NAMES[at]), column: columns[at] }
    };
    let at_ns = field::fork_time(fields[0]).ok_or_else(|| bad(0, "bad_time", "no time since 1970"))?;
    let pid = |at: usize| {
        let pid = field::unsigned(fields[at]).filter(|pid| *pid <= MAX_PID);
        pid.map(|pid| pid as i32).ok_or_else(|| bad(at, "bad_number", "no number of a process"))
    };
    let cgroup = field::unsigned(fields[3]).ok_or_else(|| bad(3, "bad_number", "no whole number of 64 bits"))? as i64;
    Ok(Some(Fork { at_ns, parent: Some(pid(1)?).filter(|pid| *pid != 0), pid: pid(2)?, cgroup: Some(cgroup).filter(|id| *id != 0) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_of_the_paper_and_of_the_tool() {
        let fork = Fork { at_ns: 1_714_067_937_409_000_000, parent: Some(1_168_419), pid: 1_169_224, cgroup: Some(131_863) };
        assert_eq!(decode(b"1714067937.409, 1168419, 1169224, 131863"), Ok(Some(fork)));
        let exact = Fork { at_ns: 1_714_067_937_409_123_456, ..fork };
        assert_eq!(decode(b"    1714067937409123.456,    1168419,    1169224,              131863"), Ok(Some(exact)));
        for nothing in ["", "# time, parent pid, pid, cgroupid", "time, ppid, pid, cgroupid"] {
            assert_eq!(decode(nothing.as_bytes()), Ok(None));
        }
    }

    #[test]
    fn places_of_what_is_wrong() {
        let place = |line: &str| decode(line.as_bytes()).map_err(|problem| (problem.code, problem.column));
        assert_eq!(place("1.0, 2, x, 4"), Err(("bad_number", 9)));
        assert_eq!(place("soon, 2, 3, 4"), Err(("bad_time", 1)));
        assert_eq!(place("1.0, 2, 3"), Err(("too_few_columns", 10)));
        assert_eq!(place("1.0, 2, 3, 4, 5").unwrap_err().0, "too_many_columns");
        assert_eq!(place("1.0, 2, 3, -4"), Err(("bad_number", 12)));
    }

    proptest! {
        #[test]
        fn any_line_is_decoded(line in proptest::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b','), Just(b'.')], 0..80)) {
            let _ = decode(&line);
        }
    }
}
