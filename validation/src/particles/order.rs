//! The order of each integrator, on a turning rigid body and a swinging deformable one together.

use super::{Measured, empty, point, rows, step};
use crate::{Plot, Row, Size, absolute, largest};
use glam::DVec3;
use meniscus::particles::{Connection, Deformable, Integrator, Particle, Rigid, System};
use std::error::Error;

/// A top without symmetry and a triangle of damped springs that turns and stretches.
fn bodies(integrator: Integrator) -> Result<System, Box<dyn Error>> {
    let moving = |position: DVec3, velocity: DVec3| Particle { velocity, ..point(position, 0.2) };
    let corners = [
        point(DVec3::new(0.3, 0.0, 0.1), 0.4),
        point(DVec3::new(-0.2, 0.4, 0.0), 0.3),
        point(DVec3::new(0.0, -0.3, 0.2), 0.5),
        point(DVec3::new(0.1, 0.1, -0.4), 0.2),
    ];
    let mut top = Rigid::new("top", corners.to_vec())?;
    top.spin(DVec3::new(1.0, 2.0, -1.5));
    let triangle = Deformable {
        name: "triangle".into(),
        particles: vec![
            moving(DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, 0.5, 0.0)),
            moving(DVec3::new(2.4, 0.1, 0.0), DVec3::new(0.2, -0.5, 0.1)),
            moving(DVec3::new(2.1, 0.3, 0.2), DVec3::new(-0.3, 0.0, 0.4)),
        ],
        connections: [[0, 1], [1, 2], [0, 2]]
            .map(|ends| Connection { ends, stiffness: 2.0, length: 0.3, damping: 0.02 })
            .to_vec(),
    };
    let mut system = empty(integrator);
    system.add_rigid(&top)?;
    system.add_deformable(&triangle)?;
    Ok(system)
}

fn after_a_second(integrator: Integrator, steps: u32) -> Result<[Vec<DVec3>; 2], Box<dyn Error>> {
    let mut system = bodies(integrator)?;
    let dt = 1.0 / f64::from(steps);
    for number in 0..steps {
        step(&mut system, f64::from(number) * dt, dt)?;
    }
    let (rigid, soft) = (system.particles_of(0), system.particles_of(1));
    let x = &system.state().position;
    Ok([x[rigid].to_vec(), x[soft].to_vec()])
}

pub(crate) fn run(_: Size) -> Vec<Row> {
    const CASE: &str = "order";
    let measure = || -> Measured {
        let exact = after_a_second(Integrator::RungeKutta4, 4000)?;
        let mut found: Vec<Row> = Vec::new();
        let mut plot = Plot::new("steps in a second", "largest error of a place after a second [m]").loglog();
        for (integrator, name, order) in [
            (Integrator::Euler, "Euler", 1.0),
            (Integrator::Heun, "Heun", 2.0),
            (Integrator::RungeKutta4, "Runge-Kutta", 4.0),
        ] {
            let error = |steps: u32| -> Result<[f64; 2], Box<dyn Error>> {
                let there = after_a_second(integrator, steps)?;
                let off = |a: &[DVec3], b: &[DVec3]| largest(a.iter().zip(b).map(|(a, b)| a.distance(*b)));
                Ok([off(&there[0], &exact[0]), off(&there[1], &exact[1])])
            };
            let steps = if integrator == Integrator::Euler { 400 } else { 100 };
            let (coarse, fine) = (error(steps)?, error(2 * steps)?);
            for (body, kind) in ["rigid", "deformable"].into_iter().enumerate() {
                let slope = (coarse[body] / fine[body]).log2();
                found.push(absolute(CASE, &format!("{name}, {kind} body"), [order, slope], 0.1));
                let points = [[f64::from(steps), coarse[body]], [f64::from(2 * steps), fine[body]]];
                plot = plot.measured(&format!("{name}, {kind}"), &points);
            }
        }
        found[0].plots.push(plot);
        Ok(found)
    };
    rows(CASE, measure())
}
