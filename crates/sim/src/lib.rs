//! Worlds.
mod bodies;
mod build;
mod build_bodies;
mod build_grid;
mod build_rigid;
mod build_solids;
mod build_unified;
mod build_wet;
mod connections;
mod cover;
mod gauss;
mod grips;
mod hands;
mod method;
mod overlap;
mod probes;
mod rigid;
mod sanity;
mod shown_walls;
mod solids;
mod twophase;
mod unified;
mod world;

pub use build::{BuildError, Estimate, estimate, speed_scale};
pub use hands::Hand;
pub use method::{Fields, Totals};
pub use world::{LoadError, Logged, World};
