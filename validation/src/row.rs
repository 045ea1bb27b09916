//! One line of the table: a measured quantity, what it is compared with, and whether it holds.

use crate::plot::Plot;
use serde::Serialize;

/// One quantity compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// What is compared, with its unit.
    pub quantity: String,
    /// The reference; zero for a bound.
    pub reference: f64,
    /// What we measure.
    pub measured: f64,
    /// The error, in the unit of the tolerance.
    pub error: f64,
    /// The largest error allowed.
    pub tolerance: f64,
    /// Where the tolerance comes from.
    pub bound: Bound,
    /// Whether it holds.
    pub pass: bool,
    /// Curves that it was measured from, for the figure of its case.
    #[serde(skip)]
    pub plots: Vec<Plot>,
}

/// Where a tolerance comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Asked for before anything was measured.
    Asked,
    /// Set after measuring: it keeps what was reached.
    Guard,
}

impl Bound {
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Guard => "guard",
        }
    }
}

impl Row {
    /// The tolerance was asked for before anything was measured; unless a row says so, it is a guard.
    #[must_use]
    pub(crate) fn asked(self) -> Self {
        Self { bound: Bound::Asked, ..self }
    }

    /// Adds curves to the figure of the case.
    #[must_use]
    pub(crate) fn with(mut self, plot: Plot) -> Self {
        self.plots.push(plot);
        self
    }
}

/// A value that must be near a reference; the tolerance is relative.
pub(crate) fn compare(case: &str, quantity: &str, reference: f64, measured: f64, tolerance: f64) -> Row {
    row(case, quantity, [reference, measured], (measured / reference - 1.0).abs(), tolerance)
}

/// A case that could not be run.
pub(crate) fn failed(case: &str, error: &str) -> Vec<Row> {
    vec![row(case, error, [0.0, f64::NAN], f64::NAN, 0.0)]
}

/// A value that must not exceed a bound.
pub(crate) fn bound(case: &str, quantity: &str, measured: f64, most: f64) -> Row {
    row(case, quantity, [0.0, measured], measured.abs(), most)
}

/// A value that must reach a least one: the error is what it lacks.
pub(crate) fn at_least(case: &str, quantity: &str, measured: f64, least: f64) -> Row {
    let lacking = if measured >= least { 0.0 } else { least - measured };
    row(case, quantity, [least, measured], lacking, 0.0)
}

/// A value that may depart from a reference by an amount.
pub(crate) fn absolute(case: &str, quantity: &str, [reference, measured]: [f64; 2], amount: f64) -> Row {
    row(case, quantity, [reference, measured], (measured - reference).abs(), amount)
}

pub(crate) fn row(case: &str, quantity: &str, [reference, measured]: [f64; 2], error: f64, tolerance: f64) -> Row {
    // A NaN does not pass.
    let pass = error <= tolerance;
    let (case, quantity) = (case.into(), quantity.into());
    Row { case, quantity, reference, measured, error, tolerance, bound: Bound::Guard, pass, plots: Vec::new() }
}
