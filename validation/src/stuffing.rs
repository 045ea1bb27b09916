//! `stuffing`: tetrahedra by isosurface stuffing have the volume of their solid and no small angles.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use meniscus::geometry::{Stuffed, TetError, TetOptions, TriangleMesh, mesh_tets, solids};

use crate::{Plot, Row, Size, at_least, largest, least, row};

const CASE: &str = "stuffing";

/// Largest error of the volume, dimensionless.
const VOLUME_TOLERANCE: f64 = 0.01;
/// Smallest angle between faces \[degrees\].
const SMALLEST_ANGLE: f64 = 10.0;

/// A solid and its volume \[m³\].
struct Solid {
    name: &'static str,
    surface: TriangleMesh,
    volume: f64,
}

pub(crate) fn run(size: Size) -> Vec<Row> {
    let (counts, turns): (&[usize], u32) = match size {
        Size::Quick => (&[500, 2_000, 10_000], 4),
        Size::Fine => (&[500, 2_000, 10_000, 50_000, 100_000], 8),
    };
    let mut rows = Vec::new();
    let mut plot = Plot::new("tetrahedra", "error of the volume, worst of the turns").loglog();
    for solid in solids() {
        let of_solid: Vec<Vec<Row>> = counts.iter().map(|&count| worst(&solid, count, turns)).collect();
        let errors: Vec<[f64; 2]> = counts.iter().zip(&of_solid).map(|(&n, rows)| [n as f64, rows[0].error]).collect();
        plot = plot.measured(solid.name, &errors);
        rows.extend(of_solid.into_iter().flatten());
    }
    let ends = [counts[0] as f64, counts[counts.len() - 1] as f64];
    rows[0].plots.push(plot.level("tolerance", ends, VOLUME_TOLERANCE));
    rows
}

/// The volumes of sphere and torus are those of the smooth bodies, not of the triangles that are filled.
fn solids() -> [Solid; 3] {
    let (r, ring) = (0.1, 0.035);
    let duck = solids::duck(solids::DUCK_LENGTH, 44);
    [
        Solid { name: "sphere", surface: solids::icosphere(DVec3::ZERO, r, 5), volume: 4.0 / 3.0 * PI * r * r * r },
        Solid {
            name: "torus",
            surface: solids::torus(DVec3::ZERO, r, ring, [180, 60]),
            volume: 2.0 * PI * PI * r * ring * ring,
        },
        Solid { name: "duck", volume: duck.signed_volume(), surface: duck },
    ]
}

/// Volume and angle of one solid, the worst of so many turns against the lattice.
fn worst(solid: &Solid, count: usize, turns: u32) -> Vec<Row> {
    let quantity = |what: &str| format!("{what}, {} of {count} tets", solid.name);
    let meshes: Result<Vec<Stuffed>, TetError> =
        (0..turns).map(|turn| mesh_tets(&turned(&solid.surface, turn), &TetOptions::count(count))).collect();
    let meshes = match meshes {
        Ok(meshes) => meshes,
        Err(error) => return vec![row(CASE, &quantity(&error.to_string()), [0.0, f64::NAN], f64::NAN, 0.0)],
    };
    let error = |volume: f64| (volume / solid.volume - 1.0).abs();
    let off = largest(meshes.iter().map(|stuffed| error(stuffed.mesh.volume())));
    let mut volumes = meshes.iter().map(|stuffed| stuffed.mesh.volume());
    let volume = volumes.find(|volume| error(*volume) == off).unwrap_or(f64::NAN);
    let angle = least(meshes.iter().map(|stuffed| stuffed.mesh.quality().min_dihedral));
    vec![
        row(CASE, &quantity("volume [m³]"), [solid.volume, volume], off, VOLUME_TOLERANCE).asked(),
        at_least(CASE, &quantity("smallest dihedral angle [°]"), angle, SMALLEST_ANGLE).asked(),
    ]
}

/// The surface, turned by so many steps about a slanted axis.
fn turned(surface: &TriangleMesh, turn: u32) -> TriangleMesh {
    let rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7 * f64::from(turn));
    let mut surface = surface.clone();
    surface.vertices_mut().iter_mut().for_each(|v| *v = rotation * *v);
    surface
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middling_meshes_pass() {
        for row in solids().iter().flat_map(|solid| worst(solid, 2_000, 2)) {
            assert!(row.pass, "{row:?}");
        }
    }

    #[test]
    fn what_cannot_be_filled_fails() {
        let mut solid = solids().into_iter().next().unwrap();
        solid.volume *= 1.02;
        assert!(worst(&solid, 500, 1).iter().any(|row| !row.pass));
        solid.surface.vertices_mut()[0] *= -2.0;
        assert!(worst(&solid, 500, 1).iter().all(|row| !row.pass));
    }
}
