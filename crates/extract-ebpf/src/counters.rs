//! What the kernel side counted, and what it lost.
//!
//! In: the table of counters as it is read now and then. Out: the sum of all operations that passed
//! the filters, and a [`Loss`] for each kind and processor whose number of lost records grew, with
//! the interval between the two readings.

use flowmine_trace::record::Loss;
use rustc_hash::FxHashMap;

use crate::decode;
use crate::wire::counter;

/// The first index of what was seen and cannot be recorded, as in `enum wire_op`.
const FOREIGN: u32 = 19;

/// The kernel side's counters as they were read last, and when.
#[derive(Debug, Default)]
pub struct Counters {
    /// Lost and unplaced records, with bytes, by index and processor.
    last: FxHashMap<(u32, u32), [u64; 4]>,
    seen: FxHashMap<u32, u64>,
    read_ns: u64,
}

/// What is counted at an index, as it stands in `losses`.
pub fn name(index: u32) -> &'static str {
    match (u8::try_from(index).ok().and_then(decode::op), index) {
        (Some(op), _) => op.name(),
        (None, 14) => "fork",
        (None, 15) => "exec",
        (None, 16) => "exit",
        (None, 17) => "cgroup",
        (None, 18) => "environment",
        _ => "call",
    }
}

/// Whether records are counted at an index, and not what was seen and cannot be recorded.
fn is_record(index: u32) -> bool {
    index < FOREIGN
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
                seen += number(counter::seen);
                let mut now = [number(counter::lost), number(counter::lost_bytes), number(counter::full), number(counter::full_bytes)];
                if !is_record(index) {
                    now = [number(counter::seen), 0, 0, 0];
                }
                let last = self.last.entry((index, processor)).or_default();
                let reasons = if is_record(index) { ["ring-full", "table-full"] } else { [unseen(index), "table-full"] };
                for (at, reason) in [(0, reasons[0]), (2, reasons[1])] {
                    let count = now[at].wrapping_sub(last[at]);
                    if count > 0 {
                        losses.push(Loss {
                            processor: Some(processor),
                            kind: name(index),
                            reason,
                            count,
                            bytes: matches!(index, 2 | 3).then(|| now[at + 1].wrapping_sub(last[at + 1])),
                            not_before_boot_ns: self.read_ns,
                            observed_boot_ns: now_ns,
                        });
                    }
                }
                *last = now;
            }
            self.seen.insert(index, seen);
        }
        self.read_ns = now_ns;
        losses
    }

    /// Operations that passed the filters, lost ones included.
    pub fn operations(&self) -> u64 {
        self.seen.iter().filter(|(index, _)| u8::try_from(**index).ok().and_then(decode::op).is_some()).map(|(_, seen)| seen).sum()
    }
}

/// Why something that was seen could not be recorded.
fn unseen(index: u32) -> &'static str {
    match index {
        FOREIGN => "32-bit-program",
        20 => "io-uring-request",
        _ => "asynchronous-io",
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

    #[test]
    fn what_cannot_be_recorded_is_a_loss_of_its_own() {
        let mut counters = Counters::new(0);
        let values = [value([3, 0, 0, 0, 0, 0])];
        let losses = counters.take([(19, &values[..])].into_iter(), 1);
        assert_eq!((losses[0].kind, losses[0].reason, losses[0].count, losses[0].bytes), ("call", "32-bit-program", 3, None));
        assert_eq!(counters.operations(), 0);
    }
}
