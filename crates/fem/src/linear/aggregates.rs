//! Groups of neighbouring nodes that move as one on the next coarser level.

use super::sparse::Sparse;

/// Which aggregate each node belongs to.
pub(crate) struct Aggregates {
    /// Number of the aggregate of each node; [`NONE`] for nodes that stay out.
    pub(crate) of: Vec<u32>,
    /// How many there are.
    pub(crate) count: usize,
}

/// In no aggregate.
pub(crate) const NONE: u32 = u32::MAX;

/// Which nodes a matrix connects, for nodes of `width` rows each.
pub(crate) struct Graph {
    start: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// The graph of a matrix. The rows of a node have the same columns.
    pub(crate) fn new(matrix: &Sparse, width: usize) -> Self {
        let mut graph = Self { start: vec![0], neighbours: Vec::new() };
        for row in (0..matrix.rows()).step_by(width) {
            let first = graph.neighbours.len();
            for &column in matrix.row(row).0 {
                let node = column / width as u32;
                if graph.neighbours[first..].last() != Some(&node) {
                    graph.neighbours.push(node);
                }
            }
            graph.start.push(graph.neighbours.len() as u32);
        }
        graph
    }

    fn nodes(&self) -> usize {
        self.start.len() - 1
    }

    fn of(&self, node: usize) -> &[u32] {
        &self.neighbours[self.start[node] as usize..self.start[node + 1] as usize]
    }
}

/// Chooses roots more than `reach` edges apart in the order of the nodes; every other node joins a neighbour's aggregate,
/// the most common one around it.
pub(crate) fn aggregate(graph: &Graph, active: impl Fn(usize) -> bool, reach: usize) -> Aggregates {
    let nodes = graph.nodes();
    let mut of = vec![NONE; nodes];
    let mut blocked = vec![false; nodes];
    let mut count = 0;
    let mut ball = Ball { seen: vec![0; nodes], stamp: 0, nodes: Vec::new() };
    for root in 0..nodes {
        if blocked[root] || !active(root) {
            continue;
        }
        of[root] = count as u32;
        count += 1;
        ball.grow(graph, root, reach, &active);
        ball.nodes.iter().for_each(|&node| blocked[node as usize] = true);
    }
    let mut before = Vec::new();
    loop {
        before.clone_from(&of);
        for node in (0..nodes).filter(|&node| active(node)) {
            if before[node] == NONE {
                of[node] = most_common(graph.of(node), &before);
            }
        }
        if of == before {
            return Aggregates { of, count };
        }
    }
}

/// The nodes within some edges of a root.
struct Ball {
    seen: Vec<u32>,
    stamp: u32,
    nodes: Vec<u32>,
}

impl Ball {
    fn grow(&mut self, graph: &Graph, root: usize, reach: usize, active: &impl Fn(usize) -> bool) {
        self.stamp += 1;
        self.nodes.clear();
        self.nodes.push(root as u32);
        self.seen[root] = self.stamp;
        let mut layer = 0;
        for _ in 0..reach {
            let end = self.nodes.len();
            for k in layer..end {
                for &node in graph.of(self.nodes[k] as usize) {
                    if self.seen[node as usize] != self.stamp && active(node as usize) {
                        self.seen[node as usize] = self.stamp;
                        self.nodes.push(node);
                    }
                }
            }
            layer = end;
        }
    }
}

/// The aggregate that most neighbours belong to, the first of several.
fn most_common(neighbours: &[u32], of: &[u32]) -> u32 {
    let count = |aggregate: u32| neighbours.iter().filter(|&&n| of[n as usize] == aggregate).count();
    let mut best = (NONE, 0);
    for &neighbour in neighbours {
        let aggregate = of[neighbour as usize];
        if aggregate != NONE && aggregate != best.0 {
            let votes = count(aggregate);
            if votes > best.1 || votes == best.1 && aggregate < best.0 {
                best = (aggregate, votes);
            }
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    fn path(nodes: usize) -> Graph {
        let rows: Vec<Vec<(u32, DMat3)>> = (0..nodes)
            .map(|i| (i.saturating_sub(1)..(i + 2).min(nodes)).map(|j| (j as u32, DMat3::IDENTITY)).collect())
            .collect();
        Graph::new(&Sparse::from_rows(&rows), 1)
    }

    #[test]
    fn a_path_is_cut_into_equal_parts() {
        let parts = aggregate(&path(16), |_| true, 3);
        assert_eq!(parts.count, 4);
        assert_eq!(parts.of, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
    }

    #[test]
    fn inactive_nodes_stay_out_and_divide() {
        let parts = aggregate(&path(9), |node| node != 4, 3);
        assert_eq!(parts.of[4], NONE);
        assert_ne!(parts.of[3], parts.of[5]);
        assert!((0..9).filter(|&n| n != 4).all(|n| (parts.of[n] as usize) < parts.count));
    }

    #[test]
    fn single_nodes_are_aggregates_of_their_own() {
        let rows: Vec<_> = (0..3).map(|i| vec![(i, DMat3::IDENTITY)]).collect();
        assert_eq!(aggregate(&Graph::new(&Sparse::from_rows(&rows), 1), |_| true, 3).count, 3);
    }
}
