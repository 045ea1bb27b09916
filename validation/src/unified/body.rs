//! `sph-rotation` and `elastic-energy`: the elastic force of a packed, irregular body. `plastic-shear`: a block that yields.

use crate::{Row, Size, at_least, bound, compare, failed, given, largest};
use glam::{DQuat, DVec3};
use meniscus::boundary::{Boundaries, Obstacles};
use meniscus::elastic::{Elastic, ElasticMaterial, Prescribed, Solids, Strain, Yield, pack};
use meniscus::geometry::{Aabb, Shape, fill, solids};

/// Positions at rest of a packed ball with its elasticity, and the largest force that a strain of one gives \[N\].
fn ball() -> Result<(Vec<DVec3>, Elastic, f64), String> {
    let spacing = 0.02;
    let surface = solids::icosphere(DVec3::ZERO, 0.1, 8);
    let positions = pack(&surface, spacing).map_err(|e| e.to_string())?;
    let material = ElasticMaterial { young: 1e5, poisson: 0.35, ..ElasticMaterial::default() };
    let elastic = Elastic::new(&positions, spacing, surface.signed_volume(), material);
    Ok((positions, elastic, 1e5 * spacing * spacing))
}

fn forces(elastic: &Elastic, positions: &[DVec3]) -> (Vec<DVec3>, f64) {
    let (mut strain, mut forces) = (Strain::default(), vec![DVec3::ZERO; positions.len()]);
    elastic.strain(positions, &mut strain);
    elastic.add_forces(positions, &vec![DVec3::ZERO; positions.len()], &strain, &mut forces);
    (forces, elastic.energy(positions, &strain))
}

/// A rigid rotation by 0.5 rad, and by π.
pub(crate) fn rotation(_: Size) -> Vec<Row> {
    const CASE: &str = "sph-rotation";
    let (rest, elastic, unit) = match ball() {
        Ok(ball) => ball,
        Err(error) => return failed(CASE, &error),
    };
    let force = |positions: &[DVec3]| largest(forces(&elastic, positions).0.iter().map(|f| f.length())) / unit;
    let turned = |angle: f64| {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
        let turned: Vec<DVec3> = rest.iter().map(|&x| turn * x).collect();
        force(&turned)
    };
    let longer: Vec<DVec3> = rest.iter().map(|&x| 1.01 * x).collect();
    vec![
        bound(CASE, "largest force / E s², turned by 0.5 rad", turned(0.5), 1e-12).asked(),
        bound(CASE, "largest force / E s², turned by π", turned(std::f64::consts::PI), 1e-12).asked(),
        // A body without forces would pass.
        at_least(CASE, "largest force / E s², 1 % larger", force(&longer), 1e-3),
    ]
}

/// Force against the difference of energies.
pub(crate) fn energy(_: Size) -> Vec<Row> {
    const CASE: &str = "elastic-energy";
    let (rest, elastic, unit) = match ball() {
        Ok(ball) => ball,
        Err(error) => return failed(CASE, &error),
    };
    let bend = |x: DVec3| x + DVec3::new(4.0 * x.x * x.y, 3.0 * x.x * x.x - x.z * x.y, x.x * x.z + 0.1 * x.y);
    let positions: Vec<DVec3> = rest.iter().map(|&x| bend(x)).collect();
    let (exact, _) = forces(&elastic, &positions);
    let step = 1e-5 * 0.02;
    let mut errors = Vec::new();
    for i in (0..positions.len()).step_by(positions.len() / 20) {
        for axis in 0..3 {
            let energy = |by: f64| {
                let mut moved = positions.clone();
                moved[i][axis] += by;
                forces(&elastic, &moved).1
            };
            let slope = (energy(step) - energy(-step)) / (2.0 * step);
            errors.push((exact[i][axis] + slope).abs() / unit);
        }
    }
    let strongest = largest(exact.iter().map(|f| f.length())) / unit;
    let sum = exact.iter().sum::<DVec3>().length() / unit;
    // Forces and energies that are zero agree, too.
    let [worst, sum] = [largest(errors), sum].map(|value| given(strongest > 0.01, value));
    vec![
        bound(CASE, "|force + dU/dx| / E s², largest of 60", worst, 1e-6 * strongest),
        bound(CASE, "|sum of forces| / E s²", sum, 1e-12 * rest.len() as f64),
    ]
}

/// A block is sheared beyond yield, held until it has flowed, and let go.
pub(crate) fn plastic_shear(_: Size) -> Vec<Row> {
    const CASE: &str = "plastic-shear";
    let (shear, yield_strain) = (0.05_f64, 0.01);
    let [lambda, mu] = material(yield_strain).lame();
    // E = ½ (γ, γ²) has the trace γ²/2 and a deviator of this norm; what is beyond ε_y of it flows.
    let trace = 0.5 * shear * shear;
    let norm = (0.5 * shear * shear + shear.powi(4) / 6.0).sqrt();
    let stays = shear * (1.0 - yield_strain / norm);
    let energy = EDGE.powi(3) * (mu * yield_strain * yield_strain + 0.5 * (lambda + 2.0 * mu / 3.0) * trace * trace);
    // A block that was never sheared keeps no shear.
    let held = 0.25 * EDGE.powi(3) * mu * shear * shear;
    match [sheared(shear, yield_strain), sheared(shear, 0.1)] {
        [Ok(yields), Ok(springs)] => vec![
            compare(CASE, "γ = 0.05, ε_y = 0.01: elastic energy after the flow [J]", energy, yields[0], 0.01),
            compare(CASE, "γ = 0.05, ε_y = 0.01: shear that stays", stays, yields[1], 0.01),
            bound(
                CASE,
                "γ = 0.05, ε_y = 0.1: shear that stays over γ",
                given(springs[0] > held, springs[1] / shear),
                0.01,
            ),
        ],
        [Err(error), _] | [_, Err(error)] => failed(CASE, &error),
    }
}

/// Edge of the block \[m\].
const EDGE: f64 = 0.12;

fn material(yield_strain: f64) -> ElasticMaterial {
    let plasticity = Some(Yield { strain: yield_strain, creep: 100.0, most: 0.5 });
    ElasticMaterial { young: 1e5, damping: 2e-3, plasticity, ..ElasticMaterial::default() }
}

/// Elastic energy \[J\] of a block that is held sheared by so much, and its shear when it has come to rest after being let go.
fn sheared(shear: f64, yield_strain: f64) -> Result<[f64; 2], String> {
    let spacing = 0.02;
    let bounds = Aabb::new(DVec3::ZERO, DVec3::splat(EDGE));
    let positions = fill(&Shape::Box(bounds), spacing, &[]).map_err(|e| e.to_string())?;
    let mut solids = Solids::new(spacing, 0.0);
    solids.add("block", positions.clone(), bounds.size().element_product(), material(yield_strain));
    let prescribed =
        |(particle, x): (u32, &DVec3)| Prescribed { particle, axes: DVec3::ONE, end: *x + DVec3::X * (shear * x.y) };
    solids.bodies_mut()[0].prescribed = (0..).zip(&positions).map(prescribed).collect();
    let run = |solids: &mut Solids, steps: u32| {
        (0..steps).try_for_each(|_| {
            solids.advance(2e-3, DVec3::ZERO, &mut Obstacles::walls(&Boundaries::default())).map_err(|e| e.to_string())
        })
    };
    run(&mut solids, 100)?;
    let energy = solids.elastic_energy(0);
    solids.bodies_mut()[0].prescribed.clear();
    run(&mut solids, 500)?;
    let mut strain = Strain::default();
    solids.bodies()[0].elastic.strain(&solids.state().position, &mut strain);
    let shears = (0..positions.len()).map(|i| {
        let f = Elastic::gradient(&strain, i);
        // Twice the Green strain, which does not see that the block may have turned.
        (f.transpose() * f).y_axis.x
    });
    Ok([energy, shears.sum::<f64>() / positions.len() as f64])
}
