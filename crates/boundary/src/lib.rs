//! Solid surfaces: how they move, where they are, what they are like to touch. Every solver takes them from here.
//!
//! A tour in reading order:
//!
//! 1. [`Motion`]: still, by a [`Pose`], or vertex by vertex ([`Frames`]).
//! 2. [`Distance`] is the one contract: distance and normal, velocity. Planes, boxes and balls in closed form ([`Plane`], [`Planes`],
//!    [`Cuboid`], [`Tank`], [`Ball`]), any function ([`Field`]), triangles by their tree ([`Surface`]).
//! 3. A [`Wall`] has a shape, a motion and friction; [`Boundaries`] are all walls of a world, placed once per step.
//! 4. [`Compliance`]: how a surface that is not prescribed answers a force; [`Obstacles`]: walls and rigid bodies that answer bumps.
//!
//! ```
//! use glam::DVec3;
//! use meniscus_boundary::{Boundaries, Friction, Motion, Slide, Wall, WallShape};
//!
//! // A floor that goes up and down by 20 cm every 2 s is half way up, at its fastest, after half a second.
//! let floor = Wall {
//!     shape: WallShape::Plane { point: DVec3::ZERO, normal: DVec3::Y },
//!     friction: Friction::Slip,
//!     motion: Motion::Slide(Slide { displacement: [0.0, 0.2, 0.0], period: 2.0 }),
//! };
//! let mut walls = Boundaries::new(vec![floor])?;
//! walls.place(0.5, 1e-3);
//! let (distance, normal) = walls.distance(0, DVec3::Y);
//! assert!((distance - 0.9).abs() < 1e-12 && normal == DVec3::Y);
//! assert!((walls.velocity(0, DVec3::Y).y - 0.1 * std::f64::consts::PI).abs() < 1e-3);
//! # Ok::<(), meniscus_boundary::WallError>(())
//! ```

mod boundaries;
mod compliance;
mod distance;
mod frames;
mod motion;
mod obstacles;
mod shape;
mod surface;
mod wall;

pub use boundaries::{Boundaries, PlacedSide, Side};
pub use compliance::{Compliance, Implicit, RigidCompliance};
pub use distance::Distance;
pub use frames::{Frames, FramesError, Vertices};
pub use motion::{Key, Motion, Pose, Slide, Swing, Turn};
pub use obstacles::{Mover, Obstacles};
pub use shape::{Ball, Cuboid, Field, Plane, Planes, Tank};
pub use surface::{Surface, Wet};
pub use wall::{Friction, Wall, WallError, WallShape, tank_planes};
