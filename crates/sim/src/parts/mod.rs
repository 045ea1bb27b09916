//! The parts of worlds: one file per solver. The kinds of bodies are listed in `meniscus_scene::Scene::bodies`.

mod bodies;
mod elastic;
mod grid;
mod liquid;
mod particle_springs;
mod rigid;
mod shown_walls;
mod skin;
mod soft;

pub(crate) use bodies::{BodiesPart, Group};
pub(crate) use elastic::{ElasticKind, ElasticPart};
pub(crate) use grid::GridPart;
pub(crate) use liquid::{Drain, ENERGY_TAKEN, LEFT_DOMAIN, LiquidPart, Look, tank_edges};
pub(crate) use particle_springs::ParticleSprings;
pub(crate) use rigid::{RigidKind, RigidPart};
pub(crate) use skin::TornSkin;
pub(crate) use soft::{Held, SavedSoft, SoftKind, SoftPart};

use meniscus_core::{BodyInfo, BodyKind};
use meniscus_scene::Scene;

/// The number of the first body of a table, "solid" or another, among the bodies of a frame.
pub(crate) fn first(table: &str, scene: &Scene) -> usize {
    let others = scene.liquid.len() + scene.wall.len() + scene.animated.len() + scene.emitter.len();
    others + scene.bodies().take_while(|(of, ..)| *of != table).count()
}

/// What is shown of bodies that answer, in the order of their numbers.
pub(crate) fn shown(scene: &Scene) -> impl Iterator<Item = BodyInfo> {
    scene.bodies().map(|(_, name, body)| {
        let color = body.color().map(|c| c as f32);
        BodyInfo { name: name.clone(), kind: BodyKind::Solid, color }
    })
}
