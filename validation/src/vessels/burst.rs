//! `vessel-burst`: the pressure at which a tube tears.

use super::press::{Force, Press, RADII, section};
use crate::worlds::reading;
use crate::{Plot, Row, Size, compare, failed};
use meniscus::sim::World;

const CASE: &str = "vessel-burst";
/// Lamé's tension at the inner wall reaches the strength of 0.1 MPa, with the tube as wide as it then is \[Pa\].
const BURST: f64 = 17_850.0;
/// The pressure grows to this \[Pa\] over this time \[s\], as [`meniscus::boundary::Motion::Keys`] does.
const MAX_PRESSURE: f64 = 25_000.0;
const TIME: f64 = 0.02;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let (rings, cells, step) = if size == Size::Fine { (10, [4, 56, 8], 2.5e-5) } else { (5, [2, 28, 4], 5e-5) };
    match burst(rings, cells, step) {
        Err(error) => failed(CASE, &error),
        Ok((pressure, track)) => {
            let plot = Plot::new("t [s]", "pressure by the piston [Pa], until the wall tears").measured("ours", &track);
            let plot = plot.level("theory", [0.0, TIME], BURST);
            vec![compare(CASE, "pressure when the wall tears [Pa]", BURST, pressure, 0.1).asked().with(plot)]
        }
    }
}

/// Presses ever harder until the tube tears; the pressure then \[Pa\].
fn burst(rings: u32, cells: [u32; 3], step: f64) -> Result<(f64, Vec<[f64; 2]>), String> {
    // As long as its radius; the ends slide along planes, and nodes on the axes along them.
    let hold = |min: [f64; 3], max: [f64; 3], axis: &str| {
        format!("{{ region = {{ box = {{ min = {min:?}, max = {max:?} }} }}, axes = [\"{axis}\"] }}")
    };
    let holds = [
        hold([-1.0, -1.0, -1.0], [1e-6, 1.0, 1.0], "x"),
        hold([RADII[0] - 1e-6, -1.0, -1.0], [1.0, 1.0, 1.0], "x"),
        hold([-1.0, -1e-5, -1.0], [1.0, 1e-5, 1.0], "y"),
        hold([-1.0, -1.0, -1e-5], [1.0, 1.0, 1e-5], "z"),
    ];
    let tube = format!(
        "young = 1e7\npoisson = 0.3\ndensity = 1200\nfracture = {{ strength = 1e5, smoothing = 0 }}\nfixed = [{}]\n",
        holds.join(",\n")
    );
    // About half of what is critical for piston and blood on the tube as a spring.
    let force = Force { name: "press", pressure: MAX_PRESSURE, from: 0.0, until: TIME, grows: true, damping: 3.0 };
    let press = Press { rings, layers: [rings, 2], cells, step, speed: 4.0, tube, more: force.table() };
    tear(press.world(CASE)?)
}

/// Steps until a face opens; the pressure by the piston in that step \[Pa\], and until then.
fn tear(mut world: World) -> Result<(f64, Vec<[f64; 2]>), String> {
    let faces = |world: &World| world.frame().surfaces.iter().map(|surface| surface.triangles.len()).sum::<usize>();
    let (whole, mut track) = (faces(&world), Vec::new());
    while world.time() < TIME {
        world.step(TIME).map_err(|e| e.to_string())?;
        let pressure = reading(&world, "press.fx [N]") / section(RADII[0]);
        track.push([world.time(), pressure]);
        if faces(&world) != whole {
            return Ok((pressure, track));
        }
    }
    Err("it does not tear".into())
}
