//! Deformable solids against theory.

pub(crate) mod bar;
pub(crate) mod beam;
pub(crate) mod contact;
pub(crate) mod csm;
pub(crate) mod fracture;
pub(crate) mod free;
pub(crate) mod patch;
pub(crate) mod plastic;

use crate::{Row, failed};
use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::fem::{Axes, Body, Material, Order, Params};
use meniscus::geometry::TetMesh;
use std::error::Error;

/// What a case measures, or why it could not.
pub(crate) type Measured = Result<Vec<Row>, Box<dyn Error>>;

/// The rows of a case; one that fails if it could not be run.
pub(crate) fn rows(case: &str, measured: Measured) -> Vec<Row> {
    measured.unwrap_or_else(|error| failed(case, &error.to_string()))
}

/// A square beam along x from the origin, of a length, a height \[m\] and a number of cells across it.
pub(crate) struct Beam {
    pub(crate) length: f64,
    pub(crate) height: f64,
    pub(crate) cells: [u32; 2],
    pub(crate) order: Order,
    pub(crate) material: Material,
}

impl Beam {
    /// The beam, free.
    pub(crate) fn body(&self, params: Params) -> Result<Body, Box<dyn Error>> {
        let [along, across] = self.cells;
        let max = DVec3::new(self.length, self.height, self.height);
        let mesh = TetMesh::block(DVec3::ZERO, max, [along, across, across]);
        Ok(Body::new("beam", &mesh, Params { order: self.order, ..params }, self.material)?)
    }

    /// The beam, its end at x = 0 held altogether.
    pub(crate) fn clamped(&self, params: Params) -> Result<Body, Box<dyn Error>> {
        let mut body = self.body(params)?;
        body.fix(|p| p.x < 1e-9);
        Ok(body)
    }

    /// The beam, its end at x = 0 kept plane but free to become thinner, as beam theory has it. Needs an even number of cells.
    pub(crate) fn held_as_in_theory(&self, params: Params) -> Result<Body, Box<dyn Error>> {
        let mut body = self.body(params)?;
        let middle = |x: f64| (x - 0.5 * self.height).abs() < 1e-9;
        body.fix_axes(Axes::X, |p| p.x < 1e-9);
        body.fix_axes(Axes::Y, |p| p.x < 1e-9 && middle(p.y));
        body.fix_axes(Axes::Z, |p| p.x < 1e-9 && middle(p.z));
        Ok(body)
    }
}

/// Mean displacement of the nodes whose positions at rest are in a region \[m\].
pub(crate) fn mean_displacement(body: &Body, inside: impl Fn(DVec3) -> bool) -> DVec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for (x, rest) in body.positions().iter().zip(body.rest_positions()) {
        if inside(*rest) {
            sum += *x - *rest;
            count += 1.0;
        }
    }
    sum / count
}

/// Steps a body on, forgetting the report.
pub(crate) fn step(body: &mut Body, dt: f64, gravity: DVec3) -> Result<(), Box<dyn Error>> {
    Ok(body.step(dt, gravity, &mut StepReport::default())?)
}

/// Finds the equilibrium of a body, forgetting the report.
pub(crate) fn settle(body: &mut Body, gravity: DVec3) -> Result<(), Box<dyn Error>> {
    Ok(body.settle(gravity, &mut StepReport::default())?)
}

/// Numbers between −1 and 1 without pattern.
pub(crate) fn scatter(i: usize) -> DVec3 {
    let one = |k: u64| {
        let bits = (3 * i as u64 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((bits ^ bits >> 31).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    DVec3::new(one(0), one(1), one(2))
}
