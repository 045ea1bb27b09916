//! Deformable solids in a scene file.

use crate::model::bodies::{BodyShape, Described};
use crate::model::{Axis, Bounds, Mesh, Scene, Shape, Sphere, Vector};
use crate::validate::Checks;
use meniscus_boundary::Motion;
use meniscus_core::Material;
use meniscus_fem as fem;
use meniscus_sph::PressureSolver;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A deformable solid of tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// Its shape at rest and at the start.
    pub shape: SolidShape,
    /// About so many tetrahedra, dimensionless, default 2000; not with `edge`.
    #[serde(default)]
    pub target_tets: Option<u64>,
    /// Edges of about this length \[m\]; not with `target_tets`.
    #[serde(default)]
    pub edge: Option<f64>,
    /// Turned about the middle of its bounds before the start: axis times angle \[degrees\], default \[0, 0, 0\].
    #[serde(default)]
    pub rotation: Vector,
    /// Elastic energy, default "corotational".
    #[serde(default)]
    pub model: fem::Model,
    /// Young's modulus \[Pa\], default 1e6; jelly 1e4, rubber 1e6, wood 1e10.
    #[serde(default = "young")]
    pub young: f64,
    /// Poisson's ratio, dimensionless, 0 to below 0.5, default 0.3.
    #[serde(default = "poisson")]
    pub poisson: f64,
    /// Density at rest \[kg/m³\], default 1000; of a porous solid, without liquid in its pores.
    #[serde(default = "density")]
    pub density: f64,
    /// Part of its volume that is pores, dimensionless, 0.4 to 0.98, default 0: none. For the method "unified". Liquid that `fill`
    /// puts where it is starts in the pores.
    #[serde(default)]
    pub porosity: f64,
    /// Permeability \[m²\], 1e-18 to 1e-3, default 1e-9; gravel 1e-8, a sponge 1e-9, sand 1e-11. For solids with `porosity`.
    #[serde(default)]
    pub permeability: Option<f64>,
    /// Suction of its pores \[Pa\], 0 to 1e6, default 0: liquid climbs to suction/(density g) in them. For solids with `porosity`.
    #[serde(default)]
    pub suction: f64,
    /// Rayleigh damping of motion \[1/s\], default 0.
    #[serde(default)]
    pub mass_damping: f64,
    /// Rayleigh damping of deformation \[s\], default 0.
    #[serde(default)]
    pub stiffness_damping: f64,
    /// How it yields; by default it does not.
    #[serde(default)]
    pub plasticity: Option<fem::Plasticity>,
    /// How it breaks; by default it does not. Pieces keep its surface, torn along the cracks; inside the cracks the faces of tetrahedra are seen.
    #[serde(default)]
    pub fracture: Option<fem::Fracture>,
    /// Elements, integrator and tolerances.
    #[serde(default)]
    pub fem: fem::Params,
    /// Velocity at the start \[m/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub velocity: Vector,
    /// Angular velocity at the start, about its centre of mass \[rad/s\], default \[0, 0, 0\].
    #[serde(default)]
    pub spin: Vector,
    /// Regions in which it is held, or led.
    #[serde(default)]
    pub fixed: Vec<Hold>,
    /// Red, green, blue, 0 to 1, default \[0.85, 0.45, 0.35\].
    #[serde(default = "color")]
    pub color: Vector,
    /// What it looks like in `final` pictures: "rubber", "tissue", "glass", "tile", "wood" or "stone"; default "rubber".
    #[serde(default)]
    pub material: Option<Material>,
}

fn young() -> f64 {
    fem::Material::default().young
}

fn poisson() -> f64 {
    fem::Material::default().poisson
}

fn density() -> f64 {
    fem::Material::default().density
}

fn color() -> Vector {
    [0.85, 0.45, 0.35]
}

/// Permeability of a porous solid for which it is not given \[m²\].
const PERMEABILITY: f64 = 1e-9;

/// Tetrahedra of a solid for which neither their number nor their size is given.
const TETS: u64 = 2000;

impl Solid {
    /// A solid of a shape, everything else as it is by default.
    #[must_use]
    pub fn new(shape: SolidShape) -> Self {
        Self {
            shape,
            target_tets: None,
            edge: None,
            rotation: [0.0; 3],
            model: fem::Model::default(),
            young: young(),
            poisson: poisson(),
            density: density(),
            porosity: 0.0,
            permeability: None,
            suction: 0.0,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            plasticity: None,
            fracture: None,
            fem: fem::Params::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            fixed: Vec::new(),
            color: color(),
            material: None,
        }
    }

    /// What it is made of.
    #[must_use]
    pub fn material(&self) -> fem::Material {
        let &Self { model, young, poisson, density, mass_damping, stiffness_damping, plasticity, fracture, .. } = self;
        fem::Material { model, young, poisson, density, mass_damping, stiffness_damping, plasticity, fracture }
    }

    /// Its permeability \[m²\].
    #[must_use]
    pub fn permeability(&self) -> f64 {
        self.permeability.unwrap_or(PERMEABILITY)
    }

    /// How fine its tetrahedra are.
    #[must_use]
    pub fn size(&self) -> meniscus_geometry::TetSize {
        let count = usize::try_from(self.target_tets.unwrap_or(TETS)).unwrap_or(usize::MAX);
        self.edge.map_or(meniscus_geometry::TetSize::Count(count), meniscus_geometry::TetSize::Edge)
    }
}

/// Shapes of solids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolidShape {
    /// An axis-aligned box.
    Box(Bounds),
    /// A ball.
    Sphere(Sphere),
    /// A cylinder.
    Cylinder(Cylinder),
    /// A straight tube.
    Tube(Tube),
    /// An open box with thick walls and a thick floor.
    Pool(Pool),
    /// The inside of a closed surface, which is carried along and shown.
    Mesh(Mesh),
    /// Tetrahedra in a file: Gmsh (.msh), TetGen (.node and .ele, either names both) or VTK (.vtk, .vtu).
    Tets(Mesh),
}

/// A cylinder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Centre of one end \[m\].
    pub start: Vector,
    /// Centre of the other end \[m\].
    pub end: Vector,
    /// Radius \[m\].
    pub radius: f64,
}

/// A straight tube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tube {
    /// Centre of one end \[m\].
    pub start: Vector,
    /// Centre of the other end \[m\].
    pub end: Vector,
    /// Inner radius \[m\].
    pub inner_radius: f64,
    /// Outer radius \[m\].
    pub outer_radius: f64,
}

/// An open box with thick walls and a thick floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Lower corner of the inside \[m\].
    pub min: Vector,
    /// Upper corner of the inside, at the brim \[m\].
    pub max: Vector,
    /// Thickness of walls and floor \[m\].
    pub thickness: f64,
}

/// A region in which a solid is held, or led.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Where: nodes that are in it at the start.
    pub region: Shape,
    /// Directions in which the nodes are held, such as \["x"\]; along the others they slide. Default all.
    #[serde(default = "all_axes")]
    pub axes: Vec<Axis>,
    /// How they move, default "still".
    #[serde(default)]
    pub motion: Motion,
}

fn all_axes() -> Vec<Axis> {
    vec![Axis::X, Axis::Y, Axis::Z]
}

impl Described for Solid {
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
        self.fixed.iter().map(|hold| &hold.region).collect()
    }

    fn motions(&self) -> Vec<&Motion> {
        self.fixed.iter().map(|hold| &hold.motion).collect()
    }

    fn meshes_mut(&mut self) -> Vec<&mut Mesh> {
        let regions = self.fixed.iter_mut().filter_map(|hold| hold.region.mesh_mut());
        self.shape.mesh_mut().into_iter().chain(regions).collect()
    }

    fn check(&self, scene: &Scene, checks: &mut Checks) {
        checks.params(self.material().check());
        checks.within(["fem"], |c| c.params(self.fem.check()));
        let both = self.edge.is_some() && self.target_tets.is_some();
        checks.require("edge", !both, "must not be given together with `target_tets`: both say how fine it is");
        if let Some(edge) = self.edge {
            checks.positive("edge", edge);
        }
        if let Some(count) = self.target_tets {
            checks.range("target_tets", count as f64, [1.0, meniscus_geometry::LARGEST_BODY]);
        }
        checks.color("color", self.color);
        checks.within(["shape"], |c| self.shape.check(c));
        for (index, hold) in self.fixed.iter().enumerate() {
            checks.within(["fixed", &index.to_string()], |c| hold.check(c));
        }
        self.check_pores(scene, checks);
    }
}

impl Solid {
    /// A particle of liquid counts a third of its volume itself: pores that are less would not let it in.
    fn check_pores(&self, scene: &Scene, checks: &mut Checks) {
        if self.porosity == 0.0 {
            let message = "is that of pores: give the solid a `porosity`";
            checks.require("permeability", self.permeability.is_none(), message);
            checks.require("suction", self.suction == 0.0, message);
            return;
        }
        let message = format!("must be 0, or between 0.4 and 0.98, not {}", self.porosity);
        checks.require("porosity", (0.4..=0.98).contains(&self.porosity), message);
        // From clay to an open grate: beyond, rates of drag leave the range of numbers in single precision.
        let permeability = self.permeability();
        let message = format!("must be between 1e-18 and 1e-3, not {permeability:e}");
        checks.require("permeability", (1e-18..=1e-3).contains(&permeability), message);
        checks.range("suction", self.suction, [0.0, 1e6]);
        let incompressible = scene.sph.pressure == PressureSolver::Dfsph;
        checks.require("porosity", incompressible, "needs `sph.pressure = \"dfsph\"`");
    }
}

impl SolidShape {
    pub(crate) fn check(&self, checks: &mut Checks) {
        match self {
            Self::Box(bounds) => checks.within(["box"], |c| c.bounds(bounds)),
            Self::Sphere(sphere) => checks.within(["sphere"], |c| c.positive("radius", sphere.radius)),
            Self::Cylinder(cylinder) => checks.within(["cylinder"], |c| {
                c.require("end", cylinder.start != cylinder.end, "must not be where the start is");
                c.positive("radius", cylinder.radius);
            }),
            Self::Tube(tube) => checks.within(["tube"], |c| {
                c.require("end", tube.start != tube.end, "must not be where the start is");
                c.positive("inner_radius", tube.inner_radius);
                let outer = tube.outer_radius;
                let message = format!("must be greater than inner_radius = {}, not {outer}", tube.inner_radius);
                c.require("outer_radius", outer > tube.inner_radius, message);
            }),
            Self::Pool(pool) => checks.within(["pool"], |c| {
                c.corners(pool.min, pool.max);
                c.positive("thickness", pool.thickness);
            }),
            Self::Mesh(mesh) => checks.within(["mesh"], |c| c.mesh(mesh)),
            Self::Tets(mesh) => checks.within(["tets"], |c| c.mesh(mesh)),
        }
    }
}

impl Hold {
    fn check(&self, checks: &mut Checks) {
        checks.within(["region"], |c| c.shape(&self.region));
        checks.require("axes", !self.axes.is_empty(), "must name an axis at least: \"x\", \"y\" or \"z\"");
        checks.within(["motion"], |c| c.motion(&self.motion));
    }
}
