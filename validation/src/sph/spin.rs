//! `spin`: a free drop turns and keeps its angular momentum.

use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, bound, failed, given, mean};
use glam::{DVec3, Vec3};
use meniscus::sim::World;
use std::f64::consts::TAU;

const CASE: &str = "spin";
const SCENE: &str = "gravity = [0, 0, 0]\ndomain = { min = [-9, -9, -9], max = [9, 9, 9] }\n\
    [liquid.drop]\nviscosity = 0\nspin = [0, 5, 0]\nfill = [{ sphere = { center = [0, 0, 0], radius = 0.2 } }]\n";

pub(crate) fn run(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.01 } else { 0.02 };
    let result = world(CASE, &format!("{SCENE}[sph]\nspacing = {spacing:?}\n")).and_then(|mut world| {
        let before = angular_momentum(&world);
        let start = world.frame().particles.positions;
        let (mut kept, mut turned) = (Vec::new(), f64::NAN);
        for k in 0..=20 {
            run_until(&mut world, TAU / 5.0 * f64::from(k) / 20.0)?;
            kept.push([world.time(), angular_momentum(&world).length() / before.length()]);
            if k == 5 {
                turned = mean_turn(&start, &world.frame().particles.positions);
            }
        }
        let change = (angular_momentum(&world) - before).length() / before.length();
        // A drop that stands still keeps its angular momentum, too: after a quarter of the time it has turned by a tenth at least.
        let change = given(turned > 0.1 * TAU, change);
        let plot = Plot::new("t [s]", "|angular momentum| over the first").measured("ours", &kept);
        let plot = plot.level("kept", [0.0, TAU / 5.0], 1.0);
        Ok(vec![bound(CASE, "|change| / |angular momentum| over a turn", change, 0.01).asked().with(plot)])
    });
    result.unwrap_or_else(|error| failed(CASE, &error))
}

/// How far particles have turned about y, in the mean \[rad\].
fn mean_turn(before: &[Vec3], after: &[Vec3]) -> f64 {
    let angle = |(a, b): (&Vec3, &Vec3)| f64::from((a.z * b.x - a.x * b.z).atan2(a.x * b.x + a.z * b.z));
    mean(before.iter().zip(after).filter(|(a, _)| a.with_y(0.0).length() > 0.05).map(angle))
}

/// Per mass of a particle \[m²/s\].
fn angular_momentum(world: &World) -> DVec3 {
    let particles = world.frame().particles;
    let each = particles.positions.iter().zip(&particles.velocities);
    each.map(|(x, v)| x.as_dvec3().cross(v.as_dvec3())).sum()
}
