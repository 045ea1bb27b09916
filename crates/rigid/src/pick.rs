//! Points of the surface as a person picks them.

use crate::world::World;
use glam::DVec3;

/// A point of a surface that was picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// Where it is now \[m\].
    pub position: DVec3,
    /// Its distance from the position, or from the origin of the ray, that picked it \[m\].
    pub distance: f64,
}

impl World {
    /// The point of a body's surface nearest to a position \[m\].
    #[must_use]
    pub fn nearest_point(&self, body: usize, position: DVec3) -> Picked {
        let (rotation, translation) = self.pose(body);
        let closest = self.boundary(body).tree().closest_point(rotation.conjugate() * (position - translation));
        Picked { position: rotation * closest.point + translation, distance: closest.distance() }
    }

    /// The first point of a body's surface on the ray from an origin \[m\] along a direction of any length.
    #[must_use]
    pub fn first_hit(&self, body: usize, origin: DVec3, direction: DVec3) -> Option<Picked> {
        let (rotation, translation) = self.pose(body);
        let bounds = self.boundary(body).tree().bounds();
        let start = rotation.conjugate() * (origin - translation);
        let reach = bounds.center().distance(start) + bounds.size().length();
        let end = start + rotation.conjugate() * direction.try_normalize()? * reach;
        let hit = self.boundary(body).tree().segment_hits(start, end)?;
        Some(Picked { position: rotation * start.lerp(end, hit.t) + translation, distance: hit.t * reach })
    }
}
