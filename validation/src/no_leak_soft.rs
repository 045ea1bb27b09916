//! `no-leak-soft`: no particle passes through the surface of a solid in the scenes of the coupling.

use crate::{Row, Size, bound, failed, given, largest};
use glam::{DVec3, Vec3};
use meniscus::core::{BodyKind, Frame};
use meniscus::gallery;
use meniscus::geometry::{Bvh, TriangleMesh};
use meniscus::sim::World;
use std::f64::consts::TAU;

const CASE: &str = "no-leak-soft";
/// Scenes, and how much of them the quick form runs \[s\].
const SCENES: [(&str, f64); 5] =
    [("pool", 0.6), ("floating-boxes", 0.4), ("pool-fracture", 0.6), ("vessel", 0.04), ("vessel-injury", 0.06)];

pub(crate) fn run(size: Size) -> Vec<Row> {
    let rows = SCENES.iter().flat_map(|(scene, quick)| {
        leaks(scene, (size == Size::Quick).then_some(*quick)).map_or_else(
            |error| failed(CASE, &format!("{scene}: {error}")),
            |[inside, beside]| {
                let mut rows = vec![bound(CASE, &format!("{scene}: particles found in a solid"), inside, 0.0).asked()];
                if *scene == "vessel" {
                    rows.push(bound(CASE, "vessel: particles found beside it", beside, 0.0).asked());
                }
                rows
            },
        )
    });
    rows.collect()
}

/// Particles found inside of solids, and beside the vessel, whenever something may have come half a spacing nearer to something
/// else since they were last looked for: no wall is thinner.
fn leaks(scene: &str, seconds: Option<f64>) -> Result<[f64; 2], String> {
    let loaded = gallery::load(scene, &[]).map_err(|e| e.to_string())?;
    let (end, spacing) = (seconds.unwrap_or(loaded.scene.seconds), loaded.scene.sph.spacing);
    let mut world = World::new(&loaded).map_err(|e| e.to_string())?;
    let (start, mut sums) = (world.frame().particles, [0, 0]);
    let mut nearer = 0.0;
    while world.time() < end {
        let before = world.time();
        world.step(end).map_err(|e| e.to_string())?;
        let next = 2.0 * world.totals().max_speed * (world.time() - before);
        nearer += next;
        if nearer + next > 0.5 * spacing || world.time() >= end {
            nearer = 0.0;
            let frame = world.frame();
            sums[0] += inside(&frame)?;
            sums[1] += frame.particles.positions.iter().filter(|x| is_beside_vessel(**x)).count();
        }
    }
    // Liquid that stands still, or is not there, leaks nowhere.
    let end = world.frame().particles;
    let kept = end.ids.iter().zip(&end.positions).filter_map(|(id, x)| Some((x, start.ids.binary_search(id).ok()?)));
    let way = largest(kept.map(|(x, before)| f64::from(x.distance(start.positions[before]))));
    Ok(sums.map(|sum| given(way > 0.1 * spacing, sum as f64)))
}

/// Particles inside of the surfaces of solids.
pub(crate) fn inside(frame: &Frame) -> Result<usize, String> {
    let mut count = 0;
    let solid = |body: u16| frame.bodies.get(usize::from(body)).is_some_and(|info| info.kind == BodyKind::Solid);
    for surface in frame.surfaces.iter().filter(|surface| solid(surface.body)) {
        let corners = surface.positions.iter().map(|p| p.as_dvec3()).collect();
        let tree = Bvh::new(&TriangleMesh::new(corners, surface.triangles.clone()).map_err(|e| e.to_string())?);
        count += frame.particles.positions.iter().filter(|x| !x.is_finite() || tree.inside(x.as_dvec3())).count();
    }
    Ok(count)
}

/// Whether a position is out of the vessel of the scene `vessel`: 40 mm long, bent by 6 mm, 6 mm in radius at rest.
fn is_beside_vessel(position: Vec3) -> bool {
    let position = position.as_dvec3();
    let bend = DVec3::Y * (3e-3 * (1.0 - (TAU * position.x / 0.04).cos()));
    let away = (position - bend).with_x(0.0).length();
    position.x < -1e-3 || position.x < 0.04 && away > 9e-3
}
