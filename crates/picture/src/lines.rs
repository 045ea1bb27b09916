//! Outlines: lines of constant width on the screen, fainter where something is in front of them.

use glam::Vec2;

use crate::bins::Bins;
use crate::camera::View;
use crate::color::Light;
use crate::drawing::Segment;
use crate::shade::Canvas;
use crate::studio::Studio;
use crate::tile::TILE;
use crate::visibility::Fragment;

/// Opacity in sight and hidden.
const IN_SIGHT: f32 = 0.92;
const HIDDEN: f32 = 0.17;
/// A line this much nearer, as a part of its depth, is in front: edges of a body win over its faces.
const TOLERANCE: f32 = 2e-3;

/// A segment on the screen.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// End points \[px\].
    ends: [Vec2; 2],
    /// One over the depth at the ends, linear in between \[1/m\].
    inverse_depth: [f32; 2],
    color: Light,
}

/// All outlines of a picture. Reused from picture to picture.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Line>,
    bins: Bins,
    half_width: f32,
}

impl Lines {
    /// Projects segments, to be drawn `width` \[px\] wide.
    pub(crate) fn project(&mut self, segments: &[Segment], view: &View, studio: &Studio, width: f32) {
        self.half_width = 0.5 * if width.is_finite() { width.clamp(0.0, 64.0) } else { 1.0 };
        self.lines.clear();
        let visible = |s: &Segment| Segment { color: studio.visible(s.color), ..*s };
        self.lines.extend(segments.iter().filter_map(|s| Line::new(&visible(s), view)));
        let reach = self.half_width + 1.0;
        let spans = self.lines.iter().enumerate().map(|(i, line)| {
            let [a, b] = line.ends;
            let (low, high) = (a.y.min(b.y) - reach, a.y.max(b.y) + reach);
            let end = if high < 0.0 { 0 } else { high as usize / TILE + 1 };
            (i as u32, low.max(0.0) as usize / TILE..end)
        });
        self.bins.fill(view.height.div_ceil(TILE), spans);
    }

    /// Draws the lines of a band over it.
    pub(crate) fn draw(&self, index: usize, canvas: &mut Canvas) {
        for &i in self.bins.of(index) {
            for row in 0..canvas.rows {
                self.lines[i as usize].draw_row(row, self.half_width, canvas);
            }
        }
    }
}

impl Line {
    /// The part of a segment near the picture; `None` when there is none.
    fn new(segment: &Segment, view: &View) -> Option<Self> {
        let ends = segment.ends.map(|p| view.pixel(p.truncate() / p.z));
        let inverse_depth = segment.ends.map(|p| 1.0 / p.z);
        let line = Self { ends, inverse_depth, color: segment.color };
        let usable = ends.iter().all(|p| p.is_finite()) && inverse_depth.iter().all(|d| d.is_finite());
        // Ends far outside would cost precision: cut to a frame around the picture.
        let margin = 64.0;
        let high = Vec2::new(view.width as f32, view.height as f32) + margin;
        usable.then_some(line)?.cut(0, -margin, high.x)?.cut(1, -margin, high.y)
    }

    /// The part with coordinate `axis` between two values.
    fn cut(self, axis: usize, low: f32, high: f32) -> Option<Self> {
        let (a, b) = (self.ends[0][axis], self.ends[1][axis]);
        let reach = |at: f32| if a == b { 0.0 } else { (at - a) / (b - a) };
        if a.max(b) < low || a.min(b) > high {
            return None;
        }
        let start = if a < low {
            reach(low)
        } else if a > high {
            reach(high)
        } else {
            0.0
        };
        let end = if b < low {
            reach(low)
        } else if b > high {
            reach(high)
        } else {
            1.0
        };
        let point = |t: f32| self.ends[0] + (self.ends[1] - self.ends[0]) * t;
        Some(Self {
            ends: [point(start), point(end)],
            inverse_depth: [self.inverse_at(start), self.inverse_at(end)],
            ..self
        })
    }

    fn inverse_at(&self, t: f32) -> f32 {
        self.inverse_depth[0] + (self.inverse_depth[1] - self.inverse_depth[0]) * t
    }

    fn draw_row(&self, row: usize, half_width: f32, canvas: &mut Canvas) {
        let y = (canvas.top + row) as f32 + 0.5;
        let reach = half_width + 1.0;
        let Some(near) = self.cut(1, y - reach, y + reach) else { return };
        let (left, right) = (near.ends[0].x.min(near.ends[1].x), near.ends[0].x.max(near.ends[1].x));
        let columns =
            (left - reach).max(0.0) as usize..((right + reach + 1.0).max(0.0) as usize).min(canvas.view.width);
        let along = self.ends[1] - self.ends[0];
        let scale = 1.0 / along.length_squared().max(1e-12);
        for x in columns {
            let offset = Vec2::new(x as f32 + 0.5, y) - self.ends[0];
            let t = (offset.dot(along) * scale).clamp(0.0, 1.0);
            let cover = half_width + 0.5 - (offset - along * t).length();
            if cover <= 0.0 {
                continue;
            }
            let depth = 1.0 / self.inverse_at(t);
            let opacity = opacity(canvas.band.pixel(x, row), depth) * cover.min(1.0).min(2.0 * half_width);
            let light = &mut canvas.light[row * canvas.view.width + x];
            *light += (self.color - *light) * opacity;
        }
    }
}

fn opacity(fragments: &[Fragment], depth: f32) -> f32 {
    let of = |f: &Fragment| if depth * (1.0 - TOLERANCE) < f.depth { IN_SIGHT } else { HIDDEN };
    fragments.iter().map(|f| of(f) * f.weight()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_keeps_the_line_and_its_depth() {
        let ends = [Vec2::new(-100.0, 0.0), Vec2::new(100.0, 50.0)];
        let line = Line { ends, inverse_depth: [1.0, 2.0], color: Light::ONE };
        let part = line.cut(0, 0.0, 50.0).unwrap();
        assert_eq!(part.ends, [Vec2::new(0.0, 25.0), Vec2::new(50.0, 37.5)]);
        assert_eq!(part.inverse_depth, [1.5, 1.75]);
        assert!(line.cut(1, 60.0, 70.0).is_none());
    }
}
