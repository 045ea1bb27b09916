//! Writes the rubber duck: `cargo run -p meniscus-geometry --example duck -- scenes/assets/duck.ply`.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use meniscus_geometry::{solids, write_ply};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: duck FILE.ply")?;
    let duck = solids::duck(solids::DUCK_LENGTH, 44);
    write_ply(&duck, BufWriter::new(File::create(&path)?))?;
    println!("{path}: {} triangles, {:.3} litres", duck.triangles().len(), 1e3 * duck.signed_volume());
    Ok(())
}
