//! The kink of the velocity at the interface.
//!
//! Between two viscous fluids of equal density the velocity along the interface is smooth, but its second derivative jumps as the pressure
//! does, by ∂J/μ along the interface. A second difference of the velocity is the mean of that derivative under a hat two cells wide, so
//! the liquid must count with its part under the same hat,
//!
//! ```text
//! B = Σ_i n_i² H(d / h|n_i|),      H(x) = 1 − ½(1 − x)² for 0 ≤ x ≤ 1,  H(−x) = 1 − H(x),
//! ```
//!
//! d being the depth of the cell's centre below the interface, less the h²/12 of its second differences that viscosity takes off too. What [`Forces::kick`] does, J ∇F, is −F ∇J and a gradient,
//! which the pressure takes up; it counts with its part F of a cell. The rest is
//!
//! ```text
//! u −= dt/(ρ h) r (B − F)(J₊ − J₋),
//! ```
//!
//! nothing where J is constant: what is at rest stays so. The share r is the ratio of the densities: the light fluid of a pair like air
//! and water follows the heavy one and must not be pushed with its weight. \[Ours.\]

use crate::curvature::{InterfaceProbe, by_size};
use crate::height_function::HeightStencil;
use crate::pressure_jump::Forces;
use glam::DVec3;

/// B − F of a flat interface is never more.
const MAX_DIFFERENCE: f64 = 0.125;

/// The part of a hat from −1 to 1 that lies below x.
fn under_hat(x: f64) -> f64 {
    let far = (1.0 - x.abs()).max(0.0);
    let beyond = 0.5 * far * far;
    if x > 0.0 { 1.0 - beyond } else { beyond }
}

/// The same less a twelfth of its second difference.
fn sharpened(x: f64) -> f64 {
    under_hat(x) - (under_hat(x + 1.0) - 2.0 * under_hat(x) + under_hat(x - 1.0)) / 12.0
}

/// A cell of a column through the interface.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bent {
    cell: u32,
    /// J of the interface in its column \[Pa\].
    potential: f64,
    /// B − F.
    surplus: f64,
}

impl InterfaceProbe<'_> {
    /// Lists the cells at the interface and the ones before and behind it along the axis nearest to its normal. Specks, whose columns
    /// have their interface elsewhere, are left out.
    fn list_bent(&self, potentials: &[(f64, bool)], bent: &mut Vec<Bent>) {
        bent.clear();
        for ((&p, plane), &(potential, by_heights)) in
            self.interface.cells().iter().zip(self.interface.planes()).zip(potentials)
        {
            let normal = DVec3::from_array(plane.normal).normalize_or_zero();
            let [axis, ..] = by_size(plane.normal);
            let up = if normal[axis] > 0.0 { 1 } else { -1 };
            let around = HeightStencil::new(self.grid, self.boundary, self.fraction, p as usize);
            let height = around.height(axis, up, [0; 3]).filter(|height| by_heights && height.abs() <= 0.5);
            let Some(height) = height else { continue };
            for further in [-1, 0, 1] {
                let cell = (p as usize).wrapping_add_signed(up * further * self.grid.stride(axis) as isize);
                if self.grid.contains(cell) {
                    // Depth of the cell's centre along the axis, then across the interface.
                    let depth = (height - further as f64) * normal[axis].abs();
                    let part = |n: f64| if n == 0.0 { 0.0 } else { n * n * sharpened(depth / n.abs()) };
                    let under = part(normal.x) + part(normal.y) + part(normal.z);
                    let surplus = (under - self.fraction[cell]).clamp(-MAX_DIFFERENCE, MAX_DIFFERENCE);
                    bent.push(Bent { cell: cell as u32, potential, surplus });
                }
            }
        }
    }
}

impl Forces {
    /// u −= dt/(ρ h) r (B − F)(J₊ − J₋) on all faces; `scale` is r dt/h \[s/m\]. `fields` is memory for two numbers per cell.
    pub(crate) fn kick_viscous_jump(
        &self,
        probe: &InterfaceProbe,
        (potentials, bent): (&[(f64, bool)], &mut Vec<Bent>),
        [potential, surplus]: [&mut [f64]; 2],
        (scale, gas): (f64, f64),
        velocity: &mut [Vec<f64>; 3],
    ) {
        probe.list_bent(potentials, bent);
        potential.fill(f64::NAN);
        // Of several columns through a cell the last counts.
        for bent in bent.iter() {
            potential[bent.cell as usize] = bent.potential;
            surplus[bent.cell as usize] = bent.surplus;
        }
        probe.boundary.fill_cells(probe.grid, potential);
        probe.boundary.fill_cells(probe.grid, surplus);
        bent.sort_unstable_by_key(|bent| bent.cell);
        bent.dedup_by_key(|bent| bent.cell);
        for p in bent.iter().map(|bent| bent.cell as usize) {
            for axis in probe.grid.active_axes() {
                let before = p - probe.grid.stride(axis);
                let climb = potential[p] - potential[before];
                if !climb.is_nan() {
                    let density = gas + 0.5 * self.density_difference * (probe.fraction[before] + probe.fraction[p]);
                    velocity[axis][p] -= scale / density * 0.5 * (surplus[before] + surplus[p]) * climb;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sharpened_hat_is_a_mean_with_a_twelfth_of_second_moment() {
        // Weights of faces around an interface at any position: they sum to one, their middle is there, and their spread is that of
        // the hat, h²/4, less 2h²/12.
        for position in [0.0, 0.13, 0.5, 0.77] {
            let weight = |j: i32| {
                let center = |j: i32| position - (f64::from(j) + 0.5);
                sharpened(center(j - 1)) - sharpened(center(j))
            };
            let moment = |k: i32| (-4..=5).map(|j| weight(j) * (f64::from(j) - position).powi(k)).sum::<f64>();
            assert!((moment(0) - 1.0).abs() < 1e-12 && moment(1).abs() < 1e-12, "{position}");
            assert!((moment(2) - (0.25 - 1.0 / 6.0)).abs() < 1e-12, "{position} {}", moment(2));
        }
    }
}
