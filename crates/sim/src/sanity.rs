//! Sizes that cannot be meant, found before anything is built.

use crate::build::{BuildError, animated_bounds, bounds_at_rest, estimate, to_shape};
use glam::DVec3;
use meniscus_fem::{Integrator, Order};
use meniscus_geometry::{Aabb, TetSize};
use meniscus_scene::{BodyShape, Bounds, Loaded, Mesh, Method, Opening, Scene, Shape, Solid, SolidShape, WallShape};

/// The largest length that a scene can have \[m\]: beyond it numbers of cells and volumes leave what a machine can count.
const LONGEST: f64 = 1e5;
/// Positions in single precision must be so many times finer than the spacing of particles, dimensionless.
const FINER: f64 = 1000.0;
/// Cells along which the neighbour search of a periodic box can count.
const MAX_CELLS: f64 = 1e8;
/// Particles in one layer of a nozzle.
const LARGEST_LAYER: f64 = 1e7;
/// A mesh beyond this size \[m\] is most likely in other units.
const LARGE_MESH: f64 = 5.0;
/// The same for a small one \[m\].
const SMALL_MESH: f64 = 1e-4;
/// More particles than this are named.
const MANY: f64 = 1e8;
/// A plate is this many times wider than thick, dimensionless.
const SLENDER: f64 = 4.0;
/// Part of the energy of its first vibration that a body should keep over a period, dimensionless.
const MIN_ENERGY_KEPT: f64 = 0.5;

/// What is odd about the sizes of a scene, before anything is built.
///
/// # Errors
/// For a size beyond reason, with its key.
pub fn odd_sizes(loaded: &Loaded) -> Result<Vec<String>, BuildError> {
    check(loaded, estimate(loaded).most_particles)
}

/// The same for a world of so many particles.
pub(crate) fn check(loaded: &Loaded, particles: f64) -> Result<Vec<String>, BuildError> {
    extents(loaded)?;
    periodic_cells(&loaded.scene)?;
    layers(&loaded.scene)?;
    resolution(loaded)?;
    let mut warnings = Vec::new();
    if particles > MANY {
        warnings.push(format!("{particles:.1e} particles: is `sph.spacing` = {} m meant?", loaded.scene.sph.spacing));
    }
    meshes(loaded, &mut warnings);
    solids(loaded, &mut warnings);
    Ok(warnings)
}

fn refuse(key: String, message: String) -> BuildError {
    BuildError::Size { key, message }
}

fn box_of(bounds: &Bounds) -> Aabb {
    Aabb { min: DVec3::from_array(bounds.min), max: DVec3::from_array(bounds.max) }
}

/// Everything with an extent, under its key.
fn boxes(loaded: &Loaded) -> Vec<(String, Aabb)> {
    let scene = &loaded.scene;
    let of = |shape: &Shape| to_shape(loaded, shape).bounds();
    let mut all: Vec<(String, Aabb)> = Vec::new();
    for (name, liquid) in &scene.liquid {
        all.extend(liquid.fill.iter().enumerate().map(|(k, shape)| (format!("liquid.{name}.fill[{k}]"), of(shape))));
    }
    all.extend(scene.wall.iter().filter_map(|(name, wall)| match &wall.shape {
        WallShape::Box(tank) => {
            let bounds = Aabb { min: DVec3::from_array(tank.min), max: DVec3::from_array(tank.max) };
            Some((format!("wall.{name}.shape"), bounds))
        }
        WallShape::Mesh(mesh) => Some((format!("wall.{name}.shape"), loaded.mesh(mesh).bounds())),
        WallShape::Plane(_) => None,
    }));
    all.extend(scene.bodies().map(|(table, name, body)| {
        let bounds = match body.shape() {
            BodyShape::Solid(shape) => bounds_at_rest(loaded, shape),
            BodyShape::Region(shape) => of(shape),
        };
        (format!("{table}.{name}.shape"), bounds)
    }));
    all.extend(scene.drain.iter().map(|(name, drain)| (format!("drain.{name}.region"), of(&drain.region))));
    let animated = animated_bounds(loaded).into_iter();
    all.extend(animated.map(|(name, bounds)| (format!("animated.{name}"), bounds)));
    all.extend(scene.domain.as_ref().map(|domain| ("domain".to_owned(), box_of(domain))));
    all
}

fn extents(loaded: &Loaded) -> Result<(), BuildError> {
    for (key, bounds) in boxes(loaded) {
        let longest = bounds.size().max_element();
        if longest.is_nan() || longest > LONGEST {
            return Err(refuse(
                key,
                format!("is {longest:.3e} m long, more than the {LONGEST:.0e} m that can be computed"),
            ));
        }
    }
    Ok(())
}

fn periodic_cells(scene: &Scene) -> Result<(), BuildError> {
    let Some(periodic) = &scene.periodic else { return Ok(()) };
    let support = scene.sph.spacing * scene.sph.support;
    let lengths = periodic.axes.iter().map(|&axis| periodic.max[axis as usize] - periodic.min[axis as usize]);
    let cells: f64 = lengths.map(|length| (length / support).max(1.0)).product();
    if cells <= MAX_CELLS {
        return Ok(());
    }
    let message = format!("holds {cells:.1e} cells of a support radius, {support} m; {MAX_CELLS:.0e} are possible");
    Err(refuse("periodic.max".into(), message))
}

fn layers(scene: &Scene) -> Result<(), BuildError> {
    for (name, emitter) in &scene.emitter {
        let area = match &emitter.opening {
            Opening::Disc(disc) => 4.0 * disc.radius * disc.radius,
            Opening::Rectangle(rectangle) => rectangle.width * rectangle.height,
        };
        let count = area / (scene.sph.spacing * scene.sph.spacing);
        if count > LARGEST_LAYER {
            return Err(refuse(format!("emitter.{name}.opening"), format!("sends {count:.1e} particles at once")));
        }
    }
    Ok(())
}

/// Particles of a liquid have positions in single precision: far from the origin these are too coarse.
fn resolution(loaded: &Loaded) -> Result<(), BuildError> {
    let scene = &loaded.scene;
    if scene.method == Method::Twophase || (scene.liquid.is_empty() && scene.emitter.is_empty()) {
        return Ok(());
    }
    let spacing = scene.sph.spacing;
    let nozzles = scene.emitter.iter().map(|(name, emitter)| {
        let center = DVec3::from_array(emitter.center);
        (format!("emitter.{name}.center"), Aabb { min: center, max: center })
    });
    let filled = boxes(loaded).into_iter().filter(|(key, _)| key.starts_with("liquid."));
    for (key, bounds) in filled.chain(nozzles) {
        let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
        let step = farthest * f64::from(f32::EPSILON);
        if step * FINER > spacing {
            let message = format!(
                "lies {farthest:.3e} m from the origin, where places in single precision are {step:.1e} m apart: more than \
                 1/{FINER} of `sph.spacing` = {spacing} m; move the scene to the origin"
            );
            return Err(refuse(key, message));
        }
    }
    Ok(())
}

/// Files that are most likely in other units.
fn meshes(loaded: &Loaded, warnings: &mut Vec<String>) {
    let scene = &loaded.scene;
    let surface = |mesh: &Mesh| loaded.mesh(mesh).bounds();
    let mut named: Vec<(String, &Mesh, Aabb)> = Vec::new();
    for (name, liquid) in &scene.liquid {
        for (k, shape) in liquid.fill.iter().enumerate() {
            if let Shape::Mesh(mesh) = shape {
                named.push((format!("liquid.{name}.fill[{k}]"), mesh, surface(mesh)));
            }
        }
    }
    for (name, wall) in &scene.wall {
        if let WallShape::Mesh(mesh) = &wall.shape {
            named.push((format!("wall.{name}"), mesh, surface(mesh)));
        }
    }
    for (table, name, body) in scene.bodies() {
        match body.shape() {
            BodyShape::Solid(shape @ (SolidShape::Mesh(mesh) | SolidShape::Tets(mesh))) => {
                named.push((format!("{table}.{name}"), mesh, bounds_at_rest(loaded, shape)));
            }
            BodyShape::Region(Shape::Mesh(mesh)) => named.push((format!("{table}.{name}"), mesh, surface(mesh))),
            _ => {}
        }
    }
    for (key, mesh, bounds) in named {
        let size = bounds.size().max_element();
        let file = &mesh.file;
        if size > LARGE_MESH {
            let smaller = 0.001 * mesh.scale;
            warnings.push(format!(
                "`{key}`: `{file}` is {size:.3} m across; if it is in millimetres, write scale = {smaller}"
            ));
        } else if size < SMALL_MESH {
            warnings.push(format!("`{key}`: `{file}` is {size:.1e} m across; is its `scale` = {} meant?", mesh.scale));
        }
    }
}

/// Bodies that their elements, their steps or the liquid's particles are too coarse for.
fn solids(loaded: &Loaded, warnings: &mut Vec<String>) {
    let scene = &loaded.scene;
    let wet = scene.method != Method::Twophase && !(scene.liquid.is_empty() && scene.emitter.is_empty());
    let spacing = scene.sph.spacing;
    let rigids = scene.rigid.iter().map(|(name, rigid)| (name, Solid::new(rigid.shape.clone()), false));
    let solids = scene.solid.iter().map(|(name, solid)| (name, solid.clone(), true));
    for (name, solid, soft) in solids.chain(rigids) {
        let size = bounds_at_rest(loaded, &solid.shape).size();
        let thin = thinnest(&solid, size);
        if wet && thin < spacing {
            warnings.push(format!(
                "`{name}` is {thin:.3e} m thin, less than `sph.spacing` = {spacing} m: liquid on its two sides will feel each other"
            ));
        }
        let tets = soft && scene.method == Method::Gauss;
        let slender = size.max_element() > SLENDER * thin;
        if let (true, true, Order::Linear, TetSize::Edge(edge)) = (tets, slender, solid.fem.order, solid.size())
            && thin < 1.5 * edge
        {
            warnings.push(format!(
                "`{name}` has one linear tetrahedron across its {thin:.3e} m: it bends up to 43 % too little; write \
                 fem.order = \"quadratic\", or an `edge` below {:.2e} m",
                thin / 2.0
            ));
        }
        if tets && solid.fem.integrator == Integrator::ImplicitEuler {
            calmed(scene, name, &solid, size, warnings);
        }
    }
}

/// The thinnest part of a body \[m\].
fn thinnest(solid: &Solid, size: DVec3) -> f64 {
    match &solid.shape {
        SolidShape::Tube(tube) => tube.outer_radius - tube.inner_radius,
        SolidShape::Pool(pool) => pool.thickness,
        _ => size.min_element(),
    }
}

/// Implicit Euler takes a part of 2π ω dt of the energy of a vibration ω in each period. The slowest of a free body passes its
/// longest side in half a period at the speed of sound √(E/ρ).
fn calmed(scene: &Scene, name: &str, solid: &Solid, size: DVec3, warnings: &mut Vec<String>) {
    let period = 2.0 * size.max_element() / (solid.young / solid.density).sqrt();
    let dt = scene.time.dt.unwrap_or(scene.time.max_dt).min(1.0 / scene.fps);
    let phase = std::f64::consts::TAU * dt / period;
    // Per step the energy falls by 1/(1 + (ω dt)²).
    let kept = libm::pow(1.0 + phase * phase, -period / dt);
    let free = solid.fixed.is_empty() && scene.liquid.is_empty();
    let vibrates = solid.mass_damping == 0.0 && solid.stiffness_damping == 0.0;
    if free && vibrates && kept < MIN_ENERGY_KEPT {
        warnings.push(format!(
            "`{name}` loses {:.0} % of the energy of its vibrations in a period of {period:.1e} s to implicit Euler with steps of \
             {dt:.1e} s; to keep it, write fem.integrator = \"implicit-midpoint\"",
            100.0 * (1.0 - kept)
        ));
    }
}
