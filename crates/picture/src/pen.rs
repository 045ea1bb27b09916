//! Labels: text and bars drawn onto a finished picture.

use glam::Vec2;

use crate::Image;
use crate::color::{Encoder, Light, linear_of_bytes};
use crate::font::{CAPITAL, DESCENT, Glyph, set};

/// Where a text stands relative to its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// Writes onto a picture in one colour, over a faint halo in another.
pub(crate) struct Pen<'a> {
    pub(crate) image: &'a mut Image,
    pub(crate) ink: Light,
    pub(crate) paper: Light,
    /// Height of capitals \[px\].
    pub(crate) size: f32,
}

impl Pen<'_> {
    /// Writes a text with its base line at `anchor` \[px\].
    pub(crate) fn write(&mut self, text: &str, anchor: Vec2, align: Align) {
        let unit = self.size / CAPITAL;
        let (letters, width) = set(text);
        let shift = match align {
            Align::Left => 0.0,
            Align::Center => 0.5,
            Align::Right => 1.0,
        };
        let left = anchor.x - shift * width * unit;
        // Thin at small sizes, so that counters stay open; never thinner than a pixel.
        let half = (0.062 * self.size).max(0.5);
        for (color, opacity, half) in [(self.paper, 0.55, half + 0.16 * self.size), (self.ink, 1.0, half)] {
            for (x, glyph) in &letters {
                let brush = Brush { origin: Vec2::new(left + x * unit, anchor.y), unit, half };
                brush.draw(glyph, self.image, color, opacity);
            }
        }
    }

    /// Fills a rectangle from `corner` of a size \[px\], whole pixels; the colour changes along it, 0..1.
    pub(crate) fn bar(&mut self, corner: Vec2, size: Vec2, color: impl Fn(f32) -> Light) {
        let encoder = Encoder::new();
        let (left, top) = (corner.x.max(0.0) as u32, corner.y.max(0.0) as u32);
        let (columns, rows) = (size.x.max(1.0) as u32, size.y.max(1.0) as u32);
        for x in 0..columns {
            let bytes = encoder.bytes(color((x as f32 + 0.5) / columns as f32));
            for y in 0..rows {
                if let Some(pixel) = pixel_mut(self.image, left + x, top + y) {
                    *pixel = bytes;
                }
            }
        }
    }
}

fn pixel_mut(image: &mut Image, x: u32, y: u32) -> Option<&mut [u8; 3]> {
    let (width, height) = (image.width(), image.height());
    let index = y as usize * width as usize + x as usize;
    if x < width && y < height { image.pixels_mut().get_mut(index) } else { None }
}

/// Draws a glyph with its origin at a point of the picture.
struct Brush {
    origin: Vec2,
    /// Pixels per unit of the font.
    unit: f32,
    /// Half of the width of a stroke \[px\].
    half: f32,
}

impl Brush {
    fn draw(&self, glyph: &Glyph, image: &mut Image, color: Light, opacity: f32) {
        let position = |p: Vec2| self.origin + Vec2::new(p.x, -p.y) * self.unit;
        let strokes: Vec<[Vec2; 2]> = glyph.strokes.iter().map(|ends| ends.map(position)).collect();
        let reach = self.half + 1.0;
        let low = strokes.iter().flatten().fold(Vec2::INFINITY, |a, p| a.min(*p)) - reach;
        let high = strokes.iter().flatten().fold(Vec2::NEG_INFINITY, |a, p| a.max(*p)) + reach;
        let encoder = Encoder::new();
        for y in low.y.max(0.0) as u32..high.y.max(0.0) as u32 + 1 {
            for x in low.x.max(0.0) as u32..high.x.max(0.0) as u32 + 1 {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let away = strokes.iter().map(|s| distance(p, s)).fold(f32::INFINITY, f32::min);
                let cover = (self.half + 0.5 - away).clamp(0.0, 1.0) * opacity;
                if let Some(pixel) = pixel_mut(image, x, y).filter(|_| cover > 0.0) {
                    let light = linear_of_bytes(*pixel);
                    *pixel = encoder.bytes(light + (color - light) * cover);
                }
            }
        }
    }
}

fn distance(p: Vec2, [a, b]: &[Vec2; 2]) -> f32 {
    let (offset, along) = (p - *a, *b - *a);
    let t = (offset.dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
    (offset - along * t).length()
}

/// Height of a line of text, with room for descenders, over the height of capitals.
pub(crate) const LINE: f32 = (CAPITAL - DESCENT + 3.0) / CAPITAL;

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_columns(text: &str, align: Align) -> Vec<u32> {
        let mut image = Image::filled(100, 40, [255; 3]);
        let mut pen = Pen { image: &mut image, ink: Light::ZERO, paper: Light::ONE, size: 14.0 };
        pen.write(text, Vec2::new(50.0, 30.0), align);
        (0..100).filter(|&x| (0..40).any(|y| image.pixel(x, y).is_some_and(|p| p[0] < 100))).collect()
    }

    #[test]
    fn text_stands_where_it_should() {
        assert!(dark_columns("12", Align::Left).iter().all(|x| (49..80).contains(x)));
        assert!(dark_columns("12", Align::Right).iter().all(|x| (20..52).contains(x)));
        let center = dark_columns("OO", Align::Center);
        assert!((center.first().unwrap() + center.last().unwrap()).abs_diff(99) <= 2);
        assert!(dark_columns("", Align::Left).is_empty() && dark_columns(" ", Align::Left).is_empty());
    }

    #[test]
    fn drawing_beyond_the_border_is_harmless() {
        let mut image = Image::filled(8, 8, [255; 3]);
        let mut pen = Pen { image: &mut image, ink: Light::ZERO, paper: Light::ONE, size: 20.0 };
        pen.write("beyond", Vec2::new(-30.0, 4.0), Align::Left);
        pen.write("beyond", Vec2::new(4.0, 500.0), Align::Center);
        pen.bar(Vec2::new(5.0, 5.0), Vec2::new(50.0, 50.0), |_| Light::ZERO);
        assert_eq!(image.pixel(7, 7), Some([0; 3]));
    }
}
