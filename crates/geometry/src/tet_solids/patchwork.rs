//! Boxes of cells.

use std::collections::HashMap;

use glam::DVec3;

use crate::{TetMesh, TetMeshError};

/// Cells of a box, some left out, each cut into five tetrahedra, odd ones mirrored so that faces match.
pub(super) struct Patchwork {
    /// The lattice points that vertices are at, in order.
    points: Vec<[u32; 3]>,
    tets: Vec<[u32; 4]>,
}

impl Patchwork {
    /// `wrapped` makes points that are the same the same.
    pub(super) fn new(
        cells: [u32; 3],
        keep: impl Fn([u32; 3]) -> bool,
        wrapped: impl Fn([u32; 3]) -> [u32; 3],
    ) -> Self {
        let mut patchwork = Self { points: Vec::new(), tets: Vec::new() };
        let mut numbers: HashMap<[u32; 3], u32> = HashMap::new();
        let [nx, ny, nz] = cells;
        let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
        for [x, y, z] in all.filter(|&cell| keep(cell)) {
            let odd = (x + y + z) % 2;
            // Corner k has the bits x, y, z.
            let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|k: u32| {
                let point = wrapped([x + ((k & 1) ^ odd), y + (k >> 1 & 1), z + (k >> 2 & 1)]);
                *numbers.entry(point).or_insert_with(|| {
                    patchwork.points.push(point);
                    patchwork.points.len() as u32 - 1
                })
            });
            for tet in [[0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7], [1, 2, 4, 7]] {
                patchwork.tets.push(tet.map(|k: usize| corners[k]));
            }
        }
        patchwork
    }

    pub(super) fn mesh(self, vertex: impl Fn([u32; 3]) -> DVec3) -> Result<TetMesh, TetMeshError> {
        TetMesh::new(self.points.into_iter().map(vertex).collect(), self.tets)
    }
}
