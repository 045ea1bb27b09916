//! `spin`: a free drop turns and keeps its angular momentum.

use crate::worlds::{run_until, world};
use crate::{Row, Size, bound, failed};
use glam::DVec3;
use meniscus::sim::World;
use std::f64::consts::TAU;

const CASE: &str = "spin";
const SCENE: &str = "gravity = [0, 0, 0]\ndomain = { min = [-9, -9, -9], max = [9, 9, 9] }\n\
    [liquid.drop]\nviscosity = 0\nspin = [0, 5, 0]\nfill = [{ sphere = { center = [0, 0, 0], radius = 0.2 } }]\n";

pub(crate) fn run(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.01 } else { 0.02 };
    let result = world(CASE, &format!("{SCENE}[sph]\nspacing = {spacing:?}\n")).and_then(|mut world| {
        let before = angular_momentum(&world);
        run_until(&mut world, TAU / 5.0)?;
        let change = (angular_momentum(&world) - before).length() / before.length();
        Ok(vec![bound(CASE, "|change| / |angular momentum| over a turn", change, 0.01)])
    });
    result.unwrap_or_else(|error| failed(CASE, &error))
}

/// Per mass of a particle \[m²/s\].
fn angular_momentum(world: &World) -> DVec3 {
    let particles = world.frame().particles;
    let each = particles.positions.iter().zip(&particles.velocities);
    each.map(|(x, v)| x.as_dvec3().cross(v.as_dvec3())).sum()
}
