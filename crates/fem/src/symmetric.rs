//! Eigenvalues of small symmetric matrices by cyclic Jacobi rotations.

use glam::{DMat3, DVec3};

/// Sweeps after which a matrix of up to four rows is diagonal to the last bit; convergence is quadratic.
const SWEEPS: usize = 12;

/// Eigenvalues and, as rows, their unit eigenvectors of a symmetric matrix, in the order in which they come.
pub(crate) fn jacobi<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut vectors = [[0.0; N]; N];
    (0..N).for_each(|k| vectors[k][k] = 1.0);
    for _ in 0..SWEEPS {
        if off_diagonal(&a) == 0.0 {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    (std::array::from_fn(|k| a[k][k]), vectors)
}

fn off_diagonal<const N: usize>(a: &[[f64; N]; N]) -> f64 {
    let above = |p: usize| (p + 1..N).map(|q| a[p][q].abs()).sum::<f64>();
    (0..N).map(above).sum()
}

/// One rotation in the plane of p and q that makes `a[p][q]` vanish.
fn rotate<const N: usize>(a: &mut [[f64; N]; N], vectors: &mut [[f64; N]; N], p: usize, q: usize) {
    let small = f64::EPSILON * f64::EPSILON * (a[p][p].abs() + a[q][q].abs());
    if a[p][q].abs() <= small {
        (a[p][q], a[q][p]) = (0.0, 0.0);
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..N {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        (vectors[p][k], vectors[q][k]) = (c * vectors[p][k] - s * vectors[q][k], s * vectors[p][k] + c * vectors[q][k]);
    }
    (a[p][q], a[q][p]) = (0.0, 0.0);
}

/// Eigenvalues and, as columns, a right-handed set of eigenvectors of a symmetric matrix.
pub(crate) fn eigen(m: &DMat3) -> (DVec3, DMat3) {
    let (values, [x, y, z]) = jacobi(m.to_cols_array_2d());
    let (x, y) = (DVec3::from_array(x), DVec3::from_array(y));
    let z = DVec3::from_array(z);
    let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
    (DVec3::from_array(values), DMat3::from_cols(x, y, z))
}

/// The largest eigenvalue of a symmetric matrix and its eigenvector.
pub(crate) fn largest(m: &DMat3) -> (f64, DVec3) {
    let (values, vectors) = eigen(m);
    let k = (1..3).fold(0, |best, k| if values[k] > values[best] { k } else { best });
    (values[k], vectors.col(k))
}

/// A symmetric matrix of six numbers: xx, yy, zz, yz, zx, xy.
pub(crate) type Six = [f64; 6];

/// The matrix of six numbers.
pub(crate) fn from_six([xx, yy, zz, yz, zx, xy]: Six) -> DMat3 {
    DMat3::from_cols(DVec3::new(xx, xy, zx), DVec3::new(xy, yy, yz), DVec3::new(zx, yz, zz))
}

/// The six numbers of the symmetric part of a matrix.
pub(crate) fn to_six(m: &DMat3) -> Six {
    let [a, b, c] = m.to_cols_array_2d();
    [a[0], b[1], c[2], 0.5 * (b[2] + c[1]), 0.5 * (a[2] + c[0]), 0.5 * (a[1] + b[0])]
}

/// The Frobenius norm √(Σ m_ij²).
pub(crate) fn norm(m: &DMat3) -> f64 {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

/// The sum of the diagonal.
pub(crate) fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eigenvectors_rebuild_the_matrix(six in prop::array::uniform6(-10.0f64..10.0)) {
            let m = from_six(six);
            let (values, v) = eigen(&m);
            let rebuilt = v * DMat3::from_diagonal(values) * v.transpose();
            prop_assert!(norm(&(rebuilt - m)) < 1e-13 * (1.0 + norm(&m)));
            prop_assert!(norm(&(v * v.transpose() - DMat3::IDENTITY)) < 1e-14);
            prop_assert!((v.determinant() - 1.0).abs() < 1e-14);
            prop_assert_eq!(to_six(&m), six);
            prop_assert_eq!(largest(&m).0, values.max_element());
        }

        #[test]
        fn four_rows_work_too(a in prop::array::uniform10(-1.0f64..1.0)) {
            let at = |i: usize, j: usize| { let (i, j) = (i.min(j), i.max(j)); a[i * 4 - i * (i + 1) / 2 + j] };
            let m: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| at(i, j)));
            let (values, vectors) = jacobi(m);
            for (value, v) in values.iter().zip(&vectors) {
                for i in 0..4 {
                    let product: f64 = (0..4).map(|j| m[i][j] * v[j]).sum();
                    prop_assert!((product - value * v[i]).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn diagonal_and_zero_matrices_stay_as_they_are() {
        let (values, v) = eigen(&DMat3::from_diagonal(DVec3::new(3.0, -1.0, 3.0)));
        assert_eq!((values, v), (DVec3::new(3.0, -1.0, 3.0), DMat3::IDENTITY));
        assert_eq!(eigen(&DMat3::ZERO), (DVec3::ZERO, DMat3::IDENTITY));
    }
}
