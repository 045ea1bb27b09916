//! Connections between bodies and a liquid: the interface of a liquid body \[B definitions 0.5, 0.6\].
//!
//! Particles of the liquid are looked for in the liquid's own grid of cell h. A connection lasts while a pair touches and
//! remembers nothing: liquid slips. Its force on a body is an outside force for the length of the liquid's step; the liquid
//! feels the opposite, as an acceleration F/m beside those per volume f/ρ, which the paper's eq. 13 adds up.

use crate::contact_law::{Law, Meeting, Memory};
use crate::interface::Matter;
use crate::projection::MovedDrops;
use crate::system::System;
use glam::{DVec3, Vec3};
use meniscus_geometry::{Aabb, NeighbourGrid};
use rayon::prelude::*;

/// Particles of bodies that are looked at together.
const PIECE: usize = 128;
/// Particles of a body that a particle of the liquid touches at once, about; for the stable step.
const CONTACTS_AT_ONCE: f64 = 3.0;

/// The particles of a liquid, in the order of their grid.
#[derive(Clone, Copy)]
pub struct LiquidParticles<'a> {
    /// The grid, of cells no smaller than the distance of touch.
    pub grid: &'a NeighbourGrid,
    /// Positions \[m\].
    pub position: &'a [Vec3],
    /// Velocities \[m/s\].
    pub velocity: &'a [Vec3],
    /// Number of the liquid of each.
    pub liquid: &'a [u16],
    /// Mass of a particle of each liquid \[kg\].
    pub mass: &'a [f64],
    /// Their radius \[m\].
    pub radius: f64,
}

/// What bodies do to a liquid.
#[derive(Debug, Default)]
pub struct Pushes {
    pieces: Vec<Vec<(u32, Vec3)>>,
}

impl Pushes {
    /// Particles of the liquid and how they are accelerated \[m/s²\], in a fixed order; a particle may come several times.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Vec3)> {
        self.pieces.iter().flatten().copied()
    }
}

impl System {
    /// Connects bodies and liquid: sets the outside forces on bodies \[N\] and fills in what the liquid feels.
    pub fn connect_liquid(&mut self, drops: &LiquidParticles, pushes: &mut Pushes) {
        let law = Law { modulus: self.liquid_modulus, damping: self.params.damping_ratio, friction: 0.0, sticky: 0.0 };
        let (external, matter, state) = (&mut self.work.external, &self.matter, &self.state);
        let wet_bodies = &mut self.work.wet_bodies;
        wet_bodies.clear();
        wet_bodies.extend(self.bodies.iter().map(|body| {
            let reach = body.radius + drops.radius;
            let bounds = Aabb::around(state.position[body.range.clone()].iter().copied()).grow(reach);
            let mut wet = false;
            drops.grid.for_each_range_in(bounds.min.as_vec3(), bounds.max.as_vec3(), |range| wet |= !range.is_empty());
            wet
        }));
        pushes.pieces.resize_with(external.len().div_ceil(PIECE), Vec::new);
        let pieces = external.par_chunks_mut(PIECE).zip(&mut pushes.pieces);
        pieces.enumerate().for_each(|(piece, (external, pushes))| {
            pushes.clear();
            for (k, external) in external.iter_mut().enumerate() {
                let i = piece * PIECE + k;
                if !wet_bodies[matter.body[i] as usize] {
                    *external = DVec3::ZERO;
                    continue;
                }
                *external = wet(i, [state.position[i], state.velocity[i]], matter, drops, &law, pushes);
            }
        });
    }

    /// Moves bodies and liquid apart where they overlap, and lets their velocities follow; `dt` \[s\] is the liquid's step. The grid
    /// is that of the step's start: particles have moved by less than a radius since.
    pub fn resolve_liquid_overlaps(
        &mut self,
        (grid, radius): (&NeighbourGrid, f64),
        (position, velocity): (&mut [Vec3], &mut [Vec3]),
        (liquid, mass): (&[u16], &[f64]),
        dt: f64,
    ) {
        let Self { bodies, matter, state, projection, work, .. } = self;
        let pieces = state.position.len().div_ceil(PIECE);
        work.wet_pairs.resize_with(pieces, Vec::new);
        let (at, drops) = (&state.position, &*position);
        work.wet_pairs.par_iter_mut().enumerate().for_each(|(piece, pairs)| {
            pairs.clear();
            let own = at.iter().enumerate().skip(piece * PIECE).take(PIECE);
            for (i, x) in own.map(|(i, x)| (i, x.as_vec3())) {
                let reach = (1.5 * (matter.radius[i] + radius)) as f32;
                let near = |&j: &usize| drops[j].distance_squared(x) < reach * reach;
                grid.for_each_range_in(x - Vec3::splat(reach), x + Vec3::splat(reach), |range| {
                    pairs.extend(range.filter(near).map(|j| [i as u32, j as u32]));
                });
            }
        });
        let pairs = work.wet_pairs.iter().flatten().copied();
        let mut drops = MovedDrops { position, velocity, liquid, mass };
        projection.resolve_liquid_overlaps((bodies, matter), state, pairs, (&mut drops, radius), dt);
    }

    /// Largest step that connections with a liquid bear \[s\], for particles of a mass \[kg\] and a radius \[m\].
    #[must_use]
    pub fn liquid_step(&self, mass: f64, radius: f64) -> f64 {
        let rate = |i: usize| {
            let stiffness = self.liquid_modulus * (self.matter.radius[i] + radius);
            CONTACTS_AT_ONCE * stiffness * (self.matter.inverse_mass[i] + 1.0 / mass)
        };
        let fastest = (0..self.matter.mass.len()).map(rate).fold(0.0, f64::max);
        // Stable up to 2/ω, as the liquid moves after it is pushed.
        1.4 * self.courant / 0.4 / fastest.sqrt()
    }
}

/// The force of all drops on one particle of a body \[N\].
fn wet(
    i: usize,
    [x, v]: [DVec3; 2],
    matter: &Matter,
    drops: &LiquidParticles,
    law: &Law,
    pushes: &mut Vec<(u32, Vec3)>,
) -> DVec3 {
    let length = matter.radius[i] + drops.radius;
    let (position, reach) = (x.as_vec3(), Vec3::splat(length as f32));
    // In single precision, with room for rounding: few are near.
    let near = 1.001 * (length * length) as f32;
    let mut sum = DVec3::ZERO;
    drops.grid.for_each_range_in(position - reach, position + reach, |range| {
        for j in range {
            if position.distance_squared(drops.position[j]) >= near {
                continue;
            }
            let distance = x - drops.position[j].as_dvec3();
            let squared = distance.length_squared();
            if squared >= length * length {
                continue;
            }
            let far = squared.sqrt();
            let mass = drops.mass[usize::from(drops.liquid[j])];
            let meeting = Meeting {
                overlap: length - far,
                normal: if far > 0.0 { distance / far } else { DVec3::Y },
                velocity: v - drops.velocity[j].as_dvec3(),
                moved: DVec3::ZERO,
                length,
                inverse_mass: matter.inverse_mass[i] + 1.0 / mass,
            };
            let force = law.force(&meeting, &Memory::default());
            sum += force;
            pushes.push((j as u32, (-force / mass).as_vec3()));
        }
    });
    sum
}
