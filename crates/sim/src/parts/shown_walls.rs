//! Walls as a frame carries them: what the surface of a liquid is flat against.

use glam::DVec3;
use meniscus_boundary::{self as boundary, Pose, Wet, tank_planes};
use meniscus_core::{Wall, WallShape};

/// The sides of a wall that has been moved by a pose, as those of a body of the frame.
pub(crate) fn shown(body: u16, shape: &boundary::WallShape, pose: &Pose) -> Vec<Wall> {
    let plane = |point: DVec3, normal: DVec3| {
        let (point, normal) = (pose.apply(point).as_vec3(), (pose.rotation * normal).as_vec3());
        Wall { body, shape: WallShape::Plane { point, normal } }
    };
    match shape {
        boundary::WallShape::Tank { min, max } => tank_planes([*min, *max]).map(|[p, n]| plane(p, n)).collect(),
        boundary::WallShape::Plane { point, normal } => vec![plane(*point, *normal)],
        boundary::WallShape::Mesh { wet: Wet::Back, .. } => vec![Wall { body, shape: WallShape::Vessel }],
        boundary::WallShape::Mesh { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_tank_has_five_planes_that_face_inwards() {
        let (min, max) = (DVec3::ZERO, DVec3::new(2.0, f64::INFINITY, 1.0));
        let walls = shown(3, &boundary::WallShape::Tank { min, max }, &Pose::default());
        assert_eq!(walls.len(), 5);
        for wall in walls {
            let WallShape::Plane { point, normal } = wall.shape else { panic!("{wall:?}") };
            assert!((glam::Vec3::new(1.0, 9.0, 0.5) - point).dot(normal) > 0.0 && wall.body == 3);
        }
    }
}
