//! Surfaces of liquids: waves and drops in a tank, `size` particles.

use super::{Case, Measurement, Stepper, measure_steps};
use crate::failure::Failure;
use meniscus::core::{BodyInfo, BodyKind, Frame, StepReport, Wall, WallShape};
use meniscus::surface::{Extractor, Settings, Spray};

pub(super) const HALF: Case = case("surface/cube-0.5", |case, at| measure(case, at, 0.5));
pub(super) const SIX_TENTHS: Case = case("surface/cube-0.6", |case, at| measure(case, at, 0.6));
pub(super) const SEVEN_TENTHS: Case = case("surface/cube-0.7", |case, at| measure(case, at, 0.7));

const fn case(name: &'static str, measure: fn(&Case, [usize; 2]) -> Result<Measurement, Failure>) -> Case {
    Case { name, sizes: &[20_000, 100_000], measure }
}

fn measure(case: &Case, at: [usize; 2], cube: f64) -> Result<Measurement, Failure> {
    let mut extractor = Extractor::new(Settings { cube, ..Settings::default() });
    let frame = waves(at[0]);
    let items = frame.particles.len() as u64;
    let step: Stepper = Box::new(move |report: &mut StepReport| {
        let found = report.stage("extract", || extractor.extract(&frame));
        if found.liquids.is_empty() { Err(Failure::input("bench", "no surface")) } else { Ok(items) }
    });
    let steps = 10;
    let measured = measure_steps(case, at, steps, step)?;
    let ms_per_frame = Some(measured.ns_per_item_step * items as f64 * 1e-6);
    Ok(Measurement { ms_per_frame, ..measured })
}

/// Water in a tank twice as long as it is wide, its surface in waves, with drops of some thirty particles above it.
fn waves(count: usize) -> Frame {
    let mut frame = Frame::default();
    frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.2, 0.5, 0.8] });
    frame.bodies.push(BodyInfo { name: "tank".into(), kind: BodyKind::Wall, color: [0.5; 3] });
    let side = (count as f32 / 2.0).cbrt().round();
    let size = glam::Vec3::new(2.0 * side, 2.0 * side, side);
    let planes = [(0.0, 1.0), (1.0, -1.0)].into_iter().flat_map(|s| glam::Vec3::AXES.map(|axis| (s, axis)));
    for ((far, sign), axis) in planes.filter(|((far, _), axis)| *far == 0.0 || *axis != glam::Vec3::Y) {
        let shape = WallShape::Plane { point: size * far, normal: axis * sign };
        frame.walls.push(Wall { body: 1, shape });
    }
    let drop = |x: glam::Vec3| {
        let cell = (x / 8.0).floor();
        (x - 8.0 * cell - 4.0).length() < 2.0 && (cell.x + cell.y + cell.z) as i32 % 2 == 0
    };
    let top = |x: glam::Vec3| side * (0.9 + 0.15 * (x.x * 0.35).sin() + 0.1 * (x.z * 0.45).cos());
    let cells = (size.x * size.y * size.z) as usize;
    for i in 0..cells {
        let (nx, ny) = (size.x as usize, size.y as usize);
        let at = glam::Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32) + 0.5;
        let shaken = at + 0.15 * glam::Vec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        if at.y < top(at) || at.y > top(at) + 3.0 && drop(at) {
            frame.particles.ids.push(frame.particles.positions.len() as u32);
            frame.particles.positions.push(shaken);
            frame.particles.velocities.push(glam::Vec3::X);
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
