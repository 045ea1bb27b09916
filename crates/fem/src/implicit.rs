//! The implicit problem of a body in one stage of a step: its coefficients, and what the body contributes to it.
//!
//! | symbol | meaning | in the code |
//! |---|---|---|
//! | u | velocity at the end of the stage \[m/s\] | `unknown` |
//! | τ | length of the stage \[s\] | `Problem::tau` |
//! | x = x₀ + τ u | where elements are evaluated \[m\] | `position` |
//! | f(x) | forces of elements, springs and reactions \[N\] | `force` |
//! | l | gravity and external forces \[N\] | `load` |
//! | α, β | Rayleigh damping \[1/s\], \[s\] | |
//! | a = 1 + τα, c = τ² + τβ | | `inertia`, `stiffness` |
//! | r | what is out of balance \[N·s\] | `imbalance` |
//!
//! M (u − v₀) = τ (f(x₀ + τ u) + l − α M u − β K u), linearised at u:
//!
//! (a M + c K) δ = r,  r = M (v₀ − a u) + τ (f + l) − τ β K u
//!
//! A quasi-static solve is the same with τ = 1, no inertia in r and a trace of it in the matrix.

use crate::assembly::{Acting, Elements, gather_force, gather_matrix, node_rotation, rest_tangents, turn};
use crate::body::Body;
use crate::element::with_element;
use crate::linear::{Part, Preconditioner, RestMatrix, Unknowns};
use crate::tangent::Warped;
use glam::{DMat3, DVec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// The preconditioner is built anew when the ratio of stiffness to inertia has changed by this factor.
pub(crate) const STALE: f64 = 3.0;

/// The coefficients of an implicit problem.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Problem {
    /// τ \[s\].
    pub(crate) tau: f64,
    /// Time in which fixed nodes reach their targets \[s\].
    pub(crate) prescribed_time: f64,
    /// Factors of M v₀ and M u in the balance: 1 and a, or 0 and 0 for statics.
    pub(crate) momentum: [f64; 2],
    /// a of the matrix, dimensionless.
    pub(crate) inertia: f64,
    /// c \[s²\].
    pub(crate) stiffness: f64,
    /// τ β \[s²\].
    pub(crate) damping: f64,
    /// Most linear solves.
    pub(crate) iterations: u32,
    /// Whether a step along the solution is shortened until the energy falls.
    pub(crate) search: bool,
    /// Whether the stiffness is the warped one.
    pub(crate) warped: bool,
    /// Whether negative eigenvalues of the stiffness are dropped.
    pub(crate) project: bool,
}

impl Unknowns for Body {
    fn part(&mut self) -> Part<'_> {
        let work = &mut self.work;
        Part {
            matrix: &work.matrix,
            fixed: &self.state.mesh.fixed,
            preconditioner: work.preconditioner.as_mut(),
            cg: &mut work.cg,
            b: &mut work.imbalance,
            x: &mut work.correction,
            given: &work.change,
        }
    }
}

impl Body {
    /// What rounding can put out of balance \[N·s\]: the force of a strain of 1e-14 on an element, at every node.
    pub(crate) fn rounding(&self) -> f64 {
        let mean_volume = self.topology.volume.iter().sum::<f64>() / self.topology.volume.len().max(1) as f64;
        let edge = libm::cbrt(mean_volume);
        self.work.problem.tau * 1e-14 * self.material.young * edge * edge * (self.state.mesh.nodes() as f64).sqrt()
    }

    /// u = 0, x = x₀. A part of δ is given: the prescribed of fixed nodes and the motion before; the changes of the last two steps
    /// are the guess for the rest.
    pub(crate) fn begin(&mut self) {
        let problem = self.work.problem;
        self.choose_tangent(problem.warped);
        let (mesh, motion, work) = (&self.state.mesh, &self.state.motion, &mut self.work);
        work.unknown.fill(DVec3::ZERO);
        work.position.copy_from_slice(&motion.position);
        let [last, before] = &motion.velocity_change;
        let dynamic = problem.momentum[0];
        for i in 0..mesh.nodes() {
            let prescribed = (motion.target[i] - motion.position[i]) / problem.prescribed_time;
            work.change[i] = mesh.fixed[i].select(prescribed, dynamic * motion.velocity[i]);
            work.correction[i] = mesh.fixed[i].free_part(dynamic * (2.0 * last[i] - before[i]));
        }
    }

    /// δ = 0: nothing is given, nothing guessed.
    pub(crate) fn stay(&mut self) {
        self.work.change.fill(DVec3::ZERO);
        self.work.correction.fill(DVec3::ZERO);
    }

    /// 4. Builds the preconditioner if there is none for this problem. One that knows contacts serves for this step only.
    pub(crate) fn precondition(&mut self) {
        let problem = &self.work.problem;
        let ratio = problem.stiffness / problem.inertia;
        let built_for = &mut self.state.motion.preconditioned_for;
        if !(ratio < STALE * *built_for && *built_for < STALE * ratio) {
            *built_for = ratio;
            self.work.preconditioner = None;
        }
        if self.work.preconditioner.is_none() || !self.work.contact_diagonal.is_empty() {
            self.build_preconditioner();
        }
        if !self.work.contact_diagonal.is_empty() {
            self.work.contact_diagonal.clear();
            self.state.motion.preconditioned_for = 0.0;
        }
    }

    pub(crate) fn build_preconditioner(&mut self) {
        let law = self.law(self.state.motion.preconditioned_for, false);
        let (points, rotation) = (self.params.order.points(), &self.state.motion.rotation);
        let mut tangents = vec![Warped::default(); rotation.len()];
        rest_tangents(&self.topology, &law, points, &mut tangents);
        let (topology, matrix) = (&self.topology, &mut self.work.matrix);
        with_element!(self.params.order, gather_matrix(topology, &law, &tangents, 1.0, matrix));
        let fixed = &self.state.mesh.fixed;
        for (node, block) in &self.work.contact_diagonal {
            // Into the frame in which the node is at rest.
            let turn = fixed[*node as usize].turn_about(node_rotation(topology, points, rotation, *node as usize));
            let r = DMat3::from_quat(turn);
            matrix.add(*node, *node, r.transpose() * *block * r * (1.0 / self.work.problem.inertia));
        }
        self.work.preconditioner = Some(Preconditioner::new(&RestMatrix {
            matrix: &self.work.matrix,
            position: &self.state.mesh.rest_position,
            fixed,
            inertia: &self.topology.mass,
        }));
    }

    /// 5. Deformation, rotation, forces and stiffness of every element at x.
    // (4) of docs/src/solids.md
    pub(crate) fn update_rotations(&mut self) {
        let problem = self.work.problem;
        let law = self.law(problem.stiffness, problem.project);
        let (motion, work) = (&mut self.state.motion, &mut self.work);
        let elements = Elements {
            nodes: &self.state.mesh.elements,
            topology: &self.topology,
            plastic_strain: &motion.plastic_strain,
            position: &work.position,
        };
        let rotation = &mut motion.rotation[..];
        let (force, energy) = (&mut work.element_force[..], &mut work.element_energy[..]);
        if problem.warped {
            let acting = Acting { force, energy, tangent: &mut work.warped[..] };
            with_element!(self.params.order, turn(&elements, &law, rotation, acting));
        } else {
            let acting = Acting { force, energy, tangent: &mut work.general[..] };
            with_element!(self.params.order, turn(&elements, &law, rotation, acting));
        }
    }

    /// 6. Gathers a M + c K and f on the nodes, and adds springs and reactions.
    pub(crate) fn assemble(&mut self) {
        let problem = self.work.problem;
        let law = self.law(problem.stiffness, problem.project);
        let (topology, work) = (&self.topology, &mut self.work);
        let matrix = &mut work.matrix;
        let a = problem.inertia;
        if problem.warped {
            with_element!(self.params.order, gather_matrix(topology, &law, &work.warped[..], a, matrix));
        } else {
            with_element!(self.params.order, gather_matrix(topology, &law, &work.general[..], a, matrix));
        }
        gather_force(topology, self.params.order.nodes(), &work.element_force, &mut work.force);
        let mesh = &self.state.mesh;
        for spring in &self.state.motion.springs {
            let pull = spring.stiffness * (spring.anchor - spring.at(mesh, &work.position));
            let drag = problem.momentum[0] * spring.damping * spring.at(mesh, &work.unknown);
            spring.add_force(mesh, pull - drag, &mut work.force);
            spring.add_stiffness(mesh, spring.factor(&problem), matrix);
        }
        for reaction in &self.reactions {
            let node = reaction.node as usize;
            work.force[node] += reaction.force_at(&problem, work.unknown[node]);
            matrix.add(reaction.node, reaction.node, reaction.factor(&problem));
        }
    }

    /// 7. r = M (v₀ − a u) + τ (f + l) − τ β K u.
    // (6) of docs/src/solids.md
    pub(crate) fn balance(&mut self, first: bool) -> Result<(), StepError> {
        let problem = self.work.problem;
        let damped = problem.damping > 0.0 && !first;
        if damped {
            self.multiply_stiffness(0);
        }
        let (work, mass, velocity) = (&mut self.work, &self.topology.mass, &self.state.motion.velocity);
        let (force, load, unknown) = (&work.force, &work.load, &work.unknown);
        let (stiff, fixed) = (&work.product[0], &self.state.mesh.fixed);
        let [before, now] = problem.momentum;
        work.imbalance.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, r)| {
            *r = mass[i] * (before * velocity[i] - now * unknown[i]) + problem.tau * (force[i] + load[i]);
            if damped {
                *r -= problem.damping * stiff[i];
            }
            *r = fixed[i].free_part(*r);
        });
        let imbalance = &work.imbalance;
        match par::find_first(imbalance.len(), |i| !imbalance[i].is_finite()) {
            None => Ok(()),
            Some(node) => Err(StepError::not_finite("balance", &self.name, node as u64, "force")),
        }
    }

    /// Square of the norm of what is out of balance \[N²·s²\].
    pub(crate) fn imbalance_squared(&self) -> f64 {
        let imbalance = &self.work.imbalance;
        par::sum(imbalance.len(), |i| imbalance[i].length_squared())
    }

    /// Norm of the loads on free nodes in this stage \[N·s\].
    pub(crate) fn load_norm(&self) -> f64 {
        let (load, fixed) = (&self.work.load, &self.state.mesh.fixed);
        self.work.problem.tau * par::sum(load.len(), |i| fixed[i].free_part(load[i]).length_squared()).sqrt()
    }

    /// Turns the frames of the preconditioner with the nodes, and stretches them where that helps.
    pub(crate) fn turn_preconditioner(&mut self) {
        self.turn_frames();
        let work = &mut self.work;
        if let (Some(preconditioner), false) = (&mut work.preconditioner, work.problem.warped) {
            preconditioner.stretch(&work.matrix, work.problem.inertia);
        }
    }

    /// Turns the frames of the preconditioner with the nodes.
    pub(crate) fn turn_frames(&mut self) {
        let Self { state, topology, work, params, .. } = self;
        let Some(preconditioner) = &mut work.preconditioner else { return };
        let (points, rotation, fixed) = (params.order.points(), &state.motion.rotation, &state.mesh.fixed);
        preconditioner.turn(|node| fixed[node].turn_about(node_rotation(topology, points, rotation, node)));
    }

    /// Σ M (v₀ − a u) + τ l: the momentum that contact must make up for, since a free body's own forces add up to nothing.
    pub(crate) fn missing_momentum(&self) -> DVec3 {
        let (work, [before, now]) = (&self.work, self.work.problem.momentum);
        let (mass, velocity) = (&self.topology.mass, &self.state.motion.velocity);
        let own = |i: usize| mass[i] * (before * velocity[i] - now * work.unknown[i]) + work.problem.tau * work.load[i];
        (0..mass.len()).map(own).sum()
    }

    /// Whether nothing holds the body: no translation has any resistance.
    pub(crate) fn is_free(&self) -> bool {
        self.state.motion.springs.is_empty()
            && self.reactions.is_empty()
            && !self.state.mesh.fixed.iter().any(|fixed| fixed.any())
    }

    /// product[which] = K times the unknown (0) or its change (1).
    pub(crate) fn multiply_stiffness(&mut self, which: usize) {
        let (work, mass, mesh) = (&mut self.work, &self.topology.mass, &self.state.mesh);
        let problem = work.problem;
        let vector = if which == 0 { &work.unknown } else { &work.change };
        let inertia = problem.inertia;
        work.matrix.map(vector, &mut work.product[which], |i, av| av - inertia * mass[i] * vector[i]);
        for spring in &self.state.motion.springs {
            let own = -spring.factor(&problem) * spring.at(mesh, vector);
            spring.add_force(mesh, own, &mut work.product[which]);
        }
        for reaction in &self.reactions {
            let node = reaction.node as usize;
            work.product[which][node] -= reaction.factor(&problem) * vector[node];
        }
        work.product[which].iter_mut().for_each(|product| *product /= problem.stiffness);
    }
}

impl crate::state::Spring {
    /// Its part of the matrix: τ² k + τ d.
    fn factor(&self, problem: &Problem) -> f64 {
        problem.tau * (problem.tau * self.stiffness + problem.momentum[0] * self.damping)
    }
}
