//! Bodies of particles in a scene file.

use crate::model::bodies::{BodyShape, Described};
use crate::model::{Mesh, Method, Scene, Shape, Vector};
use crate::validate::Checks;
use meniscus_boundary::Motion;
use meniscus_core::Material;
use meniscus_particles::InterfaceKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body of particles, or several alike; with the methods "connections" and "gauss". With "gauss", liquid meets its surface, and a
/// scene has no `solid` or `rigid` besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its shape at rest and at the start; filled with particles on a lattice.
    pub shape: Shape,
    /// What holds it together: "deformable" by springs, "rigid" by fixed distances; default "deformable".
    #[serde(default)]
    pub kind: Cohesion,
    /// Distance between its particles \[m\], default `sph.spacing`.
    #[serde(default)]
    pub spacing: Option<f64>,
    /// Density \[kg/m³\], default 500.
    #[serde(default = "density")]
    pub density: f64,
    /// Young's modulus of a deformable body \[Pa\], default 1e5; Poisson's ratio is 1/4.
    #[serde(default = "young")]
    pub young: f64,
    /// Damping of its springs over the critical one, dimensionless, default 0.1.
    #[serde(default = "damping_ratio")]
    pub damping_ratio: f64,
    /// Turned about the middle of its bounds before the start: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: Vector,
    /// Velocity at the start \[m/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub velocity: Vector,
    /// Angular velocity at the start, about its centre of mass \[rad/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub spin: Vector,
    /// Regions in which the particles of a deformable body stay where they are at the start.
    #[serde(default)]
    pub fixed: Vec<Kept>,
    /// More of the same, in rows; default one alone.
    #[serde(default)]
    pub repeat: Option<Repeat>,
    /// Red, green, blue, 0 to 1, default \[0.35, 0.65, 0.35\].
    #[serde(default = "color")]
    pub color: Vector,
    /// What it looks like in `final` pictures: "rubber", "tissue", "glass", "tile", "wood" or "stone"; default "rubber".
    #[serde(default)]
    pub material: Option<Material>,
}

/// A region in which a body is held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Where: particles that are in it at the start.
    pub region: Shape,
}

/// Bodies alike, in rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How many along x, y and z, dimensionless.
    pub count: [u32; 3],
    /// From each to the next along x, y and z \[m\].
    pub step: Vector,
    /// Each is turned by so much more than the one before: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: Vector,
}

/// What holds a body together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cohesion {
    /// Springs between neighbouring particles.
    #[default]
    Deformable,
    /// Fixed distances.
    Rigid,
}

fn density() -> f64 {
    500.0
}

fn young() -> f64 {
    1e5
}

fn damping_ratio() -> f64 {
    0.1
}

fn color() -> Vector {
    [0.35, 0.65, 0.35]
}

impl Body {
    /// A body of a shape and a kind, everything else as it is by default.
    #[must_use]
    pub fn new(shape: Shape, kind: Cohesion) -> Self {
        Self {
            shape,
            kind,
            spacing: None,
            density: density(),
            young: young(),
            damping_ratio: damping_ratio(),
            rotation: [0.0; 3],
            velocity: [0.0; 3],
            spin: [0.0; 3],
            fixed: Vec::new(),
            repeat: None,
            color: color(),
            material: None,
        }
    }

    /// How many bodies it is.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.repeat.as_ref().map_or(1.0, |repeat| repeat.count.iter().map(|&n| f64::from(n)).product())
    }
}

impl Described for Body {
    fn shape(&self) -> BodyShape<'_> {
        BodyShape::Region(&self.shape)
    }

    fn is_turned(&self) -> bool {
        self.rotation != [0.0; 3] || self.repeat.as_ref().is_some_and(|repeat| repeat.rotation != [0.0; 3])
    }

    fn copies(&self) -> Vec<Vector> {
        let Some(Repeat { count, step, .. }) = &self.repeat else { return vec![[0.0; 3]] };
        let [x, y, z] = *count;
        let cells = (0..y).flat_map(|j| (0..z).flat_map(move |k| (0..x).map(move |i| [i, j, k])));
        cells.map(|cell| std::array::from_fn(|axis| f64::from(cell[axis]) * step[axis])).collect()
    }

    fn color(&self) -> Vector {
        self.color
    }

    fn look(&self) -> Option<meniscus_core::Material> {
        self.material
    }

    fn velocity(&self) -> Vector {
        self.velocity
    }

    fn regions(&self) -> Vec<&Shape> {
        self.fixed.iter().map(|kept| &kept.region).collect()
    }

    fn motions(&self) -> Vec<&Motion> {
        Vec::new()
    }

    fn meshes_mut(&mut self) -> Vec<&mut Mesh> {
        let regions = self.fixed.iter_mut().filter_map(|kept| kept.region.mesh_mut());
        self.shape.mesh_mut().into_iter().chain(regions).collect()
    }

    fn check(&self, scene: &Scene, checks: &mut Checks) {
        let alone = scene.method != Method::Gauss || (scene.solid.is_empty() && scene.rigid.is_empty());
        let message =
            "is of a body of particles, which does not meet `solid` and `rigid` bodies: a scene has one or the other";
        checks.require("shape", alone, message);
        checks.within(["shape"], |c| c.shape(&self.shape));
        if let Some(spacing) = self.spacing {
            checks.positive("spacing", spacing);
            let same = scene.connections.interface != InterfaceKind::Sph || spacing == scene.sph.spacing;
            let message =
                format!("must be that of the liquid, {}, with connections.interface = \"sph\"", scene.sph.spacing);
            checks.require("spacing", same, message);
        }
        checks.positive("density", self.density);
        checks.positive("young", self.young);
        checks.range("damping_ratio", self.damping_ratio, [0.0, 2.0]);
        checks.color("color", self.color);
        checks.require(
            "fixed",
            self.fixed.is_empty() || self.kind == Cohesion::Deformable,
            "needs kind = \"deformable\": a rigid body moves as one",
        );
        for (index, kept) in self.fixed.iter().enumerate() {
            checks.within(["fixed", &index.to_string(), "region"], |c| c.shape(&kept.region));
        }
        if let Some(repeat) = &self.repeat {
            checks.within(["repeat"], |c| {
                c.require("count", (1.0..=10_000.0).contains(&self.count()), "must give 1 to 10000 bodies");
                let apart = |axis: usize| repeat.count[axis] <= 1 || repeat.step[axis] != 0.0;
                c.require("step", (0..3).all(apart), "must not be zero along an axis with several bodies");
            });
        }
    }
}
