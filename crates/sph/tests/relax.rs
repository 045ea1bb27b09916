//! Liquid makes room before the first step.

use glam::{DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_boundary::{Friction, Motion, Wall, WallShape};
use meniscus_geometry::Periodic;
use meniscus_sph::{Gradients, Liquid, Material, Params, Setup};

const SPACING: f64 = 0.05;
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

fn tank() -> Boundaries {
    let shape = WallShape::Tank { min: DVec3::ZERO, max: DVec3::new(0.5, 9.0, 0.5) };
    let mut walls = Boundaries::new(vec![Wall { shape, friction: Friction::Slip, motion: Motion::Still }]).unwrap();
    walls.place(0.0, 1e-3);
    walls
}

/// A lattice in a tank, each particle where `of` puts it.
fn filled(relax: bool, of: impl Fn(Vec3) -> Vec3) -> Liquid {
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, gradients: Some(Gradients::Corrected), relax, ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: tank(),
        coupling: Default::default(),
        emitters: vec![],
        periodic: Periodic::default(),
        stiffness: 400.0,
        speed: 3.0,
    });
    for n in 0..1000 {
        let x = of(position(10, n));
        liquid.particles_mut().push(0, x, Vec3::new(0.1, 0.2, 0.3), 1000.0);
    }
    liquid
}

/// The n-th position of a lattice that has so many positions along x and z.
fn position(across: usize, n: usize) -> Vec3 {
    let at = Vec3::new((n % across) as f32, (n / (across * across)) as f32, (n / across % across) as f32);
    (at + 0.5) * SPACING as f32
}

/// The lower half is a tenth too dense.
fn squeezed(x: Vec3) -> Vec3 {
    x.with_y(if x.y < 0.25 { 0.9 * x.y } else { x.y - 0.025 })
}

fn heights(liquid: &Liquid) -> f64 {
    liquid.state().particles.position.iter().map(|x| f64::from(x.y)).sum()
}

#[test]
fn what_is_too_dense_makes_room_and_keeps_its_velocity() {
    let mut liquid = filled(true, squeezed);
    let before = heights(&liquid);
    let relaxed = liquid.relax(&tank(), GRAVITY).unwrap();
    let [first, last] = relaxed.compression;
    assert!(relaxed.converged && relaxed.rounds > 0, "{relaxed:?}");
    assert!(first > 0.02 && last <= 5.0 * liquid.setup().params.density_error, "{relaxed:?}");
    assert!(heights(&liquid) > before, "only upwards is there room");
    assert!(liquid.state().particles.velocity.iter().all(|v| *v == Vec3::new(0.1, 0.2, 0.3)));
    assert!(liquid.state().particles.position.iter().all(|x| x.min_element() > 0.0 && x.x < 0.5 && x.z < 0.5));
}

#[test]
fn a_lattice_that_fits_stays_where_it_is() {
    let mut liquid = filled(true, |x| x);
    let before = liquid.state().particles.clone();
    assert_eq!(liquid.relax(&tank(), GRAVITY).unwrap().rounds, 0);
    let after = &liquid.state().particles;
    let by_id: Vec<Vec3> = after.in_id_order().into_iter().map(|i| after.position[i]).collect();
    assert_eq!(by_id, before.position);
}

#[test]
fn nobody_moves_who_is_not_asked() {
    let mut liquid = filled(false, squeezed);
    let before = heights(&liquid);
    assert_eq!(liquid.relax(&tank(), GRAVITY).unwrap().rounds, 0);
    assert_eq!(heights(&liquid), before);
}

/// A step takes 100 iterations at most, from the pressure of the last one; the first has none to start from.
#[test]
fn deep_liquid_starts_under_its_own_weight() {
    let (layers, across) = (60, 24);
    let height = SPACING * layers as f64;
    let shape =
        WallShape::Tank { min: DVec3::ZERO, max: DVec3::new(SPACING * across as f64, 99.0, SPACING * across as f64) };
    let mut walls = Boundaries::new(vec![Wall { shape, friction: Friction::Slip, motion: Motion::Still }]).unwrap();
    walls.place(0.0, 1e-3);
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, gradients: Some(Gradients::Corrected), ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: walls.clone(),
        coupling: Default::default(),
        emitters: vec![],
        periodic: Periodic::default(),
        stiffness: 400.0,
        speed: f64::sqrt(2.0 * 9.81 * height),
    });
    for n in 0..layers * across * across {
        liquid.particles_mut().push(0, position(across, n), Vec3::ZERO, 1000.0);
    }
    let relaxed = liquid.relax(&walls, GRAVITY).unwrap();
    assert!(relaxed.pressure_found, "{relaxed:?}");
    let particles = &liquid.state().particles;
    for layer in 0..layers {
        let (low, high) = (SPACING * layer as f64, SPACING * (layer + 1) as f64);
        let inside = |x: &Vec3| (low..high).contains(&f64::from(x.y));
        let of = |(x, p): (&Vec3, &f32)| f64::from(*p) - 9810.0 * (height - f64::from(x.y));
        let pairs = particles.position.iter().zip(&particles.pressure).filter(|(x, _)| inside(x));
        let error = pairs.clone().map(of).sum::<f64>() / pairs.count() as f64;
        // Asked: 5 % of the head. Along edges of the tank single layers are off by 9 % in the mean.
        assert!(error.abs() < 0.05 * 9810.0 * height, "{error} Pa in layer {layer}");
    }
    for k in 0..5 {
        liquid.step(&walls, GRAVITY, &mut (), &mut Default::default()).unwrap();
        walls.place(1e-3 * f64::from(k + 1), 1e-3);
    }
    let particles = &liquid.state().particles;
    let energy: f64 = particles.velocity.iter().map(|v| 0.5 * f64::from(v.length_squared())).sum();
    let scale = 0.5 * 9.81 * height * particles.len() as f64;
    // Asked: no more than 1e-4 of M g H/2.
    assert!(energy < 1e-4 * scale, "{energy} of {scale} J/kg");
}
