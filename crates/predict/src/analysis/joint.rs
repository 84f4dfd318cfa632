//! Divides the shared resources of a cluster together.

use super::division::{Division, Member, Need, Use};
use super::engine::Engine;
use crate::functions::Poly;

/// What limits a process of a cluster, as far as others do not decide it.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    /// Since when these terms hold; `cap` is seen from there.
    pub since: f64,
    /// The rate that its own resources and the data from outside of the cluster allow.
    pub cap: Option<Poly>,
    /// Writers of the cluster with streams that limit it, and its rate in relation to theirs.
    pub rides: Vec<(usize, f64)>,
    /// The number of data inputs that allowed no more progress then.
    pub met: usize,
    /// The shared resources that it needs, by their number at the process.
    pub needs: Vec<(usize, Need)>,
    /// Whether it can neither go on nor use anything, whatever it gets.
    pub rests: bool,
}

impl Terms {
    /// Whether these go on as the old ones do.
    pub fn same(&self, old: &Self) -> bool {
        let caps = match (&self.cap, &old.cap) {
            (Some(new), Some(cap)) => cap.shifted(self.since - old.since).compare(new).is_eq(),
            (new, cap) => new.is_none() && cap.is_none(),
        };
        caps && self.rides == old.rides && self.needs == old.needs && self.rests == old.rests
    }
}

impl Engine<'_> {
    /// Records what limits a process of a cluster; nothing when it has finished. A process that
    /// rests takes no part in the division, so that thousands that wait for data cost nothing.
    pub fn offer(&mut self, at: usize, cluster: usize, now: f64, mut terms: Option<Terms>) {
        if let Some(terms) = &mut terms {
            let stands = terms.cap.is_some_and(|cap| cap == Poly::constant(0.0));
            let waits = terms.rides.iter().any(|(writer, _)| !self.active[cluster].contains(&self.rank[*writer]));
            let at_once = terms.needs.iter().any(|(_, need)| *need == Need::AtOnce);
            terms.rests = (stands || waits) && !at_once;
        }
        let takes_part = terms.as_ref().is_some_and(|terms| !terms.rests);
        let same = match (&terms, self.states[at].terms.as_deref()) {
            (Some(new), Some(old)) => new.same(old),
            (new, old) => new.is_none() && old.is_none(),
        };
        self.states[at].terms = terms.map(Box::new);
        if same {
            return;
        }
        let flow = self.flow;
        if takes_part {
            self.active[cluster].insert(self.rank[at]);
        } else {
            self.active[cluster].remove(&self.rank[at]);
        }
        if self.states[at].terms.as_ref().is_some_and(|terms| terms.rests) {
            for &(pool, user) in &flow.processes[at].uses {
                self.give(&flow.shared[pool].users[user], Poly::constant(0.0), true, now);
            }
        }
        self.dirty_shared.insert(flow.clusters[cluster][0]);
    }

    /// Divides the shared resources of a cluster. Returns the time at which other limits hold.
    pub fn divide(&mut self, cluster: usize, now: f64) -> f64 {
        let flow = self.flow;
        let pools = &flow.clusters[cluster];
        let stale: Vec<usize> = self.active[cluster].iter().copied().filter(|rank| self.is_stale(flow.order[*rank], now)).collect();
        if !stale.is_empty() {
            // The division waits for their present terms.
            self.dirty.extend(stale);
            self.dirty_shared.insert(pools[0]);
            return f64::INFINITY;
        }
        let place = |pool: usize| pools.partition_point(|of| *of < pool);
        let mut division = Division::default();
        let mut limit = f64::INFINITY;
        for pool in pools {
            let capacity = &flow.shared[*pool].capacity;
            division.capacities.push(capacity.seen_from(now));
            limit = capacity.next_after(now).map_or(limit, |next| limit.min(next - now));
        }
        let ranks: Vec<usize> = self.active[cluster].iter().copied().collect();
        for rank in &ranks {
            let process = &flow.processes[flow.order[*rank]];
            let mut member = Member::default();
            if let Some(terms) = self.states[flow.order[*rank]].terms.as_deref() {
                member.cap = terms.cap.map(|cap| cap.shifted(now - terms.since));
                for (writer, ratio) in &terms.rides {
                    match ranks.binary_search(&self.rank[*writer]) {
                        Ok(number) => member.rides.push((number, *ratio)),
                        Err(_) => member.cap = Some(Poly::constant(0.0)),
                    }
                }
                for &(pool, user) in &process.uses {
                    let user = flow.shared[pool].users[user];
                    let need = terms.needs.iter().find(|(resource, _)| *resource == user.resource);
                    let need = need.map_or(Need::Nothing, |(_, need)| *need);
                    member.uses.push(Use { pool: place(pool), weight: user.weight, priority: user.priority, need });
                }
            }
            division.members.push(member);
        }
        let solution = division.solve();
        self.worked((ranks.len() * pools.len()) as u64 / 16);
        if !solution.exact || !solution.unique {
            self.doubt(cluster, solution.exact, now);
        }
        for (at, rank) in ranks.iter().enumerate() {
            let uses = &flow.processes[flow.order[*rank]].uses;
            for (of, &(pool, user)) in division.members[at].uses.iter().zip(uses) {
                let (part, satisfied) = solution.part(at, of);
                self.give(&flow.shared[pool].users[user], part, satisfied, now);
            }
        }
        now + division.holds(&solution, limit)
    }
}
