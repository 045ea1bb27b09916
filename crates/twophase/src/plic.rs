//! Planes in a unit cell: the volume under a plane, and the plane over a volume, in closed form.
//!
//! The liquid in a cell is { x : n·x ≤ α }, x from 0 to 1 along each axis, |n₁| + |n₂| + |n₃| = 1, n pointing out of the
//! liquid \[SZ00\]. With mᵢ = |nᵢ| sorted, m₁ ≤ m₂ ≤ m₃, and a = α + Σ max(−nᵢ, 0) from 0 to 1, the volume for
//! a ≤ ½ is
//!
//! | where | V |
//! |---|---|
//! | a < m₁ | a³ / 6m₁m₂m₃ |
//! | m₁ ≤ a < m₁ + m₂ | (3a² − 3am₁ + m₁² − \[(a − m₂)₊³ + (a − m₃)₊³\] / m₁) / 6m₂m₃ |
//! | m₁ + m₂ ≤ a | (2a − m₁ − m₂) / 2m₃ |
//!
//! and 1 − V(1 − a) above. The second line is the usual difference of cubes with m₁ divided out: no digit is lost when
//! m₁ is small.

use serde::{Deserialize, Serialize};

/// A plane in a unit cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Normal n out of the liquid, with |n₁| + |n₂| + |n₃| = 1.
    pub normal: [f64; 3],
    /// Constant α: the liquid is where n·x ≤ α, in units of the cell.
    pub constant: f64,
}

/// Keeps quotients of vanishing normals finite.
const TINY: f64 = 1e-300;

impl Plane {
    /// The plane with a normal of any length that has a volume fraction of liquid below it.
    #[must_use]
    pub fn with_volume(normal: [f64; 3], fraction: f64) -> Self {
        let normal = scaled(normal);
        let [m1, m2, m3] = sorted(normal.map(f64::abs));
        let below = normal.iter().map(|n| n.min(0.0)).sum::<f64>();
        let half = distance_for([m1, m2, m3], fraction.min(1.0 - fraction));
        let a = if fraction <= 0.5 { half } else { 1.0 - half };
        Self { normal, constant: a + below }
    }

    /// Volume fraction below the plane.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let below = self.normal.iter().map(|n| n.min(0.0)).sum::<f64>();
        volume_below(sorted(self.normal.map(f64::abs)), self.constant - below)
    }

    /// Liquid volume in the part of the cell with `from ≤ x ≤ from + width` along an axis, in units of the cell.
    #[must_use]
    pub fn slab_volume(&self, axis: usize, from: f64, width: f64) -> f64 {
        let [a, b, c] = self.normal;
        let mut n = [a, b, c];
        n[axis] *= width;
        let sum = n[0].abs() + n[1].abs() + n[2].abs();
        let below = n[0].min(0.0) + n[1].min(0.0) + n[2].min(0.0);
        let distance = self.constant - self.normal[axis] * from - below;
        if sum <= TINY {
            // The plane is parallel to the slab, and the slab has no width.
            return if distance >= 0.0 { width } else { 0.0 };
        }
        let scale = 1.0 / sum;
        width * volume_below(sorted(n.map(|n| n.abs() * scale)), distance * scale)
    }

    /// Distance of a position in the cell from the plane along the normal, positive in the liquid, in units of the cell.
    #[must_use]
    pub fn depth(&self, x: [f64; 3]) -> f64 {
        let [a, b, c] = self.normal;
        let length = (a * a + b * b + c * c).sqrt().max(TINY);
        (self.constant - a * x[0] - b * x[1] - c * x[2]) / length
    }
}

/// A normal scaled so that its components sum to one; upwards if there is none.
fn scaled(normal: [f64; 3]) -> [f64; 3] {
    let sum = normal[0].abs() + normal[1].abs() + normal[2].abs();
    if sum > TINY { normal.map(|n| n / sum) } else { [0.0, 1.0, 0.0] }
}

#[inline(always)]
fn sorted([a, b, c]: [f64; 3]) -> [f64; 3] {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let (middle, high) = if high < c { (high, c) } else { (c, high) };
    if low < middle { [low, middle, high] } else { [middle, low, high] }
}

/// V(a) of the table above.
#[inline(always)]
fn volume_below(m: [f64; 3], a: f64) -> f64 {
    if a <= 0.0 {
        0.0
    } else if a <= 0.5 {
        volume_of_lower_half(m, a)
    } else if a < 1.0 {
        1.0 - volume_of_lower_half(m, 1.0 - a)
    } else {
        1.0
    }
}

#[inline(always)]
fn volume_of_lower_half([m1, m2, m3]: [f64; 3], a: f64) -> f64 {
    let m12 = m1 + m2;
    if a < m1 {
        a * a * a / (6.0 * m1 * m2 * m3)
    } else if a < m12 {
        let beyond = cube((a - m2).max(0.0)) + cube((a - m3).max(0.0));
        (3.0 * a * (a - m1) + m1 * m1 - beyond / m1.max(TINY)) / (6.0 * m2 * m3)
    } else {
        (2.0 * a - m12) / (2.0 * m3)
    }
}

fn cube(x: f64) -> f64 {
    x * x * x
}

/// a(V) for V ≤ ½ \[SZ00\]; one Newton step on the well-conditioned V(a) polishes the roots of the two cubics.
fn distance_for(m: [f64; 3], volume: f64) -> f64 {
    let [m1, m2, m3] = m;
    let volume = volume.max(0.0);
    let m12 = m1 + m2;
    let product = (6.0 * m1 * m2 * m3).max(TINY);
    let at_m1 = m1 * m1 / (6.0 * m2 * m3).max(TINY);
    let at_m2 = at_m1 + (m2 - m1) / (2.0 * m3);
    let at_third = volume_of_lower_half(m, m12.min(m3).min(0.5));
    let root = if volume < at_m1 {
        return libm::cbrt(product * volume);
    } else if volume < at_m2 {
        return 0.5 * (m1 + (m1 * m1 + 8.0 * m2 * m3 * (volume - at_m1)).sqrt());
    } else if volume < at_third {
        let p = (2.0 * m1 * m2).sqrt().max(TINY);
        cubic_root(p, 3.0 * (m12 - 2.0 * m3 * volume) / (4.0 * p)) + m12
    } else if m12 <= m3 {
        return m3 * volume + 0.5 * m12;
    } else {
        let p2 = m1 * (m2 + m3) + m2 * m3 - 0.25;
        let p = p2.sqrt();
        cubic_root(p, 1.5 * m1 * m2 * m3 * (0.5 - volume) / (p2 * p)) + 0.5
    };
    let slope = area_of_lower_half(m, root);
    root - (volume_of_lower_half(m, root) - volume) / slope.max(0.1)
}

/// The root of x³ − 3p²x + 2p³q = 0 between −p and p.
fn cubic_root(p: f64, q: f64) -> f64 {
    let third = libm::acos(q.clamp(-1.0, 1.0)) / 3.0;
    p * (3f64.sqrt() * libm::sin(third) - libm::cos(third))
}

/// dV/da for m₁ ≤ a.
fn area_of_lower_half([m1, m2, m3]: [f64; 3], a: f64) -> f64 {
    if a >= m1 + m2 {
        return 1.0 / m3;
    }
    let (b, c) = ((a - m2).max(0.0), (a - m3).max(0.0));
    (2.0 * a - m1 - (b * b + c * c) / m1.max(TINY)) / (2.0 * m2 * m3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rng::TestRng;
    use proptest::prelude::*;

    impl TestRng {
        /// Normals in all directions, a third of them with one or two components many orders below the largest.
        fn normal(&mut self) -> [f64; 3] {
            let small = |rng: &mut Self| libm::exp(-30.0 * rng.uniform());
            let n = [self.uniform() - 0.5, self.uniform() - 0.5, self.uniform() - 0.5];
            match (self.uniform() * 6.0) as u32 {
                0 => [n[0], n[1] * small(self), n[2]],
                1 => [n[0] * small(self), n[1], n[2] * small(self)],
                _ => n,
            }
        }
    }

    #[test]
    fn plane_and_volume_are_inverse_over_a_million_normals() {
        let mut rng = TestRng(0x9e37_79b9_7f4a_7c15);
        let mut worst = 0.0f64;
        for _ in 0..1_000_000 {
            let (normal, fraction) = (rng.normal(), rng.uniform());
            let plane = Plane::with_volume(normal, fraction);
            worst = worst.max((plane.volume() - fraction).abs());
        }
        assert!(worst < 1e-12, "{worst}");
    }

    #[test]
    fn along_the_axes_nothing_is_lost() {
        for fraction in [0.0, 1e-14, 0.3, 0.5, 0.75, 1.0 - 1e-14, 1.0] {
            for normal in [[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [0.0; 3]] {
                let plane = Plane::with_volume(normal, fraction);
                assert!((plane.volume() - fraction).abs() < 1e-15, "{normal:?} {fraction}");
            }
        }
        assert_eq!(Plane::with_volume([1.0, 0.0, 0.0], 0.25).constant, 0.25);
        assert_eq!(Plane::with_volume([-1.0, 0.0, 0.0], 0.25).constant, -0.75);
    }

    /// Σ over small cells, exact to the number of cells cut.
    fn by_counting(plane: &Plane, from: [f64; 3], to: [f64; 3]) -> f64 {
        let n = 60;
        let mut count = 0;
        for k in 0..n * n * n {
            let x: [f64; 3] = std::array::from_fn(|d| {
                let i = [k % n, k / n % n, k / n / n][d];
                from[d] + (to[d] - from[d]) * (f64::from(i) + 0.5) / f64::from(n)
            });
            count += u32::from(plane.depth(x) >= 0.0);
        }
        f64::from(count) / f64::from(n * n * n) * (0..3).map(|d| to[d] - from[d]).product::<f64>()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn volumes_are_those_of_counting(normal in prop::array::uniform3(-1.0..1.0f64), fraction in 0.01..0.99f64,
                                         axis in 0usize..3, from in 0.0..1.0f64, width in 0.0..1.0f64) {
            let plane = Plane::with_volume(normal, fraction);
            prop_assert!((by_counting(&plane, [0.0; 3], [1.0; 3]) - fraction).abs() < 0.01);
            let width = width * (1.0 - from);
            let (mut low, mut high) = ([0.0; 3], [1.0; 3]);
            (low[axis], high[axis]) = (from, from + width);
            prop_assert!((by_counting(&plane, low, high) - plane.slab_volume(axis, from, width)).abs() < 0.01 * width);
        }

        #[test]
        fn slabs_add_up(normal in prop::array::uniform3(-1.0..1.0f64), fraction in 0.0..1.0f64,
                        axis in 0usize..3, cut in 0.0..1.0f64) {
            let plane = Plane::with_volume(normal, fraction);
            let sum = plane.slab_volume(axis, 0.0, cut) + plane.slab_volume(axis, cut, 1.0 - cut);
            prop_assert!((sum - fraction).abs() < 1e-13);
            prop_assert!(plane.slab_volume(axis, 0.0, cut) <= fraction + 1e-15);
        }
    }
}
