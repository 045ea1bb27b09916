//! The part of a lattice tetrahedron that lies inside.
//!
//! A corner is inside, outside or on the surface; an edge from inside to outside has a cut on the surface. What is
//! inside has at most six corners:
//!
//! * one corner inside: a tetrahedron, outside corners replaced by cuts;
//! * two inside, one on the surface: a pyramid over the quadrilateral in the face opposite the latter, two tetrahedra;
//! * two or three inside, the rest outside: a wedge with three quadrilaterals, three tetrahedra.
//!
//! A quadrilateral in a face of the lattice is cut by a diagonal that the neighbour must choose as well. It starts at
//! one of the two inside corners a, b and ends at the cut of the other. If one of the two cuts lies on a long edge, the
//! diagonal ends there; if a and b are joined by a long edge, it starts at the one at an even position. Three diagonals
//! chosen like that never run in a circle, in which case a wedge could not be cut. The quadrilateral that a wedge has on
//! the surface is no neighbour's business: its diagonal is the one with the better angles. The stencils are those of
//! \[LS07\].

use glam::DVec3;

use crate::dihedral_angles;

/// Where a corner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Outside,
    Surface,
}

/// A corner of what is inside: a corner of the tetrahedron, or the cut from an inside corner to an outside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    Corner(usize),
    Cut { inside: usize, outside: usize },
}

impl Default for Point {
    fn default() -> Self {
        Self::Corner(0)
    }
}

/// Corners 0 and 1 are joined by a long edge, and so are 2 and 3.
fn joined_by_long(a: usize, b: usize) -> bool {
    a / 2 == b / 2
}

/// The inside corner at which the diagonal in the face of two inside corners and an outside one starts, then the other.
fn diagonal(a: usize, b: usize, outside: usize, even: [usize; 2]) -> [usize; 2] {
    let a_first = if joined_by_long(a, b) { even.contains(&a) } else { joined_by_long(b, outside) };
    if a_first { [a, b] } else { [b, a] }
}

/// The tetrahedra inside, in no particular orientation. `even` names the ends of the two long edges that lie at even
/// positions, `at` tells where points are \[m\].
pub(super) fn fill(sides: [Side; 4], even: [usize; 2], at: impl Fn(Point) -> DVec3) -> Few<[Point; 4]> {
    let cut = |inside, outside| Point::Cut { inside, outside };
    let [inside, outside, surface] =
        [Side::Inside, Side::Outside, Side::Surface].map(|side| Few::of((0..4).filter(|&i| sides[i] == side)));
    match (&*inside, &*outside, &*surface) {
        (&[_, ..], &[], _) => Few::of([[0, 1, 2, 3].map(Point::Corner)]),
        (&[a], _, _) => {
            Few::of([[0, 1, 2, 3].map(|i| if outside.contains(&i) { cut(a, i) } else { Point::Corner(i) })])
        }
        (&[a, b], &[c], &[d]) => {
            let [p, q] = diagonal(a, b, c, even);
            let (tip, end) = (Point::Corner(d), cut(q, c));
            Few::of([[Point::Corner(p), Point::Corner(q), end, tip], [Point::Corner(p), end, cut(p, c), tip]])
        }
        (&[a, b], &[c, d], _) => {
            let rails = [[Point::Corner(a), Point::Corner(b)], [cut(a, c), cut(b, c)], [cut(a, d), cut(b, d)]];
            let [to_c, to_d] = [c, d].map(|outside| diagonal(a, b, outside, even)[0] == a);
            better(wedge(rails, [to_c, true, to_d]), wedge(rails, [to_c, false, to_d]), at)
        }
        (&[a, b, c], &[d], _) => {
            let rails = [a, b, c].map(|corner| [Point::Corner(corner), cut(corner, d)]);
            wedge(rails, [[a, b], [b, c], [a, c]].map(|[p, q]| diagonal(p, q, d, even)[0] == p))
        }
        _ => Few::of([]),
    }
}

/// The three tetrahedra of a wedge between two triangles whose corners are joined by rails. Between the rails 0 and 1,
/// 1 and 2, 0 and 2, a diagonal runs from the start of the first to the end of the second, or else from the start of
/// the second to the end of the first. None if the diagonals run in a circle.
fn wedge(rails: [[Point; 2]; 3], forward: [bool; 3]) -> Few<[Point; 4]> {
    let mut starts = [0; 3];
    for ([i, j], forward) in [[0, 1], [1, 2], [0, 2]].into_iter().zip(forward) {
        starts[if forward { i } else { j }] += 1;
    }
    // In the order of how many diagonals start there: two, one, none.
    let at = |count: i32| starts.iter().position(|&n| n == count).map(|i| rails[i]);
    let (Some(p), Some(q), Some(r)) = (at(2), at(1), at(0)) else { return Few::of([]) };
    Few::of([[p[0], q[0], r[0], r[1]], [p[0], q[0], q[1], r[1]], [p[0], p[1], q[1], r[1]]])
}

/// The one whose smallest angle is larger.
fn better(one: Few<[Point; 4]>, other: Few<[Point; 4]>, at: impl Fn(Point) -> DVec3) -> Few<[Point; 4]> {
    let smallest = |tets: &Few<[Point; 4]>| {
        tets.iter().flat_map(|tet| dihedral_angles(tet.map(&at))).fold(f64::INFINITY, f64::min)
    };
    match (one.len(), other.len()) {
        (0, _) => other,
        (_, 0) => one,
        _ if smallest(&one) >= smallest(&other) => one,
        _ => other,
    }
}

/// At most four things.
#[derive(Debug, Clone, Copy)]
pub(super) struct Few<T> {
    items: [T; 4],
    count: usize,
}

impl<T: Copy + Default> Few<T> {
    fn of(items: impl IntoIterator<Item = T>) -> Self {
        let mut few = Self { items: [T::default(); 4], count: 0 };
        for (slot, item) in few.items.iter_mut().zip(items) {
            *slot = item;
            few.count += 1;
        }
        few
    }
}

impl<T> std::ops::Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::super::lattice::{STEPS, is_long};
    use super::super::{ALPHA_LONG, ALPHA_SHORT};
    use super::*;
    use crate::tet_volume;

    const SIDES: [Side; 3] = [Side::Inside, Side::Outside, Side::Surface];

    /// A tetrahedron of the lattice with cubes of edge 1.
    fn corners() -> [DVec3; 4] {
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, -0.5, 0.5], [0.5, 0.5, 0.5]].map(DVec3::from)
    }

    fn all_sides() -> impl Iterator<Item = [Side; 4]> {
        (0..81).map(|n| [n % 3, n / 3 % 3, n / 9 % 3, n / 27].map(|i: usize| SIDES[i]))
    }

    /// Where a surface corner may have moved to, and which other corner it moved towards, if any.
    fn warps(corner: usize) -> Vec<(DVec3, Option<usize>)> {
        let from = corners()[corner];
        let mut warps = vec![(from, None)];
        for (d, step) in STEPS.iter().enumerate() {
            let way = 0.5 * DVec3::from(step.map(f64::from));
            let target = corners().iter().position(|c| c.distance(from + way) < 1e-9);
            let alpha = if is_long(d) { ALPHA_LONG } else { ALPHA_SHORT };
            warps.push((from + alpha * way, target));
        }
        warps
    }

    /// Where a cut may be.
    fn cuts(inside: usize, outside: usize) -> [DVec3; 3] {
        let alpha = if joined_by_long(inside, outside) { ALPHA_LONG } else { ALPHA_SHORT };
        [alpha, 0.5, 1.0 - alpha].map(|t| corners()[inside].lerp(corners()[outside], t))
    }

    /// All positions of corners and cuts at the ends and in the middle of their ranges.
    fn for_each_shape(sides: [Side; 4], mut f: impl FnMut(&dyn Fn(Point) -> DVec3)) {
        let pairs: Vec<(usize, usize)> = (0..16)
            .map(|n| (n / 4, n % 4))
            .filter(|&(i, o)| sides[i] == Side::Inside && sides[o] == Side::Outside)
            .collect();
        let choices: Vec<Vec<(DVec3, Option<usize>)>> = (0..4)
            .map(|i| if sides[i] == Side::Surface { warps(i) } else { vec![(corners()[i], None)] })
            .chain(pairs.iter().map(|&(i, o)| cuts(i, o).map(|p| (p, None)).to_vec()))
            .collect();
        let total: usize = choices.iter().map(Vec::len).product();
        for mut number in 0..total {
            let chosen: Vec<_> = choices
                .iter()
                .map(|options| {
                    let option = options[number % options.len()];
                    number /= options.len();
                    option
                })
                .collect();
            // Corners do not move towards each other in a circle: a cut has one side, and signs alternate.
            let next = |i: usize| chosen[i].1.filter(|&to| sides[to] == Side::Surface);
            let circle = (0..4).any(|i| [Some(i)].contains(&next(i).and_then(next)))
                || (0..4).any(|i| next(i).and_then(next).and_then(next) == Some(i));
            if circle {
                continue;
            }
            f(&|point| match point {
                Point::Corner(i) => chosen[i].0,
                Point::Cut { inside, outside } => {
                    let index = pairs.iter().position(|&pair| pair == (inside, outside));
                    index.map_or(DVec3::NAN, |index| chosen[4 + index].0)
                }
            });
        }
    }

    #[test]
    fn the_worst_angles_of_all_stencils_are_those_promised() {
        let (mut smallest, mut largest) = (f64::INFINITY, 0f64);
        for sides in all_sides() {
            for_each_shape(sides, |at| {
                for tet in fill(sides, [0, 2], at).iter() {
                    let angles = dihedral_angles(tet.map(at));
                    smallest = angles.into_iter().fold(smallest, f64::min);
                    largest = angles.into_iter().fold(largest, f64::max);
                }
            });
        }
        assert!(smallest > 10.7 && largest < 164.8, "{smallest} {largest}");
    }

    #[test]
    fn what_is_inside_is_filled_once() {
        for sides in all_sides() {
            for even in [[0, 2], [1, 2], [0, 3], [1, 3]] {
                let at = |point| match point {
                    Point::Corner(i) => corners()[i],
                    Point::Cut { inside, outside } => corners()[inside].lerp(corners()[outside], 0.45),
                };
                let tets = fill(sides, even, at);
                let volume: f64 = tets.iter().map(|tet| tet_volume(tet.map(at)).abs()).sum();
                let count = |side| sides.iter().filter(|&&s| s == side).count();
                let t: f64 = 0.45;
                let part = match (count(Side::Inside), count(Side::Outside)) {
                    (0, _) => 0.0,
                    (_, 0) => 1.0,
                    (1, outside) => t.powi(outside as i32),
                    // What is outside is one corner of the whole, or of the part beyond the surface.
                    (2, 1) => 1.0 - (1.0 - t) * (1.0 - t),
                    (3, _) => 1.0 - (1.0 - t).powi(3),
                    _ => t * t * (3.0 - 2.0 * t),
                };
                assert!((volume * 12.0 - part).abs() < 1e-12, "{sides:?} {even:?}: {volume} {part}");
            }
        }
    }

    #[test]
    fn neighbours_choose_the_same_diagonals() {
        // The same face with its corners in any order: which position is even goes with the corner.
        for (a, b, outside) in [(0, 1, 2), (0, 2, 1), (0, 3, 1), (1, 2, 3), (2, 3, 0)] {
            for even in [[0, 2], [1, 2], [0, 3], [1, 3]] {
                assert_eq!(diagonal(a, b, outside, even), diagonal(b, a, outside, even));
            }
        }
    }
}
