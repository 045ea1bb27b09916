#![no_main]
//! A file of tetrahedra is parsed or refused, whatever kind it is taken for.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| meniscus::fuzz::tets(bytes));
