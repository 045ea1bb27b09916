//! Worlds: a scene brought to life.
//!
//! A tour in reading order:
//!
//! 1. [`World`]: the time loop, commands, save and load.
//! 2. `part.rs`: what a world asks of a solver in it; `parts/`, one file per solver.
//! 3. `methods/`: one file per method, which is an order of stages over parts.
//! 4. `build/`: from the tables of a scene to parts.

mod build;
mod energy_guard;
mod hands;
mod methods;
mod overlap;
mod part;
mod parts;
mod probes;
mod sanity;
mod substeps;
mod world;

pub use build::{BuildError, Estimate, animated_bounds, estimate, speed_scale};
pub use hands::Hand;
pub use part::{Fields, Totals};
pub use sanity::odd_sizes;
pub use world::{LoadError, Logged, World};
