//! The liquid's step, once: the order of its stages, and where others may take part.
//!
//! The names are those of the step report; hooks stand between the stages.
//!
//! | | stage | what happens | state equation |
//! |---|---|---|---|
//! | 1 | sort particles | nozzles send particles; all are put in the order of their grid cells | |
//! | 2 | find neighbours | lists of particles within the support radius h | |
//! | 3 | wall integrals | wall_fraction 1 − γ and its gradient for every particle within reach of a wall | |
//! | | | [`Hooks::after_walls`] | |
//! | 4 | sum density | cᵢ = ρᵢ/ρ0 = V0 Σⱼ Wᵢⱼ + (1 − γᵢ) | |
//! | 5 | remove divergence | velocities such that ċ ≤ 0 | – |
//! | | | [`Hooks::after_divergence`] | – |
//! | 6 | sum forces | μ∇²v, friction along walls, gravity | −∇p too, after 8 |
//! | | surface tension | surface tension, if a liquid has one \[SZW eqs 8–12\] | |
//! | 7 | solve viscosity | friction at the end of the step, if the scene asks for it | – |
//! | | | [`Hooks::after_forces`] | |
//! | 8 | find pressure | q ≥ 0 such that c ≤ 1 at the end of the step \[BK17\] | p = k (ρ − ρ0), not below zero \[MCG03\] |
//! | | | [`Hooks::after_pressure`] | – |
//! | 9 | advance | v += a dt, x += v dt; nothing passes a wall | |
//! | | | [`Hooks::after_advance`] | |

use crate::liquid::Liquid;
use crate::liquid::dfsph::Solved;
use crate::params::{PressureSolver, ViscositySolver};
use glam::DVec3;
use meniscus_boundary::Boundaries;
use meniscus_core::{StepError, StepReport};

/// What happens between the stages of a step. By default nothing does.
pub trait Hooks {
    /// Particles know which walls and bodies they touch.
    ///
    /// # Errors
    /// What ends the step.
    fn after_walls(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        Ok(())
    }

    /// Velocities of the incompressible liquid are free of divergence.
    ///
    /// # Errors
    /// What ends the step.
    fn after_divergence(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        Ok(())
    }

    /// All forces but the pressure of the incompressible liquid are known as [accelerations](Liquid::accelerations_mut).
    ///
    /// # Errors
    /// What ends the step.
    fn after_forces(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        Ok(())
    }

    /// The pressure of the incompressible liquid is known.
    ///
    /// # Errors
    /// What ends the step.
    fn after_pressure(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        Ok(())
    }

    /// Particles are where they are at the end of the step.
    ///
    /// # Errors
    /// What ends the step.
    fn after_advance(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), StepError> {
        Ok(())
    }
}

/// The liquid alone.
impl Hooks for () {}

impl Liquid {
    /// The whole step, among walls that are placed for it.
    ///
    /// # Errors
    /// When a stage or a hook fails; the step can then be rolled back.
    pub fn step(
        &mut self,
        walls: &Boundaries,
        gravity: DVec3,
        hooks: &mut dyn Hooks,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        self.begin_step(walls, report);
        self.finish_step(walls, gravity, hooks, report)
    }

    /// Stages 1 and 2, after which others can find the particles.
    pub fn begin_step(&mut self, walls: &Boundaries, report: &mut StepReport) {
        let [time, dt] = walls.step();
        report.stage("sort particles", || self.sort(time, dt)); // 1
        report.stage("find neighbours", || self.find_neighbours()); // 2
    }

    /// Stages 3 to 9.
    ///
    /// # Errors
    /// When a stage or a hook fails; the step can then be rolled back.
    pub fn finish_step(
        &mut self,
        walls: &Boundaries,
        gravity: DVec3,
        hooks: &mut dyn Hooks,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let [time, dt] = walls.step();
        report.stage("wall integrals", || self.find_wall_integrals(walls)); // 3
        hooks.after_walls(self, report)?;
        match self.setup.params.pressure {
            PressureSolver::Dfsph => self.push_incompressible(gravity, dt, hooks, report)?,
            PressureSolver::StateEquation => self.push_by_state(gravity, hooks, report)?,
        }
        report.stage("advance", || self.advance(time, dt))?; // 9
        hooks.after_advance(self, report)
    }

    /// Stages 4 to 8 of the incompressible liquid \[BK17\].
    fn push_incompressible(
        &mut self,
        gravity: DVec3,
        dt: f64,
        hooks: &mut dyn Hooks,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        report.stage("sum density", || self.sum_density_and_gradients())?; // 4
        let divergence = report.stage("remove divergence", || self.remove_divergence(dt))?; // 5
        hooks.after_divergence(self, report)?;
        report.stage("sum forces", || self.sum_forces(gravity, dt))?; // 6
        report.stage("surface tension", || self.add_surface_tension())?; // [SZW eqs 8–12]
        let mut viscosity = None;
        if self.setup.params.viscosity == ViscositySolver::Implicit {
            viscosity = Some(report.stage("solve viscosity", || self.solve_viscosity(dt))?); // 7
        }
        hooks.after_forces(self, report)?;
        let density = report.stage("find pressure", || self.find_pressure(gravity, dt))?; // 8
        hooks.after_pressure(self, report)?;
        report_solves(report, [&divergence, &density], viscosity.as_ref());
        report.count("work of the shift [J]", self.shift_work());
        Ok(())
    }

    /// Stages 4 to 8 of the liquid of the papers \[MCG03\].
    fn push_by_state(
        &mut self,
        gravity: DVec3,
        hooks: &mut dyn Hooks,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        report.stage("sum density", || self.sum_density())?; // 4  [MCG03 eq. 3]
        report.stage("find pressure", || self.apply_state_equation()); // 8  [MCG03 eq. 12]
        report.stage("sum forces", || self.sum_all_forces(gravity))?; // 6  [MCG03 eqs 10, 14]
        report.stage("surface tension", || self.add_surface_tension())?; // [SZW eqs 8–12]
        hooks.after_forces(self, report)
    }
}

/// Notes how the divergence solve and the density solve went, and that of viscosity where there is one.
fn report_solves(report: &mut StepReport, [divergence, density]: [&Solved; 2], viscosity: Option<&Solved>) {
    if let Some(viscosity) = viscosity {
        report.count("viscosity iterations", viscosity.iterations.into());
        report.count("viscosity error", viscosity.error);
    }
    report.count("divergence iterations", divergence.iterations.into());
    report.count("divergence error", divergence.error);
    report.count("density iterations", density.iterations.into());
    report.count("density error", density.error);
    let missed = [divergence, density].into_iter().chain(viscosity).filter(|solved| !solved.converged).count();
    report.count("solves that missed their error", missed as f64);
}
