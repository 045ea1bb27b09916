//! `unified-draught`: how deep elastic bodies float.

use crate::worlds::{run_until, world_with};
use crate::{Plot, Row, Size, absolute, failed, mean};
use glam::DVec3;
use meniscus::geometry::{Aabb, TriangleMesh, solids};
use meniscus::sim::World;

const CASE: &str = "unified-draught";

/// Length of the duck \[m\].
const DUCK: f64 = 0.3;

/// Density of the bodies over that of water.
const LIGHTNESS: f64 = 0.5;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.01 } else { 0.02 };
    let shapes = [
        ("box", "box = { min = [-0.12, 0.18, -0.12], max = [0.12, 0.3, 0.12] }".to_owned()),
        ("duck", "mesh = { file = \"duck.obj\", offset = [0, 0.16, 0] }".to_owned()),
    ];
    let rows = shapes.map(|(name, shape)| float(name, &shape, spacing).unwrap_or_else(|error| failed(CASE, &error)));
    rows.into_iter().flatten().collect()
}

/// The duck as a file of a scene.
fn file(_: &str) -> std::io::Result<Vec<u8>> {
    let duck = solids::duck(DUCK, 24);
    let vertices = duck.vertices().iter().map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let triangles = duck.triangles().iter().map(|t| {
        let [a, b, c] = t.map(|k| k + 1);
        format!("f {a} {b} {c}\n")
    });
    Ok(vertices.chain(triangles).collect::<String>().into_bytes())
}

fn float(name: &str, shape: &str, spacing: f64) -> Result<Vec<Row>, String> {
    let scene = format!(
        "method = \"unified\"\n[sph]\nspacing = {spacing:?}\n\
         [liquid.water]\nviscosity = 1\nfill = [{{ box = {{ min = [-0.2, 0, -0.2], max = [0.2, 0.2, 0.2] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [-0.2, 0, -0.2], max = [0.2, 1, 0.2], open = [\"+y\"] }} }}\n\
         [solid.body]\nyoung = 1e5\ndensity = {}\nmass_damping = 0\nstiffness_damping = 0.0005\nshape = {{ {shape} }}\n",
        1000.0 * LIGHTNESS
    );
    let mut world = world_with(CASE, &scene, &file)?;
    let mut track = Vec::new();
    for k in 0..60 {
        run_until(&mut world, 0.05 * f64::from(k))?;
        // Half of the volume under water: how far the level is from where it should be, over the area of the water line.
        let (area, volume) = measure(&world)?;
        track.push([world.time(), (submerged(&world, spacing)? - LIGHTNESS) * volume / area / spacing]);
    }
    if track[0][1].abs() <= 0.5 {
        return Err(format!("the {name} starts where it should come to rest"));
    }
    // The mean over a second of what is left of bobbing.
    let error = mean(track[40..].iter().map(|point| point[1]));
    let plot = Plot::new("t [s]", &format!("{name}: too deep by, over a spacing")).measured("ours", &track);
    let plot = plot.level("Archimedes", [0.0, 3.0], 0.0);
    Ok(vec![absolute(CASE, &format!("draught of the {name} over a spacing"), [0.0, error], 0.5).asked().with(plot)])
}

fn surface(world: &World) -> Result<TriangleMesh, String> {
    let frame = world.frame();
    let shown = frame.surfaces.last().ok_or("the body is not shown")?;
    let positions = shown.positions.iter().map(|p| p.as_dvec3()).collect();
    TriangleMesh::new(positions, shown.triangles.clone()).map_err(|e| e.to_string())
}

/// Height of the water: half a spacing above the topmost particles, in the mean over columns away from the body.
fn level(world: &World, spacing: f64, body: &Aabb) -> f64 {
    let frame = world.frame();
    let mut tops = std::collections::BTreeMap::new();
    for p in frame.particles.positions.iter().map(|p| p.as_dvec3()) {
        let beside = p.x < body.min.x - spacing || p.x > body.max.x + spacing;
        if beside || p.z < body.min.z - spacing || p.z > body.max.z + spacing {
            let cell = [(p.x / (2.0 * spacing)).floor() as i64, (p.z / (2.0 * spacing)).floor() as i64];
            let top = tops.entry(cell).or_insert(f64::NEG_INFINITY);
            *top = if *top >= p.y { *top } else { p.y };
        }
    }
    mean(tops.values().copied()) + 0.5 * spacing
}

/// Part of the body's volume below the water's surface.
fn submerged(world: &World, spacing: f64) -> Result<f64, String> {
    let mesh = surface(world)?;
    let height = level(world, spacing, &mesh.bounds());
    Ok(below(&mesh, height) / mesh.signed_volume())
}

/// Volume of a closed mesh below a height \[m³\]: each triangle with the plane, cut where it crosses.
fn below(mesh: &TriangleMesh, height: f64) -> f64 {
    let top = DVec3::Y * height;
    let mut volume = 0.0;
    for corners in mesh.corners() {
        let mut part: Vec<DVec3> = Vec::new();
        for k in 0..3 {
            let (a, b) = (corners[k] - top, corners[(k + 1) % 3] - top);
            if a.y <= 0.0 {
                part.push(a);
            }
            if (a.y < 0.0) != (b.y < 0.0) && a.y != b.y {
                part.push(a + (b - a) * (a.y / (a.y - b.y)));
            }
        }
        // With the origin in the cutting plane, the cut itself adds nothing.
        for k in 2..part.len() {
            volume += part[0].dot(part[k - 1].cross(part[k])) / 6.0;
        }
    }
    volume
}

/// Area of the water line \[m²\] when the body floats as it should, and its volume \[m³\].
fn measure(world: &World) -> Result<(f64, f64), String> {
    let mesh = surface(world)?;
    let (bounds, volume) = (mesh.bounds(), mesh.signed_volume());
    let (mut low, mut high) = (bounds.min.y, bounds.max.y);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if below(&mesh, middle) < LIGHTNESS * volume { low = middle } else { high = middle }
    }
    let d = 0.01 * (bounds.max.y - bounds.min.y);
    Ok(((below(&mesh, low + d) - below(&mesh, low - d)) / (2.0 * d), volume))
}
