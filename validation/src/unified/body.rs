//! `sph-rotation` and `elastic-energy`: the elastic force of a packed, irregular body.

use crate::{Row, Size, bound, failed};
use glam::{DQuat, DVec3};
use meniscus::geometry::solids;
use meniscus::sph::unified::{Elastic, ElasticMaterial, Strain, pack};

/// Places at rest of a packed ball with its elasticity, and the largest force that a strain of one gives \[N\].
fn ball() -> Result<(Vec<DVec3>, Elastic, f64), String> {
    let spacing = 0.02;
    let surface = solids::icosphere(DVec3::ZERO, 0.1, 8);
    let places = pack(&surface, spacing).map_err(|e| e.to_string())?;
    let material = ElasticMaterial { young: 1e5, poisson: 0.35, ..ElasticMaterial::default() };
    let elastic = Elastic::new(&places, spacing, surface.signed_volume(), material);
    Ok((places, elastic, 1e5 * spacing * spacing))
}

fn forces(elastic: &Elastic, places: &[DVec3]) -> (Vec<DVec3>, f64) {
    let (mut strain, mut forces) = (Strain::default(), vec![DVec3::ZERO; places.len()]);
    elastic.strain(places, &mut strain);
    elastic.add_forces(places, &vec![DVec3::ZERO; places.len()], &strain, &mut forces);
    (forces, elastic.energy(places, &strain))
}

/// A rigid rotation by 0.5 rad, and by π.
pub(crate) fn rotation(_: Size) -> Vec<Row> {
    const CASE: &str = "sph-rotation";
    let (rest, elastic, unit) = match ball() {
        Ok(ball) => ball,
        Err(error) => return failed(CASE, &error),
    };
    let largest = |angle: f64| {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
        let turned: Vec<DVec3> = rest.iter().map(|&x| turn * x).collect();
        forces(&elastic, &turned).0.iter().map(|f| f.length()).fold(0.0, f64::max) / unit
    };
    vec![
        bound(CASE, "largest force / E s², turned by 0.5 rad", largest(0.5), 1e-12),
        bound(CASE, "largest force / E s², turned by π", largest(std::f64::consts::PI), 1e-12),
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
    let places: Vec<DVec3> = rest.iter().map(|&x| bend(x)).collect();
    let (exact, _) = forces(&elastic, &places);
    let step = 1e-5 * 0.02;
    let mut worst = 0.0_f64;
    for i in (0..places.len()).step_by(places.len() / 20) {
        for axis in 0..3 {
            let energy = |by: f64| {
                let mut moved = places.clone();
                moved[i][axis] += by;
                forces(&elastic, &moved).1
            };
            let slope = (energy(step) - energy(-step)) / (2.0 * step);
            worst = worst.max((exact[i][axis] + slope).abs() / unit);
        }
    }
    let largest = exact.iter().map(|f| f.length()).fold(0.0, f64::max) / unit;
    let sum = exact.iter().sum::<DVec3>().length() / unit;
    vec![
        bound(CASE, "|force + dU/dx| / E s², largest of 60", worst, 1e-6 * largest.max(0.01)),
        bound(CASE, "|sum of forces| / E s²", sum, 1e-12 * rest.len() as f64),
    ]
}
