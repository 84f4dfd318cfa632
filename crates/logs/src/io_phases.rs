//! When processes read and wrote: phases in which their operations follow each other closely.
//!
//! In go processes and the stream of their operations; out come at most [`MOST`] phases for each
//! process and direction. Two operations are of one phase when the gap between them is at most
//! [`GAP_NS`]; where a process would have too many phases, larger gaps are closed.

use flowmine_activity_log::{IoPhase, OperationKind, Processes, TracedOperation, TracedOwner};
use flowmine_correlate::CorrelateError;
use flowmine_dataset::Dataset;
use rustc_hash::FxHashMap;

use crate::{operations, process_rows};

/// Maximum number of phases of a process in each direction.
pub const MOST: usize = 32;
/// A gap that is no end of a phase, in nanoseconds.
pub const GAP_NS: i64 = 1_000_000;

/// Phases of a process in one direction.
#[derive(Default, Clone)]
struct Growing {
    phases: Vec<IoPhase>,
    /// How long a gap within a phase may be, in nanoseconds.
    gap_ns: i64,
}

impl Growing {
    fn add(&mut self, new: IoPhase) {
        self.gap_ns = self.gap_ns.max(GAP_NS);
        if let Some(last) = self.phases.last_mut() {
            // Operations of several threads need not come in order.
            if new.from_ns <= last.to_ns.saturating_add(self.gap_ns) && new.to_ns >= last.from_ns.saturating_sub(self.gap_ns) {
                join(last, &new);
                return;
            }
        }
        self.phases.push(new);
        while self.phases.len() > 2 * MOST {
            self.gap_ns = self.gap_ns.saturating_mul(2);
            self.close();
        }
    }

    /// Closes the gaps that are short enough.
    fn close(&mut self) {
        self.phases.sort_unstable();
        let mut kept: Vec<IoPhase> = Vec::with_capacity(self.phases.len());
        for phase in self.phases.drain(..) {
            match kept.last_mut() {
                Some(last) if phase.from_ns <= last.to_ns.saturating_add(self.gap_ns) => join(last, &phase),
                _ => kept.push(phase),
            }
        }
        self.phases = kept;
    }

    fn finish(mut self) -> Vec<IoPhase> {
        self.gap_ns = self.gap_ns.max(GAP_NS);
        self.close();
        while self.phases.len() > MOST {
            self.gap_ns = self.gap_ns.saturating_mul(2);
            self.close();
        }
        self.phases
    }
}

fn join(phase: &mut IoPhase, more: &IoPhase) {
    phase.from_ns = phase.from_ns.min(more.from_ns);
    phase.to_ns = phase.to_ns.max(more.to_ns);
    flowmine_sums::add_to(&mut phase.bytes, more.bytes);
    flowmine_sums::add_to(&mut phase.operations, more.operations);
    phase.added_up |= more.added_up;
}

/// The processes of a dataset, and the phases of each, in order.
///
/// # Errors
/// When the dataset cannot be read.
pub fn read(dataset: &Dataset) -> Result<(Processes, Vec<Vec<IoPhase>>), CorrelateError> {
    let (mut processes, places) = process_rows::read_places(dataset)?;
    let mut growing: Vec<[Growing; 2]> = vec![Default::default(); processes.rows.len()];
    operations::each(dataset, &places, |operation| match operation {
        TracedOperation::One(one) => {
            let write = match one.kind {
                OperationKind::Read => false,
                OperationKind::Write => true,
                _ => return,
            };
            let Some(of) = growing.get_mut(one.process as usize) else { return };
            let to_ns = one.end_ns.unwrap_or(one.start_ns).max(one.start_ns);
            of[usize::from(write)].add(IoPhase { from_ns: one.start_ns, to_ns, write, bytes: one.bytes(), operations: 1, added_up: false });
            if let Some(row) = processes.rows.get_mut(one.process as usize) {
                let (calls, bytes) = if write {
                    (&mut row.io.write_calls, &mut row.io.written_bytes)
                } else {
                    (&mut row.io.read_calls, &mut row.io.read_bytes)
                };
                *calls += 1;
                flowmine_sums::add_to(bytes, one.bytes());
            }
        }
        TracedOperation::Sum(sum) => {
            let Some(of) = growing.get_mut(sum.process as usize) else { return };
            for (write, direction) in [(false, &sum.read), (true, &sum.write)] {
                if direction.calls > 0 {
                    of[usize::from(write)].add(IoPhase {
                        from_ns: sum.first_ns,
                        to_ns: sum.last_ns.max(sum.first_ns),
                        write,
                        bytes: direction.bytes,
                        operations: u64::try_from(direction.calls).unwrap_or(0),
                        added_up: true,
                    });
                }
            }
            if let Some(row) = processes.rows.get_mut(sum.process as usize) {
                flowmine_sums::add_to(&mut row.io.read_calls, sum.read.calls);
                flowmine_sums::add_to(&mut row.io.read_bytes, sum.read.bytes);
                flowmine_sums::add_to(&mut row.io.write_calls, sum.write.calls);
                flowmine_sums::add_to(&mut row.io.written_bytes, sum.write.bytes);
            }
        }
    })?;
    let phases = growing
        .into_iter()
        .map(|[read, write]| {
            let mut both = read.finish();
            both.extend(write.finish());
            both.sort_unstable();
            both
        })
        .collect();
    Ok((processes, phases))
}

/// What was traced of each task and job, by the names that [`Processes::owners`] has.
pub fn by_owner(processes: &Processes, phases: &[Vec<IoPhase>]) -> FxHashMap<String, TracedOwner> {
    let mut all = vec![TracedOwner::default(); processes.owners.len()];
    for (row, phases) in processes.rows.iter().zip(phases) {
        let Some(owner) = all.get_mut(row.owner as usize) else { continue };
        let started = row.started_ns.filter(|_| !row.was_running);
        owner.first_start_ns = [owner.first_start_ns, started].into_iter().flatten().min();
        owner.phases.extend(phases);
    }
    let names = processes.owners.iter().map(str::to_owned);
    let mut owners: FxHashMap<String, TracedOwner> = names.zip(all).collect();
    owners.values_mut().for_each(|owner| owner.phases.sort_unstable());
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(from_ns: i64, to_ns: i64, bytes: i64) -> IoPhase {
        IoPhase { from_ns, to_ns, write: false, bytes, operations: 1, added_up: false }
    }

    #[test]
    fn gaps_make_phases_and_there_are_never_many() {
        let mut growing = Growing::default();
        growing.add(phase(0, 10, 1));
        growing.add(phase(GAP_NS, GAP_NS + 5, 2));
        growing.add(phase(10 * GAP_NS, 10 * GAP_NS + 5, 4));
        let found = growing.finish();
        assert_eq!(
            found.iter().map(|of| (of.from_ns, of.to_ns, of.bytes)).collect::<Vec<_>>(),
            [(0, GAP_NS + 5, 3), (10 * GAP_NS, 10 * GAP_NS + 5, 4)]
        );
        let mut growing = Growing::default();
        (0..100_000).for_each(|at| growing.add(phase(at * 7 * GAP_NS, at * 7 * GAP_NS + 1, 1)));
        let found = growing.finish();
        assert!(found.len() <= MOST && found.windows(2).all(|two| two[0].to_ns < two[1].from_ns));
        assert_eq!(found.iter().map(|of| of.bytes).sum::<i64>(), 100_000);
    }
}
