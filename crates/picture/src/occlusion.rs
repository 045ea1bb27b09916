//! Ambient occlusion in screen space: creases and contacts are darker.
//!
//! For a point p with normal n, and points q seen round it, with v = q − p, the open part of the sky is estimated as
//! 1 − σ/N Σ (1 − v·v / R²)⁺ (v·n − β)⁺ / √(v·v + ε), after \[MOBH11\]. Deviation: divided by the distance, not by its
//! square, and faded out at the radius R, so that the nearest points do not outweigh all others.
//!
//! This is done for every second column and row. The spirals of points of neighbours are turned against each other in a
//! 4 × 4 pattern, and an average over 4 × 4 neighbours of similar depth removes the pattern again.

use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;

use crate::camera::View;
use crate::tile::{SAMPLES_X, SAMPLES_Y, TILE};
use crate::visibility::{Coarse, Visibility};

/// Points looked at, a multiple of four.
const TAPS: usize = 12;
/// Turns of the spiral of points.
const TURNS: f32 = 4.0;
/// Largest radius on the screen \[coarse px\].
const LARGEST: f32 = 40.0;
/// Coarse points along the side of a tile.
const SIDE: usize = TILE / 2;
/// Darkness of a closed corner.
const STRENGTH: f32 = 2.3;
/// Difference of depths, as a part of the radius, above which neighbours belong to different surfaces.
const SIMILAR: f32 = 0.25;

/// Openness of the coarse points. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Occlusion {
    raw: Vec<f32>,
    across: Vec<f32>,
    smooth: Vec<f32>,
    /// Offsets of the points in radii, for each position in the 4 × 4 pattern.
    spirals: Vec<[Vec2; TAPS]>,
    /// For each tile of the picture, whether only ground and backdrop are near.
    open: Vec<bool>,
    tile_columns: usize,
    radius: f32,
}

impl Occlusion {
    /// Estimates the openness of everything seen, for creases up to `radius` \[m\].
    pub(crate) fn estimate(&mut self, seen: &Visibility, view: &View, radius: f32) {
        let coarse = &seen.coarse;
        self.radius = radius;
        self.prepare_spirals();
        self.find_open_tiles(seen);
        for buffer in [&mut self.raw, &mut self.across, &mut self.smooth] {
            buffer.resize(coarse.depth.len(), 1.0);
        }
        let (spirals, tiles) = (&self.spirals, Tiles { open: &self.open, columns: self.tile_columns });
        let look = Look { coarse, view, radius };
        tiles.fill(&mut self.raw, coarse, |x, y| look.openness(x, y, &spirals[(y & 3) << 2 | (x & 3)]));
        let (raw, across) = (&self.raw, &mut self.across);
        tiles.fill(across, coarse, |x, y| blurred(raw, coarse, SIMILAR * radius, y * coarse.width + x, 1));
        let (across, smooth) = (&self.across, &mut self.smooth);
        tiles
            .fill(smooth, coarse, |x, y| blurred(across, coarse, SIMILAR * radius, y * coarse.width + x, coarse.width));
    }

    /// Marks the tiles from which no spiral reaches a thing.
    fn find_open_tiles(&mut self, seen: &Visibility) {
        const FAR: usize = (LARGEST as usize).div_ceil(SIDE) + 1;
        let columns = seen.coarse.width.div_ceil(SIDE);
        self.tile_columns = columns;
        let near = |i: usize, end: usize| i.saturating_sub(FAR)..(i + FAR + 1).min(end);
        let across: Vec<bool> =
            (0..seen.bare.len()).map(|i| near(i % columns, columns).all(|x| seen.bare[i - i % columns + x])).collect();
        let rows = across.len() / columns;
        self.open.clear();
        self.open.extend((0..across.len()).map(|i| near(i / columns, rows).all(|y| across[y * columns + i % columns])));
    }

    /// Whether only ground and backdrop are near the tile at a column and row of tiles.
    pub(crate) fn is_open(&self, column: usize, row: usize) -> bool {
        self.open[row * self.tile_columns + column]
    }

    /// The openness at a point of the picture \[px\] and a depth \[m\].
    #[inline]
    pub(crate) fn at(&self, coarse: &Coarse, pixel: Vec2, depth: f32) -> f32 {
        let position = (pixel - Vec2::new(SAMPLES_X[0], SAMPLES_Y[0])) * 0.5;
        let position = position.clamp(Vec2::ZERO, Vec2::new(coarse.width as f32 - 1.0, coarse.height as f32 - 1.0));
        let (x, y) = (position.x as usize, position.y as usize);
        let (u, v) = (position.x - x as f32, position.y - y as f32);
        let right = usize::from(x + 1 < coarse.width);
        let below = if y + 1 < coarse.height { coarse.width } else { 0 };
        let first = y * coarse.width + x;
        let corners = [first, first + right, first + below, first + below + right];
        let near = Vec4::new((1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v);
        let gaps = (Vec4::from(corners.map(|i| coarse.depth[i])) - depth) * (4.0 / (SIMILAR * self.radius));
        let weights = (near + 1e-3) / (gaps * gaps + 1.0) + 1e-9;
        weights.dot(Vec4::from(corners.map(|i| self.smooth[i]))) / weights.element_sum()
    }

    fn prepare_spirals(&mut self) {
        if !self.spirals.is_empty() {
            return;
        }
        // The turns of a 4 × 4 block, shuffled so that neighbours differ much.
        const SHUFFLED: [f32; 16] =
            [0.0, 8.0, 2.0, 10.0, 12.0, 4.0, 14.0, 6.0, 3.0, 11.0, 1.0, 9.0, 15.0, 7.0, 13.0, 5.0];
        self.spirals = SHUFFLED
            .iter()
            .map(|turn| {
                std::array::from_fn(|i| {
                    let part = (i as f32 + 0.5) / TAPS as f32;
                    let angle = (part * TURNS + turn / 16.0) * std::f32::consts::TAU;
                    let (sin, cos) = libm::sincosf(angle);
                    Vec2::new(cos, sin) * (part * part.sqrt())
                })
            })
            .collect();
    }
}

struct Look<'a> {
    coarse: &'a Coarse,
    view: &'a View,
    radius: f32,
}

impl Look<'_> {
    fn openness(&self, x: usize, y: usize, spiral: &[Vec2; TAPS]) -> f32 {
        let (coarse, view) = (self.coarse, self.view);
        let here = y * coarse.width + x;
        let depth = coarse.depth[here];
        let reach = (0.5 * view.focal * self.radius / depth).min(LARGEST);
        // The backdrop has infinite depth, hence no reach.
        if reach < 1.0 {
            return 1.0;
        }
        let slopes = view.slopes(2.0 * x as f32 + SAMPLES_X[0], 2.0 * y as f32 + SAMPLES_Y[0]);
        let (p, n) = (slopes.extend(1.0) * depth, coarse.normal[here]);
        let middle = Vec2::new(x as f32, y as f32) + 0.5;
        let last = Vec2::new((coarse.width - 1) as f32, (coarse.height - 1) as f32);
        let mut closed = Vec4::ZERO;
        for four in spiral.as_chunks::<4>().0 {
            let at = four.map(|offset| (middle + offset * reach).clamp(Vec2::ZERO, last));
            let at = at.map(|p| (p.x as usize, p.y as usize));
            let z = Vec4::from(at.map(|(i, j)| coarse.depth[j * coarse.width + i]));
            let step = 2.0 * view.pixel_slope;
            let u = slopes.x + Vec4::from(at.map(|(i, _)| i as f32 - x as f32)) * step;
            let v = slopes.y - Vec4::from(at.map(|(_, j)| j as f32 - y as f32)) * step;
            closed += self.closedness([u * z - p.x, v * z - p.y, z - p.z], n);
        }
        (1.0 - closed.element_sum() * (STRENGTH / TAPS as f32)).clamp(0.0, 1.0)
    }

    /// What four points at `v` from a point with normal `n` take of its sky.
    #[inline]
    fn closedness(&self, v: [Vec4; 3], n: Vec3) -> Vec4 {
        let r2 = self.radius * self.radius;
        let vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let height = v[0] * n.x + v[1] * n.y + v[2] * n.z - 0.01 * self.radius;
        let fade = (1.0 - vv / r2).max(Vec4::ZERO);
        let closed = fade * height.max(Vec4::ZERO) / (vv + 0.02 * r2).sqrt();
        // The backdrop, infinitely far away, takes nothing.
        Vec4::select(vv.cmplt(Vec4::splat(r2)), closed, Vec4::ZERO)
    }
}

/// Averages four neighbours of similar depth along a row (`step` 1) or column (`step` the width).
#[inline]
fn blurred(from: &[f32], coarse: &Coarse, similar: f32, here: usize, step: usize) -> f32 {
    let (depth, scale) = (coarse.depth[here], 1.0 / similar);
    let (mut sum, mut total) = (from[here] * 1e-3, 1e-3);
    // Along a row, the neighbour of a border pixel may be in another row; its depth tells whether it fits.
    let neighbours =
        [here.saturating_sub(2 * step), here.saturating_sub(step), here, (here + step).min(from.len() - 1)];
    for i in neighbours {
        let gap = (coarse.depth[i] - depth) * scale;
        // A NaN, between two points of the backdrop, gives the weight zero.
        let weight = (1.0 - gap * gap).max(0.0);
        sum += from[i] * weight;
        total += weight;
    }
    sum / total
}

/// Tiles of coarse points, some of them open.
#[derive(Clone, Copy)]
struct Tiles<'a> {
    open: &'a [bool],
    columns: usize,
}

impl Tiles<'_> {
    /// Sets every point (x, y) to `value`, but to one in open tiles.
    fn fill(self, points: &mut [f32], coarse: &Coarse, value: impl Fn(usize, usize) -> f32 + Sync) {
        points.par_chunks_mut(coarse.width).enumerate().for_each(|(y, row)| {
            let open = &self.open[y / SIDE * self.columns..];
            for (tile, (points, open)) in row.chunks_mut(SIDE).zip(open).enumerate() {
                if *open {
                    points.fill(1.0);
                } else {
                    points.iter_mut().enumerate().for_each(|(i, point)| *point = value(tile * SIDE + i, y));
                }
            }
        });
    }
}
