//! The interface between bodies: the set of dynamic connections \[B definition 0.6\], found with one grid of those particles that
//! other ones may be near to.
//!
//! The list holds all pairs that can touch before the next search, in rising order; whether a pair touches is seen whenever
//! forces are asked for, so that no contact comes late. Particles of one rigid body never connect; those of a deformable
//! body do, if they are no neighbours at rest: it does not pass through itself.

use crate::broad::{BroadPhase, Reach};
use crate::contact_law::{DynamicConnection, Law, Meeting, Memory};
use crate::motion::{Body, Kind};
use glam::{DVec3, Vec3};
use meniscus_core::par;
use meniscus_geometry::{Aabb, NeighbourGrid, Periodic};
use rayon::prelude::*;
use std::ops::Range;

/// Distance beyond touch in which pairs are listed, in distances of touch, dimensionless.
pub(crate) const SKIN: f64 = 0.4;
/// Particles of a deformable body connect if they are farther apart at rest, in distances of touch, dimensionless.
pub(crate) const NO_NEIGHBOURS: f64 = 1.9;

/// What does not change about the particles of all bodies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matter {
    pub(crate) mass: Vec<f64>,
    /// Zero for those that stay where they are \[1/kg\].
    pub(crate) inverse_mass: Vec<f64>,
    pub(crate) radius: Vec<f64>,
    /// Number of the body.
    pub(crate) body: Vec<u32>,
    /// Positions at rest \[m\].
    pub(crate) rest: Vec<DVec3>,
}

/// The set of dynamic connections between bodies, and within deformable ones, and what it takes to find them.
#[derive(Clone, Default)]
pub struct Interface {
    pub(crate) dynamic_connections: Vec<DynamicConnection>,
    old: Vec<DynamicConnection>,
    broad: BroadPhase,
    /// Particles that are in the grid, in rising order.
    listed: Vec<u32>,
    grid: NeighbourGrid,
    points: Vec<Vec3>,
    /// Where the particles were at the last search \[m\]; empty if there was none.
    searched_at: Vec<DVec3>,
    found: Vec<Vec<DynamicConnection>>,
    force: Vec<DVec3>,
}

/// Positions and velocities of all particles now, and positions when the step began.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) position: &'a [DVec3],
    pub(crate) velocity: &'a [DVec3],
    pub(crate) start: &'a [DVec3],
}

impl Interface {
    /// The connections that exist: those that touch or stick.
    pub(crate) fn existing(&self, position: &[DVec3], matter: &Matter) -> usize {
        let exists = |pair: &&DynamicConnection| {
            let [i, j] = pair.ends.map(|end| end as usize);
            pair.memory.stuck || position[i].distance(position[j]) < matter.radius[i] + matter.radius[j]
        };
        self.dynamic_connections.iter().filter(exists).count()
    }

    /// Forgets when it searched last.
    pub(crate) fn forget_search(&mut self) {
        self.searched_at.clear();
    }

    /// Lists the pairs anew if particles have moved, or will move in `ahead` \[s\], out of the skin. What all have in common,
    /// as in a vat that slides, brings none nearer to another.
    pub(crate) fn update(
        &mut self,
        [position, velocity]: [&[DVec3]; 2],
        ahead: f64,
        law: &Law,
        (bodies, matter): (&[Body], &Matter),
    ) {
        let largest = 2.0 * matter.radius.iter().copied().fold(0.0, f64::max);
        let skin = SKIN * largest;
        let ahead = ahead * spread(velocity.len(), |i| velocity[i]);
        if self.searched_at.len() == position.len()
            && spread(position.len(), |i| position[i] - self.searched_at[i]) + ahead <= 0.5 * skin
        {
            return;
        }
        self.searched_at.clear();
        self.searched_at.extend_from_slice(position);
        self.search(position, Reach { sticky: law.sticky, skin: skin.max(2.0 * ahead) }, (bodies, matter));
        self.keep_memories();
    }

    fn search(&mut self, position: &[DVec3], reach: Reach, (bodies, matter): (&[Body], &Matter)) {
        let Self { broad, listed, grid, points, found, .. } = self;
        broad.find(position, reach, (bodies, matter), listed);
        let largest = matter.radius.iter().copied().fold(0.0, f64::max);
        points.clear();
        points.extend(listed.iter().map(|&i| position[i as usize].as_vec3()));
        grid.sort(points, (1.001 * reach.of(2.0 * largest)) as f32, Periodic::default());
        let (grid, order, listed) = (&*grid, grid.order(), &*listed);
        found.resize_with(position.len().div_ceil(par::PIECE), Vec::new);
        found.par_iter_mut().enumerate().for_each(|(piece, found)| {
            found.clear();
            let from = piece * par::PIECE;
            for index in from..(from + par::PIECE).min(order.len()) {
                let i = listed[order[index] as usize];
                let own = matter.body[i as usize];
                let rigid = matches!(bodies[own as usize].kind, Kind::Rigid(_));
                grid.for_each_range_around(grid.key(index), |range, _| {
                    for j in order[range].iter().map(|&k| listed[k as usize]) {
                        let (a, b) = (i as usize, j as usize);
                        if j <= i || (rigid && matter.body[b] == own) {
                            continue;
                        }
                        let reach = reach.of(matter.radius[a] + matter.radius[b]);
                        if position[a].distance_squared(position[b]) < reach * reach && !neighbours(matter, a, b) {
                            found.push(DynamicConnection { ends: [i, j], memory: Memory::default() });
                        }
                    }
                });
            }
        });
    }

    /// Puts what was found in order; pairs that were listed before keep what they remember.
    fn keep_memories(&mut self) {
        std::mem::swap(&mut self.dynamic_connections, &mut self.old);
        self.dynamic_connections.clear();
        self.found.iter().for_each(|found| self.dynamic_connections.extend_from_slice(found));
        self.dynamic_connections.sort_unstable_by_key(|pair| pair.ends);
        let mut old = self.old.iter().peekable();
        for pair in &mut self.dynamic_connections {
            while old.next_if(|before| before.ends < pair.ends).is_some() {}
            if let Some(before) = old.next_if(|before| before.ends == pair.ends) {
                pair.memory = before.memory;
            }
        }
    }

    /// Adds the forces of all connections to those of the particles \[N\].
    pub(crate) fn push(&mut self, law: &Law, now: Now, matter: &Matter, force: &mut [DVec3]) {
        self.force.resize(self.dynamic_connections.len(), DVec3::ZERO);
        let pairs = self.force.par_iter_mut().with_min_len(4096).zip(&self.dynamic_connections);
        pairs.for_each(|(force, pair)| {
            *force = match meet(pair, now, matter, law) {
                Some(meeting) => law.force(&meeting, &pair.memory),
                None => DVec3::ZERO,
            };
        });
        // One after the other: a sum has one order, and few pairs touch.
        for (pair, f) in self.dynamic_connections.iter().zip(&self.force) {
            if *f != DVec3::ZERO {
                force[pair.ends[0] as usize] += *f;
                force[pair.ends[1] as usize] -= *f;
            }
        }
    }

    /// A step has ended: what the connections remember.
    pub(crate) fn remember(&mut self, law: &Law, now: Now, matter: &Matter) {
        self.dynamic_connections.par_iter_mut().with_min_len(4096).for_each(|pair| {
            match meet(pair, now, matter, law) {
                Some(meeting) => law.remember(&meeting, &mut pair.memory),
                None => pair.memory = Memory::default(),
            }
        });
    }

    /// Elastic energy of all connections \[J\].
    pub(crate) fn energy(&self, law: &Law, position: &[DVec3], matter: &Matter) -> f64 {
        let energy = |pair: &DynamicConnection| {
            let [i, j] = pair.ends.map(|end| end as usize);
            let length = matter.radius[i] + matter.radius[j];
            law.energy(length - position[i].distance(position[j]), length)
        };
        self.dynamic_connections.iter().map(energy).sum()
    }
}

/// How far vectors are from one that is in their midst, at most.
fn spread(count: usize, vector: impl Fn(usize) -> DVec3 + Sync) -> f64 {
    let around = |range: Range<usize>| Aabb::around(range.map(&vector));
    par::reduce(count, &around, &|a, b| a.union(&b)).map_or(0.0, |bounds| 0.5 * bounds.size().length())
}

/// Whether two particles of one body are neighbours at rest.
fn neighbours(matter: &Matter, a: usize, b: usize) -> bool {
    let near = NO_NEIGHBOURS * (matter.radius[a] + matter.radius[b]);
    matter.body[a] == matter.body[b] && matter.rest[a].distance_squared(matter.rest[b]) < near * near
}

/// The geometry of a pair, if anything acts between them.
fn meet(pair: &DynamicConnection, now: Now, matter: &Matter, law: &Law) -> Option<Meeting> {
    let [i, j] = pair.ends.map(|end| end as usize);
    let distance = now.position[i] - now.position[j];
    let length = matter.radius[i] + matter.radius[j];
    let squared = distance.length_squared();
    if squared >= length * length && !pair.memory.stuck {
        return None;
    }
    let far = squared.sqrt();
    let overlap = length - far;
    let inverse_mass = matter.inverse_mass[i] + matter.inverse_mass[j];
    if law.apart(overlap, &pair.memory) || inverse_mass == 0.0 {
        return None;
    }
    Some(Meeting {
        overlap,
        // At one position there is no direction: any will do.
        normal: if far > 0.0 { distance / far } else { DVec3::Y },
        velocity: now.velocity[i] - now.velocity[j],
        moved: (now.position[i] - now.start[i]) - (now.position[j] - now.start[j]),
        length,
        inverse_mass,
    })
}
