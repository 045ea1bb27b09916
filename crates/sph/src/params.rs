//! What a scene can say about particle liquids. SI units; every field has a default.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The discretisation of all particle liquids of a scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Sph")]
pub struct Params {
    /// Distance between particles at rest \[m\], default 0.02.
    pub spacing: f64,
    /// Support radius h in spacings, dimensionless, default 2.
    pub support: f64,
    /// Smoothing kernels, default "papers".
    pub kernel: KernelFamily,
    /// Pressure solver, default "state-equation".
    pub pressure: PressureSolver,
    /// Stiffness k of p = k (ρ − ρ0) \[m²/s²\], the square of the speed of sound. Default: such that the liquid at rest is
    /// compressed by 1 % at the bottom.
    pub stiffness: Option<f64>,
    /// Exponent n of p = k ρ0/n ((ρ/ρ0)ⁿ − 1), dimensionless, 1 to 7, default 1 (the papers).
    pub exponent: u32,
    /// Artificial viscosity α between approaching particles, dimensionless, default 0.1; 0 switches it off.
    pub artificial_viscosity: f64,
    /// Mass of a particle in units of ρ0 spacing³, dimensionless, default 1.
    pub mass_factor: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            spacing: 0.02,
            support: 2.0,
            kernel: KernelFamily::default(),
            pressure: PressureSolver::default(),
            stiffness: None,
            exponent: 1,
            artificial_viscosity: 0.1,
            mass_factor: 1.0,
        }
    }
}

/// Smoothing kernels by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelFamily {
    /// Poly6 for density, spiky for pressure, as in MCG03.
    #[default]
    Papers,
    /// The cubic spline for density and pressure.
    CubicSpline,
}

/// Pressure solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PressureSolver {
    /// p = k (ρ − ρ0), clamped at zero: MCG03, Boldt.
    #[default]
    StateEquation,
}

/// What a liquid is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Rest density ρ0 \[kg/m³\], default 1000.
    pub density: f64,
    /// Dynamic viscosity μ \[Pa·s\], default 0.001 (water).
    pub viscosity: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { density: 1000.0, viscosity: 1e-3 }
    }
}

/// A wall that does not move.
#[derive(Debug, Clone, PartialEq)]
pub struct Wall {
    /// Its shape.
    pub shape: WallShape,
    /// What it does to liquid that slides along it.
    pub friction: Friction,
}

impl Wall {
    /// Distance of a point from the wall \[m\], negative beyond it.
    #[must_use]
    pub fn distance(&self, p: DVec3) -> f64 {
        match self.shape {
            WallShape::Tank { min, max } => (p - min).min(max - p).min_element(),
            WallShape::Plane { point, normal } => (p - point).dot(normal),
        }
    }
}

/// Shapes with a closed-form wall integral.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WallShape {
    /// Liquid inside an axis-aligned box; an infinite coordinate opens that side.
    Tank {
        /// Lower corner \[m\].
        min: DVec3,
        /// Upper corner \[m\].
        max: DVec3,
    },
    /// Liquid on the side that the normal points to.
    Plane {
        /// A point of the plane \[m\].
        point: DVec3,
        /// Unit normal into the liquid.
        normal: DVec3,
    },
}

/// Friction between a wall and the liquid beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Friction {
    /// None.
    #[default]
    Slip,
    /// The liquid's own viscosity, so that the velocity at the wall is that of the wall.
    NoSlip,
    /// A viscosity of its own \[Pa·s\], as in MSTHG04 eq. 17.
    Viscosity(f64),
}
