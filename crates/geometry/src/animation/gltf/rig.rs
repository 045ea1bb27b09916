//! Nodes that carry vertices.
//!
//! With local transforms L of the nodes, G = G(parent) L, inverse bind matrices B and weights w of morph targets,
//!
//!   x = Σ_j ω_j M_j (x₀ + Σ_k w_k δ_k),  M_j = G_j B_j for a joint, G for the node of a mesh without skin.
//!
//! The transform of a skinned mesh's own node does not count, as the specification says.

use glam::{DAffine3, DMat4, DQuat, DVec3};
use rayon::prelude::*;

use super::accessor::Document;
use super::json::Node;
use super::keys::{Moves, Track, unit};
use crate::animation::GltfError;

/// Vertices that a thread takes at once.
const CHUNK: usize = 2048;

/// The transform of a node within its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Local {
    pub(super) translation: DVec3,
    pub(super) rotation: DQuat,
    scale: DVec3,
}

/// Something in a flat list that belongs to a vertex.
#[derive(Debug, Clone, Default)]
struct Ragged<T> {
    /// Where each vertex begins; one more than there are vertices.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Ragged<T> {
    fn of(&self, vertex: usize) -> &[T] {
        &self.items[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    fn push(&mut self, items: impl Iterator<Item = T>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.items.extend(items);
        self.starts.push(self.items.len() as u32);
    }

    fn kept(&self, vertices: &[u32]) -> Self {
        let mut kept = Self { starts: vec![0], items: Vec::new() };
        vertices.iter().for_each(|&v| kept.push(self.of(v as usize).iter().copied()));
        kept
    }
}

/// A matrix that vertices are moved by: of a node, and the inverse bind matrix before it.
#[derive(Debug, Clone, Copy)]
struct Carrier {
    node: u32,
    bind: DAffine3,
}

/// Nodes, what moves them, and the vertices that they carry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rig {
    parents: Vec<Option<u32>>,
    /// Parents before children; only nodes of the scene.
    order: Vec<u32>,
    rest: Vec<Local>,
    /// Where a node has a matrix instead of a translation, rotation and scale.
    matrices: Vec<Option<DAffine3>>,
    /// Each node's first morph weight; one more than there are nodes.
    weight_starts: Vec<u32>,
    rest_weights: Vec<f64>,
    pub(super) tracks: Vec<Track>,
    carriers: Vec<Carrier>,
    rest_positions: Vec<DVec3>,
    /// Number of a carrier and its weight, which add up to one.
    influences: Ragged<(u32, f64)>,
    /// Number of a morph weight and the displacement that it scales.
    morphs: Ragged<(u32, DVec3)>,
}

/// What posing needs between its steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    locals: Vec<Local>,
    weights: Vec<f64>,
    nodes: Vec<DAffine3>,
    carriers: Vec<DAffine3>,
}

impl Rig {
    /// The nodes of a file, at rest and without vertices.
    pub(super) fn new(document: &Document) -> Result<Self, GltfError> {
        let nodes = &document.json.nodes;
        let parents = parents_of(nodes)?;
        let mut rig = Self { order: order_of(document, &parents)?, parents, ..Self::default() };
        rig.weight_starts.push(0);
        for (number, node) in nodes.iter().enumerate() {
            let (local, matrix) = local_of(number, node)?;
            rig.rest.push(local);
            rig.matrices.push(matrix);
            let count = targets_of(document, node);
            let given =
                node.mesh.and_then(|mesh| document.json.meshes.get(mesh)).and_then(|mesh| mesh.weights.as_ref());
            let given = node.weights.as_ref().or(given);
            let weight = |k: usize| given.and_then(|w| w.get(k)).copied().unwrap_or_default();
            rig.rest_weights.extend((0..count).map(weight));
            rig.weight_starts.push(rig.rest_weights.len() as u32);
        }
        Ok(rig)
    }

    pub(super) fn rest(&self, node: usize) -> Local {
        self.rest[node]
    }

    /// Number of morph weights of a node.
    pub(super) fn weights_of(&self, node: usize) -> usize {
        (self.weight_starts[node + 1] - self.weight_starts[node]) as usize
    }

    pub(super) fn first_weight(&self, node: usize) -> u32 {
        self.weight_starts[node]
    }

    /// Nodes of the scene, parents before children.
    pub(super) fn nodes(&self) -> &[u32] {
        &self.order
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.rest_positions.len()
    }

    /// Adds a matrix that vertices can be moved by and returns its number.
    pub(super) fn carrier(&mut self, node: usize, bind: DAffine3) -> u32 {
        self.carriers.push(Carrier { node: node as u32, bind });
        self.carriers.len() as u32 - 1
    }

    /// Adds a vertex.
    pub(super) fn vertex(
        &mut self,
        rest: DVec3,
        influences: impl Iterator<Item = (u32, f64)>,
        morphs: impl Iterator<Item = (u32, DVec3)>,
    ) {
        self.rest_positions.push(rest);
        self.influences.push(influences);
        self.morphs.push(morphs);
    }

    /// Keeps these vertices only, in this order.
    pub(crate) fn keep(&mut self, vertices: &[u32]) {
        self.rest_positions = vertices.iter().map(|&v| self.rest_positions[v as usize]).collect();
        self.influences = self.influences.kept(vertices);
        self.morphs = self.morphs.kept(vertices);
    }

    /// Which nodes turn their meshes inside out at rest.
    pub(super) fn mirrors(&self) -> Vec<bool> {
        let mut work = Work::default();
        self.place_nodes(None, &mut work);
        work.nodes.iter().map(|node| node.matrix3.determinant() < 0.0).collect()
    }

    /// Vertices at a time \[s\], under a placement.
    pub(crate) fn pose(&self, time: f64, placement: &DAffine3, work: &mut Work, out: &mut Vec<DVec3>) {
        self.place_nodes(Some(time), work);
        work.carriers.clear();
        work.carriers.extend(self.carriers.iter().map(|c| *placement * work.nodes[c.node as usize] * c.bind));
        out.resize(self.vertex_count(), DVec3::ZERO);
        let (carriers, weights) = (&work.carriers, &work.weights);
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, positions)| {
            for (n, position) in positions.iter_mut().enumerate() {
                let v = chunk * CHUNK + n;
                let morphed = |x: DVec3, &(k, delta): &(u32, DVec3)| x + weights[k as usize] * delta;
                let x = self.morphs.of(v).iter().fold(self.rest_positions[v], morphed);
                let moved = |sum: DVec3, &(j, w): &(u32, f64)| sum + w * carriers[j as usize].transform_point3(x);
                *position = self.influences.of(v).iter().fold(DVec3::ZERO, moved);
            }
        });
    }

    /// Local transforms and weights at a time, or at rest, and the nodes where these put them.
    fn place_nodes(&self, time: Option<f64>, work: &mut Work) {
        work.locals.clone_from(&self.rest);
        work.weights.clone_from(&self.rest_weights);
        for (track, time) in self.tracks.iter().filter_map(|track| Some((track, time?))) {
            track.apply(time, work, self.weight_starts[track.node] as usize);
        }
        work.nodes.clear();
        work.nodes.resize(self.rest.len(), DAffine3::IDENTITY);
        for &node in &self.order {
            let n = node as usize;
            let local = match self.matrices[n] {
                Some(matrix) => matrix,
                None => work.locals[n].affine(),
            };
            work.nodes[n] = self.parents[n].map_or(local, |parent| work.nodes[parent as usize] * local);
        }
    }
}

impl Local {
    fn affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, unit(self.rotation), self.translation)
    }
}

impl Track {
    fn apply(&self, time: f64, work: &mut Work, first_weight: usize) {
        let mut value = [0.0; 4];
        let local = &mut work.locals[self.node];
        match self.moves {
            Moves::Translation => {
                self.at(time, &mut value[..3]);
                local.translation = DVec3::from_slice(&value);
            }
            Moves::Rotation => {
                self.at(time, &mut value);
                local.rotation = DQuat::from_slice(&value);
            }
            Moves::Scale => {
                self.at(time, &mut value[..3]);
                local.scale = DVec3::from_slice(&value);
            }
            Moves::Weights => self.at(time, &mut work.weights[first_weight..][..self.width()]),
        }
    }
}

/// Morph targets of a node's mesh.
fn targets_of(document: &Document, node: &Node) -> usize {
    let mesh = node.mesh.and_then(|mesh| document.json.meshes.get(mesh));
    mesh.and_then(|mesh| mesh.primitives.iter().map(|primitive| primitive.targets.len()).max()).unwrap_or_default()
}

fn parents_of(nodes: &[Node]) -> Result<Vec<Option<u32>>, GltfError> {
    let mut parents = vec![None; nodes.len()];
    for (node, about) in nodes.iter().enumerate() {
        for &child in &about.children {
            let owner = || format!("node {node}");
            let missing = || GltfError::Missing { owner: owner(), kind: "node", index: child, count: nodes.len() };
            let parent: &mut Option<u32> = parents.get_mut(child).ok_or_else(missing)?;
            if parent.is_some() {
                return Err(GltfError::Node { node: child, problem: "it has two parents".into() });
            }
            *parent = Some(node as u32);
        }
    }
    Ok(parents)
}

/// All nodes, parents before children: joints may lie outside of the scene.
fn order_of(document: &Document, parents: &[Option<u32>]) -> Result<Vec<u32>, GltfError> {
    let nodes = &document.json.nodes;
    let mut order: Vec<u32> = (0..nodes.len() as u32).filter(|&n| parents[n as usize].is_none()).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        order.extend(nodes[node as usize].children.iter().map(|&child| child as u32));
        next += 1;
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let mut reached = vec![false; nodes.len()];
    order.iter().for_each(|&n| reached[n as usize] = true);
    let node = reached.iter().position(|seen| !seen).unwrap_or_default();
    Err(GltfError::Node { node, problem: "it is its own ancestor".into() })
}

fn local_of(number: usize, node: &Node) -> Result<(Local, Option<DAffine3>), GltfError> {
    let local = Local {
        translation: node.translation.map_or(DVec3::ZERO, DVec3::from),
        rotation: node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
        scale: node.scale.map_or(DVec3::ONE, DVec3::from),
    };
    let matrix = node.matrix.map(|m| DAffine3::from_mat4(DMat4::from_cols_array(&m)));
    let good = local.affine().is_finite() && matrix.is_none_or(|m| m.is_finite());
    if good {
        Ok((local, matrix))
    } else {
        Err(GltfError::Node { node: number, problem: "its transform is not finite".into() })
    }
}
