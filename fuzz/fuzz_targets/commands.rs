#![no_main]
//! Logged commands are given or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::commands(bytes));
