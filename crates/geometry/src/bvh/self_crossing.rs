//! Whether a surface passes through itself.

use glam::DVec3;
use rayon::prelude::*;

use super::{Bvh, Kind};
use crate::Aabb;
use crate::mesh::rounded;
use crate::triangle::{self, Shear};

/// Crossings this near to a corner or an edge of a triangle, as a part of its size, count as touching.
const TOUCH_TOLERANCE: f64 = 1e-9;

/// How many triangles are asked what lies behind them, at most.
const PROBES: usize = 20_000;
/// How far behind its middle a triangle is asked, as a part of its longest edge.
const BEHIND: f64 = 1e-6;

/// A closed surface passes through itself, or lies inside itself.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelfCrossing {
    /// Two triangles cross.
    #[error(
        "the surface passes through itself: triangles {} and {} cross at {} m", triangles[0], triangles[1], rounded(*position)
    )]
    Triangles {
        /// Their numbers, from 0.
        triangles: [u32; 2],
        /// Where an edge of one of them passes through the other \[m\].
        position: DVec3,
    },
    /// A part of the surface lies inside another, or is turned inside out.
    #[error(
        "the surface lies inside itself: behind triangle {triangle} at {} m it goes round {:.1} times \
         instead of once",
        rounded(*position), without_sign_of_zero(*winding)
    )]
    Overlap {
        /// A triangle of that part, from 0.
        triangle: u32,
        /// Its middle \[m\].
        position: DVec3,
        /// The winding number behind it, dimensionless.
        winding: f64,
    },
}

/// To one digit; what is nearly nothing is nothing, not a little less.
fn without_sign_of_zero(winding: f64) -> f64 {
    (10.0 * winding).round() / 10.0 + 0.0
}

impl SelfCrossing {
    /// Where it is \[m\].
    #[must_use]
    pub fn position(&self) -> DVec3 {
        match *self {
            Self::Triangles { position, .. } | Self::Overlap { position, .. } => position,
        }
    }
}

impl Bvh {
    /// Where a closed outward surface passes through itself or lies inside itself, if it does. Triangles that only touch
    /// do not cross, and neighbours with a common edge never do.
    #[must_use]
    pub fn self_crossing(&self) -> Option<SelfCrossing> {
        let crossing = (0..self.corners.len()).into_par_iter().find_map_first(|i| {
            let mut found = None;
            self.crossing_after(0, i, &Aabb::around(self.corners[i]), &mut found);
            found
        });
        crossing.or_else(|| self.overlap())
    }

    /// A triangle that does not have the inside of the surface, and that once, behind it. Finds what exact symmetry
    /// hides from the search for crossings, and nested parts.
    fn overlap(&self) -> Option<SelfCrossing> {
        let step = self.corners.len().div_ceil(PROBES);
        (0..self.corners.len().div_ceil(step)).into_par_iter().find_map_first(|probe| {
            let [a, b, c] = self.corners[probe * step];
            let position = (a + b + c) / 3.0;
            let reach = BEHIND * a.distance(b).max(b.distance(c)).max(c.distance(a));
            let normal = triangle::area_vector([a, b, c]).normalize_or_zero();
            let winding = self.winding_number(position - reach * normal);
            let overlaps = (winding - 1.0).abs() > 0.3;
            overlaps.then(|| SelfCrossing::Overlap { triangle: self.triangles[probe * step], position, winding })
        })
    }

    /// Looks for a triangle behind `i`, in leaf order, that crosses it.
    fn crossing_after(&self, node: usize, i: usize, bounds: &Aabb, found: &mut Option<SelfCrossing>) {
        if found.is_some() || !self.nodes[node].bounds.intersects(bounds) {
            return;
        }
        match self.nodes[node].kind(node) {
            Kind::Inner { left, right } => {
                self.crossing_after(left, i, bounds, found);
                self.crossing_after(right, i, bounds, found);
            }
            Kind::Leaf { range } => {
                *found = range.filter(|&j| j > i).find_map(|j| {
                    let position = self.crossing(i, j)?;
                    let (a, b) = (self.triangles[i], self.triangles[j]);
                    Some(SelfCrossing::Triangles { triangles: [a.min(b), a.max(b)], position })
                });
            }
        }
    }

    /// Where an edge of one of two triangles passes through the other.
    fn crossing(&self, i: usize, j: usize) -> Option<DVec3> {
        let shared = |vertex: &u32, other: usize| self.indices[other].contains(vertex);
        let one_way = |i: usize, j: usize| {
            let corners = self.corners[i];
            // The edge from corner k + 1 to k + 2 lies opposite corner k.
            let free = (0..3).filter(|&k| [1, 2].iter().all(|s| !shared(&self.indices[i][(k + s) % 3], j)));
            free.map(|k| [corners[(k + 1) % 3], corners[(k + 2) % 3]]).find_map(|ends| self.passes_through(ends, j))
        };
        let common = self.indices[i].iter().filter(|vertex| shared(vertex, j)).count();
        if common > 1 || !Aabb::around(self.corners[i]).intersects(&Aabb::around(self.corners[j])) {
            return None;
        }
        one_way(i, j).or_else(|| one_way(j, i))
    }

    /// Where a segment passes through a triangle: through its inner part, or through one of its edges into what lies
    /// behind it and its neighbour there.
    fn passes_through(&self, ends: [DVec3; 2], j: usize) -> Option<DVec3> {
        let corners = self.corners[j];
        let sides = ends.map(|p| height(p, corners));
        if sides[0] * sides[1] >= 0.0 {
            return None;
        }
        let (t, lambda) = Shear::new(ends[0], ends[1] - ends[0])?.crossing(corners)?;
        if t <= TOUCH_TOLERANCE || t >= 1.0 - TOUCH_TOLERANCE {
            return None;
        }
        let position = triangle::at(corners, lambda);
        let mut on_edge = (0..3).filter(|&k| lambda[k] <= TOUCH_TOLERANCE);
        match (on_edge.next(), on_edge.next()) {
            (None, _) => Some(position),
            (Some(k), None) => {
                let neighbour = self.corners[self.across_edge(j, k, position)?];
                let tip = neighbour.map(|corner| height(corner, corners)).into_iter().fold(0.0, far_from_zero);
                let behind = |p: DVec3, side: f64| {
                    let other = height(p, neighbour) < 0.0;
                    if tip <= 0.0 { side < 0.0 && other } else { side < 0.0 || other }
                };
                (behind(ends[0], sides[0]) != behind(ends[1], sides[1])).then_some(position)
            }
            _ => None,
        }
    }

    /// The other triangle at the edge of triangle `j` opposite its corner `k`, at a point of that edge; in leaf order.
    fn across_edge(&self, j: usize, k: usize, position: DVec3) -> Option<usize> {
        let edge = [1, 2].map(|s| self.indices[j][(k + s) % 3]);
        let reach = BEHIND * self.corners[j][(k + 1) % 3].distance(self.corners[j][(k + 2) % 3]);
        let mut found = None;
        self.leaves_near(0, &Aabb { min: position, max: position }.grow(reach), &mut |i| {
            if i != j && edge.iter().all(|vertex| self.indices[i].contains(vertex)) {
                found = Some(i);
            }
        });
        found
    }

    /// Calls `f` with the triangles, in leaf order, of all leaves that touch a region.
    fn leaves_near(&self, node: usize, region: &Aabb, f: &mut impl FnMut(usize)) {
        if !self.nodes[node].bounds.intersects(region) {
            return;
        }
        match self.nodes[node].kind(node) {
            Kind::Leaf { range } => range.for_each(f),
            Kind::Inner { left, right } => {
                self.leaves_near(left, region, f);
                self.leaves_near(right, region, f);
            }
        }
    }
}

/// How far in front of the plane of a triangle a point lies, times the area of the triangle \\[m³\\].
fn height(p: DVec3, corners: [DVec3; 3]) -> f64 {
    triangle::area_vector(corners).dot(p - corners[0])
}

fn far_from_zero(a: f64, b: f64) -> f64 {
    if b.abs() > a.abs() { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bodies;
    use super::*;
    use crate::mesh::tests::joined;
    use crate::solids;
    use proptest::prelude::*;

    #[test]
    fn sound_bodies_do_not_pass_through_themselves() {
        for body in bodies() {
            assert_eq!(Bvh::new(&body).self_crossing(), None);
        }
    }

    #[test]
    fn bodies_that_touch_do_not_cross() {
        let one = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        let corners =
            [[1.0, 0.0, 0.0], [1.0, 0.25, 0.25], [1.0, 1.0, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 1.0], [3.0, 3.0, 3.0]];
        for corner in corners.map(DVec3::from) {
            let other = solids::cuboid(&Aabb::new(corner, corner + DVec3::ONE));
            assert_eq!(Bvh::new(&joined(&[one.clone(), other])).self_crossing(), None, "{corner}");
        }
    }

    #[test]
    fn a_vertex_pushed_through_the_other_side_is_found() {
        let mut ball = solids::icosphere(DVec3::ZERO, 1.0, 3);
        let top = ball.vertices_mut().iter_mut().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
        *top = DVec3::new(0.01, -1.5, 0.02);
        let crossing = Bvh::new(&ball).self_crossing().unwrap();
        assert!(crossing.position().y < -0.9 && crossing.to_string().contains("passes through itself"), "{crossing}");
    }

    #[test]
    fn nested_and_symmetric_overlaps_are_found() {
        let ball = |center, radius| solids::icosphere(center, radius, 2);
        let nested = joined(&[ball(DVec3::ZERO, 1.0), ball(DVec3::ZERO, 0.5)]);
        let found = Bvh::new(&nested).self_crossing().unwrap();
        assert!(matches!(found, SelfCrossing::Overlap { winding, .. } if (winding - 2.0).abs() < 1e-3), "{found}");
        let cube = |corner: DVec3| solids::cuboid(&Aabb::new(corner, corner + DVec3::ONE));
        for shift in [[0.5, 0.5, 0.5], [0.5, 0.5, 0.0], [0.25, 0.5, 0.75], [-0.5, 0.5, -0.5]] {
            let both = joined(&[cube(DVec3::ZERO), cube(DVec3::from(shift))]);
            assert!(Bvh::new(&both).self_crossing().is_some(), "{shift:?}");
        }
    }

    proptest! {
        #[test]
        fn bodies_that_overlap_cross(shift in prop::array::uniform3(-0.9..0.9f64)) {
            let shift = DVec3::from(shift);
            prop_assume!(shift.length() > 0.05);
            let ball = |center| solids::icosphere(center, 1.0, 2);
            let crossing = Bvh::new(&joined(&[ball(DVec3::ZERO), ball(shift)])).self_crossing();
            let position = crossing.unwrap().position();
            prop_assert!((position.length() - 1.0).abs() < 0.1 && (position.distance(shift) - 1.0).abs() < 0.1);
        }
    }
}
