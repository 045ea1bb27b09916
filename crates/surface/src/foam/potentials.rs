//! What makes a liquid white: how much air particles take in, how sharp a crest they are, how fast they fly \[IAAT12\].
//!
//! | symbol | meaning |
//! |---|---|
//! | w | 1 − r/R: how near a neighbour is |
//! | T_i | Σ_j \|v_ij\| (1 − v̂_ij · x̂_ij) w: air between particles that meet \[m/s\] |
//! | n̂_i | −∇c/\|∇c\|, of particles that a surface may be near |
//! | K_i | Σ_j (1 − n̂_i · n̂_j) w over neighbours behind i, if i moves along n̂_i: a crest that topples, dimensionless |
//! | E_i | ½ v_i²: \[m²/s²\] |

use super::air::Air;
use crate::REACH;
use glam::Vec3;
use meniscus_core::{Frame, par};
use rayon::prelude::*;
use std::ops::Range;

/// Σ w over a whole neighbourhood of a lattice: six at 1, twelve at √2, eight at √3.
pub(super) const WHOLE: f32 = 7.6;

/// v̂ · n̂ of a crest that topples \[IAAT12 eq. 6\].
const ALONG: f32 = 0.6;

/// The lower limit of each potential over its upper one, as the defaults of SPlisHSPlasH have them: 5–20, 2–8, 5–50.
const LOWER: [f32; 3] = [0.25, 0.25, 0.1];

/// The fall that makes a liquid white \[spacings\]: speeds that are small beside it make no foam, however still the run is.
const FALL: f32 = 4.0;

/// K of a crest: half of the neighbourhood has turned away by a right angle.
const CREST: f32 = 0.5 * WHOLE;

/// The potentials of one particle, in the order T, K, E.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Potentials(pub(super) [f32; 3]);

/// The potentials of all particles of a cloud, at their sorted indices; images have none.
pub(super) fn potentials(air: &Air, frame: &Frame) -> Vec<Potentials> {
    let sorted = &air.cloud.sorted;
    let indices = || (0..sorted.len()).into_par_iter().with_min_len(par::PIECE);
    let velocity: Vec<Vec3> = indices().map(|i| velocity_at(frame, air, i)).collect();
    let normal: Vec<Vec3> = indices().map(|i| if sorted.open[i] { outwards(air, i) } else { Vec3::ZERO }).collect();
    indices().map(|i| if air.is_image(i) { Potentials::default() } else { of(air, i, &velocity, &normal) }).collect()
}

fn velocity_at(frame: &Frame, air: &Air, index: usize) -> Vec3 {
    let number = air.cloud.sorted.number[index] as usize;
    frame.particles.velocities.get(number).copied().filter(|v| v.is_finite()).unwrap_or_default()
}

fn of(air: &Air, i: usize, velocity: &[Vec3], normal: &[Vec3]) -> Potentials {
    let (v_i, n_i) = (velocity[i], normal[i]);
    let topples = v_i.normalize_or_zero().dot(n_i) >= ALONG;
    let (mut trapped, mut crest) = (0.0, 0.0);
    each_neighbour(air, i, |j, x_ij, r| {
        if air.is_image(j) || r <= 0.0 {
            return;
        }
        let (w, v_ij) = (1.0 - r / REACH, v_i - velocity[j]);
        trapped += (v_ij.length() - v_ij.dot(x_ij) / r) * w; // [IAAT12 eq. 2]
        if topples && normal[j] != Vec3::ZERO && x_ij.dot(n_i) > 0.0 {
            crest += (1.0 - n_i.dot(normal[j])) * w; // [IAAT12 eq. 4–7]
        }
    });
    Potentials([trapped, crest, 0.5 * v_i.length_squared()])
}

/// Unit normal out of the liquid.
fn outwards(air: &Air, i: usize) -> Vec3 {
    let mut sum = Vec3::ZERO;
    each_neighbour(air, i, |_, x_ij, r| {
        let part = (1.0 - r * r / (REACH * REACH)).max(0.0);
        sum += x_ij * (part * part);
    });
    sum.normalize_or_zero()
}

/// Calls with index, x_i − x_j and r of each neighbour within reach \[spacings\].
fn each_neighbour(air: &Air, i: usize, mut visit: impl FnMut(usize, Vec3, f32)) {
    let (grid, sorted) = (&air.cloud.grid, &air.cloud.sorted);
    let x_i = sorted.at(i);
    grid.for_each_range_around(grid.key(i), |range: Range<usize>, _| {
        for j in range.filter(|&j| j != i) {
            let x_ij = x_i - sorted.at(j);
            let square = x_ij.length_squared();
            if square < REACH * REACH {
                visit(j, x_ij, square.sqrt());
            }
        }
    });
}

/// Between which values potentials count: from nothing to all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits([[f32; 2]; 3]);

impl Limits {
    /// Φ of each potential \[IAAT12 eq. 1\].
    pub(super) fn parts(&self, potentials: &Potentials) -> [f32; 3] {
        std::array::from_fn(|k| {
            let [low, high] = self.0[k];
            if high > low { ((potentials.0[k].min(high) - low) / (high - low)).max(0.0) } else { 0.0 }
        })
    }
}

/// Looks through the frames of a run for its highest potentials: what is violent depends on its size.
#[derive(Debug, Default)]
pub struct Survey {
    air: Air,
    highest: [f32; 3],
    spacing: f32,
}

impl Survey {
    /// Looks at one frame; their order does not matter.
    pub fn look(&mut self, frame: &Frame) {
        if !self.air.take(frame) {
            return;
        }
        let all = potentials(&self.air, frame);
        self.spacing = self.spacing.max(frame.particles.spacing);
        for (k, highest) in self.highest.iter_mut().enumerate() {
            let mut values: Vec<f32> = all.iter().map(|p| p.0[k]).collect();
            *highest = highest.max(mean_of_the_highest(&mut values));
        }
    }

    /// The limits of the run; `gravity` is its acceleration \[m/s²\].
    #[must_use]
    pub fn limits(&self, gravity: f32) -> Limits {
        let fall = (2.0 * gravity.abs() * FALL * self.spacing).sqrt();
        let least = [WHOLE * fall, CREST, 0.5 * fall * fall];
        Limits(std::array::from_fn(|k| {
            let high = self.highest[k].max(least[k]);
            [LOWER[k] * high, high]
        }))
    }
}

/// One particle in a thousand, so that a single one that shoots away does not set the scale of a run.
fn mean_of_the_highest(values: &mut [f32]) -> f32 {
    let count = 1 + values.len() / 1000;
    if values.is_empty() {
        return 0.0;
    }
    let (_, _, _) = values.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    let highest = &mut values[..count];
    highest.sort_unstable_by(f32::total_cmp); // one order of the sum
    highest.iter().sum::<f32>() / count as f32
}
