//! Rigid bodies in a scene file.

use crate::model::bodies::{BodyShape, Described};
use crate::model::{Mesh, Scene, Shape, SolidShape, Vector};
use crate::validate::Checks;
use meniscus_boundary::Motion;
use meniscus_rigid::{Lock, Material};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rigid {
    /// Its shape at the start.
    pub shape: SolidShape,
    /// Edges of its surface are about this long \[m\], default an eighth of its largest extent; surface files stay as they are.
    #[serde(default)]
    pub edge: Option<f64>,
    /// Turned about the middle of its bounds before the start: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: Vector,
    /// Density \[kg/m³\], default 1000.
    #[serde(default = "density")]
    pub density: f64,
    /// Coefficient of friction with rigid bodies and walls, dimensionless, default 0.3. With soft bodies that of `contact` holds.
    #[serde(default = "friction")]
    pub friction: f64,
    /// Coefficient of restitution in contacts with rigid bodies and walls, dimensionless, 0 to 1, default 0.
    #[serde(default)]
    pub restitution: f64,
    /// Velocity at the start \[m/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub velocity: Vector,
    /// Angular velocity at the start, about its centre of mass \[rad/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub spin: Vector,
    /// How it is led, "still" to hold it; by default it moves freely.
    #[serde(default)]
    pub motion: Option<Motion>,
    /// Directions that are taken from it: of its centre of mass, "x", "y", "z", and of its turns about the axes through it, "rx",
    /// "ry", "rz". Default none.
    #[serde(default)]
    pub locked: Vec<Lock>,
    /// Red, green, blue, 0 to 1, default \[0.55, 0.57, 0.6\].
    #[serde(default = "color")]
    pub color: Vector,
    /// What it looks like in `final` pictures: "rubber", "tissue", "glass", "tile", "wood" or "stone"; default "rubber".
    #[serde(default)]
    pub material: Option<meniscus_core::Material>,
}

fn density() -> f64 {
    Material::default().density
}

fn friction() -> f64 {
    Material::default().friction
}

fn color() -> Vector {
    [0.55, 0.57, 0.6]
}

impl Rigid {
    /// What it is made of.
    #[must_use]
    pub fn material(&self) -> Material {
        let &Self { density, friction, restitution, .. } = self;
        Material { density, friction, restitution }
    }

    /// A free body of a shape, everything else as it is by default.
    #[must_use]
    pub fn new(shape: SolidShape) -> Self {
        Self {
            shape,
            edge: None,
            rotation: [0.0; 3],
            density: density(),
            friction: friction(),
            restitution: 0.0,
            velocity: [0.0; 3],
            spin: [0.0; 3],
            motion: None,
            locked: Vec::new(),
            color: color(),
            material: None,
        }
    }
}

impl Described for Rigid {
    fn shape(&self) -> BodyShape<'_> {
        BodyShape::Solid(&self.shape)
    }

    fn is_turned(&self) -> bool {
        self.rotation != [0.0; 3]
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
        Vec::new()
    }

    fn motions(&self) -> Vec<&Motion> {
        self.motion.iter().collect()
    }

    fn deforms(&self) -> bool {
        false
    }

    fn meshes_mut(&mut self) -> Vec<&mut Mesh> {
        self.shape.mesh_mut().into_iter().collect()
    }

    fn check(&self, _: &Scene, checks: &mut Checks) {
        if let Some(edge) = self.edge {
            checks.positive("edge", edge);
        }
        checks.positive("density", self.density);
        checks.not_negative("friction", self.friction);
        checks.range("restitution", self.restitution, [0.0, 1.0]);
        checks.color("color", self.color);
        checks.within(["shape"], |c| self.shape.check(c));
        if let Some(motion) = &self.motion {
            checks.within(["motion"], |c| c.motion(motion));
        }
        let prescribed = self.motion.is_some() && !self.locked.is_empty();
        checks.require("locked", !prescribed, "has no meaning for a body that is prescribed by `motion`");
        let starts = [
            ("velocity", self.velocity, [Lock::X, Lock::Y, Lock::Z]),
            ("spin", self.spin, [Lock::Rx, Lock::Ry, Lock::Rz]),
        ];
        for (key, start, locks) in starts {
            let still = start.iter().zip(&locks).all(|(part, lock)| *part == 0.0 || !self.locked.contains(lock));
            checks.require(key, still, "must be zero along what is `locked`");
        }
    }
}
