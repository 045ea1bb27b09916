//! Walls as solids meet them.

use glam::DVec3;
use meniscus_fem::contact::Obstacle;
use meniscus_geometry::{Bvh, TriangleMesh};
use meniscus_sph::surface::Wet;
use meniscus_sph::{Motion, Pose, Wall, WallShape};

/// A wall, or one side of a tank, that moves as prescribed.
pub(crate) struct WallSide {
    /// Number of the wall.
    pub(crate) wall: usize,
    form: Form,
    motion: Motion,
    /// Where the wall is at the start and at the end of the step.
    poses: [Pose; 2],
    inverse_dt: f64,
}

/// What is behind a side, in the wall's own coordinates.
enum Form {
    Plane {
        point: DVec3,
        normal: DVec3,
    },
    /// The inside of a surface, or with −1 the outside.
    Surface {
        tree: Box<Bvh>,
        normals: Vec<DVec3>,
        sign: f64,
    },
}

/// The sides of all walls. A tank is the planes of its sides, which go on without end, as they do for liquids. Surfaces
/// that are wet on both sides have no inside: solids pass them.
pub(crate) fn sides(walls: &[Wall]) -> Vec<WallSide> {
    let mut sides = Vec::new();
    for (number, wall) in walls.iter().enumerate() {
        let forms = match &wall.shape {
            &WallShape::Plane { point, normal } => vec![Form::Plane { point, normal }],
            &WallShape::Tank { min, max } => tank([min, max]),
            WallShape::Mesh { wet: Wet::Both, .. } => Vec::new(),
            WallShape::Mesh { mesh, wet } => vec![Form::Surface {
                tree: Box::new(Bvh::new(mesh)),
                normals: normals_of(mesh),
                sign: if *wet == Wet::Back { -1.0 } else { 1.0 },
            }],
        };
        sides.extend(forms.into_iter().map(|form| WallSide {
            wall: number,
            form,
            motion: wall.motion.clone(),
            poses: [wall.motion.pose(0.0); 2],
            inverse_dt: 0.0,
        }));
    }
    sides
}

fn tank(corners: [DVec3; 2]) -> Vec<Form> {
    tank_planes(corners).map(|(point, normal)| Form::Plane { point, normal }).collect()
}

/// A point and the inward normal of every side of a tank that is there.
pub(crate) fn tank_planes(corners: [DVec3; 2]) -> impl Iterator<Item = (DVec3, DVec3)> {
    let sides = corners.into_iter().zip([1.0, -1.0]).flat_map(|(corner, inwards)| {
        DVec3::AXES.into_iter().enumerate().map(move |(k, axis)| (corner[k], axis, inwards))
    });
    sides.filter(|(height, ..)| height.is_finite()).map(|(height, axis, inwards)| (axis * height, axis * inwards))
}

/// Unit normals of the triangles of a surface.
pub(crate) fn normals_of(surface: &TriangleMesh) -> Vec<DVec3> {
    surface.corners().map(|[a, b, c]| (b - a).cross(c - a).normalize_or(DVec3::Y)).collect()
}

/// Distance from a closed surface \[m\], negative inside, and the unit normal out of it; `normals` are those of its triangles.
pub(crate) fn surface_distance(tree: &Bvh, normals: &[DVec3], point: DVec3) -> (f64, DVec3) {
    let closest = tree.closest_point(point);
    let distance = if tree.inside(point) { -closest.distance() } else { closest.distance() };
    // On the surface the direction to it says nothing.
    let normal = match (point - closest.point) / distance {
        normal if normal.is_finite() && normal.length() > 0.5 => normal,
        _ => normals[closest.triangle as usize],
    };
    (distance, normal)
}

impl WallSide {
    /// Places the wall for a step.
    pub(crate) fn place(&mut self, time: f64, dt: f64) {
        self.poses = [self.motion.pose(time), self.motion.pose(time + dt)];
        self.inverse_dt = 1.0 / dt;
    }
}

impl WallSide {
    /// A point and the normal of a plane, where it is now; nothing for other forms.
    pub(crate) fn plane(&self) -> Option<[DVec3; 2]> {
        match self.form {
            Form::Plane { point, normal } => Some([self.poses[0].apply(point), self.poses[0].rotation * normal]),
            Form::Surface { .. } => None,
        }
    }
}

impl Obstacle for WallSide {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let pose = &self.poses[0];
        let own = pose.unapply(point);
        let (distance, normal) = match &self.form {
            Form::Plane { point, normal } => ((own - *point).dot(*normal), *normal),
            Form::Surface { tree, normals, sign } => {
                let (distance, normal) = surface_distance(tree, normals, own);
                (sign * distance, *sign * normal)
            }
        };
        (distance, pose.rotation * normal)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        if !self.motion.moves() {
            return DVec3::ZERO;
        }
        let own = self.poses[0].unapply(point);
        (self.poses[1].apply(own) - self.poses[0].apply(own)) * self.inverse_dt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{Aabb, solids};
    use meniscus_sph::{Friction, Slide};

    #[test]
    fn walls_are_where_they_are_for_liquids() {
        let wall = |shape, motion| Wall { shape, friction: Friction::Slip, motion };
        let slide = Motion::Slide(Slide { displacement: [2.0, 0.0, 0.0], period: 2.0 });
        let cube = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        let open = DVec3::new(1.0, f64::INFINITY, 1.0);
        let mut all = sides(&[
            wall(WallShape::Tank { min: DVec3::ZERO, max: open }, Motion::Still),
            wall(WallShape::Mesh { mesh: cube.clone(), wet: Wet::Front }, slide),
            wall(WallShape::Mesh { mesh: cube.clone(), wet: Wet::Back }, Motion::Still),
            wall(WallShape::Mesh { mesh: cube, wet: Wet::Both }, Motion::Still),
        ]);
        assert_eq!(all.iter().map(|side| side.wall).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1, 2]);
        let p = DVec3::new(0.5, 0.2, 0.5);
        let nearest = all[..5].iter().map(|side| side.distance(p).0).fold(f64::INFINITY, f64::min);
        assert!((nearest - 0.2).abs() < 1e-12);
        let (inside, normal) = all[5].distance(p);
        assert!((inside + 0.2).abs() < 1e-12 && normal.distance(-DVec3::Y) < 1e-12);
        let (vessel, normal) = all[6].distance(p);
        assert!((vessel - 0.2).abs() < 1e-12 && normal.distance(DVec3::Y) < 1e-12);
        assert_eq!(all[5].distance(DVec3::new(0.5, 0.0, 0.5)).1, -DVec3::Y, "also on the surface");
        all[5].place(0.5, 0.01);
        assert!((all[5].distance(DVec3::new(2.5, 0.5, 0.5)).0 - 0.5).abs() < 1e-12, "half way");
        assert!((all[5].velocity(p).x - std::f64::consts::PI).abs() < 0.05);
    }
}
