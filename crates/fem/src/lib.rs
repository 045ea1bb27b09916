//! Deformable solids: tetrahedral finite elements that bend, yield, break and touch.
//!
//! A tour in the order in which a solid lives:
//!
//! 1. **A body.** [`Body::new`] makes one from a [`TetMesh`](meniscus_geometry::TetMesh), [`Params`] (linear or quadratic
//!    elements, integrator, tolerances) and a [`Material`] (corotational, neo-Hookean or St Venant–Kirchhoff; damping;
//!    [`Plasticity`]; [`Fracture`]).
//! 2. **Supports.** [`Body::fix`] holds nodes by region, [`Body::prescribe`] says where they go, [`Body::attach`] ties a
//!    point of the surface, found by [`Body::nearest_point`] or [`Body::first_hit`], to a spring: the user's hand.
//! 3. **Loads.** [`Body::add_pressure`], [`Body::add_traction`], [`Body::add_force_at`] a point of the surface,
//!    [`Body::external_force_mut`] for nodal forces; [`Body::add_reaction`] for forces that answer to the motion within
//!    the step, such as contact with something outside of this crate. They act until [`Body::clear_forces`].
//! 4. **Time.** [`Body::step`] is the algorithm box; [`Body::settle`] finds the equilibrium without the way to it. Both tell a
//!    [`StepReport`](meniscus_core::StepReport) stages, iterations and residuals. [`Body::roll_back`] undoes a step.
//! 5. **Others.** [`contact::Contact`] steps several bodies that touch each other, themselves and obstacles.
//! 6. **Pieces.** When the report counts `cracks`, the [surface](Body::surface) has changed; [`Body::into_pieces`] makes
//!    bodies of what has come apart.
//! 7. **Checkpoints.** [`Body::state`] serialises; [`Body::restore`] goes on with the same bits.
//!
//! ```
//! use glam::DVec3;
//! use meniscus_core::StepReport;
//! use meniscus_fem::{Body, Material, Params};
//! use meniscus_geometry::TetMesh;
//!
//! // A rubber beam, held at one end, sags.
//! let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [16, 4, 4]);
//! let rubber = Material { young: 1e6, poisson: 0.3, density: 1000.0, ..Material::default() };
//! let mut beam = Body::new("beam", &mesh, Params::default(), rubber)?;
//! beam.fix(|p| p.x < 1e-9);
//! let gravity = DVec3::new(0.0, -9.81, 0.0);
//! let mut report = StepReport::default();
//! for _ in 0..600 {
//!     report.clear();
//!     beam.step(1.0 / 60.0, gravity, &mut report)?;
//! }
//! let tip = beam.positions().iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
//! assert!((-0.25..-0.19).contains(&tip), "{tip}");
//! assert!(report.counter("cg iterations").is_some_and(|iterations| iterations < 20.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! SI units, double precision, and the same bits at any number of threads.

// Rows and columns of small matrices are named by their numbers.
#![allow(clippy::needless_range_loop)]

mod assembly;
mod axes;
mod body;
mod compliance;
pub mod contact;
mod element;
mod energy_control;
mod fracture;
mod frequency;
mod implicit;
mod line_search;
mod linear;
mod loads;
mod measure;
mod model;
mod newton;
mod node_split;
mod params;
mod pick;
mod pieces;
mod plasticity;
mod quasi_static;
mod reaction;
mod rotation;
mod state;
mod step;
mod supports;
mod surface;
mod symmetric;
mod tangent;
mod topology;

pub use axes::Axes;
pub use body::{Body, BodyError};
pub use compliance::StepCompliance;
pub use params::{Fracture, Integrator, Linearisation, Material, Model, Order, Params, ParamsError, Plasticity};
pub use pick::Picked;
pub use pieces::Pieces;
pub use reaction::Reaction;
pub use state::{Mesh, Motion, Spring, State};
pub use supports::{NoSuch, Pull, SurfacePoint};
pub use surface::{Face, Surface};
