//! How much room and time a frame takes. The numbers are printed by
//! `cargo test --release -p meniscus-record --test size -- --nocapture`.

mod scenery;

use std::time::Instant;

use meniscus_record::{decode_frame, encode_frame};

/// The result of some work and the shortest of many times that it took \[s\].
fn timed<T>(work: impl Fn() -> T) -> (T, f64) {
    let once = || {
        let start = Instant::now();
        let result = std::hint::black_box(work());
        (result, start.elapsed().as_secs_f64())
    };
    (0..20).map(|_| once()).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn a_breaking_dam_is_compact() {
    let frame = scenery::breaking_dam(20);
    let particles = frame.particles.len();
    let raw = 38 * particles;

    let (bytes, encoding) = timed(|| encode_frame(&frame));
    let (back, decoding) = timed(|| decode_frame(&bytes).unwrap());

    assert_eq!(back, frame);
    let per_particle = bytes.len() as f64 / particles as f64;
    println!(
        "{particles} particles, {per_particle:.2} bytes per particle of 38, encode {:.0} MB/s, decode {:.0} MB/s",
        raw as f64 / encoding / 1e6,
        raw as f64 / decoding / 1e6
    );
    assert!(per_particle < 25.0, "{per_particle} bytes per particle");
}
