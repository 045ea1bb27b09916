//! Preconditioned conjugate gradients over one body or several that are linked. They say how they ended.

use super::contact_rows::add_links;
use super::matrix::{LIGHT_PIECES, Matrix, ROWS};
use super::preconditioner::Preconditioner;
use super::rigid_unknowns::ContactRows;
use crate::axes::Axes;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Products with the matrix in the loop.
    pub(crate) iterations: u32,
    /// Norm of b − A x.
    pub(crate) residual: f64,
    /// Whether the residual is below the goal.
    pub(crate) converged: bool,
    /// Whether a direction was found in which the matrix is not positive.
    pub(crate) indefinite: bool,
}

/// A body's part of the system A x = b in the directions that are free.
pub(crate) struct Part<'a> {
    /// A, without links.
    pub(crate) matrix: &'a Matrix<DMat3>,
    /// Directions that are not solved for; their part of x is given.
    pub(crate) fixed: &'a [Axes],
    /// An approximate inverse; without one, the identity.
    pub(crate) preconditioner: Option<&'a mut Preconditioner>,
    /// Vectors of the iteration.
    pub(crate) cg: &'a mut Cg,
    /// b.
    pub(crate) b: &'a mut [DVec3],
    /// x.
    pub(crate) x: &'a mut [DVec3],
    /// A part of the solution that is known beforehand.
    pub(crate) given: &'a [DVec3],
}

/// What has a part of the system.
pub(crate) trait Unknowns {
    /// The part.
    fn part(&mut self) -> Part<'_>;
}

impl<U: Unknowns> Unknowns for &mut U {
    fn part(&mut self) -> Part<'_> {
        (**self).part()
    }
}

/// When a solve may end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    /// Largest norm of b − A x.
    pub(crate) residual: f64,
    /// Most iterations.
    pub(crate) iterations: u32,
}

/// Vectors of the iteration.
#[derive(Default)]
pub(crate) struct Cg {
    /// b − A x; holds it after a solve too.
    pub(crate) residual: Vec<DVec3>,
    direction: Vec<DVec3>,
    product: Vec<DVec3>,
    preconditioned: Vec<DVec3>,
    partial: Vec<f64>,
}

impl Cg {
    /// Makes room for `rows` rows.
    pub(crate) fn resize(&mut self, rows: usize) {
        for vector in [&mut self.residual, &mut self.direction, &mut self.product, &mut self.preconditioned] {
            vector.resize(rows, DVec3::ZERO);
        }
        self.partial.resize(rows.div_ceil(ROWS), 0.0);
    }
}

/// residual = b − A x in the free directions, zero in the fixed; returns its norm.
pub(crate) fn find_residual<U: Unknowns>(all: &mut [U], links: &mut ContactRows) -> f64 {
    residual_of(all, links, |part| part.x)
}

/// b ← b − A g for the given part g of the solution; returns its norm.
pub(crate) fn move_given<U: Unknowns>(all: &mut [U], links: &mut ContactRows) -> f64 {
    let norm = residual_of(all, links, |part| part.given);
    for one in all {
        let part = one.part();
        part.b.copy_from_slice(&part.cg.residual);
    }
    norm
}

fn residual_of<U: Unknowns>(
    all: &mut [U],
    links: &mut ContactRows,
    x: impl for<'a> Fn(&'a Part<'_>) -> &'a [DVec3],
) -> f64 {
    let mut square = 0.0;
    for one in &mut *all {
        let part = one.part();
        let mut residual = std::mem::take(&mut part.cg.residual);
        let mut partial = std::mem::take(&mut part.cg.partial);
        square += part.matrix.map_sum(x(&part), &mut residual, &mut partial, |i, ax| {
            let r = part.fixed[i].free_part(part.b[i] - ax);
            (r, r.length_squared())
        });
        (part.cg.residual, part.cg.partial) = (residual, partial);
    }
    if links.is_empty() {
        return square.sqrt();
    }
    add_links(all, links, -1.0, |part, i| x(part)[i], |part, i| &mut part.cg.residual[i]);
    residual_norm(all)
}

/// Norm of the residual.
fn residual_norm<U: Unknowns>(all: &mut [U]) -> f64 {
    let square = |one: &mut U| one.part().cg.residual.iter().map(|r| r.length_squared()).sum::<f64>();
    all.iter_mut().map(square).sum::<f64>().sqrt()
}

/// Improves x, whose residual must have been found, until the residual is below the goal.
pub(crate) fn solve<U: Unknowns>(all: &mut [U], links: &mut ContactRows, goal: Goal) -> Outcome {
    let mut norm = residual_norm(all);
    let mut iterations = 0;
    let mut indefinite = false;
    let mut plain = false;
    while norm > goal.residual && iterations < goal.iterations {
        let start = norm;
        let end;
        (iterations, end) = descend(all, links, goal, iterations, plain);
        indefinite = end == Descent::IndefiniteMatrix;
        // What the recurrence says is not believed before it has been checked.
        norm = find_residual(all, links);
        // Cracks leave hinges behind that can spoil the hierarchy: the rest is done without it.
        if end == Descent::IndefinitePreconditioner && !plain {
            plain = true;
            continue;
        }
        // A restart that does not help has met rounding, or a NaN.
        let helps = norm < 0.5 * start;
        if end != Descent::Over || !helps {
            break;
        }
    }
    Outcome { iterations, residual: norm, converged: norm <= goal.residual, indefinite }
}

/// How a descent ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Descent {
    /// At the goal, or after the last iteration allowed.
    Over,
    /// There is a direction in which the matrix is not positive.
    IndefiniteMatrix,
    /// There is a direction in which the preconditioner is not positive.
    IndefinitePreconditioner,
}

/// Conjugate gradients from the present residual until the recurrence reaches the goal. Returns the iterations so far
/// and how it ended.
fn descend<U: Unknowns>(
    all: &mut [U],
    links: &mut ContactRows,
    goal: Goal,
    mut iterations: u32,
    plain: bool,
) -> (u32, Descent) {
    let precondition = if plain { copy_residual } else { precondition };
    let mut rz = precondition(all);
    for one in &mut *all {
        let Cg { direction, preconditioned, .. } = one.part().cg;
        direction.copy_from_slice(preconditioned);
    }
    loop {
        let pq = multiply(all, links);
        // A NaN is not positive.
        let positive = [pq, rz].map(|square| square > 0.0);
        match positive {
            [true, true] => {}
            [true, false] => return (iterations, Descent::IndefinitePreconditioner),
            [false, _] => return (iterations, Descent::IndefiniteMatrix),
        }
        let square: f64 = all.iter_mut().map(|one| advance(rz / pq, one.part())).sum();
        iterations += 1;
        if square.sqrt() <= goal.residual || iterations == goal.iterations {
            return (iterations, Descent::Over);
        }
        let before = rz;
        rz = precondition(all);
        all.iter_mut().for_each(|one| turn_direction(rz / before, one.part().cg));
    }
}

/// z = approximately A⁻¹ r; returns r·z.
fn precondition<U: Unknowns>(all: &mut [U]) -> f64 {
    let apply = |one: &mut U| {
        let Part { preconditioner, cg: Cg { residual, preconditioned, partial, .. }, .. } = one.part();
        match preconditioner {
            Some(preconditioner) => preconditioner.apply(residual, preconditioned, partial),
            None => {
                preconditioned.copy_from_slice(residual);
                residual.iter().map(|r| r.length_squared()).sum()
            }
        }
    };
    all.iter_mut().map(apply).sum()
}

/// z = r; returns r·z.
fn copy_residual<U: Unknowns>(all: &mut [U]) -> f64 {
    let copy = |one: &mut U| {
        let Cg { residual, preconditioned, .. } = one.part().cg;
        preconditioned.copy_from_slice(residual);
        residual.iter().map(|r| r.length_squared()).sum::<f64>()
    };
    all.iter_mut().map(copy).sum()
}

/// q = A p; returns p·q.
fn multiply<U: Unknowns>(all: &mut [U], links: &mut ContactRows) -> f64 {
    let mut pq = 0.0;
    for one in &mut *all {
        let Part { matrix, fixed, cg: Cg { direction: p, product: q, partial, .. }, .. } = one.part();
        pq += matrix.map_sum(p, q, partial, |i, ap| {
            let ap = fixed[i].free_part(ap);
            (ap, p[i].dot(ap))
        });
    }
    pq + add_links(all, links, 1.0, |part, i| part.cg.direction[i], |part, i| &mut part.cg.product[i])
}

/// x += α p, r −= α q; returns |r|².
fn advance(alpha: f64, part: Part<'_>) -> f64 {
    let Part { x, cg: Cg { residual: r, direction: p, product: q, partial, .. }, .. } = part;
    let rows = x.par_chunks_mut(ROWS).zip(r.par_chunks_mut(ROWS)).zip(p.par_chunks(ROWS)).zip(q.par_chunks(ROWS));
    rows.zip(partial.par_iter_mut()).with_min_len(LIGHT_PIECES).for_each(|((((x, r), p), q), partial)| {
        *partial = 0.0;
        for (((x, r), p), q) in x.iter_mut().zip(r).zip(p).zip(q) {
            *x += alpha * *p;
            *r -= alpha * *q;
            *partial += r.length_squared();
        }
    });
    partial[..x.len().div_ceil(ROWS)].iter().sum()
}

/// p ← z + β p.
fn turn_direction(beta: f64, cg: &mut Cg) {
    let Cg { direction: p, preconditioned: z, .. } = cg;
    p.par_chunks_mut(ROWS).zip(z.par_chunks(ROWS)).with_min_len(LIGHT_PIECES).for_each(|(p, z)| {
        p.iter_mut().zip(z).for_each(|(p, z)| *p = *z + beta * *p);
    });
}
