//! `darcy`: water seeps through a porous plug, and drains from it.

use crate::worlds::{reading, run_until, world};
use crate::{Row, Size, compare, failed};
use meniscus::sim::World;

const CASE: &str = "darcy";
/// Density \[kg/m³\] and viscosity \[Pa·s\] of water, gravity \[m/s²\].
const DENSITY: f64 = 1000.0;
const VISCOSITY: f64 = 1e-3;
const G: f64 = 9.81;
/// Width and length of the plug \[m\], and the head at the start.
const WIDTH: f64 = 0.16;
const LENGTH: f64 = 0.48;
const HEAD: f64 = 0.24;
/// Seven layers of liquid where there are eight of the solid.
const POROSITY: f64 = 0.669_921_875;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.01 } else { 0.02 };
    let conductivity = |permeability: f64| permeability * DENSITY * G / VISCOSITY;
    let row = |quantity: &str, reference: f64, measured: Result<f64, String>| match measured {
        Ok(measured) => vec![compare(CASE, quantity, reference, measured, 0.05)],
        Err(error) => failed(CASE, &error),
    };
    let seeps = [(1e-8, false), (1e-9, false), (1e-8, true)].map(|(permeability, walls)| {
        let sides = if walls { "between walls" } else { "in space that repeats" };
        let quantity = format!("k = {permeability:e} m², {sides}: conductivity [m/s]");
        row(&quantity, conductivity(permeability), seep(permeability, walls, spacing))
    });
    let drains = row("k = 1e-8 m²: speed of draining [m/s]", conductivity(1e-8) / POROSITY, drain(1e-8, spacing));
    seeps.into_iter().flatten().chain(drains).collect()
}

/// A plug that is held, full of water, with water above it up to a head \[m\], in a shaft that goes on below.
fn plug(permeability: f64, walls: bool, spacing: f64, head: f64) -> Result<World, String> {
    let bounds = format!("min = [0, -1, 0], max = [{WIDTH}, 2, {WIDTH}]");
    let sides = if walls {
        format!("[wall.shaft]\nshape = {{ box = {{ {bounds}, open = [\"+y\", \"-y\"] }} }}\n")
    } else {
        format!("[periodic]\n{}\naxes = [\"x\", \"z\"]\n", bounds.replace("], ", "]\n"))
    };
    let block = |top: f64| format!("box = {{ min = [0, 0, 0], max = [{WIDTH}, {top:?}, {WIDTH}] }}");
    let scene = format!(
        "method = \"unified\"\n[sph]\nspacing = {spacing:?}\nreference_speed = 2.0\n{sides}\
         [liquid.water]\ndensity = {DENSITY:?}\nviscosity = {VISCOSITY:?}\nfill = [{{ {} }}]\n\
         [solid.plug]\nshape = {{ {} }}\nyoung = 1e5\ndensity = 500\nporosity = {POROSITY:?}\npermeability = {permeability:?}\n\
         fixed = [{{ region = {{ {} }} }}]\n\
         [drain.below]\nregion = {{ box = {{ min = [-1, -2, -1], max = [1, -0.1, 1] }} }}\n",
        block(LENGTH + head),
        block(LENGTH),
        block(LENGTH)
    );
    world(CASE, &scene)
}

/// Conductivity \[m/s\]: flow per area in the middle half of the plug, over (h + L)/L with the head h that is left.
fn seep(permeability: f64, walls: bool, spacing: f64) -> Result<f64, String> {
    let mut world = plug(permeability, walls, spacing, HEAD)?;
    let (start, every, count) = if permeability < 5e-9 { (1.0, 0.05, 20) } else { (0.3, 0.02, 20) };
    let per_area = spacing * spacing * spacing / (WIDTH * WIDTH);
    let mut sum = 0.0;
    for k in 0..count {
        run_until(&mut world, start + every * f64::from(k))?;
        let (mut flow, mut above) = (0.0, 0.0);
        let frame = world.frame();
        for (position, velocity) in frame.particles.positions.iter().zip(&frame.particles.velocities) {
            let y = f64::from(position.y);
            if (0.25 * LENGTH..0.75 * LENGTH).contains(&y) {
                flow -= f64::from(velocity.y) * per_area / (0.5 * LENGTH);
            }
            above += if y > LENGTH { per_area } else { 0.0 };
        }
        sum += flow * LENGTH / (above + LENGTH);
    }
    Ok(sum / f64::from(count))
}

/// Speed \[m/s\] at which water leaves a plug that nothing feeds, from the time at which it is half empty.
fn drain(permeability: f64, spacing: f64) -> Result<f64, String> {
    const SATURATION: &str = "plug.saturation [1]";
    let mut world = plug(permeability, false, spacing, 0.0)?;
    let full = reading(&world, SATURATION);
    let (step, mut before) = (0.05, full);
    for k in 1..200 {
        run_until(&mut world, step * f64::from(k))?;
        let now = reading(&world, SATURATION);
        if now < 0.5 * full {
            let time = step * (f64::from(k) - (0.5 * full - now) / (before - now));
            return Ok(0.5 * LENGTH / time);
        }
        before = now;
    }
    Err("the plug does not drain".into())
}
