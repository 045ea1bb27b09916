//! The surface block by block, and how blocks agree on the vertices between them.
//!
//! 1. Each block, on its own: which samples are inside, as bits; the cut edges in a fixed order; the triangles.
//! 2. An edge on the border is seen by two or four blocks. It belongs to one of them: to the block in which it does not
//!    lie on an upper border, if that block takes part, otherwise to the next in a fixed order.
//! 3. Blocks, sorted, number their own vertices one after the other and look up the others.

use glam::DVec3;
use rayon::prelude::*;

use super::table::{EDGES, TABLE};
use super::{CutEdge, IsoGrid, IsoSurface, Sample};

const SIDE: usize = IsoGrid::BLOCK_SIDE;

/// Vertices keep this part of an edge away from its ends, so that no triangle shrinks to a point.
const MARGIN: f64 = 1e-3;

/// A cut edge as its block numbers it: three times its lower sample, plus its axis.
type Local = u16;

/// The cut of each edge of the cell at the first sample, as [`Local`].
const CUT_OF_EDGE: [usize; 12] = {
    let mut cuts = [0; 12];
    let mut e = 0;
    while e < 12 {
        let start = EDGES[e][0] as usize;
        cuts[e] = 3 * ((start & 1) + (start >> 1 & 1) * SIDE + (start >> 2) * SIDE * SIDE) + e / 4;
        e += 1;
    }
    cuts
};

/// What one block has found.
struct Part {
    block: [u32; 3],
    /// Cut edges in rising order and how far along they are cut.
    cuts: Vec<(Local, f64)>,
    /// Triangles of indices in `cuts`.
    triangles: Vec<[u16; 3]>,
    cells: usize,
}

impl IsoGrid {
    /// The surface in some blocks. `fill` is given the first sample of a block and a slice of
    /// [`BLOCK_SAMPLES`](Self::BLOCK_SAMPLES) values to set, x fastest; those beyond the grid are ignored. A sample on
    /// the border of blocks must get the same value in each. Blocks without surface do no harm; where a cell with
    /// surface is in none of the blocks, the surface is open.
    #[must_use]
    pub fn surface_in_blocks<T: Sample>(
        &self,
        blocks: &[[u32; 3]],
        level: f64,
        fill: impl Fn([u32; 3], &mut [T]) + Sync,
    ) -> IsoSurface {
        let parts = self.parts(blocks, level, &fill);
        let seams = Seams::new(&parts);
        let mut surface = IsoSurface { cells: parts.iter().map(|part| part.cells).sum(), ..IsoSurface::default() };
        self.place_vertices(&parts, &seams, &mut surface);
        let counts: Vec<usize> = parts.iter().map(|part| part.triangles.len()).collect();
        surface.triangles = vec![[0; 3]; counts.iter().sum()];
        pieces(&mut surface.triangles, &counts).into_par_iter().enumerate().for_each(|(p, triangles)| {
            for (triangle, corners) in triangles.iter_mut().zip(&parts[p].triangles) {
                *triangle = corners.map(|corner| seams.number(p, corner));
            }
        });
        surface
    }

    fn place_vertices(&self, parts: &[Part], seams: &Seams, surface: &mut IsoSurface) {
        let count = seams.counts.iter().sum();
        surface.positions = vec![DVec3::ZERO; count];
        surface.edges = vec![CutEdge { from: [0; 3], axis: 0, t: 0.0 }; count];
        let positions = pieces(&mut surface.positions, &seams.counts).into_par_iter();
        let vertices = positions.zip(pieces(&mut surface.edges, &seams.counts));
        vertices.zip(parts).zip(&seams.owners).for_each(|(((positions, edges), part), owners)| {
            let own = part.cuts.iter().zip(owners).filter(|(_, owner)| matches!(owner, Owner::This));
            for (((&cut, _), position), edge) in own.zip(positions).zip(edges) {
                (*position, *edge) = self.vertex(part.block, cut);
            }
        });
    }

    /// What each block with surface has found, in the order of the blocks.
    fn parts<T: Sample>(
        &self,
        blocks: &[[u32; 3]],
        level: f64,
        fill: &(impl Fn([u32; 3], &mut [T]) + Sync),
    ) -> Vec<Part> {
        let limits = self.blocks();
        let mut blocks: Vec<_> =
            blocks.iter().copied().filter(|block| (0..3).all(|axis| block[axis] < limits[axis])).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let values = || vec![T::default(); Self::BLOCK_SAMPLES];
        let part = |values: &mut Vec<T>, block: [u32; 3]| {
            fill(block.map(|b| b * Self::BLOCK), values);
            Part::new(block, self.block_samples(block).map(|n| n - 1), values, level)
        };
        let parts = blocks.into_par_iter().map_init(values, part);
        parts.filter(|part| !part.cuts.is_empty()).collect()
    }

    fn vertex(&self, block: [u32; 3], (local, t): (Local, f64)) -> (DVec3, CutEdge) {
        let (sample, axis) = (usize::from(local) / 3, usize::from(local) % 3);
        let step = [sample % SIDE, sample / SIDE % SIDE, sample / (SIDE * SIDE)];
        let from = [0, 1, 2].map(|k| block[k] * Self::BLOCK + step[k] as u32);
        let edge = CutEdge { from, axis: axis as u8, t };
        let mut position = DVec3::from(from.map(f64::from));
        position[axis] += t;
        (self.origin + self.spacing * position, edge)
    }
}

/// Cuts a slice into consecutive pieces.
fn pieces<'a, T>(mut whole: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (piece, rest) = std::mem::take(&mut whole).split_at_mut(length);
        pieces.push(piece);
        whole = rest;
    }
    pieces
}

/// How blocks share their vertices.
struct Seams {
    /// For each block, who numbers each of its cut edges.
    owners: Vec<Vec<Owner>>,
    /// How many of them each block numbers itself.
    counts: Vec<usize>,
    /// The numbers that each block gives; what it does not number is left open.
    numbers: Vec<Vec<u32>>,
}

impl Seams {
    fn new(parts: &[Part]) -> Self {
        let owners: Vec<Vec<Owner>> = parts.par_iter().map(|part| part.owners(parts)).collect();
        let own = |owners: &Vec<Owner>| owners.iter().filter(|owner| matches!(owner, Owner::This)).count();
        let counts: Vec<usize> = owners.iter().map(own).collect();
        let firsts: Vec<u32> = running_sum(0, counts.iter().map(|&count| count as u32)).collect();
        let numbers = owners.par_iter().zip(&firsts).map(|(owners, &first)| {
            running_sum(first, owners.iter().map(|owner| u32::from(matches!(owner, Owner::This)))).collect()
        });
        let numbers = numbers.collect();
        Self { owners, counts, numbers }
    }

    fn number(&self, part: usize, corner: u16) -> u32 {
        match self.owners[part][usize::from(corner)] {
            Owner::This => self.numbers[part][usize::from(corner)],
            Owner::Other { part, index } => self.numbers[part as usize][usize::from(index)],
        }
    }
}

/// What has been added before each step.
fn running_sum(first: u32, steps: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    steps.scan(first, |sum, step| {
        let before = *sum;
        *sum += step;
        Some(before)
    })
}

/// Which block numbers a vertex.
#[derive(Clone, Copy)]
enum Owner {
    This,
    Other { part: u32, index: u16 },
}

impl Part {
    /// Finds the surface in a block of at most 8 × 8 × 8 cells.
    fn new<T: Sample>(block: [u32; 3], cells: [usize; 3], values: &[T], level: f64) -> Self {
        let rows = Rows::new(values, cells, level);
        let mut part = Self { block, cuts: Vec::new(), triangles: Vec::new(), cells: 0 };
        if rows.is_uniform() {
            return part;
        }
        // Where each cut edge stands in `cuts`.
        let mut index = [0u16; 3 * IsoGrid::BLOCK_SAMPLES];
        rows.for_each_cut(|sample, axis| {
            let local = (3 * sample + axis) as Local;
            index[usize::from(local)] = part.cuts.len() as u16;
            let [a, b] = [sample, sample + [1, SIDE, SIDE * SIDE][axis]].map(|s| values[s].into());
            part.cuts.push((local, cut_between(a, b, level)));
        });
        let table = &*TABLE;
        rows.for_each_case(|sample, case| {
            part.cells += 1;
            let corner = |e: u8| index[3 * sample + CUT_OF_EDGE[usize::from(e)]];
            part.triangles.extend(table.triangles(case).iter().map(|t| t.map(corner)));
        });
        part
    }

    /// Who numbers each cut edge.
    fn owners(&self, parts: &[Part]) -> Vec<Owner> {
        self.cuts.iter().map(|&(local, _)| self.owner(local, parts)).collect()
    }

    fn owner(&self, local: Local, parts: &[Part]) -> Owner {
        let (sample, axis) = (usize::from(local) / 3, usize::from(local) % 3);
        let at = [sample % SIDE, sample / SIDE % SIDE, sample / (SIDE * SIDE)];
        // Across the edge, on an upper or on a lower border.
        let upper = [0, 1, 2].map(|k| k != axis && at[k] == SIDE - 1);
        let lower = [0, 1, 2].map(|k| k != axis && at[k] == 0);
        if !upper.contains(&true) {
            // Where the edge lies on no upper border, its block comes first.
            return Owner::This;
        }
        let mut home = self.block;
        let mut from_home = at;
        for k in (0..3).filter(|&k| upper[k]) {
            home[k] += 1;
            from_home[k] = 0;
        }
        // The block that has the edge on no upper border comes first, then those one step below it.
        for steps in 0..8usize {
            let step = [0, 1, 2].map(|k| steps >> k & 1 == 1);
            if (0..3).any(|k| step[k] && !(upper[k] || lower[k]) || step[k] && home[k] == 0) {
                continue;
            }
            let block = [0, 1, 2].map(|k| home[k] - u32::from(step[k]));
            if block == self.block {
                return Owner::This;
            }
            let seen = [0, 1, 2].map(|k| if step[k] { SIDE - 1 } else { from_home[k] });
            let local = (3 * ((seen[2] * SIDE + seen[1]) * SIDE + seen[0]) + axis) as Local;
            if let Some(owner) = find(parts, block, local) {
                return owner;
            }
        }
        Owner::This
    }
}

fn find(parts: &[Part], block: [u32; 3], local: Local) -> Option<Owner> {
    let part = parts.binary_search_by_key(&block, |part| part.block).ok()?;
    let index = parts[part].cuts.binary_search_by_key(&local, |cut| cut.0).ok()?;
    Some(Owner::Other { part: part as u32, index: index as u16 })
}

/// How far from `a` to `b` the level lies; the middle where numbers do not tell.
fn cut_between(a: f64, b: f64, level: f64) -> f64 {
    let t = (level - a) / (b - a);
    if t.is_nan() { 0.5 } else { t.clamp(MARGIN, 1.0 - MARGIN) }
}

/// Which samples of a block are inside: a row along x is a number, bit by bit.
struct Rows {
    inside: [u16; SIDE * SIDE],
    cells: [usize; 3],
}

impl Rows {
    fn new<T: Sample>(values: &[T], cells: [usize; 3], level: f64) -> Self {
        let mut inside = [0; SIDE * SIDE];
        for (bits, row) in inside.iter_mut().zip(values.chunks_exact(SIDE)) {
            *bits = row.iter().enumerate().map(|(x, &v)| u16::from(v.into() < level) << x).sum();
        }
        Self { inside, cells }
    }

    /// The samples of a row that belong to the grid.
    fn mask(&self) -> u16 {
        (1 << (self.cells[0] + 1)) - 1
    }

    fn is_uniform(&self) -> bool {
        let mask = self.mask();
        let mut rows = (0..=self.cells[2]).flat_map(|z| (0..=self.cells[1]).map(move |y| self.inside[z * SIDE + y]));
        let first = self.inside[0] & mask;
        (first == 0 || first == mask) && rows.all(|row| row & mask == first)
    }

    /// Calls `f` with the lower sample and the axis of every cut edge, in rising order.
    fn for_each_cut(&self, mut f: impl FnMut(usize, usize)) {
        let [nx, ny, nz] = self.cells;
        for z in 0..=nz {
            for y in 0..=ny {
                let row = z * SIDE + y;
                let here = self.inside[row];
                let x_cut = (here ^ here >> 1) & ((1 << nx) - 1);
                let y_cut = if y < ny { (here ^ self.inside[row + 1]) & self.mask() } else { 0 };
                let z_cut = if z < nz { (here ^ self.inside[row + SIDE]) & self.mask() } else { 0 };
                for x in bits(x_cut | y_cut | z_cut) {
                    for (axis, cut) in [x_cut, y_cut, z_cut].into_iter().enumerate() {
                        if cut >> x & 1 == 1 {
                            f(row * SIDE + x, axis);
                        }
                    }
                }
            }
        }
    }

    /// Calls `f` with the lowest sample and the case of every cell that the surface passes through.
    fn for_each_case(&self, mut f: impl FnMut(usize, u8)) {
        let [nx, ny, nz] = self.cells;
        for z in 0..nz {
            for y in 0..ny {
                let row = z * SIDE + y;
                let rows = [row, row + 1, row + SIDE, row + SIDE + 1].map(|r| self.inside[r]);
                let some = rows.iter().fold(0, |a, b| a | b);
                let all = rows.iter().fold(u16::MAX, |a, b| a & b);
                for x in bits((some | some >> 1) & !(all & all >> 1) & ((1 << nx) - 1)) {
                    let case = rows.iter().enumerate().map(|(i, r)| (r >> x & 3) << (2 * i)).sum::<u16>();
                    f(row * SIDE + x, case as u8);
                }
            }
        }
    }
}

/// The indices of the set bits, lowest first.
fn bits(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = mask.trailing_zeros() as usize;
        mask &= mask.checked_sub(1)?;
        Some(index)
    })
}
