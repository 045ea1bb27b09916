//! The compliance of a body within a step: what forces that are new in it do.
//!
//! Forces f change the velocities at the end of the step by Δt H f with H = (a M + c K)⁻¹, the matrix of the implicit step. What
//! preconditions its solver comes close: the factors at rest of a small body, or one cycle of the hierarchy of a large one, to about
//! a half for the worst motions. Whoever finds forces and motion together, such as a liquid, asks for it many times in a step, and
//! borrows it meanwhile.

use crate::axes::Axes;
use crate::body::Body;
use crate::implicit::STALE;
use crate::linear::{Preconditioner, ROWS};
use glam::DVec3;
use meniscus_boundary::Implicit;

/// The compliance of a body in a step: symmetric and positive.
pub struct StepCompliance {
    preconditioner: Preconditioner,
    /// a of the matrix, dimensionless.
    inertia: f64,
    fixed: Vec<Axes>,
    force: Vec<DVec3>,
    partial: Vec<f64>,
}

impl std::fmt::Debug for StepCompliance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepCompliance").field("nodes", &self.fixed.len()).finish_non_exhaustive()
    }
}

impl Implicit for StepCompliance {
    /// Mean accelerations of the step \[m/s²\].
    fn accelerations(&mut self, forces: &mut [DVec3]) {
        for (own, (force, fixed)) in self.force.iter_mut().zip(forces.iter().zip(&self.fixed)) {
            *own = fixed.free_part(*force);
        }
        self.preconditioner.apply(&self.force, forces, &mut self.partial);
        let factor = self.preconditioner.scale() / self.inertia;
        forces.iter_mut().for_each(|a| *a *= factor);
    }
}

impl StepCompliance {
    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.fixed.len()
    }

    /// How fast a node yields to a force if the others stay \[1/kg\].
    #[must_use]
    pub fn alone(&self, node: usize) -> f64 {
        let rest = self.preconditioner.rest_diagonal(node) * self.inertia;
        if self.fixed[node].all() || rest <= 0.0 { 0.0 } else { 1.0 / rest }
    }
}

/// Memory of compliances that are not lent.
#[derive(Default)]
pub(crate) struct Memory {
    fixed: Vec<Axes>,
    force: Vec<DVec3>,
    partial: Vec<f64>,
}

impl Body {
    /// Lends the compliance of its steps of `dt` \[s\]; it has to come back before the next step of the body, which is slow otherwise. None
    /// before the first step, after one with contacts, and when steps have become much shorter.
    pub fn lend_compliance(&mut self, dt: f64) -> Option<StepCompliance> {
        let problem = self.implicit_problem(dt).ok()?;
        let built_for = self.state.motion.preconditioned_for;
        // One for far longer steps would make the body too heavy.
        if built_for == 0.0 || built_for > STALE * problem.stiffness / problem.inertia {
            return None;
        }
        if self.work.preconditioner.is_none() {
            self.build_preconditioner();
        }
        self.turn_frames();
        let preconditioner = self.work.preconditioner.take()?;
        let Memory { mut fixed, mut force, mut partial } = std::mem::take(&mut self.work.compliance_memory);
        let nodes = self.state.mesh.nodes();
        fixed.clear();
        fixed.extend_from_slice(&self.state.mesh.fixed);
        force.resize(nodes, DVec3::ZERO);
        partial.resize(nodes.div_ceil(ROWS), 0.0);
        Some(StepCompliance { preconditioner, inertia: problem.inertia, fixed, force, partial })
    }

    /// Takes back what it has lent.
    pub fn take_compliance(&mut self, compliance: StepCompliance) {
        let StepCompliance { preconditioner, fixed, force, partial, .. } = compliance;
        self.work.preconditioner = Some(preconditioner);
        self.work.compliance_memory = Memory { fixed, force, partial };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Material, Params};
    use meniscus_core::StepReport;
    use meniscus_geometry::TetMesh;

    /// Steps in which stiffness counts \[s\].
    const LONG: f64 = 0.05;

    /// A beam that is held at one end, after a step.
    fn beam() -> Body {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [16, 4, 4]);
        let mut body = Body::new("beam", &mesh, Params::default(), Material::default()).unwrap();
        body.fix(|p| p.x < 1e-9);
        body.step(LONG, DVec3::ZERO, &mut StepReport::default()).unwrap();
        body
    }

    #[test]
    fn it_is_close_to_what_a_step_does() {
        let mut body = beam();
        let mut force: Vec<DVec3> = body.rest_positions().iter().map(|p| DVec3::Y * 1e-3 * p.x).collect();
        let mut compliance = body.lend_compliance(LONG).unwrap();
        body.external_force_mut().copy_from_slice(&force);
        compliance.accelerations(&mut force);
        body.take_compliance(compliance);
        body.step(LONG, DVec3::ZERO, &mut StepReport::default()).unwrap();
        let change = |v: &DVec3| v.y / LONG;
        let (sum, expected): (f64, f64) = (force.iter().map(|a| a.y).sum(), body.velocities().iter().map(change).sum());
        assert!((0.5..1.1).contains(&(sum / expected)), "{}", sum / expected);
        let loose: f64 = body.masses().iter().zip(body.rest_positions()).map(|(m, p)| 1e-3 * p.x / m).sum();
        assert!(expected < 0.5 * loose, "the step must be long enough for stiffness to count: {}", expected / loose);
        assert!((0..force.len()).filter(|&node| body.inverse_mass(node) == 0.0).all(|node| force[node] == DVec3::ZERO));
    }

    #[test]
    fn it_is_symmetric() {
        let mut body = beam();
        let mut compliance = body.lend_compliance(LONG).unwrap();
        let nodes = body.rest_positions().len();
        let unit = |node: usize, axis: usize| {
            let mut force = vec![DVec3::ZERO; nodes];
            force[node][axis] = 1.0;
            force
        };
        let (mut a, mut b) = (unit(100, 1), unit(200, 2));
        compliance.accelerations(&mut a);
        compliance.accelerations(&mut b);
        assert!((a[200].z - b[100].y).abs() < 1e-5 * a[100].y.abs(), "{} {}", a[200].z, b[100].y);
        assert!(a[100].y > 0.0 && a[100].y > 0.9 * compliance.alone(100), "{} {}", a[100].y, compliance.alone(100));
    }

    #[test]
    fn none_is_lent_for_much_shorter_steps() {
        let mut body = beam();
        assert!(body.lend_compliance(0.1 * LONG).is_none());
        let lent = body.lend_compliance(LONG).unwrap();
        body.take_compliance(lent);
        body.forget_preconditioner();
        assert!(body.lend_compliance(LONG).is_none());
    }
}
