//! What comes out: progress, limits, use, waiting data, finish times.

use super::segment::{Limit, Segment};
use super::state::State;
use crate::check::{Allocation, Supply, Workflow};

/// A prediction for each process of a workflow. Processes, inputs, resources and outputs have the
/// numbers of the model.
#[derive(Debug)]
pub struct Prediction<'a> {
    flow: &'a Workflow,
    states: Vec<State>,
    notes: Vec<String>,
}

impl<'a> Prediction<'a> {
    pub(super) fn new(flow: &'a Workflow, mut states: Vec<State>, notes: Vec<String>) -> Self {
        for state in states.iter_mut().filter(|s| s.running) {
            state.segments.push(Segment { from: state.since, to: f64::INFINITY, progress: state.progress, limit: state.limit });
        }
        Self { flow, states, notes }
    }

    /// Where the prediction is not, or may not be, the exact answer of the model.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of processes.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none, which no model has.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// When all have finished, in seconds; nothing when one never does.
    pub fn finish_s(&self) -> Option<f64> {
        self.states.iter().map(|s| s.finished).try_fold(0.0, |m, f| f.map(|f| f64::max(m, f)))
    }

    /// The name of a process.
    pub fn name(&self, process: usize) -> &str {
        &self.flow.processes[process].name
    }

    /// The progress at which a process has finished.
    pub fn progress_at_end(&self, process: usize) -> f64 {
        self.flow.processes[process].end
    }

    /// When a process starts, in seconds; nothing when it never does.
    pub fn started_s(&self, process: usize) -> Option<f64> {
        self.states[process].started
    }

    /// When a process finishes, in seconds; nothing when it never does.
    pub fn finished_s(&self, process: usize) -> Option<f64> {
        self.states[process].finished
    }

    /// The segments of a process, without gaps from start to finish.
    pub fn segments(&self, process: usize) -> &[Segment] {
        &self.states[process].segments
    }

    /// What a limit is called: `data NAME`, `resource NAME`.
    pub fn limit_name(&self, process: usize, limit: Limit) -> String {
        let p = &self.flow.processes[process];
        match limit {
            Limit::NotStarted => "not started".to_owned(),
            Limit::Finished => "finished".to_owned(),
            Limit::Data(k) => format!("data {}", p.data[k].name),
            Limit::Resource(l) => match p.resources[l].allocation {
                Allocation::Shared(s) => format!("resource {} (shared {})", p.resources[l].name, self.flow.shared[s].name),
                Allocation::Function(_) => format!("resource {}", p.resources[l].name),
            },
        }
    }

    /// The names of a process's data inputs, resources and outputs.
    pub fn names(&self, process: usize) -> [Vec<&str>; 3] {
        let p = &self.flow.processes[process];
        [
            p.data.iter().map(|d| d.name.as_str()).collect(),
            p.resources.iter().map(|r| r.name.as_str()).collect(),
            p.outputs.iter().map(|o| o.name.as_str()).collect(),
        ]
    }

    fn segment(&self, process: usize, time: f64) -> Option<&Segment> {
        let segments = &self.states[process].segments;
        let at = segments.partition_point(|s| s.from <= time).checked_sub(1)?;
        segments.get(at).filter(|s| time < s.to)
    }

    /// Progress at a time; from the right where it jumps.
    pub fn progress(&self, process: usize, time: f64) -> f64 {
        let end = self.flow.processes[process].end;
        match self.segment(process, time) {
            _ if self.states[process].finished.is_some_and(|f| f <= time) => end,
            Some(s) => s.progress.at(time - s.from).min(end),
            None => 0.0,
        }
    }

    /// What limits a process at a time.
    pub fn limit(&self, process: usize, time: f64) -> Limit {
        match self.segment(process, time) {
            Some(segment) => segment.limit,
            None if self.states[process].finished.is_some_and(|f| f <= time) => Limit::Finished,
            None => Limit::NotStarted,
        }
    }

    /// What is allocated of a resource a second at a time: of a shared one the process's part.
    pub fn allocation(&self, process: usize, resource: usize, time: f64) -> f64 {
        match &self.flow.processes[process].resources[resource].allocation {
            Allocation::Function(f) => f.at(time),
            Allocation::Shared(_) => {
                let state = &self.states[process];
                // In the order of time: of another resource there are few between.
                let known = &state.given[..state.given.partition_point(|g| g.1 <= time)];
                let of = known.iter().rev().find(|g| g.0 == resource);
                let over = state.finished.is_some_and(|f| f <= time);
                of.filter(|_| !over).map_or(0.0, |g| g.2.at(time - g.1))
            }
        }
    }

    /// What is used of a resource a second (equation 4). While a jump of the requirement is worked
    /// off (progress stands still below the jump) this is what is allocated.
    pub fn used(&self, process: usize, resource: usize, time: f64) -> f64 {
        let Some(segment) = self.segment(process, time) else { return 0.0 };
        let p = segment.progress.at(time - segment.from);
        let requirement = &self.flow.processes[process].resources[resource].requirement;
        let rate = segment.progress.derivative().at(time - segment.from);
        if segment.limit == Limit::Resource(resource) && rate == 0.0 {
            return self.allocation(process, resource, time);
        }
        rate * requirement.seen_from(p).derivative().at(0.0)
    }

    /// The relative use of a resource (equation 7); nothing when nothing is allocated.
    pub fn relative_use(&self, process: usize, resource: usize, time: f64) -> Option<f64> {
        let allocation = self.allocation(process, resource, time);
        (allocation > 0.0).then(|| self.used(process, resource, time) / allocation)
    }

    /// What an output holds at a time.
    pub fn written(&self, process: usize, output: usize, time: f64) -> f64 {
        if self.states[process].started.is_none_or(|s| time < s) {
            return 0.0;
        }
        self.flow.processes[process].outputs[output].written.at(self.progress(process, time))
    }

    /// What is there of a data input at a time.
    pub fn available(&self, process: usize, data: usize, time: f64) -> f64 {
        match &self.flow.processes[process].data[data].supply {
            Supply::Function(f) => f.at(time),
            Supply::Stream { process, output } => self.written(*process, *output, time),
            Supply::Complete { process, output } => match self.states[*process].finished {
                Some(f) if f <= time => self.written(*process, *output, time),
                _ => 0.0,
            },
        }
    }

    /// The progress that a data input allows at a time (equation 1), at most that at the end.
    pub fn allowed(&self, process: usize, data: usize, time: f64) -> f64 {
        let of = &self.flow.processes[process];
        of.data[data].requirement.at(self.available(process, data, time)).min(of.end)
    }

    /// The names of shared resources.
    pub fn shared_names(&self) -> impl Iterator<Item = &str> {
        self.flow.shared.iter().map(|shared| shared.name.as_str())
    }

    /// Who uses a shared resource: processes, each with the number that the resource has there.
    pub fn users(&self, shared: usize) -> impl Iterator<Item = (usize, usize)> {
        self.flow.shared[shared].users.iter().map(|user| (user.process, user.resource))
    }

    /// What there is of a shared resource a second at a time.
    pub fn capacity(&self, shared: usize, time: f64) -> f64 {
        self.flow.shared[shared].capacity.at(time)
    }

    /// Data that are there and not yet used (equation 8): what is available less the least amount
    /// that allows the present progress.
    pub fn buffered(&self, process: usize, data: usize, time: f64) -> f64 {
        let requirement = &self.flow.processes[process].data[data].requirement;
        let p = self.progress(process, time);
        let used = if p <= 0.0 { 0.0 } else { requirement.inverse_at(p).unwrap_or(f64::INFINITY) };
        (self.available(process, data, time) - used).max(0.0)
    }
}
