//! Liquids meet deformable, rigid and animated solids.
//!
//! This is the library that programs depend on; it gathers the rooms of Meniscus and adds the loop that writes records.
//!
//! ```
//! use meniscus::gallery;
//! use meniscus::sim::World;
//!
//! // A gallery scene, coarser than it comes, and its first half second.
//! let scene = gallery::load("dam-break", &["resolution=0.05".into()])?;
//! let mut world = World::new(&scene)?;
//! while world.time() < 0.5 {
//!     world.step(0.5)?;
//! }
//! let frame = world.frame();
//! let front = frame.particles.positions.iter().map(|p| p.x).fold(0.0, f32::max);
//! assert!(front > 1.2, "the water has run {front} m");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`scene`]: what a scene file says. [`gallery`]: scenes by name.
//! * [`sim`]: worlds. [`sph`]: the liquid. [`fem`]: deformable solids. [`rigid`]: rigid bodies. [`particles`]: bodies of particles.
//!   [`twophase`]: air and water on a grid.
//! * [`record`]: frames, checkpoints, exporters on disk. [`picture`]: pictures of frames.
//! * [`surface`]: surfaces of liquids. [`run()`], [`resume()`], [`render()`]: from a scene to a folder of results. [`compare`]: the
//!   same scene by several methods.

mod album;
mod branch;
mod commands;
pub mod compare;
mod fields;
mod film;
mod forecast;
mod froth;
#[doc(hidden)]
pub mod fuzz;
pub mod gallery;
mod log;
mod movie;
mod recorder;
mod run;
mod shell;
mod surfaces;
mod usd;

pub use album::render_album;
pub use branch::branch;
pub use commands::read_log;
pub use fields::export_fields;
pub use film::{Film, Rendered, render, render_strip};
pub use forecast::{Forecast, forecast};
pub use log::LogFormat;
pub use meniscus_boundary as boundary;
pub use meniscus_core as core;
pub use meniscus_elastic as elastic;
pub use meniscus_fem as fem;
pub use meniscus_geometry as geometry;
pub use meniscus_particles as particles;
pub use meniscus_picture as picture;
pub use meniscus_record as record;
pub use meniscus_rigid as rigid;
pub use meniscus_scene as scene;
pub use meniscus_sim as sim;
pub use meniscus_sph as sph;
pub use meniscus_surface as surface;
pub use meniscus_twophase as twophase;
pub use movie::{Movie, render_frame, write_movie};
pub use run::{Event, RunError, RunOptions, Summary, check_memory, resume, run};
pub use shell::shell_word;
pub use surfaces::{dressed, write_surfaces};
pub use usd::{export_glb, export_sequence, export_usd};
