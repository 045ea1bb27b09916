//! What a surface does in a cube: for each of the 256 ways in which corners can be inside, its triangles.
//!
//! The table is not written down but worked out from one rule that looks at one face of the cube at a time: walking
//! round a face, every run of inside corners is cut off from the rest by one line. Two cubes that share a face see the
//! same corners, so they draw the same lines, and the surface has no cracks. Where inside and outside corners alternate
//! round a face, the rule keeps the inside corners apart.
//!
//! The lines join to closed loops over the cut edges. A loop is cut into triangles by diagonals, none of which lies in
//! a face of the cube: there it could meet a diagonal of the neighbour, and four triangles would share an edge. Of the
//! ways that are left, the one whose smallest angle is largest, with cuts in the middle of the edges, is taken.

use std::sync::LazyLock;

use glam::DVec3;

use crate::triangle;

/// Corner `k` of a cube has the coordinates of its bits 0, 1 and 2; edge `e` runs along axis `e / 4`.
pub(crate) const EDGES: [[u8; 2]; 12] = {
    let mut edges = [[0; 2]; 12];
    let mut e = 0;
    while e < 12 {
        let (axis, j) = (e / 4, e % 4);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let start = (j & 1) << u | (j >> 1) << v;
        edges[e] = [start as u8, (start | 1 << axis) as u8];
        e += 1;
    }
    edges
};

/// The triangles of all cases: each corner is a cut edge of the cube.
pub(crate) struct Table {
    /// Where the triangles of a case begin; the last entry is the end of the last case.
    first: [u16; 257],
    triangles: Vec<[u8; 3]>,
}

/// The table, worked out when it is first needed.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let mut table = Self { first: [0; 257], triangles: Vec::new() };
        for case in 0..=255u8 {
            for polygon in loops(case) {
                table.triangles.extend(triangulated(&polygon));
            }
            table.first[usize::from(case) + 1] = table.triangles.len() as u16;
        }
        table
    }

    /// The triangles of the case in which the corners with a set bit are inside, counter-clockwise seen from outside.
    pub(crate) fn triangles(&self, case: u8) -> &[[u8; 3]] {
        let case = usize::from(case);
        &self.triangles[usize::from(self.first[case])..usize::from(self.first[case + 1])]
    }
}

/// The four corners of a face in the order in which they are seen counter-clockwise from outside the cube.
fn face(axis: usize, high: bool) -> [u8; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let around: [u8; 4] = [0, u, u | v, v].map(|corner| corner | u8::from(high) << axis);
    if high { around } else { [around[0], around[3], around[2], around[1]] }
}

fn faces() -> impl Iterator<Item = [u8; 4]> {
    (0..3).flat_map(|axis| [face(axis, false), face(axis, true)])
}

/// The edge between two corners.
fn edge(a: u8, b: u8) -> u8 {
    let between = |[from, to]: &[u8; 2]| (*from, *to) == (a.min(b), a.max(b));
    EDGES.iter().position(between).map_or(u8::MAX, |e| e as u8)
}

/// For each cut edge, the next one on the surface.
fn lines(case: u8) -> [Option<u8>; 12] {
    let inside = |corner: u8| case >> corner & 1 == 1;
    let mut next = [None; 12];
    for corners in faces() {
        for start in 0..4 {
            let before = corners[(start + 3) % 4];
            if !inside(corners[start]) || inside(before) {
                continue;
            }
            // A run of inside corners begins here: draw a line from the edge before it to the edge behind its end.
            let length = (1..4).find(|i| !inside(corners[(start + i) % 4])).unwrap_or(4);
            let (last, after) = (corners[(start + length - 1) % 4], corners[(start + length) % 4]);
            next[usize::from(edge(before, corners[start]))] = Some(edge(last, after));
        }
    }
    next
}

/// The closed loops of cut edges of a case.
fn loops(case: u8) -> Vec<Vec<u8>> {
    let mut next = lines(case);
    let mut loops = Vec::new();
    for start in 0..12u8 {
        let mut polygon = Vec::new();
        let mut at = start;
        while let Some(to) = next[usize::from(at)].take() {
            polygon.push(at);
            at = to;
        }
        if !polygon.is_empty() {
            loops.push(polygon);
        }
    }
    loops
}

/// Whether two cut edges border a common face, so that the line between them lies in it.
fn share_face(a: u8, b: u8) -> bool {
    let borders = |face: &[u8; 4], e: u8| EDGES[usize::from(e)].iter().all(|corner| face.contains(corner));
    faces().any(|face| borders(&face, a) && borders(&face, b))
}

fn middle(e: u8) -> DVec3 {
    let at = |corner: u8| DVec3::new((corner & 1).into(), (corner >> 1 & 1).into(), (corner >> 2).into());
    let [a, b] = EDGES[usize::from(e)].map(at);
    0.5 * (a + b)
}

fn smallest_angle(corners: [u8; 3]) -> f64 {
    triangle::angles(corners.map(middle)).into_iter().fold(f64::INFINITY, f64::min)
}

/// Cuts a loop into triangles.
fn triangulated(polygon: &[u8]) -> Vec<[u8; 3]> {
    best_cut(polygon).map(|(_, triangles)| triangles).unwrap_or_default()
}

/// The best triangles of a polygon and their smallest angle, if it can be cut without diagonals in faces.
fn best_cut(polygon: &[u8]) -> Option<(f64, Vec<[u8; 3]>)> {
    let [first, tips @ .., last] = polygon else { return None };
    if tips.is_empty() {
        return Some((f64::INFINITY, Vec::new()));
    }
    let mut best: Option<(f64, Vec<[u8; 3]>)> = None;
    // The triangle on the side from the last to the first corner has its tip at one of the others.
    for (i, &tip) in tips.iter().enumerate() {
        let diagonals = [(i > 0, *first), (i + 1 < tips.len(), *last)];
        if diagonals.into_iter().any(|(is_diagonal, end)| is_diagonal && share_face(tip, end)) {
            continue;
        }
        let (Some(left), Some(right)) = (best_cut(&polygon[..i + 2]), best_cut(&polygon[i + 1..])) else { continue };
        let angle = smallest_angle([*first, tip, *last]).min(left.0).min(right.0);
        if best.as_ref().is_none_or(|(angle_so_far, _)| angle > *angle_so_far) {
            best = Some((angle, [vec![[*first, tip, *last]], left.1, right.1].concat()));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_edges(case: u8) -> Vec<u8> {
        let inside = |corner: u8| case >> corner & 1 == 1;
        (0..12).filter(|&e| inside(EDGES[usize::from(e)][0]) != inside(EDGES[usize::from(e)][1])).collect()
    }

    #[test]
    fn every_edge_of_the_cube_is_there_once() {
        let mut all = EDGES.to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12);
        assert!(EDGES.iter().all(|[a, b]| (a ^ b).count_ones() == 1 && a < b));
    }

    #[test]
    fn loops_use_every_cut_edge_once_and_all_can_be_cut() {
        for case in 0..=255u8 {
            let loops = loops(case);
            let mut used = loops.concat();
            used.sort_unstable();
            assert_eq!(used, cut_edges(case), "case {case}");
            let triangles: usize = loops.iter().map(|polygon| polygon.len() - 2).sum();
            assert_eq!(TABLE.triangles(case).len(), triangles, "case {case}");
            assert!(loops.iter().all(|polygon| polygon.len() >= 3));
        }
    }

    /// Each triangle side that no other triangle of the cube runs back along.
    fn rim(case: u8) -> Vec<[u8; 2]> {
        let sides: Vec<_> = TABLE.triangles(case).iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        assert!((1..sides.len()).all(|i| !sides[i..].contains(&sides[i - 1])), "case {case}: a side is used twice");
        sides.iter().copied().filter(|&[a, b]| !sides.contains(&[b, a])).collect()
    }

    #[test]
    fn the_rim_of_every_case_is_what_its_faces_show() {
        for case in 0..=255u8 {
            let mut rim = rim(case);
            rim.sort_unstable();
            let mut expected: Vec<_> =
                lines(case).iter().enumerate().filter_map(|(from, to)| Some([from as u8, (*to)?])).collect();
            expected.sort_unstable();
            assert_eq!(rim, expected, "case {case}");
        }
    }

    #[test]
    fn a_face_looks_the_same_from_both_sides() {
        // The cube beyond the face x = 1 has the same corners at x = 0; lines there run the other way.
        for shared in 0..16u8 {
            let spread = |bits: u8, x: u8| (0..4).map(|i| (bits >> i & 1) << (2 * i + x)).sum::<u8>();
            for (near, far) in [(0, 0), (15, 0), (0, 15), (5, 10), (6, 9), (15, 15)] {
                let this = spread(shared, 1) | spread(near, 0);
                let next = spread(shared, 0) | spread(far, 1);
                let on_face = |case: u8, high: bool| {
                    let corners = face(0, high);
                    let on = |e: u8| EDGES[usize::from(e)].iter().all(|corner| corners.contains(corner));
                    let moved = |e: u8| {
                        let [a, b] = EDGES[usize::from(e)].map(|corner| corner & !1);
                        edge(a, b)
                    };
                    let lines = rim(case).into_iter().filter(|&[a, b]| on(a) && on(b));
                    lines.map(|[a, b]| if high { [moved(a), moved(b)] } else { [b, a] }).collect::<Vec<_>>()
                };
                let (mut one, mut two) = (on_face(this, true), on_face(next, false));
                one.sort_unstable();
                two.sort_unstable();
                assert_eq!(one, two, "{this} {next}");
            }
        }
    }

    #[test]
    fn a_single_inside_corner_is_cut_off_by_a_triangle_that_faces_away_from_it() {
        for corner in 0..8u8 {
            let triangles = TABLE.triangles(1 << corner);
            let [[a, b, c]] = triangles else { panic!("{triangles:?}") };
            let normal = triangle::area_vector([*a, *b, *c].map(middle));
            let at = DVec3::new((corner & 1).into(), (corner >> 1 & 1).into(), (corner >> 2).into());
            assert!(normal.dot(DVec3::splat(0.5) - at) > 0.0);
        }
    }

    #[test]
    fn no_diagonal_lies_in_a_face() {
        for case in 0..=255u8 {
            let rim = rim(case);
            for &[a, b, c] in TABLE.triangles(case) {
                for side in [[a, b], [b, c], [c, a]] {
                    assert!(rim.contains(&side) || !share_face(side[0], side[1]), "case {case}");
                }
            }
        }
    }
}
