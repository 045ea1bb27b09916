//! What all readers of tetrahedra fill: nodes by the numbers that the file gives them, tetrahedra by those numbers.

use std::collections::HashMap;

use glam::DVec3;

use super::cursor::Cursor;
use super::error::{ParseError, Place, Problem};
use super::tets::{TetFile, TetReport};
use super::{ImportOptions, LARGEST_FILE, UpAxis};
use crate::tet_mesh::{FaceDefect, wrong_face};
use crate::{LARGEST_COORDINATE, TetMesh, TetMeshError, tet_volume};

/// Nodes and tetrahedra on their way from a file to a mesh.
pub(super) struct TetSoup {
    options: ImportOptions,
    nodes: Vec<DVec3>,
    /// The index of each node by its number in the file; looked up, never iterated.
    indices: HashMap<i64, u32>,
    tets: Vec<Written>,
    /// How many tetrahedra had more than four nodes, of which four were kept.
    reduced: usize,
    /// How many elements of other kinds the file has.
    other: usize,
    pub(super) region_names: Vec<(i64, String)>,
}

/// A tetrahedron as the file has it.
struct Written {
    corners: [i64; 4],
    region: i64,
    /// Where it stands \[bytes\].
    offset: usize,
}

impl TetSoup {
    pub(super) fn new(options: &ImportOptions, bytes: usize) -> Result<Self, ParseError> {
        let scale = options.scale;
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Problem::Scale { scale }.at(Place::File));
        }
        if bytes as u64 > LARGEST_FILE {
            return Err(Problem::TooLarge { bytes }.at(Place::File));
        }
        Ok(Self {
            options: *options,
            nodes: Vec::new(),
            indices: HashMap::new(),
            tets: Vec::new(),
            reduced: 0,
            other: 0,
            region_names: Vec::new(),
        })
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a node with its number in the file.
    pub(super) fn node(&mut self, number: i64, position: [f64; 3]) -> Result<(), Problem> {
        let [x, y, z] = position.map(|value| self.options.scale * value);
        for (scaled, value) in [x, y, z].into_iter().zip(position) {
            // Also false for what is not a number.
            let good = scaled.abs() <= LARGEST_COORDINATE;
            if !good {
                return Err(Problem::Coordinate { value });
            }
        }
        // A file is too small to hold more nodes than an index can name.
        if self.indices.insert(number, self.nodes.len() as u32).is_some() {
            return Err(Problem::expected("a node number that is not taken", number.to_string().as_bytes()));
        }
        self.nodes.push(match self.options.up {
            UpAxis::Y => DVec3::new(x, y, z),
            UpAxis::Z => DVec3::new(x, z, -y),
        });
        Ok(())
    }

    /// Adds a tetrahedron by its nodes, of which the first four are its corners.
    pub(super) fn tet(&mut self, nodes: &[i64], region: i64, offset: usize) {
        if let Some(&corners) = nodes.first_chunk() {
            self.reduced += usize::from(nodes.len() > 4);
            self.tets.push(Written { corners, region, offset });
        }
    }

    /// Counts an element that is no tetrahedron.
    pub(super) fn other_element(&mut self) {
        self.other += 1;
    }

    /// The mesh, if every node exists, no tetrahedron is flat and neighbours do not overlap. The cursor tells lines from offsets.
    pub(super) fn finish(self, cursor: &Cursor<'_>) -> Result<TetFile, ParseError> {
        let mut tets = Vec::with_capacity(self.tets.len());
        for tet in &self.tets {
            let mut corners = [0; 4];
            for (corner, written) in corners.iter_mut().zip(tet.corners) {
                let index = self.indices.get(&written).copied();
                *corner = index.ok_or_else(|| cursor.error_at(tet.offset, Problem::Node { number: written }))?;
            }
            tets.push(corners);
        }
        let turned = tets.iter().filter(|tet| tet_volume(tet.map(|v| self.nodes[v as usize])) < 0.0).count();
        let (nodes, tets, unused) = used_only(&self.nodes, tets);
        let mesh = TetMesh::new(nodes, tets).map_err(|error| match error {
            TetMeshError::Flat { tet, .. } => cursor.error_at(self.tets[tet].offset, error.into()),
            error => Problem::from(error).at(Place::File),
        })?;
        if let Some((tet, defect)) = wrong_face(mesh.tets()) {
            let problem = match defect {
                FaceDefect::Crowded => Problem::CrowdedFace { tet },
                FaceDefect::Folded => Problem::Folded { tet },
            };
            return Err(cursor.error_at(self.tets[tet].offset, problem));
        }
        let report = TetReport {
            turned,
            reduced: self.reduced,
            other_elements: self.other,
            unused_nodes: unused,
            pieces: mesh.components().iter().max().map_or(0, |&last| last as usize + 1),
            quality: mesh.quality(),
        };
        let regions = self.tets.iter().map(|tet| tet.region).collect();
        Ok(TetFile { mesh, regions, region_names: self.region_names, report })
    }
}

/// The nodes that tetrahedra use, in their order, the tetrahedra in the new numbers, and how many nodes were dropped.
fn used_only(nodes: &[DVec3], mut tets: Vec<[u32; 4]>) -> (Vec<DVec3>, Vec<[u32; 4]>, usize) {
    let mut used = vec![false; nodes.len()];
    tets.iter().flatten().for_each(|&node| used[node as usize] = true);
    let mut next = 0;
    let number: Vec<u32> = used
        .iter()
        .map(|&used| {
            next += u32::from(used);
            next.saturating_sub(1)
        })
        .collect();
    tets.iter_mut().flatten().for_each(|node| *node = number[*node as usize]);
    let kept: Vec<DVec3> = nodes.iter().zip(&used).filter(|(_, used)| **used).map(|(node, _)| *node).collect();
    let dropped = nodes.len() - kept.len();
    (kept, tets, dropped)
}
