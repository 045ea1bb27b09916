//! `no-leak`: liquid shaken in a box and in a bowl with a lid stays inside.

use crate::worlds::{run_until, world_with};
use crate::{Row, Size, bound, failed, given};
use glam::{DQuat, DVec3};
use meniscus::geometry::{TriangleMesh, write_ply};
use meniscus::sim::World;
use std::f64::consts::{PI, TAU};

const CASE: &str = "no-leak";
/// How long it is shaken \[s\]: fine, quick.
const SECONDS: [f64; 2] = [10.0, 1.5];
/// Particles may go most of a spacing in a step: steps twice as long as usual are the harder test, and take half the time.
const COURANT: f64 = 0.8;
/// The box slides this far \[m\], there and back in a period \[s\].
const SLIDE: (f64, f64) = (0.25, 1.0);
/// The bowl swings by this angle \[degrees\], there and back in a period \[s\].
const SWING: (f64, f64) = (50.0, 1.0);
/// Radius of the bowl \[m\].
const RADIUS: f64 = 0.3;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let (particles, seconds) = if size == Size::Fine { (100_000.0, SECONDS[0]) } else { (20_000.0, SECONDS[1]) };
    let (in_box, in_bowl) = rayon::join(|| shake_box(particles, seconds), || shake_bowl(particles, seconds));
    let rows = [("box", in_box), ("bowl", in_bowl)].into_iter().flat_map(|(vessel, result)| match result {
        Err(error) => failed(CASE, &format!("{vessel}: {error}")),
        Ok((count, outside)) => {
            // A vessel that is not filled leaks nothing.
            let outside = given(count as f64 > 0.5 * particles, outside as f64);
            vec![bound(CASE, &format!("particles of {count} outside the {vessel}"), outside, 0.0).asked()]
        }
    });
    rows.collect()
}

fn shake_box(particles: f64, seconds: f64) -> Result<(usize, usize), String> {
    let spacing = (0.4 * 0.4 * 0.4 / particles).cbrt();
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\ndensity_error = 1e-3\npressure_error = 0.5\n[time]\ncourant = {COURANT:?}\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.4] }} }}]\n\
         [wall.box]\nshape = {{ box = {{ min = [0, 0, 0], max = [0.6, 0.6, 0.4] }} }}\n\
         motion = {{ slide = {{ displacement = [{:?}, 0, 0], period = {:?} }} }}\n",
        SLIDE.0, SLIDE.1
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    count(world_with(CASE, &scene, &none)?, seconds, |time, x| {
        let at = x - DVec3::X * (0.5 * SLIDE.0 * (1.0 - (TAU * time / SLIDE.1).cos()));
        let (min, max) = (DVec3::ZERO, DVec3::new(0.6, 0.6, 0.4));
        at.cmpge(min).all() && at.cmple(max).all()
    })
}

fn shake_bowl(particles: f64, seconds: f64) -> Result<(usize, usize), String> {
    // Two thirds of the bowl are full.
    let spacing = (4.0 / 9.0 * PI * RADIUS.powi(3) / particles).cbrt();
    let level = -0.226 * RADIUS;
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\ndensity_error = 1e-3\npressure_error = 0.5\n[time]\ncourant = {COURANT:?}\n\
         [liquid.water]\nfill = [{{ mesh = {{ file = \"filled.ply\" }} }}]\n\
         [wall.bowl]\nshape = {{ mesh = {{ surface = {{ file = \"bowl.ply\" }}, wet = \"inside\" }} }}\n\
         motion = {{ swing = {{ center = [0, 0.2, 0], axis = [0, 0, 1], angle = {:?}, period = {:?} }} }}\n",
        SWING.0, SWING.1
    );
    let files = |name: &str| {
        let mut bytes = Vec::new();
        let mesh = if name == "bowl.ply" { bowl(RADIUS, 0.0) } else { bowl(RADIUS - 0.5 * spacing, level) };
        write_ply(&mesh, &mut bytes).map(|()| bytes)
    };
    let facets = bowl(RADIUS, 0.0);
    let inner = RADIUS * (PI / f64::from(2 * SEGMENTS)).cos();
    count(world_with(CASE, &scene, &files)?, seconds, |time, x| {
        let angle = 0.5 * SWING.0.to_radians() * (1.0 - (TAU * time / SWING.1).cos());
        let hinge = DVec3::new(0.0, 0.2, 0.0);
        let at = hinge + DQuat::from_axis_angle(DVec3::Z, -angle) * (x - hinge);
        // Facets lie inside the sphere, but by less than this.
        at.y <= 0.0 && at.length() <= RADIUS && (at.length() <= inner || facet_holds(&facets, at))
    })
}

/// Segments round the bowl.
const SEGMENTS: u32 = 48;
/// Rings from the pole to the rim.
const RINGS: u32 = 16;

/// Whether a point between the facets and the sphere is on the inner side of its facet.
fn facet_holds(mesh: &TriangleMesh, at: DVec3) -> bool {
    let worst = mesh.corners().map(|[a, b, c]| (b - a).cross(c - a).normalize_or_zero().dot(at - a));
    worst.fold(f64::NEG_INFINITY, f64::max) <= 1e-6 * RADIUS
}

/// The lower part of a ball, closed by a flat lid at a height.
fn bowl(radius: f64, level: f64) -> TriangleMesh {
    let last = (-level / radius).acos();
    let mut vertices = vec![DVec3::new(0.0, -radius, 0.0)];
    for ring in 1..=RINGS {
        let polar = last * f64::from(ring) / f64::from(RINGS);
        for segment in 0..SEGMENTS {
            let around = TAU * f64::from(segment) / f64::from(SEGMENTS);
            let out = DVec3::new(around.cos(), 0.0, around.sin());
            vertices.push((out * polar.sin() - DVec3::Y * polar.cos()) * radius);
        }
    }
    let lid = vertices.len() as u32;
    vertices.push(DVec3::new(0.0, level, 0.0));
    let at = |ring: u32, segment: u32| 1 + (ring - 1) * SEGMENTS + segment % SEGMENTS;
    let mut triangles = Vec::new();
    for segment in 0..SEGMENTS {
        triangles.push([0, at(1, segment), at(1, segment + 1)]);
        for ring in 1..RINGS {
            let [a, b] = [at(ring, segment), at(ring, segment + 1)];
            let [c, d] = [at(ring + 1, segment), at(ring + 1, segment + 1)];
            triangles.extend([[a, c, b], [b, c, d]]);
        }
        triangles.push([lid, at(RINGS, segment + 1), at(RINGS, segment)]);
    }
    TriangleMesh::new(vertices, triangles).unwrap_or_else(|_| unreachable!("the bowl is a mesh"))
}

/// Shakes, and counts how many particles there are and how many were ever found outside.
fn count(mut world: World, seconds: f64, inside: impl Fn(f64, DVec3) -> bool) -> Result<(usize, usize), String> {
    let count = world.frame().particles.positions.len();
    let mut outside = 0;
    let mut time = 0.0;
    while time < seconds {
        time += 0.1;
        run_until(&mut world, time)?;
        let positions = world.frame().particles.positions;
        outside += positions.iter().filter(|x| !inside(world.time(), x.as_dvec3())).count() + (count - positions.len());
    }
    Ok((count, outside))
}
