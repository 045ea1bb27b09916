//! Liquid in vessels.

pub(crate) mod burst;
mod press;
pub(crate) mod profile;
pub(crate) mod pulse;

use glam::DVec3;
use meniscus::geometry::{TriangleMesh, solids};
use std::f64::consts::TAU;

/// A closed cylinder along x between two places \[m\] whose cross-section, a polygon, has the area of a circle of this
/// radius \[m\].
fn pipe([start, end]: [f64; 2], radius: f64, segments: u32) -> TriangleMesh {
    let angle = TAU / f64::from(segments);
    solids::cylinder(DVec3::X * start, DVec3::X * end, radius * (angle / angle.sin()).sqrt(), segments)
}

/// Positions across a round pipe \[m\] that liquid at rest would take: rings a spacing apart, the outermost half a spacing from
/// the wall. Their number is that of the spacings squared that the pipe holds, `rings` being its radius in spacings.
fn rings(rings: u32, spacing: f64) -> Vec<[f64; 2]> {
    let mut positions = Vec::new();
    for ring in 0..rings {
        let middle = f64::from(ring) + 0.5;
        let count = (TAU * middle).round();
        // The three in the middle are a spacing apart.
        let radius = spacing * if ring == 0 { 1.0 / 3.0f64.sqrt() } else { middle };
        let mut turn = 0.37 * f64::from(ring);
        while turn < count + 0.37 * f64::from(ring) - 0.5 {
            let angle = TAU * turn / count;
            positions.push([radius * angle.cos(), radius * angle.sin()]);
            turn += 1.0;
        }
    }
    positions
}

/// The `fill` of a scene with single particles at positions across a pipe, in layers along x from `start` \[m\].
fn fill(positions: &[[f64; 2]], start: f64, layers: u32, spacing: f64) -> String {
    let layer = |layer: u32| {
        let x = start + spacing * (f64::from(layer) + 0.5);
        // A ball that holds one particle, and does not come near the next.
        let radius = 0.495 * spacing;
        positions
            .iter()
            .map(move |[y, z]| format!("{{ sphere = {{ center = [{x:?}, {y:?}, {z:?}], radius = {radius:?} }} }}"))
    };
    format!("fill = [{}]", (0..layers).flat_map(layer).collect::<Vec<_>>().join(",\n"))
}
