#![no_main]
//! A frame file with the right checksum is decoded or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::sealed_frame(bytes));
