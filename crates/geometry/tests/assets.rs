//! The files of the gallery that our own code makes are what it makes.

use meniscus_geometry::{solids, write_ply};

#[test]
fn the_duck_is_the_duck() {
    let mut expected = Vec::new();
    write_ply(&solids::duck(solids::DUCK_LENGTH, 44), &mut expected).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/assets/duck.ply");
    let found = std::fs::read(path).unwrap();
    assert!(found == expected, "run: cargo run -p meniscus-geometry --example duck -- scenes/assets/duck.ply");
    assert!(found.len() < 400_000);
}
