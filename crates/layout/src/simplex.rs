//! Network simplex: constraints `head - tail >= length` with weights in, integer positions out,
//! such that the weighted sum of all distances is as small as it can be.
//!
//! Layers and horizontal coordinates are both found this way (Gansner, Koutsofios, North and Vo, "A
//! technique for drawing directed graphs", 1993, sections 2.3 and 4.2). A spanning tree of tight
//! constraints is improved by exchanging a constraint with a negative cut value. The cut value of a
//! tree edge is the sum of (outgoing minus incoming weight) over the subtree below it, since
//! everything inside the subtree cancels.
//!
//! The constraints must be free of cycles; if they are not, the ones that close a cycle are
//! dropped. Work is bounded: a graph too large to be solved exactly gets a valid but longer
//! solution.

/// `head - tail >= length`, and every unit of distance costs `weight`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constraint {
    pub tail: usize,
    pub head: usize,
    pub length: i64,
    pub weight: i64,
}

/// Bounds exchanges times size: a few seconds at the very worst, nothing in practice.
const MOST_WORK: usize = 400_000_000;

/// A position for each of `n` nodes; every connected part begins at 0.
///
/// With `centre`, a part of the solution that can move at no cost is put halfway.
pub(super) fn solve(n: usize, constraints: &[Constraint], centre: bool) -> Vec<i64> {
    let mut edges: Vec<Constraint> = constraints.iter().copied().filter(|c| c.tail != c.head).collect();
    let mut rank = longest_path(n, &mut edges);
    let parts = components(n, &edges);
    // One tree for all: the first node of each part hangs on the first node of the first part, at no cost.
    for &first in parts.firsts.iter().skip(1) {
        let anchor = parts.firsts[0];
        let (tail, head) = if rank[anchor] <= rank[first] { (anchor, first) } else { (first, anchor) };
        edges.push(Constraint { tail, head, length: rank[head] - rank[tail], weight: 0 });
    }
    if n > 1 {
        let mut tree = Tree::new(n, &edges, rank);
        tree.grow();
        tree.improve();
        if centre {
            tree.centre();
        }
        rank = tree.rank;
    }
    let mut lowest = vec![i64::MAX; parts.firsts.len()];
    for v in 0..n {
        lowest[parts.of[v]] = lowest[parts.of[v]].min(rank[v]);
    }
    (0..n).map(|v| rank[v] - lowest[parts.of[v]]).collect()
}

/// The lowest position of every node; drops edges that close a cycle.
fn longest_path(n: usize, edges: &mut Vec<Constraint>) -> Vec<i64> {
    let mut rank = vec![0i64; n];
    let mut done = vec![false; n];
    loop {
        let mut waiting = vec![0usize; n];
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, e) in edges.iter().enumerate() {
            if !done[e.tail] {
                out[e.tail].push(i);
                waiting[e.head] += 1;
            }
        }
        let mut ready: Vec<usize> = (0..n).rev().filter(|&v| !done[v] && waiting[v] == 0).collect();
        while let Some(v) = ready.pop() {
            done[v] = true;
            for &i in &out[v] {
                let e = edges[i];
                rank[e.head] = rank[e.head].max(rank[e.tail] + e.length);
                waiting[e.head] -= 1;
                if waiting[e.head] == 0 {
                    ready.push(e.head);
                }
            }
        }
        let Some(stuck) = (0..n).find(|&v| !done[v]) else { return rank };
        edges.retain(|e| e.head != stuck || done[e.tail]);
    }
}

struct Parts {
    of: Vec<usize>,
    firsts: Vec<usize>,
}

fn components(n: usize, edges: &[Constraint]) -> Parts {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); n];
    for e in edges {
        near[e.tail].push(e.head);
        near[e.head].push(e.tail);
    }
    let mut of = vec![usize::MAX; n];
    let mut firsts = Vec::new();
    for first in 0..n {
        if of[first] != usize::MAX {
            continue;
        }
        let part = firsts.len();
        firsts.push(first);
        of[first] = part;
        let mut stack = vec![first];
        while let Some(v) = stack.pop() {
            for &w in &near[v] {
                if of[w] == usize::MAX {
                    of[w] = part;
                    stack.push(w);
                }
            }
        }
    }
    Parts { of, firsts }
}

/// A spanning tree of tight edges, rooted at node 0, with preorder intervals for "is below".
struct Tree<'a> {
    edges: &'a [Constraint],
    rank: Vec<i64>,
    /// Outgoing minus incoming weight.
    balance: Vec<i64>,
    incident: Vec<Vec<usize>>,
    in_tree: Vec<bool>,
    near: Vec<Vec<usize>>,
    parent_edge: Vec<usize>,
    preorder: Vec<usize>,
    first: Vec<usize>,
    last: Vec<usize>,
    below: Vec<i64>,
}

const NO_EDGE: usize = usize::MAX;

impl<'a> Tree<'a> {
    fn new(n: usize, edges: &'a [Constraint], rank: Vec<i64>) -> Self {
        let mut balance = vec![0; n];
        let mut incident = vec![Vec::new(); n];
        for (i, e) in edges.iter().enumerate() {
            balance[e.tail] += e.weight;
            balance[e.head] -= e.weight;
            incident[e.tail].push(i);
            incident[e.head].push(i);
        }
        Self {
            edges,
            rank,
            balance,
            incident,
            in_tree: vec![false; edges.len()],
            near: vec![Vec::new(); n],
            parent_edge: vec![NO_EDGE; n],
            preorder: Vec::with_capacity(n),
            first: vec![0; n],
            last: vec![0; n],
            below: vec![0; n],
        }
    }

    fn slack(&self, e: usize) -> i64 {
        let c = &self.edges[e];
        self.rank[c.head] - self.rank[c.tail] - c.length
    }

    fn add(&mut self, e: usize) {
        self.in_tree[e] = true;
        self.near[self.edges[e].tail].push(e);
        self.near[self.edges[e].head].push(e);
    }

    fn remove(&mut self, e: usize) {
        self.in_tree[e] = false;
        for v in [self.edges[e].tail, self.edges[e].head] {
            self.near[v].retain(|&x| x != e);
        }
    }

    fn other(&self, e: usize, v: usize) -> usize {
        let c = &self.edges[e];
        if c.tail == v { c.head } else { c.tail }
    }

    /// A spanning tree: tight edges first, then the tree is moved until the nearest edge out of it
    /// is tight.
    fn grow(&mut self) {
        let n = self.rank.len();
        let mut inside = vec![false; n];
        let mut members = vec![0];
        inside[0] = true;
        let mut at = 0;
        loop {
            while at < members.len() {
                let v = members[at];
                at += 1;
                for k in 0..self.incident[v].len() {
                    let e = self.incident[v][k];
                    let w = self.other(e, v);
                    if !inside[w] && self.slack(e) == 0 {
                        inside[w] = true;
                        members.push(w);
                        self.add(e);
                    }
                }
            }
            if members.len() == n {
                return;
            }
            let crossing =
                (0..self.edges.len()).filter(|&e| inside[self.edges[e].tail] != inside[self.edges[e].head]).min_by_key(|&e| self.slack(e));
            // Parts were joined before, so that there always is one; without one the rest stays where it is.
            let Some(e) = crossing else { return };
            let delta = if inside[self.edges[e].tail] { self.slack(e) } else { -self.slack(e) };
            for &v in &members {
                self.rank[v] += delta;
            }
            // Other edges may have become tight too: look at every member again.
            at = 0;
        }
    }

    /// Parents, preorder intervals and subtree sums of the tree as it is.
    fn index(&mut self) {
        self.preorder.clear();
        self.parent_edge[0] = NO_EDGE;
        let mut stack = vec![0];
        while let Some(v) = stack.pop() {
            self.first[v] = self.preorder.len();
            self.preorder.push(v);
            for k in 0..self.near[v].len() {
                let e = self.near[v][k];
                if e != self.parent_edge[v] {
                    let w = self.other(e, v);
                    self.parent_edge[w] = e;
                    stack.push(w);
                }
            }
        }
        for k in 0..self.preorder.len() {
            let v = self.preorder[k];
            self.last[v] = self.first[v];
            self.below[v] = self.balance[v];
        }
        for k in (1..self.preorder.len()).rev() {
            let v = self.preorder[k];
            let parent = self.other(self.parent_edge[v], v);
            self.last[parent] = self.last[parent].max(self.last[v]);
            self.below[parent] += self.below[v];
        }
    }

    fn is_below(&self, v: usize, top: usize) -> bool {
        self.first[top] <= self.first[v] && self.first[v] <= self.last[top]
    }

    /// Cut value of the edge between `v` and its parent.
    fn cut(&self, v: usize) -> i64 {
        if self.edges[self.parent_edge[v]].tail == v { self.below[v] } else { -self.below[v] }
    }

    /// The edge that becomes tight first when the edge above `v` is stretched.
    fn entering(&self, v: usize) -> Option<usize> {
        let subtree_is_tail = self.edges[self.parent_edge[v]].tail == v;
        let mut best: Option<(i64, usize)> = None;
        for (e, c) in self.edges.iter().enumerate() {
            let (tail, head) = (self.is_below(c.tail, v), self.is_below(c.head, v));
            if tail != head && head == subtree_is_tail && !self.in_tree[e] {
                let slack = self.slack(e);
                if best.is_none_or(|(least, _)| slack < least) {
                    best = Some((slack, e));
                    if slack == 0 {
                        break;
                    }
                }
            }
        }
        best.map(|(_, e)| e)
    }

    /// Moves the subtree of `v` away from its parent.
    fn stretch(&mut self, v: usize, by: i64) {
        let by = if self.edges[self.parent_edge[v]].tail == v { -by } else { by };
        for k in self.first[v]..=self.last[v] {
            let w = self.preorder[k];
            self.rank[w] += by;
        }
    }

    fn improve(&mut self) {
        let size = self.rank.len() + self.edges.len();
        let rounds = (MOST_WORK / size.max(1)).min(50 * size + 100);
        self.index();
        if self.preorder.len() != self.rank.len() {
            return;
        }
        for _ in 0..rounds {
            let worst = self.preorder[1..].iter().copied().map(|v| (self.cut(v), v)).min();
            let Some((cut, v)) = worst else { return };
            if cut >= 0 {
                return;
            }
            let Some(entering) = self.entering(v) else { return };
            let leaving = self.parent_edge[v];
            self.stretch(v, self.slack(entering));
            self.remove(leaving);
            self.add(entering);
            self.index();
        }
    }

    fn centre(&mut self) {
        if self.preorder.len() != self.rank.len() {
            return;
        }
        for k in 1..self.preorder.len() {
            let v = self.preorder[k];
            if self.cut(v) != 0 {
                continue;
            }
            if let Some(entering) = self.entering(v) {
                let slack = self.slack(entering);
                self.stretch(v, slack / 2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn c(tail: usize, head: usize, length: i64, weight: i64) -> Constraint {
        Constraint { tail, head, length, weight }
    }

    fn cost(constraints: &[Constraint], at: &[i64]) -> i64 {
        constraints.iter().map(|c| c.weight * (at[c.head] - at[c.tail])).sum()
    }

    #[test]
    fn a_side_branch_hangs_near_its_end() {
        // 0→1→2→3 and 4→3: longest path would leave 4 at the top, the optimum is next to 3.
        let chain = [c(0, 1, 1, 1), c(1, 2, 1, 1), c(2, 3, 1, 1), c(4, 3, 1, 1)];
        assert_eq!(solve(5, &chain, false), [0, 1, 2, 3, 2]);
    }

    #[test]
    fn what_can_move_freely_is_centred() {
        // 1 lies anywhere between 0 and 2 at equal cost.
        let free = [c(0, 1, 0, 1), c(1, 2, 0, 1), c(0, 2, 10, 0)];
        assert_eq!(solve(3, &free, true)[1], 5);
    }

    #[test]
    fn parts_and_single_nodes_begin_at_zero() {
        assert_eq!(solve(0, &[], true), Vec::<i64>::new());
        assert_eq!(solve(1, &[], true), [0]);
        assert_eq!(solve(4, &[c(0, 1, 3, 1), c(2, 3, 5, 1)], true), [0, 3, 0, 5]);
    }

    #[test]
    fn a_cycle_ends() {
        let at = solve(3, &[c(0, 1, 1, 1), c(1, 2, 1, 1), c(2, 0, 1, 1)], false);
        assert_eq!(at.len(), 3);
    }

    proptest! {
        /// Small cases are compared with every assignment there is.
        #[test]
        fn the_sum_is_least(raw in proptest::collection::vec((0usize..5, 0usize..5, 0i64..3, 0i64..4), 0..9)) {
            let edges: Vec<Constraint> = raw.iter().filter(|r| r.0 < r.1).map(|&(a, b, l, w)| c(a, b, l, w)).collect();
            let at = solve(5, &edges, false);
            let centred = solve(5, &edges, true);
            for e in &edges {
                prop_assert!(at[e.head] - at[e.tail] >= e.length);
                prop_assert!(centred[e.head] - centred[e.tail] >= e.length);
            }
            let mut least = i64::MAX;
            for code in 0..9usize.pow(5) {
                let p: Vec<i64> = (0..5u32).map(|i| (code / 9usize.pow(i) % 9) as i64).collect();
                if edges.iter().all(|e| p[e.head] - p[e.tail] >= e.length) {
                    least = least.min(cost(&edges, &p));
                }
            }
            prop_assert_eq!(cost(&edges, &at), least);
            prop_assert_eq!(cost(&edges, &centred), least);
        }
    }
}
