//! `rising-bubble`, `rayleigh-taylor`: viscous fluids of unlike weight change places.

use super::{boxed, fluids, run};
use crate::worlds::table;
use crate::{Plot, Row, Size, absolute, bound, compare, interpolate, largest, least};
use glam::DVec3;
use meniscus::twophase::{Params, Side, Sides};
use std::f64::consts::PI;

/// Time, height, velocity and circularity of the bubble.
type Track = [f64; 4];

/// The first test case of Hysing et al. \[HTKPGHT09\].
pub(crate) fn rising(size: Size) -> Vec<Row> {
    let counts: &[usize] = if size == Size::Fine { &[40, 80, 160] } else { &[80] };
    counts.iter().flat_map(|&n| rows(n, &rise(n).unwrap_or_default())).collect()
}

fn rows(n: usize, track: &[Track]) -> Vec<Row> {
    let name = |what: &str| format!("{n}×{}: {what}", 2 * n);
    let speed = largest(track.iter().map(|t| t[2]));
    let when = track.iter().find(|t| t[2] == speed).map_or(f64::NAN, |t| t[0]);
    let least = least(track.iter().map(|t| t[3]));
    let last = track.last().map_or(f64::NAN, |t| t[1]);
    // A coarser grid may be further off.
    let slack = if n < 80 { 4.0 } else { 1.0 };
    let curve = |column: usize| track.iter().map(|t| [t[0], t[column]]).collect::<Vec<_>>();
    let plot = |column: usize, what: &str, key: &str| {
        Plot::new(&name("t [s]"), what).measured("ours", &curve(column)).rings("Hysing et al.", &points(key))
    };
    let rows = vec![
        compare("rising-bubble", &name("largest velocity [m/s]"), 0.2417, speed, 0.01 * slack)
            .with(plot(2, "velocity [m/s]", "v_rise"))
            .with(plot(1, "height [m]", "y_cm")),
        absolute("rising-bubble", &name("its time [s]"), [0.9225, when], 0.02 * slack),
        absolute("rising-bubble", &name("least circularity"), [0.9013, least], 0.005 * slack),
        absolute("rising-bubble", &name("height at 3 s [m]"), [1.0816, last], 0.005 * slack),
    ];
    if n == 80 { rows.into_iter().map(Row::asked).collect() } else { rows }
}

/// Points of a quantity in the table of the benchmark.
fn points(quantity: &str) -> Vec<[f64; 2]> {
    let lines = include_str!("../../data/rising_bubble_hysing_tc1.csv").lines();
    let ours = lines.filter_map(|line| line.strip_prefix(quantity)?.strip_prefix(','));
    ours.filter_map(|rest| {
        let (time, value) = rest.split_once(',')?;
        Some([time.parse().ok()?, value.trim().parse().ok()?])
    })
    .collect()
}

/// Half of a bubble of radius 0.25 in a box of 1 × 2.
fn rise(n: usize) -> Result<Vec<Track>, String> {
    let params = Params {
        surface_tension: 24.5,
        sides: Sides { y_min: Side::NoSlip, y_max: Side::NoSlip, ..Sides::default() },
        ..fluids(1.0 / n as f64, [1000.0, 100.0], [10.0, 1.0])
    };
    let h = params.spacing;
    let mut flow = boxed([n / 2, 2 * n, 1], params, DVec3::new(0.0, -0.98, 0.0))?;
    flow.fill(|_| -1.0);
    flow.carve(|x| (x - DVec3::new(0.0, 0.5, x.z)).length() - 0.25);
    let mut track = Vec::new();
    run(&mut flow, 3.0, |flow, time| {
        let height = flow.mean_over(false, |p| flow.grid().center(p).y);
        let velocity = flow.mean_over(false, |p| flow.cell_velocity(p).y);
        let perimeter = 2.0 * flow.interface_area() / h;
        track.push([time, height, velocity, PI * 0.5 / perimeter]);
    })?;
    Ok(track)
}

/// A heavy fluid on a light one \[HCZ99\].
pub(crate) fn rayleigh_taylor(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 128 } else { 64 };
    let table = table::<3>(include_str!("../../data/rayleigh_taylor_he1999.csv"));
    let tracks = overturn(n).unwrap_or_default();
    let one = |(column, what): (usize, &str)| {
        let history: Vec<[f64; 2]> = tracks.iter().map(|t| [t[0], t[column]]).collect();
        let seen = || table.iter().filter(|row| row[0] <= 4.0);
        let worst = largest(seen().map(|row| (interpolate(&history, row[0]) - row[column]).abs()));
        let points: Vec<[f64; 2]> = seen().map(|row| [row[0], row[column]]).collect();
        let plot = Plot::new("t √(g/H)", &format!("{what}, y/4H")).measured("ours", &history);
        let quantity = format!("{n} cells: largest error of the {what} in y/4H, t√(g/H) ≤ 4");
        bound("rayleigh-taylor", &quantity, worst, 0.015).asked().with(plot.rings("He et al. 1999", &points))
    };
    [(1, "bubble"), (2, "spike")].into_iter().map(one).collect()
}

/// t√(g/H), bubble and spike in units of 4H; half a wavelength, ρ = 3 and 1, Re = 256.
fn overturn(n: usize) -> Result<Vec<[f64; 3]>, String> {
    let params = Params {
        sides: Sides { y_min: Side::NoSlip, y_max: Side::NoSlip, ..Sides::default() },
        ..fluids(1.0 / n as f64, [3.0, 1.0], [3.0 / 256.0, 1.0 / 256.0])
    };
    let mut flow = boxed([n / 2, 4 * n, 1], params, DVec3::new(0.0, -1.0, 0.0))?;
    flow.fill(|x| 2.0 + 0.1 * libm::cos(2.0 * PI * x.x) - x.y);
    let mut tracks = Vec::new();
    run(&mut flow, 4.0, |flow, time| {
        let top = |x: f64| 1.0 - flow.gauge(1, DVec3::new(x, 0.0, 0.0)) / 4.0;
        tracks.push([time, top(0.0), top(0.4999)]);
    })?;
    Ok(tracks)
}
