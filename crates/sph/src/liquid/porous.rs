//! Liquid in porous solids: Darcy's drag between matter that overlaps \[BJWB25\].
//!
//! A porous solid is matter and pores in one place. Its particles fill only the part 1 − φ of their volume in the compression of
//! the liquid, cᵢ = V0 Σⱼ Wᵢⱼ + (1 − φ) V0 Σₛ Wᵢₛ, so liquid may enter until it fills the pores. There
//!
//! > ρ v̇ᵢ = −∇p + ρ g − (μφ/k)(vᵢ − v̄ᵢ) + Π ∇χᵢ,  v̄ᵢ = Σₛ wᵢₛ vₛ
//!
//! and every force on the liquid has its opposite on the solid, particle by particle.
//!
//! | symbol | meaning |
//! |---|---|
//! | φ | porosity, dimensionless: the part of the volume that is pores |
//! | k | permeability \[m²\]; Darcy's flow φ(v − v̄) = (k/μ)(ρg − ∇p) is what the drag leaves at rest |
//! | Π | suction of the pores \[Pa\]: water climbs to Π/(ρg) in them |
//! | χᵢ | V0 Σₛ Wᵢₛ, dimensionless: one inside of a solid, zero outside, one half at its surface |
//! | κᵢ | V0 μ Σₛ V0 Wᵢₛ φₛ/kₛ \[kg/s\], and wᵢₛ is the share of s in that sum |
//! | Dᵢ | drag κᵢ (vᵢ − v̄ᵢ) on particle i \[N\]; wᵢₛ Dᵢ drives s |
//!
//! Pressure follows: the multiplier q of the condition c ≤ 1 acts on the liquid with −∇(φq) and on the solid with its part
//! (1 − φ) of that, so φq is the pressure p, and a drowned solid is as buoyant as its matter alone. Mass stays, for a particle is
//! liquid or solid for good. (Lenaerts, Adams and Dutré \[LAD08\] let solid particles take the liquid's mass up and pass it on.)
//!
//! Drag may be a thousand times faster than a step. Solids move first, under the drag D′ of the last step; D is taken at the end of
//! the step, as a blow between all velocities there,
//!
//! > (1/κᵢ + dt/mᵢ) Dᵢ + dt Σₛ wᵢₛ (Q D)ₛ/mₛ = vᵢ⁺ − Σₛ wᵢₛ (vₛ⁺ − dt (Q D′)ₛ/mₛ),  (Q D)ₛ = Σᵢ wᵢₛ Dᵢ
//!
//! with v⁺ the velocities at the end without a change of drag, under the pressure of the last step. The matrix is symmetric and positive,
//! and drag without bound only takes 1/κ away: conjugate gradients. Solids get the change dt (Q D − Q D′)ₛ at once, each particle its
//! own, so that it is just what was expected; elasticity answers in the next step. A change of pressure moves liquid in pores by 1/f of what it
//! does elsewhere, for drag takes the rest and gives it to the solid,
//!
//! > f = (1 + κ dt/mᵢ + κ dt/mₛ)/(1 + κ dt/mₛ),
//!
//! as if it had one particle of the solid to take along. For a vibration ω of the solid, without damping of its own, the lag of a step feeds what
//! turns by ω dt > 5 in a step: by 13 % in a step at most, which a stiffness damping above dt/100 outweighs.
//!
//! The drag is not along the line between two particles: angular momentum is kept only as far as neighbours are even.

use crate::kernel::Kernel;
use crate::liquid::Liquid;
use crate::liquid::dfsph::Solved;
use crate::liquid::phases::Phases;
use crate::params::KernelFamily;
use crate::simd::{CubicSpline, KernelLanes, Packed, Papers, QuarticSpline};
use glam::{DVec3, IVec3, Vec3};
use meniscus_core::par;
use meniscus_geometry::{NeighbourGrid, Periodic};
use rayon::prelude::*;

/// The pores of a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pores {
    /// Porosity φ, dimensionless, above 0, below 1.
    pub porosity: f64,
    /// Permeability k \[m²\].
    pub permeability: f64,
    /// Suction Π \[Pa\].
    pub suction: f64,
}

/// What a porous solid holds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Held {
    /// Volume of the liquid \[m³\].
    pub volume: f64,
    /// Mass of the liquid \[kg\].
    pub mass: f64,
    /// Part of the pores that it fills, dimensionless.
    pub saturation: f64,
}

/// Residual over the first one at which the solve ends: what is left is drag that comes a step later.
const ERROR: f64 = 1e-4;
/// Most iterations.
const MAX_ITERATIONS: u32 = 100;
/// Liquid that feels less of a solid than this part of its inside is free.
const LEAST: f64 = 1e-6;

/// A particle of the other kind, and a weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pair {
    other: u32,
    weight: f64,
}

/// Pairs, list after list.
#[derive(Debug, Clone, Default)]
struct Lists {
    /// Where each list starts; one more than lists.
    first: Vec<u32>,
    pairs: Vec<Pair>,
}

impl Lists {
    fn of(&self, k: usize) -> &[Pair] {
        &self.pairs[self.first[k] as usize..self.first[k + 1] as usize]
    }

    /// Weighted sums of what the others have.
    fn sum(&self, of_others: &[DVec3], output: &mut Vec<DVec3>) {
        output.resize(self.first.len() - 1, DVec3::ZERO);
        output.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(k, sum)| {
            *sum = self.of(k).iter().map(|pair| of_others[pair.other as usize] * pair.weight).sum();
        });
    }

    /// The same pairs, by the other particles, of which there are `count`.
    fn turn(&self, count: usize, output: &mut Lists) {
        let Lists { first, pairs } = output;
        first.clear();
        first.resize(count + 1, 0);
        self.pairs.iter().for_each(|pair| first[pair.other as usize] += 1);
        let mut end = 0;
        for start in first.iter_mut() {
            end += *start;
            *start = end;
        }
        pairs.resize(self.pairs.len(), Pair::default());
        // From the last to the first: each start moves down to its place.
        for k in (0..self.first.len() - 1).rev() {
            for pair in self.of(k).iter().rev() {
                let at = &mut first[pair.other as usize];
                *at -= 1;
                pairs[*at as usize] = Pair { other: k as u32, weight: pair.weight };
            }
        }
    }
}

/// Who drags whom: wet particles, those of the liquid that porous solids reach, and particles of these.
#[derive(Debug, Clone, Default)]
struct Web {
    /// Where wet particles are stored, in rising order.
    wet: Vec<u32>,
    /// The solids of each, with wᵢₛ, and the other way round.
    solids: Lists,
    liquids: Lists,
    /// κᵢ \[kg/s\] and mᵢ \[kg\] of wet particles.
    drag: Vec<f64>,
    mass: Vec<f64>,
}

/// Memory of the solve for the drag; vectors of wet particles but for the last two.
#[derive(Debug, Clone, Default)]
struct Solve {
    /// D \[N\].
    force: Vec<DVec3>,
    residual: Vec<DVec3>,
    direction: Vec<DVec3>,
    image: Vec<DVec3>,
    /// Inverse of the diagonal.
    inverse: Vec<f64>,
    /// Q D of particles of solids \[N\] and their answer Q D/mₛ \[m/s²\].
    on_solids: Vec<DVec3>,
    response: Vec<DVec3>,
}

/// Liquid in pores: a workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seepage {
    /// What each block finds: particle, particle of the solids, V0 W.
    found: Vec<Vec<(u32, u32, f64)>>,
    /// What walls cut off of the kernel of all particles.
    hidden: Vec<f32>,
    web: Web,
    solve: Solve,
    /// 1 − (1 − φ)χᵢ: how much of the place of a wet particle is open to liquid.
    open: Vec<f32>,
    /// What walls do to wet particles by mirrored pressure, as drag leaves it \[m/s²\].
    by_walls: Vec<Vec3>,
    /// Dᵢ without what pressure adds by itself \[N\].
    own: Vec<DVec3>,
    /// What else acts on particles of solids, but for pressure \[N\], and how they go at the end of the step \[m/s\].
    other_forces: Vec<DVec3>,
    drift: Vec<DVec3>,
}

/// What pores are to particles, by their slots in storage; empty without porous solids.
#[derive(Debug, Clone, Default)]
pub(crate) struct InPores {
    /// f.
    hindrance: Vec<f32>,
    /// χᵢ.
    inside: Vec<f32>,
}

impl InPores {
    /// How much harder drag makes it for pressure to move a particle: f, dimensionless.
    #[inline]
    pub(crate) fn hindrance(&self, i: usize) -> f32 {
        self.hindrance.get(i).copied().unwrap_or(1.0)
    }

    /// Whether a particle is in pores: there no surface of the liquid is seen.
    #[inline]
    pub(crate) fn holds(&self, i: usize) -> bool {
        self.inside.get(i).is_some_and(|&inside| inside > 0.5)
    }
}

impl Phases {
    /// What drag leaves of an acceleration \[m/s²\] by a wall; it remembers that.
    pub(crate) fn let_through(&mut self, i: usize, acceleration: Vec3) -> Vec3 {
        let through = acceleration / self.in_pores.hindrance(i);
        if let Ok(k) = self.seepage.web.wet.binary_search(&(i as u32)) {
            self.seepage.by_walls[k] += through;
        }
        through
    }

    /// How particles of solids answer to forces \[N\]: accelerations \[m/s²\].
    fn response(&self, forces: &[DVec3], output: &mut Vec<DVec3>) {
        output.resize(forces.len(), DVec3::ZERO);
        for body in &self.bodies {
            let own = output[body.particles.clone()].iter_mut().zip(&forces[body.particles.clone()]);
            own.for_each(|(response, force)| *response = *force * body.inverse_mass);
        }
    }
}

impl Liquid {
    /// Which liquid is in pores in a step of `dt` \[s\]. Comes between walls and density.
    pub fn find_pores(&mut self, dt: f64) {
        if !self.phases.is_porous() {
            return;
        }
        let mut seepage = std::mem::take(&mut self.phases.seepage);
        self.find_pairs(&mut seepage.found);
        let mut in_pores = std::mem::take(&mut self.phases.in_pores);
        self.weigh_pairs(&mut seepage, &mut in_pores, dt);
        let Seepage { web, by_walls, .. } = &mut seepage;
        web.solids.turn(self.phases.slots.len(), &mut web.liquids);
        by_walls.clear();
        by_walls.resize(web.wet.len(), Vec3::ZERO);
        if self.work.lightness.is_empty() {
            // All are as hard to move, but for what drag does.
            let all = self.state.particles.liquid.iter();
            self.work.lightness.extend(all.map(|&l| 1.0 / self.work.inertia[usize::from(l)]));
            self.work.lightness.push(0.0);
        }
        let lightness = self.work.lightness.iter_mut().zip(&in_pores.hindrance);
        lightness.for_each(|(lightness, hindrance)| *lightness /= hindrance);
        self.phases.in_pores = in_pores;
        self.phases.seepage = seepage;
    }

    /// Liquid and particles of porous solids within the support radius of each other, with V0 W.
    fn find_pairs(&self, found: &mut Vec<Vec<(u32, u32, f64)>>) {
        let (particles, phases) = (&self.state.particles, &self.phases);
        let (kernel, norm) = (self.density_kernel(), f64::from(self.value_norm()));
        let blocks = &self.work.neighbours.blocks;
        found.resize_with(blocks.len(), Vec::new);
        blocks.par_iter().with_max_len(par::BATCH).zip(found).for_each(|(block, found)| {
            found.clear();
            for i in (block.start..block.start + block.len).filter(|&i| !phases.is_solid(particles.liquid[i])) {
                for j in block.of(i - block.start).as_flattened().iter().map(|&j| j as usize) {
                    if j < particles.len() && phases.pores_of(particles.liquid[j]).is_some() {
                        let value = norm * kernel.value(self.between(i, j).length() / self.h);
                        found.push((i as u32, particles.id[j] - phases.first_id, value));
                    }
                }
            }
        });
    }

    /// Who drags whom, and how hard.
    fn weigh_pairs(&self, seepage: &mut Seepage, in_pores: &mut InPores, dt: f64) {
        let Seepage { found, hidden, web, open, .. } = seepage;
        let InPores { hindrance, inside } = in_pores;
        let Web { wet, solids, drag, mass, .. } = web;
        let count = self.state.particles.len();
        wet.clear();
        solids.first.clear();
        solids.pairs.clear();
        drag.clear();
        mass.clear();
        open.clear();
        hindrance.clear();
        hindrance.resize(count, 1.0);
        inside.clear();
        inside.resize(count, 0.0);
        hidden.clear();
        hidden.resize(count, 0.0);
        for contact in self.work.contacts.iter().flatten() {
            hidden[contact.particle as usize] += contact.wall_fraction;
        }
        for of_one in found.iter().flat_map(|found| found.chunk_by(|a, b| a.0 == b.0)) {
            let (i, start) = (of_one[0].0 as usize, solids.pairs.len());
            let (mut chi, mut full) = (0.0, 0.0);
            for &(_, solid, value) in of_one {
                let at = self.phases.slots[solid as usize] as usize;
                let Some(pores) = self.phases.pores_of(self.state.particles.liquid[at]) else { continue };
                chi += value;
                full += (1.0 - pores.porosity) * value;
                solids.pairs.push(Pair { other: solid, weight: value * pores.porosity / pores.permeability });
            }
            let total: f64 = solids.pairs[start..].iter().map(|pair| pair.weight).sum();
            // Behind a wall the solid goes on.
            let seen = (1.0 - f64::from(hidden[i])).max(0.25);
            if chi < LEAST {
                solids.pairs.truncate(start);
                continue;
            }
            solids.pairs[start..].iter_mut().for_each(|pair| pair.weight /= total);
            let liquid = self.state.particles.liquid[i];
            let viscosity = self.setup.materials[usize::from(liquid)].1.viscosity;
            // Liquid without viscosity is dragged by next to nothing, and the solve divides by it.
            let own = (self.rest_volume() * viscosity * total / seen).max(1e-30);
            solids.first.push(start as u32);
            wet.push(i as u32);
            drag.push(own);
            mass.push(self.mass(liquid));
            open.push((1.0 - full).max(0.0) as f32);
            let compliance = own * dt * self.node_compliance(&solids.pairs[start..], |weight| weight);
            hindrance[i] = (1.0 + own * dt / self.mass(liquid) / (1.0 + compliance)) as f32;
            inside[i] = (chi / seen) as f32;
        }
        solids.first.push(solids.pairs.len() as u32);
    }

    /// Sum over particles of solids of a weight times 1/m \[1/kg\].
    fn node_compliance(&self, pairs: &[Pair], of: impl Fn(f64) -> f64) -> f64 {
        let material = |pair: &Pair| {
            let at = self.phases.slots[pair.other as usize] as usize;
            self.state.particles.liquid[at]
        };
        pairs.iter().map(|pair| of(pair.weight) * self.phases.inverse_mass(material(pair))).sum()
    }

    fn density_kernel(&self) -> Kernel {
        match self.setup.params.kernel {
            KernelFamily::Papers => Papers::DENSITY,
            KernelFamily::CubicSpline => CubicSpline::DENSITY,
            KernelFamily::QuarticSpline => QuarticSpline::DENSITY,
        }
    }

    /// xᵢ − xⱼ \[m\].
    fn between(&self, i: usize, j: usize) -> DVec3 {
        let position = &self.state.particles.position;
        self.setup.periodic.shortest(position[i] - position[j]).as_dvec3()
    }

    /// Suction and drag in pores, as accelerations of liquid and solids, which have been moved: their velocities \[m/s\] and the
    /// drag that they felt \[N\]. Comes after all other forces, before pressure.
    pub fn add_porous_drag(&mut self, moved: [&[DVec3]; 2], gravity: DVec3, dt: f64) -> Solved {
        if !self.phases.is_porous() {
            return Solved { converged: true, ..Solved::default() };
        }
        let mut seepage = std::mem::take(&mut self.phases.seepage);
        self.take_friction(gravity);
        seepage.other_forces.clone_from(&self.phases.friction);
        self.suck(&mut seepage);
        let multiplier = std::mem::take(&mut self.state.particles.multiplier);
        let push = self.push_by(|i| multiplier[i]);
        self.state.particles.multiplier = multiplier;
        self.predict_drift(&mut seepage, moved, dt);
        let solved = self.solve_drag(&mut seepage, &push, dt);
        self.drag_liquid(&mut seepage, &push, dt);
        self.work.push = push;
        for body in &self.phases.bodies {
            for k in body.particles.clone() {
                let force = seepage.other_forces[k] + seepage.solve.on_solids[k];
                self.work.acceleration[self.phases.slots[k] as usize] = (force / body.mass + gravity).as_vec3();
            }
        }
        self.phases.seepage = seepage;
        solved
    }

    /// Suction: Π V0 ∇χ on liquid, the opposite on solids.
    fn suck(&mut self, seepage: &mut Seepage) {
        if self.phases.bodies.iter().all(|body| body.pores.is_none_or(|pores| pores.suction == 0.0)) {
            return;
        }
        let mut acceleration = std::mem::take(&mut self.work.acceleration);
        let (phases, kernel) = (&self.phases, self.density_kernel());
        let norm = f64::from(self.value_norm()) * self.rest_volume() / self.h;
        // On a particle of liquid.
        let pull = |i: usize, solid: usize| {
            let at = phases.slots[solid] as usize;
            let suction = phases.pores_of(self.state.particles.liquid[at]).map_or(0.0, |pores| pores.suction);
            let d = self.between(i, at);
            d * (suction * norm * kernel.slope(d.length() / self.h) / d.length().max(1e-30))
        };
        let Seepage { web, other_forces, .. } = seepage;
        for (solid, other) in other_forces.iter_mut().enumerate() {
            let pairs = web.liquids.of(solid).iter();
            *other -= pairs.map(|pair| pull(web.wet[pair.other as usize] as usize, solid)).sum::<DVec3>();
        }
        for (k, i) in web.wet.iter().map(|&i| i as usize).enumerate() {
            let force: DVec3 = web.solids.of(k).iter().map(|pair| pull(i, pair.other as usize)).sum();
            acceleration[i] += (force / web.mass[k]).as_vec3();
        }
        self.work.acceleration = acceleration;
    }

    /// Accelerations by multipliers \[Pa\], as drag leaves them.
    fn push_by(&mut self, multiplier: impl Fn(usize) -> f32 + Sync) -> Vec<Packed> {
        let mut push = std::mem::take(&mut self.work.push);
        let count = self.state.particles.len();
        let position = self.work.position[..count].par_iter_mut().with_min_len(par::PIECE);
        position.enumerate().for_each(|(i, position)| position[3] = multiplier(i));
        self.accelerate(&mut push);
        push
    }

    /// Where solids go at the end of the step without drag.
    fn predict_drift(&self, seepage: &mut Seepage, [speed, drag]: [&[DVec3]; 2], dt: f64) {
        let Seepage { drift, solve, .. } = seepage;
        let Phases { slots, velocity, .. } = &self.phases;
        self.phases.response(drag, &mut solve.response);
        drift.clear();
        drift.extend(slots.iter().enumerate().map(|(k, &at)| {
            let by_divergence = (self.state.particles.velocity[at as usize] - velocity[k]).as_dvec3();
            speed[k] + by_divergence - solve.response[k] * dt
        }));
    }

    /// Drag under the pressure of the last step; at the end `drift` is where solids go with it.
    fn solve_drag(&self, seepage: &mut Seepage, push: &[Packed], dt: f64) -> Solved {
        let Seepage { web, solve, drift, .. } = seepage;
        let (particles, count) = (&self.state.particles, web.wet.len());
        self.invert_diagonal(web, dt, &mut solve.inverse);
        web.solids.sum(drift, &mut solve.residual);
        for (k, i) in web.wet.iter().map(|&i| i as usize).enumerate() {
            let by_pressure = Vec3::from_slice(&push[i]) * self.phases.in_pores.hindrance(i);
            let freely = particles.velocity[i] + (self.work.acceleration[i] + by_pressure) * dt as f32;
            solve.residual[k] = freely.as_dvec3() - solve.residual[k];
        }
        solve.force.clear();
        solve.force.resize(count, DVec3::ZERO);
        solve.direction.clear();
        solve.direction.extend(solve.residual.iter().zip(&solve.inverse).map(|(r, inverse)| *r * *inverse));
        let product = |a: &[DVec3], b: &[DVec3]| par::sum(count, |k| a[k].dot(b[k]));
        let first = product(&solve.residual, &solve.direction);
        let (mut slope, mut solved) = (first, Solved::default());
        while slope > ERROR * ERROR * first && solved.iterations < MAX_ITERATIONS {
            self.apply_drag(web, dt, solve);
            let length = slope / product(&solve.direction, &solve.image);
            for k in 0..count {
                solve.force[k] += solve.direction[k] * length;
                solve.residual[k] -= solve.image[k] * length;
            }
            let next = par::sum(count, |k| solve.residual[k].length_squared() * solve.inverse[k]);
            for k in 0..count {
                solve.direction[k] = solve.residual[k] * solve.inverse[k] + solve.direction[k] * (next / slope);
            }
            slope = next;
            solved.iterations += 1;
        }
        web.liquids.sum(&solve.force, &mut solve.on_solids);
        self.phases.response(&solve.on_solids, &mut solve.response);
        drift.iter_mut().zip(&solve.response).for_each(|(drift, response)| *drift += *response * dt);
        solved.error = if first > 0.0 { (slope / first).sqrt() } else { 0.0 };
        solved.converged = solved.error <= ERROR;
        solved
    }

    /// The matrix of the drag times a direction.
    fn apply_drag(&self, web: &Web, dt: f64, solve: &mut Solve) {
        let Solve { direction, image, on_solids, response, .. } = solve;
        web.liquids.sum(direction, on_solids);
        self.phases.response(on_solids, response);
        web.solids.sum(response, image);
        image.iter_mut().enumerate().for_each(|(k, image)| {
            *image = *image * dt + direction[k] * (1.0 / web.drag[k] + dt / web.mass[k]);
        });
    }

    /// Inverse of the diagonal of the matrix, without what bodies do as a whole.
    fn invert_diagonal(&self, web: &Web, dt: f64, output: &mut Vec<f64>) {
        output.clear();
        output.extend((0..web.wet.len()).map(|k| {
            let compliance = self.node_compliance(web.solids.of(k), |weight| weight * weight);
            1.0 / (1.0 / web.drag[k] + dt / web.mass[k] + dt * compliance)
        }));
    }

    /// Drag on the liquid by solids that go where they are expected, under the pressure of the last step: what the pressure to come
    /// adds by itself is left out.
    fn drag_liquid(&mut self, seepage: &mut Seepage, push: &[Packed], dt: f64) {
        let Seepage { web, own, drift, .. } = seepage;
        web.solids.sum(drift, own);
        for (k, i) in web.wet.iter().map(|&i| i as usize).enumerate() {
            let acceleration = &mut self.work.acceleration[i];
            let (mass, hindrance) = (web.mass[k], f64::from(self.phases.in_pores.hindrance(i)));
            let push = Vec3::from_slice(&push[i]).as_dvec3();
            let freely =
                self.state.particles.velocity[i].as_dvec3() + (acceleration.as_dvec3() + push * hindrance) * dt;
            let drag = (freely - own[k]) * (web.drag[k] / (1.0 + web.drag[k] * dt / mass));
            own[k] = drag - push * (mass * (hindrance - 1.0));
            *acceleration -= (own[k] / mass).as_vec3();
        }
    }

    /// What drag does to solids, now that pressure is known. Comes after it.
    pub fn drag_solids(&mut self) {
        if !self.phases.is_porous() {
            return;
        }
        let mut seepage = std::mem::take(&mut self.phases.seepage);
        let multiplier = std::mem::take(&mut self.state.particles.multiplier);
        let divergence = std::mem::take(&mut self.work.divergence_pressure);
        // Pressure moves liquid in pores less by what drag takes: that goes to the solids.
        let push = self.push_by(|i| multiplier[i] + divergence[i]);
        let Seepage { web, own, by_walls, solve, other_forces, open, .. } = &mut seepage;
        for (k, i) in web.wet.iter().map(|&i| i as usize).enumerate() {
            let by_pressure = (Vec3::from_slice(&push[i]) + by_walls[k]).as_dvec3();
            let hindrance = f64::from(self.phases.in_pores.hindrance(i));
            solve.force[k] = own[k] + by_pressure * (web.mass[k] * (hindrance - 1.0));
            // p = φq.
            self.state.particles.pressure[i] = (multiplier[i] + divergence[i]) * open[k];
        }
        web.liquids.sum(&solve.force, &mut solve.on_solids);
        let on_solids = other_forces.iter().zip(&solve.on_solids);
        self.phases.friction.iter_mut().zip(on_solids).for_each(|(friction, (other, drag))| *friction = *other + *drag);
        self.work.push = push;
        (self.state.particles.multiplier, self.work.divergence_pressure) = (multiplier, divergence);
        self.phases.seepage = seepage;
    }

    /// What drag does to the particles of solids in this step \[N\]; none without porous ones.
    #[must_use]
    pub fn drag_on_solids(&self) -> &[DVec3] {
        if self.phases.is_porous() { &self.phases.seepage.solve.on_solids } else { &[] }
    }

    /// How that differs from the drag that solids felt last \[N\], as far as `heed` leaves it. It counts as given to them: what is
    /// still to be given is the change of the rest.
    pub fn change_of_drag(&mut self, last: &[DVec3], heed: impl FnOnce(&mut [DVec3])) -> &[DVec3] {
        let Phases { before, seepage: Seepage { solve, drift: change, .. }, .. } = &mut self.phases;
        change.clear();
        change.extend(solve.on_solids.iter().zip(last).map(|(drag, last)| *drag - *last));
        heed(change);
        before.iter_mut().zip(&*change).for_each(|(before, change)| *before += *change);
        change
    }

    /// What a porous solid holds where its particles are \[m\], each of a volume \[m³\]: liquid whose χ by that solid is above one half.
    #[must_use]
    pub fn held_by(&self, number: usize, position: &[DVec3], each: f64) -> Option<Held> {
        let pores = self.phases.bodies.get(number)?.pores?;
        let singles: Vec<Vec3> = position.iter().map(|p| p.as_vec3()).collect();
        let mut grid = NeighbourGrid::default();
        grid.sort(&singles, self.h as f32, Periodic::default());
        let (kernel, norm) = (self.density_kernel(), f64::from(self.value_norm()));
        let particles = &self.state.particles;
        let reach = Vec3::splat(self.h as f32);
        // Space that repeats: the images of a position beside the body.
        let turns = |axis: usize| if self.setup.periodic.length[axis] > 0.0 { -1..=1 } else { 0..=0 };
        let all = turns(0).flat_map(|x| turns(1).flat_map(move |y| turns(2).map(move |z| IVec3::new(x, y, z))));
        let images: Vec<Vec3> = all.map(|turn| turn.as_vec3() * self.setup.periodic.length).collect();
        let is_inside = |i: usize| {
            let mut inside = 0.0;
            for x in images.iter().map(|image| particles.position[i] + *image) {
                grid.for_each_range_in(x - reach, x + reach, |range| {
                    let distances = grid.order()[range].iter().map(|&j| f64::from(singles[j as usize].distance(x)));
                    inside += distances.map(|r| norm * kernel.value(r / self.h)).sum::<f64>();
                });
            }
            inside > 0.5
        };
        let wet = (0..particles.len()).filter(|&i| !self.phases.is_solid(particles.liquid[i]) && is_inside(i));
        let (mut volume, mut mass) = (0.0, 0.0);
        for i in wet {
            volume += self.rest_volume();
            mass += self.mass(particles.liquid[i]);
        }
        let room = pores.porosity * each * position.len() as f64;
        Some(Held { volume, mass, saturation: volume / room })
    }
}
