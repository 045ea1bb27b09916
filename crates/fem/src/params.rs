//! What a scene can say about deformable solids. SI units; every field has a default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a body is discretised and moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Fem")]
pub struct Params {
    /// Tetrahedra of 4 nodes ("linear", default) or of 10 ("quadratic").
    pub order: Order,
    /// Time integration, default "implicit-euler".
    pub integrator: Integrator,
    /// The stiffness that implicit steps use, default "warped".
    pub linearisation: Linearisation,
    /// Newton iterations per step, dimensionless, default 1: the step is linearised where it begins.
    pub newton_iterations: u32,
    /// Newton iterations end when the force out of balance is below this part of the loads, dimensionless, default 1e-6.
    pub newton_tolerance: f64,
    /// Conjugate gradients end when the residual is below this part of the loads, dimensionless, default 1e-5.
    pub tolerance: f64,
    /// Most iterations of one linear solve, dimensionless, default 2000; a step that needs more fails.
    pub max_iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            order: Order::default(),
            integrator: Integrator::default(),
            linearisation: Linearisation::default(),
            newton_iterations: 1,
            newton_tolerance: 1e-6,
            tolerance: 1e-5,
            max_iterations: 2000,
        }
    }
}

/// Elements by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// 4 nodes, one strain per tetrahedron: fast, too stiff in bending when coarse.
    #[default]
    Linear,
    /// 10 nodes, straight sides, four strains per tetrahedron: accurate.
    Quadratic,
}

/// Integrators by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// First order, stable at any step, calms vibrations.
    #[default]
    ImplicitEuler,
    /// Second order, keeps energy and momenta of vibrations; wants two or more Newton iterations.
    ImplicitMidpoint,
}

/// Stiffness matrices by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Linearisation {
    /// The stiffness at rest, turned with each element; positive definite, cheap. The other models than "corotational" use
    /// "projected" instead.
    #[default]
    Warped,
    /// The derivative of the forces without its negative eigenvalues.
    Projected,
    /// The derivative of the forces; "projected" for the rest of a step in which it turns out indefinite.
    Exact,
}

/// What a body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Elastic energy, default "corotational".
    pub model: Model,
    /// Young's modulus E \[Pa\], default 1e6.
    pub young: f64,
    /// Poisson's ratio ν, dimensionless, 0 to below 0.5, default 0.3.
    pub poisson: f64,
    /// Density at rest ρ \[kg/m³\], default 1000.
    pub density: f64,
    /// Rayleigh damping of motion α \[1/s\], default 0.
    pub mass_damping: f64,
    /// Rayleigh damping of deformation β \[s\], default 0.
    pub stiffness_damping: f64,
    /// How it yields; by default it does not.
    pub plasticity: Option<Plasticity>,
    /// How it breaks; by default it does not.
    pub fracture: Option<Fracture>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            model: Model::default(),
            young: 1e6,
            poisson: 0.3,
            density: 1000.0,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            plasticity: None,
            fracture: None,
        }
    }
}

/// Elastic energies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Linear elasticity in the frame of each element.
    #[default]
    Corotational,
    /// Stable neo-Hookean of Smith, de Goes and Kim 2018: stiffens when squeezed, for flesh and rubber.
    NeoHookean,
    /// St Venant–Kirchhoff, as in many references; softens and collapses when squeezed hard.
    StVenantKirchhoff,
}

/// Plastic flow: elastic strain beyond the yield strain turns into a new rest shape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plasticity {
    /// Norm of the elastic strain from which the material flows, dimensionless, default 0.05.
    pub yield_strain: f64,
    /// Rate at which elastic strain turns plastic \[1/s\], default 10.
    pub creep: f64,
    /// Largest norm of the plastic strain, dimensionless, below 1, default 0.5.
    pub max_strain: f64,
    /// Whether only the change of shape flows, not the change of volume; default false.
    pub keep_volume: bool,
}

impl Default for Plasticity {
    fn default() -> Self {
        Self { yield_strain: 0.05, creep: 10.0, max_strain: 0.5, keep_volume: false }
    }
}

/// Fracture: cracks open across the largest tension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fracture {
    /// Largest principal stress that the material bears σ_t \[Pa\], default 1e5.
    pub strength: f64,
    /// Time over which stress is smoothed \[s\], default 0.005; 0 for none.
    pub smoothing: f64,
    /// Most nodes that split in one step, dimensionless, default 16; at most one of them away from older cracks.
    pub max_cracks: u32,
    /// Fewest tetrahedra of a piece, dimensionless, default 4.
    pub min_piece: u32,
}

impl Default for Fracture {
    fn default() -> Self {
        Self { strength: 1e5, smoothing: 0.005, max_cracks: 16, min_piece: 4 }
    }
}

/// A parameter is out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{key}` must be {range}, not {value}")]
pub struct ParamsError {
    /// The parameter, as in the scene file.
    pub key: &'static str,
    /// What it must be.
    pub range: &'static str,
    /// What was given.
    pub value: f64,
}

pub(crate) fn require(good: bool, key: &'static str, range: &'static str, value: f64) -> Result<(), ParamsError> {
    if good && value.is_finite() { Ok(()) } else { Err(ParamsError { key, range, value }) }
}

impl Params {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParamsError> {
        let open_unit = |x: f64| x > 0.0 && x < 1.0;
        let count = |n: u32| f64::from(n);
        require(self.newton_iterations > 0, "newton_iterations", "1 or more", count(self.newton_iterations))?;
        require(open_unit(self.newton_tolerance), "newton_tolerance", "between 0 and 1", self.newton_tolerance)?;
        require(open_unit(self.tolerance), "tolerance", "between 0 and 1", self.tolerance)?;
        require(self.max_iterations > 0, "max_iterations", "1 or more", count(self.max_iterations))
    }
}

impl Material {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Names the first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParamsError> {
        require(self.young > 0.0, "young", "greater than 0", self.young)?;
        require((0.0..0.5).contains(&self.poisson), "poisson", "0 or more and less than 0.5", self.poisson)?;
        require(self.density > 0.0, "density", "greater than 0", self.density)?;
        require(self.mass_damping >= 0.0, "mass_damping", "0 or more", self.mass_damping)?;
        require(self.stiffness_damping >= 0.0, "stiffness_damping", "0 or more", self.stiffness_damping)?;
        self.plasticity.map_or(Ok(()), |plasticity| plasticity.check())?;
        self.fracture.map_or(Ok(()), |fracture| fracture.check())
    }

    /// Lamé's constants λ and μ \[Pa\].
    #[must_use]
    pub fn lame(&self) -> [f64; 2] {
        let (e, nu) = (self.young, self.poisson);
        [e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu))]
    }
}

impl Plasticity {
    fn check(&self) -> Result<(), ParamsError> {
        require(self.yield_strain > 0.0, "plasticity.yield_strain", "greater than 0", self.yield_strain)?;
        require(self.creep >= 0.0, "plasticity.creep", "0 or more", self.creep)?;
        // Strain of norm 1 could flatten the rest shape.
        let range = "0 or more and less than 1";
        require((0.0..1.0).contains(&self.max_strain), "plasticity.max_strain", range, self.max_strain)
    }
}

impl Fracture {
    fn check(&self) -> Result<(), ParamsError> {
        require(self.strength > 0.0, "fracture.strength", "greater than 0", self.strength)?;
        require(self.smoothing >= 0.0, "fracture.smoothing", "0 or more", self.smoothing)?;
        require(self.min_piece > 0, "fracture.min_piece", "1 or more", f64::from(self.min_piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_range_and_others_are_named() {
        Params::default().check().unwrap();
        let good = Material {
            plasticity: Some(Plasticity::default()),
            fracture: Some(Fracture::default()),
            ..Material::default()
        };
        good.check().unwrap();
        let key = |material: Material| material.check().unwrap_err().key;
        assert_eq!(key(Material { poisson: 0.5, ..good }), "poisson");
        assert_eq!(key(Material { poisson: -0.1, ..good }), "poisson");
        assert_eq!(key(Material { young: 0.0, ..good }), "young");
        assert_eq!(key(Material { young: f64::NAN, ..good }), "young");
        assert_eq!(key(Material { density: f64::INFINITY, ..good }), "density");
        assert_eq!(key(Material { stiffness_damping: -1.0, ..good }), "stiffness_damping");
        let hard = Plasticity { max_strain: 1.0, ..Plasticity::default() };
        assert_eq!(key(Material { plasticity: Some(hard), ..good }), "plasticity.max_strain");
        let weak = Fracture { strength: -1.0, ..Fracture::default() };
        assert_eq!(key(Material { fracture: Some(weak), ..good }), "fracture.strength");
        let error = Material { poisson: 0.5, ..good }.check().unwrap_err();
        assert_eq!(error.to_string(), "`poisson` must be 0 or more and less than 0.5, not 0.5");
        assert_eq!(Params { tolerance: 0.0, ..Params::default() }.check().unwrap_err().key, "tolerance");
    }
}
