//! Measures iso-surfaces: `cargo run --release -p meniscus-geometry --example iso_surface`.
//!
//! A ball among stored samples, by signed distance, and in listed blocks whose samples cost next to nothing, which is
//! the extraction alone. Each figure is the best of five runs.

use std::hint::black_box;
use std::time::Instant;

use glam::DVec3;
use meniscus_geometry::{Aabb, IsoError, IsoGrid, IsoSurface};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        println!("\n{threads} threads");
        for n in [64, 128, 256] {
            pool.install(|| measure(n))?;
        }
    }
    Ok(())
}

fn measure(n: u32) -> Result<(), IsoError> {
    let grid = IsoGrid::covering(&Aabb::new(-DVec3::ONE, DVec3::ONE), 2.0 / f64::from(n))?;
    let ball = |p: DVec3| p.length() - 0.93;
    let [nx, ny, nz] = grid.samples();
    let samples = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
    let values: Vec<f32> = samples.map(|s| ball(grid.position(s)) as f32).collect();
    report("stored", n, || grid.surface(&values, 0.0).unwrap_or_default());
    report("computed", n, || grid.surface_of(ball, 0.0));
    let vertices = grid.surface(&values, 0.0)?.positions;
    let blocks = grid.blocks_around(vertices, grid.spacing());
    report("in listed blocks", n, || {
        grid.surface_in_blocks(&blocks, 0.0, |first, out: &mut [f32]| {
            for (row, out) in out.chunks_exact_mut(IsoGrid::BLOCK_SIDE).enumerate() {
                let (j, k) = (row % IsoGrid::BLOCK_SIDE, row / IsoGrid::BLOCK_SIDE);
                let start = grid.index([first[0], first[1] + j as u32, first[2] + k as u32]);
                let end = (start + IsoGrid::BLOCK_SIDE).min(values.len());
                let row = values.get(start..end).unwrap_or_default();
                out[..row.len()].copy_from_slice(row);
            }
        })
    });
    Ok(())
}

fn report(name: &str, n: u32, work: impl Fn() -> IsoSurface) {
    let mut best = f64::INFINITY;
    let mut surface = IsoSurface::default();
    for _ in 0..5 {
        let start = Instant::now();
        surface = black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    let cells = surface.cells;
    println!(
        "  {name:<18} {n:>4}³ cells, {cells:>7} with surface: {:>8.2} ms, {:>6.1} ns per cell with surface",
        1e3 * best,
        1e9 * best / cells as f64
    );
}
