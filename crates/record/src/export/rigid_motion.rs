//! Where a rigid body is, from its points.

use glam::{DMat3, DVec3, Vec3};

/// Rotation and shift that carry the points of a rigid body from one frame to another, found from the three of them that span
/// most: the first, the farthest from it, and the farthest from their line.
pub(super) fn carry(from: &[Vec3], to: &[Vec3]) -> (DMat3, DVec3) {
    let still = (DMat3::IDENTITY, DVec3::ZERO);
    if from.len() != to.len() || from.is_empty() {
        return still;
    }
    let at = |points: &[Vec3], i: usize| points[i].as_dvec3();
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        (0..from.len()).max_by(|&i, &j| measure(at(from, i)).total_cmp(&measure(at(from, j)))).unwrap_or(0)
    };
    let a = at(from, 0);
    let second = farthest(&|p| (p - a).length_squared());
    let axis = at(from, second) - a;
    let third = farthest(&|p| (p - a).cross(axis).length_squared());
    let frame = |points: &[Vec3]| {
        let x = (at(points, second) - at(points, 0)).try_normalize()?;
        let z = x.cross(at(points, third) - at(points, 0)).try_normalize()?;
        Some(DMat3::from_cols(x, z.cross(x), z))
    };
    match (frame(from), frame(to)) {
        (Some(before), Some(after)) => {
            let turn = after * before.transpose();
            (turn, at(to, 0) - turn * a)
        }
        _ => still,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn by 0.7 about (1, 2, 3) and a shift are found again from what they do to points.
    #[test]
    fn where_a_rigid_body_is_comes_from_its_points() {
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
        let shift = DVec3::new(0.4, -2.0, 1.5);
        let points: Vec<Vec3> =
            (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let moved: Vec<Vec3> = points.iter().map(|p| (turn * p.as_dvec3() + shift).as_vec3()).collect();
        let (found, by) = carry(&points, &moved);
        assert!((found - turn).to_cols_array().iter().all(|x| x.abs() < 1e-6), "{found}");
        assert!((by - shift).length() < 1e-6, "{by}");
        assert_eq!(carry(&points, &[]).1, DVec3::ZERO);
        assert_eq!(carry(&[Vec3::ONE; 3], &[Vec3::X; 3]).0, DMat3::IDENTITY);
    }
}
