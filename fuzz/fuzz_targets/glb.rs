#![no_main]
//! An animation is parsed or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::glb(bytes));
