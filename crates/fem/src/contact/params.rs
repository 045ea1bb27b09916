//! What a scene can say about contact of soft bodies.

use crate::params::{ParamsError, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How soft bodies touch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Contact")]
pub struct ContactParams {
    /// Pressure at an overlap of one mean edge of the surface, over Young's modulus of the softer body, dimensionless,
    /// default 10.
    pub stiffness: f64,
    /// Coefficient of friction μ, dimensionless, default 0.3.
    pub friction: f64,
    /// Speed below which friction lets surfaces creep \[m/s\], default 1e-3.
    pub creep_speed: f64,
    /// Deepest overlap that is pushed back, in mean edges of the surface, dimensionless, default 0.5.
    pub max_penetration: f64,
    /// Passes over bodies that touch in one step, dimensionless, default 4.
    pub passes: u32,
    /// Whether bodies touch themselves, default true.
    pub self_contact: bool,
}

impl Default for ContactParams {
    fn default() -> Self {
        Self { stiffness: 10.0, friction: 0.3, creep_speed: 1e-3, max_penetration: 0.5, passes: 4, self_contact: true }
    }
}

impl ContactParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParamsError> {
        require(self.stiffness > 0.0, "contact.stiffness", "greater than 0", self.stiffness)?;
        require(self.friction >= 0.0, "contact.friction", "0 or more", self.friction)?;
        require(self.creep_speed > 0.0, "contact.creep_speed", "greater than 0", self.creep_speed)?;
        require(self.max_penetration > 0.0, "contact.max_penetration", "greater than 0", self.max_penetration)?;
        require(self.passes > 0, "contact.passes", "1 or more", f64::from(self.passes))
    }
}
