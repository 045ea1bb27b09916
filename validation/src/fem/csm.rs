//! `csm1`, `csm2`, `csm3`: the elastic flag of \[TH06\] under gravity, without the flow.

use super::{Measured, rows, settle, step};
use crate::{Plot, Row, Size, compare, largest, least};
use glam::DVec3;
use meniscus::fem::{Axes, Body, Integrator, Linearisation, Material, Model, Order, Params};
use meniscus::geometry::TetMesh;
use std::error::Error;

const GRAVITY: DVec3 = DVec3::new(0.0, -2.0, 0.0);
/// The cylinder that holds the flag [m].
const CYLINDER: DVec3 = DVec3::new(0.2, 0.2, 0.0);
const RADIUS: f64 = 0.05;
/// The flag's free end, its height and the thickness of the slice [m].
const END: f64 = 0.6;
const HEIGHT: f64 = 0.02;
const SLICE: f64 = 0.005;

/// The flag in plane strain, n cells across.
fn flag(n: u32, young: f64, params: Params) -> Result<Body, Box<dyn Error>> {
    let low = CYLINDER.y - 0.5 * HEIGHT;
    let flat = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, HEIGHT, SLICE), [18 * n, n, 1]);
    let bent = flat.vertices().iter().map(|p| {
        let y = low + p.y;
        let start = CYLINDER.x + (RADIUS * RADIUS - (y - CYLINDER.y) * (y - CYLINDER.y)).sqrt();
        DVec3::new(start + p.x * (END - start), y, p.z)
    });
    let mesh = TetMesh::new(bent.collect(), flat.tets().to_vec())?;
    let model = Model::StVenantKirchhoff;
    let material = Material { model, young, poisson: 0.4, density: 1000.0, ..Material::default() };
    let mut body = Body::new("flag", &mesh, params, material)?;
    // The middles of the clamped edges lie on chords of the cylinder.
    body.fix(|p| p.truncate().distance(CYLINDER.truncate()) < RADIUS + 1e-6);
    body.fix_axes(Axes::Z, |_| true);
    Ok(body)
}

/// Displacement of the middle of the free end \[m\].
fn point_a(body: &Body) -> DVec3 {
    super::mean_displacement(body, |p| p.x > END - 1e-9 && (p.y - CYLINDER.y).abs() < 1e-9)
}

/// Displacements on ever finer meshes \[mm\].
const STEADY: &str = include_str!("../../data/turek-hron-csm1-csm2.csv");
/// Means, amplitudes \[mm\] and frequency \[Hz\]; the finest mesh and step first.
const SWING: &str = include_str!("../../data/turek-hron-csm3.csv");

/// The numbers of the lines of a table that begin with a word.
fn lines<'a>(table: &'a str, word: &'a str) -> impl Iterator<Item = Vec<f64>> + 'a {
    let numbers = |line: &str| line.split(',').filter_map(|cell| cell.parse().ok()).collect();
    table.lines().filter(move |line| line.starts_with(word)).map(numbers)
}

pub(crate) fn csm1(size: Size) -> Vec<Row> {
    rows("csm1", steady("csm1", size, 1.4e6))
}

pub(crate) fn csm2(size: Size) -> Vec<Row> {
    rows("csm2", steady("csm2", size, 5.6e6))
}

fn steady(case: &str, size: Size, young: f64) -> Measured {
    let finest = lines(STEADY, &case.to_uppercase()).last().unwrap_or_default();
    let [x, y] = finest[..] else { return Err("the reference is damaged".into()) };
    let n = if size == Size::Fine { 4 } else { 2 };
    let params = Params { order: Order::Quadratic, tolerance: 1e-8, ..Params::default() };
    let mut body = flag(n, young, params)?;
    settle(&mut body, GRAVITY)?;
    let a = point_a(&body);
    Ok(vec![
        compare(case, &format!("x displacement of A, n = {n} [m]"), 1e-3 * x, a.x, 0.02).asked(),
        compare(case, &format!("y displacement of A, n = {n} [m]"), 1e-3 * y, a.y, 0.02).asked(),
    ])
}

pub(crate) fn csm3(size: Size) -> Vec<Row> {
    rows("csm3", swing(size))
}

/// Means and amplitudes are those of the last full swing, as in the reference.
fn swing(size: Size) -> Measured {
    const CASE: &str = "csm3";
    let (dt, seconds) = if size == Size::Fine { (0.005, 10.0) } else { (0.01, 3.0) };
    let params = Params {
        order: Order::Quadratic,
        integrator: Integrator::ImplicitMidpoint,
        linearisation: Linearisation::Exact,
        newton_iterations: 8,
        newton_tolerance: 1e-5,
        ..Params::default()
    };
    let mut body = flag(2, 1.4e6, params)?;
    let mut history: Vec<DVec3> = vec![point_a(&body)];
    while history.len() as f64 * dt <= seconds {
        step(&mut body, dt, GRAVITY)?;
        history.push(point_a(&body));
    }
    let lows = lowest_times(&history);
    let [.., before, last] = lows[..] else { return Err("the flag does not swing twice".into()) };
    let swing = &history[before as usize..=last.ceil() as usize];
    let middle = |value: fn(&DVec3) -> f64| {
        let [high, low] = [largest(swing.iter().map(value)), least(swing.iter().map(value))];
        [0.5 * (high + low), 0.5 * (high - low)]
    };
    let ([mean_x, swing_x], [mean_y, swing_y]) = (middle(|a| a.x), middle(|a| a.y));
    let finest = lines(SWING, "featflow").next().unwrap_or_default();
    let [x, x_swing, y, y_swing, hertz] = finest[..] else { return Err("the reference is damaged".into()) };
    let frequency = (lows.len() - 1) as f64 / ((last - lows[0]) * dt);
    let track: Vec<[f64; 2]> = history.iter().enumerate().map(|(k, a)| [k as f64 * dt, a.y]).collect();
    let plot = Plot::new("t [s]", "y of A [m]").measured("ours", &track);
    let plot = plot.level("reference, highest", [0.0, seconds], 1e-3 * (y + y_swing));
    let plot = plot.level("reference, lowest", [0.0, seconds], 1e-3 * (y - y_swing));
    Ok(vec![
        compare(CASE, "x of A, mean [m]", 1e-3 * x, mean_x, 0.03).with(plot),
        compare(CASE, "x of A, amplitude [m]", 1e-3 * x_swing, swing_x, 0.03).asked(),
        compare(CASE, "y of A, mean [m]", 1e-3 * y, mean_y, 0.03),
        compare(CASE, "y of A, amplitude [m]", 1e-3 * y_swing, swing_y, 0.03).asked(),
        compare(CASE, "frequency [Hz]", hertz, frequency, 0.02).asked(),
    ])
}

/// When the tip is lowest, in steps: tops of parabolas through three samples.
fn lowest_times(history: &[DVec3]) -> Vec<f64> {
    let mut times = Vec::new();
    for (k, [a, b, c]) in history.array_windows().map(|window| window.map(|p| p.y)).enumerate() {
        if b < a && b <= c && b < -0.05 {
            times.push(k as f64 + 1.0 + 0.5 * (a - c) / (a - 2.0 * b + c));
        }
    }
    times
}
