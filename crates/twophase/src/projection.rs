//! The projection: the pressure that makes the velocity free of divergence, and what it does to the velocity.
//!
//! ```text
//! Σ_f A/ρ (p_c − p_n) = −h/dt (Σ_f ±A u + h κ̇),      u ← u − dt/(ρ h) (p₊ − p₋),
//! ```
//!
//! κ̇ being how fast solids make room in a cell, and what the last projection left, with the density on a face the mean of those of its cells: the same mass that carries its momentum. Walls and inflows
//! have coefficient zero. Beyond an open side the live pressure is that of a wave that leaves, p = ρ c u·n; half a cell
//! away, this is a node at zero behind a coefficient 2/ρ/(1 + 2c dt/h), the provisional velocity on the side being divided
//! by the same 1 + 2c dt/h. Beyond an outflow the pressure is that of air.

use crate::params::Side;
use crate::space::Space;
use fearless_simd::{Simd, dispatch};

/// What a projection needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Projection<'a> {
    pub(crate) space: Space<'a>,
    /// dt/h \[s/m\].
    pub(crate) scale: f64,
    /// Densities of the gas and the liquid \[kg/m³\].
    pub(crate) densities: [f64; 2],
}

impl Projection<'_> {
    /// Coefficients A/ρ of all faces \[m³/kg\].
    pub(crate) fn coefficients(&self, fraction: &[f64], coefficients: &mut [Vec<f64>; 3]) {
        for (axis, field) in coefficients.iter_mut().enumerate() {
            let s = self.space.grid.stride(axis);
            self.space.grid.face_rows(axis).each([field], |row, [out]| {
                let inputs = [row.before(fraction, s), row.of(fraction), self.space.apertures.faces(axis, &row)];
                dispatch!(self.space.level, simd => inverse_densities(simd, inputs, self.densities, out));
            });
            self.set_sides(axis, field);
        }
    }

    fn set_sides(&self, axis: usize, field: &mut [f64]) {
        let n = self.space.grid.cells()[axis] as isize;
        for (end, i) in [(0, 0), (1, n)] {
            let factor = match self.space.boundary.side(axis, end) {
                Side::Slip | Side::NoSlip | Side::Inflow(_) => 0.0,
                Side::Periodic if n == 1 => 0.0,
                Side::Periodic => 1.0,
                Side::Open(open) => 2.0 / (1.0 + 2.0 * open.wave_speed * self.scale),
                Side::Outflow(_) => 2.0,
            };
            self.space.grid.layer(axis, i).for_each(|p| field[p] *= factor);
        }
    }

    /// Divides the velocity on open sides by 1 + 2c dt/h.
    pub(crate) fn resist_on_open_sides(&self, velocity: &mut [Vec<f64>; 3]) {
        for (axis, field) in velocity.iter_mut().enumerate() {
            for (end, i) in [(0, 0), (1, self.space.grid.cells()[axis] as isize)] {
                if let Side::Open(open) = self.space.boundary.side(axis, end) {
                    let factor = 1.0 / (1.0 + 2.0 * open.wave_speed * self.scale);
                    self.space.grid.layer(axis, i).for_each(|p| field[p] *= factor);
                }
            }
        }
    }

    /// −h/dt (Σ ±A u + h κ̇) of every cell \[1/s²·m²\], κ̇ = (κ_b − κ)/`payback`.
    // (10) of docs/src/air-and-water.md
    pub(crate) fn right_hand_side(&self, velocity: &[Vec<f64>; 3], capacity: &[f64], payback: f64, output: &mut [f64]) {
        let rate = -self.space.grid.spacing() / (self.scale * payback);
        self.space.grid.rows().each([output], |row, [out]| {
            let rooms = row.of(capacity).iter().zip(self.space.apertures.capacity(&row));
            out.iter_mut().zip(rooms).for_each(|(out, (room, last))| *out = rate * (last - room));
            for (axis, field) in velocity.iter().enumerate() {
                let s = self.space.grid.stride(axis);
                let open = [self.space.apertures.faces(axis, &row), self.space.apertures.faces_after(axis, &row, s)];
                let u = [row.of(field), row.after(field, s)];
                dispatch!(self.space.level, simd => collect(simd, u, open, -1.0 / self.scale, out));
            }
        });
    }

    /// u −= dt/(ρ h) (p₊ − p₋) on all faces that are open.
    // (11) of docs/src/air-and-water.md
    pub(crate) fn correct(&self, coefficients: &[Vec<f64>; 3], pressure: &[f64], velocity: &mut [Vec<f64>; 3]) {
        for (axis, field) in velocity.iter_mut().enumerate() {
            let s = self.space.grid.stride(axis);
            self.space.grid.face_rows(axis).each([field], |row, [u]| {
                let inputs = [row.of(&coefficients[axis]), self.space.apertures.faces(axis, &row)];
                let p = [row.before(pressure, s), row.of(pressure)];
                dispatch!(self.space.level, simd => push(simd, inputs, p, self.scale, u));
            });
        }
    }
}

#[inline(always)]
fn inverse_densities<S: Simd>(simd: S, [before, after, open]: [&[f64]; 3], [gas, liquid]: [f64; 2], out: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = out.len();
            let (before, after, open) = (&before[..n], &after[..n], &open[..n]);
            let half = 0.5 * (liquid - gas);
            for i in 0..n {
                out[i] = open[i] / (gas + half * (before[i] + after[i]));
            }
        },
    );
}

#[inline(always)]
fn collect<S: Simd>(simd: S, [u, v]: [&[f64]; 2], [a, b]: [&[f64]; 2], factor: f64, out: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = out.len();
            let (u, v, a, b) = (&u[..n], &v[..n], &a[..n], &b[..n]);
            for i in 0..n {
                out[i] += factor * (b[i] * v[i] - a[i] * u[i]);
            }
        },
    );
}

#[inline(always)]
fn push<S: Simd>(simd: S, [coefficient, open]: [&[f64]; 2], [p, q]: [&[f64]; 2], scale: f64, u: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = u.len();
            let (coefficient, open, p, q) = (&coefficient[..n], &open[..n], &p[..n], &q[..n]);
            for i in 0..n {
                let conductance = if open[i] > 0.0 { coefficient[i] / open[i] } else { 0.0 };
                u[i] -= scale * conductance * (q[i] - p[i]);
            }
        },
    );
}
