//! `action-reaction`: what the liquid gains in momentum, the bodies lose.

use crate::worlds::{run_until, world};
use crate::{Row, Size, bound, failed};
use meniscus::sim::World;

const CASE: &str = "action-reaction";

pub(crate) fn run(size: Size) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, body) in [
        ("rigid", "[rigid.body]\ndensity = 600\n"),
        ("soft", "[solid.body]\ndensity = 600\nyoung = 1e5\ntarget_tets = 100\n"),
    ] {
        match hit(body, if size == Size::Fine { 0.02 } else { 0.04 }) {
            Ok(found) => rows
                .extend(found.map(|(quantity, value, most)| bound(CASE, &format!("{quantity}, {name}"), value, most))),
            Err(error) => rows.extend(failed(CASE, &error)),
        }
    }
    rows
}

/// Water flies against a body, without gravity and walls.
fn hit(body: &str, spacing: f64) -> Result<[(&'static str, f64, f64); 2], String> {
    let scene = format!(
        "gravity = [0, 0, 0]\n[sph]\nspacing = {spacing:?}\n\
         [liquid.water]\nvelocity = [1, 0, 0]\nfill = [{{ box = {{ min = [-0.5, -0.2, -0.2], max = [-0.15, 0.2, 0.2] }} }}]\n\
         {body}shape = {{ box = {{ min = [-0.12, -0.1, -0.15], max = [0.12, 0.1, 0.1] }} }}\nrotation = [0, 20, 10]\n"
    );
    let mut world: World = world(CASE, &scene)?;
    let (start, liquid_at_start) = (world.totals().momentum, liquid(&world, spacing));
    let mut worst = 0.0f64;
    while world.time() < 0.4 {
        let until = world.time() + 0.01;
        run_until(&mut world, until)?;
        worst = worst.max((world.totals().momentum - start).length());
    }
    let given = (liquid(&world, spacing) - liquid_at_start).length();
    let steps = world.steps() as f64;
    Ok([
        (
            "part of the water's momentum that went over, missing from 0.05",
            (0.05 - given / start.length()).max(0.0),
            0.0,
        ),
        ("sum of both changes, over what went over and per step", worst / given / steps, 6e-8),
    ])
}

fn liquid(world: &World, spacing: f64) -> glam::DVec3 {
    let mass = 1000.0 * spacing.powi(3);
    world.frame().particles.velocities.iter().map(|v| v.as_dvec3() * mass).sum()
}
