//! Calibration, walls, volume, closedness, threads.

use super::*;
use crate::lanes::PEAK;
use meniscus_core::{BodyInfo, Wall, WallShape};
use meniscus_geometry::solids;

pub(crate) fn frame_of(spacing: f32, points: impl IntoIterator<Item = (Vec3, u16)>, liquids: &[f32]) -> Frame {
    let mut frame = Frame::default();
    for k in 0..liquids.len() {
        frame.bodies.push(BodyInfo { name: format!("liquid {k}"), kind: BodyKind::Liquid, color: [0.2, 0.4, 0.8] });
    }
    let particles = &mut frame.particles;
    particles.spacing = spacing;
    for (k, (x, body)) in points.into_iter().enumerate() {
        particles.ids.push(k as u32);
        particles.positions.push(x);
        particles.velocities.push(Vec3::new(0.3, -0.1, 0.2));
        particles.bodies.push(body);
        particles.densities.push(liquids[usize::from(body)]);
        particles.pressures.push(0.0);
    }
    frame
}

/// A number between −1 and 1 that looks like chance.
pub(crate) fn noise(seed: u32) -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    for _ in 0..3 {
        x ^= x >> 15;
        x = x.wrapping_mul(0x2C1B_3C6D);
        x ^= x >> 12;
    }
    x as f32 / u32::MAX as f32 * 2.0 - 1.0
}

/// Particles of a lattice in a box of nx × ny × nz spacings, moved by some part of a spacing.
pub(crate) fn lattice([nx, ny, nz]: [u32; 3], spacing: f32, shaken: f32) -> impl Iterator<Item = Vec3> {
    (0..nx * ny * nz).map(move |i| {
        let at = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32) + 0.5;
        let shift = Vec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        (at + shaken * shift) * spacing
    })
}

/// Puts the sides of a box around, without a lid.
pub(crate) fn tank(frame: &mut Frame, size: Vec3) {
    let body = frame.bodies.len() as u16;
    frame.bodies.push(BodyInfo { name: "tank".into(), kind: BodyKind::Wall, color: [0.5; 3] });
    let mut side =
        |point: Vec3, normal: Vec3| frame.walls.push(Wall { body, shape: WallShape::Plane { point, normal } });
    for axis in Vec3::AXES {
        side(Vec3::ZERO, axis);
        if axis != Vec3::Y {
            side(size, -axis);
        }
    }
}

/// A tank of water at rest.
pub(crate) fn resting(shaken: f32) -> (Frame, f64) {
    let (count, spacing) = ([20, 12, 10], 0.05);
    let mut frame = frame_of(spacing, lattice(count, spacing, shaken).map(|x| (x, 0)), &[1000.0]);
    tank(&mut frame, Vec3::new(1.0, 0.6, 0.5));
    (frame, 1.0 * 0.6 * 0.5)
}

/// Every edge belongs to two triangles that run along it in opposite directions; triangles laid onto a wall may have no area.
fn closed(found: &LiquidSurface) {
    let Surface { positions, triangles, .. } = &found.surface;
    assert!(positions.iter().all(|x| x.is_finite()) && !triangles.is_empty());
    let mut sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    sides.sort_unstable();
    assert!(sides.windows(2).all(|pair| pair[0] != pair[1]), "an edge is run along twice");
    assert!(sides.iter().all(|&[a, b]| a != b && sides.binary_search(&[b, a]).is_ok()), "an edge is open");
}

#[test]
fn vertices_carry_the_pressure_of_the_water_around_them() {
    let (mut frame, _) = resting(0.1);
    let (depth, weight) = (0.6, 9810.0);
    let particles = &mut frame.particles;
    particles.pressures = particles.positions.iter().map(|x| weight * (depth - x.y)).collect();
    let found = &Extractor::new(Settings::default()).extract(&frame).liquids[0].surface;
    assert_eq!(found.pressures.len(), found.positions.len());
    // The nearest particles are half a spacing away, those of a node up to three halves.
    let spacing = frame.particles.spacing;
    for (x, pressure) in found.positions.iter().zip(&found.pressures) {
        let wanted = weight * (depth - x.y);
        assert!((pressure - wanted).abs() < weight * spacing, "{pressure} of {wanted} Pa at {x}");
    }
}

#[test]
fn the_level_is_that_of_a_flat_surface() {
    // Computed once over 121 positions of a lattice's cell: 0.4961 … 0.4999 above its topmost layer.
    let color = |z: f32, x: f32, y: f32| {
        let terms =
            (0..4).flat_map(|k| (-3..4).flat_map(move |i| (-3..4).map(move |j| (k as f32, i as f32, j as f32))));
        let bump = |(k, i, j): (f32, f32, f32)| {
            let square = (z + 0.5 + k) * (z + 0.5 + k) + (i - x) * (i - x) + (j - y) * (j - y);
            PEAK * (1.0 - square / 4.0).max(0.0).powi(3)
        };
        terms.map(bump).sum::<f32>()
    };
    let mean = |z: f32| (0..100).map(|k| color(z, (k % 10) as f32 / 10.0, (k / 10) as f32 / 10.0)).sum::<f32>() / 100.0;
    assert!((mean(0.0) - LEVEL).abs() < 1e-3, "{}", mean(0.0));
    assert!(((mean(-0.01) - mean(0.01)) / 0.02 - SLOPE).abs() < 5e-3);
}

#[test]
fn a_tank_at_rest_has_its_volume_and_its_walls() {
    for (shaken, kernel, steps) in [
        (0.0, Kernel::Isotropic, 0),
        (0.0, Kernel::Isotropic, 4),
        (0.15, Kernel::Isotropic, 4),
        (0.15, Kernel::Anisotropic, 20),
    ] {
        let (frame, volume) = resting(shaken);
        // Ellipsoids are thinner than balls and need smaller cubes.
        let cubes: &[f64] = if kernel == Kernel::Isotropic { &[0.4, 0.5, 0.6, 0.7, 1.0] } else { &[0.4, 0.5] };
        for &cube in cubes {
            let found =
                Extractor::new(Settings { cube, kernel, smoothing: steps, ..Settings::default() }).extract(&frame);
            let [water] = &found.liquids[..] else { panic!("{} liquids", found.liquids.len()) };
            closed(water);
            let error = water.volume() / volume - 1.0;
            assert!(error.abs() < 5e-3, "cube {cube}, {kernel:?}, shaken {shaken}, {steps} steps: {error:+.4}");
            on_walls(water, Vec3::new(1.0, 0.6, 0.5));
            for v in &water.surface.velocities {
                assert!((*v - Vec3::new(0.3, -0.1, 0.2)).length() < 1e-5, "{v}");
            }
        }
    }
}

/// Nothing is outside; what is on a wall is on it to the last digits; there is a whole face of it.
fn on_walls(water: &LiquidSurface, size: Vec3) {
    let Surface { positions, triangles, .. } = &water.surface;
    let low = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    assert!(low.min_element() > -1e-6 && high.x < size.x + 1e-6 && high.z < size.z + 1e-6, "{low} {high}");
    let mut front = 0.0;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        if [a, b, c].iter().all(|x| x.x.abs() < 1e-6) {
            front += -0.5 * (b - a).cross(c - a).x;
        }
    }
    assert!((front / (size.y * size.z) - 1.0).abs() < 0.02, "{front} m² of the side x = 0 are wet");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (mut frame, _) = resting(0.2);
    frame.surfaces.push(ball(&mut frame.bodies));
    for kernel in [Kernel::Isotropic, Kernel::Anisotropic] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Extractor::new(Settings { kernel, ..Settings::default() }).extract(&frame))
        };
        let one = run(1);
        assert!(!one.liquids[0].surface.triangles.is_empty());
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}

/// A solid ball of 12 cm in the middle of the water's surface.
fn ball(bodies: &mut Vec<BodyInfo>) -> Surface {
    let mesh = solids::icosphere(glam::DVec3::new(0.5, 0.6, 0.25), 0.12, 3);
    bodies.push(BodyInfo { name: "ball".into(), kind: BodyKind::Solid, color: [0.9, 0.6, 0.1] });
    Surface {
        body: bodies.len() as u16 - 1,
        positions: mesh.vertices().iter().map(|x| x.as_vec3()).collect(),
        velocities: vec![Vec3::ZERO; mesh.vertices().len()],
        triangles: mesh.triangles().to_vec(),
        ..Surface::default()
    }
}

#[test]
fn liquid_runs_into_a_body() {
    let (mut frame, _) = resting(0.0);
    let surface = ball(&mut frame.bodies);
    frame.surfaces.push(surface);
    // The water stays half a spacing before the ball.
    let center = Vec3::new(0.5, 0.6, 0.25);
    let spacing = frame.particles.spacing;
    let kept: Vec<usize> = (0..frame.particles.len())
        .filter(|&i| frame.particles.positions[i].distance(center) > 0.12 + 0.5 * spacing)
        .collect();
    frame = frame_with(&frame, &kept);
    let found = Extractor::new(Settings::default()).extract(&frame);
    closed(&found.liquids[0]);
    let depth = |x: &Vec3| (0.12 - x.distance(center)) / spacing;
    let below = found.liquids[0].surface.positions.iter().filter(|x| x.y < 0.55 && x.distance(center) < 0.2);
    let depths: Vec<f32> = below.map(depth).collect();
    assert!(depths.len() > 15, "{} vertices", depths.len());
    let mean = depths.iter().sum::<f32>() / depths.len() as f32;
    let least = depths.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(
        (0.2..0.6).contains(&mean) && least > 0.0,
        "{least}, on the mean {mean} spacings deep, {} vertices",
        depths.len()
    );
}

/// A frame with some of its particles.
fn frame_with(frame: &Frame, kept: &[usize]) -> Frame {
    let mut new = frame.clone();
    let old = &frame.particles;
    new.particles.ids = kept.iter().map(|&i| old.ids[i]).collect();
    new.particles.positions = kept.iter().map(|&i| old.positions[i]).collect();
    new.particles.velocities = kept.iter().map(|&i| old.velocities[i]).collect();
    new.particles.bodies = kept.iter().map(|&i| old.bodies[i]).collect();
    new.particles.densities = kept.iter().map(|&i| old.densities[i]).collect();
    new.particles.pressures = kept.iter().map(|&i| old.pressures[i]).collect();
    new
}

#[test]
fn two_liquids_share_their_interface() {
    let spacing = 0.05;
    let points = lattice([12, 12, 12], spacing, 0.1).map(|x| (x, u16::from(x.y < 0.3)));
    // The second is the heavier one and lies below.
    let mut frame = frame_of(spacing, points, &[800.0, 1000.0]);
    tank(&mut frame, Vec3::splat(0.6));
    let found = Extractor::new(Settings { smoothing: 0, ..Settings::default() }).extract(&frame);
    let [light, heavy] = &found.liquids[..] else { panic!("{} liquids", found.liquids.len()) };
    assert_eq!((light.surface.body, heavy.surface.body), (0, 1));
    for liquid in [light, heavy] {
        closed(liquid);
        assert!((liquid.volume() / 0.108 - 1.0).abs() < 0.02, "{}", liquid.volume());
    }
    let inner = |x: &&Vec3| (x.y - 0.3).abs() < 0.05 && x.x > 0.05 && x.x < 0.55 && x.z > 0.05 && x.z < 0.55;
    let below: Vec<&Vec3> = heavy.surface.positions.iter().filter(inner).collect();
    assert!(below.len() > 100);
    for x in below {
        let nearest = light.surface.positions.iter().map(|y| y.distance(*x)).fold(f32::INFINITY, f32::min);
        assert!(nearest < 1e-6, "{x} is {nearest} m from the other liquid");
    }
}

#[test]
fn lone_particles_are_spray_and_nothing_breaks_the_rest() {
    let (mut frame, volume) = resting(0.0);
    for (k, at) in [Vec3::new(0.5, 2.0, 0.2), Vec3::new(0.4, 9e9, 0.2), Vec3::NAN].into_iter().enumerate() {
        frame.particles.ids.push(10_000 + k as u32);
        frame.particles.positions.push(at);
        frame.particles.velocities.push(Vec3::ZERO);
        frame.particles.bodies.push(0);
        frame.particles.densities.push(1000.0);
        frame.particles.pressures.push(0.0);
    }
    let mut spray = vec![false; frame.particles.len()];
    spray[2400] = true;
    frame.particles.spray = spray;
    let found = Extractor::new(Settings::default()).extract(&frame);
    assert_eq!(found.spray, [2400, 2401, 2402]);
    assert!((found.liquids[0].volume() / volume - 1.0).abs() < 5e-3);
    assert_eq!(Extractor::default().extract(&Frame::default()), Surfaces::default());
}

#[test]
fn a_surface_at_rest_stays_where_it_is() {
    // Particles tremble by two hundredths of a spacing between frames.
    let surface = |step: u32| {
        let (mut frame, _) = resting(0.1);
        for (i, x) in (0u32..).zip(&mut frame.particles.positions) {
            let seed = 7919 * (i + 1) + 31 * step;
            *x += 0.02 * 0.05 * Vec3::new(noise(seed), noise(seed + 1), noise(seed + 2));
        }
        Extractor::new(Settings::default()).extract(&frame).liquids.remove(0).surface
    };
    let mut before = surface(0);
    for step in 1..4 {
        let now = surface(step);
        let top = |s: &Surface| s.positions.iter().copied().filter(|x| x.y > 0.5).collect::<Vec<_>>();
        let (a, b) = (top(&before), top(&now));
        // In height, between vertices over the same position.
        let (mut sum, mut count) = (0.0, 0);
        for x in &a {
            let over = b.iter().min_by(|p, q| p.distance_squared(*x).total_cmp(&q.distance_squared(*x)));
            if let Some(y) = over {
                sum += (y.y - x.y).abs();
                count += 1;
            }
        }
        let mean = sum / count as f32 / 0.05;
        assert!(count > 500 && mean <= 0.02, "{mean} spacings over {count} vertices");
        before = now;
    }
}

/// Particles that are a twentieth too near to each other sideways: the topmost have as many neighbours as others have inside.
#[test]
fn dense_water_has_a_surface_too() {
    let spacing = 0.05;
    for (layers, cube) in [(10, 0.5), (10, 0.6), (12, 0.5), (13, 0.4), (8, 1.0)] {
        let points = lattice([40, layers, 32], spacing, 0.0).map(|x| (x * Vec3::new(0.93, 1.0, 0.93), 0));
        let mut frame = frame_of(spacing, points, &[1000.0]);
        let size = Vec3::new(40.0 * 0.93, layers as f32, 32.0 * 0.93) * spacing;
        tank(&mut frame, size);
        let found = Extractor::new(Settings { cube, ..Settings::default() }).extract(&frame);
        let [water] = &found.liquids[..] else { panic!("{} liquids", found.liquids.len()) };
        closed(water);
        let error = water.volume() / f64::from(size.x * size.y * size.z) - 1.0;
        // Denser particles are a little higher: their colour is.
        assert!(error.abs() < 0.02, "{layers} layers, cube {cube}: {error:+.4}");
    }
}
