//! Whole states on disk, from which a run continues bit for bit.
//!
//! A checkpoint is an envelope (magic, version, length, checksum) round the version of the program that made it, a
//! small header, and the state as the simulation serialised it. The state is not touched here: whether it may be
//! loaded depends on the program version, which must have the same first two numbers (0.1.3 loads what 0.1.0 saved,
//! 0.2.0 does not).

use crate::envelope::{Envelope, Reader, push_short_text};
use crate::error::{FileKind, PROGRAM_VERSION, RecordError, Result};

/// Version of the checkpoint format that this program writes and reads.
pub const CHECKPOINT_FORMAT: u32 = 1;

const ENVELOPE: Envelope =
    Envelope { kind: FileKind::Checkpoint, magic: *b"\x89MNC\r\n\x1a\n", version: CHECKPOINT_FORMAT };

/// Where in the run a checkpoint was taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckpointHeader {
    /// The last frame written before it; resuming writes the next one.
    pub frame: u32,
    /// Steps taken.
    pub step: u64,
    /// Simulated time \[s\].
    pub time: f64,
    /// Rows in probes.csv, without the header row.
    pub probes_rows: u64,
    /// Rows in commands.jsonl.
    pub commands_rows: u64,
    /// Fingerprint of the scene that the state belongs to; at most 255 bytes are kept.
    pub scene_digest: String,
}

/// A checkpoint that was read from a run folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Where in the run it was taken.
    pub header: CheckpointHeader,
    /// The state, as it was given.
    pub payload: Vec<u8>,
}

/// A state as the bytes of a checkpoint file.
#[must_use]
pub fn encode_checkpoint(header: &CheckpointHeader, payload: &[u8]) -> Vec<u8> {
    encode_for_program(PROGRAM_VERSION, header, payload)
}

fn encode_for_program(program: &str, header: &CheckpointHeader, payload: &[u8]) -> Vec<u8> {
    let mut bytes = ENVELOPE.begin();
    bytes.reserve(payload.len() + 512);
    push_short_text(&mut bytes, program);
    bytes.extend(header.frame.to_le_bytes());
    bytes.extend(header.step.to_le_bytes());
    bytes.extend(header.time.to_bits().to_le_bytes());
    bytes.extend(header.probes_rows.to_le_bytes());
    bytes.extend(header.commands_rows.to_le_bytes());
    push_short_text(&mut bytes, &header.scene_digest);
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(payload);
    Envelope::seal(bytes)
}

/// The header and the state in the bytes of a checkpoint file.
///
/// # Errors
/// [`RecordError::NotThisKind`], [`RecordError::OtherFormat`], [`RecordError::OtherProgram`],
/// [`RecordError::Truncated`] or [`RecordError::Corrupt`].
pub fn decode_checkpoint(bytes: &[u8]) -> Result<(CheckpointHeader, &[u8])> {
    let mut reader = ENVELOPE.open(bytes)?;
    let program = reader.short_text()?;
    if !is_compatible(program) {
        return Err(RecordError::OtherProgram { found: program.into() });
    }
    let header = read_header(&mut reader)?;
    let length = reader.u64()?;
    let payload = reader.bytes(length)?;
    reader.finish()?;
    Ok((header, payload))
}

fn read_header(reader: &mut Reader) -> Result<CheckpointHeader> {
    Ok(CheckpointHeader {
        frame: reader.u32()?,
        step: reader.u64()?,
        time: f64::from_bits(reader.u64()?),
        probes_rows: reader.u64()?,
        commands_rows: reader.u64()?,
        scene_digest: reader.short_text()?.into(),
    })
}

/// States are exchanged within a minor version: patch releases do not change them.
fn is_compatible(program: &str) -> bool {
    let minor = |version: &str| version.splitn(3, '.').take(2).map(String::from).collect::<Vec<_>>();
    minor(program) == minor(PROGRAM_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            frame in any::<u32>(), step in any::<u64>(), time in any::<f64>(), rows in any::<[u64; 2]>(),
            scene_digest in "[0-9a-f]{0,32}", payload in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let header = CheckpointHeader {
                frame, step, time, probes_rows: rows[0], commands_rows: rows[1], scene_digest,
            };
            let bytes = encode_checkpoint(&header, &payload);
            let (back, state) = decode_checkpoint(&bytes).unwrap();
            prop_assert_eq!(back.time.to_bits(), time.to_bits());
            prop_assert_eq!(CheckpointHeader { time, ..back }, header);
            prop_assert_eq!(state, &payload[..]);
        }
    }

    #[test]
    fn the_errors_say_which_version_and_what_to_do() {
        let header = CheckpointHeader::default();
        let patch = format!("{}.99", PROGRAM_VERSION.rsplit_once('.').unwrap().0);
        assert!(decode_checkpoint(&encode_for_program(&patch, &header, b"state")).is_ok());
        let error = decode_checkpoint(&encode_for_program("77.3.1", &header, b"state")).unwrap_err();
        assert!(matches!(error, RecordError::OtherProgram { .. }));
        assert!(error.to_string().contains("resume with Meniscus 77.3.1"), "{error}");

        let mut newer = encode_checkpoint(&header, b"state");
        newer[8] = 2;
        let error = decode_checkpoint(&newer).unwrap_err();
        assert!(matches!(error, RecordError::OtherFormat { found: 2, supported: 1, .. }), "{error}");
        let frame = crate::encode_frame(&meniscus_core::Frame::default());
        assert!(matches!(decode_checkpoint(&frame), Err(RecordError::NotThisKind { .. })));
    }
}
