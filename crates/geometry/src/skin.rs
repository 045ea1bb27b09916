//! A surface carried along by a mesh of tetrahedra: what is shown and exported of a deformable body.
//!
//! Each point of the skin belongs to one tetrahedron and has four weights, one for each of its corners, with sum 1: its
//! barycentric coordinates at rest. Wherever the corners go, the point goes with them. Points outside the mesh belong to
//! the nearest tetrahedron, with weights beyond 0 and 1.

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::tet_mesh::surface_faces;
use crate::{Aabb, Bvh, TetMesh, TriangleMesh, tet_volume};

/// A weight may be this far below 0 for a point that still counts as inside its tetrahedron.
const INSIDE: f64 = -1e-9;

/// Where a point of the skin hangs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Number of the tetrahedron.
    pub tet: u32,
    /// Weights of its corners, dimensionless, with sum 1.
    pub weights: [f64; 4],
}

/// Points that are carried along by a mesh of tetrahedra.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Skin {
    /// One for each point. Whoever removes or renumbers tetrahedra renumbers these as well.
    pub anchors: Vec<Anchor>,
}

/// The skin does not belong to what it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The number of points is wrong.
    #[error("the skin has {points} points, but there is room for {given}")]
    Count {
        /// Number of points of the skin.
        points: usize,
        /// Room for points that was given.
        given: usize,
    },
    /// A point hangs in a tetrahedron, or at a node, that does not exist.
    #[error("point {point} hangs in tetrahedron {tet}, which is not there or has nodes that are not there")]
    Missing {
        /// Number of the point, from 0.
        point: usize,
        /// Number of its tetrahedron, from 0.
        tet: u32,
    },
}

impl Skin {
    /// Hangs points \[m\] into a mesh.
    #[must_use]
    pub fn new(mesh: &TetMesh, points: &[DVec3]) -> Self {
        let finder = Finder::new(mesh);
        Self { anchors: points.par_iter().map(|&p| finder.anchor(p)).collect() }
    }

    /// Where the points are \[m\] when the nodes of the tetrahedra are at `nodes` \[m\]. Velocities of nodes give
    /// velocities of points likewise.
    ///
    /// # Errors
    /// When the skin does not fit what is given.
    pub fn positions(&self, tets: &[[u32; 4]], nodes: &[DVec3], out: &mut [DVec3]) -> Result<(), SkinError> {
        let points = self.anchors.len();
        if out.len() != points {
            return Err(SkinError::Count { points, given: out.len() });
        }
        let place = |(point, (anchor, out)): (usize, (&Anchor, &mut DVec3))| {
            *out = anchor.position(tets, nodes).ok_or(SkinError::Missing { point, tet: anchor.tet })?;
            Ok(())
        };
        self.anchors.par_iter().zip(out).enumerate().try_for_each(place)
    }
}

impl Anchor {
    fn position(&self, tets: &[[u32; 4]], nodes: &[DVec3]) -> Option<DVec3> {
        let mut sum = DVec3::ZERO;
        for (&weight, &node) in self.weights.iter().zip(tets.get(self.tet as usize)?) {
            sum += weight * *nodes.get(node as usize)?;
        }
        Some(sum)
    }
}

/// The weights of the corners of a tetrahedron that give a point.
#[must_use]
pub fn barycentric(p: DVec3, corners: [DVec3; 4]) -> [f64; 4] {
    let [a, b, c, d] = corners;
    let volume = 6.0 * tet_volume(corners);
    let (u, v, w, r) = (b - a, c - a, d - a, p - a);
    let [x, y, z] = [r.dot(v.cross(w)), r.dot(w.cross(u)), r.dot(u.cross(v))].map(|part| part / volume);
    [1.0 - x - y - z, x, y, z]
}

/// Finds the tetrahedron of a point: a grid over the boxes of the tetrahedra, and a tree over the surface.
struct Finder<'a> {
    mesh: &'a TetMesh,
    bounds: Aabb,
    cells: [usize; 3],
    /// Where the tetrahedra of each cell begin in `tets`; the last entry is the end.
    first: Vec<u32>,
    tets: Vec<u32>,
    /// Over the surface, whose triangles belong to `owners`.
    tree: Bvh,
    owners: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(mesh: &'a TetMesh) -> Self {
        let bounds = Aabb::around(mesh.vertices().iter().copied());
        // About as many cells as tetrahedra.
        let edge = libm::cbrt(bounds.volume() / mesh.tets().len() as f64);
        let cells =
            (bounds.size() / edge).ceil().clamp(DVec3::ONE, DVec3::splat(1024.0)).to_array().map(|n| n as usize);
        let (owners, triangles) = surface_faces(mesh.tets()).into_iter().unzip();
        let surface = TriangleMesh::trusted(mesh.vertices().to_vec(), triangles);
        let mut finder =
            Self { mesh, bounds, cells, first: Vec::new(), tets: Vec::new(), tree: Bvh::new(&surface), owners };
        finder.sort_into_cells();
        finder
    }

    fn cell(&self, p: DVec3) -> [usize; 3] {
        let part = (p - self.bounds.min) / self.bounds.size();
        [0, 1, 2].map(|k| ((part[k] * self.cells[k] as f64) as usize).min(self.cells[k] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// Calls `f` with each cell that the box of a tetrahedron touches.
    fn for_each_cell(&self, corners: [DVec3; 4], mut f: impl FnMut(usize)) {
        let bounds = Aabb::around(corners);
        let (low, high) = (self.cell(bounds.min), self.cell(bounds.max));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                (low[0]..=high[0]).for_each(|x| f(self.index([x, y, z])));
            }
        }
    }

    fn sort_into_cells(&mut self) {
        let mut next = vec![0u32; self.cells.iter().product::<usize>() + 1];
        for corners in self.mesh.corners() {
            self.for_each_cell(corners, |cell| next[cell + 1] += 1);
        }
        for cell in 1..next.len() {
            next[cell] += next[cell - 1];
        }
        self.first = next.clone();
        let mut tets = vec![0; next.last().map_or(0, |&end| end as usize)];
        for (tet, corners) in (0..).zip(self.mesh.corners()) {
            self.for_each_cell(corners, |cell| {
                tets[next[cell] as usize] = tet;
                next[cell] += 1;
            });
        }
        self.tets = tets;
    }

    fn weights(&self, p: DVec3, tet: u32) -> [f64; 4] {
        barycentric(p, self.mesh.tets()[tet as usize].map(|v| self.mesh.vertices()[v as usize]))
    }

    /// Of the tetrahedra that hold a point the one that holds it best, otherwise the nearest.
    fn anchor(&self, p: DVec3) -> Anchor {
        let cell = self.index(self.cell(p));
        let near = &self.tets[self.first[cell] as usize..self.first[cell + 1] as usize];
        let smallest = |weights: &[f64; 4]| weights.iter().copied().fold(f64::INFINITY, f64::min);
        let mut best = None;
        let mut depth = INSIDE;
        for &tet in near {
            let weights = self.weights(p, tet);
            if smallest(&weights) > depth {
                depth = smallest(&weights);
                best = Some(Anchor { tet, weights });
            }
        }
        best.unwrap_or_else(|| {
            let tet = self.owners[self.tree.closest_point(p).triangle as usize];
            Anchor { tet, weights: self.weights(p, tet) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TetOptions, mesh_tets, solids};
    use glam::DMat3;
    use proptest::prelude::*;

    fn body() -> (TriangleMesh, TetMesh) {
        let surface = solids::torus(DVec3::new(0.1, 0.2, -0.1), 0.1, 0.035, [60, 24]);
        let mesh = mesh_tets(&surface, &TetOptions::count(2000)).unwrap().mesh;
        (surface, mesh)
    }

    #[test]
    fn a_skin_at_rest_is_the_surface_itself() {
        let (surface, mesh) = body();
        let skin = Skin::new(&mesh, surface.vertices());
        let mut out = vec![DVec3::ZERO; surface.vertices().len()];
        skin.positions(mesh.tets(), mesh.vertices(), &mut out).unwrap();
        assert!(out.iter().zip(surface.vertices()).all(|(a, b)| a.distance(*b) < 1e-15));
        for anchor in &skin.anchors {
            assert!((anchor.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(anchor.weights.iter().all(|w| (-1.0..2.0).contains(w)), "{anchor:?}");
        }
    }

    #[test]
    fn points_inside_have_positive_weights_and_points_outside_the_nearest_tetrahedron() {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::ONE, [3, 3, 3]);
        let inside =
            [DVec3::splat(0.4), DVec3::new(0.1, 0.9, 0.5), DVec3::ZERO, DVec3::ONE, DVec3::new(1.0, 0.5, 1.0 / 3.0)];
        for anchor in Skin::new(&mesh, &inside).anchors {
            assert!(anchor.weights.iter().all(|&w| w >= INSIDE));
        }
        let outside = DVec3::new(1.2, 0.5, 0.4);
        let anchor = Skin::new(&mesh, &[outside]).anchors[0];
        let corners = mesh.tets()[anchor.tet as usize].map(|v| mesh.vertices()[v as usize]);
        assert!(corners.iter().any(|c| c.x == 1.0) && anchor.weights.iter().any(|&w| w < 0.0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::ONE, [1, 1, 1]);
        let skin = Skin::new(&mesh, &[DVec3::splat(0.5), DVec3::splat(0.1)]);
        let mut out = [DVec3::ZERO; 2];
        assert!(skin.positions(mesh.tets(), mesh.vertices(), &mut out).is_ok());
        assert_eq!(
            skin.positions(mesh.tets(), mesh.vertices(), &mut out[..1]),
            Err(SkinError::Count { points: 2, given: 1 })
        );
        assert!(matches!(skin.positions(&[], mesh.vertices(), &mut out), Err(SkinError::Missing { .. })));
        assert!(matches!(skin.positions(mesh.tets(), &[], &mut out), Err(SkinError::Missing { .. })));
        assert!(Skin::new(&mesh, &[DVec3::NAN]).anchors[0].weights[0].is_nan());
    }

    proptest! {
        #[test]
        fn affine_maps_of_the_mesh_are_those_of_the_skin(
            m in prop::array::uniform9(-2.0..2.0f64), shift in prop::array::uniform3(-1.0..1.0f64),
            points in prop::collection::vec(prop::array::uniform3(-0.2..1.2f64), 1..20),
        ) {
            let mesh = TetMesh::block(DVec3::ZERO, DVec3::ONE, [3, 2, 4]);
            let points: Vec<_> = points.into_iter().map(DVec3::from).collect();
            let map = |p: &DVec3| DMat3::from_cols_array(&m) * *p + DVec3::from(shift);
            let skin = Skin::new(&mesh, &points);
            let nodes: Vec<_> = mesh.vertices().iter().map(map).collect();
            let mut out = vec![DVec3::ZERO; points.len()];
            skin.positions(mesh.tets(), &nodes, &mut out).unwrap();
            prop_assert!(out.iter().zip(&points).all(|(a, b)| a.distance(map(b)) < 1e-13));
        }
    }
}
