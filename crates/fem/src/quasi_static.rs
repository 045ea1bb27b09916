//! Equilibrium without the way to it: the quasi-static solve.

use crate::body::Body;
use crate::implicit::Problem;
use glam::DVec3;
use meniscus_core::{StepError, StepReport, par};

/// Inertia in the matrix, over the stiffness: too little to matter, enough for a body that nothing holds.
const TRACE: f64 = 1e-9;
/// Most Newton iterations.
const ITERATIONS: u32 = 200;

impl Body {
    /// Moves the body to where loads, gravity \[m/s²\] and elastic forces balance, by Newton's method with a line search.
    /// Velocities become zero; the material does not yield or break on the way. Large loads that bend the body far are
    /// best applied in a few portions.
    ///
    /// # Errors
    /// When there is no balance to be found, or a quantity is not finite; [`roll_back`](Self::roll_back) undoes it.
    pub fn settle(&mut self, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        self.work.problem = self.static_problem();
        report.stage("keep", || self.keep());
        report.stage("load", || self.load(gravity));
        let progress = self.find_unknown(report)?;
        report.stage("advance", || self.arrive());
        if progress.balanced {
            return Ok(());
        }
        let fault = progress.fault(self.params.newton_tolerance);
        Err(StepError { stage: "advance".into(), body: self.name.clone(), index: None, fault })
    }

    fn static_problem(&self) -> Problem {
        let mass = &self.topology.mass;
        let heaviest = par::max(mass.len(), f64::MIN_POSITIVE, |i| mass[i]);
        let size = self.topology.volume.iter().sum::<f64>() / self.topology.volume.len().max(1) as f64;
        let inertia = TRACE * self.material.young * libm::cbrt(size) / heaviest;
        Problem {
            tau: 1.0,
            prescribed_time: 1.0,
            momentum: [0.0, 0.0],
            inertia,
            stiffness: 1.0,
            damping: 0.0,
            iterations: ITERATIONS,
            search: true,
            warped: false,
            project: false,
        }
    }

    fn arrive(&mut self) {
        let (motion, work) = (&mut self.state.motion, &self.work);
        motion.position.iter_mut().zip(&work.unknown).for_each(|(x, u)| *x += *u);
        motion.velocity.fill(DVec3::ZERO);
        motion.velocity_change.iter_mut().for_each(|change| change.fill(DVec3::ZERO));
    }
}
