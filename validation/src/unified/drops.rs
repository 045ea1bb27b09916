//! `laplace-jump`, `drop-oscillation`: surface tension without air.

use crate::worlds::{run_until, world, world_with};
use crate::{Row, Size, bound, compare, failed};
use glam::DVec3;
use meniscus::core::Frame;
use meniscus::geometry::solids::icosphere;
use meniscus::sim::World;
use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;

/// Surface tension \[N/m\], density \[kg/m³\] and radius \[m\] of the drops.
const SIGMA: f64 = 0.01;
const DENSITY: f64 = 1000.0;
const RADIUS: f64 = 0.008;

const FREQUENCIES: &str = include_str!("../../data/droplet_oscillation_rayleigh.csv");

/// A scene without gravity: what is said about particles, about the liquid, and anything else.
fn scene(spacing: f64, sph: &str, liquid: &str, rest: &str) -> String {
    format!(
        "method = \"unified\"\ngravity = [0, 0, 0]\ndomain = {{ min = [-1, -1, -1], max = [1, 1, 1] }}\n\
         [sph]\nspacing = {spacing:?}\n{sph}[liquid.water]\ndensity = {DENSITY:?}\nsurface_tension = {SIGMA:?}\n{liquid}{rest}"
    )
}

/// Centre \[m\] and radius \[m\] of the drop that the particles of a frame fill.
fn ball(frame: &Frame) -> (DVec3, f64) {
    let (places, spacing) = (&frame.particles.positions, f64::from(frame.particles.spacing));
    let count = places.len() as f64;
    let center = places.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    (center, (0.75 / PI * count).cbrt() * spacing)
}

/// The pressure in a drop at rest.
pub(crate) fn laplace(size: Size) -> Vec<Row> {
    const CASE: &str = "laplace-jump";
    let sizes: &[(u32, f64)] = if size == Size::Fine { &[(8, 0.1), (16, 0.05)] } else { &[(8, 0.1)] };
    let rows = sizes.iter().map(|&(n, tolerance)| {
        jump(n).map_or_else(
            |error| failed(CASE, &error),
            |[expected, pressure, drift]| {
                vec![
                    compare(
                        CASE,
                        &format!("R = {n} spacings: pressure [Pa] against 2σ/R"),
                        expected,
                        pressure,
                        tolerance,
                    ),
                    bound(CASE, &format!("R = {n} spacings: drift / √(σ/(ρR))"), drift, 0.01),
                ]
            },
        )
    });
    rows.flatten().collect()
}

/// 2σ/R \[Pa\], the mean pressure in the inner half of the drop over the last quarter of the run, and its speed over √(σ/(ρR)).
fn jump(n: u32) -> Result<[f64; 3], String> {
    let fill = format!("viscosity = 0.1\nfill = [{{ sphere = {{ center = [0, 0, 0], radius = {RADIUS:?} }} }}]\n");
    let mut world = world("laplace-jump", &scene(RADIUS / f64::from(n), "", &fill, ""))?;
    let time = 1.5 * (DENSITY * RADIUS * RADIUS * RADIUS / SIGMA).sqrt();
    let (mut pressure, mut count) = (0.0, 0.0);
    for k in 1..=20 {
        run_until(&mut world, time * f64::from(k) / 20.0)?;
        if k > 15 {
            let frame = world.frame();
            let (center, radius) = ball(&frame);
            let both = frame.particles.positions.iter().zip(&frame.particles.pressures);
            for (_, p) in both.filter(|(x, _)| x.as_dvec3().distance(center) < 0.5 * radius) {
                pressure += f64::from(*p);
                count += 1.0;
            }
        }
    }
    let frame = world.frame();
    let (_, radius) = ball(&frame);
    let mass = DENSITY * 4.0 / 3.0 * PI * radius * radius * radius;
    let drift = world.totals().momentum.length() / mass / (SIGMA / (DENSITY * radius)).sqrt();
    Ok([2.0 * SIGMA / radius, pressure / count, drift])
}

/// The second mode of a drop.
pub(crate) fn oscillation(size: Size) -> Vec<Row> {
    const CASE: &str = "drop-oscillation";
    let n = if size == Size::Fine { 16 } else { 8 };
    frequency(n).map_or_else(
        |error| failed(CASE, &error),
        |[expected, measured]| {
            let quantity = format!("R = {n} spacings, amplitude 0.05 R: ω [rad/s] against √(8σ/(ρR³))");
            vec![compare(CASE, &quantity, expected, measured, 0.05)]
        },
    )
}

/// The closed surface r = R (1 + 0.05 P₂(cos θ)) as an OBJ file.
fn stretched() -> Vec<u8> {
    let ball = icosphere(DVec3::ZERO, 1.0, 5);
    let mut text = String::new();
    for v in ball.vertices() {
        let p = *v * (RADIUS * (1.0 + 0.05 * (1.5 * v.y * v.y / v.length_squared() - 0.5)));
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in ball.triangles() {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text.into_bytes()
}

/// Frequency of the second mode \[rad/s\]: Rayleigh's for the radius of the particles' volume, and ours.
fn frequency(n: u32) -> Result<[f64; 2], String> {
    let fill = "viscosity = 0.03\nfill = [{ mesh = { file = \"drop.obj\" } }]\n";
    let file = |_: &str| Ok(stretched());
    let text = scene(RADIUS / f64::from(n), "", fill, "");
    let mut world = world_with("drop-oscillation", &text, &file)?;
    let (_, radius) = ball(&world.frame());
    let expected = rayleigh() * ((SIGMA / DENSITY) / (radius * radius * radius)).sqrt();
    let samples = 25;
    let period = TAU / expected;
    let mut shape = Vec::new();
    for k in 0..=samples {
        run_until(&mut world, period * f64::from(k) / f64::from(samples))?;
        shape.push([world.time(), elongation(&world)]);
    }
    Ok([expected, fitted_frequency(&shape, expected)])
}

/// ω √(ρR³/σ) of the second mode in the table.
fn rayleigh() -> f64 {
    // R = 0.1, σ = 1, ρ = 1.
    let row = FREQUENCIES.lines().find_map(|line| line.strip_prefix("3D drop R=0.1 sigma=1 rho=1,2,"));
    row.and_then(|omega| omega.trim().parse::<f64>().ok()).map_or(f64::NAN, |omega| omega * 0.1f64.powf(1.5))
}

/// Mean of y² − (x² + z²)/2 over the particles, from their centre \[m²\].
fn elongation(world: &World) -> f64 {
    let frame = world.frame();
    let (center, _) = ball(&frame);
    let places = &frame.particles.positions;
    let of = |d: DVec3| d.y * d.y - 0.5 * (d.x * d.x + d.z * d.z);
    places.iter().map(|p| of(p.as_dvec3() - center)).sum::<f64>() / places.len() as f64
}

/// The ω of a + e^(−bt) (c cos ωt + d sin ωt) that fits best \[rad/s\]: over ω and b by search, the rest by least squares.
fn fitted_frequency(samples: &[[f64; 2]], near: f64) -> f64 {
    let misfit = |omega: f64, decay: f64| {
        let basis = |t: f64| [1.0, (-decay * t).exp() * (omega * t).cos(), (-decay * t).exp() * (omega * t).sin()];
        let (mut matrix, mut right) = (glam::DMat3::ZERO, DVec3::ZERO);
        for &[t, value] in samples {
            let b = DVec3::from_array(basis(t));
            matrix += glam::DMat3::from_cols(b * b.x, b * b.y, b * b.z);
            right += b * value;
        }
        let found = matrix.inverse() * right;
        samples.iter().map(|&[t, value]| (found.dot(DVec3::from_array(basis(t))) - value).powi(2)).sum::<f64>()
    };
    let mut best = (f64::INFINITY, f64::NAN);
    for k in 0..=400 {
        let omega = near * (0.6 + 0.8 * f64::from(k) / 400.0);
        for l in 0..=30 {
            let error = misfit(omega, near * 0.01 * f64::from(l));
            if error < best.0 {
                best = (error, omega);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_cosine_is_recovered() {
        let samples: Vec<_> =
            (0..60).map(|k| f64::from(k) / 40.0).map(|t| [t, 0.3 + (-0.2 * t).exp() * (5.0 * t).cos()]).collect();
        assert!((fitted_frequency(&samples, 5.3) - 5.0).abs() < 0.02);
    }
}
