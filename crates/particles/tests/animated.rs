//! A body of particles on a wall whose vertices move.

use glam::DVec3;
use meniscus_boundary::{Boundaries, Frames, Friction, Wall, Wet};
use meniscus_core::StepReport;
use meniscus_geometry::{Aabb, Shape, fill, solids};
use meniscus_particles::{Elastic, Matter, Params, System};

#[test]
fn a_rising_plate_of_frames_carries_a_body_of_particles() {
    let plate = solids::cuboid(&Aabb::new(DVec3::new(-0.3, -0.2, -0.3), DVec3::new(0.4, 0.0, 0.4)));
    let frames = Frames::sampled(&plate, vec![0.0, 1.0], None, |x, t| x + DVec3::Y * (0.1 * t)).unwrap();
    let mut walls = Boundaries::new(vec![Wall::animated(plate, frames, Wet::Front, Friction::Slip).unwrap()]).unwrap();
    let cube = Shape::Box(Aabb::new(DVec3::ZERO, DVec3::splat(0.1)));
    let matter = Matter { spacing: 0.025, density: 500.0 };
    let body = matter.deformable("cube", &fill(&cube, 0.025, &[]).unwrap(), Elastic { young: 2e4, damping: 0.3 });
    let mut system = System::new(Params::default(), 1e4, 0.4);
    system.add_deformable(&body.unwrap()).unwrap();
    for step in 0..100 {
        let at = [0.01 * f64::from(step), 0.01];
        system.step(&mut walls, DVec3::new(0.0, -9.81, 0.0), at, &mut StepReport::default()).unwrap();
    }
    assert!((system.center(0).y - 0.15).abs() < 0.01, "{}", system.center(0));
    assert!((system.momentum(0).y / system.mass(0) - 0.1).abs() < 0.02);
}
