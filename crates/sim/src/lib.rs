//! Worlds.
mod build;
mod gauss;
mod method;
mod probes;
mod world;

pub use build::{BuildError, Estimate, estimate, speed_scale};
pub use method::Totals;
pub use world::{LoadError, Logged, World};
