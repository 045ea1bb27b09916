//! Building the tree: the surface area heuristic over sixteen bins along the longest axis, halves by count where that
//! does not help or the tree gets deep.

use glam::DVec3;

use super::Node;
use crate::{Aabb, TriangleMesh};

/// Triangles in a leaf, at most.
const LEAF: usize = 4;
const BINS: usize = 16;
/// Below this depth every split halves the number of triangles, so that no tree is deeper than this plus 32.
const DEEP: u32 = 48;

struct Item {
    bounds: Aabb,
    center: DVec3,
    triangle: u32,
}

/// The nodes, depth first, and the triangles in the order of the leaves. Boxes are left empty.
pub(super) fn tree(mesh: &TriangleMesh) -> (Vec<Node>, Vec<u32>) {
    let item = |(corners, triangle): ([DVec3; 3], u32)| {
        let bounds = Aabb::around(corners);
        Item { bounds, center: bounds.center(), triangle }
    };
    let mut items: Vec<_> = mesh.corners().zip(0..).map(item).collect();
    let mut nodes = Vec::with_capacity(items.len());
    grow(&mut nodes, &mut items, 0, 0);
    (nodes, items.iter().map(|item| item.triangle).collect())
}

/// Adds the subtree over `items`, which begin at `first` in leaf order.
fn grow(nodes: &mut Vec<Node>, items: &mut [Item], first: u32, depth: u32) {
    let number = nodes.len();
    if items.len() <= LEAF {
        nodes.push(Node { bounds: Aabb::EMPTY, next: first, count: items.len() as u32 });
        return;
    }
    let middle = split(items, depth);
    let (left, right) = items.split_at_mut(middle);
    nodes.push(Node { bounds: Aabb::EMPTY, next: 0, count: 0 });
    grow(nodes, left, first, depth + 1);
    nodes[number].next = nodes.len() as u32;
    grow(nodes, right, first + middle as u32, depth + 1);
}

/// Orders the items so that those before the returned position go left: at least one on either side.
fn split(items: &mut [Item], depth: u32) -> usize {
    let centers = Aabb::around(items.iter().map(|item| item.center));
    let axis = centers.size().max_position();
    let bin = |item: &Item| {
        let along = (item.center[axis] - centers.min[axis]) / centers.size()[axis];
        ((along * BINS as f64) as usize).min(BINS - 1)
    };
    let best = if depth < DEEP { cheapest_border(items, bin) } else { None };
    match best {
        Some(border) => partition(items, |item| bin(item) < border),
        None => halve(items, axis),
    }
}

/// The border between bins with the least expected cost: area of either side's box times its triangles.
fn cheapest_border(items: &[Item], bin: impl Fn(&Item) -> usize) -> Option<usize> {
    let mut bins = [(Aabb::EMPTY, 0usize); BINS];
    for item in items {
        let (bounds, count) = &mut bins[bin(item)];
        *bounds = bounds.union(&item.bounds);
        *count += 1;
    }
    let mut costs = [0.0; BINS];
    sweep(bins.iter().take(BINS - 1).zip(&mut costs[1..]));
    sweep(bins.iter().skip(1).zip(&mut costs[1..]).rev());
    let useful = |border: &usize| {
        let left: usize = bins[..*border].iter().map(|bin| bin.1).sum();
        left > 0 && left < items.len()
    };
    (1..BINS).filter(useful).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))
}

/// Adds to each border's cost that of the bins on one side of it.
fn sweep<'a>(bins_and_costs: impl Iterator<Item = (&'a (Aabb, usize), &'a mut f64)>) {
    let mut side = (Aabb::EMPTY, 0);
    for ((bounds, count), cost) in bins_and_costs {
        side = (side.0.union(bounds), side.1 + count);
        *cost += side.0.area() * side.1 as f64;
    }
}

/// Moves those that pass the test to the front and returns their number. The same swaps every time.
fn partition(items: &mut [Item], front: impl Fn(&Item) -> bool) -> usize {
    let mut count = 0;
    for i in 0..items.len() {
        if front(&items[i]) {
            items.swap(i, count);
            count += 1;
        }
    }
    count
}

fn halve(items: &mut [Item], axis: usize) -> usize {
    let middle = items.len() / 2;
    let order = |a: &Item, b: &Item| a.center[axis].total_cmp(&b.center[axis]).then(a.triangle.cmp(&b.triangle));
    items.select_nth_unstable_by(middle, order);
    middle
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::{Bvh, solids};

    fn depth(tree: &Bvh, node: usize) -> u32 {
        match tree.nodes[node].kind(node) {
            Kind::Leaf { .. } => 1,
            Kind::Inner { left, right } => 1 + depth(tree, left).max(depth(tree, right)),
        }
    }

    #[test]
    fn every_triangle_is_in_one_leaf() {
        let tree = Bvh::new(&solids::torus(DVec3::ZERO, 1.0, 0.3, [50, 20]));
        let mut triangles = tree.triangles.clone();
        triangles.sort_unstable();
        assert!(triangles.into_iter().eq(0..2000));
        let leaves: u32 = tree.nodes.iter().map(|node| node.count).sum();
        assert_eq!(leaves, 2000);
        assert!(depth(&tree, 0) <= 16, "{}", depth(&tree, 0));
    }

    #[test]
    fn the_same_mesh_gives_the_same_tree() {
        let mesh = solids::icosphere(DVec3::ONE, 1.0, 4);
        let (one, two) = (Bvh::new(&mesh), Bvh::new(&mesh));
        assert_eq!(one.triangles, two.triangles);
        assert!(one.nodes.iter().zip(&two.nodes).all(|(a, b)| a.next == b.next && a.bounds == b.bounds));
    }

    #[test]
    fn triangles_that_lie_on_each_other_are_halved() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let mesh = TriangleMesh::new(corners.to_vec(), vec![[0, 1, 2]; 1000]).unwrap();
        assert!(depth(&Bvh::new(&mesh), 0) <= 10);
    }

    /// Each triangle half as far from the origin and half as large as the last: splits by area shave off one at a time.
    #[test]
    fn a_tree_over_a_geometric_series_is_not_too_deep() {
        let size = |t: i32| 2f64.powi(-t);
        let vertices =
            (0..1000).flat_map(|t| [DVec3::X, DVec3::X + DVec3::Y, DVec3::X + DVec3::Z].map(|v| v * size(t)));
        let triangles = (0..1000).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let mesh = TriangleMesh::new(vertices.collect(), triangles).unwrap();
        assert!(depth(&Bvh::new(&mesh), 0) <= DEEP + 32);
    }
}
