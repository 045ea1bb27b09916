#![no_main]
//! An OBJ file is parsed or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::obj(bytes));
