#![no_main]
//! A scene file is parsed or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::scene(bytes));
