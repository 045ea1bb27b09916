//! From a warped lattice to the tetrahedra inside.

use glam::DVec3;

use super::stencil::{Point, Side, fill};
use super::surface::Warped;
use crate::pieces::Pieces;
use crate::surface_of;
use crate::tet_mesh::shared_faces;

const NONE: u32 = u32::MAX;

/// Vertices \[m\] and tetrahedra, turned either way.
#[derive(Default)]
pub(super) struct Soup {
    pub(super) vertices: Vec<DVec3>,
    pub(super) tets: Vec<[u32; 4]>,
}

impl Soup {
    /// What is inside. Vertices are numbered in the order in which tetrahedra use them first.
    pub(super) fn inside(warped: &Warped) -> Self {
        let mut numbers = Numbers {
            of_node: vec![NONE; warped.lattice.node_count()],
            of_cut: vec![[NONE; 14]; warped.cut_count()],
            vertices: Vec::new(),
        };
        let mut tets = Vec::new();
        warped.lattice.for_each_tet(|nodes, even| {
            let sides = nodes.map(|node| warped.side(node));
            if sides.contains(&Side::Inside) {
                for tet in fill(sides, even, |point| position(warped, nodes, point)).iter() {
                    tets.push(tet.map(|point| numbers.number(warped, nodes, point)));
                }
            }
        });
        Self { vertices: numbers.vertices, tets }
    }

    /// Volume \[m³\].
    pub(super) fn volume(&self) -> f64 {
        self.tets.iter().map(|&tet| self.tet_volume(tet)).sum()
    }

    /// Makes the surface closed: no edge has more than two of its triangles.
    pub(super) fn part(&mut self) {
        self.part_fans();
        loop {
            let pinched = self.pinched_edges();
            if pinched.is_empty() {
                break;
            }
            self.drop_smaller_sides(&pinched);
            self.part_fans();
        }
        self.drop_unused_vertices();
    }

    /// The edges at which the solid touches itself: more than two triangles of the surface have them. Vertex numbers
    /// rise in each, and edges in the list.
    fn pinched_edges(&self) -> Vec<[u32; 2]> {
        let sides = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]);
        let mut edges: Vec<_> = surface_of(&self.tets).into_iter().flat_map(sides).collect();
        edges.sort_unstable();
        edges.chunk_by(|a, b| a == b).filter(|run| run.len() > 2).map(|run| run[0]).collect()
    }

    /// Of the groups of tetrahedra that meet at a pinched edge without hanging together across faces there, only the
    /// largest stays. The others cannot be had a gap away without flattening some tetrahedra.
    fn drop_smaller_sides(&mut self, pinched: &[[u32; 2]]) {
        let mut around: Vec<([u32; 2], u32)> = Vec::new();
        for (t, tet) in (0..).zip(&self.tets) {
            for i in 0..4 {
                for j in 0..4 {
                    let edge = [tet[i], tet[j]];
                    if edge[0] < edge[1] && pinched.binary_search(&edge).is_ok() {
                        around.push((edge, t));
                    }
                }
            }
        }
        around.sort_unstable();
        let mut dropped = vec![false; self.tets.len()];
        for ring in around.chunk_by(|a, b| a.0 == b.0) {
            let tets: Vec<_> = ring.iter().map(|&(_, t)| self.tets[t as usize]).collect();
            let mut sides = Pieces::new(tets.len());
            for [one, other] in shared_faces(&tets) {
                sides.join(one, other);
            }
            let side_of = sides.numbers();
            let mut volumes = vec![0.0; tets.len()];
            for (&side, &tet) in side_of.iter().zip(&tets) {
                volumes[side as usize] += self.tet_volume(tet);
            }
            let largest = (0..volumes.len()).max_by(|&a, &b| volumes[a].total_cmp(&volumes[b]));
            for (&side, &(_, t)) in side_of.iter().zip(ring) {
                dropped[t as usize] |= Some(side as usize) != largest;
            }
        }
        let mut dropped = dropped.into_iter();
        self.tets.retain(|_| !dropped.next().unwrap_or(false));
    }

    fn drop_unused_vertices(&mut self) {
        let mut used = vec![false; self.vertices.len()];
        self.tets.iter().flatten().for_each(|&v| used[v as usize] = true);
        let mut kept = 0;
        let numbers: Vec<u32> = used
            .iter()
            .map(|&used| {
                kept += u32::from(used);
                kept.wrapping_sub(1)
            })
            .collect();
        self.tets.iter_mut().flatten().for_each(|v| *v = numbers[*v as usize]);
        let mut used = used.into_iter();
        self.vertices.retain(|_| used.next().unwrap_or(false));
    }

    fn tet_volume(&self, tet: [u32; 4]) -> f64 {
        crate::tet_volume(tet.map(|v| self.vertices[v as usize])).abs()
    }

    /// Gives a vertex of its own to every group of tetrahedra that meet at a vertex without hanging together across
    /// faces there: bodies that touch in a point or along an edge come apart.
    pub(super) fn part_fans(&mut self) {
        // A fan is a set of corners; corner `i` of tetrahedron `t` has the number 4 t + i.
        let mut fans = Pieces::new(4 * self.tets.len());
        for [one, other] in shared_faces(&self.tets) {
            for (i, vertex) in (0..).zip(self.tets[one as usize]) {
                let there = self.tets[other as usize].iter().position(|&v| v == vertex);
                if let Some(j) = there {
                    fans.join(4 * one + i, 4 * other + j as u32);
                }
            }
        }
        let fan_of_corner = fans.numbers();
        let mut vertex_of_fan: Vec<u32> = Vec::new();
        let mut taken = vec![false; self.vertices.len()];
        for (corner, &fan) in fan_of_corner.iter().enumerate() {
            let vertex = &mut self.tets[corner / 4][corner % 4];
            if fan as usize == vertex_of_fan.len() {
                let first = !std::mem::replace(&mut taken[*vertex as usize], true);
                let number = if first { *vertex } else { self.vertices.len() as u32 };
                if !first {
                    self.vertices.push(self.vertices[*vertex as usize]);
                    taken.push(true);
                }
                vertex_of_fan.push(number);
            }
            *vertex = vertex_of_fan[fan as usize];
        }
    }
}

/// Numbers for the points of the lattice that are used.
struct Numbers {
    of_node: Vec<u32>,
    /// For each node with cut edges, step by step.
    of_cut: Vec<[u32; 14]>,
    vertices: Vec<DVec3>,
}

impl Numbers {
    fn number(&mut self, warped: &Warped, nodes: [usize; 4], point: Point) -> u32 {
        let number = match point {
            Point::Corner(i) => &mut self.of_node[nodes[i]],
            Point::Cut { inside, outside } => {
                let (index, step) = warped.cut(nodes[inside], nodes[outside]);
                &mut self.of_cut[index][step]
            }
        };
        if *number == NONE {
            *number = self.vertices.len() as u32;
            self.vertices.push(position(warped, nodes, point));
        }
        *number
    }
}

fn position(warped: &Warped, nodes: [usize; 4], point: Point) -> DVec3 {
    match point {
        Point::Corner(i) => warped.position(nodes[i]),
        Point::Cut { inside, outside } => warped.cut_position(nodes[inside], nodes[outside]),
    }
}
