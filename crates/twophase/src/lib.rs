//! Air and water on a grid: a sharp solver that keeps the volume of the liquid to round-off \[MKSMH07\].
//!
//! Both fluids are simulated, incompressible, at density ratios of 1000 and more. What is known, and where it lives on the
//! staggered [`Grid`]:
//!
//! | | | where |
//! |---|---|---|
//! | F | volume fraction of liquid: the truth about the interface | cells |
//! | φ | signed distance from the interface, positive in the liquid: gives normals | cells |
//! | u | velocity | faces |
//! | κ | capacity: the part of a cell that solids leave, as the flow has reached it | cells |
//! | p | live pressure, p − ρ g·(x − x_s): zero in fluids at rest | cells |
//!
//! The way of a step is in the documentation of [`Flow::step`] and in `step.rs`. A tour of the rooms:
//!
//! 1. **The interface.** A plane in every mixed cell ([`plic`]), its normal from φ, its constant from F. Facets of these planes give φ
//!    back. Heights of F over columns of cells give the curvature, where they can; paraboloids through facets where they cannot.
//! 2. **Transport.** One axis after the other; liquid, room, mass and momentum with the same fluxes. The ledger of the liquid takes care
//!    of the last digits.
//! 3. **Forces.** Surface tension and gravity are one jump of the live pressure across the interface, balanced by the pressure
//!    gradient face by face: what is at rest stays at rest. Viscosity is implicit where it must be.
//! 4. **Pressure.** Conjugate gradients in double precision, preconditioned by a multigrid cycle in single precision whose coarse grids
//!    are resistor networks; a solution takes 8 to 18 iterations, bubbles or not.
//! 5. **What stands around.** Sides are walls, periodic, open, outflows or inflows ([`Side`]); a [`Solid`], from walls, distances
//!    or triangle meshes, at rest, led along a path or with vertices that move, cuts faces and cells. What it does to the flow is a change of room.
//!
//! Planar problems run as slabs one cell thick. Sums go along fixed trees: the same bits at any number of threads.
//!
//! Deviations from \[MKSMH07\]: signs and misprints as in its errata (θ, the sign of g, ψ); gravity acts at the height of the interface, not
//! of the cell; momentum moves with the mass of both fluids, so that the sweeps need no velocity extrapolated from the liquid into the gas,
//! which pictures still want ([`Flow::in_liquid`]); solids cut faces in parts, without stairs \[NMG09\].

mod apertures;
mod bodies;
mod boundary;
mod bubbles;
mod chambers;
mod connected_regions;
mod curvature;
mod cut_cell;
mod distance;
mod error;
mod facet;
mod fill;
mod flow;
mod grid;
mod height_function;
mod interface;
mod interval;
mod measure;
mod merge;
mod normal;
mod params;
pub mod plic;
mod poisson;
mod pressure_jump;
mod projection;
mod rows;
mod solid;
mod space;
mod sponge;
mod state;
mod step;
mod surface;
#[cfg(test)]
mod test_rng;
mod transport;
mod viscosity;
mod viscous_jump;
mod volume_correction;
mod ways;

pub use bubbles::Bubbles;
pub use chambers::{ATMOSPHERE, Chamber};
pub use error::SetupError;
pub use flow::{Flow, Setup};
pub use grid::{GHOSTS, Grid};
pub use interval::Hidden;
pub use measure::{Energy, Ledger};
pub use params::{Fluid, Inflow, Open, Outflow, Params, Side, Sides};
pub use solid::{Solid, Thicken};
pub use state::{Passed, State};
pub use surface::Surface;
