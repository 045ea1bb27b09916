use super::*;
use crate::Setup;
use crate::params::Gradients;
use crate::params::{Material, Params};
use crate::particles::Particles;
use meniscus_boundary::Boundaries;
use meniscus_boundary::{Friction, Motion, Wall, WallShape};

const SPACING: f64 = 0.05;

/// −½ to ½, the same for the same number.
fn noise(n: u64) -> f32 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((z ^ (z >> 31)) >> 40) as f32) / (1 << 24) as f32 - 0.5
}

fn noise3(n: usize) -> Vec3 {
    Vec3::new(noise(3 * n as u64), noise(3 * n as u64 + 1), noise(3 * n as u64 + 2))
}

/// Particles in disorder in the corner of a tank, with velocities, ready for sums.
fn disorder(walls: bool, velocity: impl Fn(Vec3) -> Vec3) -> Liquid {
    let corner = Wall {
        shape: WallShape::Tank { min: DVec3::ZERO, max: DVec3::INFINITY },
        friction: Friction::Slip,
        motion: Motion::Still,
    };
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, gradients: Some(Gradients::Corrected), ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: Boundaries::new(if walls { vec![corner] } else { Vec::new() }).unwrap(),
        coupling: Default::default(),
        emitters: Vec::new(),
        periodic: Default::default(),
        stiffness: 400.0,
        speed: 2.0,
    });
    for n in 0..1000 {
        let lattice = Vec3::new((n % 10) as f32, (n / 10 % 10) as f32, (n / 100) as f32) + 0.5;
        let x = (lattice + noise3(n) * 0.4) * SPACING as f32;
        liquid.particles_mut().push(0, x, velocity(x), 1000.0);
    }
    liquid.sort(0.0, 1e-3);
    liquid.find_neighbours();
    liquid.find_wall_integrals_at(0.0, 1e-3);
    liquid.sum_density_and_gradients().unwrap();
    liquid.remove_divergence(1e-3).unwrap();
    liquid
}

fn divergence(liquid: &mut Liquid) -> Vec<f32> {
    liquid.work.flow.clear();
    liquid.work.flow.extend(liquid.state.particles.velocity.iter().map(|&v| pack(v, 0.0)));
    liquid.work.flow.push([0.0; 4]);
    let (mut output, mut partial) = (Vec::new(), Vec::new());
    liquid.sum_rates_corrected((&liquid.work.flow, 1.0), &mut output, &mut partial, |_, rate| (rate, 0.0));
    output
}

#[test]
fn linear_fields_have_their_own_divergence() {
    // Rotation, shear and stretching: trace 0.3 + 0.4 − 0.5.
    let field = Mat3::from_cols(Vec3::new(0.3, 1.0, -2.0), Vec3::new(0.5, 0.4, 0.7), Vec3::new(1.5, -0.2, -0.5));
    let mut liquid = disorder(false, |x| field * x);
    let rates = divergence(&mut liquid);
    let inside = |x: Vec3| x.min_element() > 0.1 && x.max_element() < 0.4;
    let positions = &liquid.state.particles.position;
    let far = rates.iter().zip(positions).filter(|(_, x)| inside(**x)).map(|(rate, _)| (rate + 0.2).abs());
    // ċ = −∇·v.
    assert!(far.fold(0.0, f32::max) < 2e-3);
}

#[test]
fn liquid_slides_along_walls_without_divergence() {
    let mut liquid = disorder(true, |_| Vec3::new(0.0, 0.0, 1.0));
    liquid.walls = {
        let floor = Wall {
            shape: WallShape::Tank { min: DVec3::new(0.0, 0.0, -9.0), max: DVec3::INFINITY },
            friction: Friction::Slip,
            motion: Motion::Still,
        };
        crate::wall_contacts::Walls::new::<crate::simd::CubicSpline>(
            &Boundaries::new(vec![floor]).unwrap(),
            Friction::Slip,
            liquid.h,
            SPACING,
        )
    };
    liquid.find_wall_integrals_at(0.0, 1e-3);
    liquid.sum_density_and_gradients().unwrap();
    liquid.remove_divergence(1e-3).unwrap();
    let worst = divergence(&mut liquid).iter().fold(0.0f32, |worst, rate| worst.max(rate.abs()));
    assert!(worst < 1e-3, "{worst}");
}

#[test]
fn pressure_is_the_adjoint_of_divergence() {
    let mut liquid = disorder(true, |x| noise3((x.x * 1e6) as usize));
    let rates = divergence(&mut liquid);
    let count = rates.len();
    (0..count).for_each(|i| liquid.work.position[i][3] = noise(7 * i as u64) + 0.5);
    liquid.work.corrected.on = true;
    liquid.press();
    let mut push = Vec::new();
    liquid.accelerate_corrected(&mut push);
    let v = &liquid.state.particles.velocity;
    let power: f64 = (0..count).map(|i| f64::from(1000.0 * v[i].dot(Vec3::from_slice(&push[i])))).sum();
    let work: f64 = (0..count).map(|i| f64::from(liquid.work.position[i][3] * rates[i])).sum();
    assert!((power + work).abs() < 1e-4 * work.abs().max(100.0), "{power} {work}");
}

#[test]
fn friction_of_noise_takes_energy_and_neither_momentum_nor_linear_fields() {
    let field = Mat3::from_cols(Vec3::new(0.3, 1.0, -2.0), Vec3::new(0.5, 0.4, 0.7), Vec3::new(1.5, -0.2, -0.5));
    let after = |rough: f32| {
        let mut liquid = disorder(false, |x| field * x + noise3((x.x * 1e6) as usize) * rough);
        liquid.work.acceleration.clear();
        liquid.work.acceleration.resize(1000, Vec3::ZERO);
        liquid.damp_noise(0.015, 1e-3);
        let Particles { position, velocity, .. } = &liquid.state.particles;
        let a = &liquid.work.acceleration;
        let sum = |of: &dyn Fn(usize) -> Vec3| (0..1000).map(|i| of(i).as_dvec3()).sum::<DVec3>();
        let change = sum(&|i| a[i]).length() / 1000.0;
        let turn = sum(&|i| position[i].cross(a[i])).length() / 1000.0;
        let power = sum(&|i| Vec3::splat(velocity[i].dot(a[i]))).x / 1000.0;
        let most = a.iter().map(|a| a.length()).fold(0.0, f32::max);
        (f64::from(most) * 1e-3, change * 1e-3, turn * 1e-3, power * 1e-3)
    };
    let (most, ..) = after(0.0);
    assert!(most < 1e-4, "linear fields are felt: {most}");
    let (most, change, turn, power) = after(1.0);
    assert!(most > 0.1 && change < 1e-6 && turn < 1e-6 && power < -0.02, "{most} {change} {turn} {power}");
}

/// Liquid on a lattice around a ball of four spacings, ready for sums.
fn around_a_ball(center: Vec3, radius: f32) -> Liquid {
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, gradients: Some(Gradients::Corrected), ..Params::default() },
        materials: vec![("water".into(), Material::default())],
        walls: Boundaries::default(),
        coupling: Default::default(),
        emitters: Vec::new(),
        periodic: Default::default(),
        stiffness: 400.0,
        speed: 2.0,
    });
    for n in 0..4096 {
        let x = (Vec3::new((n % 16) as f32, (n / 16 % 16) as f32, (n / 256) as f32) + 0.5) * SPACING as f32;
        if x.distance(center) > radius + 0.3 * SPACING as f32 {
            liquid.particles_mut().push(0, x, Vec3::ZERO, 1000.0);
        }
    }
    let mesh = meniscus_geometry::solids::icosphere(center.as_dvec3(), radius.into(), 3);
    liquid.bodies_mut(1)[0] = crate::Body {
        positions: mesh.vertices().to_vec(),
        velocities: vec![DVec3::ZERO; mesh.vertices().len()],
        triangles: mesh.triangles().to_vec(),
        ..Default::default()
    };
    liquid.sort(0.0, 1e-3);
    liquid.find_neighbours();
    liquid.find_wall_integrals_at(0.0, 1e-3);
    liquid
}

#[test]
fn a_ball_adds_its_own_moment() {
    let (center, radius) = (Vec3::new(0.41, 0.39, 0.4), 0.2);
    let liquid = around_a_ball(center, radius);
    let mut seen = 0;
    for contact in liquid.work.contacts.iter().flatten() {
        let (r, b) =
            (liquid.state.particles.position[contact.particle as usize] - center, contact.gamma_gradient.length());
        let (n, d) = (r.normalize(), r.length() - radius);
        if b * (SPACING as f32) < 0.05 {
            continue;
        }
        seen += 1;
        let m = contact.moment.unwrap();
        let across = n.dot(apply(&m, n));
        let along = 0.5 * (m[0] + m[1] + m[2] - across);
        // Points of the ball beside the nearest one lie lower by ρ²/2R, and their normals lean out by ρ/R: with the mean of ρ² over
        // the kernel, at most h²/4, ∫ W n⊗(x − y) dA is b (d + ρ²/2R) across and −b ρ²/2R along, each twice.
        let dip = -along / b;
        let most = (liquid.h * liquid.h) as f32 / (8.0 * radius);
        assert!(dip > 0.0 && dip < 1.2 * most, "{dip} of {most}");
        // The dip of each direction adds up across; normals that lean take a little of b d.
        assert!((across - b * (d + 2.0 * dip)).abs() < 0.1 * b * (d + 2.0 * dip), "{across} {b} {d} {dip}");
    }
    assert!(seen > 100, "{seen}");
}
