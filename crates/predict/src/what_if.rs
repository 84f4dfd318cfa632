//! What a workflow would gain if one of the things that limit it were wider.

use crate::analysis::Limit;
use crate::check::{Allocation, Supply, Workflow};
use crate::error::PredictError;
use crate::functions::Piecewise;

/// Things times processes: more work is refused, some minutes of it.
const MAX_WORK: usize = 200_000_000;

/// How much wider a thing that limits processes is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wider {
    /// This many times as much of it as there is.
    Times(f64),
    /// As much as can be used: it is no limit any more.
    Unlimited,
}

/// What would be gained if one thing that limits processes were wider.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// What is made wider, as a path of names.
    pub what: String,
    /// How long it limits some process, in seconds, summed over processes.
    pub limits_s: f64,
    /// By how much the workflow would finish earlier, in seconds.
    pub gain_s: f64,
}

/// What would be gained if what limits a process in one segment were wider for that time alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentGain {
    /// The process: its number in the prediction.
    pub process: usize,
    /// What limits it in this segment.
    pub limit: Limit,
    /// When the segment begins, in seconds.
    pub from_s: f64,
    /// Until when, in seconds; infinite for a segment without end.
    pub to_s: f64,
    /// By how much the workflow would finish earlier, in seconds.
    pub gain_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Shared(usize),
    Resource(usize, usize),
    Data(usize, usize),
}

/// Each thing takes a prediction of all processes.
fn bounded(things: usize, processes: usize) -> Result<(), PredictError> {
    if things.saturating_mul(processes) > MAX_WORK {
        let problem = format!(
            "{things} things limit {processes} processes, and each takes a prediction of all: sweep those that matter (--sweep), or predict a part of the workflow"
        );
        return Err(PredictError::field("widen", problem));
    }
    Ok(())
}

impl Workflow {
    /// The gain for each thing that limits a process at some time, greatest first: shared
    /// resources as a whole, allocations, and data that are given from outside (times x: as if
    /// they came x times as fast; unlimited: as if all were there from the beginning). Data that
    /// another process writes are left out: what limits that process counts. Nothing when the
    /// workflow does not finish.
    ///
    /// # Errors
    /// As [`Workflow::predict`]; [`PredictError::Field`] for a factor that is not above zero, and
    /// if there are too many limits and processes to finish within hours.
    pub fn gains(&self, wider: Wider) -> Result<Vec<Gain>, PredictError> {
        if let Wider::Times(x) = wider
            && !(x.is_finite() && x > 0.0)
        {
            return Err(PredictError::field("widen", "a factor is above zero and finite"));
        }
        let prediction = self.predict()?;
        let Some(finish) = prediction.finish_s() else { return Ok(Vec::new()) };
        let mut parts = std::collections::BTreeMap::<Part, f64>::new();
        for at in 0..prediction.len() {
            for segment in prediction.segments(at) {
                if let Some(part) = self.part(at, segment.limit) {
                    *parts.entry(part).or_default() += segment.to - segment.from;
                }
            }
        }
        bounded(parts.len(), self.processes.len())?;
        let gain = |(part, limits_s): (Part, f64)| {
            let mut changed = self.clone();
            changed.widen(part, wider).ok_or_else(|| PredictError::field("widen", "the numbers get too large"))?;
            let then = changed.predict()?.finish_s().unwrap_or(f64::INFINITY);
            Ok(Gain { what: self.part_name(part), limits_s, gain_s: finish - then })
        };
        let mut gains = parts.into_iter().map(gain).collect::<Result<Vec<_>, PredictError>>()?;
        gains.sort_by(|a, b| b.gain_s.total_cmp(&a.gain_s).then_with(|| a.what.cmp(&b.what)));
        Ok(gains)
    }

    /// By how much the workflow would finish earlier, in seconds, if its processes needed less of the
    /// resources that `is_less` chooses by process and resource: so many times less, or none.
    /// `None` where it does not finish, or none is chosen.
    ///
    /// # Errors
    /// As [`Workflow::predict`]; [`PredictError::Field`] for a factor that is not above zero.
    pub fn joint_gain(&self, is_less: impl Fn(&str, &str) -> bool, wider: Wider) -> Result<Option<f64>, PredictError> {
        if let Wider::Times(x) = wider
            && !(x.is_finite() && x > 0.0)
        {
            return Err(PredictError::field("widen", "a factor is above zero and finite"));
        }
        let Some(finish) = self.predict()?.finish_s() else { return Ok(None) };
        let mut changed = self.clone();
        let mut is_chosen = false;
        for process in &mut changed.processes {
            for resource in process.resources.iter_mut().filter(|resource| is_less(&process.name, &resource.name)) {
                resource.requirement = match wider {
                    Wider::Unlimited => Piecewise::constant(0.0),
                    Wider::Times(x) => {
                        let less = resource.requirement.scaled(1.0 / x);
                        less.ok_or_else(|| PredictError::field("widen", "the numbers get too large"))?
                    }
                };
                is_chosen = true;
            }
        }
        if !is_chosen {
            return Ok(None);
        }
        let then = changed.predict()?.finish_s();
        Ok(then.map(|then| finish - then))
    }

    /// For the `most` longest segments in which something of [`Workflow::gains`] limits a process:
    /// what would be gained if there were `times` as much of it during that segment alone, greatest
    /// first. Of data: as if they came so many times as fast meanwhile, and all later ones by as
    /// much earlier.
    ///
    /// # Errors
    /// As [`Workflow::gains`].
    pub fn segment_gains(&self, times: f64, most: usize) -> Result<Vec<SegmentGain>, PredictError> {
        if !(times.is_finite() && times > 0.0) {
            return Err(PredictError::field("widen", "a factor is above zero and finite"));
        }
        let prediction = self.predict()?;
        let Some(finish) = prediction.finish_s() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for at in 0..prediction.len() {
            for s in prediction.segments(at) {
                if let Some(part) = self.part(at, s.limit) {
                    found.push((part, SegmentGain { process: at, limit: s.limit, from_s: s.from, to_s: s.to, gain_s: 0.0 }));
                }
            }
        }
        found.sort_by(|(_, a), (_, b)| {
            (b.to_s - b.from_s).total_cmp(&(a.to_s - a.from_s)).then(a.process.cmp(&b.process)).then(a.from_s.total_cmp(&b.from_s))
        });
        found.truncate(most);
        bounded(found.len(), self.processes.len())?;
        let mut gains = Vec::with_capacity(found.len());
        for (part, of) in found {
            let mut changed = self.clone();
            let wider = |f: &Piecewise| f.scaled_between(of.from_s, of.to_s, times);
            let done = match part {
                Part::Shared(s) => wider(&self.shared[s].capacity).map(|f| changed.shared[s].capacity = f),
                Part::Resource(p, l) => match &self.processes[p].resources[l].allocation {
                    Allocation::Function(f) => wider(f).map(|f| changed.processes[p].resources[l].allocation = Allocation::Function(f)),
                    Allocation::Shared(_) => None,
                },
                Part::Data(p, k) => match &self.processes[p].data[k].supply {
                    Supply::Function(f) => {
                        f.faster_between(of.from_s, of.to_s, times).map(|f| changed.processes[p].data[k].supply = Supply::Function(f))
                    }
                    Supply::Stream { .. } | Supply::Complete { .. } => None,
                },
            };
            done.ok_or_else(|| PredictError::field("widen", "the numbers get too large"))?;
            let then = changed.predict()?.finish_s().unwrap_or(f64::INFINITY);
            gains.push(SegmentGain { gain_s: finish - then, ..of });
        }
        gains.sort_by(|a, b| b.gain_s.total_cmp(&a.gain_s).then(a.process.cmp(&b.process)).then(a.from_s.total_cmp(&b.from_s)));
        Ok(gains)
    }

    fn part(&self, at: usize, limit: Limit) -> Option<Part> {
        match limit {
            Limit::Data(k) => matches!(self.processes[at].data[k].supply, Supply::Function(_)).then_some(Part::Data(at, k)),
            Limit::Resource(l) => Some(match self.processes[at].resources[l].allocation {
                Allocation::Shared(shared) => Part::Shared(shared),
                Allocation::Function(_) => Part::Resource(at, l),
            }),
            Limit::NotStarted | Limit::Finished => None,
        }
    }

    fn part_name(&self, part: Part) -> String {
        match part {
            Part::Shared(s) => format!("shared {}", self.shared[s].name),
            Part::Resource(p, l) => format!("{}: resource {}", self.processes[p].name, self.processes[p].resources[l].name),
            Part::Data(p, k) => format!("{}: data {}", self.processes[p].name, self.processes[p].data[k].name),
        }
    }

    fn widen(&mut self, part: Part, wider: Wider) -> Option<()> {
        match (part, wider) {
            (Part::Shared(s), Wider::Times(x)) => self.shared[s].capacity = self.shared[s].capacity.scaled(x)?,
            (Part::Shared(s), Wider::Unlimited) => {
                for user in self.shared[s].users.clone() {
                    self.processes[user.process].resources[user.resource].requirement = Piecewise::constant(0.0);
                }
            }
            (Part::Resource(p, l), Wider::Times(x)) => {
                let resource = &mut self.processes[p].resources[l];
                if let Allocation::Function(f) = &resource.allocation {
                    resource.allocation = Allocation::Function(f.scaled(x)?);
                }
            }
            (Part::Resource(p, l), Wider::Unlimited) => self.processes[p].resources[l].requirement = Piecewise::constant(0.0),
            (Part::Data(p, k), _) => {
                let data = &mut self.processes[p].data[k];
                if let Supply::Function(f) = &data.supply {
                    data.supply = Supply::Function(match wider {
                        Wider::Times(x) => f.compose(&Piecewise::line(0.0, x))?,
                        // Without end a slope gives any amount; a level end gives what it has.
                        Wider::Unlimited => match f.piece(f.breakpoints().len() - 1) {
                            (_, last, _) if last.degree() == 0 => Piecewise::constant(last.at(0.0)),
                            _ => Piecewise::constant(f64::MAX.sqrt()),
                        },
                    });
                }
            }
        }
        Some(())
    }
}
