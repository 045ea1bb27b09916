//! What a scene must satisfy beyond its structure.

use crate::model::pull::Wrong;
use crate::model::{
    Bounds, Command, Emitter, Mesh, Method, Opening, Periodic, Probe, Scene, Shape, Tank, Value, Vector, WallShape,
};
use indexmap::IndexMap;
use meniscus_boundary::{Friction, Motion};
use meniscus_core::Material;
use meniscus_fem::ParamsError;
use meniscus_particles::InterfaceKind;
use meniscus_sph::{BodyWall, Gradients, PressureSolver, ViscositySolver};

/// Something that is wrong with the value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: Vec<String>,
    pub(crate) message: String,
}

/// The first problem of a scene.
pub(crate) fn check(scene: &Scene) -> Option<Problem> {
    let mut checks = Checks { path: Vec::new(), problem: None };
    checks.scene(scene);
    checks.problem
}

/// The walk through a scene that finds the first problem.
pub struct Checks {
    path: Vec<String>,
    problem: Option<Problem>,
}

/// Whether liquids are made of it.
fn is_liquid(material: Material) -> bool {
    matches!(material, Material::Water | Material::Blood | Material::Honey)
}

impl Checks {
    pub(crate) fn within<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>, check: impl FnOnce(&mut Self)) {
        let depth = self.path.len();
        self.path.extend(keys.into_iter().map(str::to_owned));
        check(self);
        self.path.truncate(depth);
    }

    pub(crate) fn require(&mut self, key: &str, holds: bool, message: impl Into<String>) {
        if !holds && self.problem.is_none() {
            let mut path = self.path.clone();
            path.push(key.to_owned());
            self.problem = Some(Problem { path, message: message.into() });
        }
    }

    pub(crate) fn positive(&mut self, key: &str, value: f64) {
        self.require(key, value > 0.0, format!("must be greater than zero, not {value}"));
    }

    pub(crate) fn not_negative(&mut self, key: &str, value: f64) {
        self.require(key, value >= 0.0, format!("must not be negative, not {value}"));
    }

    pub(crate) fn range(&mut self, key: &str, value: f64, [low, high]: [f64; 2]) {
        self.require(key, (low..=high).contains(&value), format!("must be between {low} and {high}, not {value}"));
    }

    pub(crate) fn direction(&mut self, key: &str, v: Vector) {
        self.require(key, v.iter().any(|c| *c != 0.0), "must have a length: not all of it can be zero");
    }

    fn scene(&mut self, scene: &Scene) {
        self.positive("seconds", scene.seconds);
        self.range("fps", scene.fps, [0.01, 100_000.0]);
        self.require(
            "seconds",
            scene.seconds * scene.fps <= 10_000_000.0,
            format!("gives {:.3e} frames, more than 10 million", scene.seconds * scene.fps),
        );
        self.positive("resolution", scene.resolution.unwrap_or(1.0));
        self.within(["sph"], |c| c.sph(&scene.sph));
        self.within(["coupling"], |c| {
            c.range("longest_edge", scene.coupling.longest_edge, [0.05, 1.0]);
            c.range("rest_distance", scene.coupling.rest_distance.unwrap_or(0.5), [0.01, 0.99]);
            c.range("adhesion", scene.coupling.adhesion, [0.0, 1.0]);
            c.positive("stiffness", scene.coupling.stiffness.unwrap_or(1.0));
            c.range("point_viscosity", scene.coupling.point_viscosity.unwrap_or(0.0), [0.0, 1e6]);
            c.range("substeps", f64::from(scene.coupling.substeps), [1.0, 100.0]);
            if let Friction::Viscosity(viscosity) = scene.coupling.friction {
                c.within(["friction"], |c| c.not_negative("viscosity", viscosity));
            }
        });
        self.within(["twophase"], |c| c.grid(&scene.twophase));
        self.within(["time"], |c| c.time(scene));
        self.within(["output"], |c| {
            c.require("checkpoint_every", scene.output.checkpoint_every > 0, "must be at least 1");
        });
        self.within(["surface"], |c| {
            c.range("cube", scene.surface.cube, [0.2, 1.0]);
            c.range("smoothing", scene.surface.smoothing.into(), [0.0, 100.0]);
            c.range("foam_amount", scene.surface.foam_amount, [0.0, 100.0]);
            c.range("foam_life", scene.surface.foam_life, [0.0, 1000.0]);
        });
        if let Some(domain) = &scene.domain {
            self.within(["domain"], |c| c.bounds(domain));
        }
        if let Some(periodic) = &scene.periodic {
            self.within(["periodic"], |c| c.periodic(periodic, scene));
        }
        self.within(["picture"], |c| {
            c.range("width", f64::from(scene.picture.width), [16.0, 16_384.0]);
            c.range("height", f64::from(scene.picture.height), [16.0, 16_384.0]);
            c.range("supersample", f64::from(scene.picture.supersample), [1.0, 4.0]);
            c.range("samples", f64::from(scene.picture.samples), [1.0, 4096.0]);
            c.range("shutter", f64::from(scene.picture.shutter.unwrap_or(0.0)), [0.0, 1e3]);
        });
        self.within(["camera"], |c| {
            c.range("field_of_view", f64::from(scene.camera.field_of_view), [0.5, 170.0]);
            let apart = scene.camera.eye.is_none() || scene.camera.eye != scene.camera.target;
            c.require("target", apart, "must not be where the eye is");
        });
        self.names(scene);
        self.bodies(scene);
        let alone = scene.bodies().next().is_none();
        let alone = alone || !scene.sph.position_correction;
        self.within(["sph"], |c| c.require("position_correction", alone, "is for liquid among walls alone"));
        let dense = scene.solid.values().all(|solid| solid.porosity == 0.0);
        let corrects =
            dense && scene.coupling.wall == BodyWall::Pressure || scene.sph.gradients != Some(Gradients::Corrected);
        self.within(["sph"], |c| {
            c.require(
                "gradients",
                corrects,
                "\"corrected\" is neither for porous solids nor for the wall \"traction\"",
            );
        });
        if scene.method == Method::Twophase {
            self.on_grid(scene);
        }
        for (index, scripted) in scene.script.iter().enumerate() {
            self.within(["script", &index.to_string()], |c| {
                c.not_negative("time", scripted.time);
                c.within(["command"], |c| c.command(&scripted.command, scene));
            });
        }
    }

    /// What is not a liquid is made of no liquid.
    fn solid_materials(&mut self, scene: &Scene) {
        let bodies = scene.bodies().map(|(table, name, body)| (table, name, body.look()));
        let walls = scene.wall.iter().map(|(name, w)| ("wall", name, w.material));
        let animated = scene.animated.iter().map(|(name, a)| ("animated", name, a.material));
        for (kind, name, material) in bodies.chain(walls).chain(animated) {
            let firm = !material.is_some_and(is_liquid);
            let message = "must be of a solid: \"rubber\", \"tissue\", \"glass\", \"tile\", \"wood\" or \"stone\"";
            self.within([kind, name.as_str()], |c| c.require("material", firm, message));
        }
    }

    fn bodies(&mut self, scene: &Scene) {
        self.solid_materials(scene);
        for (name, liquid) in &scene.liquid {
            self.within(["liquid", name], |c| {
                c.positive("density", liquid.density);
                c.not_negative("viscosity", liquid.viscosity);
                c.not_negative("surface_tension", liquid.surface_tension);
                c.range("contact_angle", liquid.contact_angle, [0.0, 180.0]);
                c.color("color", liquid.color);
                let wet = liquid.material.is_none_or(is_liquid);
                c.require("material", wet, "must be of a liquid: \"water\", \"blood\" or \"honey\"");
                c.range("clarity", liquid.clarity.unwrap_or(1.0), [1e-3, 1e3]);
                for (index, shape) in liquid.fill.iter().enumerate() {
                    c.within(["fill", &index.to_string()], |c| c.shape(shape));
                }
                for (index, shape) in liquid.cutouts.iter().enumerate() {
                    c.within(["cutouts", &index.to_string()], |c| c.shape(shape));
                }
            });
        }
        for (table, name, body) in scene.bodies() {
            let first = scene.bodies().find(|(_, other, _)| *other == name).map_or(table, |(table, ..)| table);
            let message = format!("must not have the name of a {first}");
            self.within([table], |c| c.require(name, first == table, message));
            self.within([table, name], |c| body.check(scene, c));
        }
        self.within(["connections"], |c| {
            c.connections(&scene.connections);
            let joins = scene.connections.interface == InterfaceKind::Sph && scene.method == Method::Gauss;
            c.require(
                "interface",
                !joins,
                "cannot be \"sph\" with method = \"gauss\": liquid meets the skins of bodies there",
            );
        });
        self.params(scene.contact.check());
        for (name, pull) in &scene.pull {
            self.within(["pull", name], |c| {
                c.holds(pull.check(scene));
                c.within(["motion"], |c| c.motion(&pull.motion));
            });
        }
        for (name, wall) in &scene.wall {
            self.within(["wall", name], |c| {
                if let Friction::Viscosity(viscosity) = wall.friction {
                    c.within(["friction"], |c| c.not_negative("viscosity", viscosity));
                }
                c.within(["shape"], |c| match &wall.shape {
                    WallShape::Box(tank) => c.within(["box"], |c| c.tank(tank)),
                    WallShape::Plane(plane) => c.within(["plane"], |c| c.direction("normal", plane.normal)),
                    WallShape::Mesh(mesh) => c.within(["mesh"], |c| c.mesh(mesh)),
                });
                let is_mesh = matches!(wall.shape, WallShape::Mesh(_));
                c.require("wet", is_mesh || wall.wet.is_none(), "is of a mesh: boxes and planes have one wet side");
                c.within(["motion"], |c| c.motion(&wall.motion));
            });
        }
        for (name, table) in &scene.animated {
            self.within(["animated", name], |c| c.animated(table, scene));
        }
        for (name, emitter) in &scene.emitter {
            self.within(["emitter", name], |c| c.emitter(emitter, scene));
        }
        for (name, drain) in &scene.drain {
            self.within(["drain", name, "region"], |c| c.shape(&drain.region));
        }
        for (name, probe) in &scene.probe {
            self.within(["probe", name], |c| c.probe(probe, scene));
        }
    }

    fn names(&mut self, scene: &Scene) {
        let others: [(&str, Vec<&String>); 7] = [
            ("liquid", scene.liquid.keys().collect()),
            ("pull", scene.pull.keys().collect()),
            ("wall", scene.wall.keys().collect()),
            ("animated", scene.animated.keys().collect()),
            ("emitter", scene.emitter.keys().collect()),
            ("drain", scene.drain.keys().collect()),
            ("probe", scene.probe.keys().collect()),
        ];
        let others = others.iter().flat_map(|(table, names)| names.iter().map(|&name| (*table, name)));
        let mut members: IndexMap<&str, usize> = IndexMap::new();
        for (table, name) in others.chain(scene.bodies().map(|(table, name, _)| (table, name))) {
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') && !name.is_empty();
            self.within([table], |c| c.require(name, plain, "must be a name of letters, digits, - and _"));
            *members.entry(table).or_default() += 1;
        }
        for (table, count) in members {
            self.require(table, count <= usize::from(u16::MAX), "has more members than 65535");
        }
    }

    fn sph(&mut self, sph: &meniscus_sph::Params) {
        self.positive("spacing", sph.spacing);
        self.range("support", sph.support, [1.5, 4.0]);
        self.range("exponent", f64::from(sph.exponent), [1.0, 7.0]);
        self.range("artificial_viscosity", sph.artificial_viscosity(sph.corrects_gradients()), [0.0, 10.0]);
        self.range("eddy_friction", sph.eddy_friction(sph.corrects_gradients()), [0.0, 10.0]);
        self.range("mass_factor", sph.mass_factor, [0.1, 10.0]);
        self.range("density_error", sph.density_error, [1e-12, 0.1]);
        self.require(
            "viscosity",
            sph.viscosity == ViscositySolver::Explicit || sph.pressure == PressureSolver::Dfsph,
            "\"implicit\" needs pressure = \"dfsph\"",
        );
        self.require(
            "position_correction",
            !sph.position_correction || sph.pressure == PressureSolver::Dfsph,
            "needs pressure = \"dfsph\"",
        );
        self.require(
            "gradients",
            sph.gradients != Some(Gradients::Corrected)
                || sph.pressure == PressureSolver::Dfsph && !sph.position_correction,
            "\"corrected\" needs pressure = \"dfsph\" and no position_correction",
        );
        self.range("pressure_error", sph.pressure_error, [1e-6, 1.0]);
        self.range("divergence_error", sph.divergence_error, [1e-12, 1.0]);
        self.require("max_density_iterations", sph.max_density_iterations > 0, "must be at least 1");
        self.require("max_divergence_iterations", sph.max_divergence_iterations > 0, "must be at least 1");
        if let Some(speed) = sph.reference_speed {
            self.positive("reference_speed", speed);
        }
        if let Some(stiffness) = sph.stiffness {
            self.positive("stiffness", stiffness);
        }
    }

    fn time(&mut self, scene: &Scene) {
        let time = &scene.time;
        if let Some(dt) = time.dt {
            self.positive("dt", dt);
        }
        self.range("courant", time.courant, [0.001, 1.0]);
        self.positive("max_dt", time.max_dt);
        self.positive("min_dt", time.min_dt);
        self.require("min_dt", time.min_dt <= time.max_dt, format!("must not exceed max_dt = {}", time.max_dt));
    }

    pub(crate) fn motion(&mut self, motion: &Motion) {
        match motion {
            Motion::Still | Motion::Frames(_) => {}
            Motion::Slide(slide) => self.within(["slide"], |c| c.positive("period", slide.period)),
            Motion::Turn(turn) => self.within(["turn"], |c| {
                c.direction("axis", turn.axis);
                c.require("period", turn.period != 0.0, "must not be zero");
            }),
            Motion::Swing(swing) => self.within(["swing"], |c| {
                c.direction("axis", swing.axis);
                c.positive("period", swing.period);
            }),
            Motion::Keys(keys) => {
                let rising = keys.windows(2).all(|pair| pair[0].time < pair[1].time);
                self.require("keys", rising, "must have rising times");
            }
        }
    }

    fn periodic(&mut self, periodic: &Periodic, scene: &Scene) {
        self.corners(periodic.min, periodic.max);
        let least = 2.0 * scene.sph.spacing * scene.sph.support;
        for axis in &periodic.axes {
            let length = periodic.max[*axis as usize] - periodic.min[*axis as usize];
            let message =
                format!("leaves {length} m along {axis:?}; at least two support radii, {least} m, are needed");
            self.require("max", length >= least * (1.0 - 1e-6), message);
        }
    }

    pub(crate) fn bounds(&mut self, bounds: &Bounds) {
        self.corners(bounds.min, bounds.max);
    }

    pub(crate) fn corners(&mut self, min: Vector, max: Vector) {
        let ordered = (0..3).all(|axis| min[axis] < max[axis]);
        self.require("max", ordered, format!("must lie above min = {min:?} in every coordinate, not {max:?}"));
    }

    fn tank(&mut self, tank: &Tank) {
        self.corners(tank.min, tank.max);
    }

    pub(crate) fn color(&mut self, key: &str, color: Vector) {
        self.require(key, color.iter().all(|c| (0.0..=1.0).contains(c)), "must be three numbers between 0 and 1");
    }

    pub(crate) fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Box(bounds) => self.within(["box"], |c| c.bounds(bounds)),
            Shape::Sphere(sphere) => self.within(["sphere"], |c| c.positive("radius", sphere.radius)),
            Shape::Mesh(mesh) => self.within(["mesh"], |c| c.mesh(mesh)),
        }
    }

    fn connections(&mut self, params: &meniscus_particles::Params) {
        for (key, modulus) in [("modulus", params.modulus), ("liquid_modulus", params.liquid_modulus)] {
            if let Some(modulus) = modulus {
                self.positive(key, modulus);
            }
        }
        self.range("damping_ratio", params.damping_ratio, [0.0, 1.0]);
        self.range("sticky", params.sticky, [0.0, 1.0]);
        self.range("iterations", f64::from(params.iterations), [1.0, 1000.0]);
    }

    /// A solver's own check of its parameters.
    pub(crate) fn params(&mut self, checked: Result<(), ParamsError>) {
        if let Err(ParamsError { key, range, value }) = checked {
            let (parents, key) = key.rsplit_once('.').map_or((None, key), |(parents, key)| (Some(parents), key));
            let message = format!("must be {range}, not {value}");
            self.within(parents.iter().flat_map(|parents| parents.split('.')), |c| c.require(key, false, message));
        }
    }

    pub(crate) fn mesh(&mut self, mesh: &Mesh) {
        self.positive("scale", mesh.scale);
        self.require("file", !mesh.file.is_empty(), "must name a file");
    }

    fn emitter(&mut self, emitter: &Emitter, scene: &Scene) {
        let known: Vec<&str> = scene.liquid.keys().map(String::as_str).collect();
        let message = format!("names no liquid of the scene; there are: {}", known.join(", "));
        self.require("liquid", scene.liquid.contains_key(&emitter.liquid), message);
        self.direction("direction", emitter.direction);
        self.not_negative("speed", emitter.speed);
        if let Some(pulse) = &emitter.pulse {
            self.within(["pulse"], |c| {
                c.range("amplitude", pulse.amplitude, [0.0, 1.0]);
                c.positive("period", pulse.period);
            });
        }
        let until = emitter.until.unwrap_or(f64::INFINITY);
        self.require("until", until >= emitter.from, format!("must not come before from = {}", emitter.from));
        self.within(["opening"], |c| match &emitter.opening {
            Opening::Disc(disc) => c.within(["disc"], |c| c.positive("radius", disc.radius)),
            Opening::Rectangle(rectangle) => c.within(["rectangle"], |c| {
                c.positive("width", rectangle.width);
                c.positive("height", rectangle.height);
            }),
        });
    }

    fn probe(&mut self, probe: &Probe, scene: &Scene) {
        match probe {
            Probe::Point(_) | Probe::Gauge(_) => {}
            Probe::Plane(plane) => self.within(["plane"], |c| {
                c.direction("normal", plane.normal);
                if let Some(radius) = plane.radius {
                    c.positive("radius", radius);
                }
            }),
            Probe::Solid(point) => self.within(["solid"], |c| {
                let known: Vec<&str> = scene.body_names().collect();
                let message = format!("names no solid of the scene; there are: {}", known.join(", "));
                c.require("name", known.contains(&point.name.as_str()), message);
            }),
        }
    }

    fn command(&mut self, command: &Command, scene: &Scene) {
        match command {
            Command::Set(set) => self.within(["set"], |c| {
                if let Err(message) = crate::live::check(scene, &set.key, &set.value) {
                    c.require("key", false, message);
                }
            }),
            Command::Poke(poke) => self.within(["poke"], |c| c.positive("radius", poke.radius)),
            Command::Grab(grab) => self.within(["grab"], |c| c.holds(grab.check(scene))),
            Command::Move(target) => self.within(["move"], |c| c.holds(target.check())),
            Command::Release(_) => {}
        }
    }

    /// A check that has been made.
    fn holds(&mut self, checked: Result<(), Wrong>) {
        if let Err((key, message)) = checked {
            self.require(key, false, message);
        }
    }
}

/// Whether a value is finite; commands that come from outside a scene file are checked with it.
pub(crate) fn finite(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_finite(),
        Value::Vector(vector) => vector.iter().all(|c| c.is_finite()),
    }
}
