//! The inverse of a small dense symmetric matrix, for the coarsest level.

/// Pivots below this part of the largest diagonal entry belong to motions without resistance; they are left alone.
const NEGLIGIBLE: f64 = 1e-13;

/// The inverse of a symmetric positive matrix given by rows; directions without resistance get zero.
pub(crate) fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    let small = NEGLIGIBLE * (0..n).map(|i| a[i][i]).fold(0.0, f64::max);
    let skip = factor(&mut a, small);
    let mut inverse = vec![vec![0.0; n]; n];
    for (k, column) in inverse.iter_mut().enumerate() {
        if !skip[k] {
            column[k] = 1.0;
            substitute(&a, &skip, column);
        }
    }
    // Rounding makes it slightly unsymmetric; conjugate gradients mind.
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (inverse[i][j] + inverse[j][i]);
            inverse[i][j] = mean;
            inverse[j][i] = mean;
        }
    }
    inverse
}

/// L of A = L Lᵀ in place of the lower triangle; says which pivots were negligible.
fn factor(a: &mut [Vec<f64>], small: f64) -> Vec<bool> {
    let n = a.len();
    let mut skip = vec![false; n];
    for j in 0..n {
        let dot = |a: &[Vec<f64>], i: usize| -> f64 { (0..j).map(|k| a[i][k] * a[j][k]).sum() };
        let pivot = a[j][j] - dot(a, j);
        // A NaN is skipped too.
        let counts = pivot > small;
        skip[j] = !counts;
        let root = if skip[j] { 1.0 } else { pivot.sqrt() };
        for i in j + 1..n {
            a[i][j] = if skip[j] { 0.0 } else { (a[i][j] - dot(a, i)) / root };
        }
        a[j][j] = root;
        if skip[j] {
            (0..j).for_each(|k| a[j][k] = 0.0);
        }
    }
    skip
}

/// x ← (L Lᵀ)⁻¹ x on the directions that were not skipped.
fn substitute(l: &[Vec<f64>], skip: &[bool], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| l[i][k] * x[k]).sum();
        x[i] = if skip[i] { 0.0 } else { (x[i] - sum) / l[i][i] };
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = if skip[i] { 0.0 } else { (x[i] - sum) / l[i][i] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_matrix_times_its_inverse_is_one() {
        let n = 9;
        let a: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| if i == j { 12.0 } else { ((i * j + i + j) % 5) as f64 - 2.0 }).collect())
            .collect();
        let b = inverse(a.clone());
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| a[i][k] * b[k][j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-13, "{i} {j} {product}");
            }
        }
    }

    #[test]
    fn directions_without_resistance_are_left_alone() {
        // A spring between two unsupported masses: only one of them can be pushed.
        let b = inverse(vec![vec![4.0, -4.0, 0.0], vec![-4.0, 4.0, 0.0], vec![0.0, 0.0, 16.0]]);
        assert_eq!(b, vec![vec![0.25, 0.0, 0.0], vec![0.0, 0.0, 0.0], vec![0.0, 0.0, 0.0625]]);
    }
}
