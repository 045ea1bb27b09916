//! Liquid and elastic solids as one system of particles.

pub(crate) mod beam;
pub(crate) mod body;
pub(crate) mod draught;
pub(crate) mod drops;
pub(crate) mod liquids;
pub(crate) mod porous;
