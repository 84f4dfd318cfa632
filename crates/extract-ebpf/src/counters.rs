//! What the kernel side counted, and what it lost.
//!
//! In: the table of counters, which is read at intervals. Out: the sum of all operations that
//! passed the filters, and a [`Loss`] for each kind and processor with more lost records than
//! before, with the interval between the two readings.

use flowmine_trace::record::{Loss, Op, is_operation};
use rustc_hash::FxHashMap;

use crate::decode;
use crate::wire::counter;

/// Operations that the kernel side sees and does not record: a counter for each operation, as in
/// `enum wire_op`.
pub(crate) struct Unrecorded {
    /// Index of its first counter, that of operations of which it is not known what they are.
    pub(crate) first: u32,
    /// Why they are not recorded, as in `losses`.
    reason: &'static str,
    /// Whether the bytes are known.
    bytes: bool,
}

const IO_URING: u32 = 48;

pub(crate) const UNRECORDED: [Unrecorded; 3] = [
    Unrecorded { first: 32, reason: "32-bit-program", bytes: true },
    Unrecorded { first: IO_URING, reason: "io-uring-request", bytes: false },
    Unrecorded { first: 64, reason: "asynchronous-io", bytes: true },
];
/// Counters of each of them.
const EACH: u32 = 16;

/// The kernel side's counters as they were read last, and when.
#[derive(Debug, Default)]
pub struct Counters {
    /// Lost and unplaced records, with bytes, by index and processor.
    last: FxHashMap<(u32, u32), [u64; 4]>,
    seen: FxHashMap<u32, u64>,
    read_ns: u64,
}

/// What of [`UNRECORDED`] is counted at an index, and the number of the operation.
fn unrecorded(index: u32) -> Option<(&'static Unrecorded, u32)> {
    let of = UNRECORDED.iter().find(|unrecorded| (unrecorded.first..unrecorded.first + EACH).contains(&index))?;
    Some((of, index - of.first))
}

fn op(number: u32) -> Option<Op> {
    u8::try_from(number).ok().and_then(decode::op)
}

/// What is counted at an index, as in `losses`.
pub fn name(index: u32) -> &'static str {
    let index = unrecorded(index).map_or(index, |(_, op)| op);
    match (op(index), index) {
        (Some(op), _) => op.name(),
        (None, 14) => "fork",
        (None, 15) => "exec",
        (None, 16) => "exit",
        (None, 17) => "cgroup",
        (None, 18) => "environment",
        _ => "call",
    }
}

impl Counters {
    /// Begins at a time after boot.
    pub fn new(now_ns: u64) -> Self {
        Counters { read_ns: now_ns, ..Counters::default() }
    }

    /// Takes one reading: for each index the values by processor.
    pub fn take<'v, V: AsRef<[u8]> + 'v>(&mut self, readings: impl Iterator<Item = (u32, &'v [V])>, now_ns: u64) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (index, values) in readings {
            let mut seen = 0;
            for (processor, value) in values.iter().enumerate() {
                let value = value.as_ref();
                let number = |field: fn(&[u8]) -> Option<u64>| field(value).unwrap_or(0);
                let processor = u32::try_from(processor).unwrap_or(u32::MAX);
                let [passed, passed_bytes] = [number(counter::seen), number(counter::seen_bytes)];
                seen += passed;
                let mut now = [number(counter::lost), number(counter::lost_bytes), number(counter::full), number(counter::full_bytes)];
                let (mut reasons, mut moves) = (["ring-full", "table-full"], matches!(op(index), Some(Op::Read | Op::Write)));
                if let Some((unrecorded, number)) = unrecorded(index) {
                    now = [passed, passed_bytes, 0, 0];
                    reasons[0] = unrecorded.reason;
                    moves = unrecorded.bytes && matches!(op(number), Some(Op::Read | Op::Write));
                }
                let last = self.last.entry((index, processor)).or_default();
                for (at, reason) in [(0, reasons[0]), (2, reasons[1])] {
                    let count = now[at].wrapping_sub(last[at]);
                    if count > 0 {
                        losses.push(Loss {
                            processor: Some(processor),
                            kind: name(index),
                            reason,
                            count,
                            bytes: moves.then(|| now[at + 1].wrapping_sub(last[at + 1])),
                            not_before_boot_ns: self.read_ns,
                            observed_boot_ns: now_ns,
                        });
                    }
                }
                if index == 0 {
                    // Calls for which there was no room: they are not seen otherwise.
                    seen += number(counter::full);
                }
                *last = now;
            }
            self.seen.insert(index, seen);
        }
        self.read_ns = now_ns;
        losses
    }

    /// Counts requests of io_uring of which no end was seen, of an operation by its number.
    pub fn without_end(&mut self, of: u32, count: u64, now_ns: u64) -> Option<Loss> {
        let index = IO_URING + of;
        let (unrecorded, _) = unrecorded(index).filter(|_| of < EACH && count > 0)?;
        *self.seen.entry(index).or_default() += count;
        Some(Loss {
            processor: None,
            kind: name(index),
            reason: unrecorded.reason,
            count,
            bytes: None,
            not_before_boot_ns: 0,
            observed_boot_ns: now_ns,
        })
    }

    /// Operations that passed the filters, lost ones and those that cannot be recorded included.
    pub fn operations(&self) -> u64 {
        self.seen.iter().filter(|(index, _)| is_operation(name(**index))).map(|(_, seen)| seen).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(numbers: [u64; 6]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn growth_becomes_loss_in_its_interval() {
        let mut counters = Counters::new(100);
        let first = [value([10, 1000, 2, 200, 0, 0]), value([5, 500, 0, 0, 0, 0])];
        let losses = counters.take([(2, &first[..])].into_iter(), 200);
        assert_eq!(losses.len(), 1);
        let loss = &losses[0];
        assert_eq!((loss.kind, loss.reason, loss.processor, loss.count, loss.bytes), ("read", "ring-full", Some(0), 2, Some(200)));
        assert_eq!((loss.not_before_boot_ns, loss.observed_boot_ns), (100, 200));
        let second = [value([10, 1000, 2, 200, 0, 0]), value([9, 900, 0, 0, 1, 7])];
        let losses = counters.take([(2, &second[..])].into_iter(), 300);
        assert_eq!(
            losses.iter().map(|loss| (loss.processor, loss.reason, loss.count, loss.bytes)).collect::<Vec<_>>(),
            [(Some(1), "table-full", 1, Some(7))]
        );
        assert_eq!(losses[0].not_before_boot_ns, 200);
        assert_eq!(counters.operations(), 19);
        assert!(counters.take([(2, &second[..])].into_iter(), 400).is_empty());
    }

    /// Each is an operation, with its bytes where they are known: what was counted is what arrived and
    /// what is in `losses`.
    #[test]
    fn what_cannot_be_recorded_is_a_loss_of_its_kind() {
        let mut counters = Counters::new(0);
        let [foreign, uring, aio] = UNRECORDED.map(|unrecorded| unrecorded.first);
        let indices = [0, 2, 14, foreign + 3, uring + 2, uring, aio + 10];
        let numbers = [[0, 0, 0, 0, 2, 0], [5, 50, 0, 0, 0, 0], [9, 0, 1, 0, 0, 0], [3, 300, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]];
        let numbers = numbers.into_iter().chain([[1, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0]]);
        let values: Vec<_> = numbers.map(|numbers| [value(numbers)]).collect();
        let losses = counters.take(indices.into_iter().zip(values.iter().map(|value| &value[..])), 1);
        let told: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.reason, loss.count, loss.bytes)).collect();
        assert_eq!(
            told,
            [
                ("call", "table-full", 2, None),
                ("fork", "ring-full", 1, None),
                ("write", "32-bit-program", 3, Some(300)),
                ("read", "io-uring-request", 4, None),
                ("call", "io-uring-request", 1, None),
                ("sync", "asynchronous-io", 6, None),
            ]
        );
        assert_eq!(counters.operations(), 2 + 5 + 3 + 4 + 1 + 6);
    }
}
