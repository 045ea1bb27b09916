//! Particles that fly alone: set apart from the surface, drawn as drops.

use crate::{FARTHEST, REACH, is_liquid};
use glam::Vec3;
use meniscus_core::{Frame, par};
use meniscus_geometry::{NeighbourGrid, Periodic};
use rayon::prelude::*;

/// A particle with fewer neighbours within two spacings leaves the surface,
const LEAVES: u32 = 6;
/// and comes back with more than this: between, it stays what it was.
const RETURNS: u32 = 10;

/// Tells spray from the rest, frame after frame, with a memory: without one, drops flicker.
#[derive(Debug, Clone, Default)]
pub struct Spray {
    ids: Vec<u32>,
    alone: Vec<bool>,
    grid: NeighbourGrid,
}

impl Spray {
    /// Goes on from a frame that is marked, such as the one before a run was resumed.
    #[must_use]
    pub fn after(frame: &Frame) -> Self {
        let (ids, alone) = (frame.particles.ids.clone(), frame.particles.spray.clone());
        Self { ids, alone, grid: NeighbourGrid::default() }
    }

    /// Marks the spray of the next frame.
    pub fn mark(&mut self, frame: &mut Frame) {
        let was = |id: u32| self.ids.binary_search(&id).ok().and_then(|k| self.alone.get(k).copied());
        let counts = neighbours(frame, &mut self.grid);
        let ids = &frame.particles.ids;
        let alone = |(i, &count): (usize, &u32)| {
            let before = ids.get(i).and_then(|&id| was(id));
            if before.unwrap_or(false) { count <= RETURNS } else { count < LEAVES }
        };
        frame.particles.spray = counts.par_iter().with_min_len(par::LIGHT).enumerate().map(alone).collect();
        self.ids.clone_from(&frame.particles.ids);
        self.alone.clone_from(&frame.particles.spray);
    }
}

/// Which particles are spray: as the frame says, or those with few neighbours. Particles of bodies are not, nor is one that is nowhere part of a surface.
pub(crate) fn alone(frame: &Frame, grid: &mut NeighbourGrid) -> Vec<bool> {
    let particles = &frame.particles;
    let mut alone = particles.spray.clone();
    if alone.len() != particles.positions.len() {
        alone = neighbours(frame, grid).into_iter().map(|count| count < LEAVES).collect();
    }
    let reach = FARTHEST * particles.spacing;
    for (alone, x) in alone.iter_mut().zip(&particles.positions) {
        // Also false for what is not a number.
        *alone |= !x.abs().cmple(Vec3::splat(reach)).all();
    }
    for (alone, &body) in alone.iter_mut().zip(&particles.bodies) {
        *alone &= is_liquid(frame, body);
    }
    alone
}

/// How many other particles each has within two spacings; counted no further than matters.
fn neighbours(frame: &Frame, grid: &mut NeighbourGrid) -> Vec<u32> {
    let particles = &frame.particles;
    let reach = REACH * particles.spacing;
    let good = reach > 0.0 && reach.is_finite();
    let finite = |x: &Vec3| x.abs().cmple(Vec3::splat(FARTHEST * particles.spacing)).all();
    if !good || !particles.positions.iter().all(finite) {
        return few(particles.positions.len());
    }
    grid.sort(&particles.positions, reach, Periodic::default());
    let sorted: Vec<Vec3> = grid.order().iter().map(|&i| particles.positions[i as usize]).collect();
    let count = |index: usize| {
        let mut count = 0;
        grid.for_each_range_around(grid.key(index), |range, _| {
            if count <= RETURNS + 1 {
                let near = |x: &&Vec3| x.distance_squared(sorted[index]) < reach * reach;
                count += sorted[range].iter().filter(near).count() as u32;
            }
        });
        count - 1
    };
    let by_index: Vec<u32> = (0..sorted.len()).into_par_iter().with_min_len(par::PIECE).map(count).collect();
    let mut counts = vec![0; sorted.len()];
    grid.order().iter().zip(by_index).for_each(|(&i, count)| counts[i as usize] = count);
    counts
}

/// Nothing is known: nothing is alone.
fn few(count: usize) -> Vec<u32> {
    vec![RETURNS + 1; count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, BodyKind};

    /// A block of water and one particle with so many others around it.
    fn frame(companions: usize) -> Frame {
        let mut frame = Frame::default();
        frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.0; 3] });
        let block = (0..1000).map(|i| Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32));
        let around = (0..companions).map(|k| Vec3::new(30.0 + 0.1 * k as f32, 0.0, 0.0));
        frame.particles.positions = block.chain([Vec3::new(30.0, 1.0, 0.0)]).chain(around).collect();
        let count = frame.particles.positions.len();
        frame.particles.ids = (0..count as u32).collect();
        frame.particles.bodies = vec![0; count];
        frame.particles.spacing = 1.0;
        frame
    }

    #[test]
    fn spray_leaves_early_and_returns_late() {
        let mut spray = Spray::default();
        // Companions of the particle number 1000, and whether it is spray then.
        for (companions, expected) in
            [(12, false), (6, false), (5, true), (9, true), (10, true), (11, false), (7, false)]
        {
            let mut now = frame(companions);
            spray.mark(&mut now);
            assert_eq!(now.particles.spray[1000], expected, "{companions} companions");
            assert!(!now.particles.spray[..1000].contains(&true));
        }
    }
}
