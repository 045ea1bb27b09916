//! One digest for every build: debug and release, any thread count, any instruction set. CI runs this test in both builds.

use meniscus_scene::Loaded;
use meniscus_sim::World;

/// Digest of the gallery's dam break, at spacing 0.04, after 50 steps. A change of the physics changes it: then put the new
/// one here, after looking at the pictures.
const AFTER_50_STEPS: &str = "5681e8f8c38c9eb38278d2c904c7a060";

#[test]
fn debug_and_release_builds_have_the_same_bits() {
    let scene = include_str!("../../../scenes/dam-break.toml");
    let coarse = ["sph.spacing=0.04".to_owned()];
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Loaded::from_text("dam-break", "dam-break.toml", scene, &coarse, &none).unwrap();
    let mut world = World::new(&loaded).unwrap();
    (0..50).for_each(|_| world.step(f64::INFINITY).unwrap());
    assert_eq!(world.digest(), AFTER_50_STEPS);
}
