//! Smoothed particle hydrodynamics: a liquid as particles.
//!
//! A tour in reading order:
//!
//! 1. The smoothing kernels as polynomials: [`kernel`].
//! 2. [`wall_integral`] tells what a wall cuts off from a kernel, in closed form; how a liquid comes to rest before it.
//! 3. [`Liquid`] has the state ([`Particles`]) and one method per stage of a step; a [`Setup`] says what it is made of.
//! 4. Nozzles: [`Emitter`]. The paper's wall, point by point: [`traction`].
//!
//! ```
//! use glam::{DVec3, Vec3};
//! use meniscus_boundary::Boundaries;
//! use meniscus_sph::{Liquid, Material, Params, PressureSolver, Setup};
//!
//! // A drop of water above a floor.
//! let mut liquid = Liquid::new(Setup {
//!     params: Params { spacing: 0.01, pressure: PressureSolver::StateEquation, ..Params::default() },
//!     materials: vec![("water".into(), Material::default())],
//!     walls: Boundaries::planes([[DVec3::ZERO, DVec3::Y]]),
//!     coupling: Default::default(),
//!     emitters: vec![],
//!     periodic: Default::default(),
//!     stiffness: 100.0,
//!     speed: 1.4,
//! });
//! liquid.particles_mut().push(0, Vec3::new(0.0, 0.02, 0.0), Vec3::ZERO, 1000.0);
//!
//! let (mut time, dt) = (0.0, 1e-4);
//! for _ in 0..100 {
//!     liquid.sort(time, dt);
//!     liquid.find_neighbours();
//!     liquid.find_wall_integrals_at(time, dt);
//!     liquid.sum_density()?;
//!     liquid.apply_state_equation();
//!     liquid.sum_all_forces(DVec3::new(0.0, -9.81, 0.0))?;
//!     liquid.advance(time, dt)?;
//!     time += dt;
//! }
//! // It has fallen by g t²/2, 0.49 mm.
//! assert!((liquid.state().particles.position[0].y - 0.01951).abs() < 1e-5);
//! # Ok::<(), meniscus_core::StepError>(())
//! ```

mod density;
mod emitter;
mod liquid;
mod neighbours;
mod params;
mod particles;
mod simd;
pub mod traction;
mod wall_contacts;
pub mod wall_integral;
pub mod wall_quadrature;

pub use emitter::{Emitter, EmitterState, Pulse};
pub use fearless_simd::Level;
pub use liquid::{Body, Held, Hooks, Liquid, Phase, Pores, Relaxed, Setup, Solved, State};
pub use meniscus_core::kernel;
pub use params::{
    BodyWall, Coupling, CouplingPreset, Distribution, Gradients, Integral, KernelFamily, Material, Params,
    PressureSolver, TensionModel, ViscositySolver,
};
pub use particles::Particles;
