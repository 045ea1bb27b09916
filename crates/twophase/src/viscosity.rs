//! Viscosity: ρ (u − u*) = dt ∇·[μ (∇u + ∇uᵀ)].
//!
//! On the staggered grid the normal stresses 2μ ∂u/∂x live in cells and the shear stresses μ (∂u/∂y + ∂v/∂x) on edges, with μ
//! the mean over the cells around. The three components are solved together, implicitly, by conjugate gradients over the
//! diagonal: the operator is the derivative of the dissipated power, hence symmetric and positive, and energy can only fall. Where
//! the diffusion number dt μ/(ρ h²) is far below the limit of stability, one explicit step does the same. What second differences
//! get wrong is taken off afterwards, see [`Viscosity::sharpen`].

use crate::apertures::{SLIPPERY, STICKY};
use crate::params::Fluid;
use crate::rows::{Row, dot};
use crate::space::Space;
use fearless_simd::{Simd, dispatch};

/// Diffusion numbers below this are stepped explicitly; 1/12 is the limit.
const EXPLICIT: f64 = 0.01;
/// Squares of the tolerances for the change and for the velocity.
const TOLERANCES: [f64; 2] = [1e-14, 1e-26];
/// Below this diffusion number the error of second differences is not worth its time: cells lose their fluid long before.
const SHARPENED: f64 = 1e-3;
const MAX_ITERATIONS: u32 = 300;

/// A velocity on faces.
type Field = [Vec<f64>; 3];

/// What the viscosity needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Viscosity<'a> {
    pub(crate) space: Space<'a>,
    /// dt/h² \[s/m²\].
    pub(crate) scale: f64,
    pub(crate) gas: Fluid,
    pub(crate) liquid: Fluid,
    pub(crate) fraction: &'a [f64],
    /// ψ at the nodes \[m\], if there are solids.
    pub(crate) wall_distance: Option<&'a [f64]>,
    /// How smooth the velocity is across the interface, see [`crate::params::Params::smoothness`].
    pub(crate) smoothness: f64,
}

impl Viscosity<'_> {
    /// Largest diffusion number dt μ/(ρ h²).
    fn number(&self) -> f64 {
        let of = |fluid: Fluid| fluid.viscosity / fluid.density;
        // A mixed face may have the viscosity of the one and the density of the other.
        let mixed = self.gas.viscosity.max(self.liquid.viscosity) / (0.5 * (self.gas.density + self.liquid.density));
        self.scale * of(self.gas).max(of(self.liquid)).max(mixed)
    }

    /// Lets the viscosity act on the velocity; `work` is memory for three more. Returns the number of iterations.
    // (8) of docs/src/air-and-water.md
    pub(crate) fn act(&self, velocity: &mut Field, work: [&mut Field; 3], sums: &mut Vec<f64>) -> u32 {
        let [d, r, q] = work;
        self.apply(velocity, r, [0.0, -1.0], sums);
        if self.number() < EXPLICIT {
            for axis in self.space.grid.active_axes() {
                self.space.grid.rows().each([&mut velocity[axis]], |row, [u]| {
                    let density = self.densities(axis, &row);
                    u.iter_mut().zip(row.of(&r[axis])).zip(density).for_each(|((u, r), density)| *u += r / density);
                });
            }
            self.sharpen(velocity, r, d);
            self.fill(velocity);
            return 0;
        }
        let energy = self.energy(velocity, sums);
        let mut rz = self.precondition(r, q, sums);
        let limit = TOLERANCES[0] * rz + TOLERANCES[1] * energy;
        for axis in 0..3 {
            if self.space.grid.is_active(axis) {
                d[axis].copy_from_slice(&q[axis]);
            } else {
                d[axis].fill(0.0);
            }
        }
        let mut iterations = 0;
        while rz > limit && iterations < MAX_ITERATIONS {
            self.fill_changes(d);
            let alpha = rz / self.apply(d, q, [1.0, 1.0], sums).max(f64::MIN_POSITIVE);
            for axis in self.space.grid.active_axes() {
                self.space.grid.rows().each([&mut velocity[axis], &mut r[axis]], |row, [u, r]| {
                    let (d, q) = (row.of(&d[axis]), row.of(&q[axis]));
                    u.iter_mut().zip(d).for_each(|(u, d)| *u += alpha * d);
                    r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q);
                });
            }
            let before = std::mem::replace(&mut rz, self.precondition(r, q, sums));
            for axis in self.space.grid.active_axes() {
                self.space.grid.rows().each([&mut d[axis]], |row, [d]| {
                    d.iter_mut().zip(row.of(&q[axis])).for_each(|(d, z)| *d = z + rz / before * *d);
                });
            }
            iterations += 1;
        }
        self.fill(velocity);
        self.apply(velocity, r, [0.0, -1.0], sums);
        self.sharpen(velocity, r, d);
        self.fill(velocity);
        iterations
    }

    /// u −= h²/12 ∇²d, d being what viscosity has changed in the velocity and r in the momentum: the second differences that made it are
    /// too small by h²/12 ∇⁴u. The momentum goes from face to face, with the smaller of their densities; less of it where momentum passes
    /// many cells in a step, where it would overshoot. None crosses sides and solids: what viscosity does there has no slope.
    fn sharpen(&self, velocity: &mut Field, r: &Field, d: &mut Field) {
        let number = self.number();
        if number <= SHARPENED {
            return;
        }
        for axis in self.space.grid.active_axes() {
            self.space.grid.rows().each([&mut d[axis]], |row, [d]| {
                let changes = row.of(&r[axis]).iter().zip(self.densities(axis, &row));
                d.iter_mut().zip(changes).for_each(|(d, (r, density))| *d = r / density);
            });
        }
        self.fill_changes(d);
        let weight = 1.0 / (12.0 * (1.0 + number));
        let Space { grid, boundary, apertures, .. } = self.space;
        let (gas, half) = (self.gas.density, 0.5 * (self.liquid.density - self.gas.density));
        let rows = grid.rows();
        for axis in grid.active_axes() {
            let (e, d) = (grid.stride(axis), &d[axis]);
            let density = |p: usize| gas + half * (self.fraction[p - e] + self.fraction[p]);
            let fractions = |p: usize| self.fraction[p - e] + self.fraction[p];
            let open = |p: usize| apertures.cut().is_none_or(|cut| cut.faces[axis][p] > 0.0);
            rows.each([&mut velocity[axis]], |row, [u]| {
                let [j, k] = rows.coordinates(&row);
                for (i, u) in u.iter_mut().enumerate() {
                    let (p, cell) = (row.start + i, [i, j, k]);
                    let first = |t: usize| usize::from(t == axis && !boundary.is_periodic(t));
                    if !open(p) || cell[axis] < first(axis) {
                        continue;
                    }
                    let (own, mix) = (density(p), fractions(p));
                    // Across the interface what viscosity does may jump.
                    let smooth = |q: usize| if fractions(q) == mix && mix % 2.0 == 0.0 { 1.0 } else { self.smoothness };
                    let from = |q: usize| if open(q) { smooth(q) * density(q).min(own) * (d[q] - d[p]) } else { 0.0 };
                    let along = |t: usize| {
                        let (s, periodic) = (grid.stride(t), boundary.is_periodic(t));
                        let low = if periodic || cell[t] > first(t) { from(p - s) } else { 0.0 };
                        let high = if periodic || cell[t] + 1 < grid.cells()[t] { from(p + s) } else { 0.0 };
                        low + high
                    };
                    *u -= weight / own * grid.active_axes().map(along).sum::<f64>();
                }
            });
        }
    }

    /// Fills the ghosts of a velocity.
    fn fill(&self, velocity: &mut Field) {
        for component in self.space.grid.active_axes() {
            self.space.boundary.fill_faces(self.space.grid, component, &mut velocity[component], 1.0);
        }
    }

    /// Fills the ghosts of changes of velocity; sides do not change.
    fn fill_changes(&self, field: &mut Field) {
        for component in self.space.grid.active_axes() {
            self.hold_sides(component, &mut field[component]);
            self.space.boundary.fill_faces(self.space.grid, component, &mut field[component], 0.0);
        }
    }

    /// q = inertia·ρu − friction·dt/h² Σ stresses: both one for the operator; 0 and −1 for the stresses alone. Returns u · q.
    fn apply(&self, u: &Field, q: &mut Field, [inertia, friction]: [f64; 2], sums: &mut Vec<f64>) -> f64 {
        let mut product = 0.0;
        for axis in self.space.grid.active_axes() {
            self.space.grid.rows().each([&mut q[axis]], |row, [out]| {
                let stencil = Stencil::new(self, axis, &row, u);
                dispatch!(self.space.level, simd => stencil.forces(simd, out));
                let density = self.densities(axis, &row);
                for ((out, u), density) in out.iter_mut().zip(row.of(&u[axis])).zip(density) {
                    *out = inertia * density * u - friction * self.scale * *out;
                }
                self.close(axis, &row, out);
            });
            self.hold_sides(axis, &mut q[axis]);
            product +=
                self.space.grid.rows().sum::<f64, 0>([], sums, |row, []| dot(row.of(&u[axis]), row.of(&q[axis])));
        }
        product
    }

    /// Densities of the faces of a row.
    fn densities<'b>(&'b self, axis: usize, row: &Row) -> impl Iterator<Item = f64> + 'b {
        let (gas, half) = (self.gas.density, 0.5 * (self.liquid.density - self.gas.density));
        let before = row.before(self.fraction, self.space.grid.stride(axis));
        before.iter().zip(row.of(self.fraction)).map(move |(a, b)| gas + half * (a + b))
    }

    /// Nothing moves on closed faces.
    fn close(&self, axis: usize, row: &Row, out: &mut [f64]) {
        if self.space.apertures.cut().is_some() {
            let open = self.space.apertures.faces(axis, row);
            out.iter_mut().zip(open).filter(|(_, open)| **open <= 0.0).for_each(|(out, _)| *out = 0.0);
        }
    }

    /// Nothing changes on the two sides along an axis, unless they are periodic.
    fn hold_sides(&self, axis: usize, field: &mut [f64]) {
        if !self.space.boundary.is_periodic(axis) {
            for side in [0, self.space.grid.cells()[axis] as isize] {
                self.space.grid.layer(axis, side).for_each(|p| field[p] = 0.0);
            }
        }
    }

    fn energy(&self, u: &Field, sums: &mut Vec<f64>) -> f64 {
        let along = |axis: usize| {
            self.space.grid.rows().sum::<f64, 0>([], sums, |row, []| {
                row.of(&u[axis]).iter().zip(self.densities(axis, &row)).map(|(u, density)| density * u * u).sum()
            })
        };
        self.space.grid.active_axes().map(along).sum()
    }

    /// z = r over the diagonal; returns r · z.
    fn precondition(&self, r: &Field, z: &mut Field, sums: &mut Vec<f64>) -> f64 {
        let mut product = 0.0;
        for axis in self.space.grid.active_axes() {
            product += self.space.grid.rows().sum([&mut z[axis]], sums, |row, [z]| {
                let stencil = Stencil::new(self, axis, &row, r);
                let r = row.of(&r[axis]);
                for (i, (z, density)) in z.iter_mut().zip(self.densities(axis, &row)).enumerate() {
                    *z = r[i] / (density + self.scale * stencil.diagonal(i));
                }
                dot(z, r)
            });
        }
        product
    }
}

/// Solids around the low and the high edge along each of the other axes.
struct Walls<'a> {
    /// What the three other faces are, see `apertures`.
    friction: [[[&'a [f64]; 3]; 2]; 2],
    /// ψ over h at the two ends of the edge.
    distance: [[[&'a [f64]; 2]; 2]; 2],
    /// 1/h \[1/m\].
    per_cell: f64,
}

/// A wall is taken to be no nearer to the velocity that it holds than this part of a cell: nearer ones would need smaller explicit steps.
const NEAREST: f64 = 0.1;

impl Walls<'_> {
    /// What a solid makes of the viscosity of an edge: none where the fluids slip; where they stick, the velocity changes not over a
    /// cell, but from half a cell before the edge to the wall, which is ψ beyond it.
    #[inline(always)]
    fn factor(&self, axis: usize, end: usize, i: usize) -> f64 {
        let faces = &self.friction[axis][end];
        let is = |kind: f64| faces.iter().any(|face| face[i] == kind);
        let [a, b] = self.distance[axis][end];
        let away = 0.5 + 0.5 * (a[i] + b[i]) * self.per_cell;
        if is(SLIPPERY) {
            0.0
        } else if is(STICKY) {
            1.0 / away.clamp(NEAREST, 1.0)
        } else {
            1.0
        }
    }
}

/// A component and what it touches.
struct Stencil<'a> {
    /// The component: here, and low and high along itself and the two other axes.
    center: &'a [f64],
    values: [[&'a [f64]; 2]; 3],
    /// The two other components on the low and the high edge, behind and before it.
    others: [[[&'a [f64]; 2]; 2]; 2],
    /// F behind and before the face; beside them, low and high along each of the other axes.
    fraction: [&'a [f64]; 2],
    beside: [[[&'a [f64]; 2]; 2]; 2],
    /// Solids around these edges.
    walls: Option<Walls<'a>>,
    viscosity: [f64; 2],
}

impl<'a> Stencil<'a> {
    #[inline(always)]
    fn new(viscosity: &Viscosity<'a>, axis: usize, row: &Row, u: &'a Field) -> Self {
        let grid = viscosity.space.grid;
        let e = grid.stride(axis);
        let axes = [axis, (axis + 1) % 3, (axis + 2) % 3];
        let at = |field: &'a [f64], shift: isize| {
            let start = row.start.wrapping_add_signed(shift);
            &field[start..start + row.len]
        };
        let (component, f) = (&u[axis], viscosity.fraction);
        let (gas, liquid) = (viscosity.gas.viscosity, viscosity.liquid.viscosity);
        let stride = |k: usize| grid.stride(axes[k]) as isize;
        let back = e as isize;
        Self {
            center: row.of(component),
            values: [0, 1, 2].map(|k| [at(component, -stride(k)), at(component, stride(k))]),
            others: [1, 2].map(|k| {
                let other = &u[axes[k]];
                [[at(other, 0), at(other, -back)], [at(other, stride(k)), at(other, stride(k) - back)]]
            }),
            fraction: [at(f, 0), at(f, -back)],
            beside: [1, 2].map(|k| {
                let s = stride(k);
                [[at(f, -s), at(f, -s - back)], [at(f, s), at(f, s - back)]]
            }),
            walls: viscosity.space.apertures.cut().zip(viscosity.wall_distance).map(|(cut, nodes)| Walls {
                friction: [1, 2].map(|k| {
                    let (own, other, s) = (&cut.friction[axis], &cut.friction[axes[k]], stride(k));
                    [[at(own, -s), at(other, 0), at(other, -back)], [at(own, s), at(other, s), at(other, s - back)]]
                }),
                distance: [1, 2].map(|k| [0, stride(k)].map(|to| [at(nodes, to), at(nodes, to + stride(3 - k))])),
                per_cell: 1.0 / grid.spacing(),
            }),
            viscosity: [gas, liquid - gas],
        }
    }

    /// μ of a cell from its fraction.
    #[inline(always)]
    fn of(&self, f: f64) -> f64 {
        self.viscosity[0] + self.viscosity[1] * f
    }

    /// μ of the low (0) or high (1) edge along one of the other axes.
    #[inline(always)]
    fn edge(&self, axis: usize, end: usize, i: usize) -> f64 {
        let f = &self.beside[axis][end];
        let mean = 0.25 * ((self.fraction[0][i] + self.fraction[1][i]) + (f[0][i] + f[1][i]));
        self.walls.as_ref().map_or(1.0, |walls| walls.factor(axis, end, i)) * self.of(mean)
    }

    /// Σ stresses on the faces, in units of μ u.
    #[inline(always)]
    fn forces<S: Simd>(&self, simd: S, out: &mut [f64]) {
        simd.vectorize(
            #[inline(always)]
            || {
                for (i, out) in out.iter_mut().enumerate() {
                    let u = self.center[i];
                    let [[low, high], ..] = self.values;
                    let normal = 2.0
                        * (self.of(self.fraction[0][i]) * (high[i] - u) - self.of(self.fraction[1][i]) * (u - low[i]));
                    let shear = |k: usize| {
                        let ([low, high], [lower, upper]) = (self.values[k + 1], self.others[k]);
                        self.edge(k, 1, i) * ((high[i] - u) + (upper[0][i] - upper[1][i]))
                            - self.edge(k, 0, i) * ((u - low[i]) + (lower[0][i] - lower[1][i]))
                    };
                    *out = normal + (shear(0) + shear(1));
                }
            },
        );
    }

    #[inline(always)]
    fn diagonal(&self, i: usize) -> f64 {
        let normal = 2.0 * (self.of(self.fraction[0][i]) + self.of(self.fraction[1][i]));
        let shear = |k: usize| self.edge(k, 0, i) + self.edge(k, 1, i);
        normal + shear(0) + shear(1)
    }
}

#[cfg(test)]
mod tests {
    use crate::params::{Fluid, Params, Side, Sides};
    use crate::{Flow, Setup};
    use glam::DVec3;
    use meniscus_core::StepReport;
    use meniscus_geometry::Aabb;
    use std::f64::consts::PI;

    /// What is left of a shear flow u = sin πy between sticky walls after a time, over exp(−νπ²t).
    fn decay(viscosity: f64, dt: f64) -> f64 {
        let fluid = Fluid { density: 1.0, viscosity };
        let params = Params {
            spacing: 1.0 / 32.0,
            liquid: fluid,
            gas: fluid,
            surface_tension: 0.0,
            sides: Sides {
                x_min: Side::Periodic,
                x_max: Side::Periodic,
                y_min: Side::NoSlip,
                y_max: Side::NoSlip,
                ..Sides::default()
            },
            ..Params::default()
        };
        let domain = Aabb::new(DVec3::ZERO, DVec3::new(0.25, 1.0, 1.0 / 32.0));
        let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: None }).unwrap();
        flow.set_velocity(|x| DVec3::new(libm::sin(PI * x.y), 0.0, 0.0));
        let before = flow.energy().kinetic;
        let steps = (0.02 / viscosity / dt).round();
        for _ in 0..steps as u32 {
            flow.step(dt, &mut StepReport::default()).unwrap();
        }
        (flow.energy().kinetic / before).sqrt() / libm::exp(-viscosity * PI * PI * dt * steps)
    }

    #[test]
    fn a_wave_of_shear_of_eight_cells_decays_to_fourth_order() {
        // Second differences make the rate 5 % too small, (2π/8)²/12; fourth ones 0.4 %.
        let (viscosity, n) = (0.01, 8);
        let fluid = Fluid { density: 1.0, viscosity };
        let sides = Sides {
            x_min: Side::Periodic,
            x_max: Side::Periodic,
            y_min: Side::Periodic,
            y_max: Side::Periodic,
            ..Sides::default()
        };
        let h = 1.0 / f64::from(n);
        let params = Params { spacing: h, liquid: fluid, gas: fluid, surface_tension: 0.0, sides, ..Params::default() };
        let domain = Aabb::new(DVec3::ZERO, DVec3::new(0.25, 1.0, h));
        let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::ZERO, solid: None }).unwrap();
        flow.set_velocity(|x| DVec3::new(0.1 * libm::sin(2.0 * PI * x.y), 0.0, 0.0));
        let before = flow.energy().kinetic;
        // Diffusion number 0.0128: implicit, first order in time, 0.4 % per step of 2 % decay at most.
        let (dt, steps) = (0.02, 50);
        for _ in 0..steps {
            flow.step(dt, &mut StepReport::default()).unwrap();
        }
        let rate = -0.5 * libm::log(flow.energy().kinetic / before) / (dt * f64::from(steps));
        let exact = 4.0 * PI * PI * viscosity;
        assert!((rate / exact - 1.0).abs() < 0.012, "{rate} {exact}");
    }

    #[test]
    fn shear_decays_at_its_rate_explicit_and_implicit() {
        // Diffusion numbers 0.005 and 0.5.
        for (viscosity, dt) in [(0.001, 0.005), (0.1, 0.005)] {
            let left = decay(viscosity, dt);
            assert!((left - 1.0).abs() < 0.01, "{viscosity} {left}");
        }
    }
}
