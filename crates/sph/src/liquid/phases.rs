//! Which materials are liquids and which are solids whose particles stand among the liquid's \[SZW sec. 3.2\]: a row each.
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
//! Within a step the liquid must know how a solid gives way. It is moved first, under the forces F′ of the last step, and
//! expected to answer to their change by
//!
//! > Δvₛ = dt (Fₛ − F′ₛ)/(mₛ (1 + (c dt/s)²)) + the motion of a rigid body under F − F′,
//!
//! for a particle takes along what sound of speed c reaches in the step, and all particles take along the body. The impulse
//! dt (F − F′) is then given to the solid, its rigid part at once, the rest over the next step: what the liquid loses the solid gains,
//! to rounding.
//!
//! The solids themselves, and what they do with the forces found here, are their own solver's affair: `coupling` carries positions,
//! velocities and forces between the two.

use crate::liquid::Liquid;
use crate::liquid::dfsph::corrected::apply;
use crate::liquid::porous::{InPores, Pores, Seepage};
use crate::params::Material;
use crate::simd::{Packed, pack};
use glam::{DVec3, Vec3};
use meniscus_boundary::RigidCompliance;
use meniscus_core::par;
use rayon::prelude::*;
use std::ops::Range;

/// Particles of solids per piece of parallel work: bodies are smaller than liquids.
const PIECE: usize = par::PIECE / 8;

/// A solid of particles as the liquid knows it: the row of its material.
#[derive(Debug, Clone, Default)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its particles among those of all solids.
    pub particles: Range<usize>,
    /// Mass mₛ of a particle \[kg\].
    pub mass: f64,
    /// How hard a particle is to move within a step, mₛ (1 + (c dt/s)²) \[kg\].
    pub inertia: f64,
    /// 1/mₛ \[1/kg\]; nothing if all of the body is prescribed.
    pub inverse_mass: f64,
    /// How it gives way as a whole.
    pub compliance: RigidCompliance,
    /// Its pores; by default it has none.
    pub pores: Option<Pores>,
}

/// Which particles of a liquid belong to solids; by default none.
#[derive(Debug, Clone)]
pub(crate) struct Phases {
    /// Materials from this one on are solids.
    pub(crate) first_material: u16,
    pub(crate) first_id: u32,
    /// Where each particle of the solids is stored.
    pub(crate) slots: Vec<u32>,
    pub(crate) bodies: Vec<Phase>,
    /// Forces that the solids moved under \[N\], and what friction does to them in this step.
    pub(crate) before: Vec<DVec3>,
    pub(crate) friction: Vec<DVec3>,
    /// Velocities before the step \[m/s\].
    pub(crate) velocity: Vec<Vec3>,
    /// Liquid in pores.
    pub(crate) in_pores: InPores,
    pub(crate) seepage: Seepage,
}

impl Default for Phases {
    fn default() -> Self {
        Self {
            first_material: u16::MAX,
            first_id: u32::MAX,
            slots: Vec::new(),
            bodies: Vec::new(),
            before: Vec::new(),
            friction: Vec::new(),
            velocity: Vec::new(),
            in_pores: InPores::default(),
            seepage: Seepage::default(),
        }
    }
}

impl Phases {
    /// Whether a material is that of a solid.
    #[inline]
    pub(crate) fn is_solid(&self, material: u16) -> bool {
        material >= self.first_material
    }

    fn body_of(&self, material: u16) -> Option<&Phase> {
        self.bodies.get(usize::from(material.checked_sub(self.first_material)?))
    }

    /// The pores of a material, if it has any.
    #[inline]
    pub(crate) fn pores_of(&self, material: u16) -> Option<Pores> {
        self.body_of(material)?.pores
    }

    /// 1/m of a particle of a solid \[1/kg\]; nothing if all of the body is prescribed.
    pub(crate) fn inverse_mass(&self, material: u16) -> f64 {
        self.body_of(material).map_or(0.0, |body| body.inverse_mass)
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
        self.slots.is_empty()
    }

    /// Takes accelerations from the particles of solids, where only positions of the liquid are asked for.
    pub(crate) fn hold(&self, output: &mut [Packed]) {
        self.slots.iter().for_each(|&at| output[at as usize] = [0.0; 4]);
    }

    /// What bodies add as a whole to the accelerations of their particles under forces: `output` holds accelerations of single particles
    /// \[m/s²\].
    pub(crate) fn respond_as_rigid(&self, positions: &[Vec3], output: &mut [Packed]) {
        for body in self.bodies.iter().filter(|body| body.compliance.inverse_mass.x > 0.0) {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for &at in &self.slots[body.particles.clone()] {
                let at = at as usize;
                let f = Vec3::from_slice(&output[at]).as_dvec3() * body.inertia;
                force += f;
                torque += (positions[at].as_dvec3() - body.compliance.center).cross(f);
            }
            let motion = body.compliance.motion(force, torque);
            for &at in &self.slots[body.particles.clone()] {
                let at = at as usize;
                let more = body.compliance.at(motion, positions[at].as_dvec3()).as_vec3();
                output[at] = pack(Vec3::from_slice(&output[at]) + more, output[at][3]);
            }
        }
    }
}

impl Liquid {
    /// Takes the particles of solids in among its own, at positions \[m\] with velocities \[m/s\]. `viscosity` \[Pa·s\] is that
    /// of the layer of liquid on them.
    pub fn embed(&mut self, bodies: Vec<Phase>, [position, velocity]: [&[DVec3]; 2], viscosity: f64) {
        let first = self.setup.materials.len() as u16;
        self.phases = Phases { first_material: first, first_id: self.state.particles.next_id, ..Phases::default() };
        let volume = self.rest_volume();
        for (number, body) in bodies.iter().enumerate() {
            let density = body.mass / volume;
            self.setup.materials.push((body.name.clone(), Material { density, viscosity, ..Material::default() }));
            for (x, v) in position[body.particles.clone()].iter().zip(&velocity[body.particles.clone()]) {
                self.state.particles.push(first + number as u16, x.as_vec3(), v.as_vec3(), density as f32);
            }
        }
        self.phases.bodies = bodies;
        self.phases.slots.resize(position.len(), 0);
        self.phases.friction.resize(position.len(), DVec3::ZERO);
        self.locate_solids();
    }

    /// The solids among its materials.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases.bodies
    }

    /// Changes what is known of the solids: their masses may have changed.
    pub fn change_phases(&mut self, change: impl FnOnce(&mut [Phase])) {
        change(&mut self.phases.bodies);
        let (volume, first) = (self.rest_volume(), usize::from(self.phases.first_material));
        let own = self.setup.materials.iter_mut().skip(first);
        own.zip(&self.phases.bodies).for_each(|((_, material), body)| material.density = body.mass / volume);
    }

    /// Finds where particles of solids are stored.
    pub(crate) fn locate_solids(&mut self) {
        let Phases { first_id, slots, .. } = &mut self.phases;
        if slots.is_empty() {
            return;
        }
        for (at, id) in self.state.particles.id.iter().enumerate() {
            let k = id.wrapping_sub(*first_id) as usize;
            if k < slots.len() {
                slots[k] = at as u32;
            }
        }
    }

    /// Puts the particles of solids where they are \[m\], with their velocities \[m/s\]. Comes first in a step.
    pub fn place_solids(&mut self, position: &[DVec3], velocity: &[DVec3]) {
        // The last step may have sent particles down drains.
        self.locate_solids();
        self.phases.velocity.clear();
        self.phases.velocity.extend(velocity.iter().map(|v| v.as_vec3()));
        self.show_solids(position, velocity);
    }

    /// How hard particles are to move, as densities of their materials \[kg/m³\].
    pub(crate) fn inertias(&self, output: &mut Vec<f32>) {
        let volume = self.rest_volume();
        output.clear();
        output.extend_from_slice(&self.work.rest_density);
        for (body, inertia) in self.phases.bodies.iter().zip(output.iter_mut().skip(self.phases.first_material.into()))
        {
            *inertia = (body.inertia / volume) as f32;
        }
    }

    /// After solids have been moved under the forces `before` \[N\] of the last step: the density solve expects them where they are
    /// then, `ends` \[m\], if their forces do not change. Comes between forces and pressure.
    pub fn predict_solids(&mut self, before: &[DVec3], ends: &[DVec3], gravity: DVec3, dt: f64) {
        self.phases.before.clear();
        self.phases.before.extend_from_slice(before);
        self.take_friction(gravity);
        let Self { phases, state, work, .. } = self;
        let Phases { slots, friction, bodies, before, velocity, .. } = phases;
        let particles = &mut state.particles;
        for body in bodies.iter() {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for k in body.particles.clone() {
                let lost = friction[k] - before[k];
                force += lost;
                torque += (particles.position[slots[k] as usize].as_dvec3() - body.compliance.center).cross(lost);
            }
            let motion = body.compliance.motion(force, torque);
            for k in body.particles.clone() {
                let at = slots[k] as usize;
                let x = particles.position[at];
                let by_change = (friction[k] - before[k]) / body.inertia + body.compliance.at(motion, x.as_dvec3());
                let by_divergence = (particles.velocity[at] - velocity[k]) / dt as f32;
                work.acceleration[at] = by_change.as_vec3() + by_divergence;
                particles.velocity[at] = ((ends[k] - x.as_dvec3()) / dt).as_vec3();
            }
        }
    }

    /// What friction does to solids \[N\], from accelerations without pressure.
    pub(crate) fn take_friction(&mut self, gravity: DVec3) {
        let Phases { slots, friction, bodies, .. } = &mut self.phases;
        for body in bodies {
            for k in body.particles.clone() {
                let acceleration = self.work.acceleration[slots[k] as usize].as_dvec3() - gravity;
                friction[k] = acceleration * body.mass;
            }
        }
    }

    /// What the liquid does to the particles of solids in this step \[N\]: friction and pressure.
    pub fn forces_on_solids(&self, forces: &mut [DVec3]) {
        let factor = -self.rest_volume() * f64::from(self.gradient_norm());
        let phases = &self.phases;
        forces.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, force)| {
            *force = phases.friction[k] + self.pressure_sum(phases.slots[k] as usize) * factor;
        });
    }

    /// The forces that the solids have been moved under \[N\].
    #[must_use]
    pub fn forces_before(&self) -> &[DVec3] {
        &self.phases.before
    }

    /// Σⱼ qⱼ h⁴ ∇Wₛⱼ of both solves at a solid particle; only neighbours of the liquid have a q.
    // (7) of docs/src/unified.md
    fn pressure_sum(&self, s: usize) -> DVec3 {
        let work = &self.work;
        let number = s / par::PIECE;
        let block = &work.neighbours.blocks[number];
        let k = s - block.start;
        let slopes = &work.slopes[number][block.range(k)];
        let here = Vec3::from_slice(&work.position[s]);
        let corrected = self.corrects_gradients();
        let mut sum = DVec3::ZERO;
        for (&j, &slope) in block.of(k).iter().flatten().zip(slopes.iter().flatten()) {
            let j = j as usize;
            if slope == 0.0 || j >= work.divergence_pressure.len() {
                continue;
            }
            let q = self.state.particles.multiplier[j] + work.divergence_pressure[j];
            let there = Vec3::from_slice(&work.position[j]);
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
        for &at in &self.phases.slots {
            self.state.particles.pressure[at as usize] = 0.0;
        }
    }

    /// With the state equation: what the liquid does to the particles of solids \[N\], from the accelerations of all forces.
    pub fn push_solids(&mut self, gravity: DVec3) -> &[DVec3] {
        self.take_friction(gravity);
        &self.phases.friction
    }

    /// Puts the particles of solids where the solids are \[m\], with their velocities \[m/s\].
    pub fn show_solids(&mut self, position: &[DVec3], velocity: &[DVec3]) {
        let particles = &mut self.state.particles;
        for ((&at, x), v) in self.phases.slots.iter().zip(position).zip(velocity) {
            particles.position[at as usize] = x.as_vec3();
            particles.velocity[at as usize] = v.as_vec3();
        }
    }
}
