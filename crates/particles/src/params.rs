//! What a scene can say about particle bodies. SI units; every field has a default.

use crate::integrator::Integrator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How particle bodies move and touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Connections")]
pub struct Params {
    /// Integrator of bodies, default "heun".
    pub integrator: Integrator,
    /// How bodies meet each other, walls and liquids, default "springs".
    pub interface: InterfaceKind,
    /// Whether all bodies take the same step or each its own, default "global".
    pub steps: Steps,
    /// Stiffness of dynamic connections between bodies as a modulus \[Pa\]: two particles that touch at a distance l are
    /// held apart by a spring of modulus × l. Default: 20 ρ v², with the heaviest body and the speed v of a fall through the scene.
    pub modulus: Option<f64>,
    /// The same for connections with liquid \[Pa\]. Default: 3 ρ v², with the heaviest liquid.
    pub liquid_modulus: Option<f64>,
    /// Damping of dynamic connections over the critical one, dimensionless, default 0.3.
    pub damping_ratio: f64,
    /// Coulomb's friction between bodies and with walls, dimensionless, default 0.4; liquid slips. Scenes tell it with `contact.friction`.
    #[serde(skip)]
    pub friction: f64,
    /// How far bodies that have touched may part before they come loose, in distances of touch, dimensionless, default 0: they
    /// do not stick.
    pub sticky: f64,
    /// Iterations of the projection over all contacts between bodies and with walls in a step, dimensionless, default 10.
    pub iterations: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            integrator: Integrator::default(),
            interface: InterfaceKind::default(),
            steps: Steps::default(),
            modulus: None,
            liquid_modulus: None,
            damping_ratio: 0.3,
            friction: 0.4,
            sticky: 0.0,
            iterations: 10,
        }
    }
}

/// Interfaces by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceKind {
    /// Dynamic connections: springs between particles that are near each other, as in the paper.
    #[default]
    Springs,
    /// Particles that overlap are moved apart, and their velocities follow.
    Projection,
    /// The particles of bodies join the liquid: density and pressure hold them apart from it; springs between bodies. Bodies
    /// must have the spacing of the liquid.
    Sph,
}

/// Time steps by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// All bodies take the step that the stiffest of them bears.
    #[default]
    Global,
    /// What is between bodies acts once a step; inside, each body takes as many steps as its own springs ask for.
    Local,
}
