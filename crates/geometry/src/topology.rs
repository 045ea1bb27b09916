//! Which triangles share which edges: is a mesh closed, where not, and which way does it face.

use std::f64::consts::TAU;
use std::fmt;

use glam::DVec3;

use crate::pieces::Pieces;
use crate::triangle::{self, AngleSum};
use crate::{Aabb, TriangleMesh};

/// What can be wrong with an edge. In a closed surface two triangles share each edge and run along it in opposite
/// directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeDefect {
    /// One triangle only: the border of a hole.
    Open,
    /// Two triangles that run along it in the same direction: one of them is turned over.
    Misoriented,
    /// More than two triangles.
    NonManifold,
}

impl fmt::Display for EdgeDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Misoriented => "between triangles that face opposite ways",
            Self::NonManifold => "shared by more than two triangles",
        })
    }
}

/// A mesh is not closed: how many edges are wrong, and where the first one is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the mesh is not closed: the edge at {} m is {first} \
     ({open} open, {misoriented} misoriented and {non_manifold} non-manifold edges in all)",
    crate::mesh::rounded(*position)
)]
pub struct NotClosed {
    /// Edges of one triangle.
    pub open: usize,
    /// Edges between two triangles of opposite orientation.
    pub misoriented: usize,
    /// Edges of more than two triangles.
    pub non_manifold: usize,
    /// Edges with more triangles running one way than the other. With none of these the surface still bounds a volume,
    /// even when bodies touch along a non-manifold edge.
    pub unbalanced: usize,
    /// What is wrong with the first bad edge.
    pub first: EdgeDefect,
    /// Middle of the first bad edge \[m\].
    pub position: DVec3,
}

/// An edge with the triangles that run along it from its lower to its higher vertex number, and back.
#[derive(Clone, Copy)]
struct Edge {
    vertices: [u32; 2],
    forward: usize,
    backward: usize,
}

impl Edge {
    fn defect(&self) -> Option<EdgeDefect> {
        match (self.forward, self.backward) {
            (1, 1) => None,
            (1, 0) | (0, 1) => Some(EdgeDefect::Open),
            (2, 0) | (0, 2) => Some(EdgeDefect::Misoriented),
            _ => Some(EdgeDefect::NonManifold),
        }
    }
}

/// One side of a triangle: its vertices in rising order, its triangle, and whether the triangle runs up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    vertices: [u32; 2],
    triangle: u32,
    up: bool,
}

/// All sides, sorted by edge and then by triangle: each run of equal vertices is one edge.
fn sorted_sides(mesh: &TriangleMesh) -> Vec<Side> {
    let side = |t: usize, from: u32, to: u32| Side {
        vertices: [from.min(to), from.max(to)],
        triangle: t as u32,
        up: from < to,
    };
    let of_triangle = |(t, &[a, b, c]): (usize, &[u32; 3])| [side(t, a, b), side(t, b, c), side(t, c, a)];
    let mut sides: Vec<_> = mesh.triangles().iter().enumerate().flat_map(of_triangle).collect();
    sides.sort_unstable();
    sides
}

fn edges(sides: &[Side]) -> impl Iterator<Item = Edge> {
    sides.chunk_by(|a, b| a.vertices == b.vertices).filter_map(|run| {
        let forward = run.iter().filter(|side| side.up).count();
        Some(Edge { vertices: run.first()?.vertices, forward, backward: run.len() - forward })
    })
}

impl TriangleMesh {
    /// The edges of exactly one triangle: the borders of holes, as pairs of vertex numbers in rising order.
    #[must_use]
    pub fn boundary_edges(&self) -> Vec<[u32; 2]> {
        let open = |edge: &Edge| edge.defect() == Some(EdgeDefect::Open);
        edges(&sorted_sides(self)).filter(open).map(|edge| edge.vertices).collect()
    }

    /// Whether every edge is shared by exactly two triangles that run along it in opposite directions.
    ///
    /// # Errors
    /// Counts of what is wrong, and the place of the first bad edge.
    pub fn closed(&self) -> Result<(), NotClosed> {
        let sides = sorted_sides(self);
        let bad: Vec<_> = edges(&sides).filter_map(|edge| Some((edge, edge.defect()?))).collect();
        let Some(&(edge, first)) = bad.first() else { return Ok(()) };
        let count = |kind| bad.iter().filter(|(_, defect)| *defect == kind).count();
        let [a, b] = edge.vertices.map(|v| self.vertices()[v as usize]);
        Err(NotClosed {
            open: count(EdgeDefect::Open),
            misoriented: count(EdgeDefect::Misoriented),
            non_manifold: count(EdgeDefect::NonManifold),
            unbalanced: bad.iter().filter(|(edge, _)| edge.forward != edge.backward).count(),
            first,
            position: 0.5 * a + 0.5 * b,
        })
    }

    /// The number of the connected piece that each triangle belongs to. Pieces are joined along edges and numbered in
    /// the order of their first triangles.
    #[must_use]
    pub fn components(&self) -> Vec<u32> {
        let mut pieces = Pieces::new(self.triangles().len());
        for pair in sorted_sides(self).windows(2) {
            if pair[0].vertices == pair[1].vertices {
                pieces.join(pair[0].triangle, pair[1].triangle);
            }
        }
        pieces.numbers()
    }

    /// Turns over every connected piece that faces inwards, and returns how many that were. A piece that faces inwards
    /// inside an odd number of others is the wall of a cavity, and stays.
    ///
    /// # Errors
    /// When the mesh is not [closed](Self::closed), outwards has no meaning.
    pub fn orient_outward(&mut self) -> Result<usize, NotClosed> {
        self.closed()?;
        let component = self.components();
        let pieces = pieces(self, &component);
        let turn: Vec<bool> = pieces.iter().map(|p| p.volume < 0.0 && p.depth(&pieces) % 2 == 0).collect();
        self.flip(|t| turn[component[t] as usize]);
        Ok(turn.iter().filter(|&&turned| turned).count())
    }
}

/// A connected piece of a mesh.
struct Piece {
    corners: Vec<[DVec3; 3]>,
    bounds: Aabb,
    volume: f64,
}

fn pieces(mesh: &TriangleMesh, component: &[u32]) -> Vec<Piece> {
    let count = component.iter().max().map_or(0, |&last| last as usize + 1);
    let mut corners = vec![Vec::new(); count];
    for (&piece, triangle) in component.iter().zip(mesh.corners()) {
        corners[piece as usize].push(triangle);
    }
    corners.into_iter().map(Piece::new).collect()
}

impl Piece {
    fn new(corners: Vec<[DVec3; 3]>) -> Self {
        let bounds = Aabb::around(corners.iter().copied().flatten());
        let volume = corners.iter().map(|&c| triangle::signed_volume(c, bounds.center())).sum();
        Self { corners, bounds, volume }
    }

    /// How many of the other pieces enclose this one.
    fn depth(&self, pieces: &[Self]) -> usize {
        let Some(&[point, ..]) = self.corners.first() else { return 0 };
        pieces.iter().filter(|other| !std::ptr::eq(*other, self) && other.encloses(point)).count()
    }

    fn encloses(&self, point: DVec3) -> bool {
        self.bounds.contains(point) && self.winding_number(point).abs() > 0.5
    }

    fn winding_number(&self, point: DVec3) -> f64 {
        let mut angles = AngleSum::default();
        self.corners.iter().for_each(|&c| angles.add(triangle::half_solid_angle(point, c)));
        angles.total() / TAU
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::tests::joined;
    use crate::solids;

    fn unit_box() -> TriangleMesh {
        solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE))
    }

    fn turned_over(mut mesh: TriangleMesh) -> TriangleMesh {
        mesh.flip(|_| true);
        mesh
    }

    #[test]
    fn a_missing_triangle_is_found_where_it_is() {
        let full = unit_box();
        assert!(full.closed().is_ok() && full.boundary_edges().is_empty());
        let mesh = TriangleMesh::new(full.vertices().to_vec(), full.triangles()[1..].to_vec()).unwrap();
        let error = mesh.closed().unwrap_err();
        assert_eq!((error.open, error.misoriented, error.non_manifold, error.unbalanced), (3, 0, 0, 3));
        assert_eq!(error.first, EdgeDefect::Open);
        let missing = full.corners().next().unwrap();
        let middles = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| 0.5 * (missing[i] + missing[j]));
        assert!(middles.contains(&error.position), "{error}");
        assert_eq!(mesh.boundary_edges().len(), 3);
    }

    #[test]
    fn a_triangle_turned_over_is_named_as_such() {
        let mut mesh = unit_box();
        mesh.flip(|t| t == 5);
        let error = mesh.closed().unwrap_err();
        assert_eq!((error.open, error.misoriented, error.non_manifold), (0, 3, 0));
        assert!(error.to_string().contains("face opposite ways"), "{error}");
        assert!(mesh.orient_outward().is_err());
    }

    #[test]
    fn boxes_that_touch_along_an_edge_are_non_manifold_but_balanced() {
        let other = solids::cuboid(&Aabb::new(DVec3::new(1.0, 1.0, 0.0), DVec3::new(2.0, 2.0, 1.0)));
        let error = joined(&[unit_box(), other]).closed().unwrap_err();
        assert_eq!((error.open, error.misoriented, error.non_manifold, error.unbalanced), (0, 0, 1, 0));
        assert_eq!(error.position, DVec3::new(1.0, 1.0, 0.5));
    }

    #[test]
    fn components_are_counted_in_order() {
        let far = solids::icosphere(DVec3::splat(9.0), 1.0, 0);
        let component = joined(&[unit_box(), far, solids::torus(DVec3::splat(-9.0), 1.0, 0.2, [8, 5])]).components();
        assert_eq!(component.len(), 12 + 20 + 80);
        assert!(component[..12].iter().all(|&c| c == 0));
        assert!(component[12..32].iter().all(|&c| c == 1) && component[32..].iter().all(|&c| c == 2));
    }

    #[test]
    fn pieces_that_face_inwards_are_turned_over() {
        let far = solids::icosphere(DVec3::splat(9.0), 1.0, 2);
        let volume = 1.0 + far.signed_volume();
        let mut mesh = joined(&[turned_over(unit_box()), turned_over(far)]);
        assert_eq!(mesh.orient_outward().unwrap(), 2);
        assert!((mesh.signed_volume() - volume).abs() < 1e-12);
        assert_eq!(mesh.orient_outward().unwrap(), 0);
    }

    #[test]
    fn the_wall_of_a_cavity_keeps_facing_inwards() {
        let cavity = solids::icosphere(DVec3::splat(0.5), 0.25, 2);
        let ball = solids::icosphere(DVec3::splat(0.5), 0.125, 2);
        let volume = 1.0 - cavity.signed_volume() + ball.signed_volume();
        let mut mesh = joined(&[turned_over(unit_box()), turned_over(cavity), turned_over(ball)]);
        assert_eq!(mesh.orient_outward().unwrap(), 2);
        assert!((mesh.signed_volume() - volume).abs() < 1e-12);
    }
}
