//! A bound of the eigenvalues that a smoother has to reckon with.
//!
//! Lanczos' method for D⁻¹ A, which is symmetric in the product xᵀ D y. From a random start in n dimensions, the largest
//! eigenvalue of its k × k matrix is below (1 − ε) λ with a probability of at most 1.648 √n exp(−√ε (2k − 1)) \[KW92\]. The
//! smoother stays stable up to 1.1 times the bound, so that ε = 0.17 does no harm: a chance of 1e-4 for n = 10⁶ and k = 20. What is
//! found comes far closer in practice. Power iterations do worse with the same products: their error falls with 1/k.

use super::prolongation::start_vector;
use super::sparse::Sparse;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// k: products with the matrix.
const STEPS: usize = 20;
/// What is found, times this, is the bound.
const MARGIN: f64 = 1.1;

/// Not less than the largest eigenvalue of D⁻¹ A, and little more.
pub(super) fn largest_eigenvalue(a: &Sparse, inverse_diagonal: &[DMat3]) -> f64 {
    let (diagonal, beside) = lanczos(a, inverse_diagonal, STEPS);
    MARGIN * largest_of_tridiagonal(&diagonal, &beside)
}

/// The diagonal and the one beside it of Lanczos' matrix. v is a vector of the basis, p = D v.
fn lanczos(a: &Sparse, inverse_diagonal: &[DMat3], steps: usize) -> (Vec<f64>, Vec<f64>) {
    let n = a.rows();
    let mut p: Vec<DVec3> = (0..n).map(start_vector).collect();
    let mut v = vec![DVec3::ZERO; n];
    let mut p_before = vec![DVec3::ZERO; n];
    let mut next = vec![DVec3::ZERO; n];
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut beta = 0.0;
    for step in 0..steps.min(3 * n) {
        v.iter_mut().zip(&p).zip(inverse_diagonal).for_each(|((v, p), inverse)| *v = *inverse * *p);
        let length = v.iter().zip(&p).map(|(v, p)| v.dot(*p)).sum::<f64>().sqrt();
        let complete = length <= 1e-10 * beta || length == 0.0 || length.is_nan();
        if complete {
            break;
        }
        if step > 0 {
            beside.push(length);
            beta = length;
        }
        v.iter_mut().chain(&mut p).for_each(|x| *x /= length);
        next.par_iter_mut().with_min_len(256).enumerate().for_each(|(i, next)| {
            let (columns, values) = a.row(i);
            let sum = columns.iter().zip(values).fold(DVec3::ZERO, |sum, (&j, b)| sum + *b * v[j as usize]);
            *next = sum - beta * p_before[i];
        });
        let alpha = v.iter().zip(&next).map(|(v, next)| v.dot(*next)).sum::<f64>();
        next.iter_mut().zip(&p).for_each(|(next, p)| *next -= alpha * *p);
        diagonal.push(alpha);
        std::mem::swap(&mut p_before, &mut p);
        std::mem::swap(&mut p, &mut next);
    }
    (diagonal, beside)
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by halving the interval that Gershgorin gives.
fn largest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let at = |k: usize| beside.get(k).copied().unwrap_or(0.0);
    let radius = |k: usize| at(k) + if k > 0 { at(k - 1) } else { 0.0 };
    let (mut low, mut high) = (0.0, diagonal.iter().enumerate().map(|(k, d)| d + radius(k)).fold(0.0, f64::max));
    // Sturm: the pivots of T − x I are all negative if and only if x is above every eigenvalue.
    let is_above = |x: f64| {
        let mut pivot = -1.0;
        diagonal.iter().enumerate().all(|(k, d)| {
            let before = if k > 0 { at(k - 1) } else { 0.0 };
            pivot = d - x - before * before / pivot;
            pivot < 0.0
        })
    };
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if is_above(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::super::multigrid::inverse_diagonal;
    use super::*;
    use crate::body::Body;
    use crate::params::{Material, Order, Params};
    use meniscus_core::StepReport;
    use meniscus_geometry::TetMesh;

    #[test]
    fn tridiagonal_matrices_have_the_eigenvalues_of_a_chain() {
        let (n, pi) = (17, std::f64::consts::PI);
        let found = largest_of_tridiagonal(&vec![2.0; n], &vec![1.0; n - 1]);
        assert!((found - (2.0 + 2.0 * (pi / (n as f64 + 1.0)).cos())).abs() < 1e-10, "{found}");
        assert!((largest_of_tridiagonal(&[3.0], &[]) - 3.0).abs() < 1e-10);
    }

    /// Bodies that are regular, flat, of slivers, nearly incompressible, quadratic, stiff and soft for their step.
    #[test]
    fn the_bound_holds_and_is_close() {
        let material = |young: f64, poisson: f64| Material { young, poisson, ..Material::default() };
        let cases = [
            (DVec3::new(1.0, 0.25, 0.25), [16, 4, 4], material(1e6, 0.3), Order::Linear),
            (DVec3::new(1.0, 0.25, 0.25), [16, 4, 4], material(1e9, 0.49), Order::Linear),
            (DVec3::new(1.0, 0.01, 0.4), [20, 2, 10], material(1e8, 0.3), Order::Linear),
            (DVec3::new(1.0, 0.002, 1.0), [24, 1, 24], material(1e5, 0.0), Order::Linear),
            (DVec3::new(0.4, 0.2, 0.2), [6, 3, 3], material(1e7, 0.45), Order::Quadratic),
        ];
        for (size, cells, material, order) in cases {
            let mesh = TetMesh::block(DVec3::ZERO, size, cells);
            let mut body = Body::new("body", &mesh, Params { order, ..Params::default() }, material).unwrap();
            body.fix(|p| p.x < 1e-9);
            body.step(1.0 / 60.0, DVec3::Y, &mut StepReport::default()).unwrap();
            let a = Sparse::without(&body.work.matrix, &body.state.mesh.fixed);
            let inverse = inverse_diagonal(&a);
            let bound = largest_eigenvalue(&a, &inverse);
            let (diagonal, beside) = lanczos(&a, &inverse, 400);
            let ratio = bound / largest_of_tridiagonal(&diagonal, &beside);
            assert!((1.0..1.1001).contains(&ratio), "{size} {material:?}: {ratio}");
        }
    }
}
