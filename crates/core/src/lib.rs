//! The words that every room of Meniscus shares.
//!
//! * [`Frame`]: a read-only copy of the world at one instant, what files, pictures and the viewer see.
//! * [`Camera`] and [`Style`]: how a picture of it looks, as plain data.
//! * [`StepReport`]: the named, timed stages of one step. Stage names are the lines of a method's algorithm box.
//! * [`StepError`]: where a step went wrong: stage, body, index.
//! * [`Wrench`]: force and torque.
//! * [`Digest`]: a fingerprint of the state in id order; equal digests mean equal bits.
//! * [`kernel`]: smoothing kernels as polynomials.
//! * [`par`]: loops and sums over threads whose bits do not depend on the number of threads.
//!
//! ```
//! use meniscus_core::{Digest, StepReport};
//!
//! let mut report = StepReport::default();
//! let sum = report.stage("add up", || (1..=4).sum::<u32>());
//! assert_eq!((sum, report.stages()[0].name), (10, "add up"));
//! assert_ne!(Digest::default().u64(1).finish(), Digest::default().u64(2).finish());
//! ```

mod digest;
mod error;
mod frame;
pub mod kernel;
mod look;
pub mod par;
mod report;
mod wrench;

pub use digest::{Digest, checksum};
pub use error::{Fault, StepError};
pub use frame::{BodyInfo, BodyKind, Foam, FoamKind, Frame, Particles, Surface, Tets, Wall, WallShape, Wire};
pub use look::{Camera, Coloring, Liquids, Look, Material, Pattern, Quality, Solids, Style, Theme, Walls};
pub use report::{Stage, StepReport};
pub use wrench::Wrench;
