//! The parts of worlds: one file per solver.

mod bodies;
mod elastic;
mod grid;
mod liquid;
mod particle_springs;
mod rigid;
mod shown_walls;
mod skin;
mod soft;

pub(crate) use bodies::{BodiesPart, Group};
pub(crate) use elastic::{ElasticKind, ElasticPart};
pub(crate) use grid::GridPart;
pub(crate) use liquid::{Drain, ENERGY_TAKEN, LEFT_DOMAIN, LiquidPart, Look, tank_edges};
pub(crate) use particle_springs::ParticleSprings;
pub(crate) use rigid::{RigidKind, RigidPart};
pub(crate) use skin::TornSkin;
pub(crate) use soft::{Held, SavedSoft, SoftKind, SoftPart};
