//! What a scene can say about the matter of a rigid body.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The matter of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Density \[kg/m³\], default 1000.
    pub density: f64,
    /// Coefficient of friction, dimensionless, default 0.5: between two bodies the mean counts, at walls that of the body.
    pub friction: f64,
    /// Coefficient of restitution, dimensionless, 0 to 1, default 0: between two bodies the mean counts.
    pub restitution: f64,
}

/// A way in which a body cannot move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lock {
    /// Its centre of mass stays where it is along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
    /// It does not turn about the x axis.
    Rx,
    /// About the y axis.
    Ry,
    /// About the z axis.
    Rz,
}

impl Lock {
    /// All of them: three of places, then three of turns, in the order of the axes.
    pub const ALL: [Lock; 6] = [Lock::X, Lock::Y, Lock::Z, Lock::Rx, Lock::Ry, Lock::Rz];
}

impl Default for Material {
    fn default() -> Self {
        Self { density: 1000.0, friction: 0.5, restitution: 0.0 }
    }
}
