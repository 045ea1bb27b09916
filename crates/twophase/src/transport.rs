//! One sweep of transport along an axis: F, φ, mass and momentum move with the same fluxes.
//!
//! With the Courant number c = A u dt/h on a face of open part A, the liquid Φ that crosses it is what the donor's plane holds in a slab
//! of volume |c|. Liquid and room both move in flux form,
//!
//! ```text
//! V ← V − (Φ₊ − Φ₋),      κ ← κ − (c₊ − c₋),      F = V/κ,
//! ```
//!
//! κ being the capacity of the cell: 1 before a step without solids, and after its three sweeps again 1, because the flow is free of divergence;
//! where solids move, what they leave of the cell. What the pressure solver leaves of divergence stays in κ and is paid back by the next
//! projection. Both fluids lose only what they hold, so that F stays between 0 and 1 as long as no more than κ leaves a cell:
//! twice the step of the usual split scheme \[WY10\], whose dilatation term this replaces.
//!
//! Mass follows from the same fluxes, m = κ(ρᴳ + (ρᴸ − ρᴳ)F), M = ρᴳ c + (ρᴸ − ρᴳ)Φ, and the control volume of a velocity
//! component, half of one cell and half of the next, has the mean of their masses and of their fluxes. Its momentum moves with
//! that mass,
//!
//! ```text
//! m u ← m u − (M₊ ũ₊ − M₋ ũ₋),      m ← m − (M₊ − M₋),
//! ```
//!
//! ũ being the upwind value, with a limited slope, which at the
//! interface is made smaller by the ratio of the densities. A uniform velocity stays uniform at any density ratio, momentum is conserved, and
//! with first-order ũ no velocity is larger than those around it.

use crate::apertures::Apertures;
use crate::grid::Grid;
use crate::interface::{DUST, Interface};
use crate::rows::Row;
use fearless_simd::{Level, Simd, dispatch};

/// Keeps quotients finite.
const TINY: f64 = 1e-30;

/// Control volumes that keep less than this part of their mass in a sweep mix what comes in with what is left.
const LEAST_LEFT: f64 = 1e-3;

/// What a sweep needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Sweep<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) apertures: &'a Apertures,
    pub(crate) level: Level,
    pub(crate) axis: usize,
    /// dt/h \[s/m\].
    pub(crate) scale: f64,
    /// Densities of the gas and the liquid \[kg/m³\].
    pub(crate) densities: [f64; 2],
}

/// Fields of a sweep that the momentum needs.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    /// Courant numbers c of the faces across the sweep.
    pub(crate) courant: &'a [f64],
    /// Liquid fluxes Φ through them.
    pub(crate) flux: &'a [f64],
    /// Capacity before the sweep.
    pub(crate) capacity: &'a [f64],
    /// Volume fraction before the sweep.
    pub(crate) fraction: &'a [f64],
    /// This component of the velocity before the sweep \[m/s\].
    pub(crate) velocity: &'a [f64],
}

impl Sweep<'_> {
    fn stride(&self) -> usize {
        self.grid.stride(self.axis)
    }

    /// Courant numbers and liquid fluxes of all faces across the axis; `cells` are capacity and volume fraction.
    pub(crate) fn fluxes(&self, velocity: &[f64], cells: [&[f64]; 2], interface: &Interface, outputs: [&mut [f64]; 2]) {
        let [capacity, fraction] = cells;
        self.grid.face_rows(self.axis).each(outputs, |row, [courant, flux]| {
            let open = self.apertures.faces(self.axis, &row);
            let inputs = [row.of(velocity), open, row.before(fraction, self.stride()), row.of(fraction)];
            dispatch!(self.level, simd => donate(simd, inputs, self.scale, courant, flux));
            self.cut_by_planes(&row, interface, capacity, [courant, flux]);
        });
    }

    /// Faces through which a mixed cell gives: the liquid in a slab behind the face.
    fn cut_by_planes(&self, row: &Row, interface: &Interface, capacity: &[f64], [courant, flux]: [&mut [f64]; 2]) {
        for (p, plane) in interface.in_row(row.number) {
            let face = p - row.start;
            // A cell too small for what it gives, a member of a group, gives its mixture.
            if courant[face] < 0.0 && capacity[p] > -courant[face] {
                let width = -courant[face] / capacity[p];
                flux[face] = -capacity[p] * plane.slab_volume(self.axis, 0.0, width);
            }
        }
        let rows_before = if self.axis == 0 { 0 } else { self.stride() / self.grid.stride(1) };
        for (p, plane) in interface.in_row(row.number - rows_before) {
            let face = p + self.stride() - row.start;
            if courant[face] > 0.0 && capacity[p] > courant[face] {
                let width = courant[face] / capacity[p];
                flux[face] = capacity[p] * plane.slab_volume(self.axis, 1.0 - width, width);
            }
        }
    }

    /// Moves liquid and room.
    pub(crate) fn move_volumes(&self, moving: &Moving, outputs: [&mut [f64]; 2]) {
        self.grid.rows().each(outputs, |row, output| {
            let cells = [row.of(moving.capacity), row.of(moving.fraction)];
            let c = [row.of(moving.courant), row.after(moving.courant, self.stride())];
            let flux = [row.of(moving.flux), row.after(moving.flux, self.stride())];
            dispatch!(self.level, simd => volumes(simd, cells, c, flux, output));
        });
    }

    /// Moves a field that is constant along the flow, the signed distance, to second order.
    pub(crate) fn move_distance(&self, courant: &[f64], distance: &[f64], output: &mut [f64]) {
        let s = self.stride();
        self.grid.rows().each([output], |row, [new]| {
            let values = five(&row, distance, s);
            let c = [row.of(courant), row.after(courant, s)];
            dispatch!(self.level, simd => carry(simd, values, c, new));
        });
    }

    /// Moves the momentum of one component of the velocity and divides it by the mass.
    pub(crate) fn move_momentum(&self, component: usize, moving: &Moving, output: &mut [f64]) {
        let (s, e) = (self.stride(), self.grid.stride(component));
        let aligned = component == self.axis;
        self.grid.rows().each([output], |row, [new]| {
            let here = |field, shift: usize| row.after(field, shift);
            let (c, flux) = (moving.courant, moving.flux);
            // Faces across the sweep around the control volume: of the cell behind it, then of the cell before it.
            let faces = |field| [here(field, 0), here(field, s), row.before(field, e), behind(&row, field, s, e)];
            let input = Momentum {
                courant: faces(c),
                flux: faces(flux),
                capacity: [row.of(moving.capacity), row.before(moving.capacity, e)],
                fraction: beside(&row, moving.fraction, s, e),
                velocity: five(&row, moving.velocity, s),
                densities: self.densities,
            };
            if aligned {
                dispatch!(self.level, simd => momentum::<_, true>(simd, &input, new));
            } else {
                dispatch!(self.level, simd => momentum::<_, false>(simd, &input, new));
            }
        });
    }
}

/// A field one further along the sweep and one back along the component.
#[inline(always)]
fn behind<'a>(row: &Row, field: &'a [f64], s: usize, e: usize) -> &'a [f64] {
    &field[row.start + s - e..row.start + s - e + row.len]
}

/// A field in the cells behind and before a control volume, then of the next along the sweep, then of the last.
#[inline(always)]
fn beside<'a>(row: &Row, field: &'a [f64], s: usize, e: usize) -> [&'a [f64]; 6] {
    let last = &field[row.start - s - e..row.start - s - e + row.len];
    [row.of(field), row.before(field, e), row.after(field, s), behind(row, field, s, e), row.before(field, s), last]
}

/// A field in five places along the sweep, the row in the middle.
#[inline(always)]
fn five<'a>(row: &Row, field: &'a [f64], s: usize) -> [&'a [f64]; 5] {
    [row.before(field, 2 * s), row.before(field, s), row.of(field), row.after(field, s), row.after(field, 2 * s)]
}

/// c = A u dt/h and Φ = c F of the donor.
#[inline(always)]
fn donate<S: Simd>(
    simd: S,
    [velocity, open, before, after]: [&[f64]; 4],
    scale: f64,
    courant: &mut [f64],
    flux: &mut [f64],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = courant.len();
            let (velocity, open, before, after) = (&velocity[..n], &open[..n], &before[..n], &after[..n]);
            let flux = &mut flux[..n];
            for i in 0..n {
                let c = open[i] * velocity[i] * scale;
                courant[i] = c;
                flux[i] = c * if c > 0.0 { before[i] } else { after[i] };
            }
        },
    );
}

/// A fraction without the traces that are no fluid of their own.
#[inline(always)]
pub(crate) fn without_dust(fraction: f64) -> f64 {
    let not_dust = if fraction > DUST { fraction } else { 0.0 };
    if not_dust < 1.0 - DUST { not_dust } else { 1.0 }
}

/// κ ← κ − (c₊ − c₋), F ← [κF − (Φ₊ − Φ₋)] / κ. A cell full of one fluid, with the same around it, stays so to the last bit.
#[inline(always)]
// (6) of docs/src/air-and-water.md
fn volumes<S: Simd>(
    simd: S,
    [capacity, f]: [&[f64]; 2],
    [c0, c1]: [&[f64]; 2],
    [flux0, flux1]: [&[f64]; 2],
    [new, new_capacity]: [&mut [f64]; 2],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = new.len();
            let (capacity, f, new_capacity) = (&capacity[..n], &f[..n], &mut new_capacity[..n]);
            let (c0, c1, flux0, flux1) = (&c0[..n], &c1[..n], &flux0[..n], &flux1[..n]);
            for i in 0..n {
                let room = capacity[i] - (c1[i] - c0[i]);
                let liquid = capacity[i] * f[i] - (flux1[i] - flux0[i]);
                new_capacity[i] = room;
                new[i] = if room > TINY { without_dust(liquid / room) } else { f[i] };
            }
        },
    );
}

/// φ ← φ − (c₊ φ̃₊ − c₋ φ̃₋) + φ (c₊ − c₋), φ̃ upwind with the central slope.
#[inline(always)]
fn carry<S: Simd>(simd: S, v: [&[f64]; 5], [c0, c1]: [&[f64]; 2], new: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = new.len();
            let v = v.map(|v| &v[..n]);
            let (c0, c1) = (&c0[..n], &c1[..n]);
            for i in 0..n {
                let central = |c, a: f64, b: f64, d: f64, e: f64| {
                    let (near, far, back) = if c > 0.0 { (b, d, a) } else { (d, b, e) };
                    near + 0.25 * (1.0 - f64::abs(c)) * (far - back)
                };
                let left = central(c0[i], v[0][i], v[1][i], v[2][i], v[3][i]);
                let right = central(c1[i], v[1][i], v[2][i], v[3][i], v[4][i]);
                new[i] = v[2][i] - c1[i] * (right - v[2][i]) + c0[i] * (left - v[2][i]);
            }
        },
    );
}

/// Rows around the control volumes of a component; pairs hold the cell behind and the cell before.
struct Momentum<'a> {
    /// Low and high face across the sweep, of the cell behind, then of the cell before.
    courant: [&'a [f64]; 4],
    flux: [&'a [f64]; 4],
    capacity: [&'a [f64]; 2],
    /// And of the cells beyond the low and the high flux.
    fraction: [&'a [f64]; 6],
    velocity: [&'a [f64]; 5],
    densities: [f64; 2],
}

#[inline(always)]
// (7) of docs/src/air-and-water.md
fn momentum<S: Simd, const ALIGNED: bool>(simd: S, input: &Momentum, new: &mut [f64]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let n = new.len();
            let c = input.courant.map(|v| &v[..n]);
            let flux = input.flux.map(|v| &v[..n]);
            let capacity = input.capacity.map(|v| &v[..n]);
            let f = input.fraction.map(|v| &v[..n]);
            let v = input.velocity.map(|v| &v[..n]);
            let [gas, liquid] = input.densities;
            let heavier = liquid - gas;
            let ratio = (gas / liquid).min(liquid / gas);
            for i in 0..n {
                let mass_flux = |k: usize| gas * c[k][i] + heavier * flux[k][i];
                // Low and high flux of the control volume: along its own axis they lie in the middles of the two cells.
                let ([a, b], [d, e]) = if ALIGNED { ([2, 0], [0, 1]) } else { ([0, 2], [1, 3]) };
                let (m0, m1) = (0.5 * (mass_flux(a) + mass_flux(b)), 0.5 * (mass_flux(d) + mass_flux(e)));
                let (c0, c1) = (0.5 * (c[a][i] + c[b][i]), 0.5 * (c[d][i] + c[e][i]));
                let density = |f: f64| gas + heavier * f;
                let mass = 0.5 * (capacity[0][i] * density(f[0][i]) + capacity[1][i] * density(f[1][i]));
                // Next to the interface a slope would mix the velocities of a heavy fluid and a light one.
                let pure = |k: usize| f[0][i] == f[1][i] && f[0][i] == f[k][i] && f[0][i] == f[k + 1][i];
                let slope = |k: usize, c: f64| (1.0 - c.abs()) * if pure(k) { 0.5 } else { 0.5 * ratio };
                let u0 = upwind(m0, slope(4, c0), [v[0][i], v[1][i], v[2][i], v[3][i]]);
                let u1 = upwind(m1, slope(2, c1), [v[1][i], v[2][i], v[3][i], v[4][i]]);
                let moved = mass * v[2][i] - (m1 * u1 - m0 * u0);
                let new_mass = mass - (m1 - m0);
                // Beside a solid more may leave than half of each cell holds, its group paying for the rest: then what comes in, and
                // what is left, mix, and nothing is faster than either.
                let (in0, in1) = (if m0 > 0.0 { m0 } else { 0.0 }, if m1 < 0.0 { -m1 } else { 0.0 });
                let left = new_mass - (in0 + in1);
                let kept = if left > 0.0 { left } else { 0.0 };
                let mixed = (kept * v[2][i] + in0 * u0 + in1 * u1) / (kept + in0 + in1 + TINY);
                let whole = left > LEAST_LEFT * mass;
                let stays = kept + in0 + in1 <= TINY;
                new[i] = if whole {
                    moved / new_mass
                } else if stays {
                    v[2][i]
                } else {
                    mixed
                };
            }
        },
    );
}

/// The value that a flux carries: that of the donor, moved along a limited slope. The flux lies between the second and the
/// third value.
#[inline(always)]
fn upwind(flux: f64, along: f64, [a, b, d, e]: [f64; 4]) -> f64 {
    let (near, far, back) = if flux > 0.0 { (b, d, a) } else { (d, b, e) };
    near + along * limited(near - back, far - near)
}

/// The monotonised central slope: the mean of two differences, at most twice the smaller, zero at extrema.
#[inline(always)]
fn limited(a: f64, b: f64) -> f64 {
    let least = |x: f64, y: f64| if x < y { x } else { y };
    let size = least(2.0 * least(a.abs(), b.abs()), 0.5 * (a + b).abs());
    if a * b > 0.0 { size.copysign(a) } else { 0.0 }
}
