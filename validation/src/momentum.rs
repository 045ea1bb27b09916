//! `momentum`: a blob without walls keeps its momentum.

use crate::{Row, Size, bound};
use meniscus::scene::Loaded;
use meniscus::sim::World;

const SCENE: &str = r#"
gravity = [0, 0, 0]
domain = { min = [-9, -9, -9], max = [9, 9, 9] }
[sph]
spacing = 0.02
[liquid.left]
fill = [{ sphere = { center = [-0.15, 0, 0], radius = 0.12 } }]
velocity = [2, 0.3, 0]
viscosity = 0.5
[liquid.right]
fill = [{ sphere = { center = [0.15, 0.05, 0], radius = 0.14 } }]
velocity = [-0.5, 0, 0.1]
"#;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let seconds = if size == Size::Fine { 2.0 } else { 0.4 };
    let world =
        Loaded::from_text("momentum", "momentum.toml", SCENE, &[], &|_| Err(std::io::ErrorKind::NotFound.into()))
            .map_err(|e| e.to_string())
            .and_then(|loaded| World::new(&loaded).map_err(|e| e.to_string()));
    let change = world.and_then(|mut world| {
        let before = world.totals().momentum;
        while world.time() < seconds {
            world.step(seconds).map_err(|e| e.to_string())?;
        }
        Ok((world.totals().momentum - before).length() / before.length())
    });
    vec![bound("momentum", "|change| / |momentum|, two drops collide", change.unwrap_or(f64::NAN), 1e-5)]
}
