//! Pictures of a [`Frame`](meniscus_core::Frame), drawn on the CPU: no GPU, no system package, the same pixels on every
//! run and at any number of threads.
//!
//! [`render`] takes a frame, a [`Camera`] and a [`Style`] and gives an [`Image`]; a [`Renderer`] does the same again and
//! again without asking for new memory.
//!
//! ```
//! use glam::Vec3;
//! use meniscus_core::{Frame, Particles};
//! use meniscus_picture::{Camera, Style, render};
//!
//! let particles = Particles {
//!     positions: vec![Vec3::ZERO, Vec3::X],
//!     velocities: vec![Vec3::ZERO, Vec3::Y],
//!     spacing: 1.0,
//!     ..Particles::default()
//! };
//! let frame = Frame { particles, ..Frame::default() };
//! let style = Style { width: 320, height: 180, ..Style::default() };
//! let picture = render(&frame, &Camera::default(), &style)?;
//! assert!(picture.to_png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), meniscus_picture::PictureError>(())
//! ```
//!
//! A [`Tracer`] takes its time and follows paths of light: pictures for the eye, of bodies with a [`Look`].
//!
//! In a film nothing must jump: [`settled_camera`] and [`settled_style`] fix view, colours and ground to what suits
//! all of its frames. [`GifWriter`] turns pictures into an animated GIF, [`film_strip`] into a row for a page.
//!
//! # How a picture is made
//!
//! 1. *set up*: eye, lights, ground, and the range of the colours.
//! 2. *collect*: particles, surfaces and wires are brought into view space, coloured, and left out when they are garbage.
//! 3. *cast shadows*: the scene as the key light and the sky see it.
//! 4. *resolve visibility*: four samples per pixel find the nearest sphere (a true ray–sphere intersection), triangle or ground.
//! 5. *estimate occlusion*: how much of the sky each fourth pixel sees.
//! 6. *shade*: light of each surface in each pixel, in linear light, tone-mapped; glass and outlines over it.
//! 7. *average down*, when the picture is supersampled; then *label*.
//!
//! Every stage is cut into bands of the picture that do not depend on each other, so threads cannot change a bit.

mod bins;
mod bounds;
mod camera;
mod color;
mod coloring;
mod cut;
mod drawing;
mod error;
mod film;
mod font;
mod glass;
mod ground;
mod image;
mod legend;
mod lines;
#[cfg(feature = "mp4")]
mod mp4;
mod normals;
mod occlusion;
mod palette;
mod pen;
mod penumbra;
mod renderer;
mod shade;
mod shadow;
mod strip;
mod studio;
mod style;
mod tile;
mod trace;
mod visibility;
mod water;
mod y4m;

pub use bounds::Bounds;
pub use camera::{Standpoint, framing, settled_camera, standpoint};
pub use coloring::automatic_range;
pub use error::PictureError;
pub use film::GifWriter;
pub use image::Image;
pub use meniscus_core::{Camera, Coloring, Look, Material, Pattern, Quality, Solids, Style, Theme, Walls};
#[cfg(feature = "mp4")]
pub use mp4::Mp4Writer;
pub use renderer::{Renderer, render};
pub use strip::{captioned, film_strip, worded};
pub use style::settled_style;
pub use trace::Tracer;
pub use y4m::Y4mWriter;
