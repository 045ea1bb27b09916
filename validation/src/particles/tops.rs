//! Bodies that turn freely.

use super::{Measured, crossings, empty, mean_period, point, rows, step};
use crate::{Plot, Row, Size, bound, compare, given};
use glam::{DMat3, DVec3};
use meniscus::particles::{Integrator, Rigid, System};
use std::error::Error;
use std::f64::consts::TAU;

/// A top with given principal moments of inertia \[kg·m²\], turning at ω \[rad/s\]: pairs of points on the axes.
fn top(moments: DVec3, spin: DVec3) -> Result<System, Box<dyn Error>> {
    let half = 0.5 * moments.element_sum();
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    // Two points of mass m at ±a on an axis add 2 m a² to the other two moments.
    let shares = (half - moments).to_array();
    let points = axes.iter().zip(shares).filter(|(_, share)| *share > 1e-12).flat_map(|(axis, share)| {
        let a = share.sqrt();
        [point(*axis * a, 0.5), point(*axis * -a, 0.5)]
    });
    let mut body = Rigid::new("top", points.collect())?;
    body.spin(spin);
    let mut system = empty(Integrator::RungeKutta4);
    system.add_rigid(&body)?;
    Ok(system)
}

/// Angular velocity in the body's own axes.
fn own_spin(system: &System) -> DVec3 {
    DMat3::from_quat(system.state().rigid[0].orientation).transpose() * system.angular_velocity(0)
}

/// The middle axis of three turns over and over: Dzhanibekov's nut.
pub(crate) fn free(size: Size) -> Vec<Row> {
    const CASE: &str = "free-top";
    let measure = || -> Measured {
        let moments = DVec3::new(1.0, 2.0, 3.0);
        let mut system = top(moments, DVec3::new(0.01, 5.0, 0.01))?;
        let (momentum, energy) = (system.angular_momentum(0).length(), system.kinetic_energy(0));
        let until = if size == Size::Fine { 101.0 } else { 33.0 };
        let middle = |system: &System| {
            let w = own_spin(system);
            // Euler: I₂ ω̇₂ = (I₃ − I₁) ω₃ ω₁.
            [w.y, (moments.z - moments.x) * w.z * w.x / moments.y]
        };
        let mut track = Vec::new();
        let times = crossings(&mut system, 0.004, until, |system| {
            let [value, slope] = middle(system);
            track.push([0.004 * track.len() as f64, value]);
            [value, slope]
        })?;
        let turns = times.len() > 1;
        let plot = Plot::new("t [s]", "ω₂ [rad/s]").measured("ours", &track);
        let drift = system.angular_momentum(0).length() / momentum - 1.0;
        Ok(vec![
            compare(CASE, "period [s]", 10.0518583, mean_period(&times), 1e-3).asked().with(plot),
            bound(CASE, "change of angular momentum", given(turns, drift), 1e-12),
            bound(CASE, "change of energy", given(turns, system.kinetic_energy(0) / energy - 1.0), 1e-6),
        ])
    };
    rows(CASE, measure())
}

/// A symmetric top: its spin goes round the axis at (I₃ − I₁)/I₁ ω₃ in the body, and the axis round L at L/I₁ in space.
pub(crate) fn symmetric(_: Size) -> Vec<Row> {
    const CASE: &str = "symmetric-top";
    let measure = || -> Measured {
        let mut system = top(DVec3::new(2.0, 2.0, 1.0), DVec3::new(1.0, 0.0, 10.0))?;
        let angle = |v: DVec3| libm::atan2(v.y, v.x);
        let along = system.angular_momentum(0).normalize();
        let [across, up] = [along.any_orthonormal_vector(), along.cross(along.any_orthonormal_vector())];
        let axis_angle = |system: &System| {
            let axis = system.state().rigid[0].orientation * DVec3::Z;
            libm::atan2(axis.dot(up), axis.dot(across))
        };
        let wrap = |a: f64| a - TAU * (a / TAU).round();
        let (mut body, mut space) = (0.0, 0.0);
        let (mut before, mut before_axis) = (angle(own_spin(&system)), axis_angle(&system));
        let (dt, steps) = (0.002, 5000);
        for number in 0..steps {
            step(&mut system, f64::from(number) * dt, dt)?;
            let (now, now_axis) = (angle(own_spin(&system)), axis_angle(&system));
            body += wrap(now - before);
            space += wrap(now_axis - before_axis);
            (before, before_axis) = (now, now_axis);
        }
        let seconds = f64::from(steps) * dt;
        let axis = system.state().rigid[0].orientation * DVec3::Z;
        let cone = libm::acos(axis.dot(along)).to_degrees();
        Ok(vec![
            compare(CASE, "precession in the body [rad/s]", -5.0, body / seconds, 1e-3),
            compare(CASE, "precession in space [rad/s]", 5.0990195, space / seconds, 1e-3),
            compare(CASE, "half angle of the cone [degrees]", 11.309932, given(space > 1.0, cone), 1e-3),
        ])
    };
    rows(CASE, measure())
}
