//! Air and water on a grid.

mod boundary;
mod error;
mod grid;
mod params;
pub mod plic;
mod rows;

pub use error::SetupError;
pub use grid::{GHOSTS, Grid};
pub use params::{Fluid, Inflow, Open, Params, Side, Sides};
