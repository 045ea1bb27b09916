//! Walls as rigid bodies meet them: planes and sheets of triangles that move as they like and do not answer.
//!
//! A wall whose vertices move gets its new triangles in every step. What they have in common, a velocity and a spin, pushes and
//! drags bodies as that of any wall does; where they grow into a body beyond that, the overlap pushes it out.

use crate::body::{RigidError, plane, sheet};
use crate::world::World;
use glam::{DMat3, DQuat, DVec3};
use meniscus_boundary::{Boundaries, Surface};
use meniscus_core::Wrench;
use rapier3d_f64::prelude::{ColliderBuilder, ColliderHandle, Pose, RigidBodyBuilder, SharedShape, TriMeshFlags};

/// A plane or a surface of a wall.
pub(crate) struct Part {
    /// Its number among all handles.
    pub(crate) handle: usize,
    wall: usize,
    collider: ColliderHandle,
}

impl World {
    /// Adds all walls. Surfaces are met from both sides. Bodies come before walls.
    ///
    /// # Errors
    /// When the surface of a wall, whose number is given, cannot be used.
    pub fn meet(&mut self, walls: &Boundaries) -> Result<(), (usize, RigidError)> {
        for wall in 0..walls.len() {
            let moves = walls.wall(wall).motion.moves();
            if let Some(surface) = walls.surface(wall) {
                self.add_part(wall, sheet(surface.mesh()).map_err(|error| (wall, error))?, moves);
                continue;
            }
            for side in walls.sides().iter().filter(|side| side.wall == wall) {
                side.own_plane().into_iter().for_each(|own| self.add_part(wall, plane(own), moves));
            }
        }
        Ok(())
    }

    fn add_part(&mut self, wall: usize, collider: ColliderBuilder, moves: bool) {
        let kind = if moves { RigidBodyBuilder::kinematic_position_based() } else { RigidBodyBuilder::fixed() };
        let handle = self.state.bodies.insert(kind);
        let collider = self.state.colliders.insert_with_parent(collider, handle, &mut self.state.bodies);
        self.walls.push(Part { handle: self.handles.len(), wall, collider });
        self.handles.push(handle);
        self.state.on_walls.push(Wrench::ZERO);
    }

    /// Tells walls that move where they are in the next step: these are those that were met.
    pub fn place_walls(&mut self, walls: &Boundaries) {
        for number in 0..self.walls.len() {
            let Part { handle, wall, collider } = self.walls[number];
            if !walls.wall(wall).motion.moves() {
                continue;
            }
            let end = walls.poses(wall)[1];
            match walls.surface(wall).filter(|_| walls.wall(wall).deforms()) {
                None => self.place_handle(handle, end.rotation, end.translation),
                Some(surface) => self.place_sheet((handle, collider), surface, walls.step()[1]),
            }
        }
    }

    /// A sheet whose vertices move, from where they are at the start of a step of `dt` \[s\].
    fn place_sheet(&mut self, (handle, collider): (usize, ColliderHandle), surface: &Surface, dt: f64) {
        let (vertices, triangles) = (surface.mesh().vertices().to_vec(), surface.mesh().triangles().to_vec());
        let flags = TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
        let shape = SharedShape::trimesh_with_flags(vertices, triangles, flags);
        // What was a mesh before is one when its vertices have moved.
        if let (Some(collider), Ok(shape)) = (self.state.colliders.get_mut(collider), shape) {
            collider.set_shape(shape);
        }
        let (center, velocity, spin) = as_one(surface);
        let rotation = DQuat::from_scaled_axis(spin * dt);
        let translation = center + velocity * dt - rotation * center;
        self.rapier_mut(handle).set_position(Pose::from_parts(DVec3::ZERO, DQuat::IDENTITY), true);
        self.place_handle(handle, rotation, translation);
    }

    /// What a wall felt in the last step, about the origin.
    #[must_use]
    pub fn on_wall(&self, wall: usize) -> Wrench {
        let parts = self.walls.iter().zip(&self.state.on_walls).filter(|(part, _)| part.wall == wall);
        parts.map(|(_, felt)| *felt).sum()
    }
}

/// Centre of the vertices of a surface \[m\], and the velocity \[m/s\] and the spin \[rad/s\] with which they move as far as they
/// move as one: by least squares.
fn as_one(surface: &Surface) -> (DVec3, DVec3, DVec3) {
    let (positions, velocities) = (surface.mesh().vertices(), surface.velocities());
    let count = positions.len().max(1) as f64;
    let (center, velocity) = (positions.iter().sum::<DVec3>() / count, velocities.iter().sum::<DVec3>() / count);
    let (mut inertia, mut turning) = (DMat3::ZERO, DVec3::ZERO);
    for (x, v) in positions.iter().zip(velocities) {
        let r = *x - center;
        inertia += DMat3::from_diagonal(DVec3::splat(r.length_squared())) - DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        turning += r.cross(*v - velocity);
    }
    let spin = inertia.inverse() * turning;
    (center, velocity, if spin.is_finite() { spin } else { DVec3::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Material};
    use meniscus_boundary::{Frames, Friction, Wall, Wet};
    use meniscus_geometry::{Aabb, TriangleMesh, solids};

    /// A plate whose vertices are moved by a function of the time.
    fn plate(moved: impl Fn(DVec3, f64) -> DVec3) -> Boundaries {
        let mesh = solids::cuboid(&Aabb::new(DVec3::new(-0.5, -0.1, -0.5), DVec3::new(0.5, 0.0, 0.5)));
        let times: Vec<f64> = (0..=100).map(|k| 0.02 * f64::from(k)).collect();
        let frames = Frames::sampled(&mesh, times, None, moved).unwrap();
        Boundaries::new(vec![Wall::animated(mesh, frames, Wet::Front, Friction::Slip).unwrap()]).unwrap()
    }

    fn ride(mut walls: Boundaries) -> World {
        let mut world = World::default();
        let cube: TriangleMesh = solids::cuboid(&Aabb::new(DVec3::new(-0.1, 0.0, -0.1), DVec3::new(0.1, 0.2, 0.1)));
        world.add("cube", cube, Form::Surface, Material { friction: 0.8, ..Material::default() }, false).unwrap();
        world.meet(&walls).unwrap();
        for step in 0..400 {
            walls.place(0.005 * f64::from(step), 0.005);
            world.place_walls(&walls);
            world.step(0.005, DVec3::new(0.0, -9.81, 0.0)).unwrap();
        }
        world
    }

    #[test]
    fn a_plate_of_moving_vertices_carries_what_stands_on_it() {
        // Up and sideways at 0.1 m/s for 2 s, from rest within a moment.
        let world = ride(plate(|x, t| x + DVec3::new(0.1, 0.1, 0.0) * t));
        let center = world.mass_properties(0).center;
        assert!(center.distance(DVec3::new(0.2, 0.3, 0.0)) < 5e-3, "{center}");
        assert!(world.motion(0).velocity.distance(DVec3::new(0.1, 0.1, 0.0)) < 5e-3);
        let weight = world.mass_properties(0).mass * 9.81;
        assert!((world.on_wall(0).force.y / -weight - 1.0).abs() < 0.05, "{:?}", world.on_wall(0));
    }

    #[test]
    fn a_plate_that_swells_lifts_what_stands_on_it() {
        // Only the top rises, by 5 cm: the common part of the motion is half of it.
        let world = ride(plate(|x, t| if x.y > -0.05 { x + DVec3::Y * 0.05 * t.min(1.0) } else { x }));
        let center = world.mass_properties(0).center;
        assert!((center.y - 0.15).abs() < 5e-3, "{center}");
    }
}
