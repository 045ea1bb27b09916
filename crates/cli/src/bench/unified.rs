//! Liquid and solids as one system of particles: the gallery's ducks, frame by frame, over the time in which something happens.

use super::{Case, particles};

/// `size` is in thousands of particles.
pub(super) const SINKS: Case = Case {
    name: "unified/duck-sinks",
    sizes: &[22],
    measure: |case, at| particles::gallery_scene(case, at, "duck-sinks", [0, 40]),
};

pub(super) const FLOATS: Case = Case {
    name: "unified/duck-floats",
    sizes: &[22],
    measure: |case, at| particles::gallery_scene(case, at, "duck-floats", [0, 60]),
};

pub(super) const STREAM: Case = Case {
    name: "unified/duck-stream",
    sizes: &[8],
    measure: |case, at| particles::gallery_scene(case, at, "duck-stream", [0, 50]),
};
