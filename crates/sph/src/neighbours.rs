//! Neighbour lists, made once per step and shared by all passes.
//!
//! Particles are cut into blocks of [`par::PIECE`] consecutive ones; a block owns the lists of its particles and is the
//! unit of work of every pass. A list holds the indices of all particles within the support radius, the particle itself
//! included, padded to a multiple of eight with the index of a particle without mass. Beside it stand the squares of their distances:
//! kernels need not wait until neighbours have been read.

use crate::simd::{LANES, Lanes3, Packed, dot, pack, set_first, splat, splat3};
use fearless_simd::{Bytes, Simd, SimdBase, SimdFrom, SimdMask, f32x8, u32x8};
use glam::Vec3;
use meniscus_core::par;
use meniscus_geometry::NeighbourGrid;
use rayon::prelude::*;
use std::ops::Range;

/// The neighbour lists of all particles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Neighbours {
    pub(crate) blocks: Vec<Block>,
}

/// The lists of consecutive particles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// First particle of the block.
    pub(crate) start: usize,
    /// Number of particles in the block.
    pub(crate) len: usize,
    /// Groups of eight, list after list.
    groups: Vec<[u32; LANES]>,
    /// Squares of their distances \[m²\]; infinite for nobody.
    squares: Vec<[f32; LANES]>,
    /// Where each list starts in `groups`; one more than particles.
    first: Vec<u32>,
    candidates: Candidates,
}

/// Positions as lanes \[m\]: what the search reads in one go. Eight more than particles, out of everyone's way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns([Vec<f32>; 3]);

impl Columns {
    /// Copies positions, and puts them into `packed` with whatever a particle has for a companion.
    pub(crate) fn copy(&mut self, positions: &[Vec3], packed: &mut [Packed], companion: impl Fn(usize) -> f32 + Sync) {
        for column in &mut self.0 {
            column.resize(positions.len() + LANES, 0.0);
            column[positions.len()..].fill(f32::INFINITY);
        }
        let [x, y, z] = self.0.each_mut().map(|column| column[..positions.len()].par_chunks_mut(par::PIECE));
        let pieces = positions.par_chunks(par::PIECE).zip(packed.par_chunks_mut(par::PIECE)).zip(x).zip(y).zip(z);
        pieces.with_min_len(par::LIGHT / par::PIECE).enumerate().for_each(|(n, ((((positions, packed), x), y), z))| {
            for (k, p) in positions.iter().enumerate() {
                (x[k], y[k], z[k]) = (p.x, p.y, p.z);
                packed[k] = pack(*p, companion(n * par::PIECE + k));
            }
        });
    }

    /// The positions of eight particles from one on.
    #[inline(always)]
    pub(crate) fn eight<S: Simd>(&self, simd: S, from: usize) -> Lanes3<S> {
        let Self([x, y, z]) = self;
        let eight = from..from + LANES;
        [&x[eight.clone()], &y[eight.clone()], &z[eight]].map(|column| f32x8::from_slice(simd, column))
    }
}

/// The particles within reach of those of a cell, as lanes: x, y, z, index.
#[derive(Debug, Clone, Default)]
struct Candidates {
    ranges: Vec<(Range<usize>, Vec3)>,
    count: usize,
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    index: Vec<u32>,
}

impl Block {
    /// The neighbours of the k-th particle of the block, eight by eight.
    #[inline(always)]
    pub(crate) fn of(&self, k: usize) -> &[[u32; LANES]] {
        &self.groups[self.range(k)]
    }

    /// The neighbours of the k-th particle of the block with the squares of their distances \[m²\], eight by eight.
    #[inline(always)]
    pub(crate) fn with_squares(&self, k: usize) -> impl Iterator<Item = (&[u32; LANES], &[f32; LANES])> {
        self.of(k).iter().zip(self.squares(k))
    }

    /// The squares of the distances of the neighbours of the k-th particle \[m²\], eight by eight.
    #[inline(always)]
    pub(crate) fn squares(&self, k: usize) -> &[[f32; LANES]] {
        &self.squares[self.range(k)]
    }

    /// Where the list of the k-th particle lies among the groups of eight.
    #[inline(always)]
    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.first[k] as usize..self.first[k + 1] as usize
    }

    /// Number of groups of eight.
    pub(crate) fn group_count(&self) -> usize {
        self.first[self.len] as usize
    }
}

impl Neighbours {
    /// Cuts `len` particles into blocks.
    pub(crate) fn cut(&mut self, len: usize) {
        self.blocks.resize_with(len.div_ceil(par::PIECE), Block::default);
        for (k, block) in self.blocks.iter_mut().enumerate() {
            block.start = k * par::PIECE;
            block.len = (len - block.start).min(par::PIECE);
        }
    }

    /// Mean number of neighbours, a particle not counting itself.
    pub(crate) fn mean_count(&self, nobody: u32) -> f64 {
        let (count, len) = self.blocks.iter().fold((0usize, 0usize), |(count, len), block| {
            let real =
                block.groups[..block.first[block.len] as usize].iter().flatten().filter(|&&j| j != nobody).count();
            (count + real, len + block.len)
        });
        if len == 0 { 0.0 } else { count as f64 / len as f64 - 1.0 }
    }
}

/// Finds the neighbours of one block of particles in a sorted grid. `packed` holds the positions and, last, nobody.
#[inline(always)]
pub(crate) fn find<S: Simd>(
    simd: S,
    block: &mut Block,
    grid: &NeighbourGrid,
    (packed, columns): (&[Packed], &Columns),
    radius: f32,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let Block { start, len, groups, squares, first, candidates } = block;
            let nobody = (packed.len() - 1) as u32;
            let radius_squared = splat(simd, radius * radius);
            first.clear();
            let (mut i, mut used) = (*start, 0);
            while i < *start + *len {
                let key = grid.key(i);
                let end = grid.cell(key).end.min(*start + *len);
                let bounds = bounds(&packed[i..end]);
                candidates.collect(simd, (grid, key), columns, bounds, radius_squared);
                candidates.close(nobody);
                for packed_i in &packed[i..end] {
                    first.push(used as u32);
                    if groups.len() < used + candidates.vectors() + 1 {
                        let room = (used + candidates.vectors() + 1).next_power_of_two();
                        groups.resize(room, [0; LANES]);
                        squares.resize(room, [0.0; LANES]);
                    }
                    let to = (&mut groups[used..], &mut squares[used..]);
                    used += candidates.within(simd, *packed_i, radius_squared, nobody, to);
                }
                i = end;
            }
            first.push(used as u32);
        },
    );
}

impl Candidates {
    /// Collects the particles of the 27 cells around a cell that are within reach of a box.
    #[inline(always)]
    fn collect<S: Simd>(
        &mut self,
        simd: S,
        (grid, key): (&NeighbourGrid, u32),
        columns: &Columns,
        (low, high): (Packed, Packed),
        radius_squared: f32x8<S>,
    ) {
        let (low, high) = (splat3(simd, low), splat3(simd, high));
        let zero = splat(simd, 0.0);
        let lane = u32x8::simd_from(simd, std::array::from_fn(|k| k as u32));
        self.ranges.clear();
        // Lanes live outside of the closure: inside, the compiler would not know the instruction set.
        grid.for_each_range_around(key, |range, shift| self.ranges.push((range, shift)));
        let most: usize = self.ranges.iter().map(|(range, _)| range.len()).sum();
        self.reserve(most + LANES);
        let room = self.index.len();
        // Of one length: an index is checked once for all.
        let (xs, ys) = (&mut self.x[..room], &mut self.y[..room]);
        let (zs, indices) = (&mut self.z[..room], &mut self.index[..room]);
        let mut count = 0;
        for (range, shift) in &self.ranges {
            let shift = splat3(simd, pack(*shift, 0.0));
            let end = u32x8::splat(simd, range.end as u32);
            for from in range.clone().step_by(LANES) {
                let index = u32x8::splat(simd, from as u32) + lane;
                let [x, y, z] = columns.eight(simd, from);
                let p = [x + shift[0], y + shift[1], z + shift[2]];
                let d = [
                    (low[0] - p[0]).max(p[0] - high[0]).max(zero),
                    (low[1] - p[1]).max(p[1] - high[1]).max(zero),
                    (low[2] - p[2]).max(p[2] - high[2]).max(zero),
                ];
                let near = dot(d, d).simd_lt(radius_squared) & index.simd_lt(end);
                let eight = count..count + LANES;
                set_first(simd, p[0], near).store_slice(&mut xs[eight.clone()]);
                set_first(simd, p[1], near).store_slice(&mut ys[eight.clone()]);
                set_first(simd, p[2], near).store_slice(&mut zs[eight.clone()]);
                set_first(simd, index.bitcast(), near).bitcast::<u32x8<S>>().store_slice(&mut indices[eight]);
                count += near.to_bitmask().count_ones() as usize;
            }
        }
        self.count = count;
    }

    /// What is left of the last eight is nobody, nowhere.
    fn close(&mut self, nobody: u32) {
        let end = self.count + LANES;
        for lanes in [&mut self.x, &mut self.y, &mut self.z] {
            lanes[self.count..end].fill(f32::INFINITY);
        }
        self.index[self.count..end].fill(nobody);
    }

    fn reserve(&mut self, len: usize) {
        if self.index.len() < len {
            let len = len.next_power_of_two();
            self.x.resize(len, 0.0);
            self.y.resize(len, 0.0);
            self.z.resize(len, 0.0);
            self.index.resize(len, 0);
        }
    }

    /// Number of groups of eight.
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    /// Writes the candidates within the radius of a position, and the squares of their distances, to groups of which there must be one
    /// more than of candidates; returns how many they take.
    #[inline(always)]
    fn within<S: Simd>(
        &self,
        simd: S,
        position: Packed,
        radius_squared: f32x8<S>,
        nobody: u32,
        (groups, squares): (&mut [[u32; LANES]], &mut [[f32; LANES]]),
    ) -> usize {
        let [x_i, y_i, z_i] = splat3(simd, position);
        let vectors = self.vectors();
        let (xs, ys) = (&self.x.as_chunks::<LANES>().0[..vectors], &self.y.as_chunks::<LANES>().0[..vectors]);
        let (zs, js) = (&self.z.as_chunks::<LANES>().0[..vectors], &self.index.as_chunks::<LANES>().0[..vectors]);
        let (list, squares) = (groups[..=vectors].as_flattened_mut(), squares[..=vectors].as_flattened_mut());
        let mut count = 0;
        for (((x, y), z), j) in xs.iter().zip(ys).zip(zs).zip(js) {
            let dx = x_i - f32x8::simd_from(simd, *x);
            let dy = y_i - f32x8::simd_from(simd, *y);
            let dz = z_i - f32x8::simd_from(simd, *z);
            let square = dx * dx + dy * dy + dz * dz;
            let near = square.simd_lt(radius_squared);
            let j = u32x8::simd_from(simd, *j).bitcast();
            set_first(simd, j, near).bitcast::<u32x8<S>>().store_slice(&mut list[count..count + LANES]);
            set_first(simd, square, near).store_slice(&mut squares[count..count + LANES]);
            count += near.to_bitmask().count_ones() as usize;
        }
        list[count..count + LANES].fill(nobody);
        squares[count..count + LANES].fill(f32::INFINITY);
        count.div_ceil(LANES)
    }
}

/// The box around some positions.
#[inline(always)]
fn bounds(positions: &[Packed]) -> (Packed, Packed) {
    // Without the care for NaN that `min` and `max` take.
    positions.iter().fold(([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]), |(low, high), p| {
        let lower = std::array::from_fn(|k| if p[k] < low[k] { p[k] } else { low[k] });
        (lower, std::array::from_fn(|k| if p[k] > high[k] { p[k] } else { high[k] }))
    })
}

/// A value for each eight pairs, beside the lists of each block.
pub(crate) type PairValues<T> = Vec<Vec<T>>;

/// Runs `work` on every block with its piece of an output array, in parallel; adds up what it returns, block after block.
pub(crate) fn sum_over_blocks<T: Send>(
    blocks: &[Block],
    output: &mut [T],
    partial: &mut Vec<f64>,
    work: impl Fn(usize, &Block, &mut [T]) -> f64 + Sync,
) -> f64 {
    partial.resize(blocks.len(), 0.0);
    let pieces = output.par_chunks_mut(par::PIECE).zip(&mut *partial);
    let blocks = blocks.par_iter().with_max_len(par::BATCH);
    blocks.zip(pieces).enumerate().for_each(|(n, (block, (piece, sum)))| *sum = work(n, block, piece));
    partial.iter().sum()
}

/// Runs `work` on every block with its piece of an output array, in parallel.
pub(crate) fn for_each_block<T: Send>(blocks: &[Block], output: &mut [T], work: impl Fn(&Block, &mut [T]) + Sync) {
    blocks
        .par_iter()
        .with_max_len(par::BATCH)
        .zip(output.par_chunks_mut(par::PIECE))
        .for_each(|(block, piece)| work(block, piece));
}
