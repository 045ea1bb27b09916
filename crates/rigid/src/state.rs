//! The state of all bodies: what a checkpoint holds.

use crate::spring::Spring;
use meniscus_core::Wrench;
use rapier3d_f64::prelude::{BroadPhaseBvh, ColliderSet, IslandManager, NarrowPhase, RigidBodyHandle, RigidBodySet};
use serde::{Deserialize, Serialize};

/// What a checkpoint holds.
#[derive(Clone, Serialize, Deserialize)]
pub struct State {
    pub(crate) bodies: RigidBodySet,
    pub(crate) colliders: ColliderSet,
    pub(crate) islands: IslandManager,
    pub(crate) broad_phase: BroadPhaseBvh,
    pub(crate) narrow_phase: NarrowPhase,
    pub(crate) springs: Vec<Spring>,
    /// What every body felt in the last step, gravity excepted: force \[N\] and torque about its centre \[N·m\].
    pub(crate) felt: Vec<Wrench>,
    /// The same without blows: what may go on in the next step.
    pub(crate) steady: Vec<Wrench>,
    /// What every wall felt in the last step: force \[N\] and torque about the origin \[N·m\].
    pub(crate) on_walls: Vec<Wrench>,
    /// What soft bodies did to every body in the last step: the guess for the next.
    pub(crate) given: Vec<Wrench>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::new(),
            narrow_phase: NarrowPhase::new(),
            springs: Vec::new(),
            felt: Vec::new(),
            steady: Vec::new(),
            on_walls: Vec::new(),
            given: Vec::new(),
        }
    }
}

impl State {
    /// Whether it can be a later state of these bodies.
    pub(crate) fn fits(&self, handles: &[RigidBodyHandle], count: usize, colliders: usize) -> bool {
        self.bodies.len() == handles.len()
            && self.colliders.len() == colliders
            && handles.iter().all(|handle| self.bodies.get(*handle).is_some())
            && [self.felt.len(), self.steady.len(), self.given.len()] == [count; 3]
            && self.on_walls.len() == handles.len() - count
            && self.springs.iter().all(|spring| (spring.body as usize) < count)
    }
}
