//! From a scene to a method with its state.

mod animated;
pub(crate) mod bodies;
pub(crate) mod clearance;
pub(crate) mod elastic;
pub(crate) mod grid;
mod liquid;
pub(crate) mod rigid;
pub(crate) mod soft;

pub(crate) use animated::Shown;
pub use animated::bounds as animated_bounds;
pub(crate) use soft::bounds_at_rest;

use crate::methods::{Connections, Gauss, Method, TwoPhase, Unified};
use crate::parts::{self, LiquidPart, Look, tank_edges};
use crate::sanity;
use glam::{DVec2, DVec3};
use meniscus_boundary::{Boundaries, Motion, Wall, WallShape, Wet};
use meniscus_core::{BodyInfo, BodyKind, Wire};
use meniscus_geometry::{Aabb, FillError, Periodic, Region, Shape, ShapeError, count_estimate};
use meniscus_scene::{self as scene, BodyShape, Loaded, Opening, Scene, Side, WetSide};
use meniscus_sph::{Emitter, Liquid, Material, Params, Setup};

/// Bytes that a liquid particle needs at most: state twice, packed copies, neighbour lists.
const BYTES_PER_PARTICLE: f64 = 700.0;

/// A scene cannot become a world.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A shape cannot be filled with particles.
    #[error("liquid `{liquid}`, fill {index}: {source}")]
    Fill {
        /// The liquid.
        liquid: String,
        /// Number of the shape.
        index: usize,
        /// Why.
        source: FillError,
    },
    /// A solid has no tetrahedra, or none that can be used.
    #[error("solid `{solid}`: {message}")]
    Solid {
        /// The solid.
        solid: String,
        /// Why.
        message: String,
    },
    /// A grid has no box.
    #[error("`twophase` needs a `domain`, or a wall that is a box")]
    NoBox,
    /// A grid cannot be set up.
    #[error("twophase: {0}")]
    Grid(meniscus_twophase::SetupError),
    /// A body has no particles, or none that can be used.
    #[error("body `{body}`: {message}")]
    Body {
        /// The body.
        body: String,
        /// Why.
        message: String,
    },
    /// A size beyond reason.
    #[error("`{key}` {message}")]
    Size {
        /// The key.
        key: String,
        /// Why it cannot be.
        message: String,
    },
    /// Bodies that contact would throw apart.
    #[error(
        "`{what}` lies {depth:.2e} m deep in `{with}` at the start, which would throw them apart: move one of them"
    )]
    Overlap {
        /// The body, or the nozzle.
        what: String,
        /// The body or the wall that it lies in.
        with: String,
        /// How deep \[m\].
        depth: f64,
    },
    /// An animated mesh cannot be used.
    #[error("animated `{name}`: {message}")]
    Animated {
        /// The mesh.
        name: String,
        /// Why.
        message: String,
    },
    /// A wall is none.
    #[error("wall: {0}")]
    Wall(meniscus_boundary::WallError),
    /// A drain is no region.
    #[error("drain `{drain}`: {source}")]
    Drain {
        /// The drain.
        drain: String,
        /// Why.
        source: ShapeError,
    },
}

/// How large a world will be, before anything is allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// Particles at the start.
    pub particles: f64,
    /// Particles when all nozzles have sent what they can.
    pub most_particles: f64,
    /// Tetrahedra.
    pub tets: f64,
    /// Cells of a grid.
    pub cells: f64,
    /// Memory at most \[bytes\].
    pub bytes: f64,
}

/// How large the world of a scene will be; from volumes alone.
#[must_use]
pub fn estimate(loaded: &Loaded) -> Estimate {
    let scene = &loaded.scene;
    if scene.method == scene::Method::Twophase {
        let (cells, bytes) = grid::size_estimate(loaded);
        return Estimate { cells, bytes, ..Estimate::default() };
    }
    let spacing = scene.sph.spacing;
    let shapes = scene.liquid.values().flat_map(|liquid| &liquid.fill);
    let particles: f64 = shapes.map(|shape| count_estimate(&to_shape(loaded, shape), spacing)).sum();
    let sent: f64 = scene.emitter.values().map(|e| sent_by(e, scene)).sum();
    let most_particles = particles + sent;
    let (tets, solid_bytes) = soft::size_estimate(loaded);
    let (_, body_bytes) = bodies::size_estimate(loaded);
    let bytes = most_particles * BYTES_PER_PARTICLE + solid_bytes + body_bytes + soft::other_bytes(loaded);
    Estimate { particles, most_particles, tets, bytes, cells: 0.0 }
}

fn sent_by(emitter: &scene::Emitter, scene: &Scene) -> f64 {
    let area = match &emitter.opening {
        Opening::Disc(disc) => std::f64::consts::PI * disc.radius * disc.radius,
        Opening::Rectangle(rectangle) => rectangle.width * rectangle.height,
    };
    let seconds = emitter.until.unwrap_or(f64::INFINITY).min(scene.seconds) - emitter.from;
    let volume = area * emitter.speed * seconds.max(0.0);
    (volume / (scene.sph.spacing * scene.sph.spacing * scene.sph.spacing)).min(emitter.max_particles as f64)
}

/// Builds the method of a scene and says what is odd about it.
pub(crate) fn build(loaded: &Loaded) -> Result<(Box<dyn Method>, Vec<String>), BuildError> {
    let odd = sanity::odd_sizes(loaded)?;
    let (method, warnings) = build_method(loaded)?;
    Ok((method, odd.into_iter().chain(warnings).collect()))
}

fn build_method(loaded: &Loaded) -> Result<(Box<dyn Method>, Vec<String>), BuildError> {
    let scene = &loaded.scene;
    let mut warnings = Vec::new();
    let method: Box<dyn Method> = match scene.method {
        scene::Method::Gauss if scene.body.is_empty() => Box::new(Gauss::build(loaded, &mut warnings)?),
        scene::Method::Twophase => Box::new(TwoPhase::build(loaded, &mut warnings)?),
        scene::Method::Connections | scene::Method::Gauss => Box::new(Connections::build(loaded, &mut warnings)?),
        scene::Method::Unified => Box::new(Unified::build(loaded, &mut warnings)?),
    };
    Ok((method, warnings))
}

/// The liquid of a scene among its walls.
pub(crate) fn water(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<LiquidPart, BuildError> {
    let scene = &loaded.scene;
    let bounds = bounds_of(loaded);
    let domain = match &scene.domain {
        Some(domain) => Aabb { min: DVec3::from_array(domain.min), max: DVec3::from_array(domain.max) },
        None => {
            let swept = swept(&bounds, scene);
            swept.grow(swept.size().max_element().max(scene.sph.spacing))
        }
    };
    animated::check(loaded, scene.sph.spacing, warnings)?;
    let animated = animated::walls(loaded)?;
    let all = scene.wall.values().map(|w| wall(loaded, w)).chain(animated).collect();
    let walls = Boundaries::new(all).map_err(BuildError::Wall)?;
    let setup = Setup {
        params: Params { gradients: Some(scene.gradients()), ..scene.sph.clone() },
        materials: scene.liquid.iter().map(|(name, l)| (name.clone(), material(l))).collect(),
        walls: walls.clone(),
        coupling: scene.coupling,
        emitters: scene.emitter.values().map(|e| emitter(e, scene)).collect(),
        periodic: periodic(scene),
        stiffness: scene.sph.stiffness.unwrap_or_else(|| stiffness(loaded)),
        speed: speed_squared(loaded).sqrt(),
    };
    let mut liquid = Liquid::new(setup);
    liquid::seed(loaded, &mut liquid, warnings)?;
    let dry = liquid.particles().is_empty() && scene.emitter.is_empty();
    let solid = scene.bodies().next().is_some();
    if dry && (!solid || !scene.liquid.is_empty()) {
        warnings.push("the scene has no liquid: no shape is filled and there is no emitter".into());
    }
    Ok(LiquidPart {
        courant: scene.time.courant,
        domain,
        drains: drains(loaded)?,
        entering: liquid.particles().next_id,
        look: look(loaded, &walls, &bounds),
        liquids: scene.liquid.len() as u16,
        liquid,
        walls,
        dry,
        meets_bodies: false,
    })
}

/// Where liquid goes.
fn drains(loaded: &Loaded) -> Result<Vec<crate::parts::Drain>, BuildError> {
    let drains = loaded.scene.drain.iter().map(|(name, drain)| {
        let region = Region::new(&to_shape(loaded, &drain.region))
            .map_err(|source| BuildError::Drain { drain: name.clone(), source })?;
        let bounds = region.bounds();
        Ok(Box::new(move |p| bounds.contains(p) && region.contains(p)) as crate::parts::Drain)
    });
    drains.collect()
}

fn material(liquid: &scene::Liquid) -> Material {
    let &scene::Liquid { density, viscosity, surface_tension, contact_angle, .. } = liquid;
    Material { density, viscosity, surface_tension, contact_angle }
}

pub(crate) fn wall(loaded: &Loaded, wall: &scene::Wall) -> Wall {
    let shape = match &wall.shape {
        scene::WallShape::Plane(plane) => WallShape::Plane {
            point: DVec3::from_array(plane.point),
            normal: DVec3::from_array(plane.normal).normalize(),
        },
        scene::WallShape::Mesh(mesh) => {
            let surface = loaded.mesh(mesh).clone();
            let wet = match wall.wet {
                Some(WetSide::Outside) => Wet::Front,
                Some(WetSide::Inside) => Wet::Back,
                Some(WetSide::Both) => Wet::Both,
                None if surface.closed().is_ok() => Wet::Front,
                None => Wet::Both,
            };
            WallShape::Mesh { mesh: surface, wet }
        }
        scene::WallShape::Box(tank) => {
            let (mut min, mut max) = (DVec3::from_array(tank.min), DVec3::from_array(tank.max));
            for side in &tank.open {
                match side {
                    Side::LowX => min.x = f64::NEG_INFINITY,
                    Side::LowY => min.y = f64::NEG_INFINITY,
                    Side::LowZ => min.z = f64::NEG_INFINITY,
                    Side::HighX => max.x = f64::INFINITY,
                    Side::HighY => max.y = f64::INFINITY,
                    Side::HighZ => max.z = f64::INFINITY,
                }
            }
            WallShape::Tank { min, max }
        }
    };
    Wall { shape, friction: wall.friction, motion: wall.motion.clone() }
}

/// What liquid must stay out of at the start: whether a point is farther than `clearance` from a wall.
pub(crate) fn clear_of(walls: &Boundaries, wall: usize, clearance: f64) -> Box<dyn Fn(DVec3) -> bool> {
    let surface = walls.surface(wall).cloned();
    match &walls.wall(wall).shape {
        &WallShape::Tank { min, max } => Box::new(move |p| (p - min).min(max - p).min_element() > clearance),
        &WallShape::Plane { point, normal } => Box::new(move |p| (p - point).dot(normal) > clearance),
        WallShape::Mesh { .. } => Box::new(move |p| {
            let Some(tree) = surface.as_ref().map(|surface| surface.tree()) else { return true };
            let far = tree.closest_within(p, clearance).is_none();
            far && match surface.as_ref().map(|surface| surface.wet()) {
                Some(Wet::Front) => !tree.inside(p),
                Some(Wet::Back) => tree.inside(p),
                Some(Wet::Both) | None => true,
            }
        }),
    }
}

fn periodic(scene: &Scene) -> Periodic {
    let Some(periodic) = &scene.periodic else { return Periodic::default() };
    let (min, max) = (DVec3::from_array(periodic.min), DVec3::from_array(periodic.max));
    let mut length = glam::Vec3::ZERO;
    for axis in &periodic.axes {
        length[*axis as usize] = (max - min)[*axis as usize] as f32;
    }
    Periodic { min: min.as_vec3(), length }
}

fn emitter(emitter: &scene::Emitter, scene: &Scene) -> Emitter {
    let direction = DVec3::from_array(emitter.direction).normalize();
    let [across, up] = opening_axes(direction);
    let spacing = scene.sph.spacing;
    // Layer positions: a square lattice with a particle in the middle, half a spacing inside the rim.
    let (half_width, half_height, radius) = match &emitter.opening {
        Opening::Disc(disc) => (disc.radius, disc.radius, disc.radius - 0.5 * spacing),
        Opening::Rectangle(r) => (0.5 * r.width, 0.5 * r.height, f64::INFINITY),
    };
    let positions = |half: f64| {
        let n = ((half - 0.5 * spacing) / spacing + 1e-6).floor().max(0.0) as i64;
        (-n..=n).map(move |k| k as f64 * spacing)
    };
    let layer = positions(half_height).flat_map(|v| positions(half_width).map(move |u| (u, v)));
    Emitter {
        liquid: scene.liquid.get_index_of(&emitter.liquid).unwrap_or(0) as u16,
        center: DVec3::from_array(emitter.center),
        direction,
        layer: layer
            .filter(|(u, v)| u * u + v * v <= radius.max(0.0) * radius.max(0.0) * (1.0 + 1e-9))
            .map(|(u, v)| across * u + up * v)
            .collect(),
        speed: emitter.speed,
        pulse: emitter.pulse,
        open: [emitter.from, emitter.until.unwrap_or(f64::INFINITY)],
        most: emitter.max_particles,
    }
}

/// Two unit vectors in the plane of an opening: the first horizontal.
fn opening_axes(direction: DVec3) -> [DVec3; 2] {
    let across = DVec3::Y.cross(direction);
    let across = if across.length() > 1e-6 { across.normalize() } else { DVec3::X };
    [across, direction.cross(across)]
}

pub(crate) fn to_shape(loaded: &Loaded, shape: &scene::Shape) -> Shape {
    match shape {
        scene::Shape::Box(bounds) => {
            Shape::Box(Aabb { min: DVec3::from_array(bounds.min), max: DVec3::from_array(bounds.max) })
        }
        scene::Shape::Sphere(sphere) => {
            Shape::Sphere { center: DVec3::from_array(sphere.center), radius: sphere.radius }
        }
        scene::Shape::Mesh(mesh) => Shape::Mesh(loaded.mesh(mesh).clone()),
    }
}

/// Boxes around the places where there is liquid at the start, or where it comes from.
fn liquid_bounds(loaded: &Loaded) -> Vec<Aabb> {
    let scene = &loaded.scene;
    let fills = scene.liquid.values().flat_map(|l| &l.fill).map(|shape| to_shape(loaded, shape).bounds());
    let nozzles = scene.emitter.values().map(|e| {
        let center = DVec3::from_array(e.center);
        Aabb { min: center, max: center }
    });
    fills.chain(nozzles).collect()
}

/// The box around everything that has an extent.
pub(crate) fn bounds_of(loaded: &Loaded) -> Aabb {
    let tanks = loaded.scene.wall.values().filter_map(|wall| match &wall.shape {
        scene::WallShape::Box(tank) => {
            Some(Aabb { min: DVec3::from_array(tank.min), max: DVec3::from_array(tank.max) })
        }
        scene::WallShape::Mesh(mesh) => Some(loaded.mesh(mesh).bounds()),
        scene::WallShape::Plane(_) => None,
    });
    let all = liquid_bounds(loaded)
        .into_iter()
        .chain(bounds_of_bodies(loaded))
        .chain(tanks)
        .chain(animated::bounds(loaded).into_iter().map(|(_, bounds)| bounds))
        .reduce(|a, b| a.union(&b));
    all.unwrap_or(Aabb { min: DVec3::ZERO, max: DVec3::ONE })
}

/// Boxes round bodies that answer, and their copies, at the start; a little large for those that are turned.
pub(crate) fn bounds_of_bodies(loaded: &Loaded) -> impl Iterator<Item = Aabb> {
    loaded.scene.bodies().flat_map(|(.., body)| {
        let rest = match body.shape() {
            BodyShape::Solid(shape) => bounds_at_rest(loaded, shape),
            BodyShape::Region(shape) => to_shape(loaded, shape).bounds(),
        };
        let radius = 0.5 * rest.size().length();
        let grown = Aabb { min: rest.center() - radius, max: rest.center() + radius };
        let own = if body.is_turned() { grown } else { rest };
        let moved = move |by: DVec3| Aabb { min: own.min + by, max: own.max + by };
        body.copies().into_iter().map(move |offset| moved(DVec3::from_array(offset)))
    })
}

/// The box round everything wherever walls, bodies and hands that are led carry it: a tank takes its liquid along.
fn swept(bounds: &Aabb, scene: &Scene) -> Aabb {
    let of_walls = scene.wall.values().map(|wall| &wall.motion);
    let of_bodies = scene.bodies().flat_map(|(.., body)| body.motions());
    let of_hands = scene.pull.values().map(|pull| &pull.motion);
    let motions = of_walls.chain(of_bodies).chain(of_hands).filter(|motion| motion.moves());
    let poses = motions.flat_map(|motion| moments(motion).into_iter().map(|time| motion.pose(time)));
    let corner = |bits: usize| {
        let pick = |axis: usize| if bits >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] };
        DVec3::new(pick(0), pick(1), pick(2))
    };
    poses.fold(*bounds, |all, pose| {
        (0..8).map(|bits| pose.apply(corner(bits))).fold(all, |all, p| all.union(&Aabb { min: p, max: p }))
    })
}

/// Moments of a motion \[s\], close enough to meet its ends.
fn moments(motion: &Motion) -> Vec<f64> {
    const PARTS: i32 = 48;
    let of_period = |period: f64| (0..PARTS).map(|k| period * f64::from(k) / f64::from(PARTS)).collect();
    match motion {
        // Vertices over time have no pose; what they sweep is in the bounds.
        Motion::Still | Motion::Frames(_) => Vec::new(),
        Motion::Slide(slide) => of_period(slide.period),
        Motion::Turn(turn) => of_period(turn.period),
        Motion::Swing(swing) => of_period(swing.period),
        Motion::Keys(keys) => {
            let halves = keys.windows(2).map(|pair| 0.5 * (pair[0].time + pair[1].time));
            keys.iter().map(|key| key.time).chain(halves).collect()
        }
    }
}

/// The square of the speed to be expected of a scene \[m²/s²\]: that of liquid which falls from the highest place where
/// there is any to the lowest, on top of the speeds given.
pub(crate) fn speed_squared(loaded: &Loaded) -> f64 {
    let scene = &loaded.scene;
    if let Some(speed) = scene.sph.reference_speed {
        return speed * speed;
    }
    let down = DVec3::from_array(scene.gravity);
    let lowest_of = |b: &Aabb| DVec3::select(down.cmpgt(DVec3::ZERO), b.max, b.min).dot(down);
    let highest_of = |b: &Aabb| DVec3::select(down.cmpgt(DVec3::ZERO), b.min, b.max).dot(down);
    let lowest = lowest_of(&bounds_of(loaded));
    let highest = liquid_bounds(loaded).iter().map(highest_of).fold(lowest, f64::min);
    let speeds = scene.emitter.values().map(|e| e.speed * (1.0 + e.pulse.map_or(0.0, |pulse| pulse.amplitude)));
    let speeds = speeds.chain(scene.liquid.values().map(|l| {
        let size = l.fill.iter().map(|shape| to_shape(loaded, shape).bounds()).reduce(|a, b| a.union(&b));
        let radius = size.map_or(0.0, |size| 0.5 * (size.max - size.min).length());
        DVec3::from_array(l.velocity).length() + DVec3::from_array(l.spin).length() * radius
    }));
    let fastest = speeds.fold(0.0, f64::max);
    // In a drop of ten spacings.
    let squeezed = scene.liquid.values().map(|l| 0.2 * l.surface_tension / (l.density * scene.sph.spacing));
    (fastest * fastest + 2.0 * (lowest - highest) + squeezed.fold(0.0, f64::max)).max(1e-6)
}

/// A typical speed of a scene \[m/s\], for the ends of a colour scale.
#[must_use]
pub fn speed_scale(loaded: &Loaded) -> f64 {
    0.75 * speed_squared(loaded).sqrt()
}

/// k = 50 v²: the speed of sound is seven times the speed of the liquid, and a head H = v²/2g compresses it by one percent.
fn stiffness(loaded: &Loaded) -> f64 {
    50.0 * speed_squared(loaded)
}

fn look(loaded: &Loaded, walls: &Boundaries, bounds: &Aabb) -> Look {
    let scene = &loaded.scene;
    let liquids = scene.liquid.iter().map(|(name, l)| BodyInfo {
        name: name.clone(),
        kind: BodyKind::Liquid,
        color: l.color.map(|c| c as f32),
    });
    let grey = |name: &String, kind| BodyInfo { name: name.clone(), kind, color: [0.35, 0.38, 0.42] };
    let as_walls = scene.wall.keys().map(|name| grey(name, BodyKind::Wall)).chain(animated::bodies(loaded));
    let nozzles = scene.emitter.keys().map(|name| grey(name, BodyKind::Nozzle));
    let first_wall = scene.liquid.len();
    let tanks = walls.walls().map(|wall| tank_edges(&wall.shape, bounds)).collect();
    let first_nozzle = first_wall + walls.len();
    let rings = scene
        .emitter
        .values()
        .enumerate()
        .map(|(number, e)| Wire { body: (first_nozzle + number) as u16, segments: rim(e) });
    let bodies = liquids.chain(as_walls).chain(nozzles).chain(parts::shown(scene)).collect();
    Look { bodies, tanks, nozzles: rings.collect() }
}

/// The rim of a nozzle and a short throat behind it.
fn rim(emitter: &scene::Emitter) -> Vec<[glam::Vec3; 2]> {
    let direction = DVec3::from_array(emitter.direction).normalize();
    let [across, up] = opening_axes(direction);
    let center = DVec3::from_array(emitter.center);
    let (corners, size): (Vec<DVec3>, f64) = match &emitter.opening {
        Opening::Disc(disc) => {
            let turn = |k: i32| std::f64::consts::TAU * f64::from(k) / 32.0;
            let corner = |k: i32| {
                let on_circle = DVec2::from_angle(turn(k)) * disc.radius;
                across * on_circle.x + up * on_circle.y
            };
            ((0..32).map(corner).collect(), disc.radius)
        }
        Opening::Rectangle(r) => {
            let corner = |(u, v): (f64, f64)| across * (0.5 * u * r.width) + up * (0.5 * v * r.height);
            ([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(corner).to_vec(), r.width.min(r.height))
        }
    };
    let mut segments = Vec::new();
    for back in [0.0, size] {
        let at = |k: usize| (center + corners[k % corners.len()] - direction * back).as_vec3();
        segments.extend((0..corners.len()).map(|k| [at(k), at(k + 1)]));
    }
    segments
}
