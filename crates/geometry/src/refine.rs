//! Finer triangles on the same surface.

use crate::TriangleMesh;
use glam::DVec3;
use std::collections::HashMap;

/// Splits triangles at the middles of edges until no edge is longer than `longest` \[m\], or until there are `most` triangles. The
/// surface stays where it is and as closed as it was; its vertices keep their numbers.
#[must_use]
pub fn refined(surface: &TriangleMesh, longest: f64, most: usize) -> TriangleMesh {
    let mut vertices = surface.vertices().to_vec();
    let mut triangles = surface.triangles().to_vec();
    loop {
        // Only asked for single edges, never walked through: its order is of no consequence.
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let finer: Vec<[u32; 3]> =
            triangles.iter().flat_map(|&triangle| split(triangle, longest, &mut vertices, &mut middles)).collect();
        if middles.is_empty() || finer.len() > most {
            // Middles that no triangle took are not wanted.
            let used = triangles.as_flattened().iter().max().map_or(0, |&vertex| vertex as usize + 1);
            vertices.truncate(used.max(surface.vertices().len()));
            return TriangleMesh::trusted(vertices, triangles);
        }
        triangles = finer;
    }
}

/// A triangle split at the middles of its long edges.
fn split(
    triangle: [u32; 3],
    longest: f64,
    vertices: &mut Vec<DVec3>,
    middles: &mut HashMap<[u32; 2], u32>,
) -> Vec<[u32; 3]> {
    let mut middle = |a: u32, b: u32| {
        let [p, q] = [a, b].map(|vertex| vertices[vertex as usize]);
        (p.distance(q) > longest).then(|| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                vertices.push(0.5 * (p + q));
                vertices.len() as u32 - 1
            })
        })
    };
    let middle_of = [0, 1, 2].map(|k| middle(triangle[k], triangle[(k + 1) % 3]));
    // Turned so that the edges that are split come first.
    let count = middle_of.iter().flatten().count();
    let first = (0..3).find(|&k| (0..count).all(|n| middle_of[(k + n) % 3].is_some())).unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|k| triangle[(first + k) % 3]);
    match [0, 1, 2].map(|k| middle_of[(first + k) % 3]) {
        [Some(ab), Some(bc), Some(ca)] => vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]],
        [Some(ab), Some(bc), None] => vec![[ab, b, bc], [a, ab, bc], [a, bc, c]],
        [Some(ab), None, None] => vec![[a, ab, c], [ab, b, c]],
        _ => vec![[a, b, c]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, solids};

    #[test]
    fn finer_triangles_cover_the_same_closed_surface() {
        let bar = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::new(2.0, 0.3, 0.1)));
        let fine = refined(&bar, 0.1, 1_000_000);
        fine.closed().unwrap();
        assert_eq!(fine.vertices()[..8], bar.vertices()[..8]);
        assert!((fine.signed_volume() - bar.signed_volume()).abs() < 1e-13);
        assert!(fine.corners().all(|[a, b, c]| a.distance(b).max(b.distance(c)).max(c.distance(a)) <= 0.1));
        let area = |mesh: &TriangleMesh| mesh.corners().map(|[a, b, c]| (b - a).cross(c - a).length()).sum::<f64>();
        assert!((area(&fine) / area(&bar) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn there_are_never_more_than_asked_for() {
        let cube = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        let fine = refined(&cube, 1e-9, 5000);
        assert!((1000..=5000).contains(&fine.triangles().len()));
        fine.closed().unwrap();
        assert!(fine.triangles().as_flattened().iter().all(|&v| (v as usize) < fine.vertices().len()));
        assert_eq!(refined(&cube, 2.0, 5000).triangles(), cube.triangles());
    }
}
