//! `bar`: pulled along its axis, it becomes longer and thinner.

use super::{Measured, mean_displacement, rows, settle};
use crate::{Row, Size, compare};
use glam::DVec3;
use meniscus::fem::{Axes, Body, Material, Order, Params};
use meniscus::geometry::TetMesh;

const CASE: &str = "bar";
const LENGTH: f64 = 1.0;
const WIDTH: f64 = 0.2;
/// Pull per area at rest [Pa].
const PULL: f64 = 2e4;

pub(crate) fn run(_: Size) -> Vec<Row> {
    let both = [("linear", Order::Linear), ("quadratic", Order::Quadratic)];
    rows(CASE, both.into_iter().map(pulled).collect::<Result<Vec<_>, _>>().map(|rows| rows.concat()))
}

fn pulled((name, order): (&str, Order)) -> Measured {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(LENGTH, WIDTH, WIDTH), [10, 2, 2]);
    let material = Material::default();
    let params = Params { order, tolerance: 1e-9, newton_tolerance: 1e-9, ..Params::default() };
    let mut body = Body::new("bar", &mesh, params, material)?;
    // Three planes of symmetry: free to become thinner.
    body.fix_axes(Axes::X, |p| p.x < 1e-9);
    body.fix_axes(Axes::Y, |p| p.y < 1e-9);
    body.fix_axes(Axes::Z, |p| p.z < 1e-9);
    body.add_traction(|p| if p.x > LENGTH - 1e-9 { PULL * DVec3::X } else { DVec3::ZERO });
    settle(&mut body, DVec3::ZERO)?;
    let longer = mean_displacement(&body, |p| p.x > LENGTH - 1e-9).x;
    let thinner = mean_displacement(&body, |p| p.y > WIDTH - 1e-9).y;
    let strain = PULL / material.young;
    Ok(vec![
        compare(CASE, &format!("{name}: elongation F L/(E A) [m]"), strain * LENGTH, longer, 1e-6),
        compare(
            CASE,
            &format!("{name}: contraction −ν F w/(E A) [m]"),
            -material.poisson * strain * WIDTH,
            thinner,
            1e-6,
        ),
    ])
}
