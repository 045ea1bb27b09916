//! Surface tension and gravity as one jump of the live pressure across the interface.
//!
//! The live pressure is p − ρ g·(x − x_s), with x_s on the still level: fluids at rest have none of it. Across the interface it
//! jumps by the potential
//!
//! ```text
//! J = p_L − p_G = σ κ − (ρᴸ − ρᴳ) g·(x_Γ − x_s),
//! ```
//!
//! x_Γ being where the interface is, and on a face where F changes, u += dt/(ρ h) J (F₊ − F₋). The pressure gradient, taken with
//! the same differences, balances this exactly wherever J is constant: a flat pool and a round drop stay at rest.
//! \[MKSMH07 eq. for p^live, with the sign of g mended; compare the printed z of the cell with z of the interface.\]

use crate::curvature::{Found, InterfaceProbe};
use crate::height_function::HeightStencil;
use glam::DVec3;
use rayon::prelude::*;

/// Cells per task.
const GRAIN: usize = 64;

/// What the potential is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Forces {
    /// σ \[N/m\].
    pub(crate) surface_tension: f64,
    /// ρᴸ − ρᴳ \[kg/m³\].
    pub(crate) density_difference: f64,
    /// g \[m/s²\].
    pub(crate) gravity: DVec3,
    /// Height of the still level against gravity \[m\].
    pub(crate) still_level: f64,
    /// A curvature to be used instead of the measured one \[1/m\].
    pub(crate) prescribed_curvature: Option<f64>,
}

impl Forces {
    /// J \[Pa\] from a curvature \[1/m\] at a position \[m\].
    // (5) of docs/src/air-and-water.md
    fn potential(&self, curvature: f64, position: DVec3) -> f64 {
        let height = self.gravity.dot(position) + self.gravity.length() * self.still_level;
        self.surface_tension * curvature - self.density_difference * height
    }

    /// J of all mixed cells; returns how many curvatures did not come from heights.
    pub(crate) fn find(&self, probe: &InterfaceProbe, potentials: &mut Vec<(f64, bool)>) -> usize {
        let bends = self.surface_tension > 0.0;
        let cells = 0..probe.interface.cells().len();
        let one = |k: usize| {
            let (curvature, found) = match self.prescribed_curvature {
                Some(curvature) => (curvature, Found::Heights),
                None if bends => probe.curvature(k),
                None => (0.0, Found::Heights),
            };
            (self.potential(curvature, probe.position(k)), found == Found::Heights)
        };
        cells.into_par_iter().with_min_len(GRAIN).map(one).collect_into_vec(potentials);
        potentials.iter().filter(|(_, by_heights)| !by_heights).count()
    }

    /// J on a face between a full and an empty cell: the interface is the face.
    fn on_face(&self, probe: &InterfaceProbe, axis: usize, p: usize) -> f64 {
        let full_before = probe.fraction[p] < 0.5;
        let (full, up) = if full_before { (p - probe.grid.stride(axis), 1) } else { (p, -1) };
        let measured = || {
            let around = HeightStencil::new(probe.grid, probe.boundary, probe.fraction, full);
            around.curvature(axis, up).unwrap_or(0.0) / probe.grid.spacing()
        };
        let bends = self.surface_tension > 0.0;
        let curvature = self.prescribed_curvature.unwrap_or_else(|| if bends { measured() } else { 0.0 });
        self.potential(curvature, probe.grid.face_center(axis, p))
    }

    /// u += dt/(ρ h) J (F₊ − F₋) on the faces along an axis. `potentials` holds J in the mixed cells and NaN elsewhere, `scale` is
    /// dt/h \[s/m\].
    // (9) of docs/src/air-and-water.md
    pub(crate) fn kick(
        &self,
        probe: &InterfaceProbe,
        axis: usize,
        potentials: &[f64],
        (scale, gas): (f64, f64),
        velocity: &mut [f64],
    ) {
        let s = probe.grid.stride(axis);
        probe.grid.rows().each([velocity], |row, [u]| {
            let (before, here) = (row.before(probe.fraction, s), row.of(probe.fraction));
            for (i, (a, b)) in before.iter().zip(here).enumerate() {
                if a != b {
                    let p = row.start + i;
                    let potential = match (potentials[p - s], potentials[p]) {
                        (a, b) if a.is_nan() && b.is_nan() => self.on_face(probe, axis, p),
                        (a, b) if a.is_nan() => b,
                        (a, b) if b.is_nan() => a,
                        (a, b) => 0.5 * (a + b),
                    };
                    let density = gas + 0.5 * self.density_difference * (a + b);
                    u[i] += scale / density * potential * (b - a);
                }
            }
        });
    }
}
