//! Rigid bodies: triangle surfaces with mass that fall, touch, slide and spin. The only room that names rapier.
//!
//! 1. **Bodies.** [`World::add`] takes a closed surface, the [`Form`] that rapier meets it by and a [`Material`]. Mass, centre
//!    and inertia are those of the surface's inside. [`World::throw`] gives it a start, [`World::lock`] takes directions from it.
//! 2. **Walls.** [`World::meet`]: planes and surfaces that do not answer. Bodies can be prescribed, and walls move as they like.
//! 3. **Forces from outside.** [`World::add_force_at`] a point, until the end of the step; springs that pull at points: the user's
//!    hand.
//! 4. **Time.** [`World::step`]; [`World::roll_back`] undoes it. [`World::predict`] says how bodies would move in a step that is not
//!    taken: what a solver that pushes them within the step needs to know.
//! 5. **Others see** [`World::positions`] and [`World::velocities`] of the surfaces' vertices, and [`World::mass_properties`].
//! 6. **Checkpoints.** [`World::state`] serialises; [`World::restore`] goes on with the same bits.
//!
//! ```
//! use glam::DVec3;
//! use meniscus_geometry::{Aabb, solids};
//! use meniscus_boundary::Boundaries;
//! use meniscus_rigid::{Form, Material, World};
//!
//! // A box falls on the floor and rests there.
//! let mut world = World::default();
//! let cube = solids::cuboid(&Aabb::new(DVec3::new(-0.1, 0.3, -0.1), DVec3::new(0.1, 0.5, 0.1)));
//! let cube = world.add("cube", cube, Form::Surface, Material::default(), false)?;
//! world.meet(&Boundaries::planes([[DVec3::ZERO, DVec3::Y]])).map_err(|(_, error)| error)?;
//! for _ in 0..400 {
//!     world.step(0.005, DVec3::new(0.0, -9.81, 0.0))?;
//! }
//! assert!((world.mass_properties(cube).center.y - 0.1).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! SI units, double precision, and the same bits at any number of threads: rapier runs on one.

mod body;
mod mass;
mod params;
mod pick;
mod reactions;
mod spring;
mod state;
mod walls;
mod world;

pub use body::{Form, Motion, RigidError};
pub use mass::MassProperties;
pub use params::{Lock, Material};
pub use pick::Picked;
pub use spring::{Pull, Spring};
pub use state::State;
pub use world::{Predicted, World};
