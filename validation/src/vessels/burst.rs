//! `vessel-burst`: the pressure at which a tube tears.

use super::{fill, pipe, rings};
use crate::worlds::world_with;
use crate::{Row, Size, compare, failed};
use glam::DVec3;
use meniscus::geometry::{TetMesh, Tube, write_ply};
use meniscus::sim::World;
use std::f64::consts::PI;

const CASE: &str = "vessel-burst";
/// Inner and outer radius \[m\].
const RADII: [f64; 2] = [5e-3, 6e-3];
/// Lamé's tension at the inner wall reaches the strength of 0.1 MPa, with the tube as wide as it then is \[Pa\].
const BURST: f64 = 17_850.0;

pub(crate) fn run(size: Size) -> Vec<Row> {
    // Particles from the axis to the wall; cells through the wall, around and along.
    let (count, cells) = if size == Size::Fine { (10, [4, 56, 8]) } else { (5, [2, 28, 4]) };
    match burst(count, cells) {
        Err(error) => failed(CASE, &error),
        Ok(pressure) => vec![compare(CASE, "pressure when the wall tears [Pa]", BURST, pressure, 0.1)],
    }
}

/// Presses liquid into a tube between a cap and a piston until it tears; the pressure on the piston then \[Pa\].
fn burst(count: u32, [through, around, along]: [u32; 3]) -> Result<f64, String> {
    let spacing = RADII[0] / f64::from(count);
    let layers = count + 1;
    let length = spacing * f64::from(layers);
    // Both discs reach into the wall of the tube, which they do not touch: wet on both sides, they have no inside.
    let scene = format!(
        "gravity = [0, 0, 0]\n[time]\nmax_dt = 5e-4\n[sph]\nspacing = {spacing:?}\nspeed = 4\n\
         [liquid.blood]\ndensity = 1000\nviscosity = 0.003\n{fill}\n\
         [wall.cap]\nshape = {{ mesh = {{ surface = {{ file = \"cap.ply\" }}, wet = \"both\" }} }}\n\
         [wall.piston]\nshape = {{ mesh = {{ surface = {{ file = \"piston.ply\" }}, wet = \"both\" }} }}\n\
         motion = {{ keys = [{{ time = 0 }}, {{ time = 0.2, position = [{push:?}, 0, 0] }}] }}\n\
         [solid.tube]\nshape = {{ tets = {{ file = \"tube.vtk\" }} }}\nyoung = 1e7\npoisson = 0.3\ndensity = 1200\n\
         fracture = {{ strength = 1e5, smoothing = 0 }}\n\
         fixed = [{{ region = {{ box = {{ min = [-1, -1, -1], max = [1e-6, 1, 1] }} }}, axes = [\"x\"] }},\n\
         {{ region = {{ box = {{ min = [{end:?}, -1, -1], max = [1, 1, 1] }} }}, axes = [\"x\"] }},\n\
         {{ region = {{ box = {{ min = [-1, -1e-5, -1], max = [1, 1e-5, 1] }} }}, axes = [\"y\"] }},\n\
         {{ region = {{ box = {{ min = [-1, -1, -1e-5], max = [1, 1, 1e-5] }} }}, axes = [\"z\"] }}]\n\
         [probe.wall]\nsolid = {{ name = \"tube\", point = [{middle:?}, {radius:?}, 0] }}\n",
        fill = fill(&rings(count, spacing), 0.0, layers, spacing),
        // Half as far again as an unbroken tube needs for this pressure.
        push = -1.5 * 0.0195 * length,
        end = length - 1e-6,
        middle = 0.5 * length,
        radius = RADII[0],
    );
    let (start, end) = (DVec3::ZERO, DVec3::X * length);
    let tube = TetMesh::tube(&Tube { start, end, radii: RADII, around, along, through }).map_err(|e| e.to_string())?;
    let file = |name: &str| {
        if name == "tube.vtk" {
            return Ok(vtk(&tube).into_bytes());
        }
        let place = if name == "cap.ply" { [-3.0 * spacing, 0.0] } else { [length, length + 3.0 * spacing] };
        let mut bytes = Vec::new();
        write_ply(&pipe(place, 0.5 * (RADII[0] + RADII[1]), 28), &mut bytes).map(|()| bytes)
    };
    tear(world_with(CASE, &scene, &file)?)
}

/// Steps until a face opens; the pressure on the piston in that step \[Pa\].
fn tear(mut world: World) -> Result<f64, String> {
    let faces = |world: &World| world.frame().surfaces.last().map_or(0, |tube| tube.triangles.len());
    let whole = faces(&world);
    let read = |world: &World, column: &str| {
        let number = world.columns().iter().position(|name| name == column);
        number.map_or(f64::NAN, |number| world.measure()[number])
    };
    while world.time() < 0.2 {
        world.step(0.2).map_err(|e| e.to_string())?;
        if faces(&world) != whole {
            let radius = RADII[0] + read(&world, "wall.dy [m]");
            return Ok(read(&world, "piston.fx [N]") / (PI * radius * radius));
        }
    }
    Err("it does not tear".into())
}

/// Tetrahedra as a legacy VTK file.
fn vtk(mesh: &TetMesh) -> String {
    let (nodes, tets) = (mesh.vertices(), mesh.tets());
    let lines = |lines: Vec<String>| lines.join("\n");
    format!(
        "# vtk DataFile Version 3.0\ntube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}\nCELLS {count} {}\n{}\n\
         CELL_TYPES {count}\n{}",
        nodes.len(),
        lines(nodes.iter().map(|p| format!("{:?} {:?} {:?}", p.x, p.y, p.z)).collect()),
        5 * tets.len(),
        lines(tets.iter().map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}")).collect()),
        "10\n".repeat(tets.len()),
        count = tets.len(),
    )
}
