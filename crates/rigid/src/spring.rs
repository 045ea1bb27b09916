//! Springs that pull at points of bodies: the user's hand.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A spring between a point of a body and a position.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// Its number, chosen by whoever attached it.
    pub id: u64,
    /// Number of the body.
    pub body: u32,
    /// The point, where it was at the start \[m\].
    pub point: DVec3,
    /// The position \[m\].
    pub anchor: DVec3,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Damping \[N·s/m\].
    pub damping: f64,
    /// Force on the body in the last step \[N\].
    pub force: DVec3,
}

/// What a spring does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// Its number.
    pub id: u64,
    /// Number of the body.
    pub body: usize,
    /// The point that it is tied to, where it is now \[m\].
    pub point: DVec3,
    /// Its far end \[m\].
    pub anchor: DVec3,
    /// Force on the body \[N\] in the last step.
    pub force: DVec3,
}

impl Spring {
    /// The force at the end of a step, in which the point would have the velocity u without it and W is how easily it moves:
    /// f = k (a − x − dt v) − d v with v = u + dt W f. Implicit, so that it may be as stiff as it likes.
    pub(crate) fn force_in_step(&self, x: DVec3, u: DVec3, compliance_at: DMat3, dt: f64) -> DVec3 {
        let resistance = dt * self.stiffness + self.damping;
        let rest = self.stiffness * (self.anchor - x) - resistance * u;
        (DMat3::IDENTITY + compliance_at * (dt * resistance)).inverse() * rest
    }
}

/// How easily a point moves: velocity per impulse \[1/kg\].
pub(crate) fn compliance_at(inverse_mass: DVec3, inverse_inertia: DMat3, arm: DVec3) -> DMat3 {
    let column = |axis: DVec3| axis * inverse_mass + (inverse_inertia * arm.cross(axis)).cross(arm);
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}
