//! The compiled half of the Python package `meniscus`: worlds, frames and records, as thin as they can be. Names and comfort are
//! in `python/meniscus/`.

mod errors;
mod frame;
mod record;
mod source;
mod world;

use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _meniscus {
    #[pymodule_export]
    use crate::errors::{RecordError, SceneError, StepError};
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::record::{Record, run};
    #[pymodule_export]
    use crate::source::{check, scenes};
    #[pymodule_export]
    use crate::world::World;
}
