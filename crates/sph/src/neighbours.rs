//! Neighbour lists, made once per step and shared by all passes.
//!
//! Particles are cut into blocks of [`par::PIECE`] consecutive ones; a block owns the lists of its particles and is the
//! unit of work of every pass. A list holds the indices of all particles within the support radius, the particle itself
//! included, padded to a multiple of eight with the index of a particle without mass.

use crate::lanes::{LANES, Packed, splat, splat3};
use fearless_simd::{Simd, SimdBase, SimdMask, f32x8, u32x8};
use meniscus_core::par;
use meniscus_geometry::NeighbourGrid;
use rayon::prelude::*;

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
    /// Where each list starts in `groups`; one more than particles.
    first: Vec<u32>,
    candidates: Candidates,
}

/// All particles of the 27 cells around a cell, as lanes: x, y, z, index.
#[derive(Debug, Clone, Default)]
struct Candidates {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    index: Vec<u32>,
    found: Vec<u32>,
}

impl Block {
    /// The neighbours of the k-th particle of the block, eight by eight.
    #[inline(always)]
    pub(crate) fn of(&self, k: usize) -> &[[u32; LANES]] {
        &self.groups[self.first[k] as usize..self.first[k + 1] as usize]
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
pub(crate) fn find<S: Simd>(simd: S, block: &mut Block, grid: &NeighbourGrid, packed: &[Packed], radius: f32) {
    let nobody = (packed.len() - 1) as u32;
    let radius_squared = splat(simd, radius * radius);
    block.first.clear();
    block.groups.clear();
    let mut i = block.start;
    while i < block.start + block.len {
        let key = grid.key(i);
        block.candidates.collect(grid, key, packed, nobody);
        let end = grid.cell(key).end.min(block.start + block.len);
        for packed_i in &packed[i..end] {
            block.first.push(block.groups.len() as u32);
            let found = block.candidates.within(simd, *packed_i, radius_squared);
            let (whole, rest) = block.candidates.found[..found].as_chunks::<LANES>();
            block.groups.extend_from_slice(whole);
            if !rest.is_empty() {
                let mut last = [nobody; LANES];
                last[..rest.len()].copy_from_slice(rest);
                block.groups.push(last);
            }
        }
        i = end;
    }
    block.first.push(block.groups.len() as u32);
}

impl Candidates {
    fn collect(&mut self, grid: &NeighbourGrid, key: u32, packed: &[Packed], nobody: u32) {
        self.x.clear();
        self.y.clear();
        self.z.clear();
        self.index.clear();
        grid.for_each_range_around(key, |range, shift| {
            self.index.extend(range.start as u32..range.end as u32);
            self.x.extend(packed[range.clone()].iter().map(|p| p[0] + shift.x));
            self.y.extend(packed[range.clone()].iter().map(|p| p[1] + shift.y));
            self.z.extend(packed[range].iter().map(|p| p[2] + shift.z));
        });
        let padded = self.index.len().next_multiple_of(LANES);
        self.x.resize(padded, f32::INFINITY);
        self.y.resize(padded, f32::INFINITY);
        self.z.resize(padded, f32::INFINITY);
        self.index.resize(padded, nobody);
        if self.found.len() < padded + LANES {
            self.found.resize(padded + LANES, 0);
        }
    }

    /// Writes the candidates within the radius of a place to the front of `found`; returns how many there are.
    #[inline(always)]
    fn within<S: Simd>(&mut self, simd: S, place: Packed, radius_squared: f32x8<S>) -> usize {
        let [x_i, y_i, z_i] = splat3(simd, place);
        let (xs, ys) = (self.x.as_chunks::<LANES>().0, self.y.as_chunks::<LANES>().0);
        let (zs, js) = (self.z.as_chunks::<LANES>().0, self.index.as_chunks::<LANES>().0);
        let mut count = 0;
        for (((x, y), z), j) in xs.iter().zip(ys).zip(zs).zip(js) {
            let dx = x_i - f32x8::from_slice(simd, x);
            let dy = y_i - f32x8::from_slice(simd, y);
            let dz = z_i - f32x8::from_slice(simd, z);
            let near = (dx * dx + dy * dy + dz * dz).simd_lt(radius_squared);
            let hits = u32x8::from_slice(simd, j).compress(near);
            hits.store_slice(&mut self.found[count..count + LANES]);
            count += near.to_bitmask().count_ones() as usize;
        }
        count
    }
}

/// Runs `work` on every block with its piece of an output array, in parallel.
pub(crate) fn for_each_block<T: Send>(blocks: &[Block], output: &mut [T], work: impl Fn(&Block, &mut [T]) + Sync) {
    blocks.par_iter().zip(output.par_chunks_mut(par::PIECE)).for_each(|(block, piece)| work(block, piece));
}
