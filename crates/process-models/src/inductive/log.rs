//! Parts of a log: distinct traces with counts, in one buffer.

use rustc_hash::FxHashMap;

/// A part of the log: the traces that are not empty, each once, and how many empty ones there were.
#[derive(Debug, Clone, Default)]
pub(crate) struct SubLog {
    events: Vec<u32>,
    /// Where each trace ends in `events`.
    ends: Vec<usize>,
    counts: Vec<u64>,
    /// How many empty traces there are.
    pub(crate) empty: u64,
}

impl SubLog {
    pub(crate) fn push(&mut self, trace: &[u32], count: u64) {
        if trace.is_empty() {
            self.empty = self.empty.saturating_add(count);
            return;
        }
        self.events.extend_from_slice(trace);
        self.ends.push(self.events.len());
        self.counts.push(count);
    }

    /// Ends a trace after its events were passed to `push_event`.
    pub(crate) fn end_trace(&mut self, count: u64) {
        if self.events.len() == self.ends.last().copied().unwrap_or(0) {
            self.empty = self.empty.saturating_add(count);
        } else {
            self.ends.push(self.events.len());
            self.counts.push(count);
        }
    }

    pub(crate) fn push_event(&mut self, event: u32) {
        self.events.push(event);
    }

    /// The traces with their counts; the empty ones are not among them.
    pub(crate) fn traces(&self) -> impl Iterator<Item = (&[u32], u64)> {
        (0..self.ends.len()).map(|i| (self.trace(i), self.counts[i]))
    }

    fn trace(&self, i: usize) -> &[u32] {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.events[begin..self.ends[i]]
    }

    /// How many traces are kept apart.
    pub(crate) fn distinct(&self) -> usize {
        self.ends.len()
    }

    /// How many events the distinct traces have.
    pub(crate) fn size(&self) -> usize {
        self.events.len()
    }

    /// How many cases, empty ones included.
    pub(crate) fn cases(&self) -> u64 {
        self.counts.iter().fold(self.empty, |sum, &c| sum.saturating_add(c))
    }

    /// The same log with each trace once.
    pub(crate) fn joined(self) -> Self {
        let mut seen: FxHashMap<&[u32], usize> = FxHashMap::default();
        seen.reserve(self.ends.len());
        let mut kept: Vec<usize> = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        for i in 0..self.ends.len() {
            let at = *seen.entry(self.trace(i)).or_insert_with(|| {
                kept.push(i);
                counts.push(0);
                kept.len() - 1
            });
            counts[at] = counts[at].saturating_add(self.counts[i]);
        }
        if kept.len() == self.ends.len() {
            drop(seen);
            return self;
        }
        let mut out = SubLog { empty: self.empty, ..SubLog::default() };
        for (&i, &count) in kept.iter().zip(&counts) {
            out.push(self.trace(i), count);
        }
        out
    }
}
