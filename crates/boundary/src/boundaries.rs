//! All walls of a world, placed once per step for every solver.

use crate::distance::Distance;
use crate::motion::{Motion, Pose};
use crate::surface::{Surface, Wet};
use crate::wall::{Friction, Wall, WallError, WallShape, tank_planes};
use glam::DVec3;
use std::sync::Arc;

/// Time over which the velocity of a wall is taken where an instant is asked for \[s\].
const INSTANT: f64 = 1e-6;

/// All walls of a world. Copies share the trees of walls whose vertices do not move.
#[derive(Debug, Clone, Default)]
pub struct Boundaries {
    walls: Vec<Placed>,
    sides: Vec<Side>,
    /// Start and length of the step \[s\].
    step: [f64; 2],
    inverse_dt: f64,
    scratch: Vec<DVec3>,
}

/// A wall and where it is.
#[derive(Debug, Clone)]
struct Placed {
    wall: Wall,
    /// Of a mesh.
    surface: Option<Arc<Surface>>,
    /// At the start and at the end of the step.
    poses: [Pose; 2],
    /// Of its origin \[m/s²\].
    acceleration: DVec3,
}

/// A wall, or one plane of a tank, as solids meet it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Number of the wall.
    pub wall: usize,
    /// A point and the normal of a plane, where the wall is at the start; none for surfaces.
    plane: Option<[DVec3; 2]>,
    /// The same where it is now.
    placed: Option<[DVec3; 2]>,
}

impl Side {
    /// A point and the normal of a plane, where the wall is at the start; none for surfaces.
    #[must_use]
    pub fn own_plane(&self) -> Option<[DVec3; 2]> {
        self.plane
    }
}

/// A side at a time.
#[derive(Clone, Copy)]
pub struct PlacedSide<'a> {
    walls: &'a Boundaries,
    side: usize,
}

impl Boundaries {
    /// Walls, where they are at time zero.
    ///
    /// # Errors
    /// When frames of vertices do not fit their wall.
    pub fn new(walls: Vec<Wall>) -> Result<Self, WallError> {
        walls.iter().try_for_each(Wall::check)?;
        let sides = walls.iter().enumerate().flat_map(|(wall, of)| sides(wall, &of.shape)).collect();
        let placed = |wall: Wall| {
            let surface = match &wall.shape {
                WallShape::Mesh { mesh, wet } => Some(Arc::new(Surface::new(mesh.clone(), *wet))),
                WallShape::Tank { .. } | WallShape::Plane { .. } => None,
            };
            Placed { poses: [wall.motion.pose(0.0); 2], acceleration: DVec3::ZERO, surface, wall }
        };
        let walls = walls.into_iter().map(placed).collect();
        let mut all = Self { walls, sides, step: [0.0; 2], inverse_dt: 0.0, scratch: Vec::new() };
        all.follow();
        Ok(all)
    }

    /// Planes at rest, each a point \[m\] and a unit normal.
    #[must_use]
    pub fn planes(planes: impl IntoIterator<Item = [DVec3; 2]>) -> Self {
        let plane = |[point, normal]: [DVec3; 2]| Wall {
            shape: WallShape::Plane { point, normal },
            friction: Friction::Slip,
            motion: Motion::Still,
        };
        // What stands still fits.
        Self::new(planes.into_iter().map(plane).collect()).unwrap_or_default()
    }

    /// Number of walls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.walls.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.walls.is_empty()
    }

    /// The walls.
    pub fn walls(&self) -> impl ExactSizeIterator<Item = &Wall> {
        self.walls.iter().map(|placed| &placed.wall)
    }

    /// A wall.
    #[must_use]
    pub fn wall(&self, wall: usize) -> &Wall {
        &self.walls[wall].wall
    }

    /// The surface of a wall of triangles, in its own coordinates.
    #[must_use]
    pub fn surface(&self, wall: usize) -> Option<&Arc<Surface>> {
        self.walls[wall].surface.as_ref()
    }

    /// Puts all walls where they are in a step from `time` to `time + dt` \[s\].
    pub fn place(&mut self, time: f64, dt: f64) {
        if self.step == [time, dt] {
            return;
        }
        self.step = [time, dt];
        self.inverse_dt = 1.0 / dt;
        for placed in self.walls.iter_mut().filter(|placed| placed.wall.motion.moves()) {
            let [before, now, after] = [time - dt, time, time + dt].map(|t| placed.wall.motion.pose(t));
            placed.poses = [now, after];
            placed.acceleration =
                (after.translation - now.translation * 2.0 + before.translation) * (self.inverse_dt * self.inverse_dt);
        }
        self.follow();
    }

    /// Puts all walls where they are at a time \[s\].
    pub fn place_at(&mut self, time: f64) {
        self.place(time, INSTANT);
    }

    /// Puts all walls back to where they were when the step began: it is not taken.
    pub fn put_back(&mut self) {
        self.step[1] = 0.0;
        for placed in &mut self.walls {
            placed.poses[1] = placed.poses[0];
        }
    }

    /// What follows from the poses: planes, and the vertices of animated meshes.
    fn follow(&mut self) {
        let Self { walls, sides, step: [time, dt], inverse_dt, scratch } = self;
        for placed in walls {
            let (Motion::Frames(frames), Some(surface)) = (&placed.wall.motion, &mut placed.surface) else { continue };
            Arc::make_mut(surface).refit(*inverse_dt, |now, ends| {
                frames.at(*time, scratch);
                now.copy_from_slice(scratch);
                frames.at(*time + *dt, ends);
            });
        }
        for side in sides {
            let pose = &self.walls[side.wall].poses[0];
            side.placed = side.plane.map(|[point, normal]| [pose.apply(point), pose.rotation * normal]);
        }
    }

    /// Start and length of the step \[s\].
    #[must_use]
    pub fn step(&self) -> [f64; 2] {
        self.step
    }

    /// Where a wall is at the start and at the end of the step.
    #[must_use]
    pub fn poses(&self, wall: usize) -> [Pose; 2] {
        self.walls[wall].poses
    }

    /// Acceleration of a wall's origin \[m/s²\].
    #[must_use]
    pub fn acceleration(&self, wall: usize) -> DVec3 {
        self.walls[wall].acceleration
    }

    /// Velocity \[m/s\] in the step of a point of a wall in its own coordinates, as far as it moves as one.
    #[must_use]
    pub fn own_velocity(&self, wall: usize, own: DVec3) -> DVec3 {
        let [now, after] = &self.walls[wall].poses;
        (after.apply(own) - now.apply(own)) * self.inverse_dt
    }

    /// Where the vertices of a wall of triangles are at the end of the step \[m\], and how fast they have gone there \[m/s\].
    pub fn vertices(&self, wall: usize) -> impl Iterator<Item = (DVec3, DVec3)> {
        let surface = self.surface(wall);
        let deforms = self.wall(wall).deforms();
        let still: &[DVec3] = surface.filter(|_| !deforms).map_or(&[], |surface| surface.mesh().vertices());
        let (ends, velocities): (&[DVec3], &[DVec3]) =
            surface.filter(|_| deforms).map_or((&[], &[]), |surface| (surface.ends(), surface.velocities()));
        let pose = self.poses(wall)[1];
        let as_one = still.iter().map(move |&own| (pose.apply(own), self.own_velocity(wall, own)));
        as_one.chain(ends.iter().copied().zip(velocities.iter().copied()))
    }

    /// The sides of all walls, wall by wall. A tank is the planes of its sides, which go on without end, as they do for liquids.
    /// Surfaces that are wet on both sides have no inside and no side: solids pass them.
    #[must_use]
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// A side, where it is now.
    #[must_use]
    pub fn side(&self, side: usize) -> PlacedSide<'_> {
        PlacedSide { walls: self, side }
    }

    /// Distance of a point \[m\] from a side \[m\], negative behind it, and the unit normal out of it.
    #[must_use]
    pub fn distance(&self, side: usize, point: DVec3) -> (f64, DVec3) {
        let side = &self.sides[side];
        if let Some([at, normal]) = side.placed {
            return ((point - at).dot(normal), normal);
        }
        let Placed { surface, poses: [pose, _], .. } = &self.walls[side.wall];
        let Some(surface) = surface else { return (f64::INFINITY, DVec3::Y) };
        let (distance, normal) = surface.distance(pose.unapply(point));
        (distance, pose.rotation * normal)
    }

    /// Velocity of a side at a point \[m/s\].
    #[must_use]
    pub fn velocity(&self, side: usize, point: DVec3) -> DVec3 {
        let wall = self.sides[side].wall;
        let Placed { wall: of, surface, poses: [now, after], .. } = &self.walls[wall];
        match (&of.motion, surface) {
            (Motion::Still, _) => DVec3::ZERO,
            (Motion::Frames(_), Some(surface)) => surface.velocity(point),
            _ => {
                let own = now.unapply(point);
                (after.apply(own) - now.apply(own)) * self.inverse_dt
            }
        }
    }
}

impl Distance for PlacedSide<'_> {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        self.walls.distance(self.side, point)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        self.walls.velocity(self.side, point)
    }
}

fn sides(wall: usize, shape: &WallShape) -> Vec<Side> {
    let plane = |plane: [DVec3; 2]| Side { wall, plane: Some(plane), placed: Some(plane) };
    match shape {
        &WallShape::Plane { point, normal } => vec![plane([point, normal])],
        &WallShape::Tank { min, max } => tank_planes([min, max]).map(plane).collect(),
        WallShape::Mesh { wet: Wet::Both, .. } => Vec::new(),
        WallShape::Mesh { .. } => vec![Side { wall, plane: None, placed: None }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frames, Slide};
    use meniscus_geometry::{Aabb, TriangleMesh, solids};

    fn wall(shape: WallShape, motion: Motion) -> Wall {
        Wall { shape, friction: Friction::Slip, motion }
    }

    fn cube() -> TriangleMesh {
        solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE))
    }

    #[test]
    fn walls_are_where_they_are_for_all() {
        let slide = Motion::Slide(Slide { displacement: [2.0, 0.0, 0.0], period: 2.0 });
        let open = DVec3::new(1.0, f64::INFINITY, 1.0);
        let mesh = |wet| WallShape::Mesh { mesh: cube(), wet };
        let mut all = Boundaries::new(vec![
            wall(WallShape::Tank { min: DVec3::ZERO, max: open }, Motion::Still),
            wall(mesh(Wet::Front), slide),
            wall(mesh(Wet::Back), Motion::Still),
            wall(mesh(Wet::Both), Motion::Still),
        ])
        .unwrap();
        assert_eq!(all.sides().iter().map(|side| side.wall).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1, 2]);
        let p = DVec3::new(0.5, 0.2, 0.5);
        let nearest = (0..5).map(|side| all.distance(side, p).0).fold(f64::INFINITY, f64::min);
        assert!((nearest - 0.2).abs() < 1e-12);
        let (inside, normal) = all.distance(5, p);
        assert!((inside + 0.2).abs() < 1e-12 && normal.distance(-DVec3::Y) < 1e-12);
        let (vessel, normal) = all.side(6).distance(p);
        assert!((vessel - 0.2).abs() < 1e-12 && normal.distance(DVec3::Y) < 1e-12);
        assert_eq!(all.distance(5, DVec3::new(0.5, 0.0, 0.5)).1, -DVec3::Y, "also on the surface");
        all.place(0.5, 0.01);
        assert!((all.distance(5, DVec3::new(2.5, 0.5, 0.5)).0 - 0.5).abs() < 1e-12, "half way");
        assert!((all.velocity(5, p).x - std::f64::consts::PI).abs() < 0.05);
        assert_eq!(all.velocity(0, p), DVec3::ZERO);
        // Copies share their trees.
        assert!(Arc::ptr_eq(all.surface(1).unwrap(), all.clone().surface(1).unwrap()));
    }

    #[test]
    fn an_animated_wall_is_where_its_vertices_are() {
        // A cube that grows to all sides by a tenth of its size per second, about its centre.
        let center = DVec3::splat(0.5);
        let grow = |x: DVec3, t: f64| center + (x - center) * (1.0 + 0.1 * t);
        let frames = Frames::sampled(&cube(), vec![0.0, 10.0], None, grow).unwrap();
        let mut all =
            Boundaries::new(vec![Wall::animated(cube(), frames, Wet::Front, Friction::Slip).unwrap()]).unwrap();
        let above = DVec3::new(0.5, 2.0, 0.5);
        assert!((all.distance(0, above).0 - 1.0).abs() < 1e-12);
        all.place(5.0, 0.1);
        // Half a cube larger: its top is at 1.25 and rises at 5 cm/s.
        let (distance, normal) = all.distance(0, above);
        assert!((distance - 0.75).abs() < 1e-12 && normal.distance(DVec3::Y) < 1e-12, "{distance}");
        assert!(all.distance(0, center).0 < 0.0);
        let velocity = all.velocity(0, above);
        assert!((velocity.y - 0.05).abs() < 1e-12 && velocity.x.abs() < 1e-12, "{velocity}");
        let highest = all.vertices(0).map(|(x, _)| x.y).fold(f64::NEG_INFINITY, f64::max);
        assert!((highest - 1.255).abs() < 1e-12, "{highest}: at the end of the step");
        all.place_at(20.0);
        assert!(all.velocity(0, above).length() < 1e-9, "it rests after its last frame");
    }

    #[test]
    fn frames_must_fit_their_wall() {
        let frames = |count: usize| Frames::new(vec![0.0], vec![vec![DVec3::ZERO; count]], None).unwrap();
        let animated = |mesh: TriangleMesh, count| Wall::animated(mesh, frames(count), Wet::Front, Friction::Slip);
        assert!(matches!(animated(cube(), 7), Err(WallError::Frames(_))));
        let sheet = TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]).unwrap();
        assert!(matches!(animated(sheet, 3), Err(WallError::Open(_))));
        let motion = Motion::Frames(Arc::new(frames(8)));
        let plane = wall(WallShape::Plane { point: DVec3::ZERO, normal: DVec3::Y }, motion);
        assert_eq!(Boundaries::new(vec![plane]).unwrap_err(), WallError::Shape);
    }
}
