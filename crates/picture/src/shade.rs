//! From what is seen to light, and from light to pixels: one band of the picture at a time.

use glam::Vec2;

use crate::camera::View;
use crate::color::{Encoder, Light, dither_threshold, tone};
use crate::glass::Glass;
use crate::ground::{GroundRow, Ruling};
use crate::lines::Lines;
use crate::occlusion::Occlusion;
use crate::penumbra::Penumbra;
use crate::shadow::ShadowMap;
use crate::studio::Studio;
use crate::tile::TILE;
use crate::visibility::{Band, Coarse, GROUND, SKY, Scene};
use crate::water::{Behind, Water};

/// Light below which pixels are dithered: steps of eight bits show in dark gradients; in bright ones a dither would only
/// make files larger by half.
const DIM: f32 = 0.06;

/// Numbers of the shadow maps of the key light and of the sky.
const KEY: usize = 0;
const SKY_MAP: usize = 1;
/// What a thing that covers the whole sky takes from the light on the ground.
const SKY_SHADE: f32 = 0.55;

/// Everything that light depends on.
pub(crate) struct Shader<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) studio: &'a Studio,
    /// Shadows of the key light, on bodies and on the ground.
    pub(crate) shadows: Option<&'a Shadows>,
    /// Shadows of the sky, on the ground.
    pub(crate) sky: Option<&'a Shadows>,
    pub(crate) occlusion: Option<&'a Occlusion>,
    /// Strength of the occlusion, 0..1.
    pub(crate) strength: f32,
    pub(crate) coarse: &'a Coarse,
    pub(crate) glass: &'a Glass,
    pub(crate) water: &'a Water,
    pub(crate) lines: &'a Lines,
}

/// Light in the rows of one band of the picture.
pub(crate) struct Canvas<'a> {
    /// First row in the picture.
    pub(crate) top: usize,
    pub(crate) rows: usize,
    pub(crate) view: &'a View,
    pub(crate) band: &'a Band,
    /// Linear, tone-mapped light, row by row.
    pub(crate) light: &'a mut [Light],
}

impl Shader<'_> {
    /// Finds the light of what is opaque in the rows of a band.
    pub(crate) fn light(&self, index: usize, band: &Band, light: &mut [Light]) {
        let view = self.scene.view;
        let rows = light.len() / view.width;
        self.surfaces(&mut Canvas { top: index * TILE, rows, view, band, light });
    }

    /// Lays what is clear over a band and turns it into pixels; `behind` is the light of the whole picture without it, `light` is
    /// memory to work in.
    pub(crate) fn finish(&self, index: usize, behind: &Behind, light: &mut Vec<Light>, pixels: &mut [[u8; 3]]) {
        let view = self.scene.view;
        let first = index * TILE * view.width;
        light.clear();
        light.extend_from_slice(&behind.light[first..first + pixels.len()]);
        let rows = pixels.len() / view.width;
        let mut canvas = Canvas { top: index * TILE, rows, view, band: &behind.bands[index], light };
        self.water.draw(index, &self.scene.drawing.water, (self.studio, behind), &mut canvas);
        self.glass.draw(index, &self.scene.drawing.glass, self.studio, &mut canvas);
        self.lines.draw(index, &mut canvas);
        encode(&canvas, pixels);
    }

    fn surfaces(&self, canvas: &mut Canvas) {
        let spaces = [self.shadows, self.sky].map(|shadows| shadows.map(|s| &s.map.space));
        let rows: [Row; TILE] = std::array::from_fn(|row| {
            let middle = (canvas.top + row) as f32 + 0.5;
            let backdrop = tone(self.studio.backdrop(middle / canvas.view.height as f32));
            Row { backdrop, ground: self.scene.ground.and_then(|ground| ground.row(middle, spaces)) }
        });
        for tile in 0..canvas.view.width.div_ceil(TILE) {
            let open = self.occlusion.is_none_or(|o| o.is_open(tile, canvas.top / TILE));
            let is_lit =
                |map, shadows: Option<&Shadows>| shadows.is_none_or(|s| s.miss(&rows, map, (tile * TILE) as f32));
            let (lit, free) = (is_lit(KEY, self.shadows), is_lit(SKY_MAP, self.sky));
            for (row, line) in rows.iter().enumerate().take(canvas.rows) {
                self.run(&Run { tile, row, open, lit, free, line }, canvas);
            }
        }
    }

    /// Shades the pixels of a row within a tile.
    fn run(&self, run: &Run, canvas: &mut Canvas) {
        let (x, y) = (run.tile * TILE, canvas.top + run.row);
        let width = canvas.view.width;
        let pixels = &mut canvas.light[run.row * width..(run.row + 1) * width];
        let mut patch = None;
        let starts = canvas.band.starts(run.tile, run.row).windows(2);
        for ((i, pixel), ends) in pixels[x..].iter_mut().enumerate().zip(starts) {
            let mut light = Light::ZERO;
            for fragment in canvas.band.between(ends[0], ends[1]) {
                let at = Vec2::new((x + i) as f32, y as f32) + fragment.middle();
                let seen = match (fragment.id, &run.line.ground) {
                    (GROUND, Some(ground)) => {
                        self.ground(patch.get_or_insert_with(|| self.patch(ground, run, x as f32)), run, at)
                    }
                    (SKY | GROUND, _) => run.line.backdrop,
                    _ => self.body(fragment.id, run, at),
                };
                light += seen * fragment.weight();
            }
            *pixel = light;
        }
    }

    /// Tone-mapped light of a body at a point of the picture \[px\].
    fn body(&self, id: u32, run: &Run, at: Vec2) -> Light {
        let Some(hit) = self.scene.hit(id, self.scene.view.slopes(at.x, at.y)) else { return run.line.backdrop };
        let open = self.openness(run, at, hit.point.z);
        let lit = match self.shadows {
            Some(key) if self.studio.sees_key(&hit) => key.map.light_at(hit.point, hit.face),
            _ => 1.0,
        };
        tone(self.studio.body(&hit, open, lit))
    }

    /// What changes slowly on the ground along a run from column `x`.
    fn patch<'b>(&self, ground: &'b GroundRow<'b>, run: &Run, x: f32) -> Patch<'b> {
        let half = (TILE / 2) as f32;
        let free = match self.sky {
            Some(sky) if !run.free => [0.0, half, 2.0 * half]
                .map(|dx| 1.0 - SKY_SHADE * (1.0 - sky.soft.light_at(ground.texel(SKY_MAP, x + dx)))),
            _ => [1.0; 3],
        };
        Patch { ground, ruling: ground.ruling(x + half), x, free }
    }

    /// Tone-mapped light of the ground at a point of the picture \[px\].
    #[inline]
    fn ground(&self, patch: &Patch, run: &Run, at: Vec2) -> Light {
        let (backdrop, presence) = (run.line.backdrop, patch.ground.presence(at.x));
        if presence <= 0.0 {
            return backdrop;
        }
        let open = self.openness(run, at, patch.ground.depth) * patch.free(at.x);
        let lit = match self.shadows {
            Some(key) if !run.lit => key.soft.light_at(patch.ground.texel(KEY, at.x)),
            _ => 1.0,
        };
        let pattern = patch.ruling.at(at.x);
        let plain = open * lit == 1.0 && pattern == 0.0;
        let light = if plain { self.studio.plain_ground } else { tone(self.studio.ground(open, lit, pattern)) };
        backdrop + (light - backdrop) * presence
    }

    /// The open part of the sky at a point of the picture \[px\] and a depth \[m\].
    #[inline]
    fn openness(&self, run: &Run, at: Vec2, depth: f32) -> f32 {
        match self.occlusion {
            Some(occlusion) if !run.open => 1.0 - self.strength * (1.0 - occlusion.at(self.coarse, at, depth)),
            _ => 1.0,
        }
    }
}

/// Backdrop and ground along a row of the picture.
struct Row<'a> {
    backdrop: Light,
    ground: Option<GroundRow<'a>>,
}

/// A row of a band within a tile.
struct Run<'a> {
    /// Column of tiles.
    tile: usize,
    /// Row in the band.
    row: usize,
    /// Whether nothing is occluded.
    open: bool,
    /// Whether no shadow of the key light, and none of the sky, reaches the ground.
    lit: bool,
    free: bool,
    line: &'a Row<'a>,
}

/// The ground in a run.
struct Patch<'a> {
    ground: &'a GroundRow<'a>,
    ruling: Ruling,
    /// First column.
    x: f32,
    /// Unshaded part of the sky at the first, middle and last column.
    free: [f32; 3],
}

impl Patch<'_> {
    #[inline]
    fn free(&self, x: f32) -> f32 {
        let t = (x - self.x) * (2.0 / TILE as f32);
        let [a, b, c] = self.free;
        if t < 1.0 { a + (b - a) * t } else { b + (c - b) * (t - 1.0) }
    }
}

/// What a light sees, and the soft shadow that makes on the ground. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    pub(crate) map: ShadowMap,
    pub(crate) soft: Penumbra,
}

impl Shadows {
    /// Whether no shadow reaches the ground in the tile from column `x` of these rows.
    fn miss(&self, rows: &[Row; TILE], map: usize, x: f32) -> bool {
        let mut ground = rows.iter().filter_map(|row| row.ground.as_ref());
        let Some(first) = ground.next() else { return true };
        let last = ground.next_back().unwrap_or(first);
        let corners = [first, last].map(|row| [row.texel(map, x), row.texel(map, x + TILE as f32)]);
        let low = corners.iter().flatten().copied().fold(Vec2::INFINITY, Vec2::min);
        let high = corners.iter().flatten().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
        self.soft.is_lit_between(low, high)
    }
}

fn encode(canvas: &Canvas, pixels: &mut [[u8; 3]]) {
    let encoder = Encoder::new();
    let width = canvas.view.width;
    for (row, (pixels, light)) in pixels.chunks_mut(width).zip(canvas.light.chunks(width)).enumerate() {
        for (x, (pixel, light)) in pixels.iter_mut().zip(light).enumerate() {
            let threshold = if light.y < DIM { dither_threshold(x, canvas.top + row) } else { 0.5 };
            *pixel = encoder.dithered(*light, threshold);
        }
    }
}
