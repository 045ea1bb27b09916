//! What bodies do: they do not pass through themselves, and steps follow the motion or each body's own springs.

use glam::DVec3;
use meniscus_boundary::Boundaries;
use meniscus_core::StepReport;
use meniscus_particles::{Deformable, Elastic, InterfaceKind, Matter, Params, Steps, System};

const MATTER: Matter = Matter { spacing: 0.05, density: 500.0 };

/// A fork that lies in the plane of x and y: two prongs, four spacings apart, on a handle.
fn fork() -> Vec<DVec3> {
    let mut positions = Vec::new();
    for (x, y, z) in (0..8).flat_map(|x| (0..10).flat_map(move |y| (0..2).map(move |z| (x, y, z)))) {
        let (x, y, z) = (f64::from(x), f64::from(y), f64::from(z));
        if y < 2.0 || !(1.5..5.5).contains(&x) {
            positions.push(DVec3::new(x, y, z) * MATTER.spacing);
        }
    }
    positions
}

/// The prongs of a soft fork are thrown at each other, faster at their ends.
fn closing_fork(interface: InterfaceKind) -> (System, Vec<bool>) {
    let positions = fork();
    let left = |p: &DVec3| p.x < 3.5 * MATTER.spacing;
    let mut body: Deformable = MATTER.deformable("fork", &positions, Elastic { young: 2e3, damping: 0.1 }).unwrap();
    for e in &mut body.particles {
        let height = (e.position.y / MATTER.spacing - 1.0).max(0.0);
        e.velocity.x = if left(&e.position) { 0.25 * height } else { -0.25 * height };
    }
    let mut system = System::new(Params { interface, ..Params::default() }, 5e5, 0.4);
    system.add_deformable(&body).unwrap();
    (system, positions.iter().map(left).collect())
}

#[test]
fn a_body_does_not_pass_through_itself() {
    for interface in [InterfaceKind::Springs, InterfaceKind::Projection] {
        let (mut system, left) = closing_fork(interface);
        let (mut touched, mut report) = (0.0f64, StepReport::default());
        for step in 0..60 {
            report.clear();
            system
                .step(&mut Boundaries::default(), DVec3::ZERO, [0.005 * f64::from(step), 0.005], &mut report)
                .unwrap();
            touched = touched.max(report.counter("connections").unwrap());
            // Where the prongs are level, the left one stays left of the right one.
            let x = &system.state().position;
            let halves = |side: bool| x.iter().zip(&left).filter(move |(_, l)| **l == side).map(|(x, _)| *x);
            for a in halves(true) {
                for b in halves(false).filter(|b| (a - b).with_x(0.0).length() < 0.5 * MATTER.spacing) {
                    assert!(b.x - a.x > 0.2 * MATTER.spacing, "{interface:?}: {a} has met {b}");
                }
            }
        }
        assert!(touched > 4.0, "{interface:?}: the prongs never met");
    }
}

/// A soft cube and a hard one that fly at each other.
fn pair(params: Params, speed: f64) -> System {
    let cube = |middle: DVec3| -> Vec<DVec3> {
        let at = |k: i32| (f64::from(k) - 1.5) * MATTER.spacing;
        let all = (0..64).map(|k| middle + DVec3::new(at(k % 4), at(k / 4 % 4), at(k / 16)));
        all.collect()
    };
    let mut system = System::new(params, 2e5, 0.4);
    let elastic = Elastic { young: 5e6, damping: 0.1 };
    let mut soft = MATTER.deformable("soft", &cube(DVec3::ZERO), elastic).unwrap();
    soft.particles.iter_mut().for_each(|e| e.velocity.x = speed);
    system.add_deformable(&soft).unwrap();
    system.add_rigid(&MATTER.rigid("hard", &cube(DVec3::X * 0.25)).unwrap()).unwrap();
    system
}

#[test]
fn local_steps_end_where_global_ones_do() {
    let run = |steps: Steps| {
        let mut system = pair(Params { steps, ..Params::default() }, 1.0);
        let (mut count, mut report) = (0.0, StepReport::default());
        for step in 0..40 {
            report.clear();
            system
                .step(&mut Boundaries::default(), DVec3::ZERO, [0.005 * f64::from(step), 0.005], &mut report)
                .unwrap();
            count += report.counter("body steps").unwrap();
        }
        ([system.center(0), system.center(1)], count)
    };
    let (global, global_steps) = run(Steps::Global);
    let (local, local_steps) = run(Steps::Local);
    // Both have met; the soft body takes its small steps by itself.
    assert!(global[1].x > 0.26, "{global:?}");
    assert!(local_steps < 0.7 * global_steps, "{local_steps} of {global_steps} steps");
    for (a, b) in global.into_iter().zip(local) {
        assert!(a.distance(b) < 0.1 * MATTER.spacing, "{a} and {b}");
    }
}

#[test]
fn the_step_follows_the_fastest_particle() {
    let stable = |speed: f64| {
        pair(Params { interface: InterfaceKind::Projection, steps: Steps::Local, ..Params::default() }, speed)
            .stable_step()
    };
    // A Courant number of 0.4 of a diameter, which is the spacing.
    for speed in [0.5, 5.0, 50.0] {
        assert!((stable(speed) * speed - 0.4 * MATTER.spacing).abs() < 1e-12, "at {speed} m/s: {}", stable(speed));
    }
}
