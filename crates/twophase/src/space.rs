//! Where a stage works.

use crate::apertures::Apertures;
use crate::boundary::Boundary;
use crate::grid::Grid;
use fearless_simd::Level;

/// The grid, what lies beyond its sides, what stands in it, and the instructions at hand.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) boundary: &'a Boundary,
    pub(crate) apertures: &'a Apertures,
    pub(crate) level: Level,
}
