#![no_main]
//! A checkpoint is decoded or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::checkpoint(bytes));
