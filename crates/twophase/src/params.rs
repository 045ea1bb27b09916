//! What a scene can say about air and water on a grid. SI units; every field has a default.

use crate::error::{SetupError, in_range};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The grid, the two fluids, the sides of the box and the numerics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Edge of a cell \[m\], default 0.02; the edges of the domain must be whole multiples of it.
    pub spacing: f64,
    /// The liquid, default water: 1000 kg/m³, 0.001 Pa·s; scenes tell it with their liquids.
    #[serde(skip)]
    pub liquid: Fluid,
    /// The gas, default air: 1.2 kg/m³, 0.000018 Pa·s.
    pub gas: Fluid,
    /// Surface tension σ \[N/m\], default 0.072 (water in air); 0 switches it off. Scenes tell it with their liquids.
    #[serde(skip)]
    pub surface_tension: f64,
    /// The six sides of the box, default slip walls.
    pub sides: Sides,
    /// Height of the surface at rest \[m\], against gravity from the origin: open sides hold it. Default: where the liquid
    /// of the start would stand in the box.
    pub still_level: Option<f64>,
    /// Courant number: the part of a cell that may leave it in a step, |u| + |v| + |w| in cells, dimensionless, default 0.9, at most
    /// 0.95.
    pub courant: f64,
    /// The pressure is iterated until no cell grows or shrinks by more than this part of itself in a step, dimensionless,
    /// default 1e-8.
    pub tolerance: f64,
    /// Largest number of iterations for the pressure, dimensionless, default 100.
    pub max_iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            spacing: 0.02,
            liquid: Fluid { density: 1000.0, viscosity: 1e-3 },
            gas: Fluid::default(),
            surface_tension: 0.072,
            sides: Sides::default(),
            still_level: None,
            courant: 0.9,
            tolerance: 1e-8,
            max_iterations: 100,
        }
    }
}

impl Params {
    /// Checks the ranges of all numbers.
    ///
    /// # Errors
    /// The first number that is out of its range.
    pub fn check(&self) -> Result<(), SetupError> {
        let positive = |what, value: f64| in_range(what, "positive", value, value > 0.0);
        let not_negative = |what, value: f64| in_range(what, "zero or positive", value, value >= 0.0);
        positive("the spacing", self.spacing)?;
        positive("the density of the liquid", self.liquid.density)?;
        positive("the density of the gas", self.gas.density)?;
        not_negative("the viscosity of the liquid", self.liquid.viscosity)?;
        not_negative("the viscosity of the gas", self.gas.viscosity)?;
        not_negative("the surface tension", self.surface_tension)?;
        let courant = self.courant;
        in_range("the Courant number", "positive, at most 0.95", courant, courant > 0.0 && courant <= 0.95)?;
        positive("the tolerance", self.tolerance)?;
        positive("the largest number of iterations", self.max_iterations.into())?;
        if let Some(level) = self.still_level {
            in_range("the still level", "finite", level, true)?;
        }
        self.sides.check()
    }

    /// How smooth velocities are across the interface: one between viscous fluids of equal density, zero where one fluid weighs next to
    /// nothing or has no viscosity; the ratio of the densities else.
    pub(crate) fn smoothness(&self) -> f64 {
        let (a, b) = (self.gas, self.liquid);
        let ratio = (a.density / b.density).min(b.density / a.density);
        if ratio < LEAST_RATIO || a.viscosity == 0.0 || b.viscosity == 0.0 { 0.0 } else { ratio }
    }
}

/// Fluids whose densities have a ratio below this have no say in each other's motion.
const LEAST_RATIO: f64 = 0.01;

/// What a fluid is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fluid {
    /// Density \[kg/m³\], default 1.2 (air).
    pub density: f64,
    /// Dynamic viscosity \[Pa·s\], default 0.000018 (air); 0 for none.
    pub viscosity: f64,
}

impl Default for Fluid {
    fn default() -> Self {
        Self { density: 1.2, viscosity: 1.8e-5 }
    }
}

/// The six sides of the box.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sides {
    /// Where x is smallest, default a slip wall.
    pub x_min: Side,
    /// Where x is largest, default a slip wall.
    pub x_max: Side,
    /// Where y is smallest, default a slip wall.
    pub y_min: Side,
    /// Where y is largest, default a slip wall.
    pub y_max: Side,
    /// Where z is smallest, default a slip wall.
    pub z_min: Side,
    /// Where z is largest, default a slip wall.
    pub z_max: Side,
}

impl Sides {
    /// The same side all around.
    #[must_use]
    pub fn all(side: Side) -> Self {
        Self { x_min: side, x_max: side, y_min: side, y_max: side, z_min: side, z_max: side }
    }

    /// The low and the high side along each axis.
    #[must_use]
    pub fn pairs(&self) -> [[Side; 2]; 3] {
        [[self.x_min, self.x_max], [self.y_min, self.y_max], [self.z_min, self.z_max]]
    }

    /// The same, to be changed.
    pub fn pairs_mut(&mut self) -> [[&mut Side; 2]; 3] {
        let Self { x_min, x_max, y_min, y_max, z_min, z_max } = self;
        [[x_min, x_max], [y_min, y_max], [z_min, z_max]]
    }

    fn check(&self) -> Result<(), SetupError> {
        for (pair, axis) in self.pairs().iter().zip(['x', 'y', 'z']) {
            if (pair[0] == Side::Periodic) != (pair[1] == Side::Periodic) {
                return Err(SetupError::OneSidePeriodic { axis });
            }
            pair.iter().try_for_each(Side::check)?;
        }
        Ok(())
    }
}

/// One side of the box.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// A wall without friction.
    #[default]
    Slip,
    /// A wall to which the fluids stick.
    NoSlip,
    /// What leaves here comes in on the opposite side.
    Periodic,
    /// Open water: the surface is held at the still level, waves leave.
    Open(Open),
    /// Fluid comes in at a given velocity.
    Inflow(Inflow),
    /// Air outside: what reaches the side leaves, also a jet through the floor.
    Outflow(Outflow),
}

impl Side {
    /// Whether it is a wall.
    #[must_use]
    pub fn is_wall(&self) -> bool {
        matches!(self, Self::Slip | Self::NoSlip)
    }

    /// Whether the pressure beyond it is given, so that as much can leave as comes in.
    #[must_use]
    pub fn lets_out(&self) -> bool {
        matches!(self, Self::Open(_) | Self::Outflow(_))
    }

    fn check(&self) -> Result<(), SetupError> {
        match self {
            Self::Open(open) => {
                let Open { wave_speed, sponge } = *open;
                in_range("the wave speed of an open side", "zero or positive", wave_speed, wave_speed >= 0.0)?;
                in_range("the sponge of an open side", "zero or positive", sponge, sponge >= 0.0)
            }
            Self::Inflow(inflow) => {
                let numbers = inflow.velocity.into_iter().chain(inflow.level);
                numbers.into_iter().try_for_each(|value| in_range("an inflow", "finite", value, true))
            }
            _ => Ok(()),
        }
    }
}

/// How an open side lets waves out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Open {
    /// Speed c of the waves that leave \[m/s\], √(g·depth) for long ones: the live pressure at the side is ρ c u·n. Default 0:
    /// the live pressure is zero, and waves are thrown back.
    pub wave_speed: f64,
    /// Width of a zone before the side in which motion dies out \[m\], default 0. For short waves; long ones feel it as a step.
    pub sponge: f64,
}

/// Where fluid leaves; what comes in is gas.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outflow {}

/// What comes in.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inflow {
    /// Velocity \[m/s\], default 0.
    pub velocity: [f64; 3],
    /// Liquid comes in below this height \[m\] against gravity, gas above it. Default: liquid everywhere.
    pub level: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named() {
        assert!(Params::default().check().is_ok());
        let bad = |change: fn(&mut Params)| {
            let mut params = Params::default();
            change(&mut params);
            params.check().unwrap_err().to_string()
        };
        assert_eq!(bad(|p| p.gas.density = 0.0), "the density of the gas must be positive, not 0");
        assert!(bad(|p| p.courant = 1.1).contains("Courant"));
        assert!(bad(|p| p.surface_tension = f64::NAN).contains("surface tension"));
        assert!(bad(|p| p.sides.y_min = Side::Periodic).contains("along y"));
        assert!(bad(|p| p.sides.x_max = Side::Open(Open { wave_speed: -1.0, sponge: 0.0 })).contains("wave speed"));
        assert!(bad(|p| p.max_iterations = 0).contains("iterations"));
        assert!(bad(|p| p.still_level = Some(f64::INFINITY)).contains("still level"));
    }
}
