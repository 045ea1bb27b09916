//! Surfaces of equal value through samples on a regular grid: marching cubes.
//!
//! Inside is where the value is below the level, as for signed distances; negate densities. On every grid edge with one
//! end inside and one outside the surface has one vertex, placed where the linear interpolant takes the level. The
//! table of cases makes the surface closed wherever it does not leave the grid, every edge shared by two
//! triangles that run along it in opposite directions.
//!
//! The grid is cut into blocks of 8 × 8 × 8 cells, which are worked on in parallel. Only blocks that the surface passes
//! through cost anything: [`IsoGrid::surface`] finds them among stored samples, [`IsoGrid::surface_of`] by the size of a
//! signed distance, and [`IsoGrid::surface_in_blocks`] is told, which is what liquids use.

mod blocks;
mod table;

use glam::DVec3;
use rayon::prelude::*;

use crate::{Aabb, LARGEST_COORDINATE, MeshError, TriangleMesh};

/// What samples can be: `f32` or `f64`.
pub trait Sample: Copy + Default + Send + Sync + Into<f64> {}

impl<T: Copy + Default + Send + Sync + Into<f64>> Sample for T {}

/// A regular grid of samples. Sample `[i, j, k]` lies at `origin + spacing * (i, j, k)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsoGrid {
    origin: DVec3,
    spacing: f64,
    samples: [u32; 3],
}

/// Why a grid or its samples cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IsoError {
    /// The spacing is not a positive number.
    #[error("the spacing of a grid must be positive and finite, not {spacing} m")]
    Spacing {
        /// What was given \[m\].
        spacing: f64,
    },
    /// The grid is somewhere that numbers do not reach.
    #[error("the grid from {} to {} m is empty or not finite", bounds.min, bounds.max)]
    Bounds {
        /// The box that the grid should cover \[m\].
        bounds: Aabb,
    },
    /// There are more samples than can be counted.
    #[error("a grid of {} × {} × {} samples is too large: the largest has {LARGEST_SIDE} along each side", samples[0], samples[1], samples[2])]
    TooLarge {
        /// Samples along the sides; rounded.
        samples: [f64; 3],
    },
    /// The number of samples is not that of the grid.
    #[error("the grid has {expected} samples, but {given} are given")]
    Count {
        /// Number of samples of the grid.
        expected: usize,
        /// Number of samples that were given.
        given: usize,
    },
}

/// Samples along a side of a grid, at most.
pub const LARGEST_SIDE: u32 = 1 << 20;

/// A grid edge that the surface cuts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutEdge {
    /// The sample at its lower end.
    pub from: [u32; 3],
    /// The axis that it runs along: 0, 1 or 2 for x, y or z.
    pub axis: u8,
    /// How far along it is cut, dimensionless: more than 0 at its lower end, less than 1 at its upper end.
    pub t: f64,
}

impl CutEdge {
    /// The samples at both ends. An attribute at the vertex is `(1 − t) lower + t upper`.
    #[must_use]
    pub fn ends(&self) -> [[u32; 3]; 2] {
        let mut upper = self.from;
        upper[usize::from(self.axis)] += 1;
        [self.from, upper]
    }
}

/// A surface of equal value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IsoSurface {
    /// Vertices \[m\].
    pub positions: Vec<DVec3>,
    /// The edge that each vertex cuts.
    pub edges: Vec<CutEdge>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Number of cells that the surface passes through.
    pub cells: usize,
}

impl IsoSurface {
    /// Unit normals of the vertices, from the gradient of the values at samples, in any unit.
    #[must_use]
    pub fn normals(&self, gradient: impl Fn([u32; 3]) -> DVec3 + Sync) -> Vec<DVec3> {
        let normal = |cut: &CutEdge| {
            let [lower, upper] = cut.ends().map(&gradient);
            lower.lerp(upper, cut.t).normalize_or_zero()
        };
        self.edges.par_iter().map(normal).collect()
    }

    /// The surface as a mesh.
    ///
    /// # Errors
    /// When there is no triangle.
    pub fn into_mesh(self) -> Result<TriangleMesh, MeshError> {
        TriangleMesh::new(self.positions, self.triangles)
    }
}

impl IsoGrid {
    /// Cells along a side of a block.
    pub const BLOCK: u32 = 8;

    /// Samples along a side of a block, those on its borders included.
    pub const BLOCK_SIDE: usize = Self::BLOCK as usize + 1;

    /// Samples of a block.
    pub const BLOCK_SAMPLES: usize = Self::BLOCK_SIDE * Self::BLOCK_SIDE * Self::BLOCK_SIDE;

    /// A grid from its first sample \[m\], the distance between samples \[m\] and their number along x, y and z.
    ///
    /// # Errors
    /// When a length is not a positive number or there are too many samples.
    pub fn new(origin: DVec3, spacing: f64, samples: [u32; 3]) -> Result<Self, IsoError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(IsoError::Spacing { spacing });
        }
        if samples.iter().any(|&n| n > LARGEST_SIDE) {
            return Err(IsoError::TooLarge { samples: samples.map(f64::from) });
        }
        let grid = Self { origin, spacing, samples };
        let bounds = Aabb { min: origin, max: grid.position(samples) };
        let reach = bounds.min.abs().max(bounds.max.abs());
        // Also false for what is not a number.
        let good = reach.cmple(DVec3::splat(LARGEST_COORDINATE)).all();
        if good { Ok(grid) } else { Err(IsoError::Bounds { bounds }) }
    }

    /// A grid that covers a box \[m\] with at least one layer of samples outside it on every side, centred on it.
    ///
    /// # Errors
    /// When the box is empty or needs too many samples.
    pub fn covering(bounds: &Aabb, spacing: f64) -> Result<Self, IsoError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(IsoError::Spacing { spacing });
        }
        if bounds.is_empty() || !bounds.size().is_finite() {
            return Err(IsoError::Bounds { bounds: *bounds });
        }
        let cells = (bounds.size() / spacing).ceil() + 2.0;
        if cells.max_element() >= f64::from(LARGEST_SIDE) {
            return Err(IsoError::TooLarge { samples: (cells + 1.0).to_array() });
        }
        Self::new(bounds.center() - 0.5 * spacing * cells, spacing, cells.to_array().map(|n| n as u32 + 1))
    }

    /// The first sample \[m\].
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Distance between samples \[m\].
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Number of samples along x, y and z.
    #[must_use]
    pub fn samples(&self) -> [u32; 3] {
        self.samples
    }

    /// Number of samples.
    #[must_use]
    pub fn sample_count(&self) -> usize {
        self.samples.iter().map(|&n| n as usize).product()
    }

    /// Number of blocks along x, y and z.
    #[must_use]
    pub fn blocks(&self) -> [u32; 3] {
        self.samples.map(|n| n.saturating_sub(1).div_ceil(Self::BLOCK))
    }

    /// Where a sample lies \[m\].
    #[must_use]
    pub fn position(&self, sample: [u32; 3]) -> DVec3 {
        self.origin + self.spacing * DVec3::from(sample.map(f64::from))
    }

    /// The number of a sample in an array of all: x runs fastest, z slowest.
    #[must_use]
    pub fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        (k as usize * self.samples[1] as usize + j as usize) * self.samples[0] as usize + i as usize
    }

    /// The gradient of stored values at a sample, by central differences \[unit of the values per metre\]; one-sided at
    /// the borders of the grid. Zero for samples and values that do not exist.
    #[must_use]
    pub fn gradient<T: Sample>(&self, values: &[T], sample: [u32; 3]) -> DVec3 {
        let value = |s: [u32; 3]| values.get(self.index(s)).map_or(0.0, |&v| v.into());
        DVec3::from([0, 1, 2].map(|axis| {
            let (mut lower, mut upper) = (sample, sample);
            lower[axis] = sample[axis].saturating_sub(1);
            upper[axis] = (sample[axis] + 1).min(self.samples[axis].saturating_sub(1));
            let steps = upper[axis].saturating_sub(lower[axis]).max(1);
            (value(upper) - value(lower)) / (f64::from(steps) * self.spacing)
        }))
    }

    /// The surface through stored samples, x fastest.
    ///
    /// # Errors
    /// When the number of samples is wrong.
    pub fn surface<T: Sample>(&self, values: &[T], level: f64) -> Result<IsoSurface, IsoError> {
        let expected = self.sample_count();
        if values.len() != expected {
            return Err(IsoError::Count { expected, given: values.len() });
        }
        let active = |block: &[u32; 3]| {
            let (mut inside, mut outside) = (false, false);
            self.for_each_row(*block, |row| {
                inside |= values[row.clone()].iter().any(|&v| v.into() < level);
                outside |= values[row].iter().any(|&v| v.into() >= level);
            });
            inside && outside
        };
        let blocks: Vec<_> = self.all_blocks().into_par_iter().filter(active).collect();
        let fill = |first: [u32; 3], out: &mut [T]| {
            let size = self.block_samples(first.map(|n| n / Self::BLOCK));
            for (k, plane) in out.chunks_exact_mut(Self::BLOCK_SIDE * Self::BLOCK_SIDE).take(size[2]).enumerate() {
                for (j, row) in plane.chunks_exact_mut(Self::BLOCK_SIDE).take(size[1]).enumerate() {
                    let start = self.index([first[0], first[1] + j as u32, first[2] + k as u32]);
                    row[..size[0]].copy_from_slice(&values[start..start + size[0]]);
                }
            }
        };
        Ok(self.surface_in_blocks(&blocks, level, fill))
    }

    /// The surface where a signed distance \[m\] takes a level \[m\]. The distance may be any function that changes by no
    /// more than the way between two points; blocks that are farther away from the surface than they are large are
    /// stepped over.
    #[must_use]
    pub fn surface_of(&self, signed_distance: impl Fn(DVec3) -> f64 + Sync, level: f64) -> IsoSurface {
        let reach = 0.5 * 3f64.sqrt() * self.spacing * f64::from(Self::BLOCK);
        let near = |block: &[u32; 3]| {
            let middle = self.position(block.map(|b| b * Self::BLOCK)) + 0.5 * self.spacing * f64::from(Self::BLOCK);
            let far = (signed_distance(middle) - level).abs() > reach;
            !far
        };
        let blocks: Vec<_> = self.all_blocks().into_par_iter().filter(near).collect();
        self.surface_in_blocks(&blocks, level, |first, out: &mut [f64]| {
            for (i, value) in (0u32..).zip(out) {
                let side = Self::BLOCK_SIDE as u32;
                let step = [i % side, i / side % side, i / (side * side)];
                *value = signed_distance(self.position([0, 1, 2].map(|axis| first[axis] + step[axis])));
            }
        })
    }

    /// The blocks with a cell within `reach` \[m\] of a point \[m\] along every axis, in rising order: where the surface
    /// round particles can be.
    #[must_use]
    pub fn blocks_around(&self, points: impl IntoIterator<Item = DVec3>, reach: f64) -> Vec<[u32; 3]> {
        let edge = self.spacing * f64::from(Self::BLOCK);
        let limits = self.blocks();
        let mut blocks = Vec::new();
        for point in points {
            // Casts go to the nearest whole number that there is, those of what is not a number to zero.
            let low = ((point - reach - self.origin) / edge).floor().to_array().map(|x| x as u32);
            let high = ((point + reach - self.origin) / edge).floor().to_array();
            let [xs, ys, zs] =
                [0, 1, 2].map(|k| low[k]..if high[k] < 0.0 { 0 } else { limits[k].min(high[k] as u32 + 1) });
            for z in zs {
                for y in ys.clone() {
                    blocks.extend(xs.clone().map(|x| [x, y, z]));
                }
            }
            // Neighbouring points lie in the same blocks.
            if blocks.len() > 1 << 20 {
                blocks.sort_unstable();
                blocks.dedup();
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    fn all_blocks(&self) -> Vec<[u32; 3]> {
        let [nx, ny, nz] = self.blocks();
        let rows = (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| (0..nx).map(move |x| [x, y, z])).collect()
    }

    /// Samples of a block along x, y and z that belong to the grid.
    fn block_samples(&self, block: [u32; 3]) -> [usize; 3] {
        [0, 1, 2].map(|axis| (self.samples[axis] - block[axis] * Self::BLOCK).min(Self::BLOCK + 1) as usize)
    }

    /// Calls `f` with the numbers of the samples of each row of a block.
    fn for_each_row(&self, block: [u32; 3], mut f: impl FnMut(std::ops::Range<usize>)) {
        let size = self.block_samples(block);
        let [x, y, z] = block.map(|b| b * Self::BLOCK);
        for k in 0..size[2] as u32 {
            for j in 0..size[1] as u32 {
                let start = self.index([x, y + j, z + k]);
                f(start..start + size[0]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
