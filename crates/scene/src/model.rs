//! The structure of a scene file. SI units; every key has a default and says so.

pub(crate) mod animated;
pub(crate) mod bodies;
pub(crate) mod body;
pub(crate) mod pull;
pub(crate) mod rigid;
pub(crate) mod solid;

pub use animated::{Animated, MeshWetting, ShellSide};
pub use bodies::{BodyShape, Described};
pub use body::{Body, Cohesion, Kept, Repeat};
pub use pull::{Grab, Move, Pick, Pull, Ray, Release};
pub use rigid::Rigid;
pub use solid::{Cylinder, Hold, Pool, Solid, SolidShape, Tube};

use indexmap::IndexMap;
use meniscus_boundary::{Friction, Motion};
use meniscus_core::{Camera, Material, Style};
use meniscus_fem::contact::ContactParams;
use meniscus_geometry::UpAxis;
use meniscus_particles as particles;
use meniscus_sph as sph;
use meniscus_twophase as twophase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point or a vector: x, y, z; y points up.
pub type Vector = [f64; 3];

/// A scene: liquids and solids, what they meet, and how it is simulated and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// One line that says what is to be seen.
    pub title: String,
    /// The figure of a paper that the scene shows, or nothing.
    pub figure: String,
    /// The method that simulates it, default "gauss".
    pub method: Method,
    /// Other methods with which `meniscus compare` simulates it; settings of their solvers may stand in the file, too. Default none.
    pub compare: Vec<Method>,
    /// How fine it is \[m\]: distance between particles, or edge of a cell of a grid. `sph.spacing` and `twophase.spacing` go before
    /// it. Default 0.02.
    pub resolution: Option<f64>,
    /// Simulated time \[s\], default 2.
    pub seconds: f64,
    /// Frames per simulated second \[1/s\], default 30.
    pub fps: f64,
    /// Gravity \[m/s²\], default \[0, -9.81, 0\].
    pub gravity: Vector,
    /// The particles of all liquids.
    pub sph: sph::Params,
    /// How particles of liquid meet solid and rigid bodies.
    pub coupling: sph::Coupling,
    /// The grid of the `twophase` method.
    pub twophase: twophase::Params,
    /// The time step.
    pub time: Time,
    /// What is written beside the frames.
    pub output: Output,
    /// Particles that leave this box are removed. Default: the scene's own bounds, grown by their largest extent. For `twophase`
    /// the box of the grid; default: that of the first wall that is a box.
    pub domain: Option<Bounds>,
    /// Liquids by name.
    pub liquid: IndexMap<String, Liquid>,
    /// Deformable solids by name.
    pub solid: IndexMap<String, Solid>,
    /// Rigid bodies by name.
    pub rigid: IndexMap<String, Rigid>,
    /// Bodies of particles by name; with the methods "connections" and "gauss".
    pub body: IndexMap<String, Body>,
    /// How bodies of particles move and touch.
    pub connections: particles::Params,
    /// How solids touch each other, themselves and walls.
    pub contact: ContactParams,
    /// Springs that pull at solids, by name.
    pub pull: IndexMap<String, Pull>,
    /// Space that repeats, along some axes.
    pub periodic: Option<Periodic>,
    /// Walls, at rest or moving as prescribed, by name.
    pub wall: IndexMap<String, Wall>,
    /// Meshes whose vertices move over time, by name: they push what they meet and do not answer.
    pub animated: IndexMap<String, Animated>,
    /// Nozzles by name.
    pub emitter: IndexMap<String, Emitter>,
    /// Regions that take particles away, by name.
    pub drain: IndexMap<String, Drain>,
    /// Measurements written to probes.csv, by name; energy, volume and the force on every wall are always there.
    pub probe: IndexMap<String, Probe>,
    /// Commands given at certain times, in any order.
    pub script: Vec<Scripted>,
    /// Surfaces of liquids of particles, in pictures and in files.
    pub surface: meniscus_surface::Settings,
    /// Where pictures are taken from.
    pub camera: Camera,
    /// How pictures look.
    pub picture: Style,
}

impl Scene {
    /// Names of all bodies that answer.
    pub fn body_names(&self) -> impl Iterator<Item = &str> {
        self.bodies().map(|(_, name, _)| name.as_str())
    }

    /// Gradients in the pressure solve of its liquids: those asked for. By default they are corrected where that is better: where liquids of one
    /// density without surface tension move among walls, emitters and rigid bodies. Not yet, as cases of `validate` show, where liquids differ in
    /// density, where solids or bodies of particles answer, where walls of triangles move; nor with animated meshes and implicit viscosity, where it
    /// is not measured.
    #[must_use]
    pub fn gradients(&self) -> sph::Gradients {
        let deforms = self.bodies().any(|(.., body)| body.deforms()) || !self.animated.is_empty();
        // Rigid bodies are bodies of particles there.
        let of_particles = self.method == Method::Connections && !self.rigid.is_empty();
        let turned = self.wall.values().any(|wall| wall.motion.moves() && matches!(wall.shape, WallShape::Mesh(_)));
        let mut densities = self.liquid.values().map(|liquid| liquid.density);
        let first = densities.next();
        let layers = densities.any(|density| Some(density) != first);
        let pulled = self.liquid.values().any(|liquid| liquid.surface_tension > 0.0);
        let by_traction = self.coupling.wall == sph::BodyWall::Traction;
        let thick = self.sph.viscosity == sph::ViscositySolver::Implicit;
        let otherwise = self.sph.pressure != sph::PressureSolver::Dfsph || self.sph.position_correction;
        let plain = deforms || of_particles || turned || layers || pulled || by_traction || thick || otherwise;
        self.sph.gradients.unwrap_or(if plain { sph::Gradients::Plain } else { sph::Gradients::Corrected })
    }

    /// The same, by name; nothing where no particles are made incompressible.
    #[must_use]
    pub fn named_gradients(&self) -> Option<&'static str> {
        let liquid = !self.liquid.is_empty() || !self.emitter.is_empty();
        let solves = self.method != Method::Twophase && self.sph.pressure == sph::PressureSolver::Dfsph;
        (liquid && solves).then(|| self.gradients().name())
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            title: String::new(),
            figure: String::new(),
            method: Method::default(),
            compare: Vec::new(),
            resolution: None,
            seconds: 2.0,
            fps: 30.0,
            gravity: [0.0, -9.81, 0.0],
            sph: sph::Params::default(),
            coupling: sph::Coupling::default(),
            twophase: twophase::Params::default(),
            time: Time::default(),
            output: Output::default(),
            domain: None,
            liquid: IndexMap::new(),
            solid: IndexMap::new(),
            rigid: IndexMap::new(),
            body: IndexMap::new(),
            connections: particles::Params::default(),
            contact: ContactParams::default(),
            pull: IndexMap::new(),
            periodic: None,
            wall: IndexMap::new(),
            animated: IndexMap::new(),
            emitter: IndexMap::new(),
            drain: IndexMap::new(),
            probe: IndexMap::new(),
            script: Vec::new(),
            surface: meniscus_surface::Settings::default(),
            camera: Camera::default(),
            picture: Style::default(),
        }
    }
}

/// The methods by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// SPH liquid that meets walls and bodies through integrals over their surfaces (MSTHG04).
    #[default]
    Gauss,
    /// Air and water on a grid, both simulated (MKSMH07).
    Twophase,
    /// Liquid, deformable and rigid bodies of particles that meet through connections (Boldt).
    Connections,
    /// Liquid and deformable solids as one system of particles (Shao, Zhou and Wu).
    Unified,
}

impl Method {
    /// All of them, those of particles first.
    pub const ALL: [Self; 4] = [Self::Gauss, Self::Unified, Self::Connections, Self::Twophase];

    /// The name in the scene file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gauss => "gauss",
            Self::Twophase => "twophase",
            Self::Connections => "connections",
            Self::Unified => "unified",
        }
    }
}

/// The time step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Time {
    /// A fixed step \[s\], a little shorter where a frame is not a whole number of it. Default: as large as is stable.
    pub dt: Option<f64>,
    /// Part of a support radius that sound and motion may cross in a step, dimensionless, default 0.4; for particles (a grid
    /// has `twophase.courant`).
    pub courant: f64,
    /// Largest step \[s\], default 0.01.
    pub max_dt: f64,
    /// Smallest step \[s\], default 1e-7; a scene that needs a smaller one fails.
    pub min_dt: f64,
}

impl Default for Time {
    fn default() -> Self {
        Self { dt: None, courant: 0.4, max_dt: 0.01, min_dt: 1e-7 }
    }
}

/// What is written beside the frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// A checkpoint after every so many frames, default 10.
    pub checkpoint_every: u32,
    /// A picture after every so many frames, default 1; 0 for none.
    pub picture_every: u32,
    /// Probes are read at every frame or at every step, default "frame".
    pub probes: ProbeRate,
}

impl Default for Output {
    fn default() -> Self {
        Self { checkpoint_every: 10, picture_every: 1, probes: ProbeRate::default() }
    }
}

/// How often probes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeRate {
    /// At every frame.
    #[default]
    Frame,
    /// At every step.
    Step,
}

/// An axis-aligned box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Lower corner \[m\].
    pub min: Vector,
    /// Upper corner \[m\].
    pub max: Vector,
}

/// A liquid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Liquid {
    /// Rest density \[kg/m³\], default 1000.
    pub density: f64,
    /// Dynamic viscosity \[Pa·s\], default 0.001 (water); blood 0.0035, honey 10.
    pub viscosity: f64,
    /// Surface tension \[N/m\], default 0, with the method "twophase" that of water, 0.072.
    pub surface_tension: f64,
    /// Angle between its surface and a wall or a solid, inside the liquid \[degrees\], default 90; water on glass 20, on wax 110.
    pub contact_angle: f64,
    /// Shapes that are full of it at the start.
    pub fill: Vec<Shape>,
    /// Shapes cut out of those: bubbles, default none.
    pub cutouts: Vec<Shape>,
    /// Velocity at the start \[m/s\], default \[0, 0, 0\].
    pub velocity: Vector,
    /// Angular velocity at the start, about its centre of mass \[rad/s\], default \[0, 0, 0\].
    pub spin: Vector,
    /// Red, green, blue, 0 to 1, default \[0.1, 0.4, 0.8\].
    pub color: Vector,
    /// What it looks like in `final` pictures: "water", "blood" or "honey"; default "water".
    pub material: Option<Material>,
    /// Way through it after which 1/e is left of the colour that it takes most of, over the diagonal of the first frame, dimensionless;
    /// default: water 0.3, blood 0.035, honey 0.05.
    pub clarity: Option<f64>,
}

impl Default for Liquid {
    fn default() -> Self {
        let sph::Material { density, viscosity, surface_tension, contact_angle } = sph::Material::default();
        Self {
            density,
            viscosity,
            surface_tension,
            contact_angle,
            fill: Vec::new(),
            cutouts: Vec::new(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            color: [0.1, 0.4, 0.8],
            material: None,
            clarity: None,
        }
    }
}

/// A region of space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// An axis-aligned box.
    Box(Bounds),
    /// A ball.
    Sphere(Sphere),
    /// The inside of a closed surface.
    Mesh(Mesh),
}

/// A ball.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Centre \[m\].
    pub center: Vector,
    /// Radius \[m\].
    pub radius: f64,
}

/// A triangle mesh in a file: OBJ, STL or PLY.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// The file; a relative path starts at the scene file.
    pub file: String,
    /// Metres per unit of the file, default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// The axis that points up in the file, default "y".
    #[serde(default)]
    pub up: UpAxis,
    /// Moved by this much after scaling \[m\], default \[0, 0, 0\].
    #[serde(default)]
    pub offset: Vector,
}

fn one() -> f64 {
    1.0
}

/// Space that repeats: what leaves on one side comes in on the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Lower corner of the repeated box \[m\].
    pub min: Vector,
    /// Upper corner of the repeated box \[m\]; along a periodic axis it must hold at least two support radii.
    pub max: Vector,
    /// The axes along which space repeats, such as \["x", "z"\].
    pub axes: Vec<Axis>,
}

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// To the right.
    X,
    /// Up.
    Y,
    /// Towards the viewer.
    Z,
}

/// A wall, at rest or moving as prescribed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// Its shape, where it is at the start.
    pub shape: WallShape,
    /// Where the liquid is if the shape is a mesh: "outside" or "inside" of a closed surface, or on "both" sides. Default: outside if
    /// it is closed, both if it is open.
    #[serde(default)]
    pub wet: Option<WetSide>,
    /// Friction with the liquid: "slip", "no-slip", or { viscosity = … } \[Pa·s\]; default "slip".
    #[serde(default)]
    pub friction: Friction,
    /// How it moves, default "still".
    #[serde(default)]
    pub motion: Motion,
    /// What it looks like in `final` pictures if it is a mesh: "glass", "tile", "wood", "stone", "rubber" or "tissue"; default "glass" if it holds
    /// the liquid, "stone" otherwise.
    #[serde(default)]
    pub material: Option<Material>,
}

/// Shapes of walls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WallShape {
    /// A tank with the liquid inside.
    Box(Tank),
    /// A plane with the liquid on the side that its normal points to.
    Plane(Plane),
    /// A surface of triangles: a body, a vessel, or an open shell.
    Mesh(Mesh),
}

/// Sides of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WetSide {
    /// Around a body.
    Outside,
    /// In a vessel.
    Inside,
    /// On both sides of a shell.
    Both,
}

/// An axis-aligned tank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tank {
    /// Lower corner of the inside \[m\].
    pub min: Vector,
    /// Upper corner of the inside \[m\].
    pub max: Vector,
    /// Sides that are missing, such as \["+y"\] for a tank without a lid; the sides next to them go on without end. Default
    /// none.
    #[serde(default)]
    pub open: Vec<Side>,
}

/// A side of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Side {
    /// Towards lower x.
    #[serde(rename = "-x")]
    LowX,
    /// Towards higher x.
    #[serde(rename = "+x")]
    HighX,
    /// Below.
    #[serde(rename = "-y")]
    LowY,
    /// Above.
    #[serde(rename = "+y")]
    HighY,
    /// Towards lower z.
    #[serde(rename = "-z")]
    LowZ,
    /// Towards higher z.
    #[serde(rename = "+z")]
    HighZ,
}

/// A plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// A point of the plane \[m\].
    pub point: Vector,
    /// Its normal, of any length, on the side of the liquid.
    pub normal: Vector,
}

/// A nozzle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emitter {
    /// Name of the liquid that comes out.
    pub liquid: String,
    /// Centre of the opening \[m\].
    pub center: Vector,
    /// Direction of the flow, of any length.
    pub direction: Vector,
    /// The opening.
    pub opening: Opening,
    /// Speed of the flow \[m/s\], default 1.
    #[serde(default = "one")]
    pub speed: f64,
    /// How the speed beats; by default it is steady.
    #[serde(default)]
    pub pulse: Option<sph::Pulse>,
    /// When the flow begins \[s\], default 0.
    #[serde(default)]
    pub from: f64,
    /// When the flow ends \[s\], default never.
    #[serde(default)]
    pub until: Option<f64>,
    /// No more particles than this, default 1000000.
    #[serde(default = "million")]
    pub max_particles: u64,
}

fn million() -> u64 {
    1_000_000
}

/// Openings of nozzles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// A round one.
    Disc(Disc),
    /// A rectangular one.
    Rectangle(Rectangle),
}

/// A round opening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Radius \[m\].
    pub radius: f64,
}

/// A rectangular opening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// Extent along the horizontal \[m\]; for a vertical flow along x.
    pub width: f64,
    /// Extent across both the width and the flow \[m\].
    pub height: f64,
}

/// A region that takes particles away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// Where particles vanish.
    pub region: Shape,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// Velocity, density and pressure at a point \[m\].
    Point(Vector),
    /// Flow through a plane or a disc of it.
    Plane(FlowPlane),
    /// Displacement of a point of a solid or rigid body.
    Solid(SolidPoint),
    /// Length of liquid on the line along gravity through a point \[m\]: the level that a gauge shows.
    Gauge(Vector),
}

/// A point of a solid or a rigid body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolidPoint {
    /// Name of the solid or rigid body.
    pub name: String,
    /// Where the point is at the start \[m\]: the node of a solid nearest to it is followed.
    pub point: Vector,
}

/// Where flow is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlane {
    /// A point of the plane \[m\].
    pub point: Vector,
    /// Its normal, of any length: flow along it counts as positive.
    pub normal: Vector,
    /// Only within this distance of the point \[m\]; default everywhere.
    #[serde(default)]
    pub radius: Option<f64>,
}

/// A command given at a certain time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scripted {
    /// When \[s\]; it takes effect at the first step that begins then or later.
    pub time: f64,
    /// What.
    pub command: Command,
}

/// What a person, or a script, does to a running simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Changes a live parameter.
    Set(Set),
    /// Pushes the liquid.
    Poke(Poke),
    /// Takes hold of a solid.
    Grab(Grab),
    /// Moves what is held.
    Move(Move),
    /// Lets go.
    Release(Release),
}

/// Changes a live parameter that the method heeds: `gravity`, `sph.artificial_viscosity`, `coupling.rest_distance`,
/// `liquid.NAME.viscosity`, `liquid.NAME.density`, `liquid.NAME.surface_tension`,
/// `liquid.NAME.contact_angle`, `emitter.NAME.speed`, `solid.NAME.young`, `solid.NAME.stiffness_damping`, `solid.NAME.density`, `solid.NAME.fracture.strength`, `rigid.NAME.density`,
/// `pull.NAME.stiffness`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The key, as in the scene file.
    pub key: String,
    /// The new value, in the unit of the key.
    pub value: Value,
}

/// A number or a vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A vector.
    Vector(Vector),
}

/// Adds velocity to the liquid within a ball, most at its centre, none at its rim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poke {
    /// Centre \[m\].
    pub center: Vector,
    /// Radius \[m\].
    pub radius: f64,
    /// Velocity added at the centre \[m/s\].
    pub velocity: Vector,
}
