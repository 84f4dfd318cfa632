//! The directly-follows graph of a part of a log, and the cuts in it.
//!
//! Each search takes time in proportion to activities and edges, so that a thousand activities are
//! no trouble and a hundred thousand are taken.

use rustc_hash::FxHashMap;

use super::log::SubLog;

/// How many steps counting anew may take where groups of a sequence are joined: a few seconds.
const MAX_STEPS: usize = 200_000_000;

/// How many cases start with, end with, and go from one activity to another. Activities are
/// numbered from 0 within the graph.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// The activity of each number, ascending.
    pub(crate) activities: Vec<u32>,
    /// `(from, to, count)`, sorted, each pair once.
    pub(crate) edges: Vec<(u32, u32, u64)>,
    /// How many cases start with each.
    pub(crate) starts: Vec<u64>,
    /// How many cases end with each.
    pub(crate) ends: Vec<u64>,
}

/// The operator of a cut, and the group of each activity of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) operator: Operator,
    pub(crate) group: Vec<u32>,
    pub(crate) groups: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Xor,
    Sequence,
    Parallel,
    Loop,
}

impl Graph {
    /// The graph of a log. `local` is scratch space with a place for each activity of the whole
    /// log.
    pub(crate) fn of(log: &SubLog, local: &mut [u32]) -> Self {
        let mut activities: Vec<u32> = Vec::new();
        for (trace, _) in log.traces() {
            for &a in trace {
                if local[a as usize] == u32::MAX {
                    local[a as usize] = 0;
                    activities.push(a);
                }
            }
        }
        activities.sort_unstable();
        for (number, &a) in (0u32..).zip(&activities) {
            local[a as usize] = number;
        }
        let (mut starts, mut ends) = (vec![0u64; activities.len()], vec![0u64; activities.len()]);
        let mut pairs: FxHashMap<u64, u64> = FxHashMap::default();
        for (trace, count) in log.traces() {
            if let (Some(&first), Some(&last)) = (trace.first(), trace.last()) {
                add(&mut starts[local[first as usize] as usize], count);
                add(&mut ends[local[last as usize] as usize], count);
            }
            for pair in trace.windows(2) {
                let key = u64::from(local[pair[0] as usize]) << 32 | u64::from(local[pair[1] as usize]);
                add(pairs.entry(key).or_default(), count);
            }
        }
        for &a in &activities {
            local[a as usize] = u32::MAX;
        }
        // Both halves of a key were numbers of 32 bits.
        let mut edges: Vec<(u32, u32, u64)> = pairs.into_iter().map(|(key, n)| ((key >> 32) as u32, key as u32, n)).collect();
        edges.sort_unstable();
        Graph { activities, edges, starts, ends }
    }

    pub(crate) fn len(&self) -> usize {
        self.activities.len()
    }

    /// Without what is rare: edges below `noise` times the strongest way out of their activity, of
    /// which ending is one, and starts below `noise` times the most frequent start.
    pub(crate) fn without_noise(&self, noise: f64) -> Graph {
        let mut strongest = self.ends.clone();
        for &(a, _, n) in &self.edges {
            strongest[a as usize] = strongest[a as usize].max(n);
        }
        let enough = |n: u64, of: u64| n as f64 >= noise * of as f64;
        let edges = self.edges.iter().copied().filter(|&(a, _, n)| enough(n, strongest[a as usize])).collect();
        let most = self.starts.iter().copied().max().unwrap_or(0);
        let starts = self.starts.iter().map(|&n| if enough(n, most) { n } else { 0 }).collect();
        Graph { activities: self.activities.clone(), edges, starts, ends: self.ends.clone() }
    }

    /// The first cut of the four that there is: choice, sequence, concurrency, loop.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.xor().or_else(|| self.sequence()).or_else(|| self.parallel()).or_else(|| self.repeat())
    }

    /// Parts without an edge between them.
    fn xor(&self) -> Option<Cut> {
        let mut sets = Sets::new(self.len());
        for &(a, b, _) in &self.edges {
            sets.join(a, b);
        }
        let (group, groups) = sets.groups();
        (groups > 1).then_some(Cut { operator: Operator::Xor, group, groups })
    }

    /// The finest division in which each activity of a part reaches all of the later parts and none
    /// of the earlier, then parts joined where together they can be skipped (the strict sequence
    /// cut: Leemans, Robust Process Mining with Guarantees, 2017, section 6).
    fn sequence(&self) -> Option<Cut> {
        let (component, components) = self.strongly_connected();
        // Tarjan's numbers go against the order of the edges.
        let n = components;
        let place = |a: u32| n - 1 - component[a as usize] as usize;
        let mut between: Vec<(usize, usize)> = self.edges.iter().map(|&(a, b, _)| (place(a), place(b))).filter(|(a, b)| a != b).collect();
        between.sort_unstable();
        between.dedup();
        // A division after place i needs each part before it to reach each after it. It is enough that the last ones before
        // (no edge to another before) reach the first ones after (no edge from another after); and such a path is one edge.
        let (mut next, mut previous) = (vec![n; n], vec![usize::MAX; n]);
        for &(a, b) in &between {
            next[a] = next[a].min(b);
            previous[b] = if previous[b] == usize::MAX { a } else { previous[b].max(a) };
        }
        // Divisions are named by the first place after them: 1..n. Each list holds changes of a count.
        let (mut last, mut first, mut joined) = (vec![0i64; n + 1], vec![0i64; n + 1], vec![0i64; n + 1]);
        for a in 0..n {
            // `a` is a last one while it is before the division and its next is after it.
            last[a + 1] += 1;
            last[(next[a] + 1).min(n)] -= 1;
            // `a` is a first one from the division after its previous on, until it is before the division itself.
            first[if previous[a] == usize::MAX { 0 } else { previous[a] + 1 }] += 1;
            first[a + 1] -= 1;
        }
        for &(a, b) in &between {
            if previous[b] < next[a] {
                joined[previous[b] + 1] += 1;
                joined[next[a] + 1] -= 1;
            }
        }
        let mut group_of_place = vec![0usize; n];
        let (mut lasts, mut firsts, mut edges, mut group) = (0i64, 0i64, 0i64, 0usize);
        for at in 0..n {
            lasts += last[at];
            firsts += first[at];
            edges += joined[at];
            if at > 0 && lasts.saturating_mul(firsts) == edges {
                group += 1;
            }
            group_of_place[at] = group;
        }
        let groups = group + 1;
        if groups < 2 {
            return None;
        }
        let mut group: Vec<u32> = (0u32..).take(self.len()).map(|a| group_of_place[place(a)] as u32).collect();
        let groups = self.join_skippable(&mut group, groups);
        (groups > 1).then_some(Cut { operator: Operator::Sequence, group, groups })
    }

    /// Joins groups of a sequence that are skipped together.
    fn join_skippable(&self, group: &mut [u32], groups: usize) -> usize {
        // The earliest group from which each is entered, -1 where a case starts in it; the latest to which it leads, `groups`
        // where a case ends in it.
        let none = groups as i64 + 1;
        let (mut from, mut to) = (vec![none; groups], vec![-2i64; groups]);
        for (a, &g) in group.iter().enumerate() {
            let g = g as usize;
            if self.starts[a] > 0 {
                from[g] = -1;
            }
            if self.ends[a] > 0 {
                to[g] = groups as i64;
            }
        }
        let mut pairs: Vec<(u32, u32)> = self.edges.iter().map(|&(a, b, _)| (group[a as usize], group[b as usize])).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for &(a, b) in &pairs {
            from[b as usize] = from[b as usize].min(i64::from(a));
            to[a as usize] = to[a as usize].max(i64::from(b));
        }
        let mut starts: Vec<u32> = (0..self.len()).filter(|&a| self.starts[a] > 0).map(|a| group[a]).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut ends: Vec<u32> = (0..self.len()).filter(|&a| self.ends[a] > 0).map(|a| group[a]).collect();
        ends.sort_unstable();
        ends.dedup();
        // Which groups of the cut are now at each place. What is counted over the edges is counted again after each change, up
        // to a bound that only graphs of tens of thousands of activities can reach; the groups are a sequence at any time.
        let mut at: Vec<Vec<u32>> = (0..groups as u32).map(|g| vec![g]).collect();
        let mut now: Vec<usize> = (0..groups).collect();
        let mut skipped = skipped_places(&pairs, &starts, &ends, &now);
        let mut counts_left = MAX_STEPS / (pairs.len() + 3 * groups + 1);
        for p in 0..groups {
            if !skipped[p] {
                continue;
            }
            let mut changed = false;
            let mut q = p;
            while q > 0 && to[q - 1] <= p as i64 {
                q -= 1;
                changed |= move_all(&mut at, q, p);
            }
            let mut q = p + 1;
            while q < groups && from[q] >= p as i64 {
                changed |= move_all(&mut at, q, p);
                q += 1;
            }
            if changed && counts_left > 0 {
                counts_left -= 1;
                for (place, members) in at.iter().enumerate() {
                    for &g in members {
                        now[g as usize] = place;
                    }
                }
                skipped = skipped_places(&pairs, &starts, &ends, &now);
            }
        }
        for (place, members) in at.iter().enumerate() {
            for &g in members {
                now[g as usize] = place;
            }
        }
        let mut used = vec![false; groups];
        for &g in &now {
            used[g] = true;
        }
        let mut number = 0u32;
        let mut numbers = vec![0u32; groups];
        for g in 0..groups {
            numbers[g] = number;
            number += u32::from(used[g]);
        }
        for g in group.iter_mut() {
            *g = numbers[now[*g as usize]];
        }
        number as usize
    }

    /// Parts that all follow each other directly in both directions, each with a start and an end.
    fn parallel(&self) -> Option<Cut> {
        let n = self.len();
        let mut sets = Sets::new(n);
        // Activities that do not follow each other both ways belong together: a walk over the pairs that are not in the graph.
        // For a given activity the edges back to it are asked for in ascending order: each list is gone through once.
        let mut back = vec![0usize; n + 1];
        for &(a, _, _) in &self.edges {
            back[a as usize + 1] += 1;
        }
        for a in 0..n {
            back[a + 1] += back[a];
        }
        let mut offsets = vec![0usize; n + 1];
        let mut both: Vec<u32> = Vec::new();
        let mut at = 0;
        for a in 0..n {
            while let Some(&(from, to, _)) = self.edges.get(at)
                && from as usize == a
            {
                let cursor = &mut back[to as usize];
                while self.edges.get(*cursor).is_some_and(|&(b, c, _)| b == to && c < from) {
                    *cursor += 1;
                }
                if from != to && self.edges.get(*cursor).is_some_and(|&(b, c, _)| b == to && c == from) {
                    both.push(to);
                }
                at += 1;
            }
            offsets[a + 1] = both.len();
        }
        if both.is_empty() && n > 1 {
            return None;
        }
        let mut left: Vec<u32> = (0u32..).take(n).collect();
        let mut mark = vec![u32::MAX; n];
        let mut walk: Vec<u32> = Vec::new();
        while let Some(seed) = left.pop() {
            walk.push(seed);
            while let Some(a) = walk.pop() {
                for &b in &both[offsets[a as usize]..offsets[a as usize + 1]] {
                    mark[b as usize] = a;
                }
                left.retain(|&b| {
                    if mark[b as usize] == a {
                        return true;
                    }
                    sets.join(a, b);
                    walk.push(b);
                    false
                });
            }
        }
        let (group, groups) = sets.groups();
        if groups < 2 {
            return None;
        }
        // Smallest first; one without a start or an end joins the one before it (the first one the one after it).
        let (mut size, mut start, mut end) = (vec![0usize; groups], vec![false; groups], vec![false; groups]);
        for (a, &g) in group.iter().enumerate() {
            let g = g as usize;
            size[g] += 1;
            start[g] |= self.starts[a] > 0;
            end[g] |= self.ends[a] > 0;
        }
        let mut order: Vec<usize> = (0..groups).collect();
        order.sort_by_key(|&g| size[g]);
        let mut merged: Vec<(Vec<usize>, bool, bool)> = Vec::with_capacity(groups);
        let mut waiting: Vec<usize> = Vec::new();
        for g in order {
            let (mut members, mut s, mut e) = (vec![g], start[g], end[g]);
            if !waiting.is_empty() {
                // All before it were without.
                for w in std::mem::take(&mut waiting) {
                    members.push(w);
                    s |= start[w];
                    e |= end[w];
                }
            }
            if s && e {
                merged.push((members, s, e));
            } else if let Some(last) = merged.last_mut() {
                last.0.extend(members);
            } else {
                waiting = members;
            }
        }
        if merged.len() < 2 {
            return None;
        }
        let mut final_group = vec![0u32; groups];
        for (number, (members, _, _)) in (0u32..).zip(&merged) {
            for &g in members {
                final_group[g] = number;
            }
        }
        Some(Cut { operator: Operator::Parallel, group: group.iter().map(|&g| final_group[g as usize]).collect(), groups: merged.len() })
    }

    /// A body that holds all starts and ends, and redo parts entered from every end and left to
    /// every start.
    fn repeat(&self) -> Option<Cut> {
        let n = self.len();
        if self.edges.is_empty() {
            return None;
        }
        let start = |a: u32| self.starts[a as usize] > 0;
        let end = |a: u32| self.ends[a as usize] > 0;
        let border = |a: u32| start(a) || end(a);
        let mut sets = Sets::new(n);
        for &(a, b, _) in &self.edges {
            if !border(a) && !border(b) {
                sets.join(a, b);
            }
        }
        let (starts, ends) = ((0..n as u32).filter(|&a| start(a)).count(), (0..n as u32).filter(|&a| end(a)).count());
        let (mut to_start, mut from_end) = (vec![0usize; n], vec![0usize; n]);
        let mut in_body = vec![false; n];
        for &(a, b, _) in &self.edges {
            if border(a) && !border(b) {
                if end(a) {
                    from_end[b as usize] += 1;
                } else {
                    in_body[sets.find(b) as usize] = true;
                }
            } else if border(b) && !border(a) {
                if start(b) {
                    to_start[a as usize] += 1;
                } else {
                    in_body[sets.find(a) as usize] = true;
                }
            }
        }
        for a in 0..n as u32 {
            let (to, from) = (to_start[a as usize], from_end[a as usize]);
            if !border(a) && (to > 0 && to < starts || from > 0 && from < ends) {
                in_body[sets.find(a) as usize] = true;
            }
        }
        let group: Vec<u32> = (0..n as u32).map(|a| u32::from(!border(a) && !in_body[sets.find(a) as usize])).collect();
        group.contains(&1).then_some(Cut { operator: Operator::Loop, group, groups: 2 })
    }

    /// Tarjan's strongly connected components, without recursion. Numbers go from the last
    /// component to the first.
    fn strongly_connected(&self) -> (Vec<u32>, usize) {
        let n = self.len();
        let mut offsets = vec![0usize; n + 1];
        for &(a, _, _) in &self.edges {
            offsets[a as usize + 1] += 1;
        }
        for a in 0..n {
            offsets[a + 1] += offsets[a];
        }
        let (mut index, mut low, mut component) = (vec![u32::MAX; n], vec![0u32; n], vec![u32::MAX; n]);
        let (mut next_index, mut components) = (0u32, 0u32);
        let mut path: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, usize)> = Vec::new();
        for root in 0..n as u32 {
            if index[root as usize] != u32::MAX {
                continue;
            }
            calls.push((root, offsets[root as usize]));
            while let Some(call) = calls.last_mut() {
                let a = call.0;
                if index[a as usize] == u32::MAX {
                    index[a as usize] = next_index;
                    low[a as usize] = next_index;
                    next_index += 1;
                    path.push(a);
                }
                if call.1 < offsets[a as usize + 1] {
                    let b = self.edges[call.1].1;
                    call.1 += 1;
                    if index[b as usize] == u32::MAX {
                        calls.push((b, offsets[b as usize]));
                    } else if component[b as usize] == u32::MAX {
                        low[a as usize] = low[a as usize].min(index[b as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(caller) = calls.last() {
                    low[caller.0 as usize] = low[caller.0 as usize].min(low[a as usize]);
                }
                if low[a as usize] == index[a as usize] {
                    while let Some(b) = path.pop() {
                        component[b as usize] = components;
                        if b == a {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        (component, components as usize)
    }
}

fn add(to: &mut u64, n: u64) {
    *to = to.saturating_add(n);
}

/// For each place in a sequence, whether a case can pass it by: `pairs` of groups that follow each
/// other, the groups that cases start and end with, and the place where each group is `now`.
fn skipped_places(pairs: &[(u32, u32)], starts: &[u32], ends: &[u32], now: &[usize]) -> Vec<bool> {
    let groups = now.len();
    let mut change = vec![0i64; groups + 1];
    let mut pass = |from: usize, to: usize| {
        if from < to {
            change[from] += 1;
            change[to] -= 1;
        }
    };
    pairs.iter().for_each(|&(a, b)| pass(now[a as usize] + 1, now[b as usize]));
    starts.iter().for_each(|&g| pass(0, now[g as usize]));
    ends.iter().for_each(|&g| pass(now[g as usize] + 1, groups));
    let mut open = 0;
    change[..groups]
        .iter()
        .map(|c| {
            open += c;
            open > 0
        })
        .collect()
}

/// Moves what is at place `from` to place `to`; whether there was something.
fn move_all(at: &mut [Vec<u32>], from: usize, to: usize) -> bool {
    let mut moved = std::mem::take(&mut at[from]);
    if moved.len() > at[to].len() {
        std::mem::swap(&mut moved, &mut at[to]);
        at[to].extend(moved);
        return true;
    }
    let any = !moved.is_empty();
    at[to].extend(moved);
    any
}

/// Disjoint sets of the numbers from 0 on.
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Sets { parent: (0u32..).take(n).collect() }
    }

    fn find(&mut self, mut a: u32) -> u32 {
        while self.parent[a as usize] != a {
            self.parent[a as usize] = self.parent[self.parent[a as usize] as usize];
            a = self.parent[a as usize];
        }
        a
    }

    /// The lower number represents the set.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// The set of each number; sets are numbered by their lowest member.
    fn groups(mut self) -> (Vec<u32>, usize) {
        let mut number = vec![u32::MAX; self.parent.len()];
        let mut groups = 0u32;
        let mut group = Vec::with_capacity(self.parent.len());
        for a in 0..self.parent.len() as u32 {
            let root = self.find(a) as usize;
            if number[root] == u32::MAX {
                number[root] = groups;
                groups += 1;
            }
            group.push(number[root]);
        }
        (group, groups as usize)
    }
}
