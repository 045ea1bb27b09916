//! What a scene can say about particle liquids. SI units; every field has a default.

use meniscus_boundary::Friction;
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
    /// Smoothing kernels, default "cubic-spline".
    pub kernel: KernelFamily,
    /// Pressure solver, default "dfsph".
    pub pressure: PressureSolver,
    /// Mean compression that the incompressible solver leaves at most in a step, dimensionless, default 0.0001.
    pub density_error: f64,
    /// Error of the pressure that it leaves at most, over the pressure that holds the liquid at rest, dimensionless, default
    /// 0.02.
    pub pressure_error: f64,
    /// Mean divergence times dt that it leaves, dimensionless, default 0.001.
    pub divergence_error: f64,
    /// Gradients in its pressure solve. Default: "corrected" for liquids of one density without surface tension among walls, emitters and rigid
    /// bodies; "plain" with liquids that differ in density, surface tension, solids, bodies of particles, animated meshes, moving
    /// walls of triangles, implicit viscosity, the wall "traction", `position_correction` and the state equation. `check` and run.json say which it is.
    pub gradients: Option<Gradients>,
    /// Whether its density solve corrects positions alone, default false: velocities, and positions by them (Bender and Koschier 2017).
    /// Alone, velocities feel the pressure of the divergence solve, and particles in disorder do not rub each other as they make
    /// room. For liquid of plain gradients that fills pipes and channels, without solids and rigid bodies.
    pub position_correction: bool,
    /// Most iterations of its density solve, default 100.
    pub max_density_iterations: u32,
    /// Most iterations of its divergence solve, default 100.
    pub max_divergence_iterations: u32,
    /// Stiffness k of p = k (ρ − ρ0) \[m²/s²\], the square of the speed of sound. Default: such that the liquid at rest is
    /// compressed by 1 % at the bottom.
    pub stiffness: Option<f64>,
    /// The speed to be expected \[m/s\]: of the flow, or √(p/ρ) where the liquid is under a pressure p. Compression and noise
    /// are measured by it. Default: that of liquid which falls from the highest place to the lowest, or the fastest speed given.
    pub reference_speed: Option<f64>,
    /// Exponent n of p = k ρ0/n ((ρ/ρ0)ⁿ − 1), dimensionless, 1 to 7, default 1 (the papers).
    pub exponent: u32,
    /// Artificial viscosity α, dimensionless, default 0.05, with corrected gradients 0; 0 switches it off. It acts as a kinematic
    /// viscosity of α c h/20, with the speed c to be expected in the scene (with the state equation, the speed of sound).
    pub artificial_viscosity: Option<f64>,
    /// Friction of eddies smaller than a particle, dimensionless, default 0: none; with corrected gradients 1. With 1, what single particles do against
    /// their neighbours dies out as fast as the liquid crosses a spacing; waves of ten spacings and more hardly feel it. For
    /// the pressure solver "dfsph".
    pub eddy_friction: Option<f64>,
    /// How viscosity is solved, default "explicit".
    pub viscosity: ViscositySolver,
    /// How the curvature is found by which surface tension pulls, default "fitted".
    pub tension: TensionModel,
    /// Whether particles make room before the first step where a fill has put them too near to each other, to walls or to bodies, default
    /// true. With corrected gradients.
    pub relax: bool,
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
            density_error: 1e-4,
            pressure_error: 0.02,
            divergence_error: 1e-3,
            gradients: None,
            relax: true,
            position_correction: false,
            max_density_iterations: 100,
            max_divergence_iterations: 100,
            stiffness: None,
            reference_speed: None,
            exponent: 1,
            artificial_viscosity: None,
            eddy_friction: None,
            viscosity: ViscositySolver::default(),
            tension: TensionModel::default(),
            mass_factor: 1.0,
        }
    }
}

impl Params {
    /// Whether gradients are corrected, given or by default, as far as the liquid alone can say.
    #[must_use]
    pub fn corrects_gradients(&self) -> bool {
        self.gradients.unwrap_or_default() == Gradients::Corrected
            && self.pressure == PressureSolver::Dfsph
            && !self.position_correction
    }

    /// The artificial viscosity, dimensionless, given or by default where gradients are corrected or not.
    #[must_use]
    pub fn artificial_viscosity(&self, corrected: bool) -> f64 {
        self.artificial_viscosity.unwrap_or(if corrected { 0.0 } else { 0.05 })
    }

    /// The friction of eddies, dimensionless, given or by default where gradients are corrected or not.
    #[must_use]
    pub fn eddy_friction(&self, corrected: bool) -> f64 {
        self.eddy_friction.unwrap_or(if corrected { 1.0 } else { 0.0 })
    }

    /// Least distance of a fill from walls and bodies, in spacings: particles that make room may start on a surface, others would be
    /// thrown off.
    #[must_use]
    pub fn clearance(&self) -> f64 {
        if self.relax && self.corrects_gradients() { 0.02 } else { 0.25 }
    }
}

/// Smoothing kernels by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelFamily {
    /// The cubic spline for density and pressure.
    #[default]
    CubicSpline,
    /// The quartic spline for density and pressure, to be used with a support of 2.2 (liquid at rest) to 2.5 (small waves).
    QuarticSpline,
    /// Poly6 for density, spiky for pressure, as in MCG03.
    Papers,
}

/// Pressure solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PressureSolver {
    /// Incompressible: no divergence, no compression (Bender and Koschier 2017).
    #[default]
    Dfsph,
    /// p = k (ρ − ρ0), not below zero: MCG03, Boldt.
    StateEquation,
}

/// Gradients of the incompressible liquid, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gradients {
    /// Those of the kernel: the compression of each particle is held. Liquid comes to rest soon and holds shear, as sand does.
    #[default]
    Plain,
    /// Those of the kernel times the inverse of their moments, which are exact for linear fields (Bonet and Lok 1999): waves, eddies
    /// and bodies keep moving. Porous solids, the wall "traction" and `position_correction` need plain ones.
    Corrected,
}

impl Gradients {
    /// The name in the scene file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Corrected => "corrected",
        }
    }
}

/// Viscosity solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ViscositySolver {
    /// The Laplacian of MCG03 at the start of the step, which viscosity limits: for water.
    #[default]
    Explicit,
    /// At the end of the step, which may be long: for honey (Weiler and others 2018). Needs the pressure solver "dfsph".
    Implicit,
}

/// Ways to find the curvature of a surface, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TensionModel {
    /// From a fit to the normals in the tangent plane.
    #[default]
    Fitted,
    /// The corrected divergence of SZW eq. 12.
    Paper,
}

/// What a liquid is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Rest density ρ0 \[kg/m³\], default 1000.
    pub density: f64,
    /// Dynamic viscosity μ \[Pa·s\], default 0.001 (water).
    pub viscosity: f64,
    /// Surface tension σ \[N/m\], default 0: none.
    pub surface_tension: f64,
    /// Angle at which its surface stands on walls and solids \[degrees\], default 90.
    pub contact_angle: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { density: 1000.0, viscosity: 1e-3, surface_tension: 0.0, contact_angle: 90.0 }
    }
}

/// How a liquid meets bodies that answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Coupling {
    /// Where defaults come from; keys that are given go before it.
    pub preset: CouplingPreset,
    /// What keeps liquid before the surface of a body.
    pub wall: BodyWall,
    /// What bodies do to liquid that slides along them, and it to them.
    pub friction: Friction,
    /// Viscosity μ by which the points of a surface hold liquid \[Pa·s\], 0 for none; of `traction`. By default none, with the
    /// preset "paper" that of the most viscous liquid \[MSTHG04 eqs 17–19\].
    pub point_viscosity: Option<f64>,
    /// How the part of the kernel that a body fills is summed up over its triangles; of `pressure`.
    pub integral: Integral,
    /// Longest edge of the pieces of a triangle with seven Gauss points each, in units of the support radius, as seen from a
    /// fifth of it; from nearer they are smaller, from farther larger. Of `traction`, and of the integral "points".
    pub longest_edge: f64,
    /// Distance r0 at which a point of a surface neither pushes nor holds, in units of the support radius; of `traction`. By
    /// default liquid rests half a spacing from a plane; the paper has 0.5.
    pub rest_distance: Option<f64>,
    /// How strongly a surface holds beyond that distance; of `traction`. 1 is the paper's.
    pub adhesion: f64,
    /// Stiffness k of the traction \[Pa\]; by default it holds twice the head that the scene can have.
    pub stiffness: Option<f64>,
    /// How points share what they push with; of `traction`.
    pub distribution: Distribution,
    /// Most steps that solids take in one of the liquid, if they move faster.
    pub substeps: u32,
}

/// Where the defaults of a coupling come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CouplingPreset {
    /// From this program: what was found to be right.
    #[default]
    Own,
    /// From the paper as it is printed: `wall` "traction" with `adhesion` 1, `distribution` "bridson", `point_viscosity` that of the
    /// liquid, and the liquid of MCG03, `sph.pressure` "state-equation" and `sph.kernel` "papers". Keys that are given override it:
    /// each is an erratum switched back. For the method "gauss".
    Paper,
}

/// What keeps liquid before the surface of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyWall {
    /// The liquid's own pressure, which feels the part of the kernel that the body fills.
    #[default]
    Pressure,
    /// The paper's traction: each point of the surface pushes particles away or holds them \[MSTHG04 eq. 15\].
    Traction,
}

/// How the part of the kernel that a body fills is summed up over its triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integral {
    /// Along their edges: as good as exact, and at a cost that does not grow with the triangle.
    #[default]
    Edges,
    /// At Gauss points, seven on each piece of a triangle, as the paper sums its traction \[MSTHG04 sec. 4.3\].
    Points,
}

/// How a point of a triangle shares a force among its corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// By its barycentric coordinates.
    #[default]
    Barycentric,
    /// As the paper prints it, with the factor of an impulse between equal masses: a third too strong \[MSTHG04 eq. 21\].
    Bridson,
}

impl Default for Coupling {
    fn default() -> Self {
        Self {
            preset: CouplingPreset::Own,
            wall: BodyWall::Pressure,
            friction: Friction::Slip,
            point_viscosity: None,
            integral: Integral::Edges,
            longest_edge: crate::wall_quadrature::LONGEST_EDGE,
            rest_distance: None,
            adhesion: crate::traction::ADHESION,
            stiffness: None,
            distribution: Distribution::Barycentric,
            substeps: 8,
        }
    }
}
