//! One digest for every build: debug and release, any thread count, any instruction set. CI runs this test in both builds.

use meniscus_scene::Loaded;
use meniscus_sim::World;

/// Digest of the gallery's dam break, at spacing 0.04, after 50 steps. A change of the physics changes it: then put the new
/// one here, after looking at the pictures.
const AFTER_50_STEPS: &str = "46b870ad0bfefb38c53ce077aeff5527";

/// The same of the gallery's dam break on a grid, at spacing 0.1, after 20 steps.
const GRID_AFTER_20_STEPS: &str = "a3a104b6becec7d7bb27b98414cdfa00";

#[test]
fn the_grid_has_the_same_bits_too() {
    assert_eq!(digest("dam-break-grid", "twophase.spacing=0.1", 20), GRID_AFTER_20_STEPS);
}

fn digest(name: &str, coarse: &str, steps: usize) -> String {
    let file = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let loaded = Loaded::from_file(file.as_ref(), &[coarse.to_owned()]).unwrap();
    let mut world = World::new(&loaded).unwrap();
    (0..steps).for_each(|_| world.step(f64::INFINITY).unwrap());
    world.digest()
}

#[test]
fn debug_and_release_builds_have_the_same_bits() {
    assert_eq!(digest("dam-break", "sph.spacing=0.04", 50), AFTER_50_STEPS);
}
