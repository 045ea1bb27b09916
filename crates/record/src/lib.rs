//! What a run leaves on disk, and how it leaves the house.
//!
//! * [`RunFolder`]: the folder of a run: run.json, scene, frames, checkpoints, probes, commands, pictures.
//! * [`encode_frame`], [`decode_frame`]: a [`Frame`](meniscus_core::Frame) as compressed, checksummed bytes, bit for bit.
//! * [`encode_checkpoint`], [`decode_checkpoint`]: the whole state of a run, from which it continues.
//! * [`ProbeWriter`], [`CommandWriter`]: rows that survive a kill.
//! * [`export`]: VTK and PLY files for other programs.
//! * [`write_atomic`]: whole files or none.
//!
//! Nothing here trusts a file: whatever its bytes are, reading gives a value or a [`RecordError`] that says what is wrong,
//! and takes no more memory than the bytes can justify.
//!
//! A run writes run.json and a first checkpoint, then frames, rows and further checkpoints. When it is killed, the next
//! program finds the newest sound checkpoint, takes the folder back to it, and goes on:
//!
//! ```
//! use meniscus_core::Frame;
//! use meniscus_record::{CheckpointHeader, RunFolder, RunInfo};
//!
//! # fn main() -> meniscus_record::Result<()> {
//! # let out = tempfile::tempdir().unwrap();
//! let run = RunFolder::create(out.path(), "dam-break")?;
//! run.write_info(&RunInfo::start("dam-break", "dfsph"))?;
//! run.write_scene("method = \"dfsph\"\n")?;
//! let mut probes = run.probe_writer(&["time [s]", "water/level [m]"])?;
//! for number in 0..5 {
//!     let time = f64::from(number) / 30.0;
//!     run.write_frame(&Frame { number, time, ..Frame::default() })?;
//!     probes.write(&[time, 1.0])?;
//!     if number % 2 == 0 {
//!         let header = CheckpointHeader { frame: number, time, probes_rows: probes.rows(), ..Default::default() };
//!         run.write_checkpoint(&header, b"the state")?;
//!     }
//! }
//!
//! let run = RunFolder::open(run.dir())?;
//! let search = run.checkpoint_at_or_before(3)?;
//! assert!(search.skipped.is_empty());
//! let checkpoint = search.found.unwrap();
//! assert_eq!(checkpoint.payload, b"the state");
//! run.rewind_to(&checkpoint.header)?;
//! assert_eq!(run.frame_numbers()?, [0, 1, 2]);
//! assert_eq!(run.probe_writer(&["time [s]", "water/level [m]"])?.rows(), 3);
//! # Ok(())
//! # }
//! ```

mod atomic;
mod checkpoint;
mod envelope;
mod error;
pub mod export;
mod faults;
mod frame;
mod rows;
mod run;

pub use atomic::write_atomic;
pub use checkpoint::{CHECKPOINT_FORMAT, Checkpoint, CheckpointHeader, decode_checkpoint, encode_checkpoint};
pub use error::{FileKind, PROGRAM_VERSION, RecordError, Result, Skipped};
#[doc(hidden)]
pub use faults::fail_after;
pub use frame::{FRAME_FORMAT, FrameFault, decode_frame, encode_frame};
pub use rows::{CommandWriter, ProbeTable, ProbeWriter, read_commands, read_probes};
pub use run::{
    Branch, CheckpointSearch, RUN_FORMAT, RunFailure, RunFolder, RunInfo, RunLock, RunStatus, StageTiming, rfc3339_utc,
};
