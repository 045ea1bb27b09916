//! From the motion of aggregates to the motion of their nodes: smoothed aggregation with rigid motions \[VMB96\].

use super::aggregates::{Aggregates, NONE};
use super::sparse::Sparse;
use crate::axes::Axes;
use glam::{DMat3, DVec3};

/// How three rows follow six motions: three translations, three rotations.
pub(crate) type Modes = [DMat3; 2];

/// What is left of a motion after the others must exceed this part of it, else it is not a motion of its own.
const DEPENDENT: f64 = 1e-8;

/// The rigid motions about the origin, in the directions that are free.
pub(crate) fn rigid_modes(position: &[DVec3], fixed: &[Axes]) -> Vec<Modes> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let modes = |(p, fixed): (&DVec3, &Axes)| {
        let columns = |motion: [DVec3; 3]| {
            let [x, y, z] = motion.map(|v| fixed.free_part(v));
            DMat3::from_cols(x, y, z)
        };
        [columns(axes), columns(axes.map(|axis| axis.cross(*p)))]
    };
    position.iter().zip(fixed).map(modes).collect()
}

/// Makes the motions of each aggregate orthonormal. Returns them as a matrix of six columns per aggregate, and the motions
/// of the level above in terms of them.
pub(crate) fn tentative(aggregates: &Aggregates, modes: &[Modes], width: usize) -> (Sparse, Vec<Modes>) {
    let mut members = vec![Vec::new(); aggregates.count];
    for row in 0..modes.len() {
        let aggregate = aggregates.of[row / width];
        if aggregate != NONE {
            members[aggregate as usize].push(row);
        }
    }
    let mut rows = vec![Vec::new(); modes.len()];
    let mut coarse = Vec::with_capacity(2 * aggregates.count);
    for (aggregate, members) in members.iter().enumerate() {
        let (q, r) = orthonormal(members.iter().map(|&row| modes[row]).collect());
        for (&row, q) in members.iter().zip(&q) {
            let first = 2 * aggregate as u32;
            rows[row] = vec![(first, q[0]), (first + 1, q[1])];
        }
        coarse.extend(r);
    }
    (Sparse::from_rows(&rows), coarse)
}

/// Gram and Schmidt, twice for accuracy: `modes` = Q R with orthonormal or vanishing columns of Q.
fn orthonormal(mut q: Vec<Modes>) -> (Vec<Modes>, [Modes; 2]) {
    let mut r = [[0.0; 6]; 6];
    let dot = |q: &[Modes], i: usize, j: usize| q.iter().map(|m| col(m, i).dot(col(m, j))).sum::<f64>();
    for k in 0..6 {
        let before = dot(&q, k, k).sqrt();
        for _ in 0..2 {
            for j in 0..k {
                let along = dot(&q, j, k);
                r[j][k] += along;
                for m in &mut q {
                    let unit = col(m, j);
                    *col_mut(m, k) -= along * unit;
                }
            }
        }
        let left = dot(&q, k, k).sqrt();
        let scale = if left > DEPENDENT * before { 1.0 / left } else { 0.0 };
        r[k][k] = left * left * scale;
        q.iter_mut().for_each(|m| *col_mut(m, k) *= scale);
    }
    let rows = |from: usize| {
        let part =
            |first: usize| DMat3::from_cols_array_2d(&[0, 1, 2].map(|c| [0, 1, 2].map(|k| r[from + k][first + c])));
        [part(0), part(3)]
    };
    (q, [rows(0), rows(3)])
}

fn col(modes: &Modes, k: usize) -> DVec3 {
    modes[k / 3].col(k % 3)
}

fn col_mut(modes: &mut Modes, k: usize) -> &mut DVec3 {
    modes[k / 3].col_mut(k % 3)
}

/// P = (I − ω D⁻¹ A) T with ω = 4 / (3 λ), λ the largest eigenvalue of D⁻¹ A.
pub(crate) fn smoothed(a: &Sparse, inverse_diagonal: &[DMat3], largest: f64, t: &Sparse, columns: usize) -> Sparse {
    let omega = 4.0 / (3.0 * largest);
    let mut p = a.times(t, columns);
    for i in 0..p.rows() {
        let (from, to) = (p.start[i] as usize, p.start[i + 1] as usize);
        let (own, blocks) = t.row(i);
        for (column, value) in p.columns[from..to].iter().zip(&mut p.values[from..to]) {
            *value = inverse_diagonal[i] * *value * -omega;
            if let Ok(k) = own.binary_search(column) {
                *value += blocks[k];
            }
        }
    }
    p
}

/// Numbers without pattern between −1 and 1, the same in every run.
pub(super) fn start_vector(i: usize) -> DVec3 {
    let scatter = |k: usize| {
        let bits = ((3 * i + k) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((bits ^ bits >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    DVec3::new(scatter(0), scatter(1), scatter(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tentative_motions_are_orthonormal_and_give_the_rigid_ones_back() {
        let position: Vec<DVec3> = (0..11).map(|i| start_vector(i) * 3.0 + DVec3::splat(100.0)).collect();
        let mut fixed = [Axes::NONE; 11];
        fixed[4] = Axes::ALL;
        let modes = rigid_modes(&position, &fixed);
        let of = vec![0, 0, 0, 0, NONE, 1, 1, 1, 1, 1, 1];
        let (t, coarse) = tentative(&Aggregates { of, count: 2 }, &modes, 1);
        let gram = t.transposed(4).times(&t, 4);
        for i in 0..4 {
            let (columns, values) = gram.row(i);
            for (&j, block) in columns.iter().zip(values) {
                let expected = if j as usize == i { DMat3::IDENTITY } else { DMat3::ZERO };
                assert!((*block - expected).abs_diff_eq(DMat3::ZERO, 1e-10), "{i} {j} {block}");
            }
        }
        for (i, mode) in modes.iter().enumerate() {
            let (columns, values) = t.row(i);
            for (part, expected) in mode.iter().enumerate() {
                let back =
                    columns.iter().zip(values).fold(DMat3::ZERO, |sum, (&j, b)| sum + *b * coarse[j as usize][part]);
                assert!(back.abs_diff_eq(*expected, 1e-9), "{i}");
            }
        }
    }

    #[test]
    fn two_nodes_have_five_motions() {
        let modes = rigid_modes(&[DVec3::ZERO, DVec3::X], &[Axes::NONE; 2]);
        let (t, _) = tentative(&Aggregates { of: vec![0, 0], count: 1 }, &modes, 1);
        let lengths: Vec<f64> =
            (0..6).map(|k| (0..2).map(|i| t.row(i).1[k / 3].col(k % 3).length_squared()).sum::<f64>()).collect();
        assert_eq!(lengths.iter().filter(|&&l| (l - 1.0).abs() < 1e-12).count(), 5);
        assert_eq!(lengths.iter().filter(|&&l| l == 0.0).count(), 1);
    }
}
