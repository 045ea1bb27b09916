//! What can be done to a simulation while it runs.

use crate::model::{Command, Scene, Value};
use crate::validate::finite;

/// A parameter that `set` can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveKey {
    /// `gravity` \[m/s²\].
    Gravity,
    /// `sph.artificial_viscosity`, dimensionless.
    ArtificialViscosity,
    /// `liquid.NAME.viscosity` \[Pa·s\]: the number of the liquid.
    LiquidViscosity(usize),
    /// `emitter.NAME.speed` \[m/s\]: the number of the emitter.
    EmitterSpeed(usize),
}

/// Finds a live parameter of a scene by its key.
///
/// # Errors
/// With the keys that there are.
pub fn find(scene: &Scene, key: &str) -> Result<LiveKey, String> {
    let found = match key.split('.').collect::<Vec<_>>()[..] {
        ["gravity"] => Some(LiveKey::Gravity),
        ["sph", "artificial_viscosity"] => Some(LiveKey::ArtificialViscosity),
        ["liquid", name, "viscosity"] => scene.liquid.get_index_of(name).map(LiveKey::LiquidViscosity),
        ["emitter", name, "speed"] => scene.emitter.get_index_of(name).map(LiveKey::EmitterSpeed),
        _ => None,
    };
    found.ok_or_else(|| format!("names no live parameter; there are: {}", keys(scene).join(", ")))
}

/// The keys of all live parameters of a scene.
#[must_use]
pub fn keys(scene: &Scene) -> Vec<String> {
    let mut keys = vec!["gravity".to_owned(), "sph.artificial_viscosity".to_owned()];
    keys.extend(scene.liquid.keys().map(|name| format!("liquid.{name}.viscosity")));
    keys.extend(scene.emitter.keys().map(|name| format!("emitter.{name}.speed")));
    keys
}

/// Whether a value suits a live parameter.
///
/// # Errors
/// With what would suit it.
pub fn check(scene: &Scene, key: &str, value: &Value) -> Result<LiveKey, String> {
    let live = find(scene, key)?;
    if !finite(value) {
        return Err(format!("`{key}` needs a finite value"));
    }
    match (&live, value) {
        (LiveKey::Gravity, Value::Vector(_)) => Ok(live),
        (LiveKey::Gravity, Value::Number(_)) => Err("`gravity` needs three numbers".into()),
        (_, Value::Vector(_)) => Err(format!("`{key}` needs one number")),
        (_, Value::Number(number)) if *number < 0.0 => Err(format!("`{key}` must not be negative")),
        (_, Value::Number(_)) => Ok(live),
    }
}

/// Whether a command that comes from outside a scene file suits the scene.
///
/// # Errors
/// With what is wrong with it.
pub fn check_command(scene: &Scene, command: &Command) -> Result<(), String> {
    let wrong = |(key, message): crate::pull::Wrong| format!("`{key}` {message}");
    match command {
        Command::Set(set) => check(scene, &set.key, &set.value).map(|_| ()),
        Command::Poke(poke) => {
            let numbers = poke.center.iter().chain(&poke.velocity).chain([&poke.radius]);
            let sane = numbers.copied().all(f64::is_finite) && poke.radius > 0.0;
            if sane { Ok(()) } else { Err("a poke needs finite numbers and a radius greater than zero".into()) }
        }
        Command::Grab(grab) => grab.check(scene).map_err(wrong),
        Command::Move(target) => target.check().map_err(wrong),
        Command::Release(_) => Ok(()),
    }
}
