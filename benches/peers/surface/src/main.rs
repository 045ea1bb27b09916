//! The surfaces of `meniscus bench surface` by splashsurf and by ours, in turn in one run, at equal cubes: `cargo run --release -- [PARTICLES] [ROUNDS] [THREADS]`,
//! 20,000 particles, 9 rounds and 2 threads unless told.
//!
//! Water in waves with drops above it; lengths in particle spacings. splashsurf: kernel of two spacings and threshold 0.6, as its README advises, raw marching cubes
//! without cleanup, smoothing, normals or velocities. Ours: all that `meniscus surface` does (mirrored walls, four steps of smoothing, volume, normals, velocities).

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Wall, WallShape};
use meniscus_surface::{Extractor, Settings, Spray};
use nalgebra::Vector3;
use splashsurf_lib::{Parameters, reconstruct_surface};
use std::time::Instant;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |k: usize, otherwise: usize| numbers.get(k).copied().unwrap_or(otherwise);
    let (frame, rounds, threads) = (waves(number(0, 20_000)), number(1, 9).max(1), number(2, 2));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    println!("{} particles, {threads} thread(s), medians of {rounds} rounds in turn", frame.particles.len());
    for cube in [0.5, 0.6, 0.7, 1.0] {
        pool.install(|| compare(&frame, cube, rounds))?;
    }
    Ok(())
}

fn compare(frame: &Frame, cube: f64, rounds: usize) -> Result<(), Failure> {
    let points: Vec<Vector3<f32>> = frame.particles.positions.iter().map(|x| Vector3::new(x.x, x.y, x.z)).collect();
    let parameters = Parameters::new(0.5f32, 2.0, cube as f32);
    let mut extractor = Extractor::new(Settings { cube, ..Settings::default() });
    let (mut theirs, mut ours, mut triangles) = (Times::default(), Times::default(), [0; 2]);
    for _ in 0..=rounds {
        let found = theirs.take(|| reconstruct_surface::<i64, f32>(&points, &parameters))?;
        triangles[0] = found.mesh.triangles.len();
        let found = ours.take(|| extractor.extract(frame));
        triangles[1] = found.liquids.iter().map(|liquid| liquid.surface.triangles.len()).sum();
    }
    println!(
        "cube {cube}: splashsurf {theirs}, {} triangles; meniscus {ours}, {} triangles",
        triangles[0], triangles[1]
    );
    println!(
        "  splashsurf / meniscus: {:.1} by median, {:.1} by processor time",
        theirs.median() / ours.median(),
        theirs.cpu / ours.cpu
    );
    Ok(())
}

/// Times of the rounds but the first \[ms\], and the processor time of all of them \[ms\]: the machine may be busy with other work.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: f64,
}

impl Times {
    fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (began, before) = (Instant::now(), processor_time());
        let result = work();
        self.cpu += processor_time() - before;
        self.wall.push(began.elapsed().as_secs_f64() * 1e3);
        result
    }

    fn median(&self) -> f64 {
        let mut sorted = self.wall[1..].to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ms ({:.1} of processors)", self.median(), self.cpu / self.wall.len() as f64)
    }
}

/// What this process has had of processors \[ms\], in Linux's ticks of ten; elsewhere nothing.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// The frame of `meniscus bench surface`: water in a tank twice as long as it is wide, its surface in waves, with drops of some thirty particles above it.
fn waves(count: usize) -> Frame {
    let mut frame = Frame::default();
    frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.2, 0.5, 0.8] });
    frame.bodies.push(BodyInfo { name: "tank".into(), kind: BodyKind::Wall, color: [0.5; 3] });
    let side = (count as f32 / 2.0).cbrt().round();
    let size = Vec3::new(2.0 * side, 2.0 * side, side);
    let planes = [(0.0, 1.0), (1.0, -1.0)].into_iter().flat_map(|s| Vec3::AXES.map(|axis| (s, axis)));
    for ((far, sign), axis) in planes.filter(|((far, _), axis)| *far == 0.0 || *axis != Vec3::Y) {
        let shape = WallShape::Plane { point: size * far, normal: axis * sign };
        frame.walls.push(Wall { body: 1, shape });
    }
    let drop = |x: Vec3| {
        let cell = (x / 8.0).floor();
        (x - 8.0 * cell - 4.0).length() < 2.0 && (cell.x + cell.y + cell.z) as i32 % 2 == 0
    };
    let top = |x: Vec3| side * (0.9 + 0.15 * (x.x * 0.35).sin() + 0.1 * (x.z * 0.45).cos());
    for i in 0..(size.x * size.y * size.z) as usize {
        let (nx, ny) = (size.x as usize, size.y as usize);
        let at = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32) + 0.5;
        let shaken = at + 0.15 * Vec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        if at.y < top(at) || at.y > top(at) + 3.0 && drop(at) {
            frame.particles.ids.push(frame.particles.positions.len() as u32);
            frame.particles.positions.push(shaken);
            frame.particles.velocities.push(Vec3::X);
            frame.particles.bodies.push(0);
            frame.particles.densities.push(1000.0);
            frame.particles.pressures.push(0.0);
        }
    }
    frame.particles.spacing = 1.0;
    Spray::default().mark(&mut frame);
    frame
}

/// A number between −1 and 1 that looks like chance.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}
