//! Elastic solids of particles \[SZW\].
//!
//! A tour in reading order:
//!
//! 1. [`Elastic`]: a body of particles and the forces that keep its shape.
//! 2. [`Solids`]: bodies that move in steps of their own, with walls and each other.
//!    How they touch each other: `contact_law.rs`.
//! 3. [`pack`]: particles that fill a surface and follow it.
//!
//! What a liquid does to them is told to [`Solids::state_mut`]; how the two meet is in the crate `coupling`.

mod bonds;
mod contact_law;
mod elastic;
mod packing;
mod solids;

pub use elastic::{Elastic, ElasticMaterial, PIECE, Strain, Yield};
pub use packing::pack;
pub use solids::{Prescribed, SolidBody, SolidState, Solids};
