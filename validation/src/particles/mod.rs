//! Particle bodies with connections against theory.

pub(crate) mod float;
pub(crate) mod order;
pub(crate) mod piles;
pub(crate) mod springs;
pub(crate) mod tops;

use crate::{Row, failed};
use glam::DVec3;
use meniscus::boundary::Boundaries;
use meniscus::core::StepReport;
use meniscus::particles::{Integrator, Params, Particle, System};
use std::error::Error;

/// What a case measures, or why it could not.
pub(crate) type Measured = Result<Vec<Row>, Box<dyn Error>>;

/// The rows of a case; one that fails if it could not be run.
pub(crate) fn rows(case: &str, measured: Measured) -> Vec<Row> {
    measured.unwrap_or_else(|error| failed(case, &error.to_string()))
}

/// A system without bodies.
pub(crate) fn empty(integrator: Integrator) -> System {
    System::new(Params { integrator, ..Params::default() }, 1e5, 0.4)
}

/// A point at rest.
pub(crate) fn point(position: DVec3, mass: f64) -> Particle {
    Particle { position, velocity: DVec3::ZERO, mass, radius: 0.0 }
}

/// One step in empty space, without gravity.
pub(crate) fn step(system: &mut System, time: f64, dt: f64) -> Result<(), Box<dyn Error>> {
    Ok(system.step(&mut Boundaries::default(), DVec3::ZERO, [time, dt], &mut StepReport::default())?)
}

/// Times at which a function of the system crosses zero upwards, by the cubic through values and slopes at both ends of a step.
pub(crate) fn crossings(
    system: &mut System,
    dt: f64,
    until: f64,
    mut value: impl FnMut(&System) -> [f64; 2],
) -> Result<Vec<f64>, Box<dyn Error>> {
    let (mut times, mut before) = (Vec::new(), value(system));
    let steps = (until / dt).round() as u32;
    for number in 0..steps {
        let time = f64::from(number) * dt;
        step(system, time, dt)?;
        let after = value(system);
        if !after.iter().all(|value| value.is_finite()) {
            return Err("what was measured is not finite".into());
        }
        if before[0] <= 0.0 && after[0] > 0.0 {
            times.push(time + dt * root(before, after, dt));
        }
        before = after;
    }
    Ok(times)
}

/// Where the Hermite cubic is zero, in 0..1.
fn root([a, slope_a]: [f64; 2], [b, slope_b]: [f64; 2], dt: f64) -> f64 {
    let cubic = |s: f64| {
        let r = 1.0 - s;
        (1.0 + 2.0 * s) * r * r * a + s * r * r * dt * slope_a + s * s * (3.0 - 2.0 * s) * b - s * s * r * dt * slope_b
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if cubic(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// Mean time between the first and the last of some times.
pub(crate) fn mean_period(times: &[f64]) -> f64 {
    match times {
        [first, .., last] => (last - first) / (times.len() - 1) as f64,
        _ => f64::NAN,
    }
}
