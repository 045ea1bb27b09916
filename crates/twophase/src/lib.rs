//! Air and water on a grid.

mod boundary;
mod curvature;
mod distance;
mod error;
mod facet;
mod fill;
mod flow;
mod grid;
mod heights;
mod interface;
mod jump;
mod normal;
mod openings;
mod params;
pub mod plic;
mod poisson;
mod projection;
mod rows;
mod state;
mod transport;
mod viscosity;
mod volume;

pub use error::SetupError;
pub use flow::{Flow, Setup};
pub use grid::{GHOSTS, Grid};
pub use params::{Fluid, Inflow, Open, Params, Side, Sides};
pub use state::State;
