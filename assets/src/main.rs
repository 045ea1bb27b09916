//! Writes the models: `cargo run --release -p meniscus-assets [FOLDER]`, by default to `scenes/assets`.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/assets");
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| home.into()));
    for (name, make) in meniscus_assets::MODELS {
        let bytes = make();
        std::fs::write(folder.join(name), &bytes)?;
        println!("{name}: {} kB", bytes.len() / 1000);
    }
    Ok(())
}
