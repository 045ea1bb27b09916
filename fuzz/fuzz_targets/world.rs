#![no_main]
//! A saved state is loaded or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::world(bytes));
