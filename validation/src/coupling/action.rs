//! `action-reaction`: what the liquid gains in momentum, the bodies lose.

use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, at_least, bound, failed, largest};
use meniscus::sim::World;

const CASE: &str = "action-reaction";

pub(crate) fn run(size: Size) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, body) in [
        ("rigid", "[rigid.body]\ndensity = 600\n"),
        ("soft", "[solid.body]\ndensity = 600\nyoung = 1e5\ntarget_tets = 100\n"),
    ] {
        let found = hit(name, body, if size == Size::Fine { 0.02 } else { 0.04 });
        rows.extend(found.unwrap_or_else(|error| failed(CASE, &error)));
    }
    rows
}

/// Water flies against a body, without gravity and walls.
fn hit(name: &str, body: &str, spacing: f64) -> Result<Vec<Row>, String> {
    let scene = format!(
        "gravity = [0, 0, 0]\n[sph]\nspacing = {spacing:?}\n\
         [liquid.water]\nvelocity = [1, 0, 0]\nfill = [{{ box = {{ min = [-0.5, -0.2, -0.2], max = [-0.15, 0.2, 0.2] }} }}]\n\
         {body}shape = {{ box = {{ min = [-0.12, -0.1, -0.15], max = [0.12, 0.1, 0.1] }} }}\nrotation = [0, 20, 10]\n"
    );
    let mut world: World = world(CASE, &scene)?;
    let (start, liquid_at_start) = (world.totals().momentum, liquid(&world, spacing));
    let (mut sums, mut lost, mut gained) = (Vec::new(), Vec::new(), Vec::new());
    while world.time() < 0.4 {
        let until = world.time() + 0.01;
        run_until(&mut world, until)?;
        let [all, water] = [world.totals().momentum - start, liquid(&world, spacing) - liquid_at_start];
        sums.push(all.length());
        lost.push([world.time(), -water.x]);
        gained.push([world.time(), (all - water).x]);
    }
    let given = (liquid(&world, spacing) - liquid_at_start).length();
    let steps = world.steps() as f64;
    let plot = Plot::new("t [s]", &format!("momentum along x [kg·m/s], {name}"));
    let plot = plot.reference("lost by the water", &lost).measured("gained by the body", &gained);
    let part = format!("part of the water's momentum that went over, {name}");
    let sum = format!("sum of both changes, over what went over and per step, {name}");
    Ok(vec![
        at_least(CASE, &part, given / start.length(), 0.05).with(plot),
        bound(CASE, &sum, largest(sums) / given / steps, 6e-8),
    ])
}

fn liquid(world: &World, spacing: f64) -> glam::DVec3 {
    let mass = 1000.0 * spacing.powi(3);
    world.frame().particles.velocities.iter().map(|v| v.as_dvec3() * mass).sum()
}
