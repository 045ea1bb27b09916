//! From the solids of a scene to bodies of tetrahedra.

use super::{BuildError, to_shape};
use crate::parts::{Held, SoftKind, SoftPart, TornSkin};
use glam::{DQuat, DVec3};
use meniscus_boundary::Boundaries;
use meniscus_coupling::liquid_fem::{Lent, Whole};
use meniscus_fem::contact::Contact;
use meniscus_fem::{Axes, Body, Order};
use meniscus_geometry::{Aabb, Pool, Region, Shape, TetMesh, TetOptions, TetSize, TriangleMesh, Tube, mesh_tets};
use meniscus_scene::{Axis, Loaded, Method, Solid, SolidShape};
use std::f64::consts::PI;

/// Bytes that a tetrahedron needs at most: state twice, stiffness, matrix, preconditioner.
fn bytes_per_tet(order: Order) -> f64 {
    match order {
        Order::Linear => 3000.0,
        Order::Quadratic => 18_000.0,
    }
}

/// A wrong solid: `why` says it.
pub(crate) fn wrong(name: &str, why: &dyn std::fmt::Display) -> BuildError {
    BuildError::Solid { solid: name.to_owned(), message: why.to_string() }
}

/// Builds all solids of tetrahedra; `first` is the number of the first one among the bodies that are shown.
pub(crate) fn soft(
    loaded: &Loaded,
    walls: &Boundaries,
    first: usize,
    warnings: &mut Vec<String>,
) -> Result<SoftPart, BuildError> {
    let scene = &loaded.scene;
    let contact = Contact::new(scene.contact).map_err(|e| wrong("contact", &e))?;
    let (mut kinds, mut bodies) = (Vec::new(), Vec::new());
    for (number, (name, solid)) in scene.solid.iter().enumerate() {
        let (mesh, surface) = tetrahedra(loaded, name, solid)?;
        let mut body = Body::new(name, &mesh, solid.fem, solid.material()).map_err(|e| wrong(name, &e))?;
        throw(&mut body, solid);
        let holds = hold(loaded, name, solid, &mut body, warnings)?;
        let edge = mean_edge(&mesh);
        let breaks = solid.fracture.is_some();
        let skin = surface.map(|surface| TornSkin::new(&mesh, &surface, edge, breaks).for_body(&body));
        // Only liquid asks how it yields.
        let frequency = if scene.liquid.is_empty() { 0.0 } else { body.lowest_frequency() };
        let whole = Whole { nodes: body.positions().len(), frequency };
        kinds.push(SoftKind { name: name.clone(), shown_as: (first + number) as u16, holds, skin, edge, whole });
        bodies.push(body);
    }
    for (name, wall) in scene.wall.keys().zip(0..).filter(|_| !kinds.is_empty()) {
        if !walls.sides().iter().any(|side| side.wall == wall) {
            warnings.push(format!("wall `{name}` has no inside: solids pass through it"));
        }
    }
    Ok(SoftPart {
        kind_of: (0..kinds.len() as u16).collect(),
        sides: walls.sides().iter().map(|side| side.wall).collect(),
        kinds,
        bodies,
        contact,
        lent: Lent::default(),
        begun: false,
    })
}

/// The tetrahedra of a solid, and the surface that is shown instead of theirs, if there is one; both turned.
pub(crate) fn tetrahedra(
    loaded: &Loaded,
    name: &str,
    solid: &Solid,
) -> Result<(TetMesh, Option<TriangleMesh>), BuildError> {
    let (mesh, mut surface) = match &solid.shape {
        SolidShape::Mesh(file) => {
            let surface = loaded.mesh(file).clone();
            let options = match solid.size() {
                TetSize::Count(count) => TetOptions::count(count),
                TetSize::Edge(edge) => TetOptions::edge(edge),
            };
            (mesh_tets(&surface, &options).map_err(|e| wrong(name, &e))?.mesh, Some(surface))
        }
        SolidShape::Tets(file) => (loaded.tets(file).clone(), None),
        _ => (generated(name, solid)?, None),
    };
    if solid.rotation == [0.0; 3] {
        return Ok((mesh, surface));
    }
    let turned = turn_about(loaded, solid);
    if let Some(surface) = &mut surface {
        surface.vertices_mut().iter_mut().for_each(|p| *p = turned(*p));
    }
    let vertices = mesh.vertices().iter().map(|&p| turned(p)).collect();
    Ok((TetMesh::new(vertices, mesh.tets().to_vec()).map_err(|e| wrong(name, &e))?, surface))
}

/// Turns positions of a solid as its `rotation` says.
pub(crate) fn turn_about(loaded: &Loaded, solid: &Solid) -> impl Fn(DVec3) -> DVec3 + use<> {
    let turn = DQuat::from_scaled_axis(DVec3::from_array(solid.rotation).map(f64::to_radians));
    let middle = bounds_at_rest(loaded, &solid.shape).center();
    let turns = solid.rotation != [0.0; 3];
    move |p| if turns { middle + turn * (p - middle) } else { p }
}

fn generated(name: &str, solid: &Solid) -> Result<TetMesh, BuildError> {
    let size = solid.size();
    let edge = edge_of(solid);
    let tets = estimate(solid);
    if tets > meniscus_geometry::LARGEST_BODY {
        return Err(wrong(name, &format!("it would have {tets:.1e} tetrahedra: make `edge` longer")));
    }
    let cells = |length: f64| cells(length, edge) as u32;
    let at = DVec3::from_array;
    let made = match &solid.shape {
        SolidShape::Box(bounds) => {
            let (min, max) = (at(bounds.min), at(bounds.max));
            return Ok(TetMesh::block(min, max, (max - min).to_array().map(cells)));
        }
        SolidShape::Sphere(sphere) => TetMesh::ball(at(sphere.center), sphere.radius, cells(sphere.radius)),
        SolidShape::Cylinder(c) => {
            let ends = [at(c.start), at(c.end)];
            TetMesh::cylinder(ends, c.radius, cells(c.radius), cells(ends[0].distance(ends[1])))
        }
        SolidShape::Tube(tube) => {
            let (start, end) = (at(tube.start), at(tube.end));
            TetMesh::tube(&Tube {
                start,
                end,
                radii: [tube.inner_radius, tube.outer_radius],
                around: cells(PI * (tube.inner_radius + tube.outer_radius)),
                along: cells(start.distance(end)),
                through: cells(tube.outer_radius - tube.inner_radius),
            })
        }
        SolidShape::Pool(pool) => {
            let inside = Aabb { min: at(pool.min), max: at(pool.max) };
            TetMesh::pool(&Pool { inside, wall: pool.thickness, size })
        }
        SolidShape::Mesh(_) | SolidShape::Tets(_) => unreachable!("a file is read"),
    };
    made.map_err(|e| wrong(name, &e))
}

/// Length of the edges of a generated body \[m\] that gives about as many tetrahedra as the scene asks for.
fn edge_of(solid: &Solid) -> f64 {
    let count = match solid.size() {
        TetSize::Edge(edge) => return edge,
        TetSize::Count(count) => count as f64,
    };
    // The number only falls with the edge; between these two it is right.
    let (mut low, mut high) = (1e-9, 1e9);
    for _ in 0..60 {
        let middle = f64::sqrt(low * high);
        if tets_with(solid, middle) > count { low = middle } else { high = middle }
    }
    high
}

/// Cells of about this edge along a length \[m\].
fn cells(length: f64, edge: f64) -> f64 {
    (length / edge).round().max(1.0)
}

/// Tetrahedra of a generated body with edges of about this length \[m\]; none for files.
fn tets_with(solid: &Solid, edge: f64) -> f64 {
    let at = DVec3::from_array;
    let n = |length: f64| cells(length, edge);
    match &solid.shape {
        SolidShape::Box(b) => 5.0 * (at(b.max) - at(b.min)).map(n).element_product(),
        SolidShape::Sphere(s) => 20.0 * n(s.radius) * n(s.radius) * n(s.radius),
        SolidShape::Cylinder(c) => 18.0 * n(c.radius) * n(c.radius) * n(at(c.start).distance(at(c.end))),
        SolidShape::Tube(t) => {
            let around = n(PI * (t.inner_radius + t.outer_radius)).max(6.0);
            5.0 * around * n(at(t.start).distance(at(t.end))) * n(t.outer_radius - t.inner_radius)
        }
        SolidShape::Pool(p) => {
            let inside = at(p.max) - at(p.min);
            let outside = inside + p.thickness * DVec3::new(2.0, 1.0, 2.0);
            5.0 * (outside.map(n).element_product() - inside.map(n).element_product()).max(1.0)
        }
        SolidShape::Mesh(_) | SolidShape::Tets(_) => 0.0,
    }
}

/// About how many tetrahedra a generated solid has.
fn estimate(solid: &Solid) -> f64 {
    match solid.size() {
        TetSize::Count(count) => count as f64,
        TetSize::Edge(edge) => tets_with(solid, edge),
    }
}

fn tets_of(loaded: &Loaded, solid: &Solid) -> f64 {
    match &solid.shape {
        SolidShape::Tets(file) => loaded.tets(file).tets().len() as f64,
        SolidShape::Mesh(file) => match solid.size() {
            TetSize::Count(count) => count as f64,
            // A lattice of the body-centred cubes has twelve in each.
            TetSize::Edge(edge) => 12.0 * loaded.mesh(file).signed_volume() / (edge * edge * edge),
        },
        _ => estimate(solid),
    }
}

/// About how many tetrahedra all solids of a scene have, and the memory that they need \[bytes\].
pub(crate) fn size_estimate(loaded: &Loaded) -> (f64, f64) {
    let as_tets = loaded.scene.solid.values().filter(|_| loaded.scene.method != Method::Connections);
    as_tets.fold((0.0, 0.0), |(tets, bytes), solid| {
        let own = tets_of(loaded, solid);
        (tets + own, bytes + own * bytes_per_tet(solid.fem.order))
    })
}

/// Bytes that a particle of an elastic solid needs at most: its bonds, most of all.
const BYTES_PER_SOLID_PARTICLE: f64 = 5000.0;

/// The memory that surfaces of rigid bodies and particles of solids need \[bytes\].
pub(crate) fn other_bytes(loaded: &Loaded) -> f64 {
    let scene = &loaded.scene;
    let rigid = |rigid: &meniscus_scene::Rigid| match rigid.edge {
        Some(_) => tets_of(loaded, &Solid { edge: rigid.edge, ..Solid::new(rigid.shape.clone()) }),
        None => 0.0,
    };
    let surfaces: f64 = scene.rigid.values().map(rigid).sum::<f64>() * bytes_per_tet(meniscus_fem::Order::Linear);
    let spacing = scene.sph.spacing;
    let particles =
        |solid: &Solid| bounds_at_rest(loaded, &solid.shape).size().element_product() / (spacing * spacing * spacing);
    let unified = scene.method == meniscus_scene::Method::Unified;
    let solids: f64 = if unified { scene.solid.values().map(particles).sum() } else { 0.0 };
    surfaces + solids * BYTES_PER_SOLID_PARTICLE
}

/// The box around a solid, before it is turned.
pub(crate) fn bounds_at_rest(loaded: &Loaded, shape: &SolidShape) -> Aabb {
    let at = DVec3::from_array;
    let cylinder = |start, end, radius| Shape::Cylinder { start: at(start), end: at(end), radius }.bounds();
    match shape {
        SolidShape::Box(b) => Aabb { min: at(b.min), max: at(b.max) },
        SolidShape::Sphere(s) => Shape::Sphere { center: at(s.center), radius: s.radius }.bounds(),
        SolidShape::Cylinder(c) => cylinder(c.start, c.end, c.radius),
        SolidShape::Tube(t) => cylinder(t.start, t.end, t.outer_radius),
        SolidShape::Pool(p) => {
            let t = p.thickness;
            Aabb { min: at(p.min) - t, max: at(p.max) + DVec3::new(t, 0.0, t) }
        }
        SolidShape::Mesh(file) => loaded.mesh(file).bounds(),
        SolidShape::Tets(file) => Aabb::around(loaded.tets(file).vertices().iter().copied()),
    }
}

/// Velocities at the start.
fn throw(body: &mut Body, solid: &Solid) {
    let (velocity, spin) = (DVec3::from_array(solid.velocity), DVec3::from_array(solid.spin));
    let center = body.center();
    let (x, v) = body.motion_mut();
    v.iter_mut().zip(x).for_each(|(v, x)| *v = velocity + spin.cross(*x - center));
}

fn hold(
    loaded: &Loaded,
    name: &str,
    solid: &Solid,
    body: &mut Body,
    warnings: &mut Vec<String>,
) -> Result<Vec<Held>, BuildError> {
    let mut holds = Vec::new();
    for (index, hold) in solid.fixed.iter().enumerate() {
        let region = Region::new(&to_shape(loaded, &hold.region)).map_err(|e| wrong(name, &e))?;
        let held = Held { region, motion: hold.motion.clone() };
        let along = |axis| hold.axes.contains(&axis);
        let axes = Axes { x: along(Axis::X), y: along(Axis::Y), z: along(Axis::Z) };
        if body.fix_axes(axes, |position| held.holds(position)) == 0 {
            warnings.push(format!("solid `{name}`, fixed {index}: there is no node in the region"));
        }
        holds.push(held);
    }
    Ok(holds)
}

/// Mean length of the edges of the surface \[m\].
fn mean_edge(mesh: &TetMesh) -> f64 {
    let surface = mesh.surface();
    let at = |node: u32| mesh.vertices()[node as usize];
    let sum: f64 =
        surface.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).map(|[a, b]| at(a).distance(at(b))).sum();
    sum / (3 * surface.len()).max(1) as f64
}
