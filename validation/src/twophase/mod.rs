//! Air and water on a grid. Planar references run as slabs one cell thick.

mod advection;
mod bubble;
mod capillary;
mod heart;
mod jet;
mod moving;
mod rest;
mod sphere;
mod tank;
mod waves;

pub(crate) use advection::{deformation, vortex, zalesak};
pub(crate) use bubble::{rayleigh_taylor, rising};
pub(crate) use capillary::{drop as drop_oscillation, wave as capillary_wave};
pub(crate) use heart::stroke as heart_stroke;
pub(crate) use jet::outflow;
pub(crate) use moving::{
    cylinder as oscillating_cylinder, entry as entry_volume, gas_chamber, piston, shell as shell_tight,
    translate as translate_invariance,
};
pub(crate) use rest::{drop as static_drop, hydrostatic};
pub(crate) use sphere::led as led_sphere;
pub(crate) use tank::{box_volume, dam_break, sloshing};
pub(crate) use waves::{drop as moving_drop, hump as open_hump, standing as standing_wave};

use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::geometry::Aabb;
use meniscus::twophase::{Flow, Fluid, Params, Setup};

/// Liquid and gas of these densities \[kg/m³\] and viscosities \[Pa·s\], without surface tension, on cells of an edge \[m\].
fn fluids(spacing: f64, densities: [f64; 2], viscosities: [f64; 2]) -> Params {
    let [liquid, gas] = [0, 1].map(|k| Fluid { density: densities[k], viscosity: viscosities[k] });
    Params { spacing, liquid, gas, surface_tension: 0.0, ..Params::default() }
}

/// A box of cells from the origin.
fn boxed(cells: [usize; 3], params: Params, gravity: DVec3) -> Result<Flow, String> {
    let size = DVec3::from_array(cells.map(|n| n as f64)) * params.spacing;
    let domain = Aabb::new(DVec3::ZERO, size);
    Flow::new(Setup { params, domain, gravity, solid: None }).map_err(|e| e.to_string())
}

/// Steps until a time \[s\], calling `watch` before the first step and after each.
fn run(flow: &mut Flow, end: f64, mut watch: impl FnMut(&Flow, f64)) -> Result<(), String> {
    let mut report = StepReport::default();
    let mut time = 0.0;
    watch(flow, time);
    while time < end * (1.0 - 1e-12) {
        let left = end - time;
        // Round-off must not halve a step that fits.
        let mut dt = left / (left / flow.stable_step() - 1e-9).ceil().max(1.0);
        // A velocity that was just set may become faster when it is made free of divergence.
        for tries in 0.. {
            match flow.step(dt, &mut report) {
                Ok(()) => break,
                Err(error) if tries == 5 => return Err(error.to_string()),
                Err(_) => flow.roll_back(),
            }
            dt *= 0.5;
        }
        time += dt;
        watch(flow, time);
    }
    Ok(())
}
