//! What the colours mean, how large the grid is, and what time it is.

use glam::Vec2;

use crate::Image;
use crate::coloring::Paint;
use crate::ground::Ground;
use crate::pen::{Align, LINE, Pen};
use crate::studio::Studio;
use crate::style::label_scale;
use meniscus_core::{Pattern, Style};

/// Everything that is written onto a picture.
pub(crate) struct Legend<'a> {
    pub(crate) style: &'a Style,
    pub(crate) paint: &'a Paint,
    pub(crate) studio: &'a Studio,
    pub(crate) ground: Option<&'a Ground>,
    /// Simulated time \[s\].
    pub(crate) time: f64,
}

/// Free border round the labels, and sizes of text and bar \[px\] in a picture 720 pixels high.
const BORDER: f32 = 28.0;
const TEXT: f32 = 11.0;
const BAR: Vec2 = Vec2::new(200.0, 9.0);

/// Writes the simulated time \[s\] onto a picture.
pub(crate) fn write_clock(image: &mut Image, time: f64, style: &Style, studio: &Studio) {
    let scale = label_scale(style);
    let mut pen = Pen { image, ink: studio.ink, paper: studio.paper, size: TEXT * scale };
    pen.write(&time_label(time), Vec2::new(BORDER * scale, (BORDER + TEXT) * scale), Align::Left);
}

impl Legend<'_> {
    /// Writes onto a picture what the style asks for.
    pub(crate) fn draw(&self, image: &mut Image) {
        let scale = label_scale(self.style);
        let size = Vec2::new(image.width() as f32, image.height() as f32);
        let mut pen = Pen { image, ink: self.studio.ink, paper: self.studio.paper, size: TEXT * scale };
        if self.style.legend {
            self.draw_scale(&mut pen, Vec2::new(BORDER * scale, size.y - BORDER * scale), scale);
            self.draw_grid_size(&mut pen, size - BORDER * scale);
        }
        if self.style.clock {
            write_clock(image, self.time, self.style, self.studio);
        }
    }

    /// The colour bar with its numbers; `corner` is the lower left one \[px\].
    fn draw_scale(&self, pen: &mut Pen, corner: Vec2, scale: f32) {
        let Some([low, high]) = self.paint.scale() else { return };
        let (name, unit) = self.paint.title();
        let (unit, factor) = prefixed(unit, low.abs().max(high.abs()));
        let (line, bar) = (LINE * pen.size, (BAR * scale).round());
        let top = (corner.y - line - bar.y).round();
        pen.bar(Vec2::new(corner.x.round(), top), bar, |part| self.paint.shade(part));
        pen.write(&format!("{name} [{unit}]"), Vec2::new(corner.x, top - 0.55 * line), Align::Left);
        for (part, align) in [(0.0, Align::Left), (0.5, Align::Center), (1.0, Align::Right)] {
            let value = f64::from(low) + (f64::from(high) - f64::from(low)) * f64::from(part);
            pen.write(&number(value * factor), Vec2::new(corner.x + part * bar.x, corner.y), align);
        }
    }

    /// The distance between grid lines; `corner` is the lower right one \[px\].
    fn draw_grid_size(&self, pen: &mut Pen, corner: Vec2) {
        let ruled = self.style.pattern != Pattern::Plain;
        if let Some(ground) = self.ground.filter(|_| ruled) {
            pen.write(&format!("grid {}", length(f64::from(ground.step))), corner, Align::Right);
        }
    }
}

/// A time \[s\] as it is written onto pictures.
pub(crate) fn time_label(seconds: f64) -> String {
    // Hundredths of a second tell nothing of a splash.
    if seconds > 0.0 && seconds < 0.015 {
        format!("t = {:.1} ms", 1e3 * seconds)
    } else {
        format!("t = {seconds:.2} s")
    }
}

/// A larger unit for large pressures, and what to multiply values with.
fn prefixed(unit: &'static str, largest: f32) -> (&'static str, f64) {
    match unit {
        "Pa" if largest >= 1e6 => ("MPa", 1e-6),
        "Pa" if largest >= 1e4 => ("kPa", 1e-3),
        other => (other, 1.0),
    }
}

/// A length \[m\] in the unit that makes it short.
fn length(metres: f64) -> String {
    let (unit, factor) = match metres {
        m if m >= 1000.0 => ("km", 1e-3),
        m if m >= 1.0 => ("m", 1.0),
        m if m >= 0.01 => ("cm", 100.0),
        m if m >= 0.001 => ("mm", 1000.0),
        _ => ("µm", 1e6),
    };
    format!("{} {unit}", number(metres * factor))
}

/// A number in at most five digits, without idle zeros.
fn number(value: f64) -> String {
    let size = value.abs();
    if !(1e-4..1e6).contains(&size) && size != 0.0 {
        return format!("{value:.1e}").replace('-', "−");
    }
    let decimals = match size {
        s if s >= 1000.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 0.1 => 3,
        _ => 5,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (2.0, "2"), (0.75, "0.75"), (-0.5, "−0.5"), (1000.0, "1000"), (997.5, "997.5")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!((number(f64::from(0.3f32)), number(2.5e7)), ("0.3".into(), "2.5e7".into()));
    }

    #[test]
    fn lengths_and_pressures_take_fitting_units() {
        assert_eq!((length(0.2), length(0.005), length(2.0)), ("20 cm".into(), "5 mm".into(), "2 m".into()));
        assert_eq!((length(f64::from(0.1f32)), length(5000.0)), ("10 cm".into(), "5 km".into()));
        assert_eq!(
            (prefixed("Pa", 2e4), prefixed("Pa", 20.0), prefixed("m/s", 1e9)),
            (("kPa", 1e-3), ("Pa", 1.0), ("m/s", 1.0))
        );
        assert_eq!(time_label(0.4567), "t = 0.46 s");
        assert_eq!(time_label(0.0), "t = 0.00 s");
        assert_eq!(time_label(0.002_25), "t = 2.2 ms");
    }
}
