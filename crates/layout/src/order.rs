//! Order within layers: items in layers in, few crossings out.
//!
//! Sweeps down and up put every item at the median of its neighbours (Gansner and others, 1993,
//! section 3), then neighbours are exchanged while that removes crossings. Several starting orders
//! are tried and the best order ever seen is kept; of equally good ones the first, so that the
//! result is always the same.

use super::layers::{Layered, Segment};
use std::collections::VecDeque;

/// Sweeps for one starting order.
const SWEEPS: usize = 24;

/// Starting orders of a small graph.
const MOST_STARTS: usize = 16;

/// Sweeps times items, for all starting orders together: what fits into some tenths of a second.
const WORK: usize = 300_000;

/// Sweeps without a better order after which a starting order is given up.
const PATIENCE: usize = 8;

/// Sorts the items of every layer so that few edges cross.
pub(super) fn reduce_crossings(layered: &mut Layered) {
    // A needless crossing in a small graph is seen at once, and there trying again costs nothing.
    let sweeps = WORK / layered.items.len().max(1);
    let starts = (sweeps / SWEEPS).clamp(1, MOST_STARTS);
    let sweeps = sweeps.clamp(4, SWEEPS);
    let mut best: Option<(u64, Vec<Vec<usize>>)> = None;
    for start in 0..starts {
        let mut sweep = Sweep::new(layered);
        match start {
            0 => sweep.by_search(true, false),
            1 => sweep.by_search(false, false),
            2 => sweep.by_search(true, true),
            3 => sweep.by_search(false, true),
            seed => sweep.shuffle(seed as u64),
        }
        let (crossings, order) = sweep.run(sweeps);
        if best.as_ref().is_none_or(|(least, _)| crossings < *least) {
            let done = crossings == 0;
            best = Some((crossings, order));
            if done {
                break;
            }
        }
    }
    if let Some((_, order)) = best {
        layered.layers = order;
    }
}

/// Rounds of exchanges after one sweep.
const EXCHANGES: usize = 9;

/// With more items than this, the first rounds have to do.
const LARGE: usize = 8_000;

struct Sweep<'a> {
    layered: &'a Layered,
    layers: Vec<Vec<usize>>,
    place: Vec<usize>,
}

impl<'a> Sweep<'a> {
    fn new(layered: &'a Layered) -> Self {
        let mut sweep = Self { layered, layers: layered.layers.clone(), place: vec![0; layered.items.len()] };
        for l in 0..sweep.layers.len() {
            sweep.renumber(l);
        }
        sweep
    }

    fn renumber(&mut self, layer: usize) {
        for (i, &v) in self.layers[layer].iter().enumerate() {
            self.place[v] = i;
        }
    }

    fn neighbours(&self, v: usize, above: bool) -> &'a [Segment] {
        let item = &self.layered.items[v];
        if above { &item.up } else { &item.down }
    }

    /// Orders items as a search finds them, from the top or from the bottom, in depth or in
    /// breadth.
    fn by_search(&mut self, from_top: bool, in_breadth: bool) {
        let mut found = vec![false; self.place.len()];
        let mut order: Vec<Vec<usize>> = vec![Vec::new(); self.layers.len()];
        let mut roots: Vec<usize> = self.layers.iter().flatten().copied().collect();
        if !from_top {
            roots.reverse();
        }
        for root in roots {
            let mut waiting = VecDeque::from([root]);
            while let Some(v) = if in_breadth { waiting.pop_front() } else { waiting.pop_back() } {
                if std::mem::replace(&mut found[v], true) {
                    continue;
                }
                order[self.layered.items[v].layer].push(v);
                let next = self.neighbours(v, !from_top).iter().map(|s| s.other).filter(|&w| !found[w]);
                if in_breadth {
                    waiting.extend(next);
                } else {
                    let at = waiting.len();
                    waiting.extend(next);
                    waiting.make_contiguous()[at..].reverse();
                }
            }
        }
        self.layers = order;
        for l in 0..self.layers.len() {
            self.renumber(l);
        }
    }

    /// A fixed disorder for each seed.
    fn shuffle(&mut self, seed: u64) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for l in 0..self.layers.len() {
            for i in (1..self.layers[l].len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let j = ((state >> 33) % (i as u64 + 1)) as usize;
                self.layers[l].swap(i, j);
            }
            self.renumber(l);
        }
    }

    fn run(mut self, sweeps: usize) -> (u64, Vec<Vec<usize>>) {
        self.exchange(false);
        let mut least = self.crossings();
        let mut best = self.layers.clone();
        let mut idle = 0;
        for round in 0..sweeps {
            if least == 0 || idle >= PATIENCE {
                break;
            }
            self.medians(round % 2 == 0, round % 4 >= 2);
            self.exchange(round % 4 >= 2);
            let now = self.crossings();
            if now < least {
                least = now;
                best.clone_from(&self.layers);
                idle = 0;
            } else {
                idle += 1;
            }
        }
        (least, best)
    }

    /// One sweep: every item goes to the median of its neighbours in the layer before; items
    /// without any stay. `late` decides which of two equal items comes first.
    fn medians(&mut self, down: bool, late: bool) {
        let count = self.layers.len();
        for step in 1..count {
            let l = if down { step } else { count - 1 - step };
            let mut keyed: Vec<(f64, usize, usize)> = Vec::new();
            let mut fixed: Vec<(usize, usize)> = Vec::new();
            for (i, &v) in self.layers[l].iter().enumerate() {
                match self.median(v, down) {
                    Some(m) => keyed.push((m, if late { usize::MAX - i } else { i }, v)),
                    None => fixed.push((i, v)),
                }
            }
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut row: Vec<usize> = keyed.into_iter().map(|k| k.2).collect();
            for (i, v) in fixed {
                row.insert(i.min(row.len()), v);
            }
            self.layers[l] = row;
            self.renumber(l);
        }
    }

    fn median(&self, v: usize, above: bool) -> Option<f64> {
        let mut at: Vec<f64> = self.neighbours(v, above).iter().map(|s| self.place[s.other] as f64).collect();
        at.sort_by(f64::total_cmp);
        let m = at.len() / 2;
        match at.len() {
            0 => None,
            n if n % 2 == 1 => Some(at[m]),
            2 => Some((at[0] + at[1]) / 2.0),
            n => {
                let (left, right) = (at[m - 1] - at[0], at[n - 1] - at[m]);
                if left + right == 0.0 {
                    Some((at[m - 1] + at[m]) / 2.0)
                } else {
                    Some((at[m - 1] * right + at[m] * left) / (left + right))
                }
            }
        }
    }

    /// Exchanges neighbours in a layer while that removes crossings. With `also_equal`, neighbours
    /// that cross as often either way are exchanged too, once: that leads out of places where
    /// nothing alone helps.
    fn exchange(&mut self, also_equal: bool) {
        let count = self.layers.len();
        let mut due = vec![true; count];
        let rounds = if self.place.len() > LARGE { EXCHANGES / 3 } else { EXCHANGES };
        for round in 0..rounds {
            let equal = also_equal && round == 0;
            let mut better = false;
            for l in 0..count {
                if !std::mem::replace(&mut due[l], false) {
                    continue;
                }
                let mut changed = false;
                for i in 1..self.layers[l].len() {
                    let (v, w) = (self.layers[l][i - 1], self.layers[l][i]);
                    let (now, exchanged) = self.pair_crossings(v, w);
                    if exchanged < now || equal && exchanged == now && now > 0 {
                        self.layers[l].swap(i - 1, i);
                        self.place[v] = i;
                        self.place[w] = i - 1;
                        changed = true;
                    }
                }
                if changed {
                    better = true;
                    due[l.saturating_sub(1)..=(l + 1).min(count - 1)].fill(true);
                }
            }
            if !better {
                return;
            }
        }
    }

    /// Crossings between the edges of two items: as they are, and exchanged.
    fn pair_crossings(&self, v: usize, w: usize) -> (u64, u64) {
        let (mut now, mut exchanged) = (0, 0);
        for above in [true, false] {
            let (of_v, of_w) = (self.neighbours(v, above), self.neighbours(w, above));
            if of_v.len().saturating_mul(of_w.len()) > 64 {
                let places = |list: &[Segment]| {
                    let mut places: Vec<usize> = list.iter().map(|s| self.place[s.other]).collect();
                    places.sort_unstable();
                    places
                };
                let (of_v, of_w) = (places(of_v), places(of_w));
                now += pairs_in_order(&of_w, &of_v);
                exchanged += pairs_in_order(&of_v, &of_w);
                continue;
            }
            for a in of_v {
                for b in of_w {
                    let (a, b) = (self.place[a.other], self.place[b.other]);
                    now += u64::from(a > b);
                    exchanged += u64::from(a < b);
                }
            }
        }
        (now, exchanged)
    }

    fn crossings(&self) -> u64 {
        (1..self.layers.len()).map(|l| self.crossings_above(l)).sum()
    }

    /// Counts with a tree of partial sums, in the order in which edges leave the upper layer.
    fn crossings_above(&self, l: usize) -> u64 {
        let width = self.layers[l].len();
        let mut sums = vec![0u64; width + 1];
        let mut seen = 0u64;
        let mut total = 0u64;
        for &v in &self.layers[l - 1] {
            let mut targets: Vec<usize> = self.neighbours(v, false).iter().map(|s| self.place[s.other]).collect();
            targets.sort_unstable();
            for &t in &targets {
                let mut at_or_left = 0;
                let mut i = t + 1;
                while i > 0 {
                    at_or_left += sums[i];
                    i &= i - 1;
                }
                total += seen - at_or_left;
            }
            for &t in &targets {
                seen += 1;
                let mut i = t + 1;
                while i <= width {
                    sums[i] += 1;
                    i += i & i.wrapping_neg();
                }
            }
        }
        total
    }
}

/// How many pairs have their first in `a`, their second in `b` and the first before the second;
/// both are sorted.
fn pairs_in_order(a: &[usize], b: &[usize]) -> u64 {
    let mut before = 0;
    b.iter()
        .map(|second| {
            while a.get(before).is_some_and(|first| first < second) {
                before += 1;
            }
            before as u64
        })
        .sum()
}
