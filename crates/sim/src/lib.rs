//! Worlds.
mod bodies;
mod build;
mod build_bodies;
mod build_solids;
mod connections;
mod gauss;
mod hands;
mod method;
mod obstacle;
mod probes;
mod solids;
mod world;

pub use build::{BuildError, Estimate, estimate, speed_scale};
pub use hands::Hand;
pub use method::Totals;
pub use world::{LoadError, Logged, World};
