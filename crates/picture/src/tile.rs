//! Sixteen by sixteen pixels of four samples, and how spheres and triangles land in them.

use std::ops::Range;

use glam::{Vec2, Vec3, Vec4};

use crate::camera::View;
use crate::drawing::{Sphere, Triangle};
use crate::visibility::{FIRST, GROUND, SKY, Scene};

/// Pixels along the side of a tile.
pub(crate) const TILE: usize = 16;

/// Columns of the four samples in a pixel \[px\]: a rotated grid, no two in a row or column.
pub(crate) const SAMPLES_X: [f32; 4] = [0.375, 0.875, 0.125, 0.625];
/// Rows of the four samples in a pixel \[px\].
pub(crate) const SAMPLES_Y: [f32; 4] = [0.125, 0.375, 0.625, 0.875];

/// Spheres drawn between two looks at the farthest depth of a tile.
const LOOK_EVERY: usize = 8;

/// Pixels from `x.start` to `x.end` and `y.start` to `y.end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: [u16; 2],
    pub(crate) y: [u16; 2],
}

impl Rect {
    const EMPTY: Self = Self { x: [0; 2], y: [0; 2] };

    /// The pixels between two points of the picture \[px\].
    fn between(low: Vec2, high: Vec2, view: &View) -> Self {
        let whole = |v: f32, end: usize| v.clamp(0.0, end as f32) as u16;
        let (w, h) = (view.width, view.height);
        let rect = Self {
            x: [whole(low.x.floor(), w), whole(high.x.ceil(), w)],
            y: [whole(low.y.floor(), h), whole(high.y.ceil(), h)],
        };
        if rect.is_empty() { Self::EMPTY } else { rect }
    }

    /// All pixels.
    fn all(view: &View) -> Self {
        Self { x: [0, view.width as u16], y: [0, view.height as u16] }
    }

    /// The pixels that a sphere can touch; none when it is behind the eye or round it.
    pub(crate) fn of_sphere(sphere: &Sphere, view: &View) -> Self {
        let (c, r) = (sphere.center, sphere.radius);
        if c.z + r <= view.near || c.length_squared() <= r * r {
            return Self::EMPTY;
        }
        if c.z - r <= view.near {
            return Self::all(view);
        }
        // Tangents from the eye in the planes y = 0 and x = 0.
        let tangents = |a: f32| {
            let root = r * (a * a + (c.z - r) * (c.z + r)).sqrt();
            let scale = 1.0 / ((c.z - r) * (c.z + r));
            ((a * c.z - root) * scale, (a * c.z + root) * scale)
        };
        let ((left, right), (bottom, top)) = (tangents(c.x), tangents(c.y));
        let (low, high) = (view.pixel(Vec2::new(left, top)), view.pixel(Vec2::new(right, bottom)));
        if low.is_finite() && high.is_finite() { Self::between(low, high, view) } else { Self::all(view) }
    }

    /// The pixels that the part of a triangle in front of the near plane can touch.
    pub(crate) fn of_triangle(vertices: &[Vec3; 3], view: &View) -> Self {
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        let mut add = |p: Vec3| {
            let pixel = view.pixel(p.truncate() / p.z);
            (low, high) = (low.min(pixel), high.max(pixel));
        };
        for i in 0..3 {
            let (a, b) = (vertices[i], vertices[(i + 1) % 3]);
            if a.z >= view.near {
                add(a);
            }
            if (a.z < view.near) != (b.z < view.near) {
                add((a + (b - a) * ((view.near - a.z) / (b.z - a.z))).with_z(view.near));
            }
        }
        if low.cmple(high).all() { Self::between(low, high, view) } else { Self::EMPTY }
    }

    /// Whether it holds no pixel.
    pub(crate) fn is_empty(&self) -> bool {
        self.x[0] >= self.x[1] || self.y[0] >= self.y[1]
    }

    /// Rows of tiles that it touches.
    pub(crate) fn tile_rows(&self) -> Range<usize> {
        tiles(self.y)
    }

    /// Columns of tiles that it touches.
    pub(crate) fn tile_columns(&self) -> Range<usize> {
        tiles(self.x)
    }

    /// The pixels in the tile at (x, y), counted from its corner.
    #[inline]
    fn in_tile(&self, x: usize, y: usize) -> (Range<usize>, Range<usize>) {
        let part = |[start, end]: [u16; 2], at: usize| {
            (start as usize).saturating_sub(at)..(end as usize).saturating_sub(at).min(TILE)
        };
        (part(self.x, x), part(self.y, y))
    }
}

fn tiles([start, end]: [u16; 2]) -> Range<usize> {
    if start < end { start as usize / TILE..(end as usize).div_ceil(TILE) } else { 0..0 }
}

/// The samples of a tile.
#[derive(Debug)]
pub(crate) struct Tile {
    /// Column of its left border \[px\].
    pub(crate) x: usize,
    /// Row of its upper border \[px\].
    pub(crate) y: usize,
    /// Depth of the nearest surface at each sample \[m\].
    pub(crate) depth: [Vec4; TILE * TILE],
    /// That surface.
    pub(crate) ids: [[u32; 4]; TILE * TILE],
    /// Slopes of the samples of each column.
    slopes_x: [Vec4; TILE],
    /// Slopes of the samples of each row.
    slopes_y: [Vec4; TILE],
    near: f32,
}

impl Default for Tile {
    fn default() -> Self {
        Self {
            x: 0,
            y: 0,
            depth: [Vec4::INFINITY; TILE * TILE],
            ids: [[SKY; 4]; TILE * TILE],
            slopes_x: [Vec4::ZERO; TILE],
            slopes_y: [Vec4::ZERO; TILE],
            near: 0.0,
        }
    }
}

impl Tile {
    /// Moves the tile to (x, y) and fills it with ground and backdrop.
    pub(crate) fn reset(&mut self, x: usize, y: usize, scene: &Scene) {
        (self.x, self.y, self.near) = (x, y, scene.view.near);
        let (columns, rows) = (Vec4::from(SAMPLES_X), Vec4::from(SAMPLES_Y));
        let half = Vec2::new(scene.view.width as f32, scene.view.height as f32) * 0.5;
        for i in 0..TILE {
            self.slopes_x[i] = (columns + ((x + i) as f32 - half.x)) / scene.view.focal;
            self.slopes_y[i] = (half.y - (rows + (y + i) as f32)) / scene.view.focal;
        }
        for (y, (depth, ids)) in self.depth.chunks_mut(TILE).zip(self.ids.chunks_mut(TILE)).enumerate() {
            let ground = scene.ground.map_or(Vec4::INFINITY, |ground| ground.depths(self.slopes_y[y]));
            let seen = ground.cmplt(Vec4::INFINITY).bitmask();
            depth.fill(ground);
            ids.fill([0, 1, 2, 3].map(|s| if seen >> s & 1 == 1 { GROUND } else { SKY }));
        }
    }

    /// Puts `id` where it is nearer than what is there.
    #[inline]
    fn put(&mut self, pixel: usize, id: u32, depth: Vec4, candidates: u32) {
        let hits =
            candidates & depth.cmplt(self.depth[pixel]).bitmask() & depth.cmpgt(Vec4::splat(self.near)).bitmask();
        if hits == 0 {
            return;
        }
        let (depths, ids) = (&mut self.depth[pixel], &mut self.ids[pixel]);
        for s in 0..4 {
            if hits >> s & 1 == 1 {
                depths[s] = depth[s];
                ids[s] = id;
            }
        }
    }

    /// Draws a triangle.
    pub(crate) fn draw_triangle(&mut self, triangle: &Triangle, id: u32, rect: Rect) {
        let (columns, rows) = rect.in_tile(self.x, self.y);
        for y in rows {
            let v = self.slopes_y[y];
            let line = |plane: Vec3| v * plane.y + plane.z;
            let edges = triangle.edges.map(line);
            let inverse = line(triangle.plane);
            for x in columns.clone() {
                let u = self.slopes_x[x];
                let inside = |i: usize| (u * triangle.edges[i].x + edges[i]).cmpge(Vec4::ZERO).bitmask();
                let covered = inside(0) & inside(1) & inside(2);
                if covered != 0 {
                    self.put(y * TILE + x, id, (u * triangle.plane.x + inverse).recip(), covered);
                }
            }
        }
    }

    /// Draws spheres, nearest front first, until the rest is hidden.
    pub(crate) fn draw_spheres(&mut self, items: &[u32], spheres: &[Sphere], rects: &[Rect]) {
        for some in items.chunks(LOOK_EVERY) {
            let farthest = self.depth.iter().fold(Vec4::ZERO, |z, d| z.max(*d)).max_element();
            for &i in some {
                let sphere = &spheres[i as usize];
                if sphere.center.z - sphere.radius >= farthest {
                    return;
                }
                self.draw_sphere(sphere, FIRST + i, rects[i as usize]);
            }
        }
    }

    /// The formula of [`Sphere::depth`] at four samples at once.
    #[inline]
    fn draw_sphere(&mut self, sphere: &Sphere, id: u32, rect: Rect) {
        let z = sphere.center.z;
        let middle = sphere.center.truncate() / z;
        let (r2, z2, front) = (sphere.radius * sphere.radius, z * z, Vec4::splat(z - sphere.radius));
        let (columns, rows) = rect.in_tile(self.x, self.y);
        for y in rows {
            let v = self.slopes_y[y];
            let e_y = v - middle.y;
            let (v2, e_y2, along_y, twist_y) = (v * v + 1.0, e_y * e_y, v * middle.y + 1.0, e_y * middle.x);
            for x in columns.clone() {
                let pixel = y * TILE + x;
                if !front.cmplt(self.depth[pixel]).any() {
                    continue;
                }
                let u = self.slopes_x[x];
                let e_x = u - middle.x;
                let twist = e_x * middle.y - twist_y;
                let dd = u * u + v2;
                let discriminant = dd * r2 - (e_x * e_x + e_y2 + twist * twist) * z2;
                let covered = discriminant.cmpgt(Vec4::ZERO).bitmask();
                if covered != 0 {
                    let depth = ((u * middle.x + along_y) * z - discriminant.max(Vec4::ZERO).sqrt()) / dd;
                    self.put(pixel, id, depth, covered);
                }
            }
        }
    }
}
