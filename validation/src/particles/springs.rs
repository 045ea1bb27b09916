//! Springs: an oscillator and a chain.

use super::{Measured, crossings, empty, mean_period, point, rows, step};
use crate::{Row, Size, absolute, compare};
use glam::DVec3;
use meniscus::particles::{Connection, Deformable, Integrator, System};
use std::error::Error;
use std::f64::consts::{PI, TAU};

/// Spring constant \[N/m\].
const K: f64 = 100.0;
/// Mass \[kg\].
const M: f64 = 0.1;
/// Distance at rest \[m\].
const L: f64 = 0.1;

fn spring(ends: [u32; 2]) -> Connection {
    Connection { ends, stiffness: K, length: L, damping: 0.0 }
}

/// Masses along x, L apart; `stays` says which of them do not move.
fn line(integrator: Integrator, count: u32, stays: impl Fn(u32) -> bool) -> Result<System, Box<dyn Error>> {
    let mass = |i: u32| if stays(i) { f64::INFINITY } else { M };
    let mut particles: Vec<_> = (0..count).map(|i| point(DVec3::X * (L * f64::from(i)), mass(i))).collect();
    particles.iter_mut().for_each(|e| e.radius = 0.0);
    let connections = (1..count).map(|i| spring([i - 1, i])).collect();
    let mut system = empty(integrator);
    system.add_deformable(&Deformable { name: "line".into(), particles, connections })?;
    Ok(system)
}

/// Gives the particles of a line velocities along x.
fn throw(system: &mut System, velocity: impl Fn(usize) -> f64) -> bool {
    let mut state = system.save();
    state.velocity.iter_mut().enumerate().for_each(|(i, v)| v.x = velocity(i));
    system.restore(state)
}

/// Energy gained in a period at ω dt = 0.1, dimensionless.
fn gain(integrator: Integrator, steps: u32) -> Result<f64, Box<dyn Error>> {
    let mut system = line(integrator, 2, |i| i == 0)?;
    throw(&mut system, |i| 0.01 * i as f64);
    let omega = (K / M).sqrt();
    let energy = |system: &System| system.kinetic_energy(0) + system.elastic_energy(0);
    let start = energy(&system);
    for number in 0..steps {
        step(&mut system, f64::from(number) * 0.1 / omega, 0.1 / omega)?;
    }
    let periods = f64::from(steps) * 0.1 / TAU;
    Ok(((energy(&system) / start).ln() / periods).exp() - 1.0)
}

fn period(count: u32, stays: impl Fn(u32) -> bool) -> Result<f64, Box<dyn Error>> {
    let mut system = line(Integrator::RungeKutta4, count, stays)?;
    throw(&mut system, |i| 0.01 * i as f64);
    let stretch = |system: &System| {
        let state = system.state();
        [state.position[1].x - state.position[0].x - L, state.velocity[1].x - state.velocity[0].x]
    };
    Ok(mean_period(&crossings(&mut system, 0.002, 4.0, stretch)?))
}

pub(crate) fn oscillator(_: Size) -> Vec<Row> {
    const CASE: &str = "spring-oscillator";
    let measure = || -> Measured {
        let z: f64 = 0.1;
        let per_period = |per_step: f64| per_step.powf(TAU / z) - 1.0;
        let heun = per_period(1.0 + z.powi(4) / 4.0);
        let rk4 = per_period(1.0 - z.powi(6) / 72.0 + z.powi(8) / 576.0);
        let euler = per_period(1.0 + z * z);
        Ok(vec![
            compare(CASE, "period, one end held [s]", 0.198691765, period(2, |i| i == 0)?, 1e-4),
            compare(CASE, "period, both ends free [s]", 0.140496295, period(2, |_| false)?, 1e-4),
            compare(CASE, "Euler: energy gained in a period", euler, gain(Integrator::Euler, 314)?, 1e-3),
            compare(CASE, "Heun: energy gained in a period", heun, gain(Integrator::Heun, 6283)?, 1e-3),
            absolute(CASE, "Runge-Kutta: energy gained in a period", [rk4, gain(Integrator::RungeKutta4, 6283)?], 1e-8),
        ])
    };
    rows(CASE, measure())
}

pub(crate) fn chain(_: Size) -> Vec<Row> {
    const CASE: &str = "spring-chain";
    let measure = || -> Measured {
        let mut found = Vec::new();
        for (mode, omega) in [(1, 9.00078068), (2, 17.8183314), (3, 26.2731523)] {
            let mut system = line(Integrator::RungeKutta4, 12, |i| i == 0 || i == 11)?;
            let shape = move |i: usize| libm::sin(PI * f64::from(mode) * i as f64 / 11.0);
            throw(&mut system, |i| if (1..11).contains(&i) { 0.01 * shape(i) } else { 0.0 });
            let modal = move |system: &System| {
                let state = system.state();
                (0..12).fold([0.0; 2], |[x, v], i| {
                    let moved = state.position[i].x - L * i as f64;
                    [x + shape(i) * moved, v + shape(i) * state.velocity[i].x]
                })
            };
            let period = mean_period(&crossings(&mut system, 0.004, 8.0, modal)?);
            found.push(compare(CASE, &format!("mode {mode} [rad/s]"), omega, TAU / period, 1e-3).asked());
        }
        Ok(found)
    };
    rows(CASE, measure())
}
