//! Shadows of the key light, from a picture of the scene as the light sees it.
//!
//! The light is far away, so the map is orthographic. A sphere enters it as a disc through its centre: its lit half lies
//! in front of that disc and cannot shade itself, which leaves no room for acne. Bodies look the map up through a
//! filter of a few texels; where the smallest and largest depth of the neighbourhood settle the answer, no filter runs.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::Bounds;
use crate::bins::Bins;
use crate::camera::View;
use crate::drawing::{Drawing, Sphere};

/// Texels along the side of a block with known smallest and largest depth.
const BLOCK: usize = 8;
/// Rows of the map that one task fills.
const STRIP: usize = 32;
/// Texels from the middle of the filter to its border.
const REACH: f32 = 2.5;

/// Texels by which what receives a shadow is moved towards the light.
const BIAS: f32 = 0.4;
/// The same on slanting faces, per texel of slope: neighbours of a face on a curved surface slant differently.
const SLOPE_BIAS: f32 = 0.8;

/// From view space to the light's map: texels (x, y) and depth along the light \[m\].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LightSpace {
    axes: [Vec3; 3],
    offset: Vec3,
    /// Size of a texel \[m\].
    pub(crate) texel: f32,
    /// Texels along the side of the map.
    pub(crate) size: usize,
}

impl LightSpace {
    /// A map of `size` texels that covers `bounds`, lit from the unit direction `to_light` (world).
    pub(crate) fn new(bounds: &Bounds, to_light: Vec3, view: &View, size: usize) -> Self {
        // Steps of a fourth of an octave in size and of whole texels in place keep shadow edges still while the scene moves.
        let radius = bounds.radius().max(1e-6);
        let half = libm::exp2f(libm::ceilf(4.0 * libm::log2f(radius * 1.05)) / 4.0);
        let texel = 2.0 * half / size as f32;
        let (x, y) = to_light.any_orthonormal_pair();
        let center = bounds.center();
        let snap = |axis: Vec3| libm::roundf(axis.dot(center) / texel) * texel;
        let origin = x * snap(x) + y * snap(y) + to_light * to_light.dot(center);
        let axes = [view.turn(x) / texel, view.turn(y) / texel, -view.turn(to_light)];
        let middle = Vec3::new(0.5 * size as f32, 0.5 * size as f32, 0.0);
        let seen = view.to_view(origin);
        Self { axes, offset: middle - Vec3::from(axes.map(|a| a.dot(seen))), texel, size }
    }

    /// A point of view space in the map.
    #[inline]
    pub(crate) fn map(&self, p: Vec3) -> Vec3 {
        Vec3::new(self.axes[0].dot(p), self.axes[1].dot(p), self.axes[2].dot(p)) + self.offset
    }

    /// Unit directions in view space along the map's columns, its rows and the light.
    pub(crate) fn unit_axes(&self) -> [Vec3; 3] {
        [self.axes[0] * self.texel, self.axes[1] * self.texel, self.axes[2]]
    }
}

/// The nearest depth along every texel's ray. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct ShadowMap {
    pub(crate) space: LightSpace,
    /// Depth along the light \[m\], infinite where nothing is.
    pub(crate) depth: Vec<f32>,
    /// Smallest and largest depth of each block.
    blocks: Vec<[f32; 2]>,
    mapped: Vec<Disc>,
    disc_bins: Bins,
    corner_bins: Bins,
}

/// A sphere in the map: middle and depth, and radius in texels.
#[derive(Debug, Clone, Copy)]
struct Disc {
    middle: Vec3,
    radius: f32,
}

impl Disc {
    fn new(sphere: &Sphere, space: &LightSpace) -> Self {
        Self { middle: space.map(sphere.center), radius: sphere.radius / space.texel }
    }
}

impl ShadowMap {
    /// Draws spheres and triangles as the light sees them.
    pub(crate) fn cast(&mut self, drawing: &Drawing, space: LightSpace) {
        self.space = space;
        let size = space.size;
        self.mapped.clear();
        self.mapped.par_extend(drawing.spheres.par_iter().map(|s| Disc::new(s, &space)));
        let corners: Vec<[Vec3; 3]> = drawing.triangles.par_iter().map(|t| t.vertices.map(|v| space.map(v))).collect();
        let strips = size / STRIP;
        let strip_span = |low: f32, high: f32| strip_of(low)..if high < 0.0 { 0 } else { strip_of(high) + 1 };
        let discs = self.mapped.iter().enumerate();
        self.disc_bins
            .fill(strips, discs.map(|(i, d)| (i as u32, strip_span(d.middle.y - d.radius, d.middle.y + d.radius))));
        let spans = corners.iter().enumerate().map(|(i, c)| {
            let (low, high) = (c[0].y.min(c[1].y).min(c[2].y), c[0].y.max(c[1].y).max(c[2].y));
            (i as u32, strip_span(low, high))
        });
        self.corner_bins.fill(strips, spans);
        self.depth.resize(size * size, f32::INFINITY);
        self.blocks.resize((size / BLOCK) * (size / BLOCK), [f32::INFINITY; 2]);
        let (discs, disc_bins, corner_bins) = (&self.mapped, &self.disc_bins, &self.corner_bins);
        let blocks = self.blocks.par_chunks_mut(size / BLOCK * (STRIP / BLOCK));
        self.depth.par_chunks_mut(size * STRIP).zip(blocks).enumerate().for_each(|(i, (rows, blocks))| {
            rows.fill(f32::INFINITY);
            let mut strip = Strip { first_row: (i * STRIP) as f32, size, rows };
            disc_bins.of(i).iter().for_each(|&d| strip.draw_disc(&discs[d as usize]));
            corner_bins.of(i).iter().for_each(|&t| strip.draw_triangle(&corners[t as usize]));
            strip.measure(blocks);
        });
    }

    /// The part of the key light that reaches a point of view space, 0..1; `face` is the normal of the flat face it
    /// lies on, if it does.
    #[inline]
    pub(crate) fn light_at(&self, point: Vec3, face: Option<Vec3>) -> f32 {
        let position = self.space.map(point);
        let slope = face.map_or(Vec2::ZERO, |face| self.slope(face));
        let corner = position.truncate() - REACH - 0.5;
        let last = (self.space.size - 2 * BLOCK) as f32;
        if !(corner.cmpge(Vec2::ZERO).all() && corner.cmple(Vec2::splat(last)).all()) {
            return 1.0;
        }
        let (x, y) = (corner.x as usize, corner.y as usize);
        let steepness = slope.x.abs() + slope.y.abs();
        let receiver = position.z - BIAS * self.space.texel - SLOPE_BIAS * steepness;
        let sway = (REACH + 0.5) * steepness;
        let [nearest, farthest] = self.depths_round(x, y);
        if receiver + sway <= nearest {
            1.0
        } else if receiver - sway > farthest {
            0.0
        } else {
            let part = corner - Vec2::new(x as f32, y as f32);
            // The face at the middle of texel (x, y).
            let first = receiver + slope.dot(Vec2::new(x as f32, y as f32) + 0.5 - position.truncate());
            self.filter(x, y, part, [first, slope.x, slope.y])
        }
    }

    /// Change of a face's depth per texel: the filter compares with the face, not with the depth of one point, or
    /// slanting faces would shade themselves.
    #[inline]
    fn slope(&self, face: Vec3) -> Vec2 {
        let [x, y, along] = self.space.unit_axes().map(|axis| axis.dot(face));
        // Faces that the light grazes are dark anyway.
        Vec2::new(x, y) * (-self.space.texel / along.min(-0.1))
    }

    /// Smallest and largest depth in the four blocks that a filter from texel (x, y) can touch.
    #[inline]
    fn depths_round(&self, x: usize, y: usize) -> [f32; 2] {
        let width = self.space.size / BLOCK;
        let (x, y) = (x / BLOCK, y / BLOCK);
        let of = |i: usize| self.blocks[i];
        let first = y * width + x;
        let four = [of(first), of(first + 1), of(first + width), of(first + width + 1)];
        four.into_iter().reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).unwrap_or([f32::INFINITY; 2])
    }

    /// The lit part of a square of 2 `REACH` texels, its upper left corner at (x, y) + `part`. The receiver is a plane:
    /// its depth at the middle of texel (x, y), and its change per column and row.
    fn filter(&self, x: usize, y: usize, part: Vec2, [first, per_column, per_row]: [f32; 3]) -> f32 {
        const TAPS: usize = 2 * REACH as usize + 2;
        let weight = |i: usize, part: f32| match i {
            0 => 1.0 - part,
            i if i == TAPS - 1 => part,
            _ => 1.0,
        };
        let sway: [f32; TAPS] = std::array::from_fn(|i| per_column * i as f32);
        let mut lit = [0.0; TAPS];
        for i in 0..TAPS {
            let start = (y + i) * self.space.size + x;
            let Some(row) = self.depth[start..].first_chunk::<TAPS>() else { continue };
            let (receiver, weight) = (first + per_row * i as f32, weight(i, part.y));
            // Column by column, so that the columns of a row are compared at once.
            for ((lit, depth), sway) in lit.iter_mut().zip(row).zip(&sway) {
                *lit += if *depth >= receiver + sway { weight } else { 0.0 };
            }
        }
        let side = (TAPS - 1) as f32;
        lit.iter().enumerate().map(|(i, lit)| lit * weight(i, part.x)).sum::<f32>() / (side * side)
    }
}

fn strip_of(row: f32) -> usize {
    // A negative row casts to zero.
    row as usize / STRIP
}

/// Rows of the map that one task owns.
struct Strip<'a> {
    first_row: f32,
    size: usize,
    rows: &'a mut [f32],
}

impl Strip<'_> {
    fn height(&self) -> usize {
        self.rows.len() / self.size
    }

    /// Texels whose middle lies between two coordinates.
    #[inline]
    fn texels(low: f32, high: f32, end: usize) -> std::ops::Range<usize> {
        let first = (low - 0.5).ceil().max(0.0) as usize;
        let last = ((high - 0.5).floor() + 1.0).max(0.0) as usize;
        first..last.min(end)
    }

    fn draw_disc(&mut self, disc: &Disc) {
        // At least a texel wide, or small particles would cast no shadow.
        let radius = disc.radius.max(0.71);
        let middle_row = disc.middle.y - self.first_row;
        for row in Self::texels(middle_row - radius, middle_row + radius, self.height()) {
            let offset = row as f32 + 0.5 - middle_row;
            let half = (radius * radius - offset * offset).max(0.0).sqrt();
            let columns = Self::texels(disc.middle.x - half, disc.middle.x + half, self.size);
            if let Some(texels) = self.rows.get_mut(row * self.size + columns.start..row * self.size + columns.end) {
                for depth in texels {
                    *depth = depth.min(disc.middle.z);
                }
            }
        }
    }

    fn draw_triangle(&mut self, corners: &[Vec3; 3]) {
        let [a, b, c] = corners.map(|p| Vec3::new(p.x, p.y - self.first_row, p.z));
        let area = (b - a).truncate().perp_dot((c - a).truncate());
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        // Barycentric coordinates are linear over the map, and so is depth.
        let part = |p: Vec2, q: Vec3, r: Vec3| (q.truncate() - p).perp_dot(r.truncate() - p) / area;
        for row in Self::texels(low.y, high.y, self.height()) {
            for column in Self::texels(low.x, high.x, self.size) {
                let p = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
                let parts = [part(p, b, c), part(p, c, a), part(p, a, b)];
                if parts.iter().all(|v| *v >= 0.0) {
                    let depth = &mut self.rows[row * self.size + column];
                    *depth = depth.min(parts[0] * a.z + parts[1] * b.z + parts[2] * c.z);
                }
            }
        }
    }

    fn measure(&self, blocks: &mut [[f32; 2]]) {
        for (i, block) in blocks.iter_mut().enumerate() {
            let width = self.size / BLOCK;
            let start = i / width * BLOCK * self.size + i % width * BLOCK;
            let rows = (0..BLOCK).map(|r| &self.rows[start + r * self.size..start + r * self.size + BLOCK]);
            *block = rows.flatten().fold([f32::INFINITY, f32::NEG_INFINITY], |[a, b], d| [a.min(*d), b.max(*d)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Camera;
    use crate::drawing::Material;

    fn scene() -> (View, ShadowMap) {
        let camera = Camera::looking(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO, 40.0);
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::ONE };
        let view = View::new(&camera, &bounds, 64, 64).unwrap();
        let sphere = Sphere {
            center: view.to_view(Vec3::Y * 0.5),
            radius: 0.25,
            albedo: crate::color::Light::ONE,
            material: Material::Satin,
        };
        let drawing = Drawing { spheres: vec![sphere], ..Drawing::default() };
        let mut map = ShadowMap::default();
        map.cast(&drawing, LightSpace::new(&bounds, Vec3::Y, &view, 256));
        (view, map)
    }

    #[test]
    fn a_sphere_shades_what_is_below_it_and_not_itself() {
        let (view, map) = scene();
        let light = |p: Vec3, n: Vec3| map.light_at(view.to_view(p), Some(view.turn(n)));
        let on_sphere = |n: Vec3| map.light_at(view.to_view(Vec3::Y * 0.5 + n * 0.25), None);
        assert_eq!(light(Vec3::ZERO, Vec3::Y), 0.0);
        assert_eq!(light(Vec3::new(0.15, -0.5, 0.05), Vec3::Y), 0.0);
        assert_eq!(light(Vec3::new(0.35, 0.0, 0.0), Vec3::Y), 1.0);
        assert_eq!(light(Vec3::Y, Vec3::Y), 1.0);
        for angle in [0.0f32, 0.5, 1.0, 1.4] {
            let n = Vec3::new(angle.sin(), angle.cos(), 0.0);
            assert_eq!(on_sphere(n), 1.0, "{angle}");
        }
        let edge = light(Vec3::new(0.25, 0.0, 0.0), Vec3::Y);
        assert!((0.2..0.8).contains(&edge), "{edge}");
    }

    #[test]
    fn beyond_the_map_there_is_light() {
        let (view, map) = scene();
        for p in [Vec3::X * 50.0, Vec3::Z * -50.0, Vec3::NAN] {
            assert_eq!(map.light_at(view.to_view(p), None), 1.0);
        }
    }

    #[test]
    fn a_triangle_shades_what_is_behind_it() {
        let view = scene().0;
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::ONE };
        let space = LightSpace::new(&bounds, Vec3::Y, &view, 256);
        let mut strip_map = vec![f32::INFINITY; 256 * 256];
        let corners = [Vec3::new(-0.5, 0.2, -0.5), Vec3::new(0.5, 0.2, -0.5), Vec3::new(0.0, 0.2, 0.5)];
        let mut strip = Strip { first_row: 0.0, size: 256, rows: &mut strip_map };
        strip.draw_triangle(&corners.map(|p| space.map(view.to_view(p))));
        let drawn = strip_map.iter().filter(|d| d.is_finite()).count() as f32 * space.texel * space.texel;
        assert!((drawn - 0.5).abs() < 0.01, "{drawn}");
    }
}
