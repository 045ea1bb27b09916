//! Results as a picture: cost of an item in a step against the size, a line for each case and number of threads. Both axes are
//! logarithmic: where cost grows as the number of items does, the line is level.

use super::Measurement;
use std::fmt::Write;

/// Width and height of the picture, and of the room at its left and right, top and bottom.
const SIZE: [f64; 2] = [720.0, 420.0];
const LEFT_RIGHT: [f64; 2] = [70.0, 20.0];
const TOP_BOTTOM: [f64; 2] = [20.0, 55.0];
const COLORS: [&str; 6] = ["#c0392b", "#2471a3", "#229954", "#b9770e", "#7d3c98", "#566573"];

/// The picture as SVG.
pub(super) fn svg(results: &[Measurement]) -> String {
    let [width, height] = SIZE;
    let lines = results.chunk_by(|a, b| a.case == b.case);
    let x = Axis::around(results.iter().map(|m| m.size as f64), [LEFT_RIGHT[0], width - LEFT_RIGHT[1]]);
    let y = Axis::around(results.iter().map(|m| m.ns_per_item_step), [height - TOP_BOTTOM[1], TOP_BOTTOM[0]]);
    let [left, right, bottom, top] = [x.ends[0], x.ends[1], y.ends[0], y.ends[1]];
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Cost of an item in a step against the size</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    // Writing to a string cannot fail.
    for tick in x.ticks() {
        let at = x.place(tick);
        let _ = writeln!(
            text,
            "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 18.0
        );
    }
    for tick in y.ticks() {
        let at = y.place(tick);
        let _ = writeln!(
            text,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            left - 8.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">size n</text>\
         <text transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">ns per item and step</text>",
        0.5 * (left + right),
        height - 12.0,
        0.5 * (top + bottom)
    );
    let mut number = 0;
    for case in lines {
        for threads in [1, 2] {
            let points: Vec<&Measurement> = case.iter().filter(|m| m.threads == threads).collect();
            let Some(first) = points.first() else { continue };
            let color = COLORS[number % COLORS.len()];
            let positions = points.iter().map(|m| (x.place(m.size as f64), y.place(m.ns_per_item_step)));
            let along: Vec<String> = positions.clone().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
                 <text x=\"{}\" y=\"{}\" fill=\"{color}\">{}, {threads} thread{}</text>",
                along.join(" "),
                left + 20.0,
                top + 20.0 + 18.0 * number as f64,
                first.case,
                if threads == 1 { "" } else { "s" },
            );
            for (x, y) in positions {
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\"/>");
            }
            number += 1;
        }
    }
    text + "</svg>\n"
}

/// A logarithmic axis.
struct Axis {
    /// The smallest and the largest value.
    range: [f64; 2],
    /// Where they are in the picture.
    ends: [f64; 2],
}

impl Axis {
    /// An axis that holds all values, with room on both sides.
    fn around(values: impl Iterator<Item = f64>, ends: [f64; 2]) -> Self {
        let [low, high] = values.fold([f64::INFINITY, 0.0], |[low, high], value| [value.min(low), value.max(high)]);
        let range = if low <= high && low > 0.0 { [0.5 * low, 2.0 * high] } else { [1.0, 10.0] };
        Self { range, ends }
    }

    fn place(&self, value: f64) -> f64 {
        let [low, high] = self.range.map(f64::ln);
        let share = (value.ln() - low) / (high - low);
        self.ends[0] + share * (self.ends[1] - self.ends[0])
    }

    /// 1, 2 and 5 times powers of ten within the range.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let [low, high] = self.range;
        let decades = low.log10().floor() as i32..=high.log10().floor() as i32;
        let ticks = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade)));
        ticks.filter(move |tick| (low..=high).contains(tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(size: usize, threads: usize, ns: f64) -> Measurement {
        Measurement {
            case: "a/b".into(),
            size,
            threads,
            ns_per_item_step: ns,
            items: 1,
            steps: 1,
            rounds: 1,
            least_ns_per_item_step: ns,
            peak_rss_mb: 0.0,
            ms_per_frame: None,
            error: None,
            stages: Vec::new(),
        }
    }

    #[test]
    fn a_plot_has_every_point_inside() {
        let results =
            [measured(25, 1, 900.0), measured(25, 2, 500.0), measured(400, 1, 1000.0), measured(400, 2, 600.0)];
        let svg = svg(&results);
        assert_eq!(svg.matches("<circle").count(), 4);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a/b, 2 threads") && svg.contains(">100<"), "{svg}");
        for part in svg.split("cx=\"").skip(1) {
            let x: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((70.0..=700.0).contains(&x), "{x}");
        }
        assert!(super::svg(&[]).contains("</svg>"));
    }
}
