//! `vessel-pulse`: how fast a pulse runs along a soft tube.

use super::press::{Force, Press, RADII};
use crate::worlds::{reading, run_until};
use crate::{Plot, Row, Size, compare, failed, largest};
use meniscus::sim::World;
use std::f64::consts::FRAC_PI_2;

const CASE: &str = "vessel-pulse";
/// Waves in a thick tube with its inertia along the axis, Tuković and others 2018 \[m/s\].
const SPEED: f64 = 4.81;
/// Pressure \[Pa\] and length \[s\] of the pulse.
const PRESSURE: f64 = 1333.2;
const LENGTH: f64 = 3e-3;
/// Where it is seen, from the beginning of the tube \[m\].
const PLACES: [f64; 2] = [12.5e-3, 37.5e-3];

pub(crate) fn run(size: Size) -> Vec<Row> {
    let (rings, cells, step) = if size == Size::Fine { (8, [2, 32, 64], 5e-5) } else { (5, [1, 20, 40], 1e-4) };
    match speed(rings, cells, step) {
        Err(error) => failed(CASE, &error),
        Ok((speed, [near, far])) => {
            let plot = Plot::new("t [s]", "growth of the inner radius [m]");
            let plot = plot.measured("12.5 mm along the tube", &near).measured("37.5 mm", &far);
            vec![compare(CASE, "speed of the pulse [m/s]", SPEED, speed, 0.1).asked().with(plot)]
        }
    }
}

fn speed(rings: u32, cells: [u32; 3], step: f64) -> Result<(f64, [crate::History; 2]), String> {
    // Blood settles at first; the pulse has passed when it is over.
    let (settled, end) = (4e-3, 16e-3);
    let more = [
        Force { name: "pulse", pressure: PRESSURE, from: settled, until: settled + LENGTH, grows: false, damping: 0.0 }
            .table(),
        probes("near", PLACES[0]),
        probes("far", PLACES[1]),
    ];
    let mut press = Press {
        rings,
        // 60 mm: what comes back from the end is late.
        layers: [12 * rings, 3],
        cells,
        step,
        speed: SPEED,
        tube: String::new(),
        more: more.concat(),
    };
    let hold = |low: f64, high: f64| {
        format!("{{ region = {{ box = {{ min = [{low:?}, -1, -1], max = [{high:?}, 1, 1] }} }} }}")
    };
    press.tube = format!(
        "young = 3e5\npoisson = 0.3\ndensity = 1200\nfixed = [{}, {}]\n",
        hold(-1.0, 1e-6),
        hold(press.length() - 1e-6, 1.0)
    );
    let mut world = press.world(CASE)?;
    run_until(&mut world, settled)?;
    let mut seen = vec![widths(&world)];
    while world.time() < end {
        world.step(end).map_err(|e| e.to_string())?;
        seen.push(widths(&world));
    }
    let tracks = [0, 1].map(|probe| seen.iter().map(|(time, widths)| [*time, widths[probe]]).collect::<Vec<_>>());
    let [near, far] = tracks.each_ref().map(|track| arrival(track));
    Ok(((PLACES[1] - PLACES[0]) / (far - near), tracks))
}

/// Four points of the inner wall at a place along the tube.
fn probes(name: &str, x: f64) -> String {
    let probe = |quarter: u32| {
        let (sin, cos) = (f64::from(quarter) * FRAC_PI_2).sin_cos();
        let [y, z] = [cos, sin].map(|part| part * RADII[0]);
        format!("[probe.{name}{quarter}]\nsolid = {{ name = \"tube\", point = [{x:?}, {y:?}, {z:?}] }}\n")
    };
    (0..4).map(probe).collect()
}

/// The time \[s\], and how much the inner radius has grown at both places \[m\].
fn widths(world: &World) -> (f64, [f64; 2]) {
    let width = |name: &str| {
        let of = |quarter: u32, axis: &str| reading(world, &format!("{name}{quarter}.d{axis} [m]"));
        0.25 * (of(0, "y") + of(1, "z") - of(2, "y") - of(3, "z"))
    };
    (world.time(), [width("near"), width("far")])
}

/// When a width first has half of its greatest growth \[s\].
fn arrival(widths: &[[f64; 2]]) -> f64 {
    let start = widths.first().map_or(f64::NAN, |point| point[1]);
    let half = 0.5 * (start + largest(widths.iter().map(|point| point[1])));
    let crossing = widths.array_windows().find(|[_, after]| after[1] > half);
    crossing.map_or(f64::NAN, |[[a, from], [b, to]]| a + (b - a) * (half - from) / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_arrive_has_no_time() {
        assert!((arrival(&[[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]) - 1.5).abs() < 1e-12);
        assert!(arrival(&[]).is_nan());
        assert!(arrival(&[[0.0, 0.0], [1.0, 0.0]]).is_nan());
        assert!(arrival(&[[0.0, 0.0], [1.0, 1.0], [2.0, f64::NAN]]).is_nan());
    }
}
