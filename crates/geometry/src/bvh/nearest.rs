//! Closest points and signed distances.

use glam::DVec3;

use super::{Bvh, Kind};
use crate::triangle;

/// The point of a mesh that is nearest to a given one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// The nearest point \[m\].
    pub point: DVec3,
    /// Square of its distance \[m²\].
    pub distance_squared: f64,
    /// Number of the triangle that it lies on; on a common edge the one with the lower number.
    pub triangle: u32,
    /// Its barycentric coordinates: one per corner, dimensionless, with sum 1.
    pub barycentric: DVec3,
}

impl Closest {
    /// Its distance \[m\].
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.distance_squared.sqrt()
    }
}

impl Bvh {
    /// The nearest point of the mesh. Of a point that is not a number every distance is not a number.
    #[must_use]
    pub fn closest_point(&self, p: DVec3) -> Closest {
        let mut best = self.on_triangle(p, 0);
        self.nearest(0, p, &|_| true, &mut best);
        best
    }

    /// The nearest point of the mesh, if it is no farther than `reach` \[m\].
    #[must_use]
    pub fn closest_within(&self, p: DVec3, reach: f64) -> Option<Closest> {
        self.closest_of(p, reach, |_| true)
    }

    /// The nearest point of the triangles whose numbers are wanted, if it is no farther than `reach` \[m\].
    #[must_use]
    pub fn closest_of(&self, p: DVec3, reach: f64, wanted: impl Fn(u32) -> bool) -> Option<Closest> {
        if reach < 0.0 {
            return None;
        }
        let nothing =
            Closest { point: DVec3::NAN, distance_squared: reach * reach, triangle: u32::MAX, barycentric: DVec3::NAN };
        let mut best = nothing;
        self.nearest(0, p, &wanted, &mut best);
        (best.triangle != nothing.triangle).then_some(best)
    }

    /// Distance to the surface \[m\], negative inside. The sign comes from the [winding number](Self::inside).
    #[must_use]
    pub fn signed_distance(&self, p: DVec3) -> f64 {
        let distance = self.closest_point(p).distance();
        if self.inside(p) { -distance } else { distance }
    }

    fn on_triangle(&self, p: DVec3, i: usize) -> Closest {
        let (point, barycentric) = triangle::closest_point(p, self.corners[i]);
        Closest { point, distance_squared: p.distance_squared(point), triangle: self.triangles[i], barycentric }
    }

    /// Improves `best` with what lies under a node. Boxes exactly as far as the best are searched too, so that the
    /// lower of two numbers wins whatever the tree looks like.
    fn nearest(&self, node: usize, p: DVec3, wanted: &impl Fn(u32) -> bool, best: &mut Closest) {
        match self.nodes[node].kind(node) {
            Kind::Leaf { range } => {
                for i in range.filter(|&i| wanted(self.triangles[i])) {
                    let found = self.on_triangle(p, i);
                    let key = |c: &Closest| (c.distance_squared, c.triangle);
                    if key(&found) < key(best) {
                        *best = found;
                    }
                }
            }
            Kind::Inner { left, right } => {
                let distance = |child: usize| self.nodes[child].bounds.distance_squared(p);
                let (l, r) = (distance(left), distance(right));
                let order = if l <= r { [(l, left), (r, right)] } else { [(r, right), (l, left)] };
                for (distance_squared, child) in order {
                    if distance_squared <= best.distance_squared {
                        self.nearest(child, p, wanted, best);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::super::tests::{bodies, point, soup};
    use super::*;
    use crate::{TriangleMesh, solids};
    use proptest::prelude::*;

    fn brute_force(mesh: &TriangleMesh, p: DVec3) -> f64 {
        mesh.corners().map(|c| triangle::closest_point(p, c).0.distance_squared(p)).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_nearest_of_a_soup_is_the_nearest_of_all(mesh in soup(), p in point(2.0)) {
            let found = Bvh::new(&mesh).closest_point(p);
            prop_assert!((found.distance_squared - brute_force(&mesh, p)).abs() <= 1e-15);
            let corners = mesh.corners().nth(found.triangle as usize).unwrap();
            prop_assert!(triangle::at(corners, found.barycentric).distance(found.point) < 1e-14);
            prop_assert_eq!(found.distance_squared, found.point.distance_squared(p));
        }

        #[test]
        fn reach_decides_what_is_within_it(mesh in soup(), p in point(2.0), reach in 0.0..2.0f64) {
            let tree = Bvh::new(&mesh);
            let nearest = tree.closest_point(p);
            prop_assume!((nearest.distance() - reach).abs() > 1e-12);
            prop_assert_eq!(tree.closest_within(p, reach), (nearest.distance() < reach).then_some(nearest));
        }

        #[test]
        fn triangles_that_are_not_wanted_are_passed_over(mesh in soup(), p in point(2.0)) {
            let wanted = |t: u32| t % 3 == 1;
            let chosen = mesh.corners().zip(0u32..).filter(|(_, t)| wanted(*t));
            let distances = chosen.map(|(c, _)| triangle::closest_point(p, c).0.distance_squared(p));
            let expected = distances.reduce(f64::min);
            let found = Bvh::new(&mesh).closest_of(p, 10.0, wanted);
            prop_assert_eq!(found.map(|c| c.distance_squared), expected);
            prop_assert!(found.is_none_or(|c| wanted(c.triangle)));
        }

        #[test]
        fn distances_to_a_fine_sphere_are_those_to_a_sphere(p in point(2.0)) {
            static SPHERE: LazyLock<Bvh> = LazyLock::new(|| Bvh::new(&solids::icosphere(DVec3::ZERO, 1.0, 5)));
            prop_assert!((SPHERE.signed_distance(p) - (p.length() - 1.0)).abs() < 1e-3);
        }

        #[test]
        fn of_triangles_that_share_the_nearest_point_the_lowest_is_named(corner in 0usize..8) {
            let mesh = &bodies()[0];
            let p = mesh.vertices()[corner] + (mesh.vertices()[corner] - mesh.bounds().center());
            let sharing = mesh.triangles().iter().position(|t| t.contains(&(corner as u32)));
            prop_assert_eq!(Some(Bvh::new(mesh).closest_point(p).triangle as usize), sharing);
        }
    }
}
