//! Events in order of time: starts, what changes by itself, finishes. What changes at one moment is
//! brought up to that time in the order of the workflow, then shared resources are shared out
//! again, until all is still.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::prediction::Prediction;
use super::state::State;
use crate::check::{Supply, Workflow};
use crate::error::PredictError;
use crate::functions::Poly;

/// Maximum number of computations of the limit of a process.
pub(super) const MAX_SETTLINGS: u64 = 20_000_000;
/// More pieces of progress and of shares are not kept, about a gigabyte.
pub(super) const MAX_KEPT: u64 = 8_000_000;

pub(super) struct Engine<'a> {
    pub flow: &'a Workflow,
    pub states: Vec<State>,
    readers: Vec<Vec<usize>>,
    waiters: Vec<Vec<usize>>,
    pub rank: Vec<usize>,
    events: BinaryHeap<Reverse<(u64, usize, u32)>>,
    pub dirty: BTreeSet<usize>,
    pub dirty_shared: BTreeSet<usize>,
    pub pools: Vec<Pool>,
    /// The ranks of the processes of each cluster that take part in its division.
    pub active: Vec<BTreeSet<usize>>,
    doubts: BTreeMap<usize, String>,
    shared_versions: Vec<u32>,
    settlings: u64,
    pub kept: u64,
    max_kept: u64,
}

/// How a shared resource is divided at present.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    /// Its users that run, by their number among its users.
    pub running: BTreeSet<usize>,
    /// Those of them that ask for something else than they did, or came or went.
    pub asked: BTreeSet<usize>,
    /// What is left of it when all have all that they ask for, and since when that is known;
    /// nothing where they have not, or where it has to be added up anew.
    pub spare: Option<(f64, Poly)>,
    /// How often that was carried on since it was added up.
    pub carried: usize,
    /// How many shares of it were given.
    pub shares: u64,
}

impl<'a> Engine<'a> {
    pub fn new(flow: &'a Workflow) -> Self {
        let n = flow.processes.len();
        let (mut readers, mut waiters) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        let mut rank = vec![0; n];
        flow.order.iter().enumerate().for_each(|(at, p)| rank[*p] = at);
        for (at, process) in flow.processes.iter().enumerate() {
            process.after.iter().for_each(|source| waiters[*source].push(at));
            for data in &process.data {
                if let Supply::Stream { process, .. } = data.supply {
                    readers[process].push(at);
                }
            }
        }
        let states = flow.processes.iter().map(|p| State::new(p.after.len(), p.resources.len())).collect();
        let shared_versions = vec![0; flow.shared.len()];
        Self {
            flow,
            states,
            readers,
            waiters,
            rank,
            events: BinaryHeap::new(),
            dirty: BTreeSet::new(),
            dirty_shared: BTreeSet::new(),
            pools: vec![Pool::default(); flow.shared.len()],
            active: vec![BTreeSet::new(); flow.clusters.len()],
            doubts: BTreeMap::new(),
            shared_versions,
            settlings: 0,
            kept: 0,
            max_kept: MAX_KEPT,
        }
    }

    pub fn run(mut self) -> Result<Prediction<'a>, PredictError> {
        for at in 0..self.states.len() {
            if self.states[at].missing == 0 {
                self.schedule(at, self.flow.processes[at].start);
            }
        }
        while let Some(Reverse((bits, id, version))) = self.events.pop() {
            let now = f64::from_bits(bits);
            self.wake(id, version, now);
            while self.events.peek().is_some_and(|Reverse(e)| e.0 == bits) {
                if let Some(Reverse((_, id, version))) = self.events.pop() {
                    self.wake(id, version, now);
                }
            }
            self.still(now)?;
        }
        let notes = self.flow.notes.iter().cloned().chain(self.doubts.into_values()).collect();
        Ok(Prediction::new(self.flow, self.states, notes))
    }

    fn wake(&mut self, id: usize, version: u32, now: f64) {
        let n = self.states.len();
        if id >= n {
            if self.shared_versions[id - n] == version {
                self.pools[id - n].spare = None;
                self.dirty_shared.insert(id - n);
            }
            return;
        }
        let state = &mut self.states[id];
        if state.version == version && state.finished.is_none() {
            if state.started.is_none() {
                (state.started, state.running, state.since, state.burst_since) = (Some(now), true, now, now);
                for &(shared, user) in &self.flow.processes[id].uses {
                    self.pools[shared].running.insert(user);
                }
            }
            self.dirty.insert(self.rank[id]);
        }
    }

    /// Computes everything anew that changes at one moment.
    fn still(&mut self, now: f64) -> Result<(), PredictError> {
        loop {
            while let Some(rank) = self.dirty.pop_first() {
                let at = self.flow.order[rank];
                self.settlings += 1;
                if self.settlings > MAX_SETTLINGS {
                    return Err(PredictError::TooManyEvents { path: format!("processes[{at}]"), limit: MAX_SETTLINGS });
                }
                if self.kept > self.max_kept {
                    return Err(self.too_many_kept(at));
                }
                let changed = self.advance(at, now)?;
                if self.states[at].finished.is_some() {
                    self.finish(at, now);
                } else {
                    self.schedule(at, self.states[at].next);
                }
                if changed {
                    for reader in &self.readers[at] {
                        if self.states[*reader].running {
                            self.dirty.insert(self.rank[*reader]);
                        }
                    }
                }
            }
            let Some(shared) = self.dirty_shared.pop_first() else { return Ok(()) };
            let next = self.deal(shared, now);
            self.shared_versions[shared] += 1;
            if next.is_finite() {
                let event = (later(now, next).to_bits(), self.states.len() + shared, self.shared_versions[shared]);
                self.events.push(Reverse(event));
            }
        }
    }

    fn finish(&mut self, at: usize, now: f64) {
        if !self.states[at].running {
            return;
        }
        self.states[at].running = false;
        for &(shared, user) in &self.flow.processes[at].uses {
            self.pools[shared].running.remove(&user);
        }
        for waiter in std::mem::take(&mut self.waiters[at]) {
            self.states[waiter].missing -= 1;
            if self.states[waiter].missing == 0 {
                let start = self.flow.processes[waiter].start.max(now);
                if start == now {
                    self.wake(waiter, self.states[waiter].version, now);
                } else {
                    self.schedule(waiter, start);
                }
            }
        }
    }

    fn schedule(&mut self, at: usize, time: f64) {
        let state = &mut self.states[at];
        state.version += 1;
        if time.is_finite() {
            self.events.push(Reverse(((time + 0.0).to_bits(), at, state.version)));
        }
    }

    /// Counts times that something was computed anew, which are limited in all.
    pub fn worked(&mut self, settlings: u64) {
        self.settlings += settlings;
    }

    /// Records, once for each cluster, that its division is not the only one or not exact.
    pub fn doubt(&mut self, cluster: usize, exact: bool, now: f64) {
        let names = || {
            let names: Vec<String> = self.flow.clusters[cluster].iter().map(|pool| format!("{:?}", self.flow.shared[*pool].name)).collect();
            names.join(", ")
        };
        let problem = if exact { "more than one fair division is possible; one of them is used" } else { "the division is approximate" };
        self.doubts.entry(cluster).or_insert_with(|| format!("shared {}: from {now} s on {problem}", names()));
    }

    /// If shares of one resource are a large part of the pieces, that resource is the reason for
    /// their number.
    fn too_many_kept(&self, at: usize) -> PredictError {
        match (0..self.pools.len()).find(|pool| self.pools[*pool].shares > self.max_kept / 4) {
            Some(pool) => {
                PredictError::Crowded { path: format!("shared[{pool}]"), users: self.flow.shared[pool].users.len(), limit: self.max_kept }
            }
            None => PredictError::TooManyPieces { path: format!("processes[{at}]"), limit: self.max_kept },
        }
    }

    /// Marks a process of which a share has changed.
    pub fn touch(&mut self, at: usize) {
        self.dirty.insert(self.rank[at]);
    }
}

/// A time after `now`, even where the step is too small for a number.
pub(super) fn later(now: f64, next: f64) -> f64 {
    next.max(now.next_up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    #[test]
    fn a_crowd_whose_rates_change_at_every_end_is_refused() {
        let user = |n: usize| {
            serde_json::json!({"name": n.to_string(), "progress": 1, "resources":
                [{"name": "r", "requirement": {"points": [[0, 0], [1, n + 1]]}, "shared": "pool"}]})
        };
        let users: Vec<_> = (0..400).map(user).collect();
        let model = serde_json::json!({"shared": [{"name": "pool", "capacity": 10}], "processes": users});
        let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
        let ends = |max_kept: u64| Engine { max_kept, ..Engine::new(&flow) }.run();
        let said = ends(8_000).err().unwrap().to_string();
        assert!(said.starts_with("shared[0]: ") && said.contains("400 processes share it, and whenever one ends"), "{said}");
        // All that there is is used until the end.
        let end = ends(MAX_KEPT).unwrap().finish_s().unwrap();
        assert!((end - 8_020.0).abs() < 1e-6, "{end}");
    }
}
