//! Bodies that touch.

use super::{Measured, rows};
use crate::{Row, Size, bound, compare, given, largest};
use glam::{DQuat, DVec3};
use meniscus::boundary::Boundaries;
use meniscus::core::StepReport;
use meniscus::geometry::{Aabb, Shape, fill};
use meniscus::particles::{Elastic, InterfaceKind, Matter, Params, Steps, System};
use std::error::Error;

const MATTER: Matter = Matter { spacing: 0.05, density: 600.0 };

/// Positions of a cube of `count` particles an edge, turned, about a centre \[m\].
fn cube(count: u32, center: DVec3, turn: DVec3) -> Result<Vec<DVec3>, Box<dyn Error>> {
    let half = 0.5 * MATTER.spacing * f64::from(count);
    let q = DQuat::from_scaled_axis(turn);
    let positions = fill(&Shape::Box(Aabb::new(DVec3::splat(-half), DVec3::splat(half))), MATTER.spacing, &[])?;
    Ok(positions.into_iter().map(|p| center + q * p).collect())
}

/// Eight cubes, soft and rigid in turn, fly to one place in empty space.
pub(crate) fn momentum(_: Size) -> Vec<Row> {
    const CASE: &str = "body-momentum";
    let measure = || -> Measured {
        let mut found = Vec::new();
        for (interface, steps, name) in [
            (InterfaceKind::Springs, Steps::Global, "springs"),
            (InterfaceKind::Springs, Steps::Local, "springs, local steps"),
            (InterfaceKind::Projection, Steps::Global, "projection"),
        ] {
            let mut system = System::new(Params { interface, steps, ..Params::default() }, 2e5, 0.4);
            for corner in 0..8u32 {
                let sign = |bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
                let center = DVec3::new(sign(0), sign(1), sign(2)) * 0.25;
                let positions = cube(4, center, DVec3::new(0.3, 0.7, -0.4) * f64::from(corner))?;
                let velocity = -2.0 * center + DVec3::new(0.1, 0.2, 0.3);
                if corner % 2 == 0 {
                    let mut body = MATTER.rigid("hard", &positions)?;
                    body.motion.velocity = velocity;
                    system.add_rigid(&body)?;
                } else {
                    let mut body = MATTER.deformable("soft", &positions, Elastic { young: 3e4, damping: 0.1 })?;
                    body.particles.iter_mut().for_each(|e| e.velocity = velocity);
                    system.add_deformable(&body)?;
                }
            }
            let total = |system: &System| (0..8).map(|body| system.momentum(body)).sum::<DVec3>();
            let scale: f64 = (0..8).map(|body| system.momentum(body).length()).sum();
            let (before, mut touched) = (total(&system), Vec::new());
            let mut report = StepReport::default();
            for number in 0..100 {
                report.clear();
                system.step(&mut Boundaries::default(), DVec3::ZERO, [0.01 * f64::from(number), 0.01], &mut report)?;
                touched.push(report.counter("connections").unwrap_or(0.0));
            }
            let drift = (total(&system) - before).length() / scale;
            // A pile that never touches keeps its momentum too.
            let drift = given(largest(touched) > 10.0, drift);
            found.push(bound(CASE, &format!("change of momentum, {name}"), drift, 1e-12).asked());
        }
        Ok(found)
    };
    rows(CASE, measure())
}

/// Ten rigid boxes on each other.
pub(crate) fn stack(size: Size) -> Vec<Row> {
    const CASE: &str = "stack";
    let measure = || -> Measured {
        let mut system = System::new(Params::default(), 4e6, 0.4);
        let edge = 4.0 * MATTER.spacing;
        for number in 0..10 {
            let center = DVec3::new(0.0, edge * (f64::from(number) + 0.5), 0.0);
            system.add_rigid(&MATTER.rigid("box", &cube(4, center, DVec3::ZERO)?)?)?;
        }
        let start: Vec<DVec3> = (0..10).map(|body| system.center(body)).collect();
        let mut floor = Boundaries::planes([[DVec3::ZERO, DVec3::Y]]);
        let gravity = DVec3::new(0.0, -9.81, 0.0);
        let seconds = if size == Size::Fine { 60 } else { 5 };
        let mut report = StepReport::default();
        for number in 0..100 * seconds {
            report.clear();
            system.step(&mut floor, gravity, [0.01 * f64::from(number), 0.01], &mut report)?;
        }
        let moved = |body: usize| system.center(body) - start[body];
        let aside = largest((0..10).map(|body| moved(body).with_y(0.0).length()));
        let sunk = largest((0..10).map(|body| moved(body).y.abs()));
        let weight: f64 = 9.81 * (0..10).map(|body| system.mass(body)).sum::<f64>();
        let speed = largest((0..10).map(|body| system.momentum(body).length() / system.mass(body)));
        let pressed = -system.reactions()[0].force.y;
        // Boxes that weigh nothing stay, too.
        let [aside, sunk, speed] = [aside, sunk, speed].map(|value| given(pressed > 0.5 * weight, value));
        Ok(vec![
            bound(CASE, "moved aside [spacings]", aside / MATTER.spacing, 0.01),
            bound(CASE, "sunk, of the springs' give [spacings]", sunk / MATTER.spacing, 0.1),
            bound(CASE, "fastest box at the end [m/s]", speed, 1e-4),
            compare(CASE, "force on the floor [N]", weight, pressed, 1e-3),
        ])
    };
    rows(CASE, measure())
}
