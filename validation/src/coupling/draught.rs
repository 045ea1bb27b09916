//! `draught` and `coupling-convergence`: how deep bodies float, and how they lie.

use super::{mean_of, volume_of};
use crate::plate;
use crate::worlds::{run_until, table, world};
use crate::{Plot, Row, Size, absolute, bound, compare, failed, largest, mean};
use glam::DVec3;
use meniscus::sim::World;

/// A body of the table.
struct Body {
    name: &'static str,
    shape: &'static str,
    /// Half its height \[m\].
    half: f64,
    /// Its column.
    column: usize,
    /// Side of its square tank \[m\].
    tank: f64,
}

const BODIES: [Body; 3] = [
    Body {
        name: "box",
        shape: "box = { min = [-0.2, 0.25, -0.2], max = [0.2, 0.45, 0.2] }",
        half: 0.1,
        column: 1,
        tank: 0.7,
    },
    Body { name: "sphere", shape: "sphere = { center = [0, 0.35, 0], radius = 0.1 }", half: 0.1, column: 2, tank: 0.4 },
    Body {
        name: "cylinder",
        shape: "cylinder = { start = [0, 0.35, -0.12], end = [0, 0.35, 0.12], radius = 0.1 }",
        half: 0.1,
        column: 3,
        tank: 0.4,
    },
];

const DRAUGHTS: &str = include_str!("../../data/archimedes_draught.csv");

/// Depth of the water, before a body is in it \[m\].
const DEPTH: f64 = 0.25;

pub(crate) fn run(size: Size) -> Vec<Row> {
    measure(size).unwrap_or_else(|error| failed("draught", &error))
}

fn measure(size: Size) -> Result<Vec<Row>, String> {
    let fine = size == Size::Fine;
    let spacing = if fine { 0.025 } else { 0.04 };
    let mut rows = Vec::new();
    let table = table::<4>(DRAUGHTS);
    let mut plot = Plot::new("density over that of water", "draught [m]");
    for body in &BODIES {
        let mut dots = Vec::new();
        let asked: &[f64] = if fine { &[0.1, 0.3, 0.5, 0.7, 0.9] } else { &[0.3, 0.7] };
        for &density in asked {
            let [reference, found] = draughts(body, density, spacing)?;
            let quantity = format!("draught of the {}, s = {density} [m]", body.name);
            rows.push(absolute("draught", &quantity, [reference, found], 0.5 * spacing).asked());
            dots.push([density, found]);
        }
        let exact: Vec<[f64; 2]> = table.iter().map(|row| [row[0], row[body.column]]).collect();
        plot = plot.reference(&format!("{}, exact", body.name), &exact).dots(&format!("{}, ours", body.name), &dots);
    }
    rows[0].plots.push(plot);
    let mut plot = Plot::new("t [s]", "heel of a free square bar [°]");
    // Where it starts, it may not stay: a bar that does not turn fails.
    for (density, start, lies) in [(0.1, 20.0, 0.0), (0.5, 8.0, 45.0), (0.9, 20.0, 0.0)] {
        let quantity = format!("heel of a free square bar from {start}°, s = {density} [°]");
        let (found, track) = heel(density, start, spacing)?;
        rows.push(absolute("draught", &quantity, [lies, found], 10.0));
        plot = plot.measured(&format!("s = {density}"), &track).level(&format!("{lies}°"), [3.0, 3.5], lies);
    }
    rows[0].plots.push(plot);
    Ok(rows)
}

/// `coupling-convergence`: errors against the spacing.
pub(crate) fn convergence(size: Size) -> Vec<Row> {
    let mut rows = converging_draughts(size);
    if size == Size::Fine {
        rows.extend([0.1, 0.05, 0.025].map(deflection));
    }
    rows
}

const CONVERGENCE: &str = "coupling-convergence";

/// The deflection of the plate under water, elements at most 5 cm long.
fn deflection(spacing: f64) -> Row {
    match plate::deflection([spacing, spacing.min(0.05), 1.0, 0.5]) {
        Err(error) => failed(CONVERGENCE, &error).remove(0),
        Ok((found, _)) => {
            let quantity = format!("deflection of the plate, spacing {spacing} m [m]");
            compare(CONVERGENCE, &quantity, plate::DEFLECTION, found, 0.05)
        }
    }
}

/// The mean error of the draughts of a sphere and a cylinder.
fn converging_draughts(size: Size) -> Vec<Row> {
    let spacings: &[f64] = if size == Size::Fine { &[0.05, 0.035, 0.025, 0.0175] } else { &[0.05, 0.035] };
    let error = |spacing: f64| -> Result<f64, String> {
        let errors = [&BODIES[1], &BODIES[2]]
            .map(|body| draughts(body, 0.5, spacing).map(|[exact, found]| (found - exact).abs()));
        Ok(errors.into_iter().sum::<Result<f64, String>>()? / 2.0)
    };
    let errors: Result<Vec<f64>, String> = spacings.iter().map(|&spacing| error(spacing)).collect();
    match errors {
        Err(error) => failed(CONVERGENCE, &error),
        Ok(errors) => {
            let found: Vec<[f64; 2]> = spacings.iter().copied().zip(errors).map(|(s, error)| [s, error]).collect();
            let half: Vec<[f64; 2]> = spacings.iter().map(|s| [*s, 0.5 * s]).collect();
            let plot = Plot::new("spacing [m]", "mean error of draughts [m]").loglog();
            let row = |[spacing, error]: &[f64; 2]| {
                bound(CONVERGENCE, &format!("mean error of draughts, spacing {spacing} m [m]"), *error, 0.5 * spacing)
            };
            let mut rows: Vec<Row> = found.iter().map(row).collect();
            rows[0].plots.push(plot.measured("ours", &found).reference("half a spacing", &half));
            rows
        }
    }
}

/// How deep a body of a density over that of water lies, by the table and as it is found \[m\].
fn draughts(body: &Body, density: f64, spacing: f64) -> Result<[f64; 2], String> {
    let Body { half, tank, .. } = *body;
    let table = table::<4>(DRAUGHTS);
    let row = table.iter().find(|row| (row[0] - density).abs() < 1e-9).ok_or("not in the table")?;
    let matter = format!("density = {:?}\nlocked = [\"rx\", \"ry\", \"rz\"]\n", 1000.0 * density);
    let mut world = afloat(tank, spacing, &format!("shape = {{ {} }}\n{matter}", body.shape))?;
    let water = world.frame().particles.positions.len() as f64 * spacing.powi(3);
    // The level when it displaces its weight.
    let level = (water + density * volume_of(&world)?) / (tank * tank);
    run_until(&mut world, 2.0)?;
    Ok([row[body.column], level - (mean_of(&mut world, "body.y [m]", 1.0)? - half)])
}

/// The angle by which a free bar of square section has heeled at the end, between 0 and 45 degrees, from that at the start; and on the way.
fn heel(density: f64, start: f64, spacing: f64) -> Result<(f64, Vec<[f64; 2]>), String> {
    let bar = format!(
        "shape = {{ box = {{ min = [-0.1, 0.25, -0.16], max = [0.1, 0.45, 0.16] }} }}\nrotation = [0, 0, {start:?}]\n\
         density = {:?}\n",
        1000.0 * density
    );
    let mut world = afloat(0.48, spacing, &bar)?;
    let mut track = Vec::new();
    for k in 0..=70 {
        run_until(&mut world, 0.05 * f64::from(k))?;
        track.push([world.time(), lean(&world)?]);
    }
    let late = track.iter().filter(|[time, _]| *time > 3.0).map(|point| point[1]);
    Ok((mean(late), track))
}

/// The angle between the vertical and the nearest of the two normals of the bar's long sides \[degrees\].
fn lean(world: &World) -> Result<f64, String> {
    let frame = world.frame();
    let surface = frame.surfaces.first().ok_or("no bar")?;
    let at = |v: u32| surface.positions[v as usize].as_dvec3();
    let normals = surface.triangles.iter().map(|t| (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).normalize());
    let steepest = largest(normals.map(|normal| normal.dot(DVec3::Y)));
    Ok(steepest.clamp(-1.0, 1.0).acos().to_degrees())
}

/// A body over a square tank of water.
fn afloat(tank: f64, spacing: f64, body: &str) -> Result<World, String> {
    let a = 0.5 * tank;
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\n[liquid.water]\n\
         fill = [{{ box = {{ min = [-{a:?}, 0, -{a:?}], max = [{a:?}, {DEPTH:?}, {a:?}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [-{a:?}, 0, -{a:?}], max = [{a:?}, 1, {a:?}], open = [\"+y\"] }} }}\n\
         [rigid.body]\n{body}"
    );
    world("draught", &scene)
}
