//! A multigrid cycle as a preconditioner: smoothed aggregation, Chebyshev smoothing, a dense solve at the bottom.
//!
//! One cycle on a level, for A x = b from x = 0 (SpMV: a product with A):
//!
//! ```text
//! x ← c₀ D⁻¹ b                                     smooth, first degree
//! x ← x + c₁ x + c₂ D⁻¹ (b − A x)                  smooth, second degree   SpMV
//! x ← x + P cycle(Pᵀ (b − A x))                    correct                 SpMV
//! d ← c₀ D⁻¹ (b − A x),  x ← x + d                 smooth again            SpMV
//! x ← x + c₁ d + c₂ D⁻¹ (b − A x)                                          SpMV
//! ```
//!
//! A body whose matrix can be factored within a [skyline](super::skyline) has no levels: its solve is exact.
//!
//! The same polynomial before and after makes the cycle symmetric; it is positive whatever the levels below do.

use super::aggregates::{Graph, NONE, aggregate};
use super::block::Block;
use super::cholesky;
use super::matrix::{LIGHT_PIECES, Matrix, ROWS};
use super::prolongation::{self, Modes};
use super::skyline::Skyline;
use super::sparse::Sparse;
use super::spectrum;
use crate::axes::Axes;
use glam::DMat3;
use rayon::prelude::*;

/// Rows of 3×3 blocks below which a level is inverted.
const BOTTOM: usize = 90;
/// Most levels above the bottom.
const LEVELS: usize = 8;
/// The smoother leaves eigenvalues below the largest divided by this to the coarser levels.
const RANGE: f64 = 10.0;
/// Edges between the roots of aggregates on the finest level, and on the others, which have more neighbours.
const REACH: [usize; 2] = [3, 2];

/// A hierarchy of ever coarser systems.
pub(crate) struct Multigrid<B: Block> {
    levels: Vec<Level<B>>,
    bottom: Bottom<B>,
}

struct Level<B: Block> {
    matrix: Matrix<B>,
    inverse_diagonal: Vec<B>,
    chebyshev: [f64; 3],
    /// P: from the next coarser level to this one.
    up: Matrix<B>,
    /// Pᵀ.
    down: Matrix<B>,
    x: Vec<B::Vector>,
    y: Vec<B::Vector>,
    coarse_b: Vec<B::Vector>,
    coarse_x: Vec<B::Vector>,
}

/// The coarsest level: its factor where it is the only one, its inverse, or its inverse diagonal where it has remained too large to
/// invert.
enum Bottom<B: Block> {
    Factor(Skyline<B>),
    Inverse(Matrix<B>),
    Diagonal(Vec<B>),
}

impl<B: Block> Multigrid<B> {
    /// Builds the hierarchy of a symmetric positive matrix with its rigid motions.
    pub(crate) fn new(mut a: Sparse, mut modes: Vec<Modes>, fixed: &[Axes]) -> Self {
        let mut levels: Vec<Level<B>> = Vec::new();
        if let Some(factor) = Skyline::new(&a) {
            return Self { levels, bottom: Bottom::Factor(factor) };
        }
        let mut width = 1;
        while a.rows() > BOTTOM && levels.len() < LEVELS {
            let active = |node: usize| width > 1 || !fixed[node].all();
            let aggregates = aggregate(&Graph::new(&a, width), active, REACH[width - 1]);
            let columns = 2 * aggregates.count;
            // Bodies in very many pieces do not get any coarser.
            if columns * 2 > a.rows() || columns == 0 {
                break;
            }
            debug_assert!(aggregates.of.iter().enumerate().all(|(node, &of)| (of == NONE) != active(node)));
            let (tentative, coarse_modes) = prolongation::tentative(&aggregates, &modes, width);
            let inverse_diagonal = inverse_diagonal(&a);
            let largest = spectrum::largest_eigenvalue(&a, &inverse_diagonal);
            let p = prolongation::smoothed(&a, &inverse_diagonal, largest, &tentative, columns);
            let down = p.transposed(columns);
            let mut coarse = down.times(&a.times(&p, columns), columns);
            hold_empty_motions(&mut coarse);
            levels.push(Level::new(&a, &inverse_diagonal, largest, [&p, &down]));
            (a, modes, width) = (coarse, coarse_modes, 2);
        }
        Self { bottom: Bottom::new(&a), levels }
    }

    /// Number of levels, and the number of blocks on all of them over that on the finest.
    #[cfg(test)]
    pub(crate) fn complexity(&self) -> (usize, f64) {
        let blocks = |level: &Level<B>| level.matrix.blocks() as f64;
        let finest = self.levels.first().map_or(1.0, blocks);
        (self.levels.len() + 1, self.levels.iter().map(blocks).sum::<f64>() / finest)
    }

    /// x ≈ A⁻¹ b by one cycle.
    pub(crate) fn cycle(&mut self, b: &[B::Vector], x: &mut [B::Vector]) {
        cycle(&mut self.levels, &mut self.bottom, b, x);
    }
}

fn cycle<B: Block>(levels: &mut [Level<B>], bottom: &mut Bottom<B>, b: &[B::Vector], out: &mut [B::Vector]) {
    let Some((level, coarser)) = levels.split_first_mut() else { return bottom.solve(b, out) };
    let Level { matrix, inverse_diagonal, chebyshev: [c0, c1, c2], up, down, x, y, coarse_b, coarse_x } = level;
    let (d, [c0, c1, c2]) = (&*inverse_diagonal, [*c0, *c1, *c2]);
    let smooth = |factor: f64, i: usize, ax: B::Vector| B::scale(d[i].times(b[i] - ax), factor);
    for_each_row(x, |i| smooth(c0, i, B::Vector::default()));
    matrix.map(x, y, |i, ax| x[i] + B::scale(x[i], c1) + smooth(c2, i, ax));
    matrix.map(y, x, |i, ay| b[i] - ay);
    down.map(x, coarse_b, |_, sum| sum);
    cycle(coarser, bottom, coarse_b, coarse_x);
    up.map(coarse_x, x, |i, correction| y[i] + correction);
    matrix.map(x, y, |i, ax| x[i] + smooth(c0, i, ax));
    matrix.map(y, out, |i, ay| y[i] + B::scale(y[i] - x[i], c1) + smooth(c2, i, ay));
}

fn for_each_row<V: Send>(x: &mut [V], value: impl Fn(usize) -> V + Sync) {
    x.par_chunks_mut(ROWS).with_min_len(LIGHT_PIECES).enumerate().for_each(|(number, piece)| {
        piece.iter_mut().enumerate().for_each(|(k, x)| *x = value(number * ROWS + k));
    });
}

impl<B: Block> Level<B> {
    fn new(a: &Sparse, inverse_diagonal: &[DMat3], largest: f64, [p, down]: [&Sparse; 2]) -> Self {
        let (rows, columns) = (a.rows(), down.rows());
        Self {
            matrix: Matrix::round(a),
            inverse_diagonal: inverse_diagonal.iter().map(|&block| B::round(block)).collect(),
            chebyshev: chebyshev(largest / RANGE, largest),
            up: Matrix::round(p),
            down: Matrix::round(down),
            x: vec![B::Vector::default(); rows],
            y: vec![B::Vector::default(); rows],
            coarse_b: vec![B::Vector::default(); columns],
            coarse_x: vec![B::Vector::default(); columns],
        }
    }
}

impl<B: Block> Bottom<B> {
    fn new(a: &Sparse) -> Self {
        if a.rows() > 2 * BOTTOM {
            return Self::Diagonal(inverse_diagonal(a).into_iter().map(B::round).collect());
        }
        let n = a.rows();
        let mut full = vec![vec![0.0; 3 * n]; 3 * n];
        for i in 0..n {
            let (columns, values) = a.row(i);
            for (&j, block) in columns.iter().zip(values) {
                for (c, column) in block.to_cols_array_2d().into_iter().enumerate() {
                    (0..3).for_each(|r| full[3 * i + r][3 * j as usize + c] = column[r]);
                }
            }
        }
        let inverse = cholesky::inverse(full);
        let block = |i: usize, j: usize| {
            DMat3::from_cols_array_2d(&[0, 1, 2].map(|c| [0, 1, 2].map(|r| inverse[3 * i + r][3 * j + c])))
        };
        let rows: Vec<_> = (0..n).map(|i| (0..n).map(|j| (j as u32, block(i, j))).collect()).collect();
        Self::Inverse(Matrix::round(&Sparse::from_rows(&rows)))
    }

    fn solve(&mut self, b: &[B::Vector], x: &mut [B::Vector]) {
        match self {
            Self::Factor(factor) => factor.solve(b, x),
            Self::Inverse(inverse) => inverse.map(b, x, |_, sum| sum),
            Self::Diagonal(inverse) => for_each_row(x, |i| inverse[i].times(b[i])),
        }
    }
}

/// Coefficients of the Chebyshev polynomial of degree two for eigenvalues between `low` and `high` \[Saad03 alg. 12.1\].
fn chebyshev(low: f64, high: f64) -> [f64; 3] {
    let (theta, delta) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = theta / delta;
    let rho = 1.0 / (2.0 * sigma - 1.0 / sigma);
    [1.0 / theta, rho / sigma, 2.0 * rho / delta]
}

pub(super) fn inverse_diagonal(a: &Sparse) -> Vec<DMat3> {
    let invert = |block: DMat3| {
        let d = [block.x_axis.x, block.y_axis.y, block.z_axis.z];
        let determinant = block.determinant();
        // A block of a sliver may be singular to rounding; its diagonal then has to do.
        if determinant > 1e-12 * d[0] * d[1] * d[2] {
            block.inverse()
        } else {
            DMat3::from_diagonal(glam::DVec3::from_array(d.map(|d| if d > 0.0 { 1.0 / d } else { 0.0 })))
        }
    };
    (0..a.rows()).map(|i| invert(a.diagonal(i))).collect()
}

/// Motions that an aggregate does not have (two nodes cannot turn about their line) get a unit diagonal.
fn hold_empty_motions(a: &mut Sparse) {
    for i in 0..a.rows() {
        let range = a.start[i] as usize..a.start[i + 1] as usize;
        if let Ok(k) = a.columns[range.clone()].binary_search(&(i as u32)) {
            let block = &mut a.values[range.start + k];
            for c in 0..3 {
                let diagonal = &mut block.col_mut(c)[c];
                *diagonal = if *diagonal > 0.0 { *diagonal } else { 1.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::linear::preconditioner::Preconditioner;
    use crate::params::{Material, Params};
    use glam::DVec3;
    use meniscus_geometry::TetMesh;

    #[test]
    fn polynomials_of_the_smoother_are_those_of_chebyshev() {
        let (low, high) = (0.3, 2.1);
        let [c0, c1, c2] = chebyshev(low, high);
        // What is left of an error after one smoothing, as a polynomial of the eigenvalue.
        let left = |a: f64| {
            let x = c0;
            1.0 - a * (x + c1 * x + c2 * (1.0 - a * x))
        };
        let t2 = |y: f64| 2.0 * y * y - 1.0;
        let scaled = |a: f64| (high + low - 2.0 * a) / (high - low);
        for a in [0.0, 0.3, 0.7, 1.5, 2.1] {
            assert!((left(a) - t2(scaled(a)) / t2(scaled(0.0))).abs() < 1e-14, "{a}");
        }
    }

    #[test]
    fn coarser_levels_cost_less_than_the_finest() {
        let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.25, 0.25), [32, 8, 8]);
        let mut body = Body::new("beam", &mesh, Params::default(), Material::default()).unwrap();
        body.fix(|p| p.x < 1e-9);
        body.step(1.0 / 60.0, DVec3::Y, &mut meniscus_core::StepReport::default()).unwrap();
        let Some(Preconditioner::Single(turned)) = &body.work.preconditioner else { panic!("no hierarchy") };
        let (levels, complexity) = turned.multigrid.complexity();
        assert!(levels >= 3 && complexity < 1.5, "{levels} levels, {complexity}");
    }
}
