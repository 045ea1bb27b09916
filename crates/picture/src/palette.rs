//! 255 colours for a film.
//!
//! Colours are counted in cells of 8³ levels, the cells are cut into boxes where their spread is largest, and the means
//! of the boxes are improved by a few rounds of nearest-mean \[Llo82\]. Rare colours count more than their number
//! (by its square root), so that a few yellow drops are not lost in a grey studio. The nearest colour is exact: each
//! of 16³ cells of the cube knows which colours can be nearest to a point in it.

use rayon::prelude::*;

/// Colours in a palette; one more index is left for "as before".
pub(crate) const COLORS: usize = 255;
/// Rounds of improvement.
const ROUNDS: usize = 4;
/// Bits per channel of a counting cell, and of a look-up cell.
const COUNT_BITS: usize = 5;
const LOOK_BITS: usize = 4;

/// Colours that were counted.
#[derive(Debug, Clone)]
pub(crate) struct Census {
    /// Number of pixels and sums of red, green and blue in each cell.
    cells: Vec<[u64; 4]>,
}

impl Default for Census {
    fn default() -> Self {
        Self { cells: vec![[0; 4]; 1 << (3 * COUNT_BITS)] }
    }
}

impl Census {
    /// Counts pixels.
    pub(crate) fn add(&mut self, pixels: &[[u8; 3]]) {
        for &[r, g, b] in pixels {
            let cell = &mut self.cells[cell_of([r, g, b], COUNT_BITS)];
            *cell = [cell[0] + 1, cell[1] + u64::from(r), cell[2] + u64::from(g), cell[3] + u64::from(b)];
        }
    }

    /// Mean colours of the cells in use, with their weights.
    fn spots(&self) -> Vec<Spot> {
        let used = self.cells.iter().filter(|cell| cell[0] > 0);
        used.map(|&[count, r, g, b]| Spot {
            color: [r, g, b].map(|sum| sum as f32 / count as f32),
            weight: (count as f32).sqrt(),
        })
        .collect()
    }
}

fn cell_of([r, g, b]: [u8; 3], bits: usize) -> usize {
    let part = |v: u8| v as usize >> (8 - bits);
    (part(r) << bits | part(g)) << bits | part(b)
}

#[derive(Debug, Clone, Copy)]
struct Spot {
    color: [f32; 3],
    weight: f32,
}

/// A palette and the way to its nearest colours.
#[derive(Debug, Clone)]
pub(crate) struct Palette {
    colors: Vec<[u8; 3]>,
    /// For each look-up cell, the colours that can be nearest.
    candidates: Vec<Vec<u8>>,
}

impl Palette {
    /// The palette of what was counted.
    pub(crate) fn new(census: &Census) -> Self {
        let mut spots = census.spots();
        let mut means = cut(&mut spots);
        for _ in 0..ROUNDS {
            means = improve(&spots, &means);
        }
        let mut colors: Vec<[u8; 3]> = means.iter().map(|m| m.map(|v| (v + 0.5) as u8)).collect();
        colors.sort_unstable();
        colors.dedup();
        let cells: Vec<usize> = (0..1 << (3 * LOOK_BITS)).collect();
        let candidates = cells.par_iter().map(|&cell| candidates_in(cell, &colors)).collect();
        Self { colors, candidates }
    }

    /// Red, green and blue of 256 colours in the order of their indices, filled up with black.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.colors.concat();
        bytes.resize(3 * (COLORS + 1), 0);
        bytes
    }

    /// The colour of an index.
    #[cfg(test)]
    pub(crate) fn color(&self, index: u8) -> Option<[u8; 3]> {
        self.colors.get(index as usize).copied()
    }

    /// The index of the nearest colour.
    pub(crate) fn nearest(&self, color: [u8; 3]) -> u8 {
        let candidates = &self.candidates[cell_of(color, LOOK_BITS)];
        candidates.iter().copied().min_by_key(|&i| distance(self.colors[i as usize], color)).unwrap_or(0)
    }
}

/// Squared distance, channels weighted as the eye does.
fn distance(a: [u8; 3], b: [u8; 3]) -> i32 {
    let d = |c: usize| i32::from(a[c]) - i32::from(b[c]);
    3 * d(0) * d(0) + 4 * d(1) * d(1) + 2 * d(2) * d(2)
}

fn candidates_in(cell: usize, colors: &[[u8; 3]]) -> Vec<u8> {
    let side = 1i32 << (8 - LOOK_BITS);
    let mask = (1 << LOOK_BITS) - 1;
    let low = [cell >> (2 * LOOK_BITS), cell >> LOOK_BITS & mask, cell & mask].map(|v| v as i32 * side);
    let gap = |color: [u8; 3], far: bool| {
        let d = |c: usize| {
            let v = i32::from(color[c]);
            let (below, above) = (low[c] - v, v - (low[c] + side - 1));
            if far { (v - low[c]).abs().max(above.abs()) } else { below.max(above).max(0) }
        };
        3 * d(0) * d(0) + 4 * d(1) * d(1) + 2 * d(2) * d(2)
    };
    let bound = colors.iter().map(|c| gap(*c, true)).min().unwrap_or(0);
    (0..colors.len()).filter(|&i| gap(colors[i], false) <= bound).map(|i| i as u8).collect()
}

/// Cuts the spots into boxes, always the one with the largest spread, and returns the boxes' means.
fn cut(spots: &mut [Spot]) -> Vec<[f32; 3]> {
    let mut boxes = vec![Cluster::new(0, spots)];
    while boxes.len() < COLORS {
        let widest = boxes.iter().enumerate().max_by(|a, b| a.1.spread.total_cmp(&b.1.spread).then(b.0.cmp(&a.0)));
        let Some((i, widest)) = widest.map(|(i, b)| (i, b.clone())).filter(|(_, b)| b.spread > 0.0) else { break };
        let part = &mut spots[widest.start..widest.start + widest.len];
        part.sort_unstable_by(|a, b| a.color[widest.axis].total_cmp(&b.color[widest.axis]));
        let first = part.partition_point(|s| s.color[widest.axis] <= widest.mean[widest.axis]).clamp(1, widest.len - 1);
        let (low, high) = part.split_at(first);
        boxes[i] = Cluster::new(widest.start, low);
        boxes.push(Cluster::new(widest.start + first, high));
    }
    boxes.iter().filter(|b| b.len > 0).map(|b| b.mean).collect()
}

/// A run of spots that will share a colour.
#[derive(Debug, Clone)]
struct Cluster {
    start: usize,
    len: usize,
    mean: [f32; 3],
    /// Channel along which the spots differ most.
    axis: usize,
    /// Weighted sum of squared differences from the mean along that channel.
    spread: f32,
}

impl Cluster {
    fn new(start: usize, spots: &[Spot]) -> Self {
        let total: f32 = spots.iter().map(|s| s.weight).sum();
        let sum = |value: &dyn Fn(&Spot) -> f32| spots.iter().map(|s| s.weight * value(s)).sum::<f32>();
        let mean = [0, 1, 2].map(|c| sum(&|s| s.color[c]) / total.max(f32::MIN_POSITIVE));
        let spreads = [0, 1, 2].map(|c| sum(&|s| (s.color[c] - mean[c]) * (s.color[c] - mean[c])));
        let axis = (0..3).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b])).unwrap_or(0);
        let spread = if spots.len() > 1 { spreads[axis] } else { 0.0 };
        Self { start, len: spots.len(), mean, axis, spread }
    }
}

/// Means of the spots nearest to each mean; one that lost all its spots stays.
fn improve(spots: &[Spot], means: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let owner = |s: &Spot| {
        let away = |m: &[f32; 3]| (0..3).map(|c| (m[c] - s.color[c]) * (m[c] - s.color[c])).sum::<f32>();
        (0..means.len()).min_by(|&a, &b| away(&means[a]).total_cmp(&away(&means[b]))).unwrap_or(0)
    };
    let owners: Vec<usize> = spots.par_iter().map(owner).collect();
    let mut sums = vec![[0.0f32; 4]; means.len()];
    for (spot, owner) in spots.iter().zip(owners) {
        let sum = &mut sums[owner];
        sum[3] += spot.weight;
        (0..3).for_each(|c| sum[c] += spot.weight * spot.color[c]);
    }
    let mean =
        |(sum, old): (&[f32; 4], &[f32; 3])| if sum[3] > 0.0 { [0, 1, 2].map(|c| sum[c] / sum[3]) } else { *old };
    sums.iter().zip(means).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(colors: impl Iterator<Item = [u8; 3]>) -> Census {
        let mut census = Census::default();
        census.add(&colors.collect::<Vec<_>>());
        census
    }

    #[test]
    fn few_colors_are_kept_as_they_are() {
        let colors = [[0, 0, 0], [255, 255, 255], [200, 10, 30], [250, 230, 40]];
        let palette = Palette::new(&census(colors.iter().copied().cycle().take(1000)));
        for color in colors {
            assert_eq!(palette.color(palette.nearest(color)), Some(color));
        }
    }

    #[test]
    fn nearest_is_nearest() {
        let noise = |i: u32| i.wrapping_mul(2_654_435_761).to_be_bytes();
        let palette = Palette::new(&census((0..20_000).map(|i| [noise(i)[0], noise(i)[1], noise(i)[2]])));
        assert_eq!(palette.colors.len(), COLORS);
        for i in 30_000..31_000 {
            let color = [noise(i)[0], noise(i)[1], noise(i)[2]];
            let best = palette.colors.iter().map(|c| distance(*c, color)).min().unwrap();
            assert_eq!(distance(palette.color(palette.nearest(color)).unwrap(), color), best);
        }
    }

    #[test]
    fn rare_colors_are_not_lost() {
        let greys = (0..100_000u32).map(|i| [(200 + i % 40) as u8; 3]);
        let palette = Palette::new(&census(greys.chain([[250, 220, 20]; 40])));
        let yellow = palette.color(palette.nearest([250, 220, 20])).unwrap();
        assert!(distance(yellow, [250, 220, 20]) < 30, "{yellow:?}");
    }

    #[test]
    fn nothing_counted_gives_a_usable_palette() {
        assert_eq!(Palette::new(&Census::default()).nearest([1, 2, 3]), 0);
    }
}
