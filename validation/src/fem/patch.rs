//! `patch-test`: a uniform strain is reproduced by any mesh.

use super::{Measured, rows, scatter, settle};
use crate::{Row, Size, bound, largest};
use glam::{DMat3, DVec3};
use meniscus::fem::{Body, Material, Order, Params};
use meniscus::geometry::TetMesh;

const CASE: &str = "patch-test";

/// Displacement gradient, symmetric: strain without rotation.
const STRAIN: DMat3 =
    DMat3::from_cols(DVec3::new(0.1, 0.025, -0.015), DVec3::new(0.025, -0.05, 0.035), DVec3::new(-0.015, 0.035, 0.075));

pub(crate) fn run(_: Size) -> Vec<Row> {
    rows(
        CASE,
        [("linear", Order::Linear), ("quadratic", Order::Quadratic)]
            .into_iter()
            .map(patch)
            .collect::<Result<Vec<_>, _>>()
            .map(|rows| rows.concat()),
    )
}

fn patch((name, order): (&str, Order)) -> Measured {
    let params = Params { order, tolerance: 1e-13, newton_tolerance: 1e-13, ..Params::default() };
    let material = Material::default();
    let mut body = Body::new("patch", &irregular_block()?, params, material)?;
    body.fix(|p| (p.min(DVec3::ONE - p)).min_element() < 1e-9);
    body.prescribe(|_, rest| rest + STRAIN * rest);
    settle(&mut body, DVec3::ZERO)?;
    let exact = body.rest_positions().iter().map(|rest| *rest + STRAIN * *rest);
    let apart = largest(body.positions().iter().zip(exact).map(|(x, exact)| x.distance(exact)));
    let [lambda, mu] = material.lame();
    let trace = STRAIN.x_axis.x + STRAIN.y_axis.y + STRAIN.z_axis.z;
    let hooke = STRAIN * (2.0 * mu) + DMat3::from_diagonal(DVec3::splat(lambda * trace));
    let size = norm(hooke);
    let stress = largest(body.stresses().iter().map(|stress| norm(*stress - hooke) / size));
    Ok(vec![
        bound(CASE, &format!("{name}: displacement error / size of the block"), apart, 1e-12).asked(),
        bound(CASE, &format!("{name}: stress error / stress"), stress, 1e-12).asked(),
    ])
}

fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A unit block whose inner vertices have been pushed about by a fifth of a cell.
fn irregular_block() -> Result<TetMesh, Box<dyn std::error::Error>> {
    const CELLS: u32 = 4;
    let regular = TetMesh::block(DVec3::ZERO, DVec3::ONE, [CELLS; 3]);
    let moved = regular.vertices().iter().enumerate().map(|(i, p)| {
        let inner = p.min(DVec3::ONE - p).min_element() > 1e-9;
        if inner { *p + scatter(i) * (0.2 / f64::from(CELLS)) } else { *p }
    });
    Ok(TetMesh::new(moved.collect(), regular.tets().to_vec())?)
}
