//! Sums over a body: energies, momenta, volume.

use crate::assembly::{Acting, Elements, energy, gather_force, turn};
use crate::body::Body;
use crate::element::{Element, with_element};
use crate::model::Energy;
use crate::rotation::polar;
use crate::state::Spring;
use crate::tangent::Law;
use glam::{DMat3, DQuat, DVec3};
use meniscus_core::par;
use meniscus_geometry::tet_volume;
use rayon::prelude::*;

impl Body {
    /// Mass \[kg\].
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.topology.mass.iter().sum()
    }

    /// Volume enclosed by the corners of the elements now \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        let (mesh, position) = (&self.state.mesh, self.positions());
        par::sum(mesh.element_count(), |e| tet_volume(mesh.corners(e).map(|node| position[node as usize])))
    }

    /// Kinetic energy ½ Σ m v² \[J\].
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let (mass, velocity) = (self.masses(), self.velocities());
        par::sum(mass.len(), |i| 0.5 * mass[i] * velocity[i].length_squared())
    }

    /// Elastic energy ∫ Ψ dV \[J\], springs included.
    #[must_use]
    pub fn elastic_energy(&self) -> f64 {
        let motion = &self.state.motion;
        let (law, elements) = (self.law(1.0, false), self.elements());
        self.spring_energy() + with_element!(self.params.order, energy(&elements, &law, &motion.rotation))
    }

    /// Energy of the springs alone \[J\].
    #[must_use]
    pub fn spring_energy(&self) -> f64 {
        let (mesh, motion) = (&self.state.mesh, &self.state.motion);
        let stretch = |s: &Spring| s.at(mesh, &motion.position) - s.anchor;
        motion.springs.iter().map(|s| 0.5 * s.stiffness * stretch(s).length_squared()).sum()
    }

    /// Forces of elements and springs on the nodes, without damping \[N\]: minus the slope of the elastic energy.
    #[must_use]
    pub fn elastic_forces(&self) -> Vec<DVec3> {
        let (mesh, motion, order) = (&self.state.mesh, &self.state.motion, self.params.order);
        let law = self.law(1.0, false);
        let mut rotation = motion.rotation.clone();
        let mut by_element = vec![DVec3::ZERO; mesh.elements.len()];
        let (mut energy, mut tangent) = (vec![0.0; mesh.element_count()], vec![(); rotation.len()]);
        let elements = self.elements();
        let acting = Acting { force: &mut by_element, energy: &mut energy, tangent: &mut tangent[..] };
        with_element!(order, turn(&elements, &law, &mut rotation, acting));
        let mut force = vec![DVec3::ZERO; mesh.nodes()];
        gather_force(&self.topology, order.nodes(), &by_element, &mut force);
        for spring in &motion.springs {
            let stretch = spring.anchor - spring.at(mesh, &motion.position);
            spring.add_force(mesh, spring.stiffness * stretch, &mut force);
        }
        force
    }

    /// Stress of every element in the world \[Pa\], P Rᵀ: Cauchy's for small strain; the mean over its points.
    #[must_use]
    pub fn stresses(&self) -> Vec<DMat3> {
        let (law, elements, motion) = (self.law(1.0, false), self.elements(), &self.state.motion);
        with_element!(self.params.order, element_stresses(&elements, &law, &motion.rotation))
    }

    /// The elements where they are now.
    fn elements(&self) -> Elements<'_> {
        Elements {
            nodes: &self.state.mesh.elements,
            topology: &self.topology,
            plastic_strain: &self.state.motion.plastic_strain,
            position: &self.state.motion.position,
        }
    }

    /// Energy in a field of gravity \[m/s²\]: −Σ m g·x \[J\].
    #[must_use]
    pub fn gravitational_energy(&self, gravity: DVec3) -> f64 {
        let (mass, position) = (self.masses(), self.positions());
        -par::sum(mass.len(), |i| mass[i] * gravity.dot(position[i]))
    }

    /// Momentum Σ m v \[kg·m/s\].
    #[must_use]
    pub fn momentum(&self) -> DVec3 {
        self.sum(|_, v| v)
    }

    /// Angular momentum about the origin Σ m x × v \[kg·m²/s\].
    #[must_use]
    pub fn angular_momentum(&self) -> DVec3 {
        self.sum(DVec3::cross)
    }

    /// Centre of mass \[m\].
    #[must_use]
    pub fn center(&self) -> DVec3 {
        self.sum(|x, _| x) / self.mass()
    }

    /// Σ m value(x, v).
    fn sum(&self, value: impl Fn(DVec3, DVec3) -> DVec3 + Sync) -> DVec3 {
        let (mass, position, velocity) = (self.masses(), self.positions(), self.velocities());
        let piece = |range: std::ops::Range<usize>| {
            range.fold(DVec3::ZERO, |sum, i| sum + mass[i] * value(position[i], velocity[i]))
        };
        par::reduce(mass.len(), &piece, &|a, b| a + b).unwrap_or(DVec3::ZERO)
    }

    /// A step \[s\] in which no node moves further than `part` of the smallest height of an element, relative to the body as a
    /// whole. Implicit steps are stable at any length; this is what contact and coupling can follow.
    #[must_use]
    pub fn step_hint(&self, part: f64) -> f64 {
        let steepest = |g: &[DVec3; 4]| g.iter().map(|g| g.length_squared()).fold(0.0, f64::max);
        let gradients = &self.topology.gradients;
        let height = 1.0 / par::max(gradients.len(), f64::MIN_POSITIVE, |e| steepest(&gradients[e])).sqrt();
        let (velocity, mean) = (self.velocities(), self.momentum() / self.mass());
        let speed = par::max(velocity.len(), 0.0, |i| (velocity[i] - mean).length_squared()).sqrt();
        if speed > 0.0 { part * height / speed } else { f64::INFINITY }
    }
}

fn element_stresses<E: Element<N>, const N: usize>(
    elements: &Elements<'_>,
    law: &Law,
    rotation: &[DQuat],
) -> Vec<DMat3> {
    let stress = |element: usize| {
        let mut sum = DMat3::ZERO;
        elements.at_points::<E, N>(element, |q, f, _, _| {
            let r = DMat3::from_quat(polar(&f, rotation[element * E::POINTS + q]));
            sum += law.elastic.stress(&f, &r) * r.transpose() * (1.0 / E::POINTS as f64);
        });
        sum
    };
    (0..elements.topology.volume.len()).into_par_iter().map(stress).collect()
}
