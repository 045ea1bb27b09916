//! Particles of solids among those of the liquid \[SZW sec. 3.2\].
//!
//! Each solid is a liquid of its own density in the number density of all: cᵢ = V0 Σⱼ Wᵢⱼ counts its particles like any other,
//! so there is neither gap nor excess beside it \[SZW eq. 5\]. Pressure belongs to the liquid alone: where cᵢ ≤ 1 holds by
//! the multiplier qᵢ of a liquid particle i, a solid particle s feels the other side of that condition,
//!
//! > F_s = V0 Σᵢ qᵢ ∇Wᵢₛ V0,
//!
//! equal and opposite to what i feels. Deviation: the paper gives solids a pressure k (ρ̃ − ρ0) of their own as well, which in an
//! incompressible liquid would make them a heavy liquid that spreads; inside of a solid only elastic forces act.
//!
//! Within a step the liquid must know how a solid yields. It is moved first, under the forces F′ of the last step, and
//! expected to answer to their change by
//!
//! > Δvₛ = dt (Fₛ − F′ₛ)/(mₛ (1 + (c dt/s)²)) + the motion of a rigid body under F − F′,
//!
//! for a particle takes along what sound of speed c reaches in the step, and all particles take along the body. The impulse
//! dt (F − F′) is then given to the solid, its rigid part at once, the rest over the next step: what the liquid loses the solid gains,
//! to rounding.

use super::elastic::PIECE;
use super::porous::{InPores, Pores, Seepage};
use super::solids::{RigidFrame, Solids};
use crate::dfsph::corrected::apply;
use crate::lanes::{Packed, pack};
use crate::liquid::Liquid;
use crate::params::Material;
use glam::{DVec3, Vec3};
use meniscus_core::par;
use rayon::prelude::*;
use std::ops::Range;

/// Which particles of a liquid belong to solids; by default none.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// Materials from this one on are solids.
    pub(crate) first_material: u16,
    pub(super) first_id: u32,
    /// Where each particle of the solids is stored.
    pub(super) place: Vec<u32>,
    pub(super) bodies: Vec<Body>,
    /// Forces that the solids moved under \[N\], and what friction does to them in this step.
    pub(super) before: Vec<DVec3>,
    pub(super) friction: Vec<DVec3>,
    /// Velocities before the step \[m/s\].
    pub(super) velocity: Vec<Vec3>,
    /// Liquid in pores.
    pub(crate) in_pores: InPores,
    pub(super) seepage: Seepage,
}

#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) particles: Range<usize>,
    pub(super) frame: RigidFrame,
    /// mₛ and mₛ (1 + (c dt/s)²) \[kg\].
    pub(super) mass: f64,
    inertia: f64,
    /// 1/mₛ \[1/kg\]; nothing if all of the body is led.
    pub(super) mobility: f64,
    pub(super) pores: Option<Pores>,
}

impl Default for Embedded {
    fn default() -> Self {
        Self {
            first_material: u16::MAX,
            first_id: u32::MAX,
            place: Vec::new(),
            bodies: Vec::new(),
            before: Vec::new(),
            friction: Vec::new(),
            velocity: Vec::new(),
            in_pores: InPores::default(),
            seepage: Seepage::default(),
        }
    }
}

impl Embedded {
    /// Whether a material is that of a solid.
    #[inline]
    pub(crate) fn is_solid(&self, material: u16) -> bool {
        material >= self.first_material
    }

    fn body_of(&self, material: u16) -> Option<&Body> {
        self.bodies.get(usize::from(material.checked_sub(self.first_material)?))
    }

    /// The pores of a material, if it has any.
    #[inline]
    pub(crate) fn pores_of(&self, material: u16) -> Option<Pores> {
        self.body_of(material)?.pores
    }

    /// 1/m of a particle of a solid \[1/kg\]; nothing if all of the body is led.
    pub(super) fn mobility(&self, material: u16) -> f64 {
        self.body_of(material).map_or(0.0, |body| body.mobility)
    }

    /// Whether any solid is porous.
    pub(crate) fn is_porous(&self) -> bool {
        self.bodies.iter().any(|body| body.pores.is_some())
    }

    /// Part of the volume of a particle that its matter fills, dimensionless.
    #[inline]
    pub(crate) fn fullness(&self, material: u16) -> f32 {
        self.pores_of(material).map_or(1.0, |pores| (1.0 - pores.porosity) as f32)
    }

    /// Whether there are no solids.
    pub(crate) fn is_empty(&self) -> bool {
        self.place.is_empty()
    }

    /// Takes accelerations from the particles of solids, where only places of the liquid are asked for.
    pub(crate) fn hold(&self, output: &mut [Packed]) {
        self.place.iter().for_each(|&at| output[at as usize] = [0.0; 4]);
    }

    /// What bodies add as a whole to the accelerations of their particles under forces: `output` holds accelerations of single particles
    /// \[m/s²\].
    pub(crate) fn answer_as_rigid(&self, positions: &[Vec3], output: &mut [Packed]) {
        for body in self.bodies.iter().filter(|body| body.frame.inverse_mass > 0.0) {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for &at in &self.place[body.particles.clone()] {
                let at = at as usize;
                let f = Vec3::from_slice(&output[at]).as_dvec3() * body.inertia;
                force += f;
                torque += (positions[at].as_dvec3() - body.frame.center).cross(f);
            }
            let motion = body.frame.answer(force, torque);
            for &at in &self.place[body.particles.clone()] {
                let at = at as usize;
                let more = body.frame.at(motion, positions[at].as_dvec3()).as_vec3();
                output[at] = pack(Vec3::from_slice(&output[at]) + more, output[at][3]);
            }
        }
    }
}

impl Liquid {
    /// Takes the particles of solids in among its own. `viscosity` \[Pa·s\] is that of the layer of liquid on them.
    pub fn embed(&mut self, solids: &Solids, viscosity: f64) {
        let first = self.setup.materials.len() as u16;
        self.embedded =
            Embedded { first_material: first, first_id: self.state.particles.next_id, ..Embedded::default() };
        let volume = self.rest_volume();
        for (number, body) in solids.bodies().iter().enumerate() {
            let density = body.elastic.mass() / volume;
            self.setup.materials.push((body.name.clone(), Material { density, viscosity, ..Material::default() }));
            let own = body.particles.clone();
            for (x, v) in solids.state().position[own.clone()].iter().zip(&solids.state().velocity[own.clone()]) {
                self.state.particles.push(first + number as u16, x.as_vec3(), v.as_vec3(), density as f32);
            }
            self.embedded.bodies.push(Body {
                particles: own,
                frame: RigidFrame::default(),
                mass: body.elastic.mass(),
                inertia: 1.0,
                mobility: 0.0,
                pores: body.elastic.material().pores,
            });
        }
        let count = solids.state().position.len();
        self.embedded.place.resize(count, 0);
        self.embedded.friction.resize(count, DVec3::ZERO);
        self.locate_solids();
    }

    /// Solids have become lighter or heavier.
    pub fn weigh_solids(&mut self, solids: &Solids) {
        let (volume, first) = (self.rest_volume(), usize::from(self.embedded.first_material));
        let own = self.setup.materials.iter_mut().skip(first).zip(&mut self.embedded.bodies);
        for (((_, material), body), solid) in own.zip(solids.bodies()) {
            body.mass = solid.elastic.mass();
            material.density = body.mass / volume;
        }
    }

    /// Finds where particles of solids are stored.
    pub(crate) fn locate_solids(&mut self) {
        let Embedded { first_id, place, .. } = &mut self.embedded;
        if place.is_empty() {
            return;
        }
        for (at, id) in self.state.particles.id.iter().enumerate() {
            let k = id.wrapping_sub(*first_id) as usize;
            if k < place.len() {
                place[k] = at as u32;
            }
        }
    }

    /// Puts the particles of solids where they are. Comes first in a step of `dt` \[s\].
    pub fn place_solids(&mut self, solids: &Solids, dt: f64) {
        // The last step may have sent particles down drains.
        self.locate_solids();
        let spacing = self.setup.params.spacing;
        let Embedded { place, bodies, velocity, .. } = &mut self.embedded;
        let particles = &mut self.state.particles;
        velocity.clear();
        for ((&at, x), v) in place.iter().zip(&solids.state().position).zip(&solids.state().velocity) {
            particles.position[at as usize] = x.as_vec3();
            particles.velocity[at as usize] = v.as_vec3();
            velocity.push(v.as_vec3());
        }
        for (number, (body, solid)) in bodies.iter_mut().zip(solids.bodies()).enumerate() {
            let reach = solid.elastic.material().sound_speed() * dt / spacing;
            body.inertia = solid.elastic.mass() * (1.0 + reach * reach);
            body.frame = solids.frame(number);
            let led = solid.led.iter().filter(|led| led.axes == DVec3::ONE).count();
            body.mobility = if led < solid.elastic.len() { 1.0 / solid.elastic.mass() } else { 0.0 };
        }
    }

    /// How hard particles are to move, as densities of their materials \[kg/m³\].
    pub(crate) fn inertias(&self, output: &mut Vec<f32>) {
        let volume = self.rest_volume();
        output.clear();
        output.extend_from_slice(&self.work.rest_density);
        for (body, inertia) in
            self.embedded.bodies.iter().zip(output.iter_mut().skip(self.embedded.first_material.into()))
        {
            *inertia = (body.inertia / volume) as f32;
        }
    }

    /// After solids have been moved under the forces of the last step: the density solve expects them where they will be, if their
    /// forces do not change. Comes between forces and pressure.
    pub fn expect_solids(&mut self, before: &[DVec3], solids: &Solids, gravity: DVec3, dt: f64) {
        self.embedded.before.clear();
        self.embedded.before.extend_from_slice(before);
        self.take_friction(gravity);
        let Self { embedded, state, work, .. } = self;
        let Embedded { place, friction, bodies, before, velocity, .. } = embedded;
        let particles = &mut state.particles;
        for body in bodies.iter() {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for k in body.particles.clone() {
                let lost = friction[k] - before[k];
                force += lost;
                torque += (particles.position[place[k] as usize].as_dvec3() - body.frame.center).cross(lost);
            }
            let motion = body.frame.answer(force, torque);
            for k in body.particles.clone() {
                let at = place[k] as usize;
                let x = particles.position[at];
                let by_change = (friction[k] - before[k]) / body.inertia + body.frame.at(motion, x.as_dvec3());
                let by_divergence = (particles.velocity[at] - velocity[k]) / dt as f32;
                work.acceleration[at] = by_change.as_vec3() + by_divergence;
                particles.velocity[at] = ((solids.state().position[k] - x.as_dvec3()) / dt).as_vec3();
            }
        }
    }

    /// What friction does to solids \[N\], from accelerations without pressure.
    pub(super) fn take_friction(&mut self, gravity: DVec3) {
        let Embedded { place, friction, bodies, .. } = &mut self.embedded;
        for body in bodies {
            for k in body.particles.clone() {
                let acceleration = self.work.acceleration[place[k] as usize].as_dvec3() - gravity;
                friction[k] = acceleration * body.mass;
            }
        }
    }

    /// Gives the solids what the liquid does to them; their particles in the liquid are put where the solids are.
    pub fn give_to_solids(&mut self, solids: &mut Solids, dt: f64) {
        self.kick_porous(solids, dt);
        let factor = -self.rest_volume() * f64::from(self.gradient_norm());
        let embedded = &self.embedded;
        let state = solids.state_mut();
        state.force.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, force)| {
            *force = embedded.friction[k] + self.pressure_sum(embedded.place[k] as usize) * factor;
        });
        for body in &embedded.bodies {
            let (mut impulse, mut moment) = (DVec3::ZERO, DVec3::ZERO);
            for k in body.particles.clone() {
                let change = (state.force[k] - embedded.before[k]) * dt;
                state.owed[k] = change;
                impulse += change;
                moment += (state.position[k] - body.frame.center).cross(change);
            }
            let motion = body.frame.answer(impulse, moment);
            for k in body.particles.clone() {
                let change = body.frame.at(motion, state.position[k]);
                state.velocity[k] += change;
                state.owed[k] -= change * body.mass;
            }
        }
        self.show_solids(solids);
    }

    /// Σⱼ qⱼ h⁴ ∇Wₛⱼ of both solves at a solid particle; only neighbours of the liquid have a q.
    // (7) of docs/src/unified.md
    fn pressure_sum(&self, s: usize) -> DVec3 {
        let work = &self.work;
        let number = s / par::PIECE;
        let block = &work.neighbours.blocks[number];
        let k = s - block.start;
        let slopes = &work.slopes[number][block.range(k)];
        let here = Vec3::from_slice(&work.place[s]);
        let corrected = self.corrects_gradients();
        let mut sum = DVec3::ZERO;
        for (&j, &slope) in block.of(k).iter().flatten().zip(slopes.iter().flatten()) {
            let j = j as usize;
            if slope == 0.0 || j >= work.divergence_pressure.len() {
                continue;
            }
            let q = self.state.particles.multiplier[j] + work.divergence_pressure[j];
            let there = Vec3::from_slice(&work.place[j]);
            let away = self.setup.periodic.shortest(here - there) * slope;
            if corrected && q != 0.0 {
                sum += (apply(&work.corrected.inverse[j], away) * q).as_dvec3();
            } else if q > 0.0 {
                sum += (self.setup.periodic.shortest(here - there) * (slope * q)).as_dvec3();
            }
        }
        sum
    }

    /// With the state equation: pressure belongs to the liquid alone.
    pub(crate) fn free_solids_of_pressure(&mut self) {
        for &at in &self.embedded.place {
            self.state.particles.pressure[at as usize] = 0.0;
        }
    }

    /// With the state equation: what the liquid does to solids, from the accelerations of all forces.
    pub fn push_solids(&mut self, solids: &mut Solids, gravity: DVec3) {
        self.take_friction(gravity);
        solids.state_mut().force.copy_from_slice(&self.embedded.friction);
    }

    /// Puts the particles of solids where the solids are.
    pub fn show_solids(&mut self, solids: &Solids) {
        let particles = &mut self.state.particles;
        let state = solids.state();
        for ((&at, x), v) in self.embedded.place.iter().zip(&state.position).zip(&state.velocity) {
            particles.position[at as usize] = x.as_vec3();
            particles.velocity[at as usize] = v.as_vec3();
        }
    }
}
