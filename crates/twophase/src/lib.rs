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
mod measure;
mod normal;
mod openings;
mod params;
pub mod plic;
mod poisson;
mod projection;
mod regions;
mod rows;
mod solid;
mod sponge;
mod state;
mod step;
mod surface;
mod transport;
mod viscosity;
mod volume;

pub use error::SetupError;
pub use flow::{Flow, Setup};
pub use grid::{GHOSTS, Grid};
pub use measure::Energy;
pub use params::{Fluid, Inflow, Open, Params, Side, Sides};
pub use solid::Solid;
pub use state::State;
pub use surface::Surface;
