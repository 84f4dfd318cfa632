//! Measures of graphs: neighbours, topological order, betweenness.

/// The neighbours of each node in one direction.
#[derive(Debug, Clone, Default)]
pub struct Adjacency {
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Adjacency {
    /// Creates the neighbours of the given number of nodes from the edges between them.
    pub fn new(nodes: usize, lines: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for (from, _) in lines.clone() {
            first[from as usize + 1] += 1;
        }
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut put = first.clone();
        let mut to = vec![0u32; first[nodes] as usize];
        for (from, neighbour) in lines {
            let place = &mut put[from as usize];
            to[*place as usize] = neighbour;
            *place += 1;
        }
        Self { first, to }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns the neighbours of a node.
    pub fn of(&self, node: u32) -> &[u32] {
        &self.to[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Returns the nodes in topological order, by Kahn's algorithm, without nodes in and behind
    /// cycles. `before` has the same edges backwards.
    pub fn order(&self, before: &Self) -> Vec<u32> {
        let mut open: Vec<u32> = (0..self.len() as u32).map(|at| before.of(at).len() as u32).collect();
        let mut order: Vec<u32> = (0..self.len() as u32).filter(|&at| open[at as usize] == 0).collect();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &to in self.of(at) {
                open[to as usize] -= 1;
                if open[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        order
    }
}

/// Maximum product of nodes and edges for which betweenness is computed: about a second.
const MOST_STEPS: usize = 60_000_000;

/// Returns for each node the share of the shortest paths between two other nodes that lead through
/// it (Freeman 1977), by the algorithm of Brandes (*A faster algorithm for betweenness centrality*,
/// 2001). Returns `None` for graphs that are too large.
pub fn betweenness(graph: &Adjacency) -> Option<Vec<f64>> {
    let nodes = graph.len();
    if nodes.checked_mul(nodes + graph.to.len())? > MOST_STEPS {
        return None;
    }
    let mut sums = vec![0.0; nodes];
    let mut paths = vec![0.0f64; nodes];
    let mut far = vec![u32::MAX; nodes];
    let mut share = vec![0.0f64; nodes];
    let mut order: Vec<u32> = Vec::with_capacity(nodes);
    for source in 0..nodes as u32 {
        paths.fill(0.0);
        far.fill(u32::MAX);
        share.fill(0.0);
        order.clear();
        order.push(source);
        (paths[source as usize], far[source as usize]) = (1.0, 0);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &to in graph.of(at) {
                if far[to as usize] == u32::MAX {
                    far[to as usize] = far[at as usize] + 1;
                    order.push(to);
                }
                if far[to as usize] == far[at as usize] + 1 {
                    paths[to as usize] += paths[at as usize];
                }
            }
        }
        for &at in order.iter().rev() {
            for &to in graph.of(at) {
                if far[to as usize] == far[at as usize] + 1 {
                    share[at as usize] += paths[at as usize] / paths[to as usize] * (1.0 + share[to as usize]);
                }
            }
            if at != source {
                sums[at as usize] += share[at as usize];
            }
        }
    }
    let pairs = (nodes as f64 - 1.0) * (nodes as f64 - 2.0);
    if pairs > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= pairs);
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn betweenness_by_hand() {
        // 0 and 1 lead to 2, and 2 leads to 3 and 4: all four paths between two others lead through
        // 2.
        let lines = [(0, 2), (1, 2), (2, 3), (2, 4)];
        let of = betweenness(&Adjacency::new(5, lines.into_iter())).expect("it is small");
        assert_eq!(of, [0.0, 0.0, 4.0 / 12.0, 0.0, 0.0]);
        // Two paths of the same length: half of the paths each.
        let lines = [(0, 1), (0, 2), (1, 3), (2, 3)];
        let of = betweenness(&Adjacency::new(4, lines.into_iter())).expect("it is small");
        assert_eq!(of, [0.0, 0.5 / 6.0, 0.5 / 6.0, 0.0]);
        assert_eq!(betweenness(&Adjacency::new(0, std::iter::empty())), Some(Vec::new()));
    }

    #[test]
    fn what_is_in_a_circle_has_no_place_in_an_order() {
        let lines = [(0, 1), (1, 2), (2, 1), (2, 3)];
        let (after, before) = (Adjacency::new(4, lines.into_iter()), Adjacency::new(4, lines.into_iter().map(|(from, to)| (to, from))));
        assert_eq!(after.order(&before), [0]);
    }
}
