#![no_main]
//! A PLY file is parsed or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::ply(bytes));
