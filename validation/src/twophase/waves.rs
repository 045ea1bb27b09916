//! `standing-wave`, `open-hump`, `moving-drop`: waves that die, waves that leave, a drop that flies.

use super::{boxed, fluids, interpolate, run};
use crate::worlds::table;
use crate::{Row, Size, bound};
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
        let worst = standing_wave(n, reynolds, end).map(|history| {
            let errors = table.iter().filter(|row| row[0] <= end).map(|row| interpolate(&history, row[0]) - row[1]);
            let squares: Vec<f64> = errors.map(|e| e * e).collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        });
        bound(
            "standing-wave",
            &format!("Re {reynolds}: RMS of the error of η/η₀ at the wall, t ≤ {end}"),
            worst.unwrap_or(f64::NAN),
            0.05,
        )
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
    let [robin, sponge, plain] = [robin, sponge, plain].map(|open| reflection(n, open).unwrap_or([f64::NAN; 2]));
    vec![
        bound("open-hump", "reflected, side that lets waves pass", robin[0], 0.05),
        bound("open-hump", "its level afterwards, over the hump", robin[1], 0.05),
        bound("open-hump", "reflected, with a sponge too (reported)", sponge[0], 1.0),
        bound("open-hump", "reflected, plain side (reported)", plain[0], 1.0),
    ]
}

/// What comes back of a hump of 0.01 m in water 0.1 m deep, in parts of what goes out; and the mean level at the end.
fn reflection(n: usize, open: Open) -> Result<[f64; 2], String> {
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
    let (mut returned, mut mean) = (0.0f64, 0.0);
    run(&mut flow, 2.0 * gone, |flow, time| {
        if time > gone {
            let gauge = |x: f64| flow.gauge(1, DVec3::new(x, 0.0, 0.0)) - depth;
            returned = returned.max(gauge(0.5 * length).abs());
        }
        mean = flow.liquid_volume() / (flow.grid().spacing() * length) - depth;
    })?;
    Ok([returned / (0.5 * height), mean / height])
}

/// A drop of a thousand times the weight of the gas flies through it.
pub(crate) fn drop(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 128 } else { 64 };
    let [shape, energy, gas] = flight(n).unwrap_or([f64::NAN; 3]);
    vec![
        bound("moving-drop", "Σ|F − F₀| over the drop, about its middle, after a diameter", shape, 0.05),
        bound("moving-drop", "kinetic energy lost per diameter", energy, 0.01),
        bound("moving-drop", "fastest gas over the drop's speed", gas, 2.0),
    ]
}

/// Diameter of the drop \[m\].
const DIAMETER: f64 = 0.4;

/// A drop crosses a periodic box of 1 m at 1 m/s, from its middle to its middle: its shape after a diameter, the energy that it
/// loses per diameter, and the fastest velocity.
fn flight(n: usize) -> Result<[f64; 3], String> {
    let params = Params {
        sides: Sides { x_min: Side::Periodic, x_max: Side::Periodic, ..Sides::default() },
        ..fluids(1.0 / n as f64, [1000.0, 1.0], [0.0; 2])
    };
    let mut flow = boxed([n, n, 1], params.clone(), DVec3::ZERO)?;
    let drop = |x: DVec3| (x - DVec3::new(0.3, 0.5, x.z)).length() - 0.5 * DIAMETER;
    flow.fill(drop);
    flow.set_velocity(|x| if drop(x) < 0.5 / n as f64 { DVec3::X } else { DVec3::ZERO });
    let (mut energies, mut fastest) = (Vec::new(), 0.0f64);
    let mut watch = |flow: &Flow, time: f64| {
        if time > 0.0 {
            energies.push(flow.energy().kinetic);
            fastest = fastest.max(flow.max_speed());
        }
    };
    run(&mut flow, DIAMETER, &mut watch)?;
    let middle = DVec3::from_array([0, 1, 2].map(|axis| flow.mean_over(true, |p| flow.grid().center(p)[axis])));
    let mut round = boxed([n, n, 1], params, DVec3::ZERO)?;
    round.fill(|x| (x - middle.with_z(x.z)).length() - 0.5 * DIAMETER);
    let shape = difference(&flow, &round.state().volume_fraction);
    run(&mut flow, 1.0 - DIAMETER, &mut watch)?;
    let kept = energies.last().unwrap_or(&f64::NAN) / energies.first().unwrap_or(&f64::NAN);
    Ok([shape, (1.0 - kept) * DIAMETER, fastest])
}

/// Σ|F − F₀| over ΣF₀.
fn difference(flow: &Flow, first: &[f64]) -> f64 {
    let cells = || (0..first.len()).filter(|&p| flow.grid().contains(p));
    let off: f64 = cells().map(|p| (flow.state().volume_fraction[p] - first[p]).abs()).sum();
    off / cells().map(|p| first[p]).sum::<f64>()
}
