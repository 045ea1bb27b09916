//! Every key of the scene file under every method: what the table of keys and methods says is read has an effect, the rest is refused.
//!
//! Each leaf of the schema is set, alone, in a scene of its method that has one of everything, to something else than before. If the
//! table says that the method reads it, something must differ: particles and bodies after a few steps, columns, pictures, or the step that
//! is taken. Otherwise the scene must be refused.

use meniscus::scene::{Loaded, Method, Settings, support};
use meniscus::sim::World;

/// A scene with one of everything that a method reads, a settings table of its own, and what is in it by name `x`.
fn base(method: Method) -> String {
    let common = "seconds = 1\nfps = 20\nresolution = 0.1\n[time]\nmax_dt = 0.02\n\
        [liquid.x]\nviscosity = 0.01\nfill = [{ box = { min = [0, 0, 0], max = [0.8, 0.5, 0.5] } }]\n\
        [wall.x]\nshape = { box = { min = [0, 0, 0], max = [1, 1, 0.5], open = [\"+y\"] } }\n\
        [probe.point]\npoint = [0.3, 0.2, 0.25]\n[probe.plane]\nplane = { point = [0.4, 0, 0], normal = [1, 0, 0] }\n[probe.gauge]\ngauge = [0.3, 0, 0.2]\n";
    let sent = "[emitter.x]\nliquid = \"x\"\ncenter = [0.9, 0.9, 0.25]\ndirection = [0, -1, 0]\nopening = { disc = { radius = 0.1 } }\nspeed = 3\n\
        [drain.x]\nregion = { box = { min = [0.9, 0, 0], max = [1, 0.1, 0.1] } }\n";
    let solids = "[solid.x]\nshape = { box = { min = [0.1, 0.45, 0.1], max = [0.3, 0.65, 0.4] } }\nedge = 0.1\nyoung = 5e3\nvelocity = [0, -1, 0]\n\
        [rigid.x]\nshape = { box = { min = [0.5, 0.45, 0.1], max = [0.7, 0.65, 0.3] } }\nvelocity = [0, -1, 0]\n";
    let body = "[body.x]\nshape = { box = { min = [0.5, 0.45, 0.1], max = [0.7, 0.65, 0.3] } }\nvelocity = [0, -1, 0]\n\
        [body.y]\nshape = { box = { min = [0.5, 0.66, 0.1], max = [0.7, 0.86, 0.3] } }\nvelocity = [0, -2, 0]\n";
    let pull = "[pull.x]\nbody = \"x\"\nat = { point = [0.2, 0.65, 0.2] }\nmotion = { slide = { displacement = [0.1, 0, 0], period = 1 } }\n";
    let method_is = format!("method = \"{}\"\n", method.name());
    match method {
        Method::Gauss => format!("{method_is}{common}{sent}{}{pull}", solids.replace("rigid.x", "rigid.r")),
        Method::Unified => format!("{method_is}{common}{sent}{}{pull}", solids.replace("rigid.x", "rigid.r")),
        Method::Connections => format!("{method_is}{common}{sent}{body}{pull}"),
        Method::Twophase => format!("{method_is}{common}"),
    }
}

fn load(text: &str, set: &[String]) -> Result<Loaded, meniscus::scene::SceneError> {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Loaded::with_settings("effects", "effects.toml", text, &Settings::new(set), &none)
}

/// What can be told of a scene after a few steps.
fn fingerprint(text: &str, set: &[String]) -> Result<String, String> {
    let loaded = load(text, set).map_err(|e| e.to_string())?;
    let mut world = World::new(&loaded).map_err(|e| e.to_string())?;
    for _ in 0..3 {
        world.step(f64::INFINITY).map_err(|e| e.to_string())?;
    }
    let frame = world.frame();
    Ok(format!("{} {:?} {:?} {:?}", world.digest(), world.columns(), world.measure(), frame.bodies))
}

/// Keys with a value that differs from what the scenes above have, and, where the key needs something beside it to have an effect, that.
const KEYS: &[(&str, &[&str])] = &[
    ("gravity", &["gravity=[0,-5,0]"]),
    ("resolution", &["resolution=0.125"]),
    ("sph.spacing", &["sph.spacing=0.09"]),
    ("sph.support", &["sph.support=2.2"]),
    ("sph.kernel", &["sph.kernel=papers"]),
    ("sph.pressure", &["sph.pressure=state-equation"]),
    ("sph.stiffness", &["sph.stiffness=900", "sph.pressure=state-equation"]),
    ("sph.exponent", &["sph.exponent=7", "sph.pressure=state-equation"]),
    ("sph.reference_speed", &["sph.reference_speed=9"]),
    ("sph.artificial_viscosity", &["sph.artificial_viscosity=0.5"]),
    ("sph.eddy_friction", &["sph.eddy_friction=1"]),
    ("sph.viscosity", &["sph.viscosity=implicit"]),
    ("sph.mass_factor", &["sph.mass_factor=1.1"]),
    ("sph.tension", &["sph.tension=paper", "liquid.x.surface_tension=1"]),
    ("time.dt", &["time.dt=0.0011"]),
    ("time.courant", &["time.courant=0.2"]),
    ("time.max_dt", &["time.max_dt=0.0005"]),
    ("liquid.x.density", &["liquid.x.density=900"]),
    ("liquid.x.viscosity", &["liquid.x.viscosity=1"]),
    ("liquid.x.surface_tension", &["liquid.x.surface_tension=1"]),
    ("liquid.x.contact_angle", &["liquid.x.contact_angle=20", "liquid.x.surface_tension=1"]),
    ("liquid.x.cutouts", &["liquid.x.cutouts=[{ sphere = { center = [0.4, 0.3, 0.25], radius = 0.16 } }]"]),
    ("liquid.x.velocity", &["liquid.x.velocity=[0.3,0,0]"]),
    ("liquid.x.spin", &["liquid.x.spin=[0,0.5,0]"]),
    ("liquid.x.color", &["liquid.x.color=[1,0,0]"]),
    ("wall.x.friction", &["wall.x.friction=no-slip"]),
    ("wall.x.friction.viscosity", &["wall.x.friction={ viscosity = 5 }"]),
    ("wall.x.motion", &["wall.x.motion={ slide = { displacement = [0.2, 0, 0], period = 0.3 } }"]),
    ("emitter.x.speed", &["emitter.x.speed=2"]),
    ("emitter.x.from", &["emitter.x.from=0.5"]),
    ("emitter.x.until", &["emitter.x.until=0"]),
    ("emitter.x.max_particles", &["emitter.x.max_particles=0"]),
    ("emitter.x.pulse", &["emitter.x.pulse={ amplitude = 1, period = 0.1 }"]),
    ("drain.x.region", &["drain.x.region={ box = { min = [0, 0, 0], max = [0.2, 0.2, 0.2] } }"]),
    ("probe.gauge.gauge", &["probe.gauge.gauge=[0.9,0,0.1]"]),
    ("coupling.wall", &["coupling.wall=traction"]),
    ("coupling.friction", &["coupling.friction=no-slip"]),
    ("coupling.integral", &["coupling.integral=points"]),
    ("coupling.rest_distance", &["coupling.rest_distance=0.4", "coupling.wall=traction"]),
    ("coupling.adhesion", &["coupling.adhesion=1", "coupling.wall=traction"]),
    ("coupling.stiffness", &["coupling.stiffness=100", "coupling.wall=traction"]),
    ("coupling.preset", &["coupling.preset=paper"]),
    ("coupling.point_viscosity", &["coupling.point_viscosity=5", "coupling.wall=traction"]),
    ("solid.x.young", &["solid.x.young=9e3"]),
    ("solid.x.poisson", &["solid.x.poisson=0.4"]),
    ("solid.x.density", &["solid.x.density=700"]),
    ("solid.x.model", &["solid.x.model=neo-hookean"]),
    ("solid.x.fem.order", &["solid.x.fem.order=quadratic"]),
    ("solid.x.porosity", &["solid.x.porosity=0.6"]),
    ("solid.x.permeability", &["solid.x.permeability=1e-8", "solid.x.porosity=0.6"]),
    ("solid.x.mass_damping", &["solid.x.mass_damping=5"]),
    ("solid.x.stiffness_damping", &["solid.x.stiffness_damping=0.05"]),
    ("solid.x.plasticity", &["solid.x.plasticity={ yield_strain = 0.0001, creep = 500 }"]),
    ("solid.x.fracture", &["solid.x.fracture={ strength = 1 }"]),
    ("solid.x.rotation", &["solid.x.rotation=[0,0,10]"]),
    ("solid.x.velocity", &["solid.x.velocity=[0,-2,0]"]),
    ("solid.x.spin", &["solid.x.spin=[0,3,0]"]),
    ("solid.x.fixed", &["solid.x.fixed=[{ region = { box = { min = [0, 0.6, 0], max = [1, 1, 1] } } }]"]),
    ("solid.x.color", &["solid.x.color=[1,0,0]"]),
    ("rigid.r.density", &["rigid.r.density=300"]),
    ("rigid.r.velocity", &["rigid.r.velocity=[0,-2,0]"]),
    ("rigid.r.spin", &["rigid.r.spin=[0,3,0]"]),
    ("rigid.r.rotation", &["rigid.r.rotation=[0,0,10]"]),
    ("rigid.r.motion", &["rigid.r.motion=still"]),
    ("rigid.r.locked", &["rigid.r.locked=[\"x\", \"rx\"]"]),
    ("rigid.r.color", &["rigid.r.color=[1,0,0]"]),
    ("body.x.kind", &["body.x.kind=rigid"]),
    ("body.x.density", &["body.x.density=300"]),
    ("body.x.young", &["body.x.young=9e4"]),
    ("body.x.damping_ratio", &["body.x.damping_ratio=1"]),
    ("body.x.velocity", &["body.x.velocity=[0,-2,0]"]),
    ("body.x.spin", &["body.x.spin=[0,3,0]"]),
    ("body.x.rotation", &["body.x.rotation=[0,0,10]"]),
    ("body.x.fixed", &["body.x.fixed=[{ region = { box = { min = [0, 0.6, 0], max = [1, 1, 1] } } }]"]),
    ("connections.interface", &["connections.interface=projection"]),
    ("connections.modulus", &["connections.modulus=1e3"]),
    ("connections.liquid_modulus", &["connections.liquid_modulus=1e3"]),
    ("connections.damping_ratio", &["connections.damping_ratio=1"]),
    ("contact.stiffness", &["contact.stiffness=1"]),
    ("pull.x.stiffness", &["pull.x.stiffness=1e3"]),
    ("pull.x.damping", &["pull.x.damping=100"]),
    ("pull.x.from", &["pull.x.from=0.5"]),
    ("twophase.spacing", &["twophase.spacing=0.125"]),
    ("twophase.gas.density", &["twophase.gas.density=100"]),
    ("twophase.gas.viscosity", &["twophase.gas.viscosity=0.1"]),
    ("twophase.sides.x_min", &["twophase.sides.x_min=no-slip"]),
    ("twophase.courant", &["twophase.courant=0.1"]),
    ("surface.cube", &["surface.cube=0.5"]),
    ("surface.foam", &["surface.foam=true"]),
    ("surface.foam_amount", &["surface.foam_amount=2", "surface.foam=true"]),
    ("surface.foam_life", &["surface.foam_life=1", "surface.foam=true"]),
];

/// Keys whose effect three steps of these scenes cannot show, and why.
const UNSEEN: &[(Method, &str)] = &[
    // Nothing touches the solid within three steps.
    (Method::Gauss, "contact.stiffness"),
    // There are no bodies of particles in this scene.
    (Method::Gauss, "connections.interface"),
    (Method::Gauss, "connections.modulus"),
    (Method::Gauss, "connections.damping_ratio"),
    // Nothing is sent within three steps.
    (Method::Connections, "emitter.x.max_particles"),
    // Seen in pictures.
    (Method::Gauss, "surface.cube"),
    (Method::Unified, "surface.cube"),
    (Method::Connections, "surface.cube"),
    (Method::Gauss, "surface.foam"),
    (Method::Unified, "surface.foam"),
    (Method::Connections, "surface.foam"),
    (Method::Gauss, "surface.foam_amount"),
    (Method::Unified, "surface.foam_amount"),
    (Method::Connections, "surface.foam_amount"),
    (Method::Gauss, "surface.foam_life"),
    (Method::Unified, "surface.foam_life"),
    (Method::Connections, "surface.foam_life"),
];

fn is_unseen(method: Method, key: &str) -> bool {
    UNSEEN.contains(&(method, key))
}

#[test]
fn every_key_has_an_effect_or_is_refused() {
    let mut silent = Vec::new();
    for method in Method::ALL {
        let text = base(method);
        for (key, set) in KEYS {
            let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
            let table = key.split('.').next().unwrap_or_default();
            let with_others = fingerprint(&text, &set[1..]);
            let found = fingerprint(&text, &set);
            let reads = support::reads(method, key);
            match (reads, found) {
                (false, Ok(_)) => {
                    silent.push(format!("{method:?} takes `{key}`, which the table says it does not read"));
                }
                (false, Err(error)) if error.contains("is not read by the method") => {}
                (false, Err(error)) if error.contains(&format!("there is no {table} ")) => {}
                (false, Err(error)) => silent.push(format!("{method:?} refuses `{key}` for another reason: {error}")),
                // The scene of another kind: bodies stand in for solids and the other way round.
                (true, Err(error)) if error.contains(&format!("there is no {table} ")) => {}
                (true, Err(error)) => silent.push(format!("{method:?} refuses `{key}`: {error}")),
                (true, Ok(found)) if Ok(&found) == with_others.as_ref() && !is_unseen(method, key) => {
                    silent.push(format!("{method:?} does not heed `{key}`"));
                }
                _ => {}
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
