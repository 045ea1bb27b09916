//! `laplace-jump`, `drop-oscillation`, `contact-angle`: surface tension without air.

use crate::worlds::{run_until, world, world_with};
use crate::{Plot, Row, Size, absolute, bound, compare, failed, given, is_sound, largest, least, mean};
use glam::{DVec3, Vec3};
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
    let (positions, spacing) = (&frame.particles.positions, f64::from(frame.particles.spacing));
    let count = positions.len() as f64;
    let center = positions.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    (center, (0.75 / PI * count).cbrt() * spacing)
}

/// The pressure in a drop at rest.
pub(crate) fn laplace(size: Size) -> Vec<Row> {
    const CASE: &str = "laplace-jump";
    let sizes: &[(u32, f64)] = if size == Size::Fine { &[(8, 0.1), (16, 0.05)] } else { &[(8, 0.1)] };
    let rows = sizes.iter().map(|&(n, tolerance)| {
        jump(n).map_or_else(
            |error| failed(CASE, &error),
            |(expected, pressure, drift, track)| {
                let plot = Plot::new(&format!("t [s], R = {n} spacings"), "mean pressure of the inner half [Pa]");
                let end = track.last().map_or(0.0, |point| point[0]);
                let plot = plot.measured("ours", &track).level("2σ/R", [0.0, end], expected);
                // A drop without tension does not drift.
                let drift = given(pressure > 0.5 * expected, drift);
                vec![
                    compare(
                        CASE,
                        &format!("R = {n} spacings: pressure [Pa] against 2σ/R"),
                        expected,
                        pressure,
                        tolerance,
                    )
                    .asked()
                    .with(plot),
                    bound(CASE, &format!("R = {n} spacings: drift / √(σ/(ρR))"), drift, 0.01),
                ]
            },
        )
    });
    rows.flatten().collect()
}

/// 2σ/R \[Pa\], the mean pressure in the inner half of the drop over the last quarter of the run, its speed over √(σ/(ρR)), and the
/// pressure on the way.
fn jump(n: u32) -> Result<(f64, f64, f64, crate::History), String> {
    let fill = format!("viscosity = 0.1\nfill = [{{ sphere = {{ center = [0, 0, 0], radius = {RADIUS:?} }} }}]\n");
    let mut world = world("laplace-jump", &scene(RADIUS / f64::from(n), "", &fill, ""))?;
    let time = 1.5 * (DENSITY * RADIUS * RADIUS * RADIUS / SIGMA).sqrt();
    let mut track = Vec::new();
    for k in 1..=20 {
        run_until(&mut world, time * f64::from(k) / 20.0)?;
        let frame = world.frame();
        let (center, radius) = ball(&frame);
        let both = frame.particles.positions.iter().zip(&frame.particles.pressures);
        let inner = both.filter(|(x, _)| x.as_dvec3().distance(center) < 0.5 * radius);
        track.push([world.time(), mean(inner.map(|(_, p)| f64::from(*p)))]);
    }
    let pressure = mean(track[15..].iter().map(|point| point[1]));
    let frame = world.frame();
    let (_, radius) = ball(&frame);
    let mass = DENSITY * 4.0 / 3.0 * PI * radius * radius * radius;
    let drift = world.totals().momentum.length() / mass / (SIGMA / (DENSITY * radius)).sqrt();
    Ok((2.0 * SIGMA / radius, pressure, drift, track))
}

/// The second mode of a drop.
pub(crate) fn oscillation(size: Size) -> Vec<Row> {
    const CASE: &str = "drop-oscillation";
    let n = if size == Size::Fine { 16 } else { 8 };
    frequency(n).map_or_else(
        |error| failed(CASE, &error),
        |(expected, measured, shape)| {
            let plot = Plot::new("t [s]", "mean of y² − (x² + z²)/2 [m²]").measured("ours", &shape);
            let theory: Vec<[f64; 2]> = shape.iter().map(|[t, _]| [*t, shape[0][1] * (expected * t).cos()]).collect();
            let plot = plot.reference("Rayleigh's frequency, undamped", &theory);
            let quantity = format!("R = {n} spacings, amplitude 0.05 R: ω [rad/s] against √(8σ/(ρR³))");
            let row = compare(CASE, &quantity, expected, measured, 0.05).with(plot);
            // Asked for at 16.
            vec![if n == 16 { row.asked() } else { row }]
        },
    )
}

/// The closed surface r = R (1 + 0.05 P₂(cos θ)) as an OBJ file.
fn stretched() -> Vec<u8> {
    shaped(|v| v * (1.0 + 0.05 * (1.5 * v.y * v.y / v.length_squared() - 0.5)))
}

/// What lies above height zero of a ball, lifted by a part of its radius, as an OBJ file.
fn half_ball(lifted: f64) -> Vec<u8> {
    shaped(|v| v.with_y((v.y + lifted).max(0.0)))
}

/// The image of a ball of unit radius, times the radius of our drops, as an OBJ file.
fn shaped(of: impl Fn(DVec3) -> DVec3) -> Vec<u8> {
    let ball = icosphere(DVec3::ZERO, 1.0, 5);
    let mut text = String::new();
    for v in ball.vertices() {
        let p = of(*v) * RADIUS;
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in ball.triangles() {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text.into_bytes()
}

/// Frequency of the second mode \[rad/s\]: Rayleigh's for the radius of the particles' volume, and ours.
fn frequency(n: u32) -> Result<(f64, f64, Vec<[f64; 2]>), String> {
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
    let measured = fitted_frequency(&shape, expected);
    Ok((expected, measured, shape))
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
    let positions = &frame.particles.positions;
    let of = |d: DVec3| d.y * d.y - 0.5 * (d.x * d.x + d.z * d.z);
    positions.iter().map(|p| of(p.as_dvec3() - center)).sum::<f64>() / positions.len() as f64
}

/// The ω of a + e^(−bt) (c cos ωt + d sin ωt) that fits best \[rad/s\]: over ω and b by search, the rest by least squares.
fn fitted_frequency(samples: &[[f64; 2]], near: f64) -> f64 {
    // Any frequency fits what does not swing.
    let values = || samples.iter().map(|sample| sample[1]);
    let [high, low] = [largest(values()), least(values())];
    let swings = high - low > 0.1 * (high + low).abs();
    if !is_sound(samples) || !swings {
        return f64::NAN;
    }
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
    let (mut best, mut at, mut width) = (f64::INFINITY, [near, 0.15 * near], [0.4 * near, 0.15 * near]);
    // Each search is ten times as close as the one before.
    for _ in 0..3 {
        let middle = at;
        for (k, l) in (-200..=200).flat_map(|k| (-15..=15).map(move |l| (k, l))) {
            let tried = [middle[0] + width[0] * f64::from(k) / 200.0, middle[1] + width[1] * f64::from(l) / 15.0];
            let error = misfit(tried[0], tried[1]);
            if error < best {
                (best, at) = (error, tried);
            }
        }
        width = width.map(|w| 0.1 * w);
    }
    if best.is_finite() { at[0] } else { f64::NAN }
}

/// What a drop stands on: its name, what the scene says about it, and how half a ball above height zero is filled.
type Ground = [&'static str; 3];

const FLOOR: Ground = [
    "floor",
    "[wall.floor]\nshape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }\n",
    "sphere = { center = [0, 0, 0], radius = 0.008 }",
];
const BLOCK: Ground = [
    "solid",
    "[solid.block]\nshape = { box = { min = [-0.012, -0.003, -0.012], max = [0.012, 0, 0.012] } }\n\
     [[solid.block.fixed]]\nregion = { sphere = { center = [0, 0, 0], radius = 0.1 } }\n",
    "mesh = { file = \"half.obj\" }",
];

/// Drops on a floor and on a solid of particles.
pub(crate) fn contact(size: Size) -> Vec<Row> {
    const CASE: &str = "contact-angle";
    let n = if size == Size::Fine { 12 } else { 8 };
    let mut drops = vec![(60.0, FLOOR), (90.0, FLOOR), (120.0, FLOOR), (120.0, BLOCK)];
    if size == Size::Fine {
        drops.extend([(60.0, BLOCK), (90.0, BLOCK)]);
    }
    let rows = drops.into_iter().map(|(angle, ground): (f64, Ground)| {
        standing(angle, n, ground).map_or_else(
            |error| failed(CASE, &error),
            |[from_center, from_height, strays]| {
                let of = |what: &str| format!("{angle}° on a {}: {what}", ground[0]);
                vec![
                    absolute(CASE, &of("from the height of the centre [degrees]"), [angle, from_center], 10.0).asked(),
                    absolute(CASE, &of("from the height [degrees]"), [angle, from_height], 10.0).asked(),
                    bound(CASE, &of("particles that left the drop"), strays, 0.0),
                ]
            },
        )
    });
    rows.flatten().collect()
}

/// The angle of the cap \[degrees\] that has the same height of its centre, and the same height, as a drop at rest, and how many
/// particles are not with the others. It starts as half a ball, at 90°; where it is to end there, as more than half of one, at 112° or more.
fn standing(angle: f64, n: u32, [_, ground, fill]: Ground) -> Result<[f64; 3], String> {
    let spacing = RADIUS / f64::from(n);
    // By whole spacings: the first layer stays half a spacing above the floor.
    let lifted = if angle == 90.0 { (0.4 * f64::from(n)).round() / f64::from(n) } else { 0.0 };
    let fill = fill.replace("[0, 0, 0]", &format!("[0, {:?}, 0]", lifted * RADIUS));
    let liquid = format!("viscosity = 0.05\ncontact_angle = {angle:?}\nfill = [{{ {fill} }}]\n");
    let text = scene(spacing, "", &liquid, ground);
    let mut world = world_with("contact-angle", &text, &|_: &str| Ok(half_ball(lifted)))?;
    run_until(&mut world, 0.8)?;
    let frame = world.frame();
    let positions = &frame.particles.positions;
    let heights: Vec<f64> = positions.iter().map(|p| f64::from(p.y)).collect();
    let size = (heights.len() as f64).cbrt() * spacing;
    let center = mean(heights.iter().copied()) / size;
    // The highest particle lies half a spacing below the surface.
    let top = (largest(heights.iter().copied()) + 0.5 * spacing) / size;
    let strays = positions.len() - largest_cluster(positions, 1.8 * spacing as f32);
    let strays = given(!positions.is_empty(), strays as f64);
    Ok([cap_angle(|cap| cap[1], center), cap_angle(|cap| cap[0], top), strays])
}

/// How many positions hang together by steps of at most `reach` \[m\].
fn largest_cluster(positions: &[Vec3], reach: f32) -> usize {
    let mut left: Vec<Vec3> = positions.to_vec();
    let mut largest = 0;
    while let Some(first) = left.pop() {
        let mut cluster = vec![first];
        let mut next = 0;
        while next < cluster.len() {
            let here = cluster[next];
            let (near, far) = left.iter().partition(|p| p.distance(here) <= reach);
            left = far;
            cluster.extend::<Vec<Vec3>>(near);
            next += 1;
        }
        largest = largest.max(cluster.len());
    }
    largest
}

/// Height and height of the centre of a cap of unit volume that stands at an angle \[degrees\].
fn cap(angle: f64) -> [f64; 2] {
    let cos = angle.to_radians().cos();
    let radius = (3.0 / (PI * (2.0 + cos) * (1.0 - cos) * (1.0 - cos))).cbrt();
    let height = radius * (1.0 - cos);
    [height, 0.25 * height * (4.0 * radius - height) / (3.0 * radius - height)]
}

/// The angle \[degrees\] at which something about the cap, which grows with it, has a value.
fn cap_angle(of: impl Fn([f64; 2]) -> f64, value: f64) -> f64 {
    if !value.is_finite() {
        return f64::NAN;
    }
    let (mut low, mut high) = (1.0, 179.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if of(cap(middle)) < value { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worlds::table;

    const ANGLES: &str = include_str!("../../data/sessile_drop_contact_angle.csv");

    /// Our caps are those of the table.
    #[test]
    fn caps_are_those_of_the_table() {
        for [angle, _, _, height, ..] in table::<7>(ANGLES) {
            // A microlitre is a cubic millimetre.
            assert!((cap(angle)[0] - height).abs() < 1e-6 * height, "{angle}: {} {height}", cap(angle)[0]);
        }
        assert!((cap_angle(|cap| cap[1], cap(75.0)[1]) - 75.0).abs() < 1e-9);
    }

    #[test]
    fn strays_are_counted() {
        let line: Vec<Vec3> = [0.0, 1.0, 2.0, 5.0, 3.0].map(|x| Vec3::X * x).to_vec();
        assert_eq!(largest_cluster(&line, 1.5), 4);
        assert_eq!(largest_cluster(&line, 2.5), 5);
    }

    #[test]
    fn a_damped_cosine_is_recovered() {
        let samples: Vec<_> =
            (0..60).map(|k| f64::from(k) / 40.0).map(|t| [t, 0.3 + (-0.2 * t).exp() * (5.0 * t).cos()]).collect();
        assert!((fitted_frequency(&samples, 5.3) - 5.0).abs() < 0.02);
        let still: Vec<_> = samples.iter().map(|[t, _]| [*t, 0.3]).collect();
        assert!(fitted_frequency(&still, 5.0).is_nan() && fitted_frequency(&[], 5.0).is_nan());
        assert!(fitted_frequency(&[[0.0, 1.0], [1.0, f64::NAN]], 5.0).is_nan());
    }
}
