//! A tree of boxes, four children to a node, four primitives to a leaf \[DHK08\], split where it costs rays least \[Wal07\].

use glam::{Vec3, Vec4};

/// Candidate planes along an axis.
const BINS: usize = 16;
/// Primitives in a leaf.
pub(crate) const WIDE: usize = 4;
/// No child, no primitive.
const NONE: u32 = u32::MAX;
/// Marks a child that is a leaf.
const LEAF: u32 = 1 << 31;
/// Below this depth groups are cut in the middle, so that no tree is much deeper.
const DEEPEST: usize = 40;
/// Nodes that wait to be visited: a node leaves at most three, and cuts in the middle add at most 16 levels.
const WAITING: usize = 3 * (DEEPEST + 16) + 4;

/// A ray, and the moment at which it flies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ray {
    /// \[m\]
    pub(crate) origin: Vec3,
    /// Unit vector.
    pub(crate) direction: Vec3,
    /// Time after the middle of the exposure \[s\].
    pub(crate) time: f32,
}

impl Ray {
    /// The point after `distance` \[m\].
    pub(crate) fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// A box \[m\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) low: Vec3,
    pub(crate) high: Vec3,
}

impl Span {
    const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// The box of points.
    pub(crate) fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |s, p| Self { low: s.low.min(p), high: s.high.max(p) })
    }

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn center(self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    /// Half of its surface \[m²\].
    fn area(self) -> f32 {
        let size = self.high - self.low;
        if size.x < 0.0 { 0.0 } else { size.x * size.y + size.y * size.z + size.z * size.x }
    }
}

/// Four children and their boxes.
#[derive(Debug, Clone, Copy)]
struct Node {
    low: [Vec4; 3],
    high: [Vec4; 3],
    children: [u32; WIDE],
}

/// A tree over boxes that someone else knows the contents of.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Primitives of the leaves, [`WIDE`] each; [`NONE`] where there are fewer.
    pub(crate) leaves: Vec<[u32; WIDE]>,
}

impl Tree {
    /// A tree over boxes.
    pub(crate) fn new(boxes: &[Span]) -> Self {
        let mut tree = Self::default();
        let mut items: Vec<u32> = (0..boxes.len() as u32).collect();
        if !items.is_empty() {
            tree.add(&mut items, boxes, 0);
        }
        tree
    }

    /// Adds the node of some boxes and everything below it, and returns its number.
    fn add(&mut self, items: &mut [u32], boxes: &[Span], depth: usize) -> u32 {
        let number = self.nodes.len();
        self.nodes.push(Node { low: [Vec4::INFINITY; 3], high: [Vec4::NEG_INFINITY; 3], children: [NONE; WIDE] });
        let groups = quarters(items, boxes, depth > DEEPEST);
        for (k, group) in groups.into_iter().enumerate() {
            let span = around(group, boxes);
            let child = if group.len() <= WIDE {
                let mut leaf = [NONE; WIDE];
                leaf[..group.len()].copy_from_slice(group);
                self.leaves.push(leaf);
                LEAF | (self.leaves.len() - 1) as u32
            } else {
                self.add(group, boxes, depth + 1)
            };
            let node = &mut self.nodes[number];
            node.children[k] = child;
            for axis in 0..3 {
                node.low[axis][k] = span.low[axis];
                node.high[axis][k] = span.high[axis];
            }
        }
        number as u32
    }

    /// Calls `leaf` with every leaf that a ray comes by before `far` \[m\], near ones first; `leaf` may shorten `far`.
    pub(crate) fn visit(&self, ray: &Ray, far: &mut f32, mut leaf: impl FnMut(usize, &mut f32)) {
        if self.nodes.is_empty() {
            return;
        }
        let inverse = ray.direction.map(|d| 1.0 / if d.abs() < 1e-12 { 1e-12f32.copysign(d) } else { d });
        let origin = ray.origin.to_array().map(Vec4::splat);
        let scale = inverse.to_array().map(Vec4::splat);
        let mut waiting = [(0u32, 0.0f32); WAITING];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (number, near) = waiting[count];
            if near > *far {
                continue;
            }
            if number & LEAF != 0 {
                leaf((number & !LEAF) as usize, far);
                continue;
            }
            let node = &self.nodes[number as usize];
            let (near, beyond) = node.slabs(origin, scale);
            let hit = near.cmple(beyond.min(Vec4::splat(*far))).bitmask();
            let first = count;
            for k in (0..WIDE).filter(|k| hit >> k & 1 == 1 && node.children[*k] != NONE) {
                // Far ones below near ones.
                let mut index = count;
                while index > first && waiting[index - 1].1 < near[k] {
                    waiting[index] = waiting[index - 1];
                    index -= 1;
                }
                waiting[index] = (node.children[k], near[k]);
                count += 1;
            }
        }
    }
}

impl Node {
    /// Where a ray enters and leaves the four boxes \[m\].
    fn slabs(&self, origin: [Vec4; 3], scale: [Vec4; 3]) -> (Vec4, Vec4) {
        let (mut near, mut far) = (Vec4::ZERO, Vec4::INFINITY);
        for axis in 0..3 {
            let a = (self.low[axis] - origin[axis]) * scale[axis];
            let b = (self.high[axis] - origin[axis]) * scale[axis];
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        // A hair wider, so that rounding loses no flat box.
        (near, far * 1.000_001)
    }
}

fn around(items: &[u32], boxes: &[Span]) -> Span {
    items.iter().fold(Span::EMPTY, |s, &i| s.with(boxes[i as usize]))
}

/// Cuts items into up to four groups, the costliest first.
fn quarters<'a>(items: &'a mut [u32], boxes: &[Span], plainly: bool) -> Vec<&'a mut [u32]> {
    let cost = |group: &[u32]| {
        if group.len() <= WIDE { -1.0 } else { around(group, boxes).area() * group.len() as f32 }
    };
    let mut groups = vec![items];
    while groups.len() < WIDE {
        let costs: Vec<f32> = groups.iter().map(|g| cost(g)).collect();
        let (worst, &most) =
            costs.iter().enumerate().fold((0, &-1.0), |best, next| if next.1 > best.1 { next } else { best });
        if most < 0.0 {
            break;
        }
        let group = groups.swap_remove(worst);
        let (a, b) = if plainly { group.split_at_mut(group.len() / 2) } else { halves(group, boxes) };
        groups.extend([a, b]);
    }
    groups
}

/// Cuts items in two where the surface area heuristic is least.
fn halves<'a>(items: &'a mut [u32], boxes: &[Span]) -> (&'a mut [u32], &'a mut [u32]) {
    let centers = Span::of(items.iter().map(|&i| boxes[i as usize].center()));
    let size = centers.high - centers.low;
    let bin = |axis: usize, i: u32| {
        let part = (boxes[i as usize].center()[axis] - centers.low[axis]) / size[axis];
        ((part * BINS as f32) as usize).min(BINS - 1)
    };
    let mut best = (f32::INFINITY, 0, 0);
    for axis in (0..3).filter(|&axis| size[axis] > 0.0) {
        let mut bins = [(Span::EMPTY, 0usize); BINS];
        for &i in &*items {
            let slot = &mut bins[bin(axis, i)];
            *slot = (slot.0.with(boxes[i as usize]), slot.1 + 1);
        }
        for cut in 1..BINS {
            let side = |bins: &[(Span, usize)]| {
                let (span, count) = bins.iter().fold((Span::EMPTY, 0), |(s, n), b| (s.with(b.0), n + b.1));
                span.area() * count as f32
            };
            let empty = |bins: &[(Span, usize)]| bins.iter().all(|b| b.1 == 0);
            let cost = side(&bins[..cut]) + side(&bins[cut..]);
            if cost < best.0 && !empty(&bins[..cut]) && !empty(&bins[cut..]) {
                best = (cost, axis, cut);
            }
        }
    }
    let middle = if best.0.is_finite() {
        // Stable within each side: the tree depends on nothing but the boxes and their order.
        items.sort_by_key(|&i| bin(best.1, i) >= best.2);
        items.partition_point(|&i| bin(best.1, i) < best.2)
    } else {
        items.len() / 2
    };
    items.split_at_mut(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::random::Random;

    #[test]
    fn no_box_on_the_way_is_missed() {
        let mut random = Random::new(7, 1);
        let mut point = |scale: f32| Vec3::from([(); 3].map(|()| scale * random.next()));
        let boxes: Vec<Span> = (0..500)
            .map(|_| {
                let low = point(10.0);
                Span { low, high: low + point(2.0) }
            })
            .collect();
        let tree = Tree::new(&boxes);
        let mut leaves: Vec<u32> = tree.leaves.iter().flatten().copied().filter(|&i| i != NONE).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, (0..500).collect::<Vec<u32>>());
        let mut met = 0;
        for _ in 0..300 {
            let (origin, to) = (point(14.0) - 2.0, point(10.0));
            let ray = Ray { origin, direction: (to - origin).normalize(), time: 0.0 };
            let mut seen = Vec::new();
            let mut far = 20.0;
            tree.visit(&ray, &mut far, |leaf, _| seen.extend(tree.leaves[leaf].iter().filter(|&&i| i != NONE)));
            for (i, span) in boxes.iter().enumerate() {
                let (a, b) = ((span.low - origin) / ray.direction, (span.high - origin) / ray.direction);
                let (near, far) = (a.min(b).max_element().max(0.0), a.max(b).min_element());
                if near < far {
                    met += 1;
                    assert!(seen.contains(&&(i as u32)), "box {i}");
                }
            }
        }
        assert!(met > 300, "only {met} boxes were met");
    }

    #[test]
    fn boxes_in_one_place_end_in_leaves() {
        let tree = Tree::new(&[Span { low: Vec3::ZERO, high: Vec3::ONE }; 100]);
        assert!(tree.leaves.len() >= 25);
        Tree::new(&[]).visit(&Ray { origin: Vec3::ZERO, direction: Vec3::X, time: 0.0 }, &mut 1.0, |_, _| {
            panic!("there is nothing")
        });
    }
}
