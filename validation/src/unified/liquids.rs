//! `layers-at-rest`, `no-spurious-tension`, `pair-momentum`: liquids of different density.

use crate::worlds::{calm, momentum_of, run_until, world};
use crate::{Row, Size, bound, failed, given, largest, mean};
use glam::DVec3;
use meniscus::sim::World;
use std::collections::BTreeMap;

const G: f64 = 9.81;
const SPACING: f64 = 0.02;
/// When layers are looked at \[s\].
const SETTLED: f64 = 10.0;

/// Lighter liquid above heavier: incompressible at all contrasts, and with the paper's state equation at its ends.
pub(crate) fn layers(_size: Size) -> Vec<Row> {
    const CASE: &str = "layers-at-rest";
    let (tenth, ten) = (("0.1", [100.0, 1000.0]), ("10", [1000.0, 10_000.0]));
    let incompressible = [tenth, ("5", [1000.0, 5000.0]), ten, ("1000", [1.0, 1000.0])].map(|pair| ("dfsph", pair));
    let compressible = [tenth, ten].map(|pair| ("state-equation", pair));
    let rows = incompressible.into_iter().chain(compressible).map(|(solver, (contrast, densities))| {
        rest(solver, densities).map_or_else(
            |error| failed(CASE, &error),
            |[speed, gap, unevenness]| {
                let with = if solver == "dfsph" { "" } else { ", state equation" };
                let name = |quantity: &str| format!("contrast {contrast}{with}: {quantity}");
                vec![
                    bound(CASE, &name("largest speed / √(g H)"), speed, 0.01).asked(),
                    bound(CASE, &name("widest gap over a spacing"), gap, 1.0).asked(),
                    bound(CASE, &name("unevenness of the interface over a spacing"), unevenness, 0.5).asked(),
                ]
            },
        )
    });
    rows.flatten().collect()
}

/// Largest speed over √(g H), widest gap and unevenness of the interface over a spacing.
fn rest(solver: &str, [light, heavy]: [f64; 2]) -> Result<[f64; 3], String> {
    let (width, half) = (8.0 * SPACING, 8.0 * SPACING);
    let top = 2.0 * half;
    let viscosity = if light < 10.0 { 2e-5 } else { 1e-3 };
    let scene = format!(
        "method = \"unified\"\n[sph]\nspacing = {SPACING}\npressure = \"{solver}\"\n{}\
         [liquid.heavy]\ndensity = {heavy:?}\nfill = [{{ box = {{ min = [0, 0, 0], max = [{width}, {half}, {width}] }} }}]\n\
         [liquid.light]\ndensity = {light:?}\nviscosity = {viscosity:?}\n\
         fill = [{{ box = {{ min = [0, {half}, 0], max = [{width}, {top}, {width}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, 0, 0], max = [{width}, 1, {width}], open = [\"+y\"] }} }}\n",
        calm(2.2)
    );
    let mut world = world("layers-at-rest", &scene)?;
    run_until(&mut world, SETTLED)?;
    let frame = world.frame();
    let fastest = largest(frame.particles.velocities.iter().map(|v| f64::from(v.length())));
    // Layers that press on nothing have not come to rest, they have not begun.
    let low =
        frame.particles.positions.iter().zip(&frame.particles.pressures).filter(|(x, _)| f64::from(x.y) < SPACING);
    let carries = mean(low.map(|(_, p)| f64::from(*p))) > 0.5 * (light + heavy) * G * half;
    // In columns two spacings wide: where the heavy liquid ends and the light one begins.
    let mut columns: BTreeMap<[i64; 2], [f64; 2]> = BTreeMap::new();
    for (p, &body) in frame.particles.positions.iter().zip(&frame.particles.bodies) {
        let p = p.as_dvec3();
        let cell = [(p.x / (2.0 * SPACING)).floor() as i64, (p.z / (2.0 * SPACING)).floor() as i64];
        let ends = columns.entry(cell).or_insert([f64::NEG_INFINITY, f64::INFINITY]);
        if body == 0 {
            ends[0] = if ends[0] >= p.y { ends[0] } else { p.y };
        } else {
            ends[1] = if ends[1] <= p.y { ends[1] } else { p.y };
        }
    }
    let gap = largest(columns.values().map(|[end, start]| start - end)) / SPACING;
    let middle: Vec<f64> = columns.values().map(|[end, start]| 0.5 * (end + start)).collect();
    let level = mean(middle.iter().copied());
    let uneven = largest(middle.iter().map(|m| (m - level).abs())) / SPACING;
    // A lattice is a spacing apart: what is beyond that is gap.
    let gap = if gap < 1.0 { 0.0 } else { gap - 1.0 };
    Ok([fastest / (G * top).sqrt(), gap, uneven].map(|value| given(carries, value)))
}

/// A cube of one liquid within another, in space that repeats: shaken, and without surface tension.
pub(crate) fn square(size: Size) -> Vec<Row> {
    const CASE: &str = "no-spurious-tension";
    let seconds = if size == Size::Fine { 2.0 } else { 0.5 };
    let rows = [10.0, 0.1].map(|contrast| {
        corners(contrast, seconds).map_or_else(
            |error| failed(CASE, &error),
            |moved| vec![bound(CASE, &format!("contrast {contrast}: corners move, over a spacing"), moved, 0.25)],
        )
    });
    rows.into_iter().flatten().collect()
}

/// How far the corner particles of a cube have moved inwards in the mean, over a spacing.
fn corners(contrast: f64, seconds: f64) -> Result<f64, String> {
    let scene = format!(
        "method = \"unified\"\ngravity = [0, 0, 0]\n\
         [sph]\nspacing = {SPACING}\npressure = \"state-equation\"\nstiffness = 10\nmass_factor = 1.02\nartificial_viscosity = 0\n\
         [periodic]\nmin = [0, 0, 0]\nmax = [0.4, 0.4, 0.4]\naxes = [\"x\", \"y\", \"z\"]\n\
         [liquid.inner]\ndensity = {:?}\nfill = [{{ box = {{ min = [0.1, 0.1, 0.1], max = [0.3, 0.3, 0.3] }} }}]\n\
         [liquid.outer]\ndensity = 1000\nfill = [{{ box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.4] }} }}]\n",
        1000.0 * contrast
    );
    let mut world = world("no-spurious-tension", &scene)?;
    let at_corner = |p: DVec3| (p - DVec3::splat(0.2)).abs().min_element() > 0.1 - SPACING;
    let positions = |world: &World| {
        let frame = world.frame();
        let inner = frame.particles.bodies.iter().zip(&frame.particles.positions).filter(|(body, _)| **body == 0);
        inner.map(|(_, p)| p.as_dvec3()).collect::<Vec<_>>()
    };
    let before = positions(&world);
    run_until(&mut world, seconds)?;
    let after = positions(&world);
    let moved: Vec<f64> =
        before.iter().zip(&after).filter(|(b, _)| at_corner(**b)).map(|(b, a)| a.distance(*b) / SPACING).collect();
    // Forces that could pull at the corners are there: the liquid is under pressure, p = k (1.02 ρ₀ − ρ₀).
    let pressed = mean(world.frame().particles.pressures.iter().map(|p| f64::from(*p))) > 1.0;
    Ok(given(pressed, largest(moved)))
}

/// Liquids and an elastic body of very different density collide.
pub(crate) fn momentum(size: Size) -> Vec<Row> {
    const CASE: &str = "pair-momentum";
    let seconds = if size == Size::Fine { 1.0 } else { 0.2 };
    let rows = ["dfsph", "state-equation"].map(|solver| {
        let scene = format!(
            "method = \"unified\"\ngravity = [0, 0, 0]\ndomain = {{ min = [-9, -9, -9], max = [9, 9, 9] }}\n\
             [sph]\nspacing = 0.02\npressure = \"{solver}\"\n\
             [liquid.light]\ndensity = 1000\nvelocity = [2, 0.3, 0]\nfill = [{{ sphere = {{ center = [-0.15, 0, 0], radius = 0.1 }} }}]\n\
             [liquid.heavy]\ndensity = 10000\nvelocity = [-0.5, 0, 0.1]\nfill = [{{ sphere = {{ center = [0.1, 0.05, 0], radius = 0.1 }} }}]\n\
             [solid.box]\ndensity = 100\nyoung = 5e4\nvelocity = [0, 1, 0]\nshape = {{ box = {{ min = [-0.1, -0.26, -0.06], max = [0.02, -0.14, 0.06] }} }}\n"
        );
        let change = world(CASE, &scene).and_then(|mut world| {
            let (before, light) = (world.totals().momentum, momentum_of(&world, 0));
            run_until(&mut world, seconds)?;
            // What never meets keeps its momentum.
            let met = (momentum_of(&world, 0) - light).length() > 0.1 * light.length();
            Ok(given(met, (world.totals().momentum - before).length() / before.length()))
        });
        let quantity = format!("{solver}: |change| / |momentum|, 1000, 10,000 and 100 kg/m³ collide");
        bound(CASE, &quantity, change.unwrap_or(f64::NAN), 1e-5)
    });
    rows.into()
}
