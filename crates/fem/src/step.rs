//! One step: the algorithm box.
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 1 | keep | the motion is kept, in case the step has to be undone |
//! | 2 | yield | elastic strain beyond the yield strain turns plastic |
//! | 3 | load | gravity and forces from outside |
//! | | find contacts | pairs of nodes and surfaces that may touch, where there is more than one body alone |
//! | 4 | precondition | the multigrid hierarchy of the body at rest, if it is stale |
//! | 5 | update rotations | F = Σ xₐ ⊗ ∇Nₐ, its rotation R, forces and stiffness of every element |
//! | 6 | assemble | nodes gather forces and a M + c K from their elements |
//! | 7 | balance | r = M (v₀ − a u) + τ (f + l) − τ β K u |
//! | 8 | solve | (a M + c K) δ = r by conjugate gradients |
//! | 9 | line search | u ← u + s δ |
//! | 10 | advance | velocities and positions; energy that linearisation has gained is taken back |
//! | 11 | smooth stress | stress of every element, smoothed in time |
//! | 12 | break | nodes split where the largest tension exceeds the strength |
//!
//! 5 to 9 repeat if more than one Newton iteration is asked for, or if energy has grown much.

use crate::body::Body;
use crate::contact::ContactPairs;
use crate::implicit::Problem;
use crate::newton::{Group, Progress};
use crate::params::{Integrator, Linearisation};
use glam::DVec3;
use meniscus_core::{Fault, StepError, StepReport, par};
use rayon::prelude::*;

impl Body {
    /// Moves the body on by `dt` \[s\] under gravity \[m/s²\]. A step that fails can be [undone](Self::roll_back) and tried
    /// again, shorter.
    ///
    /// # Errors
    /// When a quantity is not finite or the linear solve does not converge.
    pub fn step(&mut self, dt: f64, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        self.work.problem = self.implicit_problem(dt)?;
        report.stage("keep", || self.keep()); // 1
        report.stage("yield", || self.flow(dt)); // 2  [MG04 sec. 3.3]
        report.stage("load", || self.load(gravity)); // 3
        self.find_unknown(report)?; // 4 to 9
        report.stage("advance", || self.advance(dt))?; // 10
        report.stage("smooth stress", || self.smooth_stress(dt)); // 11
        let cracks = report.stage("break", || self.fracture()); // 12
        report.count("cracks", f64::from(cracks));
        Ok(())
    }

    /// 4 to 9, alone.
    pub(crate) fn find_unknown(&mut self, report: &mut StepReport) -> Result<Progress, StepError> {
        let mut group = Group { bodies: &mut [self], contacts: &mut ContactPairs::default() };
        let effort = group.effort();
        group.find_unknown(&effort, report)
    }

    /// Undoes the last step.
    pub fn roll_back(&mut self) {
        std::mem::swap(&mut self.state.motion, &mut self.work.before);
        if let Some(mesh) = self.work.before_mesh.take() {
            self.state.mesh = mesh;
            self.rebuild();
        }
        // The rebuilt hierarchy must be that of the state restored.
        if self.state.motion.preconditioned_for != self.work.before.preconditioned_for {
            self.work.preconditioner = None;
        }
    }

    pub(crate) fn implicit_problem(&self, dt: f64) -> Result<Problem, StepError> {
        if !(dt > 0.0 && dt.is_finite()) {
            let fault = Fault::StepTooSmall { needed: dt, smallest: f64::MIN_POSITIVE };
            return Err(StepError { stage: "step".into(), body: self.name.clone(), index: None, fault });
        }
        // The midpoint rule is an implicit Euler step to the middle, and on along the same velocity.
        let tau = match self.params.integrator {
            Integrator::ImplicitEuler => dt,
            Integrator::ImplicitMidpoint => 0.5 * dt,
        };
        let inertia = 1.0 + tau * self.material.mass_damping;
        let damping = tau * self.material.stiffness_damping;
        Ok(Problem {
            tau,
            prescribed_time: dt,
            momentum: [1.0, inertia],
            inertia,
            stiffness: tau * tau + damping,
            damping,
            iterations: self.params.newton_iterations,
            search: self.params.newton_iterations > 1,
            warped: self.uses_warped(),
            project: self.params.linearisation != Linearisation::Exact,
        })
    }

    /// 1. Keeps the motion for a roll-back.
    pub(crate) fn keep(&mut self) {
        let work = &mut self.work;
        work.before.copy_from(&self.state.motion);
        if work.prescribed_from.len() == work.before.target.len() {
            std::mem::swap(&mut work.before.target, &mut work.prescribed_from);
        }
        work.prescribed_from.clear();
        work.before_mesh = None;
    }

    /// 3. m g and the forces from outside.
    pub(crate) fn load(&mut self, gravity: DVec3) {
        let (mass, external) = (&self.topology.mass, &self.external_force);
        self.work.load.iter_mut().zip(mass).zip(external).for_each(|((load, m), force)| *load = *m * gravity + *force);
    }

    /// 10. v and x from the velocity found; fixed nodes arrive where they were led.
    pub(crate) fn advance(&mut self, dt: f64) -> Result<(), StepError> {
        let (mesh, motion, work) = (&self.state.mesh, &mut self.state.motion, &self.work);
        let reach = match self.params.integrator {
            Integrator::ImplicitEuler => 1.0,
            Integrator::ImplicitMidpoint => 2.0,
        };
        let [last, before] = &mut motion.velocity_change;
        std::mem::swap(last, before);
        let nodes = motion.position.par_iter_mut().zip(&mut motion.velocity).zip(last).with_min_len(par::PIECE);
        nodes.enumerate().for_each(|(i, ((x, v), change))| {
            let u = work.unknown[i];
            *change = u - *v;
            *x = mesh.fixed[i].select(motion.target[i], *x + dt * u);
            *v = mesh.fixed[i].select(u, *v + reach * *change);
        });
        self.take_back();
        let (mesh, motion) = (&self.state.mesh, &self.state.motion);
        let bad = |i: usize| !(motion.position[i].is_finite() && motion.velocity[i].is_finite());
        match par::find_first(mesh.nodes(), bad) {
            None => Ok(()),
            Some(node) => Err(StepError::not_finite("advance", &self.name, node as u64, "velocity")),
        }
    }
}
