#![no_main]
//! An STL file is parsed or refused.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::stl(bytes));
