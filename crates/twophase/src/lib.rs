//! Air and water on a grid.

mod boundary;
mod distance;
mod error;
mod facet;
mod fill;
mod flow;
mod grid;
mod interface;
mod normal;
mod openings;
mod params;
pub mod plic;
mod poisson;
mod rows;
mod state;
mod transport;

pub use error::SetupError;
pub use flow::{Flow, Setup};
pub use grid::{GHOSTS, Grid};
pub use params::{Fluid, Inflow, Open, Params, Side, Sides};
pub use state::State;
