//! Named arrays of numbers as VTK knows them.

use glam::{DVec3, Vec3};

use crate::error::{RecordError, Result};

/// Numbers of one type.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Values<'a> {
    /// `Float32`
    F32(&'a [f32]),
    /// `Float64`
    F64(&'a [f64]),
    /// `UInt8`
    U8(&'a [u8]),
    /// `UInt16`
    U16(&'a [u16]),
    /// `UInt32`
    U32(&'a [u32]),
    /// `UInt64`
    U64(&'a [u64]),
    /// `Int32`
    I32(&'a [i32]),
    /// `Int64`
    I64(&'a [i64]),
}

macro_rules! values {
    ($($variant:ident, $number:ty, $name:literal);*) => {
        $(
            impl<'a> From<&'a [$number]> for Values<'a> {
                fn from(values: &'a [$number]) -> Self {
                    Self::$variant(values)
                }
            }
            impl<'a> From<&'a Vec<$number>> for Values<'a> {
                fn from(values: &'a Vec<$number>) -> Self {
                    Self::$variant(values)
                }
            }
            impl<'a, const N: usize> From<&'a [$number; N]> for Values<'a> {
                fn from(values: &'a [$number; N]) -> Self {
                    Self::$variant(values)
                }
            }
        )*

        impl Values<'_> {
            /// Number of numbers.
            #[must_use]
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)*
                }
            }

            /// The type's name in VTK files.
            pub(super) fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Appends the numbers, little endian.
            pub(super) fn append_to(&self, bytes: &mut Vec<u8>) {
                bytes.reserve(self.byte_length());
                match self {
                    $(Self::$variant(values) => values.iter().for_each(|v| bytes.extend(v.to_le_bytes())),)*
                }
            }

            pub(super) fn byte_length(&self) -> usize {
                match self {
                    $(Self::$variant(values) => size_of_val(*values),)*
                }
            }
        }
    };
}
values!(F32, f32, "Float32"; F64, f64, "Float64"; U8, u8, "UInt8"; U16, u16, "UInt16"; U32, u32, "UInt32";
    U64, u64, "UInt64"; I32, i32, "Int32"; I64, i64, "Int64");

impl Values<'_> {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Points or vectors in single or double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Points<'a> {
    /// Single precision.
    F32(&'a [Vec3]),
    /// Double precision.
    F64(&'a [DVec3]),
}

impl<'a> Points<'a> {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(points) => points.len(),
            Self::F64(points) => points.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn values(self) -> Values<'a> {
        match self {
            Self::F32(points) => Values::F32(bytemuck::cast_slice(points)),
            Self::F64(points) => Values::F64(bytemuck::cast_slice(points)),
        }
    }
}

impl Default for Points<'_> {
    fn default() -> Self {
        Self::F32(&[])
    }
}

macro_rules! points {
    ($($variant:ident, $point:ty);*) => {$(
        impl<'a> From<&'a [$point]> for Points<'a> {
            fn from(points: &'a [$point]) -> Self {
                Self::$variant(points)
            }
        }
        impl<'a> From<&'a Vec<$point>> for Points<'a> {
            fn from(points: &'a Vec<$point>) -> Self {
                Self::$variant(points)
            }
        }
        impl<'a, const N: usize> From<&'a [$point; N]> for Points<'a> {
            fn from(points: &'a [$point; N]) -> Self {
                Self::$variant(points)
            }
        }
    )*};
}
points!(F32, Vec3; F64, DVec3);

/// Numbers with a name: one scalar, vector or tensor per point or cell.
#[derive(Debug, Clone, PartialEq)]
pub struct DataArray<'a> {
    name: &'a str,
    unit: &'a str,
    components: usize,
    values: Values<'a>,
}

impl<'a> DataArray<'a> {
    /// One number per point or cell.
    pub fn scalars(name: &'a str, values: impl Into<Values<'a>>) -> Self {
        Self::tuples(name, 1, values)
    }

    /// One vector per point or cell.
    pub fn vectors(name: &'a str, vectors: impl Into<Points<'a>>) -> Self {
        Self { name, unit: "", components: 3, values: vectors.into().values() }
    }

    /// `components` numbers per point or cell, such as nine for a tensor.
    pub fn tuples(name: &'a str, components: usize, values: impl Into<Values<'a>>) -> Self {
        Self { name, unit: "", components, values: values.into() }
    }

    /// The same with a unit, such as `m/s`, which VTK keeps as `UNITS_LABEL`.
    #[must_use]
    pub fn in_unit(self, unit: &'a str) -> Self {
        Self { unit, ..self }
    }

    /// Its unit; empty if it has none, or has it in its name.
    #[must_use]
    pub fn unit(&self) -> &'a str {
        self.unit
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Numbers per point or cell.
    #[must_use]
    pub fn components(&self) -> usize {
        self.components
    }

    /// The numbers, point by point.
    #[must_use]
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// There must be as many tuples as points or cells.
    pub(super) fn check(&self, tuples: usize) -> Result<()> {
        let expected = tuples.saturating_mul(self.components);
        if self.values.len() == expected {
            return Ok(());
        }
        let what = format!("the array {:?}", self.name);
        Err(RecordError::WrongLength { what, expected, found: self.values.len() })
    }
}

/// What is said about a whole file, where ParaView looks for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldData<'a> {
    /// Time that the file shows \[s\], as `TimeValue`.
    pub time: Option<f64>,
    /// Names of the bodies, as `body_names`: the arrays called `body` count from the first. VTK reads them everywhere;
    /// meshio (5.3) refuses `.vtu` files that hold text, so leave them out of those.
    pub body_names: Vec<&'a str>,
}
