//! The `twophase` method: air and water on a grid \[MKSMH07\].
//!
//! The algorithm box is that of `meniscus_twophase::Flow::step`, whose stages are: keep state, advect, volume correction, move solids,
//! measure distance, apply viscosity, interface force, find pressure, correct velocity. What a step needs to know of the scene
//! is in the setup of the flow; nothing else acts on it but pokes, and the acceleration of a box that is shaken.

use super::{Method, Step};
use crate::build::{BuildError, grid};
use crate::hands::Hands;
use crate::part::Part;
use crate::parts::GridPart;
use glam::DVec3;
use meniscus_core::{StepError, StepReport};
use meniscus_scene::Loaded;

/// The method.
pub(crate) struct TwoPhase {
    pub(crate) grid: GridPart,
}

impl TwoPhase {
    /// That of a scene; says what is odd.
    pub(crate) fn build(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<Self, BuildError> {
        Ok(Self { grid: grid::grid(loaded, warnings)? })
    }
}

impl Method for TwoPhase {
    fn step(&mut self, Step { time, dt, gravity, .. }: Step<'_>, report: &mut StepReport) -> Result<(), StepError> {
        let Self { grid } = self;
        grid.flow.set_gravity(gravity - grid.acceleration(time, dt));
        grid.flow.step(dt, report)
    }

    fn roll_back(&mut self, _: &mut Hands) {
        self.grid.flow.roll_back();
    }

    fn stable_step(&self, _: DVec3) -> f64 {
        self.grid.flow.stable_step()
    }

    /// That of now, or of what falls through the whole height.
    fn typical_step(&self, _: DVec3) -> f64 {
        self.grid.flow.stable_step().min(self.grid.fastest_step)
    }

    fn parts(&self) -> Vec<&dyn Part> {
        vec![&self.grid]
    }

    fn parts_mut(&mut self) -> Vec<&mut dyn Part> {
        vec![&mut self.grid]
    }
}
