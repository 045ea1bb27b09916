//! Why a flow cannot be set up.

use glam::DVec3;

/// What is wrong with a setup.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The box is not made of whole cells.
    #[error("a box of {size} m is not a whole number of cubic cells of {spacing} m along each edge")]
    Box {
        /// Edges of the box \[m\].
        size: DVec3,
        /// Edge of a cell \[m\].
        spacing: f64,
    },
    /// More cells than can be stepped.
    #[error("{cells:.2e} cells are too many")]
    TooManyCells {
        /// How many.
        cells: f64,
    },
    /// A parameter is out of its range.
    #[error("{what} must be {range}, not {value}")]
    Range {
        /// The parameter.
        what: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// Only one of two opposite sides is periodic.
    #[error("along {axis}, one side is periodic and the other is not")]
    OneSidePeriodic {
        /// Name of the axis.
        axis: char,
    },
    /// A slab one cell thin lets nothing through its faces.
    #[error("along {axis} there is one cell only: its sides must be slip or periodic")]
    ThinSide {
        /// Name of the axis.
        axis: char,
    },
    /// What comes in cannot leave.
    #[error("fluid comes in at a side but cannot leave: no open side is connected with it")]
    NoOutlet,
    /// A mesh cannot be a solid.
    #[error("a mesh that is not closed cannot be a solid: {0}")]
    OpenMesh(String),
}

/// Checks that a number is finite and in its range.
pub(crate) fn in_range(what: &'static str, range: &'static str, value: f64, good: bool) -> Result<(), SetupError> {
    if good && value.is_finite() { Ok(()) } else { Err(SetupError::Range { what, range, value }) }
}
