//! From loose triangles to a connected surface: what files hold.

use std::collections::HashMap;

use glam::DVec3;

use crate::{MeshError, TriangleMesh, triangle};

impl TriangleMesh {
    /// A mesh of triangles as files hold them. Vertices with exactly equal coordinates become one, vertices that no
    /// triangle uses go away, the rest keep their order.
    ///
    /// A triangle without area may fill the gap between one long edge and two short ones. Dropping it would open the
    /// surface, so its neighbour across the long edge is cut at the vertex between instead. Both ways it is
    /// [counted](Self::degenerate_triangles).
    ///
    /// # Errors
    /// As [`TriangleMesh::new`]; vertices and triangles are numbered as given.
    pub fn from_soup(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        Self::check(&vertices, &triangles)?;
        let (vertices, triangles) = merged(&vertices, &triangles);
        let flat = |t: &&[u32; 3]| triangle::is_flat(t.map(|v| vertices[v as usize]));
        let degenerate = triangles.iter().filter(flat).count();
        let triangles = if degenerate > 0 { Mender::new(&vertices, &triangles).mend() } else { triangles };
        let mesh = Self::new(vertices, triangles).map_err(|_| MeshError::Empty { dropped: degenerate })?;
        Ok(mesh.with_degenerate(degenerate))
    }
}

/// The vertices that are used and differ, and the triangles in their new numbers.
fn merged(vertices: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut used = vec![false; vertices.len()];
    triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
    let mut kept = Vec::new();
    let mut number = vec![0; vertices.len()];
    // Looked up, never iterated: its order does not matter.
    let mut seen: HashMap<[u64; 3], u32> = HashMap::new();
    for (v, &position) in vertices.iter().enumerate().filter(|&(v, _)| used[v]) {
        // Adding zero turns -0 into 0.
        let key = (position + DVec3::ZERO).to_array().map(f64::to_bits);
        let next = kept.len() as u32;
        number[v] = *seen.entry(key).or_insert(next);
        if number[v] == next {
            kept.push(position);
        }
    }
    (kept, triangles.iter().map(|t| t.map(|v| number[v as usize])).collect())
}

/// Removes triangles without area by flipping their longest edges.
struct Mender<'a> {
    vertices: &'a [DVec3],
    triangles: Vec<Option<[u32; 3]>>,
    /// The triangle that runs along an edge in this direction; `None` when there are several.
    along: HashMap<[u32; 2], Option<u32>>,
}

fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

impl<'a> Mender<'a> {
    fn new(vertices: &'a [DVec3], triangles: &[[u32; 3]]) -> Self {
        let mut mender = Self { vertices, triangles: vec![None; triangles.len()], along: HashMap::new() };
        for (t, &triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle;
            // A corner that occurs twice leaves two opposite sides, which cancel.
            if a != b && b != c && c != a {
                mender.put(t as u32, triangle);
            }
        }
        mender
    }

    /// Every flip may at worst lay two other triangles flat; a bound on their number keeps hostile input from going
    /// round in circles. What is still flat then is left to be dropped.
    fn mend(mut self) -> Vec<[u32; 3]> {
        let mut flat: Vec<u32> = (0..self.triangles.len() as u32).filter(|&t| self.is_flat(t)).collect();
        let mut flips_left = 4 * flat.len();
        while let Some(t) = flat.pop().filter(|_| flips_left > 0) {
            flips_left -= 1;
            if let Some(changed) = self.flip_longest(t) {
                flat.extend(changed.into_iter().filter(|&t| self.is_flat(t)));
            }
        }
        self.triangles.into_iter().flatten().collect()
    }

    fn is_flat(&self, t: u32) -> bool {
        self.triangles[t as usize].is_some_and(|corners| triangle::is_flat(corners.map(|v| self.vertices[v as usize])))
    }

    /// Replaces the flat triangle abc with longest edge ca and its neighbour acd by abd and bcd. Without a neighbour
    /// the flat triangle goes away. Returns the triangles that changed.
    fn flip_longest(&mut self, t: u32) -> Option<[u32; 2]> {
        let flat = self.take(t)?;
        let [a, b, c] = self.longest_last(flat);
        let neighbour = self.along.get(&[a, c]).copied().flatten()?;
        let corners = self.take(neighbour)?;
        let d = corners.into_iter().find(|&v| v != a && v != c)?;
        if d == b {
            return None;
        }
        if self.along.contains_key(&[b, d]) || self.along.contains_key(&[d, b]) {
            self.put(neighbour, corners);
            return None;
        }
        self.put(t, [a, b, d]);
        self.put(neighbour, [b, c, d]);
        Some([t, neighbour])
    }

    fn longest_last(&self, triangle: [u32; 3]) -> [u32; 3] {
        let length = |[from, to]: [u32; 2]| self.vertices[from as usize].distance_squared(self.vertices[to as usize]);
        let [a, b, c] = triangle;
        let [ab, bc, ca] = sides(triangle).map(length);
        if ca >= ab && ca >= bc {
            [a, b, c]
        } else if ab >= bc {
            [b, c, a]
        } else {
            [c, a, b]
        }
    }

    fn take(&mut self, t: u32) -> Option<[u32; 3]> {
        let corners = self.triangles[t as usize].take()?;
        for side in sides(corners) {
            if self.along.get(&side) == Some(&Some(t)) {
                self.along.remove(&side);
            }
        }
        Some(corners)
    }

    fn put(&mut self, t: u32, corners: [u32; 3]) {
        self.triangles[t as usize] = Some(corners);
        for side in sides(corners) {
            self.along.entry(side).and_modify(|several| *several = None).or_insert(Some(t));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, solids};
    use proptest::prelude::*;

    /// Every triangle with vertices of its own, as in an STL file.
    fn loose(mesh: &TriangleMesh) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let vertices: Vec<_> = mesh.corners().flatten().collect();
        let triangles = (0..mesh.triangles().len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        (vertices, triangles)
    }

    #[test]
    fn loose_triangles_are_welded() {
        let torus = solids::torus(DVec3::ZERO, 1.0, 0.3, [12, 7]);
        let (vertices, triangles) = loose(&torus);
        let mesh = TriangleMesh::from_soup(vertices, triangles).unwrap();
        assert!(mesh.closed().is_ok());
        assert_eq!(mesh.vertices().len(), torus.vertices().len());
        assert!(mesh.corners().eq(torus.corners()));
    }

    #[test]
    fn both_zeros_are_one_and_unused_vertices_go() {
        let vertices =
            [[9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.0, 0.0, -0.0], [0.0, 0.0, 1.0]];
        let mesh = TriangleMesh::from_soup(vertices.map(DVec3::from).to_vec(), vec![[1, 2, 3], [4, 3, 5]]).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.triangles()), (4, &[[0, 1, 2], [0, 2, 3]][..]));
    }

    /// A box with one edge of its top cut at a point that only a triangle without area knows of.
    fn with_a_seam(at: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mesh = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        let mut vertices = mesh.vertices().to_vec();
        let mut triangles = mesh.triangles().to_vec();
        let [a, b, c] = triangles.remove(0);
        let middle = vertices.len() as u32;
        vertices.push(vertices[a as usize].lerp(vertices[b as usize], at));
        triangles.extend([[a, middle, c], [middle, b, c], [a, b, middle]]);
        (vertices, triangles)
    }

    #[test]
    fn a_triangle_without_area_that_closes_a_seam_is_mended() {
        let (vertices, triangles) = with_a_seam(0.25);
        assert!(TriangleMesh::new(vertices.clone(), triangles.clone()).unwrap().closed().is_err());
        let mesh = TriangleMesh::from_soup(vertices, triangles).unwrap();
        assert!(mesh.closed().is_ok());
        assert_eq!((mesh.degenerate_triangles(), mesh.triangles().len()), (1, 14));
        assert!((mesh.signed_volume() - 1.0).abs() < 1e-15 && (mesh.area() - 6.0).abs() < 1e-14);
    }

    #[test]
    fn errors_name_what_was_given() {
        let error = TriangleMesh::from_soup(vec![DVec3::ZERO], vec![[0, 0, 0], [0, 0, 8]]).unwrap_err();
        assert_eq!(error, MeshError::IndexOutOfRange { triangle: 1, vertex: 8, vertices: 1 });
        let error = TriangleMesh::from_soup(vec![DVec3::ZERO], vec![[0, 0, 0]]).unwrap_err();
        assert_eq!(error, MeshError::Empty { dropped: 1 });
    }

    proptest! {
        #[test]
        fn a_seam_anywhere_is_mended(at in 0.001..0.999f64) {
            let (vertices, triangles) = with_a_seam(at);
            let mesh = TriangleMesh::from_soup(vertices, triangles).unwrap();
            prop_assert!(mesh.closed().is_ok() && (mesh.signed_volume() - 1.0).abs() < 1e-14);
        }

        /// Few positions for many corners: most triangles are flat, doubled or tangled.
        #[test]
        fn any_soup_gives_a_mesh_or_an_error(
            triangles in prop::collection::vec(prop::array::uniform3(0u32..27), 0..60),
        ) {
            let vertices = (0..27).map(|i| DVec3::new((i % 3).into(), (i / 3 % 3).into(), (i / 9).into())).collect();
            if let Ok(mesh) = TriangleMesh::from_soup(vertices, triangles) {
                prop_assert!(mesh.corners().all(|c| !triangle::is_flat(c)));
            }
        }
    }
}
