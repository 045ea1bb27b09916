//! Foam, bubbles and fine spray, as a post-process of a run \[IAAT12\].
//!
//! A function of the frames of a run in their order, never of a solver. First a [`Survey`] looks at all of them: between which
//! [`Limits`] the run traps air, has crests that topple, is fast. Then [`Whitewater`] goes through them again and makes points where
//! particles do, carries them, and lets them vanish:
//!
//! | stage | |
//! |---|---|
//! | surround | particles in cells, images behind walls |
//! | carry | spray falls, foam goes with the liquid, bubbles rise in it; walls and bodies hold them |
//! | sort | fewer than 6 neighbours: spray, up to 20: foam, more: bubbles |
//! | make | n = Φ(E) (k_T Φ(T) + k_K Φ(K)) Δt points per particle |
//! | vanish | when their time is over, or out of the scene |
//!
//! How many there are, where, and for how long follows from a hash of particle and frame: the same bits on any number of threads.

mod air;
mod potentials;

use crate::{REACH, Settings};
use air::{Air, Borders};
use glam::Vec3;
use meniscus_core::{Foam, FoamKind, Frame, par};
pub use potentials::{Limits, Survey};
use potentials::{Potentials, WHOLE, potentials};
use rayon::prelude::*;

/// k_T, k_K: points per second that a particle makes which traps air, or is a crest, with all its might \[1/s\].
const RATES: [f32; 2] = [4000.0, 4000.0];

/// Neighbours within two spacings: with fewer a point is spray, with more than the second number a bubble.
const KINDS: [u32; 2] = [6, 20];

/// Diameter of a point \[spacings\].
const SIZE: f32 = 0.2;

/// A bubble of diameter d rises with 0.71 √(g d) through the liquid around it: as large bubbles do \[DT50\], dimensionless.
const RISE: f32 = 0.71;

/// The shortest time that a point lives over the longest, dimensionless.
const SHORTEST: f32 = 0.4;

/// As many points as there may be.
const MAX_POINTS: usize = 1 << 20;

/// A point of air in a liquid, or of liquid in the air.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    id: u32,
    body: u16,
    kind: FoamKind,
    /// \[m\]
    at: Vec3,
    /// \[m/s\]
    velocity: Vec3,
    /// Time that it has left \[s\].
    left: f32,
}

/// What is white in a run, from frame to frame.
#[derive(Debug, Default)]
pub struct Whitewater {
    limits: Limits,
    /// \[m/s²\]
    gravity: Vec3,
    amount: f32,
    /// \[s\]
    life: f32,
    air: Air,
    /// Of the last frame \[s\].
    time: Option<f64>,
    next: u32,
    points: Vec<Point>,
    left_out: u64,
}

impl Whitewater {
    /// Nothing yet, under gravity \[m/s²\], with what a [`Survey`] of the run has found.
    #[must_use]
    pub fn new(settings: &Settings, limits: Limits, gravity: Vec3) -> Self {
        let (amount, life) = (settings.foam_amount as f32, settings.foam_life as f32);
        let sound = |value: f32, most: f32| if value.is_finite() { value.clamp(0.0, most) } else { 0.0 };
        Self { limits, gravity, amount: sound(amount, 100.0), life: sound(life, 1e3), ..Self::default() }
    }

    /// Goes on to the next frame. From the first, or one that is not later than the last, it begins anew.
    pub fn advance(&mut self, frame: &Frame) {
        let before = self.time.replace(frame.time);
        let step = before.map_or(0.0, |before| (frame.time - before) as f32);
        if !(step > 0.0 && step.is_finite()) {
            self.points.clear();
            return;
        }
        if !self.air.take(frame) {
            self.points.clear();
            return;
        }
        let borders = Borders::all(frame);
        self.carry(frame, &borders, step);
        self.make(frame, &borders, step);
        self.vanish(frame);
    }

    /// What is white in the frame that was reached.
    #[must_use]
    pub fn foam(&self, frame: &Frame) -> Foam {
        Foam {
            ids: self.points.iter().map(|p| p.id).collect(),
            bodies: self.points.iter().map(|p| p.body).collect(),
            kinds: self.points.iter().map(|p| p.kind).collect(),
            positions: self.points.iter().map(|p| p.at).collect(),
            velocities: self.points.iter().map(|p| p.velocity).collect(),
            size: SIZE * frame.particles.spacing,
        }
    }

    /// How many points were left out because there may be a million at a time.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn carry(&mut self, frame: &Frame, borders: &Borders, step: f32) {
        let (air, gravity, spacing) = (&self.air, self.gravity, frame.particles.spacing);
        let rise = -RISE * (SIZE * spacing * gravity.length()).sqrt() * gravity.normalize_or_zero();
        self.points.par_iter_mut().with_min_len(par::PIECE).for_each(|point| {
            let ahead = match point.kind {
                FoamKind::Spray => point.at + step * point.velocity + 0.5 * step * step * gravity,
                _ => point.at + step * point.velocity,
            };
            let (count, flow) = air.around(ahead / spacing, frame);
            let old = point.velocity;
            // A fine drop falls until it is in the liquid; what is in it goes with it.
            point.velocity = match (sort(count), flow) {
                (FoamKind::Foam, Some(flow)) => flow,
                (FoamKind::Bubble, Some(flow)) => flow + rise,
                _ => old + step * gravity,
            };
            let goes_with = point.kind != FoamKind::Spray && sort(count) != FoamKind::Spray;
            // The mean of both ends of the way, as Heun has it.
            point.at = if goes_with { point.at + 0.5 * step * (old + point.velocity) } else { ahead };
            settle(point, air, frame, borders);
            point.left -= step;
        });
    }

    fn make(&mut self, frame: &Frame, borders: &Borders, step: f32) {
        let all = potentials(&self.air, frame);
        let rate = self.amount * step;
        let wanted = |(index, potentials): (usize, &Potentials)| -> f32 {
            let [trapped, crest, energy] = self.limits.parts(potentials);
            if self.air.is_image(index) { 0.0 } else { rate * energy * (RATES[0] * trapped + RATES[1] * crest) }
        };
        let wanted: Vec<f32> = all.par_iter().with_min_len(par::LIGHT).enumerate().map(wanted).collect();
        let sum: f64 = wanted.iter().map(|&n| f64::from(n)).sum();
        // Where there is no room for all, each gets a part.
        let room = (MAX_POINTS.saturating_sub(self.points.len()) as f64 / sum.max(1.0)).min(1.0);
        self.left_out += (sum * (1.0 - room)) as u64;
        let mut born = Vec::new();
        for (index, (&wanted, potentials)) in wanted.iter().zip(&all).enumerate().filter(|(_, (n, _))| **n > 0.0) {
            let mut rng = HashRng::new(self.id_at(frame, index), frame.number);
            let count = (wanted * room as f32 + rng.uniform()).floor() as u32;
            born.extend((0..count).map(|_| self.born(frame, index, potentials, step, &mut rng)));
        }
        let air = &self.air;
        born.par_iter_mut().with_min_len(par::PIECE).for_each(|point| settle(point, air, frame, borders));
        for mut point in born {
            point.id = self.next;
            self.next = self.next.wrapping_add(1);
            self.points.push(point);
        }
    }

    fn id_at(&self, frame: &Frame, index: usize) -> u32 {
        let number = self.air.cloud.sorted.number[index];
        frame.particles.ids.get(number as usize).copied().unwrap_or(number)
    }

    /// A point in the cylinder that a particle has come through \[IAAT12 sec. 3.3\]: behind it, as its step is taken, and no longer than a
    /// spacing, as steps of frames are long. It leaves the particle as fast as the particle's neighbours do.
    fn born(&self, frame: &Frame, index: usize, potentials: &Potentials, step: f32, rng: &mut HashRng) -> Point {
        let number = self.air.cloud.sorted.number[index] as usize;
        let spacing = frame.particles.spacing;
        let velocity = frame.particles.velocities.get(number).copied().unwrap_or_default();
        let along = velocity.normalize_or(Vec3::Y);
        let side = along.any_orthonormal_vector();
        let (radius, angle) = (0.5 * rng.uniform().sqrt(), std::f32::consts::TAU * rng.uniform());
        let aside = radius * (libm::cosf(angle) * side + libm::sinf(angle) * along.cross(side));
        let back = rng.uniform() * (velocity.length() * step).min(spacing);
        Point {
            id: 0,
            body: frame.particles.bodies.get(number).copied().unwrap_or_default(),
            kind: FoamKind::Foam,
            at: self.air.cloud.sorted.at(index) * spacing + aside * spacing - back * along,
            velocity: velocity + 2.0 * aside * (potentials.0[0] / WHOLE),
            left: self.life * (SHORTEST + (1.0 - SHORTEST) * rng.uniform()),
        }
    }

    /// All kinds grow old, not foam alone as in \[IAAT12\]: then their number has a bound.
    fn vanish(&mut self, frame: &Frame) {
        let bounds = scene_bounds(frame);
        let inside = |x: Vec3| x.cmpge(bounds[0]).all() && x.cmple(bounds[1]).all();
        self.points.retain(|point| point.left > 0.0 && inside(point.at));
    }
}

/// Holds a point before walls, and finds out what it is.
fn settle(point: &mut Point, air: &Air, frame: &Frame, borders: &Borders) {
    let spacing = frame.particles.spacing;
    let mut x = point.at / spacing;
    borders.hold(&mut x, &mut point.velocity);
    point.at = x * spacing;
    point.kind = sort(air.around(x, frame).0);
}

fn sort(neighbours: u32) -> FoamKind {
    match neighbours {
        n if n < KINDS[0] => FoamKind::Spray,
        n if n <= KINDS[1] => FoamKind::Foam,
        _ => FoamKind::Bubble,
    }
}

/// The box of all that is in a frame, with as much room around it.
fn scene_bounds(frame: &Frame) -> [Vec3; 2] {
    let finite = |x: &Vec3| x.is_finite();
    let wires = frame.wires.iter().flat_map(|wire| wire.segments.iter().flatten());
    let surfaces = frame.surfaces.iter().flat_map(|surface| &surface.positions);
    let all = frame.particles.positions.iter().chain(wires).chain(surfaces).copied().filter(finite);
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) = all.fold(none, |(low, high), x| (low.min(x), high.max(x)));
    let room = (high - low).max_element().max(REACH * frame.particles.spacing);
    [low - room, high + room]
}

/// Numbers that look like chance, from a particle and a frame.
struct HashRng(u64);

impl HashRng {
    fn new(particle: u32, frame: u32) -> Self {
        Self((u64::from(particle) << 32 | u64::from(frame)).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// The next one in 0..1: a step of `SplitMix64` \[SLF14\].
    fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) >> 40) as f32 / (1u64 << 24) as f32
    }
}

#[cfg(test)]
mod tests;
