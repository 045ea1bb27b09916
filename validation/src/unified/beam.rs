//! `sph-beam`: a clamped plate swings.

use crate::{Plot, Row, Size, compare, failed, largest};
use glam::DVec3;
use meniscus::boundary::{Boundaries, Obstacles};
use meniscus::elastic::{ElasticMaterial, Prescribed, Solids};

const CASE: &str = "sph-beam";

/// Length and height \[m\], Young's modulus \[Pa\], Poisson's ratio, density \[kg/m³\] \[Gray, Monaghan and Swift 2001\].
const LENGTH: f64 = 0.2;
const HEIGHT: f64 = 0.02;
const YOUNG: f64 = 2e6;
const POISSON: f64 = 0.3975;
const DENSITY: f64 = 1000.0;

/// First root of cos x cosh x = −1.
const ROOT: f64 = 1.875_104;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let across = if size == Size::Fine { 14 } else { 10 };
    let (period, track) = match swing(across) {
        Ok(found) => found,
        Err(error) => return failed(CASE, &error),
    };
    // ω² = E H² k⁴/(12 ρ (1 − ν²)), plane strain.
    let k = ROOT / LENGTH;
    let omega = (YOUNG * HEIGHT * HEIGHT * k.powi(4) / (12.0 * DENSITY * (1.0 - POISSON * POISSON))).sqrt();
    let width = largest(track.iter().map(|point| point[1]));
    let theory: Vec<[f64; 2]> = track.iter().map(|[t, _]| [*t, width * (omega * t).sin()]).collect();
    let plot =
        Plot::new("t [s]", "height of the tip [m]").reference("theory's period", &theory).measured("ours", &track);
    vec![compare(CASE, "period [s]", std::f64::consts::TAU / omega, period, 0.05).asked().with(plot)]
}

/// The first mode of a clamped beam with a free end, one at the tip.
fn mode(x: f64) -> f64 {
    let shape = |kx: f64| {
        let (even, odd) = (kx.cosh() - kx.cos(), kx.sinh() - kx.sin());
        (ROOT.cos() + ROOT.cosh()) * even - (ROOT.sinh() - ROOT.sin()) * odd
    };
    if x <= 0.0 { 0.0 } else { shape(ROOT * x / LENGTH) / shape(ROOT) }
}

/// Twice the time until the tip passes the middle again \[s\], and its way.
fn swing(across: u32) -> Result<(f64, Vec<[f64; 2]>), String> {
    let s = HEIGHT / f64::from(across);
    let clamped = 3;
    let along = 10 * across as i32;
    let mut positions = Vec::new();
    for x in -clamped..along {
        for y in 0..across {
            for z in 0..2 {
                positions.push(DVec3::new(f64::from(x) + 0.5, f64::from(y) + 0.5, f64::from(z) + 0.5) * s);
            }
        }
    }
    let material = ElasticMaterial {
        young: YOUNG,
        poisson: POISSON,
        density: DENSITY,
        damping: 0.0,
        ..ElasticMaterial::default()
    };
    let mut solids = Solids::new(s, 0.0);
    let volume = positions.len() as f64 * s * s * s;
    solids.add("plate", positions.clone(), volume, material);
    // Plane strain: nothing moves along z. The clamp holds what lies before x = 0.
    solids.bodies_mut()[0].prescribed = (0..)
        .zip(&positions)
        .map(|(particle, &end)| Prescribed { particle, axes: if end.x < 0.0 { DVec3::ONE } else { DVec3::Z }, end })
        .collect();
    let bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
    let tip_speed = 0.01 * (bulk / DENSITY).sqrt();
    for (v, x) in solids.state_mut().velocity.iter_mut().zip(&positions) {
        v.y = tip_speed * mode(x.x);
    }
    let tip = positions.iter().position(|p| p.x > LENGTH - s && p.y > 0.5 * HEIGHT - s).unwrap_or(0);
    // The plate starts through its middle: its next passage comes half a period later.
    let (dt, mut time, mut before) = (2e-4, 0.0, 0.0);
    let mut track = vec![[0.0, 0.0]];
    while time < 1.0 {
        solids.advance(dt, DVec3::ZERO, &mut Obstacles::walls(&Boundaries::default())).map_err(|e| e.to_string())?;
        time += dt;
        let height = solids.state().position[tip].y - positions[tip].y;
        track.push([time, height]);
        if before > 0.0 && height <= 0.0 {
            return Ok((2.0 * (time - dt * height / (height - before)), track));
        }
        before = height;
    }
    Err("the plate does not swing".into())
}
