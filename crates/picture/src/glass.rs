//! Clear walls and clear water: a light tint over what is behind, stronger at grazing angles.

use glam::{Vec3, Vec4};
use meniscus_core::{Frame, Surface};

use crate::bins::Bins;
use crate::bounds::is_usable;
use crate::camera::View;
use crate::color::{Light, tone};
use crate::coloring::is_liquid;
use crate::drawing::{Hit, Material, Triangle};
use crate::shade::Canvas;
use crate::studio::Studio;
use crate::tile::{Rect, SAMPLES_X, SAMPLES_Y, TILE};
use crate::visibility::Fragment;

/// Tint of a pane looked at straight on, and what grazing adds.
const STRAIGHT: f32 = 0.035;
const GRAZING: f32 = 0.32;
/// The same for a surface of clear water.
const WATER_STRAIGHT: f32 = 0.13;
const WATER_GRAZING: f32 = 0.6;
/// The colour of deep clear water (linear).
const BLUE: Light = Light::new(0.06, 0.42, 0.95);
/// A pane this much nearer, as a part of its depth, is in front: panes on the ground are not torn.
const TOLERANCE: f32 = 1e-4;
/// Cosine of the angle between faces above which their edge is drawn, 40 degrees.
const SHARP: f32 = 0.766;
/// Particles looked at to tell a tank from an obstacle.
const SAMPLES: usize = 512;

/// Whether a wall would hide what it holds: it is turned inside out (the solid is around it), or its box contains
/// half of the particles.
pub(crate) fn is_glass(surface: &Surface, particles: &[Vec3]) -> bool {
    let points = surface.positions.iter().copied().filter(|p| is_usable(*p));
    let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
    if !low.cmple(high).all() {
        return false;
    }
    let stride = particles.len().div_ceil(SAMPLES).max(1);
    let sample = particles.iter().step_by(stride).filter(|p| is_usable(**p));
    let (inside, all) = sample
        .fold((0, 0), |(inside, all), p| (inside + usize::from(p.cmpge(low).all() && p.cmple(high).all()), all + 1));
    (all > 0 && 2 * inside >= all) || volume(surface, (low + high) * 0.5) < 0.0
}

/// Where there is liquid: the vertices of its surface, beside which particles are only spray, or its particles.
pub(crate) fn liquid_positions(frame: &Frame) -> &[Vec3] {
    frame.surfaces.iter().find(|s| is_liquid(frame, s.body)).map_or(&frame.particles.positions, |s| &s.positions)
}

/// Signed volume of the cones from `apex` to the triangles \[m³\].
fn volume(surface: &Surface, apex: Vec3) -> f64 {
    let corner = |v: u32| surface.positions.get(v as usize).copied().filter(|p| is_usable(*p)).map(|p| p - apex);
    let cone = |[a, b, c]: [u32; 3]| Some(f64::from(corner(a)?.dot(corner(b)?.cross(corner(c)?))));
    surface.triangles.iter().filter_map(|t| cone(*t)).sum::<f64>() / 6.0
}

/// Edges where a surface ends or bends sharply, as pairs of end points \[m\]: glass is known by its edges.
pub(crate) fn sharp_edges(surface: &Surface) -> Vec<[Vec3; 2]> {
    let point = |v: u32| surface.positions.get(v as usize).copied().filter(|p| is_usable(*p));
    let mut sides: Vec<([u32; 2], Vec3)> = Vec::with_capacity(3 * surface.triangles.len());
    for &[a, b, c] in &surface.triangles {
        let (Some(p), Some(q), Some(r)) = (point(a), point(b), point(c)) else { continue };
        let Some(normal) = (q - p).cross(r - p).try_normalize() else { continue };
        sides.extend([[a, b], [b, c], [c, a]].map(|[v, w]| ([v.min(w), v.max(w)], normal)));
    }
    // Stable: sides of the same edge keep the order of their triangles.
    sides.sort_by_key(|(edge, _)| *edge);
    let sharp = |side: &&[([u32; 2], Vec3)]| match side {
        [(_, n), (_, m)] => n.dot(*m) < SHARP,
        _ => true,
    };
    let edges = sides.chunk_by(|a, b| a.0 == b.0).filter(sharp).filter_map(|side| side.first());
    edges.filter_map(|([a, b], _)| Some([point(*a)?, point(*b)?])).collect()
}

/// Where panes lie in the picture. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Glass {
    rects: Vec<Rect>,
    bins: Bins,
}

impl Glass {
    /// Finds the bands that panes touch.
    pub(crate) fn sort(&mut self, panes: &[Triangle], view: &View) {
        self.rects.clear();
        self.rects.extend(panes.iter().map(|t| Rect::of_triangle(&t.vertices, view)));
        let spans = self.rects.iter().enumerate().map(|(i, rect)| (i as u32, rect.tile_rows()));
        self.bins.fill(view.height.div_ceil(TILE), spans);
    }

    /// Lays the panes of a band over it, farthest first.
    pub(crate) fn draw(&self, index: usize, panes: &[Triangle], studio: &Studio, canvas: &mut Canvas) {
        for &i in self.bins.of(index) {
            draw_pane(&panes[i as usize], self.rects[i as usize], studio, canvas);
        }
    }
}

fn draw_pane(pane: &Triangle, rect: Rect, studio: &Studio, canvas: &mut Canvas) {
    let glass = pane.albedo[0] * 0.35 + studio.glass * 0.65;
    let rows = (rect.y[0] as usize).max(canvas.top)..(rect.y[1] as usize).min(canvas.top + canvas.rows);
    for y in rows {
        for x in rect.x[0] as usize..rect.x[1] as usize {
            let covered = cover(pane, x, y, canvas.view);
            if covered == 0 {
                continue;
            }
            let slopes = canvas.view.slopes(x as f32 + 0.5, y as f32 + 0.5);
            let depth = 1.0 / pane.plane.dot(slopes.extend(1.0));
            let part = seen_part(canvas.band.pixel(x, y - canvas.top), covered, depth);
            let light = &mut canvas.light[(y - canvas.top) * canvas.view.width + x];
            let hit = pane.hit(slopes);
            let away = 1.0 - (hit.normal.dot(-hit.point) / hit.point.length().max(1e-30)).clamp(0.0, 1.0);
            let grazing = away * away * away;
            let (color, tint) = match pane.material {
                Material::Satin => (glass, STRAIGHT + GRAZING * grazing),
                Material::Water => {
                    (tone(studio.body(&tinted(hit), 1.0, 1.0)), WATER_STRAIGHT + WATER_GRAZING * grazing)
                }
            };
            *light += (color - *light) * (part * tint);
        }
    }
}

/// Clear water takes half of its colour from its depth, which is blue.
fn tinted(hit: Hit) -> Hit {
    Hit { albedo: (hit.albedo + BLUE) * 0.5, ..hit }
}

/// Samples of a pixel that a pane covers, as bits.
pub(crate) fn cover(pane: &Triangle, x: usize, y: usize, view: &View) -> u8 {
    let corner = view.slopes(x as f32, y as f32);
    let (u, v) = (corner.x + Vec4::from(SAMPLES_X) / view.focal, corner.y - Vec4::from(SAMPLES_Y) / view.focal);
    let inside = |e: Vec3| (u * e.x + v * e.y + e.z).cmpge(Vec4::ZERO).bitmask();
    let front = (u * pane.plane.x + v * pane.plane.y + pane.plane.z).cmpgt(Vec4::ZERO).bitmask();
    pane.edges.into_iter().fold(front, |mask, e| mask & inside(e)) as u8
}

/// The part of the pixel in which a pane is in front.
fn seen_part(fragments: &[Fragment], covered: u8, depth: f32) -> f32 {
    let in_front = |f: &&Fragment| depth * (1.0 - TOLERANCE) < f.depth;
    fragments.iter().filter(in_front).map(|f| (f.mask & covered).count_ones()).sum::<u32>() as f32 * 0.25
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, BodyKind};

    fn cube(inside_out: bool) -> Surface {
        let positions = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let mut triangles: Vec<[u32; 3]> = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        if inside_out {
            triangles.iter_mut().for_each(|t| t.swap(0, 1));
        }
        Surface { positions, triangles, ..Surface::default() }
    }

    #[test]
    fn tanks_are_glass_and_obstacles_are_not() {
        let far = [Vec3::splat(5.0); 10];
        assert!((volume(&cube(false), Vec3::splat(0.5)) - 1.0).abs() < 1e-6);
        assert!(!is_glass(&cube(false), &far));
        assert!(is_glass(&cube(true), &far));
        assert!(is_glass(&cube(false), &[Vec3::splat(0.5); 10]));
        assert!(!is_glass(&Surface::default(), &far));
    }

    /// A drop that has come off inside of an obstacle's box does not make it a tank: the liquid is elsewhere.
    #[test]
    fn spray_is_not_what_a_tank_holds() {
        let body = |kind| BodyInfo { name: String::new(), kind, color: [0.5; 3] };
        let water = Surface { body: 1, positions: vec![Vec3::splat(5.0); 3], ..Surface::default() };
        let mut frame = Frame { bodies: vec![body(BodyKind::Wall), body(BodyKind::Liquid)], ..Frame::default() };
        frame.particles.positions = vec![Vec3::splat(0.5)];
        assert!(is_glass(&cube(false), liquid_positions(&frame)));
        frame.surfaces = vec![cube(false), water];
        assert!(!is_glass(&cube(false), liquid_positions(&frame)));
    }

    #[test]
    fn edges_of_a_cube_are_twelve() {
        let mut surface = cube(true);
        assert_eq!(sharp_edges(&surface).len(), 12);
        // Without the top, whose four edges stay as a rim; indices out of range are left out.
        surface.triangles.retain(|t| !t.iter().all(|v| v & 2 == 2));
        surface.triangles.push([0, 1, 99]);
        assert_eq!(sharp_edges(&surface).len(), 12);
    }
}
