//! The parts of worlds: one file per solver. Whoever adds a kind of body adds it to the two lists at the end.

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

use crate::build;
use meniscus_core::{BodyInfo, BodyKind};
use meniscus_geometry::Aabb;
use meniscus_scene::{Loaded, Scene};

/// The number of the first solid among the bodies of a frame.
pub(crate) fn first_solid(scene: &Scene) -> usize {
    scene.liquid.len() + scene.wall.len() + scene.animated.len() + scene.emitter.len()
}

/// The number of the first rigid body.
pub(crate) fn first_rigid(scene: &Scene) -> usize {
    first_solid(scene) + scene.solid.len()
}

/// What is shown of bodies that answer, in the order of their numbers: solids, rigid bodies, bodies of particles.
pub(crate) fn shown(scene: &Scene) -> impl Iterator<Item = BodyInfo> {
    scene.bodies().map(|(_, name, body)| {
        let color = body.color().map(|c| c as f32);
        BodyInfo { name: name.clone(), kind: BodyKind::Solid, color }
    })
}

/// Boxes round them at the start.
pub(crate) fn bounds(loaded: &Loaded) -> impl Iterator<Item = Aabb> {
    build::soft::bounds(loaded).chain(build::bodies::bounds(loaded))
}
