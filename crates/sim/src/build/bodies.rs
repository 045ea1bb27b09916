//! From the bodies of a scene to a system of particles.

use super::{BuildError, bounds_at_rest, clearance, soft, to_shape};
use crate::methods::LiquidCoupling;
use crate::parts::{BodiesPart, Group, ParticleSprings};
use glam::{DQuat, DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_coupling::liquid_springs::drop_radius;
use meniscus_geometry::{
    Aabb, NeighbourGrid, Periodic, Region, Shape, TetMesh, TriangleMesh, count_estimate, fill, solids,
};
use meniscus_particles::{Elastic, Matter, Particle, Skin, System};
use meniscus_scene::{
    self as scene, Body, BodyShape, Cohesion, Described, Kept, Loaded, Method, Rigid, Solid, SolidShape,
};
use meniscus_sph::{Liquid, Material};

/// Bytes that a particle of a body needs at most: state, work, springs, skin, connections.
const BYTES_PER_PARTICLE: f64 = 3000.0;

fn wrong(name: &str, why: &dyn std::fmt::Display) -> BuildError {
    BuildError::Body { body: name.to_owned(), message: why.to_string() }
}

/// Distance between the particles of a body \[m\].
pub(crate) fn spacing(loaded: &Loaded, body: &Body) -> f64 {
    body.spacing.unwrap_or(loaded.scene.sph.spacing)
}

/// BodiesPart of particles, however the scene tells them: its `solid` and `rigid` bodies with the method "connections", and its bodies.
pub(crate) fn lumps(loaded: &Loaded) -> Result<Vec<Lump>, BuildError> {
    let scene = &loaded.scene;
    let mut lumps = Vec::new();
    if scene.method == Method::Connections {
        for (name, solid) in &scene.solid {
            lumps.push(Lump::of_solid(loaded, name, solid)?);
        }
        for (name, rigid) in &scene.rigid {
            lumps.push(Lump::of_rigid(loaded, name, rigid)?);
        }
    }
    let bodies = scene.body.iter().map(|(name, body)| Lump {
        name: name.clone(),
        shape: to_shape(loaded, &body.shape),
        body: body.clone(),
    });
    lumps.extend(bodies);
    Ok(lumps)
}

/// BodiesPart of particles of one kind.
pub(crate) struct Lump {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) body: Body,
}

impl Lump {
    /// A deformable solid as springs. Rayleigh damping β of the stiffness is a damping c = β k of each spring, which over the
    /// critical one, 2 √(k m/2), is β/2 √(2k/m), with k = ⅖ E s and m = ρ s³.
    fn of_solid(loaded: &Loaded, name: &str, solid: &Solid) -> Result<Self, BuildError> {
        let s = loaded.scene.sph.spacing;
        let damping_ratio = 0.5 * solid.stiffness_damping * (0.8 * solid.young / (solid.density * s * s)).sqrt();
        let body = Body {
            density: solid.density,
            young: solid.young,
            damping_ratio,
            rotation: solid.rotation,
            velocity: solid.velocity,
            spin: solid.spin,
            fixed: solid.fixed.iter().map(|hold| Kept { region: hold.region.clone() }).collect(),
            ..Body::new(box_around(loaded, solid), Cohesion::Deformable)
        };
        Ok(Self { name: name.to_owned(), shape: solid_shape(loaded, name, solid)?, body })
    }

    fn of_rigid(loaded: &Loaded, name: &str, rigid: &Rigid) -> Result<Self, BuildError> {
        let as_solid = Solid { edge: rigid.edge, ..Solid::new(rigid.shape.clone()) };
        let body = Body {
            density: rigid.density,
            rotation: rigid.rotation,
            velocity: rigid.velocity,
            spin: rigid.spin,
            ..Body::new(box_around(loaded, &as_solid), Cohesion::Rigid)
        };
        Ok(Self { name: name.to_owned(), shape: solid_shape(loaded, name, &as_solid)?, body })
    }
}

fn box_around(loaded: &Loaded, solid: &Solid) -> scene::Shape {
    let Aabb { min, max } = bounds_at_rest(loaded, &solid.shape);
    scene::Shape::Box(scene::Bounds { min: min.to_array(), max: max.to_array() })
}

/// The shape of a solid before it is turned; what is no simple shape by its surface.
fn solid_shape(loaded: &Loaded, name: &str, solid: &Solid) -> Result<Shape, BuildError> {
    let at = DVec3::from_array;
    Ok(match &solid.shape {
        SolidShape::Box(b) => Shape::Box(Aabb { min: at(b.min), max: at(b.max) }),
        SolidShape::Sphere(s) => Shape::Sphere { center: at(s.center), radius: s.radius },
        SolidShape::Cylinder(c) => Shape::Cylinder { start: at(c.start), end: at(c.end), radius: c.radius },
        SolidShape::Mesh(file) => Shape::Mesh(loaded.mesh(file).clone()),
        SolidShape::Tube(_) | SolidShape::Pool(_) | SolidShape::Tets(_) => {
            let upright = Solid { rotation: [0.0; 3], ..solid.clone() };
            let (tets, _) = soft::tetrahedra(loaded, name, &upright)?;
            Shape::Mesh(compact(tets.vertices(), &tets.surface()))
        }
    })
}

/// Builds all bodies; `first` is the number of the first one among the bodies that are shown.
pub(crate) fn bodies(
    loaded: &Loaded,
    lumps: &[Lump],
    walls: &Boundaries,
    first: usize,
    warnings: &mut Vec<String>,
) -> Result<BodiesPart, BuildError> {
    let scene = &loaded.scene;
    let heaviest = |densities: &mut dyn Iterator<Item = f64>| densities.fold(0.0, f64::max);
    let speed_squared = speed_squared(loaded);
    let of_bodies = heaviest(&mut lumps.iter().map(|lump| lump.body.density));
    let of_liquids = heaviest(&mut scene.liquid.values().map(|liquid| liquid.density));
    let params = meniscus_particles::Params { friction: scene.contact.friction, ..scene.connections.clone() };
    let mut system = System::new(params, 20.0 * of_bodies * speed_squared, scene.time.courant)
        .with_liquid_modulus(3.0 * of_liquids * speed_squared);
    let (mut groups, mut skins) = (Vec::new(), Vec::new());
    for (number, lump) in lumps.iter().enumerate() {
        let start = system.bodies();
        add(loaded, lump, &mut system, &mut skins)?;
        let (name, shown_as) = (lump.name.clone(), (first + number) as u16);
        groups.push(Group { name, shown_as, bodies: start..system.bodies() });
    }
    for (name, wall) in scene.wall.keys().zip(0..).filter(|_| !groups.is_empty()) {
        if !walls.sides().iter().any(|side| side.wall == wall) {
            warnings.push(format!("wall `{name}` has no inside: bodies pass through it"));
        }
    }
    let compliance = |(body, skin): (usize, &Skin)| match system.inverse_inertia(body) {
        Some(_) => Vec::new(),
        None => skin.compliance(&system.inverse_masses()[system.particles_of(body)]),
    };
    let compliance = skins.iter().enumerate().map(compliance).collect();
    let spacings = lumps.iter().map(|lump| spacing(loaded, &lump.body));
    let bodies = BodiesPart {
        rest: system.state().position.clone(),
        system,
        groups,
        skins,
        compliance,
        walls: walls.clone(),
        begun: false,
        springs: ParticleSprings::default(),
        spacing: spacings.fold(0.0, f64::max),
    };
    warn_of_overlap(&bodies, warnings);
    Ok(bodies)
}

fn warn_of_overlap(bodies: &BodiesPart, warnings: &mut Vec<String>) {
    let system = &bodies.system;
    for group in &bodies.groups {
        let positions =
            group.bodies.clone().flat_map(|body| system.particles_of(body)).map(|i| system.state().position[i]);
        let behind = |position: &DVec3| {
            (0..bodies.walls.sides().len()).any(|side| bodies.walls.distance(side, *position).0 < 0.0)
        };
        let count = positions.filter(behind).count();
        if count > 0 {
            warnings.push(format!("body `{}`: {count} of its particles start behind a wall", group.name));
        }
    }
}

fn add(loaded: &Loaded, lump: &Lump, system: &mut System, skins: &mut Vec<Skin>) -> Result<(), BuildError> {
    let Lump { name, shape, body } = lump;
    let matter = Matter { spacing: spacing(loaded, body), density: body.density };
    let positions = fill(shape, matter.spacing, &[]).map_err(|e| wrong(name, &e))?;
    let surface = surface(shape, matter.spacing);
    let skin = Skin::new(surface.vertices(), surface.triangles(), &positions, matter.spacing);
    let fixed = body.fixed.iter().map(|kept| Region::new(&to_shape(loaded, &kept.region)));
    let fixed = fixed.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(name, &e))?;
    let middle = shape.bounds().center();
    for (offset, turn) in copies(body) {
        let positions: Vec<DVec3> = positions.iter().map(|&p| middle + turn * (p - middle) + offset).collect();
        match body.kind {
            Cohesion::Rigid => {
                let mut rigid = matter.rigid(name, &positions).map_err(|e| wrong(name, &e))?;
                rigid.motion.velocity = DVec3::from_array(body.velocity);
                rigid.spin(DVec3::from_array(body.spin));
                system.add_rigid(&rigid).map_err(|e| wrong(name, &e))?;
            }
            Cohesion::Deformable => {
                let elastic = Elastic { young: body.young, damping: body.damping_ratio };
                let mut soft = matter.deformable(name, &positions, elastic).map_err(|e| wrong(name, &e))?;
                throw(&mut soft.particles, body);
                let slack = 1e-9 * matter.spacing;
                for e in soft.particles.iter_mut().filter(|e| fixed.iter().any(|f| f.is_nearer(e.position, slack))) {
                    *e = Particle { mass: f64::INFINITY, velocity: DVec3::ZERO, ..*e };
                }
                system.add_deformable(&soft).map_err(|e| wrong(name, &e))?;
            }
        }
        skins.push(skin.clone());
    }
    Ok(())
}

/// Where the copies of a body are, and how they are turned.
fn copies(body: &Body) -> impl Iterator<Item = (DVec3, DQuat)> {
    let degrees = |v: [f64; 3]| DVec3::from_array(v).map(f64::to_radians);
    let more = body.repeat.as_ref().map_or(DVec3::ZERO, |repeat| degrees(repeat.rotation));
    let own = DQuat::from_scaled_axis(degrees(body.rotation));
    let turned = move |number: usize| DQuat::from_scaled_axis(more * number as f64) * own;
    body.copies().into_iter().enumerate().map(move |(number, offset)| (DVec3::from_array(offset), turned(number)))
}

/// Velocities of a deformable body at the start.
fn throw(particles: &mut [Particle], body: &Body) {
    let center = particles.iter().map(|e| e.position).sum::<DVec3>() / particles.len() as f64;
    let (velocity, spin) = (DVec3::from_array(body.velocity), DVec3::from_array(body.spin));
    particles.iter_mut().for_each(|e| e.velocity = velocity + spin.cross(e.position - center));
}

/// A surface that can bend with the particles.
fn surface(shape: &Shape, spacing: f64) -> TriangleMesh {
    match shape {
        Shape::Box(bounds) => {
            let cells = (bounds.size() / spacing).round().max(DVec3::ONE).as_uvec3().to_array();
            let block = TetMesh::block(bounds.min, bounds.max, cells);
            compact(block.vertices(), &block.surface())
        }
        &Shape::Sphere { center, radius } => {
            solids::icosphere(center, radius, (2.0 * radius / spacing).round().clamp(3.0, 16.0) as u32)
        }
        &Shape::Cylinder { start, end, radius } => {
            solids::cylinder(start, end, radius, (6.0 * radius / spacing).round().clamp(12.0, 64.0) as u32)
        }
        Shape::Mesh(mesh) => mesh.clone(),
    }
}

/// The surface without the vertices inside.
pub(crate) fn compact(vertices: &[DVec3], triangles: &[[u32; 3]]) -> TriangleMesh {
    const NONE: u32 = u32::MAX;
    let (mut number, mut kept) = (vec![NONE; vertices.len()], Vec::new());
    let triangles = triangles.iter().map(|t| {
        t.map(|vertex| {
            let vertex = vertex as usize;
            if number[vertex] == NONE {
                number[vertex] = kept.len() as u32;
                kept.push(vertices[vertex]);
            }
            number[vertex]
        })
    });
    let triangles: Vec<_> = triangles.collect();
    // Parts of a sound mesh are sound.
    TriangleMesh::new(kept, triangles).unwrap_or_else(|_| solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE)))
}

/// About how many particles all bodies of a scene have, and the memory that they need \[bytes\].
pub(crate) fn size_estimate(loaded: &Loaded) -> (f64, f64) {
    let of =
        |body: &Body| body.count() * count_estimate(&to_shape(loaded, &body.shape), spacing(loaded, body)).max(0.0);
    let particles: f64 = loaded.scene.body.values().map(of).sum();
    let spacing = loaded.scene.sph.spacing;
    let as_lattice = |shape| match shape {
        BodyShape::Solid(shape) if loaded.scene.method == Method::Connections => {
            bounds_at_rest(loaded, shape).size().element_product() / (spacing * spacing * spacing)
        }
        _ => 0.0,
    };
    let particles = particles + loaded.scene.bodies().map(|(.., body)| as_lattice(body.shape())).sum::<f64>();
    (particles, particles * BYTES_PER_PARTICLE)
}

/// The square of the speed to be expected \[m²/s²\]: that of a fall from the highest body to the lowest place, or of a
/// liquid, on top of the speeds given.
fn speed_squared(loaded: &Loaded) -> f64 {
    let down = DVec3::from_array(loaded.scene.gravity);
    let all = super::bounds_of(loaded);
    let height = |b: &Aabb| DVec3::select(down.cmpgt(DVec3::ZERO), b.max, b.min).dot(down);
    let top = |b: &Aabb| DVec3::select(down.cmpgt(DVec3::ZERO), b.min, b.max).dot(down);
    let fall = super::bounds_of_bodies(loaded).map(|b| height(&all) - top(&b)).fold(0.0, f64::max);
    let scene = &loaded.scene;
    let velocities = scene.bodies().map(|(.., body)| body.velocity());
    let thrown = velocities.map(|v| DVec3::from_array(v).length_squared()).fold(0.0, f64::max);
    super::speed_squared(loaded).max(2.0 * fall + thrown)
}

/// Lets the particles of bodies join a liquid, as liquids of their own.
pub(crate) fn join(loaded: &Loaded, lumps: &[Lump], bodies: &BodiesPart, liquid: &mut Liquid) {
    let scene = &loaded.scene;
    let viscosity = scene.liquid.values().map(|l| l.viscosity).fold(0.0, f64::max);
    let liquids = scene.liquid.len() as u16;
    liquid.set_parameters(|setup| {
        let of_body = |lump: &Lump| {
            (lump.name.clone(), Material { density: lump.body.density, viscosity, ..Material::default() })
        };
        setup.materials.extend(lumps.iter().map(of_body));
    });
    let mut particles = bodies.as_liquid();
    for (number, group) in bodies.groups.iter().enumerate() {
        let count: usize = group.bodies.clone().map(|body| bodies.system.particles_of(body).len()).sum();
        liquid.add(liquids + number as u16, particles.by_ref().take(count).map(|(x, v)| [x, v]));
    }
}

/// Takes away liquid that starts inside bodies and says how much.
pub(crate) fn make_room(
    bodies: &BodiesPart,
    liquid_coupling: LiquidCoupling,
    liquid: &mut Liquid,
    warnings: &mut Vec<String>,
) {
    if liquid_coupling == LiquidCoupling::Skins {
        for group in &bodies.groups {
            let surfaces = group
                .bodies
                .clone()
                .map(|body| TriangleMesh::new(bodies.carried(body).collect(), bodies.skins[body].triangles().to_vec()));
            clearance::leave_out(liquid, &group.name, surfaces.flatten(), warnings);
        }
        return;
    }
    let inside = leave_out_of_particles(bodies, liquid_coupling, liquid);
    if inside > 0 {
        warnings.push(format!("{inside} particles of liquid lie in bodies and are left out"));
    }
}

fn leave_out_of_particles(bodies: &BodiesPart, liquid_coupling: LiquidCoupling, liquid: &mut Liquid) -> usize {
    let system = &bodies.system;
    let positions: Vec<Vec3> = system.state().position.iter().map(|p| p.as_vec3()).collect();
    let radius = match liquid_coupling {
        LiquidCoupling::Sph => 0.5 * liquid.setup().params.spacing,
        _ => drop_radius(liquid),
    };
    let largest = system.radii().iter().copied().fold(0.0, f64::max);
    let mut grid = NeighbourGrid::default();
    grid.sort(&positions, (largest + radius) as f32, Periodic::default());
    let reach = Vec3::splat((largest + radius) as f32);
    liquid.retain(|particles, i| {
        let (x, mut free) = (particles.position[i], true);
        grid.for_each_range_in(x - reach, x + reach, |range| {
            for &j in &grid.order()[range] {
                let touch = 0.95 * (system.radii()[j as usize] + radius);
                free &= f64::from(positions[j as usize].distance(x)) >= touch;
            }
        });
        free
    })
}
