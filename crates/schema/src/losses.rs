//! Meaning of the kinds of lost records in the table `losses`, and their sums in words.

use crate::tables::IoLoss;

/// Lost records of processes and of open files: no operations.
const NO_OPERATIONS: [&str; 7] = ["fork", "exec", "exit", "cgroup", "environment", "process", "open-file"];
/// Operations that move no bytes by a call.
const NO_TRANSFERS: [&str; 10] = ["open", "close", "delete", "rename", "link", "truncate", "allocate", "sync", "mmap", "fault"];

/// Whether a row of `losses` of this kind is about operations on files, known or unknown ones.
pub fn is_operation(kind: &str) -> bool {
    !NO_OPERATIONS.contains(&kind)
}

/// Whether the records of a row of this kind may include reads or writes.
pub fn may_move_bytes(kind: &str) -> bool {
    is_operation(kind) && !NO_TRANSFERS.contains(&kind)
}

/// Operations on files that traces lack: the sum of all added rows of `losses`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostOperations {
    /// Number of operations, including those that cannot be recorded.
    pub count: u64,
    /// Bytes of their reads and writes, as far as they are known.
    pub bytes: u64,
}

impl LostOperations {
    /// Adds a row of `losses`, when it is about operations.
    pub fn add(&mut self, row: &IoLoss<'_>) {
        if is_operation(&row.kind) {
            flowmine_sums::add_to(&mut self.count, u64::try_from(row.count).unwrap_or(0));
            flowmine_sums::add_to(&mut self.bytes, row.bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
        }
    }

    /// Adds the operations that other traces lack.
    pub fn merge(&mut self, other: &Self) {
        flowmine_sums::add_to(&mut self.count, other.count);
        flowmine_sums::add_to(&mut self.bytes, other.bytes);
    }

    /// Returns the consequence for sums, as a sentence without a full stop; `None` when nothing was
    /// lost.
    pub fn sentence(&self) -> Option<String> {
        let with_bytes = if self.bytes > 0 { format!(" with {} bytes of reads and writes", self.bytes) } else { String::new() };
        let lost = match self.count {
            0 => return None,
            1 => format!("1 operation{with_bytes} was lost"),
            count => format!("{count} operations{with_bytes} were lost"),
        };
        Some(format!("{lost} by the trace: bytes and numbers of operations are lower bounds"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_and_other_records_are_not() {
        let mut lost = LostOperations::default();
        assert_eq!(lost.sentence(), None);
        for (kind, count, bytes) in [("fork", 5, None), ("open-file", 1, None), ("write", 1, Some(8)), ("call", 0, None)] {
            lost.add(&IoLoss { kind: kind.into(), count, bytes, ..IoLoss::default() });
        }
        assert_eq!(
            lost.sentence().unwrap(),
            "1 operation with 8 bytes of reads and writes was lost by the trace: bytes and numbers of operations are lower bounds"
        );
        lost.add(&IoLoss { kind: "io_uring".into(), count: 2, ..IoLoss::default() });
        assert_eq!((lost.count, lost.bytes), (3, 8));
        assert!(may_move_bytes("io_uring") && may_move_bytes("read") && !may_move_bytes("open") && !may_move_bytes("exec"));
    }
}
