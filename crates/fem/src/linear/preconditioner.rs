//! The solve of the body at rest, exact or by a multigrid cycle, seen from frames that turn with its nodes.
//!
//! The warped stiffness K' = Σ Rₑ Kₑ Rₑᵀ of a bent body is close to R K R ᵀ, with K the stiffness at rest and R the
//! rotations of the nodes, the mean of those of their elements. So a hierarchy or a factor is made once for a M + c K at rest, and
//! R cycle(Rᵀ r) preconditions every step that follows until the topology, the supports or c/a change. It depends on
//! the state only, never on the steps before, so that a resumed run repeats every bit.
//!
//! Where a material has become much stiffer or softer than at rest, s R⁻¹ takes the place of R⁻¹, with s² the ratio of the
//! diagonals.

use super::block::{Block, Single};
use super::matrix::{LIGHT_PIECES, Matrix, ROWS};
use super::multigrid::Multigrid;
use super::prolongation::rigid_modes;
use super::sparse::Sparse;
use crate::axes::Axes;
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

/// Largest ratio of stiffness to inertia up to which rounding the hierarchy to single precision keeps it positive.
const SINGLE: f64 = 1e5;

/// Diagonals within this factor of those at rest are left to the hierarchy.
const SIMILAR: f64 = 4.0;

/// A body's matrix at rest.
pub(crate) struct RestMatrix<'a> {
    /// a M + c K.
    pub(crate) matrix: &'a Matrix<DMat3>,
    /// Positions at rest \[m\].
    pub(crate) position: &'a [DVec3],
    /// Directions in which nodes do not move freely.
    pub(crate) fixed: &'a [Axes],
    /// a m of every node.
    pub(crate) inertia: &'a [f64],
}

/// An approximate inverse of a body's matrix.
pub(crate) enum Preconditioner {
    /// In single precision.
    Single(Turned<Single>),
    /// In double precision, for bodies that are very stiff for the step.
    Double(Turned<DMat3>),
}

impl Preconditioner {
    /// Builds the hierarchy.
    pub(crate) fn new(rest: &RestMatrix<'_>) -> Self {
        let sparse = Sparse::without(rest.matrix, rest.fixed);
        let diagonal = |i: usize| DVec3::from_array([0, 1, 2].map(|k| sparse.diagonal(i).col(k)[k]));
        let ratio = |i: usize| rest.fixed[i].free_part(diagonal(i) / rest.inertia[i]).max_element();
        let stiffness = (0..sparse.rows()).map(ratio).fold(0.0, f64::max);
        let center = rest.position.iter().sum::<DVec3>() / rest.position.len().max(1) as f64;
        let position: Vec<DVec3> = rest.position.iter().map(|p| *p - center).collect();
        let modes = rigid_modes(&position, rest.fixed);
        let (scaled, scale) = scaled(sparse);
        if stiffness < SINGLE {
            Self::Single(Turned::new(Multigrid::new(scaled, modes, rest.fixed), rest.matrix.traces(), scale))
        } else {
            Self::Double(Turned::new(Multigrid::new(scaled, modes, rest.fixed), rest.matrix.traces(), scale))
        }
    }

    /// Turns the frames of the nodes.
    pub(crate) fn turn(&mut self, rotation: impl Fn(usize) -> DQuat + Sync) {
        match self {
            Self::Single(turned) => turned.turn(rotation),
            Self::Double(turned) => turned.turn(rotation),
        }
    }

    /// Stretches the frames of nodes whose diagonal differs much from that at rest, times `inertia`.
    pub(crate) fn stretch(&mut self, matrix: &Matrix<DMat3>, inertia: f64) {
        match self {
            Self::Single(turned) => turned.stretch(matrix, inertia),
            Self::Double(turned) => turned.stretch(matrix, inertia),
        }
    }

    /// What z is to be multiplied with where its size matters, for the matrix at rest.
    pub(crate) fn scale(&self) -> f64 {
        match self {
            Self::Single(turned) => turned.scale,
            Self::Double(turned) => turned.scale,
        }
    }

    /// Mean entry of a node on the diagonal of the matrix at rest.
    pub(crate) fn rest_diagonal(&self, node: usize) -> f64 {
        match self {
            Self::Single(turned) => turned.traces[node] / 3.0,
            Self::Double(turned) => turned.traces[node] / 3.0,
        }
    }

    /// z ≈ A⁻¹ r on the free nodes, up to its [scale](Self::scale); returns r·z.
    pub(crate) fn apply(&mut self, r: &[DVec3], z: &mut [DVec3], partial: &mut [f64]) -> f64 {
        match self {
            Self::Single(turned) => turned.apply(r, z, partial),
            Self::Double(turned) => turned.apply(r, z, partial),
        }
    }
}

/// Scales a matrix to diagonals of about one, far from the ends of single precision; with the factor.
fn scaled(mut a: Sparse) -> (Sparse, f64) {
    let rows = a.rows();
    let mean = (0..rows).map(|i| a.diagonal(i).x_axis.x).sum::<f64>() / rows.max(1) as f64;
    let factor = if mean > 0.0 { 1.0 / mean } else { 1.0 };
    a.values.iter_mut().for_each(|block| *block *= factor);
    (a, factor)
}

/// A hierarchy with a frame per node.
pub(crate) struct Turned<B: Block> {
    pub(super) multigrid: Multigrid<B>,
    /// Traces of the diagonal blocks at rest.
    traces: Vec<f64>,
    /// The scaled matrix over that at rest.
    scale: f64,
    frames: Vec<B>,
    b: Vec<B::Vector>,
    x: Vec<B::Vector>,
}

impl<B: Block> Turned<B> {
    fn new(multigrid: Multigrid<B>, traces: Vec<f64>, scale: f64) -> Self {
        let (zero, rows) = (B::Vector::default(), traces.len());
        let frames = vec![B::round(DMat3::IDENTITY); rows];
        Self { multigrid, traces, scale, frames, b: vec![zero; rows], x: vec![zero; rows] }
    }

    fn turn(&mut self, rotation: impl Fn(usize) -> DQuat + Sync) {
        let turn = |(i, frame): (usize, &mut B)| *frame = B::round(DMat3::from_quat(rotation(i)));
        self.frames.par_iter_mut().with_min_len(2 * ROWS).enumerate().for_each(turn);
    }

    fn stretch(&mut self, matrix: &Matrix<DMat3>, inertia: f64) {
        for ((frame, now), rest) in self.frames.iter_mut().zip(matrix.traces()).zip(&self.traces) {
            let ratio = now / (inertia * rest);
            if ratio > SIMILAR || ratio * SIMILAR < 1.0 && ratio > 0.0 {
                *frame = frame.scaled(1.0 / ratio.sqrt());
            }
        }
    }

    fn apply(&mut self, r: &[DVec3], z: &mut [DVec3], partial: &mut [f64]) -> f64 {
        let frames = &self.frames;
        self.b
            .par_chunks_mut(ROWS)
            .zip(r.par_chunks(ROWS))
            .zip(frames.par_chunks(ROWS))
            .with_min_len(LIGHT_PIECES)
            .for_each(|((b, r), frames)| {
                for ((b, r), frame) in b.iter_mut().zip(r).zip(frames) {
                    *b = frame.transposed_times(B::round_vector(*r));
                }
            });
        self.multigrid.cycle(&self.b, &mut self.x);
        let rows = z.par_chunks_mut(ROWS).zip(self.x.par_chunks(ROWS)).zip(frames.par_chunks(ROWS));
        let rows = rows.zip(r.par_chunks(ROWS)).zip(partial.par_iter_mut()).with_min_len(LIGHT_PIECES);
        rows.for_each(|((((z, x), frames), r), partial)| {
            *partial = 0.0;
            for (((z, x), frame), r) in z.iter_mut().zip(x).zip(frames).zip(r) {
                *z = B::widen(frame.times(*x));
                *partial += r.dot(*z);
            }
        });
        partial[..z.len().div_ceil(ROWS)].iter().sum()
    }
}
