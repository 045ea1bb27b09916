//! The user's surface on a body of tetrahedra: what is shown instead of them, also when the body breaks.
//!
//! A body that can break gets a finer copy of the surface, each of whose triangles belongs to one tetrahedron: that of its
//! middle. It goes where that tetrahedron goes. Corners that hang in a tetrahedron beyond a crack are placed by the triangle's
//! own instead, so that the skin tears along the crack. The faces of the crack are those of the tetrahedra.

use glam::{DVec3, Vec3};
use meniscus_core::Surface;
use meniscus_fem::{Body, State};
use meniscus_geometry::{Skin, TetMesh, TriangleMesh, barycentric, refined};

/// Longest edge of the skin of a body that can break, over the mean edge of its tetrahedra's surface, dimensionless.
const FINENESS: f64 = 0.35;
/// Most triangles of such a skin.
const MAX_TRIANGLES: usize = 400_000;
const NONE: u32 = u32::MAX;

/// A surface carried along by tetrahedra.
pub(crate) struct TornSkin {
    skin: Skin,
    /// The points at rest \[m\].
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// The tetrahedra at first, and their vertices at rest \[m\].
    tets: Vec<[u32; 4]>,
    vertices: Vec<DVec3>,
    /// Whether a face of a tetrahedron was on the surface at first.
    outside: Vec<[bool; 4]>,
    /// The tetrahedron of each triangle; empty for a body that cannot break.
    owner: Vec<u32>,
}

impl TornSkin {
    /// Hangs a surface into tetrahedra with edges of about `edge` \[m\].
    pub(crate) fn new(mesh: &TetMesh, surface: &TriangleMesh, edge: f64, breaks: bool) -> Self {
        let fine = breaks.then(|| refined(surface, FINENESS * edge, MAX_TRIANGLES));
        let surface = fine.as_ref().unwrap_or(surface);
        let middles: Vec<DVec3> = surface.corners().map(|[a, b, c]| (a + b + c) / 3.0).collect();
        let owner = if breaks { Skin::new(mesh, &middles).anchors } else { Vec::new() };
        Self {
            skin: Skin::new(mesh, surface.vertices()),
            points: surface.vertices().to_vec(),
            triangles: surface.triangles().to_vec(),
            tets: mesh.tets().to_vec(),
            vertices: mesh.vertices().to_vec(),
            outside: Vec::new(),
            owner: owner.iter().map(|anchor| anchor.tet).collect(),
        }
    }

    /// Notes which faces are on the surface of the body at first.
    pub(crate) fn for_body(mut self, body: &Body) -> Self {
        self.outside = vec![[false; 4]; self.tets.len()];
        for face in body.surface().faces() {
            self.outside[face.element as usize][usize::from(face.side)] = true;
        }
        self
    }

    /// Whether the tetrahedra of all pieces of the body, as saved, are those in which the surface hangs.
    pub(crate) fn fits<'a>(&self, pieces: impl Iterator<Item = &'a State>) -> bool {
        let mut seen = vec![false; self.tets.len()];
        for mesh in pieces.map(|state| &state.mesh) {
            for (element, &origin) in mesh.origin.iter().enumerate() {
                let Some(tet) = self.tets.get(origin as usize) else { return false };
                let corners = mesh.element(element).iter().zip(tet);
                let same = |(&a, &b): (&u32, &u32)| mesh.rest_position[a as usize] == self.vertices[b as usize];
                if std::mem::replace(&mut seen[origin as usize], true) || !corners.clone().all(same) {
                    return false;
                }
            }
        }
        seen.iter().all(|&seen| seen)
    }

    /// Adds what is seen of the pieces of the body.
    pub(crate) fn show(&self, pieces: &[&Body], surface: &mut Surface) {
        let whole = |body: &&Body| !body.state().mesh.cracked.contains(&true);
        match pieces {
            [body] if self.owner.is_empty() || whole(body) => self.show_whole(body, surface),
            _ => self.show_broken(pieces, surface),
        }
    }

    fn show_whole(&self, body: &Body, surface: &mut Surface) {
        let carried = |nodes: &[DVec3]| {
            let mut points = vec![DVec3::ZERO; self.skin.anchors.len()];
            // The skin was made for these tetrahedra, and checkpoints are held against them.
            let _ = self.skin.positions(&self.tets, nodes, &mut points);
            points.into_iter().map(DVec3::as_vec3).collect::<Vec<Vec3>>()
        };
        surface.positions.extend(carried(body.positions()));
        surface.velocities.extend(carried(body.velocities()));
        surface.triangles.extend(&self.triangles);
    }

    fn show_broken(&self, pieces: &[&Body], surface: &mut Surface) {
        // The piece that a tetrahedron is in, and its number there.
        let mut home = vec![(NONE, NONE); self.tets.len()];
        for (piece, body) in pieces.iter().enumerate() {
            for (element, &origin) in body.state().mesh.origin.iter().enumerate() {
                home[origin as usize] = (piece as u32, element as u32);
            }
        }
        let mut shared = vec![NONE; self.points.len()];
        let mut visited = Vec::new();
        for (triangle, &owner) in self.triangles.iter().zip(&self.owner) {
            let (piece, element) = home[owner as usize];
            let body = pieces[piece as usize];
            let shown = triangle.map(|corner| {
                let anchor = &self.skin.anchors[corner as usize];
                let (other, hangs_in) = home[anchor.tet as usize];
                if other == piece && Self::is_near(body, [element, hangs_in], &mut visited) {
                    let number = &mut shared[corner as usize];
                    if *number == NONE {
                        *number = add(body, hangs_in, &anchor.weights, surface);
                    }
                    return *number;
                }
                add(body, element, &self.weights(corner, owner), surface)
            });
            surface.triangles.push(shown);
        }
        pieces.iter().for_each(|body| self.show_cracks(body, surface));
    }

    /// Whether no crack is between two elements of a body; far from cracks that needs no search.
    fn is_near(body: &Body, [first, second]: [u32; 2], visited: &mut Vec<u32>) -> bool {
        let mesh = &body.state().mesh;
        let cracked = |element: u32| mesh.element(element as usize).iter().any(|&node| mesh.cracked[node as usize]);
        first == second || !cracked(first) && !cracked(second) || body.are_joined(first, second, visited)
    }

    /// Weights of the corners of a tetrahedron that give a point of the skin at rest.
    fn weights(&self, point: u32, tet: u32) -> [f64; 4] {
        let corners = self.tets[tet as usize].map(|vertex| self.vertices[vertex as usize]);
        barycentric(self.points[point as usize], corners)
    }

    /// Adds the faces of a body that were inside at first.
    fn show_cracks(&self, body: &Body, surface: &mut Surface) {
        let mesh = &body.state().mesh;
        let opened = |face: &meniscus_fem::Face| {
            let origin = mesh.origin[face.element as usize];
            !self.outside[origin as usize][usize::from(face.side)]
        };
        let all = body.surface();
        let faces = (0..all.triangles().len()).filter(|&t| all.face_of(t).is_some_and(|face| opened(&face)));
        add_triangles(body, faces.map(|t| all.triangles()[t]), surface);
    }
}

/// Adds a point of an element with these weights of its corners; returns its number.
fn add(body: &Body, element: u32, weights: &[f64; 4], surface: &mut Surface) -> u32 {
    let nodes = body.state().mesh.element(element as usize);
    let at = |values: &[DVec3]| {
        weights.iter().zip(nodes).map(|(weight, &node)| *weight * values[node as usize]).sum::<DVec3>().as_vec3()
    };
    surface.positions.push(at(body.positions()));
    surface.velocities.push(at(body.velocities()));
    surface.positions.len() as u32 - 1
}

/// Adds triangles of a body's nodes, without the nodes that none of them has.
pub(crate) fn add_triangles(body: &Body, triangles: impl Iterator<Item = [u32; 3]>, surface: &mut Surface) {
    let mut number = vec![NONE; body.positions().len()];
    for triangle in triangles {
        surface.triangles.push(triangle.map(|node| {
            let node = node as usize;
            if number[node] == NONE {
                number[node] = surface.positions.len() as u32;
                surface.positions.push(body.positions()[node].as_vec3());
                surface.velocities.push(body.velocities()[node].as_vec3());
            }
            number[node]
        }));
    }
}
