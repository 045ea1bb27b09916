//! Energy never grows by itself: what a step leaves too much of is taken back.
//!
//! An implicit Euler step of a linear body loses ½ M |u − v₀|². One that is linearised where it begins may gain energy instead:
//! a body that spins is stretched along its tangents, and the stretch is not in the equations.
//!
//! G = ½ M (u² − v₀²) + Ψ(x) − Ψ(x₀) − W, with W the work of loads, reactions and supports; damping only takes.
//!
//! A small gain, against the energy T of the motion about the mean velocity ū, is taken out of that motion:
//! v ← ū + √(1 − G/T) (v − ū), which keeps the momentum and costs G/2T of the angular momentum, far less than a better
//! solution of implicit Euler does. For a large one the equations are solved better first.

use crate::body::Body;
use crate::params::Integrator;
use crate::reaction::Reaction;
use crate::state::Spring;
use crate::topology::Incident;
use glam::DVec3;
use meniscus_core::par;

/// Growth below this part of the energies at play is rounding.
const ROUNDING: f64 = 1e-14;
/// Growth over the energy of motion that is taken from the motion, dimensionless.
const SMALL: f64 = 1e-2;

/// What a step has gained.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gain {
    /// G \[J\]; zero if it is not more than rounding.
    energy: f64,
    /// T \[J\].
    motion: f64,
    /// ū \[m/s\]; zero for a body that is held.
    mean: DVec3,
}

impl Gain {
    /// Whether it is too much to be taken out of the motion.
    pub(crate) fn is_large(&self) -> bool {
        self.energy > SMALL * self.motion
    }
}

impl Body {
    /// Whether the step under way is one that should never gain energy.
    pub(crate) fn loses_energy(&self) -> bool {
        self.work.problem.momentum[0] > 0.0 && self.params.integrator == Integrator::ImplicitEuler
    }

    /// Notes Ψ(x₀).
    pub(crate) fn note_energy(&mut self) {
        self.work.energy_before = self.stored_energy();
        self.work.gain = Gain::default();
    }

    /// Finds what the step has gained at u.
    pub(crate) fn find_gain(&mut self) {
        let (work, mass, velocity) = (&self.work, &self.topology.mass, &self.state.motion.velocity);
        let (u, fixed) = (&work.unknown, &self.state.mesh.fixed);
        let mean = if self.is_free() { mean(mass, u) } else { DVec3::ZERO };
        let gained = par::sum(mass.len(), |i| 0.5 * mass[i] * (u[i] - velocity[i]).dot(u[i] + velocity[i]));
        let motion = par::sum(mass.len(), |i| 0.5 * mass[i] * fixed[i].free_part(u[i] - mean).length_squared());
        let all = par::sum(mass.len(), |i| 0.5 * mass[i] * u[i].length_squared());
        let (before, now) = (work.energy_before, self.stored_energy());
        let energy = gained + now - before - self.work_done(work.problem.tau);
        let energy = if energy > ROUNDING * (all + before + now) { energy } else { 0.0 };
        self.work.gain = Gain { energy, motion, mean };
    }

    /// Takes a gain out of the motion.
    // (7) of docs/src/solids.md
    pub(crate) fn take_back(&mut self) {
        let Gain { energy, motion, mean } = std::mem::take(&mut self.work.gain);
        if energy > 0.0 {
            self.slow_about(mean, (1.0 - energy / motion).max(0.0).sqrt());
        }
    }

    /// Ψ: energy of elements and springs at x \[J\].
    fn stored_energy(&self) -> f64 {
        let (work, mesh) = (&self.work, &self.state.mesh);
        let elastic = par::sum(work.element_energy.len(), |element| work.element_energy[element]);
        let spring = |spring: &Spring| {
            let stretch = spring.at(mesh, &work.position) - spring.anchor;
            0.5 * spring.stiffness * stretch.length_squared()
        };
        elastic + self.state.motion.springs.iter().map(spring).sum::<f64>()
    }

    /// What a step of `dt` \[s\] that is over has added to the energy of the body, beyond the work done on it, and the size of the
    /// energies at play \[J\]; contact is left out of both.
    pub(crate) fn gain_of_step(&self, dt: f64) -> (f64, f64) {
        let (mass, v, v0) = (&self.topology.mass, &self.state.motion.velocity, &self.work.before.velocity);
        let gained = par::sum(mass.len(), |i| 0.5 * mass[i] * (v[i] - v0[i]).dot(v[i] + v0[i]));
        let (before, now) = (self.work.energy_before, self.elastic_energy());
        (gained + now - before - self.work_done(dt), self.kinetic_energy() + before + now)
    }

    /// Whether nodes are prescribed: held, and not where they stand.
    pub(crate) fn is_prescribed(&self) -> bool {
        let (u, fixed) = (&self.work.unknown, &self.state.mesh.fixed);
        u.iter().zip(fixed).any(|(u, fixed)| *u != fixed.free_part(*u))
    }

    /// The velocity \[m/s\] that the body keeps when its own motion is taken away: its mean; none for one that is held.
    pub(crate) fn resting_velocity(&self) -> DVec3 {
        if self.is_free() { mean(&self.topology.mass, &self.state.motion.velocity) } else { DVec3::ZERO }
    }

    /// Energy of the motion of free nodes about a velocity \[J\].
    pub(crate) fn energy_about(&self, mean: DVec3) -> f64 {
        let (mass, v, fixed) = (&self.topology.mass, &self.state.motion.velocity, &self.state.mesh.fixed);
        par::sum(mass.len(), |i| 0.5 * mass[i] * fixed[i].free_part(v[i] - mean).length_squared())
    }

    /// Keeps a part of the motion of free nodes about a velocity.
    pub(crate) fn slow_about(&mut self, mean: DVec3, kept: f64) {
        let nodes = self.state.motion.velocity.iter_mut().zip(&self.state.mesh.fixed);
        nodes.for_each(|(v, fixed)| *v = fixed.select(*v, mean + kept * (*v - mean)));
    }

    /// W: the work of loads, reactions and of what leads nodes in a time \[s\] \[J\].
    fn work_done(&self, time: f64) -> f64 {
        let (work, mesh, problem) = (&self.work, &self.state.mesh, &self.work.problem);
        let free = |i: usize| mesh.fixed[i].free_part(work.unknown[i]);
        let loads = par::sum(mesh.nodes(), |i| time * work.load[i].dot(free(i)));
        let reaction = |reaction: &Reaction| {
            let node = reaction.node as usize;
            time * free(node).dot(reaction.force_at(problem, work.unknown[node]))
        };
        loads + self.reactions.iter().map(reaction).sum::<f64>() + self.work_of_supports(time)
    }

    /// What leads a node gives it M (u − v₀) − t f in a time t, f the force of its elements.
    fn work_of_supports(&self, time: f64) -> f64 {
        let (work, mesh, per_element) = (&self.work, &self.state.mesh, self.params.order.nodes());
        let mass = &self.topology.mass;
        // `before` holds the start of the step while it is under way and when it is over.
        let velocity = &work.before.velocity;
        let of_element = |i: &Incident| work.element_force[i.element as usize * per_element + i.node as usize];
        let mut sum = 0.0;
        for (i, fixed) in mesh.fixed.iter().enumerate() {
            let prescribed = work.unknown[i] - fixed.free_part(work.unknown[i]);
            if prescribed != DVec3::ZERO {
                let force: DVec3 = self.topology.incidence.of(i).iter().map(of_element).sum();
                sum += prescribed.dot(mass[i] * (work.unknown[i] - velocity[i]) - time * force);
            }
        }
        sum
    }
}

/// The mean velocity \[m/s\], weighted by mass.
fn mean(mass: &[f64], velocity: &[DVec3]) -> DVec3 {
    let momentum: DVec3 = mass.iter().zip(velocity).map(|(m, v)| *m * *v).sum();
    momentum / mass.iter().sum::<f64>()
}
