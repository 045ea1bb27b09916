//! Where a segment first meets the mesh.

use glam::DVec3;

use super::{Bvh, Kind};
use crate::Aabb;
use crate::triangle::Shear;

/// Where a segment first meets a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// How far along the segment, dimensionless: 0 at its start, 1 at its end.
    pub t: f64,
    /// Number of the triangle; on a common edge the one with the lower number.
    pub triangle: u32,
    /// Barycentric coordinates of the hit: one per corner, dimensionless, with sum 1.
    pub barycentric: DVec3,
}

/// A segment, prepared to be tested against many boxes and triangles.
struct Segment {
    start: DVec3,
    /// One over the direction; infinite along axes that it does not move on.
    inverse: DVec3,
    /// Boxes are grown by this much \[m\], more than rounding can move a triangle in sheared coordinates.
    margin: f64,
    shear: Shear,
}

impl Segment {
    fn new(start: DVec3, end: DVec3, bounds: &Aabb) -> Option<Self> {
        let direction = end - start;
        let margin = 32.0 * f64::EPSILON * bounds.farthest_squared(start).sqrt();
        let shear = Shear::new(start, direction)?;
        Some(Self { start, inverse: direction.recip(), margin, shear })
    }

    /// Where it enters a box, if it does so before `latest`.
    fn enters(&self, bounds: &Aabb, latest: f64) -> Option<f64> {
        let bounds = bounds.grow(self.margin);
        let (mut enter, mut leave) = (0.0f64, latest);
        for axis in 0..3 {
            let (low, high) = (bounds.min[axis] - self.start[axis], bounds.max[axis] - self.start[axis]);
            if !self.inverse[axis].is_finite() {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (a, b) = (low * self.inverse[axis], high * self.inverse[axis]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        (enter <= leave).then_some(enter)
    }
}

impl Bvh {
    /// The first point of the segment from `start` to `end` \[m\] that lies on the mesh; both ends and both sides of
    /// the triangles count. A segment through a common edge or corner does not slip between the triangles, as long as
    /// they share its coordinates exactly. Nothing when the segment has no length.
    #[must_use]
    pub fn segment_hits(&self, start: DVec3, end: DVec3) -> Option<Hit> {
        let segment = Segment::new(start, end, &self.bounds())?;
        let nothing = Hit { t: 1.0, triangle: u32::MAX, barycentric: DVec3::NAN };
        let mut first = nothing;
        self.first_hit(0, &segment, &mut first);
        (first.triangle != nothing.triangle).then_some(first)
    }

    fn first_hit(&self, node: usize, segment: &Segment, first: &mut Hit) {
        match self.nodes[node].kind(node) {
            Kind::Leaf { range } => {
                for i in range {
                    let Some((t, barycentric)) = segment.shear.crossing(self.corners[i]) else { continue };
                    let triangle = self.triangles[i];
                    if t >= 0.0 && (t, triangle) < (first.t, first.triangle) {
                        *first = Hit { t, triangle, barycentric };
                    }
                }
            }
            Kind::Inner { left, right } => {
                let enters = |child: usize| segment.enters(&self.nodes[child].bounds, first.t).map(|t| (t, child));
                let (l, r) = (enters(left), enters(right));
                let order = if r < l && r.is_some() { [r, l] } else { [l, r] };
                for (t, child) in order.into_iter().flatten() {
                    if t <= first.t {
                        self.first_hit(child, segment, first);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bodies, point, soup};
    use super::*;
    use crate::{TriangleMesh, triangle};
    use proptest::prelude::*;

    fn brute_force(mesh: &TriangleMesh, start: DVec3, end: DVec3) -> Option<f64> {
        let shear = Shear::new(start, end - start)?;
        let hits = mesh.corners().filter_map(|c| shear.crossing(c)).map(|hit| hit.0);
        hits.filter(|t| (0.0..=1.0).contains(t)).min_by(f64::total_cmp)
    }

    proptest! {
        #[test]
        fn the_first_hit_is_the_first_of_all(mesh in soup(), start in point(1.5), end in point(1.5)) {
            let hit = Bvh::new(&mesh).segment_hits(start, end);
            prop_assert_eq!(hit.map(|h| h.t), brute_force(&mesh, start, end));
            if let Some(hit) = hit {
                let corners = mesh.corners().nth(hit.triangle as usize).unwrap();
                prop_assert!(triangle::at(corners, hit.barycentric).distance(start.lerp(end, hit.t)) < 1e-12);
            }
        }

        #[test]
        fn segments_along_axes_are_no_exception(
            mesh in soup(), start in point(1.0), axis in 0usize..3, length in -3.0..3.0f64,
        ) {
            let end = start + length * DVec3::AXES[axis];
            prop_assert_eq!(Bvh::new(&mesh).segment_hits(start, end).map(|h| h.t), brute_force(&mesh, start, end));
        }

        /// Aimed at vertices and along edges from inside: the places where nothing may slip through.
        #[test]
        fn no_segment_leaves_a_closed_mesh_unseen(
            a in 0usize..10_000, b in 0usize..3,
            along in prop::sample::select(vec![0.0, 0.25, 0.5, 1.0 / 3.0, 1.0]), start in point(0.05),
        ) {
            for mesh in &bodies()[..4] {
                let start = start + mesh.bounds().center();
                let corners = mesh.corners().nth(a % mesh.triangles().len()).unwrap();
                let target = corners[b].lerp(corners[(b + 1) % 3], along);
                let end = start + 3.0 * (target - start);
                let hit = Bvh::new(mesh).segment_hits(start, end);
                prop_assert!(hit.is_some_and(|h| (h.t - 1.0 / 3.0).abs() < 1e-9), "{hit:?}");
            }
        }
    }

    #[test]
    fn ends_on_the_surface_count() {
        let mesh = &bodies()[0];
        let tree = Bvh::new(mesh);
        let top = mesh.bounds().max.y;
        let on = DVec3::new(0.0, top, 0.0);
        assert_eq!(tree.segment_hits(on, on + DVec3::Y).map(|h| h.t), Some(0.0));
        assert_eq!(tree.segment_hits(on + DVec3::Y, on).map(|h| h.t), Some(1.0));
        assert_eq!(tree.segment_hits(on + 1e-9 * DVec3::Y, on + DVec3::Y), None);
    }
}
