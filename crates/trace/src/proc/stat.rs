//! `/proc/PID/stat`, `status`, `io` and `schedstat` (proc_pid_stat(5), proc_pid_status(5),
//! proc_pid_io(5)).

use super::text::number;
use crate::record::{Counters, CpuTime};

/// What is used of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Letter of the process's state, such as `R` or `Z`.
    pub state: u8,
    /// Process number of the parent.
    pub parent: u32,
    /// CPU time of all threads, those that ended included; exact to a tick.
    pub cpu: CpuTime,
    /// When it started, in nanoseconds after boot; exact to a tick.
    pub start_boot_ns: u64,
}

impl Stat {
    /// Reads the file; `tick_ns` is the length of a clock tick. `None` when it is not of that form.
    pub fn parse(text: &[u8], tick_ns: u64) -> Option<Self> {
        // The second field is the name in parentheses, which may hold anything, parentheses and spaces too.
        let after = text.iter().rposition(|&byte| byte == b')')?;
        let rest: Vec<&[u8]> = text.get(after + 1..)?.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
        // Fields are counted from 1 in the manual page; the first of `rest` is the third.
        let field = |n: usize| rest.get(n - 3).copied();
        let ticks = |n: usize| field(n).and_then(number::<u64>).map(|ticks| ticks.saturating_mul(tick_ns));
        Some(Stat {
            state: *field(3)?.first()?,
            parent: number(field(4)?)?,
            cpu: CpuTime { user_ns: ticks(14)?, system_ns: ticks(15)? },
            start_boot_ns: ticks(22)?,
        })
    }
}

/// What is used of `/proc/PID/status`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The process that the thread belongs to.
    pub process: Option<u32>,
    /// Process number of the parent.
    pub parent: Option<u32>,
    /// Real user id.
    pub real_uid: Option<u32>,
    /// Effective user id.
    pub uid: Option<u32>,
    /// Effective group id.
    pub gid: Option<u32>,
    /// Its process number in each pid namespace, from ours inwards.
    pub numbers: Vec<u32>,
    /// How its system calls are filtered: 0 not, 1 strictly, 2 by a program.
    pub seccomp: Option<u32>,
}

impl Status {
    /// Reads the file. What is missing is `None`.
    pub fn parse(text: &[u8]) -> Self {
        let mut status = Status::default();
        // The name comes first and is escaped by the kernel, so that no line of another kind can be made with it.
        for line in text.split(|&byte| byte == b'\n') {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let (name, values) = (&line[..colon], &line[colon + 1..]);
            let mut values = values.split(u8::is_ascii_whitespace).filter(|value| !value.is_empty());
            match name {
                b"Tgid" => status.process = values.next().and_then(number),
                b"PPid" => status.parent = values.next().and_then(number),
                // Real, effective, saved, file system.
                b"Uid" => (status.real_uid, status.uid) = (values.next().and_then(number), values.next().and_then(number)),
                b"Gid" => status.gid = values.nth(1).and_then(number),
                b"NStgid" => status.numbers = values.filter_map(number).collect(),
                b"Seccomp" => status.seccomp = values.next().and_then(number),
                _ => {}
            }
        }
        status
    }

    /// Its number in its innermost pid namespace, where that differs from ours.
    pub fn inner_number(&self) -> Option<u32> {
        match self.numbers.as_slice() {
            [outer, .., inner] if outer != inner => Some(*inner),
            _ => None,
        }
    }
}

/// `/proc/PID/io`; CPU time is not in it.
pub fn counters(text: &[u8]) -> Counters {
    let mut counters = Counters::default();
    for line in text.split(|&byte| byte == b'\n') {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let value = number(&line[colon + 1..]);
        match &line[..colon] {
            b"rchar" => counters.rchar_bytes = value,
            b"wchar" => counters.wchar_bytes = value,
            b"syscr" => counters.read_calls = value,
            b"syscw" => counters.write_calls = value,
            b"read_bytes" => counters.read_bytes = value,
            b"write_bytes" => counters.write_bytes = value,
            b"cancelled_write_bytes" => counters.cancelled_write_bytes = value,
            _ => {}
        }
    }
    counters
}

/// How long a thread was runnable and waited for a processor, in nanoseconds, from its `schedstat`:
/// time on a processor, that time, and how often it got a processor. `None` where the kernel does
/// not count it: then all three are 0, also of a thread that runs.
pub fn run_delay_ns(text: &[u8]) -> Option<u64> {
    let mut numbers = text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).map(number::<u64>);
    let (_, delay, turns) = (numbers.next()??, numbers.next()??, numbers.next()??);
    (turns > 0).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_delay_is_known_where_it_is_counted() {
        assert_eq!(run_delay_ns(b"101 202 3\n"), Some(202));
        assert_eq!(run_delay_ns(b"101 0 3\n"), Some(0));
        for unknown in [&b"0 0 0\n"[..], b"", b"101 202\n", b"101 x 3\n"] {
            assert_eq!(run_delay_ns(unknown), None);
        }
    }

    #[test]
    fn a_name_may_hold_what_looks_like_fields() {
        let text = b"42 (x) R 1 2) S 7 42 42 0 -1 4194560 1 2 3 4 150 25 0 0 20 0 1 0 123456 10 20\n";
        let stat = Stat::parse(text, 10_000_000).unwrap();
        assert_eq!((stat.state, stat.parent, stat.start_boot_ns), (b'S', 7, 1_234_560_000_000));
        assert_eq!(stat.cpu, CpuTime { user_ns: 1_500_000_000, system_ns: 250_000_000 });
        for cut in 0..text.len() - 12 {
            assert_eq!(Stat::parse(&text[..cut], 10_000_000).map(|stat| stat.state), None, "{cut}");
        }
    }

    #[test]
    fn real_and_effective_ids_and_the_innermost_number() {
        let status = Status::parse(
            b"Name:\ta\\nUid:\t9\nTgid:\t77\nPPid:\t5\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNStgid:\t77\t12\t3\nSeccomp:\t2\n",
        );
        assert_eq!((status.process, status.parent, status.uid, status.gid), (Some(77), Some(5), Some(2), Some(6)));
        assert_eq!(status.real_uid, Some(1));
        assert_eq!((status.inner_number(), status.seccomp), (Some(3), Some(2)));
        assert_eq!(Status { numbers: vec![5], ..Status::default() }.inner_number(), None);
        assert_eq!(Status::parse(b"\xff\xfe\n:\n"), Status::default());
    }

    #[test]
    fn counters_that_are_not_told_stay_unknown() {
        let counters = counters(b"rchar: 10\nwchar: 20\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\ncancelled_write_bytes: x\n");
        assert_eq!((counters.rchar_bytes, counters.write_calls, counters.read_bytes), (Some(10), Some(4), Some(4096)));
        assert_eq!((counters.write_bytes, counters.cancelled_write_bytes), (None, None));
    }
}
