//! `bar-fracture`: a bar pulled until it breaks.

use super::{Measured, rows, step};
use crate::{Plot, Row, Size, absolute, bound, compare, given};
use glam::DVec3;
use meniscus::fem::{Body, Fracture, Material, Params};
use meniscus::geometry::TetMesh;
use std::error::Error;

const CASE: &str = "bar-fracture";
const LENGTH: f64 = 1.0;
const WIDTH: f64 = 0.2;
/// σ_t \[Pa\].
const STRENGTH: f64 = 2e4;
/// By what part of the strength the pull grows per step.
const LOAD_STEP: f64 = 1e-3;

pub(crate) fn run(_: Size) -> Vec<Row> {
    rows(CASE, measure())
}

/// The bar, its ends held.
fn bar() -> Result<Body, Box<dyn Error>> {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(LENGTH, WIDTH, WIDTH), [15, 3, 3]);
    let fracture = Some(Fracture { strength: STRENGTH, smoothing: 0.0, max_cracks: 16, min_piece: 20 });
    // Without lateral contraction the clamps do not disturb the tension.
    let material = Material { poisson: 0.0, fracture, mass_damping: 50.0, ..Material::default() };
    let mut body = Body::new("bar", &mesh, Params::default(), material)?;
    body.fix(|p| p.x < 1e-9 || p.x > LENGTH - 1e-9);
    Ok(body)
}

fn measure() -> Measured {
    let mut body = bar()?;
    let mass = body.mass();
    let stretch_per_step = LOAD_STEP * STRENGTH / body.material().young * LENGTH;
    let (mut broke_at, mut breaking_steps, mut pulls) = (f64::NAN, 0, Vec::new());
    for k in 1..2000 {
        let stretch = f64::from(k) * stretch_per_step;
        body.prescribe(|_, rest| if rest.x > 0.5 * LENGTH { rest + stretch * DVec3::X } else { rest });
        let (nodes, pull) = (body.positions().len(), pull_at_end(&body));
        pulls.push([stretch, pull]);
        step(&mut body, 0.01, DVec3::ZERO)?;
        if body.positions().len() > nodes {
            broke_at = if broke_at.is_nan() { pull } else { broke_at };
            breaking_steps += 1;
        }
        if body.pieces().count > 1 {
            break;
        }
    }
    let [angle, mass_now] = [crack_angle(&body), body.mass()];
    let momentum = body.momentum();
    let pieces = body.into_pieces()?;
    let momentum_of_pieces: DVec3 = pieces.iter().map(Body::momentum).sum();
    // A bar that stays whole keeps its mass.
    let broken = |value: f64| given(pieces.len() > 1, value);
    let full = STRENGTH * WIDTH * WIDTH;
    let plot = Plot::new("stretch [m]", "pull at the end [N]").measured("ours", &pulls);
    let plot = plot.level("σ_t A", [0.0, pulls.last().map_or(0.0, |p| p[0])], full);
    Ok(vec![
        compare(CASE, "pull at the first crack: σ_t A [N]", full, broke_at, LOAD_STEP).asked().with(plot),
        absolute(CASE, "pieces", [2.0, pieces.len() as f64], 0.0),
        bound(CASE, "steps from the first crack to the last", broken(f64::from(breaking_steps)), 30.0),
        bound(CASE, "angle of the crack to the plane across x [degrees]", broken(angle), 10.0),
        bound(CASE, "relative change of mass", broken(mass_now / mass - 1.0), 1e-13).asked(),
        bound(
            CASE,
            "relative change of momentum, pieces",
            broken((momentum_of_pieces - momentum).length() / momentum.length()),
            1e-13,
        ),
    ])
}

/// The pull of the bar on its end \[N\].
fn pull_at_end(body: &Body) -> f64 {
    let forces = body.elastic_forces();
    let rest = body.rest_positions();
    -(0..rest.len()).filter(|&i| rest[i].x > LENGTH - 1e-9).map(|i| forces[i].x).sum::<f64>()
}

/// The angle between x and the mean normal of the faces that came open \[degrees\].
fn crack_angle(body: &Body) -> f64 {
    let rest = body.rest_positions();
    let outer = |p: DVec3| {
        let inside = DVec3::new(LENGTH, WIDTH, WIDTH) - p;
        p.min(inside).min_element() < 1e-9
    };
    let mut sum = DVec3::ZERO;
    for triangle in body.surface().triangles() {
        let [a, b, c] = triangle.map(|node| rest[node as usize]);
        if !outer((a + b + c) / 3.0) {
            let area = (b - a).cross(c - a);
            // The two sides of a crack look against each other.
            sum += if area.x < 0.0 { -area } else { area };
        }
    }
    sum.normalize_or_zero().x.clamp(-1.0, 1.0).acos().to_degrees()
}
