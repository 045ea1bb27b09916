//! Where the surface cuts the edges of the lattice, and which nodes move onto it.

use glam::DVec3;
use rayon::prelude::*;

use super::lattice::{Lattice, STEPS, back, is_long, step_along};
use super::stencil::Side;
use super::{ALPHA_LONG, ALPHA_SHORT};

/// A cut is known to this part of the edge.
const EDGE_TOLERANCE: f64 = 1e-6;
/// Steps of the search for a cut, at most.
const MAX_STEPS: usize = 30;

/// How cuts are found.
pub(super) enum Cuts<'a, F> {
    /// From the values at the ends of an edge, as if they changed evenly between them. Good enough to count.
    Even,
    /// By asking this signed distance \[m\] between the ends.
    Exact(&'a F),
}

/// The lattice after nodes near the surface have moved onto it. What is left cut, is cut well away from its ends.
pub(super) struct Warped {
    pub(super) lattice: Lattice,
    sides: Vec<Side>,
    positions: Vec<DVec3>,
    /// For each inside node with cut edges, its index in `cuts`; of no meaning for the others.
    near: Vec<u32>,
    /// For each inside node with cut edges, how far along each of them the cut lies; not a number where there is none.
    cuts: Vec<[f64; 14]>,
}

impl Warped {
    /// `values` are signed distances at the nodes \[m\], inside is below `level` \[m\].
    pub(super) fn new<F>(lattice: Lattice, values: &[f64], level: f64, search: &Cuts<'_, F>) -> Self
    where
        F: Fn(DVec3) -> f64 + Sync,
    {
        let side = |value: &f64| match value - level {
            v if v < 0.0 => Side::Inside,
            0.0 => Side::Surface,
            _ => Side::Outside,
        };
        let sides: Vec<Side> = values.par_iter().map(side).collect();
        let positions = (0..values.len()).into_par_iter().map(|node| lattice.position(node)).collect();
        let is_cut = |&node: &usize| {
            sides[node] == Side::Inside && lattice.neighbours(node).any(|(_, other)| sides[other] == Side::Outside)
        };
        let cut_nodes: Vec<usize> = (0..values.len()).into_par_iter().filter(is_cut).collect();
        let of_node = |&node: &usize| {
            let mut cuts = [f64::NAN; 14];
            for (step, other) in lattice.neighbours(node).filter(|&(_, other)| sides[other] == Side::Outside) {
                let ends = [node, other].map(|n| (lattice.position(n), values[n] - level));
                cuts[step] = search.between(ends, level);
            }
            cuts
        };
        let cuts = cut_nodes.par_iter().map(of_node).collect();
        let mut near = vec![u32::MAX; values.len()];
        cut_nodes.iter().zip(0..).for_each(|(&node, index)| near[node] = index);
        let mut warped = Self { lattice, sides, positions, near, cuts };
        warped.move_nodes(&cut_nodes);
        warped
    }

    pub(super) fn side(&self, node: usize) -> Side {
        self.sides[node]
    }

    pub(super) fn position(&self, node: usize) -> DVec3 {
        self.positions[node]
    }

    /// Number of inside nodes with cut edges.
    pub(super) fn cut_count(&self) -> usize {
        self.cuts.len()
    }

    /// The index of an inside node among those with cut edges, and the step to a neighbour.
    pub(super) fn cut(&self, inside: usize, outside: usize) -> (usize, usize) {
        let (a, b) = (self.lattice.coordinates(inside), self.lattice.coordinates(outside));
        (self.near[inside] as usize, step_along([0, 1, 2].map(|axis| b[axis] - a[axis])))
    }

    /// Where the edge from an inside node to an outside neighbour is cut \[m\].
    pub(super) fn cut_position(&self, inside: usize, outside: usize) -> DVec3 {
        let (index, step) = self.cut(inside, outside);
        self.lattice.position(inside) + self.cuts[index][step] * self.way(step)
    }

    fn way(&self, step: usize) -> DVec3 {
        0.5 * self.lattice.spacing() * DVec3::from(STEPS[step].map(f64::from))
    }

    /// Moves each node that has a cut too near onto the nearest one. From then on it is on the surface, and its edges
    /// are no longer cut, so a node that comes later may be spared: the order of the numbers decides.
    fn move_nodes(&mut self, cut_nodes: &[usize]) {
        let mut candidates: Vec<usize> = cut_nodes.to_vec();
        for &node in cut_nodes {
            let outside = self.lattice.neighbours(node).filter(|&(_, other)| self.sides[other] == Side::Outside);
            candidates.extend(outside.map(|(_, other)| other));
        }
        candidates.sort_unstable();
        candidates.dedup();
        for node in candidates {
            if let Some((_, step, along)) = self.nearest_violation(node) {
                let way = along * self.way(step);
                self.positions[node] += way;
                self.sides[node] = Side::Surface;
            }
        }
    }

    /// The nearest of the cuts that are too near to a node: how far away \[m\], on which edge, and how far along.
    fn nearest_violation(&self, node: usize) -> Option<(f64, usize, f64)> {
        let mut nearest: Option<(f64, usize, f64)> = None;
        for (step, other) in self.lattice.neighbours(node) {
            let along = match (self.sides[node], self.sides[other]) {
                (Side::Inside, Side::Outside) => self.cut_along(node, step),
                (Side::Outside, Side::Inside) => 1.0 - self.cut_along(other, back(step)),
                _ => continue,
            };
            let distance = along * self.way(step).length();
            let violates = along < if is_long(step) { ALPHA_LONG } else { ALPHA_SHORT };
            if violates && nearest.is_none_or(|(so_far, ..)| distance < so_far) {
                nearest = Some((distance, step, along));
            }
        }
        nearest
    }

    fn cut_along(&self, inside: usize, step: usize) -> f64 {
        self.cuts[self.near[inside] as usize][step]
    }
}

impl<F: Fn(DVec3) -> f64> Cuts<'_, F> {
    /// How far from the inside end of an edge the surface lies. Ends are given with their values, less the level.
    fn between(&self, [(from, inside), (to, outside)]: [(DVec3, f64); 2], level: f64) -> f64 {
        let even = |[a, b]: [f64; 2]| if b.is_finite() && a.is_finite() { a / (a - b) } else { 0.5 };
        match self {
            Self::Even => even([inside, outside]),
            Self::Exact(signed_distance) => {
                let value = |t: f64| signed_distance(from.lerp(to, t)) - level;
                let tolerance = EDGE_TOLERANCE * from.distance(to);
                crossing(value, [inside, outside], tolerance)
            }
        }
    }
}

/// Where a function that is negative at 0 and positive at 1 becomes zero, to `tolerance` in its value: the rule of
/// false position, in which an end that stays twice counts half (the Illinois method).
fn crossing(value: impl Fn(f64) -> f64, at_ends: [f64; 2], tolerance: f64) -> f64 {
    let ([mut a, mut b], [mut fa, mut fb]) = ([0.0, 1.0], at_ends);
    let mut stayed = 0;
    for _ in 0..MAX_STEPS {
        let t = a + (b - a) * if fa.is_finite() && fb.is_finite() { fa / (fa - fb) } else { 0.5 };
        let f = value(t);
        if f.abs() <= tolerance || b - a <= EDGE_TOLERANCE || f.is_nan() {
            return t;
        }
        if f < 0.0 {
            (a, fa) = (t, f);
            fb *= if stayed > 0 { 0.5 } else { 1.0 };
            stayed = 1;
        } else {
            (b, fb) = (t, f);
            fa *= if stayed < 0 { 0.5 } else { 1.0 };
            stayed = -1;
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aabb;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn crossings_are_found(root in 0.001..0.999f64, power in prop::sample::select(vec![1, 3, 5]), gain in 0.1..10.0f64) {
            let f = |t: f64| gain * (t - root).powi(power) + 0.2 * (t - root);
            let t = crossing(f, [f(0.0), f(1.0)], 1e-9);
            prop_assert!((t - root).abs() < 1e-6, "{} {}", t, root);
        }
    }

    #[test]
    fn crossings_survive_steps_and_infinities() {
        let step = |t: f64| if t < 0.7 { -1.0 } else { 1.0 };
        assert!((crossing(step, [-1.0, 1.0], 1e-9) - 0.7).abs() < 1e-5);
        assert!((crossing(|t| t - 0.3, [f64::NEG_INFINITY, f64::INFINITY], 1e-9) - 0.3).abs() < 1e-6);
        assert!((0.0..=1.0).contains(&crossing(|_| f64::NAN, [-1.0, 1.0], 1e-9)));
    }

    #[test]
    fn after_warping_no_cut_is_near_a_node_and_moved_nodes_are_on_the_surface() {
        let bounds = Aabb::new(-DVec3::ONE, DVec3::ONE);
        let ball = |p: DVec3| p.length() - 0.83;
        let lattice = Lattice::around(&bounds, 0.17, DVec3::ZERO);
        let values = lattice.sample(&ball, 0.1);
        let warped = Warped::new(lattice, &values, 0.02, &Cuts::Exact(&ball));
        let mut moved = 0;
        for (node, &value) in values.iter().enumerate() {
            match warped.side(node) {
                Side::Surface => {
                    moved += 1;
                    assert!((ball(warped.position(node)) - 0.02).abs() < 1e-6);
                }
                side => {
                    assert_eq!(side == Side::Inside, value < 0.02);
                    assert_eq!(warped.position(node), lattice.position(node));
                }
            }
            assert!(warped.nearest_violation(node).is_none());
        }
        assert!(moved > 50);
    }
}
