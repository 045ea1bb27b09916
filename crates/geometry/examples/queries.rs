//! Measures the tree over some bodies: `cargo run --release -p meniscus-geometry --example queries`.
//!
//! Each figure is the best of seven passes over the same points, in nanoseconds per query.

use std::hint::black_box;
use std::time::Instant;

use glam::{DVec3, Vec3Swizzles};
use meniscus_geometry::{Bvh, TriangleMesh, solids};

fn main() {
    measure("sphere of nearly equal triangles", &solids::icosphere(DVec3::ZERO, 1.0, 6));
    measure("torus", &solids::torus(DVec3::ZERO, 0.8, 0.25, [120, 40]));
    measure("cylinder of long triangles", &solids::cylinder(-DVec3::Y, DVec3::Y, 0.6, 300));
}

fn measure(name: &str, mesh: &TriangleMesh) {
    println!("\n{name}, {} triangles", mesh.triangles().len());
    let mut tree = Bvh::new(mesh);
    row("build", 1e-6 * best(|| keep(Bvh::new(mesh))), "ms");
    row("refit", 1e-6 * best(|| keep(tree.refit(mesh.vertices()))), "ms");
    for (region, points) in [("anywhere", spread(20_000)), ("near the surface", around(mesh))] {
        println!("  {region}");
        each("closest_point", &points, |p| keep(tree.closest_point(p)));
        each("winding_number", &points, |p| keep(tree.winding_number(p)));
        each("inside", &points, |p| keep(tree.inside(p)));
        each("segment_hits", &points, |p| keep(tree.segment_hits(p, p.zxy())));
        row("worst error of winding_number", worst_error(&tree, &points), "");
    }
}

/// Points spread over a cube about the origin with edges of 2.4: fractional parts of multiples of roots.
fn spread(count: usize) -> Vec<DVec3> {
    let roots = [2f64.sqrt(), 3f64.sqrt(), 5f64.sqrt()];
    (0..count).map(|i| 1.2 * (2.0 * DVec3::from(roots.map(|root| (i as f64 * root).fract())) - 1.0)).collect()
}

/// Points up to 0.02 from the vertices, on either side.
fn around(mesh: &TriangleMesh) -> Vec<DVec3> {
    let pairs = mesh.vertices().iter().zip(mesh.vertex_normals());
    pairs.zip((-19..20).step_by(2).cycle()).map(|((&v, n), step)| v + 1e-3 * f64::from(step) * n).collect()
}

fn worst_error(tree: &Bvh, points: &[DVec3]) -> f64 {
    let error = |&p: &DVec3| (tree.winding_number(p) - tree.winding_number_exact(p)).abs();
    points.iter().take(2000).map(error).fold(0.0, f64::max)
}

/// The shortest of seven runs \[ns\].
fn best(mut work: impl FnMut()) -> f64 {
    let mut run = || {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    };
    (0..7).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn each(name: &str, points: &[DVec3], query: impl Fn(DVec3)) {
    row(name, best(|| points.iter().for_each(|&p| query(p))) / points.len() as f64, "ns");
}

fn row(name: &str, value: f64, unit: &str) {
    let digits = if unit.is_empty() { format!("{value:.1e}") } else { format!("{value:.1}") };
    println!("  {name:<32} {digits:>10} {unit}");
}

/// Makes sure that a result is worked out.
fn keep<T>(result: T) {
    black_box(result);
}
