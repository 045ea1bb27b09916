//! What a dynamic connection does: the force between two particles, or a particle and a wall, that touch.
//!
//! | symbol | meaning |
//! |---|---|
//! | l | distance of touch, r₁ + r₂; for a wall r \[m\] |
//! | δ | overlap l − d \[m\] |
//! | n | direction from the second to the first, or out of the wall |
//! | k | modulus × l \[N/m\] |
//! | ξ | slip that has not been let go \[m\], across n |
//!
//! > N = max(0, k δ − c (v·n) min(1, δ/0.001 l)),  T = −½k ξ − ½c vₜ min(1, …), not longer than μ N
//!
//! The nominal length is the distance at which the connection is made, so that the force is zero there and stays continuous.
//! With a nominal length below that, the paper's connection would pull and let go with a jump. What sticks pulls after it
//! has touched: k (−δ) up to half of its reach, from there back to zero, where it breaks; coming near, it does not pull.

use crate::params::Params;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Overlap in units of l over which damping sets in, dimensionless: long enough to be smooth, short enough that bodies at
/// rest on each other are damped.
const ONSET: f64 = 0.001;

/// A dynamic connection \[B definition 0.2\]: two particles that touch, or may soon.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DynamicConnection {
    /// The particles, numbers among all, the smaller first.
    pub ends: [u32; 2],
    /// What it remembers.
    pub memory: Memory,
}

/// What a contact remembers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Slip ξ held by friction \[m\].
    pub slip: DVec3,
    /// Whether it has touched and sticks.
    pub stuck: bool,
}

/// The geometry of a contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    /// Overlap δ \[m\], negative when apart.
    pub(crate) overlap: f64,
    /// Unit normal n, towards the first.
    pub(crate) normal: DVec3,
    /// Velocity of the first relative to the second \[m/s\].
    pub(crate) velocity: DVec3,
    /// How far the first has moved relative to the second since the step began \[m\].
    pub(crate) moved: DVec3,
    /// Distance of touch l \[m\].
    pub(crate) length: f64,
    /// Sum of the inverse masses \[1/kg\].
    pub(crate) inverse_mass: f64,
}

/// The law of all dynamic connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Law {
    pub(crate) modulus: f64,
    pub(crate) damping: f64,
    pub(crate) friction: f64,
    pub(crate) sticky: f64,
}

impl Law {
    pub(crate) fn new(params: &Params, modulus: f64) -> Self {
        Self { modulus, damping: params.damping_ratio, friction: params.friction, sticky: params.sticky }
    }

    /// Whether nothing acts.
    pub(crate) fn apart(&self, overlap: f64, memory: &Memory) -> bool {
        overlap <= 0.0 && !memory.stuck
    }

    /// Force on the first \[N\].
    // (4) of docs/src/particle-bodies.md
    pub(crate) fn force(&self, at: &Meeting, memory: &Memory) -> DVec3 {
        let k = self.modulus * at.length;
        if at.overlap <= 0.0 {
            let (apart, reach) = (-at.overlap, self.sticky * at.length);
            return at.normal * (-k * apart.min(reach - apart).max(0.0));
        }
        let damping = 2.0 * self.damping * (k / at.inverse_mass).sqrt() * (at.overlap / (ONSET * at.length)).min(1.0);
        let along = at.velocity.dot(at.normal);
        let normal = (k * at.overlap - damping * along).max(0.0);
        let sliding = at.velocity - at.normal * along;
        let friction = self.slip(at, memory) * (-0.5 * k) - sliding * (0.5 * damping);
        at.normal * normal + friction.clamp_length_max(self.friction * normal)
    }

    /// Elastic energy \[J\] of the normal part.
    pub(crate) fn energy(&self, overlap: f64, length: f64) -> f64 {
        0.5 * self.modulus * length * overlap.max(0.0) * overlap.max(0.0)
    }

    /// Slip across the normal as it is now.
    fn slip(&self, at: &Meeting, memory: &Memory) -> DVec3 {
        let slip = memory.slip + at.moved;
        slip - at.normal * slip.dot(at.normal)
    }

    /// What is remembered at the end of a step: friction lets go of slip that it cannot hold.
    pub(crate) fn remember(&self, at: &Meeting, memory: &mut Memory) {
        if at.overlap > 0.0 {
            let held = 2.0 * self.friction * at.overlap;
            *memory = Memory { slip: self.slip(at, memory).clamp_length_max(held), stuck: self.sticky > 0.0 };
        } else {
            let stuck = memory.stuck && -at.overlap < self.sticky * at.length;
            *memory = Memory { slip: DVec3::ZERO, stuck };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Law {
        Law { modulus: 1e5, damping: 0.0, friction: 0.5, sticky: 0.2 }
    }

    fn meeting(overlap: f64) -> Meeting {
        let (velocity, moved) = (DVec3::new(0.1, -0.3, 0.0), DVec3::ZERO);
        Meeting { overlap, normal: DVec3::Y, velocity, moved, length: 0.02, inverse_mass: 2.0 }
    }

    #[test]
    fn the_push_is_the_slope_of_its_energy() {
        let at = |overlap: f64| law().energy(overlap, 0.02);
        let slope = (at(0.003 + 1e-7) - at(0.003 - 1e-7)) / 2e-7;
        assert!((law().force(&meeting(0.003), &Memory::default()).y / slope - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_connection_is_made_without_a_jump_also_with_damping() {
        let law = Law { damping: 0.5, ..law() };
        for overlap in [1e-10, -1e-10] {
            assert!(law.force(&meeting(overlap), &Memory::default()).length() < 1e-3);
        }
        assert!(law.force(&meeting(2e-5), &Memory::default()).y > 0.3, "damping has set in");
    }

    #[test]
    fn what_sticks_pulls_only_after_it_has_touched_and_breaks_without_a_jump() {
        let (law, loose, stuck) = (law(), Memory::default(), Memory { stuck: true, ..Memory::default() });
        assert!(law.apart(-0.001, &loose) && !law.apart(-0.001, &stuck));
        assert!((law.force(&meeting(-0.001), &stuck).y + 2.0).abs() < 1e-12);
        assert!(law.force(&meeting(-0.003_999_9), &stuck).length() < 1e-3);
        let mut memory = stuck;
        law.remember(&meeting(-0.0041), &mut memory);
        assert!(!memory.stuck);
    }

    #[test]
    fn friction_holds_up_to_coulombs_limit_and_then_slips() {
        let law = law();
        let held = Meeting { moved: DVec3::new(0.0002, 0.0, 0.0), ..meeting(0.001) };
        assert!((law.force(&held, &Memory::default()).x + 0.2).abs() < 1e-12);
        let slides = Meeting { moved: DVec3::new(0.02, 0.0, 0.0), ..meeting(0.001) };
        assert!((law.force(&slides, &Memory::default()).x + 1.0).abs() < 1e-12, "μ k δ");
        let mut memory = Memory::default();
        law.remember(&slides, &mut memory);
        assert!((memory.slip.x - 0.001).abs() < 1e-15);
    }
}
