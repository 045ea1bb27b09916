//! The figure of a case as an SVG file: its curves, then its rows as errors over their tolerances.

use crate::plot::{Curve, Plot, Style};
use crate::row::{Bound, Row};
use std::fmt::Write as _;

/// Width of a figure, in pixels as all lengths here.
const WIDTH: f64 = 680.0;
/// Left, right, top and bottom of a diagram's frame within its part of the figure.
const FRAME: [f64; 4] = [76.0, WIDTH - 16.0, 10.0, 250.0];
/// Height of a line of the legend, and of a row.
const LINE: f64 = 18.0;
/// Where the scale of the rows begins and ends.
const SCALE: [f64; 2] = [430.0, 600.0];
/// Errors over tolerances at the ends of that scale.
const RATIOS: [f64; 2] = [1e-3, 10.0];
/// A line has at most so many points: more are not seen, and files stay small.
const POINTS: usize = 160;
/// Most characters of a row's text.
const LETTERS: usize = 66;

const COLOURS: [&str; 6] = ["#1f5fa8", "#c8502d", "#2f8a57", "#8a4fa3", "#b98a12", "#3b8f9c"];
const GREY: &str = "#777";

/// The figure of a case.
pub fn figure(case: &str, rows: &[Row]) -> String {
    let mut body = String::new();
    let mut top = 30.0;
    for plot in rows.iter().flat_map(|row| &row.plots) {
        top += diagram(&mut body, plot, top);
    }
    top += table(&mut body, rows, top);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top:.0}\" width=\"{WIDTH}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}{body}</svg>\n",
        text([12.0, 19.0], "start", &format!("{case}: measured against reference"), "font-weight=\"bold\"")
    )
}

/// Draws a diagram below `top`; returns its height.
fn diagram(body: &mut String, plot: &Plot, top: f64) -> f64 {
    let [left, right, up, down] = FRAME;
    let (up, down) = (top + up, top + down);
    let scales = [0, 1].map(|axis| Scale::of(plot, axis, if axis == 0 { [left, right] } else { [down, up] }));
    let [width, height] = [right - left, down - up];
    let _ = writeln!(
        body,
        "<rect x=\"{left}\" y=\"{up}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"{GREY}\"/>"
    );
    for tick in scales[0].ticks() {
        let x = scales[0].place(tick);
        let _ = writeln!(body, "<path d=\"M{x:.1} {down}v-{height}\" stroke=\"#e4e4e4\"/>");
        *body += &text([x, down + 15.0], "middle", &number(tick), "");
    }
    for tick in scales[1].ticks() {
        let y = scales[1].place(tick);
        let _ = writeln!(body, "<path d=\"M{left} {y:.1}h{width}\" stroke=\"#e4e4e4\"/>");
        *body += &text([left - 6.0, y + 4.0], "end", &number(tick), "");
    }
    *body += &text([0.5 * (left + right), down + 32.0], "middle", &plot.axes[0], "");
    let middle = 0.5 * (up + down);
    *body += &text([16.0, middle], "middle", &plot.axes[1], &format!("transform=\"rotate(-90 16 {middle})\""));
    let mut colours = COLOURS.iter().cycle();
    let mut legend = [left, down + 52.0];
    for curve in &plot.curves {
        let ours = matches!(curve.style, Style::Measured | Style::Dots);
        let colour: &str = if ours { colours.next().unwrap_or(&GREY) } else { GREY };
        draw(body, curve, &scales, colour);
        legend = entry(body, legend, curve, colour);
    }
    legend[1] + LINE - top
}

/// An entry of the legend; where the next begins.
fn entry(body: &mut String, [mut x, mut y]: [f64; 2], curve: &Curve, colour: &str) -> [f64; 2] {
    let width = 42.0 + 6.6 * curve.name.chars().count() as f64;
    if x + width > FRAME[1] && x > FRAME[0] {
        (x, y) = (FRAME[0], y + LINE);
    }
    let ends = [[x, y - 4.0], [x + 24.0, y - 4.0]];
    mark(body, curve.style, if is_line(curve.style) { &ends } else { &ends[..1] }, colour);
    *body += &text([x + 30.0, y], "start", &curve.name, "");
    [x + width, y]
}

const fn is_line(style: Style) -> bool {
    matches!(style, Style::Measured | Style::Reference)
}

fn draw(body: &mut String, curve: &Curve, scales: &[Scale; 2], colour: &str) {
    let seen: Vec<[f64; 2]> =
        curve.points.iter().copied().filter(|point| scales[0].has(point[0]) && scales[1].has(point[1])).collect();
    let stride = seen.len().div_ceil(POINTS).max(1);
    let last = seen.len().saturating_sub(1);
    let kept = seen.iter().enumerate().filter(|(k, _)| k % stride == 0 || *k == last);
    let positions: Vec<[f64; 2]> = kept.map(|(_, point)| [0, 1].map(|axis| scales[axis].place(point[axis]))).collect();
    mark(body, curve.style, &positions, colour);
}

/// A line or marks at positions.
fn mark(body: &mut String, style: Style, positions: &[[f64; 2]], colour: &str) {
    if is_line(style) {
        let points: Vec<String> = positions.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let width = if style == Style::Reference { 3.0 } else { 1.5 };
        let opacity = if style == Style::Reference { 0.5 } else { 1.0 };
        let _ = writeln!(
            body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-opacity=\"{opacity}\"/>",
            points.join(" ")
        );
        return;
    }
    let (fill, radius) = if style == Style::Dots { (colour, 3.0) } else { ("none", 4.0) };
    let _ = write!(body, "<g fill=\"{fill}\" stroke=\"{colour}\">");
    for [x, y] in positions {
        let _ = write!(body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }
    *body += "</g>\n";
}

/// The rows: error over tolerance, on a logarithmic scale that ends at ten. Returns the height.
fn table(body: &mut String, rows: &[Row], top: f64) -> f64 {
    let along = |ratio: f64| {
        let part = (ratio.max(RATIOS[0]) / RATIOS[0]).log10() / (RATIOS[1] / RATIOS[0]).log10();
        SCALE[0] + (SCALE[1] - SCALE[0]) * part.min(1.0)
    };
    *body += &text(
        [12.0, top + 16.0],
        "start",
        "error over tolerance (full: asked, open: guard)",
        &format!("fill=\"{GREY}\""),
    );
    for (ratio, name) in [(1e-3, "≤ 0.001"), (1e-2, "0.01"), (0.1, "0.1"), (1.0, "1")] {
        *body += &text([along(ratio), top + 16.0], "middle", name, &format!("fill=\"{GREY}\""));
    }
    let height = LINE * rows.len() as f64;
    let (first, allowed) = (top + 22.0, along(1.0));
    let _ = writeln!(body, "<path d=\"M{allowed} {first}v{height}\" stroke=\"#c00\"/>");
    for (k, row) in rows.iter().enumerate() {
        let y = first + LINE * (k as f64 + 0.5);
        let ratio = if row.error == 0.0 { 0.0 } else { row.error / row.tolerance };
        let x = if ratio.is_nan() { SCALE[1] } else { along(ratio) };
        let colour = if row.pass { COLOURS[0] } else { "#c00" };
        let style = if row.bound == Bound::Asked { Style::Dots } else { Style::Rings };
        *body += &text([12.0, y + 4.0], "start", &clip(&row.quantity), "font-size=\"11\"");
        let _ = writeln!(body, "<path d=\"M{} {y}H{x:.1}\" stroke=\"{colour}\" stroke-opacity=\"0.4\"/>", SCALE[0]);
        mark(body, style, &[[x, y]], colour);
        *body += &text([WIDTH - 12.0, y + 4.0], "end", &number(row.measured), "font-size=\"11\"");
    }
    height + 36.0
}

fn clip(quantity: &str) -> String {
    if quantity.chars().count() <= LETTERS {
        return quantity.into();
    }
    quantity.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// Values of an axis and the pixels of its ends.
struct Scale {
    values: [f64; 2],
    pixels: [f64; 2],
    logarithmic: bool,
}

impl Scale {
    /// As wide as what is drawn, with a little room.
    fn of(plot: &Plot, axis: usize, pixels: [f64; 2]) -> Self {
        let logarithmic = plot.logarithmic[axis];
        let scaled = |value: f64| if logarithmic { value.log10() } else { value };
        let points = plot.curves.iter().flat_map(|curve| &curve.points);
        let drawn = points.map(|point| scaled(point[axis])).filter(|value| value.is_finite());
        let [low, high] = drawn.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]);
        let [low, high] = if low <= high { [low, high] } else { [0.0, 1.0] };
        let room = if high > low { 0.04 * (high - low) } else { 0.1 * high.abs().max(1e-9) };
        Self { values: [low - room, high + room], pixels, logarithmic }
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.log10() } else { value }
    }

    fn has(&self, value: f64) -> bool {
        self.scaled(value).is_finite()
    }

    fn place(&self, value: f64) -> f64 {
        let part = (self.scaled(value) - self.values[0]) / (self.values[1] - self.values[0]);
        self.pixels[0] + (self.pixels[1] - self.pixels[0]) * part
    }

    /// Round values along the axis.
    fn ticks(&self) -> Vec<f64> {
        let [low, high] = self.values;
        if self.logarithmic {
            let every = ((high - low) / 6.0).ceil().max(1.0) as usize;
            let decades = (low.floor() as i32..=high.ceil() as i32).step_by(every).map(|k| 10f64.powi(k));
            let found: Vec<f64> = decades.filter(|tick| (low..=high).contains(&tick.log10())).collect();
            let halves = [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powf(low.floor()));
            let fine = halves.into_iter().chain(halves.map(|tick| 10.0 * tick));
            return if found.len() > 1 { found } else { fine.filter(|t| (low..=high).contains(&t.log10())).collect() };
        }
        let rough = (high - low) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (low / step).ceil() as i64;
        (first..first + 12).map(|k| k as f64 * step).take_while(|tick| *tick <= high).collect()
    }
}

/// Four digits at most.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e5).contains(&size) {
        let digits = if size == 0.0 { 0 } else { (3 - size.log10().floor() as i32).clamp(0, 6) as usize };
        let text = format!("{value:.digits$}");
        let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return short.into();
    }
    let text = format!("{value:.2e}");
    text.replace(".00e", "e").replace("0e", "e")
}

fn text([x, y]: [f64; 2], anchor: &str, words: &str, more: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{words}</text>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::bound;

    #[test]
    fn curves_that_are_empty_or_not_finite_are_drawn_around() {
        let plot = Plot::new("t [s]", "x <m>").measured("a & b", &[[0.0, f64::NAN], [1.0, 2.0]]).rings("none", &[]);
        let svg = figure("case", &[bound("case", "nothing", f64::NAN, 1.0).with(plot.clone()).with(plot.loglog())]);
        assert!(svg.contains("a &amp; b") && svg.contains("x &lt;m&gt;") && !svg.contains("NaN,"), "{svg}");
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }

    #[test]
    fn long_curves_are_thinned() {
        let points: Vec<[f64; 2]> = (0..100_000).map(|k| [f64::from(k), f64::from(k % 7)]).collect();
        let svg = figure("case", &[bound("case", "much", 0.5, 1.0).with(Plot::new("x", "y").measured("y", &points))]);
        assert!(svg.len() < 8000, "{}", svg.len());
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.25, 1234.5678, 17_850.0, 1e-10, 3.0, 1e5].map(number);
        assert_eq!(texts, ["0", "0.25", "1235", "17850", "1e-10", "3", "1e5"]);
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale { values: [0.0, 1.0], pixels: [0.0, 100.0], logarithmic: false };
        assert_eq!(scale.ticks().len(), 6);
        let scale = Scale { values: [-3.2, 1.1], pixels: [0.0, 100.0], logarithmic: true };
        assert_eq!(scale.ticks(), [1e-3, 1e-2, 0.1, 1.0, 10.0]);
    }
}
