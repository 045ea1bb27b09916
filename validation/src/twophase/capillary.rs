//! `capillary-wave`, `drop-oscillation-grid`: surface tension as a spring.

use super::{boxed, fluids, run};
use crate::worlds::table;
use crate::{Plot, Row, Size, bound, compare, failed, half_period, interpolate, largest, rms};
use glam::DVec3;
use meniscus::twophase::{Flow, Fluid, Params};
use std::f64::consts::PI;

/// A small wave between equal fluids dies out \[Pro81\]. The boundary layer is one cell thick, and what a wave sees
/// of it depends on where the level at rest lies between the planes of the grid: on a plane, as others do it, and the worst; see the page.
pub(crate) fn wave(size: Size) -> Vec<Row> {
    let table = table::<2>(include_str!("../../data/capillary_wave_prosperetti.csv"));
    let dies = |n: usize, offset: f64| decay(n, offset, table.last().map_or(0.0, |row| row[0])).unwrap_or_default();
    let off = |history: &[[f64; 2]]| rms(table.iter().map(|row| interpolate(history, row[0]) - row[1]));
    let on_plane = |n: usize| {
        let quantity = format!("{n} cells per wavelength, level on a plane: RMS of the error over a₀");
        let history = dies(n, 0.0);
        let plot = Plot::new(&format!("t [s], {n} cells per wavelength"), "amplitude over the first");
        let plot = plot.reference("Prosperetti", &table).measured("ours", &history);
        bound("capillary-wave", &quantity, off(&history), 0.01).with(plot)
    };
    let worst = |levels: &[f64], limit: f64| {
        let quantity =
            format!("32 cells per wavelength, levels {levels:?} cells off: largest RMS of the error over a₀");
        bound("capillary-wave", &quantity, largest(levels.iter().map(|&level| off(&dies(32, level)))), limit)
    };
    let mut rows = vec![on_plane(32), worst(&[0.125, 0.25, 0.5], 0.07)];
    if size == Size::Fine {
        rows.push(on_plane(64));
    }
    rows
}

/// ρ = 1, ν = 5e-6, σ = 0.01, λ = 1e-4, a₀ = λ/100; half a wavelength, two high, the level `offset` cells above a plane.
/// Time and amplitude over the first.
fn decay(n: usize, offset: f64, end: f64) -> Result<Vec<[f64; 2]>, String> {
    let (length, amplitude) = (1e-4, 1e-6);
    let fluid = Fluid { density: 1.0, viscosity: 5e-6 };
    let params =
        Params { spacing: length / n as f64, liquid: fluid, gas: fluid, surface_tension: 0.01, ..Params::default() };
    let mut flow = boxed([n / 2, 2 * n, 1], params, DVec3::ZERO)?;
    let k = 2.0 * PI / length;
    let level = (1.0 + offset / n as f64) * length;
    flow.fill(|x| x.y - level - amplitude * libm::cos(k * x.x));
    let mut history = Vec::new();
    run(&mut flow, end, |flow, time| history.push([time, mode(flow, k) / amplitude]))?;
    Ok(history)
}

/// Amplitude of cos kx in the height of the liquid.
fn mode(flow: &Flow, k: f64) -> f64 {
    let n = flow.grid().cells()[0];
    let column = |i: usize| {
        let position = flow.grid().center(flow.grid().index([i, 0, 0]));
        flow.gauge(1, position) * libm::cos(k * position.x)
    };
    2.0 * (0..n).map(column).sum::<f64>() / n as f64
}

/// A drop in thin gas swings between tall and wide (Rayleigh).
pub(crate) fn drop(size: Size) -> Vec<Row> {
    let counts: &[usize] = if size == Size::Fine { &[32, 64, 80, 128] } else { &[64] };
    // ω² = 6σ / (ρᴸ + ρᴳ)R³.
    let period = 2.0 * PI / (6.0 / 1.001e-3f64).sqrt();
    let one = |&n: &usize| {
        let cells = format!("D = {:.1} cells", 0.4 * n as f64);
        match drop_period(n, period) {
            Err(error) => failed("drop-oscillation-grid", &error),
            Ok((measured, track)) => {
                let plot = Plot::new(&format!("t [s], {cells}"), "width less height [m]").measured("ours", &track);
                let swing = |[t, _]: &[f64; 2]| [*t, track[0][1] * libm::cos(2.0 * PI * t / period)];
                let theory: Vec<[f64; 2]> = track.iter().map(swing).collect();
                let quantity = format!("period [s], planar, {cells}");
                let row = compare("drop-oscillation-grid", &quantity, period, measured, 0.01);
                vec![row.asked().with(plot.reference("Rayleigh's period", &theory))]
            }
        }
    };
    counts.iter().flat_map(one).collect()
}

/// A quarter of a drop of radius 0.1 (1 + 0.05 cos 2θ) in a box of 0.5, σ = ρ = 1, gas 0.001.
fn drop_period(n: usize, period: f64) -> Result<(f64, Vec<[f64; 2]>), String> {
    let params = Params { surface_tension: 1.0, ..fluids(0.5 / n as f64, [1.0, 1e-3], [0.0; 2]) };
    let mut flow = boxed([n, n, 1], params, DVec3::ZERO)?;
    flow.fill(|x| {
        let r = x.truncate().length();
        let twice = if r > 0.0 { (x.x * x.x - x.y * x.y) / (r * r) } else { 0.0 };
        r - 0.1 * (1.0 + 0.05 * twice)
    });
    let mut history = Vec::new();
    run(&mut flow, 5.2 * period, |flow, time| {
        history.push([time, flow.gauge(0, DVec3::ZERO) - flow.gauge(1, DVec3::ZERO)]);
    })?;
    Ok((2.0 * half_period(&history, 0.0)?, history))
}
