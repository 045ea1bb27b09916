//! Closed or shell: a surface without border is a body, one with small holes too, any other a shell.

use glam::DVec3;

use super::{Animation, AnimationError, Part, Pose, Wetting};
use crate::{TriangleMesh, triangle};

/// Holes whose lids make less than this part of the area are closed.
const SMALL: f64 = 0.01;

impl Animation {
    /// Finds out whether the surface is closed, fills small holes, and turns it to face outwards.
    pub(super) fn judge(&mut self, wanted: Option<Wetting>) -> Result<(), AnimationError> {
        let mut pose = Pose::default();
        self.pose_in_file(self.range[0], &mut pose);
        let flat = self.triangles.iter().filter(|t| triangle::is_flat(t.map(|v| pose.positions[v as usize]))).count();
        if flat == self.triangles.len() {
            return Err(crate::MeshError::Empty { dropped: flat }.into());
        }
        if flat > 0 {
            self.warnings.push(format!("{flat} triangles have no area in the first pose"));
        }
        let lids = lids(&self.triangles);
        let area = |triangles: &[[u32; 3]]| -> f64 {
            triangles.iter().map(|t| triangle::area_vector(t.map(|v| pose.positions[v as usize])).length()).sum()
        };
        let share = area(&lids) / area(&self.triangles);
        self.wetting = match wanted {
            Some(wetting) => wetting,
            None if share < SMALL => Wetting::Closed,
            None => Wetting::Shell,
        };
        if self.wetting == Wetting::Closed {
            self.close(&lids, share);
            self.face_outwards(pose.positions);
        }
        Ok(())
    }

    fn close(&mut self, lids: &[[u32; 3]], share: f64) {
        if lids.is_empty() {
            return;
        }
        let percent = 100.0 * share;
        self.warnings.push(format!("holes were closed with {} triangles, {percent:.2} % of its area", lids.len()));
        let first = self.triangles.len();
        self.triangles.extend_from_slice(lids);
        self.parts.push(Part { name: "closed holes".into(), triangles: first..self.triangles.len() });
    }

    fn face_outwards(&mut self, positions: Vec<DVec3>) {
        let mut mesh = TriangleMesh::trusted(positions, std::mem::take(&mut self.triangles));
        if let Err(problem) = mesh.orient_outward() {
            self.warnings.push(format!("taken for closed, but {problem}"));
        }
        self.triangles = mesh.triangles().to_vec();
    }
}

/// Fans over the loops of border edges, each about its first vertex.
fn lids(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut border = border(triangles);
    let mut lids = Vec::new();
    for n in 0..border.len() {
        // Against the triangles' direction, so that lid and surface face the same way.
        let hub = border[n].0;
        let mut rim: Vec<u32> = Vec::new();
        while let Some(to) = take(&mut border, rim.last().copied().unwrap_or(hub)) {
            if to == hub {
                break;
            }
            rim.push(to);
        }
        lids.extend(rim.windows(2).map(|pair| [hub, pair[0], pair[1]]));
    }
    lids
}

/// Takes an edge that leaves a vertex and says where it goes.
fn take(border: &mut [(u32, u32)], from: u32) -> Option<u32> {
    let first = border.partition_point(|edge| edge.0 < from);
    let edge = border[first..].iter_mut().take_while(|edge| edge.0 == from).find(|edge| edge.1 != u32::MAX)?;
    Some(std::mem::replace(&mut edge.1, u32::MAX))
}

/// Sides that no other triangle runs along the other way, turned round and sorted.
fn border(triangles: &[[u32; 3]]) -> Vec<(u32, u32)> {
    let sides = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a)];
    let mut all: Vec<(u32, u32)> = triangles.iter().flat_map(sides).collect();
    all.sort_unstable();
    let mut open: Vec<_> =
        all.iter().filter(|&&(a, b)| all.binary_search(&(b, a)).is_err()).map(|&(a, b)| (b, a)).collect();
    open.sort_unstable();
    open
}
