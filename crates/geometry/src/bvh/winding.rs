//! Winding numbers: how often a surface goes round a point.
//!
//! w(x) = (1/4π) Σ Ω(x), the solid angles of all triangles \[JKS13\]: 1 inside a closed outward surface, 0 outside,
//! something between near holes. With g(r) = r/r³ the sum is ∫ g(y − x)·n dA; a node that is far away compared to its
//! size is replaced by the first three terms of its expansion about its centre of area c \[BDSLJ18\], r = c − x:
//!
//! 4π w ≈ r·N/r³ + ( tr M/r³ − 3 r·M r/r⁵ ) + ½ ( 15 S(r,r,r)/r⁷ − 9 r·τ/r⁵ )
//!
//! N = ∫ n dA,   M = sym ∫ (y−c) nᵀ dA,   S = sym ∫ (y−c)(y−c) n dA,   τ = the trace of S over two of its indices.
//! The derivatives of g are symmetric in all indices, so only the symmetric parts count.

use std::f64::consts::PI;

use glam::DVec3;

use super::tensor::{Symmetric2, Symmetric3};
use super::{Bvh, Kind};
use crate::Aabb;
use crate::triangle::{self, AngleSum};

/// A node is far when its centre is this many times farther away than the farthest of its points from the centre.
const BETA: f64 = 3.5;

/// The same where only w > ½ matters: errors of 1e-2 do no harm.
const BETA_OF_INSIDE: f64 = 2.0;

/// What a node looks like from afar.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FarField {
    /// Centre of area c \[m\].
    center: DVec3,
    /// Area \[m²\].
    area: f64,
    /// No point of the node is farther than the root of this from the centre \[m²\].
    radius_squared: f64,
    /// N \[m²\].
    dipole: DVec3,
    /// M \[m³\].
    quadrupole: Symmetric2,
    /// S \[m⁴\].
    octupole: Symmetric3,
}

impl FarField {
    pub(super) fn of_triangle(corners: [DVec3; 3]) -> Self {
        let dipole = triangle::area_vector(corners);
        let center = corners.iter().sum::<DVec3>() / 3.0;
        let arms = corners.map(|corner| corner - center);
        // The mean of y yᵀ over a triangle about its centroid is a twelfth of the sum over its corners.
        let squares = arms.map(|arm| Symmetric2::product(arm, arm));
        Self {
            center,
            area: dipole.length(),
            radius_squared: arms.iter().map(|arm| arm.length_squared()).fold(0.0, f64::max),
            dipole,
            quadrupole: Symmetric2::default(),
            octupole: Symmetric3::product(dipole / 12.0, &(squares[0] + squares[1] + squares[2])),
        }
    }

    /// The far field of all parts of a node with these bounds.
    pub(super) fn joined(parts: impl Iterator<Item = Self> + Clone, bounds: &Aabb) -> Self {
        let area: f64 = parts.clone().map(|part| part.area).sum();
        let moment: DVec3 = parts.clone().map(|part| part.area * part.center).sum();
        let center = if area > 0.0 { moment / area } else { bounds.center() };
        let mut whole = Self { center, area, ..Self::default() };
        for part in parts.map(|part| part.about(center)) {
            whole.radius_squared = whole.radius_squared.max(part.radius_squared);
            whole.dipole += part.dipole;
            whole.quadrupole = whole.quadrupole + part.quadrupole;
            whole.octupole = whole.octupole + part.octupole;
        }
        whole.radius_squared = whole.radius_squared.min(bounds.farthest_squared(center));
        whole
    }

    /// The same field, expanded about another centre.
    fn about(&self, center: DVec3) -> Self {
        let s = self.center - center;
        let arm = self.radius_squared.sqrt() + s.length();
        let moved = Symmetric2::product(s, self.dipole);
        Self {
            center,
            radius_squared: arm * arm,
            quadrupole: self.quadrupole + moved,
            octupole: self.octupole + Symmetric3::product(s, &(self.quadrupole + self.quadrupole + moved)),
            ..*self
        }
    }

    /// 4π w, or nothing when `x` is too near.
    fn seen_from(&self, x: DVec3, beta_squared: f64) -> Option<f64> {
        let r = self.center - x;
        let r2 = r.length_squared();
        if r2 <= beta_squared * self.radius_squared {
            return None;
        }
        let inverse = 1.0 / r2;
        let first = r.dot(self.dipole) + self.quadrupole.trace() - 3.0 * inverse * self.quadrupole.square(r);
        let second = 7.5 * inverse * self.octupole.cube(r) - 4.5 * r.dot(self.octupole.trace());
        Some((first + inverse * second) * inverse * inverse.sqrt())
    }
}

impl Bvh {
    /// How often the mesh goes round `x`, dimensionless: within 1e-3 of the
    /// [exact value](Self::winding_number_exact), and much faster.
    #[must_use]
    pub fn winding_number(&self, x: DVec3) -> f64 {
        self.winding(x, BETA)
    }

    /// How often the mesh goes round `x`, dimensionless: the sum over all triangles, one by one.
    #[must_use]
    pub fn winding_number_exact(&self, x: DVec3) -> f64 {
        self.winding(x, f64::INFINITY)
    }

    /// Whether the mesh goes round `x` more than half a time. Points outside the box around the mesh are outside.
    #[must_use]
    pub fn inside(&self, x: DVec3) -> bool {
        self.bounds().contains(x) && self.winding(x, BETA_OF_INSIDE) > 0.5
    }

    fn winding(&self, x: DVec3, beta: f64) -> f64 {
        let fields = self.far.get_or_init(|| self.far_fields());
        let mut sum = Sum { fields, x, beta_squared: beta * beta, far: 0.0, near: AngleSum::default() };
        self.add_winding(0, &mut sum);
        (sum.far + 2.0 * sum.near.total()) / (4.0 * PI)
    }

    fn add_winding(&self, node: usize, sum: &mut Sum<'_>) {
        if let Some(far) = sum.fields[node].seen_from(sum.x, sum.beta_squared) {
            sum.far += far;
            return;
        }
        match self.nodes[node].kind(node) {
            Kind::Inner { left, right } => {
                self.add_winding(left, sum);
                self.add_winding(right, sum);
            }
            Kind::Leaf { range } => {
                self.corners[range].iter().for_each(|&c| sum.near.add(triangle::half_solid_angle(sum.x, c)));
            }
        }
    }
}

/// A winding number under way.
struct Sum<'a> {
    fields: &'a [FarField],
    x: DVec3,
    beta_squared: f64,
    /// 4π w of the far nodes.
    far: f64,
    /// 2π w of the near triangles.
    near: AngleSum,
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::super::tests::{bodies, point, soup};
    use super::*;
    use crate::{TriangleMesh, solids};
    use proptest::prelude::*;

    static TREES: LazyLock<Vec<Bvh>> = LazyLock::new(|| bodies().iter().map(Bvh::new).collect());

    /// The sum over all triangles in the order of the mesh, each with its own arcus tangent.
    fn brute_force(mesh: &TriangleMesh, x: DVec3) -> f64 {
        let angles = mesh.corners().map(|c| triangle::half_solid_angle(x, c));
        angles.map(|z| z.y.atan2(z.x)).sum::<f64>() / (2.0 * PI)
    }

    proptest! {
        #[test]
        fn without_the_far_field_it_is_the_sum_of_all(mesh in soup(), x in point(2.0)) {
            prop_assert!((Bvh::new(&mesh).winding_number_exact(x) - brute_force(&mesh, x)).abs() < 1e-12);
        }

        #[test]
        fn the_far_field_is_good_to_a_thousandth(x in point(1.2)) {
            for tree in TREES.iter() {
                prop_assert!((tree.winding_number(x) - tree.winding_number_exact(x)).abs() < 1e-3);
                prop_assert_eq!(tree.inside(x), tree.bounds().contains(x) && tree.winding_number_exact(x) > 0.5);
            }
        }

        #[test]
        fn next_to_the_surface_the_side_is_right(a in 0usize..10_000, s in 0.05..0.9f64, exponent in -12..-1i32) {
            for mesh in &bodies() {
                let corners = mesh.corners().nth(a % mesh.triangles().len()).unwrap();
                let on = triangle::at(corners, DVec3::new(s, 0.5 * (1.0 - s), 0.5 * (1.0 - s)));
                let step = 0.1 * 10f64.powi(exponent) * triangle::area_vector(corners).normalize();
                let tree = Bvh::new(mesh);
                prop_assert!(tree.inside(on - step) && !tree.inside(on + step));
            }
        }
    }

    fn part(mesh: &TriangleMesh, wanted: impl Fn(DVec3) -> bool) -> TriangleMesh {
        let pairs = mesh.triangles().iter().zip(mesh.corners());
        let kept = pairs.filter(|(_, c)| wanted(c.iter().sum())).map(|(t, _)| *t).collect();
        TriangleMesh::new(mesh.vertices().to_vec(), kept).unwrap()
    }

    #[test]
    fn the_expansion_is_of_fifth_order() {
        let tree = Bvh::new(&part(&bodies()[4], |sum| sum.x + 0.3 * sum.y > 0.1));
        let error = |distance: f64| {
            let x = distance * DVec3::new(0.6, -0.4, 0.7).normalize();
            (4.0 * PI * tree.winding_number_exact(x) - tree.far_fields()[0].seen_from(x, 0.0).unwrap()).abs()
        };
        let order = (error(10.0) / error(20.0)).log2();
        assert!((order - 5.0).abs() < 0.3, "{order}");
    }

    #[test]
    fn two_shells_wind_twice_and_a_half_sphere_half_a_time() {
        let shell = solids::icosphere(DVec3::ZERO, 1.0, 3);
        let twice =
            TriangleMesh::new(shell.vertices().to_vec(), [shell.triangles(), shell.triangles()].concat()).unwrap();
        assert!((Bvh::new(&twice).winding_number_exact(DVec3::ZERO) - 2.0).abs() < 1e-12);
        let half = part(&solids::uv_sphere(DVec3::ZERO, 1.0, 30, 20), |sum| sum.y > 0.0);
        assert!((Bvh::new(&half).winding_number(DVec3::ZERO) - 0.5).abs() < 1e-3);
    }
}
