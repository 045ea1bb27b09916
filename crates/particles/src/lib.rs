//! Particle bodies with connections: mass-spring and rigid bodies that meet through their particles \[B\].
//!
//! A tour in reading order:
//!
//! 1. The paper's definitions as types: [`Particle`], [`Connection`], [`Deformable`], [`Rigid`].
//! 2. Bodies from a lattice of particles, springs from Young's modulus: [`Matter`].
//! 3. [`Integrator`]: Euler, Heun and Runge–Kutta behind one interface.
//! 4. [`Interface`] finds the dynamic connections, [`DynamicConnection`] is one of them; their force law with friction and stickiness
//!    is in `contact_law.rs`. A projection can take their place.
//! 5. [`LiquidParticles`] are the particles of a liquid that bodies meet; [`Skin`] is a surface that hangs on a body.
//! 6. [`System`]: all bodies and their step among walls, which are [`meniscus_boundary::Boundaries`].
//!
//! ```
//! use glam::DVec3;
//! use meniscus_boundary::Boundaries;
//! use meniscus_core::StepReport;
//! use meniscus_geometry::{Aabb, Shape, fill};
//! use meniscus_particles::{Elastic, Matter, Params, System};
//!
//! // A soft cube falls on a floor and comes to rest there.
//! let cube = Shape::Box(Aabb::new(DVec3::new(0.0, 0.02, 0.0), DVec3::new(0.1, 0.12, 0.1)));
//! let matter = Matter { spacing: 0.025, density: 500.0 };
//! let body = matter.deformable("cube", &fill(&cube, 0.025, &[])?, Elastic { young: 2e4, damping: 0.3 })?;
//! let mut system = System::new(Params::default(), 1e4, 0.4);
//! system.add_deformable(&body)?;
//! let mut floor = Boundaries::planes([[DVec3::ZERO, DVec3::Y]]);
//! for step in 0..100 {
//!     let at = [0.01 * f64::from(step), 0.01];
//!     system.step(&mut floor, DVec3::new(0.0, -9.81, 0.0), at, &mut StepReport::default())?;
//! }
//! assert!((system.center(0).y - 0.05).abs() < 0.005 && system.max_speed() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod broad;
mod contact_law;
mod definitions;
mod equations;
mod error;
mod integrator;
mod interface;
mod lattice;
mod liquid;
mod measure;
mod motion;
mod params;
mod projection;
mod skin;
mod system;

pub use contact_law::{DynamicConnection, Memory};
pub use definitions::{Connection, Deformable, Particle, Rigid, RigidMotion};
pub use error::BodyError;
pub use integrator::{Integrable, Integrator};
pub use interface::Interface;
pub use lattice::{Elastic, Matter};
pub use liquid::{LiquidParticles, Pushes};
pub use params::{InterfaceKind, Params, Steps};
pub use skin::Skin;
pub use system::{State, System};
