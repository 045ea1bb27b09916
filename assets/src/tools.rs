//! Rigid things that a scene moves: a paddle wheel and a diving bell.

use glam::DVec3;
use meniscus_geometry::{Aabb, TriangleMesh, solids, write_obj};

/// Blades of the wheel.
const BLADES: usize = 6;
/// Sides of a round thing.
const SIDES: usize = 48;

/// A wheel about z, in the origin: a hub of 40 mm and six blades, 150 mm long from the axis, 200 mm wide and 20 mm thick.
#[must_use]
pub fn wheel() -> Vec<u8> {
    let hub = solids::cylinder(DVec3::new(0.0, 0.0, -0.11), DVec3::new(0.0, 0.0, 0.11), 0.04, SIDES as u32);
    let mut parts = vec![hub];
    for k in 0..BLADES {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / BLADES as f64);
        let turned = |p: DVec3| DVec3::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y, p.z);
        let mut blade = solids::cuboid(&Aabb::new(DVec3::new(0.03, -0.01, -0.1), DVec3::new(0.15, 0.01, 0.1)));
        blade.vertices_mut().iter_mut().for_each(|p| *p = turned(*p));
        parts.push(blade);
    }
    text(&together(&parts))
}

/// A bell about y with its mouth in the plane y = 0: 150 mm wide and 140 mm high, 20 mm thick.
#[must_use]
pub fn bell() -> Vec<u8> {
    // Once round the section, from the middle of the roof inside to its middle outside.
    let section = [[0.0, 0.12], [0.042, 0.12], [0.055, 0.107], [0.055, 0.0], [0.075, 0.0]];
    let outside = [[0.075, 0.117], [0.052, 0.14], [0.0, 0.14]];
    text(&turned_on_a_lathe(&[&section[..], &outside[..]].concat()))
}

/// The surface that a section \[radius, height\] sweeps about y; its first and last points lie on the axis.
fn turned_on_a_lathe(section: &[[f64; 2]]) -> TriangleMesh {
    let rings = &section[1..section.len() - 1];
    let point = |k: usize, [radius, height]: [f64; 2]| {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * k as f64 / SIDES as f64);
        DVec3::new(radius * cos, height, radius * sin)
    };
    let mut vertices = vec![DVec3::Y * section[0][1], DVec3::Y * section[section.len() - 1][1]];
    vertices.extend(rings.iter().flat_map(|&ring| (0..SIDES).map(move |k| point(k, ring))));
    let at = |ring: usize, k: usize| (2 + ring * SIDES + k % SIDES) as u32;
    let mut triangles = Vec::new();
    for k in 0..SIDES {
        triangles.push([0, at(0, k), at(0, k + 1)]);
        triangles.push([1, at(rings.len() - 1, k + 1), at(rings.len() - 1, k)]);
        for ring in 0..rings.len() - 1 {
            let [a, b, c, d] = [at(ring, k), at(ring + 1, k), at(ring + 1, k + 1), at(ring, k + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    built(vertices, triangles)
}

fn together(parts: &[TriangleMesh]) -> TriangleMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for part in parts {
        let first = vertices.len() as u32;
        vertices.extend_from_slice(part.vertices());
        triangles.extend(part.triangles().iter().map(|t| t.map(|v| v + first)));
    }
    built(vertices, triangles)
}

/// A mesh that faces outwards.
fn built(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> TriangleMesh {
    let mut mesh = TriangleMesh::new(vertices, triangles).unwrap_or_else(|e| unreachable!("a mesh of ours: {e}"));
    // Parts that cross are closed one by one.
    let _ = mesh.orient_outward();
    mesh
}

fn text(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = write_obj(mesh, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{ImportOptions, parse_mesh};
    use std::path::Path;

    fn read(bytes: &[u8]) -> TriangleMesh {
        parse_mesh(Path::new("model.obj"), bytes, &ImportOptions::default()).unwrap()
    }

    #[test]
    fn the_bell_is_closed_and_hollow() {
        let bell = read(&bell());
        bell.closed().unwrap();
        // π (0.075² 0.14 − 0.055² 0.12), less what the bevels take.
        let volume = bell.signed_volume();
        assert!((0.00120..0.00136).contains(&volume), "{volume}");
    }

    #[test]
    fn the_wheel_has_a_hub_and_six_blades() {
        let wheel = read(&wheel());
        wheel.closed().unwrap();
        assert_eq!(
            wheel.triangles().len(),
            6 * 12 + solids::cylinder(DVec3::ZERO, DVec3::Z, 1.0, SIDES as u32).triangles().len()
        );
        assert!((wheel.bounds().size().x - 0.3).abs() < 0.01);
    }
}
