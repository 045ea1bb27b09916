//! The colour field where it matters: in blocks of 8 × 8 × 8 nodes near a free surface or a wall.
//!
//! Nodes lie on multiples of the cube, whatever the frame, so that a surface at rest stays at rest. A block is summed if a
//! particle with a free surface near it reaches it. Near a wall where every neighbourhood is full it holds one liquid.

use crate::cloud::{Cloud, Sorted};
use crate::ghosts::Plane;
use crate::lanes::{self, Ball, Ellipsoid, PEAK, SIDE, Values};
use crate::shapes::LONGEST;
use crate::{REACH, SLOPE};
use glam::{DVec3, IVec3, Vec3};
use meniscus_geometry::IsoGrid;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Where there is no liquid at all.
const NONE: u8 = u8::MAX;
/// Edge of a box that is never empty inside of a liquid \[spacings\].
const GRAIN: f32 = 1.2;

/// The blocks that the surfaces of a frame pass through.
pub(crate) struct Blocks {
    /// Edge of a cube \[spacings\].
    pub(crate) cube: f32,
    /// The colour at the surface.
    level: f32,
    /// Coordinates of the block that is numbered 0, 0, 0.
    base: IVec3,
    /// Ascending, relative to the base.
    pub(crate) list: Vec<[u32; 3]>,
    /// Whether each is summed.
    summed: Vec<bool>,
    /// Of those that are not, which liquid they hold.
    holds: Vec<u8>,
    pub(crate) iso: Option<IsoGrid>,
}

/// The colour of a liquid and of all that are heavier.
pub(crate) struct Field {
    /// Values of the blocks that are summed.
    values: Vec<Option<Box<Values>>>,
    rank: u8,
}

impl Blocks {
    pub(crate) fn around(cloud: &Cloud, planes: &[Plane], cube: f32, level: f32) -> Self {
        let sorted = &cloud.sorted;
        let size = cube * SIDE as f32;
        // Two cubes more: a cell beside the surface must be there whole.
        let reach = if cloud.shapes.is_empty() { REACH } else { LONGEST } + 2.0 * cube;
        let mut found = Vec::new();
        reached(sorted, size, reach, |index| sorted.open[index], |block| found.push((block, true)));
        reached(sorted, size, reach, |index| sorted.mirror[index], |block| found.push((block, false)));
        // Of two alike the one that is summed comes first.
        found.sort_unstable_by_key(|&(block, summed)| (block, !summed));
        found.dedup_by_key(|(block, _)| *block);
        let overlooked = overlooked(cloud, planes, cube, &found);
        if !overlooked.is_empty() {
            found.extend(overlooked.into_iter().map(|block| (block, true)));
            found.sort_unstable_by_key(|&(block, summed)| (block, !summed));
            found.dedup_by_key(|(block, _)| *block);
        }
        let blocks = || found.iter().map(|(block, _)| IVec3::from_array(*block));
        let base = blocks().fold(IVec3::MAX, IVec3::min);
        let top = blocks().fold(IVec3::MIN, IVec3::max);
        let mut new = Self {
            cube,
            level,
            base,
            list: blocks().map(|block| (block - base).to_array().map(|k| k as u32)).collect(),
            summed: found.iter().map(|(_, summed)| *summed).collect(),
            holds: Vec::new(),
            iso: None,
        };
        if found.is_empty() {
            return new;
        }
        let samples = (top - base + 1).to_array().map(|n| n as u32 * IsoGrid::BLOCK + 1);
        let origin = (base * SIDE as i32).as_dvec3() * f64::from(cube);
        new.iso = IsoGrid::new(origin, f64::from(cube), samples).ok();
        // Where liquid is torn at a wall, particles count their images for neighbours and see no surface.
        let torn = |block: &[u32; 3]| is_torn(cloud, planes, cube, new.first_node(*block));
        new.summed = new.list.par_iter().zip(&new.summed).map(|(block, summed)| *summed || torn(block)).collect();
        new.holds =
            new.list.par_iter().zip(&new.summed).map(|(b, s)| if *s { NONE } else { new.held(cloud, *b) }).collect();
        new
    }

    /// The liquid of a block without a surface.
    fn held(&self, cloud: &Cloud, block: [u32; 3]) -> u8 {
        let [low, high] = self.corners(block, 1.0);
        let mut rank = NONE;
        cloud.grid.for_each_range_in(low, high, |range| {
            if rank == NONE {
                let inside = |&index: &usize| {
                    let x = cloud.sorted.at(index);
                    x.cmpge(low).all() && x.cmple(high).all()
                };
                rank = range.into_iter().find(inside).map_or(NONE, |index| cloud.sorted.rank[index]);
            }
        });
        rank
    }

    /// The first node of a block \[spacings\].
    pub(crate) fn first_node(&self, block: [u32; 3]) -> Vec3 {
        let node = (self.base + IVec3::from_array(block.map(|k| k as i32))) * SIDE as i32;
        (node.as_dvec3() * f64::from(self.cube)).as_vec3()
    }

    fn corners(&self, block: [u32; 3], margin: f32) -> [Vec3; 2] {
        let low = self.first_node(block);
        [low - margin, low + (self.cube * (SIDE - 1) as f32 + margin)]
    }

    /// Where a node lies \[spacings\].
    pub(crate) fn node(&self, sample: [u32; 3]) -> DVec3 {
        (self.base * SIDE as i32 + IVec3::from_array(sample.map(|k| k as i32))).as_dvec3() * f64::from(self.cube)
    }

    /// The colour of a liquid, on top of those that are heavier.
    pub(crate) fn sum(&self, cloud: &Cloud, liquid: usize, heavier: Option<&Field>) -> Field {
        let blocks = self.list.par_iter().zip(&self.summed).enumerate();
        let values = blocks.map_init(Vec::new, |balls, (number, (&block, &summed))| {
            summed.then(|| {
                let before = heavier.and_then(|field| field.values[number].clone());
                let mut values = before.unwrap_or_else(|| Box::new([0.0; SIDE * SIDE * SIDE]));
                self.add_particles(cloud, (block, liquid as u8), balls, &mut values);
                values
            })
        });
        Field { values: values.collect(), rank: liquid as u8 }
    }

    /// Adds the particles of a liquid within reach of a block, in the order of their cells.
    fn add_particles(&self, cloud: &Cloud, (block, rank): ([u32; 3], u8), balls: &mut Vec<Ball>, out: &mut Values) {
        let (level, sorted, inverse) = (lanes::level(), &cloud.sorted, 1.0 / self.cube);
        let reach = if cloud.shapes.is_empty() { REACH } else { LONGEST };
        let first = self.first_node(block);
        let [low, high] = self.corners(block, reach);
        balls.clear();
        cloud.grid.for_each_range_in(low, high, |range| {
            for index in range {
                let x = sorted.at(index);
                if sorted.rank[index] != rank || x.cmplt(low).any() || x.cmpgt(high).any() {
                    continue;
                }
                let at = ((x - first) * inverse).to_array();
                let peak = PEAK * sorted.volume[index];
                match cloud.shapes.get(index) {
                    Some(Some(shape)) => {
                        let form = shape.form.map(|g| g * (self.cube * self.cube));
                        let reach = shape.reach.map(|r| r * inverse);
                        let ellipsoid = Ellipsoid { at, peak: peak * shape.density, form, reach };
                        lanes::add_ellipsoid(level, &ellipsoid, out);
                    }
                    _ => balls.push(Ball { at, peak }),
                }
            }
        });
        lanes::add_balls(level, balls, REACH * inverse, out);
    }

    /// f at the 9 × 9 × 9 samples of a block, those of its upper neighbours included.
    pub(crate) fn gather(&self, field: &Field, cloud: &Cloud, block: [u32; 3], out: &mut [f32]) {
        const WIDE: usize = IsoGrid::BLOCK_SIDE;
        let far = |c: f32| (self.level - c) / SLOPE;
        for corner in 0..8usize {
            let step = [corner & 1, corner >> 1 & 1, corner >> 2];
            let other = [0, 1, 2].map(|k| block[k] + step[k] as u32);
            let found = self.list.binary_search(&other).ok();
            let values = found.and_then(|number| field.values[number].as_deref());
            let held = || found.map_or_else(|| self.held(cloud, other), |number| self.holds[number]);
            let even = if values.is_none() { far(f32::from(u8::from(held() <= field.rank))) } else { 0.0 };
            // Its first layer only, along the axes of the step.
            let (count, to) = (step.map(|s| if s == 1 { 1 } else { SIDE }), step.map(|s| s * SIDE));
            for z in 0..count[2] {
                for y in 0..count[1] {
                    let row = &mut out[((to[2] + z) * WIDE + to[1] + y) * WIDE + to[0]..][..count[0]];
                    match values {
                        Some(values) => {
                            let from = &values[(z * SIDE + y) * SIDE..][..count[0]];
                            row.iter_mut().zip(from).for_each(|(row, &c)| *row = far(c));
                        }
                        None => row.fill(even),
                    }
                }
            }
        }
    }
}

/// Whether a part of a block before the walls has no particle; `first` is its first node \[spacings\].
fn is_torn(cloud: &Cloud, planes: &[Plane], cube: f32, first: Vec3) -> bool {
    let parts = ((cube * SIDE as f32 / GRAIN) as u32).max(1);
    let edge = cube * SIDE as f32 / parts as f32;
    let is_empty = |part: u32| {
        let at = Vec3::new((part % parts) as f32, (part / parts % parts) as f32, (part / parts / parts) as f32);
        let (low, high) = (first + at * edge, first + (at + 1.0) * edge);
        if planes.iter().any(|plane| plane.distance(0.5 * (low + high)) < -0.5 * edge) {
            return false;
        }
        let mut empty = true;
        cloud.grid.for_each_range_in(low, high, |range| {
            let inside = |index: usize| {
                let x = cloud.sorted.at(index);
                x.cmpge(low).all() && x.cmple(high).all()
            };
            empty = empty && !range.into_iter().any(inside);
        });
        empty
    };
    (0..parts * parts * parts).any(is_empty)
}

/// Blocks in which, or beside which, liquid ends although no particle has seen a free surface: where they are dense, the topmost of them
/// have as many neighbours as others have inside. With those around them; `found` is ascending.
fn overlooked(cloud: &Cloud, planes: &[Plane], cube: f32, found: &[([i32; 3], bool)]) -> Vec<[i32; 3]> {
    let size = cube * SIDE as f32;
    let mut wet: Vec<[i32; 3]> =
        (0..cloud.sorted.len()).map(|index| (cloud.sorted.at(index) / size).floor().as_ivec3().to_array()).collect();
    wet.dedup();
    wet.sort_unstable();
    wet.dedup();
    let known = |block: &[i32; 3]| {
        found.binary_search_by_key(block, |(block, _)| *block).ok().and_then(|number| found.get(number)).map(|f| f.1)
    };
    let around = |block: &[i32; 3]| {
        let block = *block;
        (0..27).map(move |k| [block[0] + k % 3 - 1, block[1] + k / 3 % 3 - 1, block[2] + k / 9 - 1])
    };
    let first = |block: &[i32; 3]| ((IVec3::from_array(*block) * SIDE as i32).as_dvec3() * f64::from(cube)).as_vec3();
    // Empty, and not behind a wall.
    let is_bare = |block: &[i32; 3]| {
        let middle = first(block) + 0.5 * size;
        let before = |plane: &Plane| plane.distance(middle) + 0.5 * size * plane.normal.abs().element_sum() > 0.5;
        wet.binary_search(block).is_err() && planes.iter().all(before)
    };
    let ends = |block: &&[i32; 3]| match known(block) {
        Some(true) => false,
        Some(false) => around(block).any(|other| known(&other).is_none() && is_bare(&other)),
        None => around(block).any(|other| is_bare(&other)) || is_torn(cloud, planes, cube, first(block)),
    };
    wet.par_iter().filter(ends).flat_map_iter(around).collect()
}

/// Calls `found` with the blocks that are reached by points for which a test holds; some several times.
fn reached(sorted: &Sorted, size: f32, reach: f32, test: impl Fn(usize) -> bool, mut found: impl FnMut([i32; 3])) {
    let mut homes: BTreeMap<[i32; 3], [Vec3; 2]> = BTreeMap::new();
    let mut last: Option<([i32; 3], [Vec3; 2])> = None;
    for index in (0..sorted.len()).filter(|&index| test(index)) {
        let x = sorted.at(index);
        let home = (x / size).floor().as_ivec3().to_array();
        match &mut last {
            Some((block, [low, high])) if *block == home => (*low, *high) = (low.min(x), high.max(x)),
            _ => {
                put(&mut homes, last.replace((home, [x; 2])));
            }
        }
    }
    put(&mut homes, last);
    for [low, high] in homes.into_values() {
        let [low, high] = [low - reach, high + reach].map(|x| (x / size).floor().as_ivec3());
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                (low.x..=high.x).for_each(|x| found([x, y, z]));
            }
        }
    }
}

fn put(homes: &mut BTreeMap<[i32; 3], [Vec3; 2]>, entry: Option<([i32; 3], [Vec3; 2])>) {
    if let Some((block, [low, high])) = entry {
        let home = homes.entry(block).or_insert([low, high]);
        *home = [home[0].min(low), home[1].max(high)];
    }
}
