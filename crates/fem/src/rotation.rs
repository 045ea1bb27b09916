//! The rotation in a deformation gradient.
//!
//! R maximises tr(RᵀF) over all rotations: the polar factor if det F > 0, the closest rotation, which mirrors the
//! direction of least stretch, if det F < 0. As a function of a unit quaternion the trace is a quadratic form, so that it has
//! one maximum (up to sign) and otherwise saddles: an ascent from the rotation of the step before ends in the right place.
//!
//! | symbol | meaning |
//! |---|---|
//! | F | deformation gradient |
//! | B = RᵀF | F seen from the current guess; symmetric at the solution |
//! | g | axial vector of B − Bᵀ, the slope of the trace |
//! | H = tr(B) I − sym(B) | its curvature, with the sign turned |
//!
//! \[MBCM16\] turns by g / |tr B|, which gains a factor of three per iteration near the solution; we divide by H, Newton's
//! step, which squares the error. Where H is not positive definite (near saddles, or when elements are flat), the
//! quaternion comes from the largest eigenvalue of Davenport's matrix instead: exact from any start.

use crate::symmetric::jacobi;
use glam::{DMat3, DQuat, DVec3};

/// Newton steps before the eigenvalue problem is solved instead.
const ITERATIONS: usize = 8;
/// Square of the last turn \[rad²\]: about the error \[rad\] after it.
const CONVERGED: f64 = 1e-11;
/// Curvature below this part of |F| counts as none.
const FLAT: f64 = 1e-3;
/// Deformation gradients below this norm have no rotation, dimensionless.
const COLLAPSED: f64 = 1e-12;
/// Eigenvalues closer than this to the largest, in parts of |F|, count as equal to it.
const EQUAL: f64 = 1e-10;

/// The rotation closest to `f`, from a guess. A collapsed element keeps the guess.
pub(crate) fn polar(f: &DMat3, guess: DQuat) -> DQuat {
    let size = f.x_axis.abs().max_element().max(f.y_axis.abs().max_element()).max(f.z_axis.abs().max_element());
    // A NaN is left for the step to find.
    let extended = size >= COLLAPSED;
    if !extended {
        return guess;
    }
    let mut q = guess;
    for _ in 0..ITERATIONS {
        let Some(turn) = newton_turn(f, q, FLAT * size) else { break };
        q = turned(q, turn);
        if turn.length_squared() < CONVERGED {
            return q;
        }
    }
    davenport(f, guess, EQUAL * size)
}

/// Newton's turn from `q`, in its own frame; none where the curvature is not safely positive.
#[inline]
fn newton_turn(f: &DMat3, q: DQuat, flat: f64) -> Option<DVec3> {
    let b = DMat3::from_quat(q).transpose() * *f;
    let [x, y, z] = b.to_cols_array_2d();
    let g = DVec3::new(y[2] - z[1], z[0] - x[2], x[1] - y[0]);
    // H, its leading minors and its inverse times g, written out.
    let (xx, yy, zz) = (y[1] + z[2], x[0] + z[2], x[0] + y[1]);
    let (xy, xz, yz) = (-0.5 * (x[1] + y[0]), -0.5 * (x[2] + z[0]), -0.5 * (y[2] + z[1]));
    let cofactor = DVec3::new(yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let determinant = xx * cofactor.x + xy * cofactor.y + xz * cofactor.z;
    let positive = zz > flat && cofactor.x > flat * flat && determinant > flat * flat * flat;
    positive.then(|| {
        let second = DVec3::new(cofactor.y, xx * zz - xz * xz, xy * xz - xx * yz);
        let third = DVec3::new(cofactor.z, second.z, xx * yy - xy * xy);
        DVec3::new(cofactor.dot(g), second.dot(g), third.dot(g)) / determinant
    })
}

/// `q` followed by a turn in its own frame: exact to second order in the turn, which is all that Newton's method asks.
#[inline]
fn turned(q: DQuat, turn: DVec3) -> DQuat {
    let half = 0.5 * turn;
    (q * DQuat::from_xyzw(half.x, half.y, half.z, 1.0)).normalize()
}

/// The quaternion of the largest eigenvalue of Davenport's matrix; of several, the one closest to the guess.
fn davenport(f: &DMat3, guess: DQuat, equal: f64) -> DQuat {
    let [x, y, z] = f.to_cols_array_2d();
    let [a, b, c] = [y[2] - z[1], z[0] - x[2], x[1] - y[0]];
    let [d, e, g] = [x[1] + y[0], x[2] + z[0], y[2] + z[1]];
    let n = [
        [x[0] - y[1] - z[2], d, e, a],
        [d, y[1] - x[0] - z[2], g, b],
        [e, g, z[2] - x[0] - y[1], c],
        [a, b, c, x[0] + y[1] + z[2]],
    ];
    let (values, vectors) = jacobi(n);
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let largest = || vectors.iter().zip(&values).filter(|(_, value)| **value >= top - equal).map(|(v, _)| v);
    let start = guess.to_array();
    let mut sum = [0.0; 4];
    for v in largest() {
        let along: f64 = v.iter().zip(&start).map(|(a, b)| a * b).sum();
        sum.iter_mut().zip(v).for_each(|(s, v)| *s += along * v);
    }
    let nearest = DQuat::from_array(sum);
    let fallback = largest().next().map_or(guess, |v| DQuat::from_array(*v));
    if nearest.length_squared() > 1e-12 { nearest.normalize() } else { fallback }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symmetric::{norm, trace};
    use proptest::prelude::*;

    fn angle_from(q: DQuat, r: DQuat) -> f64 {
        2.0 * (1.0 - q.dot(r).abs()).max(0.0).sqrt()
    }

    fn quaternion() -> impl Strategy<Value = DQuat> {
        prop::array::uniform4(-1.0f64..1.0)
            .prop_filter("not zero", |q| q.iter().map(|x| x * x).sum::<f64>() > 1e-2)
            .prop_map(|q| DQuat::from_array(q).normalize())
    }

    fn matrix() -> impl Strategy<Value = DMat3> {
        prop::array::uniform9(-1.0f64..1.0).prop_map(|a| DMat3::from_cols_array(&a))
    }

    proptest! {
        /// No rotation has a larger tr(RᵀF), and RᵀF is symmetric: also when the element is inside out.
        #[test]
        fn the_rotation_is_the_closest(f in matrix(), guess in quaternion(), others in prop::collection::vec(quaternion(), 20)) {
            let q = polar(&f, guess);
            let along = |q: DQuat| trace(&(DMat3::from_quat(q).transpose() * f));
            for other in others {
                prop_assert!(along(other) <= along(q) + 1e-12);
            }
            let b = DMat3::from_quat(q).transpose() * f;
            prop_assert!(norm(&(b - b.transpose())) < 1e-10, "{}", norm(&(b - b.transpose())));
        }

        #[test]
        fn a_stretched_rotation_is_found_to_round_off(r in quaternion(), guess in quaternion(), s in prop::array::uniform3(0.2f64..3.0)) {
            let f = DMat3::from_quat(r) * DMat3::from_diagonal(DVec3::from_array(s));
            prop_assert!(angle_from(polar(&f, guess), r) < 1e-7);
            let error = DMat3::from_quat(polar(&f, guess)) - DMat3::from_quat(r);
            prop_assert!(norm(&error) < 1e-13, "{}", norm(&error));
        }

        /// One axis squeezed through zero: the rotation stays, the stretch changes its sign.
        #[test]
        fn an_inverted_element_keeps_its_rotation(r in quaternion(), squeezed in 0usize..3) {
            let mut s = DVec3::ONE;
            s[squeezed] = -0.5;
            let f = DMat3::from_quat(r) * DMat3::from_diagonal(s);
            let error = DMat3::from_quat(polar(&f, r)) - DMat3::from_quat(r);
            prop_assert!(norm(&error) < 1e-12, "{}", norm(&error));
        }

        #[test]
        fn collapsed_elements_keep_the_guess(guess in quaternion(), size in 0.0f64..1e-13) {
            prop_assert_eq!(polar(&(DMat3::IDENTITY * size), guess), guess);
        }

        /// Flat, linear and mirrored elements have many closest rotations; any of them will do.
        #[test]
        fn degenerate_elements_give_a_rotation(a in matrix(), guess in quaternion(), kind in 0usize..4) {
            let f = match kind {
                0 => DMat3::from_cols(a.x_axis, a.x_axis, a.x_axis),
                1 => DMat3::from_cols(a.x_axis, a.y_axis, DVec3::ZERO),
                2 => DMat3::from_diagonal(DVec3::splat(-1.0)),
                _ => DMat3::from_cols(a.x_axis, DVec3::ZERO, DVec3::ZERO),
            };
            let q = polar(&f, guess);
            prop_assert!((q.length() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn half_a_turn_away_is_a_saddle_and_left() {
        let q = polar(&DMat3::IDENTITY, DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0));
        assert!(angle_from(q, DQuat::IDENTITY) < 1e-12, "{q}");
    }

    #[test]
    fn nothing_finite_comes_from_nan() {
        let q = polar(&DMat3::from_diagonal(DVec3::new(f64::NAN, 1.0, 1.0)), DQuat::IDENTITY);
        assert!(q == DQuat::IDENTITY || q.is_nan());
    }
}
