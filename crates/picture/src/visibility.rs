//! Which surface is seen where.
//!
//! The picture is cut into bands of tiles. In each tile, four samples per pixel find the nearest ground, triangle or
//! sphere; samples of a pixel that see the same surface become one [`Fragment`], to be shaded once. Spheres come
//! nearest first, so a tile is done as soon as the next sphere begins behind everything it holds.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::bins::Bins;
use crate::camera::View;
use crate::drawing::{Drawing, Hit};
use crate::ground::Ground;
use crate::tile::{Rect, SAMPLES_X, SAMPLES_Y, TILE, Tile};

/// The backdrop.
pub(crate) const SKY: u32 = 0;
/// The ground.
pub(crate) const GROUND: u32 = 1;
/// The first sphere; triangles follow the last one.
pub(crate) const FIRST: u32 = 2;

/// A surface in a pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fragment {
    /// `SKY`, `GROUND`, or `FIRST` and counting: spheres, then triangles.
    pub(crate) id: u32,
    /// Depth at one of its samples \[m\].
    pub(crate) depth: f32,
    /// Bit s is set when sample s sees it.
    pub(crate) mask: u8,
}

impl Fragment {
    /// The part of the pixel that it covers.
    #[inline]
    pub(crate) fn weight(&self) -> f32 {
        self.mask.count_ones() as f32 * 0.25
    }

    /// The middle of its samples, from the upper left corner of the pixel \[px\].
    #[inline]
    pub(crate) fn middle(&self) -> Vec2 {
        MIDDLES[(self.mask & 15) as usize]
    }
}

static MIDDLES: [Vec2; 16] = middles();

const fn middles() -> [Vec2; 16] {
    let mut table = [Vec2::new(0.5, 0.5); 16];
    let mut mask = 1;
    while mask < 15 {
        let (mut x, mut y, mut count, mut s) = (0.0, 0.0, 0.0, 0);
        while s < 4 {
            if mask >> s & 1 == 1 {
                x += SAMPLES_X[s];
                y += SAMPLES_Y[s];
                count += 1.0;
            }
            s += 1;
        }
        table[mask] = Vec2::new(x / count, y / count);
        mask += 1;
    }
    table
}

/// What one pixel in four sees, for ambient occlusion: every second column and row.
#[derive(Debug, Default)]
pub(crate) struct Coarse {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Depth \[m\], infinite for the backdrop.
    pub(crate) depth: Vec<f32>,
    /// Unit normal in view space.
    pub(crate) normal: Vec<Vec3>,
}

impl Coarse {
    fn reset(&mut self, view: &View) {
        (self.width, self.height) = (view.width.div_ceil(2), view.height.div_ceil(2));
        self.depth.clear();
        self.depth.resize(self.width * self.height, f32::INFINITY);
        self.normal.resize(self.width * self.height, Vec3::ZERO);
    }
}

/// Sixteen rows of the picture: its fragments, pixel by pixel in each tile.
#[derive(Debug, Default)]
pub(crate) struct Band {
    /// Where the fragments of each pixel begin; pixels run through tile after tile.
    starts: Vec<u32>,
    fragments: Vec<Fragment>,
    spheres: Bins,
    triangles: Bins,
}

impl Band {
    /// Where the fragments of sixteen pixels of a row begin, and of the one after them; by column of tiles.
    #[inline]
    pub(crate) fn starts(&self, tile: usize, row: usize) -> &[u32] {
        let first = (tile * TILE + row) * TILE;
        &self.starts[first..=first + TILE]
    }

    /// The fragments of a pixel between two starts.
    #[inline]
    pub(crate) fn between(&self, start: u32, end: u32) -> &[Fragment] {
        &self.fragments[start as usize..end as usize]
    }

    /// The fragments of a pixel, by column in the picture and row in the band.
    #[inline]
    pub(crate) fn pixel(&self, x: usize, row: usize) -> &[Fragment] {
        let pixel = (x / TILE) * TILE * TILE + row * TILE + x % TILE;
        &self.fragments[self.starts[pixel] as usize..self.starts[pixel + 1] as usize]
    }
}

/// The scene that the tiles look at.
pub(crate) struct Scene<'a> {
    pub(crate) drawing: &'a Drawing,
    pub(crate) view: &'a View,
    pub(crate) ground: Option<&'a Ground>,
}

impl Scene<'_> {
    /// The surface point of an id on the ray with these slopes; `None` for the backdrop.
    #[inline]
    pub(crate) fn hit(&self, id: u32, slopes: Vec2) -> Option<Hit> {
        if id < FIRST {
            return self.ground.filter(|_| id == GROUND).map(|ground| ground.hit(slopes));
        }
        let sphere = (id - FIRST) as usize;
        match self.drawing.spheres.get(sphere) {
            Some(sphere) => Some(sphere.hit(slopes)),
            None => self.drawing.triangles.get(sphere - self.drawing.spheres.len()).map(|t| t.hit(slopes)),
        }
    }
}

/// Finds what is seen. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    pub(crate) bands: Vec<Band>,
    pub(crate) coarse: Coarse,
    /// For each tile, whether it holds nothing but ground and backdrop.
    pub(crate) bare: Vec<bool>,
    /// Spheres in the picture, nearest front first: bits of the front's depth above the sphere's number.
    order: Vec<u64>,
    sphere_rects: Vec<Rect>,
    triangle_rects: Vec<Rect>,
    sphere_bins: Bins,
    triangle_bins: Bins,
}

impl Visibility {
    /// Looks at the scene through every sample.
    pub(crate) fn resolve(&mut self, scene: &Scene) {
        self.sort_spheres(scene);
        self.sort_triangles(scene);
        let count = scene.view.height.div_ceil(TILE);
        self.bands.resize_with(count, Band::default);
        self.coarse.reset(scene.view);
        let lists = Lists {
            sphere_rects: &self.sphere_rects,
            triangle_rects: &self.triangle_rects,
            sphere_bins: &self.sphere_bins,
            triangle_bins: &self.triangle_bins,
        };
        let columns = scene.view.width.div_ceil(TILE);
        self.bare.clear();
        self.bare.resize(columns * count, true);
        let rows = self.coarse.width * TILE / 2;
        let coarse = self.coarse.depth.par_chunks_mut(rows).zip(self.coarse.normal.par_chunks_mut(rows));
        let bands = self.bands.par_iter_mut().zip(self.bare.par_chunks_mut(columns));
        bands.zip(coarse).enumerate().for_each(|(i, ((band, bare), (depth, normal)))| {
            let width = scene.view.width.div_ceil(2);
            band.resolve(i, scene, &lists, CoarseRows { width, depth, normal, bare });
        });
    }

    fn sort_spheres(&mut self, scene: &Scene) {
        let view = scene.view;
        self.sphere_rects.clear();
        self.sphere_rects.par_extend(scene.drawing.spheres.par_iter().map(|s| Rect::of_sphere(s, view)));
        self.order.clear();
        self.order.par_extend(self.sphere_rects.par_iter().zip(&scene.drawing.spheres).enumerate().filter_map(
            |(i, (rect, sphere))| {
                let front = (sphere.center.z - sphere.radius).max(0.0);
                (!rect.is_empty()).then_some(u64::from(front.to_bits()) << 32 | i as u64)
            },
        ));
        self.order.par_sort_unstable();
        let rects = &self.sphere_rects;
        let spans = self.order.iter().map(|&key| (key as u32, rects[key as u32 as usize].tile_rows()));
        self.sphere_bins.fill(view.height.div_ceil(TILE), spans);
    }

    fn sort_triangles(&mut self, scene: &Scene) {
        let view = scene.view;
        self.triangle_rects.clear();
        self.triangle_rects
            .par_extend(scene.drawing.triangles.par_iter().map(|t| Rect::of_triangle(&t.vertices, view)));
        let spans = self.triangle_rects.iter().enumerate().map(|(i, rect)| (i as u32, rect.tile_rows()));
        self.triangle_bins.fill(view.height.div_ceil(TILE), spans);
    }
}

/// What lies in which band.
struct Lists<'a> {
    sphere_rects: &'a [Rect],
    triangle_rects: &'a [Rect],
    sphere_bins: &'a Bins,
    triangle_bins: &'a Bins,
}

impl Band {
    fn resolve(&mut self, index: usize, scene: &Scene, lists: &Lists, mut coarse: CoarseRows) {
        let tiles = scene.view.width.div_ceil(TILE);
        let columns = |items: &'_ [u32], rects: &'_ [Rect]| -> Vec<(u32, std::ops::Range<usize>)> {
            items.iter().map(|&i| (i, rects[i as usize].tile_columns())).collect()
        };
        let spheres = columns(lists.sphere_bins.of(index), lists.sphere_rects);
        let triangles = columns(lists.triangle_bins.of(index), lists.triangle_rects);
        self.spheres.fill(tiles, spheres.into_iter());
        self.triangles.fill(tiles, triangles.into_iter());
        self.starts.clear();
        self.fragments.clear();
        let mut tile = Tile::default();
        for column in 0..tiles {
            tile.reset(column * TILE, index * TILE, scene);
            for &i in self.triangles.of(column) {
                let id = FIRST + scene.drawing.spheres.len() as u32 + i;
                tile.draw_triangle(&scene.drawing.triangles[i as usize], id, lists.triangle_rects[i as usize]);
            }
            tile.draw_spheres(self.spheres.of(column), &scene.drawing.spheres, lists.sphere_rects);
            self.keep(&tile);
            coarse.keep(&tile, scene);
        }
        self.starts.push(self.fragments.len() as u32);
    }

    /// Turns the samples of a tile into fragments.
    fn keep(&mut self, tile: &Tile) {
        for (ids, depth) in tile.ids.iter().zip(&tile.depth) {
            self.starts.push(self.fragments.len() as u32);
            let mut left = 15u8;
            while left != 0 {
                let first = left.trailing_zeros() as usize;
                let id = ids[first];
                let same = (0..4).fold(0, |mask, s| mask | u8::from(ids[s] == id) << s) & left;
                self.fragments.push(Fragment { id, depth: depth[first], mask: same });
                left &= !same;
            }
        }
    }
}

/// The coarse rows of a band.
struct CoarseRows<'a> {
    width: usize,
    depth: &'a mut [f32],
    normal: &'a mut [Vec3],
    bare: &'a mut [bool],
}

impl CoarseRows<'_> {
    /// Keeps the first sample of every second pixel of every second row.
    fn keep(&mut self, tile: &Tile, scene: &Scene) {
        self.bare[tile.x / TILE] = tile.ids.iter().all(|ids| ids.iter().all(|id| *id < FIRST));
        let first = tile.x / 2;
        let columns = (self.width - first).min(TILE / 2);
        for row in 0..self.depth.len() / self.width {
            for column in 0..columns {
                let (x, y) = (2 * column, 2 * row);
                let pixel = y * TILE + x;
                let slopes = scene.view.slopes((tile.x + x) as f32 + SAMPLES_X[0], (tile.y + y) as f32 + SAMPLES_Y[0]);
                if let Some(hit) = scene.hit(tile.ids[pixel][0], slopes) {
                    let point = row * self.width + first + column;
                    self.depth[point] = tile.depth[pixel][0];
                    self.normal[point] = hit.normal;
                }
            }
        }
    }
}
