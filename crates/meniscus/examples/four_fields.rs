//! Draws four fields around a bent surface: the distance, two weighted sums of distances, and an integral over the surface
//! \[MSTHG04 fig. 3\].
//!
//! `cargo run --release -p meniscus --example four_fields -- four-fields.png`

use glam::{DVec2, DVec3};
use meniscus::geometry::quadrature;
use meniscus::picture::{Image, film_strip};
use meniscus::sph::kernel::Kernel;

/// The bent line, in units of h: a concavity, a flat corner made of two pieces, and a convexity.
const LINE: [DVec2; 6] = [
    DVec2::new(-2.4, 0.9),
    DVec2::new(-1.2, -0.5),
    DVec2::new(-0.4, -0.5),
    DVec2::new(0.5, -0.5),
    DVec2::new(1.1, 0.6),
    DVec2::new(2.4, 0.2),
];
/// Width and height of a picture, and how many pixels an h is.
const SIZE: [u32; 2] = [400, 260];
const SCALE: f64 = 80.0;
/// Lines of equal value between 0 and 1.
const LINES: f64 = 10.0;

type Field = fn(DVec2) -> f64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("which file?")?;
    let fields: [Field; 4] = [distance, weighted, normalised, integral];
    let pictures = fields.map(draw);
    std::fs::write(file, film_strip(&pictures, 2).to_png()?)?;
    Ok(())
}

/// Eq. 8: the distance from the nearest piece. Kinks where two are equally near.
fn distance(p: DVec2) -> f64 {
    distances(p).fold(f64::INFINITY, f64::min)
}

/// Eq. 9: Σ d W(d), over its largest value before one piece. Bulges where pieces meet.
fn weighted(p: DVec2) -> f64 {
    let largest = (0..1000).map(|k| f64::from(k) / 1000.0).map(|d| d * weight(d)).fold(0.0, f64::max);
    distances(p).map(|d| d * weight(d)).sum::<f64>() / largest
}

/// Eq. 10: the same over Σ W(d); 1 where that is zero (the paper prints 0).
fn normalised(p: DVec2) -> f64 {
    let sum: f64 = distances(p).map(weight).sum();
    if sum > 0.0 { distances(p).map(|d| d * weight(d)).sum::<f64>() / sum } else { 1.0 }
}

/// Eq. 11 by the Gauss points of triangles: 1 − ∫ W dA, over its value on a plane. Smooth.
fn integral(p: DVec2) -> f64 {
    let mut sum = 0.0;
    for piece in LINE.windows(2) {
        let at = |p: DVec2, z: f64| p.extend(z);
        let [a, b, c, d] = [at(piece[0], -1.0), at(piece[1], -1.0), at(piece[1], 1.0), at(piece[0], 1.0)];
        sum += over_triangle(p, [a, b, c]) + over_triangle(p, [a, c, d]);
    }
    1.0 - sum / plane()
}

fn over_triangle(p: DVec2, corners: [DVec3; 3]) -> f64 {
    let area = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).length();
    let cuts = quadrature::subdivisions(corners, 0.5, 1000);
    let at =
        |sample: quadrature::Sample| sample.weight * Kernel::POLY6.value(sample.at(corners).distance(p.extend(0.0)));
    area * quadrature::subdivided(cuts).map(at).sum::<f64>()
}

/// ∫ W dA over a plane through the point: 2π ∫ W r dr.
fn plane() -> f64 {
    let rings = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0);
    rings.map(|r| std::f64::consts::TAU * Kernel::POLY6.value(r) * r / 1000.0).sum()
}

/// The paper leaves W open: 1 at no distance, 0 with no slope at h.
fn weight(d: f64) -> f64 {
    (1.0 - d * d).max(0.0).powi(2)
}

fn distances(p: DVec2) -> impl Iterator<Item = f64> {
    LINE.windows(2).map(move |piece| {
        let (from, along) = (piece[0], piece[1] - piece[0]);
        let part = ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        p.distance(from + along * part)
    })
}

/// Lines of equal value, and the bent line in blue.
fn draw(field: Field) -> Image {
    let [width, height] = SIZE;
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = |x: f64, y: f64| DVec2::new(x - 0.5 * f64::from(width), 0.5 * f64::from(height) - y) / SCALE;
            let p = at(f64::from(x) + 0.5, f64::from(y) + 0.5);
            pixels.extend(color(field, p).map(|part| (255.0 * part) as u8));
        }
    }
    Image::from_rgb(width, height, pixels).unwrap_or_default()
}

fn color(field: Field, p: DVec2) -> [f64; 3] {
    let from_line = distance(p) * SCALE;
    if from_line < 2.5 {
        return [0.1, 0.3, 0.8];
    }
    let step = 0.25 / SCALE;
    let value = field(p) * LINES;
    let slope = |by: DVec2| (field(p + by) - field(p - by)) * LINES / 0.5;
    let steepness = slope(DVec2::X * step).hypot(slope(DVec2::Y * step)).max(1e-9);
    // Pixels to the nearest line; none where the field has ended.
    let ended = value > LINES - 1e-3 || steepness < 1e-6;
    let pixels = if ended { f64::INFINITY } else { (value - value.round()).abs() / steepness };
    let ink = (1.4 - pixels).clamp(0.0, 1.0);
    let paper = if distance(p) < 1.0 { 0.93 } else { 1.0 };
    [paper, paper, 1.0].map(|part| part * (1.0 - ink) + 0.15 * ink)
}
