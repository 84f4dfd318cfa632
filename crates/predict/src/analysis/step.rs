//! How a process goes on from a moment: what limits it, its progress as a polynomial of the time
//! since, and until when that holds.
//!
//! Ties, where the paper is silent: of data that allow the same the one that will allow less first,
//! then the first in the model; data before resources when progress could not be faster by either
//! (the paper's `P' = maxSpeed` with `P'' ≤ 0`); of resources likewise, those that others leave
//! something of last. Where a requirement is level the resource is no limit; where no resource is
//! one, progress jumps to what the data allow or to the next change of a requirement. A jump of a
//! requirement is worked off at its progress, by all resources at the same time.

use super::division::Need;
use super::engine::{Engine, later};
use super::joint::Terms;
use super::segment::{Limit, Segment};
use super::state::Demand;
use crate::check::{Allocation, Supply};
use crate::error::PredictError;
use crate::functions::{Piecewise, Poly};

/// Progress this near to its end, as a share of it, is there.
const NEAR: f64 = 1e-11;
/// What is needed over so little progress counts where it is more than this share of all.
const PASSED: f64 = 1e-9;

/// What data allow from a moment on.
struct Ceiling {
    progress: Poly,
    /// For how long that holds, in seconds.
    holds: f64,
    /// The writer of the same cluster, and the progress for each unit of the writer's.
    stream: Option<(usize, f64)>,
}

/// A speed that a resource allows.
#[derive(Clone, Copy)]
struct Speed {
    resource: usize,
    speed: Poly,
    shared: bool,
    /// Whether others leave the process all of a shared resource that it can use.
    satisfied: bool,
    slope: f64,
}

impl Engine<'_> {
    /// Brings a process up to this time; true when its progress goes on otherwise than before.
    pub fn advance(&mut self, at: usize, now: f64) -> Result<bool, PredictError> {
        let process = &self.flow.processes[at];
        let near = NEAR * process.end;
        let state = &self.states[at];
        let expected = state.progress.at(now - state.since);
        let reached = state.reaches.filter(|_| now >= state.next);
        let mut p = reached.unwrap_or(expected).clamp(0.0, process.end);
        let first = state.segments.is_empty() && now == state.since;
        self.work_off(at, now);
        self.worked((process.resources.len() + process.data.len()) as u64 / 16);
        // Up to where what is needed has been taken up.
        let mut from = p;
        loop {
            let works = |engine: &Self| engine.states[at].burst.iter().any(|left| *left > 0.0);
            // Before the next change of requirements what is needed here has to be worked off.
            if !works(self) {
                p = self.snap(at, p, near);
                self.take_bursts(at, from, p);
                from = p;
            }
            if works(self) {
                return Ok(self.in_burst(at, now, p));
            }
            if p >= process.end {
                let jumped = p > expected + near;
                self.close(at, now, Poly::constant(process.end), Limit::Finished, jumped);
                let state = &mut self.states[at];
                state.finished = Some(now);
                match process.cluster {
                    Some(cluster) => self.offer(at, cluster, now, None),
                    None => self.ask(at, now, Demand::Nothing),
                }
                return Ok(true);
            }
            let ceilings = self.ceilings(at, now)?;
            let lowest = (0..ceilings.len()).reduce(|m, k| if ceilings[k].progress.compare(&ceilings[m].progress).is_lt() { k } else { m });
            let on = lowest.filter(|k| p >= ceilings[*k].progress.at(0.0) - near);
            if let Some(k) = on {
                // Rounding must not take progress back.
                p = p.max(ceilings[k].progress.at(0.0)).min(process.end);
                if p >= process.end - near {
                    p = process.end;
                    continue;
                }
            }
            let speeds = self.speeds(at, now, p);
            let slowest = slowest(&speeds);
            if on.is_none() && slowest.is_none() {
                let next = next_break(&process.breaks, p);
                p = lowest.map_or(next, |k| next.min(ceilings[k].progress.at(0.0)));
                continue;
            }
            let (progress, limit) = match (on, slowest) {
                (Some(k), s) => {
                    let rides = s.is_none_or(|s| ceilings[k].progress.derivative().compare(&s.speed).is_le());
                    match s.filter(|_| !rides) {
                        Some(s) => (climb(at, p, &s)?, Limit::Resource(s.resource)),
                        None => (ceilings[k].progress, Limit::Data(k)),
                    }
                }
                (None, Some(s)) => (climb(at, p, &s)?, Limit::Resource(s.resource)),
                (None, None) => (Poly::constant(p), Limit::Finished),
            };
            let data = on.map(|k| ceilings[k].progress.derivative());
            let next = self.until(at, now, p, &progress, (limit, data), &ceilings, &speeds);
            match process.cluster {
                Some(cluster) => self.offer(at, cluster, now, Some(terms(now, p + near, &ceilings, &speeds))),
                None => self.ask_by(at, now, data, &speeds),
            }
            let jumped = (p - expected).abs() > near;
            let state = &mut self.states[at];
            (state.next, state.reaches) = next;
            // Where an output changes its readers have to know, also when another event than that place led here.
            let at_break = process.breaks.binary_search_by(|b| b.total_cmp(&p)).is_ok();
            return Ok(self.close(at, now, progress, limit, jumped) || first || reached.is_some() || at_break);
        }
    }

    /// Whether data limited a process when its terms were recorded, and need not do so any more:
    /// since then it may have fallen behind what they allow.
    pub fn is_stale(&self, at: usize, now: f64) -> bool {
        let state = &self.states[at];
        let behind = |met: usize| met > usize::from(matches!(state.limit, Limit::Data(_)));
        state.terms.as_deref().is_some_and(|terms| terms.since < now && behind(terms.met))
    }

    /// A change of requirements that rounding has just missed is reached.
    fn snap(&self, at: usize, p: f64, near: f64) -> f64 {
        let next = next_break(&self.flow.processes[at].breaks, p);
        if next - p <= near { next } else { p }
    }

    /// Takes up the amounts that are needed at this progress, once; and those of a piece that
    /// `snap` has passed over because it is too narrow, where they are more than rounding.
    fn take_bursts(&mut self, at: usize, from: f64, p: f64) {
        let process = &self.flow.processes[at];
        let state = &mut self.states[at];
        let begins = from == 0.0 && state.burst_at < 0.0;
        if !(begins || process.breaks.binary_search_by(|b| b.total_cmp(&p)).is_ok()) || p <= state.burst_at {
            return;
        }
        state.burst_at = p;
        for (left, resource) in state.burst.iter_mut().zip(&process.resources) {
            let requirement = &resource.requirement;
            let at_once = if begins { requirement.at(0.0) } else { 0.0 };
            let before = if p > 0.0 { requirement.left_of(p) } else { at_once };
            let passed = if p > from { before - requirement.at(from) } else { 0.0 };
            let passed = if passed > PASSED * requirement.at(process.end) { passed } else { 0.0 };
            let jump = requirement.at(p) - before;
            let jump = if jump > 1e-12 * before.abs() { jump } else { 0.0 };
            *left = at_once + passed + jump;
        }
    }

    /// Takes off what was given since the last look.
    pub fn work_off(&mut self, at: usize, now: f64) {
        let since = self.states[at].burst_since;
        for resource in 0..self.states[at].burst.len() {
            let left = self.states[at].burst[resource];
            if left > 0.0 && now > since {
                let given = self.given(at, resource, since).integral(0.0).map_or(0.0, |g| g.at(now - since));
                let rest = left - given;
                let whole = self.flow.processes[at].resources[resource].requirement.at(self.states[at].burst_at);
                self.states[at].burst[resource] = if rest <= 1e-12 * whole { 0.0 } else { rest };
            }
        }
        self.states[at].burst_since = now;
    }

    fn in_burst(&mut self, at: usize, now: f64, p: f64) -> bool {
        let (mut next, mut last, mut limit) = (f64::INFINITY, -1.0, Limit::Finished);
        let mut wants = Demand::Nothing;
        let mut terms = Terms { since: now, cap: Some(Poly::constant(0.0)), ..Terms::default() };
        for (resource, left) in self.states[at].burst.iter().enumerate().filter(|(_, left)| **left > 0.0) {
            let needs = self.given(at, resource, now).integral(-left);
            let time = needs.and_then(|n| n.first_above(f64::INFINITY)).unwrap_or(f64::INFINITY);
            if time > last {
                (last, limit) = (time, Limit::Resource(resource));
            }
            next = next.min(time);
            match &self.flow.processes[at].resources[resource].allocation {
                Allocation::Function(f) => next = f.next_after(now).map_or(next, |b| next.min(b - now)),
                Allocation::Shared(_) => {
                    wants = Demand::All;
                    terms.needs.push((resource, Need::AtOnce));
                }
            }
        }
        match self.flow.processes[at].cluster {
            Some(cluster) => self.offer(at, cluster, now, Some(terms)),
            None => self.ask(at, now, wants),
        }
        let state = &mut self.states[at];
        (state.next, state.reaches) = (later(now, now + next), None);
        let expected = state.progress.at(now - state.since);
        self.close(at, now, Poly::constant(p), limit, p > expected)
    }

    /// What a process has of a resource a second, seen from `time`.
    fn given(&self, at: usize, resource: usize, time: f64) -> Poly {
        match &self.flow.processes[at].resources[resource].allocation {
            Allocation::Function(f) => f.seen_from(time),
            Allocation::Shared(_) => self.states[at].shares[resource].map_or(Poly::constant(0.0), |s| s.given.shifted(time - s.since)),
        }
    }

    /// What each data input allows (equation 1), in its own piece.
    fn ceilings(&self, at: usize, now: f64) -> Result<Vec<Ceiling>, PredictError> {
        let ceiling = |(k, data): (usize, &crate::check::Data)| {
            let degree = || PredictError::Degree { path: format!("processes[{at}].data[{k}]") };
            let mut writer = None;
            let (supply, mut holds) = match &data.supply {
                Supply::Function(f) => (f.seen_from(now), f.next_after(now).map_or(f64::INFINITY, |b| b - now)),
                Supply::Complete { process, output } => {
                    let source = &self.flow.processes[*process];
                    (Poly::constant(source.outputs[*output].written.at(source.end)), f64::INFINITY)
                }
                Supply::Stream { process, output } => {
                    let (written, slope) = self.stream(*process, *output, now).ok_or_else(degree)?;
                    let source = &self.flow.processes[*process];
                    writer = slope
                        .filter(|_| source.cluster.is_some() && source.cluster == self.flow.processes[at].cluster)
                        .map(|s| (*process, s));
                    (written, f64::INFINITY)
                }
            };
            let n = supply.at(0.0);
            let mut index = data.requirement.index(n);
            if let Some(next) = data.requirement.piece(index).2.filter(|next| next - n <= 1e-12 * next.abs()) {
                index = data.requirement.index(next);
            }
            let (base, piece, next) = data.requirement.piece(index);
            if let Some(time) = next.and_then(|n| supply.minus(&Poly::constant(n)).first_above(f64::INFINITY)) {
                holds = holds.min(time);
            }
            let progress = piece.compose(&supply, base).ok_or_else(degree)?;
            let stream = writer.map(|(process, slope)| (process, slope * piece.derivative().at(0.0)));
            Ok(Ceiling { progress, holds, stream })
        };
        self.flow.processes[at].data.iter().enumerate().map(ceiling).collect()
    }

    /// What a process has written, seen from now, and how much it writes for each unit of progress
    /// while it runs; nothing before its start.
    fn stream(&self, process: usize, output: usize, now: f64) -> Option<(Poly, Option<f64>)> {
        let (source, state) = (&self.flow.processes[process], &self.states[process]);
        let written: &Piecewise = &source.outputs[output].written;
        if state.started.is_none() {
            return Some((Poly::constant(0.0), None));
        }
        if state.finished.is_some() {
            return Some((Poly::constant(written.at(source.end)), None));
        }
        let progress = state.progress.shifted(now - state.since);
        // What was reached may be a rounding short of the place at which the output changes, as in `snap`.
        let p = progress.at(0.0);
        let index = written.index(p);
        let index = written.piece(index).2.filter(|next| next - p <= NEAR * source.end).map_or(index, |_| index + 1);
        let (base, piece, _) = written.piece(index);
        Some((piece.compose(&progress, base)?, Some(piece.derivative().at(0.0))))
    }

    /// The speeds that resources allow at this progress (equation 9).
    fn speeds(&self, at: usize, now: f64, p: f64) -> Vec<Speed> {
        let resources = self.flow.processes[at].resources.iter().enumerate();
        let speed = |(n, r): (usize, &crate::check::Resource)| {
            let (_, piece, _) = r.requirement.piece(r.requirement.index(p));
            let slope = piece.derivative().at(0.0);
            let shared = matches!(r.allocation, Allocation::Shared(_));
            let satisfied = shared && self.states[at].shares[n].is_some_and(|share| share.satisfied);
            // A speed beyond all numbers is no limit.
            let speed = (slope > 0.0).then(|| self.given(at, n, now).scaled(1.0 / slope)).filter(Poly::is_finite)?;
            Some(Speed { resource: n, speed, shared, satisfied, slope })
        };
        resources.filter_map(speed).collect()
    }

    /// Until when all that was decided holds, and the progress reached by then if that ends it.
    #[expect(clippy::too_many_arguments, reason = "they are what was decided")]
    fn until(
        &self,
        at: usize,
        now: f64,
        p: f64,
        progress: &Poly,
        (limit, data): (Limit, Option<Poly>),
        ceilings: &[Ceiling],
        speeds: &[Speed],
    ) -> (f64, Option<f64>) {
        let process = &self.flow.processes[at];
        let mut wait = ceilings.iter().fold(f64::INFINITY, |w, c| w.min(c.holds));
        for resource in &process.resources {
            if let Allocation::Function(f) = &resource.allocation {
                wait = f.next_after(now).map_or(wait, |b| wait.min(b - now));
            }
        }
        let mut crosses = |one: &Poly, other: &Poly| {
            if let Some(time) = one.minus(other).first_above(wait) {
                wait = wait.min(time);
            }
        };
        // Where progress meets what data allow; where it rides on one, where another gets lower.
        ceilings.iter().for_each(|c| crosses(progress, &c.progress));
        let rate = progress.derivative();
        speeds.iter().for_each(|s| crosses(&rate, &s.speed));
        // What a shared resource is asked for is the least of all others, until another one is less.
        if process.cluster.is_none()
            && let Limit::Resource(r) = limit
            && speeds.iter().any(|s| s.shared && s.resource == r)
            && let Some(least) = least_of_others(data, speeds)
        {
            speeds.iter().for_each(|other| crosses(&least, &other.speed));
            ceilings.iter().for_each(|c| crosses(&least, &c.progress.derivative()));
            ceilings.iter().for_each(|c| speeds.iter().filter(|s| s.shared).for_each(|s| crosses(&s.speed, &c.progress.derivative())));
        }
        let goal = next_break(&process.breaks, p);
        match progress.minus(&Poly::constant(goal)).first_above(wait) {
            Some(time) => (later(now, now + time), Some(goal)),
            None => (later(now, now + wait), None),
        }
    }

    /// Says how much a process could use of the resource it shares.
    fn ask_by(&mut self, at: usize, now: f64, data: Option<Poly>, speeds: &[Speed]) {
        let Some(shared) = speeds.iter().find(|s| s.shared) else {
            return self.ask(at, now, Demand::Nothing);
        };
        let least = least_of_others(data, speeds);
        self.ask(at, now, least.map_or(Demand::All, |l| Demand::UpTo(l.scaled(shared.slope))));
    }

    fn ask(&mut self, at: usize, now: f64, demand: Demand) {
        let state = &mut self.states[at];
        let same = match (state.demand, demand) {
            (Demand::UpTo(old), Demand::UpTo(new)) => old.shifted(now - state.demand_since).compare(&new).is_eq(),
            (old, new) => old == new,
        };
        let comes_or_goes = state.finished.is_some() || state.shares.iter().all(Option::is_none);
        (state.demand, state.demand_since) = (demand, now);
        if !same || comes_or_goes {
            for &(shared, user) in &self.flow.processes[at].uses {
                self.pools[shared].asked.insert(user);
                self.dirty_shared.insert(shared);
            }
        }
    }

    /// Ends the present segment if something else begins; true then.
    fn close(&mut self, at: usize, now: f64, progress: Poly, limit: Limit, jumped: bool) -> bool {
        let state = &mut self.states[at];
        let goes_on = state.progress.shifted(now - state.since).compare(&progress).is_eq();
        if goes_on && !jumped && state.limit == limit {
            return false;
        }
        if now > state.since && state.limit != Limit::NotStarted {
            state.segments.push(Segment { from: state.since, to: now, progress: state.progress, limit: state.limit });
            self.kept += 1;
        }
        (state.since, state.progress, state.limit) = (now, progress, limit);
        true
    }
}

/// What limits a process of a cluster, of which data allow no more progress than `reached`.
fn terms(now: f64, reached: f64, ceilings: &[Ceiling], speeds: &[Speed]) -> Terms {
    let met = || ceilings.iter().filter(|ceiling| ceiling.progress.at(0.0) <= reached);
    let outside = met().filter(|ceiling| ceiling.stream.is_none()).map(|ceiling| ceiling.progress.derivative());
    let own = speeds.iter().filter(|speed| !speed.shared).map(|speed| speed.speed);
    Terms {
        since: now,
        cap: least(outside.chain(own)),
        rides: met().filter_map(|ceiling| ceiling.stream).collect(),
        met: met().count(),
        needs: speeds.iter().filter(|speed| speed.shared).map(|speed| (speed.resource, Need::PerProgress(speed.slope))).collect(),
        rests: false,
    }
}

/// The least that data and the process's own resources let it go on by.
fn least_of_others(data: Option<Poly>, speeds: &[Speed]) -> Option<Poly> {
    least(speeds.iter().filter(|s| !s.shared).map(|s| s.speed).chain(data))
}

fn least(rates: impl Iterator<Item = Poly>) -> Option<Poly> {
    rates.reduce(|m, s| if s.compare(&m).is_lt() { s } else { m })
}

fn next_break(breaks: &[f64], p: f64) -> f64 {
    breaks.get(breaks.partition_point(|b| *b <= p)).or(breaks.last()).copied().unwrap_or(p)
}

/// The slowest; of the same ones a resource of the process's own, then a shared one that others
/// need too, then the first.
fn slowest(speeds: &[Speed]) -> Option<Speed> {
    let of = |shared: bool, satisfied: bool| speeds.iter().filter(move |s| s.shared == shared && s.satisfied == satisfied);
    let ordered = of(false, false).chain(of(true, false)).chain(of(true, true));
    ordered.copied().reduce(|m, s| if s.speed.compare(&m.speed).is_lt() { s } else { m })
}

fn climb(at: usize, p: f64, speed: &Speed) -> Result<Poly, PredictError> {
    speed.speed.integral(p).ok_or_else(|| PredictError::Degree { path: format!("processes[{at}].resources[{}]", speed.resource) })
}
