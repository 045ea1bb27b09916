//! Normals of the interface in a cell, out of the liquid, of any length.

/// F in the 27 cells around a cell, x fastest.
type Block = [f64; 27];

#[inline(always)]
fn block(field: &[f64], p: usize, strides: [usize; 2]) -> Block {
    let [sy, sz] = strides;
    let mut block = [0.0; 27];
    let corner = p - 1 - sy - sz;
    for (k, plane) in block.as_chunks_mut::<9>().0.iter_mut().enumerate() {
        for (j, row) in plane.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let start = corner + k * sz + j * sy;
            row.copy_from_slice(&field[start..start + 3]);
        }
    }
    block
}

/// Strides of an entry of the block along the axes.
const STEP: [usize; 3] = [1, 3, 9];

/// Youngs' difference along an axis, before − after: face neighbours weigh 4, those along edges 2, those at corners 1.
#[inline(always)]
fn difference(b: &Block, axis: usize) -> f64 {
    let (s, t, u) = (STEP[axis], STEP[(axis + 1) % 3], STEP[(axis + 2) % 3]);
    let layer = |m: usize| {
        let edges = b[m - t] + b[m + t] + b[m - u] + b[m + u];
        let corners = b[m - t - u] + b[m - t + u] + b[m + t - u] + b[m + t + u];
        4.0 * b[m] + 2.0 * edges + corners
    };
    layer(13 - s) - layer(13 + s)
}

/// The mixed Youngs-centred normal from volume fractions \[AMSZ07\]: of the three normals that follow from sums of columns,
/// the one that lies closest to its axis; or Youngs' if that is more slanted still.
pub(crate) fn from_fractions(fraction: &[f64], p: usize, strides: [usize; 2]) -> [f64; 3] {
    let b = block(fraction, p, strides);
    let mut best = [0.0; 3];
    let mut main = -1.0;
    for axis in 0..3 {
        let n = from_columns(&b, axis);
        if n[axis].abs() > main {
            (main, best) = (n[axis].abs(), n);
        }
    }
    let youngs: [f64; 3] = std::array::from_fn(|axis| difference(&b, axis));
    let sum = youngs.iter().map(|n| n.abs()).sum::<f64>() + 1e-30;
    let largest = youngs.iter().fold(0.0f64, |a, n| a.max(n.abs())) / sum;
    if main > largest { youngs } else { best }
}

/// The normal of the interface as a height over the plane across an axis, from sums over columns of three.
fn from_columns(b: &Block, axis: usize) -> [f64; 3] {
    let s = STEP[axis];
    let column = |m: usize| b[m - s] + b[m] + b[m + s];
    let mut n = [0.0; 3];
    for other in [(axis + 1) % 3, (axis + 2) % 3] {
        n[other] = 0.5 * (column(13 - STEP[other]) - column(13 + STEP[other]));
    }
    let layer = |m: usize| {
        let (t, u) = (STEP[(axis + 1) % 3], STEP[(axis + 2) % 3]);
        b[m] + b[m - t] + b[m + t] + b[m - u] + b[m + u]
    };
    n[axis] = if layer(13 - s) > layer(13 + s) { 1.0 } else { -1.0 };
    let sum = n.iter().map(|n| n.abs()).sum::<f64>();
    n.map(|n| n / sum)
}

/// The normal from the signed distance by central differences, if that can be trusted: |∇φ| must be within a half of one.
pub(crate) fn from_distance(distance: &[f64], p: usize, strides: [usize; 2], h: f64) -> Option<[f64; 3]> {
    let slope = |s: usize| (distance[p - s] - distance[p + s]) / (2.0 * h);
    let n = [slope(1), slope(strides[0]), slope(strides[1])];
    let squared = n.iter().map(|n| n * n).sum::<f64>();
    (0.25..=2.25).contains(&squared).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plic::Plane;
    use proptest::prelude::*;

    /// Fractions under a plane through a block of three cells across.
    fn under(plane: &Plane) -> Block {
        std::array::from_fn(|m| {
            let at = [m % 3, m / 3 % 3, m / 9].map(|i| i as f64 - 1.0);
            let shift: f64 = (0..3).map(|d| plane.normal[d] * at[d]).sum();
            Plane { constant: plane.constant - shift, ..*plane }.volume()
        })
    }

    fn cosine(a: [f64; 3], b: [f64; 3]) -> f64 {
        let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|d| a[d] * b[d]).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    proptest! {
        #[test]
        fn planes_are_found(normal in prop::array::uniform3(-1.0..1.0f64), fraction in 0.05..0.95f64) {
            let plane = Plane::with_volume(normal, fraction);
            let found = from_fractions(&under(&plane), 13, [3, 9]);
            prop_assert!(cosine(found, normal) > 0.98);
            let distance: Block = std::array::from_fn(|m| plane.depth([m % 3, m / 3 % 3, m / 9].map(|i| i as f64 - 0.5)));
            let found = from_distance(&distance, 13, [3, 9], 1.0).unwrap();
            prop_assert!(cosine(found, normal) > 1.0 - 1e-12);
        }
    }

    #[test]
    fn grid_planes_are_exact_and_flat_distances_are_refused() {
        for fraction in [0.1, 0.5, 0.9] {
            let plane = Plane::with_volume([0.2, 1.0, -0.1], fraction);
            assert!(cosine(from_fractions(&under(&plane), 13, [3, 9]), plane.normal) > 1.0 - 1e-3);
            let plane = Plane::with_volume([0.0, -1.0, 0.0], fraction);
            assert_eq!(cosine(from_fractions(&under(&plane), 13, [3, 9]), plane.normal), 1.0);
        }
        assert_eq!(from_distance(&[0.3; 27], 13, [3, 9], 1.0), None);
    }
}
