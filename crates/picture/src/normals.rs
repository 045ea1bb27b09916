//! Corner normals: smooth where a surface bends gently, broken where it has an edge.
//!
//! The normal of triangle f at vertex v is the sum of the normals of all triangles g round v that meet f at less than
//! the crease angle, each weighted by its angle at v \[TW98\].

use glam::Vec3;
use meniscus_core::Surface;
use rayon::prelude::*;

/// Cosine of the crease angle of solids, 40 degrees.
pub(crate) const CREASE: f32 = 0.766;
/// Cosine of that of liquids, 60 degrees: they have no edges, but facets of 45 degrees where they meet a wall.
pub(crate) const LIQUID_CREASE: f32 = 0.5;

/// Triangles round a vertex above which its corners stay flat: the sums would take the square of their number.
const LARGEST_FAN: usize = 256;

/// A triangle that can be drawn: its number in the surface, and a normal at each corner.
pub(crate) struct Facet {
    pub(crate) vertices: [u32; 3],
    /// Unit normals at the corners, outwards.
    pub(crate) normals: [Vec3; 3],
}

/// The drawable triangles of a surface: indices in range, vertices usable, area not zero. Triangles that meet with a cosine below
/// `crease` have an edge between them.
pub(crate) fn facets(surface: &Surface, crease: f32) -> Vec<Facet> {
    let flat: Vec<Flat> = surface.triangles.par_iter().filter_map(|t| Flat::new(surface, *t)).collect();
    let fans = Fans::new(surface.positions.len(), &flat);
    flat.par_iter()
        .map(|f| {
            let normals = f.vertices.map(|v| corner_normal(f, fans.round(v), &flat, crease));
            Facet { vertices: f.vertices, normals }
        })
        .collect()
}

fn corner_normal(facet: &Flat, fan: &[(u32, f32)], flat: &[Flat], crease: f32) -> Vec3 {
    let fan = if fan.len() > LARGEST_FAN { &[] } else { fan };
    let smooth = fan.iter().map(|&(g, angle)| {
        let other = flat[g as usize].normal;
        if other.dot(facet.normal) >= crease { other * angle } else { Vec3::ZERO }
    });
    smooth.sum::<Vec3>().try_normalize().unwrap_or(facet.normal)
}

/// A triangle with its own unit normal and its angles \[rad\].
struct Flat {
    vertices: [u32; 3],
    normal: Vec3,
    angles: [f32; 3],
}

impl Flat {
    fn new(surface: &Surface, vertices: [u32; 3]) -> Option<Self> {
        let [a, b, c] =
            vertices.map(|v| surface.positions.get(v as usize).copied().filter(|p| crate::bounds::is_usable(*p)));
        let (a, b, c) = (a?, b?, c?);
        let normal = (b - a).cross(c - a).try_normalize()?;
        Some(Self { vertices, normal, angles: [angle(b - a, c - a), angle(c - b, a - b), angle(a - c, b - c)] })
    }
}

fn angle(u: Vec3, v: Vec3) -> f32 {
    libm::atan2f(u.cross(v).length(), u.dot(v))
}

/// For each vertex, the triangles round it and their angles there.
struct Fans {
    starts: Vec<u32>,
    corners: Vec<(u32, f32)>,
}

impl Fans {
    fn new(vertices: usize, flat: &[Flat]) -> Self {
        let mut starts = vec![0u32; vertices + 1];
        for v in flat.iter().flat_map(|f| f.vertices) {
            starts[v as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut corners = vec![(0, 0.0); 3 * flat.len()];
        for (f, facet) in flat.iter().enumerate() {
            for (v, angle) in facet.vertices.into_iter().zip(facet.angles) {
                corners[next[v as usize] as usize] = (f as u32, angle);
                next[v as usize] += 1;
            }
        }
        Self { starts, corners }
    }

    fn round(&self, vertex: u32) -> &[(u32, f32)] {
        &self.corners[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share an edge and meet at an angle \[rad\].
    fn hinge(bend: f32) -> Surface {
        let tip = Vec3::new(-bend.cos(), -bend.sin(), 0.0);
        let positions = vec![Vec3::ZERO, Vec3::Z, Vec3::X, tip];
        Surface { positions, triangles: vec![[0, 1, 2], [1, 0, 3]], ..Surface::default() }
    }

    #[test]
    fn gentle_bends_are_smooth_and_edges_are_not() {
        let gentle = facets(&hinge(0.3), CREASE);
        assert!((gentle[0].normals[0] - gentle[1].normals[1]).length() < 1e-6);
        assert!((gentle[0].normals[2] - Vec3::Y).length() < 1e-6);
        let edge = facets(&hinge(1.5), CREASE);
        assert!(edge[0].normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
        assert!((edge[0].normals[0] - edge[1].normals[1]).length() > 1.0);
    }

    #[test]
    fn useless_triangles_are_left_out() {
        let mut surface = hinge(0.1);
        surface.positions.push(Vec3::NAN);
        surface.triangles.extend([[0, 1, 9], [0, 1, 4], [0, 0, 1], [u32::MAX; 3]]);
        assert_eq!(facets(&surface, CREASE).len(), 2);
        assert!(facets(&Surface::default(), CREASE).is_empty());
    }
}
