//! `free-body`, `rotation`, `inversion`: bodies that nothing holds.

use super::{Measured, rows, scatter, step};
use crate::{Plot, Row, Size, at_least, bound, compare, given, largest};
use glam::{DMat3, DQuat, DVec3};
use meniscus::fem::{Body, Integrator, Material, Model, Order, Params};
use meniscus::geometry::TetMesh;
use std::error::Error;

fn block(params: Params, material: Material) -> Result<Body, Box<dyn Error>> {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(0.4, 0.2, 0.2), [8, 4, 4]);
    Ok(Body::new("block", &mesh, params, material)?)
}

pub(crate) fn free_body(size: Size) -> Vec<Row> {
    const CASE: &str = "free-body";
    let seconds = if size == Size::Fine { 10.0 } else { 2.0 };
    let measure = || -> Measured {
        let flights = flights().into_iter().map(|flight| flight.fly(CASE, seconds));
        Ok(flights.collect::<Result<Vec<_>, _>>()?.concat())
    };
    rows(CASE, measure())
}

/// A way to integrate, with the loss of angular momentum per second and the growth of energy that it is allowed.
struct Flight {
    name: &'static str,
    params: Params,
    angular: f64,
    growth: f64,
}

/// Growth of energy that is rounding, dimensionless.
const ROUNDING: f64 = 1e-13;

fn flights() -> [Flight; 3] {
    let euler = Params::default();
    let two = Params { newton_iterations: 2, ..euler };
    let midpoint = Params {
        integrator: Integrator::ImplicitMidpoint,
        newton_iterations: 10,
        newton_tolerance: 1e-9,
        ..Params::default()
    };
    [
        Flight { name: "implicit Euler", params: euler, angular: 0.1, growth: ROUNDING },
        Flight { name: "implicit Euler, two Newton iterations", params: two, angular: 0.1, growth: ROUNDING },
        Flight { name: "midpoint", params: midpoint, angular: 1e-6, growth: 1e-3 },
    ]
}

impl Flight {
    fn fly(&self, case: &str, seconds: f64) -> Measured {
        let mut body = block(self.params, Material { young: 1e5, ..Material::default() })?;
        throw(&mut body);
        let [p, l] = [body.momentum(), body.angular_momentum()];
        let energy = |body: &Body| body.kinetic_energy() + body.elastic_energy();
        let start = energy(&body);
        let (mut least, mut growths, mut track) = (start, Vec::new(), vec![[0.0, 1.0]]);
        let (center, steps) = (body.center(), (seconds / 0.005) as u32);
        for k in 1..=steps {
            step(&mut body, 0.005, DVec3::ZERO)?;
            growths.push((energy(&body) - least) / start);
            least = least.min(energy(&body));
            track.push([0.005 * f64::from(k), energy(&body) / start]);
        }
        let way = (body.center() - center).length() / (p.length() / body.mass() * 0.005 * f64::from(steps));
        let momentum = (body.momentum() - p).length() / p.length();
        let angular = (body.angular_momentum() - l).length() / l.length() / seconds;
        let row = |quantity: &str, measured: f64, most: f64| {
            bound(case, &format!("{}: {quantity}", self.name), measured, most)
        };
        Ok(vec![
            // A body that does not fly keeps everything.
            compare(
                case,
                &format!("{}: way of the centre of mass over that of its momentum", self.name),
                1.0,
                way,
                1e-6,
            )
            .with(Plot::new(&format!("t [s], {}", self.name), "energy over the first").measured("ours", &track)),
            row("|change| / |momentum|", given(way > 0.5, momentum), 1e-12).asked(),
            row("angular momentum lost per second", given(way > 0.5, angular), self.angular),
            row(
                "energy above its least so far / first",
                given(way > 0.5, largest(growths.into_iter().chain([0.0]))),
                self.growth,
            ),
        ])
    }
}

/// A push, a spin of 6 rad/s and a shake.
fn throw(body: &mut Body) {
    let rest = body.rest_positions().to_vec();
    for (i, v) in body.motion_mut().1.iter_mut().enumerate() {
        *v = DVec3::new(1.0, 2.0, 0.5)
            + DVec3::new(1.0, -2.0, 5.5).cross(rest[i] - DVec3::new(0.2, 0.1, 0.1))
            + 0.2 * scatter(i);
    }
}

pub(crate) fn rotation(_: Size) -> Vec<Row> {
    const CASE: &str = "rotation";
    let models = [Model::Corotational, Model::NeoHookean, Model::StVenantKirchhoff];
    let names = ["corotational", "neo-Hookean", "St Venant–Kirchhoff"];
    let measure = || -> Measured {
        let mut rows = Vec::new();
        for (model, name) in models.into_iter().zip(names) {
            let (mut forces, mut stretched) = (Vec::new(), Vec::new());
            for order in [Order::Linear, Order::Quadratic] {
                let material = Material { model, ..Material::default() };
                let mut body = block(Params { order, ..Params::default() }, material)?;
                let rest = body.rest_positions().to_vec();
                for k in 0..100 {
                    let turn = DMat3::from_quat(DQuat::from_scaled_axis(4.0 * scatter(k)));
                    let shift = 10.0 * scatter(k + 1000);
                    body.motion_mut().0.iter_mut().zip(&rest).for_each(|(x, rest)| *x = turn * *rest + shift);
                    forces.push(largest(body.elastic_forces().iter().map(|f| f.length())));
                }
                // A body without forces would pass.
                body.motion_mut().0.iter_mut().zip(&rest).for_each(|(x, rest)| *x = 1.01 * *rest);
                stretched.push(largest(body.elastic_forces().iter().map(|f| f.length())));
            }
            // Against E h², what a strain of one does to an element.
            let unit = 1e6 * 0.05 * 0.05;
            let turned = format!("{name}: largest force / E h², 100 rotations");
            rows.push(bound(CASE, &turned, largest(forces) / unit, 1e-12).asked());
            let longer = format!("{name}: largest force / E h², 1 % longer");
            rows.push(at_least(CASE, &longer, largest(stretched) / unit, 1e-3));
        }
        Ok(rows)
    };
    rows(CASE, measure())
}

pub(crate) fn inversion(size: Size) -> Vec<Row> {
    const CASE: &str = "inversion";
    let measure = || -> Measured {
        let mut rows = Vec::new();
        let mut tet = single_tet()?;
        tet.motion_mut().0[3].z = -1.0;
        rows.push(recovery(CASE, "one tet inside out", &mut tet, 400)?);
        // Neo-Hookean energies rise so steeply that steps have to be searched for.
        for (model, name, newton_iterations) in
            [(Model::Corotational, "corotational", 1), (Model::NeoHookean, "neo-Hookean", 10)]
        {
            let material = Material { model, mass_damping: 1.0, ..Material::default() };
            let params = Params { newton_iterations, ..Params::default() };
            let mut body = block(params, material)?;
            body.motion_mut().0.fill(DVec3::ONE);
            rows.push(recovery(CASE, &format!("{name}: all nodes in one point"), &mut body, 300)?);
            let mut body = block(params, material)?;
            body.motion_mut().0.iter_mut().for_each(|x| x.y = 0.1);
            rows.push(recovery(CASE, &format!("{name}: flat"), &mut body, 100)?);
            if model == Model::NeoHookean && size == Size::Quick {
                continue;
            }
            let mut body = block(params, material)?;
            let scrambled = |(i, x): (usize, &mut DVec3)| *x = 0.3 * scatter(i);
            body.motion_mut().0.iter_mut().enumerate().for_each(scrambled);
            rows.push(recovery(CASE, &format!("{name}: nodes at random"), &mut body, 400)?);
        }
        Ok(rows)
    };
    rows(CASE, measure())
}

fn single_tet() -> Result<Body, Box<dyn Error>> {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let mesh = TetMesh::new(corners, vec![[0, 1, 2, 3]])?;
    let material = Material { mass_damping: 1.0, ..Material::default() };
    Ok(Body::new("tet", &mesh, Params::default(), material)?)
}

/// The largest relative error of an edge's length after a while.
fn recovery(case: &str, name: &str, body: &mut Body, steps: u32) -> Result<Row, Box<dyn Error>> {
    for _ in 0..steps {
        step(body, 0.01, DVec3::ZERO)?;
    }
    let mesh = &body.state().mesh;
    let mut errors = Vec::new();
    for e in 0..mesh.element_count() {
        let nodes = mesh.element(e);
        for (k, &a) in nodes.iter().enumerate() {
            for &b in &nodes[..k] {
                let between = |positions: &[DVec3]| positions[a as usize].distance(positions[b as usize]);
                errors.push((between(body.positions()) / between(body.rest_positions()) - 1.0).abs());
            }
        }
    }
    Ok(bound(case, &format!("{name}: largest relative error of an edge"), largest(errors), 1e-3))
}
