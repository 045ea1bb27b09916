//! Measures tetrahedral meshing: `cargo run --release -p meniscus-geometry --example stuffing`, with `-- huge` on a
//! surface of ten million triangles.

use std::time::Instant;

use glam::DVec3;
use meniscus_geometry::{Bvh, TetOptions, TriangleMesh, mesh_tets, solids};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:<22} {:>7} {:>7} {:>9} {:>9} {:>8} {:>8} {:>7} {:>8}",
        "solid", "asked", "tets", "volume", "level/h", "min °", "max °", "aspect", "s"
    );
    if std::env::args().any(|argument| argument == "huge") {
        return huge();
    }
    let bodies = [
        ("sphere", solids::icosphere(DVec3::ZERO, 0.1, 5)),
        ("torus", solids::torus(DVec3::ZERO, 0.1, 0.035, [120, 40])),
        ("box", solids::cuboid(&meniscus_geometry::Aabb::new(DVec3::ZERO, DVec3::new(0.2, 0.1, 0.1)))),
    ];
    for (name, surface) in &bodies {
        for count in [500, 2_000, 10_000, 50_000, 100_000] {
            row(name, surface, count)?;
        }
    }
    Ok(())
}

fn row(name: &str, surface: &TriangleMesh, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let stuffed = mesh_tets(surface, &TetOptions::count(count))?;
    let seconds = start.elapsed().as_secs_f64();
    let quality = stuffed.mesh.quality();
    println!(
        "{name:<22} {count:>7} {:>7} {:>+8.3}% {:>9.3} {:>8.2} {:>8.2} {:>7.2} {seconds:>8.2}",
        stuffed.mesh.tets().len(),
        100.0 * stuffed.volume_error,
        stuffed.level / stuffed.edge,
        quality.min_dihedral,
        quality.max_dihedral,
        quality.max_aspect,
    );
    Ok(())
}

/// A sphere of ten million triangles.
fn huge() -> Result<(), Box<dyn std::error::Error>> {
    let sphere = solids::uv_sphere(DVec3::ZERO, 0.1, 3200, 1600);
    let timed = |what: &str, start: Instant| println!("  {what}: {:.1} s, {}", start.elapsed().as_secs_f64(), memory());
    println!("{} triangles, {}", sphere.triangles().len(), memory());
    let start = Instant::now();
    sphere.closed()?;
    timed("closed", start);
    let start = Instant::now();
    let tree = Bvh::new(&sphere);
    timed("tree", start);
    let start = Instant::now();
    assert!(tree.self_crossing().is_none());
    timed("self-crossings", start);
    drop(tree);
    row("huge sphere", &sphere, 10_000)?;
    println!("{}", memory());
    Ok(())
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("memory not known").replace('\t', " ")
}
