//! Main quantities of all methods over time, over each other, as SVG: a panel each.

use super::Comparison;
use std::fmt::Write;

/// Size of a panel, and the room at its left and below \[px\].
const PANEL: [f64; 2] = [420.0, 220.0];
const LEFT: f64 = 62.0;
const BELOW: f64 = 34.0;
const ABOVE: f64 = 28.0;
const COLUMNS: usize = 2;
const COLORS: [&str; 4] = ["#c0392b", "#2471a3", "#229954", "#7d3c98"];
/// Strokes and gaps of the lines: where methods agree, all are seen.
const DASHES: [&str; 4] = ["none", "7 5", "2 4", "12 3 2 3"];

/// The plot.
pub(super) fn svg(comparison: &Comparison) -> String {
    let quantities = comparison.quantities();
    let panels = quantities.len().saturating_sub(1);
    let rows = panels.div_ceil(COLUMNS).max(1);
    let [width, height] = [COLUMNS as f64 * PANEL[0], rows as f64 * PANEL[1] + ABOVE];
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{} by several methods</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n",
        comparison.scene
    );
    // Writing to a string cannot fail.
    for (number, (column, _)) in comparison.outcomes().enumerate() {
        let (x, color) = (LEFT + 110.0 * number as f64, COLORS[number % COLORS.len()]);
        let _ = writeln!(text, "<text x=\"{x}\" y=\"18\" fill=\"{color}\">{}</text>", column.method.name());
    }
    for number in 1..=panels {
        let cell = [(number - 1) % COLUMNS, (number - 1) / COLUMNS];
        let corner = [cell[0] as f64 * PANEL[0] + LEFT, cell[1] as f64 * PANEL[1] + ABOVE + 22.0];
        panel(&mut text, comparison, number, corner);
    }
    text + "</svg>\n"
}

/// One quantity of all methods over time, its upper left corner at a position.
fn panel(text: &mut String, comparison: &Comparison, number: usize, [left, top]: [f64; 2]) {
    let [width, height] = [PANEL[0] - LEFT - 16.0, PANEL[1] - BELOW - 22.0];
    let values = || comparison.outcomes().flat_map(|(_, outcome)| outcome.rows.iter().map(move |row| row[number]));
    let [low, high] = ends(values());
    let end = comparison.outcomes().map(|(_, outcome)| outcome.seconds()).fold(1e-9, f64::max);
    let point =
        |time: f64, value: f64| [left + width * time / end, top + height * (1.0 - (value - low) / (high - low))];
    let name = &comparison.quantities()[number];
    let [beside, above, first, last, right, below] =
        [left - 6.0, top - 6.0, top + 10.0, top + height, left + width, top + height + 15.0];
    let _ = writeln!(
        text,
        "<text x=\"{left}\" y=\"{above:.1}\">{name}</text>\
         <rect x=\"{left}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" stroke=\"#bbb\"/>\
         <text x=\"{beside:.1}\" y=\"{first:.1}\" text-anchor=\"end\">{high:.3}</text>\
         <text x=\"{beside:.1}\" y=\"{last:.1}\" text-anchor=\"end\">{low:.3}</text>\
         <text x=\"{right:.1}\" y=\"{below:.1}\" text-anchor=\"end\">{end:.2} s</text>",
    );
    for (k, (_, outcome)) in comparison.outcomes().enumerate() {
        let points: Vec<String> =
            outcome.rows.iter().map(|row| point(row[0], row[number])).map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let (color, dashes) = (COLORS[k % COLORS.len()], DASHES[k % DASHES.len()]);
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\"/>",
            points.join(" ")
        );
    }
}

/// A range that holds all values, and is one.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] = values
        .filter(|v| v.is_finite())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [value.min(low), value.max(high)]);
    let room = 0.05 * (high - low);
    if low < high {
        [low - room, high + room]
    } else if low == high {
        [low - 1.0, low + 1.0]
    } else {
        [0.0, 1.0]
    }
}
