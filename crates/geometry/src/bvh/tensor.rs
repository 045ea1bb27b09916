//! Symmetric tensors by their different entries: all that the derivatives of a harmonic field can see.

use std::ops::Add;

use glam::{DVec3, Vec3Swizzles as _};

/// A symmetric matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Symmetric2 {
    /// xx, yy, zz.
    squares: DVec3,
    /// xy, yz, zx.
    mixed: DVec3,
}

/// A symmetric tensor of third order.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Symmetric3 {
    /// xxx, yyy, zzz.
    cubes: DVec3,
    /// xxy, yyz, zzx.
    next: DVec3,
    /// xxz, yyx, zzy.
    last: DVec3,
    xyz: f64,
}

impl Symmetric2 {
    /// ½ (a bᵀ + b aᵀ).
    pub(super) fn product(a: DVec3, b: DVec3) -> Self {
        Self { squares: a * b, mixed: 0.5 * (a * b.yzx() + b * a.yzx()) }
    }

    /// r·M r.
    pub(super) fn square(&self, r: DVec3) -> f64 {
        r.dot(self.squares * r) + 2.0 * r.yzx().dot(self.mixed * r)
    }

    pub(super) fn trace(&self) -> f64 {
        self.squares.element_sum()
    }
}

impl Symmetric3 {
    /// The mean of a M over all orders of its indices.
    pub(super) fn product(a: DVec3, m: &Symmetric2) -> Self {
        let (next, last) = (m.mixed, m.mixed.zxy());
        Self {
            cubes: a * m.squares,
            next: (2.0 * a * next + a.yzx() * m.squares) / 3.0,
            last: (2.0 * a * last + a.zxy() * m.squares) / 3.0,
            xyz: a.dot(m.mixed.yzx()) / 3.0,
        }
    }

    /// S(r, r, r).
    pub(super) fn cube(&self, r: DVec3) -> f64 {
        let squares = r * r;
        let pairs = self.next * r.yzx() + self.last * r.zxy();
        squares.dot(self.cubes * r + 3.0 * pairs) + 6.0 * self.xyz * r.element_product()
    }

    /// Sum over two equal indices.
    pub(super) fn trace(&self) -> DVec3 {
        // The last entry of `next` is zzx: it belongs to x.
        self.cubes + self.next.zxy() + self.last.yzx()
    }
}

impl Add for Symmetric2 {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { squares: self.squares + other.squares, mixed: self.mixed + other.mixed }
    }
}

impl Add for Symmetric3 {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cubes: self.cubes + other.cubes,
            next: self.next + other.next,
            last: self.last + other.last,
            xyz: self.xyz + other.xyz,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::point;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matrices_are_symmetric_products(a in point(1.0), b in point(1.0), r in point(1.0)) {
            let m = Symmetric2::product(a, b);
            prop_assert!((m.square(r) - a.dot(r) * b.dot(r)).abs() < 1e-14);
            prop_assert!((m.trace() - a.dot(b)).abs() < 1e-14);
        }

        #[test]
        fn third_order_is_a_symmetric_product(a in point(1.0), b in point(1.0), c in point(1.0), r in point(1.0)) {
            let s = Symmetric3::product(a, &Symmetric2::product(b, c));
            prop_assert!((s.cube(r) - a.dot(r) * b.dot(r) * c.dot(r)).abs() < 1e-14);
            prop_assert!((s.trace() - (a.dot(b) * c + b.dot(c) * a + c.dot(a) * b) / 3.0).length() < 1e-14);
        }
    }
}
