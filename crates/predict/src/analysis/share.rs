//! Dealing out a shared resource that no cluster has: the highest priority first, within it by weight; what one does
//! not use goes to the others (max-min fairness).

use std::collections::BTreeSet;

use super::engine::Engine;
use super::state::{Demand, Share};
use crate::check::{Allocation, User};
use crate::functions::Poly;

impl Engine<'_> {
    /// Divides a shared resource; gives the time at which it has to be divided anew.
    pub fn deal(&mut self, shared: usize, now: f64) -> f64 {
        if let Some(cluster) = self.flow.shared[shared].cluster {
            return self.divide(cluster, now);
        }
        let asked = std::mem::take(&mut self.pools[shared].asked);
        if let Some(until) = self.carry_on(shared, &asked, now) {
            return until;
        }
        let pool = &self.flow.shared[shared];
        let mut users: Vec<(User, Demand)> = Vec::new();
        for user in &self.pools[shared].running {
            let user = pool.users[*user];
            users.push((user, self.demand(&user, now)));
        }
        self.worked(users.len() as u64 / 16);
        users.sort_by(|a, b| b.0.priority.cmp(&a.0.priority).then_with(|| relative(a).compare(&relative(b))));
        let mut rest = pool.capacity.seen_from(now);
        let mut until = pool.capacity.next_after(now).map_or(f64::INFINITY, |b| b - now);
        let mut all_fed = true;
        for level in users.chunk_by(|a, b| a.0.priority == b.0.priority) {
            all_fed &= self.deal_level(level, &mut rest, &mut until, now);
        }
        let dealt = &mut self.pools[shared];
        (dealt.spare, dealt.carried) = (all_fed.then_some((now, rest)), 0);
        now + until
    }

    /// What a user could use, seen from now.
    fn demand(&self, user: &User, now: f64) -> Demand {
        let state = &self.states[user.process];
        match state.demand {
            Demand::UpTo(poly) => Demand::UpTo(poly.shifted(now - state.demand_since)),
            other => other,
        }
    }

    /// Where all have all that they ask for and there is enough for those who ask for something
    /// else now, only these are looked at: the work does not grow with the number of users.
    /// Nothing where that is not so. What is left is added up anew after as many changes as there
    /// are users, so that rounding does not grow.
    fn carry_on(&mut self, shared: usize, asked: &BTreeSet<usize>, now: f64) -> Option<f64> {
        let pool = &self.flow.shared[shared];
        let dealt = &self.pools[shared];
        let (since, spare) = dealt.spare?;
        if dealt.carried > dealt.running.len() {
            return None;
        }
        let mut rest = spare.shifted(now - since);
        let mut given = Vec::with_capacity(asked.len());
        for number in asked {
            let user = pool.users[*number];
            let state = &self.states[user.process];
            if let Some(share) = state.shares[user.resource] {
                rest = rest.plus(&share.given.shifted(now - share.since));
            }
            if state.running {
                let wants = match self.demand(&user, now) {
                    Demand::Nothing => Poly::constant(0.0),
                    Demand::UpTo(poly) => poly,
                    Demand::All => return None,
                };
                rest = rest.minus(&wants);
                given.push((user, wants));
            }
        }
        let nothing = Poly::constant(0.0);
        if rest.compare(&nothing).is_lt() {
            return None;
        }
        let mut until = pool.capacity.next_after(now).map_or(f64::INFINITY, |b| b - now);
        until = nothing.minus(&rest).first_above(until).unwrap_or(until);
        for number in asked {
            let user = pool.users[*number];
            let state = &mut self.states[user.process];
            if !state.running {
                state.shares[user.resource] = None;
            }
        }
        let dealt = &mut self.pools[shared];
        dealt.spare = Some((now, rest));
        dealt.carried += asked.len();
        given.iter().for_each(|(user, wants)| self.give(user, *wants, true, now));
        Some(now + until)
    }

    /// True when all of them have all that they ask for.
    fn deal_level(&mut self, level: &[(User, Demand)], rest: &mut Poly, until: &mut f64, now: f64) -> bool {
        // Sums of the weights after each, from the end: taking off one by one would leave rests of rounding.
        let mut after = vec![0.0; level.len()];
        for at in (1..level.len()).rev() {
            after[at - 1] = after[at] + level[at].0.weight;
        }
        let mut weights = after[0] + level[0].0.weight;
        let mut open = level.len();
        let watch = |until: &mut f64, one: &Poly, other: &Poly| {
            if let Some(time) = one.minus(other).first_above(*until) {
                *until = time;
            }
        };
        // Those who ask for the least for their weight come first: once one cannot have all it asks for, no later one can.
        let mut fed = Vec::new();
        for (at, (user, demand)) in level.iter().enumerate() {
            let wants = match demand {
                Demand::Nothing => Poly::constant(0.0),
                Demand::UpTo(poly) => *poly,
                Demand::All => break,
            };
            if wants.compare(&rest.scaled(user.weight / weights)).is_gt() {
                break;
            }
            *rest = rest.minus(&wants);
            fed.push((wants, user.weight));
            weights = after[at];
            open -= 1;
            self.give(user, wants, true, now);
        }
        if open == 0 {
            // They have all they ask for until together they ask for more than there is.
            watch(until, &Poly::constant(0.0), rest);
            return true;
        }
        for (wants, weight) in &fed {
            watch(until, wants, &rest.scaled(weight / weights));
        }
        for (user, demand) in &level[level.len() - open..] {
            let part = rest.scaled(user.weight / weights);
            if let Demand::UpTo(wants) = demand {
                watch(until, &part, wants);
            }
            self.give(user, part, false, now);
        }
        *rest = Poly::constant(0.0);
        false
    }

    pub fn give(&mut self, user: &User, given: Poly, satisfied: bool, now: f64) {
        let state = &mut self.states[user.process];
        let old = state.shares[user.resource];
        let same = old.is_some_and(|o| o.satisfied == satisfied && o.given.shifted(now - o.since).compare(&given).is_eq());
        if same {
            return;
        }
        if state.burst.iter().any(|left| *left > 0.0) {
            // What was given until now is taken off by the old share.
            self.work_off(user.process, now);
        }
        let state = &mut self.states[user.process];
        state.shares[user.resource] = Some(Share { since: now, given, satisfied });
        match state.given.last_mut() {
            Some(last) if last.0 == user.resource && last.1 == now => last.2 = given,
            _ => {
                state.given.push((user.resource, now, given));
                self.kept += 1;
                if let Allocation::Shared(pool) = self.flow.processes[user.process].resources[user.resource].allocation {
                    self.pools[pool].shares += 1;
                }
            }
        }
        self.touch(user.process);
    }
}

/// What one asks for, by its weight; more than any number for those who take all.
fn relative((user, demand): &(User, Demand)) -> Poly {
    match demand {
        Demand::Nothing => Poly::constant(0.0),
        Demand::UpTo(poly) => poly.scaled(1.0 / user.weight),
        Demand::All => Poly::constant(f64::MAX),
    }
}
