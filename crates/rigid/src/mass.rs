//! Mass, centre and inertia of the inside of a surface.

use glam::{DMat3, DVec3};
use meniscus_geometry::TriangleMesh;

/// How a body resists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass \[m\].
    pub center: DVec3,
    /// Inertia about the centre \[kg·m²\], along the axes of space.
    pub inertia: DMat3,
}

/// The mass properties of the inside of a closed surface of a density \[kg/m³\]: tetrahedra over its triangles, with
/// ∫ x xᵀ dV = V/20 (s sᵀ + Σ xₖ xₖᵀ), s = Σ xₖ, for one with a tip in the origin.
pub(crate) fn of_surface(surface: &TriangleMesh, density: f64) -> MassProperties {
    let origin = surface.bounds().center();
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for corners in surface.corners() {
        let [a, b, c] = corners.map(|corner| corner - origin);
        let v = a.dot(b.cross(c)) / 6.0;
        let s = a + b + c;
        volume += v;
        first += v * 0.25 * s;
        second += (outer(s) + outer(a) + outer(b) + outer(c)) * (v / 20.0);
    }
    let center = first / volume;
    let about_center = second - outer(center) * volume;
    let trace = about_center.x_axis.x + about_center.y_axis.y + about_center.z_axis.z;
    let inertia = (DMat3::from_diagonal(DVec3::splat(trace)) - about_center) * density;
    MassProperties { mass: density * volume, center: origin + center, inertia }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{Aabb, solids};

    #[test]
    fn a_box_has_the_inertia_of_the_textbooks() {
        let (min, size) = (DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.2, 0.4, 0.6));
        let found = of_surface(&solids::cuboid(&Aabb::new(min, min + size)), 500.0);
        let mass = 500.0 * size.element_product();
        assert!((found.mass - mass).abs() < 1e-12 && found.center.distance(min + 0.5 * size) < 1e-13);
        let square = size * size;
        let expected = mass / 12.0 * (DVec3::splat(square.element_sum()) - square);
        let error = found.inertia - DMat3::from_diagonal(expected);
        assert!([error.x_axis, error.y_axis, error.z_axis].iter().all(|c| c.length() < 1e-12), "{error}");
    }

    #[test]
    fn a_fine_sphere_has_two_fifths() {
        let found = of_surface(&solids::icosphere(DVec3::X, 0.5, 5), 1000.0);
        let expected = 0.4 * found.mass * 0.25;
        assert!((found.inertia.y_axis.y / expected - 1.0).abs() < 5e-3);
        assert!(found.center.distance(DVec3::X) < 1e-12);
    }
}
