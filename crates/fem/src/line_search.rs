//! How far to go along a Newton direction: until the energy falls enough.
//!
//! An implicit step minimises Φ(u) = ½ a uᵀM u − uᵀM v₀ + Ψ(x₀ + τ u) − τ lᵀu + ½ τ β uᵀK u and the energy of the springs;
//! its slope along δ is −r·δ. A step s δ is taken when Φ falls by at least a small part of what the slope promises
//! \[NW06 alg. 3.1\], s = 1, ½, ¼ … Nodes that are led go the whole way; in the solve that leads them Φ just has to fall.

use crate::assembly::{Elements, energy};
use crate::body::Body;
use crate::element::with_element;
use crate::newton::Group;
use glam::DVec3;
use meniscus_core::par;
use rayon::prelude::*;

/// The part of the promised fall that must come true.
const ARMIJO: f64 = 1e-4;
/// Most halvings.
const HALVINGS: u32 = 24;
/// Falls below this part of the energies at play are rounding.
const ROUNDING: f64 = 1e-13;

impl Group<'_, '_> {
    /// The length of a step along the solution.
    pub(crate) fn best_step(&mut self, given: bool) -> f64 {
        let slope: f64 = if given { 0.0 } else { self.bodies.iter().map(|body| body.slope()).sum() };
        self.bodies.iter_mut().for_each(|body| body.find_damping_along());
        let (start, size) = self.potential(0.0);
        let mut s = 1.0;
        for _ in 0..HALVINGS {
            let (value, _) = self.potential(s);
            if value <= start - ARMIJO * s * slope + ROUNDING * size {
                return s;
            }
            s *= 0.5;
        }
        s
    }

    /// Φ at u + s δ, and the size of its parts: what rounding has to be measured by.
    fn potential(&mut self, s: f64) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for body in &mut *self.bodies {
            body.place(s);
            let (value, size) = body.potential(s);
            sum = (sum.0 + value, sum.1 + size);
        }
        let contact = self.contacts.potential(self.bodies, s);
        (sum.0 + contact, sum.1 + contact)
    }
}

impl Body {
    /// u ← u + s δ and x with it.
    pub(crate) fn go(&mut self, s: f64) {
        for i in 0..self.work.unknown.len() {
            self.work.unknown[i] = self.along(s, i);
        }
        self.stay();
        self.place(0.0);
    }

    /// r·δ.
    fn slope(&self) -> f64 {
        let (r, d) = (&self.work.imbalance, &self.work.change);
        par::sum(r.len(), |i| r[i].dot(d[i]))
    }

    /// δᵀK u and δᵀK δ, if there is damping that needs them.
    fn find_damping_along(&mut self) {
        if self.work.problem.damping > 0.0 {
            self.multiply_stiffness(0);
            self.multiply_stiffness(1);
        }
        let (d, [ku, kd]) = (&self.work.change, &self.work.product);
        self.work.damping_along = [par::sum(d.len(), |i| d[i].dot(ku[i])), par::sum(d.len(), |i| d[i].dot(kd[i]))];
    }

    /// u + s δ at a node; the whole of δ where it is led.
    #[inline]
    pub(crate) fn along(&self, s: f64, node: usize) -> DVec3 {
        let change = self.work.change[node];
        self.work.unknown[node] + self.state.mesh.fixed[node].select(change, s * change)
    }

    /// x = x₀ + τ (u + s δ).
    fn place(&mut self, s: f64) {
        let tau = self.work.problem.tau;
        let mut position = std::mem::take(&mut self.work.position);
        let start = &self.state.motion.position;
        position.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, x)| {
            *x = start[i] + tau * self.along(s, i);
        });
        self.work.position = position;
    }

    /// Φ at u + s δ without contacts, and the size of its parts.
    fn potential(&self, s: f64) -> (f64, f64) {
        let problem = &self.work.problem;
        let (mesh, motion, work) = (&self.state.mesh, &self.state.motion, &self.work);
        let [before, now] = problem.momentum;
        let mass = &self.topology.mass;
        let inner = par::sum(mesh.nodes(), |i| {
            let u = self.along(s, i);
            let kinetic = mass[i] * (0.5 * now * u.length_squared() - before * u.dot(motion.velocity[i]));
            kinetic - problem.tau * work.load[i].dot(u)
        });
        let elements = Elements {
            nodes: &mesh.elements,
            topology: &self.topology,
            plastic_strain: &motion.plastic_strain,
            position: &work.position,
        };
        let law = self.law(1.0, false);
        let elastic = with_element!(self.params.order, energy(&elements, &law, &motion.rotation));
        let springs: f64 = motion
            .springs
            .iter()
            .map(|spring| {
                let stretch = spring.at(mesh, &work.position) - spring.anchor;
                let u = spring.at(mesh, &work.unknown) + s * spring.at(mesh, &work.change);
                0.5 * spring.stiffness * stretch.length_squared()
                    + 0.5 * problem.momentum[0] * problem.tau * spring.damping * u.length_squared()
            })
            .sum();
        let reactions: f64 = self
            .reactions
            .iter()
            .map(|reaction| reaction.potential(problem, self.along(s, reaction.node as usize)))
            .sum();
        let [linear, quadratic] = work.damping_along;
        let damping = problem.damping * s * (linear + 0.5 * s * quadratic);
        let outer = springs + reactions;
        (inner + elastic + outer + damping, inner.abs() + elastic.abs() + outer.abs())
    }
}
