//! Files that are cut, flipped, mutated or made to lie: always an error, never a panic nor a mountain of memory.

mod scenery;

use meniscus_core::checksum;
use meniscus_record::{
    CheckpointHeader, FileKind, RecordError, decode_checkpoint, decode_frame, encode_checkpoint, encode_frame,
};
use scenery::{Random, tiny};

fn small_checkpoint() -> Vec<u8> {
    let header = CheckpointHeader { frame: 3, step: 12, scene_digest: "abc".into(), ..Default::default() };
    encode_checkpoint(&header, b"some state that is worth keeping")
}

/// Writes length and checksum anew, so that what lies between them is what the parser meets.
fn fix_up(bytes: &mut Vec<u8>) {
    if bytes.len() < 28 {
        bytes.resize(28, 0);
    }
    let length = bytes.len();
    bytes[12..20].copy_from_slice(&(length as u64).to_le_bytes());
    let sum = checksum(&bytes[..length - 8]);
    bytes[length - 8..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn every_truncation_is_told() {
    let (frame, checkpoint) = (encode_frame(&tiny(1)), small_checkpoint());
    for end in 0..frame.len() {
        assert!(matches!(decode_frame(&frame[..end]), Err(RecordError::Truncated { .. })), "frame cut at {end}");
    }
    for end in 0..checkpoint.len() {
        let result = decode_checkpoint(&checkpoint[..end]);
        assert!(matches!(result, Err(RecordError::Truncated { .. })), "checkpoint cut at {end}");
    }
}

#[test]
fn every_truncation_is_told_even_with_a_good_checksum() {
    let (frame, checkpoint) = (encode_frame(&tiny(1)), small_checkpoint());
    for end in 28..frame.len() {
        let mut cut = frame[..end].to_vec();
        fix_up(&mut cut);
        assert!(decode_frame(&cut).is_err(), "frame cut at {end}");
    }
    for end in 28..checkpoint.len() {
        let mut cut = checkpoint[..end].to_vec();
        fix_up(&mut cut);
        assert!(decode_checkpoint(&cut).is_err(), "checkpoint cut at {end}");
    }
}

#[test]
fn every_flipped_bit_is_told() {
    let (mut frame, mut checkpoint) = (encode_frame(&tiny(1)), small_checkpoint());
    for bit in 0..8 * frame.len() {
        frame[bit / 8] ^= 1 << (bit % 8);
        assert!(decode_frame(&frame).is_err(), "bit {bit} of the frame");
        frame[bit / 8] ^= 1 << (bit % 8);
    }
    for bit in 0..8 * checkpoint.len() {
        checkpoint[bit / 8] ^= 1 << (bit % 8);
        assert!(decode_checkpoint(&checkpoint).is_err(), "bit {bit} of the checkpoint");
        checkpoint[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Changes, inserts, removes or repeats a few bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = 20 + random.below(bytes.len() - 28);
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => bytes.insert(at, random.next() as u8),
            3 if bytes.len() > 100 => drop(bytes.drain(at..(at + 1 + random.below(8)).min(bytes.len() - 8))),
            _ => {
                let end = (at + random.below(16)).min(bytes.len() - 8);
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
}

#[test]
fn mutations_behind_a_good_checksum_never_panic() {
    let mut random = Random(2024);
    let mut accepted = 0;
    for round in 0..2000 {
        let mut frame = encode_frame(&tiny(round % 5));
        mutate(&mut frame, &mut random);
        fix_up(&mut frame);
        // A mutation of a float is another sound frame: then it must survive a further round trip.
        if let Ok(back) = decode_frame(&frame) {
            accepted += 1;
            assert!(decode_frame(&encode_frame(&back)).is_ok());
        }
        let mut checkpoint = small_checkpoint();
        mutate(&mut checkpoint, &mut random);
        fix_up(&mut checkpoint);
        let _ = decode_checkpoint(&checkpoint);
    }
    assert!((20..1900).contains(&accepted), "{accepted} of 2000 mutations were sound: the parser is hardly exercised");
}

/// Puts bytes in place of the first occurrence of others.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|w| w == old).expect("the bytes to replace");
    let mut changed = [&bytes[..at], new, &bytes[at + old.len()..]].concat();
    fix_up(&mut changed);
    changed
}

/// The bytes of a section's name, type and filter, then columns and rows.
fn head(name: &str, kind: &str, filter: &str, columns: u32, rows: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in [name, kind, filter] {
        bytes.push(text.len() as u8);
        bytes.extend(text.as_bytes());
    }
    bytes.extend(columns.to_le_bytes());
    bytes.extend(rows.to_le_bytes());
    bytes
}

fn reason(bytes: &[u8]) -> String {
    match decode_frame(bytes) {
        Err(RecordError::Corrupt { kind: FileKind::Frame, reason }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn absurd_sizes_are_refused_before_memory_is_taken() {
    let frame = encode_frame(&tiny(1));
    let positions = |columns, rows| head("particles/positions", "f32", "shuffle", columns, rows);
    for rows in [u64::MAX, u64::MAX / 12, 1 << 40, 1 << 32, 1 << 20] {
        let reason = reason(&replaced(&frame, &positions(3, 5), &positions(3, rows)));
        assert!(reason.contains("particles/positions") && reason.contains("cannot be in"), "{reason}");
    }
    let reason_of = |columns, rows| reason(&replaced(&frame, &positions(3, 5), &positions(columns, rows)));
    assert!(reason_of(3, 6).contains("does not decompress"), "a few rows too many");
    assert!(reason_of(4, 5).contains("f32 × 4"), "another number of columns");
    assert!(reason_of(u32::MAX, 5).contains("f32 × 4294967295"));

    let mut stored = positions(3, 5);
    stored.extend(64u64.to_le_bytes());
    let mut absurd = positions(3, 5);
    absurd.extend((u64::MAX - 7).to_le_bytes());
    assert!(reason(&replaced(&frame, &stored, &absurd)).contains("past its end"));
}

#[test]
fn wrong_names_types_and_filters_are_told() {
    let frame = encode_frame(&tiny(1));
    assert!(reason(&replaced(&frame, b"particles/ids", b"particles/\xff\xfes")).contains("not UTF-8"));
    assert!(reason(&replaced(&frame, b"particles/ids", b"particles/abc")).contains("missing"));
    assert!(reason(&replaced(&frame, b"wires/segments\x03", b"wires/segmentt\x03")).contains("missing"));
    assert!(reason(&replaced(&frame, b"\x0cframe/number\x03u32", b"\x0cframe/number\x03f32")).contains("f32 × 1"));
    assert!(reason(&replaced(&frame, b"\x07shuffle", b"\x07shuffel")).contains("\"shuffel\" is unknown"));
    assert!(reason(&replaced(&frame, b"surfaces/triangles\x03", b"surfaces/positions\x03")).contains("twice"));
    assert!(reason(&replaced(&frame, "Fußball".as_bytes(), b"Fu\xff\xffball")).contains("not UTF-8"));
    let error = decode_frame(&replaced(&frame, b"liquidwall", b"liquidgoop")).unwrap_err();
    assert!(error.to_string().contains("\"goop\""), "{error}");
}

#[test]
fn sections_of_a_later_version_are_passed_over() {
    let frame = encode_frame(&tiny(1));
    let count = u32::from_le_bytes(frame[20..24].try_into().unwrap());
    let mut section = head("tets/nodes", "i128", "folded", 4, 77);
    section.extend(3u64.to_le_bytes());
    section.extend(b"???");
    let mut longer = [&frame[..20], &(count + 1).to_le_bytes(), &section, &frame[24..]].concat();
    fix_up(&mut longer);
    assert_eq!(decode_frame(&longer).unwrap(), tiny(1));
}

#[test]
fn other_versions_and_other_files_are_told_apart() {
    let mut frame = encode_frame(&tiny(1));
    frame[8] = 9;
    fix_up(&mut frame);
    assert!(matches!(decode_frame(&frame), Err(RecordError::OtherFormat { found: 9, supported: 1, .. })));
    assert!(matches!(decode_frame(&small_checkpoint()), Err(RecordError::NotThisKind { kind: FileKind::Frame })));
    assert!(matches!(decode_frame(b"ply\nformat ascii 1.0\n"), Err(RecordError::NotThisKind { .. })));
}
