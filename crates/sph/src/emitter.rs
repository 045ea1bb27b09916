//! Emitters: nozzles that send layers of new particles, and drains that take particles away.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

/// A nozzle: a flat opening through which a lattice of particles moves at a given speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Emitter {
    /// Liquid that comes out.
    pub liquid: u16,
    /// Centre of the opening \[m\].
    pub center: DVec3,
    /// Unit vector of the flow.
    pub direction: DVec3,
    /// Places of a layer's particles relative to the centre \[m\], in the plane of the opening.
    pub layer: Vec<DVec3>,
    /// Speed of the flow \[m/s\].
    pub speed: f64,
    /// First and last moment of flow \[s\].
    pub open: [f64; 2],
    /// No more than this many particles are sent in all.
    pub most: u64,
}

/// What an emitter remembers from step to step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EmitterState {
    /// How far the last layer has moved from the opening \[m\].
    pub moved: f64,
    /// Particles sent so far.
    pub sent: u64,
}

impl Emitter {
    /// Whether liquid flows at a time.
    #[must_use]
    pub fn flows(&self, time: f64) -> bool {
        time >= self.open[0] && time < self.open[1]
    }

    /// Velocity of the flow \[m/s\].
    #[must_use]
    pub fn velocity(&self) -> Vec3 {
        (self.direction * self.speed).as_vec3()
    }

    /// Moves the flow on by `dt` and calls `send` with the place of each new particle.
    pub fn advance(&self, state: &mut EmitterState, [time, dt]: [f64; 2], spacing: f64, mut send: impl FnMut(Vec3)) {
        if !self.flows(time) || self.speed <= 0.0 {
            return;
        }
        state.moved += self.speed * dt;
        while state.moved >= spacing {
            state.moved -= spacing;
            if state.sent + self.layer.len() as u64 > self.most {
                return;
            }
            state.sent += self.layer.len() as u64;
            for offset in &self.layer {
                send((self.center + *offset + self.direction * state.moved).as_vec3());
            }
        }
    }

    /// Whether a place lies in the throat of the nozzle, where the flow is driven: `reach` long, `spacing` wider than the
    /// layer.
    #[must_use]
    pub fn drives(&self, place: Vec3, reach: f64, spacing: f64) -> bool {
        let from = place.as_dvec3() - self.center;
        let along = from.dot(self.direction);
        if along < -0.5 * spacing || along > reach {
            return false;
        }
        let across = from - self.direction * along;
        self.layer.iter().any(|offset| offset.distance_squared(across) < spacing * spacing)
    }
}
