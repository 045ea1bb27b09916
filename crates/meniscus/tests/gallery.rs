//! Every scene of the gallery loads, runs three steps and makes a picture.

use meniscus::gallery::{self, GALLERY};
use meniscus::sim::World;

#[test]
fn every_scene_runs_three_steps() {
    for scene in GALLERY {
        let loaded = gallery::load_gallery(scene, &[]).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(!loaded.scene.title.is_empty(), "{} has no title", scene.name);
        let mut world = World::new(&loaded).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        assert!(world.warnings().is_empty(), "{}: {:?}", scene.name, world.warnings());
        for _ in 0..3 {
            world.step(f64::INFINITY).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        }
        let picture = meniscus::picture::render(&world.frame(), &loaded.scene.camera, &loaded.scene.picture);
        assert!(picture.is_ok(), "{}", scene.name);
    }
}
