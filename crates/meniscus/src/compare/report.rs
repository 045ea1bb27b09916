//! A comparison as words and numbers.

use super::{Column, Comparison, Outcome};
use serde_json::{Value, json};

impl Comparison {
    /// Quantities of the table: those of the first method that ran.
    pub(super) fn quantities(&self) -> &[String] {
        self.outcomes().next().map_or(&[], |(_, outcome)| &outcome.quantities)
    }

    /// Moments of the film strip after the first \[s\].
    fn times(&self) -> Vec<f64> {
        self.outcomes().next().map_or(Vec::new(), |(_, outcome)| outcome.at_moments().map(|row| row[0]).collect())
    }

    pub(super) fn outcomes(&self) -> impl Iterator<Item = (&Column, &Outcome)> {
        self.columns.iter().filter_map(|column| column.outcome.as_ref().ok().map(|outcome| (column, outcome)))
    }

    /// The table as text: means over the last quarter of the time, and where the liquid is at the moments of the film strip.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![format!("{}: means over the last quarter of the time, or at a moment", self.scene)];
        let width = self.quantities().iter().map(|name| name.chars().count()).fold(16, usize::max) + 10;
        let mut line = |name: &str, value: &dyn Fn(&Outcome) -> String| {
            let cells = self.columns.iter().map(|column| column.outcome.as_ref().map_or("–".to_owned(), value));
            lines.push(format!("  {name:width$}{}", cells.map(|cell| format!(" {cell:>14}")).collect::<String>()));
        };
        line("", &|_| String::new());
        for (number, name) in self.quantities().iter().enumerate().skip(1) {
            line(name, &|outcome| short(outcome.settled(number)));
        }
        for (moment, time) in self.times().iter().enumerate() {
            for (number, name) in self.quantities().iter().enumerate().filter(|(_, name)| is_of_liquid(name)) {
                let at = |outcome: &Outcome| {
                    outcome.at_moments().nth(moment).map_or("–".to_owned(), |row| short(row[number]))
                };
                line(&format!("{name} at {time:.2} s"), &at);
            }
        }
        line("steps", &|outcome| outcome.steps.to_string());
        line("ms per step", &|outcome| short(outcome.ms_per_step()));
        line("ms per simulated second", &|outcome| short(outcome.ms_per_second()));
        let names = self.columns.iter().map(|column| format!(" {:>14}", column.method.name()));
        lines[1] = format!("  {:width$}{}", "", names.collect::<String>());
        for column in &self.columns {
            if let Err(reason) = &column.outcome {
                lines.push(format!("  {} cannot: {reason}", column.method.name()));
            }
        }
        lines.join("\n") + "\n"
    }

    /// All rows of all methods.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = format!("method,{}\n", self.quantities().join(","));
        for (column, outcome) in self.outcomes() {
            for row in &outcome.rows {
                let values: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
                text += &format!("{},{}\n", column.method.name(), values.join(","));
            }
        }
        text
    }

    /// One document: per method its means, its pace, or why it cannot.
    #[must_use]
    pub fn json(&self) -> Value {
        let column = |column: &Column| match &column.outcome {
            Err(reason) => json!({ "method": column.method.name(), "ran": false, "reason": reason }),
            Ok(outcome) => {
                let names = outcome.quantities.iter().enumerate().skip(1);
                let means: serde_json::Map<_, _> =
                    names.map(|(number, name)| (name.clone(), outcome.settled(number).into())).collect();
                let of_row = |row: &Vec<f64>| -> Value {
                    let named = outcome.quantities.iter().cloned().zip(row.iter().map(|&value| Value::from(value)));
                    named.collect::<serde_json::Map<_, _>>().into()
                };
                json!({
                    "method": column.method.name(),
                    "ran": true,
                    "simulated_seconds": outcome.seconds(),
                    "steps": outcome.steps,
                    "ms_per_step": outcome.ms_per_step(),
                    "ms_per_simulated_second": outcome.ms_per_second(),
                    "means": means,
                    "moments": outcome.at_moments().map(of_row).collect::<Vec<_>>(),
                    "warnings": outcome.warnings,
                })
            }
        };
        json!({ "scene": self.scene, "methods": self.columns.iter().map(column).collect::<Vec<_>>() })
    }
}

/// Whether a quantity tells where the liquid is, which changes from moment to moment.
fn is_of_liquid(name: &str) -> bool {
    name.starts_with("front") || name.ends_with(".level [m]")
}

fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) { format!("{value:.4}") } else { format!("{value:.3e}") }
}
