//! A soft body on a wall whose vertices move.

use glam::DVec3;
use meniscus_boundary::{Boundaries, Frames, Friction, Wall, Wet};
use meniscus_core::StepReport;
use meniscus_fem::contact::{Contact, ContactParams, Obstacle};
use meniscus_fem::{Body, Material, Params};
use meniscus_geometry::{Aabb, TetMesh, solids};

#[test]
fn a_rising_plate_of_frames_carries_a_soft_cube() {
    let plate = solids::cuboid(&Aabb::new(DVec3::new(-0.5, -0.2, -0.5), DVec3::new(0.5, 0.0, 0.5)));
    // Up by 10 cm and aside by 5 cm in a second.
    let way = |t: f64| DVec3::new(0.05, 0.1, 0.0) * t;
    let frames = Frames::sampled(&plate, vec![0.0, 1.0], None, |x, t| x + way(t)).unwrap();
    let plate = Wall::animated(plate, frames, Wet::Front, Friction::Slip).unwrap();
    let mut walls = Boundaries::new(vec![plate]).unwrap();
    let mesh = TetMesh::block(DVec3::new(-0.1, 0.0, -0.1), DVec3::new(0.1, 0.2, 0.1), [3, 3, 3]);
    let material = Material { young: 5e5, ..Material::default() };
    let mut bodies = [Body::new("cube", &mesh, Params::default(), material).unwrap()];
    let mut contact = Contact::new(ContactParams { friction: 0.8, ..ContactParams::default() }).unwrap();
    let start = bodies[0].center();
    let mut force = DVec3::ZERO;
    for step in 0..200 {
        walls.place(0.005 * f64::from(step), 0.005);
        let sides: Vec<_> = (0..walls.sides().len()).map(|side| walls.side(side)).collect();
        let obstacles: Vec<&dyn Obstacle> = sides.iter().map(|side| side as &dyn Obstacle).collect();
        contact.step(&mut bodies, &obstacles, 0.005, DVec3::new(0.0, -9.81, 0.0), &mut StepReport::default()).unwrap();
        force += contact.obstacle_forces()[0].force / 200.0;
    }
    let moved = bodies[0].center() - start;
    assert!(moved.distance(way(1.0)) < 0.01, "{moved}");
    let weight = bodies[0].mass() * 9.81;
    assert!((force.y / -weight - 1.0).abs() < 0.05, "{force} {weight}");
}
