//! Solids of particles: the liquid's method for everything \[SZW\].
//!
//! A tour in reading order:
//!
//! 1. [`Elastic`]: a body of particles and the forces that keep its shape.
//! 2. [`Solids`]: bodies that move in steps of their own, with walls and each other.
//! 3. [`Pores`]: solids that liquid soaks into.
//! 4. [`pack`]: particles that fill a surface and follow it.
//! 5. How solids and liquid share one pressure: particles of solids stand among the liquid's and take part in its density
//!    sums, as liquids of their own: [`Embedded`].

mod bonds;
mod elastic;
mod embedded;
mod packing;
mod porous;
mod solids;

pub use elastic::{Elastic, ElasticMaterial, Strain, Yield};
pub use embedded::Embedded;
pub use packing::pack;
pub use porous::{Held, Pores};
pub use solids::{Led, SolidBody, SolidState, Solids};
