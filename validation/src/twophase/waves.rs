//! `standing-wave`, `open-hump`, `moving-drop`: waves that die, waves that leave, a drop that flies.

use super::{boxed, fluids, run};
use crate::worlds::table;
use crate::{Plot, Row, Size, bound, given, interpolate, largest, rms};
use glam::DVec3;
use meniscus::twophase::{Flow, Fluid, Open, Params, Side, Sides};
use std::f64::consts::PI;

/// Standing waves in a viscous liquid, linear theory.
pub(crate) fn standing(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 128 } else { 64 };
    let twenty = include_str!("../../data/sloshing_viscous_analytic_Re20.csv");
    let two_hundred = include_str!("../../data/sloshing_viscous_analytic_Re200.csv");
    let one = |(reynolds, text): (f64, &str)| {
        let table = table::<2>(text);
        let end = 20.0;
        let history = standing_wave(n, reynolds, end).unwrap_or_default();
        let seen: Vec<[f64; 2]> = table.iter().copied().filter(|row| row[0] <= end).collect();
        let worst = rms(seen.iter().map(|row| interpolate(&history, row[0]) - row[1]));
        let plot = Plot::new(&format!("t √(g/H), Re {reynolds}"), "η/η₀ at the wall");
        let plot = plot.reference("linear theory", &seen).measured("ours", &history);
        let quantity = format!("Re {reynolds}: RMS of the error of η/η₀ at the wall, t ≤ {end}");
        bound("standing-wave", &quantity, worst, 0.05).asked().with(plot)
    };
    [(20.0, twenty), (200.0, two_hundred)].into_iter().map(one).collect()
}

/// η/η₀ at the wall; half of a box of 2 × 1 with gas of density 0.001 above, g = ρ = 1.
fn standing_wave(n: usize, reynolds: f64, end: f64) -> Result<Vec<[f64; 2]>, String> {
    let params = fluids(1.0 / n as f64, [1.0, 1e-3], [1.0 / reynolds, 1e-3 / reynolds]);
    let mut flow = boxed([n, n + n / 4, 1], params, DVec3::new(0.0, -1.0, 0.0))?;
    flow.fill(|x| x.y - 1.0 - 0.01 * libm::cos(PI * x.x));
    let mut history = Vec::new();
    run(&mut flow, end, |flow, time| {
        history.push([time, (flow.gauge(1, DVec3::new(0.9999, 0.0, 0.0)) - 1.0) / 0.01]);
    })?;
    Ok(history)
}

/// A hump of water leaves through an open side.
pub(crate) fn hump(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 20 } else { 10 };
    let speed = (9.81f64 * 0.1).sqrt();
    let robin = Open { wave_speed: speed, sponge: 0.0 };
    let sponge = Open { wave_speed: speed, sponge: 0.75 };
    let plain = Open::default();
    let found = [robin, sponge, plain].map(|open| reflection(n, open).unwrap_or_default());
    let names = ["lets waves pass", "with a sponge too", "plain side"];
    let plot = Plot::new("t [s]", "level in the middle over the hump");
    let plot = found.iter().zip(names).fold(plot, |plot, (side, name)| plot.measured(name, &side.track));
    let [robin, sponge, plain] = found;
    vec![
        bound("open-hump", "reflected, side that lets waves pass", robin.reflected, 0.05).asked().with(plot),
        bound("open-hump", "its level afterwards, over the hump", robin.level, 0.05),
        bound("open-hump", "reflected, with a sponge too (reported)", sponge.reflected, 1.0),
        bound("open-hump", "reflected, plain side (reported)", plain.reflected, 1.0),
    ]
}

/// What became of a hump.
struct Reflection {
    /// What comes back, in parts of what goes out.
    reflected: f64,
    /// The mean level at the end over the hump.
    level: f64,
    /// Time \[s\] and level in the middle over the hump.
    track: Vec<[f64; 2]>,
}

impl Default for Reflection {
    /// Nothing was seen.
    fn default() -> Self {
        Self { reflected: f64::NAN, level: f64::NAN, track: Vec::new() }
    }
}

/// A hump of 0.01 m in water 0.1 m deep.
fn reflection(n: usize, open: Open) -> Result<Reflection, String> {
    let (depth, height, width, length) = (0.1, 0.01, 0.3, 2.0);
    let params = Params {
        spacing: depth / n as f64,
        liquid: Fluid { density: 1000.0, viscosity: 0.0 },
        gas: Fluid { density: 1.0, viscosity: 0.0 },
        sides: Sides { x_max: Side::Open(open), ..Sides::default() },
        still_level: Some(depth),
        ..Params::default()
    };
    let cells = [(length / params.spacing).round() as usize, 2 * n, 1];
    let mut flow = boxed(cells, params, DVec3::new(0.0, -9.81, 0.0))?;
    flow.fill(|x| x.y - depth - height * libm::exp(-(x.x / width).powi(2)));
    let gone = (length + 3.0 * width) / (9.81f64 * depth).sqrt();
    let (mut track, mut mean) = (Vec::new(), f64::NAN);
    run(&mut flow, 2.0 * gone, |flow, time| {
        track.push([time, (flow.gauge(1, DVec3::new(0.5 * length, 0.0, 0.0)) - depth) / height]);
        mean = flow.liquid_volume() / (flow.grid().spacing() * length) - depth;
    })?;
    // Half of the hump goes each way; a wave that never passes is not reflected either.
    let passed = largest(track.iter().filter(|[time, _]| *time < gone).map(|point| point[1]));
    let returned = largest(track.iter().filter(|[time, _]| *time > gone).map(|point| point[1].abs()));
    Ok(Reflection { reflected: given(passed > 0.25, returned / 0.5), level: mean / height, track })
}

/// A drop of a thousand times the weight of the gas flies through it.
pub(crate) fn drop(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 128 } else { 64 };
    let ([shape, energy, gas], track) = flight(n).unwrap_or(([f64::NAN; 3], Vec::new()));
    let plot = Plot::new("way over the box", "kinetic energy over the first").measured("ours", &track);
    vec![
        bound("moving-drop", "Σ|F − F₀| over the drop, about its middle, after a diameter", shape, 0.05).with(plot),
        bound("moving-drop", "kinetic energy lost per diameter", energy, 0.01).asked(),
        bound("moving-drop", "fastest gas over the drop's speed", gas, 2.0),
    ]
}

/// Diameter of the drop \[m\].
const DIAMETER: f64 = 0.4;

/// A drop crosses a periodic box of 1 m at 1 m/s, from its middle to its middle: its shape after a diameter, the energy that it
/// loses per diameter, and the fastest velocity.
fn flight(n: usize) -> Result<([f64; 3], Vec<[f64; 2]>), String> {
    let params = Params {
        sides: Sides { x_min: Side::Periodic, x_max: Side::Periodic, ..Sides::default() },
        ..fluids(1.0 / n as f64, [1000.0, 1.0], [0.0; 2])
    };
    let mut flow = boxed([n, n, 1], params.clone(), DVec3::ZERO)?;
    let drop = |x: DVec3| (x - DVec3::new(0.3, 0.5, x.z)).length() - 0.5 * DIAMETER;
    flow.fill(drop);
    flow.set_velocity(|x| if drop(x) < 0.5 / n as f64 { DVec3::X } else { DVec3::ZERO });
    let (mut energies, mut speeds) = (Vec::new(), Vec::new());
    let mut watch = |flow: &Flow, time: f64| {
        if time > 0.0 {
            energies.push(flow.energy().kinetic);
            speeds.push(flow.max_speed());
        }
    };
    run(&mut flow, DIAMETER, &mut watch)?;
    let middle = DVec3::from_array([0, 1, 2].map(|axis| flow.mean_over(true, |p| flow.grid().center(p)[axis])));
    let mut round = boxed([n, n, 1], params, DVec3::ZERO)?;
    round.fill(|x| (x - middle.with_z(x.z)).length() - 0.5 * DIAMETER);
    let shape = difference(&flow, &round.state().volume_fraction);
    run(&mut flow, 1.0 - DIAMETER, &mut watch)?;
    let first = energies.first().copied().unwrap_or(f64::NAN);
    let kept = energies.last().copied().unwrap_or(f64::NAN) / first;
    // A drop that stays where it is keeps its shape, and one without a step its energy.
    let flown = (middle.x - 0.3) / DIAMETER;
    let found = [shape, (1.0 - kept) * DIAMETER, largest(speeds)].map(|value| given((flown - 1.0).abs() < 0.1, value));
    let count = energies.len() as f64;
    let track = energies.iter().enumerate().map(|(k, energy)| [(k + 1) as f64 / count, energy / first]).collect();
    Ok((found, track))
}

/// Σ|F − F₀| over ΣF₀.
fn difference(flow: &Flow, first: &[f64]) -> f64 {
    let cells = || (0..first.len()).filter(|&p| flow.grid().contains(p));
    let off: f64 = cells().map(|p| (flow.state().volume_fraction[p] - first[p]).abs()).sum();
    off / cells().map(|p| first[p]).sum::<f64>()
}
