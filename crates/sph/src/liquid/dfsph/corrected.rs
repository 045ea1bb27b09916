//! Corrected gradients: a liquid whose pressure sees linear fields as they are \[BL99\].
//!
//! The plain divergence Σⱼ (vᵢ − vⱼ)·gᵢⱼ of a shear flow is not zero where particles are in disorder. A pressure that takes this error
//! for compression stops the shear: under gravity the liquid is a glass. With the inverse of the moments of the gradients,
//!
//! > Mᵢ = −Σⱼ gᵢⱼ⊗(xᵢ − xⱼ) + ∫_walls W n⊗(xᵢ − y) dA,  Lᵢ = Mᵢ⁻¹,
//! >
//! > (D v)ᵢ = Σⱼ (vᵢ − vⱼ)·Lᵢgᵢⱼ − Σ_sides b (n·Lᵢn) n·(vᵢ − v_wall),
//! >
//! > ρ0ᵢ aᵢ = −Σⱼ (qᵢLᵢ + qⱼLⱼ) gᵢⱼ + qᵢ Σ_sides b (n·Lᵢn) n,
//!
//! the divergence of a linear field is exact, and a is minus the adjoint of D, so that pressure does no work on a flow without divergence, and the
//! solve stays symmetric. Forces of pairs are equal and opposite. As D vanishes on rotations, pressure has no torque, but for
//! particles that lack neighbours, where L is blended with one.
//!
//! | symbol | meaning |
//! |---|---|
//! | gᵢⱼ, b | V0 ∇Wᵢⱼ, ∇γ of a side of a wall \[1/m\]; a side is a neighbour at its foot point that holds against its normal alone |
//! | d, n | distance from the side \[m\], its normal into the liquid |
//! | ∫ W n⊗(x − y) dA | b d n⊗n of a flat side; of triangles Σₖ Bₖ⊗(x − xₖ) over their nodes, exactly: before a ball its part along the surface is less than zero |
//! | qᵢ | pressure \[Pa\]; inside the liquid it may pull, elsewhere not |
//! | δᵢ | shift of the position \[m\] |
//!
//! The step: one projection of v + Δt (gravity, friction, tension) to D v = 0, less half of the divergence that it started with, from the
//! pressure of the last step on; then the density solve with plain gradients, which only moves positions, by δ, until no compression is left.
//! Velocities stay with their particles: if they followed their field, v += (∇v) δ, momentum would not be kept, and waves last no longer.

mod sums;

use super::pairs::Pairs;
use super::{Aim, SPRAY_COMPRESSION, Solved, Stop};
use crate::liquid::bodies::NodeWeight;
use crate::liquid::{Liquid, with_kernel_and_space};
use crate::neighbours::sum_over_blocks;
use crate::params::BodyWall;
use crate::simd::{Packed, pack};
use crate::wall_contacts::{Contact, Side};
use fearless_simd::dispatch;
use glam::{DVec3, Mat3, Vec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;
use sums::{fit_field, sum_moments, sum_noise, sum_pressure, sum_rate};

/// Above this compression a particle is inside the liquid: its pressure may pull.
const INSIDE: f32 = 0.95;

/// The part of the divergence that a step starts with which its projection turns round.
///
/// A flow carries its velocities to where they diverge, and a projection that ends each step without divergence takes that energy, ½ Δt² |∇p|²/ρ²
/// per mass: steps make viscosity. Half of the divergence, with its sign turned, is left to the next step, as the midpoint rule would leave
/// all of it; a third of the loss remains, and as it is less than one, energy falls still.
const TURNED: f32 = 0.5;

/// How much of R goes with R R in the friction of noise.
const ONCE: f32 = 5.0;

/// Determinant of the moments below which particles have too few neighbours to correct their gradients wholly.
const FEW: f32 = 0.3;

/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
pub(crate) type Symmetric = [f32; 6];

/// What corrected gradients need in a step.
#[derive(Default)]
pub(crate) struct Corrected {
    /// Whether sums are to be corrected, and whether positions are shifted, which bodies do not answer.
    pub(super) on: bool,
    pub(crate) shifts: bool,
    /// Whether bodies stay where they are in a projection, as at the start.
    pub(crate) holds_bodies: bool,
    /// L of each particle.
    pub(crate) inverse: Vec<Symmetric>,
    /// q L of each particle, in two parts; one more than particles.
    pressed: [Vec<Packed>; 2],
    /// Corrected ∇γ of all sides, and that times their velocity.
    pub(super) gamma_gradients: Vec<Packed>,
    /// Corrected ∇γ less L Σ g: what a particle's own pressure does to it.
    own: Vec<Vec3>,
    inverse_diagonal: Vec<f32>,
    /// Which particles may pull.
    pub(super) pulls: Vec<bool>,
    /// D v at the start of the step \[1/s\], times the part of it that the projection turns round.
    pub(crate) turned: Vec<f32>,
    /// What the shift of positions has lifted the liquid by in the step \[J\].
    lift: f64,
    /// Velocities after the projection.
    pub(crate) projected: Vec<Packed>,
    /// The best linear field through the velocities of neighbours: its inverse moments without walls and their weight, its rows.
    fit: Vec<(Symmetric, f32)>,
    pub(crate) rows: [Vec<Packed>; 3],
}

impl Corrected {
    /// Whether a solve takes no notice of how bodies answer.
    pub(crate) fn leaves_bodies(&self) -> bool {
        self.shifts || self.holds_bodies
    }
}

/// A symmetric matrix times a vector.
#[inline]
pub(crate) fn apply(l: &Symmetric, v: Vec3) -> Vec3 {
    Vec3::new(
        l[0] * v.x + l[3] * v.y + l[4] * v.z,
        l[3] * v.x + l[1] * v.y + l[5] * v.z,
        l[4] * v.x + l[5] * v.y + l[2] * v.z,
    )
}

fn full(m: &Symmetric) -> Mat3 {
    Mat3::from_cols(Vec3::new(m[0], m[3], m[4]), Vec3::new(m[3], m[1], m[5]), Vec3::new(m[4], m[5], m[2]))
}

fn half(m: Mat3) -> Symmetric {
    [m.x_axis.x, m.y_axis.y, m.z_axis.z, m.x_axis.y, m.x_axis.z, m.y_axis.z]
}

/// The inverse of moments, blended with one where neighbours are few.
fn invert(moments: &Symmetric) -> Symmetric {
    let m = full(moments);
    let determinant = m.determinant();
    if determinant < 1e-3 {
        return [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    }
    let share = (determinant / FEW).min(1.0);
    half(m.inverse() * share + Mat3::IDENTITY * (1.0 - share))
}

/// The inverse of moments, and how far it is to be trusted, 0 to 1.
fn invert_or_not(moments: &Symmetric) -> (Symmetric, f32) {
    let m = full(moments);
    let determinant = m.determinant();
    let trust = (determinant * 10.0 - 0.5).clamp(0.0, 1.0);
    (if trust > 0.0 { half(m.inverse()) } else { [0.0; 6] }, trust)
}

/// n·Ln times n: what is left of a corrected ∇γ along the normal of a side.
fn along(l: &Symmetric, side: &Side) -> Vec3 {
    side.normal * (side.gamma_slope * side.normal.dot(apply(l, side.normal)))
}

impl Liquid {
    /// Whether gradients are corrected.
    #[must_use]
    pub fn corrects_gradients(&self) -> bool {
        let by_pressure = self.setup.coupling.wall == BodyWall::Pressure;
        // The shift of positions does not keep the angular momentum of drops: under surface tension they are corrected on demand.
        let wanted = self.setup.params.gradients.is_some() || self.strongest_tension() == 0.0;
        self.setup.params.corrects_gradients() && by_pressure && wanted && !self.phases.is_porous()
    }

    /// Inverse moments of the gradients, and what ∇γ of walls and bodies is under them.
    pub(super) fn correct_gradients(&mut self) {
        let count = self.state.particles.len();
        let mut c = std::mem::take(&mut self.work.corrected);
        let mut links = std::mem::take(&mut self.work.links);
        c.inverse.resize(count, [0.0; 6]);
        c.fit.resize(count, ([0.0; 6], 0.0));
        c.gamma_gradients.resize(count, [0.0; 4]);
        c.own.resize(count, Vec3::ZERO);
        c.inverse_diagonal.resize(count, 0.0);
        let (level, norm, work) = (self.level, -self.gradient_norm(), &self.work);
        with_kernel_and_space!(self, |pair| {
            let pieces = c.inverse.par_chunks_mut(par::PIECE).zip(c.fit.par_chunks_mut(par::PIECE));
            let pieces = pieces.zip(c.gamma_gradients.par_chunks_mut(par::PIECE)).zip(&mut links);
            let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes).zip(&work.gradients).zip(&work.contacts);
            blocks.zip(pieces).for_each(
                |((((block, slopes), gradients), contacts), (((inverse, fit), gamma_gradients), links))| {
                    let pairs = Pairs { block, slopes, gradients };
                    dispatch!(level, simd => sum_moments(simd, pair.1, pairs, &work.position, norm, inverse));
                    for (fit, moments) in fit.iter_mut().zip(&*inverse) {
                        *fit = invert_or_not(moments);
                    }
                    self.meet_sides(block.start, contacts, inverse);
                    inverse.iter_mut().for_each(|moments| *moments = invert(moments));
                    self.correct_gamma_gradients(block.start, (contacts, links), inverse, gamma_gradients);
                },
            );
        });
        let (sums, diagonal) = (&self.work.sums, &self.work.inverse_diagonal);
        let own = c.own.par_iter_mut().zip(&mut c.inverse_diagonal).with_min_len(par::LIGHT).enumerate();
        own.for_each(|(i, (own, inverse_diagonal))| {
            let l = &c.inverse[i];
            *own = Vec3::from_slice(&c.gamma_gradients[i]) - apply(l, sums[i].gradient);
            let mean = (l[0] + l[1] + l[2]) * (1.0 / 3.0);
            *inverse_diagonal = diagonal[i] / (mean * mean);
        });
        (self.work.corrected, self.work.links) = (c, links);
        if !self.bodies.is_empty() {
            self.bodies.sort_links(&self.work.links);
        }
    }

    /// What the velocities with which a step starts diverge by, times the part of it that the projection turns round. Not before what moves: there
    /// the liquid has not carried its velocities to where they diverge, the surface has changed its own, and liquid that was turned
    /// round would overshoot by half of each blow.
    pub(super) fn turn_divergence(&mut self) {
        let count = self.state.particles.len();
        let mut flow = std::mem::take(&mut self.work.flow);
        let mut turned = std::mem::take(&mut self.work.corrected.turned);
        let mut partial = std::mem::take(&mut self.work.partial);
        flow.resize(count + 1, [0.0; 4]);
        flow[count] = [0.0; 4];
        let each = flow[..count].par_iter_mut().with_min_len(par::LIGHT).zip(&self.state.particles.velocity);
        each.for_each(|(flow, &v)| *flow = pack(v, 0.0));
        let (compression, walls) = (&self.work.compression, &self.work.corrected.gamma_gradients);
        self.sum_rates_corrected((&flow, 0.0), &mut turned, &mut partial, |i, rate| {
            let carried = compression[i] > INSIDE && walls[i][3] == 0.0;
            (if carried { TURNED * (rate + walls[i][3]) } else { 0.0 }, 0.0)
        });
        (self.work.flow, self.work.corrected.turned, self.work.partial) = (flow, turned, partial);
    }

    /// Adds walls and bodies to the moments of the particles of a block.
    fn meet_sides(&self, start: usize, contacts: &[Contact], moments: &mut [Symmetric]) {
        for contact in contacts {
            let i = contact.particle as usize;
            let m = &mut moments[i - start];
            if let Some(moment) = &contact.moment {
                m.iter_mut().zip(moment).for_each(|(m, more)| *m += more);
                continue;
            }
            for Side { normal: n, gamma_slope, distance } in self.walls.sides(contact, self.state.particles.position[i])
            {
                let weight = gamma_slope * distance;
                let more = [n.x * n.x, n.y * n.y, n.z * n.z, n.x * n.y, n.x * n.z, n.y * n.z];
                m.iter_mut().zip(more).for_each(|(m, more)| *m += weight * more);
            }
        }
    }

    /// The corrected pushes of walls and of the nodes of bodies on the particles of a block.
    fn correct_gamma_gradients(
        &self,
        start: usize,
        (contacts, links): (&[Contact], &mut [NodeWeight]),
        inverse: &[Symmetric],
        output: &mut [Packed],
    ) {
        output.fill([0.0; 4]);
        let of_bodies = self.walls.len() as u16;
        let mut links = links.iter_mut().peekable();
        for contact in contacts {
            let i = contact.particle as usize;
            let (l, output) = (&inverse[i - start], &mut output[i - start]);
            let mut sum = pack(Vec3::ZERO, 0.0);
            if contact.wall >= of_bodies {
                while links.next_if(|link| link.particle < contact.particle).is_some() {}
                while let Some(link) = links.next_if(|link| link.particle == contact.particle) {
                    // As each side of a tank, each node holds against its own normal alone.
                    let n = link.weight.normalize_or_zero();
                    link.weight *= n.dot(apply(l, n));
                    let rate = link.weight.dot(self.bodies.velocity_of(link.node));
                    sum = pack(Vec3::from_slice(&sum) + link.weight, sum[3] + rate);
                }
            } else {
                let is_tank = self.walls.is_tank(contact.wall);
                for side in self.walls.sides(contact, self.state.particles.position[i]) {
                    let gamma_gradient = along(l, &side);
                    // The one side of a curved wall may move differently from place to place: its ∇γ·v is known as a whole.
                    let share = gamma_gradient.length() / side.gamma_slope.max(f32::MIN_POSITIVE);
                    let rate = if is_tank { gamma_gradient.dot(contact.velocity) } else { contact.gamma_rate * share };
                    sum = pack(Vec3::from_slice(&sum) + gamma_gradient, sum[3] + rate);
                }
            }
            *output = std::array::from_fn(|k| output[k] + sum[k]);
        }
    }

    /// Finds the pressure that leaves no divergence, and adds its acceleration; then the shift of positions that leaves no compression.
    pub(super) fn project_and_shift(&mut self, gravity: DVec3, dt: f64) -> Result<Solved, StepError> {
        self.bodies.predict(gravity);
        self.add_mirror_heads(gravity.as_vec3());
        self.start_bodies();
        let error = self.error_of_projection(gravity, dt);
        let projected = self.project(dt, error, self.setup.params.max_divergence_iterations);
        self.report_projection();
        self.push_bodies(gravity.as_vec3(), |liquid, i| {
            let multiplier = liquid.state.particles.multiplier[i];
            [multiplier, multiplier, 1.0]
        });
        self.check("find pressure", "pressure", |p, i| p.pressure[i].is_finite())?;
        let shifted = self.shift(dt);
        self.book_shift(gravity, dt);
        self.shift_positions(dt);
        let acceleration = &self.work.acceleration;
        self.check("find pressure", "acceleration", |_, i| acceleration[i].is_finite())?;
        Ok(Solved {
            iterations: projected.iterations + shifted.iterations,
            error: shifted.error,
            converged: projected.converged && shifted.converged,
        })
    }

    /// Pressure grows from a particle to the wall before it as the head does: what this adds to the push of the wall. Without it the layer
    /// before a floor would be carried by its own pressure alone, which is too high by ρ g d then, and that of the layers above by turns
    /// too low and right.
    pub(crate) fn add_mirror_heads(&mut self, gravity: Vec3) {
        let (mut acceleration, mut reactions) =
            (std::mem::take(&mut self.work.acceleration), std::mem::take(&mut self.work.reactions));
        let (of_bodies, volume) = (self.walls.len() as u16, self.rest_volume());
        for (contacts, links) in self.work.contacts.iter().zip(&self.work.links) {
            let mut links = links.iter().peekable();
            for contact in contacts {
                let i = contact.particle as usize;
                let (x, q) = (self.state.particles.position[i], self.state.particles.multiplier[i]);
                let rest_density = self.work.rest_density[usize::from(self.state.particles.liquid[i])];
                if contact.wall >= of_bodies {
                    let mirror = self.mirror_pressure(contact, gravity, q) / rest_density;
                    while links.next_if(|link| link.particle < contact.particle).is_some() {}
                    while let Some(link) = links.next_if(|link| link.particle == contact.particle) {
                        if self.feels_head(link.node) {
                            acceleration[i] += link.weight * mirror;
                        }
                    }
                    continue;
                }
                let gravity = self.walls.gravity_at(contact.wall, gravity);
                for side in self.walls.sides(contact, x).iter().filter(|side| side.gamma_slope > 0.0 && q > 0.0) {
                    let head = (-side.normal.dot(gravity) * side.distance).max(-q / rest_density);
                    let by_wall = along(&self.work.corrected.inverse[i], side) * head;
                    acceleration[i] += by_wall;
                    let on_wall = by_wall.as_dvec3() * (-f64::from(rest_density) * volume);
                    reactions[usize::from(contact.wall)].push(x.as_dvec3(), on_wall);
                }
            }
        }
        (self.work.acceleration, self.work.reactions) = (acceleration, reactions);
    }

    /// Whether pressure grows by the head towards a node of a body. With corrected gradients it does not towards a body that answers: the liquid
    /// that it moves counts as far as its particles already, and with the head ρ (g − a) d on top a light ball carries a tenth more.
    pub(crate) fn feels_head(&self, node: u32) -> bool {
        !self.corrects_gradients() || self.bodies.node_compliance(node) == 0.0
    }

    /// The mean divergence times dt that a step may leave, dimensionless.
    fn error_of_projection(&self, gravity: DVec3, dt: f64) -> f64 {
        let solver = &self.setup.params;
        let error = self.error_of_pressure(gravity, dt).min(solver.divergence_error);
        error.max(super::ROUNDING * dt * self.setup.speed / solver.spacing)
    }

    /// Velocities without divergence, but for an error, into `work.corrected.projected`.
    pub(crate) fn project(&mut self, dt: f64, error: f64, max_iterations: u32) -> Solved {
        let stop = Stop { error, most: error, iterations: [0, max_iterations], both_ways: true };
        // Nothing is asked of spray, so that nothing would take back the pressure that it had in the liquid.
        let multipliers = self.state.particles.multiplier.par_iter_mut().with_min_len(par::LIGHT);
        multipliers.zip(&self.work.compression).filter(|(_, c)| **c < SPRAY_COMPRESSION).for_each(|(q, _)| *q = 0.0);
        let (phases, liquid) = (&self.phases, &self.state.particles.liquid);
        let inside = |(&c, &l): (&f32, &u16)| c > INSIDE && !phases.is_solid(l);
        let Self { work, .. } = self;
        work.corrected.pulls.clear();
        work.corrected.pulls.extend(work.compression.iter().zip(liquid).map(inside));
        work.corrected.on = true;
        std::mem::swap(&mut work.inverse_diagonal, &mut work.corrected.inverse_diagonal);
        let solved = self.solve(Aim::Projection, dt, stop);
        let work = &mut self.work;
        std::mem::swap(&mut work.inverse_diagonal, &mut work.corrected.inverse_diagonal);
        work.corrected.on = false;
        work.corrected.pulls.clear();
        std::mem::swap(&mut work.flow, &mut work.corrected.projected);
        let inverse_dt = (1.0 / dt) as f32;
        let (projected, velocity) = (&work.corrected.projected, &self.state.particles.velocity);
        let acceleration = work.acceleration.par_iter_mut().with_min_len(par::LIGHT);
        acceleration.zip(velocity).zip(projected).for_each(|((a, v), p)| *a = (Vec3::from_slice(p) - *v) * inverse_dt);
        solved
    }

    /// The pressure of particles, and the reaction of walls to it; bodies have theirs from [`Liquid::push_bodies`].
    fn report_projection(&mut self) {
        let particles = &mut self.state.particles;
        particles.pressure.clone_from(&particles.multiplier);
        let mut reactions = std::mem::take(&mut self.work.reactions);
        let (walls, volume) = (self.walls.len(), self.rest_volume());
        let on_walls = self.work.contacts.iter().flatten().filter(|contact| usize::from(contact.wall) < walls);
        for contact in on_walls {
            let i = contact.particle as usize;
            let (x, q) = (self.state.particles.position[i], f64::from(self.state.particles.multiplier[i]));
            for side in self.walls.sides(contact, x) {
                let gamma_gradient = along(&self.work.corrected.inverse[i], &side).as_dvec3();
                reactions[usize::from(contact.wall)].push(x.as_dvec3(), gamma_gradient * (-q * volume));
            }
        }
        self.work.reactions = reactions;
    }

    /// Positions without compression; at the end `work.flow` holds the velocities that lead there.
    pub(crate) fn shift(&mut self, dt: f64) -> Solved {
        let solver = &self.setup.params;
        let error = solver.density_error.max(super::ROUNDING * self.share_taken_back(dt));
        let stop = Stop { error, most: error, iterations: [0, solver.max_density_iterations], both_ways: false };
        self.work.corrected.shifts = true;
        let solved = self.solve(Aim::Shift, dt, stop);
        self.work.corrected.shifts = false;
        self.work.divergence_pressure.fill(0.0);
        solved
    }

    /// What the shift of positions lifts the liquid by, Σ m g·δ with the sign turned: no velocity pays for it.
    fn book_shift(&mut self, gravity: DVec3, dt: f64) {
        let volume = self.rest_volume();
        let (work, liquid) = (&self.work, &self.state.particles.liquid);
        let lift = par::sum(liquid.len(), |i| {
            let shift = Vec3::from_slice(&work.flow[i]) - Vec3::from_slice(&work.corrected.projected[i]);
            -f64::from(work.rest_density[usize::from(liquid[i])]) * gravity.dot(shift.as_dvec3())
        });
        self.work.corrected.lift = lift * volume * dt;
    }

    /// Work of the shift of positions against gravity in the last step \[J\], which comes from nowhere; nothing with plain gradients.
    #[must_use]
    pub fn shift_work(&self) -> f64 {
        self.work.corrected.lift
    }

    /// Accelerations of positions, by which they are shifted, and of velocities, which are not: they would follow their field at the price of
    /// momentum.
    fn shift_positions(&mut self, dt: f64) {
        let inverse_dt = (1.0 / dt) as f32;
        let crate::liquid::Workspace { flow, acceleration, own_acceleration: own, corrected, .. } = &mut self.work;
        own.resize(acceleration.len(), Vec3::ZERO);
        let (velocity, projected) = (&self.state.particles.velocity, &corrected.projected);
        let both = own.par_iter_mut().zip(acceleration).with_min_len(par::LIGHT).enumerate();
        both.for_each(|(i, (own, position))| {
            *own = (Vec3::from_slice(&projected[i]) - velocity[i]) * inverse_dt;
            *position = (Vec3::from_slice(&flow[i]) - velocity[i]) * inverse_dt;
        });
    }

    /// Friction of what single particles do against their neighbours: against the best linear field through their velocities.
    ///
    /// > Δvᵢ = −ε (ρ/ρ0ᵢ) (R R v + 5 R v)ᵢ,  (R v)ᵢ = s² Σⱼ wᵢⱼ (θᵢ(vᵢⱼ − Gᵢxᵢⱼ) + θⱼ(vᵢⱼ − Gⱼxᵢⱼ)),
    /// >
    /// > Gᵢ = Σⱼ wᵢⱼ vᵢⱼ⊗xᵢⱼ (Σⱼ wᵢⱼ xᵢⱼ⊗xᵢⱼ)⁻¹,  wᵢⱼ = −V0 (dW/dr)/r
    ///
    /// R is the slope of Σᵢ θᵢ Σⱼ wᵢⱼ |vᵢⱼ − Gᵢxᵢⱼ|²/2, as G is the best fit, and so symmetric: energy falls, momentum stays, and as linear
    /// fields are not felt, neither is rotation, so that angular momentum stays too. θ is one, and nothing where neighbours are too few.
    /// Of a smooth flow R leaves little, and R R next to nothing; R R alone is slow to take what a few particles do together.
    pub(crate) fn damp_noise(&mut self, share: f64, dt: f64) {
        let count = self.state.particles.len();
        let mut flow = std::mem::take(&mut self.work.flow);
        let mut rough = std::mem::take(&mut self.work.push);
        let mut rows = std::mem::take(&mut self.work.corrected.rows);
        flow.resize(count + 1, [0.0; 4]);
        flow[count] = [0.0; 4];
        let each = flow[..count].par_iter_mut().with_min_len(par::LIGHT).zip(&self.state.particles.velocity);
        each.for_each(|(flow, &v)| *flow = pack(v, 0.0));
        self.roughen_against_fit(&flow, &mut rows, &mut rough);
        self.roughen_against_fit(&rough, &mut rows, &mut flow);
        let lightest = self.setup.materials.iter().map(|m| m.1.density).fold(f64::INFINITY, f64::min);
        let strength = (share * lightest / dt) as f32;
        let (rest, liquid) = (&self.work.rest_density, &self.state.particles.liquid);
        let acceleration = self.work.acceleration.par_iter_mut().with_min_len(par::LIGHT);
        acceleration.enumerate().for_each(|(i, a)| {
            let noise = Vec3::from_slice(&flow[i]) + Vec3::from_slice(&rough[i]) * ONCE;
            *a -= noise * (strength / rest[usize::from(liquid[i])]);
        });
        (self.work.flow, self.work.push, self.work.corrected.rows) = (flow, rough, rows);
    }

    /// R of the velocities; one more than particles. `rows` are room for the fields.
    pub(crate) fn roughen_against_fit(&self, flow: &[Packed], rows: &mut [Vec<Packed>; 3], output: &mut Vec<Packed>) {
        let (work, count) = (&self.work, self.state.particles.len());
        rows.iter_mut().for_each(|row| row.resize(count + 1, [0.0; 4]));
        rows.iter_mut().for_each(|row| row[count] = [0.0; 4]);
        output.resize(count + 1, [0.0; 4]);
        let (level, norm, spacing) = (self.level, self.gradient_norm(), self.setup.params.spacing);
        let scale = -(spacing * spacing) as f32 * norm;
        with_kernel_and_space!(self, |pair| {
            let [x, y, z] = rows.each_mut().map(|row| row[..count].par_chunks_mut(par::PIECE));
            let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes).zip(&work.gradients);
            let fits = work.corrected.fit.par_chunks(par::PIECE);
            blocks.zip(fits).zip(x.zip(y).zip(z)).for_each(|((((block, slopes), gradients), fit), ((x, y), z))| {
                let pairs = Pairs { block, slopes, gradients };
                dispatch!(level, simd => fit_field(simd, pair.1, pairs, (&work.position, flow), fit, [x, y, z]));
                for row in [x, y, z] {
                    row.iter_mut().for_each(|row| *row = [row[0] * -norm, row[1] * -norm, row[2] * -norm, row[3]]);
                }
            });
            let blocks = work.neighbours.blocks.par_iter().zip(&work.slopes);
            blocks.zip(output[..count].par_chunks_mut(par::PIECE)).for_each(|((block, slopes), piece)| {
                for (k, output) in piece.iter_mut().enumerate() {
                    let lists = (block, &slopes[..], k);
                    let sum = dispatch!(level, simd => sum_noise(simd, pair.1, lists, (&work.position, flow), rows));
                    *output = pack(sum * scale, 0.0);
                }
            });
        });
        output[count] = [0.0; 4];
    }

    /// q L of all particles, whose multipliers q are the companions of their positions.
    pub(crate) fn press(&mut self) {
        let count = self.state.particles.len();
        let crate::liquid::Workspace { corrected: Corrected { on, pressed, inverse, .. }, position, .. } =
            &mut self.work;
        if !*on {
            return;
        }
        pressed.iter_mut().for_each(|half| half.resize(count + 1, [0.0; 4]));
        let [a, b] = pressed;
        let each = a[..count].par_iter_mut().zip(&mut b[..count]).with_min_len(par::LIGHT).enumerate();
        each.for_each(|(i, (a, b))| {
            let (l, q) = (&inverse[i], position[i][3]);
            *a = [l[0] * q, l[1] * q, l[2] * q, l[3] * q];
            *b = [l[4] * q, l[5] * q, 0.0, 0.0];
        });
        (a[count], b[count]) = ([0.0; 4], [0.0; 4]);
    }

    /// As [`Liquid::accelerate`], with corrected gradients and what [`Liquid::press`] has put down.
    pub(super) fn accelerate_corrected(&self, output: &mut Vec<Packed>) {
        let (work, particles, in_pores) = (&self.work, &self.state.particles, &self.phases.in_pores);
        let count = particles.len();
        output.resize(count + 1, [0.0; 4]);
        let (level, norm) = (self.level, self.gradient_norm());
        let blocks = work.neighbours.blocks.par_iter().with_max_len(par::BATCH);
        let blocks = blocks.zip(&work.slopes).zip(&work.gradients);
        with_kernel_and_space!(self, |pair| {
            let pieces = output[..count].par_chunks_mut(par::PIECE);
            blocks.zip(pieces).for_each(|(((block, slopes), gradients), piece)| {
                let pairs = Pairs { block, slopes, gradients };
                dispatch!(level, simd => sum_pressure(simd, pair.1, pairs, &work.position, &work.corrected.pressed, piece));
                for (k, output) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let rest_density = work.inertia[usize::from(particles.liquid[i])] * in_pores.hindrance(i);
                    let own = work.corrected.own[i] * work.position[i][3];
                    *output = pack((own - Vec3::from_slice(output) * norm) / rest_density, 0.0);
                }
            });
        });
        output[count] = [0.0; 4];
        self.phases.respond_as_rigid(&particles.position, output);
    }

    /// As [`Liquid::sum_rates`], with corrected gradients.
    pub(super) fn sum_rates_corrected(
        &self,
        (flow, time): (&[Packed], f32),
        output: &mut Vec<f32>,
        partial: &mut Vec<f64>,
        finish: impl Fn(usize, f32) -> (f32, f32) + Sync,
    ) -> f64 {
        let (level, norm, work) = (self.level, self.gradient_norm(), &self.work);
        let c = &work.corrected;
        output.resize(self.state.particles.len(), 0.0);
        with_kernel_and_space!(self, |pair| {
            sum_over_blocks(&work.neighbours.blocks, output, partial, |number, block, piece| {
                let pairs = Pairs { block, slopes: &work.slopes[number], gradients: &work.gradients[number] };
                dispatch!(level, simd => sum_rate(simd, pair.1, pairs, (&work.position, flow), &c.inverse, piece));
                for link in work.links[number].iter().filter(|_| !c.leaves_bodies()) {
                    let rate = link.weight.dot(self.bodies.response_of(link.node)) * time;
                    piece[link.particle as usize - block.start] += rate / norm;
                }
                let mut sum = 0.0;
                for (k, output) in piece.iter_mut().enumerate() {
                    let i = block.start + k;
                    let wall = Vec3::from_slice(&c.gamma_gradients[i]).dot(Vec3::from_slice(&flow[i]));
                    let (value, summed) = finish(i, *output * norm - wall);
                    *output = value;
                    sum += f64::from(summed);
                }
                sum
            })
        })
    }
}

#[cfg(test)]
mod tests;
