//! Linear systems of 3×3 blocks, one row per node: matrices, conjugate gradients, multigrid.
//!
//! Rows are cut into pieces of fixed length. Threads share out pieces, every row is a gather, and sums over rows are added
//! piece by piece in order: the bits do not depend on the number of threads.

mod aggregates;
mod block;
mod cg;
mod cholesky;
mod contact_rows;
mod matrix;
mod multigrid;
mod preconditioner;
mod prolongation;
mod rigid_unknowns;
mod skyline;
mod sparse;
mod spectrum;

pub(crate) use cg::{Cg, Goal, Outcome, Part, Unknowns, find_residual, move_given, solve};
pub(crate) use contact_rows::{ContactRow, End};
pub(crate) use matrix::{Matrix, Piece, ROWS};
pub(crate) use preconditioner::{Preconditioner, RestMatrix};
pub(crate) use rigid_unknowns::{ContactRows, Float, Rider, Twist};
