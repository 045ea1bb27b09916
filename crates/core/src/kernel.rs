//! Smoothing kernels as piecewise polynomials, and their lattice sums.
//!
//! | symbol | meaning |
//! |---|---|
//! | h | support radius \[m\]: W(r) = 0 for r ≥ h |
//! | q | r/h, dimensionless |
//! | W(r) | kernel \[1/m³\], ∫ W dV = 1 |
//!
//! W(r) = h⁻³ Σₖ cₖ qᵏ on each piece. Everything else about a kernel follows from the coefficients: its slope, and
//! the part of it that a wall cuts off. The lanes of the liquid's hot loops hold the same polynomials in factored form and are
//! tested against these.

use std::f64::consts::PI;

/// Coefficients of one piece, valid up to `to` (in units of h).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Upper end of the piece, dimensionless.
    pub to: f64,
    /// Coefficients of q⁰ … q⁶.
    pub c: [f64; 7],
}

/// A radial smoothing kernel with support radius 1; lengths are given in units of h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    pieces: &'static [Piece],
}

/// 315/(64π)
const P6: f64 = 315.0 / (64.0 * PI);
/// 15/π
const SP: f64 = 15.0 / PI;
/// 5⁷/(2⁹ 5 π)
const QS: f64 = 78_125.0 / (2_560.0 * PI);
/// 8/π
const CS: f64 = 8.0 / PI;

impl Kernel {
    /// W = 315/(64π h³) (1 − q²)³: density and all smooth fields \[MCG03 eq. 20\].
    pub const POLY6: Kernel = Kernel { pieces: &[Piece { to: 1.0, c: [P6, 0.0, -3.0 * P6, 0.0, 3.0 * P6, 0.0, -P6] }] };

    /// W = 15/(π h³) (1 − q)³: pressure, its slope does not vanish at the origin \[MCG03 eq. 21\].
    pub const SPIKY: Kernel = Kernel { pieces: &[Piece { to: 1.0, c: [SP, -3.0 * SP, 3.0 * SP, -SP, 0.0, 0.0, 0.0] }] };

    /// The cubic spline with support radius h (Monaghan's M₄ with smoothing length h/2) \[Mon92\].
    pub const CUBIC_SPLINE: Kernel = Kernel {
        pieces: &[
            Piece { to: 0.5, c: [CS, 0.0, -6.0 * CS, 6.0 * CS, 0.0, 0.0, 0.0] },
            Piece { to: 1.0, c: [2.0 * CS, -6.0 * CS, 6.0 * CS, -2.0 * CS, 0.0, 0.0, 0.0] },
        ],
    };

    /// The quartic spline with support radius h (M₅ with knots 2h/5 apart): at h = 2.5 spacings it feels the arrangement of
    /// particles ten times less than the cubic spline at 2.
    pub const QUARTIC_SPLINE: Kernel = Kernel {
        pieces: &[
            Piece { to: 0.2, c: [0.368 * QS, 0.0, -2.4 * QS, 0.0, 6.0 * QS, 0.0, 0.0] },
            Piece { to: 0.6, c: [0.352 * QS, 0.32 * QS, -4.8 * QS, 8.0 * QS, -4.0 * QS, 0.0, 0.0] },
            Piece { to: 1.0, c: [QS, -4.0 * QS, 6.0 * QS, -4.0 * QS, QS, 0.0, 0.0] },
        ],
    };

    /// The pieces from the centre outwards.
    #[must_use]
    pub fn pieces(&self) -> &'static [Piece] {
        self.pieces
    }

    /// W at q, in units of h⁻³.
    #[must_use]
    pub fn value(&self, q: f64) -> f64 {
        self.on_piece(q, |c| c.iter().rev().fold(0.0, |sum, &c| sum * q + c))
    }

    /// dW/dr at q, in units of h⁻⁴; never positive.
    #[must_use]
    pub fn slope(&self, q: f64) -> f64 {
        self.on_piece(q, |c| (1..7).rev().fold(0.0, |sum, k| sum * q + k as f64 * c[k]))
    }

    /// The part of the kernel beyond q: 1 − 4π ∫₀^q W s² ds.
    #[must_use]
    pub fn tail(&self, q: f64) -> f64 {
        let (mut inside, mut from) = (0.0, 0.0);
        for piece in self.pieces {
            let to = piece.to.min(q);
            let power = |x: f64, k: usize| piece.c[k] * libm::pow(x, k as f64 + 3.0) / (k as f64 + 3.0);
            inside += (0..7).map(|k| power(to, k) - power(from, k)).sum::<f64>();
            from = piece.to;
            if q <= from {
                break;
            }
        }
        1.0 - 4.0 * PI * inside
    }

    fn on_piece(&self, q: f64, evaluate: impl Fn(&[f64; 7]) -> f64) -> f64 {
        self.pieces.iter().find(|piece| q < piece.to).map_or(0.0, |piece| evaluate(&piece.c))
    }

    /// Σ W Δx³ over a cubic lattice of the given spacing (in units of h) round a lattice point, itself included. One in
    /// the limit; the density sums divide by it, so that a lattice at rest has exactly its rest density.
    #[must_use]
    pub fn lattice_sum(&self, spacing: f64) -> f64 {
        self.lattice_sum_above(spacing, f64::NEG_INFINITY)
    }

    /// As [`Kernel::lattice_sum`], over the lattice points with height above `lowest` (in units of h) only.
    #[must_use]
    pub fn lattice_sum_above(&self, spacing: f64, lowest: f64) -> f64 {
        let n = libm::floor(1.0 / spacing) as i64;
        let mut sum = 0.0;
        for z in (-n..=n).filter(|&z| z as f64 * spacing > lowest) {
            for y in -n..=n {
                for x in -n..=n {
                    sum += self.value(spacing * libm::sqrt((x * x + y * y + z * z) as f64));
                }
            }
        }
        sum * spacing * spacing * spacing
    }

    /// Σ ∂W/∂z Δx³ \[1/h\] at the lowest layer of a half-lattice: what pushes that layer down under uniform pressure, and
    /// what a wall half a spacing below it has to hold.
    #[must_use]
    pub fn half_lattice_push(&self, spacing: f64) -> f64 {
        self.half_lattice(spacing, |r, z| -self.slope(r) * z / r)
    }

    /// Sum over the lattice points above the plane of a lattice point, of a function of distance and height, times Δx³.
    fn half_lattice(&self, spacing: f64, term: impl Fn(f64, f64) -> f64) -> f64 {
        let n = libm::floor(1.0 / spacing) as i64;
        let mut sum = 0.0;
        for z in 1..=n {
            for y in -n..=n {
                for x in -n..=n {
                    sum += term(spacing * libm::sqrt((x * x + y * y + z * z) as f64), z as f64 * spacing);
                }
            }
        }
        sum * spacing * spacing * spacing
    }
}

/// ∇² of the viscosity kernel, in units of h⁻⁵: 45/π (1 − q) \[MCG03 eq. 22\]. (The kernel itself is never needed; its
/// printed form in Boldt has 2h/r for h/(2r), which does not change ∇².)
#[must_use]
pub fn viscosity_laplacian(q: f64) -> f64 {
    45.0 / PI * (1.0 - q).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kernel; 4] = [Kernel::POLY6, Kernel::SPIKY, Kernel::CUBIC_SPLINE, Kernel::QUARTIC_SPLINE];

    /// ∫₀¹ f dq by Gauss–Legendre on 64 panels of 5 points.
    fn integrate(f: impl Fn(f64) -> f64) -> f64 {
        let nodes =
            [0.0, 0.538_469_310_105_683_1, -0.538_469_310_105_683_1, 0.906_179_845_938_664, -0.906_179_845_938_664];
        let weights = [
            128.0 / 225.0,
            0.478_628_670_499_366_5,
            0.478_628_670_499_366_5,
            0.236_926_885_056_189_1,
            0.236_926_885_056_189_1,
        ];
        // Borders of panels stand where pieces of kernels end.
        let half = 0.5 / 80.0;
        (0..80)
            .map(|p| {
                nodes.iter().zip(weights).map(|(x, w)| w * half * f((2 * p + 1) as f64 * half + x * half)).sum::<f64>()
            })
            .sum()
    }

    #[test]
    fn kernels_integrate_to_one() {
        for kernel in ALL {
            let mass = integrate(|q| 4.0 * PI * q * q * kernel.value(q));
            assert!((mass - 1.0).abs() < 1e-12, "{mass}");
        }
        // ∫ W = 1 for the viscosity kernel means ∫ r² ∇²W dV = 6 (twice by parts).
        let moment = integrate(|q| 4.0 * PI * q.powi(4) * viscosity_laplacian(q));
        assert!((moment - 6.0).abs() < 1e-12, "{moment}");
    }

    /// Σ ∇W ΔV over a lattice that lies askew to the centre: ∫∇W dV as anyone would compute it.
    fn lattice_gradient(kernel: &Kernel, spacing: f64, offset: [f64; 3]) -> [f64; 3] {
        let n = (1.0 / spacing) as i64 + 1;
        let mut sum = [0.0; 3];
        for (i, j, k) in (-n..=n).flat_map(|i| (-n..=n).flat_map(move |j| (-n..=n).map(move |k| (i, j, k)))) {
            let x = [i, j, k].map(|c| c as f64 * spacing);
            let x = [x[0] + offset[0], x[1] + offset[1], x[2] + offset[2]];
            let r = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
            for axis in 0..3 {
                sum[axis] += kernel.slope(r) * x[axis] / r * spacing.powi(3);
            }
        }
        sum
    }

    #[test]
    fn gradients_integrate_to_zero_and_match_the_slope() {
        for kernel in ALL {
            let sum = lattice_gradient(&kernel, 0.04, [0.013, -0.007, 0.019]);
            assert!(sum.iter().all(|g| g.abs() < 2e-3), "{sum:?}");
            for q in [0.05, 0.3, 0.49, 0.51, 0.8, 0.99] {
                let e = 1e-6;
                let difference = (kernel.value(q + e) - kernel.value(q - e)) / (2.0 * e);
                assert!((difference - kernel.slope(q)).abs() < 1e-6, "{q}: {difference} {}", kernel.slope(q));
            }
            // ∫ r · ∇W dV = −3 ∫ W dV: the slope carries the norm.
            let moment = integrate(|q| 4.0 * PI * q.powi(3) * kernel.slope(q));
            assert!((moment + 3.0).abs() < 1e-11, "{moment}");
        }
    }

    #[test]
    fn values_at_the_origin_are_those_of_the_papers() {
        assert!((Kernel::POLY6.value(0.0) - 1.566_681_47).abs() < 1e-8);
        assert!((Kernel::SPIKY.value(0.0) - 4.774_648_29).abs() < 1e-8);
        assert!((Kernel::SPIKY.slope(0.0) + 14.323_944_9).abs() < 1e-7);
        assert!((viscosity_laplacian(0.37) - 9.024_085_27).abs() < 1e-8);
        assert_eq!(Kernel::CUBIC_SPLINE.value(1.0), 0.0);
    }

    #[test]
    fn the_tail_is_what_is_left() {
        for kernel in ALL {
            assert!(
                (kernel.tail(0.0) - 1.0).abs() < 1e-12
                    && kernel.tail(1.0).abs() < 1e-12
                    && kernel.tail(2.0).abs() < 1e-12
            );
            for q in [0.2, 0.5, 0.7] {
                let e = 1e-6;
                let slope = (kernel.tail(q + e) - kernel.tail(q - e)) / (2.0 * e);
                assert!((slope + 4.0 * PI * q * q * kernel.value(q)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn lattice_sums_tend_to_one() {
        for kernel in ALL {
            assert!((kernel.lattice_sum(0.05) - 1.0).abs() < 2e-3, "{}", kernel.lattice_sum(0.05));
        }
        assert!((Kernel::CUBIC_SPLINE.lattice_sum(0.5) - 0.999_972).abs() < 1e-6);
        assert!((Kernel::POLY6.lattice_sum(0.5) - 1.009_775).abs() < 1e-6);
    }
}
