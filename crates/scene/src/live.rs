//! What can be done to a simulation while it runs.

use crate::model::{Command, Method, Scene, Value};
use crate::schema::describe;
use crate::support;
use crate::validate::finite;
use meniscus_sph::traction::Traction;
use meniscus_sph::{self as sph, BodyWall};

/// A parameter that `set` can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveKey {
    /// `gravity` \[m/s²\].
    Gravity,
    /// `sph.artificial_viscosity`, dimensionless.
    ArtificialViscosity,
    /// `coupling.rest_distance`, in support radii: r₀ of the paper's traction.
    RestDistance,
    /// `liquid.NAME.density` \[kg/m³\]: the number of the liquid.
    LiquidDensity(usize),
    /// `solid.NAME.density` \[kg/m³\]: the number of the solid.
    SolidDensity(usize),
    /// `rigid.NAME.density` \[kg/m³\]: the number of the rigid body.
    RigidDensity(usize),
    /// `pull.NAME.stiffness` \[N/m\]: the number of the pull, which has one.
    PullStiffness(usize),
    /// `liquid.NAME.viscosity` \[Pa·s\]: the number of the liquid.
    LiquidViscosity(usize),
    /// `liquid.NAME.surface_tension` \[N/m\]: the number of the liquid.
    LiquidTension(usize),
    /// `liquid.NAME.contact_angle` \[degrees\]: the number of the liquid.
    ContactAngle(usize),
    /// `emitter.NAME.speed` \[m/s\]: the number of the emitter.
    EmitterSpeed(usize),
    /// `solid.NAME.young` \[Pa\]: the number of the solid.
    Young(usize),
    /// `solid.NAME.stiffness_damping` \[s\]: the number of the solid.
    StiffnessDamping(usize),
    /// `solid.NAME.fracture.strength` \[Pa\]: the number of the solid, which can break.
    Strength(usize),
}

/// Finds a live parameter of a scene by its key.
///
/// # Errors
/// With the keys that there are.
pub fn find(scene: &Scene, key: &str) -> Result<LiveKey, String> {
    let key = &present_spelling(scene, key);
    let found = match key.split('.').collect::<Vec<_>>()[..] {
        ["gravity"] => Some(LiveKey::Gravity),
        ["sph", "artificial_viscosity"] => Some(LiveKey::ArtificialViscosity),
        ["coupling", "rest_distance"] => Some(LiveKey::RestDistance),
        ["liquid", name, "viscosity"] => scene.liquid.get_index_of(name).map(LiveKey::LiquidViscosity),
        ["liquid", name, "density"] => scene.liquid.get_index_of(name).map(LiveKey::LiquidDensity),
        ["liquid", name, "surface_tension"] => scene.liquid.get_index_of(name).map(LiveKey::LiquidTension),
        ["liquid", name, "contact_angle"] => scene.liquid.get_index_of(name).map(LiveKey::ContactAngle),
        ["emitter", name, "speed"] => scene.emitter.get_index_of(name).map(LiveKey::EmitterSpeed),
        ["solid", name, "young"] => scene.solid.get_index_of(name).map(LiveKey::Young),
        ["solid", name, "density"] => scene.solid.get_index_of(name).map(LiveKey::SolidDensity),
        ["solid", name, "stiffness_damping"] => scene.solid.get_index_of(name).map(LiveKey::StiffnessDamping),
        ["solid", name, "fracture", "strength"] => scene.solid.get_index_of(name).map(LiveKey::Strength),
        ["rigid", name, "density"] => scene.rigid.get_index_of(name).map(LiveKey::RigidDensity),
        ["pull", name, "stiffness"] => scene.pull.get_index_of(name).map(LiveKey::PullStiffness),
        _ => None,
    };
    let found = found.filter(|_| keys(scene).iter().any(|known| known == key));
    found.ok_or_else(|| format!("names no live parameter; there are: {}", keys(scene).join(", ")))
}

/// The keys of all live parameters of a scene: those that its method heeds.
#[must_use]
pub fn keys(scene: &Scene) -> Vec<String> {
    let mut keys = vec!["gravity".to_owned()];
    let on_grid = scene.method == Method::Twophase;
    if scene.body_names().next().is_none() || !scene.liquid.is_empty() {
        keys.push("sph.artificial_viscosity".to_owned());
    }
    if scene.coupling.wall == BodyWall::Traction {
        keys.push("coupling.rest_distance".to_owned());
    }
    // On a grid all liquids are one: what is said of the first holds for all.
    for (name, liquid) in scene.liquid.iter().take(if on_grid { 1 } else { usize::MAX }) {
        keys.push(format!("liquid.{name}.viscosity"));
        keys.push(format!("liquid.{name}.density"));
        // Particles look for surfaces only where there is tension.
        if on_grid || liquid.surface_tension > 0.0 {
            keys.push(format!("liquid.{name}.surface_tension"));
            keys.push(format!("liquid.{name}.contact_angle"));
        }
    }
    keys.extend(scene.emitter.keys().map(|name| format!("emitter.{name}.speed")));
    for (name, solid) in &scene.solid {
        keys.push(format!("solid.{name}.young"));
        keys.push(format!("solid.{name}.stiffness_damping"));
        keys.push(format!("solid.{name}.density"));
        keys.extend(solid.fracture.map(|_| format!("solid.{name}.fracture.strength")));
    }
    let free = scene.rigid.iter().filter(|(_, rigid)| rigid.motion.is_none());
    keys.extend(free.map(|(name, _)| format!("rigid.{name}.density")));
    let pulls = scene.pull.iter().filter(|(_, pull)| pull.stiffness.is_some());
    keys.extend(pulls.map(|(name, _)| format!("pull.{name}.stiffness")));
    // Springs are made once.
    let bound =
        |key: &String| scene.method == Method::Connections && (key.starts_with("solid.") || key.starts_with("rigid."));
    keys.retain(|key| support::reads(scene.method, key) && !bound(key));
    keys
}

/// Logs of earlier versions have old spellings.
fn present_spelling(scene: &Scene, key: &str) -> String {
    let path: Vec<&str> = key.split('.').collect();
    let liquid = scene.liquid.keys().next().map(String::as_str);
    crate::spelling::modern(&path, liquid).map_or_else(|| key.to_owned(), |new| new.join("."))
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
        (LiveKey::RestDistance, Value::Number(number)) if !(0.01..=0.99).contains(number) => {
            Err(format!("`{key}` must be between 0.01 and 0.99"))
        }
        (
            LiveKey::Young(_)
            | LiveKey::Strength(_)
            | LiveKey::LiquidDensity(_)
            | LiveKey::SolidDensity(_)
            | LiveKey::RigidDensity(_),
            Value::Number(number),
        ) if *number <= 0.0 => Err(format!("`{key}` must be greater than zero")),
        (LiveKey::ContactAngle(_), Value::Number(number)) if *number > 180.0 => {
            Err(format!("`{key}` must be at most 180"))
        }
        (_, Value::Number(number)) if *number < 0.0 => Err(format!("`{key}` must not be negative")),
        (_, Value::Number(_)) => Ok(live),
    }
}

/// What a person who wants to change a live parameter has to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The key, as in the scene file.
    pub key: String,
    /// What it is, in the words of the scene file's description.
    pub about: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// Its value in the scene file.
    pub default: Value,
    /// The smallest and the largest value that a slider offers; others may be set, too.
    pub range: [f64; 2],
    /// Whether equal ways on the slider are equal ratios.
    pub logarithmic: bool,
}

/// All live parameters of a scene.
#[must_use]
pub fn parameters(scene: &Scene) -> Vec<Parameter> {
    let values = serde_json::to_value(scene).unwrap_or_default();
    let parameter = |key: String| {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        let given = values.pointer(&format!("/{}", path.join("/"))).cloned().unwrap_or_default();
        let default = match serde_json::from_value(given) {
            Ok(value) => value,
            // Where nothing is said, it follows from others.
            Err(_) if key == "coupling.rest_distance" => Value::Number(zero_of_traction(scene)),
            Err(_) if key == "sph.artificial_viscosity" => {
                Value::Number(scene.sph.artificial_viscosity(scene.gradients() == sph::Gradients::Corrected))
            }
            Err(_) => return None,
        };
        let about = describe(&path).unwrap_or_default().description;
        let unit = about.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(unit, _)| unit.to_owned());
        let (range, logarithmic) = slider(&find(scene, &key).ok()?, &default);
        Some(Parameter { key, about, unit: unit.unwrap_or_default(), default, range, logarithmic })
    };
    keys(scene).into_iter().filter_map(parameter).collect()
}

/// r₀ in support radii with which liquid rests half a spacing from a plane.
fn zero_of_traction(scene: &Scene) -> f64 {
    let half_spacing = 0.5 / scene.sph.support;
    Traction::resting_at(half_spacing, 1.0, 1.0, scene.coupling.adhesion).zero
}

/// What a slider offers for a parameter, its default well inside; and whether it is logarithmic.
fn slider(key: &LiveKey, default: &Value) -> ([f64; 2], bool) {
    let value = if let Value::Number(number) = default { number.abs() } else { 0.0 };
    match key {
        LiveKey::Gravity => ([-20.0, 20.0], false),
        LiveKey::ArtificialViscosity => ([0.0, (4.0 * value).max(0.4)], false),
        LiveKey::LiquidViscosity(_) => ([1e-4, (10.0 * value).max(20.0)], true),
        LiveKey::LiquidTension(_) => ([0.0, (4.0 * value).max(0.2)], false),
        LiveKey::ContactAngle(_) => ([0.0, 180.0], false),
        LiveKey::EmitterSpeed(_) => ([0.0, (3.0 * value).max(1.0)], false),
        LiveKey::RestDistance => ([0.1, 0.9], false),
        LiveKey::Young(_)
        | LiveKey::Strength(_)
        | LiveKey::LiquidDensity(_)
        | LiveKey::SolidDensity(_)
        | LiveKey::RigidDensity(_)
        | LiveKey::PullStiffness(_) => ([0.1 * value, 10.0 * value], true),
        LiveKey::StiffnessDamping(_) => ([0.0, (5.0 * value).max(0.02)], false),
    }
}

/// Whether a command that comes from outside a scene file suits the scene.
///
/// # Errors
/// With what is wrong with it.
pub fn check_command(scene: &Scene, command: &Command) -> Result<(), String> {
    let wrong = |(key, message): crate::model::pull::Wrong| format!("`{key}` {message}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_live_key_has_a_slider_with_its_unit() {
        let text = "[liquid.water]\nviscosity = 0.002\nsurface_tension = 0.07\n[emitter.tap]\nliquid = \"water\"\ncenter = [0, 1, 0]\n\
                    direction = [0, -1, 0]\nopening = { disc = { radius = 0.1 } }\n[solid.bar]\nshape = { sphere = { center = [0, 1, 0], radius = 0.1 } }\n\
                    fracture = { strength = 1e5 }\n";
        let scene = crate::parse("test.toml", text, &[]).unwrap();
        let found = parameters(&scene);
        assert_eq!(found.iter().map(|p| p.key.clone()).collect::<Vec<_>>(), keys(&scene));
        for parameter in &found {
            assert!(check(&scene, &parameter.key, &parameter.default).is_ok(), "{}", parameter.key);
            let [low, high] = parameter.range;
            assert!(low < high && (!parameter.logarithmic || low > 0.0), "{}", parameter.key);
        }
        let viscosity = found.iter().find(|p| p.key == "liquid.water.viscosity").unwrap();
        assert_eq!((viscosity.unit.as_str(), &viscosity.default), ("Pa·s", &Value::Number(0.002)));
        assert_eq!(found[0].unit, "m/s²");
        assert_eq!(found[1].unit, "");
        assert_eq!(
            found.last().map(|p| (p.key.as_str(), p.unit.as_str())),
            Some(("solid.bar.fracture.strength", "Pa"))
        );
        assert!(check(&scene, "solid.bar.young", &Value::Number(0.0)).is_err());
    }
}
