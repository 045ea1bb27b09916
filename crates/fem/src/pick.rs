//! Points of the surface as a person picks them.

use crate::body::Body;
use crate::params::Order;
use crate::supports::SurfacePoint;
use glam::DVec3;
use meniscus_geometry::{Bvh, TriangleMesh};

/// A point of the surface that was picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// The point.
    pub point: SurfacePoint,
    /// Where it is now \[m\].
    pub position: DVec3,
    /// Its distance from the position, or from the origin of the ray, that picked it \[m\].
    pub distance: f64,
}

impl Body {
    /// The point of the surface, as it is now, nearest to a position \[m\].
    #[must_use]
    pub fn nearest_point(&self, position: DVec3) -> Option<Picked> {
        let mesh = self.surface_now()?;
        let closest = Bvh::new(&mesh).closest_point(position);
        let triangle = mesh.triangles()[closest.triangle as usize];
        self.picked(triangle, closest.barycentric, closest.point, closest.distance())
    }

    /// The first point of the surface, as it is now, on the ray from an origin \[m\] along a direction of any length.
    #[must_use]
    pub fn first_hit(&self, origin: DVec3, direction: DVec3) -> Option<Picked> {
        let mesh = self.surface_now()?;
        let bounds = mesh.bounds();
        let reach = bounds.center().distance(origin) + bounds.size().length();
        let end = origin + direction.try_normalize()? * reach;
        let hit = Bvh::new(&mesh).segment_hits(origin, end)?;
        let position = origin.lerp(end, hit.t);
        self.picked(mesh.triangles()[hit.triangle as usize], hit.barycentric, position, hit.t * reach)
    }

    /// The surface as it is now; triangles without area cannot be picked.
    fn surface_now(&self) -> Option<TriangleMesh> {
        TriangleMesh::new(self.positions().to_vec(), self.surface().triangles().to_vec()).ok()
    }

    /// A point of a triangle of the surface, given by its nodes.
    fn picked(&self, triangle: [u32; 3], lambda: DVec3, position: DVec3, distance: f64) -> Option<Picked> {
        let number = self.surface().triangles().iter().position(|other| *other == triangle)?;
        let point = match self.params().order {
            Order::Linear => SurfacePoint { face: number, barycentric: lambda.to_array() },
            Order::Quadratic => SurfacePoint { face: number / 4, barycentric: in_face(number % 4, lambda).to_array() },
        };
        Some(Picked { point, position, distance })
    }
}

/// From one of the four triangles of a quadratic face to the triangle of its corners.
fn in_face(triangle: usize, lambda: DVec3) -> DVec3 {
    let [a, b, c] = DVec3::AXES;
    let [ab, bc, ca] = [0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)];
    let corners = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]][triangle];
    corners[0] * lambda.x + corners[1] * lambda.y + corners[2] * lambda.z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Material, Params};
    use meniscus_geometry::TetMesh;

    #[test]
    fn the_picked_point_is_where_the_spring_takes_hold() {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(0.4, 0.2, 0.2), [4, 2, 2]);
        for order in [Order::Linear, Order::Quadratic] {
            let params = Params { order, ..Params::default() };
            let mut body = Body::new("block", &mesh, params, Material::default()).unwrap();
            // An even stretch keeps curved faces straight.
            body.motion_mut().0.iter_mut().for_each(|x| *x *= DVec3::new(1.1, 0.9, 1.0));
            let above = DVec3::new(0.13, 0.7, 0.07);
            let down = body.first_hit(above, DVec3::NEG_Y * 3.0).unwrap();
            assert!(down.position.distance(DVec3::new(0.13, 0.18, 0.07)) < 1e-12);
            assert!((down.distance - 0.52).abs() < 1e-12);
            assert_eq!(body.first_hit(above, DVec3::Y), None);
            assert_eq!(body.first_hit(above, DVec3::ZERO), None);
            let near = body.nearest_point(DVec3::new(0.5, 0.05, 0.12)).unwrap();
            assert!(
                near.position.distance(DVec3::new(0.44, 0.05, 0.12)) < 1e-12 && (near.distance - 0.06).abs() < 1e-12
            );
            for (id, picked) in [(7, down), (9, near)] {
                body.attach(id, picked.point, picked.position, 1.0, 0.0).unwrap();
            }
            for (pull, picked) in body.springs().zip([down, near]) {
                assert!(pull.point.distance(picked.position) < 1e-12, "{order:?} {pull:?} {picked:?}");
            }
        }
    }
}
