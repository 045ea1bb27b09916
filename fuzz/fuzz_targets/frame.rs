#![no_main]
//! A frame file is decoded or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::frame(bytes));
