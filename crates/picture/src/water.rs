//! Liquids with a depth: they mirror the studio, bend what is behind them, and tint it.
//!
//! | symbol | meaning |
//! |---|---|
//! | d | way of the eye's ray through the liquid \[m\]: Σ (back − front) over the closed surface, no farther than what is opaque |
//! | T | a^(d/L), part of the light that passes, a the colour of the liquid and L its clarity (Beer–Lambert) |
//! | F | 0.02 + 0.98 (1 − cos)⁵, part that is mirrored (Schlick's form of Fresnel, refractive index 1.33) |
//!
//! What is behind is looked up where the bent ray would leave a layer of thickness d, a quarter of d along the normal. To d a skin
//! is added, so that thin sheets and edges, where a true ray would be bent out of sight, are seen against what is behind.

use glam::{Vec2, Vec3};

use crate::bins::Bins;
use crate::camera::View;
use crate::color::{Light, tone};
use crate::drawing::{Hit, Material, Triangle};
use crate::glass::cover;
use crate::shade::Canvas;
use crate::studio::Studio;
use crate::tile::{Rect, TILE};
use crate::visibility::Band;

/// How far a ray is bent sideways, over its way: 1 − 1/1.33.
const BEND: f32 = 0.25;
/// Thickness of the skin over the clarity L, dimensionless.
const SKIN: f32 = 0.12;
/// How much of the light of the studio a surface sends back at least, dimensionless: faces that look elsewhere look different.
const SHEEN: f32 = 0.1;

/// The picture without liquids.
pub(crate) struct Behind<'a> {
    /// Tone-mapped light, row by row.
    pub(crate) light: &'a [Light],
    pub(crate) bands: &'a [Band],
    /// L \[m\].
    pub(crate) clarity: f32,
}

impl Behind<'_> {
    /// Depth of the nearest opaque thing in a pixel \[m\].
    fn depth(&self, x: usize, y: usize) -> f32 {
        let fragments = self.bands[y / TILE].pixel(x, y % TILE);
        fragments.iter().map(|f| f.depth).fold(f32::INFINITY, f32::min)
    }

    /// Light at a position of the picture \[px\], if what is there lies beyond a depth; a mean of four pixels.
    fn beyond(&self, at: Vec2, depth: f32, view: &View) -> Option<Light> {
        let most = Vec2::new(view.width as f32 - 2.0, view.height as f32 - 2.0);
        let at = (at - 0.5).clamp(Vec2::ZERO, most.max(Vec2::ZERO));
        let (x, y) = (at.x as usize, at.y as usize);
        let part = at - Vec2::new(x as f32, y as f32);
        let mut light = Light::ZERO;
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (x, y) = ((x + dx).min(view.width - 1), (y + dy).min(view.height - 1));
            if self.depth(x, y) < depth {
                return None;
            }
            let weight = [1.0 - part.x, part.x][dx] * [1.0 - part.y, part.y][dy];
            light += self.light[y * view.width + x] * weight;
        }
        Some(light)
    }
}

/// Where liquids lie in the picture. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Water {
    rects: Vec<Rect>,
    bins: Bins,
}

/// What the ray of a pixel meets.
#[derive(Debug, Clone, Copy)]
struct Layer {
    /// Depth of the backs less that of the fronts \[m\].
    thickness: f32,
    /// The part of the pixel that is covered.
    part: f32,
    /// The nearest front.
    depth: f32,
    triangle: u32,
}

const EMPTY: Layer = Layer { thickness: 0.0, part: 0.0, depth: f32::INFINITY, triangle: u32::MAX };

impl Water {
    /// Finds the bands that surfaces touch.
    pub(crate) fn sort(&mut self, surfaces: &[(Triangle, bool)], view: &View) {
        self.rects.clear();
        self.rects.extend(surfaces.iter().map(|(t, _)| Rect::of_triangle(&t.vertices, view)));
        let spans = self.rects.iter().enumerate().map(|(i, rect)| (i as u32, rect.tile_rows()));
        self.bins.fill(view.height.div_ceil(TILE), spans);
    }

    /// Lays the liquids of a band over it.
    pub(crate) fn draw(
        &self,
        index: usize,
        surfaces: &[(Triangle, bool)],
        set: (&Studio, &Behind),
        canvas: &mut Canvas,
    ) {
        if self.bins.of(index).is_empty() {
            return;
        }
        let mut layers = vec![EMPTY; canvas.light.len()];
        for &i in self.bins.of(index) {
            let (triangle, outside) = &surfaces[i as usize];
            self.add((i, triangle, *outside), set.1, canvas, &mut layers);
        }
        for (pixel, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.triangle != u32::MAX) {
            let (x, y) = (pixel % canvas.view.width, canvas.top + pixel / canvas.view.width);
            let light = through(&surfaces[layer.triangle as usize].0, layer, [x, y], set, canvas.view);
            canvas.light[pixel] += (light - canvas.light[pixel]) * layer.part.min(1.0);
        }
    }

    /// Adds a triangle to the layers of the pixels that it covers.
    fn add(
        &self,
        (i, triangle, outside): (u32, &Triangle, bool),
        behind: &Behind,
        canvas: &Canvas,
        layers: &mut [Layer],
    ) {
        let rect = self.rects[i as usize];
        let near = triangle.vertices.iter().map(|v| v.z).fold(f32::INFINITY, f32::min);
        let far = triangle.vertices.iter().map(|v| v.z).fold(0.0, f32::max);
        let rows = (rect.y[0] as usize).max(canvas.top)..(rect.y[1] as usize).min(canvas.top + canvas.rows);
        for y in rows {
            for x in rect.x[0] as usize..rect.x[1] as usize {
                let part = cover(triangle, x, y, canvas.view).count_ones() as f32 * 0.25;
                if part == 0.0 {
                    continue;
                }
                let slopes = canvas.view.slopes(x as f32 + 0.5, y as f32 + 0.5);
                // Seen edge-on, the plane of a triangle says little about its depth in the middle of the pixel.
                let depth = (1.0 / triangle.plane.dot(slopes.extend(1.0))).clamp(near, far);
                let opaque = behind.depth(x, y);
                let layer = &mut layers[(y - canvas.top) * canvas.view.width + x];
                let sign = if outside { -part } else { part };
                layer.thickness += sign * depth.min(opaque).min(1e6);
                if outside && depth < opaque {
                    layer.part += part;
                    if depth < layer.depth {
                        (layer.depth, layer.triangle) = (depth, i);
                    }
                }
            }
        }
    }
}

/// Light that comes through a liquid and from its surface.
fn through(
    triangle: &Triangle,
    layer: &Layer,
    [x, y]: [usize; 2],
    (studio, behind): (&Studio, &Behind),
    view: &View,
) -> Light {
    let at = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
    let slopes = view.slopes(at.x, at.y);
    let hit = triangle.hit(slopes);
    let ray = slopes.extend(1.0);
    let way = (layer.thickness / layer.part.max(1.0) * ray.length()).max(0.0);
    let bent = bend(&hit, way, view);
    let beyond = behind.beyond(at + bent, layer.depth * (1.0 - 1e-3), view);
    let seen = beyond.unwrap_or(behind.light[y * view.width + x]);
    let passed = hit.albedo.map(|a| libm::powf(a, way / behind.clarity + SKIN));
    let facing = hit.normal.dot(-hit.point / hit.point.length().max(1e-30)).clamp(0.0, 1.0);
    let away = 1.0 - facing;
    let mirrored = 0.02 + 0.98 * (away * away) * (away * away) * away;
    let body = tone(studio.body(&Hit { material: Material::Water, ..hit }, 1.0, 1.0));
    let passed = passed * (1.0 - mirrored.max(SHEEN));
    seen * passed + body * (Light::ONE - passed)
}

/// How far what is behind a surface is shifted in the picture \[px\].
fn bend(hit: &Hit, way: f32, view: &View) -> Vec2 {
    let Vec3 { x, y, .. } = -hit.normal * (BEND * way * view.focal / hit.point.z.max(1e-6));
    let most = 0.08 * view.height as f32;
    Vec2::new(x, -y).clamp_length_max(most)
}
