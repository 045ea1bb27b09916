//! What a step says when it fails.

use serde::{Deserialize, Serialize};

/// A step failed: in which stage, in which body, at which particle, node or cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{fault} in stage \"{stage}\", body \"{body}\"{}", match index { Some(i) => format!(", index {i}"), None => String::new() })]
pub struct StepError {
    /// Stage of the step, as in the step report and the docs.
    pub stage: String,
    /// Name of the body in the scene file.
    pub body: String,
    /// Stable id of the particle, or number of the node or cell, when there is one.
    pub index: Option<u64>,
    /// What happened.
    pub fault: Fault,
}

/// What can go wrong in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A value became infinite or not a number.
    #[error("{quantity} is not finite")]
    NotFinite {
        /// The quantity, in the words of the notation page.
        quantity: String,
    },
    /// A particle moved further in one step than the neighbour search can see.
    #[error("a particle moves {distance:.3e} m in one step, more than its support radius {support_radius:.3e} m")]
    TooFast {
        /// Distance moved in the step \[m\].
        distance: f64,
        /// Support radius \[m\].
        support_radius: f64,
    },
    /// A fluid moved further in one step than the transport on the grid allows.
    #[error("fluid passes {cells:.3} cells in one step, more than {largest}")]
    TooFar {
        /// Cells passed in the step, dimensionless.
        cells: f64,
        /// What is allowed, dimensionless.
        largest: f64,
    },
    /// An iteration ended before its goal.
    #[error(
        "not converged: the residual is {residual:.3e} of the loads after {iterations} iterations, {tolerance:.3e} is allowed"
    )]
    NotConverged {
        /// Iterations.
        iterations: u32,
        /// What is left, over the loads, dimensionless.
        residual: f64,
        /// What is allowed, dimensionless.
        tolerance: f64,
    },
    /// The time step needed is below the smallest that the scene allows.
    #[error("the step would have to be {needed:.3e} s, below the smallest allowed {smallest:.3e} s")]
    StepTooSmall {
        /// Stable step \[s\].
        needed: f64,
        /// `time.min_dt` of the scene \[s\].
        smallest: f64,
    },
}

impl StepError {
    /// A quantity that became infinite or not a number.
    #[must_use]
    pub fn not_finite(stage: &str, body: &str, index: u64, quantity: &str) -> Self {
        Self {
            stage: stage.into(),
            body: body.into(),
            index: Some(index),
            fault: Fault::NotFinite { quantity: quantity.into() },
        }
    }
}
