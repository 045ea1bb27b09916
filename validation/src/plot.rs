//! Curves of a case.

/// A diagram: curves over common axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What the axes are, with units: along, upwards.
    pub axes: [String; 2],
    /// Whether they are logarithmic.
    pub logarithmic: [bool; 2],
    /// What is drawn, in this order.
    pub curves: Vec<Curve>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// (x, y), in the units of the axes.
    pub points: Vec<[f64; 2]>,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// What we measure, as a line.
    Measured,
    /// What we measure, as dots.
    Dots,
    /// The reference, as a grey line.
    Reference,
    /// The reference, as rings: tables and experiments.
    Rings,
}

impl Plot {
    pub(crate) fn new(along: &str, upwards: &str) -> Self {
        Self { axes: [along.into(), upwards.into()], logarithmic: [false; 2], curves: Vec::new() }
    }

    /// Both axes logarithmic.
    #[must_use]
    pub(crate) fn loglog(self) -> Self {
        Self { logarithmic: [true; 2], ..self }
    }

    /// The axis upwards logarithmic.
    #[must_use]
    pub(crate) fn log_upwards(self) -> Self {
        Self { logarithmic: [false, true], ..self }
    }

    #[must_use]
    pub(crate) fn measured(self, name: &str, points: &[[f64; 2]]) -> Self {
        self.curve(Style::Measured, name, points)
    }

    #[must_use]
    pub(crate) fn dots(self, name: &str, points: &[[f64; 2]]) -> Self {
        self.curve(Style::Dots, name, points)
    }

    #[must_use]
    pub(crate) fn reference(self, name: &str, points: &[[f64; 2]]) -> Self {
        self.curve(Style::Reference, name, points)
    }

    #[must_use]
    pub(crate) fn rings(self, name: &str, points: &[[f64; 2]]) -> Self {
        self.curve(Style::Rings, name, points)
    }

    /// A reference that is the same everywhere between two places.
    #[must_use]
    pub(crate) fn level(self, name: &str, [from, to]: [f64; 2], value: f64) -> Self {
        self.reference(name, &[[from, value], [to, value]])
    }

    fn curve(mut self, style: Style, name: &str, points: &[[f64; 2]]) -> Self {
        self.curves.push(Curve { name: name.into(), style, points: points.to_vec() });
        self
    }
}
