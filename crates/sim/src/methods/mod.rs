//! Methods: each an order of stages over parts, one file each.

mod connections;
mod gauss;
mod twophase;
mod unified;

pub(crate) use connections::{Connections, LiquidCoupling};
pub(crate) use gauss::Gauss;
pub(crate) use twophase::TwoPhase;
pub(crate) use unified::Unified;

use crate::hands::Hands;
use crate::part::Part;
use crate::substeps::Finest;
use glam::DVec3;
use meniscus_core::{StepError, StepReport};
use meniscus_scene::live::LiveKey;

/// What a step is about.
pub(crate) struct Step<'a> {
    /// When it begins \[s\].
    pub(crate) time: f64,
    /// Its length \[s\].
    pub(crate) dt: f64,
    /// Gravity \[m/s²\].
    pub(crate) gravity: DVec3,
    /// The pulls of the scene.
    pub(crate) hands: &'a mut Hands,
}

/// A method with its parts.
pub(crate) trait Method: Send {
    /// One step: the algorithm box of the method.
    fn step(&mut self, step: Step<'_>, report: &mut StepReport) -> Result<(), StepError>;

    /// Undoes the last step, which failed.
    fn roll_back(&mut self, hands: &mut Hands);

    /// Largest stable step from here, under gravity \[m/s²\] \[s\].
    fn stable_step(&self, gravity: DVec3) -> f64;

    /// Stable step that is to be expected when the scene is under way, under gravity \[m/s²\] \[s\].
    fn typical_step(&self, gravity: DVec3) -> f64 {
        self.stable_step(gravity)
    }

    /// The shortest sub-step of what takes steps of its own, before motion shortens it.
    fn finest_substep(&self) -> Option<Finest<'_>> {
        None
    }

    /// Its parts, in the order in which they are saved and shown.
    fn parts(&self) -> Vec<&dyn Part>;

    /// The same, to change.
    fn parts_mut(&mut self) -> Vec<&mut dyn Part>;

    /// Names of the walls whose forces are measured.
    fn walls(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Columns of the probe file of what is between its parts.
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Their values now.
    fn measure(&self, _: &mut Vec<f64>) {}

    /// Changes a live parameter.
    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        self.parts_mut().into_iter().for_each(|part| part.set(key, value));
    }
}
