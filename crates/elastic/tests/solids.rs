//! What contact between elastic bodies of particles promises: action = −reaction, rest, Coulomb's friction, no energy from nothing.

use glam::{DMat3, DVec3};
use meniscus_boundary::{Boundaries, Obstacles};
use meniscus_elastic::{ElasticMaterial, Prescribed, Solids};
use meniscus_geometry::{Aabb, Shape, fill};

const SPACING: f64 = 0.02;
const GRAVITY: f64 = 9.81;

fn material() -> ElasticMaterial {
    ElasticMaterial { young: 2e5, damping: 2e-3, ..ElasticMaterial::default() }
}

/// Adds a box; turned about the z axis at the origin.
fn add(solids: &mut Solids, name: &str, [min, max]: [DVec3; 2], turn: DMat3) {
    add_of(solids, name, [min, max], turn, material());
}

fn add_of(solids: &mut Solids, name: &str, [min, max]: [DVec3; 2], turn: DMat3, material: ElasticMaterial) {
    let bounds = Aabb::new(min, max);
    let mut positions = fill(&Shape::Box(bounds), SPACING, &[]).unwrap();
    positions.iter_mut().for_each(|x| *x = turn * *x);
    solids.add(name, positions, bounds.size().element_product(), material);
}

/// Holds a body where it is.
fn hold(solids: &mut Solids, body: usize) {
    let body = &mut solids.bodies_mut()[body];
    let prescribed = |(particle, x): (u32, &DVec3)| Prescribed { particle, axes: DVec3::ONE, end: *x };
    body.prescribed = (0..).zip(&body.rest).map(prescribed).collect();
}

fn advance(solids: &mut Solids, gravity: DVec3, dt: f64) {
    solids.advance(dt, gravity, &mut Obstacles::walls(&Boundaries::default())).unwrap();
    solids.finish();
}

fn center(solids: &Solids, body: usize) -> DVec3 {
    let own = &solids.state().position[solids.bodies()[body].particles.clone()];
    own.iter().sum::<DVec3>() / own.len() as f64
}

/// Three equal blocks on one that is held, particle above particle, with a little throw aside: without friction they slide apart.
fn stack(friction: f64) -> [f64; 2] {
    let mut solids = Solids::new(SPACING, friction);
    let layer = |k: u32| 0.08 * f64::from(k);
    for k in 0..4 {
        let (min, max) = (DVec3::new(0.0, layer(k), 0.0), DVec3::new(0.12, layer(k + 1), 0.12));
        // Damped, so that what sways has come to rest after a second.
        let calm = ElasticMaterial { damping: 8e-3, ..material() };
        add_of(&mut solids, &format!("{k}"), [min, max], DMat3::IDENTITY, calm);
    }
    hold(&mut solids, 0);
    for (k, aside) in [(2, 0.02), (3, -0.02)] {
        let own = solids.bodies()[k].particles.clone();
        solids.state_mut().velocity[own].fill(DVec3::X * aside);
    }
    let before: Vec<DVec3> = (1..4).map(|k| center(&solids, k)).collect();
    for _ in 0..500 {
        advance(&mut solids, DVec3::new(0.0, -GRAVITY, 0.0), 2e-3);
    }
    let flat = |v: DVec3| DVec3::new(v.x, 0.0, v.z).length();
    let aside = (1..4).map(|k| flat(center(&solids, k) - before[k - 1])).fold(0.0, f64::max);
    [aside, solids.max_speed()]
}

#[test]
fn a_stack_of_three_stays_by_friction_and_slides_apart_without() {
    let [aside, speed] = stack(0.4);
    assert!(aside < 0.05 * SPACING && speed < 1e-3, "{aside} {speed}");
    let [aside, _] = stack(0.0);
    assert!(aside > 0.5 * SPACING, "{aside}");
}

/// How far a block slides down a slope that is held within half a second \[m\], from rest.
fn slid(friction: f64, angle: f64) -> f64 {
    let mut solids = Solids::new(SPACING, friction);
    let turn = DMat3::from_rotation_z(-angle);
    // Not particle above particle.
    let off = 0.3 * SPACING;
    add(&mut solids, "slope", [DVec3::new(0.0, -0.06, 0.0), DVec3::new(1.0, 0.0, 0.2)], turn);
    add(&mut solids, "block", [DVec3::new(0.1 + off, 0.0, 0.04), DVec3::new(0.22 + off, 0.08, 0.16)], turn);
    hold(&mut solids, 0);
    let before = center(&solids, 1);
    for _ in 0..250 {
        advance(&mut solids, DVec3::new(0.0, -GRAVITY, 0.0), 2e-3);
    }
    (center(&solids, 1) - before).dot(turn * DVec3::X)
}

#[test]
fn a_block_on_a_slope_slides_as_coulomb_says_or_sticks() {
    let angle = 0.5f64;
    for friction in [0.0, 0.2, 0.4] {
        let expected = 0.125 * GRAVITY * (angle.sin() - friction * angle.cos());
        let found = slid(friction, angle);
        assert!((found / expected - 1.0).abs() < 0.05, "{friction}: {found} of {expected}");
    }
    let held = slid(0.8, angle);
    assert!(held.abs() < 0.1 * SPACING, "{held}");
}

/// Two blocks fly into each other, off their centres: momentum stays to round-off, energy of motion and strain does not grow.
#[test]
fn a_collision_keeps_momentum_and_makes_no_energy() {
    let mut solids = Solids::new(SPACING, 0.3);
    add(&mut solids, "a", [DVec3::ZERO, DVec3::splat(0.12)], DMat3::IDENTITY);
    add(&mut solids, "b", [DVec3::new(0.13, 0.05, 0.03), DVec3::new(0.25, 0.17, 0.15)], DMat3::from_rotation_z(0.05));
    let own = solids.bodies()[0].particles.clone();
    solids.state_mut().velocity[own].fill(DVec3::new(1.0, 0.2, 0.0));
    let mass = solids.bodies()[0].elastic.mass();
    let momentum = |solids: &Solids| solids.state().velocity.iter().map(|v| mass * *v).sum::<DVec3>();
    let energy = |solids: &Solids| {
        let motion: f64 = solids.state().velocity.iter().map(|v| 0.5 * mass * v.length_squared()).sum();
        motion + solids.elastic_energy(0) + solids.elastic_energy(1)
    };
    let (p, e) = (momentum(&solids), energy(&solids));
    for _ in 0..150 {
        advance(&mut solids, DVec3::ZERO, 2e-3);
        assert!((momentum(&solids) - p).length() < 1e-12 * p.length());
        assert!(energy(&solids) < e * (1.0 + 1e-9), "{} of {e}", energy(&solids));
    }
    let hit = &solids.state().velocity[solids.bodies()[1].particles.clone()];
    assert!(hit.iter().map(|v| v.x).sum::<f64>() / hit.len() as f64 > 0.3, "the other was hit");
}
