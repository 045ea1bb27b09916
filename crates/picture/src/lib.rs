//! Pictures of a [`Frame`](meniscus_core::Frame), drawn on the CPU: no GPU, no system package, the same pixels on every
//! run and at any number of threads.

mod bounds;
mod camera;
mod color;
mod coloring;
mod error;
mod image;
mod style;

pub use bounds::Bounds;
pub use camera::Camera;
pub use coloring::automatic_range;
pub use error::PictureError;
pub use image::Image;
pub use style::{Coloring, Pattern, Style, Theme, Walls};
