//! Liquid makes room before the first step.

use glam::{DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_geometry::Periodic;
use meniscus_sph::{Friction, Gradients, Liquid, Material, Motion, Params, Setup, Wall, WallShape};

const SPACING: f64 = 0.05;

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
        let at = Vec3::new((n % 10) as f32, (n / 100) as f32, (n / 10 % 10) as f32);
        let x = of((at + 0.5) * SPACING as f32);
        liquid.particles_mut().push(0, x, Vec3::new(0.1, 0.2, 0.3), 1000.0);
    }
    liquid
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
    let relaxed = liquid.relax(&tank()).unwrap();
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
    assert_eq!(liquid.relax(&tank()).unwrap().rounds, 0);
    let after = &liquid.state().particles;
    let by_id: Vec<Vec3> = after.in_id_order().into_iter().map(|i| after.position[i]).collect();
    assert_eq!(by_id, before.position);
}

#[test]
fn nobody_moves_who_is_not_asked() {
    let mut liquid = filled(false, squeezed);
    let before = heights(&liquid);
    assert_eq!(liquid.relax(&tank()).unwrap().rounds, 0);
    assert_eq!(heights(&liquid), before);
}
