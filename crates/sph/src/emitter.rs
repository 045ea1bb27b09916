//! Emitters: nozzles that send layers of new particles.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A nozzle: a flat opening through which a lattice of particles moves at a given speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Emitter {
    /// Liquid that comes out.
    pub liquid: u16,
    /// Centre of the opening \[m\].
    pub center: DVec3,
    /// Unit vector of the flow.
    pub direction: DVec3,
    /// Positions of a layer's particles relative to the centre \[m\], in the plane of the opening.
    pub layer: Vec<DVec3>,
    /// Speed of the flow, in the mean over a beat \[m/s\].
    pub speed: f64,
    /// How the speed beats.
    pub pulse: Option<Pulse>,
    /// First and last moment of flow \[s\].
    pub open: [f64; 2],
    /// No more than this many particles are sent in all.
    pub most: u64,
}

/// A flow that beats: speed (1 + amplitude sin 2πt/period).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pulse {
    /// Part of the speed by which it rises and falls, dimensionless, 0 to 1.
    pub amplitude: f64,
    /// Time of a beat \[s\].
    pub period: f64,
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

    /// Speed of the flow at a time \[m/s\].
    #[must_use]
    pub fn speed_at(&self, time: f64) -> f64 {
        let beat = self.pulse.map_or(0.0, |pulse| pulse.amplitude * libm::sin(TAU * time / pulse.period));
        self.speed * (1.0 + beat)
    }

    /// Velocity of the flow at a time \[m/s\].
    #[must_use]
    pub fn velocity(&self, time: f64) -> Vec3 {
        (self.direction * self.speed_at(time)).as_vec3()
    }

    /// Moves the flow on by `dt` and calls `send` with the position of each new particle.
    pub fn advance(&self, state: &mut EmitterState, [time, dt]: [f64; 2], spacing: f64, mut send: impl FnMut(Vec3)) {
        if !self.flows(time) || self.speed <= 0.0 {
            return;
        }
        state.moved += self.speed_at(time) * dt;
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

    /// Whether a position lies in the throat of the nozzle, where the flow is driven: `reach` long, `spacing` wider than the
    /// layer.
    #[must_use]
    pub fn drives(&self, position: Vec3, reach: f64, spacing: f64) -> bool {
        let from = position.as_dvec3() - self.center;
        let along = from.dot(self.direction);
        if along < -0.5 * spacing || along > reach {
            return false;
        }
        let across = from - self.direction * along;
        self.layer.iter().any(|offset| offset.distance_squared(across) < spacing * spacing)
    }
}
