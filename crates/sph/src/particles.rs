//! The state of the liquid: plain arrays that serialise.

use glam::Vec3;
use meniscus_core::par;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Liquid particles as arrays of equal length, in storage order: sorted by cell, anew at every step. An id belongs to its
/// particle for good and is never used again; storage order is not state that anyone may rely on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Stable ids.
    pub id: Vec<u32>,
    /// Index of the liquid that each particle belongs to.
    pub liquid: Vec<u16>,
    /// Positions \[m\].
    pub position: Vec<Vec3>,
    /// Velocities \[m/s\].
    pub velocity: Vec<Vec3>,
    /// Densities \[kg/m³\] as of the last step.
    pub density: Vec<f32>,
    /// Pressures \[Pa\] as of the last step.
    pub pressure: Vec<f32>,
    /// Multipliers of the density solve \[Pa\] as of the last step, where the next one starts; zero with the state equation.
    pub multiplier: Vec<f32>,
    /// The id of the next new particle.
    pub next_id: u32,
}

impl Particles {
    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Whether all arrays have the same length.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let len = self.len();
        let lengths = [
            self.liquid.len(),
            self.position.len(),
            self.velocity.len(),
            self.density.len(),
            self.pressure.len(),
            self.multiplier.len(),
        ];
        lengths == [len; 6]
    }

    /// Adds a particle with a new id.
    pub fn push(&mut self, liquid: u16, position: Vec3, velocity: Vec3, rest_density: f32) {
        self.id.push(self.next_id);
        self.next_id += 1;
        self.liquid.push(liquid);
        self.position.push(position);
        self.velocity.push(velocity);
        self.density.push(rest_density);
        self.pressure.push(0.0);
        self.multiplier.push(0.0);
    }

    /// Forgets all particles from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.id.truncate(len);
        self.liquid.truncate(len);
        self.position.truncate(len);
        self.velocity.truncate(len);
        self.density.truncate(len);
        self.pressure.truncate(len);
        self.multiplier.truncate(len);
    }

    /// Becomes a copy of `from` in another order: slot `k` holds what was at `order[k]`.
    pub(crate) fn copy_in_order(&mut self, from: &Particles, order: &[u32]) {
        fn copy<T: Copy + Default + Send + Sync>(to: &mut Vec<T>, from: &[T], order: &[u32]) {
            to.resize(order.len(), T::default());
            to.par_iter_mut().with_min_len(par::LIGHT).zip(order).for_each(|(to, &i)| *to = from[i as usize]);
        }
        copy(&mut self.id, &from.id, order);
        copy(&mut self.liquid, &from.liquid, order);
        copy(&mut self.position, &from.position, order);
        copy(&mut self.velocity, &from.velocity, order);
        copy(&mut self.density, &from.density, order);
        copy(&mut self.pressure, &from.pressure, order);
        copy(&mut self.multiplier, &from.multiplier, order);
        self.next_id = from.next_id;
    }

    /// Keeps the particles for which `keep` holds, in their order; returns how many went.
    pub fn retain(&mut self, keep: impl Fn(&Particles, usize) -> bool) -> usize {
        let mut kept = 0;
        for i in 0..self.len() {
            if keep(self, i) {
                self.id[kept] = self.id[i];
                self.liquid[kept] = self.liquid[i];
                self.position[kept] = self.position[i];
                self.velocity[kept] = self.velocity[i];
                self.density[kept] = self.density[i];
                self.pressure[kept] = self.pressure[i];
                self.multiplier[kept] = self.multiplier[i];
                kept += 1;
            }
        }
        let gone = self.len() - kept;
        self.truncate(kept);
        gone
    }

    /// Storage slots in id order.
    #[must_use]
    pub fn in_id_order(&self) -> Vec<usize> {
        self.placed_by_id().unwrap_or_else(|| {
            let mut indices: Vec<usize> = (0..self.len()).collect();
            indices.sort_unstable_by_key(|&i| self.id[i]);
            indices
        })
    }

    /// The same without sorting, where most ids that were ever given are still there.
    fn placed_by_id(&self) -> Option<Vec<usize>> {
        const GONE: u32 = u32::MAX;
        let given = self.next_id as usize;
        if given > 4 * self.len() {
            return None;
        }
        let mut index_of = vec![GONE; given];
        for (i, &id) in (0..).zip(&self.id) {
            *index_of.get_mut(id as usize)? = i;
        }
        let indices: Vec<usize> = index_of.into_iter().filter(|&i| i != GONE).map(|i| i as usize).collect();
        (indices.len() == self.len()).then_some(indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Placed or sorted, with gaps, and where a file has lied about the next id.
    #[test]
    fn indices_come_in_id_order() {
        for (id, next_id) in [
            (vec![2, 0, 3, 1], 4),
            (vec![9, 0, 7, 4], 10),
            (vec![90_000, 5, 70_000], 100_000),
            (vec![8, 1, 2], 3),
            (vec![], 0),
        ] {
            let mut sorted = id.clone();
            sorted.sort_unstable();
            let particles = Particles { id, next_id, ..Particles::default() };
            let found: Vec<u32> = particles.in_id_order().into_iter().map(|i| particles.id[i]).collect();
            assert_eq!(found, sorted);
        }
    }
}
