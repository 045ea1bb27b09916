//! The cantilever of the solid benchmarks, shared with other engines: 1 × 0.25 × 0.25 m held at x = 0, E = 1e6 Pa, ν = 0.3,
//! 1000 kg/m³, 9.81 m/s², 4n × n × n cells of five tetrahedra, steps of 1/60 s from release. Items are tetrahedra; the tip is the
//! mean of the last 60 frames, and its error that against the equilibrium of the same mesh.

use super::{Case, Measurement};
use crate::failure::Failure;
use crate::machine;
use glam::DVec3;
use meniscus::core::{StepError, StepReport};
use meniscus::fem::{Body, Material, Params};
use meniscus::geometry::TetMesh;
use std::time::Instant;

pub(super) const CANTILEVER: Case = Case { name: "fem/cantilever", sizes: &[4, 8, 14], measure };

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Frames measured.
const FRAMES: u64 = 600;
/// Frames over which the tip is averaged.
const LAST: u64 = 60;

fn measure(case: &Case, [size, threads]: [usize; 2]) -> Result<Measurement, Failure> {
    let mut beam = beam(size)?;
    let frames = FRAMES;
    let (mut profile, mut report) = (StepReport::default(), StepReport::default());
    let mut tip = 0.0;
    let start = Instant::now();
    for frame in 0..frames {
        report.clear();
        beam.step(1.0 / 60.0, GRAVITY, &mut report).map_err(failed)?;
        profile.absorb(&report);
        if frame + LAST >= frames {
            tip += sag(&beam) / LAST as f64;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let mut still = self::beam(size)?;
    still.settle(GRAVITY, &mut StepReport::default()).map_err(failed)?;
    let items = beam.tets() as u64;
    let per_item = |seconds: f64| seconds * 1e9 / (items * frames) as f64;
    Ok(Measurement {
        case: case.name.into(),
        size,
        threads,
        ns_per_item_step: per_item(seconds),
        items,
        steps: frames,
        rounds: 1,
        least_ns_per_item_step: per_item(seconds),
        peak_rss_mb: machine::peak_memory().unwrap_or(0.0),
        ms_per_frame: Some(seconds * 1e3 / frames as f64),
        error: Some(tip / sag(&still) - 1.0),
        stages: profile.stages().iter().map(|s| (s.name.to_owned(), per_item(s.time.as_secs_f64()))).collect(),
    })
}

fn failed(error: StepError) -> Failure {
    Failure::input("bench", error.to_string())
}

fn beam(cells: usize) -> Result<Body, Failure> {
    let n = cells as u32;
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [4 * n, n, n]);
    let material = Material { young: 1e6, poisson: 0.3, density: 1000.0, ..Material::default() };
    let mut beam =
        Body::new("beam", &mesh, Params::default(), material).map_err(|e| Failure::input("bench", e.to_string()))?;
    beam.fix(|p| p.x < 1e-9);
    Ok(beam)
}

/// How far the free end hangs down \[m\].
fn sag(beam: &Body) -> f64 {
    let end = beam.positions().iter().zip(beam.rest_positions()).filter(|(_, rest)| rest.x > 1.0 - 1e-9);
    let (sum, count) = end.fold((0.0, 0.0), |(sum, count), (x, rest)| (sum + rest.y - x.y, count + 1.0));
    sum / count
}
