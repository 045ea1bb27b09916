//! The triangular factor of a small symmetric positive matrix, kept within its skyline: an exact solve.
//!
//! Rows are put in an order in which neighbours stand close together \[CM69\], so that each row of L in A = L Lᵀ is a short
//! run that ends at the diagonal; what is left of the run is zero and stays zero.

use super::block::Block;
use super::sparse::Sparse;
use fearless_simd::{Level, Simd, dispatch};
use std::collections::VecDeque;
use std::ops::{Add, Mul, Sub};

/// Most numbers in a factor: what the second cache holds in single precision, and a cycle of the hierarchy costs as much.
const MAX_ENTRIES: usize = 160_000;

/// Pivots below this part of the largest diagonal entry belong to motions without resistance; they are left alone.
const NEGLIGIBLE: f64 = 1e-13;

/// Products of a run that are summed side by side. Part of the result's definition.
const LANES: usize = 8;

/// A real number of either precision.
pub(crate) trait Number:
    Copy + Default + Send + Sync + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Rounds a number to this precision.
    fn round(x: f64) -> Self;
}

impl Number for f32 {
    fn round(x: f64) -> Self {
        x as f32
    }
}

impl Number for f64 {
    fn round(x: f64) -> Self {
        x
    }
}

/// The factor of a matrix of 3×3 blocks.
pub(crate) struct Skyline<B: Block> {
    /// The row of the matrix at each rank.
    order: Vec<u32>,
    /// Where the run of each scalar row starts, and where the last one ends; the diagonal is not in it.
    start: Vec<u32>,
    values: Vec<B::Scalar>,
    /// One over the diagonal; zero where nothing resists.
    inverse: Vec<B::Scalar>,
    x: Vec<B::Scalar>,
}

impl<B: Block> Skyline<B> {
    /// Factors a matrix, unless its skyline is too large.
    pub(crate) fn new(a: &Sparse) -> Option<Self> {
        let order = neighbours_together(a);
        let mut rank = vec![0; order.len()];
        (0..).zip(&order).for_each(|(k, &row)| rank[row as usize] = k);
        let runs: Vec<u32> = order.iter().map(|&row| run(a, &rank, row as usize)).collect();
        let lengths = runs.iter().flat_map(|run| [3 * run, 3 * run + 1, 3 * run + 2]);
        let mut start = vec![0_u32];
        start.extend(lengths.scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        let count = *start.last()? as usize;
        if count > MAX_ENTRIES {
            return None;
        }
        let mut values = vec![0.0; count];
        let mut diagonal = vec![0.0; 3 * order.len()];
        for (k, &row) in order.iter().enumerate() {
            let (columns, blocks) = a.row(row as usize);
            for (&column, block) in columns.iter().zip(blocks) {
                let other = rank[column as usize] as usize;
                for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                    let (i, j) = (3 * k + r, 3 * other + c);
                    if j < i {
                        values[start[i + 1] as usize - (i - j)] = block.col(c)[r];
                    } else if i == j {
                        diagonal[i] = block.col(c)[r];
                    }
                }
            }
        }
        let inverse = factor(&start, &mut values, &diagonal);
        Some(Self {
            order,
            start,
            values: values.into_iter().map(Number::round).collect(),
            x: vec![B::Scalar::default(); inverse.len()],
            inverse: inverse.into_iter().map(Number::round).collect(),
        })
    }

    /// out = A⁻¹ b.
    pub(crate) fn solve(&mut self, b: &[B::Vector], out: &mut [B::Vector]) {
        for (x, &row) in self.x.chunks_exact_mut(3).zip(&self.order) {
            x.copy_from_slice(&B::scalars(b[row as usize]));
        }
        // The same operations on any instruction set, in wider registers.
        dispatch!(Level::new(), simd => simd.vectorize(
            #[inline(always)]
            || self.substitute(),
        ));
        for (x, &row) in self.x.chunks_exact(3).zip(&self.order) {
            out[row as usize] = B::vector([x[0], x[1], x[2]]);
        }
    }

    /// x ← (L Lᵀ)⁻¹ x.
    #[inline(always)]
    fn substitute(&mut self) {
        let Self { start, values, inverse, x, .. } = self;
        let run = |i: usize| &values[start[i] as usize..start[i + 1] as usize];
        for i in 0..x.len() {
            let run = run(i);
            x[i] = (x[i] - dot(run, &x[i - run.len()..i])) * inverse[i];
        }
        for i in (0..x.len()).rev() {
            let run = run(i);
            let (before, after) = x.split_at_mut(i);
            after[0] = after[0] * inverse[i];
            let factor = after[0];
            before[i - run.len()..].iter_mut().zip(run).for_each(|(x, l)| *x = *x - *l * factor);
        }
    }
}

/// How many rows before its own the run of a row starts.
fn run(a: &Sparse, rank: &[u32], row: usize) -> u32 {
    let own = rank[row];
    let first = a.row(row).0.iter().map(|&column| rank[column as usize]).min();
    own - first.unwrap_or(own).min(own)
}

/// L of A = L Lᵀ in place of the lower triangle; returns one over its diagonal.
fn factor(start: &[u32], values: &mut [f64], diagonal: &[f64]) -> Vec<f64> {
    let small = NEGLIGIBLE * diagonal.iter().copied().fold(0.0, f64::max);
    let mut inverse = vec![0.0; diagonal.len()];
    for i in 0..diagonal.len() {
        let (done, own) = values.split_at_mut(start[i] as usize);
        let own = &mut own[..(start[i + 1] - start[i]) as usize];
        let first = i - own.len();
        for j in first..i {
            let other = &done[start[j] as usize..start[j + 1] as usize];
            // Where both runs have begun.
            let shared = other.len().min(j - first);
            let known = dot(&other[other.len() - shared..], &own[j - first - shared..j - first]);
            own[j - first] = (own[j - first] - known) * inverse[j];
        }
        let pivot = diagonal[i] - dot(own, own);
        // A NaN is passed over too.
        if pivot > small {
            inverse[i] = 1.0 / pivot.sqrt();
        } else {
            own.fill(0.0);
        }
    }
    inverse
}

/// The scalar product of two runs, always along the same tree.
#[inline(always)]
fn dot<F: Number>(a: &[F], b: &[F]) -> F {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [F::default(); LANES];
    for (a, b) in a.iter().zip(b) {
        lanes = std::array::from_fn(|k| lanes[k] + a[k] * b[k]);
    }
    let rest = a_rest.iter().zip(b_rest).fold(F::default(), |sum, (a, b)| sum + *a * *b);
    let four: [F; 4] = std::array::from_fn(|k| lanes[k] + lanes[k + 4]);
    (four[0] + four[2]) + (four[1] + four[3]) + rest
}

/// All rows, neighbours close together: breadth first from a row at the border of each part, those with fewer neighbours first
/// \[CM69\].
fn neighbours_together(a: &Sparse) -> Vec<u32> {
    let mut order = Vec::with_capacity(a.rows());
    let mut seen = vec![false; a.rows()];
    for row in 0..a.rows() as u32 {
        if !seen[row as usize] {
            let from = breadth_first(a, row, &mut seen.clone()).last().copied().unwrap_or(row);
            order.extend(breadth_first(a, from, &mut seen));
        }
    }
    order
}

fn breadth_first(a: &Sparse, from: u32, seen: &mut [bool]) -> Vec<u32> {
    let degree = |row: u32| a.row(row as usize).0.len();
    let mut order = Vec::new();
    let mut queue = VecDeque::from([from]);
    seen[from as usize] = true;
    while let Some(row) = queue.pop_front() {
        order.push(row);
        let mut next: Vec<u32> = a.row(row as usize).0.iter().copied().filter(|&j| !seen[j as usize]).collect();
        next.sort_by_key(|&j| degree(j));
        next.iter().for_each(|&j| seen[j as usize] = true);
        queue.extend(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};

    /// Springs between the nodes of a lattice whose numbers are mixed up, all held a little.
    fn lattice(n: usize) -> Sparse {
        let mix = |x: usize, y: usize| (x * n + y) * 7 % (n * n);
        let mut rows = vec![Vec::new(); n * n];
        let mut couple = |i: usize, j: usize, along: DVec3| {
            let spring = DMat3::from_cols(along * along.x, along * along.y, along * along.z) + 0.1 * DMat3::IDENTITY;
            rows[i].push((j as u32, -spring));
            rows[j].push((i as u32, -spring));
            rows[i].push((i as u32, spring));
            rows[j].push((j as u32, spring));
        };
        for (x, y) in (0..n - 1).flat_map(|x| (0..n).map(move |y| (x, y))) {
            couple(mix(x, y), mix(x + 1, y), DVec3::new(1.0, 0.2, 0.1));
            couple(mix(y, x), mix(y, x + 1), DVec3::new(0.3, -1.0, 0.4));
        }
        let summed = rows.into_iter().enumerate().map(|(i, mut row)| {
            row.push((i as u32, 0.05 * DMat3::IDENTITY));
            row.sort_by_key(|entry| entry.0);
            let groups = row.chunk_by(|a, b| a.0 == b.0);
            groups.map(|group| (group[0].0, group.iter().map(|entry| entry.1).sum())).collect::<Vec<_>>()
        });
        Sparse::from_rows(&summed.collect::<Vec<_>>())
    }

    fn product(a: &Sparse, x: &[DVec3]) -> Vec<DVec3> {
        let row = |i| a.row(i).0.iter().zip(a.row(i).1).map(|(&j, block)| *block * x[j as usize]).sum();
        (0..a.rows()).map(row).collect()
    }

    #[test]
    fn the_solution_of_a_product_is_what_was_multiplied() {
        let a = lattice(8);
        let x: Vec<DVec3> = (0..64).map(|k| DVec3::new(1.0, f64::from(k), -0.5 * f64::from(k % 5))).collect();
        let mut out = vec![DVec3::ZERO; 64];
        Skyline::<DMat3>::new(&a).unwrap().solve(&product(&a, &x), &mut out);
        assert!(x.iter().zip(&out).all(|(a, b)| a.distance(*b) < 1e-10));
    }

    #[test]
    fn neighbours_of_a_lattice_stand_close_together() {
        let a = lattice(8);
        let skyline = Skyline::<DMat3>::new(&a).unwrap();
        // Eight rows of eight nodes: runs of at most nine blocks; as they were numbered, up to 63.
        assert!(skyline.values.len() < 64 * 3 * 3 * 9, "{}", skyline.values.len());
        let mut order = skyline.order.clone();
        order.sort_unstable();
        assert_eq!(order, (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn motions_without_resistance_are_left_alone() {
        // A spring between two unsupported masses: only one of them can be pushed.
        let spring = DMat3::from_diagonal(DVec3::new(4.0, 0.0, 1.0));
        let a = Sparse::from_rows(&[vec![(0, spring), (1, -spring)], vec![(0, -spring), (1, spring)]]);
        let mut skyline = Skyline::<DMat3>::new(&a).unwrap();
        let mut push = |force: [DVec3; 2]| {
            let mut out = [DVec3::ONE; 2];
            skyline.solve(&force, &mut out);
            out
        };
        let [first, second] = [push([DVec3::ONE, DVec3::ZERO]), push([DVec3::ZERO, DVec3::ONE])];
        assert_eq!(first[0] + second[1], DVec3::new(0.25, 0.0, 1.0));
        assert_eq!((first[1], second[0]), (DVec3::ZERO, DVec3::ZERO));
    }

    #[test]
    fn large_matrices_are_refused() {
        assert!(Skyline::<DMat3>::new(&lattice(40)).is_none());
    }
}
