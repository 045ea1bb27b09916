//! `entry-volume`, `piston`, `gas-chamber`, `shell-tight`, `oscillating-cylinder`, `translate-invariance`: a solid that moves displaces water, none is lost or let
//! through, and it is as heavy to move as it should be.

use super::run;
use crate::sums::largest;
use crate::{Row, Size, absolute, at_least, bound, compare, failed};
use glam::DVec3;
use meniscus::boundary::{Pose, Vertices};
use meniscus::geometry::{Aabb, TriangleMesh, solids};
use meniscus::twophase::{ATMOSPHERE, Flow, Fluid, Open, Params, Setup, Side, Sides, Solid, Thicken};
use std::f64::consts::PI;
use std::sync::Arc;

/// Water and air in a box of cells with an open top, and a solid.
fn pool(cells: [usize; 3], spacing: f64, solid: Solid) -> Result<Flow, String> {
    let sides = Sides { y_max: Side::Open(Open::default()), ..Sides::default() };
    let params = Params { spacing, sides, surface_tension: 0.0, ..Params::default() };
    let size = DVec3::from_array(cells.map(|n| n as f64)) * spacing;
    let domain = Aabb::new(DVec3::ZERO, size);
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    Flow::new(Setup { params, domain, gravity, solid: Some(solid) }).map_err(|e| e.to_string())
}

/// A solid that is moved by a function of time.
fn led(solid: Solid, path: impl Fn(f64) -> DVec3 + Send + Sync + 'static) -> Solid {
    solid.moving(move |time| Pose { translation: path(time), ..Pose::default() })
}

fn change(flow: &Flow, volume: f64) -> f64 {
    (flow.liquid_volume() / volume - 1.0).abs()
}

/// A ball of eight cells' radius goes into the water and out again.
pub(crate) fn entry(_: Size) -> Vec<Row> {
    let [rise, volume] = dive().unwrap_or([f64::NAN; 2]);
    let (radius, side) = (8.0f64, 24.0f64);
    let expected = 4.0 / 3.0 * PI * radius.powi(3) / (side * side);
    vec![
        compare("entry-volume", "rise of the mean level [cells], ball under water", expected, rise, 0.002),
        bound("entry-volume", "largest relative change of volume, in and out", volume, 1e-10),
    ]
}

/// The rise of the mean level in cells when the ball is under water, and the largest change of the volume.
fn dive() -> Result<[f64; 2], String> {
    let (h, radius) = (1.0 / 24.0, 8.0 / 24.0);
    let ball = Solid::new(move |x| x.distance(DVec3::new(0.513, 1.45, 0.489)) - radius);
    let mut flow = pool([24, 44, 24], h, led(ball, |t| DVec3::Y * (-0.45 * (1.0 - libm::cos(PI * t)))))?;
    flow.fill(|x| x.y - 1.0);
    let before = flow.liquid_volume();
    let mut worst = 0.0f64;
    run(&mut flow, 1.0, |flow, _| worst = worst.max(change(flow, before)))?;
    // What the ball leaves of the cells, and the liquid, stand in a tank of this area.
    let taken = (0..flow.grid().len()).filter(|&p| flow.grid().contains(p)).map(|p| 1.0 - flow.state().capacity[p]);
    let rise = taken.sum::<f64>() / (24.0 * 24.0);
    run(&mut flow, 1.0, |flow, _| worst = worst.max(change(flow, before)))?;
    Ok([rise, worst])
}

/// The floor of a tank rises by two tenths of a metre and stops.
pub(crate) fn piston(_: Size) -> Vec<Row> {
    let [mean, column, volume] = match risen() {
        Ok(found) => found,
        Err(error) => return failed("piston", &error),
    };
    let expected = LEVEL + 2.0 * LIFT;
    vec![
        absolute("piston", "mean level [m]", [expected, expected + mean], 1e-10).asked(),
        bound("piston", "largest departure of a column [m]", column, 1e-6).asked(),
        bound("piston", "largest relative change of volume", volume, 1e-12).asked(),
    ]
}

/// Level at the start, and half of the way of the floor \[m\].
const LEVEL: f64 = 0.437;
const LIFT: f64 = 0.1;

/// How far the mean level and the worst column are from where they should be \[m\], and the largest change of volume. A column is what can be
/// seen of it: liquid that is kept aside is missing.
fn risen() -> Result<[f64; 3], String> {
    let n = 12;
    let floor = led(Solid::new(|x: DVec3| x.y - 0.1), |t| DVec3::Y * (LIFT * (1.0 - libm::cos(PI * t.min(1.0)))));
    let mut flow = pool([n, 2 * n, n], 1.0 / n as f64, floor)?;
    flow.fill(|x| x.y - LEVEL);
    let before = flow.liquid_volume();
    let mut worst = 0.0f64;
    run(&mut flow, 1.2, |flow, _| worst = worst.max(change(flow, before)))?;
    let position = |k: usize| DVec3::new((k % n) as f64 + 0.5, 0.0, (k / n) as f64 + 0.5) / n as f64;
    let off: Vec<f64> = (0..n * n).map(|k| 0.1 + flow.gauge(1, position(k)) - LEVEL).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    Ok([mean, off.iter().fold(0.0f64, |most, off| most.max(off.abs())), worst])
}

/// The lid of a closed box with water comes down until a tenth of the gas's volume is gone.
pub(crate) fn gas_chamber(_: Size) -> Vec<Row> {
    let [gas, floor, ledger, volume] = match pressed() {
        Ok(found) => found,
        Err(error) => return failed("gas-chamber", &error),
    };
    let expected = ATMOSPHERE / 9.0;
    vec![
        compare("gas-chamber", "pressure of the gas above that outside [Pa]", expected, gas, 0.01).asked(),
        compare("gas-chamber", "pressure on the floor [Pa]", expected + 1000.0 * 9.81 * 0.35, floor, 0.01).asked(),
        bound("gas-chamber", "relative change of volume times pressure of the gas", ledger, 1e-10).asked(),
        bound("gas-chamber", "relative change of the liquid's volume", volume, 1e-12).asked(),
    ]
}

/// Pressures of the gas and half a cell above the floor \[Pa\], and relative changes of p V of the gas and of the liquid's volume.
fn pressed() -> Result<[f64; 4], String> {
    let h = 0.1;
    let lid = led(Solid::new(|x: DVec3| 0.9 - x.y), |t| DVec3::Y * (-0.025 * (1.0 - libm::cos(PI * t.min(1.0)))));
    let params = Params { spacing: h, surface_tension: 0.0, ..Params::default() };
    let (domain, gravity) = (Aabb::new(DVec3::ZERO, DVec3::ONE), DVec3::new(0.0, -9.81, 0.0));
    let mut flow = Flow::new(Setup { params, domain, gravity, solid: Some(lid) }).map_err(|e| e.to_string())?;
    flow.fill(|x| x.y - 0.4);
    let before = flow.liquid_volume();
    run(&mut flow, 1.2, |_, _| {})?;
    let [chamber] = flow.chambers()[..] else { return Err("not one chamber".into()) };
    let product = (ATMOSPHERE + chamber.pressure) * chamber.gas / (ATMOSPHERE * 0.5);
    let floor = flow.at(DVec3::new(0.55, 0.5 * h, 0.55)).2;
    Ok([chamber.pressure, floor, product - 1.0, change(&flow, before)])
}

/// A ball whose skin swells along x and shrinks along y, so that its volume stays, and back, in a period \[s\].
struct Breathing {
    ball: TriangleMesh,
    period: f64,
}

impl Vertices for Breathing {
    fn triangles(&self) -> &[[u32; 3]] {
        self.ball.triangles()
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        let swell = 1.0 + 0.2 * libm::sin(2.0 * PI * time / self.period);
        let (middle, by) = (DVec3::splat(0.5), DVec3::new(swell, 1.0 / swell, 1.0));
        positions.clear();
        positions.extend(self.ball.vertices().iter().map(|x| middle + (*x - middle) * by));
    }
}

/// A shell half full of water breathes twenty times in air.
pub(crate) fn shell(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 32 } else { 20 };
    let [leaked, volume, speed] = match breathed(n) {
        Ok(found) => found,
        Err(error) => return failed("shell-tight", &error),
    };
    vec![
        bound("shell-tight", "liquid outside after 20 cycles [m³]", leaked, 0.0).asked(),
        bound("shell-tight", "largest relative change of volume", volume, 1e-12).asked(),
        at_least("shell-tight", "fastest fluid [m/s]", speed, 0.5),
    ]
}

/// Liquid outside of a shell \[m³\], the largest change of its volume, and the fastest flow \[m/s\].
fn breathed(n: usize) -> Result<[f64; 3], String> {
    let (h, radius, period) = (1.0 / n as f64, 0.3, 0.4);
    let skin = Breathing { ball: solids::icosphere(DVec3::splat(0.5), radius, 3), period };
    let solid = Solid::shell_of_vertices(Arc::new(skin), 2.0 * h, Thicken::Centred).map_err(|e| e.to_string())?;
    let mut flow = pool([n; 3], h, solid)?;
    let away = move |x: DVec3| x.distance(DVec3::splat(0.5)) - radius;
    flow.fill(|x| away(x).max(x.y - 0.5));
    let before = flow.liquid_volume();
    let (mut worst, mut speed) = (0.0f64, 0.0f64);
    run(&mut flow, 20.0 * period, |flow, _| {
        worst = worst.max(change(flow, before));
        speed = speed.max(flow.max_speed());
    })?;
    let grid = flow.grid();
    let outside = (0..grid.len()).filter(|&p| grid.contains(p) && away(grid.center(p)) > 0.0);
    Ok([outside.map(|p| flow.liquid_in(p)).sum(), worst, speed])
}

/// A cylinder shakes in the middle of a round tank of twice its radius, full of water: the water that it moves weighs C_a times what it displaces,
/// C_a = (b² + a²)/(b² − a²) = 5/3.
pub(crate) fn cylinder(_: Size) -> Vec<Row> {
    let measured = added_mass(12.0).unwrap_or(f64::NAN);
    vec![compare("oscillating-cylinder", "added mass over displaced mass, a = 12 h", 5.0 / 3.0, measured, 0.01).asked()]
}

/// C_a from the kinetic energy over a period, for a radius of so many cells.
fn added_mass(radius: f64) -> Result<f64, String> {
    const AMPLITUDE: f64 = 0.25;
    const STEPS: u32 = 80;
    let (cells, h) = (4.0 * radius + 8.0, 1.0 / radius);
    // Not in a symmetric place of the grid.
    let middle = DVec3::new(0.5 * cells * h + 0.013, 0.5 * cells * h - 0.021, 0.0);
    let from_axis = move |x: DVec3| x.with_z(0.0).distance(middle);
    let tank = Solid::new(move |x| 2.0 - from_axis(x));
    let inner = Solid::new(move |x| from_axis(x) - 1.0);
    let shaken = led(inner, move |t| DVec3::X * (AMPLITUDE * h * libm::sin(2.0 * PI * t)));
    let liquid = Fluid { density: 1000.0, viscosity: 0.0 };
    let params = Params { spacing: h, surface_tension: 0.0, liquid, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(cells * h, cells * h, h));
    let setup = Setup { params, domain, gravity: DVec3::ZERO, solid: Some(tank.and(shaken)) };
    let mut flow = Flow::new(setup).map_err(|e| e.to_string())?;
    flow.fill(|_| -1.0);
    let mut energy = 0.0;
    for _ in 0..STEPS {
        run(&mut flow, 1.0 / f64::from(STEPS), |_, _| {})?;
        energy += flow.energy().kinetic / f64::from(STEPS);
    }
    let mean_square = 0.5 * (AMPLITUDE * h * 2.0 * PI).powi(2);
    Ok(2.0 * energy / (1000.0 * PI * h * mean_square))
}

/// A ball, water and air go along at the same speed: nothing happens.
pub(crate) fn translate(_: Size) -> Vec<Row> {
    let [level, speed] = match carried() {
        Ok(found) => found,
        Err(error) => return failed("translate-invariance", &error),
    };
    vec![
        bound("translate-invariance", "largest departure of a level beside the ball [cells]", level, 0.1).asked(),
        compare("translate-invariance", "mean velocity of the water [m/s]", 1.0, speed, 0.01).asked(),
    ]
}

/// The largest departure of a level from that of rest, in cells, and the mean velocity of the water \[m/s\], after half a metre.
fn carried() -> Result<[f64; 2], String> {
    let (h, radius, start) = (1.0 / 24.0, 0.2, DVec3::new(0.7, 0.52, 0.48));
    let (open, periodic) = (Side::Open(Open::default()), Side::Periodic);
    let sides = Sides { x_min: periodic, x_max: periodic, y_max: open, ..Sides::default() };
    let params = Params { spacing: h, sides, surface_tension: 0.0, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::new(2.0, 1.0, 1.0));
    let ball = led(Solid::new(move |x: DVec3| x.distance(start) - radius), |t| DVec3::X * t);
    let setup = Setup { params, domain, gravity: DVec3::new(0.0, -9.81, 0.0), solid: Some(ball) };
    let mut flow = Flow::new(setup).map_err(|e| e.to_string())?;
    flow.fill(|x| x.y - 0.5);
    flow.set_velocity(|_| DVec3::X);
    run(&mut flow, 0.5, |_, _| {})?;
    let grid = flow.grid();
    let cells = || (0..grid.len()).filter(|&p| grid.contains(p));
    let beside = |x: DVec3| (x - start - 0.5 * DVec3::X).with_y(0.0).length() > radius + h;
    let off = cells().map(|p| grid.center(p)).filter(|&x| beside(x)).map(|x| (flow.gauge(1, x) - 0.5).abs() / h);
    let level = largest(off);
    let momentum: f64 = cells().map(|p| flow.liquid_in(p) * flow.cell_velocity(p).x).sum();
    Ok([level, momentum / flow.liquid_volume()])
}
