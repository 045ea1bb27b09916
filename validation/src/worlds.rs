//! Scenes that cases run.

use glam::DVec3;
use meniscus::scene::Loaded;
use meniscus::sim::World;

/// Parameters of a liquid that feels the arrangement of its particles little and quiets what they do against each other: with a
/// support of 2.2 spacings it comes to rest, with 2.5 small waves have their period.
pub(crate) fn calm(support: f64) -> String {
    format!("kernel = \"quartic-spline\"\nsupport = {support:?}\neddy_friction = 1\npressure_error = 0.002\n")
}

/// A world from the text of a scene. `file` gives the bytes of the meshes that it names.
pub(crate) fn world_with(
    case: &str,
    scene: &str,
    file: &dyn Fn(&str) -> std::io::Result<Vec<u8>>,
) -> Result<World, String> {
    let loaded = Loaded::from_text(case, &format!("{case}.toml"), scene, &[], file).map_err(|e| e.to_string())?;
    World::new(&loaded).map_err(|e| e.to_string())
}

/// A world from the text of a scene that names no files.
pub(crate) fn world(case: &str, scene: &str) -> Result<World, String> {
    world_with(case, scene, &|_| Err(std::io::ErrorKind::NotFound.into()))
}

/// Steps until a time.
pub(crate) fn run_until(world: &mut World, time: f64) -> Result<(), String> {
    while world.time() < time {
        world.step(time).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Momentum of the particles of a liquid, per mass of a particle \[m/s\].
pub(crate) fn momentum_of(world: &World, liquid: u16) -> DVec3 {
    let particles = world.frame().particles;
    let ours = particles.velocities.iter().zip(&particles.bodies).filter(|(_, body)| **body == liquid);
    ours.map(|(v, _)| v.as_dvec3()).sum()
}

/// What a world measures under a name of a column; NaN if there is none.
pub(crate) fn reading(world: &World, column: &str) -> f64 {
    let number = world.columns().iter().position(|name| name == column);
    number.map_or(f64::NAN, |number| world.measure()[number])
}

/// The rows of a table in `validation/data`, without its comments and its head.
pub(crate) fn table<const N: usize>(text: &str) -> Vec<[f64; N]> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| {
        let mut values = line.split(',').map(|word| word.trim().parse().unwrap_or(f64::NAN));
        std::array::from_fn(|_| values.next().unwrap_or(f64::NAN))
    };
    lines.map(row).collect()
}
