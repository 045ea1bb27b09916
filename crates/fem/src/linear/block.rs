//! 3×3 blocks and their vectors in single and double precision.

use super::skyline::Number;
use glam::{DMat3, DVec3, Vec4, Vec4Swizzles};
use std::ops::{Add, Sub};

/// A 3×3 block that multiplies vectors of its precision.
pub(crate) trait Block: Copy + Default + Send + Sync + 'static {
    /// Vectors of three numbers.
    type Vector: Copy + Default + Send + Sync + Add<Output = Self::Vector> + Sub<Output = Self::Vector>;
    /// Their numbers.
    type Scalar: Number;

    /// The block times a vector.
    fn times(self, v: Self::Vector) -> Self::Vector;
    /// The transposed block times a vector.
    fn transposed_times(self, v: Self::Vector) -> Self::Vector;
    /// The block times a number.
    fn scaled(self, factor: f64) -> Self;
    /// A vector times a number.
    fn scale(v: Self::Vector, factor: f64) -> Self::Vector;
    /// Rounds a block to this precision.
    fn round(block: DMat3) -> Self;
    /// Rounds a vector to this precision.
    fn round_vector(v: DVec3) -> Self::Vector;
    /// A vector in double precision.
    fn widen(v: Self::Vector) -> DVec3;
    /// The numbers of a vector.
    fn scalars(v: Self::Vector) -> [Self::Scalar; 3];
    /// A vector of three numbers.
    fn vector(scalars: [Self::Scalar; 3]) -> Self::Vector;
}

impl Block for DMat3 {
    type Vector = DVec3;
    type Scalar = f64;

    #[inline(always)]
    fn times(self, v: DVec3) -> DVec3 {
        self.x_axis * v.x + self.y_axis * v.y + self.z_axis * v.z
    }

    #[inline(always)]
    fn transposed_times(self, v: DVec3) -> DVec3 {
        DVec3::new(self.x_axis.dot(v), self.y_axis.dot(v), self.z_axis.dot(v))
    }

    fn scaled(self, factor: f64) -> Self {
        self * factor
    }

    #[inline(always)]
    fn scale(v: DVec3, factor: f64) -> DVec3 {
        v * factor
    }

    fn round(block: DMat3) -> Self {
        block
    }

    #[inline(always)]
    fn round_vector(v: DVec3) -> DVec3 {
        v
    }

    #[inline(always)]
    fn widen(v: DVec3) -> DVec3 {
        v
    }

    #[inline(always)]
    fn scalars(v: DVec3) -> [f64; 3] {
        v.to_array()
    }

    #[inline(always)]
    fn vector(scalars: [f64; 3]) -> DVec3 {
        DVec3::from_array(scalars)
    }
}

/// A block in single precision: columns whose fourth lane is zero. Where it is left open, compilers tear vectors apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Single([Vec4; 3]);

impl Block for Single {
    type Vector = Vec4;
    type Scalar = f32;

    #[inline(always)]
    fn times(self, v: Vec4) -> Vec4 {
        let [x, y, z] = self.0;
        x * v.xxxx() + y * v.yyyy() + z * v.zzzz()
    }

    #[inline(always)]
    fn transposed_times(self, v: Vec4) -> Vec4 {
        let [x, y, z] = self.0.map(|column| column.truncate().dot(v.truncate()));
        Vec4::new(x, y, z, 0.0)
    }

    fn scaled(self, factor: f64) -> Self {
        Self(self.0.map(|column| column * factor as f32))
    }

    #[inline(always)]
    fn scale(v: Vec4, factor: f64) -> Vec4 {
        v * factor as f32
    }

    fn round(block: DMat3) -> Self {
        Self([block.x_axis, block.y_axis, block.z_axis].map(Self::round_vector))
    }

    #[inline(always)]
    fn round_vector(v: DVec3) -> Vec4 {
        v.as_vec3().extend(0.0)
    }

    #[inline(always)]
    fn widen(v: Vec4) -> DVec3 {
        v.truncate().as_dvec3()
    }

    #[inline(always)]
    fn scalars(v: Vec4) -> [f32; 3] {
        v.truncate().to_array()
    }

    #[inline(always)]
    fn vector([x, y, z]: [f32; 3]) -> Vec4 {
        Vec4::new(x, y, z, 0.0)
    }
}
