//! Hands that pull at solids: in a scene file, or as commands of a person.

use crate::model::{Scene, Vector};
use meniscus_boundary::Motion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A spring that takes hold of a point of a solid for a while and pulls it along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pull {
    /// Name of the solid, rigid body or body of particles; default whichever is there.
    #[serde(default)]
    pub body: Option<String>,
    /// The point that it takes hold of.
    pub at: Pick,
    /// How the far end moves away from where the point was when it was taken; times count from then. Default "still".
    #[serde(default)]
    pub motion: Motion,
    /// When it takes hold \[s\], default 0; if there is nothing at that place then, as soon as there is.
    #[serde(default)]
    pub from: f64,
    /// When it lets go \[s\], default never.
    #[serde(default)]
    pub until: Option<f64>,
    /// Stiffness of the spring \[N/m\], default 160 for every kilogram of the body: it hangs 6 cm below the hand. Particles follow no
    /// stiffer one than their mass bears in a step: shorter steps (`time.max_dt`) allow more.
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// Damping of the spring \[N·s/m\], default half of what is critical for the whole body.
    #[serde(default)]
    pub damping: Option<f64>,
}

/// How a point of a surface is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The one nearest to this position \[m\].
    Point(Vector),
    /// The first one that a ray meets.
    Ray(Ray),
}

/// A ray.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ray {
    /// Where it begins \[m\].
    pub origin: Vector,
    /// Its direction, of any length.
    pub direction: Vector,
}

/// Takes hold of a point of a solid with a spring, whose far end stays where the point is until it is moved. Where there is
/// nothing to take hold of, nothing happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grab {
    /// Number by which the hand is known, default 0; what it held before is let go.
    #[serde(default)]
    pub hand: u32,
    /// Name of the solid, rigid body or body of particles; default whichever is there.
    #[serde(default)]
    pub body: Option<String>,
    /// The point.
    pub at: Pick,
    /// Factor of the stiffness, dimensionless, default 1.
    #[serde(default)]
    pub strength: Option<f64>,
    /// Stiffness of the spring \[N/m\], default 160 for every kilogram of the body: it hangs 6 cm below the hand.
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// Damping of the spring \[N·s/m\], default half of what is critical for the whole body.
    #[serde(default)]
    pub damping: Option<f64>,
}

/// Moves the far end of a hand's spring. A hand that holds nothing is not asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Number of the hand, default 0.
    #[serde(default)]
    pub hand: u32,
    /// Where it goes \[m\].
    pub target: Vector,
    /// Factor of the stiffness that its spring would have by default, dimensionless; by default the spring stays as it is.
    #[serde(default)]
    pub strength: Option<f64>,
}

/// Lets go of what a hand holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Number of the hand, default 0.
    #[serde(default)]
    pub hand: u32,
}

/// What is wrong with a value: its key and why.
pub(crate) type Wrong = (&'static str, String);

impl Grab {
    /// What is wrong with it in a scene, if anything.
    pub(crate) fn check(&self, scene: &Scene) -> Result<(), Wrong> {
        let bodies: Vec<&str> = scene.body_names().collect();
        let spring = [("stiffness", self.stiffness), ("damping", self.damping), ("strength", self.strength)];
        check_spring(&bodies, self.body.as_deref(), &self.at, &spring)
    }
}

impl Pull {
    /// What is wrong with it in a scene, if anything.
    pub(crate) fn check(&self, scene: &Scene) -> Result<(), Wrong> {
        let bodies: Vec<&str> = scene.body_names().collect();
        check_spring(
            &bodies,
            self.body.as_deref(),
            &self.at,
            &[("stiffness", self.stiffness), ("damping", self.damping)],
        )?;
        let until = self.until.unwrap_or(f64::INFINITY);
        require("from", self.from >= 0.0, || format!("must not be negative, not {}", self.from))?;
        require("until", until > self.from, || format!("must come after from = {}", self.from))
    }
}

impl Move {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        require("target", finite(&self.target), || "must be finite".into())?;
        not_negative("strength", self.strength)
    }
}

fn check_spring(
    bodies: &[&str],
    body: Option<&str>,
    at: &Pick,
    spring: &[(&'static str, Option<f64>)],
) -> Result<(), Wrong> {
    if let Some(name) = body {
        require("body", bodies.contains(&name), || {
            format!("names no solid or rigid body of the scene; there are: {}", bodies.join(", "))
        })?;
    }
    require("body", !bodies.is_empty(), || "needs a solid: the scene has none".into())?;
    match at {
        Pick::Point(point) => require("at", finite(point), || "must be finite".into())?,
        Pick::Ray(Ray { origin, direction }) => {
            require("at", finite(origin) && finite(direction), || "must be finite".into())?;
            require("at", direction.iter().any(|c| *c != 0.0), || {
                "must have a direction: not all of it can be zero".into()
            })?;
        }
    }
    spring.iter().try_for_each(|(key, value)| not_negative(key, *value))
}

fn not_negative(key: &'static str, value: Option<f64>) -> Result<(), Wrong> {
    let value = value.unwrap_or(0.0);
    require(key, value >= 0.0 && value.is_finite(), || format!("must be finite and not negative, not {value}"))
}

fn finite(vector: &Vector) -> bool {
    vector.iter().all(|c| c.is_finite())
}

fn require(key: &'static str, holds: bool, message: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err((key, message())) }
}
